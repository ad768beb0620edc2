"""Captures that Pharos writes, read by tshark, btmon and Bumble; captures written here, read by Pharos."""
import json
import re
import struct
import subprocess

import pytest
from bumble.apps.show import SnoopPacketReader
from bumble.hci import HCI_Packet

import btsnoop
import frames
import pharos
from test_ad_structures import structures


def tshark(program: str, path, *fields: str) -> list[dict[str, list[str]]]:
    """The named fields of every packet of a capture, as tshark sees them."""
    out = subprocess.run([program, "-r", path, "-T", "json", *[word for field in fields for word in ("-e", field)]],
                         capture_output=True, text=True, timeout=60, check=True).stdout
    return [packet["_source"].get("layers", {}) for packet in json.loads(out)]


def btmon(program: str, path) -> str:
    out = subprocess.run([program, "-r", path], capture_output=True, text=True, timeout=60, check=True).stdout
    return re.sub(r"\x1b\[[0-9;]*m", "", out)


# ---- written by Pharos
@pytest.fixture(scope="module", params=frames.FIXED, ids=lambda frame: frame.name)
def captured(request, tmp_path_factory):
    """A frame, and the capture of half a second on the virtual air with it."""
    path = tmp_path_factory.mktemp("captures") / f"{request.param.name}.btsnoop"
    pharos.checked("advertise", *request.param.options, "--interval-ms", "100", "--adapter", "virtual",
                   "--duration-s", "0.5", "--capture", path)
    return request.param, path


def commands(packets: list[btsnoop.Packet]) -> list[btsnoop.Packet]:
    return [packet for packet in packets if packet.kind == btsnoop.COMMAND]


def test_a_capture_tells_the_whole_story_in_order(captured):
    frame, path = captured
    sent = [command.opcode for command in commands(btsnoop.read(path))]
    family = {0x2036: (0x2036, 0x2037, 0x2039), 0x2006: (0x2006, 0x2008, 0x200A)}
    parameters, data, enable = family[0x2036 if 0x2036 in sent else 0x2006]
    switches = [(number, command.octets[3]) for number, command in enumerate(commands(btsnoop.read(path)))
                if command.opcode == enable]
    switched_on = next(number for number, is_on in switches if is_on)
    assert sent.index(parameters) < sent.index(data) < switched_on < switches[-1][0]
    assert switches[-1][1] == 0
    assert {0x2006, 0x2007, 0x2008, 0x2009, 0x200A}.isdisjoint(sent) or 0x2036 not in sent
    assert any(frame.octets in packet.octets for packet in btsnoop.read(path))


def test_every_command_of_a_capture_is_answered(captured):
    packets = btsnoop.read(captured[1])
    for number, packet in enumerate(packets):
        if packet.kind == btsnoop.COMMAND:
            answers = [struct.unpack_from("<H", later.octets, 3)[0] for later in packets[number:]
                       if later.kind == btsnoop.EVENT and later.octets[0] == 0x0E]
            assert packet.opcode in answers


def test_bumble_reads_a_capture_and_agrees_on_every_packet(captured):
    with open(captured[1], "rb") as file:
        reader, seen = SnoopPacketReader(file), []
        while True:
            _, direction, octets = reader.next_packet()
            if octets is None:
                break
            assert direction == (octets[0] == btsnoop.EVENT)
            assert bytes(HCI_Packet.from_bytes(octets)) == octets
            seen.append(octets)
    assert seen == [packet.h4 for packet in btsnoop.read(captured[1])]


def test_tshark_sees_the_commands_and_the_structures(captured, needs):
    frame, path = captured
    packets = btsnoop.read(path)
    seen = tshark(needs("tshark"), path, "bthci_cmd.opcode", "bthci_evt.code", "btcommon.eir_ad.entry.type",
                  "bthci_cmd.le_advts_interval_min", "bthci_cmd.le_advts_interval_max", "_ws.malformed")
    assert len(seen) == len(packets)
    for packet, layers in zip(packets, seen, strict=True):
        assert "_ws.malformed" not in layers, layers
        if packet.kind == btsnoop.COMMAND:
            assert int(layers["bthci_cmd.opcode"][0], 16) == packet.opcode
        else:
            assert int(layers["bthci_evt.code"][0], 16) == packet.octets[0]
    kinds = [kind for kind, _ in structures(frame.octets)[0]]
    with_data = [layers for packet, layers in zip(packets, seen, strict=True)
                 if packet.kind == btsnoop.COMMAND and packet.opcode in (0x2008, 0x2037)]
    assert with_data and all([int(kind, 16) for kind in layers["btcommon.eir_ad.entry.type"]] == kinds
                             for layers in with_data)
    intervals = [layers[field] for layers in seen for field in layers if "advts_interval" in field]
    assert intervals and all(interval == ["160"] for interval in intervals)


def test_btmon_sees_the_interval_and_the_structures(captured, needs):
    frame, path = captured
    text = btmon(needs("btmon"), path)
    assert "Min advertising interval: 100.000 msec (0x00a0)" in text
    assert "Max advertising interval: 100.000 msec (0x00a0)" in text
    assert re.search(r"invalid|malformed|packet size", text, re.IGNORECASE) is None, text
    shown = {"ibeacon": "Company: Apple, Inc. (76)", "altbeacon": "Company: Radius Networks, Inc. (280)",
             "eddystone-uid": "Data: 00f48b0ca750095477cb3e770000000000020000",
             "eddystone-url": "Data: 10ec03" + "6578616d706c65016e32", "raw": "Name (complete): Phara"}
    assert shown[frame.name] in text


# ---- written here
PACKETS = [btsnoop.command(0x0C03), btsnoop.command_complete(0x0C03)] + [
    report(frame.octets) for frame in frames.FIXED for report in (btsnoop.legacy_report, btsnoop.extended_report)]
DATALINKS = [btsnoop.H1, btsnoop.H4, btsnoop.MONITOR]


@pytest.mark.parametrize("datalink", DATALINKS)
def test_a_capture_written_here_is_one_for_tshark(datalink, tmp_path, needs):
    btsnoop.write(tmp_path / "x.btsnoop", datalink, PACKETS)
    seen = tshark(needs("tshark"), tmp_path / "x.btsnoop", "bthci_evt.code", "btcommon.eir_ad.entry.type")
    found = [[int(kind, 16) for kind in layers["btcommon.eir_ad.entry.type"]]
             for layers in seen if "btcommon.eir_ad.entry.type" in layers]
    assert found == [[kind for kind, _ in structures(frame.octets)[0]] for frame in frames.FIXED for _ in range(2)]


@pytest.mark.parametrize("datalink", DATALINKS)
def test_every_frame_of_a_capture_is_decoded(datalink, tmp_path):
    btsnoop.write(tmp_path / "x.btsnoop", datalink, PACKETS)
    found = pharos.frames_within(pharos.checked("decode", tmp_path / "x.btsnoop", "--json").lines())
    assert [payload["octets"] for payload in found] == [frame.octets.hex() for frame in frames.FIXED for _ in range(2)]
    names = [inner["type"] for payload in found for inner in payload["frames"]]
    assert [name for name in names if name != "raw"] == [
        frame.name for frame in frames.FIXED for _ in range(2) if frame is not frames.RAW]


#: What Wireshark's own tools make of a capture: its format, and the link type of its packets.
CONVERSIONS = [("pcap", "bluetooth-h4"), ("pcap", "bluetooth-h4-linux"), ("nsecpcap", "bluetooth-h4-linux"),
               ("pcapng", "bluetooth-h4-linux")]


@pytest.mark.parametrize("form, link", CONVERSIONS)
def test_a_capture_converted_by_wireshark_is_decoded_alike(form, link, tmp_path, needs):
    source, converted = tmp_path / "x.btsnoop", tmp_path / "x.pcap"
    btsnoop.write(source, btsnoop.H4, PACKETS)
    subprocess.run([needs("editcap"), "-F", form, "-T", link, source, converted], check=True, capture_output=True,
                   timeout=60)
    assert pharos.checked("decode", converted, "--json").out == pharos.checked("decode", source, "--json").out
    assert pharos.checked("decode", "-", "--json", stdin=converted.read_bytes()).out == \
        pharos.checked("decode", source, "--json").out


#: Access address of the advertising channels, as it stands in packets.
ACCESS = bytes.fromhex("d6be898e")


def sniffed(octets: bytes, phy: int) -> bytes:
    """A packet of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR: channel 37, -60 dBm; legacy on 1M, extended on the others."""
    flags = 0x0013 | phy << 14
    header = struct.pack("<bbbBIH", 0, -60, 0, 0, 0x8E89BED6, flags)
    if phy == 0:
        return header + ACCESS + bytes([0x42, 6 + len(octets)]) + btsnoop.ADDRESS + octets + bytes(3)
    body = bytes([7, 0x01]) + btsnoop.ADDRESS + octets
    coding = b"\0" if phy == 2 else b""
    return header + ACCESS + coding + bytes([0x47, len(body)]) + body + bytes(3)


def test_what_a_sniffer_heard_is_what_tshark_sees(tmp_path, needs):
    packets = [sniffed(frame.octets, phy) for frame in frames.FIXED for phy in range(3)]
    path = tmp_path / "x.pcap"
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 256) + b"".join(
        struct.pack("<IIII", 1, number, len(packet), len(packet)) + packet for number, packet in enumerate(packets)))
    found = pharos.checked("decode", path, "--json").lines()
    assert [payload["octets"] for payload in found] == [frame.octets.hex() for frame in frames.FIXED for _ in range(3)]
    seen = tshark(needs("tshark"), path, "btle.advertising_address", "btle_rf.signal_dbm",
                  "btcommon.eir_ad.entry.type")
    for payload, layers in zip(found, seen, strict=True):
        assert [payload["address"].lower()] == layers["btle.advertising_address"]
        assert [str(payload["rssi"])] == layers["btle_rf.signal_dbm"]
        assert [int(kind, 16) for kind in layers["btcommon.eir_ad.entry.type"]] == [
            kind for kind, _ in structures(bytes.fromhex(payload["octets"]))[0]]


def test_standard_input_is_taken_for_a_dash():
    result = pharos.checked("decode", "-", "--json", stdin=frames.UID.octets.hex() + "\n")
    assert pharos.frames_within(result.lines())[0]["frames"][0]["type"] == "eddystone-uid"


def test_a_capture_cut_anywhere_is_an_error_or_read_to_the_cut(tmp_path):
    btsnoop.write(tmp_path / "whole.btsnoop", btsnoop.H4, PACKETS[:4])
    whole = (tmp_path / "whole.btsnoop").read_bytes()
    for length in range(0, len(whole), 7):
        (tmp_path / "cut.btsnoop").write_bytes(whole[:length])
        result = pharos.run("decode", tmp_path / "cut.btsnoop", "--json")
        assert result.code in (0, 65), (length, result)


@pytest.mark.parametrize("datalink", [0, 1003, 1004, 2**32 - 1])
def test_another_datalink_is_refused(datalink, tmp_path):
    btsnoop.write(tmp_path / "x.btsnoop", datalink, PACKETS[:2])
    result = pharos.run("decode", tmp_path / "x.btsnoop")
    assert (result.code, result.out) == (65, "") and str(datalink) in result.err
