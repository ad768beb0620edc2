"""The commands of README.md and of the documentation's pages, run as they are printed, each page in a new directory.

The lines of code blocks without a language that begin with `pharos`, `mkdir`, `for` or `sleep` are run, and the
commands with options in tables. Lines with `sudo` need a radio or an installed package. A line that ends in `# exit N`
must end with that status, any other with 0.
"""
import os
import re
import subprocess
from pathlib import Path

import pharos
import pytest

ROOT = Path(__file__).resolve().parents[2]
CATALOG = ROOT / "Sources/Programs/pharos/pharos.docc"
PAGES = sorted(CATALOG.glob("*.md")) + [ROOT / "README.md"]
RUN = ("pharos ", "mkdir ", "for ", "sleep ")


def commands(page: Path) -> list[str]:
    found, language = [], None
    for line in map(str.strip, page.read_text().replace("\\\n", "").splitlines()):
        if line.startswith("```"):
            language = line[3:] if language is None else None
        elif language == "" and line.startswith(RUN):
            found.append(line)
        elif language is None and line.startswith("|"):
            found += re.findall("`(pharos [^`]* --[^`]+)`", line)
    return found


def is_runnable(command: str) -> bool:
    """No radio, no browser, no machine of a fleet, no mail, no file to fill in, and no installed services."""
    needs = ("--adapter hci", "site edit floor", "--ssh", "--mail-to", "systemctl", "pharos status\n", "pharos where",
             "FILE", "NAME")
    return not any(word in command + "\n" for word in needs) and "workshop" not in command


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem)
def test_every_command_of_a_page_works(page, tmp_path):
    directory = tmp_path / "here"
    directory.mkdir()
    environment = os.environ | {"PATH": f"{Path(pharos.PROGRAM).parent}:{os.environ['PATH']}"}
    for command in filter(is_runnable, commands(page)):
        expected = int((re.search(r"# exit (\d+)$", command) or ["", "0"])[1])
        # Into a file: what a command leaves running would keep a pipe open.
        with (tmp_path / "output").open("w+") as output:
            done = subprocess.run(["bash", "-c", command], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=output, stderr=output, timeout=900, check=False)
            output.seek(0)
            assert done.returncode == expected, f"{command}\n{output.read()}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_somewhere(page):
    text = page.read_text()
    for name in re.findall(r"<doc:(\w+)>", text):
        assert (CATALOG / f"{name}.md").exists(), name
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / path).exists(), path


def test_the_walks_name_what_the_code_has():
    code = "\n".join(path.read_text() for path in (ROOT / "Sources").rglob("*.swift"))
    for span in re.findall(r"`([A-Za-z][\w.():]*)`", (CATALOG / "Modules.md").read_text().split("## Five walks")[1]):
        for word in re.findall(r"[A-Za-z]\w+", span):
            assert re.search(rf"\b{word}\b", code), span
