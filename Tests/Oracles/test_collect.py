"""`pharos collect` and `pharos where`: recordings of several receivers, dead ones, hostile lines, what is kept."""
import json
import math
import os
import pty
import random
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

import brokers
import pharos

ROOT = Path(__file__).resolve().parents[2]
BEGIN = 1_790_000_000
NAMES = ("west", "east")
PLACES = {"west": (1, 2), "east": (9, 2)}


def at(second):
    return datetime.fromtimestamp(BEGIN + second, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def museum(folder, **more):
    """A floor of two rooms with a wall between, and a receiver in each."""
    site = {"version": 1, "name": "ground", "outline": [[0, 0], [10, 0], [10, 4], [0, 4]],
            "walls": [{"from": [5, 0], "to": [5, 3], "attenuationDb": 8}],
            "beacons": [{"name": "b", "position": [1, 1]}],
            "pathLoss": {"model": "log-distance", "lossAt1mDb": 59, "exponent": 2.5, "shadowingDb": 4},
            "receiverSensitivityDbm": -95, "target": {"detectWithinS": 10, "probability": 0.9}}
    (folder / "ground.json").write_text(json.dumps(site))
    rooms = [{"name": "hall", "outline": [[0, 0], [5, 0], [5, 4], [0, 4]]},
             {"name": "shop", "outline": [[5, 0], [10, 0], [10, 4], [5, 4]]}]
    whole = {"version": 1, "name": "museum", "floors": [{"name": "ground", "site": "ground.json", "rooms": rooms}],
             "receivers": [{"name": name, "position": PLACES[name], "floor": "ground"} for name in NAMES],
             "beacons": [{"name": "key-ana", "identity": "address:C0:01:02:03:04:05", "measuredPowerAt1mDbm": -59}]}
    path = folder / "museum.json"
    path.write_text(json.dumps(whole | more))
    return path


def level(receiver, place):
    distance = max(0.1, math.dist(PLACES[receiver], place))
    wall = 8 if (PLACES[receiver][0] < 5) != (place[0] < 5) else 0
    return -59 - 25 * math.log10(distance) - wall


def rounds(receiver, seconds, place, seed=1, **more):
    """A line of `listen --print --json` each second; the place by the second, or None for nowhere."""
    chance = random.Random(f"{seed}{receiver}")
    lines = []
    for second in seconds:
        there, beacons = place(second), []
        if there is not None:
            mean = round(level(receiver, there) + chance.gauss(0, 2), 2)
            beacons = [{"identity": "address:C0:01:02:03:04:05", "beacon": "key-ana", "heard": 5,
                        "rssiDbm": {"last": -60, "mean": mean, "min": -70, "max": -50, "sd": 1}}]
        lines.append({"event": "beacons", "at": at(second + 0.5), "listener": receiver, "state": "listening",
                      "windowS": 1, "beacons": beacons, "strangers": {"addresses": 2, "reports": 9}} | more)
    return lines


def written(folder, name, lines):
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def collect(path, *words, code=0, **options):
    state = path.parent / "state.json"
    result = pharos.run("collect", path, "--state-file", state, *words, timeout=120, **options)
    assert result.code == code, (result.code, result.out, result.err)
    return result


def told(result):
    return [(each["event"], each.get("room")) for each in result.lines() if each.get("beacon")]


def where(folder, *words):
    return json.loads(pharos.checked("where", *words, "--state-file", folder / "state.json", "--json").out)


def walk(second):
    """From the hall into the shop, and away."""
    if second >= 120:
        return None
    return (2, 2) if second < 40 else (8, 2) if second >= 50 else (2 + (second - 40) * 0.6, 3.5)


def test_recordings_of_two_receivers_tell_the_rooms(tmp_path):
    path = museum(tmp_path)
    files = [f"--from={name}={written(tmp_path, f'{name}.jsonl', rounds(name, range(240), walk))}" for name in NAMES]
    result = collect(path, *files, "--json")
    events = told(result)
    assert events[0] == ("enter", None) or events[0] == ("enter", "hall")
    assert [room for kind, room in events if kind == "room"] == ["hall", "shop"]
    assert events[-1][0] == "exit"
    leaving = next(each for each in result.lines() if each["event"] == "exit")
    assert at(130) <= leaving["at"] <= at(160)
    assert where(tmp_path)["beacons"][0]["present"] == "OFF"
    # The same lines by a pipe are the same events.
    lines = sorted((line for name in NAMES for line in rounds(name, range(240), walk)),
                   key=lambda line: (line["at"], NAMES.index(line["listener"])))
    assert told(collect(path, "--json", stdin="".join(json.dumps(line) + "\n" for line in lines))) == events


def test_where_says_room_place_and_receivers(tmp_path):
    path = museum(tmp_path)
    files = [f"--from={written(tmp_path, f'{name}.jsonl', rounds(name, range(60), lambda _: (8, 2)))}"
             for name in NAMES]
    text = collect(path, *files).out
    assert "key-ana  ground, shop" in text
    answer = where(tmp_path, "key-ana")["beacons"][0]
    assert (answer["room"], answer["known"], answer["present"], answer["receiver"]) == ("shop", True, "ON", "east")
    assert math.dist((answer["position"]["x"], answer["position"]["y"]), (8, 2)) < 1.5
    assert where(tmp_path, "address:C0:01:02:03:04:05")["beacons"] == [answer]
    wrong = pharos.run("where", "key-anna", "--state-file", tmp_path / "state.json")
    assert wrong.code == 64 and "did you mean \"key-ana\"?" in wrong.err
    assert pharos.run("where", "--runtime-dir", tmp_path / "none").code == 66
    assert pharos.run("where", "--state-file", path).code == 65


def test_a_dead_receiver_makes_nobody_leave(tmp_path):
    path = museum(tmp_path)
    files = [f"--from={written(tmp_path, 'west.jsonl', rounds('west', range(1200), lambda _: None))}",
             f"--from={written(tmp_path, 'east.jsonl', rounds('east', range(60), lambda _: (9.5, 1)))}"]
    result = collect(path, *files, "--json")
    assert "exit" not in [kind for kind, _ in told(result)]
    assert {"event": "receiver-dead", "at": result.lines()[-1]["at"], "receiver": "east"} \
        or any(each["event"] == "receiver-dead" for each in result.lines())
    assert where(tmp_path)["beacons"][0]["known"] is False
    states = {each["name"]: each["state"] for each in where(tmp_path)["receivers"]}
    assert states == {"west": "alive", "east": "dead"}


def test_batches_of_a_broker_count_once(tmp_path):
    path = museum(tmp_path)
    lines = []
    for second in range(40):
        for name in NAMES:
            batch = {"v": 1, "boot": "8f", "seq": second + 1, "bootMs": 5_000_000 + second * 1000, "windowMs": 1000,
                     "b": [{"id": "key-ana", "n": 5, "rssi": round(level(name, (2, 2)), 1), "min": -70, "max": -50,
                            "agoMs": 40}]}
            line = {"tst": at(second + 1.02), "topic": f"pharos/museum/sightings/3/{name}", "payload": batch}
            lines += [line, line]
    lines.append({"tst": at(40), "topic": "pharos/museum/receivers/east/status", "payload": "offline"})
    result = collect(path, stdin="".join(json.dumps(line) + "\n" for line in lines))
    assert "80 lines came twice" in result.err
    answer = where(tmp_path)
    assert answer["beacons"][0]["room"] == "hall"
    assert {each["name"]: each["reports"] for each in answer["receivers"]} == {"west": 200, "east": 200}


def test_a_live_source_is_followed(tmp_path):
    path = museum(tmp_path)
    process = subprocess.Popen(
        [pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json", "--every-s", "1"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for _ in range(4):
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for name in NAMES:
            line = rounds(name, [0], lambda _: (2, 2))[0] | {"at": now}
            process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()
        time.sleep(1)
    assert where(tmp_path)["beacons"][0]["present"] == "ON"
    process.terminate()
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert {"enter", "where", "receiver-alive"} <= {json.loads(line)["event"] for line in out.splitlines()}


def test_who_is_asked_to_end_does_not_wait_for_a_large_site(tmp_path):
    floors = [{"name": f"f{number}", "site": "ground.json"} for number in range(4)]
    receivers = [{"name": f"r{number}", "floor": f"f{number // 40}", "room": f"room {number}",
                  "position": [number % 10 + 0.5, number // 10 % 4 + 0.5]} for number in range(160)]
    names = [f"b{number}" for number in range(1000)]
    beacons = [{"name": name, "identity": f"address:C0:01:02:03:{number >> 8:02X}:{number & 255:02X}"}
               for number, name in enumerate(names)]
    path = museum(tmp_path, floors=floors, receivers=receivers, beacons=beacons)

    def line(receiver, second, some):
        heard = [{"id": name, "n": 5, "rssi": -60, "min": -90, "max": -50, "agoMs": 40} for name in some]
        batch = {"v": 1, "boot": "8f", "seq": second + 1, "bootMs": 5_000_000 + second * 1000, "windowMs": 1000,
                 "b": heard}
        return json.dumps({"tst": at(second + 1.02), "topic": f"pharos/museum/sightings/3/r{receiver}",
                           "payload": batch}) + "\n"

    process = subprocess.Popen(
        [pharos.PROGRAM, "collect", path, "--from", "-", "--state-file", tmp_path / "state.json"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    # All are heard for three seconds; then minutes pass at once, each second of them with a thousand to look for.
    for second in range(3):
        for receiver in range(160):
            process.stdin.write(line(receiver, second, names[receiver::160]))
    process.stdin.write(line(0, 380, []))
    process.stdin.flush()
    time.sleep(4)
    process.terminate()
    asked = time.monotonic()
    assert process.wait(timeout=60) == 0
    # A program without optimization, on a machine that may do other things too.
    assert time.monotonic() - asked < 15
    assert len(where(tmp_path)["beacons"]) == len(names)


@pytest.mark.parametrize("words, code, message", [
    ([], 64, "Name a collector file"), (["nowhere.json"], 66, "nowhere.json"), (["broken.json"], 65, "broken.json:1:"),
    (["wrong.json"], 78, "receivers"), (["museum.json", "--from", "north=x"], 64, "no receiver of this name"),
    (["museum.json", "--from", "missing.jsonl"], 66, "missing.jsonl"), (["nosite.json"], 66, "up.json"),
    (["museum.json", "--from", "west=-", "--from", "east=-"], 64, "Standard input"),
    (["museum.json", "--every-s", "0"], 64, "0"), (["museum.json", "--from", "broken.json"], 65, "broken.json:1"),
])
def test_what_cannot_be_has_its_exit_code(tmp_path, words, code, message):
    museum(tmp_path)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "wrong.json").write_text('{"version":1,"name":"m"}')
    (tmp_path / "nosite.json").write_text(
        '{"version":1,"name":"m","floors":[{"name":"up","site":"up.json"}],"receivers":[{"name":"a"}]}')
    result = pharos.run("collect", *words, cwd=tmp_path)
    assert result.code == code and message in result.err, (result.code, result.err)


@pytest.mark.parametrize("change, message, code", [
    ({"listener": "West"},
     '5 lines are from receivers that are not in museum, the first is "West": the receivers are west, east', 65),
    ({"listener": "West"},
     'the receiver "West" is not in museum: did you mean "west"? the receivers are west, east', 65),
    ({"listener": None}, "5 lines do not name their receiver: use --from NAME=FILE; the receivers are west, east", 65),
    ({"event": "enter"}, "no line has a beacon or the state of a receiver; `pharos listen --print --json`", 0),
])
def test_lines_that_find_nobody_say_why(tmp_path, change, message, code):
    path = museum(tmp_path)
    lines = [line | change for line in rounds("west", range(5), lambda _: (2, 2))]
    state = ("--state-file", tmp_path / "state.json")
    result = pharos.run("collect", path, f"--from={written(tmp_path, 'lines.jsonl', lines)}", *state)
    assert message in result.err and result.out.endswith("No beacon was received.\n") and result.code == code
    good = collect(path, f"--from={written(tmp_path, 'good.jsonl', rounds('west', range(5), lambda _: (2, 2)))}")
    assert good.err == ""
    west = written(tmp_path, "one.jsonl", [lines[0] | {"listener": "West"}])
    one = pharos.run("collect", path, f"--from={west}", *state)
    assert one.code == 65
    assert '1 line is from "West", which is not in museum: the receivers are west, east' in one.err


def test_a_collector_file_that_cannot_serve_says_why(tmp_path):
    path = museum(tmp_path)
    recording = written(tmp_path, "west.jsonl", rounds("west", range(5), lambda _: (2, 2)))
    collect(path, f"--from={recording}")
    kept = pharos.run("collect", tmp_path / "state.json")
    assert kept.code == 78 and kept.err.count("\n") == 1
    assert "this is the state file of a collector, which `pharos where` reads, not a collector file" in kept.err
    wrong = pharos.run("collect", recording)
    assert wrong.code == 65 and "name the collector file first, and the recording with --from" in wrong.err
    assert "is not known" not in wrong.err
    (tmp_path / "bare").mkdir()
    bare = museum(tmp_path / "bare", receivers=[{"name": name, "floor": "ground"} for name in NAMES])
    assert "receivers: no receiver has a \"position\": rooms and positions are unknown" in \
        collect(bare, f"--from={recording}").err
    (tmp_path / "flat.json").write_text('{"version":1,"name":"m","receivers":[{"name":"a","floor":"ground"}]}')
    flat = pharos.run("collect", tmp_path / "flat.json")
    assert flat.code == 78 and 'receivers[0].floor: "ground" is not known: the file has no "floors"' in flat.err


def test_where_says_what_is_no_beacon(tmp_path):
    path = museum(tmp_path)
    collect(path, f"--from={written(tmp_path, 'west.jsonl', rounds('west', range(30), lambda _: (2, 2)))}")
    for name, message in {"hall": '"hall" is a room, not a beacon; `pharos where` without a name',
                          "nobody": "lists all beacons",
                          "west": '"west" is a receiver, not a beacon'}.items():
        result = pharos.run("where", name, "--state-file", tmp_path / "state.json")
        assert result.code == 64 and message in result.err, result.err


def test_a_terminal_is_told_what_is_awaited(tmp_path):
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [pharos.PROGRAM, "collect", museum(tmp_path), "--state-file", tmp_path / "state.json"], stdin=inner,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.close(inner)
    try:
        assert ("from standard input until Ctrl-D; to read a recording, use --from NAME=FILE"
                in process.stderr.readline())
        os.write(outer, b"\x04")
        assert process.communicate(timeout=10)[0] == "No beacon was received.\n" and process.returncode == 0
    finally:
        process.kill()
        os.close(outer)


def test_standard_input_is_read_or_its_sender_is_told(tmp_path):
    path = museum(tmp_path, mqtt={"url": "mqtt://127.0.0.1:9"})
    state = ("--state-file", tmp_path / "state.json")
    process = subprocess.Popen([pharos.PROGRAM, "collect", path, *state], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr.readline() == (
            "pharos: standard input is not read, because the file names a broker: use --from - to read it\n")
        process.terminate()
        process.communicate(timeout=10)
    finally:
        process.kill()
    lines = "".join(json.dumps(line) + "\n" for line in rounds("west", range(5), lambda _: (2, 2)))
    read = pharos.run("collect", path, *state, "--from", "-", "--json", stdin=lines.encode(), timeout=60)
    assert read.code == 0 and "is not read" not in read.err and told(read)[0][0] == "enter", read
    twice = pharos.run("collect", "-", *state, stdin=museum(tmp_path).read_bytes())
    assert twice.code == 64 and "Standard input can be read only once: name the collector file" in twice.err


def test_hostile_lines_end_nothing(tmp_path):
    path = museum(tmp_path)
    chance = random.Random(5)
    good = rounds("west", range(30), lambda _: (2, 2))
    text = b""
    for line in good:
        text += json.dumps(line).encode() + b"\n" + chance.randbytes(200).replace(b"\n", b"") + b"\n"
        text += json.dumps(line | {"at": at(-10**9), "listener": "x" * 5000}).encode() + b"\n"
        text += json.dumps(line | {"at": at(10**9)}).encode() + b"\n[[[[\n" + b'{"event":' + b"[" * 5000 + b"\n"
    text += json.dumps(good[0] | {"beacons": [{"beacon": "\x1b[31m\u202e", "heard": 1e300, "rssiDbm": {"mean": "x"}}]})\
        .encode() + b"\n" + b'"' * 3_000_000
    # A receiver that the file does not name is an error, after everything else.
    result = collect(path, stdin=text, code=65)
    assert "\x1b" not in result.out and "\u202e" not in result.out
    assert where(tmp_path)["beacons"][0]["beacon"] == "key-ana"
    assert "not JSON objects" in result.err and "that other lines contradict" in result.err


def test_strangers_are_told_only_when_asked(tmp_path):
    lines = rounds("west", range(5), lambda _: (2, 2))
    for line in lines:
        line["beacons"][0] |= {"beacon": None, "identity": "address:C0:01:02:03:04:06"}
    source = f"--from={written(tmp_path, 'w.jsonl', lines)}"
    assert told(collect(museum(tmp_path), source, "--json")) == []
    assert told(collect(museum(tmp_path, strangers="list"), source, "--json"))[0][0] == "enter"


def test_what_the_author_of_the_file_should_know_is_said(tmp_path):
    lines = rounds("west", range(3), lambda _: (2, 2))
    (tmp_path / "user").write_text("ana\nsecret\n")
    path = museum(tmp_path, mqtt={"url": "mqtt://broker.example", "userFile": "user", "espresense": True})
    result = collect(path, f"--from={written(tmp_path, 'w.jsonl', lines)}")
    assert "mqtt.userFile: without TLS the password crosses the network unencrypted" in result.err
    assert "mqtt.espresense: only listeners publish this" in result.err


def test_the_schema_is_the_file(tmp_path):
    assert pharos.checked("collect", "--schema").out == (ROOT / "profiles/schema/collector.schema.json").read_text()


def test_a_broker_is_read_and_told(tmp_path, start):
    broker = brokers.Broker(start, tmp_path)
    path = museum(tmp_path, mqtt={"url": broker.url, "homeAssistant": True})
    reader = brokers.Reader(broker.port)
    collector = start(pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json")
    try:
        reader.wait("pharos/museum/collectors/all/status", lambda value: value == "online")
        for second in range(8):
            for name in NAMES:
                batch = {"v": 1, "boot": "8f", "seq": second + 1, "bootMs": 5_000_000 + second * 1000,
                         "windowMs": 1000, "b": [{"id": "key-ana", "n": 5, "rssi": round(level(name, (2, 2)), 1),
                                                  "min": -70, "max": -50, "agoMs": 40}]}
                reader.say(f"pharos/museum/sightings/3/{name}", json.dumps(batch))
                reader.say(f"pharos/museum/sightings/3/{name}", "garbage" if second else "x" * 300_000)
            time.sleep(1)
        topic = "pharos/museum/beacons/key-ana/state"
        state = reader.wait(topic, lambda value: value["known"] and value["room"] == "hall")
        assert state.value["present"] == "ON" and state.value["zones"] == []
        assert reader.of("homeassistant/sensor/pharos_key-ana/room/config")
        reader.say("pharos/museum/receivers/west/status", "offline", retain=True)
        collector.wait(lambda line: line.get("event") == "receiver-dead" and line["receiver"] == "west")
        broker.stop()
        broker.start()
        reader.wait(topic, lambda value: value["present"] == "ON", timeout=30, after=len(reader.messages))
    finally:
        reader.end()
    assert where(tmp_path)["beacons"][0]["present"] == "ON"


def test_status_shows_a_collector_that_follows_a_broker(tmp_path, start):
    broker = brokers.Broker(start, tmp_path)
    path = museum(tmp_path, mqtt={"url": broker.url})
    runtime = tmp_path / "run"

    def status():
        done = pharos.run("status", "--runtime-dir", runtime, "--json")
        found = json.loads(done.out)["collectors"] if done.out else []
        return done.code, found[0] if found else {"state": None}

    def wait(state):
        deadline = time.monotonic() + 30
        while status()[1]["state"] != state:
            assert time.monotonic() < deadline, status()
            time.sleep(0.2)
        return status()

    reader = brokers.Reader(broker.port)
    collector = start(pharos.PROGRAM, "collect", path, "--runtime-dir", runtime, "--json")
    try:
        code, found = wait("deaf")
        assert code == 1 and set(found["silentReceivers"]) == set(NAMES) and found["broker"] == "connected"
        first, *others = NAMES
        batch = {"v": 1, "boot": "8f", "seq": 1, "bootMs": 5_000_000, "windowMs": 1000,
                 "b": [{"id": "key-ana", "n": 5, "rssi": -50, "min": -70, "max": -50, "agoMs": 40}]}
        reader.say(f"pharos/museum/sightings/3/{first}", json.dumps(batch))
        code, found = wait("collecting")
        assert code == 0 and found["receivers"] == len(NAMES) and found["silentReceivers"] == others
        assert "pid" not in found
        text = pharos.checked("status", "--runtime-dir", runtime).out
        assert "museum: collecting since " in text and f"1 of {len(NAMES)} receivers work" in text
        broker.stop()
        code, found = wait("recovering")
        assert code == 1 and found["broker"].startswith("down since ")
    finally:
        reader.end()
    collector.process.terminate()
    code, found = wait("off")
    assert code == 1


def test_retained_messages_do_not_make_a_receiver_alive(tmp_path, start):
    """The broker still has the state of a receiver that is gone, and delivers it after each connection."""
    broker = brokers.Broker(
        start, tmp_path, "allow_anonymous true", "persistence true", f"persistence_location {tmp_path}/")
    path = museum(tmp_path, mqtt={"url": broker.url})
    reader = brokers.Reader(broker.port)
    listening = json.dumps({"state": "listening", "deafSince": None, "reportsPerS": 7, "lost": 0})
    try:
        for name in NAMES:
            reader.say(f"pharos/museum/receivers/{name}/status", "online", retain=True)
            reader.say(f"pharos/museum/receivers/{name}/state", listening, retain=True)
        collector = start(pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json")

        def connected(after):
            """Waits until the collector is online, and two of its seconds longer."""
            reader.wait("pharos/museum/collectors/all/status", lambda value: value == "online", 30, after)
            return [(line["event"], line.get("receiver")) for line in collector.during(3)]

        assert connected(0) == []
        # A message that is not retained is new.
        reader.say("pharos/museum/receivers/east/state", listening, retain=True)
        collector.wait(lambda line: (line.get("event"), line.get("receiver")) == ("receiver-alive", "east"))
        reader.say("pharos/museum/receivers/east/status", "offline")
        collector.wait(lambda line: (line.get("event"), line.get("receiver")) == ("receiver-dead", "east"))
        before = len(reader.messages)
        broker.stop()
        broker.start()
        # The broker has kept the messages, as this test's reader shows.
        reader.wait("pharos/museum/receivers/east/status", lambda value: value == "online", 30, before)
        assert connected(before) == []
        reader.say("pharos/museum/receivers/west/state", listening, retain=True)
        collector.wait(lambda line: (line.get("event"), line.get("receiver")) == ("receiver-alive", "west"))
    finally:
        reader.end()
