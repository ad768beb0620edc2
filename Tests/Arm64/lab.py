"""The lab's guests on Debian's kernels for arm64, which have pages of 4 or of 16 KiB."""

import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Lab"))
from host.architecture import arm64  # noqa: E402
from host.guests import GuestRun, join_initramfs, planned, prepare  # noqa: E402


class Machine(NamedTuple):
    """A kernel and a processor."""

    name: str
    suites: list[str]
    # The package that depends on the kernel's image.
    kernel: str
    processor: str


MACHINES = [
    Machine("4 KiB", ["bookworm"], "linux-image-arm64", "cortex-a72"),
    Machine("16 KiB", ["trixie"], "linux-image-arm64-16k", "cortex-a76"),
]
# Those that need no program for amd64; the shortest first, because the time is limited.
GUESTS = ["controller", "btvirt", "recovery", "bluetoothd", "hearing"]
# In seconds of a processor, for one guest.
LIMIT = 900


def prepare_machine(machine, folder, pharos):
    """The cache of a machine, and the file systems of its guests. Raises PreparationError."""
    cache = prepare(folder / f"lab-{machine.suites[0]}", machine.suites, machine.kernel, arm64(machine.processor))
    return cache, join_initramfs(cache, pharos)


def run(prepared, guest):
    """The finished guest: its outcomes, what it measured and its time."""
    cache, initramfs = prepared
    return GuestRun(cache, guest, initramfs, planned(guest), LIMIT)
