"""`pharos listen FILE` with a broker: the messages to mosquitto, NATS and RabbitMQ, and failures of brokers."""
import json
import re
import signal
import socket
import threading
import time

import pytest
from TheengsDecoder import decodeBLE

import brokers
import pharos
from test_zones import KEYS

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"
PETER = {"name": "key-peter", "ibeacon": {"uuid": UUID, "major": 7, "minor": 1}, "attachments": {"desk-owner": "Peter"}}
ALEX = {"name": "key-alex", "ibeacon": {"uuid": UUID, "major": 7, "minor": 9}}
DESK = {"name": "desk", "beacons": ["key-peter"], "withinM": 50}
STATE = "pharos/museum/beacons/key-peter/state"
STATUS = "pharos/museum/receivers/hall/status"
EVENTS = "pharos/museum/zones/desk/events"


class Air:
    """A virtual air with Peter's key on it."""

    def __init__(self, start, folder):
        self.start, self.place = start, f"unix:{folder}/air"
        self.controller = start(pharos.PROGRAM, "controller", "--listen", self.place)
        self.controller.wait(lambda line: "listening" in line.get("text", ""))
        self.peter = self.send(1)

    def send(self, minor, *options):
        peer = self.start(pharos.PROGRAM, "advertise", "ibeacon", "--uuid", UUID, "--major", "7", "--minor", str(minor),
                          "--measured-power-dbm", "-59", "--adapter", self.place, "--json", *options)
        peer.wait(lambda line: line.get("event") == "on-air")
        return peer


@pytest.fixture
def air(start, tmp_path):
    return Air(start, tmp_path)


@pytest.fixture
def broker(start, tmp_path):
    return brokers.Broker(start, tmp_path)


@pytest.fixture
def reader():
    """`reader(PORT)`: a client that reads all messages."""
    readers = []

    def begin(port, *topics):
        readers.append(brokers.Reader(port, *topics))
        return readers[-1]

    yield begin
    for each in readers:
        each.end()


@pytest.fixture
def listen(start, air, tmp_path):
    """`listen(URL, KEY=VALUE, …)`: a listener in the museum's hall with a broker; KEY is a key of "mqtt"."""

    def begin(url, options=(), **members):
        return start(pharos.PROGRAM, "listen", listener(tmp_path, {"url": url, **members}), *places(tmp_path, air),
                     *options)

    return begin


def listener(folder, mqtt, **members):
    path = folder / "hall.json"
    path.write_text(json.dumps({
        "version": 1, "name": "hall", "place": {"site": "museum", "room": "hall"}, "known": [PETER, ALEX],
        "zones": [DESK], "mqtt": mqtt} | members))
    return path


def places(folder, air):
    return ["--adapter", air.place, "--state-dir", folder / "state", "--runtime-dir", folder / "run"]


def present(value):
    return isinstance(value, dict) and value.get("present") == "ON"


# ---- messages
def test_states_sightings_and_events(broker, reader, listen):
    all_of_it = reader(broker.port)
    peer = listen(broker.url, homeAssistant=True)
    state = all_of_it.wait(STATE, present).value
    assert list(state) == ["present", "room", "zones", "known", "rssiDbm", "distanceM", "distanceLowM",
                           "distanceHighM", "lastHeard"]
    assert state["room"] == "hall" and state["known"] is True and state["rssiDbm"] < 0
    assert state["distanceLowM"] < state["distanceM"] < state["distanceHighM"]
    assert all_of_it.wait(STATE, lambda value: value["zones"] == ["desk"])
    assert all_of_it.wait(STATUS).value == "online"
    attributes = all_of_it.wait("pharos/museum/beacons/key-peter/attributes").value
    assert attributes == {"in_zones": ["zone.home"], "room": "hall"}
    receiver = all_of_it.wait("pharos/museum/receivers/hall/state", lambda value: value["reportsPerS"] > 5).value
    assert receiver["state"] == "listening" and receiver["deafSince"] is None and receiver["lost"] == 0
    enter = all_of_it.wait(EVENTS)
    assert list(enter.value) == KEYS and not enter.retained and enter.quality == 1
    assert (enter.value["event"], enter.value["zone"], enter.value["beacon"]) == ("enter", "desk", "key-peter")
    assert all_of_it.wait("pharos/museum/zones/desk/state", lambda value: value["count"] == 1).value == {
        "inside": ["key-peter"], "count": 1, "known": True, "receiver": "hall"}
    # One batch a second, each with its number.
    topic = f"pharos/museum/sightings/{fnv('key-peter') % 16}/hall"
    all_of_it.wait(topic, lambda value: value["seq"] >= 4)
    batches = [message.value for message in all_of_it.of(topic)]
    assert [batch["seq"] for batch in batches] == list(range(1, len(batches) + 1))
    assert len({batch["boot"] for batch in batches}) == 1 and {batch["v"] for batch in batches} == {1}
    for batch in batches[1:4]:
        assert batch["windowMs"] == pytest.approx(1000, abs=200)
        (heard,) = batch["b"]
        assert list(heard) == ["id", "n", "rssi", "min", "max", "agoMs"] and heard["id"] == "key-peter"
        assert heard["n"] == pytest.approx(9.5, abs=3) and heard["min"] <= heard["rssi"] <= heard["max"]
    # A beacon that was never received has no state before its silence is long enough.
    assert not all_of_it.of("pharos/museum/beacons/key-alex/state")
    # The listener announces its end, after which all states are unknown.
    assert peer.interrupt(signal.SIGTERM) == 0
    assert all_of_it.wait(STATUS, lambda value: value == "offline")
    late = reader(broker.port)
    assert late.wait(STATE).retained and late.wait(STATE).value["known"] is False
    assert late.wait("pharos/museum/receivers/hall/state").value["state"] == "off"
    assert not late.of(EVENTS) and not late.of(topic)


def fnv(text):
    value = 0xCBF29CE484222325
    for octet in text.encode():
        value = (value ^ octet) * 0x100000001B3 % 2**64
    return value


def test_discovery_is_whole_and_comes_again_with_home_assistant(broker, reader, listen):
    listen(broker.url, homeAssistant={"before": "2026.7"})
    all_of_it = reader(broker.port)
    found = {}
    for component, thing in (("sensor", "room"), ("binary_sensor", "present"), ("sensor", "distance"),
                             ("device_tracker", "tracker")):
        for beacon in ("key-peter", "key-alex"):
            message = all_of_it.wait(f"homeassistant/{component}/pharos_{beacon}/{thing}/config")
            value = found[beacon, thing] = message.value
            assert value["device"] == {"identifiers": [f"pharos_{beacon}"], "name": beacon}
            assert value["origin"] == {"name": "pharos", "sw": pharos.checked("--version").out.strip()}
            assert value["availability_topic"] == STATUS
    assert len({value["unique_id"] for value in found.values()}) == len(found)
    assert found["key-peter", "tracker"]["state_topic"] == STATE
    all_of_it.wait(STATE, present)
    count = len(all_of_it.messages)
    all_of_it.say("homeassistant/status", "online")
    all_of_it.wait("homeassistant/sensor/pharos_key-peter/room/config", after=count)
    all_of_it.wait(STATE, present, after=count)


def test_what_other_programs_read(broker, reader, listen, air):
    all_of_it = reader(broker.port)
    listen(broker.url, espresense=True, theengs=True, raddec=True)
    device = all_of_it.wait(f"espresense/devices/iBeacon:{UUID}-7-1/hall").value
    assert list(device) == ["mac", "id", "name", "rssi@1m", "rssi", "rssiVar", "distance", "var", "int"]
    assert device["name"] == "key-peter" and device["rssi@1m"] == -59 and re.fullmatch("[0-9a-f]{12}", device["mac"])
    assert all_of_it.wait("espresense/rooms/hall/status").value == "online"
    raddec = all_of_it.wait("raddec/hall").value
    assert list(raddec) == ["transmitterId", "transmitterIdType", "rssiSignature", "packets", "timestamp"]
    assert raddec["transmitterId"] == device["mac"] and raddec["transmitterIdType"] == 3
    assert abs(raddec["timestamp"] / 1000 - time.time()) < 60 and raddec["packets"] == []
    (signature,) = raddec["rssiSignature"]
    assert signature["rssi"] < 0 and signature["numberOfDecodings"] > 0 and signature["receiverIdType"] == 3
    assert re.fullmatch("[0-9a-f]{12}", signature["receiverId"])
    telemetry = all_of_it.wait("espresense/rooms/hall/telemetry", lambda value: value["adverts"] > 0, 40).value
    assert list(telemetry) == ["ip", "uptime", "ver", "adverts", "seen", "reported"]
    # The same as Theengs' own decoder makes of the octets.
    topic = "home/hall/BTtoMQTT/" + device["mac"].upper()
    ours = all_of_it.wait(topic).value
    assert all_of_it.of(topic)[0].quality == 0
    scan = pharos.checked("scan", "--adapter", air.place, "--duration-s", "1", "--json").lines()
    octets = next(line for line in scan if line["event"] == "report")
    record = octets["data"][octets["data"].index("4c000215"):]
    theirs = json.loads(decodeBLE(json.dumps({"id": ours["id"], "rssi": ours["rssi"], "manufacturerdata": record})))
    assert theirs == ours | {"manufacturerdata": record} and list(theirs)[3:] == list(ours)[2:]
    assert ours["uuid"] == UUID.replace("-", "") and ours["major"] == 7 and ours["minor"] == 1


def test_a_receiver_that_dies_or_is_deaf_makes_nobody_absent(broker, reader, listen, air):
    all_of_it = reader(broker.port)
    peer = listen(broker.url)
    all_of_it.wait(STATE, present)
    all_of_it.wait(EVENTS, lambda value: value["event"] == "enter")
    air.controller.process.kill()
    all_of_it.wait(STATUS, lambda value: value == "offline", 30)
    all_of_it.wait(STATE, lambda value: value["known"] is False, 30)
    assert all_of_it.wait("pharos/museum/zones/desk/state", lambda value: value["known"] is False)
    assert peer.process.poll() is None
    time.sleep(12)
    assert {message.value["present"] for message in all_of_it.of(STATE)} == {"ON"}
    assert {message.value["event"] for message in all_of_it.of(EVENTS)} == {"enter", "unknown"}


def test_its_sudden_end_is_told_by_the_broker(broker, reader, listen):
    all_of_it = reader(broker.port)
    peer = listen(broker.url)
    all_of_it.wait(STATUS, lambda value: value == "online")
    peer.process.kill()
    all_of_it.wait(STATUS, lambda value: value == "offline")


@pytest.fixture(params=[brokers.Nats, brokers.RabbitMQ])
def other(request, start, tmp_path):
    broker = request.param(start, tmp_path)
    yield broker
    broker.end()


def test_another_broker(other, reader, listen):
    broker = other
    all_of_it = reader(broker.port)
    peer = listen(broker.url, homeAssistant=True)
    assert all_of_it.wait(STATE, present).value["room"] == "hall"
    assert all_of_it.wait(EVENTS).value["event"] == "enter"
    all_of_it.wait("homeassistant/sensor/pharos_key-peter/room/config")
    assert peer.interrupt(signal.SIGTERM) == 0
    all_of_it.wait(STATUS, lambda value: value == "offline")


# ---- brokers that are away, slow, or tell lies
@pytest.mark.long
def test_a_broker_that_comes_late_and_restarts(broker, reader, listen, air):
    broker.stop()
    peer = listen(broker.url)
    time.sleep(4)
    broker.start()
    all_of_it = reader(broker.port)
    assert all_of_it.wait(STATE, present, 20)
    # All events of the meantime are published now, and only the newest states.
    enter = all_of_it.wait(EVENTS)
    assert enter.value["event"] == "enter"
    # This broker keeps nothing, so all states are published again. Without other packets the state would be unknown.
    broker.stop()
    air.send(5)
    air.peter.end()
    time.sleep(13)
    broker.start()
    again = reader(broker.port)
    assert again.wait(STATE, lambda value: value["present"] == "OFF", 30).value["room"] is None
    leave = again.wait(EVENTS, lambda value: value["event"] == "exit")
    assert leave.value["cause"] == "silence"
    again.wait(STATUS, lambda value: value == "online")
    assert peer.process.poll() is None
    assert "no broker answers there" in peer.errors or "lost" in peer.errors


def test_what_happened_without_a_broker_survives_a_sudden_end(start, tmp_path, broker, reader, listen, air):
    broker.stop()
    peer = listen(broker.url)
    said_in_time(peer, "no broker answers there")
    report = status(tmp_path, lambda value: value["spool"]["messages"] > 3 and value["spool"]["oldest"])
    assert report["broker"].startswith("down since 20") and report["spool"]["octets"] > 0
    time.sleep(13)
    peer.process.kill()
    peer.process.wait(5)
    broker.start()
    all_of_it = reader(broker.port)
    peer = listen(broker.url)
    enter = all_of_it.wait(EVENTS).value
    all_of_it.wait(STATE, lambda value: value["zones"] == ["desk"])
    # The event is published once, with the number of the run that detected it.
    former, topic = enter["id"].rpartition("-")[0], f"pharos/museum/sightings/{fnv('key-peter') % 16}/hall"
    all_of_it.wait(topic, lambda value: value["boot"] != former)
    assert enter["event"] == "enter"
    # So are the sightings that have waited for more than 10 s, after what is heard now: each once, in their order.
    report = status(tmp_path, lambda value: value["broker"] == "connected" and value["spool"]["messages"] == 0)
    assert report["spool"] == {"messages": 0, "octets": 0, "oldest": None}
    time.sleep(1)
    numbers = [message.value["seq"] for message in all_of_it.of(topic) if message.value["boot"] == former]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 8
    assert [message.value["id"] for message in all_of_it.of(EVENTS)] == [enter["id"]]
    metrics = (tmp_path / "run/hall.listener.prom").read_text()
    assert 'pharos_broker_connected{listener="hall"} 1' in metrics
    assert 'pharos_spool_messages{listener="hall"} 0' in metrics
    assert 'pharos_spool_dropped_total{listener="hall",kind="sightings"} 0' in metrics


def status(folder, wanted, seconds=15):
    """The status file, once it is as wanted."""
    deadline, value = time.monotonic() + seconds, None
    while time.monotonic() < deadline:
        path = folder / "run/hall.listener.json"
        value = json.loads(path.read_text()) if path.exists() else None
        if value and wanted(value):
            return value
        time.sleep(0.1)
    raise AssertionError(value)


def test_a_file_that_is_read_again(tmp_path, broker, reader, listen):
    all_of_it = reader(broker.port)
    peer = listen(broker.url, homeAssistant=True)
    all_of_it.wait(STATE, lambda value: value["zones"] == ["desk"])
    count = len(all_of_it.messages)
    mqtt = {"url": broker.url, "homeAssistant": True}
    listener(tmp_path, mqtt, place={"site": "museum", "room": "attic"}, known=[PETER])
    peer.process.send_signal(signal.SIGHUP)
    assert all_of_it.wait(STATE, lambda value: value["room"] == "attic", after=count).value["present"] == "ON"
    # Home Assistant forgets a beacon that is no longer in the file, and no beacon is away meanwhile.
    config = "homeassistant/sensor/pharos_key-alex/room/config"
    assert all_of_it.wait(config, lambda value: value == "", after=count).payload == b""
    assert {message.value for message in all_of_it.of(STATUS)} == {"online"}
    assert [message.value["event"] for message in all_of_it.of(EVENTS)] == ["enter"]
    # One with a mistake changes nothing; one without a broker ends it.
    listener(tmp_path, mqtt | {"password": "x"})
    peer.process.send_signal(signal.SIGHUP)
    said_in_time(peer, "the old file stays in use")
    assert peer.process.poll() is None
    path = listener(tmp_path, mqtt)
    path.write_text(json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key != "mqtt"}))
    peer.process.send_signal(signal.SIGHUP)
    all_of_it.wait(STATUS, lambda value: value == "offline")
    assert status(tmp_path, lambda value: value["broker"] is None)


def test_a_new_site_and_a_new_zone_leave_no_old_state_behind(broker, reader, listen, tmp_path):
    zone, depot = "pharos/museum/zones/desk/state", "pharos/depot/receivers/hall/status"
    all_of_it = reader(broker.port)
    peer = listen(broker.url)
    all_of_it.wait(STATE, present)
    all_of_it.wait(zone)
    count = len(all_of_it.messages)
    listener(tmp_path, {"url": broker.url}, place={"site": "depot", "room": "hall"}, zones=[DESK | {"name": "door"}])
    peer.process.send_signal(signal.SIGHUP)
    all_of_it.wait(depot, lambda value: value == "online", after=count)
    assert all_of_it.wait(STATUS, lambda value: value == "offline", after=count)
    for topic in (STATUS, STATE, zone):
        assert all_of_it.wait(topic, lambda value: value == "", after=count).payload == b""
    late = reader(broker.port)
    late.wait(depot)
    assert not late.of(STATUS) and not late.of(STATE) and not late.of(zone)


def test_a_broker_that_reads_nothing_holds_nobody_up(listen):
    accepted, server = [], socket.create_server(("127.0.0.1", 0))
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)

    def serve():
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            client.recv(1000)
            client.sendall(b"\x20\x02\x00\x00")
            accepted.append(client)

    threading.Thread(target=serve, daemon=True).start()
    peer = listen(f"mqtt://127.0.0.1:{server.getsockname()[1]}", homeAssistant=True)
    deadline = time.monotonic() + 10
    while not accepted and time.monotonic() < deadline:
        time.sleep(0.1)
    assert accepted
    time.sleep(5)
    assert peer.process.poll() is None
    before = time.monotonic()
    assert peer.interrupt(signal.SIGTERM, 15) == 0
    assert time.monotonic() - before < 8
    server.close()


def test_garbage_in_our_topics_is_nothing_to_us(broker, reader, listen):
    all_of_it = reader(broker.port)
    for topic in (STATE, EVENTS, "pharos/museum/zones/desk/set", "pharos/museum/receivers/hall/set"):
        all_of_it.say(topic, b"\xff\x00{[", retain=True)
    peer = listen(broker.url, homeAssistant=True)
    all_of_it.wait(STATE, present)
    for payload in (b"x" * 10_000_000, b"\xff\x00", b"", b"online\0", json.dumps({"a": "b" * 300_000})):
        all_of_it.say("homeassistant/status", payload)
    count = len(all_of_it.messages)
    all_of_it.say("homeassistant/status", "online")
    all_of_it.wait(STATE, present, after=count)
    assert peer.process.poll() is None
    resident = next(line for line in open(f"/proc/{peer.process.pid}/status") if line.startswith("VmRSS"))
    assert int(resident.split()[1]) < 120_000


def test_names_from_the_air_are_in_no_topic(broker, reader, listen, air):
    # The same identity, with a name that would be a topic; and a stranger.
    air.peter.end()
    for minor in (1, 5):
        air.send(minor, "--local-name", "../#/+$SYS")
    all_of_it = reader(broker.port)
    listen(broker.url, homeAssistant=True, espresense=True, theengs=True)
    all_of_it.wait(STATE, present)
    all_of_it.wait(f"espresense/devices/iBeacon:{UUID}-7-1/hall")
    time.sleep(2)
    topics = {message.topic for message in all_of_it.messages}
    assert all(re.fullmatch(r"[A-Za-z0-9_:/-]+", topic) for topic in topics), topics
    assert not any("7-5" in topic or "SYS" in topic for topic in topics)


# ---- who may read and write there
SECURE = ["allow_anonymous true", "certfile {folder}/{name}.pem", "keyfile {folder}/{name}.key"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    return folder, brokers.certificates(folder)


def secure(start, tmp_path, files, name, *lines):
    folder, _ = files
    return brokers.Broker(start, tmp_path, *[line.format(folder=folder, name=name) for line in SECURE], *lines)


def test_tls_with_a_good_certificate_and_our_own(start, tmp_path, files, listen):
    _, certificates = files
    broker = secure(start, tmp_path, files, "good", "require_certificate true", f"cafile {certificates['authority']}")
    peer = listen(f"mqtts://127.0.0.1:{broker.port}", caFile=str(certificates["authority"]),
                  certificateFile=str(certificates["client"]), keyFile=str(certificates["client-key"]))
    said_in_time(peer, "connected to the broker")


def said_in_time(peer, words, seconds=15):
    deadline = time.monotonic() + seconds
    while words not in peer.errors and time.monotonic() < deadline:
        time.sleep(0.05)
    assert words in peer.errors


@pytest.mark.parametrize("name, words", [("elsewhere", "its certificate is for another host"),
                                         ("stranger", "TLS failed")])
def test_a_wrong_certificate_is_told_nothing(start, tmp_path, files, listen, name, words):
    _, certificates = files
    broker = secure(start, tmp_path, files, name, "log_type all")
    peer = listen(f"mqtts://127.0.0.1:{broker.port}", caFile=str(certificates["authority"]))
    said_in_time(peer, words)
    time.sleep(3)
    assert "connected to the broker" not in peer.errors
    assert "New client connected" not in broker.peer.errors


def test_after_tls_failed_nothing_is_said_in_plain_text(listen):
    """A server that has no TLS: each attempt begins with a TLS handshake, and ends there."""
    heard, server = [], socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            heard.append(client.recv(4096))
            client.sendall(b"\x20\x02\x00\x00" * 8)
            try:
                while octets := client.recv(4096):
                    heard[-1] += octets
            except OSError:
                pass
            client.close()

    threading.Thread(target=serve, daemon=True).start()
    peer = listen(f"mqtts://127.0.0.1:{server.getsockname()[1]}")
    said_in_time(peer, "TLS failed")
    deadline = time.monotonic() + 15
    while len(heard) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(heard) >= 3 and all(octets[:2] == b"\x16\x03" for octets in heard)
    assert not any(b"MQTT" in octets or b"pharos" in octets for octets in heard)
    server.close()


def test_passwords(start, tmp_path, listen, air):
    users = tmp_path / "users"
    users.write_text("")
    start("mosquitto_passwd", "-b", users, "ana", "right").exit_code()
    broker = brokers.Broker(start, tmp_path, "allow_anonymous false", f"password_file {users}")
    secret = tmp_path / "user"
    for text, mode, code, words in (("ana\nright\n", 0o644, 78, "chmod"), ("ana\n", 0o600, 78, "two lines"),
                                    (None, 0, 66, "two lines")):
        secret.unlink(missing_ok=True)
        if text is not None:
            secret.write_text(text)
            secret.chmod(mode)
        result = pharos.run("listen", listener(tmp_path, {"url": broker.url, "userFile": "user"}),
                            *places(tmp_path, air))
        assert result.code == code and words in result.err and "right" not in result.err, result.err
    secret.write_text("ana\nwrong\n")
    secret.chmod(0o600)
    wrong = listen(broker.url, userFile="user")
    said_in_time(wrong, "correct the user name or the password")
    assert wrong.process.poll() is None
    wrong.end()
    secret.write_text("ana\nright\n")
    said_in_time(listen(broker.url, userFile="user"), "connected to the broker")


@pytest.mark.parametrize("mqtt, words", [
    ({"url": "mqtt://ana:secret@broker"}, "userFile"), ({"url": "http://broker"}, "mqtts://"),
    ({"url": "mqtt://broker", "password": "x"}, "userFile"), ({"url": "mqtt://broker", "caFile": "x"}, "mqtts://"),
    ({}, '"url" is missing'), ({"url": "mqtt://broker", "homeAssistant": {"before": "new"}}, "2026.7")])
def test_mistakes_in_the_section_are_refused(tmp_path, air, mqtt, words):
    result = pharos.run("listen", listener(tmp_path, mqtt), *places(tmp_path, air))
    assert result.code == 78 and "hall.json:" in result.err and words in result.err
