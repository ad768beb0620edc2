"""A bridge between a host and a controller on unix sockets: what passes is kept, and reports may be changed or dropped.

Core Specification 5.4: Vol 4 Part A 2 (H4), Vol 4 Part E 7.7.65.2 and 7.7.65.13 (advertising reports).
"""
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

SCAN_ENABLE = {0x200C, 0x2042}
ADVERTISING_ENABLE = {0x200A, 0x2039}


class Report(NamedTuple):
    """An event with one advertising report."""

    at: float
    is_legacy_pdu: bool
    data: bytes
    rssi: int
    packet: bytes

    def with_rssi(self, rssi: int) -> bytes:
        """The same packet with another level."""
        octets = bytearray(self.packet)
        octets[-1 if octets[3] == 0x02 else 18] = rssi & 255
        return bytes(octets)


def report_of(packet: bytes) -> Report | None:
    """What an event says, if it is an advertising report."""
    if packet[:2] != b"\4\x3e" or packet[3] not in (0x02, 0x0D):
        return None
    assert packet[4] == 1, "these controllers tell one report an event"
    if packet[3] == 0x02:
        length = packet[13]
        return Report(time.monotonic(), True, packet[14:14 + length], struct.unpack("b", packet[-1:])[0], packet)
    kind, = struct.unpack_from("<H", packet, 5)
    rssi, = struct.unpack_from("b", packet, 18)
    return Report(time.monotonic(), bool(kind & 0x10), packet[29:29 + packet[28]], rssi, packet)


class Bridge:
    """Listens at `path`; each connection becomes one to the controller at `controller`.

    `judge` is asked of each report: what to hand on instead of it, or nothing.
    """

    def __init__(self, path: Path, controller: Path, judge: Callable[[Report], bytes | None] | None = None):
        self.address = f"unix:{path}"
        self.judge = judge or (lambda report: report.packet)
        #: Opcode and parameters of each command.
        self.commands: list[tuple[int, bytes]] = []
        #: The reports that were passed to the host, with their levels.
        self.reports: list[Report] = []
        self._controller = str(controller)
        self._sockets: list[socket.socket] = []
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(path))
        self._door.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        try:
            while True:
                host, _ = self._door.accept()
                controller = socket.socket(socket.AF_UNIX)
                controller.connect(self._controller)
                self._sockets += [host, controller]
                for source, target, hand in ((host, controller, self._down), (controller, host, self._up)):
                    threading.Thread(target=self._pump, args=(source, target, hand), daemon=True).start()
        except OSError:
            pass

    def _pump(self, source, target, hand):
        try:
            while packet := _packet(source):
                passed = hand(packet)
                try:
                    target.sendall(passed or b"")
                except OSError:
                    # The other side is gone. What this side has already sent is still read and kept.
                    pass
        except OSError:
            pass
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _down(self, packet):
        self.commands.append((struct.unpack_from("<H", packet, 1)[0], packet[4:]))
        return packet

    def _up(self, packet):
        report = report_of(packet)
        if report is None:
            return packet
        passed = self.judge(report)
        if passed is not None:
            self.reports.append(report_of(passed))
        return passed

    def last(self, opcodes: set[int]) -> bytes | None:
        """The parameters of the last command of these."""
        return next((parameters for opcode, parameters in reversed(self.commands) if opcode in opcodes), None)

    def is_quiet(self) -> bool:
        """Whether the last commands have turned off what was turned on."""
        return all(not (last := self.last(opcodes)) or last[0] == 0 for opcodes in (SCAN_ENABLE, ADVERTISING_ENABLE))

    def cut(self):
        """Ends every connection, as a radio does that is pulled out."""
        for each in self._sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self._door.close()
        self.cut()


class SharedBridge(Bridge):
    """All hosts have one controller, as with a program that serves a board to several connections.

    Each host receives all events, those that answer another host too.
    """

    def __init__(self, path: Path, controller: Path):
        self._hosts: list[socket.socket] = []
        self._board = socket.socket(socket.AF_UNIX)
        self._board.connect(str(controller))
        self._turn = threading.Lock()
        super().__init__(path, controller)
        self._sockets.append(self._board)
        threading.Thread(target=self._spread, daemon=True).start()

    def _accept(self):
        try:
            while True:
                host, _ = self._door.accept()
                self._hosts.append(host)
                self._sockets.append(host)
                threading.Thread(target=self._collect, args=(host,), daemon=True).start()
        except OSError:
            pass

    def _collect(self, host):
        try:
            while packet := _packet(host):
                with self._turn:
                    self._board.sendall(self._down(packet))
        except OSError:
            pass
        self._hosts.remove(host)

    def _spread(self):
        try:
            while packet := _packet(self._board):
                for host in list(self._hosts):
                    try:
                        host.sendall(packet)
                    except OSError:
                        pass
        except OSError:
            pass


def _packet(source) -> bytes:
    """The next H4 packet; nothing at the end of the stream."""
    kind = source.recv(1)
    if not kind:
        return b""
    head = _take(source, 3 if kind == b"\1" else 2)
    return kind + head + _take(source, head[-1])


def _take(source, count: int) -> bytes:
    octets = b""
    while len(octets) < count:
        piece = source.recv(count - len(octets))
        if not piece:
            raise OSError("the stream ends within a packet")
        octets += piece
    return octets
