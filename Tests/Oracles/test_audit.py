"""`pharos audit`: recordings with known faults, two receivers, keys, and a beacon on the virtual air."""
import json
import random
import signal
import struct
import time

import pytest

import h4_bridge
import independent
import pharos
from test_scan import START, UUID, eddystone, ibeacon, recording, report, uid

NAMESPACE = "8b0ca750095477cb3e77"
EPOCH = 1_772_366_400


def own(number):
    return f"C0:00:00:00:00:{number:02X}"


def tlm(seconds, rate, millivolts=3000):
    counters = int(1000 + seconds * rate), int(5000 + seconds * 10)
    return eddystone(struct.pack(">BBHHII", 0x20, 0, millivolts, 0x1580, *counters))


def profile(folder, number, **more):
    path = folder / f"box{number}.json"
    path.write_text(json.dumps({
        "version": 1, "name": f"box{number}", "address": own(number), "advertisements": [
            {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": number, "intervalMs": 200, "measuredPowerDbm": -59},
            {"type": "eddystone-uid", "namespace": NAMESPACE, "instance": f"{number:012x}", "intervalMs": 300,
             "measuredPowerDbm": -18},
            {"type": "eddystone-tlm", "intervalMs": 1000}]} | more))
    return path


def sent(number, chance, seconds=64, *, interval=200, power=-59, sender=None, off=(), battery=3000, loss=0.1):
    """What a receiver hears of a box with three advertising sets."""
    packets = []
    rate = 1 / 0.205 + 1 / 0.305 + 1 / 1.005
    for kind, period in (("ibeacon", interval), ("uid", 300), ("tlm", 1000)):
        at = chance.randrange(period * 1000)
        while at < seconds * 1_000_000:
            hidden = any(start <= at / 1e6 < end for start, end in off)
            if chance.random() > loss and not hidden:
                data = {"ibeacon": lambda: ibeacon(1, number, power),
                        "uid": lambda: uid(NAMESPACE, f"{number:012x}"),
                        "tlm": lambda now=at: tlm(now // 1_000_000, rate, battery)}[kind]()
                packets.append((at, report(sender or own(number), data, round(chance.gauss(-60, 3)))))
            at += period * 1000 + chance.randrange(10_000)
    return packets


def audit(path, *files, code):
    recordings = [word for each in (path if isinstance(path, list) else [path]) for word in ("--replay", each)]
    result = pharos.run("audit", *files, *recordings, "--json")
    assert result.code == code, (result.err, result.out)
    return json.loads(result.out)


def verdicts(answer):
    return {(each["beacon"], each["type"]): each["verdicts"] for each in answer["advertisements"]}


def written(folder, packets, name="air.btsnoop"):
    return recording(folder / name, sorted(packets, key=lambda packet: packet[0]))


@pytest.fixture
def boxes(tmp_path):
    return [profile(tmp_path, number) for number in (1, 2, 3)]


def test_a_clean_fleet_is_good_and_its_numbers_are_those_of_the_recording(tmp_path, boxes):
    chance = random.Random(1)
    packets = [packet for number in (1, 2, 3) for packet in sent(number, chance)]
    answer = audit(written(tmp_path, packets), *boxes, code=0)
    assert answer["good"] and not answer["warnings"] and not answer["lowerBound"]
    assert answer["receivers"][0]["reports"] == len(packets)
    assert set(map(tuple, verdicts(answer).values())) == {("ok",)}
    for each in answer["advertisements"]:
        assert each["intervalMs"] == pytest.approx(each["expectedIntervalMs"], rel=0.01, abs=1)
        assert 0.8 < each["share"] <= 1 and each["longestSilenceS"] < each["silenceLimitS"]
        assert each["rssiDbm"]["mean"] == pytest.approx(-60, abs=1) and 2 < each["rssiDbm"]["sd"] < 4
    data = {each["type"]: each["expectedOctets"] for each in answer["advertisements"][:3]}
    assert data["ibeacon"] == ibeacon(1, 1).hex()
    assert data["eddystone-tlm"] == tlm(0, 0)[:13].hex() + ".." * 12


def test_each_fault_is_told_at_its_place(tmp_path, boxes):
    chance = random.Random(2)
    packets = sent(1, chance, interval=260) + sent(2, chance, power=-40) + sent(3, chance, off=[(20, 40)])
    # One other device sends the packets of box 3, and another one uses the same namespace.
    packets += [(at, octets) for at, octets in sent(3, chance, sender="D0:00:00:00:00:01") if octets[-2:-1] == b"\xc5"]
    packets += [(5_000_000 + at, report("D0:00:00:00:00:02", uid(NAMESPACE, "0000000000ff"), -70)) for at in range(9)]
    answer = audit(written(tmp_path, packets), *boxes, code=1)
    found = verdicts(answer)
    assert found["box1", "ibeacon"] == ["wrong-interval"]
    assert answer["advertisements"][0]["intervalMs"] == pytest.approx(260, rel=0.01)
    assert found["box2", "ibeacon"] == ["wrong-octets"]
    assert answer["advertisements"][3]["wrongOctets"] == ibeacon(1, 2, -40).hex()
    assert "cloned" in found["box3", "ibeacon"] and "long-silence" in found["box3", "eddystone-uid"]
    assert found["box2", "eddystone-uid"] == ["ok"]
    assert answer["warnings"] == [{"warning": "stranger", "identity": f"uid:{NAMESPACE}-0000000000ff",
                                   "address": "D0:00:00:00:00:02", "reports": 9}]


def test_two_receivers_hear_together_what_neither_hears_alone(tmp_path, boxes):
    chance = random.Random(3)
    everything = [packet for number in (1, 2, 3) for packet in sent(number, chance, loss=0)]
    # The second one was started 10 s later; each hears six tenths.
    first = written(tmp_path, [p for p in everything if chance.random() < 0.6], "first.btsnoop")
    later = [(at, octets) for at, octets in everything if at > 10_000_000 and chance.random() < 0.6]
    answer = audit([first, written(tmp_path, later, "second.btsnoop")], *boxes, code=0)
    assert [round(each["listenedS"]) for each in answer["receivers"]] == [64, 54]
    assert answer["listenedS"] == pytest.approx(64, abs=0.5)
    for each in answer["advertisements"]:
        assert 0.72 < each["share"] < 0.92, "sixteen of a hundred are lost by both"


def test_beacons_of_other_floors_need_not_be_heard(tmp_path):
    fleet = tmp_path / "fleet.json"
    fleet.write_text(json.dumps({
        "version": 1, "name": "house", "identities": {"minor": {"within": "fleet"}},
        "template": {"advertisements": [{"type": "ibeacon", "uuid": UUID, "major": 1, "minor": "${minor}",
                                         "intervalMs": 200, "measuredPowerDbm": -59}]},
        "groups": [{"name": "north", "groups": [{"name": "ground"}, {"name": "upper"}]}],
        "beacons": [{"name": "desk", "group": "north/ground"}, {"name": "attic", "group": "north/upper"}]}))
    pharos.checked("fleet", "generate", fleet, "-o", tmp_path / "out")
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    chance = random.Random(4)
    desk = manifest["beacons"][0]
    packets = [(at, packet) for at, packet in sent(desk["advertisements"][0]["minor"], chance, sender=desk["address"])
               if packet[-2:-1] == b"\xc5"]
    path = written(tmp_path, packets)
    for source in (fleet, tmp_path / "out", tmp_path / "out/manifest.json"):
        assert verdicts(audit(path, source, code=1))["attic", "ibeacon"] == ["silent"]
        floor = pharos.run("audit", source, "--replay", path, "--json", "--floor", "ground")
        assert floor.code == 0
        assert json.loads(floor.out)["warnings"] == [{"warning": "not-in-range", "beacon": "attic", "chance": None}]
    # The manifest and the profiles in its directory both contain each box.
    twice = verdicts(audit(path, tmp_path / "out/manifest.json", tmp_path / "out/desk.json", code=1))
    assert twice == {("desk", "ibeacon"): ["ok"], ("attic", "ibeacon"): ["silent"]}
    # Where none of them is, each would go unjudged.
    nowhere = pharos.run("audit", fleet, "--replay", path, "--floor", "grond")
    assert nowhere.code == 64
    assert "--floor grond: no beacon is on that floor; the floors are ground, upper" in nowhere.err
    # A site file says where its receivers are by the fleet that it names.
    site = tmp_path / "site.json"
    site.write_text(json.dumps({
        "version": 1, "name": "ground", "outline": [[0, 0], [9, 0], [9, 9]], "scanner": "android-balanced",
        "target": {"detectWithinS": 10, "probability": 0.9},
        "beacons": {"fleet": "fleet.json", "site": "north", "floor": "ground"}}))
    named = pharos.run("audit", fleet, "--replay", path, "--json", "--site", site)
    assert named.code == 0, named.err
    assert [each["warning"] for each in json.loads(named.out)["warnings"]] == ["not-in-range"]
    # The manifest alone says as much.
    for name in ("desk.json", "attic.json"):
        (tmp_path / "out" / name).unlink()
    assert verdicts(audit(path, tmp_path / "out/manifest.json", code=1))["desk", "ibeacon"] == ["ok"]


def test_keys_tell_whose_ephemeral_ids_and_encrypted_telemetry_are(tmp_path):
    key, exponent = bytes(range(16)), 4
    (tmp_path / "k").write_text(key.hex() + "\n")
    (tmp_path / "k").chmod(0o600)
    path = tmp_path / "private.json"
    path.write_text(json.dumps({
        "version": 1, "name": "private", "eidEpoch": "2026-03-01T12:00:00Z", "advertisements": [
            {"type": "eddystone-eid", "identityKeyFile": "k", "rotationExponent": exponent, "intervalMs": 500,
             "measuredPower1mDbm": -59},
            {"type": "eddystone-tlm", "identityKeyFile": "k", "rotationExponent": exponent, "encrypted": True,
             "intervalMs": 1000}]}))
    chance, packets = random.Random(5), []
    for kind, period in (("eid", 500), ("tlm", 1000)):
        at = 0
        while at < 64_000_000:
            counter = 65280 + (START + at) // 1_000_000 - EPOCH
            address = f"C0:00:00:00:01:{counter // 16 % 256:02X}"
            if kind == "eid":
                data = eddystone(b"\x30\xee" + independent.ephemeral_identifier(key, exponent, counter))
            else:
                seconds = at // 1_000_000
                plain = struct.pack(">HHII", 3000, 0x1580, int(seconds * (1 / 0.505 + 1 / 1.005)), seconds * 10)
                salt = struct.pack(">H", at // 1_000_000)
                sealed, check = independent.encrypted_telemetry(key, exponent, counter, salt, plain)
                data = eddystone(b"\x20\x01" + sealed + salt + check)
            packets.append((at, report(address, data, -60)))
            at += period * 1000 + chance.randrange(10_000)
    good = audit(written(tmp_path, packets), path, code=0)
    assert set(map(tuple, verdicts(good).values())) == {("ok",)}
    assert good["advertisements"][1]["telemetry"]["batteryMv"] == 3000
    # With another key, no device sends the expected ids.
    (tmp_path / "k").write_text(bytes(16).hex() + "\n")
    assert verdicts(audit(tmp_path / "air.btsnoop", path, code=1))["private", "eddystone-eid"] == ["silent"]
    # No key: nothing can be said, and that is.
    (tmp_path / "k").unlink()
    unjudged = audit(tmp_path / "air.btsnoop", path, code=0)
    assert [each["warning"] for each in unjudged["warnings"]] == ["unjudged"] * 2
    assert set(map(tuple, verdicts(unjudged).values())) == {()}


def test_the_text_fits_a_terminal_and_the_page_is_escaped(tmp_path, boxes):
    path = written(tmp_path, sent(1, random.Random(6)))
    page = tmp_path / "audit.html"
    result = pharos.run("audit", *boxes, "--replay", path, "--html", page)
    assert result.code == 1
    lines = result.out.splitlines()
    assert max(map(len, lines[:10])) <= 80
    assert "6 of 9 advertisements are not as they should be" in result.out
    html = page.read_text()
    assert html.count("<table>") == 2 and "wrong-octets" not in html and "silent" in html
    # The worst first, coloured; those without problems are folded.
    assert html.index('<tr class="bad">') < html.index('<details class="data"') < html.index('<tr class="good">')
    assert "box1 ibeacon" in html and len(html) < 500_000


@pytest.mark.long
def test_a_beacon_on_the_virtual_air_is_as_its_profile_says(start, tmp_path):
    path = profile(tmp_path, 7)
    socket = tmp_path / "air"
    server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{socket}")
    server.wait(lambda line: "listening" in str(line), 10)
    beacon = start(pharos.PROGRAM, "advertise", path, "--adapter", f"unix:{socket}", "--json")
    beacon.wait(lambda line: line.get("event") == "on-air", 10)
    begun = time.monotonic()
    result = pharos.run("audit", path, "--adapter", f"unix:{socket}", "--duration-s", "32", "--json", timeout=60)
    assert 31 < time.monotonic() - begun < 40
    answer = json.loads(result.out)
    assert set(map(tuple, verdicts(answer).values())) == {("ok",)}, answer
    assert answer["advertisements"][0]["intervalMs"] == pytest.approx(200, rel=0.01, abs=1)


def test_several_adapters_listen_at_once(start, tmp_path):
    path = profile(tmp_path, 8)
    socket = tmp_path / "air"
    server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{socket}")
    server.wait(lambda line: "listening" in str(line), 10)
    adapters = ["--adapter", f"unix:{socket}", "--adapter", f"unix:{socket}"]
    beacon = start(pharos.PROGRAM, "advertise", path, "--adapter", f"unix:{socket}", "--json")
    beacon.wait(lambda line: line.get("event") == "on-air", 10)
    answer = json.loads(pharos.run("audit", path, *adapters, "--duration-s", "3", "--json").out)
    first, second = answer["receivers"]
    assert first["reports"] > 10 and second["reports"] > 10
    assert first["listenedS"] > 2 and second["listenedS"] > 2
    each = answer["advertisements"][0]
    assert each["heard"] <= each["owed"] + 2, "what both hear is one event"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_receivers(start, tmp_path, how):
    """It is read once, by whichever receiver is the first to look."""
    path = profile(tmp_path, 9)
    socket = tmp_path / "air"
    server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{socket}")
    server.wait(lambda line: "listening" in str(line), 10)
    for attempt in range(4):
        ears = [h4_bridge.Bridge(tmp_path / f"{attempt}{number}", socket) for number in range(4)]
        adapters = [word for ear in ears for word in ("--adapter", ear.address)]
        process = start(pharos.PROGRAM, "audit", path, *adapters, "--duration-s", "60", "--json")
        deadline = time.monotonic() + 15
        while not all(ear.last(h4_bridge.SCAN_ENABLE) for ear in ears):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.05 * attempt)
        began = time.monotonic()
        process.process.send_signal(how)
        # Too little was owed for a verdict, or everything is silent.
        assert process.exit_code() in (0, 1), process.errors
        assert time.monotonic() - began < 2
        answer = process.wait(lambda line: "good" in line)
        assert len(answer["receivers"]) == 4
        for ear in ears:
            assert ear.last(h4_bridge.SCAN_ENABLE)[0] == 0, "somebody is left scanning"
            ear.close()


def test_verdicts_are_told_where_the_page_cannot_be_written(boxes):
    result = pharos.run("audit", boxes[0], "--adapter", "virtual", "--duration-s", "2", "--json", "--html", "/dev/full")
    assert result.code == 71 and "/dev/full: the page cannot be written" in result.err
    assert all(each["verdicts"] for each in result.lines()[0]["advertisements"])


def test_the_page_does_not_replace_a_file_that_is_read(tmp_path, boxes):
    tape, page = written(tmp_path, sent(1, random.Random(6)), "air.html"), tmp_path / "page.html"
    page.symlink_to(boxes[0])
    for output, source in ((tape, tape), (page, boxes[0])):
        before = source.read_bytes()
        result = pharos.run("audit", *boxes, "--replay", tape, "--html", output)
        assert result.code == 64 and f"--html {output}: the command reads this file: give another file." in result.err
        assert source.read_bytes() == before and result.out == ""


def test_bad_arguments(tmp_path, boxes):
    assert pharos.run("audit").code == 64
    managed = pharos.run("audit", boxes[0], "--adapter", "hci0:mgmt")
    assert managed.code == 64 and "drops repeated reports" in managed.err
    assert pharos.run("audit", boxes[0], "--replay", tmp_path / "none").code == 66
    assert pharos.run("audit", tmp_path / "none", "--replay", tmp_path / "none").code == 66
    assert pharos.run("audit", boxes[0], "--replay", boxes[0]).code == 65
    assert pharos.run("audit", boxes[0], "--replay", "-", "--adapter", "virtual").code == 64
    # What listeners keep and publish has nothing of what an audit judges.
    for option in ("--history", "--mqtt"):
        result = pharos.run("audit", boxes[0], option, "x")
        assert result.code == 64 and f"{option}: listeners do not store" in result.err and "--replay" in result.err
    for wrong in (["--replay", "-", "--replay", "-"], ["--adapter", "virtual", "--duration-s", "0"],
                  ["--adapter", "virtual", "--html", "-"]):
        assert pharos.run("audit", boxes[0], *wrong).code == 64, wrong
    assert pharos.run("audit", boxes[0], "--adapter", f"unix:{tmp_path}/nobody").code == 69


def test_a_recording_of_nothing_proves_nothing(tmp_path, boxes):
    path = written(tmp_path, [])
    answer = audit(path, boxes[0], code=1)
    assert answer["good"] is False and verdicts(answer)["box1", "ibeacon"] == []
    assert "Nothing could be judged, after 0 s of listening." in pharos.run("audit", boxes[0], "--replay", path).out


def test_a_profile_that_is_named_twice_is_judged_once(tmp_path, boxes):
    path = written(tmp_path, sent(1, random.Random(3)))
    answer = audit(path, boxes[0], boxes[0], code=0)
    assert [each["type"] for each in answer["advertisements"]] == ["ibeacon", "eddystone-uid", "eddystone-tlm"]


def test_a_floor_that_no_file_names_is_refused(tmp_path, boxes):
    path = written(tmp_path, sent(1, random.Random(2)))
    result = pharos.run("audit", boxes[0], "--replay", path, "--floor", "ground")
    assert result.code == 64 and "name no floors" in result.err


def test_a_walk_lists_the_worst_first_and_the_silent_in_one_line(tmp_path, boxes):
    chance = random.Random(8)
    passing = [packet for packet in sent(1, chance) if 10_000_000 <= packet[0] < 25_000_000]
    wrong = [packet for packet in sent(2, chance, power=-70) if packet[0] > 40_000_000]
    path = written(tmp_path, passing + wrong)
    answer = pharos.run("audit", *boxes, "--replay", path, "--walk")
    assert answer.code == 1
    rows = [line for line in answer.out.splitlines() if line.startswith("box") and ": " not in line]
    assert rows[0].split()[0] == "box2" and rows[0].endswith("wrong-octets")
    assert all(row.endswith("ok") for row in rows[1:]) and len(rows) == 6
    assert "not received (1): box3" in answer.out
    told = json.loads(pharos.run("audit", *boxes, "--replay", path, "--walk", "--json").out)
    assert told["walk"] is True and {each["share"] for each in told["advertisements"]} == {None}
    assert json.loads(pharos.run("audit", boxes[0], "--replay", path, "--walk", "--json").out)["good"]


def test_sites_and_groups_choose_beacons(tmp_path):
    fleet = tmp_path / "museum.json"
    pharos.checked("sample", "fleets/museum", "--output", fleet)
    pharos.checked("fleet", "generate", fleet, "--output", tmp_path / "profiles")
    path = written(tmp_path, [(0, report(own(1), b"\2\1\6", -60))])

    def names(*options):
        told = json.loads(pharos.run("audit", fleet, "--replay", path, "--json", *options).out)
        return {each["beacon"] for each in told["advertisements"]}

    whole = names()
    assert names("--site", "museum") == whole and names("--group", "museum/ground") < whole
    wrong = pharos.run("audit", fleet, "--replay", path, "--group", "museum/grund")
    assert wrong.code == 64 and 'did you mean "museum/ground"?' in wrong.err


def test_drops_of_a_recording_are_no_fault_of_the_beacon(tmp_path, boxes):
    chance = random.Random(6)
    packets = [packet for packet in sent(1, chance, loss=0) if chance.random() > 0.5]
    path = written(tmp_path, packets)
    assert audit(path, boxes[0], code=1)["lowerBound"] is False
    # The same packets, with the number that the recording program lost so far.
    octets, at, number = bytearray(path.read_bytes()), 16, 0
    while at < len(octets):
        struct.pack_into(">I", octets, at + 12, number)
        at += 24 + struct.unpack_from(">I", octets, at + 4)[0]
        number += 1
    path.write_bytes(octets)
    told = audit(path, boxes[0], code=0)
    assert told["lowerBound"] is True and told["receivers"][0]["lost"] == number - 1


def test_a_low_battery_runs_the_hook(tmp_path, boxes):
    hook = tmp_path / "hook"
    hook.write_text(f'#!/bin/sh\n(echo "$PHAROS_BEACON $PHAROS_VERDICT $PHAROS_REASON"; cat) >> {tmp_path}/told\n')
    hook.chmod(0o755)
    path = written(tmp_path, sent(1, random.Random(2), battery=2300))
    result = pharos.run("audit", boxes[0], "--replay", path, "--hook", hook)
    assert result.code == 1 and "low-battery: its battery has 2300 mV, less than 2400" in result.out
    first, rest = (tmp_path / "told").read_text().split("\n", 1)
    assert first == "box1 low-battery its battery has 2300 mV, less than 2400"
    assert json.loads(rest)["verdicts"] == ["low-battery"]
    assert pharos.run("audit", boxes[0], "--replay", path, "--low-battery-mv", "2300").code == 0
    missing = pharos.run("audit", boxes[0], "--replay", path, "--hook", tmp_path / "nowhere")
    assert missing.code == 1 and "--hook" in missing.err
    reasons = {tmp_path / "nowhere": "there is no such program", path: "not a program that this user may run",
               "no-such-program-in-path": "--hook no-such-program-in-path: "}
    for hook, reason in reasons.items():
        # One warning, although three beacons have a verdict; it comes before the verdicts.
        missing = pharos.run("audit", *boxes, "--replay", path, "--hook", hook)
        assert missing.code == 1 and missing.err.count("--hook") == 1 and reason in missing.err, missing.err
