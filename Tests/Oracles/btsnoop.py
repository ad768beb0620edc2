"""btsnoop files, written and read by a few lines of our own (RFC 1761 with Bluetooth's datalinks)."""
import struct
from pathlib import Path
from typing import NamedTuple

H1, H4, MONITOR = 1001, 1002, 2001
COMMAND, EVENT = 1, 4
#: Microseconds between the year 0 of btsnoop and 2000-01-01.
YEAR_2000 = 0x00E03AB44A676000


class Packet(NamedTuple):
    kind: int
    #: Without the packet type.
    octets: bytes

    @property
    def h4(self) -> bytes:
        return bytes([self.kind]) + self.octets

    @property
    def opcode(self) -> int:
        """Of a command."""
        return struct.unpack_from("<H", self.octets)[0]


def write(path: Path, datalink: int, packets: list[Packet]):
    """A capture in which one packet comes every 100 ms."""
    records = []
    for number, packet in enumerate(packets):
        from_controller = packet.kind == EVENT
        if datalink == MONITOR:
            flags, octets = 0 << 16 | (3 if from_controller else 2), packet.octets
        else:
            flags, octets = 2 | from_controller, packet.h4 if datalink == H4 else packet.octets
        records.append(struct.pack(">IIIIQ", len(octets), len(octets), flags, 0, YEAR_2000 + number * 100_000) + octets)
    path.write_bytes(b"btsnoop\0" + struct.pack(">II", 1, datalink) + b"".join(records))


def read(path: Path) -> list[Packet]:
    """The packets of an H4 capture. The directions that the flags state must be those of the packets."""
    octets = path.read_bytes()
    assert octets[:16] == b"btsnoop\0" + struct.pack(">II", 1, H4), octets[:16].hex()
    packets, at = [], 16
    while at < len(octets):
        original, included, flags, _, _ = struct.unpack_from(">IIIIQ", octets, at)
        body = octets[at + 24:at + 24 + included]
        assert original == included == len(body) > 0
        assert flags == (2 | (body[0] == EVENT)), f"flags {flags} of packet type {body[0]}"
        packets.append(Packet(body[0], body[1:]))
        at += 24 + included
    return packets


#: C6:05:04:03:02:01, static random, as it stands in packets.
ADDRESS = bytes.fromhex("0102030405c6")


def legacy_report(octets: bytes, kind: int = 3) -> Packet:
    body = struct.pack("<BBBB6sB", 2, 1, kind, 1, ADDRESS, len(octets)) + octets + struct.pack("b", -60)
    return Packet(EVENT, bytes([0x3E, len(body)]) + body)


def extended_report(octets: bytes, kind: int = 0x10) -> Packet:
    body = struct.pack("<BBHB6sBBBbbHB6sB", 0x0D, 1, kind, 1, ADDRESS, 1, 0, 0xFF, 127, -60, 0, 0, bytes(6),
                       len(octets)) + octets
    return Packet(EVENT, bytes([0x3E, len(body)]) + body)


def command(opcode: int, parameters: bytes = b"") -> Packet:
    return Packet(COMMAND, struct.pack("<HB", opcode, len(parameters)) + parameters)


def command_complete(opcode: int, returned: bytes = b"\0") -> Packet:
    body = struct.pack("<BH", 1, opcode) + returned
    return Packet(EVENT, bytes([0x0E, len(body)]) + body)
