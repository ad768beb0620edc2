"""Programs for arm64 on an amd64 machine: the kernel itself starts Debian's qemu-user for them (binfmt_misc)."""

import contextlib
import platform
import shutil
import signal
import subprocess
import sys
from pathlib import Path

EMULATOR = "qemu-aarch64-static"
KERNEL = Path("/proc/sys/fs/binfmt_misc")
NAME = "pharos-arm64"
# An ELF file of 64 bits, little-endian, a program or a library, for AArch64; from the kernel's admin-guide/binfmt-misc.
MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"


class NoEmulation(Exception):
    """This machine cannot run programs for arm64; the message says why."""


@contextlib.contextmanager
def arm64_programs():
    """While this lasts, the kernel runs programs for arm64, in every chroot too. Needs root if it does not already.

    Raises NoEmulation.
    """
    if platform.machine() == "aarch64" or (KERNEL / "qemu-aarch64").exists():
        yield
        return
    emulator = shutil.which(EMULATOR)
    if not emulator:
        raise NoEmulation(f"{EMULATOR} is missing; install Debian's package qemu-user-static")
    # A signal that ends this program ends the emulation, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    mounted = False
    if not (KERNEL / "register").exists():
        done = subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", KERNEL], capture_output=True, text=True)
        if done.returncode != 0:
            raise NoEmulation(f"the kernel's binfmt_misc cannot be mounted: {done.stderr.strip()}")
        mounted = True
    try:
        # F: the kernel opens the emulator now, so that it need not be in a chroot.
        try:
            (KERNEL / "register").write_text(f":{NAME}:M::{MAGIC}:{MASK}:{emulator}:F")
        except OSError as error:
            raise NoEmulation(f"the kernel does not take {EMULATOR} as an interpreter: {error.strerror}") from None
        yield
    finally:
        if (KERNEL / NAME).exists():
            (KERNEL / NAME).write_text("-1")
        if mounted:
            subprocess.run(["umount", KERNEL], check=False)
