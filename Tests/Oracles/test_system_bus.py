"""What a real message bus and a real systemd-timedated say of the clock, where the kernel may not be asked."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pharos

WORLD = Path(__file__).resolve().parent / "bus_world.py"
KEPT, LOST, UNKNOWN = "it is kept right", "nobody keeps it right", "cannot be asked here"


@pytest.fixture
def clock(needs):
    """`clock("true")`: what doctor says of the clock where timedated answers so, the seconds it took, the noise."""
    needs("dbus-daemon")
    space = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        space.append("--map-root-user")

    def ask(kind):
        start = time.monotonic()
        done = subprocess.run([*space, sys.executable, WORLD, kind, pharos.PROGRAM, "doctor", "--json"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.stdout, done.stderr
        findings = [each for each in json.loads(done.stdout)["findings"] if each["topic"] == "clock"]
        assert len(findings) == 1
        return findings[0], time.monotonic() - start, done.stderr

    return ask


@pytest.mark.parametrize("kind, words", [("true", KEPT), ("false", LOST), ("none", UNKNOWN), ("error", UNKNOWN)])
def test_the_answer_of_the_bus_is_believed(clock, kind, words):
    finding, _, _ = clock(kind)
    assert words in finding["message"]
    assert finding["mark"] == ("warn" if kind == "false" else "ok")


@pytest.mark.parametrize("kind", ["bare", "empty", "number", "text", "nested", "long", "big-endian", "leaves"])
def test_other_answers_are_none(clock, kind):
    finding, _, _ = clock(kind)
    assert UNKNOWN in finding["message"]


@pytest.mark.parametrize("kind", ["slow", "silent"])
def test_nobody_waits_for_a_slow_answer(clock, kind):
    finding, seconds, _ = clock(kind)
    assert UNKNOWN in finding["message"]
    assert seconds < 2


def test_timedated_of_systemd_is_understood(clock):
    if not os.access("/usr/lib/systemd/systemd-timedated", os.X_OK):
        pytest.fail("systemd-timedated is not installed: apt-get install systemd")
    finding, _, said = clock("timedated")
    told = [line for line in said.splitlines() if line in ("b true", "b false")]
    assert len(told) == 1, said
    assert (KEPT if told == ["b true"] else LOST) in finding["message"]
