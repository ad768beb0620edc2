"""`pharos zones FILE`: recordings with known ends, copies, deafness of none, faults in files, the sample on the air."""
import json
import pathlib
import re

import pytest

import pharos
from test_scan import START, UUID, address, ibeacon, recording, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEYS = ["event", "id", "zone", "beacon", "receiver", "at", "since", "dwellS", "cause", "provenBy", "rssiDbm",
        "distanceM", "clock", "proof", "cloned", "content", "attachments"]
PETER = {"name": "desk-peter", "ibeacon": {"uuid": UUID, "major": 1, "minor": 2}, "tags": ["desk"],
         "attachments": {"desk-owner": "Peter", "post": "Professor"}}
ALEX = {"name": "desk-alex", "ibeacon": {"uuid": UUID, "major": 1, "minor": 3}, "tags": ["desk"],
        "attachments": {"desk-owner": "Alex"}}
DESK = {"name": "desk", "tag": "desk", "onEnter": {"title": "You are in ${desk-owner}'s Desk", "body": "${post}"},
        "onExit": {"title": "Bye bye", "body": "Hope to see you again."}}


def listener(folder, *zones, **members):
    path = folder / "hall.json"
    path.write_text(json.dumps({"version": 1, "name": "hall", "known": [PETER, ALEX], "zones": zones} | members))
    return path


def heard(start, end, minor, level, step=0.105):
    """Seconds to packets."""
    count = int((end - start) / step)
    return [(int((start + at * step) * 1e6), report(address(minor), ibeacon(1, minor), level)) for at in range(count)]


def tape(folder, *parts):
    return recording(folder / "zones.btsnoop", sorted(sum(parts, []), key=lambda packet: packet[0]))


def events(path, *words):
    result = pharos.checked("zones", path, "--json", *words)
    lines = result.lines()
    assert all(list(line) == KEYS for line in lines)
    return lines


def short(lines):
    return [(line["event"], line["zone"], line["beacon"], line["cause"]) for line in lines]


def seconds(line, key="at"):
    hour, minute, second = line[key][11:-1].split(":")
    start = START // 1_000_000 % 86_400
    return int(hour) * 3600 + int(minute) * 60 + float(second) - start


def test_peter_comes_stays_and_goes(tmp_path):
    path = tape(tmp_path, heard(0, 20, 2, -55), heard(20, 40, 2, -75), heard(30, 90, 9, -50))
    lines = events(listener(tmp_path, DESK | {"dwellS": [10]}), "--replay", path)
    assert short(lines) == [("enter", "desk", "desk-peter", None), ("dwell", "desk", "desk-peter", None),
                            ("exit", "desk", "desk-peter", "level")]
    enter, dwell, leave = lines
    assert enter["content"] == {"title": "You are in Peter's Desk", "body": "Professor"}
    assert leave["content"] == {"title": "Bye bye", "body": "Hope to see you again."} and dwell["content"] is None
    assert enter["attachments"] == {"desk-owner": "Peter", "post": "Professor"}
    assert enter["receiver"] == "hall" and enter["proof"] == "none" and enter["clock"] == "recorded"
    assert enter["rssiDbm"] == -55 and enter["distanceM"] == pytest.approx(10 ** (-4 / 20), abs=0.006)
    assert enter["at"] == enter["since"] == dwell["since"] == leave["since"]
    assert seconds(enter) == pytest.approx(0.105, abs=0.001)
    assert dwell["dwellS"] == 10 and seconds(dwell) == pytest.approx(10.105, abs=0.001)
    # The median of 3 s turns after 1.5 s; then it must be outside for 5 s.
    assert seconds(leave) == pytest.approx(26.5, abs=0.3)
    assert len({line["id"] for line in lines}) == 3


def test_silence_is_an_exit_after_ten_seconds_at_this_interval(tmp_path):
    path = tape(tmp_path, heard(0, 20, 2, -55), heard(0, 60, 9, -50))
    lines = events(listener(tmp_path, DESK), "--replay", path)
    assert short(lines) == [("enter", "desk", "desk-peter", None), ("exit", "desk", "desk-peter", "silence")]
    assert seconds(lines[1]) == pytest.approx(30, abs=0.2)
    assert lines[1]["rssiDbm"] is None and lines[1]["distanceM"] is None


def test_a_silence_at_the_end_of_a_recording_is_not_told(tmp_path):
    path = tape(tmp_path, heard(0, 20, 2, -55), heard(0, 25, 9, -50))
    assert short(events(listener(tmp_path, DESK), "--replay", path)) == [("enter", "desk", "desk-peter", None)]


def test_only_the_nearest_of_a_group_is_inside(tmp_path):
    path = tape(tmp_path, heard(0, 10, 2, -55), heard(10, 30, 2, -58), heard(10, 20, 3, -57), heard(20, 30, 3, -45))
    both = short(events(listener(tmp_path, DESK), "--replay", path))
    assert both == [("enter", "desk", "desk-peter", None), ("enter", "desk", "desk-alex", None)]
    nearest = short(events(listener(tmp_path, DESK | {"exclusive": "desks"}), "--replay", path))
    assert nearest == [("enter", "desk", "desk-peter", None), ("exit", "desk", "desk-peter", "exclusive"),
                       ("enter", "desk", "desk-alex", None)]


def test_how_much_nearer_the_nearest_must_be_is_set(tmp_path):
    path = tape(tmp_path, heard(0, 20, 2, -55), heard(5, 20, 3, -50))
    zone = DESK | {"exclusive": "desks"}
    for decibels, last in ((None, "desk-alex"), (3, "desk-alex"), (6, "desk-peter")):
        own = zone if decibels is None else zone | {"exclusiveDb": decibels}
        enters = [line["beacon"] for line in events(listener(tmp_path, own), "--replay", path)
                  if line["event"] == "enter"]
        assert enters[-1] == last, decibels


def raw(start, end, number, data, level, kind=3, step=0.105):
    """Seconds to packets of a device with this data."""
    count = int((end - start) / step)
    return [(int((start + at * step) * 1e6), report(address(number), data, level, kind)) for at in range(count)]


FLAGS = bytes([2, 1, 6])


def test_a_tag_is_known_by_its_local_name(tmp_path):
    name = b"Peter's keys"
    named = bytes([len(name) + 1, 9]) + name
    keys = {"name": "keys", "localName": "Peter's keys"}
    zone = {"name": "near", "beacons": ["keys"], "aboveDbm": -70}
    file = listener(tmp_path, zone, known=[keys])
    wanted = [("enter", "near", "keys", None), ("exit", "near", "keys", "silence")]
    others = raw(0, 60, 8, FLAGS + bytes([5, 9]) + b"Bike", -40)
    # The name is in each advertisement, or in scan responses only.
    for number, own in enumerate(([*raw(0, 20, 1, FLAGS + named, -60)],
                                  [*raw(0, 20, 1, FLAGS, -60, 2), *raw(0.001, 20, 1, named, -60, 4)])):
        path = tape(tmp_path, own, others)
        lines = events(file, "--replay", path)
        assert short(lines) == wanted, number
        assert lines[0]["distanceM"] is None and lines[0]["cloned"] is False
    # It changes its address, and keeps its name.
    path = tape(tmp_path, raw(0, 10, 1, FLAGS + named, -60), raw(10, 20, 2, FLAGS + named, -60), others)
    assert short(events(file, "--replay", path)) == wanted


def test_whatever_advertises_a_service_is_in_its_zone(tmp_path):
    thread = {"name": "thread", "service": "0xFFF6"}
    zone = {"name": "lab", "beacons": ["thread"], "aboveDbm": -70}
    listed, data = FLAGS + bytes([3, 3, 0xF6, 0xFF]), bytes([5, 0x16, 0xF6, 0xFF, 1, 2])
    # A far device sends all the time, and two others are near, one after the other.
    path = tape(tmp_path, raw(0, 90, 1, listed, -95), raw(5, 15, 2, data, -60), raw(15, 25, 3, listed, -55))
    lines = events(listener(tmp_path, zone, known=[thread]), "--replay", path)
    assert short(lines) == [("enter", "lab", "thread", None), ("exit", "lab", "thread", "level")]
    assert 5 < seconds(lines[0]) < 6 and 25 < seconds(lines[1]) < 35
    assert lines[0]["cloned"] is False


def test_a_bare_uuid_is_a_zone_of_all_its_beacons(tmp_path):
    visitors = {"name": "visitors", "ibeacon": {"uuid": UUID}}
    zones = [{"name": "any", "beacons": ["visitors"], "withinM": 2}, DESK]
    path = tape(tmp_path, heard(0, 20, 2, -55), heard(10, 40, 77, -55), heard(0, 90, 78, -90))
    lines = events(listener(tmp_path, *zones, known=[PETER, visitors]), "--replay", path)
    assert short([line for line in lines if line["event"] == "enter"]) == [
        ("enter", "desk", "desk-peter", None), ("enter", "any", "visitors", None)]
    (gone,) = [line for line in lines if line["event"] == "exit" and line["zone"] == "any"]
    assert gone["cause"] == "level" and 40 < seconds(gone) < 50


def test_the_desks_of_a_fleet_have_their_owners(tmp_path):
    (tmp_path / "desks.csv").write_text("name;owner\nd1;Ana\nd2;Peter\nd3;\n")
    (tmp_path / "office.json").write_text(json.dumps({
        "version": 1, "name": "office", "identities": {"minor": {"within": "fleet"}}, "tags": ["desk"],
        "attachments": {"desk-owner": "${owner}", "post": "${title}"}, "beacons": {"csv": "desks.csv"},
        "template": {"advertisements": [{"type": "ibeacon", "uuid": UUID, "major": 1, "minor": "${minor}",
                                         "intervalMs": 100, "measuredPowerDbm": -59}]}}))
    pharos.checked("fleet", "generate", tmp_path / "office.json", "--output", tmp_path / "out")
    path = tape(tmp_path, heard(0, 20, 2, -55), heard(0, 20, 3, -55))
    for fleet in ("office.json", "out"):
        file = listener(tmp_path, DESK, known=[{"fleet": fleet}])
        result = pharos.checked("zones", file, "--json", "--replay", path)
        assert [(line["beacon"], line["content"], line["attachments"]) for line in result.lines()] == [
            ("d2", {"title": "You are in Peter's Desk", "body": "d2"}, {"desk-owner": "Peter", "post": "d2"}),
            ("d3", {"title": "You are in 's Desk", "body": "d3"}, {"post": "d3"})]
        assert 'd3 has no attachment "desk-owner"' in result.err


def test_two_devices_with_one_identity_are_told_once(tmp_path):
    other = [(at, report(address(99), ibeacon(1, 2), -60)) for at, _ in heard(5, 20, 2, 0)]
    path = tape(tmp_path, heard(0, 20, 2, -55), [(at + 50_000, packet) for at, packet in other])
    file = listener(tmp_path, DESK | {"dwellS": [10]})
    result = pharos.checked("zones", file, "--json", "--replay", path)
    assert [line["cloned"] for line in result.lines()] == [False, True]
    assert result.err.count("desk-peter: two devices send its identity ") == 1
    assert address(2) in result.err and address(99) in result.err
    # From one address, at two levels.
    strong = [(at + 50_000, report(address(2), ibeacon(1, 2), -20)) for at, _ in heard(5, 20, 2, 0)]
    result = pharos.checked("zones", file, "--json", "--replay", tape(tmp_path, heard(0, 20, 2, -58), strong))
    assert [line["cloned"] for line in result.lines()] == [False, True]
    assert result.err.count("from one address: its level jumps by more than 30 dB and back") == 1


def test_a_measured_power_of_no_beacon_is_told(tmp_path):
    wrong = [(at * 105_000, report(address(2), ibeacon(1, 2, -3), -55)) for at in range(100)]
    file = listener(tmp_path, DESK, {"name": "loud", "tag": "desk", "aboveDbm": -60})
    result = pharos.checked("zones", file, "--json", "--replay", tape(tmp_path, wrong))
    assert short(result.lines()) == [("enter", "loud", "desk-peter", None)]
    assert result.lines()[0]["distanceM"] is None
    assert result.err.count("desk-peter: its distance is unknown, because its measured power of -3 dBm is outside") == 1


def test_a_zone_of_several_beacons_is_one(tmp_path):
    zone = {"name": "room", "beacons": ["desk-peter", "desk-alex"], "withinM": 5, "silentAfterS": 3}
    path = tape(tmp_path, heard(0, 10, 2, -55), heard(5, 20, 3, -55), heard(0, 60, 9, -50))
    lines = events(listener(tmp_path, zone), "--replay", path)
    assert short(lines) == [("enter", "room", "desk-peter", None), ("exit", "room", "desk-alex", "silence")]
    assert lines[1]["content"] is None


def test_a_copy_of_an_identity_proves_nothing(tmp_path):
    path = tape(tmp_path, heard(0, 20, 2, -55))
    result = pharos.checked("zones", listener(tmp_path, DESK | {"proof": "eid"}), "--json", "--replay", path)
    assert result.lines() == []
    assert "needs ephemeral ids, but desk-peter has no key for them" in result.err


def test_a_replay_gives_the_same_events_byte_for_byte(tmp_path):
    path = tape(tmp_path, heard(0, 20, 2, -55), heard(20, 40, 2, -75), heard(10, 60, 3, -50))
    file = listener(tmp_path, DESK | {"exclusive": "x", "dwellS": [1, 2, 3]})
    for words in (["--json"], []):
        runs = {pharos.checked("zones", file, "--replay", path, *words).out for _ in range(2)}
        assert len(runs) == 1 and "desk-peter" in runs.pop()


def test_words_from_the_file_obey_nobody(tmp_path):
    known = [PETER | {"attachments": {"desk-owner": "\x1b]0;gotcha\x07\x9b31m", "post": "‮x"}}]
    path = tape(tmp_path, heard(0, 3, 2, -55))
    file = listener(tmp_path, DESK, known=known)
    text = pharos.checked("zones", file, "--replay", path).out
    assert "\x1b" not in text and "\x07" not in text and "\x9b" not in text and "‮" not in text
    assert "\x1b" not in pharos.checked("zones", file, "--replay", path, "--json").out


def test_the_sample_works_on_the_virtual_air():
    lines = events(ROOT / "profiles/listeners/desk.json", "--adapter", "virtual", "--duration-s", "2")
    # Both desks are equally far, and the visitor is at one of them.
    (name,) = {line["beacon"] for line in lines if line["event"] == "enter"}
    owner, post = {"desk-peter": ("Peter", "Professor"), "desk-alex": ("Alex", "Assistant")}[name]
    assert short(lines) == [("enter", "desk", name, None)]
    assert lines[0]["content"] == {"title": f"You are in {owner}'s Desk", "body": post}
    text = pharos.checked("zones", ROOT / "profiles/listeners/desk.json", "-a", "virtual", "--duration-s", "2").out
    assert re.search(r"enter  desk  desk-(peter .*Peter|alex .*Alex)'s Desk: (Professor|Assistant)", text), text


@pytest.mark.parametrize("zones, status, sentence", [
    (None, 78, "the file has no zones"),
    ([{"name": "desk", "tag": "desks"}], 78, 'hall.json:1:'),
    ([{"name": "desk", "tag": "desks"}], 78, 'no beacon has the tag "desks"; did you mean "desk"?'),
    ([{"name": "desk", "tag": "desk", "withinM": -1}], 78, "zones[0].withinM: -1 is out of range 0.01...1000 m"),
    ([{"name": "desk", "beacons": ["desk-piter"]}], 78, 'did you mean "desk-peter"?'),
])
def test_files_with_faults_are_refused(tmp_path, zones, status, sentence):
    path = listener(tmp_path)
    file = json.loads(path.read_text())
    file.pop("zones")
    path.write_text(json.dumps(file | ({"zones": zones} if zones else {})))
    result = pharos.run("zones", path, "--adapter", "virtual", "--duration-s", "1")
    assert result.code == status and sentence in result.err and not result.out


def test_what_cannot_be_is_refused(tmp_path):
    file = listener(tmp_path, DESK)
    assert pharos.run("zones", tmp_path / "none.json").code == 66
    (tmp_path / "broken.json").write_text("{")
    assert pharos.run("zones", tmp_path / "broken.json").code == 65
    assert pharos.run("zones").code == 64
    assert pharos.run("zones", file, "--replay", "x", "--adapter", "virtual").code == 64
    assert pharos.run("zones", file, "--adapter", "hci0:mgmt").code == 64
    assert pharos.run("zones", file, "--replay", tmp_path / "none.btsnoop").code == 66
    assert pharos.run("zones", file, "--replay", file).code == 65


def test_missing_attachments_are_told_and_leave_nothing(tmp_path):
    path = tape(tmp_path, heard(0, 3, 3, -55))
    result = pharos.checked("zones", listener(tmp_path, DESK), "--replay", path, "--json")
    assert 'warning: zones[0].onEnter: desk-alex has no attachment "post"' in result.err
    assert result.lines()[0]["content"] == {"title": "You are in Alex's Desk", "body": ""}
