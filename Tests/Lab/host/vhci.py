"""The module hci_vhci, which Debian's kernels for arm64 do not have: built from Debian's source of the same kernel."""

import re
import shutil
import subprocess

from .apt import Apt
from .errors import PreparationError
from .roots import inside

# What the kernel's makefiles call, beside the compiler.
TOOLS = "bash coreutils dash findutils gawk grep make sed".split()


def build(cache, image):
    """Builds the module of a kernel, such as linux-image-6.1.0-50-arm64, and puts it next to the other modules."""
    version = image.removeprefix("linux-image-")
    folder = cache.folder / "vhci"
    shutil.rmtree(folder, ignore_errors=True)
    root, archives = folder / "root", folder / "archives"
    archives.mkdir(parents=True)
    headers = f"linux-headers-{version}"
    needed = cache.apt.dependencies(headers)
    common = next(name for name in needed if name.endswith("-common"))
    kbuild = next(name for name in needed if name.startswith("linux-kbuild-"))
    gcc = next(name for name in needed if re.fullmatch(r"gcc-\d+", name))
    source = "linux-source-" + re.match(r"\d+\.\d+", version)[0]
    cache.apt.download([headers, common, source], archives)
    # The tools are those of the same suite for this machine.
    own = Apt(cache.folder / "apt-own", cache.suites)
    own.update()
    own.download(own.with_dependencies([kbuild, f"{gcc}-aarch64-linux-gnu", "base-files", *TOOLS]), archives)
    for archive in sorted(archives.glob("*.deb")):
        subprocess.run(["dpkg", "-x", archive, root], check=True, capture_output=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        _merge(root, name)
    for name, program in (("sh", "dash"), ("awk", "gawk"), ("pahole", "true")):
        if not (root / "usr/bin" / name).exists():
            (root / "usr/bin" / name).symlink_to(program)
    work = root / "vhci"
    work.mkdir()
    unpacked = root / "usr/src" / f"{source}.tar.xz"
    member = f"{source}/drivers/bluetooth/hci_vhci.c"
    subprocess.run(["tar", "-xJf", unpacked, "-C", work, "--strip-components=3", member], check=True)
    (work / "Makefile").write_text("obj-m := hci_vhci.o\n")
    words = ["CROSS_COMPILE=aarch64-linux-gnu-", "DEB_BUILD_ARCH=amd64", "DEB_HOST_ARCH=amd64", "modules"]
    make = ["make", "-C", f"/usr/src/{headers}", "M=/vhci", "ARCH=arm64", *words]
    done = subprocess.run([*inside(root), *make], cwd="/", capture_output=True, text=True)
    if done.returncode != 0:
        raise PreparationError(f"hci_vhci of {image} could not be built: {(done.stdout + done.stderr)[-2000:]}")
    target = next((cache.root / "usr/lib/modules").iterdir()) / "kernel/drivers/bluetooth"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(work / "hci_vhci.ko", target)
    shutil.rmtree(folder)


def _merge(root, name):
    old, new = root / name, root / "usr" / name
    if old.is_dir() and not old.is_symlink():
        shutil.copytree(old, new, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(old)
    if new.is_dir() and not old.is_symlink():
        old.symlink_to(f"usr/{name}")
