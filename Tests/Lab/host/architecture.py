"""The processors that guests can have: what differs between them."""

from dataclasses import dataclass

# A guest's clock counts its instructions, 4 ns each, and skips the time in which the guest waits. So a guest measures
# the same times on a busy machine, and a wait costs nothing.
COUNTED_TIME = (
    "-accel", "tcg,thread=single", "-icount", "shift=2,sleep=off", "-rtc", "base=2026-11-01,clock=vm",
)  # fmt: skip


@dataclass(frozen=True)
class Architecture:
    """What the lab needs to know of a processor. All names are Debian's."""

    name: str
    triple: str
    # The dynamic loader's path in a guest.
    loader: str
    qemu: str
    machine: tuple[str, ...]
    counted: tuple[str, ...]
    compiler: str
    # The serial ports: the console's, and that of the results, with QEMU's words for it.
    console: str
    results: str
    results_port: tuple[str, ...]
    # What the words of a command that starts a program of this processor begin with.
    emulator: tuple[str, ...] = ()
    # The packages of the lab's host.
    packages: str = "packages.txt"


# Vector instructions are slow to emulate, so this processor has few of them.
AMD64 = Architecture(
    name="amd64",
    triple="x86_64-linux-gnu",
    loader="lib64/ld-linux-x86-64.so.2",
    qemu="qemu-system-x86_64",
    machine=("-M", "q35"),
    counted=(*COUNTED_TIME, "-cpu", "qemu64,+rdrand"),
    compiler="gcc",
    console="ttyS0",
    results="ttyS1",
    results_port=("-serial", "file:{results}"),
)


def arm64(processor):
    """A machine with one of QEMU's processors: cortex-a72 is a Raspberry Pi 4's, cortex-a76 a Raspberry Pi 5's."""
    return Architecture(
        name="arm64",
        triple="aarch64-linux-gnu",
        loader="lib/ld-linux-aarch64.so.1",
        qemu="qemu-system-aarch64",
        machine=("-M", "virt"),
        counted=(*COUNTED_TIME, "-cpu", processor),
        compiler="aarch64-linux-gnu-gcc",
        console="ttyAMA0",
        results="ttyS0",
        results_port=("-chardev", "file,id=results,path={results}", "-device", "pci-serial,chardev=results"),
        emulator=("qemu-aarch64-static",),
        packages="packages-arm64.txt",
    )
