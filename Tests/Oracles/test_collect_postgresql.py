"""`pharos collect` with a real PostgreSQL: batches once, a server that is away, wrong passwords, several collectors."""
import json
import re
import signal
import subprocess
import time

import pytest

import brokers
import peers
import pharos
import postgresql
from test_collect import NAMES, collect, museum, rounds, walk, written
from test_collect_history import batch, now


@pytest.fixture
def server(start):
    database = postgresql.Database(start)
    yield database
    database.end()


def site(folder, connection, **more):
    return museum(folder, postgresql={"connection": connection} | more)


def recordings(folder, seconds=240):
    return [f"--from={name}={written(folder, f'{name}.jsonl', rounds(name, range(seconds), walk))}" for name in NAMES]


def secret(folder, text="secret\n", mode=0o600):
    path = folder / "password"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_what_happens_is_kept_once_and_told(tmp_path, server):
    path = site(tmp_path, server.by_network, passwordFile=secret(tmp_path))
    told = [each for each in collect(path, *recordings(tmp_path), "--json", "--state-dir", tmp_path).lines()
            if each.get("beacon")]
    events = pharos.checked("history", "key-ana", "--history", path, "--json").lines()
    assert events == told and len(events) > 3
    shop, hall = (pharos.checked("history", name, "--history", path, "--json").lines() for name in ("shop", "hall"))
    # A change of rooms is in the history of both rooms.
    moved = [each for each in told if each["event"] == "room" and (each["from"], each["room"]) == ("hall", "shop")]
    assert moved and all(each in shop and each in hall for each in moved)
    heard = [each for each in pharos.checked("history", "key-ana", "--history", path, "--heard", "--json").lines()
             if each["event"] == "heard"]
    assert sum(each["reports"] for each in heard) == 2 * 120 * 5
    assert all(-90 < each["rssiDbm"] < -30 for each in heard)
    before = server.ask("SELECT count(*), sum(reports) FROM pharos_sightings") + server.ask(
        "SELECT count(*) FROM pharos_events")
    assert before[0] == ["240", "1200"] and before[1] == [str(len(events))]
    # A repeated batch changes nothing.
    collect(path, *recordings(tmp_path), "--json", "--state-dir", tmp_path)
    assert server.ask("SELECT count(*), sum(reports) FROM pharos_sightings") + server.ask(
        "SELECT count(*) FROM pharos_events") == before
    part = pharos.checked("history", "key-ana", "--history", path, "--from", told[-1]["at"], "--csv").out
    assert len(part.splitlines()) == 2
    wrong = pharos.run("history", "key-anna", "--history", path)
    assert wrong.code == 66 and "key-ana" in wrong.err
    assert server.ask("SELECT version FROM pharos_version") == [["1"]]
    server.ask("INSERT INTO pharos_version VALUES (2)")
    later = pharos.run("history", "key-ana", "--history", path)
    assert later.code == 65 and "later version" in later.err


def test_a_library_that_cannot_be_loaded_is_named(tmp_path, monkeypatch):
    path = site(tmp_path, "host=127.0.0.1 dbname=pharos")
    (tmp_path / "libpq.so.5").write_bytes(b"no library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    done = pharos.run("history", "key-ana", "--history", path)
    assert done.code == 69 and "libpq.so.5" in done.err and "apt install libpq5" in done.err


def test_names_are_values_and_never_statements(tmp_path, server):
    path = site(tmp_path, server.by_socket)
    name = "a\\N'); DROP TABLE pharos_events; -- \\t ü\u202e"
    lines = rounds("west", range(10), lambda _: (2, 2))
    for line in lines:
        line["beacons"][0] |= {"beacon": name, "identity": None}
    collect(path, f"--from={written(tmp_path, 'w.jsonl', lines)}", "--state-dir", tmp_path)
    assert server.ask("SELECT DISTINCT beacon FROM pharos_sightings") == [[name]]
    assert pharos.checked("history", name, "--history", path, "--json").lines()[0]["beacon"] == name


def test_what_happens_waits_for_a_server_that_is_away(tmp_path, server):
    path = site(tmp_path, server.by_socket)
    server.stop()
    begun = time.monotonic()
    told = [each for each in collect(path, *recordings(tmp_path), "--json", "--state-dir", tmp_path).lines()
            if each.get("beacon")]
    assert time.monotonic() - begun < 15
    silent = pharos.run("history", "key-ana", "--history", path)
    assert silent.code == 69 and "no database answers" in silent.err
    server.start()
    process = subprocess.Popen(
        [pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json", "--state-dir", tmp_path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def count():
        try:
            return int(server.ask("SELECT count(*) FROM pharos_events")[0][0])
        except subprocess.CalledProcessError:
            return 0

    def feed(until):
        deadline = time.monotonic() + 30
        while not until():
            assert time.monotonic() < deadline
            for name in NAMES:
                line = rounds(name, [0], lambda _: (2, 2))[0] | {"at": now()}
                process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            time.sleep(0.5)

    feed(lambda: count() > len(told))
    # The server goes in the middle, the collector is killed, and another one brings what waits.
    server.stop()
    rows = []
    feed(lambda: rows.append(1) or len(rows) > 8)
    process.send_signal(signal.SIGKILL)
    assert "; retrying" in process.communicate()[1]
    server.start()
    before = server.ask("SELECT count(*) FROM pharos_sightings")
    collect(path, "--json", "--state-dir", tmp_path, stdin="")
    assert int(server.ask("SELECT count(*) FROM pharos_sightings")[0][0]) >= int(before[0][0]) + 8
    events = pharos.checked("history", "key-ana", "--history", path, "--json").lines()
    assert [each for each in events if each in told] == told


def heard(receiver, beacon):
    """A line of now in which a receiver has received this beacon."""
    line = rounds(receiver, [0], lambda _: (2, 2))[0] | {"at": now()}
    line["beacons"][0] |= {"beacon": beacon, "identity": None}
    return json.dumps(line) + "\n"


def dropped(errors):
    """The number of events and sightings that were dropped because the database refused them."""
    counts = re.findall(r": (this event or sighting is|(\d+) events or sightings are) dropped", errors)
    return sum(int(number or 1) for _, number in counts)


def eventually(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_refused_batch_takes_no_other_batch_along(tmp_path, server):
    """While the server holds a batch that it refuses at last, an event comes, which is uploaded before the next try."""
    path = museum(tmp_path, history={}, postgresql={"connection": server.by_socket})
    (tmp_path / "first").mkdir()
    collect(path, *recordings(tmp_path, 3), "--state-dir", tmp_path / "first")
    server.ask("TRUNCATE pharos_sightings, pharos_events; CREATE TABLE hold AS SELECT 1 AS row;"
               "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
               "  IF NEW.beacon = 'bad' THEN"
               "    WHILE EXISTS (SELECT 1 FROM hold) LOOP PERFORM pg_sleep(0.1); END LOOP;"
               "    RAISE EXCEPTION 'bad beacon' USING ERRCODE = '22023';"
               "  END IF;"
               "  RETURN NEW;"
               "END $$;"
               "CREATE TRIGGER refuse BEFORE INSERT ON pharos_sightings FOR EACH ROW EXECUTE FUNCTION refuse()")
    server.stop()
    process = subprocess.Popen(
        [pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json", "--state-dir", tmp_path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sent = []

    def feed(beacon, seconds):
        for _ in range(seconds):
            for name in NAMES:
                process.stdin.write(heard(name, beacon))
                sent.append(beacon)
            process.stdin.flush()
            time.sleep(1)

    def count(table, beacon):
        return int(server.ask(f"SELECT count(*) FROM {table} WHERE beacon = '{beacon}'")[0][0])

    def holds():
        return server.ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == [["1"]]

    try:
        feed("key-ana", 3)
        # The sightings of the refused beacon are in a batch of their own: batches are made once a second.
        time.sleep(2)
        feed("bad", 1)
        time.sleep(2)
        feed("key-ana", 3)
        server.start()
        eventually(holds)
        feed("other", 3)
        server.ask("DELETE FROM hold")
        eventually(lambda: count("pharos_events", "other") > 0)
        eventually(lambda: count("pharos_sightings", "key-ana") == sent.count("key-ana"))
        eventually(lambda: count("pharos_sightings", "other") == sent.count("other"))
        assert count("pharos_sightings", "bad") == 0
    finally:
        errors = process.communicate()[1]
    assert process.returncode == 0 and "bad beacon: " in errors and dropped(errors) == sent.count("bad"), errors


def test_batches_are_bounded_and_a_refused_event_holds_up_no_other(tmp_path, server):
    path = museum(tmp_path, history={}, postgresql={"connection": server.by_socket})
    collect(path, *recordings(tmp_path, 3), "--state-dir", tmp_path)
    server.ask("CREATE TABLE sizes (size int);"
               "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
               "  INSERT INTO sizes SELECT count(*) FROM new_rows; RETURN NULL;"
               "END $$;"
               "CREATE TRIGGER note AFTER INSERT ON pharos_events REFERENCING NEW TABLE AS new_rows"
               "  FOR EACH STATEMENT EXECUTE FUNCTION note();"
               "ALTER TABLE pharos_events ADD CHECK (beacon <> 'bad')")
    server.stop()
    names = [*(f"b{number}" for number in range(5)), "bad", *(f"b{number}" for number in range(5, 150))]
    lines = rounds("west", range(60, 80), lambda _: (2, 2))
    for line in lines:
        template, = line["beacons"]
        line["beacons"] = [template | {"beacon": name, "identity": None} for name in names]
    told = collect(path, f"--from={written(tmp_path, 'many.jsonl', lines)}", "--json", "--state-dir", tmp_path).lines()
    beacons = [each["beacon"] for each in told if each.get("beacon")]
    assert set(names) <= set(beacons)
    server.start()
    # One run writes all events that wait, except the refused ones.
    done = collect(path, "--json", "--state-dir", tmp_path, stdin="")
    assert dropped(done.err) == beacons.count("bad"), done.err
    kept = server.ask("SELECT beacon, count(*) FROM pharos_events WHERE beacon <> 'key-ana' GROUP BY beacon")
    assert {name: int(number) for name, number in kept} == {
        name: beacons.count(name) for name in set(beacons) - {"bad", "key-ana"}}
    sizes = [int(size) for size, in server.ask("SELECT size FROM sizes")]
    assert max(sizes) == 64, sizes
    # Nothing waits any more.
    assert "wait for the next start" not in collect(path, "--json", "--state-dir", tmp_path, stdin="").err


def test_without_history_a_refused_event_takes_no_other_along(tmp_path, server):
    """Without a database on this machine, the events wait in the outbox."""
    path = museum(tmp_path, postgresql={"connection": server.by_socket})
    collect(path, *recordings(tmp_path, 3), "--state-dir", tmp_path)
    server.ask("TRUNCATE pharos_events; ALTER TABLE pharos_events ADD CHECK (beacon <> 'bad')")
    server.stop()
    names = ["a", "bad", "c", "d"]
    lines = rounds("west", range(60, 80), lambda _: (2, 2))
    for line in lines:
        template, = line["beacons"]
        line["beacons"] = [template | {"beacon": name, "identity": None} for name in names]
    told = collect(path, f"--from={written(tmp_path, 'four.jsonl', lines)}", "--json", "--state-dir", tmp_path).lines()
    beacons = [each["beacon"] for each in told if each.get("beacon") in names]
    assert set(names) == set(beacons)
    server.start()
    done = collect(path, "--json", "--state-dir", tmp_path, stdin="")
    assert dropped(done.err) == beacons.count("bad"), done.err
    kept = server.ask("SELECT beacon, count(*) FROM pharos_events WHERE beacon <> 'key-ana' GROUP BY beacon")
    assert {name: int(number) for name, number in kept} == {
        name: beacons.count(name) for name in names if name != "bad"}


def test_a_refused_sighting_takes_no_other_of_its_batch_along(tmp_path, server):
    path = museum(tmp_path, postgresql={"connection": server.by_socket})
    collect(path, *recordings(tmp_path, 3), "--state-dir", tmp_path)
    server.ask("TRUNCATE pharos_sightings; ALTER TABLE pharos_sightings ADD CHECK (beacon NOT LIKE 'bad%')")
    # The first, the last and neighbouring sightings of a batch are refused.
    names = ["bad-1", "a", "bad-2", "bad-3", "b", "c", "d\\N", "bad-4"]
    lines = rounds("west", range(60, 80), lambda _: (2, 2))
    for line in lines:
        template, = line["beacons"]
        line["beacons"] = [template | {"beacon": name, "identity": None} for name in names]
    done = collect(path, f"--from={written(tmp_path, 'eight.jsonl', lines)}", "--json", "--state-dir", tmp_path)
    assert dropped(done.err) == 4 * len(lines), done.err
    kept = server.ask("SELECT beacon, count(*) FROM pharos_sightings GROUP BY beacon")
    assert {name: int(number) for name, number in kept} == {
        name: len(lines) for name in names if not name.startswith("bad")}
    assert "are not uploaded yet" not in done.err


def test_who_is_asked_to_end_takes_leave(tmp_path, server):
    path = site(tmp_path, server.by_socket)
    process = subprocess.Popen(
        [pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json", "--state-dir", tmp_path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(3):
        for name in NAMES:
            process.stdin.write(json.dumps(rounds(name, [0], lambda _: (2, 2))[0] | {"at": now()}) + "\n")
        process.stdin.flush()
        time.sleep(1)
    process.send_signal(signal.SIGTERM)
    told = [json.loads(line) for line in process.communicate()[0].splitlines() if '"beacon"' in line]
    assert process.returncode == 0 and told
    assert server.ask("SELECT count(*) FROM pharos_sightings") == [[str(3 * len(NAMES))]]
    assert server.ask("SELECT count(*) FROM pharos_events") == [[str(len(told))]]


def test_time_in_which_no_collector_ran_does_not_count(tmp_path, server):
    file = tmp_path / "museum.db"
    path = museum(tmp_path, postgresql={"connection": server.by_socket}, history={"file": str(file)})
    begun = time.monotonic()
    worked = 0.0
    for _ in range(2):
        process = subprocess.Popen(
            [pharos.PROGRAM, "collect", path, "--state-file", tmp_path / "state.json", "--json", "--state-dir",
             tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        started = time.monotonic()
        for _ in range(4):
            for name in NAMES:
                process.stdin.write(json.dumps(rounds(name, [0], lambda _: (2, 2))[0] | {"at": now()}) + "\n")
            process.stdin.flush()
            time.sleep(1)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        worked += time.monotonic() - started
        time.sleep(6)

    def totals(source):
        rows = pharos.checked("history", "key-ana", "--history", source, "--totals", "--json").lines()
        return {row["zone"]: (row["seconds"], row["ongoing"]) for row in rows}

    found = totals(path)
    counted = sum(seconds for seconds, _ in found.values())
    assert 2 <= counted <= worked < time.monotonic() - begun - 10
    assert not any(ongoing for _, ongoing in found.values())
    # The file of the same collector says the same.
    kept = totals(file)
    assert kept.keys() == found.keys() and all(abs(kept[zone][0] - found[zone][0]) <= 1 for zone in kept)
    runs = server.ask("SELECT site, is_over, extract(epoch FROM ended - begun)::int FROM pharos_runs ORDER BY begun")
    assert [run[:2] for run in runs] == [["museum", "t"]] * 2 and all(2 <= int(run[2]) <= worked for run in runs)
    # A database of an earlier version has no runs. Its history is read, and the next collector makes the table.
    server.ask("DROP TABLE pharos_runs")
    assert sum(seconds for seconds, _ in totals(path).values()) > counted
    collect(path, *recordings(tmp_path, 20), "--state-dir", tmp_path)
    assert server.ask("SELECT count(*) FROM pharos_runs") == [["0"]]


def test_without_a_disk_what_happens_goes_there_or_is_told_as_lost(tmp_path, server):
    path = site(tmp_path, server.by_socket)
    (tmp_path / "file").write_text("")
    words = [*recordings(tmp_path), "--state-dir", tmp_path / "file" / "state"]
    assert "wait in memory" in collect(path, *words).err
    assert server.ask("SELECT count(*) FROM pharos_sightings") == [["240"]]
    server.stop()
    assert "are lost" in collect(path, *words).err


def test_who_is_not_let_in_is_told_why(tmp_path, server):
    def history(connection, **more):
        return pharos.run("history", "key-ana", "--history", site(tmp_path, connection, **more))

    nothing = history(server.by_socket)
    assert nothing.code == 66 and "no collector has written to this database" in nothing.err
    wrong = history(server.by_network, passwordFile=secret(tmp_path, "wrong\n"))
    assert wrong.code == 78 and "password authentication failed" in wrong.err
    unknown = history(server.by_socket.replace("museum", "nowhere"))
    assert unknown.code == 78 and 'database "nowhere" does not exist' in unknown.err
    tls = history(server.by_network.replace("disable", "require"), passwordFile=secret(tmp_path))
    assert tls.code == 78 and "SSL" in tls.err
    assert history(f"host=127.0.0.1 port={peers.free_port()} dbname=museum").code == 69
    assert history(server.by_network, passwordFile=secret(tmp_path, mode=0o644)).code == 78
    assert history(server.by_network, passwordFile="nowhere").code == 66
    assert history(server.by_network, passwordFile=secret(tmp_path, "a\nb\n")).code == 78
    assert history("host=127.0.0.1 nonsense=1").code == 78
    assert history("host=db password=secret").code == 78
    assert history("host=db sslpassword=secret").code == 78
    # Who cannot be let in now may be let in later.
    server.ask("CREATE ROLE guest LOGIN CONNECTION LIMIT 0")
    full = history(server.by_socket.replace("user=pharos", "user=guest"))
    assert full.code == 69 and "too many connections" in full.err and "busy" in full.err
    assert history("postgresql://pharos:secret@db/museum").code == 78
    # A collector continues, because the server may be corrected.
    path = site(tmp_path, server.by_network, passwordFile=secret(tmp_path, "wrong\n"))
    result = collect(path, *recordings(tmp_path, 20), "--state-dir", tmp_path)
    assert "password authentication failed" in result.err and "when the collector starts again" in result.err
    assert pharos.run("collect", site(tmp_path, "host=127.0.0.1 nonsense=1"), stdin="").code == 78


def test_rooms_and_receivers_of_two_sites_are_told_apart(tmp_path, server):
    path = site(tmp_path, server.by_socket)
    collect(path, *recordings(tmp_path), "--state-dir", tmp_path)
    room, beacon = (pharos.checked("history", name, "--history", path, "--heard", "--json").lines()
                    for name in ("shop", "key-ana"))
    other = tmp_path / "other"
    other.mkdir()
    depot = museum(other, name="depot", postgresql={"connection": server.by_socket})
    collect(depot, *recordings(other), "--state-dir", other)
    assert pharos.checked("history", "shop", "--history", path, "--heard", "--json").lines() == room
    both = pharos.checked("history", "key-ana", "--history", path, "--heard", "--json").lines()
    assert len(both) == 2 * len(beacon) and all(each in both for each in beacon)


@pytest.mark.long
def test_of_two_collectors_one_works_and_the_other_takes_over(tmp_path, server, start):
    broker = brokers.Broker(start, tmp_path)
    reader = brokers.Reader(broker.port)
    numbers = dict.fromkeys(NAMES, 0)

    def hear(place, times=1):
        for _ in range(times):
            for name in NAMES:
                numbers[name] += 1
                reader.say(f"pharos/museum/sightings/3/{name}", json.dumps(
                    batch(name, "8f", numbers[name], int(time.monotonic() * 1000), place)))
            time.sleep(1)

    def begin(name):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        path = museum(folder, mqtt={"url": broker.url}, postgresql={"connection": server.by_socket}, history={})
        return start(pharos.PROGRAM, "collect", path, "--state-file", folder / "state.json", "--state-dir", folder,
                     "--json")

    def hear_until(place, done, seconds):
        begun = time.monotonic()
        while not done():
            assert time.monotonic() - begun < seconds
            hear(place)

    def lines(peer):
        while not peer._queue.empty() and peer.next(time.monotonic() + 1) is not None:
            pass
        return [line for line in peer.lines if line.get("beacon")]

    status = "pharos/museum/collectors/all/status"
    try:
        first = begin("one")
        reader.wait(status, lambda value: value == "online")
        hear((2, 2), 6)
        first.wait(lambda line: line.get("event") == "room" and line["room"] == "hall")
        second = begin("two")
        hear((2, 2), 3)
        assert "another collector works for museum; this collector stands by" in second.errors
        assert lines(second) == [] and not (tmp_path / "two" / "state.json").exists()
        first.process.send_signal(signal.SIGKILL)
        hear_until((8, 2), lambda: "this collector works for museum now" in second.errors, 15)
        hear_until((8, 2), lambda: any(line["event"] == "room" for line in lines(second)), 20)
        reader.wait("pharos/museum/beacons/key-ana/state", lambda value: value["room"] == "shop" and value["known"])
        # The beacon was in the hall before, and has not entered again.
        moved = next(line for line in lines(second) if line["event"] == "room")
        assert (moved["from"], moved["room"]) == ("hall", "shop")
        assert not any(line["event"] in ("enter", "exit") for line in lines(second))
        # The first one starts again, and stands by. When the second one is stopped, it takes over.
        again = begin("one")
        hear((8, 2), 3)
        assert "this collector stands by" in again.errors
        assert second.interrupt() == 0
        hear_until((8, 2), lambda: "this collector works for museum now" in again.errors, 8)
        hear((8, 2), 6)
        assert not any(line["event"] in ("enter", "exit", "room") for line in lines(again))
        # While the database is away the collector works on, and nothing is lost.
        server.stop()
        hear((2, 2), 8)
        again.wait(lambda line: line.get("event") == "room" and line["room"] == "hall")
        server.start()
        hear_until((2, 2), lambda: server.ask("SELECT place FROM pharos_events WHERE kind = 'room' ORDER BY at")
                   == [["hall"], ["shop"], ["hall"]], 30)
        assert again.interrupt() == 0
        assert server.ask("SELECT count(*) FROM pharos_events WHERE kind = 'enter'") == [["1"]]
    finally:
        reader.end()


def test_two_collectors_begin_at_once(tmp_path, server):
    folders = [tmp_path / name for name in ("one", "two", "three")]
    processes = []
    for folder in folders:
        folder.mkdir()
        path = site(folder, server.by_socket)
        processes.append(subprocess.Popen(
            [pharos.PROGRAM, "collect", path, *recordings(folder), "--state-file", folder / "state.json", "--state-dir",
             folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    for process in processes:
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 0 and "wait" not in errors, errors
    assert server.ask("SELECT count(*) FROM pharos_sightings") == [["240"]]
    assert server.ask("SELECT count(DISTINCT (beacon, kind, at)) = count(*) FROM pharos_events") == [["t"]]
