"""Names and values of a fleet meet those who would interpret them: systemd, spreadsheets, shells and file systems."""
import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pharos

ROOT = Path(__file__).resolve().parents[2]

GOOD = ["a", "Z9", "0", "box-7", "a--b", "a-", "a.b_c-d", "a..b", "x_", "con", "service", "7.5", "1e3", "x2d", "A" * 64]
NASTY = [
    "", ".", "..", ".hidden", "-x", "--help", "_x", "../x", "a/b", "/etc/passwd", "a\\b", "a\\x2db", "a b", "a\tb",
    "a\nb",
    "a\x07b", "a\x7f", "%n", "a%ib", "%%", "$(id)", "`id`", "${HOME}", "a;b", "a|b", "a&b", "a>b", "a'b", 'a"b', "a,b",
    "a@b", "@SUM(A1)", "a:b", "=1+1", "=cmd|' /C calc'!A0", "+1", "{{ lookup('pipe', 'id') }}", "!vault", "#a", "~root",
    "*", "a?", "[a]", "ä", "a\u202eb", "a\u0000b", "A" * 65]


def fleet(folder: Path, rows: list[list[str]], header=("name", "key")) -> Path:
    with open(folder / "boxes.csv", "w", newline="", encoding="utf-8") as table:
        csv.writer(table, quoting=csv.QUOTE_ALL).writerows([list(header), *rows])
    file = folder / "fleet.json"
    file.write_text(json.dumps({
        "version": 1, "name": "made",
        "template": {"advertisements": [{
            "type": "eddystone-eid", "identityKeyFile": "${key}", "rotationExponent": 10, "intervalMs": 1000,
            "measuredPowerDbm": -18}]},
        "identities": {"eidEpoch": "2026-03-01T12:00:00Z"}, "beacons": {"csv": "boxes.csv"}}), encoding="utf-8")
    return file


def test_systemd_takes_every_name_as_it_stands(tmp_path):
    """`pharos@NAME.service` needs no escaping, and %i gives the name of the profile back."""
    file = fleet(tmp_path, [[name, f"{name}.key"] for name in GOOD])
    pharos.checked("fleet", "generate", file, "--output", tmp_path / "out")
    assert {path.stem for path in (tmp_path / "out").glob("*.json")} == {*GOOD, "manifest"}
    units = [f"pharos@{name}.service" for name in GOOD]
    mangled = subprocess.run(["systemd-escape", "--mangle", *units], capture_output=True, text=True, check=True)
    assert mangled.stdout.split() == units
    # A real enable, in a root of its own; systemd itself puts %i into the name of a folder.
    system = tmp_path / "root" / "etc" / "systemd" / "system"
    system.mkdir(parents=True)
    shutil.copy(ROOT / "systemd" / "pharos@.service", system)
    with open(system / "pharos@.service", "a", encoding="utf-8") as unit:
        unit.write("\n[Install]\nRequiredBy=%i.json.target\n")
    subprocess.run(["systemctl", "--root", tmp_path / "root", "enable", *units], capture_output=True, check=True)
    for name, unit in zip(GOOD, units, strict=True):
        assert (system / f"{name}.json.target.requires" / unit).is_symlink()


def test_names_that_mean_something_elsewhere_are_all_refused(tmp_path):
    file = fleet(tmp_path, [[name, "x.key"] for name in NASTY])
    result = pharos.run("fleet", "check", file, "--json")
    assert result.code == 1
    problems = [problem for problem in json.loads(result.out)["problems"] if problem["severity"] == "error"]
    # Cells of a column with the same fault are one problem, which counts them.
    more = [re.search(r"same is true of (\d+) more cell", problem["message"]) for problem in problems]
    assert len(problems) + sum(int(found[1]) for found in more if found) == len(NASTY)
    made = pharos.run("fleet", "generate", file, "--output", tmp_path / "out")
    assert made.code == 78
    assert sorted(path.name for path in tmp_path.iterdir()) == ["boxes.csv", "fleet.json"]
    # What is said of them cannot move a terminal's cursor.
    assert not set(made.err) & {"\x07", "\x7f", "\u202e", "\t", "\0"}


@pytest.mark.parametrize("key", [
    "=cmd|' /C calc'!A0", "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "=HYPERLINK(\"https://e.org\")", "$(id)", "a,b",
    "%n"])
def test_no_cell_of_a_table_is_a_formula(tmp_path, key):
    file = fleet(tmp_path, [["a", key, "=note()"]], header=("name", "key", "Notes"))
    checked = pharos.run("fleet", "generate", file, "--output", tmp_path / "out")
    if checked.code != 0:
        assert checked.code == 78 and not (tmp_path / "out").exists()
        return
    (beacon,) = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["beacons"]
    assert beacon["advertisements"][0]["identityKeyFile"] == key
    exported = pharos.checked("fleet", "export", "csv", tmp_path / "out").out
    for text in (tmp_path / "out" / "manifest.csv").read_text(encoding="utf-8"), exported:
        assert "=note()" not in text
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                assert not cell.startswith(("=", "+", "@", "\t", "\r")), cell
                assert not cell.startswith("-") or float(cell)


@pytest.mark.parametrize("name", ["manifest", "pharos", "all", "ungrouped", "localhost", "site_museum", "site_"])
def test_names_of_the_fleets_own_files_and_of_groups_are_refused(tmp_path, name):
    """In a table and in a list. Groups and fleets may have them, and so may names that only look alike."""
    refused = [pharos.run("fleet", "check", fleet(tmp_path, [[name, "x.key"]]))]
    file = tmp_path / "fleet.json"
    text = json.loads(file.read_text())
    text["template"]["advertisements"][0]["identityKeyFile"] = "x.key"
    text["beacons"] = [{"name": name}]
    file.write_text(json.dumps(text))
    refused.append(pharos.run("fleet", "check", file))
    for result in refused:
        assert result.code == 1 and f'"{name}" cannot be a beacon\'s name: ' in result.out + result.err, result
    text |= {"name": name, "beacons": [{"name": f"{name}-1"}], "groups": [{"name": name, "beacons": [
        {"name": name.title() + "1"}]}]}
    text["template"]["advertisements"][0]["identityKeyFile"] = "${key}.key"
    text["beacons"][0]["variables"] = {"key": "a"}
    text["groups"][0]["beacons"][0]["variables"] = {"key": "b"}
    file.write_text(json.dumps(text))
    result = pharos.run("fleet", "check", file)
    if not name.startswith("site_"):
        assert result.code == 0, result
