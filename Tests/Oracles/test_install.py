"""`make install`: programs, units, completions, manual pages and samples under a prefix, and their removal."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PHAROS = os.environ["PHAROS"]


def install(root, *arguments):
    environment = {**os.environ, "PREFIX": "/usr/local", "DESTDIR": str(root), "PROGRAM": PHAROS}
    return subprocess.run([ROOT / "systemd/install", *arguments], env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    done = install(root)
    assert done.returncode == 0, done.stderr
    return root / "usr/local"


@pytest.mark.parametrize("path", [
    "bin/pharos", "libexec/pharos/pharos-hub", "share/man/man1/pharos.1", "share/man/man1/pharos-listen.1",
    "share/man/man5/pharos-profile.5", "share/bash-completion/completions/pharos", "share/zsh/site-functions/_pharos",
    "share/fish/vendor_completions.d/pharos.fish", "lib/systemd/system/pharos@.service",
    "lib/systemd/system/pharos-collect@.service", "lib/systemd/system/pharos-value@.timer",
    "lib/systemd/system/pharos.target", "lib/sysusers.d/pharos.conf",
    "lib/tmpfiles.d/pharos.conf", "lib/udev/rules.d/60-pharos.rules", "share/pharos/profiles/lobby-ibeacon.json",
    "share/pharos/fleets/car-park.csv", "share/pharos/schema/beacon.schema.json", "share/pharos/systemd/broker.conf"])
def test_each_file_is_installed(installed, path):
    assert (installed / path).is_file()


def test_units_start_the_installed_program(installed):
    for unit in (installed / "lib/systemd/system").glob("*.service"):
        if unit.name == "pharos-value@.service":
            continue  # It starts the user's program.
        starts = [line for line in unit.read_text().splitlines() if line.startswith("ExecStart=")]
        assert starts and all(line.startswith("ExecStart=/usr/local/bin/pharos ") for line in starts), unit.name


def test_samples_name_the_installed_schema(installed):
    text = (installed / "share/pharos/profiles/lobby-ibeacon.json").read_text()
    assert '"/usr/local/share/pharos/schema/beacon.schema.json"' in text


def test_the_program_finds_pharos_hub(installed):
    done = subprocess.run([installed / "bin/pharos", "listen", "--schema"], capture_output=True, text=True)
    assert (done.returncode, done.stdout[:1]) == (0, "{"), done.stderr


def test_removal_leaves_nothing(tmp_path):
    assert install(tmp_path).returncode == 0
    assert install(tmp_path, "--remove").returncode == 0
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []


def test_a_missing_build_is_named(tmp_path):
    environment = {**os.environ, "DESTDIR": str(tmp_path), "PROGRAM": "/nonexistent/pharos"}
    done = subprocess.run([ROOT / "systemd/install"], env=environment, capture_output=True, text=True)
    assert done.returncode == 66 and "make static" in done.stderr
