"""A small Bluetooth host over H4, written from the Core Specification and sharing nothing with the program under test.

Core Specification 5.4: Vol 4 Part A 2 (H4), Vol 4 Part E 7.3 and 7.8 (commands), 7.7.65 (LE events).
"""
import itertools
import queue
import socket
import statistics
import struct
import threading
import time
from typing import NamedTuple
from collections.abc import Callable

RESET, SET_EVENT_MASK = 0x0C03, 0x0C01
LE_SET_EVENT_MASK, LE_READ_FEATURES, LE_SET_RANDOM_ADDRESS = 0x2001, 0x2003, 0x2005
LE_ADV_PARAMETERS, LE_ADV_DATA, LE_SCAN_RESPONSE_DATA, LE_ADV_ENABLE = 0x2006, 0x2008, 0x2009, 0x200A
LE_SCAN_PARAMETERS, LE_SCAN_ENABLE = 0x200B, 0x200C
LE_SET_ADDRESS, LE_EXT_ADV_PARAMETERS, LE_EXT_ADV_DATA, LE_EXT_ADV_ENABLE = 0x2035, 0x2036, 0x2037, 0x2039
LE_EXT_SCAN_PARAMETERS, LE_EXT_SCAN_ENABLE = 0x2041, 0x2042
EVENT_MASK, LE_ALL = bytes.fromhex("ffffffffff1f0020"), bytes.fromhex("ffffffffff000000")


class Report(NamedTuple):
    """One advertising report, legacy or extended."""

    at: float
    #: As in an extended report: bits 0 connectable, 1 scannable, 3 scan response, 4 legacy PDU.
    kind: int
    address: str
    is_random: bool
    rssi: int
    octets: bytes


class Host:
    """One connection to one controller."""

    LEGACY_KINDS = {0: 0x13, 1: 0x15, 2: 0x12, 3: 0x10, 4: 0x1B}

    def __init__(self, address: str):
        kind, _, place = address.partition(":")
        if kind == "unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(place)
        else:
            host, _, port = place.rpartition(":")
            self.socket = socket.create_connection((host, int(port)), 5)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.settimeout(None)
        self.answers: queue.Queue = queue.Queue()
        self.reports: queue.Queue = queue.Queue()
        self.terminated: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    # ---- commands
    def send(self, octets: bytes):
        self.socket.sendall(octets)

    def status(self, opcode: int, parameters: bytes = b"", timeout: float = 5) -> int:
        return self.command(opcode, parameters, timeout)[0]

    def command(self, opcode: int, parameters: bytes = b"", timeout: float = 5) -> bytes:
        """Sends one command; its return parameters, the status first."""
        self.send(struct.pack("<BHB", 1, opcode, len(parameters)) + parameters)
        deadline = time.monotonic() + timeout
        while True:
            try:
                answered, returned = self.answers.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no answer to {opcode:#06x}") from None
            if answered == opcode:
                return returned

    def done(self, opcode: int, parameters: bytes = b"") -> bytes:
        """Sends one command that must succeed; what it returns after the status."""
        returned = self.command(opcode, parameters)
        assert returned[0] == 0, f"{opcode:#06x} {parameters.hex()}: status {returned[0]:#04x}"
        return returned[1:]

    def reset(self):
        self.done(RESET)
        self.done(SET_EVENT_MASK, EVENT_MASK)
        self.done(LE_SET_EVENT_MASK, LE_ALL)

    def has_extended_advertising(self) -> bool:
        return bool(struct.unpack("<Q", self.done(LE_READ_FEATURES))[0] >> 12 & 1)

    # ---- scanning
    def scan(self, active: bool = False):
        """Listens all the time, without a filter of duplicates.

        Window = interval = 10.24 s: on one channel for long, so that no change of channel falls into an event.
        """
        self.reset()
        if self.has_extended_advertising():
            self.done(LE_EXT_SCAN_PARAMETERS, struct.pack("<BBBBHH", 0, 0, 1, active, 0x4000, 0x4000))
            self.done(LE_EXT_SCAN_ENABLE, bytes([1, 0, 0, 0, 0, 0]))
        else:
            self.done(LE_SCAN_PARAMETERS, struct.pack("<BHHBB", active, 0x4000, 0x4000, 0, 0))
            self.done(LE_SCAN_ENABLE, bytes([1, 0]))

    def heard(self, count: int, octets: bytes | None = None, timeout: float = 15) -> list[Report]:
        """The next reports, of one payload if named."""
        found, deadline = [], time.monotonic() + timeout
        while len(found) < count:
            try:
                report = self.reports.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"heard {len(found)} of {count} in {timeout} s: {found[-3:]}") from None
            if octets is None or report.octets == octets:
                found.append(report)
        return found

    def times(self, count: int, octets: bytes | None = None) -> list[float]:
        """When the next reports come."""
        return [report.at for report in self.heard(count, octets)]

    def heard_within(self, seconds: float) -> list[Report]:
        """What comes from now on for some seconds."""
        while not self.reports.empty():
            self.reports.get()
        time.sleep(seconds)
        return [self.reports.get() for _ in range(self.reports.qsize())]

    # ---- events
    def _read(self):
        try:
            while True:
                kind = self._take(1)[0]
                assert kind == 4, f"packet type {kind} from a controller"
                code, length = self._take(2)
                self._event(code, self._take(length))
        except (OSError, EOFError):
            pass

    def _take(self, count: int) -> bytes:
        octets = b""
        while len(octets) < count:
            piece = self.socket.recv(count - len(octets))
            if not piece:
                raise EOFError
            octets += piece
        return octets

    def _event(self, code: int, body: bytes):
        if code == 0x0E:
            self.answers.put((struct.unpack_from("<H", body, 1)[0], body[3:]))
        elif code == 0x0F:
            self.answers.put((struct.unpack_from("<H", body, 2)[0], body[:1]))
        elif code == 0x3E and body[0] == 0x02:
            self._legacy_reports(body[1], body[2:])
        elif code == 0x3E and body[0] == 0x0D:
            self._extended_reports(body[1], body[2:])
        elif code == 0x3E and body[0] == 0x12:
            self.terminated.append(body[1:])

    def _legacy_reports(self, count: int, body: bytes):
        now = time.monotonic()
        for _ in range(count):
            kind, is_random, address, length = struct.unpack_from("<BB6sB", body)
            octets, rssi = body[9:9 + length], struct.unpack_from("b", body, 9 + length)[0]
            self.reports.put(Report(now, self.LEGACY_KINDS[kind], _text(address), bool(is_random), rssi, octets))
            body = body[10 + length:]

    def _extended_reports(self, count: int, body: bytes):
        now = time.monotonic()
        for _ in range(count):
            kind, is_random, address, rssi, length = struct.unpack_from("<HB6s4xb9xB", body)
            self.reports.put(Report(now, kind, _text(address), bool(is_random), rssi, body[24:24 + length]))
            body = body[24 + length:]

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


def _text(address: bytes) -> str:
    return ":".join(f"{octet:02X}" for octet in reversed(address))


def assert_interval(times: list[float], interval_ms: float, delay_ms: float = 10, more: Callable | None = None):
    """Events come at an interval plus up to `delay_ms` of random delay.

    Judged by the median and by the mean of the spacing, either of which a stall of a loaded machine leaves alone; where
    it spoils both, `more` hears again, three times at most. From 50 ms up the room is far too small for a wrong unit:
    0.625 or 1.6 times the interval fails however often it is heard.
    """
    assert interval_ms >= 50, "too short an interval to tell apart from a wrong unit"
    least, most = 0.92 * interval_ms, 1.3 * (interval_ms + delay_ms)
    measured = []
    for attempt in range(4 if more else 1):
        heard = more() if attempt else times
        gaps = [1000 * (later - earlier) for earlier, later in itertools.pairwise(heard)]
        measured.append((round(statistics.median(gaps), 1), round(statistics.mean(gaps), 1)))
        if any(least <= value <= most for value in measured[-1]):
            return
    raise AssertionError(f"median and mean {measured} ms where {least:.1f}...{most:.1f} were expected")
