"""A legacy controller on a unix socket: sends the reports that a test wants, and shows each command it was given."""
import contextlib
import socket
import struct
import threading

RESET, SCAN_PARAMETERS, SCAN_ENABLE = 0x0C03, 0x200B, 0x200C
RETURNS = {
    0x1001: bytes([9, 0, 0, 9, 0x5D, 0, 1, 0]),  # version 5.0
    0x1002: bytes(64), 0x1003: bytes(8), 0x2003: bytes(8), 0x201C: b"\xff" * 8,
    0x1009: bytes.fromhex("010203040506"), 0x2007: bytes(1), 0x2002: bytes([27, 0, 4]), 0x200F: bytes([8]),
}


def advertising_report(address: str, data: bytes, rssi: int, kind: int = 3) -> bytes:
    """One LE Advertising Report of a random address, as an H4 packet."""
    body = bytes([2, 1, kind, 1]) + bytes.fromhex(address.replace(":", ""))[::-1]
    body += bytes([len(data)]) + data + struct.pack("b", rssi)
    return bytes([4, 0x3E, len(body)]) + body


class ScriptedController:
    """`scripted(PATH)` in a with statement. Reports are sent while the scan is on; others are thrown away."""

    def __init__(self, path, lies: int = 0):
        """`lies`: how often turning the scan on is acknowledged, and not done."""
        self.path, self.lies = path, lies
        self.commands: list[tuple[int, bytes]] = []
        self.is_scanning = False
        self._client: socket.socket | None = None
        self._lock = threading.Lock()
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Whoever waits in accept or recv is woken.
        for each in (self._server, self._client):
            with contextlib.suppress(OSError, AttributeError):
                each.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._server.close()
        self.path.unlink(missing_ok=True)

    def _serve(self):
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            with client:
                self._client, self.is_scanning = client, False
                with contextlib.suppress(OSError):
                    self._answer(client)
                self._client, self.is_scanning = None, False

    def _answer(self, client):
        stream = client.makefile("rb")
        while head := stream.read(4):
            _, opcode, length = struct.unpack("<BHB", head)
            parameters = stream.read(length)
            self.commands.append((opcode, parameters))
            status, returned = self._do(opcode, parameters)
            body = bytes([1]) + struct.pack("<H", opcode) + bytes([status]) + (returned if status == 0 else b"")
            with self._lock:
                client.sendall(bytes([4, 0x0E, len(body)]) + body)

    def _do(self, opcode, parameters):
        if opcode == RESET:
            self.is_scanning = False
        elif opcode == SCAN_PARAMETERS:
            return (0x0C if self.is_scanning else 0), b""
        elif opcode == SCAN_ENABLE:
            if parameters[0] and self.lies:
                self.lies -= 1
            else:
                self.is_scanning = bool(parameters[0])
        elif opcode not in RETURNS and opcode not in (0x0C01, 0x2001, 0x0C63):
            return 1, b""
        return 0, RETURNS.get(opcode, b"")

    def send(self, *reports: bytes) -> bool:
        """Sends reports to the host; `False` if the host is not scanning."""
        client = self._client
        if client is None or not self.is_scanning:
            return False
        try:
            with self._lock:
                client.sendall(b"".join(reports))
        except OSError:
            return False
        return True
