"""`pharos controller` as a partner for other hosts: driven by Bumble's and by one of our own."""
import asyncio
import struct
import time

import pytest
from bumble import hci
from bumble.device import AdvertisingEventProperties, AdvertisingParameters, AdvertisingType, Device
from bumble.hci import Address
from bumble.transport import open_transport

import frames
import h4
import pharos

MODELS = ["raspberry-pi", "zephyr", "intel", "core-4"]
EXTENDED = ["zephyr", "intel"]
OWN_ADDRESS = "F0:F1:F2:F3:F4:F5"
UNKNOWN_COMMAND, DISALLOWED, UNSUPPORTED, INVALID, UNKNOWN_SET = 0x01, 0x0C, 0x11, 0x12, 0x42
RANDOM = bytes.fromhex("0102030405c6")


@pytest.fixture(scope="module")
def serve(start_shared):
    """The address of a served air on TCP, one for each model."""
    served: dict[str, str] = {}

    def find(model: str = "intel") -> str:
        if model not in served:
            server = start_shared(pharos.PROGRAM, "controller", "--listen", "tcp:127.0.0.1:0", "--like", model,
                                  "--seed", "7")
            line = server.wait(lambda line: line.get("text", "").startswith("listening "))["text"]
            served[model] = line.removeprefix("listening ")
            assert served[model].startswith("tcp:127.0.0.1:") and not served[model].endswith(":0")
        return served[model]

    return find


@pytest.fixture
def connect(serve):
    """`connect(MODEL)`: a host of our own on a new controller, after its reset."""
    hosts: list[h4.Host] = []

    def begin(model: str = "intel") -> h4.Host:
        hosts.append(h4.Host(serve(model)))
        hosts[-1].reset()
        return hosts[-1]

    yield begin
    for host in hosts:
        host.close()


@pytest.fixture
def ear(serve):
    """`ear(MODEL)`: one more host on the same air, scanning."""
    hosts: list[h4.Host] = []

    def begin(model: str = "intel", active: bool = False) -> h4.Host:
        hosts.append(h4.Host(serve(model)))
        hosts[-1].scan(active)
        return hosts[-1]

    yield begin
    for host in hosts:
        host.close()


def with_bumble(address: str, play):
    """Runs `play(device)` with a Bumble device that has powered on."""

    async def main():
        transport = await open_transport("tcp-client:" + address.removeprefix("tcp:"))
        try:
            device = Device.with_hci("host", Address(OWN_ADDRESS), transport.source, transport.sink)
            await device.power_on()
            return await play(device)
        finally:
            await transport.close()

    return asyncio.run(asyncio.wait_for(main(), 20))


def legacy_parameters(kind=3, least=160, most: int | None = None, own=1, channels=7) -> bytes:
    return struct.pack("<HHBBB6sBB", least, most or least, kind, own, 0, bytes(6), channels, 0)


def set_parameters(handle: int = 1, properties: int = 0x10, least: int = 160, own: int = 1) -> bytes:
    interval = least.to_bytes(3, "little")
    return struct.pack("<BH3s3sBBB6sBbBBBBB", handle, properties, interval, interval, 7, own, 0, bytes(6), 0, 0x7F, 1,
                       0, 1, 0, 0)


def advertise_legacy(host: h4.Host, octets: bytes, kind: int = 3, least: int = 160):
    host.done(h4.LE_SET_RANDOM_ADDRESS, RANDOM)
    host.done(h4.LE_ADV_PARAMETERS, legacy_parameters(kind, least))
    host.done(h4.LE_ADV_DATA, bytes([len(octets)]) + octets.ljust(31, b"\0"))
    host.done(h4.LE_ADV_ENABLE, b"\x01")


def advertise_set(host: h4.Host, octets: bytes, duration: int = 0, events: int = 0):
    host.done(h4.LE_EXT_ADV_PARAMETERS, set_parameters())
    host.done(h4.LE_SET_ADDRESS, b"\x01" + RANDOM)
    host.done(h4.LE_EXT_ADV_DATA, bytes([1, 3, 1, len(octets)]) + octets)
    host.done(h4.LE_EXT_ADV_ENABLE, struct.pack("<BBBHB", 1, 1, 1, duration, events))


# ---- Bumble as the host
@pytest.mark.parametrize("model", MODELS)
def test_a_bumble_host_powers_on(model, serve):
    async def play(device):
        return device.host.supports_le_features(hci.LeFeatureMask.LE_EXTENDED_ADVERTISING)

    assert with_bumble(serve(model), play) == (model in EXTENDED)


@pytest.mark.parametrize("model", MODELS)
def test_what_a_bumble_host_advertises_is_heard_at_its_interval(model, serve, ear):
    async def play(device):
        await device.start_advertising(
            AdvertisingType.UNDIRECTED_SCANNABLE, own_address_type=hci.OwnAddressType.RANDOM,
            advertising_data=frames.UID.octets, scan_response_data=b"\x02\x09x", advertising_interval_min=150,
            advertising_interval_max=150)
        await asyncio.sleep(1.8)
        await device.stop_advertising()

    def heard_once() -> list[h4.Report]:
        listener = ear(model)
        with_bumble(serve(model), play)
        return listener.heard(7, frames.UID.octets)

    heard = heard_once()
    h4.assert_interval([report.at for report in heard], 150, more=lambda: [report.at for report in heard_once()])
    assert {(report.kind, report.address, report.is_random) for report in heard} == {(0x12, OWN_ADDRESS, True)}


def test_a_set_of_a_bumble_host_with_long_data_is_heard(serve, ear):
    octets = b"\x63\xff" + bytes(range(98))

    async def play(device):
        await device.create_advertising_set(
            AdvertisingParameters(AdvertisingEventProperties(is_connectable=False), 100, 100),
            Address(OWN_ADDRESS), advertising_data=octets)
        await asyncio.sleep(1.2)

    def heard_once() -> list[h4.Report]:
        listener = ear("intel")
        with_bumble(serve("intel"), play)
        return listener.heard(6, octets)

    heard = heard_once()
    assert {report.kind & 0x13 for report in heard} == {0}
    h4.assert_interval([report.at for report in heard], 100, more=lambda: [report.at for report in heard_once()])


@pytest.mark.parametrize("model", MODELS)
def test_a_scanning_bumble_host_hears_what_another_host_sends(model, serve, connect):
    sender = connect(model)
    if model in EXTENDED:
        advertise_set(sender, frames.IBEACON.octets)
    else:
        advertise_legacy(sender, frames.IBEACON.octets)

    async def play(device):
        seen = []
        device.host.on("advertising_report", lambda report: seen.append((time.monotonic(), report)))
        await device.start_scanning(active=False, scan_interval=60, scan_window=60, scanning_phys=[hci.Phy.LE_1M])
        await asyncio.sleep(1.5)
        assert {bytes(report.data) for _, report in seen} == {frames.IBEACON.octets}
        return [at for at, _ in seen]

    h4.assert_interval(with_bumble(serve(model), play), 100, more=lambda: with_bumble(serve(model), play))


# ---- a host of our own
@pytest.mark.parametrize("model", MODELS)
def test_extended_advertising_is_there_or_not(model, connect):
    host = connect(model)
    assert host.has_extended_advertising() == (model in EXTENDED)
    assert host.status(h4.LE_EXT_ADV_PARAMETERS, set_parameters()) == (0 if model in EXTENDED else UNKNOWN_COMMAND)


@pytest.mark.parametrize("model", MODELS)
def test_a_client_that_goes_away_takes_its_advertisement_along(model, serve, ear):
    listener, sender = ear(model), h4.Host(serve(model))
    sender.reset()
    advertise_legacy(sender, frames.UID.octets)
    listener.heard(3, frames.UID.octets)
    sender.close()
    time.sleep(0.15)
    assert listener.heard_within(0.5) == []


def test_legacy_pdu_types_are_heard_as_what_they_are(connect, ear):
    listener = ear("raspberry-pi")
    for kind, expected in ((0, 0x13), (2, 0x12), (3, 0x10)):
        sender, octets = connect("raspberry-pi"), bytes([3, 0xFF, kind, kind])
        advertise_legacy(sender, octets, kind)
        assert {report.kind for report in listener.heard(2, octets)} == {expected}
        sender.done(h4.LE_ADV_ENABLE, b"\0")


def test_an_active_scanner_gets_the_scan_response_and_a_passive_one_does_not(connect, ear):
    sender, active, passive = connect(), ear("intel", True), ear("intel", False)
    sender.done(h4.LE_SCAN_RESPONSE_DATA, bytes([3, 2, 9, 0x78]).ljust(32, b"\0"))
    advertise_legacy(sender, frames.UID.octets, kind=2)
    assert {report.kind for report in active.heard(6)} == {0x12, 0x1A}
    assert {report.kind for report in passive.heard(4)} == {0x12}


def test_data_may_change_while_it_is_on_the_air(connect, ear):
    sender, listener = connect(), ear()
    advertise_legacy(sender, frames.UID.octets)
    listener.heard(2, frames.UID.octets)
    sender.done(h4.LE_ADV_DATA, bytes([len(frames.URL.octets)]) + frames.URL.octets.ljust(31, b"\0"))
    listener.heard(2, frames.URL.octets)
    assert {report.octets for report in listener.heard(3)} == {frames.URL.octets}


@pytest.mark.parametrize("duration, events, reason", [(30, 0, 0x3C), (0, 3, 0x43)])
def test_a_set_ends_by_itself_and_says_so(duration, events, reason, connect, ear):
    sender, listener = connect(), ear()
    advertise_set(sender, frames.UID.octets, duration, events)
    listener.heard(3, frames.UID.octets)
    time.sleep(0.6)
    assert [octets[:2] for octets in sender.terminated] == [bytes([reason, 1])]
    assert listener.heard_within(0.3) == []


RULES = [
    # what is done before, opcode, parameters, expected status
    ("interval below 20 ms", [], h4.LE_ADV_PARAMETERS, legacy_parameters(least=0x1F), UNSUPPORTED),
    ("interval above 10.24 s", [], h4.LE_ADV_PARAMETERS, legacy_parameters(least=0x4001), UNSUPPORTED),
    ("minimum above maximum", [], h4.LE_ADV_PARAMETERS, legacy_parameters(least=200, most=160), INVALID),
    ("no channel", [], h4.LE_ADV_PARAMETERS, legacy_parameters(channels=0), INVALID),
    ("unknown type", [], h4.LE_ADV_PARAMETERS, legacy_parameters(kind=5), INVALID),
    ("no random address", [(h4.LE_ADV_PARAMETERS, legacy_parameters())], h4.LE_ADV_ENABLE, b"\x01", INVALID),
    ("parameters while on", [(h4.LE_ADV_PARAMETERS, legacy_parameters(own=0)), (h4.LE_ADV_ENABLE, b"\x01")],
     h4.LE_ADV_PARAMETERS, legacy_parameters(own=0), DISALLOWED),
    ("address while on", [(h4.LE_ADV_PARAMETERS, legacy_parameters(own=0)), (h4.LE_ADV_ENABLE, b"\x01")],
     h4.LE_SET_RANDOM_ADDRESS, RANDOM, DISALLOWED),
    ("extended after legacy", [(h4.LE_ADV_PARAMETERS, legacy_parameters())], h4.LE_EXT_ADV_PARAMETERS, set_parameters(),
     DISALLOWED),
    ("legacy after extended", [(h4.LE_EXT_ADV_PARAMETERS, set_parameters())], h4.LE_ADV_PARAMETERS, legacy_parameters(),
     DISALLOWED),
    ("legacy scan after extended", [(h4.LE_EXT_ADV_PARAMETERS, set_parameters())], h4.LE_SCAN_ENABLE, b"\x01\x00",
     DISALLOWED),
    ("unknown set", [], h4.LE_SET_ADDRESS, b"\x09" + RANDOM, UNKNOWN_SET),
    ("set interval below 20 ms", [], h4.LE_EXT_ADV_PARAMETERS, set_parameters(least=0x1F), UNSUPPORTED),
    ("32 octets in a legacy PDU", [(h4.LE_EXT_ADV_PARAMETERS, set_parameters())], h4.LE_EXT_ADV_DATA,
     bytes([1, 3, 1, 32]) + bytes(32), INVALID),
    ("set on without address", [(h4.LE_EXT_ADV_PARAMETERS, set_parameters())], h4.LE_EXT_ADV_ENABLE,
     bytes([1, 1, 1, 0, 0, 0]), INVALID),
    ("off twice", [], h4.LE_ADV_ENABLE, b"\x00", 0),
    ("unknown opcode", [], 0x23FF, b"", UNKNOWN_COMMAND),
]


@pytest.mark.parametrize("name, before, opcode, parameters, expected", RULES, ids=[rule[0] for rule in RULES])
def test_a_rule_of_the_specification_holds(name, before, opcode, parameters, expected, connect):
    host = connect()
    for command in before:
        host.done(*command)
    assert host.status(opcode, parameters) == expected


@pytest.mark.parametrize("kind", [2, 3])
def test_a_core_4_controller_refuses_less_than_100_ms(kind, connect):
    host = connect("core-4")
    assert host.status(h4.LE_ADV_PARAMETERS, legacy_parameters(kind, 0x9F)) in (UNSUPPORTED, INVALID)
    assert host.status(h4.LE_ADV_PARAMETERS, legacy_parameters(kind, 0xA0)) == 0


LENGTHS = {h4.SET_EVENT_MASK: 8, h4.LE_SET_EVENT_MASK: 8, h4.LE_SET_RANDOM_ADDRESS: 6, h4.LE_ADV_PARAMETERS: 15,
           h4.LE_ADV_DATA: 32, h4.LE_SCAN_RESPONSE_DATA: 32, h4.LE_ADV_ENABLE: 1, h4.LE_SCAN_PARAMETERS: 7,
           h4.LE_SCAN_ENABLE: 2, h4.LE_SET_ADDRESS: 7, h4.LE_EXT_ADV_PARAMETERS: 25, h4.LE_EXT_ADV_DATA: 4,
           h4.LE_EXT_ADV_ENABLE: 2, h4.LE_EXT_SCAN_PARAMETERS: 8, h4.LE_EXT_SCAN_ENABLE: 6, 0x203C: 1, 0x0C6D: 2}


@pytest.mark.parametrize("opcode", LENGTHS, ids=hex)
def test_a_malformed_length_gives_an_error_and_the_controller_lives(opcode, connect):
    host = connect("zephyr")
    for length in {0, 1, LENGTHS[opcode] - 1, LENGTHS[opcode] + 1, 255} - {LENGTHS[opcode]}:
        assert host.status(opcode, b"\xFF" * length) != 0, f"{length} octets"
    host.reset()


def test_a_stream_in_single_octets_and_one_in_bulk_are_the_same(connect):
    host = connect()
    for octet in bytes.fromhex("01030c00"):
        host.send(bytes([octet]))
        time.sleep(0.002)
    host.send(bytes.fromhex("01030c00") + bytes.fromhex("01032000"))
    answered = [host.answers.get(timeout=5)[0] for _ in range(3)]
    assert answered == [h4.RESET, h4.RESET, h4.LE_READ_FEATURES]


def test_a_client_that_sends_no_hci_does_not_disturb_the_others(serve, connect, ear):
    sender, listener = connect(), ear()
    advertise_legacy(sender, frames.UID.octets)
    for octets in (b"\x77" * 64, b"\x01\x03\x0c\xff", b"GET / HTTP/1.1\r\n\r\n", b"\x02\x00\x00\xff\xff", bytes(300)):
        stranger = h4.Host(serve("intel"))
        stranger.send(octets)
        time.sleep(0.05)
        stranger.close()
    assert len(listener.heard(3, frames.UID.octets)) == 3
    sender.reset()


# ---- pharos against itself, through real sockets
@pytest.mark.parametrize("model", MODELS)
def test_pharos_advertises_on_a_served_controller(model, serve, ear, advertise):
    listener = ear(model)
    beacon = advertise(*frames.URL.options, "--interval-ms", "120", "--adapter", serve(model))
    assert beacon.on_air["family"] == ("extended" if model in EXTENDED else "legacy")
    h4.assert_interval(listener.times(8, frames.URL.octets), 120, more=lambda: listener.times(8, frames.URL.octets))
    assert beacon.interrupt() == 0
    time.sleep(0.15)
    assert listener.heard_within(0.4) == []


def test_a_unix_socket_is_served_and_taken_away_at_the_end(start, tmp_path):
    server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{tmp_path}/hci")
    server.wait(lambda line: line.get("text") == f"listening unix:{tmp_path}/hci")
    host = h4.Host(f"unix:{tmp_path}/hci")
    host.reset()
    assert server.interrupt() == 0
    assert not (tmp_path / "hci").exists()


def test_a_beacon_whose_controller_ends_says_so(start, tmp_path, advertise):
    server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{tmp_path}/hci")
    server.wait(lambda line: line.get("text", "").startswith("listening "))
    beacon = advertise(*frames.UID.options, "--adapter", f"unix:{tmp_path}/hci")
    server.interrupt()
    assert beacon.exit_code() == 69
    assert beacon.errors.startswith("pharos: ") and "gone" in beacon.errors


@pytest.mark.parametrize("model, extended", [("raspberry-pi", False), ("intel", True)])
def test_an_adapter_is_described(model, extended, serve):
    adapters = pharos.checked("adapters", "--adapter", serve(model), "--json").lines()[0]["adapters"]
    assert [adapter["extendedAdvertising"] for adapter in adapters] == [extended]
