"""The progress of long commands, which is shown on terminals only."""
import fcntl
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
from typing import NamedTuple

import pytest

import pharos
from test_scan import address, ibeacon, recording, report

ERASE = "\r\x1b[K"
COUNT = r"\d+ of (about )?\d+ [a-z]+"
WORKS = r"working, \d+ s"
UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"


class Seen(NamedTuple):
    """What came to standard error until the end, and after how many seconds it began."""

    code: int
    text: str
    began: float

    @property
    def lines(self) -> list[str]:
        """What stood on the line of the terminal, one after the other."""
        return [part.split("\n")[-1] for part in self.text.split(ERASE)[1:]]


def seen(arguments, term="xterm", columns=80, has_terminal=True, stdout=subprocess.DEVNULL, ends_after=None) -> Seen:
    """Runs a command whose standard error is a terminal of this kind, or a pipe.

    It is held for a second as soon as it counts the seconds, and once more when it has begun with its work, so that it
    takes long on every machine; it gets Ctrl-C where `ends_after` says when.
    """
    reader, writer = os.openpty() if has_terminal else os.pipe()
    if has_terminal:
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    start, began, octets = time.monotonic(), 0.0, b""
    process = subprocess.Popen([pharos.PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stderr=writer,
                               stdout=writer if stdout is None else stdout, env={**os.environ, "TERM": term})
    os.close(writer)
    # The clock is read before the thread that looks at it begins.
    while process.poll() is None and len(os.listdir(f"/proc/{process.pid}/task")) < 2 and time.monotonic() < start + 5:
        time.sleep(0.001)
    for before in (0, 0.03):
        time.sleep(before)
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.05)
        process.send_signal(signal.SIGCONT)
    try:
        while time.monotonic() < start + 100:
            if ends_after and time.monotonic() > start + ends_after:
                process.send_signal(signal.SIGINT)
                ends_after = None
            if not select.select([reader], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(reader, 1 << 16)
            except OSError:  # a terminal that everybody has left
                break
            if not piece:
                break
            began = began or time.monotonic() - start
            octets += piece
    finally:
        os.close(reader)
        if process.poll() is None and time.monotonic() > start + 100:
            process.kill()
    return Seen(process.wait(60), octets.decode(), began)


#: Never precise enough.
SIMULATION = ["plan", "simulate", "collisions", "--beacons", "50", "--interval-ms", "100", "--precision", "0.0001"]


def simulation(**options) -> Seen:
    run = seen(SIMULATION, ends_after=4, **options)
    assert run.code == 1
    return run


def test_a_terminal_shows_one_line_and_takes_it_away():
    run = simulation()
    assert run.began > 0.9
    assert len(run.lines) >= 3
    assert run.lines[-1] == "" and not run.text.split(ERASE)[0]
    # A busy machine may take more than a second for the first batches.
    assert all(re.match(f"{COUNT}|{WORKS}", line) for line in run.lines[:-1])
    assert "batches: 0." in run.lines[-2] and "±" in run.lines[-2]


def test_no_line_is_longer_than_a_narrow_window():
    shown = [line for line in simulation(columns=20).lines if line]
    assert shown and max(map(len, shown)) == 19 and all(line.endswith("…") for line in shown if len(line) == 19)


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_dumb_terminal_gets_few_whole_lines(term):
    run = simulation(term=term)
    assert "\x1b" not in run.text
    lines = run.text.split("\r\n")
    assert lines.pop() == ""
    # A busy machine has played a few batches by then, and does not see the end yet.
    assert len(lines) == 1 and re.fullmatch(rf"{COUNT}.*|{WORKS}|\d+ batches", lines[0])


def test_nobody_else_sees_anything():
    assert simulation(has_terminal=False).text == ""


def test_quick_commands_show_nothing():
    assert pharos.checked("plan", "thesis", "--beacons", "250").err == ""


def test_an_answer_on_the_same_terminal_stands_alone():
    run = simulation(stdout=None)
    assert len(run.lines) >= 3
    # A terminal's lines are broken between words.
    assert "reach a receiver without a collision" in " ".join(run.text.split(ERASE)[-1].split())


# ---- each kind of command that may take more than a second
@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A fleet of a size that keeps every command busy, its profiles, and a capture as large."""
    folder = tmp_path_factory.mktemp("large")
    count = 4_000
    (folder / "f.json").write_text(json.dumps({
        "version": 1, "name": "f", "identities": {"minor": {"within": "fleet"}},
        "template": {"advertisements": [
            {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": "${minor}", "measuredPowerDbm": -59,
             "intervalMs": 1000},
            {"type": "eddystone-eid", "identityKeyFile": "keys/${name}.key", "rotationExponent": 4,
             "intervalMs": 5000, "measuredPowerDbm": -18}]},
        "groups": [{"name": "first"}, {"name": "rest"}],
        "beacons": [{"name": f"b{n}", "host": f"pi-{n}", "position": [n, 1], "group": "first" if n < 250 else "rest"}
                    for n in range(count)]}))
    pharos.checked("fleet", "generate", folder / "f.json", "--output", folder / "out", timeout=120)
    recording(folder / "c.btsnoop", [(n, report(address(n), ibeacon(1, n % 65536), -60)) for n in range(20_000)])
    (folder / "hall.json").write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [60, 0], [60, 30], [0, 30]],
        "beacons": [{"name": "a", "position": [1, 1]}],
        "defaults": {"intervalMs": 1000, "radioPowerDbm": -12},
        "target": {"detectWithinS": 5, "probability": 0.9}}))
    return folder


COMMANDS = {
    # Most of the time is for reading, which has no progress.
    "fleet check": (f"{COUNT}|{WORKS}", "fleet check f.json"),
    "fleet generate": (COUNT, "fleet generate f.json --output new"),
    "fleet diff": (WORKS, "fleet diff f.json --against out"),
    "fleet list": (WORKS, "fleet list out"),
    "fleet export csv": (WORKS, "fleet export csv out --output out.csv"),
    "fleet export ansible": (WORKS, "fleet export ansible out --output ansible"),
    "fleet labels": (f"{COUNT}|{WORKS}", "fleet labels out --group first --output labels/l.svg"),
    "fleet keys generate": (COUNT, "fleet keys generate out --keys k1"),
    "fleet keys agree": (COUNT, f"fleet keys agree out --keys k2 --resolver-public-key 09{'00' * 31}"),
    "fleet keys collect": (WORKS, "fleet keys collect out --keys k1 --output ring"),
    "fleet keys resolve": (WORKS, "fleet keys resolve 0011223344556677 out --keys k1"),
    "plan site --propose": (f"{COUNT}|{WORKS}", "plan site hall.json --propose --places 300"),
    "plan simulate latency": (COUNT, "plan simulate latency --beacons 50 --interval-ms 100 --precision 0.02"),
    "plan simulate --shard": (COUNT, " ".join(SIMULATION[:-1]) + " 0.006 --shard 1/2"),
    "plan density": (
        WORKS, "plan density --interval-ms 500 --detect-within-s 10 --probability 0.95 --scanner android-low-power"),
    "plan interval": (WORKS, "plan interval --beacons 50 --max-throughput"),
    "decode": (WORKS, "decode c.btsnoop --json"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_takes_long_says_so(name, large, monkeypatch):
    monkeypatch.chdir(large)
    (large / "labels").mkdir(exist_ok=True)
    form, words = COMMANDS[name]
    # Some commands take 20 ms, so they may end before they are held. Between two lines lies a tenth of a second, so a
    # command may end before it shows a count. Both are tried again.
    before = set(large.iterdir())
    for _ in range(6):
        run = seen(words.split(" "))
        shown = [line for line in run.lines if line]
        if any(re.match(form, line) for line in shown):
            break
        # It has the same to do again.
        for path in set(large.iterdir()) - before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert run.began > 0.9, run.text[-500:]
    assert any(re.match(form, line) for line in shown), shown[:5]
    assert all(re.match(f"{COUNT}|{WORKS}|[0-9]+ [a-z]", line) for line in shown), shown[:5]
    assert run.lines[-1] == ""
