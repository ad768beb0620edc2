"""`pharos proxy`: aioesphomeapi, the client that Home Assistant itself uses, hears what `pharos scan` hears."""
import asyncio
import base64
import json
import socket
import time
from collections import Counter

import pharos
import pytest
from aioesphomeapi import (
    APIClient, BluetoothScannerMode, BluetoothScannerState, EncryptionPlaintextAPIError, InvalidEncryptionKeyAPIError,
    RequiresEncryptionAPIError)
from aioesphomeapi.api_pb2 import SubscribeBluetoothLEAdvertisementsRequest

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"
ADDRESS = "02:00:5E:10:00:01"


@pytest.fixture
def air(start, tmp_path):
    """A virtual air with three beacons on it, one of them with a random address."""
    place = f"unix:{tmp_path}/air"
    start(pharos.PROGRAM, "controller", "--listen", place).wait(lambda line: "listening" in line.get("text", ""))
    for minor, more in ((1, ()), (2, ("--address", "C4:11:22:33:44:55")), (3, ("--interval-ms", "250"))):
        start(pharos.PROGRAM, "advertise", "ibeacon", "--uuid", UUID, "--major", "7", "--minor", str(minor), "--json",
              "--measured-power-dbm", "-59", "--adapter", place, *more).wait(
            lambda line: line.get("event") == "on-air")
    return place


@pytest.fixture
def proxy(start, air):
    """A running proxy, and its port."""
    peer = start(pharos.PROGRAM, "proxy", "--adapter", air, "--listen", "tcp:127.0.0.1:0", "--name", "Hall Pi",
                 "--address", ADDRESS)
    line = peer.wait(lambda line: line.get("text", "").startswith("listening tcp:127.0.0.1:"))
    peer.port = int(line["text"].rsplit(":", 1)[1])
    return peer


async def heard(port, seconds, **identity):
    """The advertisements that a client gets in that time: address, type of address, level and octets."""
    client = APIClient("127.0.0.1", port, None, **identity)
    await client.connect(login=True)
    got, states = [], []
    client.subscribe_bluetooth_scanner_state(states.append)
    client.subscribe_bluetooth_le_raw_advertisements(
        lambda message: got.extend((each.address, each.address_type, each.rssi, bytes(each.data))
                                   for each in message.advertisements))
    await asyncio.sleep(seconds)
    info = await client.device_info()
    entities, services = await client.list_entities_services()
    await client.disconnect()
    return got, states, info, entities + services


def test_octets_addresses_and_levels_are_those_of_a_scan(air, proxy, start):
    scan = start(pharos.PROGRAM, "scan", "--adapter", air, "--json")
    scan.wait(lambda line: line.get("event") == "report")
    got, states, info, entities = asyncio.run(heard(proxy.port, 4))
    scan.process.terminate()
    lines = []
    while (line := scan.next(time.monotonic() + 10)) is not None:
        lines.append(line)
    told = {(int(line["address"].replace(":", ""), 16), int(line["addressType"] != "public"), line["rssiDbm"],
             bytes.fromhex(line["data"])) for line in lines if line.get("event") == "report"}
    assert set(got) == told and len(told) == 3
    assert {kind for _, kind, _, _ in got} == {0, 1} or {kind for _, kind, _, _ in got} == {1}
    # 100 ms, 100 ms and 250 ms for four seconds, none lost: as many as the scan heard in that time.
    assert sum(Counter(got).values()) == pytest.approx(4 * (9.5 + 9.5 + 3.9), rel=0.15)
    # A client that connects before the scanner runs is told "starting" first.
    assert [state.state for state in states][-1] == BluetoothScannerState.RUNNING
    assert {state.state for state in states} <= {BluetoothScannerState.STARTING, BluetoothScannerState.RUNNING}
    assert info.name == "hall-pi" and info.mac_address == ADDRESS and info.bluetooth_mac_address == ADDRESS
    assert info.manufacturer == "Pharos" and info.project_version == pharos.checked("--version").out.strip()
    assert int(info.bluetooth_proxy_feature_flags_compat(info_version())) == 1 | 32 | 64
    assert entities == []


def info_version():
    from aioesphomeapi import APIVersion

    return APIVersion(1, 10)


def test_three_clients_are_told_the_same_and_one_that_never_reads_holds_nobody_up(proxy):
    silent = socket.create_connection(("127.0.0.1", proxy.port))
    silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    request = SubscribeBluetoothLEAdvertisementsRequest(flags=1).SerializeToString()
    silent.sendall(b"\0\0\1" + bytes([0, len(request), 66]) + request)

    async def three():
        return await asyncio.gather(*(heard(proxy.port, 3) for _ in range(3)))

    answers = [Counter(got) for got, _, _, _ in asyncio.run(three())]
    assert all(sum(answer.values()) > 40 for answer in answers)
    assert set(answers[0]) == set(answers[1]) == set(answers[2])
    assert max(sum(a.values()) for a in answers) - min(sum(a.values()) for a in answers) <= 6
    silent.close()


@pytest.mark.parametrize("octets, why", [
    (b"GET / HTTP/1.1\r\n\r\n", "does not use"), (b"\x01\x00\x00", "wants encryption"),
    (b"\0" + b"\xff" * 40, "does not use"), (b"\0\xff\xff\x7f\x01", "longer than")])
def test_others_are_sent_away(proxy, octets, why):
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as client:
        client.sendall(octets)
        assert client.recv(100) == b""
    deadline = time.monotonic() + 5
    while why not in proxy.errors and time.monotonic() < deadline:
        time.sleep(0.05)
    assert why in proxy.errors
    got, _, _, _ = asyncio.run(heard(proxy.port, 1))
    assert got


def test_a_client_that_wants_encryption_is_told(proxy):
    async def connect():
        client = APIClient("127.0.0.1", proxy.port, None, noise_psk="QRTIErOb/fcE9Ukd/5qA3RGYMn0Y+p06U58SCtOXvPc=")
        await client.connect(login=True)

    with pytest.raises(Exception) as error:
        asyncio.run(asyncio.wait_for(connect(), 10))
    assert not isinstance(error.value, TimeoutError), EncryptionPlaintextAPIError


KEY = "QRTIErOb/fcE9Ukd/5qA3RGYMn0Y+p06U58SCtOXvPc="


@pytest.fixture
def secret(start, air, tmp_path):
    """A proxy that wants a key of its clients."""
    file = tmp_path / "proxy.key"
    file.write_text(KEY + "\n")
    file.chmod(0o600)
    peer = start(pharos.PROGRAM, "proxy", "--adapter", air, "--listen", "tcp:127.0.0.1:0", "--name", "vault",
                 "--address", ADDRESS, "--key-file", file)
    line = peer.wait(lambda line: line.get("text", "").startswith("listening tcp:127.0.0.1:"))
    peer.port = int(line["text"].rsplit(":", 1)[1])
    return peer


def test_a_client_with_the_key_hears_the_same(secret):
    got, states, info, _ = asyncio.run(heard(secret.port, 2, noise_psk=KEY, expected_name="vault"))
    assert len(set(got)) == 3 and len(got) > 30 and info.name == "vault" and states


def test_a_client_without_the_key_hears_nothing(secret):
    other = base64.b64encode(bytes(32)).decode()
    with pytest.raises(InvalidEncryptionKeyAPIError):
        asyncio.run(heard(secret.port, 1, noise_psk=other))
    with pytest.raises(RequiresEncryptionAPIError):
        asyncio.run(heard(secret.port, 1))


@pytest.mark.parametrize("text, mode, code", [
    (KEY, 0o644, 78), ("secret", 0o600, 65), (KEY[:-4], 0o600, 65), (None, 0o600, 66)])
def test_keys_that_are_none_are_refused(tmp_path, text, mode, code):
    file = tmp_path / "proxy.key"
    if text is not None:
        file.write_text(text)
        file.chmod(mode)
    result = pharos.run("proxy", "--adapter", "virtual", "--listen", "tcp:127.0.0.1:0", "--key-file", file)
    assert result.code == code and str(file) in result.err and KEY not in result.err


def test_its_end_is_told_to_clients(proxy):
    async def stay():
        client = APIClient("127.0.0.1", proxy.port, None)
        gone = asyncio.Event()

        async def on_stop(expected_disconnect):
            assert expected_disconnect
            gone.set()

        await client.connect(on_stop=on_stop, login=True)
        proxy.process.terminate()
        await asyncio.wait_for(gone.wait(), 5)

    asyncio.run(stay())
    assert proxy.process.wait(5) == 0


@pytest.mark.parametrize("arguments, code", [
    (["--listen", "vhci"], 64), (["--listen", "6053"], 64), (["--address", "x"], 64), (["--adapter", "hci0:mgmt"], 64),
    (["--adapter", "unix:/missing", "--listen", "tcp:127.0.0.1:0"], 69),
    (["--adapter", "virtual", "--listen", "unix:/missing/x"], 69)])
def test_wrong_arguments_are_refused(arguments, code):
    result = pharos.run("proxy", *arguments)
    assert result.code == code and result.err.startswith("pharos: "), json.dumps(result.err)


async def modes(port):
    """The modes of the scanner while a client asks for active and then for passive, and after a second of each."""
    client = APIClient("127.0.0.1", port, None)
    await client.connect(login=True)
    states, count = [], [0]
    client.subscribe_bluetooth_scanner_state(lambda state: states.append(state.mode.name))
    client.subscribe_bluetooth_le_raw_advertisements(
        lambda message: count.__setitem__(0, count[0] + len(message.advertisements)))
    received = []
    for mode in (BluetoothScannerMode.ACTIVE, BluetoothScannerMode.PASSIVE):
        client.bluetooth_scanner_set_mode(mode)
        end = time.monotonic() + 60
        while states[-1:] != [mode.name] and time.monotonic() < end:
            await asyncio.sleep(0.05)
        before = count[0]
        while count[0] == before and time.monotonic() < end:
            await asyncio.sleep(0.05)
        received.append(count[0] > before)
    await client.disconnect()
    return states, received


def test_the_client_chooses_the_mode(proxy):
    states, received = asyncio.run(modes(proxy.port))
    assert "ACTIVE" in states and states[-1] == "PASSIVE"
    assert received == [True, True]
