"""Programs that run during a test and are read line by line: pharos itself, controllers, scanners."""
import contextlib
import json
import os
import pty
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from collections.abc import Callable

import rootcanal

HERE = Path(__file__).resolve().parent
ROOTCANAL = Path(rootcanal.__file__).parent / "bin" / "linux-x86_64" / "rootcanal"
#: Debian packages of the programs that are not from PyPI.
PACKAGES = {
    "ansible-lint": "ansible-lint", "ansible-playbook": "ansible-core", "fish": "fish", "zsh": "zsh",
    "btmon": "bluez", "node": "nodejs", "promtool": "prometheus", "rsvg-convert": "librsvg2-bin",
    "tshark": "tshark", "zbarimg": "zbar-tools",
}


class Peer:
    """One process. Its standard output is read line by line; lines that are JSON objects become dictionaries."""

    def __init__(self, *arguments, **options):
        self.arguments = [str(argument) for argument in arguments]
        self.process = subprocess.Popen(
            self.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace", **options)
        self.lines: list = []
        self.errors = ""
        self._queue: queue.Queue = queue.Queue()
        self._readers = [threading.Thread(target=reader, daemon=True) for reader in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read(self):
        for text in self.process.stdout:
            self._queue.put((time.monotonic(), text))
        self._queue.put(None)

    def _read_errors(self):
        for text in self.process.stderr:
            self.errors += text

    def next(self, deadline: float):
        """The next line, `None` at the end of the output. Lines that are not JSON are returned as `{"text": …}`."""
        try:
            item = self._queue.get(timeout=max(0, deadline - time.monotonic()))
        except queue.Empty:
            said = f"so far {self.lines[-5:]}, errors {self.errors!r}"
            raise AssertionError(f"{self} said nothing in time; {said}") from None
        if item is None:
            self._queue.put(None)
            return None
        at, text = item
        try:
            line = json.loads(text)
        except ValueError:
            line = None
        if not isinstance(line, dict):
            line = {"text": text.rstrip("\n")}
        line["read_at"] = at
        self.lines.append(line)
        return line

    def wait(self, wanted: Callable[[dict], bool], timeout: float = 10) -> dict:
        """The next line that is wanted."""
        deadline = time.monotonic() + timeout
        while True:
            line = self.next(deadline)
            if line is None:
                said = f"so far {self.lines[-5:]}, errors {self.errors!r}"
                raise AssertionError(f"{self} ended with {self.process.wait()}; {said}")
            if wanted(line):
                return line

    def collect(self, wanted: Callable[[dict], bool], count: int, timeout: float = 20) -> list[dict]:
        """The next `count` lines that are wanted."""
        deadline = time.monotonic() + timeout
        return [self.wait(wanted, deadline - time.monotonic()) for _ in range(count)]

    def during(self, seconds: float) -> list[dict]:
        """Every line that comes within some seconds from now, those that were waiting left out."""
        while not self._queue.empty():
            self.next(time.monotonic() + 1)
        found, deadline = [], time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                line = self.next(deadline)
            except AssertionError:
                break
            if line is None:
                break
            found.append(line)
        return found

    def interrupt(self, how=signal.SIGINT, timeout: float = 10) -> int:
        """Ends the process as a user does; its exit code."""
        self.process.send_signal(how)
        return self.process.wait(timeout)

    def exit_code(self, timeout: float = 15) -> int:
        code = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(5)
        return code

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(5)

    def __str__(self):
        return " ".join(self.arguments)


def on_terminal(steps: list[tuple[str, bytes]], *arguments, seconds: float = 30, cwd=None) -> tuple[int, str, float]:
    """Runs a program on a terminal of its own, which passes Ctrl-C on as a signal.

    Each step is a text and the keys to press as soon as the program has written this text. Returns the exit code
    (negative after a signal), the text on the terminal, and the seconds from the last key to the end of the program.
    """
    process, terminal = pty.fork()
    if process == 0:
        with contextlib.suppress(OSError):
            if cwd is not None:
                os.chdir(cwd)
            # A shell that starts the tests in the background makes them, and their programs, ignore Ctrl-C.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.environ["TERM"] = "xterm"
            os.execv(str(arguments[0]), [str(argument) for argument in arguments])
        os._exit(127)
    waiting, text, seen, end = list(steps), "", 0, time.monotonic() + seconds
    pressed = time.monotonic()
    with contextlib.suppress(OSError):
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            octets = os.read(terminal, 1 << 16)
            if not octets:
                break
            text += octets.decode(errors="replace")
            while waiting and (place := text.find(waiting[0][0], seen)) >= 0:
                seen = place + len(waiting[0][0])
                os.write(terminal, waiting.pop(0)[1])
                pressed = time.monotonic()
    lasted = time.monotonic() - pressed
    if time.monotonic() >= end:
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(terminal)
    assert not waiting, f"{arguments} did not write {waiting[0][0]!r}: {text}"
    return code, text, lasted


def free_port() -> int:
    """A free TCP port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_rootcanal(start) -> tuple[str, str]:
    """rootcanal behind two addresses on loopback: every connection is a controller of its own, all on one air.

    The controllers of the first address have extended advertising, those of the second have not.
    """
    with socket.create_server(("127.0.0.1", 0)) as extended, socket.create_server(("127.0.0.1", 0)) as legacy:
        doors = [extended.fileno(), legacy.fileno()]
        alone = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
        peer = start(*alone, sys.executable, HERE / "rootcanal_on_loopback.py", *doors, ROOTCANAL, pass_fds=doors)
        peer.wait(lambda line: line.get("text") == "listening", 15)
        return tuple(f"tcp:127.0.0.1:{door.getsockname()[1]}" for door in (extended, legacy))


def start_strict_controller(start, transport: str, *options) -> Peer:
    """strict_controller.py, serving one controller and scanning with another; ready when this returns."""
    peer = start(sys.executable, "-u", HERE / "strict_controller.py", "--transport", transport, *options,
                 env={**os.environ, "PYTHONUNBUFFERED": "1"})
    peer.wait(lambda line: line.get("kind") == "ready", 20)
    return peer
