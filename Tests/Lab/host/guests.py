"""The steps that every command of the lab takes: fill the cache, plan the tests, make the file systems, run a guest."""

import os
import secrets
import shutil
import subprocess
import time

from .cache import LAB, Cache
from .errors import PreparationError
from .initramfs import Archive
from .architecture import AMD64
from .machine import ONE_PROCESSOR, run_guest
from .report import outcomes

CHECKOUT = LAB.parent.parent


def prepare(folder, suites=(), image="", architecture=AMD64):
    """The cache, filled. Raises PreparationError if something is missing."""
    if not shutil.which(architecture.qemu):
        lines = (LAB / architecture.packages).read_text().splitlines()
        names = " ".join(line for line in lines if line[:1] not in ("", "#"))
        raise PreparationError(f"{architecture.qemu} is missing; install the lab's packages: apt-get install {names}")
    cache = Cache(folder, suites, image, architecture)
    cache.prepare()
    return cache


def planned(guest, only="*", seed=""):
    """The tests of a guest, as its own scripts name them."""
    words = {"LAB_MODE": "plan", "LAB_ONLY": only, "LAB_SEED": seed, "LAB": str(LAB / "guest")}
    command = ["sh", str(LAB / "guest" / f"{guest}.sh")]
    done = subprocess.run(command, env={**os.environ, **words}, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def join_initramfs(cache, pharos):
    """The base, then this checkout's scripts and the program: only the last piece is made anew.

    Returns the files by the name of the guest that needs more than the base; "" stands for all others.
    """
    archive = Archive()
    archive.add_file("bin/pharos", pharos, executable=True)
    archive.add_file("init", LAB / "guest/init", executable=True)
    for script in sorted((LAB / "guest").glob("*.*")):
        archive.add_file(f"lab/{script.name}", script)
    last = cache.folder / "last.cpio"
    archive.write(last)
    joined = {}
    more = [("ears", [cache.python]), ("strict", [cache.strict])] if cache.is_native else []
    for guest, pieces in [("", []), *more]:
        joined[guest] = cache.folder / f"initramfs{guest and '-'}{guest}.cpio"
        with open(joined[guest], "wb") as out:
            for piece in (cache.base, *pieces, last):
                with open(piece, "rb") as source:
                    shutil.copyfileobj(source, out)
    last.unlink()
    return joined


class GuestRun:
    """The results of one guest."""

    def __init__(self, cache, guest, initramfs, plan, limit, only="*", seed=None, folder=None):
        """Runs the guest. A seed makes its course repeatable. The logs are in `folder`, by default the cache's."""
        start = time.monotonic()
        words, hardware, nonce = f"lab.only={only}", ONE_PROCESSOR, secrets.token_hex(8)
        if seed is not None:
            words += f" lab.seed={seed}"
            nonce = f"{seed:016x}"
            hardware = (*hardware, "-seed", str(seed))
        lines, self.complaint = run_guest(
            cache, guest, nonce, initramfs.get(guest, initramfs[""]), folder or cache.folder, limit,
            words, hardware, cache.architecture.counted,
        )  # fmt: skip
        self.seconds = time.monotonic() - start
        self.measured = [line.removeprefix("note ") for line in lines if line.startswith("note ")]
        self.outcomes = outcomes(plan, lines, self.complaint)
