"""`pharos crowd`: a receiver gets every identity, with its own address and bytes, as often as was printed."""
import collections
import hashlib
import itertools
import json
import signal
import struct
import time
import uuid

import pytest

import h4
import h4_bridge
import peers
import pharos

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"


def address_of(seed: str, number: int) -> str:
    """Static random: the two top bits are 11, the other 46 are of a hash."""
    octets = bytearray(hashlib.sha256(f"pharos crowd {seed}\n{number}".encode()).digest()[:6])
    octets[0] |= 0xC0
    return octets.hex(":").upper()


def ibeacon(minor: int, major: int = 1) -> str:
    return (b"\2\1\6\x1a\xff\x4c\0\2\x15" + uuid.UUID(UUID).bytes + struct.pack(">HHb", major, minor, -59)).hex()


@pytest.fixture
def air(start, tmp_path):
    """`air(MODEL)`: the address of a served air."""

    def begin(model: str) -> str:
        server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{tmp_path}/{model}", "--like", model)
        server.wait(lambda line: "listening" in str(line), 10)
        return f"unix:{tmp_path}/{model}"

    return begin


@pytest.fixture
def crowd(start):
    """`crowd(OPTION, …)`: a running `pharos crowd … --json`, with its first line."""

    def begin(*options) -> peers.Peer:
        peer = start(pharos.PROGRAM, "crowd", *options, "--json")
        peer.begun = peer.wait(lambda line: line.get("event") == "start", 20)
        return peer

    return begin


def agree(identities: list[dict], begun: dict, last: dict, reports: list[h4.Report]):
    """What was received, and what was said about it."""
    expected = {each["address"]: each["octets"] for each in identities}
    received = collections.defaultdict(list)
    for report in reports:
        assert report.is_random and report.octets.hex() == expected[report.address], report
        received[report.address].append(report.at)
    assert received.keys() == expected.keys()
    least, most = last["eventsPerTurn"]
    turns = {each["name"]: each["turns"] for each in last["identities"]}
    assert sum(turns.values()) == last["turns"] and min(turns.values()) == last["rounds"]
    for each in identities:
        count = turns[each["name"]]
        # The last turn may have been ended by the end of the test, and one may be missed on a busy machine.
        assert (count - 2) * least <= len(received[each["address"]]) <= count * most, each
    # The rate: from the first event of an identity in a turn to the first one in its next turn.
    if last["roundS"] is not None and last["rounds"] > 1:
        begins = [[at for before, at in itertools.pairwise([-1e9, *times]) if at - before > last["roundS"] / 2]
                  for times in received.values()]
        gaps = [later - earlier for times in begins for earlier, later in itertools.pairwise(times)]
        # A virtual controller of a busy machine misses some turns; simulated time has none of that (CrowdSessionTests).
        assert sum(gaps) / len(gaps) == pytest.approx(last["roundS"], rel=0.15)
        # The receiver may read late.
        assert max(gaps) <= last["slowestS"] + begun["dwellMs"] / 1000 + 1
        assert last["turnsPerMinute"] == pytest.approx(60 / last["roundS"], rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("model, count", [("intel", 300), ("raspberry-pi", 300), ("core-4", 60)])
def test_a_receiver_gets_all_identities_at_the_rate_that_is_printed(model, count, air, crowd):
    place = air(model)
    ear = h4.Host(place)
    ear.scan()
    sender = crowd("--identities", count, "--uuid", UUID, "--seed", "hall", "--adapter", place)
    begun = sender.begun
    assert [(each["address"], each["octets"]) for each in begun["identities"]] == [
        (address_of("hall", number), ibeacon(number)) for number in range(1, count + 1)]
    # A busy machine takes longer for a round, and says so.
    sender.wait(lambda line: line.get("event") == "progress" and line["rounds"] >= 2, 240)
    assert sender.interrupt() == 0
    last = sender.wait(lambda line: line.get("event") == "end")
    time.sleep(0.2)
    reports = [ear.reports.get() for _ in range(ear.reports.qsize())]
    agree(begun["identities"], begun, last, reports)
    assert last["rounds"] >= 2
    assert last["roundS"] >= 0.99 * count * begun["dwellMs"] / 1000 / begun["sets"]
    assert (begun["sets"] > 1) == (model == "intel")
    assert ear.heard_within(0.5) == []
    ear.close()


def test_a_strict_controller_accepts_every_command(start, crowd, tmp_path):
    """Rules of the specification that a virtual controller of our own may share with us: Bumble's is another one."""
    for options in (["--no-ext", "--core", "4"], []):
        path = tmp_path / f"strict-{len(options)}"
        scanner = peers.start_strict_controller(start, f"unix-server:{path}", "--strict", "--commands", *options)
        sender = crowd("--identities", "8", "--uuid", UUID, "--adapter", f"unix:{path}", "--dwell-ms", "250")
        expected = {(each["address"], each["octets"]) for each in sender.begun["identities"]}
        found = set()
        while found != expected:
            line = scanner.wait(lambda line: line.get("kind") == "adv", 20)
            found.add((line["address"], line["data"]))
            assert found <= expected and not line["connectable"] and line["random"]
        assert sender.interrupt(signal.SIGTERM) == 0
        # The turn in which the last identity was found may not have ended.
        assert sender.wait(lambda line: line.get("event") == "end")["turns"] >= 7


def test_the_beacons_of_a_fleet_keep_their_addresses(air, crowd, tmp_path):
    fleet = tmp_path / "museum.json"
    fleet.write_text(json.dumps({
        "version": 1, "name": "museum", "template": {"advertisements": [
            {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": "${minor}", "intervalMs": 1000,
             "measuredPowerDbm": -59},
            {"type": "eddystone-tlm", "intervalMs": 5000}]},
        "beacons": [{"name": f"case-{n}", "variables": {"minor": n}} for n in range(1, 6)]}))
    result = pharos.run("fleet", "generate", fleet, "--output", tmp_path / "out")
    assert result.code == 0, result.err
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    known = {beacon["name"]: beacon["address"] for beacon in manifest["beacons"]}
    ear_place = air("raspberry-pi")
    ear = h4.Host(ear_place)
    ear.scan()
    for source in (fleet, tmp_path / "out"):
        sender = crowd(source, "--adapter", ear_place)
        assert {each["name"]: each["address"] for each in sender.begun["identities"]} == known
        ear.heard(20)
        assert {report.address for report in ear.heard(20)} == set(known.values())
        assert sender.interrupt() == 0
        assert "5 advertisements are left out" in sender.errors
    ear.close()


def test_a_signal_turns_everything_off(air, crowd):
    for model, how in (("intel", signal.SIGINT), ("raspberry-pi", signal.SIGTERM)):
        place = air(model)
        ear = h4.Host(place)
        ear.scan()
        sender = crowd("--identities", "40", "--adapter", place)
        ear.heard(60)
        assert sender.interrupt(how) == 0
        last = sender.wait(lambda line: line.get("event") == "end")
        assert last["turns"] > 0 and len(last["identities"]) == 40
        time.sleep(0.15)
        assert ear.heard_within(0.5) == []
        ear.close()


def test_an_adapter_that_goes_away_ends_it(air, crowd, tmp_path):
    bridge = h4_bridge.Bridge(tmp_path / "bridge", air("raspberry-pi").removeprefix("unix:"))
    sender = crowd("--identities", "5", "--adapter", bridge.address)
    time.sleep(0.5)
    bridge.cut()
    assert sender.exit_code() == 69
    assert sender.errors.startswith("pharos: ") and "gone" in sender.errors
    bridge.close()


def test_what_a_receiver_misses_is_said_beforehand():
    options = ("--adapter", "virtual", "--like", "core-4")
    result = pharos.run("crowd", "--identities", "5", *options, "--duration-s", "1", "--scanner", "android-low-power")
    assert result.code == 0
    assert "warning: a receiver that listens 512 ms in every 5120 ms receives only about 10 % of the turns" in (
        result.err)
    assert "it has received an identity with a probability of 95 % after 29 rounds" in result.err
    assert result.out.splitlines()[0].startswith("5 identities on virtual (")
    assert "one after the other, each for 110 ms: at least 1 advertising event at an interval of 100 ms" in result.out
    assert "off the air after 1.0 s: " in result.out and "; the controller needs 11" in result.out
    enough = pharos.run("crowd", "--identities", "2", *options, "--duration-s", "15", "--scanner", "continuous")
    assert enough.code == 0 and "warning" not in enough.err


@pytest.mark.parametrize("options, code, message", [
    (["--identities", "300", "--duration-s", "10"], 64, "--duration-s 10: one round of 300 identities takes at least "
     "33.0 s, so 209 or more of them would never be sent"),
    (["--identities", "3", "--dwell-ms", "50"], 64, "50 ms may be too short for one advertising event at an interval "
     "of 100 ms: give each identity at least 110 ms"),
    (["--identities", "3", "--interval-ms", "20"], 64, "out of this controller's range 100 ms"),
])
def test_what_cannot_be_is_refused(options, code, message):
    result = pharos.run("crowd", *options, "--adapter", "virtual", "--like", "core-4")
    assert result.code == code and message in result.err, result.err
    assert result.out == ""


def test_files_without_a_fixed_identity_are_refused(tmp_path):
    path = tmp_path / "tlm.json"
    path.write_text(json.dumps({"version": 1, "name": "tlm", "address": "C0:00:00:00:00:09", "advertisements": [
        {"type": "eddystone-tlm", "intervalMs": 1000}]}))
    result = pharos.run("crowd", path, "--adapter", "virtual")
    assert result.code == 78 and "no advertisement has a fixed content that a crowd can send" in result.err
    assert pharos.run("crowd", tmp_path / "missing.json", "--adapter", "virtual").code == 66
