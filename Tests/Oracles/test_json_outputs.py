"""The JSON outputs: each key of each command stands in its manual page, with its meaning and whether it may be null."""
import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

import pharos
import test_collect as collecting
import positioning
from test_scan import address, ibeacon, recording, report, tlm

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = json.loads((ROOT / "systemd/man/pages.json").read_text())
PROFILE = ROOT / "profiles/lobby-north.json"
PATTERN = ROOT / "profiles/door-pattern.json"
UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"
KEY = "0102030405060708090a111213141516"
#: Objects whose keys are data.
DATA = ("instances[].rearms.", "undiscoveredAfterS.", "lossRunProbability.", "scores.", "tallies.")


def output(*arguments) -> str:
    """What a command prints; its exit code may say that something does not hold."""
    result = pharos.run(*arguments, timeout=300)
    assert result.out, result.err
    return result.out


def plan(*words) -> str:
    return output("plan", *words, "--json")


# ---- what the commands are asked
PAYLOADS = [
    "0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5",
    "0201061bff1801beac000102030405060708090a0b0c0d0e0f10111213c500",
    "0201060303aafe1716aafe00ee8b0ca750095477cb3e770000000000020000",
    "0201060303aafe1016aafe10ee036578616d706c65016e32",
    "0201060303aafe1116aafe20000bb81600000000010000000a",
    "0201060303aafe1116aafe2000000080000000000100000000",
    "0201060303aafe1516aafe2001001122334455667788990a0b1122aabb",
    "0201060303aafe0d16aafe30ee823ea23e8675bc96",
    "0303aafe",
    "02fe01",
    "06094e64654d31",
    "0201060303aafe1016aafe10ee036578616d706c65016e20",
]


def decoded(folder):
    texts = [output("decode", "--json", payload) for payload in PAYLOADS]
    sealed = pharos.encode("tlm", "--battery-mv", "3000", "--temperature-c", "20", "--identity-key", KEY,
                           "--rotation-exponent", "4", "--time-s", "70000", "--salt", "0a0b").hex()
    for seconds in ("70000", "90000"):
        texts.append(output("decode", "--json", sealed, "--identity-key", KEY, "--rotation-exponent", "4",
                            "--time-s", seconds))
    data = ibeacon(1, 2)
    secret = ("--encryption-key", KEY, "--device-address", "F0:01:02:03:04:05")
    for options in ((), (*secret, "--counter", "9")):
        packet = pharos.encode("bthome", "--value", "temperature=21.5", "packet_id=3", "0x15=1", *options).hex()
        texts.append(output("decode", "--json", packet, *(secret if options else ())))
    command = bytes([1, 8, 0x20, 32, len(data)]) + data.ljust(31, b"\0")
    packets = [(0, command), (1, report(address(1), data, -60)), (2, report(address(1), data, 127))]
    return texts + [output("decode", "--json", recording(folder / "two.btsnoop", packets))]


def paired(folder):
    """The keys of paired devices, as bluetoothd stores them, and a key that is checked with an address."""
    for number, name in (("01", "Name=Anna\n"), ("02", "")):
        device = folder / "store" / "00:11:22:33:44:55" / f"AA:BB:CC:DD:EE:{number}"
        device.mkdir(parents=True)
        (device / "info").write_text(f"[General]\n{name}[IdentityResolvingKey]\nKey=9B7D390AA610103405ADC857A33402EC\n")
    key = folder / "anna.irk"
    key.write_text("7AI0o1fIrQU0EBCmCjl9mw==\n")
    key.chmod(0o600)
    texts = [output("irk", "--json", "--store", folder / "store")]
    assert json.loads(texts[0])["devices"][0]["key"] == "ec0234a357c8ad05341010a60a397d9b"
    for used in ("70:81:94:0D:FB:AA", "70:81:94:0D:FB:AB"):
        texts.append(output("irk", "--json", "--key-file", key, "--device-address", used))
    return texts


def encoded(_):
    structures = ("09:4e64654d31", "fe:01", "ff:4c000215" + "00" * 21)
    frames = [["raw", "--structure", structure] for structure in structures]
    frames += [["ibeacon", "--uuid", UUID, "--major", "1", "--minor", "2", "--measured-power-dbm", "-59"],
               ["altbeacon", "--company-id", "0x0118", "--id", "00" * 20, "--measured-power-dbm", "-59"],
               ["uid", "--namespace", "00" * 10, "--instance", "00" * 6, "--measured-power-dbm", "-18"],
               ["url", "--url", "https://e.org", "--measured-power-dbm", "-18"], ["tlm", "--battery-mv", "3000"],
               ["eid", "--identity-key", KEY, "--rotation-exponent", "4", "--time-s", "70000",
                "--measured-power-dbm", "-18"], ["bthome", "--value", "temperature=21.5"]]
    return [output("encode", *frame, "--format", "json") for frame in frames]


def advertised(folder):
    options = ("--adapter", "virtual", "--duration-s", "0.3", "--json")
    coded = folder / "coded.json"
    coded.write_text(json.dumps({"version": 1, "name": "coded", "advertisements": [{
        "type": "ibeacon", "uuid": UUID, "major": 1, "minor": 1, "measuredPowerDbm": -59, "intervalMs": 100,
        "phy": "coded"}]}))
    return [output("advertise", PROFILE, *options), output("advertise", PATTERN, *options),
            output("advertise", coded, "--like", "intel", *options),
            output("ibeacon", "--uuid", UUID, "--major", "1", "--minor", "2", "--measured-power-dbm", "-59", *options)]


def heard(folder):
    packets = [(at * 100_000, report(address(n), ibeacon(1, n), -60)) for at in range(60) for n in (1, 2)]
    packets += [(6_000_000, report(address(3), b"\2\1\6", 127))]
    packets += [(6_000_001, report(address(4), b"\3\3\xed\xfe", 127))]
    known = folder / "known.json"
    known.write_text(json.dumps({"version": 1, "name": "desk", "advertisements": [{
        "type": "ibeacon", "uuid": UUID, "major": 1, "minor": 1, "measuredPowerDbm": -59, "intervalMs": 100}]}))
    path = recording(folder / "heard.btsnoop", packets + [(30_000_000, report(address(2), ibeacon(1, 2), -70))])
    every = [[], ["--every-s", "2", "--known", known], ["--monitor", f"ibeacon:{UUID}-1-1"]]
    live = ["--adapter", "virtual", "--duration-s", "1", "--known", known, "--json"]
    known.write_text(known.read_text().replace('"minor": 1,', '"minor": 1, "phy": "2M",'))
    return [output("scan", "--replay", path, "--json", *words) for words in every] + [output("scan", *live)]


def listened(folder):
    """A beacon and a stranger of a file, levels and none; then a moment on the virtual adapter."""
    path = folder / "hall.json"
    position = {"position": [1, 2]}
    known = [{"name": "desk", "ibeacon": {"uuid": UUID, "major": 1, "minor": 1}, "tags": ["a"]}]
    path.write_text(json.dumps({"version": 1, "name": "hall", "place": {"site": "museum", "floor": "ground"},
                                "strangers": "list", "known": known}))
    packets = [(at * 100_000, report(address(n), ibeacon(1, n), -60)) for at in range(60) for n in (1, 2)]
    packets += [(6_000_000, report(address(3), b"\2\1\6", 127))]
    packets += [(6_000_001, report(address(4), b"\3\3\xed\xfe", 127))]
    tape = recording(folder / "hall.btsnoop", sorted(packets, key=lambda packet: packet[0]))
    elsewhere = folder / "elsewhere.json"
    elsewhere.write_text(path.read_text().replace('"floor": "ground"', json.dumps(position)[1:-1] + ', "room": "x"'))
    nowhere = folder / "nowhere.json"
    nowhere.write_text(json.dumps({"version": 1, "name": "hall", "strangers": "list"}))
    return [output("listen", path, "--print", "--json", "--replay", tape),
            output("listen", elsewhere, "--print", "--json", "--replay", tape),
            output("listen", nowhere, "--print", "--json", "--adapter", "virtual", "--duration-s", "1")]


def zoned(folder):
    """Who comes, stays and is silent, with texts and attachments; a moment of deafness is not to be had here."""
    path = folder / "zones.json"
    known = [{"name": "desk", "ibeacon": {"uuid": UUID, "major": 1, "minor": 1}, "attachments": {"a": "b"}}]
    zone = {"name": "desk", "beacons": ["desk"], "dwellS": [5], "silentAfterS": 3, "onEnter": {"title": "${a}"},
            "onExit": {"body": ""}}
    path.write_text(json.dumps({"version": 1, "name": "hall", "known": known, "zones": [zone]}))
    packets = [(at * 100_000, report(address(1), ibeacon(1, 1), -50)) for at in range(100)]
    packets += [(60_000_000, report(address(2), ibeacon(1, 2), -70))]
    return [output("zones", path, "--json", "--replay", recording(folder / "zones.btsnoop", packets))]


def surveyed(folder):
    """A survey of two days at nine places, and a run past these places."""
    survey, test = positioning.generate(7)
    for day in ("may", "june"):
        positioning.write(folder / f"{day}.jsonl", survey)
        text = (folder / f"{day}.jsonl").read_text().replace('"place"', f'"session":"{day}","place"')
        (folder / f"{day}.jsonl").write_text(text)
    positioning.write(folder / "test.jsonl", test)
    return [folder / "may.jsonl", folder / "june.jsonl"]


def fitted(folder):
    one = folder / "one.jsonl"
    one.write_text('{"survey":1}\n{"stay":1,"place":"A"}\n{"t":0,"rssi":{"a":[-60]}}\n')
    fit = ("map", "fit", "--output", folder / "map.json", "--json")
    return [output(*fit, "--algorithm", "auto", *surveyed(folder)), output(*fit, one, "--algorithm", "nn"),
            output(*fit, folder / "may.jsonl", "--algorithm", "hmm")]


def map_shown(folder):
    texts = []
    for survey in surveyed(folder)[:1], [folder / "one.jsonl"]:
        (folder / "one.jsonl").write_text('{"survey":1}\n{"stay":1,"place":"A"}\n{"t":0,"rssi":{"a":[-60]}}\n')
        output("map", "fit", *survey, "--output", folder / "map.json", "--algorithm", "gauss")
        texts.append(output("map", "show", folder / "map.json", "--json"))
    (folder / "hall.json").write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [90, 0], [90, 90], [0, 90]],
        "target": {"detectWithinS": 5, "probability": 0.9}, "beacons": [{"name": "a", "position": [1, 1]}]}))
    output("map", "fit", "--from-site", folder / "hall.json", "--output", folder / "map.json")
    return [*texts, output("map", "show", folder / "map.json", "--json")]


def updated(folder):
    may, june = surveyed(folder)
    output("map", "fit", may, "--output", folder / "map.json", "--algorithm", "gauss")
    june.write_text(june.read_text().replace('"P0"', '"Z"').replace("[0.0, 0.0]", "[0.0, -3.0]"))
    return [output("map", "update", folder / "map.json", "--survey", june, "--json")]


def evaluated(folder):
    one = folder / "one.jsonl"
    one.write_text('{"survey":1}\n' + "".join(
        f'{{"stay":{n},"place":"{place}"}}\n{{"t":0,"rssi":{{"a":[{level}]}}}}\n'
        for n, (place, level) in enumerate([("A", -60), ("B", -80), ("A", -61), ("B", -79)])))
    return [output("map", "evaluate", *surveyed(folder), "--all-algorithms", "--json"),
            output("map", "evaluate", one, "--leave", "fingerprint", "--algorithm", "nn", "--json")]


def located(folder):
    output("map", "fit", *surveyed(folder), "--output", folder / "map.json", "--algorithm", "gauss")
    one = folder / "one.jsonl"
    one.write_text('{"survey":1}\n{"stay":1,"place":"A"}\n{"t":0,"rssi":{"beacon-1":[-60]}}\n{"t":1,"rssi":{}}\n')
    output("map", "fit", one, "--output", folder / "one.json", "--algorithm", "nn")
    (folder / "truth.csv").write_text("time,x,y\n0,0,0\n3,6,0\n")
    run = ("--from", folder / "test.jsonl", "--json", "--truth", folder / "truth.csv", "--scores")
    return [output("locate", folder / "map.json", *run),
            output("locate", folder / "map.json", *run, "--algorithm", "nn"),
            output("locate", folder / "one.json", *run), output("locate", folder / "one.json", "--from", one, "--json"),
            walked(folder)]


def walked(folder):
    """A walk through a hall with a room, located by all algorithms."""
    beacons = [{"name": f"b{x}-{y}", "position": [x, y]} for x in range(2, 40, 5) for y in (1, 9)]
    (folder / "hall.json").write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [40, 0], [40, 10], [0, 10]], "beacons": beacons,
        "paths": [{"name": "east", "points": [[2, 5], [38, 5]], "speedMps": 1}],
        "rooms": [{"name": "ships", "outline": [[0, 0], [20, 0], [20, 10], [0, 10]]}],
        "target": {"detectWithinS": 5, "probability": 0.9}}))
    output("map", "fit", "--from-site", folder / "hall.json", "--output", folder / "hall-map.json")
    output("map", "simulate", folder / "hall.json", "--path", "east", "--output", folder / "walk.jsonl")
    return output("locate", folder / "hall-map.json", "--from", folder / "walk.jsonl", "--json", "--all-algorithms")


def recorded(folder):
    record = ("map", "record", folder / "survey.jsonl", "--json", "--seconds", "2")
    (folder / "silence.jsonl").write_text('{"t":0,"rssi":{}}\n{"t":1,"rssi":{}}\n')
    return [output(*record, "--place", "A", "--position", "1,1", "--adapter", "virtual"),
            output(*record, "--place", "A", "--from", folder / "silence.jsonl"),
            output(*record, "--place", "B", "--position", "9,1", "--adapter", "virtual")]


def survey_checked(folder):
    (folder / "bad.jsonl").write_text('{"survey":1}\n{"stay":1,"place":"A"}\n{"t":0,"rssi":{"a":[-60]}}\nx\n')
    return [output("map", "check", folder / "bad.jsonl", "--json")]


def audited(folder):
    box, other = folder / "box.json", folder / "other.json"
    box.write_text(json.dumps({"version": 1, "name": "box", "advertisements": [
        {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": 1, "measuredPowerDbm": -59, "intervalMs": 100},
        {"type": "eddystone-tlm", "intervalMs": 1000}]}))
    other.write_text(json.dumps({"version": 1, "name": "other", "address": "C0:00:00:00:00:09", "advertisements": [
        {"type": "eddystone-uid", "namespace": "00" * 10, "instance": "00" * 6, "intervalMs": 1000,
         "measuredPowerDbm": -18}]}))
    secret = folder / "secret.json"
    secret.write_text(json.dumps({"version": 1, "name": "secret", "eidEpoch": "2026-03-01T12:00:00Z",
                                  "advertisements": [{
                                      "type": "eddystone-eid", "identityKeyFile": "missing", "rotationExponent": 4,
                                      "intervalMs": 500, "measuredPower1mDbm": -59}]}))
    packets = [(at * 103_000, report(address(1), ibeacon(1, 1), -60)) for at in range(99)]
    packets += [(at * 1_000_000 + 7, report(address(1), tlm(millivolts), -60))
                for at, millivolts in enumerate((0, 3000, 0))]
    packets += [(9_000_000, report(address(2), ibeacon(1, 2), 127)),
                (9_000_001, report("C0:00:00:00:00:09", b"\2\1\6", -60))]
    unknown = bytes.fromhex("0201060303aafe1116aafe20000000800000000001") + bytes([0, 0, 0, 9])
    packets += [(9_500_000, report(address(1), unknown, -60))]
    packets += [(9_600_000, report(address(3), b"\2\1\6\5\xff", -60))]
    path = recording(folder / "audit.btsnoop", sorted(packets, key=lambda packet: packet[0]))
    options = ["--replay", path, "--json"]
    return [output("audit", box, other, secret, *options),
            output("audit", box, "--replay", recording(folder / "silence.btsnoop", []), "--json"),
            output("audit", box, "--adapter", "virtual", "--duration-s", "1.5", "--json")]


def crowded(folder):
    """One after the other; with a scanner; all at the same time; too few turns for a second one; a calibrated power."""
    crowd = ("crowd", "--adapter", "virtual", "--json")
    calibrated = folder / "calibrated.json"
    calibrated.write_text(json.dumps({
        "version": 1, "name": "box", "calibration": {"0": -59, "20": -49, "-40": -99}, "advertisements": [
            {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": minor, "intervalMs": 100} for minor in (1, 2, 3)]}))
    return [output(*crowd, "--identities", "2", "--duration-s", "10.4", "--like", "intel"),
            output(*crowd, "--identities", "3", "--duration-s", "1", "--scanner", "android-low-power"),
            output(*crowd, "--identities", "2", "--duration-s", "0.3", "--like", "core-4"),
            output(*crowd, calibrated, "--duration-s", "1")]


def qualified(folder):
    known = folder / "near.json"
    known.write_text(json.dumps({"version": 1, "name": "near", "advertisements": [{
        "type": "ibeacon", "uuid": UUID, "major": 1, "minor": 1, "measuredPowerDbm": -59, "intervalMs": 100}]}))
    near = ["--receiver", "virtual", "--hears", "near", "--known", known]
    return [output("qualify", *options, "--duration-s", "1", "--json") for options in (["--sender", "virtual"], near)]


def calibrated(folder):
    packets = [(at * 100_000, report(address(1), ibeacon(1, 1), -60 - at % 5)) for at in range(700)]
    path = recording(folder / "calibrate.btsnoop", packets)
    options = ["--beacon", f"ibeacon:{UUID}-1-1", "--replay", path, "--json"]
    return [output("calibrate", *options), output("calibrate", *options, "--turn"),
            output("calibrate", *options, "--channels"),
            output("calibrate", *options, "--distance-m", "1", "--distance-m", "2", "--seconds", "30")]


def found(folder):
    packets = [(at * 100_000, report(address(1), ibeacon(1, 1), -70)) for at in range(60)]
    path = recording(folder / "find.btsnoop", [*packets, (20_000_000, report(address(1), ibeacon(1, 1), 127))])
    survey = folder / "survey.jsonl"
    survey.write_text("".join(
        f'{{"stay":{n},"place":"{place}","position":[{n},0]}}\n{{"t":0,"rssi":{{"ibeacon:{UUID}-1-1":[{level}]}}}}\n'
        for n, (place, level) in enumerate([("A", -70), ("B", -50)])))
    output("map", "fit", survey, "--algorithm", "nn", "--output", folder / "map.json")
    nameless = recording(folder / "list.btsnoop", [(0, report(address(1), ibeacon(1, 1), 127))])
    return [output("find", "--replay", nameless, "--json"),
            output("find", f"ibeacon:{UUID}-1-1", "--replay", path, "--json"),
            output("find", f"ibeacon:{UUID}-1-1", "--replay", path, "--map", folder / "map.json", "--json"),
            output("find", f"ibeacon:{UUID}-1-2", "--adapter", "virtual", "--turn", "--json")]


def status_of_a_running_beacon(folder):
    """Of a beacon that has refused a newer profile, of one with a pattern, of a listener, and of a collector."""
    profile = folder / "lobby.json"
    shutil.copy(PROFILE, profile)
    pattern = folder / "door-pattern.json"
    shutil.copy(PATTERN, pattern)
    listener = folder / "desk.json"
    listener.write_text('{"version": 1, "name": "desk", "adapter": "virtual", "strangers": "list"}')
    # Without its process, the collector counts as off.
    (folder / "museum.collector.json").write_text(
        '{"name": "museum", "state": "collecting", "receivers": 2, "silentReceivers": ["east"], "present": 3}')
    where = ["--state-dir", folder, "--runtime-dir", folder]
    processes = [
        subprocess.Popen([pharos.PROGRAM, *command, *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in (
            ["run", profile, "--adapter", "virtual"], ["run", pattern, "--adapter", "virtual"], ["listen", listener])
    ]
    try:
        for _ in range(200):
            done = pharos.run("status", "--json", "--runtime-dir", folder)
            instances = {each["name"]: each for each in json.loads(done.out)["instances"]}
            states = [instances[name]["state"] for name in ("lobby-north", "door-pattern") if name in instances]
            # The listener receives nothing, so it is deaf after 5 s.
            is_up = any(f'"{state}"' in done.out for state in ("listening", "deaf"))
            if '"rejectedFile":{' in done.out and is_up and states == ["on-air"] * 2:
                assert instances["door-pattern"]["advertisements"][0]["patternPart"] in (1, 2)
                return [done.out]
            if states[:1] == ["on-air"] and "lobby-north" in instances:
                profile.write_text("{}")
                processes[0].send_signal(signal.SIGHUP)
    finally:
        for process in processes:
            process.terminate()
            process.wait(10)
    raise AssertionError("the beacon and the listener did not come up")


def checked(folder):
    broken = folder / "broken.json"
    broken.write_text('{"version": 1, "name": "a b"}')
    return [output("profile", "check", "--json", PROFILE, broken)]


def fleet_file(folder, sites=("n",), **more):
    """A fleet with all kinds of frames."""
    fleet = {
        "version": 1, "name": "f",
        "identities": {"minor": {"within": "fleet"}, "instance": {"from": "counter"}},
        "template": {"adapter": "hci0", "radioPowerDbm": 0, "advertisements": [
            {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": "${minor}",
             "intervalMs": 500, "measuredPowerDbm": -59, "flags": None},
            {"type": "altbeacon", "companyId": "0x0118", "id": "8b0ca750095477cb3e770011223344550000${bay}",
             "intervalMs": 500, "measuredPowerDbm": -59},
            {"type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "${instance}",
             "intervalMs": 500, "measuredPowerDbm": -18},
            {"type": "eddystone-url", "url": "https://e.org", "intervalMs": "${ms}", "measuredPowerDbm": -18},
            {"type": "eddystone-eid", "identityKeyFile": "keys/${name}.key", "rotationExponent": 4,
             "intervalMs": 5000, "measuredPowerDbm": -18}]},
        "defaults": {"controller": "extended", "variables": {"ms": 5000}},
        "groups": [{"name": name} for name in sites],
        "beacons": [{"name": f"b{n}", "group": sites[n % len(sites)], "host": f"pi-{n}", "serial": f"s{n}",
                     "variables": {"bay": f"{n:04x}"},
                     "position": [1, 2, 3] if n % 2 else {"latitude": 1, "longitude": 2}} for n in range(6)]}
    (folder / "f.json").write_text(json.dumps(fleet | more))
    return fleet


def generated(folder, *options):
    return output("fleet", "generate", folder / "f.json", "--output", folder / "out", "--json", *options)


def edited_fleet(folder):
    """What is printed of a fleet before and after an edit that renames, moves and changes; generated the first time."""
    fleet = fleet_file(folder)
    first = generated(folder)
    renamed = {**fleet["beacons"][0], "name": "c", "was": "b0", "serial": "t0"}
    changed = {**fleet["beacons"][1], "variables": {"bay": "0001", "ms": 6000}}
    fleet_file(folder, beacons=[renamed, changed, *fleet["beacons"][2:]])
    return first


def fleet_checked(folder):
    fleet = fleet_file(folder)
    good = output("fleet", "check", folder / "f.json", "--json")
    fleet_file(folder, beacons=fleet["beacons"] + [{"name": "x"}])
    return [good, output("fleet", "check", folder / "f.json", "--json")]


def fleet_generated(folder):
    outputs = [edited_fleet(folder), generated(folder)]
    # A new name without "was", on the same machine, gives the beacon another identity.
    fleet = json.loads((folder / "f.json").read_text())
    first = {key: value for key, value in fleet["beacons"][0].items() if key != "was"}
    fleet_file(folder, beacons=[{**first, "name": "d"}, *fleet["beacons"][1:]])
    return [*outputs, generated(folder, "--renumber")]


def fleet_differs(folder):
    edited_fleet(folder)
    return [output("fleet", "diff", folder / "f.json", "--against", folder / "out", "--json")]


def fleet_listed(folder):
    edited_fleet(folder)
    return [output("fleet", "list", folder / "out", "--json")]


def fleet_status(folder):
    edited_fleet(folder)
    (folder / "from").mkdir()
    (folder / "from" / "s.json").write_text('{"name": "stranger", "state": "off"}')
    return [output("fleet", "status", folder / "out", "--from", folder / "from", "--json")]


def fleet_keys(folder):
    edited_fleet(folder)
    return [output("fleet", "keys", "generate", folder / "out", "--json"),
            output("fleet", "keys", "generate", folder / "out", "--replace", "b1", "--json")]


def fleet_rotated(folder):
    edited_fleet(folder)
    output("fleet", "keys", "generate", folder / "out", "--json")
    return [output("fleet", "keys", "rotate", folder / "out", "--all", "--json")]


def fleet_resolved(folder):
    fleet_keys(folder)
    # Any id is none of these; its beacons have the keys that the source names.
    return [output("fleet", "keys", "resolve", "0011223344556677", folder / "out", "--json")]


MIX = "android-low-power:6,continuous:1"
DETECT = ("--detect-within-s", "10", "--probability", "0.95", "--scanner", "android-low-power")
MUSEUM = ("--from-fleet", ROOT / "profiles/fleets/museum.json")


def collisions(folder):
    fleet_file(folder, sites=("n", "s"))
    return [plan("collisions", "--beacons", "250", "--interval-ms", "100", "--capture-db", "10"),
            plan("collisions", "--beacons", "9", "--interval-ms", "100", "--phy", "1M"),
            plan("collisions", *MUSEUM), plan("collisions", "--from-fleet", folder / "f.json")]


def latency(_):
    after = ("--undiscovered-after-s", "10")
    return [plan("latency", "--beacons", "100", "--interval-ms", "760", "--scanner", "android-low-power", *after),
            plan("latency", "--beacons", "100000", "--interval-ms", "20", "--scanner", "continuous", *after),
            plan("latency", *MUSEUM, "--scanner", "continuous", *after),
            plan("latency", *MUSEUM, "--scanner", "continuous", "--phy", "1M", *after),
            plan("latency", "--beacons", "1", "--interval-ms", "300", "--scanners", MIX, *after)]


def pattern(_):
    """One question whose answer is a pattern, and one whose answer is a constant interval."""
    texts = [plan("pattern", "--events-per-s", "1.9", "--scan-window-ms", "200", "--scan-interval-ms", "500"),
             plan("pattern", "--events-per-s", "2", "--scanners", "android-balanced:1,continuous:1",
                  "--goal", "within:0.3")]
    assert [json.loads(text)["pattern"] is None for text in texts] == [False, True]
    return texts + [plan("pattern", "--events-per-s", "2", "--scanner", "continuous", "--phy", "1M")]


def density(_):
    return [plan("density", "--interval-ms", "10240", *DETECT), plan("density", *MUSEUM, *DETECT),
            plan("density", *MUSEUM, *DETECT, "--phy", "1M", "--scanner-phy", "1M"),
            plan("density", "--interval-ms", "500", *DETECT[:4], "--scanners", MIX)]


def energy(_):
    chip = ("--chip", "nrf52832", "--battery", "cr2477")
    return [plan("energy", "--interval-ms", "20", "--beacons", "1000000", *chip), plan("energy", *MUSEUM, *chip)]


def walk(_):
    past = ("--speed-mps", "1.4", "--distance-m", "3")
    return [plan("walk", "--interval-ms", "760", *past), plan("walk", *MUSEUM, *past),
            plan("walk", *MUSEUM, *past, "--phy", "1M"),
            plan("walk", "--interval-ms", "760", *past, "--scanners", MIX)]


def site(folder):
    floor = {"version": 1, "name": "hall", "outline": [[0, 0], [40, 0], [40, 10], [0, 10]],
             "target": {"detectWithinS": 5, "probability": 0.9}, "beacons": [{"name": "a", "position": [1, 1]}],
             "paths": [{"name": "tour", "points": [[1, 1], [39, 9]]}],
             "defaults": {"intervalMs": 1000, "radioPowerDbm": -12}}
    (folder / "hall.json").write_text(json.dumps(floor))
    # Only the second target can be reached, and only its proposal is checked.
    return [plan("site", folder / "hall.json", "--places", "60", "--propose"),
            plan("site", folder / "hall.json", "--places", "60", "--propose", "--scanner", "continuous"),
            plan("site", folder / "hall.json", "--places", "60", "--scanners", MIX),
            plan("site", folder / "hall.json", "--places", "60", "--target-beacons", "3"),
            plan("site", ROOT / "profiles/sites/museum-from-fleet.json", "--places", "60")]


def simulated(words, folder):
    words = ("simulate", words[0], "--seed", "7", "--precision", "0.2", *words[1:])
    few, one = ("--beacons", "20", "--interval-ms", "100"), ("--beacons", "1", "--interval-ms", "500")
    (folder / "part").write_text(output("plan", *words, *few, "--shard", "1/1"))
    return [plan(*words, *few), plan(*words, *one), plan(*words, *one, "--phy", "1M"),
            plan("simulate", "merge", folder / "part"), plan(*words, *MUSEUM),
            *([plan(*words, *MUSEUM, "--phy", "1M")] if words[1] == "latency" else [])]


def collected(folder):
    """Two receivers, of which one dies; a beacon that changes rooms and leaves: the events, and the final places."""
    def parts(sender, seconds, place):
        lines = collecting.rounds(sender, seconds, place)
        for line in lines[10:20]:
            for beacon in line["beacons"]:
                beacon |= {"rssiDbm": None, "telemetry": {"batteryMv": 2900, "temperatureC": 21.5}}
        return lines + [{"event": "beacons", "at": collecting.at(0), "listener": sender, "beacons": [
            {"beacon": "nobody", "identity": None, "heard": 1, "rssiDbm": None}]}]

    def text(path, *words):
        lines = sorted((line for name in collecting.NAMES
                        for line in parts(name, range(240 if name == "west" else 200), collecting.walk)),
                       key=lambda line: line["at"])
        source = collecting.written(folder, "lines.jsonl", lines)
        state = folder / f"{path.stem}.state"
        told = output("collect", path, "--from", source, "--state-file", state, "--json", *words)
        return told, output("where", "--state-file", state, "--json")

    drawn = collecting.museum(folder)
    plain = folder / "plain.json"
    plain.write_text(json.dumps({"version": 1, "name": "plain", "receivers": [
        {"name": "west", "room": "hall"}, {"name": "east"}, {"name": "north"}]}))
    told = [text(drawn, "--every-s", "10"), text(plain)]
    # The other receiver sends nothing, so that the room is not certain.
    alone = collecting.written(folder, "alone.jsonl", collecting.rounds("west", range(5), lambda _: (4, 2)))
    state = folder / "alone.state"
    told.append((output("collect", drawn, "--from", alone, "--state-file", state, "--json"),
                 output("where", "--state-file", state, "--json")))
    return [each[0] for each in told], [each[1] for each in told]


def inventory(folder):
    """An inventory of which one item was found, and another one of which a foreign item was heard; counted twice."""
    def items(*numbers):
        return [{"id": f"item-{n}", "name": f"Thing {n}", "beacon": f"ibeacon:{UUID}-1-{n}"} for n in numbers]

    path, other = folder / "tools.json", folder / "other.json"
    whole = {"version": 1, "name": "tools", "title": "Tools", "site": "hall.json", "items": items(1, 2)}
    whole["items"][0] |= {"place": "shelf", "position": [1, 2], "note": "new", "photo": "drill.jpg"}
    whole["beacons"] = [{"identity": f"ibeacon:{UUID}-1-1", "intervalMs": 200}]
    shutil.copy(ROOT / "profiles/sites/museum-ground-floor.json", folder / "hall.json")
    path.write_text(json.dumps(whole))
    other.write_text(json.dumps({"version": 1, "name": "other", "items": items(7, 8)}))
    packets = [(at * 200_000, report(address(n), ibeacon(1, n), -50)) for at in range(60) for n in (1, 7)]
    packets += [(at * 200_000 + 100_000, report(address(8), ibeacon(1, 8), 127)) for at in range(5)]
    packets += [(2_100_000, report(address(1), tlm(2900), -50))]
    return path, other, recording(folder / "walk.btsnoop", sorted(packets, key=lambda packet: packet[0]))


def counted(folder):
    path, other, walk = inventory(folder)
    first = output("inventory", "start", path, "--replay", walk, "--foreign", other, "--json")
    empty = folder / "plain.json"
    empty.write_text(path.read_text().replace('"place": "shelf", ', "").replace('"tools"', '"plain"'))
    return path, [first, output("inventory", "start", empty, "--replay", walk, "--json")]


def listed(folder):
    path, other, _ = inventory(folder)
    texts = [output("inventory", "list", path, "--json"), output("inventory", "list", other, "--json")]
    texts.append(output("inventory", "list", folder, "--json"))
    path, _ = counted(folder)
    return texts + [output("inventory", "list", where, "--json") for where in (path, folder)]


def shown(folder):
    path, other, _ = inventory(folder)
    texts = [output("inventory", "show", other, *words, "--json") for words in ([], ["item-7"])]
    path, _ = counted(folder)
    return texts + [output("inventory", "show", path, *words, "--json") for words in ([], ["item-1"], ["item-2"])]


def made(folder):
    return [output("inventory", "new", folder / "n.json", "--title", "N", "--site", "hall.json", "--json")]


def added(folder):
    path, _, _ = inventory(folder)
    words = ["--place", "shelf", "--position", "1,2"]
    return [output("inventory", "add", path, f"new-{n}", "--beacon", f"ibeacon:{UUID}-1-{20 + n}", *more, "--json")
            for n, more in enumerate(([], words))]


def inventory_checked(folder):
    path, other, _ = inventory(folder)
    wrong = folder / "wrong.json"
    wrong.write_text(path.read_text().replace("item-2", "item-1"))
    return [output("inventory", "check", each, "--json") for each in (path, other, wrong)]


def reported(folder):
    path, _ = counted(folder)
    texts = [output("inventory", "report", path, "--json")]
    log = next(each for each in (folder / "tools.counts").glob("*/2*.jsonl"))
    log.write_text("\n".join(log.read_text().splitlines()[:-1] + ["garbage", ""]))
    texts += [output("inventory", "report", path, "--json"), output("inventory", "finish", path, "--json")]
    output("inventory", "add", path, "item-3", "--beacon", f"ibeacon:{UUID}-1-9")
    output("inventory", "remove", path, "item-2")
    counted_again = output("inventory", "start", path, "--replay", folder / "walk.btsnoop", "--json")
    assert counted_again
    return texts + [output("inventory", "report", path, "--json")]


class Output(NamedTuple):
    """A section of a page, the commands whose keys it lists, and outputs that have all of them."""

    page: str
    section: str
    commands: str
    made: object


def kept(folder):
    """What a second of the service has left."""
    path = folder / "hall.json"
    known = [{"name": "desk", "ibeacon": {"uuid": UUID, "major": 1, "minor": 2}, "attachments": {"a": "b"}}]
    zone = {"name": "desk", "beacons": ["desk"], "aboveDbm": -100, "onEnter": {"title": "x", "body": "y"}}
    path.write_text(json.dumps({"version": 1, "name": "hall", "known": known, "zones": [zone]}))
    pharos.checked("listen", path, "--adapter", "virtual", "--duration-s", "2", "--state-dir", folder,
                   "--runtime-dir", folder)
    museum = collecting.museum(folder, history={"file": str(folder / "museum.db")})
    for name in collecting.NAMES:
        lines = collecting.rounds(name, range(200), collecting.walk)
        lines[0]["beacons"][0]["rssiDbm"] = None
        collecting.written(folder, f"{name}.jsonl", lines)
    output("collect", museum, *(f"--from={folder}/{name}.jsonl" for name in collecting.NAMES), "--state-file",
           folder / "state.json")
    (folder / "alone").mkdir()
    alone = collecting.museum(folder / "alone", history={"file": str(folder / "alone/museum.db")})
    lines = collecting.written(folder, "alone.jsonl", collecting.rounds("west", range(5), lambda _: (4, 2)))
    output("collect", alone, "--from", lines, "--state-file", folder / "alone/state.json")
    return [output("history", "desk", "--json", "--history", folder / "hall.db"),
            output("history", "key-ana", "--json", "--history", alone),
            output("history", "key-ana", "--json", "--totals", "--history", museum),
            output("history", "key-ana", "--json", "--heard", "--history", museum)]


def checked_by(command, folder):
    """What `check` says of a file."""
    path = folder / "checked.json"
    zone = {"name": "near", "beacons": ["key"], "withinM": 1}
    known = [{"name": "key", "ibeacon": {"uuid": UUID, "major": 1, "minor": 2}}]
    listener = {"version": 1, "name": "hall", "known": known, "zones": [zone]}
    collector = {"version": 1, "name": "museum", "receivers": [{"name": "hall", "room": "hall"}]}
    path.write_text(json.dumps(collector if command == "collect" else listener))
    return [output(command, "check", path, "--json")]


def site_checked(folder):
    """A site with a warning, and one whose fleet does not exist."""
    floor = {"version": 1, "name": "hall", "outline": [[0, 0], [9, 0], [9, 9]], "beacons": [{"position": [20, 20]}]}
    for name, changes in (("hall", {}), ("empty", {"beacons": {"fleet": "none.json"}})):
        (folder / f"{name}.json").write_text(json.dumps(floor | changes))
    return [output("site", "check", folder / "hall.json", folder / "empty.json", "--json")]


def rehearsed(folder):
    site = json.loads((ROOT / "profiles/sites/museum-from-fleet.json").read_text())
    site["beacons"]["fleet"] = str(ROOT / "profiles/fleets/museum.json")
    site["rooms"] = [{"name": "hall", "outline": [[0, 0], [11, 0], [11, 12], [0, 12]]}]
    site["receivers"] = [{"name": "hall", "position": [6, 6]}]
    del site["$schema"]
    (folder / "site.json").write_text(json.dumps(site))
    short = ("--hours", "0.02", "--phones", "5", "--json")
    return [output("rehearse", folder / "site.json", *short, "--random-faults", "1", "--play-s", "10"),
            output("rehearse", folder / "site.json", *short),
            output("rehearse", ROOT / "profiles/fleets/museum.json", *short)]


OUTPUTS = [
    Output("decode", "", "decode", decoded),
    Output("encode", "", "encode ibeacon, encode altbeacon, encode uid, encode url, encode tlm, encode eid, "
           "encode bthome, encode raw",
           encoded),
    Output("irk", "", "irk", paired),
    Output("adapters", "", "adapters", lambda _: [output("adapters", "--json", "--adapter", "virtual")]),
    Output("advertise", "", "advertise profile, advertise ibeacon, advertise altbeacon, advertise uid, advertise url, "
           "advertise tlm, advertise eid, advertise bthome, advertise raw, ibeacon", advertised),
    Output("scan", "", "scan", heard),
    Output("listen", "", "listen run, listen check", lambda folder: listened(folder) + checked_by("listen", folder)),
    Output("zones", "", "zones run, zones check", lambda folder: zoned(folder) + checked_by("zones", folder)),
    Output("map", "record", "map record", recorded),
    Output("map", "check", "map check", survey_checked),
    Output("map", "fit", "map fit", fitted),
    Output("map", "show", "map show", map_shown),
    Output("map", "evaluate", "map evaluate", evaluated),
    Output("map", "update", "map update", updated),
    Output("locate", "", "locate", located),
    Output("history", "", "history", kept),
    Output("collect", "", "collect run, collect check",
           lambda folder: collected(folder)[0] + checked_by("collect", folder)),
    Output("where", "", "where", lambda folder: collected(folder)[1]),
    Output("audit", "", "audit", audited),
    Output("qualify", "", "qualify", qualified),
    Output("crowd", "", "crowd", crowded),
    Output("calibrate", "", "calibrate", calibrated),
    Output("find", "", "find", found),
    Output("inventory", "new", "inventory new", made),
    Output("inventory", "list", "inventory list", listed),
    Output("inventory", "show", "inventory show", shown),
    Output("inventory", "add", "inventory add", added),
    Output("inventory", "check", "inventory check", inventory_checked),
    Output("inventory", "start", "inventory start", lambda folder: counted(folder)[1]),
    Output("inventory", "finish, pharos inventory report", "inventory finish, inventory report", reported),
    Output("rehearse", "", "rehearse", rehearsed),
    Output("status", "", "status", status_of_a_running_beacon),
    Output("doctor", "", "doctor", lambda _: [output("doctor", "--json"), output("doctor", "--json", "-a", "virtual")]),
    Output("profile", "", "profile check", checked),
    Output("site", "", "site check", site_checked),
    Output("fleet", "check", "fleet check", fleet_checked),
    Output("fleet", "list", "fleet list", fleet_listed),
    Output("fleet", "generate", "fleet generate", fleet_generated),
    Output("fleet", "diff", "fleet diff", fleet_differs),
    Output("fleet", "status", "fleet status", fleet_status),
    Output("fleet", "keys generate, pharos fleet keys agree", "fleet keys generate, fleet keys agree", fleet_keys),
    Output("fleet", "keys rotate", "fleet keys rotate", fleet_rotated),
    Output("fleet", "keys resolve", "fleet keys resolve", fleet_resolved),
    Output("plan", "interval", "plan interval", lambda _: [
        plan("interval", *MUSEUM, *DETECT), plan("interval", "--beacons", "50", "--max-throughput"),
        plan("interval", "--beacons", "50", *DETECT[:4], "--scanners", MIX),
        plan("interval", "--beacons", "50", *DETECT[:4], "--scanner", "continuous", "--phy", "1M")]),
    Output("plan", "collisions", "plan collisions", collisions),
    Output("plan", "latency", "plan latency", latency),
    Output("plan", "pattern", "plan pattern", pattern),
    Output("plan", "density", "plan density", density),
    Output("plan", "walk", "plan walk", walk),
    Output("plan", "energy", "plan energy", energy),
    Output("plan", "range", "plan range", lambda _: [
        plan("range", "--spacing-m", "10", "--range-m", "100"),
        plan("range", "--distance-m", "4", "--level-dbm", "-50", "--height-m", "2", "--body-db", "6", "--interferer-m",
             "20", "--radio-power-dbm", "10")]),
    Output("plan", "site", "plan site", site),
    Output("plan", "simulate collisions, pharos plan simulate merge of its parts",
           "plan simulate collisions, plan simulate merge", lambda folder: simulated(("collisions",), folder)),
    Output("plan", "simulate latency, pharos plan simulate merge of its parts",
           "plan simulate latency, plan simulate merge",
           lambda folder: simulated(("latency", "--undiscovered-after-s", "1"), folder)),
    Output("plan", "thesis", "plan thesis", lambda _: [
        plan("thesis", "--beacons", "250"), plan("thesis", "--beacons", "1"), plan("thesis", *MUSEUM)]),
    Output("plan", "scanners", "plan scanners", lambda _: [
        plan("scanners", "--scanner-file", ROOT / "profiles/scanners/our-visitors.json")]),
]


# ---- the checks
def keys_of(texts):
    """Each key by its path, and whether it was null somewhere."""
    found = {}

    def visit(value, path):
        if isinstance(value, dict):
            for key, each in value.items():
                inner = f"{path}.{key}" if path else key
                found[inner] = found.get(inner, False) or each is None
                visit(each, inner)
        elif isinstance(value, list):
            for each in value:
                visit(each, path + "[]")

    for text in texts:
        for line in text.splitlines():
            visit(json.loads(line), "")
    return found


def test_each_command_with_a_json_output_is_held_against_its_page():
    found = set()

    def visit(command):
        names = {name["name"] for each in command.get("arguments", []) for name in each.get("names", [])}
        if names & {"json", "format"}:
            found.add(" ".join((*command["superCommands"][1:], command["commandName"])))
        for child in command.get("subcommands", []):
            visit(child)

    visit(pharos.commands())
    # Its formats are tables.
    found.discard("map export")
    assert found == {command for each in OUTPUTS for command in each.commands.split(", ")}


@pytest.mark.parametrize("case", OUTPUTS, ids=lambda case: f"{case.page} {case.section}".split(",")[0].strip())
def test_the_keys_of_json_outputs_are_those_of_the_page(case, tmp_path):
    if case.page == "plan":
        documented = json.loads(output("plan", "json-keys"))
    else:
        documented = WRITTEN[f"pharos-{case.page}"]["json"]
    if case.section:
        documented = documented[case.section]
    found = {key: is_null for key, is_null in keys_of(case.made(tmp_path)).items() if not key.startswith(DATA)}
    if case.page in ("encode", "scan"):
        # Their frames have the keys that the page of decode lists.
        found = {key: is_null for key, is_null in found.items()
                 if not key.startswith("frames[].") or key == "frames[].type"}
    if case.page == "locate":
        # The answers of the other algorithms have the keys of a line.
        found = {key: is_null for key, is_null in found.items() if not key.startswith("algorithms[].")
                 or key.removeprefix("algorithms[].") not in found}
    if case.page in ("zones", "history"):
        # The keys of attachments are those of the file.
        found.pop("attachments.a")
    if case.page == "advertise":
        # Those of a single frame stand in two places.
        found = {key: is_null for key, is_null in found.items()
                 if key == "events" or f"advertisements[].{key}" not in documented}
        found["advertisements[]"] = False
    if case.page == "map":
        # The keys of evaluations are in the section of map evaluate, those of settings in that of map fit.
        found = {key: is_null for key, is_null in found.items()
                 if "evaluation." not in key and not key.startswith("fit.")
                 and (case.section != "show" or not key.startswith("algorithm.") or key == "algorithm.name")}
    if (case.page, case.section) == ("plan", "collisions"):
        # Those of a site have the same keys.
        found = {key.removeprefix("sites[]."): is_null for key, is_null in found.items()} | {"sites[]": False}
        found.pop("sites")
    # A key that only holds others needs no words of its own.
    holders = {key for key in found if key not in documented and any(
        other.startswith((key + ".", key + "[")) for other in found.keys() | documented.keys())}
    assert found.keys() - documented.keys() - holders == set()
    absent = set()
    if case.page == "encode":
        # A payload that was just built breaks no rule.
        absent = {key for key in documented if key.startswith("problems[].")}
    if case.page in ("scan", "listen"):
        # The virtual controller listens at once, and nothing disturbs it.
        absent = {"state", "restarts"} - ({"state"} if case.page == "listen" else set())
    if (case.page, case.section) == ("fleet", "list"):
        # No beacon of the sample has them.
        pattern = "advertisements[].pattern"
        absent = {"title", "tags", "attachments", "advertisements[].phy", pattern}
        absent |= {f"{pattern}[].intervalMs", f"{pattern}[].forS"}
    if case.page == "status":
        # The virtual adapter of `run` has legacy advertising.
        absent = {"instances[].advertisements[].phy"}
    if case.section == "keys resolve":
        absent = {key for key in documented if key.startswith("beacons[].")}
    assert documented.keys() - found.keys() == absent
    silent = {key for key, is_null in found.items() if is_null and "null" not in documented.get(key, "")}
    assert silent - holders == set(), "the page does not say that these may be null"
