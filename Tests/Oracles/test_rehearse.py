"""`pharos rehearse`: a fleet on a simulated air. Its collisions against a formula of this file's own, its recordings
against `pharos audit`, planted faults, and wrong files."""
import itertools
import json
import math
from pathlib import Path

import pharos
import pytest

POSITIONS = [(4, 4), (15, 4), (26, 4), (4, 16), (15, 16), (26, 16)]
LOSS = {"model": "log-distance", "lossAt1mDb": 55, "exponent": 2, "shadowingDb": 3}


def world(folder: Path, *, boxes=POSITIONS, interval=318.75, shadowing=3.0, eid=False, phy=None,
          **loss) -> tuple[Path, Path]:
    """A fleet and its floor with a receiver near each box."""
    frames = [{"type": "ibeacon", "uuid": "3c2a6f0e-5b1d-4e77-9a48-0d6f2c9b7e11", "major": 1, "minor": "${minor}",
               "intervalMs": interval, **({"phy": phy} if phy else {})}]
    if eid:
        frames.append({"type": "eddystone-eid", "identityKeyFile": "${key}", "rotationExponent": 4,
                       "intervalMs": 1000})
    fleet = {
        "version": 1, "name": "world",
        "template": {"radioPowerDbm": 0, "calibration": {"default": -59}, "advertisements": frames},
        "defaults": {"controller": "extended"},
        "identities": {"minor": {"within": "fleet"}, **({"eidEpoch": "2026-03-01T12:00:00Z"} if eid else {})},
        "beacons": [{"name": f"box-{number + 1}", "position": list(place),
                     **({"variables": {"key": f"box-{number + 1}.key"}} if eid else {})}
                    for number, place in enumerate(boxes)]}
    site = {
        "version": 1, "name": "world", "outline": [[0, 0], [30, 0], [30, 20], [0, 20]],
        "beacons": {"fleet": "fleet.json"}, "paths": [{"name": "tour", "points": [[2, 10], [28, 10]]}],
        "receivers": [{"name": f"ear-{number + 1}", "position": [x + 2, y + 1]}
                      for number, (x, y) in enumerate(POSITIONS)],
        "pathLoss": {**LOSS, "shadowingDb": shadowing, **loss}, "scanner": "android-balanced",
        "target": {"detectWithinS": 10, "probability": 0.9}}
    for name, value in (("fleet", fleet), ("site", site)):
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder / "fleet.json", folder / "site.json"


def rehearse(*arguments, **options) -> pharos.Result:
    return pharos.run("rehearse", *arguments, timeout=900, **options)


def report(*arguments) -> dict:
    result = rehearse(*arguments, "--json")
    assert result.out, result.err
    return json.loads(result.out)


def broken(found: dict) -> list[str]:
    return [promise["reason"] for promise in found["promises"] if promise["verdict"] == "broken"]


def plant(folder: Path, *faults) -> Path:
    path = folder / "faults.json"
    path.write_text(json.dumps({"version": 1, "faults": list(faults)}))
    return path


# ---- what holds
def test_a_fleet_without_faults_keeps_its_promises_and_a_seed_repeats_its_run(tmp_path):
    fleet, site = world(tmp_path)
    first = rehearse(fleet, "--site", site, "--hours", "0.1", "--phones", "10")
    assert first.code == 0, first.out
    assert "promises that can be judged hold" in first.out
    again = rehearse(fleet, "--site", site, "--hours", "0.1", "--phones", "10", "--threads", "1")
    assert again.out == first.out
    other = rehearse(site, "--hours", "0.1", "--phones", "10", "--seed", "2")
    assert other.code == 0 and other.out != first.out


def test_collisions_at_a_receiver_are_those_of_the_formula(tmp_path):
    """Without shadowing each receiver hears all boxes: clear = prod(1 - (tau_i + tau_j) / E_j)."""
    boxes = [(2 + 3 * (number % 9), 2 + 4 * (number // 9)) for number in range(36)]
    _, site = world(tmp_path, boxes=boxes, interval=100, shadowing=0)
    found = report(site, "--hours", "0.05", "--phones", "0")
    tau, period = 8 * (16 + 30), 105_000
    expected = 1 - math.prod([1 - 2 * tau / period] * (len(boxes) - 1))
    for promise in found["promises"]:
        if promise["kind"] == "collisions":
            assert promise["count"] > 50_000
            assert promise["expected"] == pytest.approx(100 * expected, rel=0.002)
            assert promise["measured"] == pytest.approx(100 * expected, rel=0.03)


def test_intervals_are_those_of_the_profile(tmp_path):
    _, site = world(tmp_path)
    found = report(site, "--hours", "0.1", "--phones", "0")
    intervals = [promise for promise in found["promises"] if promise["kind"] == "interval"]
    assert len(intervals) == 6
    for promise in intervals:
        assert promise["measured"] == pytest.approx(323.75, abs=5 * promise["standardError"])
        assert promise["count"] == pytest.approx(360_000 / 323.75, abs=6)


def test_runs_add_up(tmp_path):
    _, site = world(tmp_path)
    counts = []
    for seed in (1, 2):
        result = rehearse(site, "--hours", "0.05", "--phones", "5", "--seed", seed, "--json")
        (tmp_path / f"{seed}.json").write_text(result.out)
        counts.append(sum(each["count"] for each in json.loads(result.out)["promises"] if each["kind"] == "interval"))
    both = report("--add", tmp_path / "1.json", tmp_path / "2.json")
    assert both["seeds"] == [1, 2]
    assert sum(each["count"] for each in both["promises"] if each["kind"] == "interval") == sum(counts)
    twice = rehearse("--add", tmp_path / "1.json", tmp_path / "1.json")
    assert twice.code == 78 and "seed 1 occurs twice" in twice.err


# ---- what breaks
FAULTS = {
    "stops": {"beacon": "box-2"}, "interval": {"beacon": "box-2"}, "identity": {"beacon": "box-2"},
    "clone": {"beacon": "box-2"}, "weak": {"beacon": "box-2"}, "deaf": {"receiver": "ear-2"}, "broker-away": {},
    "clock-jump": {"beacon": "box-2"}}


@pytest.mark.long
@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_is_found_and_the_last_line_replays_the_run(kind, tmp_path):
    _, site = world(tmp_path, eid=kind == "clock-jump")
    faults = plant(tmp_path, {"kind": kind, "atS": 200, **FAULTS[kind]})
    words = (site, "--hours", "0.15", "--phones", "10", "--faults", faults)
    found = report(*words)
    assert [fault["isFound"] for fault in found["faults"]] == [True], broken(found)
    assert all("planted" in reason for reason in broken(found)), broken(found)
    first = rehearse(*words)
    assert first.code == 1
    last = first.out.splitlines()[-1].split()
    assert last[:2] == ["replay:", "pharos"] and last[3] == "rehearse"
    again = pharos.run(*last[3:], timeout=900)
    assert (again.code, again.out) == (1, first.out)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["stops", "interval", "identity", "clone", "weak"])
def test_audit_finds_planted_faults_in_the_recordings(kind, tmp_path):
    fleet, site = world(tmp_path)
    pharos.checked("fleet", "generate", fleet, "--output", tmp_path / "out")
    faults = plant(tmp_path, {"kind": kind, "atS": 200, "beacon": "box-2"})
    heard = tmp_path / "heard"
    rehearse(site, "--hours", "0.15", "--phones", "0", "--faults", faults, "--record", heard)
    recordings = [word for path in sorted(heard.iterdir()) for word in ("--replay", path)]
    audit = pharos.run("audit", fleet, "--site", site, *recordings, "--json")
    assert audit.code == 1, audit.out
    wrong = {each["beacon"] for each in json.loads(audit.out)["advertisements"] if each["verdicts"] != ["ok"]}
    assert wrong == {"box-2"}


def test_audit_of_a_clean_recording_finds_nothing(tmp_path):
    fleet, site = world(tmp_path)
    pharos.checked("fleet", "generate", fleet, "--output", tmp_path / "out")
    heard = tmp_path / "heard"
    assert rehearse(site, "--hours", "0.1", "--phones", "0", "--record", heard).code == 0
    recordings = [word for path in sorted(heard.iterdir()) for word in ("--replay", path)]
    audit = pharos.run("audit", fleet, "--site", site, *recordings)
    assert audit.code == 0, audit.out


@pytest.mark.parametrize("phy", ["2M", "coded-s8"])
def test_extended_advertising_is_rehearsed_and_its_recordings_are_audited(phy, tmp_path):
    fleet, site = world(tmp_path, phy=phy)
    pharos.checked("fleet", "generate", fleet, "--output", tmp_path / "out")
    refused = rehearse(site, "--hours", "0.1", "--phones", "10")
    needed = "coded" if phy.startswith("coded") else "1M"
    assert refused.code != 0 and f"--scanner-phy {needed}" in refused.err
    heard = tmp_path / "heard"
    words = ("--hours", "0.1", "--phones", "10", "--scanner-phy", needed, "--record", heard)
    rehearsed = rehearse(site, *words)
    assert rehearsed.code == 0, rehearsed.out
    recordings = [word for path in sorted(heard.iterdir()) for word in ("--replay", path)]
    audit = pharos.run("audit", fleet, "--site", site, *recordings)
    assert audit.code == 0, audit.out


def test_a_beacon_that_no_receiver_can_hear_is_no_fault(tmp_path):
    fleet, site = world(tmp_path)
    floor = json.loads(site.read_text())
    # One receiver is left, and walls stand all around box-5.
    floor["receivers"] = floor["receivers"][:1]
    (left, low), (right, high) = [[each + step for each in POSITIONS[4]] for step in (-0.5, 0.5)]
    corners = [[left, low], [right, low], [right, high], [left, high], [left, low]]
    floor["walls"] = [{"from": begin, "to": end, "attenuationDb": 60} for begin, end in itertools.pairwise(corners)]
    site.write_text(json.dumps(floor))
    pharos.checked("fleet", "generate", fleet, "--output", tmp_path / "out")
    heard = tmp_path / "heard"
    rehearse(site, "--hours", "0.1", "--phones", "0", "--record", heard)
    recordings = [word for path in sorted(heard.iterdir()) for word in ("--replay", path)]
    audit = json.loads(pharos.run("audit", fleet, "--site", site, *recordings, "--json").out)
    verdicts = {each["beacon"]: each["verdicts"] for each in audit["advertisements"]}
    assert "silent" not in verdicts["box-5"], audit
    assert ("not-in-range", "box-5") in [(each["warning"], each["beacon"]) for each in audit["warnings"]]


def test_a_weak_beacon_is_found_although_no_event_is_lost(tmp_path):
    """From the first second on, at several receivers: only the levels of the plan show it."""
    fleet, site = world(tmp_path)
    pharos.checked("fleet", "generate", fleet, "--output", tmp_path / "out")
    faults = plant(tmp_path, {"kind": "weak", "atS": 0, "beacon": "box-5"})
    heard = tmp_path / "heard"
    rehearse(site, "--hours", "0.1", "--phones", "0", "--faults", faults, "--record", heard)
    recordings = [word for path in sorted(heard.iterdir()) for word in ("--replay", path)]
    audit = json.loads(pharos.run("audit", fleet, "--site", site, *recordings, "--json").out)
    found = {each["beacon"]: each for each in audit["advertisements"]}
    assert found["box-5"]["verdicts"] == ["weak"]
    assert "weaker than the plan expects, at" in found["box-5"]["reasons"][0]
    assert found["box-5"]["share"] > 0.97
    assert all(each["verdicts"] == ["ok"] for name, each in found.items() if name != "box-5")


def test_a_beacon_that_is_weak_at_one_receiver_is_obstructed_there(tmp_path):
    """A screen close to box-5, which the plan does not know, crosses its way to ear-2 and no other one."""
    fleet, site = world(tmp_path, lossAt1mDb=40)
    pharos.checked("fleet", "generate", fleet, "--output", tmp_path / "out")
    screen = {"from": [14.8, 15.4], "to": [15.3, 15.4], "attenuationDb": 22}
    real = tmp_path / "real.json"
    real.write_text(json.dumps({**json.loads(site.read_text()), "walls": [screen]}))
    heard = tmp_path / "heard"
    rehearse(real, "--hours", "0.1", "--phones", "0", "--record", heard)
    recordings = [word for path in sorted(heard.iterdir()) for word in ("--replay", path)]
    done = pharos.run("audit", fleet, "--site", site, *recordings, "--json")
    found = {each["beacon"]: each for each in json.loads(done.out)["advertisements"]}
    assert done.code == 1 and found["box-5"]["verdicts"] == ["obstructed"], found["box-5"]
    reason = found["box-5"]["reasons"][0]
    assert "ear-2.btsnoop, and as expected at 5 other receivers: something between the beacon and" in reason
    assert all(each["verdicts"] == ["ok"] for name, each in found.items() if name != "box-5")
    # The plan with the screen explains the levels.
    known = pharos.run("audit", fleet, "--site", real, *recordings)
    assert known.code == 0, known.out


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 8))
def test_shadowing_alone_is_no_finding(seed, tmp_path):
    fleet, site = world(tmp_path, lossAt1mDb=40)
    pharos.checked("fleet", "generate", fleet, "--output", tmp_path / "out")
    heard = tmp_path / "heard"
    rehearse(site, "--hours", "0.1", "--phones", "0", "--seed", seed, "--record", heard)
    recordings = [word for path in sorted(heard.iterdir()) for word in ("--replay", path)]
    audit = pharos.run("audit", fleet, "--site", site, *recordings)
    assert audit.code == 0, audit.out


@pytest.mark.long
def test_twenty_planted_faults_are_found_and_fifty_clean_runs_invent_none(tmp_path):
    boxes = [(2 + 5 * (number % 6), 2 + 4 * (number // 6)) for number in range(24)]
    _, site = world(tmp_path, boxes=boxes, interval=417.5)
    for seed in range(1, 51):
        found = report(site, "--hours", "0.1", "--phones", "10", "--seed", seed)
        assert broken(found) == [], seed
    found = report(site, "--hours", "0.5", "--phones", "10", "--random-faults", "20", "--seed", "7")
    assert len(found["faults"]) == 20
    assert [fault for fault in found["faults"] if not fault["isFound"]] == []


# ---- wrong files
@pytest.mark.parametrize("words, code, sentence", [
    (("nowhere.json",), 66, "nowhere.json"),
    (("fleet.json", "--site", "nowhere.json"), 66, "nowhere.json"),
    (("fleet.json", "--site", "fleet.json"), 78, "fleet.json:1:"),
    (("site.json", "--hours", "300"), 64, "out of range 0.01...240 h"),
    (("site.json", "--scanners", "androids:1"), 64, "--scanners androids:1"),
    (("site.json", "--faults", "faults.json"), 78, "there is no beacon \"box-9\" in this rehearsal; did you mean"),
    (("--add", "site.json", "site.json"), 65, "not a report of a rehearsal"),
    (("fleet.json", "--record", "heard"), 64, "the site has no receivers"),
    (("site.json", "--record", "heard", "--hours", "240"), 64, "rehearse fewer hours"),
    ((), 64, "Name a fleet file"),
])
def test_wrong_files_are_named_and_nothing_is_written(words, code, sentence, tmp_path):
    boxes = [(1 + 2 * (number % 14), 1 + 2 * (number // 14)) for number in range(120)]
    world(tmp_path, boxes=boxes, interval=100)
    plant(tmp_path, {"kind": "stops", "beacon": "box-9", "atS": 1})
    if "--faults" in words:
        world(tmp_path)
    before = sorted(tmp_path.iterdir())
    result = rehearse(*words, cwd=tmp_path)
    assert (result.code, result.out) == (code, "")
    assert sentence in result.err
    assert sorted(tmp_path.iterdir()) == before


def test_phones_that_receive_only_legacy_pdus_are_refused_with_extended_advertising(tmp_path):
    fleet, site = world(tmp_path)
    found = json.loads(fleet.read_text())
    found["template"]["advertisements"][0]["phy"] = "coded"
    fleet.write_text(json.dumps(found))
    result = rehearse(fleet, "--site", site)
    assert result.code == 64 and result.out == ""
    assert '"box-1" has extended advertising' in result.err and "Add --scanner-phy coded" in result.err
