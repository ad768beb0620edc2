"""`fleet list` and `fleet diff --exit-code`."""
import json

import pytest

import fleets
import pharos


@pytest.fixture
def fleet(tmp_path):
    beacons = [fleets.beacon(0), fleets.beacon(1, group="museum/upper", adapter="hci1:mgmt"),
               fleets.rotating(2, group="depot")]
    beacons[2]["adapter"] = "bad\x1b[31m\nline"
    fleets.write(tmp_path, beacons)
    return tmp_path


def rows(*arguments) -> list[str]:
    return pharos.checked("fleet", "list", *arguments).out.splitlines()


def test_every_advertisement_is_a_line(fleet):
    header, *lines = rows(fleet)
    assert header.split() == ["beacon", "group", "adapter", "type", "identity", "interval", "ms"]
    assert len(lines) == 7
    assert lines[0].split() == ["hall-0", "museum/ground/hall", "hci0", "ibeacon", f"ibeacon:{fleets.UUID}-1-0",
                                "200"]
    assert lines[4].split() == ["hall-1", "museum/upper", "hci1:mgmt", "eddystone-uid",
                                "uid:8b0ca750095477cb3e77-000000000001", "350"]
    assert "\x1b" not in lines[6] and lines[6].split()[-3:] == ["eddystone-eid", "-", "1000"]


def test_a_fleet_with_titles_has_a_column_of_them(tmp_path):
    fleets.write(tmp_path, [fleets.beacon(0, title="Great Hall"), fleets.beacon(1)])
    header, first, *_, last = rows(tmp_path)
    assert header.split()[:3] == ["beacon", "title", "group"]
    assert first.split()[:4] == ["hall-0", "Great", "Hall", "museum/ground/hall"]
    assert last.split()[:3] == ["hall-1", "-", "museum/ground/hall"]


def test_json_has_the_keys_of_the_manifest(fleet):
    told = [json.loads(line) for line in rows(fleet, "--json")]
    assert told == json.loads((fleet / "manifest.json").read_text())["beacons"]


@pytest.mark.parametrize("options, names", [
    (["--site", "museum"], ["hall-0", "hall-1"]), (["--group", "museum/upper"], ["hall-1"]),
    (["--group", "depot", "--group", "museum/ground"], ["hall-0", "hall-2"]), (["--beacon", "hall-2"], ["hall-2"]),
    (["--type", "eddystone-eid"], ["hall-2"]), (["--type", "ibeacon", "--site", "depot"], []),
])
def test_filters_leave_what_they_name(fleet, options, names):
    told = [json.loads(line) for line in rows(fleet, "--json", *options)]
    assert [beacon["name"] for beacon in told] == names


@pytest.mark.parametrize("options", [["--site", "rome"], ["--group", "museum/cellar"], ["--beacon", "hall-9"]])
def test_what_the_fleet_does_not_have_is_refused(fleet, options):
    refused = pharos.run("fleet", "list", fleet, *options)
    assert refused.code == 64 and options[1] in refused.err and refused.out == ""


def test_diff_ends_with_1_where_asked_and_something_differs(tmp_path):
    pharos.checked("fleet", "init", "museum", "--output", tmp_path / "museum.json")
    pharos.checked("fleet", "generate", tmp_path / "museum.json", "--output", tmp_path / "out")
    diff = ["fleet", "diff", tmp_path / "museum.json", "--against", tmp_path / "out"]
    assert pharos.run(*diff, "--exit-code").code == 0
    file = tmp_path / "museum.json"
    file.write_text(file.read_text().replace("hall-desk", "hall-till"))
    assert pharos.run(*diff).code == 0
    changed = pharos.run(*diff, "--exit-code")
    assert changed.code == 1 and "hall-till" in changed.out
    assert pharos.run(*diff, "--exit-code", "--json").code == 1
