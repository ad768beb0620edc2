"""What Home Assistant itself holds of the beacons that `pharos listen` tells it of."""
import json
import os
import signal
import time
from types import SimpleNamespace

import pytest

import brokers
import peers
import pharos

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"
SLOW = 90
#: Entries of Home Assistant's own storage: MQTT is set up there, not in configuration.yaml.
ENTRY = {"entry_id": "0123456789abcdef0123456789abcdef", "version": 1, "minor_version": 1, "domain": "mqtt",
         "title": "judge", "options": {}, "pref_disable_new_entities": False, "pref_disable_polling": False,
         "source": "user", "unique_id": None, "disabled_by": None}


def configuration(folder, port):
    """A Home Assistant that has MQTT and nothing else, and publishes its states."""
    (folder / ".storage").mkdir(parents=True)
    (folder / "configuration.yaml").write_text(f"""
homeassistant:
  name: judge
http:
  server_host: 127.0.0.1
  server_port: {peers.free_port()}
mqtt_statestream:
  base_topic: hass
  publish_attributes: true
logger:
  default: warning
""")
    data = {"broker": "127.0.0.1", "port": port, "discovery": True, "discovery_prefix": "homeassistant"}
    (folder / ".storage/core.config_entries").write_text(json.dumps({
        "version": 1, "minor_version": 1, "key": "core.config_entries", "data": {"entries": [ENTRY | {"data": data}]}}))


def identity(minor):
    return {"uuid": UUID, "major": 7, "minor": minor}


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """A broker, Home Assistant, and the air; everything is ended by its process id."""
    folder, started = tmp_path_factory.mktemp("stage"), []

    def start(*arguments, **options):
        started.append(peers.Peer(*arguments, **options))
        return started[-1]

    stage = SimpleNamespace(folder=folder, start=start, place=f"unix:{folder}/air")
    stage.broker = brokers.Broker(start, folder)
    configuration(folder / "config", stage.broker.port)
    stage.hass = start(os.environ["HASS"], "-c", folder / "config", "--skip-pip")
    stage.reader = brokers.Reader(stage.broker.port)
    try:
        yield stage
    finally:
        stage.reader.end()
        for peer in reversed(started):
            peer.end()


def air(stage):
    # One that was killed has left its socket.
    (stage.folder / "air").unlink(missing_ok=True)
    controller = stage.start(pharos.PROGRAM, "controller", "--listen", stage.place)
    controller.wait(lambda line: "listening" in line.get("text", ""))
    return controller


class Key:
    """A beacon that tells of its battery too."""

    def __init__(self, stage, minor):
        sender = ["--address", f"C4:00:00:00:00:{minor:02X}", "--adapter", stage.place, "--json"]
        numbers = [f"--{name}={value}" for name, value in identity(minor).items()]
        self.peers = [stage.start(pharos.PROGRAM, "advertise", *words, *sender) for words in (
            ["ibeacon", "--measured-power-dbm", "-59", *numbers], ["tlm", "--battery-mv", "2980"])]
        for peer in self.peers:
            peer.wait(lambda line: line.get("event") == "on-air")

    def end(self):
        for peer in self.peers:
            peer.end()


def listen(stage, name, room, known, home_assistant):
    path = stage.folder / f"{name}.json"
    path.write_text(json.dumps({
        "version": 1, "name": name, "place": {"site": "museum", "room": room}, "known": known,
        "mqtt": {"url": stage.broker.url, "homeAssistant": home_assistant}}))
    return stage.start(pharos.PROGRAM, "listen", path, "--adapter", stage.place, "--state-dir", stage.folder / "state",
                       "--runtime-dir", stage.folder / "run")


def state(stage, entity, wanted, timeout=SLOW, after=0):
    kind, name = entity.split(".")
    return stage.reader.wait(f"hass/{kind}/{name}/state", lambda value: value == wanted or callable(wanted) and
                             wanted(value), timeout, after).value


def attribute(stage, entity, name, timeout=SLOW):
    return stage.reader.wait("hass/" + entity.replace(".", "/") + "/" + name, timeout=timeout).value


def test_a_beacon_comes_goes_and_is_never_lost_with_its_receiver(stage):
    # In an air that is quiet a receiver would doubt its own ears.
    controller, beacon, stranger = air(stage), Key(stage, 1), Key(stage, 5)
    known = [{"name": "key-peter", "ibeacon": identity(1)}, {"name": "key-alex", "ibeacon": identity(2)}]
    hall = listen(stage, "hall", "hall", known, {"before": "2026.7"})
    assert state(stage, "sensor.key_peter_room", "hall")
    assert state(stage, "binary_sensor.key_peter_present", "on")
    assert float(state(stage, "sensor.key_peter_distance", lambda value: isinstance(value, float | int))) > 0
    assert attribute(stage, "sensor.key_peter_distance", "unit_of_measurement") == "m"
    assert attribute(stage, "sensor.key_peter_distance", "device_class") == "distance"
    assert state(stage, "sensor.key_peter_battery", 2.98)
    assert attribute(stage, "sensor.key_peter_battery", "unit_of_measurement") == "V"
    assert state(stage, "device_tracker.key_peter_tracker", "home")
    assert attribute(stage, "device_tracker.key_peter_tracker", "source_type") == "bluetooth_le"
    assert attribute(stage, "device_tracker.key_peter_tracker", "in_zones") == ["zone.home"]
    assert attribute(stage, "binary_sensor.key_peter_present", "device_class") == "presence"
    # One that has never been heard is absent once it would have been heard.
    assert state(stage, "binary_sensor.key_alex_present", "off")
    assert state(stage, "device_tracker.key_alex_tracker", "not_home")

    # It leaves, and comes back.
    beacon.end()
    assert state(stage, "binary_sensor.key_peter_present", "off", 45)
    assert state(stage, "device_tracker.key_peter_tracker", "not_home", 5)
    assert state(stage, "sensor.key_peter_room", lambda value: value in ("None", "unknown"), 5)
    count = len(stage.reader.messages)
    beacon = Key(stage, 1)
    assert state(stage, "binary_sensor.key_peter_present", "on", 10, count)

    # Nothing can be heard: unavailable, and never absent.
    count = len(stage.reader.messages)
    controller.process.kill()
    for entity in ("binary_sensor.key_peter_present", "sensor.key_peter_room", "sensor.key_peter_battery",
                   "device_tracker.key_peter_tracker"):
        assert state(stage, entity, "unavailable", 30, count)
    controller.process.wait(5)
    time.sleep(12)
    said = {message.value for message in stage.reader.messages[count:]
            if message.topic == "hass/binary_sensor/key_peter_present/state"}
    assert said == {"unavailable"}
    assert hall.process.poll() is None
    # It hears again.
    beacon.end()
    stranger.end()
    count = len(stage.reader.messages)
    controller = air(stage)
    beacon = Key(stage, 1)
    assert state(stage, "binary_sensor.key_peter_present", "on", 40, count)

    # Its sudden end, and its orderly one, are the same to Home Assistant.
    count = len(stage.reader.messages)
    hall.process.kill()
    assert state(stage, "binary_sensor.key_peter_present", "unavailable", 10, count)
    count = len(stage.reader.messages)
    hall = listen(stage, "hall", "hall", known, {"before": "2026.7"})
    assert state(stage, "binary_sensor.key_peter_present", "on", 20, count)
    count = len(stage.reader.messages)
    assert hall.interrupt(signal.SIGTERM) == 0
    assert state(stage, "binary_sensor.key_peter_present", "unavailable", 10, count)
    beacon.end()
    controller.end()


def test_a_tracker_without_a_state_and_a_room_that_would_be_a_template(stage):
    controller, beacon = air(stage), Key(stage, 3)
    name = "key.2"
    office = listen(stage, "office", "office {{ 7*7 }}", [{"name": name, "ibeacon": identity(3)}], True)
    assert state(stage, "binary_sensor.key_2_present", "on"), office.errors
    # What is read of a tracker since 2026.7 is there; its state is not known to this version.
    assert state(stage, "device_tracker.key_2_tracker", "unknown")
    assert attribute(stage, "device_tracker.key_2_tracker", "in_zones") == ["zone.home"]
    assert attribute(stage, "sensor.key_2_room", "friendly_name") == f"{name} Room"
    assert state(stage, "sensor.key_2_room", "office {{ 7*7 }}")
    beacon.end()
    controller.end()


def test_home_assistant_complains_of_nothing(stage):
    assert stage.hass.process.poll() is None
    complaints = [line for line in stage.hass.errors.split("\n")
                  if ("ERROR" in line or "WARNING" in line) and "mqtt" in line.lower()]
    assert complaints == []
