"""BTHome v2 against bthome-ble, which is what Home Assistant reads it with, both ways."""
import datetime
import json
import random
from typing import NamedTuple

import pytest
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from bthome_ble import BTHomeBluetoothDeviceData
from bthome_ble.bthome_v2_encryption import encrypt_payload
from bthome_ble.const import MEAS_TYPES
from habluetooth import BluetoothServiceInfoBleak

import pharos

UUID = "0000fcd2-0000-1000-8000-00805f9b34fb"
ADDRESS = "F0:01:02:03:04:05"
KEY = "231d39c1d7cc1ab1aee224cd096db932"
SEALED = ("--encryption-key", KEY, "--device-address", ADDRESS)


class Read(NamedTuple):
    """What Home Assistant would show."""

    #: Sensors and binary sensors by key, events and versions left out.
    values: dict
    events: dict


class Receiver:
    """One device as Home Assistant's integration knows it, over any number of packets."""

    def __init__(self, key: str | None = None):
        self.device = BTHomeBluetoothDeviceData(bindkey=bytes.fromhex(key) if key else None)
        self.time = 1000.0

    def take(self, payload: bytes) -> Read:
        data = {UUID: service_data(payload)}
        self.time += 1
        update = self.device.update(BluetoothServiceInfoBleak(
            name="box", address=ADDRESS, rssi=-60, manufacturer_data={}, service_data=data, service_uuids=[UUID],
            source="", device=BLEDevice(ADDRESS, "box", {}), time=self.time, connectable=False, tx_power=None,
            advertisement=AdvertisementData("box", {}, data, [UUID], None, -60, ())))
        values = update.entity_values | update.binary_entity_values
        return Read(
            {key.key: value.native_value for key, value in values.items() if key.key != "signal_strength"},
            {key.key: (event.event_type, event.event_properties) for key, event in update.events.items()})


def service_data(payload: bytes) -> bytes:
    """What follows the UUID, in a payload of Flags and one structure with the service data."""
    flags, rest = payload[:3], payload[3:]
    assert flags == b"\x02\x01\x06" and rest[1:4] == b"\x16\xD2\xFC" and rest[0] == len(rest) - 1
    return rest[4:]


def payload(data: bytes) -> bytes:
    return b"\x02\x01\x06" + bytes([len(data) + 3]) + b"\x16\xD2\xFC" + data


def numbers() -> list[tuple[int, int]]:
    """Objects that hold a number, each with its smallest, its largest and some other octets."""
    chance = random.Random("BTHome")
    found = []
    for number, kind in MEAS_TYPES.items():
        if kind.meas_format is None or kind.data_format not in ("unsigned_integer", "signed_integer"):
            continue
        if "device_class" not in dir(kind.meas_format):
            continue
        bits = 8 * kind.data_length
        is_binary = "Binary" in type(kind.meas_format).__name__
        corners = [0, 1] if is_binary else [0, 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1]
        others = [] if is_binary else [chance.randrange(1 << bits) for _ in range(3)]
        found += [(number, octets) for octets in corners + others]
    return found


NUMBERS = numbers()
DECODED = pharos.Decoded(
    payload(bytes([0x40, number]) + octets.to_bytes(MEAS_TYPES[number].data_length, "little"))
    for number, octets in NUMBERS)


def test_there_are_enough_numbers():
    assert len({number for number, _ in NUMBERS}) > 80


@pytest.mark.parametrize("index", range(len(NUMBERS)), ids=[f"{number:02x}-{octets:x}" for number, octets in NUMBERS])
def test_a_number_is_read_as_home_assistant_reads_it(index):
    data = DECODED.payloads[index]
    (value,) = Receiver().take(data).values.values()
    (shown,) = DECODED.only_frame(data)["objects"]
    assert shown["id"] == NUMBERS[index][0]
    if isinstance(value, bool):
        assert shown["value"] is value
    else:
        # bthome-ble shows the steps of 0.35 with one digit.
        assert shown["value"] == pytest.approx(value, abs=0.051 if shown["id"] == 0x58 else 1e-9)
    unit = MEAS_TYPES[shown["id"]].meas_format
    unit = getattr(unit, "native_unit_of_measurement", None)
    if unit is not None:
        assert shown["unit"] == {"mbar": "hPa", "lbs": "lb"}.get(str(unit.value), str(unit.value))


@pytest.mark.parametrize("index", range(0, len(NUMBERS), 3))
def test_what_is_shown_can_be_sent(index):
    (shown,) = DECODED.only_frame(DECODED.payloads[index])["objects"]
    value = shown["value"]
    text = str(int(value)) if isinstance(value, bool) else f"{value:.6f}"
    assert pharos.encode("bthome", "--value", f"0x{shown['id']:02x}={text}") == DECODED.payloads[index]


def test_home_assistant_shows_the_values_of_a_box():
    data = pharos.encode("bthome", "--value", "temperature=-4.56", "battery=97", "voltage=3.074", "humidity=50.55",
                         "packet_id=7", "count=123456")
    assert Receiver().take(data).values == {
        "temperature": -4.56, "battery": 97, "voltage": 3.074, "humidity": 50.55, "packet_id": 7, "count": 123456}


def test_text_raw_time_and_events_are_home_assistants():
    read = Receiver().take(pharos.encode("bthome", "--value", "text=Grüße", "raw=0102ff", "button=2"))
    assert read.values == {"text": "Grüße", "raw": "0102ff"}
    assert read.events == {"button": ("double_press", None)}
    read = Receiver().take(pharos.encode("bthome", "--value", "timestamp=1684093277", "dimmer=0103"))
    assert read.values == {"timestamp": datetime.datetime.fromtimestamp(1684093277, tz=datetime.UTC)}
    assert read.events == {"dimmer": ("rotate_left", {"steps": 3})}


CHANCE = random.Random("BTHome, encrypted")
PACKETS = [(CHANCE.randbytes(16).hex(), CHANCE.randrange(1 << 32), CHANCE.randrange(-3000, 3000), CHANCE.randrange(101))
           for _ in range(12)] + [(KEY, 0, 0, 0), (KEY, (1 << 32) - 1, -1, 100)]


@pytest.mark.parametrize("key, counter, hundredths, percent", PACKETS)
def test_home_assistant_opens_what_is_encrypted(key, counter, hundredths, percent):
    data = pharos.encode("bthome", "--value", f"temperature={hundredths / 100}", f"battery={percent}",
                         "--encryption-key", key, "--device-address", ADDRESS, "--counter", str(counter))
    receiver = Receiver(key)
    assert receiver.take(data).values == {"temperature": hundredths / 100, "battery": percent}
    assert receiver.device.bindkey_verified and receiver.device.encryption_counter == counter
    assert not Receiver(KEY[::-1]).take(data).values


@pytest.mark.parametrize("key, counter, hundredths, percent", PACKETS)
def test_what_others_encrypted_is_opened(key, counter, hundredths, percent, capsys):
    plain = bytes([0x01, percent, 0x02]) + hundredths.to_bytes(2, "little", signed=True)
    sealed = encrypt_payload(plain, bytes.fromhex(ADDRESS.replace(":", "")), b"\xD2\xFC", b"\x41",
                             counter.to_bytes(4, "little"), bytes.fromhex(key))[2:]
    capsys.readouterr()
    (frame,) = pharos.decode(payload(sealed), "--encryption-key", key, "--device-address", ADDRESS)["frames"]
    assert [each["value"] for each in frame["decrypted"]["objects"]] == [percent, hundredths / 100]
    assert frame["counter"] == counter
    other = ("--encryption-key", key, "--device-address", "F0:01:02:03:04:06")
    (frame,) = pharos.decode(payload(sealed), *other)["frames"]
    assert frame["decrypted"] is None


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_home_assistant_follows_a_box_on_the_air(key, tmp_path):
    (tmp_path / "values.key").write_text(KEY + "\n")
    (tmp_path / "values.key").chmod(0o600)
    advertisement = {"type": "bthome", "intervalMs": 100, "address": ADDRESS} | (
        {"encryptionKeyFile": "values.key"} if key else {"uptime": True})
    (tmp_path / "values.json").write_text(
        json.dumps({"version": 1, "name": "values", "advertisements": [advertisement]}))
    capture = tmp_path / "air.btsnoop"
    pharos.checked("advertise", tmp_path / "values.json", "-a", "virtual", "--duration-s", "4.5", "-q",
                   "--capture", capture)
    receiver, packets = Receiver(key), []
    for each in pharos.checked("decode", capture, "--json").lines():
        data = bytes.fromhex(each["octets"])
        if each["source"] == "command" and data and data not in packets:
            packets.append(data)
    read = [receiver.take(data).values for data in packets]
    assert len(read) >= 4
    numbers = [values["packet_id"] for values in read]
    assert numbers == [(numbers[0] + index) % 256 for index in range(len(read))]
    counts = [values["count" if key else "count_1"] for values in read]
    assert counts == sorted(counts) and 20 < counts[-1] < 60
    if key:
        assert receiver.device.bindkey_verified
        (frame,) = pharos.decode(packets[-1])["frames"]
        assert frame["counter"] == receiver.device.encryption_counter > 1_700_000_000
    else:
        seconds = [values["count_2"] for values in read]
        assert seconds == sorted(seconds) and 3 <= seconds[-1] <= 5
