"""`pharos scan`: recordings against a second model of identities and windows, and live against what is sent."""
import contextlib
import fcntl
import json
import math
import os
import pty
import random
import re
import signal
import statistics
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest

import btsnoop
import independent
import pharos

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"
#: btsnoop counts from the year 0.
EPOCH = 0x00DCDDB30F2F8000
START = 1_790_000_000_000_000


# ---- what is sent
def ibeacon(major, minor, power=-59):
    return bytes.fromhex("0201061aff4c000215" + UUID.replace("-", "")) + struct.pack(">HHb", major, minor, power)


def eddystone(frame):
    return bytes.fromhex("0201060303aafe") + bytes([len(frame) + 3, 0x16, 0xAA, 0xFE]) + frame


def uid(namespace, instance, power=-18):
    return eddystone(struct.pack("Bb", 0, power) + bytes.fromhex(namespace + instance) + b"\0\0")


def tlm(millivolts):
    return eddystone(struct.pack(">BBHHII", 0x20, 0, millivolts, 0x1580, 7, 100))


def report(address, data, rssi, kind=3):
    body = bytes([2, 1, kind, 1]) + bytes.fromhex(address.replace(":", ""))[::-1] + bytes([len(data)]) + data
    body += struct.pack("b", rssi)
    return bytes([4, 0x3E, len(body)]) + body


def extended(address, data, rssi, status=0, sid=1):
    body = bytes([0x0D, 1]) + struct.pack("<H", status << 5) + b"\1" + bytes.fromhex(address.replace(":", ""))[::-1]
    body += bytes([1, 1, sid, 127]) + struct.pack("b", rssi) + bytes(9) + bytes([len(data)]) + data
    return bytes([4, 0x3E, len(body)]) + body


def recording(path: Path, packets) -> Path:
    """A btsnoop file of (microseconds since the start, H4 octets)."""
    records = [struct.pack(">IIIIq", len(octets), len(octets), 3, 0, START + at + EPOCH) + octets
               for at, octets in packets]
    path.write_bytes(b"btsnoop\0" + struct.pack(">II", 1, btsnoop.H4) + b"".join(records))
    return path


def address(number):
    return f"C0:00:00:{number >> 16 & 255:02X}:{number >> 8 & 255:02X}:{number & 255:02X}"


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A minute of eight beacons with losses, telemetry, copies on other channels, and levels that are none."""
    chance = random.Random(4)
    packets = []
    for number in range(8):
        at, interval = chance.randrange(100_000), [100_000, 250_000, 1_000_000, 333_000][number % 4]
        while at < 60_000_000:
            if chance.random() > 0.2:
                data = ibeacon(1, number) if number % 2 else uid("8b0ca750095477cb3e77", f"{number:012x}")
                if chance.random() < 0.1:
                    data = tlm(3000 - number)
                rssi = 127 if chance.random() < 0.02 else round(chance.gauss(-60 - 3 * number, 4))
                packets.append((at, report(address(number), data, rssi)))
                if chance.random() < 0.3:
                    packets.append((at + 1500, report(address(number), data, rssi)))
            at += interval + chance.randrange(10_000)
    packets.sort(key=lambda packet: packet[0])
    return recording(tmp_path_factory.mktemp("scan") / "busy.btsnoop", packets), packets


# ---- a second model
def identity_of(data):
    """By the layouts alone: the first identity in the data."""
    at = 0
    while at < len(data) and data[at]:
        kind, value = data[at + 1], data[at + 2:at + 1 + data[at]]
        if kind == 0xFF and value[:4] == b"\x4c\0\2\x15" and len(value) == 25:
            text = value[4:20].hex()
            text = "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])
            major, minor = struct.unpack(">HH", value[20:24])
            return f"ibeacon:{text}-{major}-{minor}", value[24] - 256
        if kind == 0x16 and value[:3] == b"\xaa\xfe\0":
            return f"uid:{value[4:14].hex()}-{value[14:20].hex()}", struct.unpack("b", value[3:4])[0] - 41
        at += 1 + data[at]
    return None, None


def rounds_of(packets, seconds):
    """Each round as {identity: [levels, reports]}; rounds begin with the first report."""
    start, last, rounds, powers = packets[0][0], {}, {}, {}
    for at, octets in packets:
        sender, length = octets[7:13], octets[13]
        data, rssi = octets[14:14 + length], struct.unpack("b", octets[14 + length:])[0]
        identity, power = identity_of(data)
        if identity is None:
            identity = last.get(sender, "address:" + sender[::-1].hex(":").upper())
        else:
            last[sender], powers[identity] = identity, power
        entry = rounds.setdefault((at - start) // (seconds * 1_000_000), {}).setdefault(identity, [[], 0])
        entry[1] += 1
        if rssi != 127:
            entry[0].append(rssi)
    return rounds, powers


def trimmed(levels):
    cut = max(1, len(levels) // 10) if len(levels) >= 3 else 0
    return statistics.fmean(sorted(levels)[cut:len(levels) - cut])


@pytest.mark.parametrize("seconds", [1, 7])
def test_rounds_are_those_of_a_second_model(busy, seconds):
    path, packets = busy
    lines = pharos.checked("scan", "--replay", path, "--json", "--every-s", seconds).lines()
    expected, powers = rounds_of(packets, seconds)
    assert len(lines) >= max(expected)
    for number, line in enumerate(lines):
        assert line["event"] == "beacons"
        found = {beacon["identity"]: beacon for beacon in line["beacons"]}
        assert set(found) == set(expected.get(number, {})), number
        for identity, (levels, count) in expected.get(number, {}).items():
            beacon = found[identity]
            assert beacon["heard"] == count
            if not levels:
                assert beacon["rssiDbm"] is None
                continue
            assert beacon["rssiDbm"]["min"] == min(levels) and beacon["rssiDbm"]["max"] == max(levels)
            assert beacon["rssiDbm"]["last"] == levels[-1] or count > len(levels)
            assert beacon["rssiDbm"]["mean"] == pytest.approx(trimmed(levels), abs=0.0051)
            if len(levels) > 1:
                assert beacon["rssiDbm"]["sd"] == pytest.approx(statistics.stdev(levels), abs=0.0051)
            if identity in powers:
                distance = 10 ** ((powers[identity] - trimmed(levels)) / 20)
                assert beacon["distanceM"] == pytest.approx(distance, abs=0.0051)
                # The usual deviation of 6 dB counts as three levels.
                spread = statistics.stdev(levels) if len(levels) > 1 else 0
                spread = math.sqrt((3 * 36 + (len(levels) - 1) * spread ** 2) / (2 + len(levels)))
                factor = 10 ** (math.sqrt(36 + spread ** 2 / len(levels)) / 20)
                assert beacon["distanceHighM"] == pytest.approx(distance * factor, rel=0.001, abs=0.0051)
                zone = "immediate" if distance < 0.5 else "near" if distance <= 4 else "far"
                assert beacon["proximity"] == zone or abs(distance - 4) < 1e-6


def test_intervals_and_shares_are_learned(busy):
    path, _ = busy
    last = pharos.checked("scan", "--replay", path, "--json", "--every-s", "20").lines()[-2]
    for beacon in last["beacons"]:
        number = int(beacon["identity"].rsplit("-", 1)[1], 16)
        interval = [100, 250, 1000, 333][number % 4]
        assert beacon["intervalMs"] == pytest.approx(interval, rel=0.02, abs=1.5), beacon
        # A fifth is lost, and a tenth of what is sent is telemetry, which has no interval.
        assert 0.45 < beacon["share"] <= 0.95, beacon


def on_terminal(columns, *arguments, **environment):
    """What a command has drawn on a terminal of so many columns."""
    reader, writer = os.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if not name.startswith("LC_")}
    process = subprocess.Popen([pharos.PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=writer,
                               stderr=subprocess.DEVNULL,
                               env=variables | {"TERM": "xterm", "LANG": "C.UTF-8"} | environment)
    os.close(writer)
    octets = b""
    with contextlib.suppress(OSError):
        while part := os.read(reader, 1 << 16):
            octets += part
    os.close(reader)
    process.wait(timeout=10)
    return octets.decode()


def drawn(text):
    return [line for line in re.split(r"[\r\n]+|\x1b\[[0-9]*[A-Z]", text) if line]


@pytest.mark.parametrize("columns", [40, 80])
def test_levels_are_seen_on_a_narrow_terminal(columns):
    lines = drawn(on_terminal(columns, "scan", "--adapter", "virtual", "--duration-s", "1"))
    places = [place for place, line in enumerate(lines) if line.startswith("ibeacon:")]
    assert places and all(lines[place].endswith("-1-2") and " -49 " in lines[place + 1] for place in places), lines
    assert max(map(len, lines)) <= columns


def test_eighty_columns_have_identity_distance_address_and_time():
    lines = drawn(on_terminal(80, "scan", "--adapter", "virtual", "--duration-s", "1"))
    identity = next(line for line in lines if line.startswith("ibeacon:"))
    facts = lines[lines.index(identity) + 1]
    assert re.fullmatch(rf"ibeacon:{UUID}-1-2", identity)
    assert re.search(r"-49 +\S+ m \(\S+\) +\S+ s +([0-9A-F]{2}:){5}[0-9A-F]{2}", facts), facts
    # The identity is what `find` takes.
    assert "you have reached it" in pharos.checked("find", identity, "--adapter", "virtual", "--duration-s", "5").out


def test_each_payload_is_seen_on_a_narrow_terminal(tmp_path):
    """`advertise` with two frames has the payload of each, and an ellipsis where a line is cut."""
    profile = tmp_path / "home.json"
    profile.write_text(json.dumps({"version": 1, "name": "home", "advertisements": [
        {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": 2, "intervalMs": 250, "measuredPowerDbm": "typical"},
        {"type": "eddystone-url", "url": "https://example.org/pi", "intervalMs": 700, "measuredPowerDbm": "typical"}]}))
    for columns, start in [(80, f"    iBeacon {UUID}"), (40, "    iBeacon fb0b57a2")]:
        lines = drawn(on_terminal(columns, "advertise", profile, "--adapter", "virtual", "--duration-s", "0.5"))
        assert any(line.startswith(start) for line in lines), lines
        assert any(line.startswith("    Eddystone-URL https://example.") for line in lines), lines
        title = next(line for line in lines if line.startswith("home on virtual"))
        assert columns == 80 or len(title) == columns and title.endswith("…"), title


@pytest.mark.parametrize("environment", [{"LC_ALL": "C"}, {"TERM": "dumb"}], ids=["C", "dumb"])
@pytest.mark.parametrize("command", [
    ["scan"], ["advertise", "ibeacon", "--uuid", UUID, "--major", "1", "--minor", "2", "--measured-power-dbm", "-59"],
    ["find", f"ibeacon:{UUID}-1-9"]], ids=lambda words: words[0])
def test_plain_terminals_get_plain_text(command, environment):
    text = on_terminal(80, *command, "--adapter", "virtual", "--duration-s", "1", **environment)
    assert text.isascii() and "\x1b" not in text and len(text) > 20, text


def test_lines_into_a_pipe_do_not_wait(start):
    scan = start(pharos.PROGRAM, "scan", "--adapter", "virtual")
    scan.wait(lambda line: line.get("text", "").startswith("ibeacon:"), 60)
    assert scan.process.poll() is None


def pressed(columns, key, *arguments, resize=None):
    """What a command has drawn until a key ended it, and its exit code."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm", LANG="C.UTF-8", LC_ALL="")
        os.execv(pharos.PROGRAM, [pharos.PROGRAM, *arguments])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    octets, has_resized, is_pressed, end = b"", resize is None, False, time.monotonic() + 60
    with contextlib.suppress(OSError):
        while time.monotonic() < end and (part := os.read(terminal, 1 << 16)):
            octets += part
            if not has_resized and b"ibeacon:" in octets:
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, resize, 0, 0))
                has_resized, octets = True, b""
            elif has_resized and not is_pressed and b"ibeacon:" in octets:
                is_pressed = os.write(terminal, key) == len(key)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(terminal)
    return octets.decode(), code


def test_q_ends_a_scan():
    text, code = pressed(80, b"q", "scan", "--adapter", "virtual")
    assert code == 0 and "q quits" in text, text
    assert "\x1b[Jvirtual: " in text.splitlines()[-1], text


def test_another_size_leaves_nothing_behind():
    text, _ = pressed(120, b"q", "scan", "--adapter", "virtual", resize=60)
    # Everything is cleared, because the terminal has moved the lines.
    assert "\x1b[H\x1b[2J" in text, text


def test_tags_are_classed_by_network(tmp_path):
    def tag(number, data, rssi):
        return (number * 1000, report(address(number), bytes.fromhex(data), rssi))

    path = recording(tmp_path / "tags.btsnoop", [
        tag(1, "07ff4c0012020001", -71), tag(2, "07ff4c0012020001", -60), tag(3, "0516aafe4011", -80),
        tag(4, "04165afd01", -81), tag(5, "0303edfe", -82), tag(6, "04162cfe01", -83), tag(7, "03036ffd", -84),
        tag(8, "05ff99040102" "050952757576", -50), tag(9, "0916d2fc40016102ca09", -55)])
    text = pharos.checked("scan", "--replay", path).out
    assert ("devices of networks: Find My 2 (-60 dBm), Find Hub 1 (-80 dBm), SmartTag 1 (-81 dBm), Tile 1 (-82 dBm), "
            "Fast Pair 1 (-83 dBm), Exposure Notification 1 (-84 dBm)") in text
    assert not any(address(number) in text for number in range(1, 8)), text
    assert '"Ruuv", Ruuvi' in text and "battery 97 %, temperature 25.06 °C" in text
    round_ = pharos.checked("scan", "--replay", path, "--json", "--every-s", "1").lines()[0]
    assert [each["network"] for each in round_["strangers"]["networks"]] == [
        "find-my", "find-hub", "smarttag", "tile", "fast-pair", "exposure-notification"]
    assert {each["manufacturer"] for each in round_["beacons"]} == {"Ruuvi", None}
    reports = pharos.checked("scan", "--replay", path, "--json").lines()
    assert [each["network"] for each in reports][6:] == ["exposure-notification", None, None]


@pytest.mark.parametrize("columns", [40, 80])
def test_what_find_says_stays_on_one_line(tmp_path, columns):
    silent = [(at * 1_000_000, report(address(1 + at // 4), ibeacon(1, 7 + at // 4), -70)) for at in range(20)]
    path = recording(tmp_path / "silent.btsnoop", silent)
    lines = drawn(on_terminal(columns, "find", f"ibeacon:{UUID}-1-7", "--replay", path))
    assert any("silent for" in line for line in lines), lines
    assert max(map(len, lines)) <= columns


def test_what_is_not_shown_is_not_said_to_be_unheard(busy):
    path, _ = busy
    hidden = pharos.checked("scan", "--replay", path, "--only", "altbeacon").out
    assert hidden == "none of the selected beacons was received yet\n"
    quiet = pharos.checked("scan", "--adapter", "virtual", "--duration-s", "0")
    assert "nothing received yet" in quiet.out and "deaf" not in quiet.out


def test_one_line_a_report(busy):
    path, packets = busy
    lines = pharos.checked("scan", "--replay", path, "--json").lines()
    assert len(lines) == len(packets)
    last = {}
    for (at, octets), line in zip(packets, lines, strict=True):
        sender, length = octets[7:13], octets[13]
        identity, _ = identity_of(octets[14:14 + length])
        if identity:
            last[sender] = identity
        assert line["event"] == "report" and line["data"] == octets[14:14 + length].hex()
        assert line["identity"] == last.get(sender, "address:" + sender[::-1].hex(":").upper())
        level = struct.unpack("b", octets[-1:])[0]
        assert line["rssiDbm"] == (None if level == 127 else level)
        assert line["bootNs"] == (at - packets[0][0]) * 1000
        assert line["pdu"] == "ADV_NONCONN_IND"


def test_a_replay_gives_the_same_events_at_any_speed(busy, tmp_path):
    path, _ = busy
    octets = path.read_bytes()
    for options in (["--json"], ["--json", "--every-s", "3"], [], ["--monitor", f"ibeacon:{UUID}", "--json"]):
        whole = pharos.checked("scan", "--replay", path, *options).out
        assert whole
        with (tmp_path / "out").open("wb") as out:
            slowly = subprocess.Popen([pharos.PROGRAM, "scan", "--replay", "-", *options], stdin=subprocess.PIPE,
                                      stdout=out)
            for start in range(0, len(octets), 4097):
                slowly.stdin.write(octets[start:start + 4097])
                slowly.stdin.flush()
            slowly.stdin.close()
            assert slowly.wait(timeout=30) == 0
        assert (tmp_path / "out").read_text() == whole


def test_regions_are_entered_and_left(tmp_path):
    packets = [(at * 105_000, report(address(1), ibeacon(1, 7), -60)) for at in range(600)]
    packets += [(at * 1_000_000, report(address(2), ibeacon(2, 7), -60)) for at in range(90)]
    path = recording(tmp_path / "leave.btsnoop", sorted(packets))
    lines = pharos.checked("scan", "--replay", path, "--json", "--monitor", f"ibeacon:{UUID}-1").lines()
    assert [line["event"] for line in lines] == ["enter", "exit"]
    assert all(line["region"] == f"ibeacon:{UUID}-1" for line in lines)
    assert [line["provenBy"] for line in lines] == [None, "report"]
    # 599 periods after the first report, and the shortest time for an exit.
    assert lines[0]["at"] == "2026-09-21T14:13:20.000000Z"
    assert lines[1]["at"] == "2026-09-21T14:14:32.895000Z"
    assert lines[1]["cause"] == "silence"


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "desk.json"
    path.write_text(json.dumps({
        "version": 1, "name": "desk", "advertisements": [
            {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": 7, "intervalMs": 100, "measuredPowerDbm": -59}]}))
    return path


def test_known_beacons_have_names_and_others_are_counted(tmp_path, profile):
    packets = []
    for event in range(100):
        packets.append((event * 100_000, report(address(1), ibeacon(1, 7), -50)))
        packets += [(event * 100_000 + 10 * n, report(address(1000 * event + n), ibeacon(9, n), -70))
                    for n in range(20)]
    path = recording(tmp_path / "crowd.btsnoop", sorted(packets, key=lambda packet: packet[0]))
    lines = pharos.checked("scan", "--replay", path, "--json", "--ranging", "--known", profile).lines()
    assert len(lines) == 10
    for line in lines:
        assert [beacon["beacon"] for beacon in line["beacons"]] == ["desk"]
        assert line["beacons"][0]["rssiDbm"]["mean"] == -50
        assert line["strangers"]["reports"] in (180, 200)
        assert line["strangers"]["addresses"] == pytest.approx(line["strangers"]["reports"], abs=3)
    every = pharos.checked("scan", "--replay", path, "--json", "--known", profile).lines()
    assert len(every) == 100 and {line["beacon"] for line in every} == {"desk"}
    assert len(pharos.checked("scan", "--replay", path, "--json", "--known", profile, "--strangers").lines()) == 2100
    text = pharos.checked("scan", "--replay", path, "--known", profile).out
    assert "desk" in text and "2000 reports of other beacons" in text


@pytest.fixture
def groups(tmp_path):
    """A listener file with a beacon, the beacons of its major number, and all beacons of its UUID."""
    path = tmp_path / "museum.json"
    path.write_text(json.dumps({"version": 1, "name": "museum", "known": [
        {"name": "door", "ibeacon": {"uuid": UUID, "major": 1, "minor": 7}},
        {"name": "hall", "ibeacon": {"uuid": UUID, "major": 2}}, {"name": "museum", "ibeacon": {"uuid": UUID}}]}))
    return path


def test_beacons_of_a_group_have_its_name(tmp_path, groups):
    packets = [(at * 100_000 + 20_000 * number, report(address(number), ibeacon(number, 7), -50 - number))
               for at in range(100) for number in (1, 2, 3)]
    path = recording(tmp_path / "groups.btsnoop", packets)

    def found(*options):
        lines = pharos.checked("scan", "--replay", path, "--json", "--known", groups, *options).lines()
        return {(line["beacon"], line["frames"][0]["major"]) for line in lines if line["event"] == "report"}, len(lines)

    assert found() == ({("door", 1), ("hall", 2), ("museum", 3)}, 300)
    # A device may be in several groups. It gets the name that was chosen.
    assert found("--only", "hall") == ({("hall", 2)}, 100)
    assert found("--only", "museum") == ({("museum", 1), ("museum", 2), ("museum", 3)}, 300)
    assert found("--only", "door") == ({("door", 1)}, 100)
    table = pharos.checked("scan", "--replay", path, "--known", groups, "--only", "museum").out
    assert "museum" in table and "hall" not in table and "door" not in table, table
    lines = pharos.checked("scan", "--replay", path, "--json", "--known", groups, "--monitor", "hall").lines()
    assert [(line["event"], line["region"]) for line in lines] == [("enter", "hall")]


def test_a_region_has_other_beacons_than_the_known_ones(tmp_path, profile):
    packets = [(at * 100_000, report(address(2), ibeacon(2, 9), -60)) for at in range(100)]
    path = recording(tmp_path / "other.btsnoop", packets)
    lines = pharos.checked(
        "scan", "--replay", path, "--json", "--known", profile, "--monitor", f"ibeacon:{UUID}-2").lines()
    assert [line["event"] for line in lines] == ["enter"]


def test_ephemeral_ids_are_resolved_in_their_window_and_its_neighbours(tmp_path):
    key, exponent = bytes(range(16)), 10
    (tmp_path / "desk.key").write_text(key.hex() + "\n")
    (tmp_path / "desk.key").chmod(0o600)
    known = tmp_path / "private.json"
    known.write_text(json.dumps({
        "version": 1, "name": "private", "eidEpoch": "2026-03-01T12:00:00Z", "advertisements": [
            {"type": "eddystone-eid", "identityKeyFile": "desk.key", "rotationExponent": exponent,
             "intervalMs": 1000, "measuredPower1mDbm": -59}]}))
    epoch = 1_772_366_400
    packets = []
    for window in range(-3, 4):
        counter = 65280 + START // 1_000_000 - epoch + window * 1024
        octets = eddystone(b"\x30\xee" + independent.ephemeral_identifier(key, exponent, counter))
        packets.append((window * 10 + 100, report(address(1), octets, -60)))
    path = recording(tmp_path / "eid.btsnoop", packets)
    lines = pharos.checked("scan", "--replay", path, "--json", "--known", known, "--strangers").lines()
    assert [line["beacon"] for line in lines] == [None, None, "private", "private", "private", None, None]


def test_only_and_levels_choose(busy):
    path, _ = busy
    kinds = pharos.checked("scan", "--replay", path, "--json", "--only", "ibeacon").lines()
    assert kinds and all(line["identity"].startswith("ibeacon:") for line in kinds)
    one = pharos.checked("scan", "--replay", path, "--json", "--only", f"ibeacon:{UUID}-1-3").lines()
    assert one and {line["identity"] for line in one} == {f"ibeacon:{UUID}-1-3"}
    near = pharos.checked("scan", "--replay", path, "--json", "--min-rssi-dbm", "-65").lines()
    assert all(line["rssiDbm"] is None or line["rssiDbm"] >= -65 for line in near)
    assert pharos.run("scan", "--replay", path, "--only", "nobody").code == 64


def test_levels_that_no_beacon_shows_are_left_out(tmp_path):
    levels = [-128, -127, -111, -110, -60, 0, 1, 8, 20, 127]
    packets = [(100 * number, report(address(1), ibeacon(1, 2), level)) for number, level in enumerate(levels)]
    path = recording(tmp_path / "noise.btsnoop", packets)

    def heard(*options):
        return [line["rssiDbm"] for line in pharos.checked("scan", "--replay", path, "--json", *options).lines()]

    # Values outside the range of receivers mean an unknown level, which no option filters.
    assert heard() == [-128, -127, -111, -110, -60, 0, 1, 8, 20, None]
    assert heard("--plausible-dbm", "-110..0") == [-128, -110, -60, 0, None]
    assert heard("--plausible-dbm", "-110..0", "--min-rssi-dbm", "-70") == [-128, -60, 0, None]
    for wrong in ("-110", "0..-110", "-200..0", "a..b", "-110...0"):
        assert pharos.run("scan", "--replay", path, "--plausible-dbm", wrong).code == 64, wrong
    both = pharos.run("scan", "--replay", "-", "--known", "-")
    assert both.code == 64 and "Standard input" in both.err


def test_fragments_are_put_together(tmp_path):
    data = bytes([9] * 0) + ibeacon(1, 2) + bytes([200, 0xFE]) + bytes(199)
    packets = [(0, extended(address(1), data[:100], -50, 1)), (500, extended(address(2), ibeacon(3, 4), -51)),
               (900, extended(address(1), data[100:], -50, 0))]
    lines = pharos.checked("scan", "--replay", recording(tmp_path / "x.btsnoop", packets), "--json").lines()
    assert [line["identity"] for line in lines] == [f"ibeacon:{UUID}-3-4", f"ibeacon:{UUID}-1-2"]
    assert lines[1]["data"] == data.hex()


def test_hostile_octets_are_survived_and_reach_no_terminal(tmp_path):
    chance = random.Random(8)
    packets = []
    for number in range(3000):
        name = bytes([0x1B]) + b"[2J" + bytes(chance.randrange(256) for _ in range(chance.randrange(20)))
        data = bytes([len(name) + 1, 9]) + name
        octets = report(address(number % 50), data, chance.choice([127, 0, -128, 20, 21, -60]))
        if chance.random() < 0.3:
            octets = octets[:4] + bytes(chance.randrange(256) for _ in octets[4:])
        packets.append((chance.choice([0, number * 1000, -10 ** 12, 10 ** 15]), octets))
    path = recording(tmp_path / "hostile.btsnoop", packets)
    result = pharos.run("scan", "--replay", path)
    assert result.code == 0, result.err
    assert not any(ord(letter) < 32 and letter != "\n" or 0x7F <= ord(letter) < 0xA0 for letter in result.out)
    lines = pharos.checked("scan", "--replay", path, "--json").lines()
    assert {line["rssiDbm"] for line in lines} >= {None, 0, -128, -60}
    rounds = pharos.checked("scan", "--replay", path, "--json", "--every-s", "3600").lines()
    for line in rounds:
        for beacon in line["beacons"]:
            assert beacon["rssiDbm"] is None or -127 <= beacon["rssiDbm"]["min"] <= beacon["rssiDbm"]["max"] <= 20


def test_what_is_no_recording_is_refused(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"no capture at all")
    assert pharos.run("scan", "--replay", path).code == 65
    assert pharos.run("scan", "--replay", tmp_path / "missing").code == 66
    assert pharos.run("scan", "--replay", path, "--adapter", "virtual").code == 64
    assert pharos.run("scan", "--ranging", "--replay", path).code == 64
    for option, value, range_ in (
            ("interval", "1", "2.5...10240"), ("interval", "nan", "2.5...10240"), ("interval", "1e300", "2.5...10240"),
            ("window", "100", "2.5...60"), ("window", "inf", "2.5...60")):
        wrong = pharos.run("scan", f"--scan-{option}-ms", value)
        assert wrong.code == 64 and f"is out of range {range_} ms." in wrong.err, wrong.err
    for useless in (["--active"], ["--scan-interval-ms", "100"], ["--scan-window-ms", "30"]):
        assert pharos.run("scan", "--replay", path, *useless).code == 64
    assert pharos.run("scan", "--monitor", "nothing", "--replay", path).code == 64


@pytest.mark.parametrize("form", ["pcapng", "pcap"])
def test_what_tshark_writes_gives_the_same_events(busy, tmp_path, needs, form):
    path, _ = busy
    written = tmp_path / f"busy.{form}"
    subprocess.run([needs("tshark"), "-r", path, "-F", form, "-w", written], check=True, capture_output=True)
    for options in (["--json"], ["--json", "--every-s", "3"], ["--monitor", f"ibeacon:{UUID}", "--json"]):
        assert pharos.checked("scan", "--replay", written, *options).out \
            == pharos.checked("scan", "--replay", path, *options).out


# ---- live
def test_the_virtual_adapter_hears_the_profile(profile, tmp_path):
    record = tmp_path / "live.btsnoop"
    lines = pharos.checked("scan", "--adapter", "virtual", "--known", profile, "--json", "--duration-s", "2",
                           "--record", record).lines()
    reports = [line for line in lines if line["event"] == "report"]
    assert len(reports) > 12
    assert {line["beacon"] for line in reports} == {"desk"}
    # What was recorded is what was heard.
    again = pharos.checked("scan", "--replay", record, "--known", profile, "--json").lines()
    keys = ["data", "rssiDbm", "identity", "beacon", "address"]
    assert [[line[key] for key in keys] for line in again] == [[line[key] for key in keys] for line in reports]


def test_a_sample_is_heard_without_any_file():
    result = pharos.checked("scan", "--adapter", "virtual", "--duration-s", "1.5")
    assert f"ibeacon:{UUID}-1-2" in result.out
    assert "dBm" in result.out


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_scan_within_two_seconds_and_with_a_summary(start, how):
    scan = start(pharos.PROGRAM, "scan", "--adapter", "virtual", "--every-s", "1")
    scan.wait(lambda line: UUID in str(line), 10)
    assert scan.interrupt(how, timeout=2) == 0
    summary = scan.wait(lambda line: " reports" in str(line), 2)["text"]
    assert re.match(r"virtual: \d+ reports", summary) and scan.errors == "pharos: listening on virtual\n"


def test_listening_over_a_socket(start, tmp_path):
    """A beacon and a listener, each with a controller of one served air."""
    socket = tmp_path / "air"
    server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{socket}")
    server.wait(lambda line: "listening" in str(line), 10)
    beacon = start(pharos.PROGRAM, "advertise", "ibeacon", "--uuid", UUID, "--major", "5", "--minor", "6",
                   "--measured-power-dbm", "-59", "--adapter", f"unix:{socket}", "--json")
    beacon.wait(lambda line: line.get("event") == "on-air", 10)
    lines = pharos.checked("scan", "--adapter", f"unix:{socket}", "--json", "--duration-s", "2").lines()
    heard = [line for line in lines if line.get("identity") == f"ibeacon:{UUID}-5-6"]
    assert len(heard) > 12


def test_an_adapter_that_is_not_there_is_told(tmp_path):
    assert pharos.run("scan", "--adapter", f"unix:{tmp_path}/nobody").code == 69
    assert pharos.run("scan", "--adapter", "hci9").code in (69, 77)


def test_a_capture_of_a_sender_has_no_received_advertisements(tmp_path):
    path = tmp_path / "sent.btsnoop"
    pharos.checked("advertise", "url", "--url", "https://example.org", "--adapter", "virtual", "--duration-s", "0.2",
                   "--quiet", "--capture", path)
    result = pharos.checked("scan", "--replay", path)
    assert f"{path}: there are no received advertisements in this file" in result.err
