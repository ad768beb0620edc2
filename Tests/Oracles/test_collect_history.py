"""What `pharos collect` keeps: rooms and who heard whom, late batches, kills, a full disk; leases of two collectors."""
import csv
import io
import json
import os
import random
import signal
import subprocess
import time
from datetime import UTC, datetime

import pytest

import brokers
import pharos
from test_collect import NAMES, at, collect, level, museum, rounds, walk, where, written


def history(folder, name, *words):
    return pharos.checked("history", name, "--history", folder / "museum.db", *words, "--json").lines()


def kept(folder, **more):
    return museum(folder, history={"file": str(folder / "museum.db")} | more)


def now():
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_rooms_are_kept_and_told_by_name_and_time(tmp_path):
    path = kept(tmp_path, days=30)
    files = [f"--from={name}={written(tmp_path, f'{name}.jsonl', rounds(name, range(240), walk))}" for name in NAMES]
    told = [each for each in collect(path, *files, "--json").lines() if each.get("beacon")]
    events = history(tmp_path, "key-ana")
    assert events == told
    assert len({each["id"] for each in events}) == len(events)
    assert [each["room"] for each in events if each["event"] == "room"] == ["hall", "shop"]
    moved = next(each for each in events if each["room"] == "shop")
    assert moved["from"] == "hall" and moved["floor"] == "ground" and moved["probability"] >= 0.95
    assert 4 < moved["position"]["x"] < 10
    assert events[-1]["event"] == "exit" and events[-1]["from"] == "shop"
    # By the room, and by the collector file in place of the database.
    assert {each["event"] for each in history(tmp_path, "shop")} >= {"room", "exit"}
    # Who leaves a room for another one is told in both.
    assert moved in history(tmp_path, "hall") and moved in history(tmp_path, "shop")
    table = pharos.checked("history", "hall", "--history", tmp_path / "museum.db").out
    assert any("shop" in line and line.endswith("from hall") for line in table.splitlines())
    assert pharos.checked("history", "key-ana", "--history", path, "--json").lines() == events
    assert len(history(tmp_path, "key-ana", "--from", at(30), "--to", at(100))) < len(events)
    before = pharos.checked("history", "hall", "--history", path, "--to", "2020-01-01")
    assert before.out == "" and before.err == 'pharos: nothing happened with "hall" in that time\n'
    rows = list(csv.DictReader(io.StringIO(pharos.checked(
        "history", "key-ana", "--history", tmp_path / "museum.db", "--csv").out)))
    assert [row["event"] for row in rows] == [each["event"] for each in events]
    line = next(row for row in rows if row["zone"] == "shop")
    assert (line["from"], line["floor"]) == ("hall", "ground") and float(line["x_m"]) > 4
    heard = history(tmp_path, "key-ana", "--heard")
    minutes = [each for each in heard if each["event"] == "heard"]
    assert {each["receiver"] for each in minutes} == set(NAMES)
    assert sum(each["reports"] for each in minutes) == 2 * 120 * 5 and {each["late"] for each in minutes} == {0}
    # The same recordings once more change nothing.
    assert collect(path, *files, "--json").code == 0
    assert history(tmp_path, "key-ana") == events
    assert history(tmp_path, "key-ana", "--heard") == heard


def test_what_is_no_history_has_its_exit_code(tmp_path):
    path = museum(tmp_path)
    assert pharos.run("history", "key-ana", "--history", path).code == 78
    kept(tmp_path)
    assert pharos.run("history", "key-ana", "--history", path).code == 66
    files = [f"--from={name}={written(tmp_path, f'{name}.jsonl', rounds(name, range(20), walk))}" for name in NAMES]
    collect(path, *files)
    wrong = pharos.run("history", "key-anna", "--history", path)
    assert wrong.code == 66 and "key-ana" in wrong.err
    path.write_text(path.read_text().replace('"days"', '"day"') if "days" in path.read_text() else "{")
    assert pharos.run("history", "key-ana", "--history", path).code == 65


def batch(name, boot, number, milliseconds, place=(2, 2)):
    return {"v": 1, "boot": boot, "seq": number, "bootMs": milliseconds, "windowMs": 1000,
            "b": [{"id": "key-ana", "n": 5, "rssi": round(level(name, place), 1), "min": -70, "max": -50, "agoMs": 40}]}


def said(second, name, payload):
    return json.dumps({"tst": at(second), "topic": f"pharos/museum/sightings/3/{name}", "payload": payload}) + "\n"


def test_late_batches_are_history_and_no_presence(tmp_path):
    path = kept(tmp_path)
    text = ""
    for second in range(600):
        text += said(second + 0.02, "west",
                     batch("west", "w", second + 1, 1_000_000 + second * 1000) | {"b": []})
        if second < 5 or second >= 590:
            text += said(second + 0.03, "east", batch("east", "e", second + 1, 70_000 + second * 1000) | {"b": []})
    # What east heard while its broker was away; twice, as QoS 1 may.
    for number in [*range(6, 586, 3), *range(6, 586, 3)]:
        text += said(600, "east", batch("east", "e", number, 70_000 + (number - 1) * 1000))
    text += said(602, "west", batch("west", "w", 1000, 1_602_000) | {"b": []})
    result = collect(path, "--json", stdin=text)
    assert [each for each in result.lines() if each.get("beacon")] == []
    assert where(tmp_path)["beacons"] == []
    heard = history(tmp_path, "key-ana", "--heard")
    assert {each["event"] for each in heard} == {"heard"}
    assert sum(each["late"] for each in heard) == sum(each["reports"] for each in heard) == 5 * len(range(6, 586, 3))
    assert heard[0]["at"] == at(0 - at_second_of_minute()) and {each["receiver"] for each in heard} == {"east"}
    # Once more after a restart: the same batches are known.
    collect(path, "--json", stdin=text)
    assert history(tmp_path, "key-ana", "--heard") == heard


def at_second_of_minute():
    return datetime.fromisoformat(at(0).replace("Z", "+00:00")).second


@pytest.mark.long
def test_kills_neither_lose_nor_double_events(tmp_path):
    path = kept(tmp_path)
    chance = random.Random(7)
    place, expected = (2, 2), "hall"
    for _ in range(4):
        process = subprocess.Popen(
            [pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(7):
            for name in NAMES:
                line = rounds(name, [0], lambda _, at=place: at, chance.random())[0] | {"at": now()}
                process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            time.sleep(1)
        time.sleep(chance.random() / 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        events = history(tmp_path, "key-ana")
        assert [each["room"] for each in events if each["event"] == "room"][-1] == expected
        place, expected = ((8, 2), "shop") if expected == "hall" else ((2, 2), "hall")
    assert [each["event"] for each in events].count("enter") == 1 and "exit" not in {each["event"] for each in events}
    rooms = [each["room"] for each in events if each["event"] == "room"]
    assert rooms == ["hall", "shop", "hall", "shop"]
    assert len({each["id"] for each in events}) == len(events)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_is_said_and_outlived(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    path = museum(tmp_path, history={"file": str(disk / "museum.db")})
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("this machine mounts nothing")
    try:
        process = subprocess.Popen(
            [pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for second in range(14):
            if second == 1:
                with open(disk / "filler", "wb", buffering=0) as filler:
                    try:
                        while True:
                            filler.write(b"x" * 4096)
                    except OSError:
                        pass
            if second == 9:
                (disk / "filler").unlink()
            for name in NAMES:
                line = rounds(name, [0], lambda _: (2, 2))[0] | {"at": now()}
                process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            time.sleep(1)
        out, err = process.communicate(timeout=20)
        told = [json.loads(line) for line in out.splitlines() if '"beacon"' in line]
        assert process.returncode == 0 and told
        assert err.count("cannot be written") == 1 and "is kept again" in err
        assert pharos.checked("history", "key-ana", "--history", disk / "museum.db", "--json").lines() == told
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.long
def test_of_two_collectors_the_lower_lease_tells_and_the_other_takes_over(tmp_path, start):
    broker = brokers.Broker(start, tmp_path)
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    reader = brokers.Reader(broker.port)
    numbers = dict.fromkeys(NAMES, 0)

    def hear(place, seconds=1.0):
        for name in NAMES:
            numbers[name] += 1
            reader.say(f"pharos/museum/sightings/3/{name}", json.dumps(
                batch(name, "8f", numbers[name], int(time.monotonic() * 1000), place)))
        time.sleep(seconds)

    def begin(folder):
        path = kept(folder)
        path.write_text(json.dumps(json.loads(path.read_text()) | {"mqtt": {"url": broker.url}}))
        return start(pharos.PROGRAM, "collect", path, "--state-file", folder / "state.json", "--json")

    try:
        for number, lease in enumerate(["garbage", '{"v":1}', "", '{"v":1,"lease":1,"at":"2001-01-01T00:00:00Z"}']):
            reader.say(f"pharos/museum/leases/3/a{number}", lease, retain=True)
        first = begin(one)
        for _ in range(5):
            hear((2, 2))
        first.wait(lambda line: line.get("event") == "room" and line["room"] == "hall")
        lease = next(each for each in reader.messages if each.topic.startswith("pharos/museum/leases/3/museum-"))
        assert lease.value["v"] == 1 and lease.value["lease"] > 1_700_000_000_000
        second = begin(two)
        for _ in range(6):
            hear((2, 2))
        assert "stands by" in second.errors
        assert [line for line in second.lines if line.get("beacon")] == []
        assert where(two)["beacons"][0]["room"] == "hall"
        first.process.send_signal(signal.SIGKILL)
        died = time.monotonic()
        reader.wait("pharos/museum/collectors/all/status", lambda value: value == "offline")
        while "tells of all shards" not in second.errors:
            assert time.monotonic() - died < 40, second.errors
            hear((8, 2))
        assert 15 < time.monotonic() - died < 36
        moved = second.wait(lambda line: line.get("event") == "room" and line["room"] == "shop")
        state = "pharos/museum/beacons/key-ana/state"
        reader.wait(state, lambda value: value["room"] == "shop" and value["known"])
        reader.wait("pharos/museum/collectors/all/status", lambda value: value == "online",
                    after=max(n for n, each in enumerate(reader.messages) if each.payload == b"offline"))
        # Nobody has entered anew, and the room changed once.
        events = history(two, "key-ana")
        assert moved["id"] in {each["id"] for each in events}
        assert [each["event"] for each in events if each["event"] in ("enter", "exit")] == []
        # The first one comes back, and stands by; the second one takes leave, and it takes over at once.
        again = begin(one)
        for _ in range(5):
            hear((8, 2))
        assert "stands by" in again.errors
        assert second.interrupt() == 0
        begun = time.monotonic()
        while "tells of all shards" not in again.errors:
            assert time.monotonic() - begun < 5, again.errors
            hear((8, 2), 0.5)
        # What the second one has told, the first one does not tell again.
        assert [each["room"] for each in history(one, "key-ana") if each["event"] == "room"] == ["hall"]
        assert where(one)["beacons"][0]["room"] == "shop"
        left = [each for each in reader.messages if "/leases/3/museum-" in each.topic]
        assert any(each.payload == b"" for each in left)
    finally:
        reader.end()


def test_shards_divide_the_beacons(tmp_path, start):
    broker = brokers.Broker(start, tmp_path)
    path = museum(tmp_path, mqtt={"url": broker.url}, shards=[3])
    reader = brokers.Reader(broker.port)
    collector = start(pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json")
    try:
        reader.wait("pharos/museum/collectors/3/status", lambda value: value == "online")
        time.sleep(2)
        names = {pharos_shard(name): name for name in (f"key-{number}" for number in range(200))}
        for second in range(5):
            for shard in (3, 4):
                payload = batch("west", "8f", second * 2 + shard, 5_000_000 + second * 1000)
                payload["b"][0]["id"] = names[shard]
                reader.say(f"pharos/museum/sightings/{shard}/west", json.dumps(payload))
            time.sleep(1)
        reader.wait(f"pharos/museum/beacons/{names[3]}/state", lambda value: value["present"] == "ON")
        assert not reader.of(f"pharos/museum/beacons/{names[4]}/state")
        assert {each.topic.split("/")[3] for each in reader.messages if "/leases/" in each.topic} == {"3"}
        assert collector.interrupt() == 0
    finally:
        reader.end()


def pharos_shard(name):
    """FNV-1a of 64 bits, by 16."""
    value = 0xCBF29CE484222325
    for octet in name.encode():
        value = (value ^ octet) * 0x100000001B3 % 2**64
    return value % 16
