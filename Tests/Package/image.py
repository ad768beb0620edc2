"""What the guest with systemd is made of: Debian by mmdebstrap, a first stage that joins its disks, a disk with tests.

The Debian root is a squashfs that is made once. What changes lies on two other disks: a tar with the package and the
tests, unpacked at the first boot, and an ext4 that takes every write, so that a guest which restarts finds what it had.
"""

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

from host.errors import PreparationError
from host.initramfs import Archive

HERE = Path(__file__).resolve().parent
LAB_GUEST = HERE.parent / "Lab/guest"
ROOT_PACKAGES = ["systemd", "systemd-sysv", "dbus", "udev", "bluez", "kmod", "procps"]
# Of a box that Ansible can work on.
ROOT_PACKAGES += ["openssh-server", "python3-apt"]
# What pharos-hub links.
ROOT_PACKAGES += ["libbluetooth3", "libpaho-mqtt1.3", "libpq5", "libsqlite3-0"]
# In the order of loading: the disks, the file systems.
FIRST_MODULES = """virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk
    squashfs overlay crc32c_generic crc16 mbcache jbd2 ext4 autofs4""".split()
# Loaded by name when somebody wants them: modules.dep is made for these and those.
LATER_MODULES = """af_alg algif_hash algif_skcipher ecb cmac ecc ecdh_generic rfkill bluetooth hci_vhci
    failover net_failover virtio_net""".split()
# What no test needs and each boot would wait for.
MASKED = """apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service
    fstrim.timer systemd-binfmt.service proc-sys-fs-binfmt_misc.automount systemd-pstore.service dev-hugepages.mount
    dev-mqueue.mount sys-kernel-config.mount
    sys-kernel-debug.mount sys-kernel-tracing.mount sys-fs-fuse-connections.mount modprobe@configfs.service
    modprobe@dm_mod.service modprobe@drm.service modprobe@efi_pstore.service modprobe@fuse.service modprobe@loop.service
    systemd-hostnamed.service systemd-random-seed.service
    systemd-update-utmp.service systemd-update-utmp-runlevel.service getty.target serial-getty@ttyS0.service
    systemd-firstboot.service systemd-remount-fs.service systemd-user-sessions.service systemd-logind.service
    systemd-tmpfiles-clean.timer dev-ttyS0.device""".split()
STATE_SIZE = 512 << 20


class Image:
    """The parts of the guest, in the lab's cache. Guests that run at a time have names, and disks, of their own."""

    def __init__(self, cache, name):
        self.cache = cache
        self.folder = cache.folder / "systemd"
        self.root = self.folder / "root.squashfs"
        self.first_stage = self.folder / f"{name}-first-stage.cpio"
        self.tests = self.folder / f"{name}-tests.tar"
        self.state = self.folder / f"{name}-state.ext4"
        self.modules = self.folder / "modules"

    def prepare(self):
        """Makes what is made once; the cache says when that has to be made anew."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.cache.step("systemd/root", [], self._bootstrap, also=" ".join(ROOT_PACKAGES))
        kernel = (self.cache.folder / "packages.stamp").read_text()
        names = " ".join(FIRST_MODULES + LATER_MODULES)
        self.cache.step("systemd/modules", [], self._collect_modules, also=kernel + names)
        archive = Archive()
        archive.add_file("init", HERE / "guest/first-stage", executable=True)
        archive.add_file("bin/busybox", self.cache.root / "bin/busybox", executable=True)
        for folder in ("proc", "sys", "dev"):
            archive.add_folder(folder)
        for number, name in enumerate(FIRST_MODULES):
            archive.add_file(f"modules/{number:02}-{name}.ko", next(self.modules.rglob(f"{name}.ko")))
        archive.write(self.first_stage)

    def _bootstrap(self):
        packages = f"--include={','.join(ROOT_PACKAGES)}"
        bootstrap = ["mmdebstrap", "--quiet", "--variant=minbase", packages, "bookworm", "-"]
        pack = ["mksquashfs", "-", str(self.root), "-tar", "-comp", "lz4", "-noappend", "-quiet", "-no-progress"]
        log = self.folder / "bootstrap.log"
        self.root.unlink(missing_ok=True)
        with open(log, "w") as messages:
            try:
                source = subprocess.Popen(bootstrap, stdout=subprocess.PIPE, stderr=messages)
                packed = subprocess.run(pack, stdin=source.stdout, stdout=messages, stderr=messages)
            except FileNotFoundError as error:
                raise PreparationError(f"{error.filename} is not installed; run Tests/Support/setup test") from None
            source.stdout.close()
            if source.wait() != 0 or packed.returncode != 0:
                raise PreparationError(f"no Debian could be made for the guest: see {log}")

    def _collect_modules(self):
        """A tree with these modules only, and with modules.dep, so that the kernel finds them by itself."""
        shutil.rmtree(self.modules, ignore_errors=True)
        source = next((self.cache.root / "lib/modules").iterdir())
        target = self.modules / "usr/lib/modules" / source.name
        target.mkdir(parents=True)
        (self.modules / "lib").symlink_to("usr/lib")
        for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
            shutil.copy(source / name, target)
        for name in FIRST_MODULES + LATER_MODULES:
            path = next(source.rglob(f"{name}.ko"))
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        done = subprocess.run(["depmod", "-b", self.modules, source.name], capture_output=True, text=True)
        if done.returncode != 0:
            raise PreparationError(f"depmod: {done.stderr.strip()}")

    def write_tests(self, packages, pharos, more=None):
        """The disk that is unpacked over the root: packages, tests, tools, kernel modules, units that start them, and
        `more` texts by their places."""
        with tarfile.open(self.tests, "w", format=tarfile.USTAR_FORMAT) as tar:
            tar.add(self.modules / "usr", "usr", filter=_owned_by_root)
            for script in [*sorted(LAB_GUEST.glob("*.sh")), *sorted((HERE / "guest").glob("*.sh"))]:
                _add(tar, f"lab/{script.name}", script.read_bytes())
            for package in packages:
                _add(tar, f"lab/{Path(package).name}", Path(package).read_bytes())
            for tool in (pharos, self.cache.folder / "vhci_bridge", self.cache.folder / "btsnoop_lines"):
                _add(tar, f"lab/bin/{Path(tool).name}", Path(tool).read_bytes(), 0o755)
            for unit in sorted((HERE / "guest").glob("lab[.-]*")):
                _add(tar, f"etc/systemd/system/{unit.name}", unit.read_bytes())
            for place, text in (more or {}).items():
                _add(tar, place, text.encode())
            for unit in MASKED:
                _link(tar, f"etc/systemd/system/{unit}", "/dev/null")

    def write_state(self):
        """An empty disk for what the guest writes."""
        self.state.unlink(missing_ok=True)
        with open(self.state, "wb") as file:
            file.truncate(STATE_SIZE)
        command = ["/sbin/mke2fs", "-q", "-F", "-t", "ext4", "-E", "lazy_itable_init=1", self.state]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise PreparationError(f"mke2fs: {done.stderr.strip()}")

    def drives(self):
        """QEMU's arguments for the three disks."""
        disks = [
            ("root", self.root, ",readonly=on"),
            ("tests", self.tests, ",readonly=on"),
            ("state", self.state, ",cache=unsafe"),
        ]
        return [
            word
            for name, path, more in disks
            for word in ("-drive", f"id={name},file={path},format=raw,if=none{more}",
                         "-device", f"virtio-blk-pci,drive={name},serial={name}")
        ]  # fmt: skip


def _owned_by_root(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def _add(tar, name, content, mode=0o644):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    tar.addfile(_owned_by_root(entry), io.BytesIO(content))


def _link(tar, name, target):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(_owned_by_root(entry))
