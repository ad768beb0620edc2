"""New systems of Debian for arm64, in which the packages are installed, used and removed."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Lab"))
from host.apt import machine_mirror  # noqa: E402
from host.errors import PreparationError  # noqa: E402
from host.roots import inside  # noqa: E402

STEPS = HERE.parent / "Package/steps.sh"


def make(suite, folder):
    """A new system as a tar file, made once: its packages are configured in emulation, which takes minutes."""
    system = folder / "systems" / f"{suite}.tar"
    if system.exists():
        return system
    system.parent.mkdir(parents=True, exist_ok=True)
    unfinished = system.with_suffix(".unfinished.tar")
    # The kernel starts the emulator, and mmdebstrap need not know of it.
    options = ["--architectures=arm64", "--skip=check/qemu", "--variant=apt", "--dpkgopt=force-unsafe-io"]
    command = ["mmdebstrap", "--quiet", *options, suite, unfinished, machine_mirror()]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise PreparationError(f"no system of {suite} could be made: {done.stderr.strip()[-2000:]}")
    return unfinished.rename(system)


def install(system, packages):
    """Unpacks a system, and returns the lines that the steps print in it."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "root"
        root.mkdir()
        subprocess.run(["tar", "-x", "--numeric-owner", "-p", "-C", root, "-f", system], check=True)
        shutil.copy(STEPS, root / "root/steps.sh")
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        # No service is started in a chroot.
        policy = root / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        (root / "packages").mkdir()
        for package in packages:
            shutil.copy(package, root / "packages")
        steps = "apt-get -qq update && sh /root/steps.sh"
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        done = subprocess.run(
            [*inside(root, path=path), "sh", "-c", steps], cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False,
        )  # fmt: skip
    return done.stdout.splitlines()


def count():
    """The number of steps."""
    return STEPS.read_text().count("\nstep ")
