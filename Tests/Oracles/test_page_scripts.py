"""The page's script and style as files of their own: they parse, a linter finds nothing, and Node's tests of the models
agree with what the program computes (Tests/Page/vectors.json)."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "Sources" / "Planning" / "Planner" / "Page"
#: The pages of maps and of rehearsals, in the planner's style.
OTHER_PAGES = [PAGE.parents[2] / "Hub" / name / "Page" for name in ("Positioning", "Rehearsal")]
SCRIPTS = sorted(script for folder in (PAGE, *OTHER_PAGES) for script in folder.glob("*.js"))


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, cwd=TESTS / "Page")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_parse(needs, script):
    checked = run(needs("node"), "--check", script)
    assert checked.returncode == 0, checked.stderr


def test_the_linter_finds_nothing(needs):
    linter = shutil.which("biome") or Path(sys.executable).with_name("biome")
    assert len(SCRIPTS) > 5
    checked = run(linter, "lint", "--error-on-warnings", "--config-path=.", PAGE, *OTHER_PAGES, TESTS / "Page")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_linter_finds_what_is_wrong(tmp_path):
    linter = shutil.which("biome") or Path(sys.executable).with_name("biome")
    (tmp_path / "biome.json").write_text((TESTS / "Page" / "biome.json").read_text())
    (tmp_path / "wrong.js").write_text('"use strict";\nnosuch(1);\n')
    checked = subprocess.run([linter, "lint", "wrong.js"], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert checked.returncode != 0 and "nosuch" in checked.stdout + checked.stderr


def test_the_models_agree_with_the_program(needs):
    # Some versions of Node take a folder, all take files.
    tested = run(needs("node"), "--test", *sorted((TESTS / "Page").glob("*.test.js")))
    assert tested.returncode == 0, tested.stdout[-4000:]
    assert int(re.search(r"^(?:#|ℹ) pass (\d+)", tested.stdout, re.MULTILINE)[1]) >= 15
