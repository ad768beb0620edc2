"""Limits of the programs of the hub: locked files, floods, endless files, many events, and the time until they end."""
import json
import os
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest

import brokers
import peers
import pharos
from test_collect import NAMES, at, collect, museum, rounds, written
from test_collect_history import history, kept, now


def memory(*words, **options):
    """The exit code, the output and the largest memory in MiB of a run of `pharos`."""
    process = subprocess.Popen([pharos.PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, **options)
    reader = []
    thread = threading.Thread(target=lambda: reader.append(process.stderr.read()))
    thread.start()
    # The peak that wait4 reports would be that of this Python, before it became the program.
    lines, kibibytes = 0, 0
    for _ in process.stdout:
        lines += 1
        if lines % 500 == 0:
            found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
            kibibytes = max(kibibytes, int(found[1]) if found else 0)
    thread.join()
    return process.wait(timeout=60), lines, reader[0], kibibytes / 1024


def ended_in(process, number=signal.SIGTERM):
    """The seconds until a process ends after a signal."""
    begun = time.monotonic()
    process.send_signal(number)
    process.communicate(timeout=60)
    return time.monotonic() - begun


def feed(process, times):
    for _ in range(times):
        for name in NAMES:
            process.stdin.write(json.dumps(rounds(name, [0], lambda _: (2, 2))[0] | {"at": now()}) + "\n")
        process.stdin.flush()
        time.sleep(1)


def begin(path, folder, *words):
    return subprocess.Popen(
        [pharos.PROGRAM, "collect", path, "--state-file", folder / "state.json", "--json", *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.long
def test_a_locked_database_stops_nothing_and_what_it_lacks_is_counted(tmp_path):
    path = kept(tmp_path)
    process = begin(path, tmp_path)
    feed(process, 1)
    other = sqlite3.connect(tmp_path / "museum.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    feed(process, 5)
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - begun < 3
    events = [json.loads(line) for line in out.splitlines() if '"beacon"' in line]
    assert [each["event"] for each in events][:2] == ["enter", "room"]
    assert f"{len(events)} events were not written, and are missing from the history" in err
    other.execute("COMMIT")


def test_what_was_kept_and_not_printed_is_printed_by_the_next_run(tmp_path):
    path = kept(tmp_path)
    files = [f"--from={name}={written(tmp_path, f'{name}.jsonl', rounds(name, range(20), lambda _: (2, 2)))}"
             for name in NAMES]
    events = [each for each in collect(path, *files, "--json").lines() if each.get("beacon")]
    assert collect(path, "--json", stdin="").lines() == []
    # As a kill between the two leaves it.
    with sqlite3.connect(tmp_path / "museum.db") as database:
        database.execute("INSERT INTO outbox SELECT 'lines', seq FROM event WHERE kind != 'enter'")
    again = collect(path, "--json", stdin="").lines()
    assert again == events[1:]
    with sqlite3.connect(tmp_path / "museum.db") as database:
        database.execute("INSERT INTO outbox SELECT 'lines', max(seq) FROM event")
    assert "key-ana  hall" in collect(path, stdin="").out
    assert collect(path, "--json", stdin="").lines() == []
    assert history(tmp_path, "key-ana") == events


def test_wrong_clocks_in_recordings_change_nothing(tmp_path):
    path = museum(tmp_path)
    lines = {name: rounds(name, range(60), lambda _: (2, 2)) for name in NAMES}

    def told(words):
        result = collect(path, *words, "--json")
        return [(each["event"], each.get("room")) for each in result.lines() if each.get("beacon")], result.err

    def files(**more):
        return [f"--from={name}={written(tmp_path, f'{name}.jsonl', lines[name] + more.get(name, []))}"
                for name in NAMES]

    usual, _ = told(files())
    line = lines[NAMES[0]][0]
    for wrong in ([line | {"at": "1970-01-01T00:00:07.000Z"}],
                  [line | {"at": at(79_200)}, lines[NAMES[1]][0] | {"at": at(79_201)}]):
        events, errors = told(files(**{NAMES[0]: wrong}))
        assert events == usual and "a time that other lines contradict" in errors
    # A weekend without a line.
    monday = {name: rounds(name, range(172_800, 172_860), lambda _: (2, 2)) for name in NAMES}
    events, errors = told(files(**monday))
    assert events[:len(usual)] == usual and events[-1] == ("known", "hall") and "contradict" not in errors


@pytest.mark.long
def test_files_without_an_end_are_refused_early(tmp_path):
    path = museum(tmp_path)
    recording = ("collect", path, "--from", f"{NAMES[0]}=/dev/zero")
    for words in (("collect", "/dev/zero"), recording, ("where", "--state-file", "/dev/zero")):
        code, _, errors, size = memory(*words)
        assert code == 65 and "/dev/zero" in errors and size < 400, (words, code, errors, size)


@pytest.mark.long
def test_a_history_of_many_events_needs_little_memory(tmp_path):
    path = kept(tmp_path)
    collect(path, stdin="")
    with sqlite3.connect(tmp_path / "museum.db") as database:
        database.executemany(
            "INSERT INTO event (id, at, kind, zone, beacon, json) VALUES (?, ?, 'enter', 'hall', 'key', ?)",
            ((f"e{number}", number, json.dumps({"id": f"e{number}", "pad": "x" * 2000})) for number in range(40_000)))
    code, lines, errors, size = memory("history", "key", "--history", tmp_path / "museum.db", "--json")
    # The events alone have 80 MB.
    assert (code, lines) == (0, 40_000) and size < 80, (errors, size)
    # Two databases are merged by time.
    both = [f"--history={tmp_path / 'museum.db'}"] * 2
    words = ("history", "key", *both, "--json", "--to", "1970-01-01T00:00:00Z")
    with sqlite3.connect(tmp_path / "museum.db") as database:
        database.execute("UPDATE event SET at = at * 1000")
    merged = [each["id"] for each in pharos.checked(*words).lines()]
    assert merged == [f"e{number // 2}" for number in range(2 * 1000)]


def test_a_second_collector_of_one_file_is_refused_in_any_directory(tmp_path, start):
    broker = brokers.Broker(start, tmp_path)
    path = museum(tmp_path, mqtt={"url": broker.url})
    reader = brokers.Reader(broker.port)
    (tmp_path / "other").mkdir()
    first = start(pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json")
    try:
        reader.wait("pharos/museum/collectors/all/status", lambda value: value == "online")
        second = pharos.run("collect", path, "--state-file", tmp_path / "other" / "state.json")
        assert second.code == 69 and "a collector of museum is already running" in second.err
        assert first.interrupt() == 0
    finally:
        reader.end()


@pytest.mark.long
def test_a_flood_of_names_ends_within_two_seconds(tmp_path, start):
    broker = brokers.Broker(start, tmp_path)
    path = museum(tmp_path, mqtt={"url": broker.url}, strangers="list")
    reader = brokers.Reader(broker.port)
    process = begin(path, tmp_path)
    try:
        reader.wait("pharos/museum/collectors/all/status", lambda value: value == "online")
        for second in range(6):
            batch = {"v": 1, "boot": "8f", "seq": second + 1, "bootMs": int(time.monotonic() * 1000), "windowMs": 1000,
                     "b": [{"id": f"n{second}-{number}", "n": 1, "rssi": -60} for number in range(6000)]}
            reader.say(f"pharos/museum/sightings/3/{NAMES[0]}", json.dumps(batch))
            time.sleep(1)
        assert ended_in(process) < 2 * float(os.environ.get("PHAROS_PATIENCE", "1.5"))
        assert process.returncode == 0
    finally:
        process.kill()
        reader.end()


@pytest.mark.long
def test_a_proxy_without_file_descriptors_waits(tmp_path, start):
    port = peers.free_port()
    process = subprocess.Popen(
        [pharos.PROGRAM, "proxy", "--adapter", "virtual", "--listen", f"tcp:127.0.0.1:{port}"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30)),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        brokers.await_port(port)
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
        time.sleep(0.5)

        def seconds():
            fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        before = seconds()
        time.sleep(2)
        assert seconds() - before < 1
        for client in clients:
            client.close()
        # A ping, and its answer.
        deadline = time.monotonic() + 60
        while True:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.settimeout(5)
                client.sendall(b"\0\0\7")
                try:
                    assert client.recv(9) == b"\0\0\x08"
                    break
                except OSError:
                    assert time.monotonic() < deadline
        process.send_signal(signal.SIGTERM)
        errors = process.communicate(timeout=60)[1]
        assert "no more clients can connect" in errors
    finally:
        process.kill()
