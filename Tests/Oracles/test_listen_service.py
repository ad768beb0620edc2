"""`pharos listen FILE`, the service: what it keeps over kills, full disks and reloads, hooks, metrics, last words."""
import calendar
import contextlib
import json
import os
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

import brokers
import pharos
from scripted_controller import SCAN_ENABLE, ScriptedController, advertising_report
from test_scan import UUID, address, ibeacon

PETER = {"name": "desk-peter", "ibeacon": {"uuid": UUID, "major": 1, "minor": 2}}
ALEX = {"name": "desk-alex", "ibeacon": {"uuid": UUID, "major": 1, "minor": 3}}
NEAR = {"name": "near", "beacons": ["desk-peter"], "aboveDbm": -70, "silentAfterS": 3}
#: More rounds of the test with real kills, for a night.
KILLS = int(os.environ.get("PHAROS_KILLS", "12"))
#: The same of the one with a broker.
KILLS_BESIDE_A_BROKER = int(os.environ.get("PHAROS_KILLS", "30"))


class Service:
    """A listener's files in a folder, a controller of the test's own, and the program, started at will."""

    def __init__(self, folder: Path, start, controller: ScriptedController):
        self.folder, self.controller, self._start = folder, controller, start
        self.file = folder / "hall.json"
        self.peer = None

    def write(self, *zones, known=(PETER, ALEX), **members):
        self.file.write_text(json.dumps(
            {"version": 1, "name": "hall", "adapter": f"unix:{self.controller.path}", "known": known, "zones": zones}
            | members))
        return self

    def start(self, *words, **options):
        self.peer = self._start(pharos.PROGRAM, "listen", self.file, "--json", "--state-dir", self.folder,
                                "--runtime-dir", self.folder / "run", *words, **options)
        return self.peer

    def hears(self, minor=2, rssi=-50, count=3):
        """The beacon sends, ten times a second."""
        for _ in range(count):
            deadline = time.monotonic() + 10
            while not self.controller.send(advertising_report(address(minor), ibeacon(1, minor), rssi)):
                assert time.monotonic() < deadline, f"nobody scans: {self.peer.errors}"
                time.sleep(0.01)
            time.sleep(0.1)

    def next(self, kind, timeout=10, **wanted):
        over = threading.Event()
        # Nobody leaves unless another device proves that the receiver works.
        others = threading.Thread(target=self._send_others, args=[over])
        if kind == "exit":
            others.start()
        try:
            return self.peer.wait(
                lambda line: line.get("event") == kind and wanted.items() <= line.items(), timeout)
        finally:
            over.set()
            if kind == "exit":
                others.join()

    def _send_others(self, over):
        while not over.wait(0.2):
            self.controller.send(advertising_report(address(99), b"\x02\x01\x06", -90))

    def kept(self):
        database = sqlite3.connect(f"file:{self.folder}/hall.db?mode=ro", uri=True)
        with contextlib.closing(database):
            return [json.loads(line) for line, in database.execute("SELECT json FROM event ORDER BY seq")]

    def metrics(self):
        text = (self.folder / "run/hall.listener.prom").read_text()
        return {(sample.name, *sorted((k, v) for k, v in sample.labels.items() if k != "listener")): sample.value
                for family in text_string_to_metric_families(text) for sample in family.samples}

    def status(self):
        return json.loads((self.folder / "run/hall.listener.json").read_text())


@pytest.fixture
def service(tmp_path, start):
    with ScriptedController(tmp_path / "air") as controller:
        service = Service(tmp_path, start, controller)
        yield service
        if service.peer:
            service.peer.end()


def eventually(condition, timeout=10):
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return value


def test_an_event_is_told_kept_and_handed_to_programs(service):
    script = 'cat >> "$1"; echo "$PHAROS_ZONE $PHAROS_EVENT $PHAROS_BEACON" >> "$2"'
    service.write(NEAR, hooks=[
        {"on": "any", "run": ["sh", "-c", script, "hook", str(service.folder / "read"), str(service.folder / "told")]},
        {"on": "exit", "run": ["touch", "$(touch injected)", str(service.folder / "a b;c")]}]).start(cwd=service.folder)
    service.hears(count=5)
    enter = service.next("enter")
    # What only a collector needs takes none of a listener's memory.
    libraries = Path(f"/proc/{service.peer.process.pid}/maps").read_text()
    assert "libsqlite3" in libraries and "libpq" not in libraries
    leave = service.next("exit")
    assert leave["cause"] == "silence" and leave["since"] == enter["at"] and leave["dwellS"] >= 3
    eventually(lambda: (service.folder / "a b;c").exists())
    # What a shell would have made of the words.
    assert (service.folder / "$(touch injected)").exists() and not (service.folder / "injected").exists()
    assert service.peer.interrupt(signal.SIGTERM) == 0
    assert service.controller.commands[-1] == (SCAN_ENABLE, bytes([0, 0]))
    told = [{key: line[key] for key in line if key != "read_at"} for line in (enter, leave)]
    assert service.kept() == told
    assert [json.loads(line) for line in (service.folder / "read").read_text().splitlines()] == told
    assert (service.folder / "told").read_text() == "near enter desk-peter\nnear exit desk-peter\n"
    assert "enter  near  desk-peter" in service.peer.errors
    history = pharos.checked("history", "desk-peter", "--state-dir", service.folder, "--json")
    assert history.lines() == told == pharos.checked(
        "history", "near", "--history", service.folder / "hall.db", "--json").lines()


def test_history_is_by_time_and_safe_in_a_spreadsheet(service):
    service.write(NEAR | {"name": "near"}).start()
    service.hears()
    at = service.next("enter")["at"]
    service.peer.interrupt(signal.SIGTERM)
    store = service.folder / "hall.db"

    def count(*words):
        return len(pharos.checked("history", "near", "--history", store, "--json", *words).lines())

    assert [count("--to", at[:10]), count("--from", at[:10]), count("--from", at[:19] + "Z")] == [1, 1, 1]
    assert [count("--to", "2020-01-01"), count("--from", "2999-01-01T00:00:00Z")] == [0, 0]
    table = pharos.checked("history", "near", "--history", store, "--utc").out
    assert table.split("\n")[1].split()[:5] == [at[:10], at[11:19] + "Z", "enter", "near", "desk-peter"]
    lines = pharos.checked("history", "near", "--history", store, "--csv").out.split("\r\n")
    assert lines[0].startswith("at,event,zone,beacon,receiver,") and lines[1].startswith(f'"{at}","enter","near",')
    wrong = pharos.run("history", "naer", "--history", store)
    assert wrong.code == 66 and 'did you mean "near"?' in wrong.err
    # A listener's configuration is no database, but names one, or means the usual one.
    usual = pharos.run("history", "near", "--history", service.file)
    assert usual.code == 66 and "there is no such file" in usual.err
    noise = service.folder / "noise.db"
    noise.write_text("noise " * 500)
    assert pharos.run("history", "near", "--history", noise).code == 65
    assert pharos.run("history", "near", "--history", service.folder / "none.db").code == 66
    assert pharos.run("history", "near", "--state-dir", service.folder / "none").code == 66
    assert pharos.run("history", "near", "--history", store, "--from", "whenever").code == 64
    assert pharos.run("history", "near", "--history", store, "--csv", "--json").code == 64


def test_the_things_of_an_inventory_are_known(service):
    tools = service.folder / "tools.json"
    tools.write_text(json.dumps({"version": 1, "name": "tools", "items": [
        {"id": "drill-7", "name": "Drill", "place": "shed", "beacon": f"ibeacon:{UUID}-1-2"}]}))
    zones = [{"name": tag, "tag": tag, "aboveDbm": -70, "onEnter": {"title": "${name} of the ${place}"}}
             for tag in ("tools", "shed")]
    service.write(*zones, known=[{"inventory": "tools.json"}]).start()
    service.hears()
    for zone in zones:
        enter = service.next("enter", zone=zone["name"])
        assert enter["beacon"] == "drill-7" and enter["content"]["title"] == "Drill of the shed"
    assert service.peer.interrupt(signal.SIGTERM) == 0
    # In the foreground too; a command without the hub says what it does not know.
    printed = pharos.checked("listen", service.file, "--print", "--duration-s", "0", "--json", "--adapter", "virtual")
    assert "--print does not use zones" in printed.err and "does not read inventories" not in printed.err
    scan = pharos.checked("scan", "--known", service.file, "--known", boxed(service), "--duration-s", "0",
                          "--adapter", "virtual")
    assert f"{tools}: this command does not read inventories" in scan.err
    # Errors in the inventory are reported with their places in its file.
    tools.write_text('{"version": 1, "name": "tools",\n "items": [{"id": "a b", "name": "Saw"}]}')
    result = pharos.run("listen", service.file, "--state-dir", service.folder, "--runtime-dir", service.folder)
    assert result.code == 78 and result.err.count(f"{tools}:2:") == 2
    tools.unlink()
    result = pharos.run("zones", service.file, "--adapter", "virtual", "--duration-s", "1")
    assert result.code == 66 and str(tools) in result.err


def boxed(service):
    """A listener file with a beacon of its own."""
    path = service.folder / "other.json"
    path.write_text(json.dumps({"version": 1, "name": "other", "known": [ALEX]}))
    return path


def notifications(folder):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(folder / "notify"))
    manager.setblocking(False)
    heard = []

    def told():
        with contextlib.suppress(BlockingIOError):
            while True:
                heard.extend(manager.recv(4096).decode().splitlines())
        return heard

    return told


def test_ready_is_told_when_the_scan_is_proven(tmp_path, start):
    told = notifications(tmp_path)
    with ScriptedController(tmp_path / "air", lies=1000) as controller:
        service = Service(tmp_path, start, controller).write(NEAR)
        service.start(env=os.environ | {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "600000"})
        eventually(lambda: sum(opcode == SCAN_ENABLE for opcode, _ in controller.commands) >= 3)
        assert "READY=1" not in told()
        controller.lies = 0
        eventually(lambda: "READY=1" in told(), 30)
        eventually(lambda: told().count("WATCHDOG=1") > 2)
        service.peer.process.send_signal(signal.SIGHUP)
        eventually(lambda: "RELOADING=1" in told() and told().count("READY=1") == 2)
        assert service.peer.interrupt(signal.SIGTERM) == 0
        assert "STOPPING=1" in told() and not controller.is_scanning
        assert service.status()["state"] == "off" and service.metrics()[("pharos_listening",)] == 0


def test_nobody_leaves_while_there_is_no_adapter(service):
    service.write(NEAR | {"dwellS": [1]}).start()
    service.hears()
    enter = service.next("enter")
    assert service.peer.interrupt(signal.SIGTERM) == 0
    # The next start finds no adapter: who was inside is not known any more after 5 s, and has not left.
    service.controller.__exit__()
    service.start()
    unknown = service.next("unknown", 15)
    assert unknown["id"] != enter["id"] and unknown["beacon"] is None
    assert service.status()["state"] in ("recovering", "deaf")
    time.sleep(5)
    with ScriptedController(service.folder / "air") as service.controller:
        service.next("known", 20)
        service.hears(count=5)
        assert service.next("dwell")["since"][:22] == enter["at"][:22]
        assert service.peer.interrupt(signal.SIGTERM) == 0
        assert [each["event"] for each in service.kept()] == ["enter", "unknown", "known", "dwell"]


def test_deafness_is_counted_while_it_lasts(service):
    service.write(NEAR).start()
    service.hears()
    service.next("enter")
    service.controller.__exit__()
    first = eventually(lambda: service.metrics()[("pharos_deaf_seconds_total",)])
    eventually(lambda: service.metrics()[("pharos_deaf_seconds_total",)] > first + 0.9)
    assert service.peer.interrupt(signal.SIGTERM) == 0


def test_a_listener_that_receives_nothing_is_deaf_and_knows_nothing(service):
    service.write(NEAR).start()
    eventually(lambda: service.controller.is_scanning)
    eventually((service.folder / "run/hall.listener.prom").exists)
    assert ("pharos_zone_inside", ("zone", "near")) not in service.metrics()
    eventually(lambda: service.status()["state"] == "deaf", 20)
    shown = pharos.run("status", "--runtime-dir", service.folder / "run")
    assert shown.code == 1 and "hall: deaf since " in shown.out
    (listener,) = json.loads(pharos.run("status", "--runtime-dir", service.folder / "run", "--json").out)["listeners"]
    assert listener["state"] == "deaf" and listener["since"]
    service.hears(count=10)
    last = time.time()
    eventually(lambda: service.status()["state"] == "listening")
    eventually(lambda: service.metrics().get(("pharos_zone_inside", ("zone", "near"))) == 1)
    assert pharos.run("status", "--runtime-dir", service.folder / "run").code == 0
    # After reports it is deaf since the last one.
    deaf = eventually(lambda: service.status()["state"] == "deaf" and service.status(), 20)
    assert abs(calendar.timegm(time.strptime(deaf["since"], "%Y-%m-%dT%H:%M:%SZ")) - last) < 4


def test_a_reload_forgets_nobody(service):
    service.write(NEAR).start()
    service.hears()
    service.next("enter", zone="near")
    service.write(NEAR | {"nmae": 1})
    service.peer.process.send_signal(signal.SIGHUP)
    eventually(lambda: "the old file stays in use" in service.peer.errors)
    service.write(NEAR, NEAR | {"name": "other"})
    service.peer.process.send_signal(signal.SIGHUP)
    eventually(lambda: "was read again" in service.peer.errors)
    service.hears(count=10)
    service.next("enter", zone="other")
    service.next("exit", zone="near")
    service.next("exit", zone="other")
    kept = service.kept()
    assert [(each["event"], each["zone"]) for each in kept[:2]] == [("enter", "near"), ("enter", "other")]
    assert len(kept) == 4 == len({each["id"] for each in kept})


def test_after_real_kills_no_event_is_lost_and_none_has_two_ids(service):
    seconds = list(range(1, 400))
    zones = [NEAR | {"name": f"zone-{number}", "dwellS": seconds, "silentAfterS": 3600} for number in range(10)]
    read = service.folder / "read"
    service.write(*zones, hooks=[{"on": "any", "run": ["sh", "-c", 'cat >> "$0"', str(read)]}])
    random.seed(13)
    told = []
    for _ in range(KILLS):
        service.start()
        service.hears(count=2)
        time.sleep(random.uniform(0, 1.2))
        service.peer.process.kill()
        told += all_lines(service.peer)
    service.start()
    service.hears(count=10)
    time.sleep(3)
    assert service.peer.interrupt(signal.SIGTERM) == 0
    told += all_lines(service.peer)
    kept = service.kept()
    ids = [each["id"] for each in kept]
    assert len(ids) == len(set(ids))
    # Each zone was entered once in spite of the restarts, and each dwell event was reported once.
    for zone in zones:
        own = [each for each in kept if each["zone"] == zone["name"]]
        assert [each["event"] for each in own].count("enter") == 1 and own[0]["event"] == "enter"
        stays = [round(each["dwellS"]) for each in own if each["event"] == "dwell"]
        assert len(stays) > 3 and len({each["since"][:21] for each in own if each["event"] == "dwell"}) == 1
        assert not {each["event"] for each in own} & {"exit"}
    # All reported events are stored, and all stored events were reported on standard output and to the hooks.
    assert {each["id"] for each in told} == set(ids)
    hooked = [json.loads(line)["id"] for line in read.read_text().splitlines()]
    assert set(hooked) == set(ids)


def test_a_clock_that_is_behind_at_the_start_loses_no_presence(service):
    """The stored presence begins after the present time, as on a machine without a battery-backed clock."""
    service.write(NEAR | {"dwellS": [1]}).start()
    service.hears()
    enter = service.next("enter")
    assert service.peer.interrupt(signal.SIGTERM) == 0
    year = 31_536_000_000_000
    with contextlib.closing(sqlite3.connect(service.folder / "hall.db")) as database, database:
        assert database.execute("UPDATE presence SET since = since + ?, dwells = 0", [year]).rowcount == 1
    service.start()
    service.hears(count=30)
    assert service.next("dwell")["since"] > enter["at"]
    assert service.metrics()["pharos_zone_inside", ("zone", "near")] == 1
    leave = service.next("exit")
    # There is no second enter event, and no time inside that is not known.
    assert [line["event"] for line in service.peer.lines] == ["dwell", "exit"]
    assert leave["dwellS"] == 0
    with contextlib.closing(sqlite3.connect(service.folder / "hall.db")) as database:
        assert database.execute("SELECT count(*) FROM presence").fetchone() == (0,)


def test_what_nobody_has_read_is_told_after_a_restart(service):
    """The program that reads the lines has ended: what it did not get is for the next one."""
    service.write(NEAR | {"dwellS": [2], "silentAfterS": 3600})
    reader, writer = os.pipe()
    command = [pharos.PROGRAM, "listen", service.file, "--json", "--state-dir", service.folder, "--runtime-dir",
               service.folder / "run"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE) as process:
        try:
            service.peer = None
            os.close(writer)
            service.hears()
            assert b'"event":"enter"' in os.read(reader, 1 << 16)
            os.close(reader)
            eventually(lambda: [each["event"] for each in service.kept()] == ["enter", "dwell"])
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=10)
    service.start()
    assert service.next("dwell")["id"] == service.kept()[1]["id"]


def test_after_real_kills_a_broker_has_each_event_once_or_again_under_its_id(service, start, tmp_path):
    known = [{"name": f"b-{number}", "ibeacon": {"uuid": UUID, "major": 1 + number // 50, "minor": number % 50}}
             for number in range(6 * KILLS_BESIDE_A_BROKER)]
    zone = {"name": "near", "beacons": [each["name"] for each in known], "per": "beacon", "aboveDbm": -70, "reports": 1,
            "silentAfterS": 3600}
    broker = brokers.Broker(start, tmp_path)
    reader = brokers.Reader(broker.port, "pharos/+/zones/+/events")
    service.write(zone, known=known, mqtt={"url": broker.url, "beacons": False})
    random.seed(14)

    def hears(beacons):
        for number in beacons:
            report = advertising_report(address(number), ibeacon(1 + number // 50, number % 50), -50)
            eventually(lambda report=report: service.controller.send(report))

    told = []
    for kill in range(KILLS_BESIDE_A_BROKER):
        service.start()
        # Some are heard for the first time, and some once more.
        hears([*range(6 * kill, 6 * kill + 6), *random.choices(range(6 * kill + 6), k=4)])
        time.sleep(random.uniform(0, 0.1))
        service.peer.process.kill()
        told += all_lines(service.peer)
        # For a while there is no broker. The reader is not restarted, and must have got all acknowledged messages.
        if kill % 10 == 5:
            time.sleep(0.2)
            broker.stop()
        elif kill % 10 == 7:
            reader.await_again(broker.start)
    service.start()
    hears(range(len(known)))
    eventually(lambda: len(service.kept()) >= len(known) and service.status()["spool"]["messages"] == 0, 30)
    kept = service.kept()
    # Each beacon entered once in spite of the restarts, with a unique id.
    assert sorted(each["beacon"] for each in kept if each["event"] == "enter") == sorted(zone["beacons"])
    ids = [each["id"] for each in kept]
    assert len(ids) == len(set(ids)) and {each["event"] for each in kept} <= {"enter", "unknown", "known"}
    eventually(lambda: {message.value["id"] for message in list(reader.messages)} >= set(ids))
    heard = {message.value["id"]: message.value for message in list(reader.messages)}
    reader.end()
    assert heard == {each["id"]: each for each in kept}
    assert service.peer.interrupt(signal.SIGTERM) == 0
    told += all_lines(service.peer)
    assert {each["id"] for each in told} == set(ids)


def all_lines(peer):
    """All that a program has written, once it has ended."""
    peer.exit_code()
    while peer.next(time.monotonic() + 5) is not None:
        pass
    return peer.lines


def test_a_full_disk_stops_neither_events_nor_hooks(service):
    # A limit on the size of files is the same to the program as a disk that is full.
    script = 'cat >> "$0"'
    service.write(NEAR, hooks=[{"on": "any", "run": ["sh", "-c", script, str(service.folder / "read")]}])

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (56_000, resource.RLIM_INFINITY))

    service.start(preexec_fn=limit)
    service.hears()
    service.next("enter")
    service.next("exit")
    told = 2
    while "it cannot be written" not in service.peer.errors:
        service.hears(count=3)
        service.next("enter")
        service.next("exit")
        told += 2
        assert told < 40
    assert service.peer.errors.count("it cannot be written") == 1
    eventually(lambda: len((service.folder / "read").read_text().splitlines()) == told)
    assert eventually(lambda: service.metrics()[("pharos_spool_messages",)]) > 0
    # There is room again: everything is kept, in its order.
    subprocess.run(["prlimit", "--pid", str(service.peer.process.pid), "--fsize=unlimited"], check=True)
    eventually(lambda: "written to this file again" in service.peer.errors)
    eventually(lambda: len(service.kept()) == told)
    assert [each["event"] for each in service.kept()] == ["enter", "exit"] * (told // 2)
    eventually(lambda: service.metrics()[("pharos_spool_messages",)] == 0)


def test_hooks_that_hang_or_do_not_exist_are_ended_and_counted(service):
    child = service.folder / "child"
    service.write(NEAR, hooks=[
        {"on": "enter", "run": ["sh", "-c", f"sleep 1000 & echo $! > {child}; wait"]},
        {"on": "enter", "run": ["/nowhere/program"]},
        {"on": "enter", "run": ["sh", "-c", "echo no light >&2; exit 3"]},
        {"on": "enter", "run": ["sh", "-c", "yes"]},
        {"on": "enter", "run": ["true"]}]).start()
    service.hears()
    service.next("enter")
    service.next("exit")
    for sentence in ("/nowhere/program of", "cannot be started: ", "exit status 3: no light",
                     "killed, because it wrote more than 64 KiB", "killed, because it ran for more than 10 s"):
        eventually(lambda wanted=sentence: wanted in service.peer.errors, 20)
    # What the hook had started is gone with it.
    eventually(lambda: not Path(f"/proc/{child.read_text().strip()}").exists()
               or "State:\tZ" in Path(f"/proc/{child.read_text().strip()}/status").read_text())
    eventually(lambda: service.metrics()[("pharos_hooks_failed_total",)] == 4)
    assert service.metrics()[("pharos_hooks_waiting",)] == 0
    # They are completed: the next start does not start them again.
    assert service.peer.interrupt(signal.SIGTERM) == 0
    service.start()
    service.hears()
    service.next("enter")
    assert service.peer.interrupt(signal.SIGTERM) == 0
    assert service.metrics()[("pharos_hooks_started_total",)] <= 4


def test_metrics_are_those_of_prometheus(service, needs):
    service.write(NEAR, known=(PETER, ALEX, {"name": "attic", "address": "C0:01:02:03:04:05"})).start()
    service.hears(count=20)
    service.hears(minor=9, count=3)
    eventually(lambda: service.metrics().get(("pharos_zone_inside", ("zone", "near"))) == 1)
    # After 5 s without a report the listener counts as deaf.
    found, status = service.metrics(), service.status()
    done = subprocess.run([needs("promtool"), "check", "metrics"], capture_output=True, text=True,
                          stdin=(service.folder / "run/hall.listener.prom").open())
    assert done.returncode == 0, done.stdout + done.stderr
    assert found[("pharos_listening",)] == 1
    assert found[("pharos_reports_total", ("pdu", "ADV_NONCONN_IND"))] >= 20
    assert found[("pharos_beacon_heard_total", ("beacon", "desk-peter"))] >= 20
    assert found[("pharos_beacon_rssi_dbm", ("beacon", "desk-peter"))] == -50
    assert found[("pharos_beacon_cloned", ("beacon", "desk-peter"))] == 0
    assert abs(found[("pharos_beacon_last_heard_timestamp_seconds", ("beacon", "desk-peter"))] - time.time()) < 10
    assert found[("pharos_zone_events_total", ("event", "enter"), ("zone", "near"))] == 1
    assert found[("pharos_scan_restarts_total", ("cause", "foreign"))] == 0
    assert {dict(key[1:]).get("beacon") for key in found} <= {None, "desk-peter"}, "only known names become labels"
    assert status["name"] == "hall" and status["state"] == "listening" and status["known"] == 3


def test_two_devices_with_one_identity_are_logged_once_and_counted(service):
    service.write(NEAR).start()
    service.hears()
    eventually((service.folder / "run/hall.listener.prom").exists)
    for _ in range(12):
        for number in (2, 3):
            eventually(lambda number=number: service.controller.send(
                advertising_report(address(number), ibeacon(1, 2), -50)))
    eventually(lambda: service.metrics().get(("pharos_beacon_cloned", ("beacon", "desk-peter"))) == 1)
    assert service.peer.errors.count("desk-peter: two devices send its identity") == 1


@pytest.mark.long
def test_a_flood_of_strangers_changes_nothing_for_the_known(service):
    service.write(NEAR).start()
    service.hears()
    service.next("enter")

    def memory():
        lines = Path(f"/proc/{service.peer.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

    before = memory()
    random.seed(4)
    for _ in range(300):
        service.controller.send(*(
            advertising_report(address(random.randrange(1 << 40)), ibeacon(7, random.randrange(1 << 16)),
                               random.randrange(-127, 21))
            for _ in range(100)))
        service.controller.send(bytes([4, 0x3E, 3, 2, 200, 0]), bytes([4, 0x3E, 1, 2]))
        service.hears(count=1, rssi=-50)
        if service.peer.errors.count("exit"):
            break
    assert "exit" not in service.peer.errors
    assert memory() - before < 8 * 1024
    assert eventually(lambda: service.metrics()[("pharos_reports_lost_total", ("where", "malformed"))]) > 0
    service.next("exit")


def test_two_of_one_name_and_damaged_files(service):
    service.write(NEAR).start()
    service.hears()
    service.next("enter")
    other = pharos.run("listen", service.file, "--runtime-dir", service.folder / "run", "--state-dir", service.folder)
    assert other.code == 69 and 'a listener named hall is already running (process ' in other.err
    assert service.peer.interrupt(signal.SIGTERM) == 0
    store = service.folder / "hall.db"
    store.write_bytes(b"no database at all\n" * 100)
    service.start()
    service.hears()
    service.next("enter")
    eventually(lambda: "this is not a database, or it is damaged" in service.peer.errors)
    assert service.peer.interrupt(signal.SIGTERM) == 0
    assert store.read_bytes().startswith(b"no database")


@pytest.mark.parametrize("words, code", [
    (["--replay", "x"], 64), (["--every-s", "1"], 64), (["--adapter", "hci0:mgmt"], 78)])
def test_what_the_service_cannot_do_is_refused(service, words, code):
    service.write(NEAR)
    result = pharos.run("listen", service.file, "--state-dir", service.folder, "--runtime-dir", service.folder, *words)
    assert result.code == code, result.err


def test_a_reload_with_another_history_file_says_that_it_takes_a_restart(service):
    service.write(NEAR).start()
    service.hears()
    service.next("enter", zone="near")
    service.write(NEAR, history={"file": "other.db"})
    service.peer.process.send_signal(signal.SIGHUP)
    eventually(lambda: 'a new "history" "file" takes effect only after a restart' in service.peer.errors)
    service.next("exit", zone="near")
