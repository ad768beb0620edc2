"""Commands of `map` and `locate` given each kind of file that they do not take: one sentence that names the kind."""
import json
from pathlib import Path

import pharos
import pytest
from test_scan import UUID, address, ibeacon, recording, report

PROFILES = Path(__file__).resolve().parents[2] / "profiles"
KINDS = {
    "map.json": "a map of signals", "survey.jsonl": "a survey", "tape.btsnoop": "a recording of packets",
    "scan.jsonl": "what `pharos scan --json` prints", "site.json": "a site file", "fleet.json": "a fleet file",
    "one-line.json": "a beacon profile", "profile.json": "a beacon profile", "inventory.json": "an inventory",
}
MAP, SURVEY, RUN = {"map.json"}, {"survey.jsonl"}, {"survey.jsonl", "tape.btsnoop", "scan.jsonl"}
# What each takes in the place of FILE, and what it calls that.
COMMANDS = [
    ("locate FILE --from survey.jsonl", MAP, "a map"), ("map show FILE", MAP, "a map"),
    ("map evaluate FILE --test survey.jsonl", MAP, "a map"), ("map update FILE --survey survey.jsonl", MAP, "a map"),
    ("map fit FILE --output out.json", SURVEY, "a survey"), ("map check FILE", SURVEY, "a survey"),
    ("map evaluate FILE", SURVEY, "a survey"), ("map import FILE", SURVEY, "a survey"),
    ("map export FILE --format dump", SURVEY | MAP, None), ("map update map.json --survey FILE", SURVEY, "a survey"),
    ("map evaluate map.json --test FILE", SURVEY, "a survey"),
    ("map record FILE --position 1,1 --from tape.btsnoop", SURVEY, "a survey"),
    ("locate map.json --from FILE", RUN, "a run"), ("map record new.jsonl --position 1,1 --from FILE", RUN, "a run"),
    ("map fit --from-site FILE --output out.json", {"site.json"}, "a site file"),
    ("map show map.json --site FILE", {"site.json"}, "a site file"),
    ("locate map.json --from survey.jsonl --site FILE", {"site.json"}, "a site file"),
    ("map fit survey.jsonl --output out.json --beacon-positions FILE", {"site.json", "fleet.json"}, None),
    ("locate map.json --from survey.jsonl --truth FILE", set(), "a table"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One file of each kind."""
    folder = tmp_path_factory.mktemp("kinds")
    packets = [(at * 100_000 + beacon, report(address(beacon), ibeacon(1, beacon), -50 - beacon))
               for at in range(60) for beacon in range(1, 4)]
    recording(folder / "tape.btsnoop", packets)
    (folder / "scan.jsonl").write_text(pharos.checked("scan", "--replay", folder / "tape.btsnoop", "--json").out)
    for place in ("A", "B"):
        pharos.checked("map", "record", "survey.jsonl", "--place", place, "--position", f"{ord(place) - 60},1",
                       "--seconds", "3", "--from", "tape.btsnoop", cwd=folder)
    pharos.checked("map", "fit", "survey.jsonl", "--algorithm", "nn", "--output", "map.json", cwd=folder)
    site = {"version": 1, "name": "hall", "outline": [[0, 0], [9, 0], [9, 9]],
            "target": {"detectWithinS": 5, "probability": 0.9}, "beacons": [{"name": "a", "position": [1, 1]}]}
    (folder / "site.json").write_text(json.dumps(site, indent=2))
    (folder / "fleet.json").write_text((PROFILES / "fleets" / "museum.json").read_text())
    (folder / "profile.json").write_text((PROFILES / "lobby-ibeacon.json").read_text())
    (folder / "one-line.json").write_text(json.dumps({"name": "desk", "version": 1, "advertisements": [
        {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": 1, "measuredPowerDbm": -59, "intervalMs": 500}]}))
    (folder / "inventory.json").write_text('{"version": 1, "name": "store", "items": []}\n')
    return folder


@pytest.mark.parametrize("command, taken, wanted", COMMANDS)
def test_the_kind_is_named_in_one_sentence(folder, command, taken, wanted):
    before = {name: (folder / name).read_bytes() for name in KINDS}
    for name, kind in KINDS.items():
        if name in taken:
            continue
        result = pharos.run(*[name if word == "FILE" else word for word in command.split()], cwd=folder)
        assert result.code in (65, 78), (name, result)
        said = result.err.splitlines()
        assert len(said) == 1 and said[0].startswith(f"pharos: {name}:"), (name, said)
        assert f"this is {kind}, not {wanted or 'a '}" in said[0] and "`pharos " in said[0], said
    assert before == {name: (folder / name).read_bytes() for name in KINDS}


def test_a_site_comes_from_standard_input_too(folder):
    made = pharos.checked("map", "fit", "--from-site", "-", "--output", "-", stdin=(folder / "site.json").read_text())
    assert json.loads(made.out)["site"] == "hall"
