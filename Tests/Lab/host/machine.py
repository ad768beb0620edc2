"""One guest: QEMU without hardware acceleration, its console and its results in files."""

import os
import subprocess
import time
from pathlib import Path

# What a guest may use to boot. On a busy machine it waits for a processor, so its processor time is the stricter limit.
BOOT_LIMIT = 300
BOOT_PROCESSOR_LIMIT = 90
HOST_TIME = ("-accel", "tcg,thread=multi", "-cpu", "max")


ONE_PROCESSOR = ("-no-reboot", "-smp", "1")
# A guest with counted time may wait that many times longer for a processor than it computes.
LONGEST_WAIT = 10


def run_guest(cache, name, nonce, initramfs, folder, limit, arguments="", hardware=ONE_PROCESSOR, clock=HOST_TIME):
    """Boots the guest and waits for its end. Returns the lines it reported and a complaint, or None.

    `arguments` go to the kernel, `hardware` and `clock` to QEMU. `limit` is in seconds: of a processor if the guest
    counts its time, of the host's clock otherwise.

    A guest that does not boot is ended and started once more: emulated machines do hang before the kernel's first line
    now and then. One that stops later is not tried again, for that is a finding.
    """
    for attempt in (1, 2):
        machine = _Machine(cache, name, nonce, initramfs, folder, arguments, hardware, clock)
        try:
            complaint = machine.wait(limit)
        finally:
            machine.end()
        if machine.booted():
            break
        complaint = f"did not boot, tried {attempt} times: see {machine.console}"
    return machine.lines(), complaint


class _Machine:
    def __init__(self, cache, name, nonce, initramfs, folder, arguments, hardware, clock):
        self.console = Path(folder) / f"{name}.console.log"
        self.results = Path(folder) / f"{name}.results.log"
        self.nonce = nonce
        self.counts_time = "-icount" in clock
        self.results.write_bytes(b"")
        architecture = cache.architecture
        self.qemu = architecture.qemu
        kernel_line = (
            f"console={architecture.console} quiet loglevel=1 panic=-1 mitigations=off random.trust_cpu=on "
            f"lab.guest={name} lab.nonce={nonce} lab.results={architecture.results} {arguments}"
        )
        self.process = subprocess.Popen(
            [
                architecture.qemu, *architecture.machine, "-m", "512",
                "-nodefaults", "-display", "none", "-monitor", "none",
                "-serial", f"file:{self.console}",
                *(word.format(results=self.results) for word in architecture.results_port),
                "-kernel", str(cache.kernel), "-initrd", str(initramfs), "-append", kernel_line,
                *clock, *hardware,
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def lines(self):
        marker = f"LAB {self.nonce} "
        text = self.results.read_text(errors="replace")
        return [line[len(marker) :] for line in text.splitlines() if line.startswith(marker)]

    def booted(self):
        return "start" in self.lines()

    def wait(self, limit):
        start = time.monotonic()
        while self.process.poll() is None:
            elapsed = time.monotonic() - start
            if self._is_over(limit, elapsed) or (self._is_late(elapsed) and not self.booted()):
                return f"still running after {elapsed:.0f} s: see {self.console}"
            time.sleep(0.1)
        if self.process.returncode != 0:
            return f"{self.qemu} ended with {self.process.returncode}: {self.process.stderr.read().strip()}"
        if "end" not in self.lines():
            return f"stopped before the end of its tests: see {self.console}"
        return None

    def _is_over(self, limit, elapsed):
        if self.counts_time:
            return elapsed > limit * LONGEST_WAIT or self._processor_seconds() > limit
        return elapsed > limit

    def _is_late(self, elapsed):
        return elapsed > BOOT_LIMIT or self._processor_seconds() > BOOT_PROCESSOR_LIMIT

    def _processor_seconds(self):
        """The time that QEMU has run on a processor, from proc(5)."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
