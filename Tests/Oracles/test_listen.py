"""`pharos listen FILE --print`: recordings with known ends, keys of addresses, and a controller that goes away."""
import json
import random
import signal
import subprocess
import time

import pytest

import independent
import pharos
from test_scan import START, UUID, address, eddystone, ibeacon, recording, report, tlm, uid

NAMESPACE = "8b0ca750095477cb3e77"
KEY_PETER = {"name": "key-peter", "ibeacon": {"uuid": UUID, "major": 1, "minor": 7},
             "uid": {"namespace": NAMESPACE, "instance": "000000000007"},
             "tags": ["desk"], "attachments": {"desk-owner": "Peter"}}
DOOR = {"name": "door", "ibeacon": {"uuid": UUID, "major": 1, "minor": 8}}


def listener(folder, name="hall", **members):
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"version": 1, "name": name, **({"known": [KEY_PETER, DOOR]} | members)}))
    return path


def rounds(path, tape, *options):
    lines = pharos.checked("listen", path, "--print", "--replay", tape, "--json", *options).lines()
    assert all(line["event"] == "beacons" for line in lines)
    return lines


def name_of(text):
    return bytes([len(text) + 1, 9]) + text.encode()


@pytest.fixture
def tape(tmp_path):
    """A minute: key-peter for 20 s as iBeacon, then until 30 s as UID; also telemetry, a name, an unknown device."""
    packets = [(at * 105_000, report(address(1), ibeacon(1, 7), -60)) for at in range(190)]
    packets += [(20_000_000 + at * 105_000, report(address(1), uid(NAMESPACE, "000000000007"), -60))
                for at in range(96)]
    packets += [(5_000_000, report(address(1), tlm(2980), -60)),
                (5_100_000, report(address(1), name_of("Key"), -60, 4))]
    packets += [(at * 500_000, report(address(9), ibeacon(9, 9), -80)) for at in range(121)]
    return recording(tmp_path / "minute.btsnoop", sorted(packets, key=lambda packet: packet[0]))


def test_known_beacons_are_present_by_name_and_then_gone(tmp_path, tape):
    place = {"site": "museum", "floor": "ground", "room": "hall", "position": [2.5, 1]}
    lines = rounds(listener(tmp_path, place=place), tape)
    assert len(lines) == 60
    last = 20.0 + 95 * 0.105
    for number, line in enumerate(lines):
        end = number + 1
        assert line["listener"] == "hall" and line["place"] == place and line["adapter"] is None
        assert line["state"] == "listening" and line["deafSince"] is None and line["rssiOffsetDb"] == 0
        assert line["neverHeard"] == 1
        assert line["strangers"] == {"addresses": 1, "reports": 2, "networks": []}
        presences = {each["presence"] for each in line["beacons"]}
        # Ten seconds are waited at least, whichever of its identities was heard.
        assert presences == {"present" if end < last + 10 else "gone"}, number
        for each in line["beacons"]:
            assert each["beacon"] == "key-peter" and each["tags"] == ["desk"]
            assert each["attachments"] == {"desk-owner": "Peter"} and each["address"] == address(1)
        if end > last + 1:
            assert [each["heard"] for each in line["beacons"]] == [0]
    joined = lines[10]["beacons"][0]
    assert joined["localName"] == "Key" and joined["telemetry"]["batteryMv"] == 2980
    assert lines[3]["beacons"][0]["localName"] is None and lines[3]["beacons"][0]["telemetry"] is None


def test_the_text_says_the_same(tmp_path, tape):
    path = listener(tmp_path, place={"site": "museum", "room": "hall"}, rssiOffsetDb=5)
    text = pharos.checked("listen", path, "--print", "--replay", tape, "--every-s", "15").out
    first, second, third, _ = [part.split("\n") for part in text.strip().split("\n\n")]
    assert first[0].endswith("hall (museum / hall): listening, each level +5 dB")
    assert first[1].split()[:3] == ["beacon", "tags", "presence"]
    assert first[2].startswith("key-peter  desk  present ") and "-55" in first[2]
    assert first[2].rstrip().endswith('"Key" 2980 mV 21.5 °C')
    assert first[-1].startswith("30 reports of 1 other sender, 1 of 2 known beacons never received")
    assert any(line.startswith("key-peter  desk  present ") for line in second)
    assert any(line.startswith("key-peter  desk  gone ") for line in third)


def test_an_offset_is_added_to_each_level(tmp_path, tape):
    plain = rounds(listener(tmp_path), tape)
    shifted = rounds(listener(tmp_path, "shifted", rssiOffsetDb=-7), tape)
    for before, after in zip(plain, shifted, strict=True):
        for each, other in zip(before["beacons"], after["beacons"], strict=True):
            if each["rssiDbm"]:
                assert other["rssiDbm"]["mean"] == each["rssiDbm"]["mean"] - 7
                assert other["distanceM"] == pytest.approx(each["distanceM"] * 10 ** (7 / 20), rel=0.01)


def test_implausible_levels_are_left_out(tmp_path, tape):
    levels = [each["rssiDbm"]["mean"] for line in rounds(listener(tmp_path), tape) for each in line["beacons"]
              if each["rssiDbm"]]
    assert levels
    # All reports of the tape are stronger than this range, or weaker.
    for number, (low, high) in enumerate([(-127, -110), (0, 20)]):
        lines = rounds(listener(tmp_path, f"range-{number}", plausibleDbm=[low, high]), tape)
        assert all(each["heard"] == 0 for line in lines for each in line["beacons"])
    zones = [{"name": "desk", "tag": "desk", "aboveDbm": -100}]
    for plausible, has_events in ([-110, 0], True), ([0, 20], False):
        path = listener(tmp_path, f"zones-{has_events}", zones=zones, plausibleDbm=plausible)
        events = [line["event"] for line in pharos.checked("zones", path, "--replay", tape, "--json").lines()]
        assert ("enter" in events) == has_events, events
    kept = rounds(listener(tmp_path, "all", plausibleDbm=[-110, 0]), tape)
    assert [each["rssiDbm"]["mean"] for line in kept for each in line["beacons"] if each["rssiDbm"]] == levels


def test_clones_and_wrong_powers_are_told_once(tmp_path):
    own = [(at * 105_000, report(address(1), ibeacon(1, 7, -3), -60)) for at in range(190)]
    copy = [(at + 50_000, report(address(2), ibeacon(1, 7, -3), -60)) for at, _ in own]
    path = recording(tmp_path / "clone.btsnoop", sorted(own + copy))
    result = pharos.checked("listen", listener(tmp_path), "--print", "--replay", path, "--json")
    beacons = [each for line in result.lines() for each in line["beacons"]]
    assert beacons and {each["cloned"] for each in beacons[:1]} == {True}
    assert {each["distanceM"] for each in beacons} == {None}
    assert result.err.count("key-peter: two devices send its identity") == 1
    assert result.err.count("its measured power of -3 dBm") == 1
    text = pharos.checked("listen", listener(tmp_path), "--print", "--replay", path).out
    assert "cloned" in text
    alone = recording(tmp_path / "alone.btsnoop", own)
    result = pharos.checked("listen", listener(tmp_path), "--print", "--replay", alone, "--json")
    assert not any(each["cloned"] for line in result.lines() for each in line["beacons"])


def test_strangers_are_counted_unless_they_are_asked_for(tmp_path, tape):
    assert all(each["beacon"] for line in rounds(listener(tmp_path), tape) for each in line["beacons"])
    listed = rounds(listener(tmp_path, "all", strangers="list"), tape)[0]["beacons"]
    stranger = next(each for each in listed if each["beacon"] is None)
    assert stranger["identity"] == f"ibeacon:{UUID}-9-9" and stranger["presence"] is None


def test_a_listener_file_names_the_beacons_of_scan_and_find(tmp_path, tape):
    path = listener(tmp_path, zones=[{"name": "desk"}])
    lines = pharos.checked("scan", "--replay", tape, "--known", path, "--json").lines()
    assert {line["beacon"] for line in lines} == {"key-peter"}
    found = pharos.checked("find", "key-peter", "--replay", tape, "--known", path, "--json").lines()
    assert any(line["rssiDbm"] == -60 for line in found)


def test_the_sample_is_heard_on_the_virtual_adapter():
    path = pharos.ROOT / "profiles/listeners/hall.json"
    lines = pharos.checked("listen", path, "--print", "--adapter", "virtual", "--duration-s", "1.5", "--json").lines()
    assert [each["beacon"] for each in lines[0]["beacons"]] == ["lobby", "key-peter", "key-peter"]
    assert lines[0]["adapter"] == "virtual" and lines[0]["neverHeard"] == 0
    assert all(each["presence"] == "present" for each in lines[0]["beacons"])


# ---- keys
def key_file(folder, name, key, mode=0o600):
    (folder / name).write_text(key.hex() + "\n")
    (folder / name).chmod(mode)


def test_private_addresses_are_those_of_the_core_specification():
    assert independent.private_address(bytes.fromhex("ec0234a357c8ad05341010a60a397d9b"),
                                       bytes.fromhex("708194")) == "70:81:94:0D:FB:AA"


def test_addresses_are_resolved_to_names(tmp_path):
    """Two persons among strangers, each with a new address every second, in a directory of keys."""
    chance = random.Random(12)
    keys = {name: chance.randbytes(16) for name in ("ana", "ben", "carla")}
    (tmp_path / "keys").mkdir()
    for name, key in keys.items():
        key_file(tmp_path / "keys", name, key)
    expected, packets = [], []
    for number in range(300):
        who = chance.choice(["ana", "ben", None])
        key = keys[who] if who else chance.randbytes(16)
        sender = independent.private_address(key, chance.randbytes(3))
        packets.append((number * 100_000, report(sender, b"\2\1\6", -70)))
        expected.append(who)
    tape = recording(tmp_path / "people.btsnoop", packets)
    path = listener(tmp_path, keys="keys", irks=[{"name": name, "file": name} for name in keys])
    lines = rounds(path, tape)
    for number, line in enumerate(lines):
        heard = expected[number * 10:number * 10 + 10]
        counts = {each["beacon"]: each["heard"] for each in line["beacons"] if each["heard"]}
        assert counts == {name: heard.count(name) for name in ("ana", "ben") if name in heard}
        assert line["strangers"]["reports"] == heard.count(None)
    assert lines[-1]["neverHeard"] == 3
    scanned = pharos.checked("scan", "--replay", tape, "--known", path, "--json", "--strangers").lines()
    assert [line["beacon"] for line in scanned] == expected


def test_keys_that_others_may_read_and_keys_that_are_none_are_refused(tmp_path, tape):
    path = listener(tmp_path, irks=[{"name": "ana", "file": "ana"}])
    words = ["listen", path, "--print", "--replay", tape]
    missing = pharos.run(*words)
    assert missing.code == 66 and "write the identity resolving key there" in missing.err
    key_file(tmp_path, "ana", bytes(16), 0o640)
    readable = pharos.run(*words)
    assert readable.code == 78 and "chmod 600" in readable.err
    (tmp_path / "ana").chmod(0o600)
    (tmp_path / "ana").write_text("0123")
    short = pharos.run(*words)
    assert short.code == 78 and "16 bytes: 32 hexadecimal digits" in short.err and "0123" not in short.err


def test_the_keys_of_a_fleet_may_lie_elsewhere(tmp_path):
    key, exponent = bytes(range(16)), 10
    (tmp_path / "secret").mkdir()
    key_file(tmp_path / "secret", "desk.key", key)
    beacon = {"name": "desk", "address": "CF:3D:6B:C0:07:27", "profileHash": "0567a7db1e9779d9",
              "eidEpoch": "2026-03-01T12:00:00Z", "advertisements": [
                  {"type": "eddystone-eid", "intervalMs": 1000, "measuredPowerDbm": -18,
                   "identityKeyFile": "desk.key", "rotationExponent": exponent}]}
    (tmp_path / "out").mkdir()
    (tmp_path / "out/manifest.json").write_text(
        '{"version":1,"fleet":"museum","beacons":[\n' + json.dumps(beacon, separators=(",", ":")) + "\n]}\n")
    counter = 65280 + START // 1_000_000 - 1_772_366_400
    octets = eddystone(b"\x30\xee" + independent.ephemeral_identifier(key, exponent, counter))
    tape = recording(tmp_path / "eid.btsnoop", [(at * 1_000_000, report(address(1), octets, -60)) for at in range(3)])
    lines = rounds(listener(tmp_path, known=[{"fleet": "out"}], keys="secret"), tape)
    assert [each["beacon"] for each in lines[0]["beacons"]] == ["desk"]


# ---- calibration
def test_what_was_measured_counts_before_what_is_sent(tmp_path):
    packets = [(at * 100_000, report(address(1), ibeacon(1, 2, -40), -65)) for at in range(60)]
    tape = recording(tmp_path / "near.btsnoop", packets)
    profile = {"version": 1, "name": "box", "radioPowerDbm": 4, "calibration": {"0": -59, "4": -55},
               "advertisements": [{"type": "ibeacon", "uuid": UUID, "major": 1, "minor": 2, "intervalMs": 100,
                                   "measuredPowerDbm": -40}]}
    (tmp_path / "box.json").write_text(json.dumps(profile))
    expected = pytest.approx(10 ** ((-55 + 65) / 20), abs=0.0051)
    ranged = pharos.checked("scan", "--replay", tape, "--known", tmp_path / "box.json", "--ranging", "--json").lines()
    assert ranged[0]["beacons"][0]["distanceM"] == expected
    lines = rounds(listener(tmp_path, known=[{"profile": "box.json"}]), tape)
    assert lines[0]["beacons"][0]["distanceM"] == expected
    for name in ("box", f"ibeacon:{UUID}-1-2"):
        found = pharos.checked("find", name, "--replay", tape, "--known", tmp_path / "box.json", "--json").lines()
        plain = pharos.checked("find", f"ibeacon:{UUID}-1-2", "--replay", tape, "--json").lines()
        ratio = [line["distanceM"] / other["distanceM"] for line, other in zip(found, plain, strict=True)
                 if line["distanceM"]]
        assert ratio and all(each == pytest.approx(10 ** (-15 / 20), rel=0.01) for each in ratio)


# ---- a controller that goes away


@pytest.mark.long
def test_nobody_is_gone_while_nothing_can_be_heard(start, tmp_path):
    socket = tmp_path / "air"

    def serve():
        server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{socket}")
        server.wait(lambda line: "listening" in str(line), 10)
        return server

    server = serve()
    beacon = start(pharos.PROGRAM, "advertise", "ibeacon", "--uuid", UUID, "--major", "1", "--minor", "7",
                   "--measured-power-dbm", "-59", "--interval-ms", "100", "--adapter", f"unix:{socket}", "--json")
    beacon.wait(lambda line: line.get("event") == "on-air", 10)
    listening = start(pharos.PROGRAM, "listen", listener(tmp_path), "--print", "--json", "--adapter", f"unix:{socket}")
    # Without its interval half a minute would be waited for it.
    listening.wait(lambda line: line["event"] == "beacons" and line["beacons"] and line["beacons"][0]["intervalMs"], 15)
    server.end()
    socket.unlink(missing_ok=True)
    deaf = listening.wait(lambda line: line["event"] == "beacons" and line["deafSince"], 10)
    assert deaf["state"] != "listening"
    unknown = listening.wait(
        lambda line: line["event"] == "beacons" and line["beacons"][0]["presence"] == "unknown", 15)
    assert unknown["deafSince"] == deaf["deafSince"]
    # Far beyond the ten seconds after which a silent beacon is gone.
    end = time.monotonic() + 8
    while time.monotonic() < end:
        line = listening.wait(lambda line: line["event"] == "beacons", 10)
        assert line["beacons"][0]["presence"] == "unknown"
    serve()
    back = listening.wait(lambda line: line["event"] == "beacons" and line["state"] == "listening", 15)
    assert back["deafSince"] is None and back["beacons"][0]["presence"] == "present"
    # Nothing is received, so the receiver may have failed.
    doubtful = listening.wait(
        lambda line: line["event"] == "beacons" and line["beacons"][0]["presence"] != "present", 20)
    assert doubtful["beacons"][0]["presence"] == "unknown" and doubtful["state"] == "listening"
    # Another device proves that it works: the beacon has left.
    other = start(pharos.PROGRAM, "advertise", "ibeacon", "--uuid", UUID, "--major", "9", "--minor", "9",
                  "--measured-power-dbm", "-59", "--interval-ms", "100", "--adapter", f"unix:{socket}", "--json")
    other.wait(lambda line: line.get("event") == "on-air", 10)
    gone = listening.wait(
        lambda line: line["event"] == "beacons" and line["beacons"][0]["presence"] == "gone", 30)
    assert gone["state"] == "listening" and gone["deafSince"] is None


# ---- wrong inputs
@pytest.mark.parametrize("members, code, sentence", [
    ({"knwon": []}, 78, 'the key "knwon" is not known; did you mean "known"?'),
    ({"known": [{"name": "a b", "url": "https://e.org"}]}, 78, "known[0].name:"),
    ({"known": [{"profile": "nowhere.json"}]}, 66, "nowhere.json: there is no such file"),
    ({"known": [{"fleet": "nowhere.json"}]}, 66, "nowhere.json: there is no such file"),
    ({"adapter": "wlan0"}, 78, "adapter:"),
])
def test_mistakes_in_the_file_are_told_at_their_place(tmp_path, tape, members, code, sentence):
    path = listener(tmp_path, **members)
    result = pharos.run("listen", path, "--print", "--replay", tape)
    assert result.code == code and sentence in result.err and result.out == "", result.err
    assert result.err.startswith("pharos: ") and result.err.count("\n") == 1


def test_wrong_words_and_files(tmp_path, tape):
    path = listener(tmp_path)
    for words in (["listen"], ["listen", path, "--print", "--replay", tape, "--adapter", "virtual"],
                  ["listen", path, "--print", "--replay", tape, "--duration-s", "1"],
                  ["listen", "-", "--print", "--replay", "-"], ["listen", path, "--print", "--every-s", "0.01"]):
        assert pharos.run(*words).code == 64, words
    service = pharos.run("listen", path, "--replay", tape)
    assert service.code == 64 and "--print" in service.err
    assert pharos.run("listen", tmp_path / "missing").code == 66
    assert pharos.run("listen", tmp_path / "missing", "--print").code == 66
    (tmp_path / "text").write_text("no JSON")
    assert pharos.run("listen", tmp_path / "text", "--print").code == 65
    assert pharos.run("listen", path, "--print", "--replay", tmp_path / "text").code == 65
    assert pharos.run("listen", path, "--print", "--adapter", f"unix:{tmp_path}/nobody").code == 69


def test_another_kind_of_file_is_named_with_its_command(tmp_path, tape):
    path = listener(tmp_path)
    for words, kind in ((["profile", "check"], "a beacon profile"), (["fleet", "check"], "a fleet file"),
                        (["plan", "site"], "a site file"), (["audit"], "a fleet file")):
        result = pharos.run(*words, path)
        sentence = f"this is a listener file, not {kind}: use `pharos listen --print`"
        assert sentence in result.out + result.err, result
    profiles = pharos.ROOT / "profiles"
    for file, kind in (("lobby-ibeacon.json", "a beacon profile"), ("fleets/museum.json", "a fleet file"),
                       ("sites/museum-ground-floor.json", "a site file")):
        result = pharos.run("listen", profiles / file, "--print", "--replay", tape)
        assert result.code == 78 and f"this is {kind}, not a listener file" in result.err


def test_what_only_the_service_uses_is_said_and_nothing_else(tmp_path, tape):
    path = listener(tmp_path, zones=[{"name": "desk"}], mqtt={"url": "mqtt://broker"}, hooks=[{"on": "enter"}])
    result = pharos.checked("listen", path, "--print", "--replay", tape)
    assert result.err == f"pharos: {path}: --print does not use zones, mqtt, hooks\n"
    assert pharos.checked("listen", listener(tmp_path, "plain"), "--print", "--replay", tape).err == ""


def test_the_file_may_come_from_standard_input(tmp_path, tape):
    text = listener(tmp_path).read_text()
    lines = pharos.checked("listen", "-", "--print", "--replay", tape, "--json", stdin=text).lines()
    assert lines == rounds(tmp_path / "hall.json", tape)


def test_hostile_names_reach_no_terminal(tmp_path):
    packets = [(0, report(address(1), ibeacon(1, 7), -60)),
               (1000, report(address(1), name_of("\x1b[2J\x9b‮"), -60, 4))]
    path = listener(tmp_path, known=[KEY_PETER | {"tags": ["\x1b[31m"]}], place={"room": "\x1b]0;x\x07"})
    text = pharos.checked("listen", path, "--print", "--replay",
                          recording(tmp_path / "x.btsnoop", packets)).out
    assert not any(ord(letter) < 32 and letter != "\n" or 0x7F <= ord(letter) < 0xA0 or letter == "\u202e"
                   for letter in text), repr(text)


def test_a_reader_that_goes_away_ends_it(tmp_path, tape):
    words = [pharos.PROGRAM, "listen", listener(tmp_path), "--print", "--adapter", "virtual", "--every-s", "0.1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=10) == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_listening_within_two_seconds_and_with_a_summary(start, tmp_path, how):
    path = listener(tmp_path, adapter="virtual", strangers="list")
    listening = start(pharos.PROGRAM, "listen", path, "--print")
    listening.wait(lambda line: "key-peter" in str(line), 10)
    assert listening.interrupt(how, timeout=2) == 0
    while listening.next(time.monotonic() + 2):
        pass
    texts = [line["text"] for line in listening.lines if line["text"]]
    assert " reports of " in texts[-1], texts[-3:]
