"""What `pharos collect` keeps: rooms and who heard whom, late batches, kills, a full disk, a second collector."""
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
    # A change of rooms is in the history of both rooms.
    assert moved in history(tmp_path, "hall") and moved in history(tmp_path, "shop")
    table = pharos.checked("history", "hall", "--history", tmp_path / "museum.db").out
    assert any("shop" in line and line.endswith("from hall") for line in table.splitlines())
    assert pharos.checked("history", "key-ana", "--history", path, "--json").lines() == events
    assert len(history(tmp_path, "key-ana", "--from", at(30), "--to", at(100))) < len(events)
    before = pharos.checked("history", "hall", "--history", path, "--to", "2020-01-01")
    assert before.out == "" and before.err == 'pharos: "hall" has no events in that time\n'
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
        assert err.count("cannot be written") == 1 and "written to this file again" in err
        assert pharos.checked("history", "key-ana", "--history", disk / "museum.db", "--json").lines() == told
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_second_collector_on_the_same_machine_is_refused(tmp_path, start):
    broker = brokers.Broker(start, tmp_path)
    path = museum(tmp_path, mqtt={"url": broker.url})
    reader = brokers.Reader(broker.port)
    words = [pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json"]
    first = start(*words)
    try:
        reader.wait("pharos/museum/collectors/all/status", lambda value: value == "online")
        second = pharos.run("collect", path, "--state-file", tmp_path / "other.json")
        assert second.code == 69 and "a collector of museum is already running" in second.err
        assert first.interrupt() == 0
        reader.wait("pharos/museum/collectors/all/status", lambda value: value == "offline")
        offline = max(number for number, each in enumerate(reader.messages) if each.payload == b"offline")
        start(*words)
        reader.wait("pharos/museum/collectors/all/status", lambda value: value == "online", after=offline)
    finally:
        reader.end()


def test_a_file_with_shards_is_refused_with_what_replaced_them(tmp_path):
    done = pharos.run("collect", museum(tmp_path, shards=[3]), stdin="")
    assert done.code == 78 and "one collector works for a whole site" in done.err
