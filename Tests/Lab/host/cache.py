"""What the guest is made of: Debian packages, rootcanal, the small tools; fetched and built once, then reused."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from .initramfs import Archive

LAB = Path(__file__).resolve().parent.parent

# In the order of loading. hci_vhci needs AF_ALG's hashes only because btvirt does.
MODULES = "af_alg algif_hash algif_skcipher ecb ecc ecdh_generic crc16 rfkill cmac bluetooth hci_vhci".split()
PROGRAMS = [
    "usr/bin/btmon",
    "usr/bin/btvirt",
    "usr/bin/hcitool",
    "bin/hciconfig",
    "usr/bin/bluetoothctl",
    "usr/bin/dbus-daemon",
    "usr/libexec/bluetooth/bluetoothd",
]
# Of Python's standard library, what no test needs.
UNUSED = {"__pycache__", "distutils", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter", "turtledemo"}
# The system bus and what it lets bluetoothd do.
BUS_FILES = ["usr/share/dbus-1/system.conf", "etc/dbus-1/system.d/bluetooth.conf"]


class PreparationError(Exception):
    """The lab cannot be set up on this machine; the message says what to do."""


class Cache:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.root = self.folder / "root"
        self.kernel = self.folder / "vmlinuz"
        self.base = self.folder / "base.cpio"
        self.python_root = self.folder / "python-root"
        # Only the guest that needs it gets it: every guest has to unpack what it gets.
        self.python = self.folder / "python.cpio"

    def prepare(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        fetched = self.step("packages", [LAB / "guest-packages.txt"], self._fetch_packages)
        fetched += self.step("rootcanal", [LAB / "requirements.txt"], self._fetch_rootcanal)
        tools = sorted((LAB / "tools").glob("*.c"))
        fetched += self.step("tools", tools, lambda: self._build_tools(tools))
        writers = [Path(__file__), LAB / "host/initramfs.py"]
        self.step("base", writers, self._write_base, also=fetched)
        python = [LAB / "guest-python.txt", LAB / "requirements-ears.txt"]
        fetched = self.step("python", python, self._fetch_python)
        self.step("python-archive", writers, self._write_python, also=fetched)

    def step(self, name, inputs, action, also=""):
        """Runs the action unless it ran before with the same inputs; returns what stands for those inputs.

        Whoever comes meanwhile waits.
        """
        stamp = self.folder / f"{name}.stamp"
        digest = hashlib.sha256(also.encode() + b"".join(path.read_bytes() for path in inputs)).hexdigest()
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not stamp.exists() or stamp.read_text() != digest:
                print(f"lab: preparing {name}", file=sys.stderr, flush=True)
                stamp.unlink(missing_ok=True)
                action()
                stamp.write_text(digest)
        return digest

    def _fetch_packages(self):
        depends = _output(["apt-cache", "depends", "linux-image-amd64"])
        image = re.search(r"Depends: (linux-image-\S+)", depends)
        if not image:
            raise PreparationError("apt knows no linux-image-amd64: run `apt-get update` on a Debian 12 machine")
        self._unpack([image[1], *_names("guest-packages.txt")], self.folder / "packages", self.root)
        shutil.copy(next((self.root / "boot").glob("vmlinuz-*")), self.kernel)

    def _unpack(self, names, folder, root):
        archives = _empty(folder)
        download = ["apt-get", "-q", "download", "-o", "APT::Sandbox::User=root", *names]
        if subprocess.run(download, cwd=archives, capture_output=True).returncode != 0:
            # Package lists older than the archive name files that are gone.
            subprocess.run(["apt-get", "-q", "update"], capture_output=True)
            _run(download, "run `apt-get update` as root and try again", cwd=archives)
        _empty(root)
        for archive in sorted(archives.glob("*.deb")):
            _run(["dpkg", "-x", archive, root], "install dpkg")

    def _fetch_wheels(self, requirements, *options):
        environment = _empty(self.folder / "venv")
        _run([sys.executable, "-m", "venv", environment], "install python3-venv")
        wheels = _empty(self.folder / "wheels")
        options = [*options, "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", LAB / requirements]
        _run([environment / "bin/pip", "-q", "download", "-d", wheels, *options], "PyPI must be reachable")
        shutil.rmtree(environment)
        return sorted(wheels.glob("*.whl"))

    def _fetch_python(self):
        self._unpack(_names("guest-python.txt"), self.folder / "python-packages", self.python_root)
        # For the guest's Python, whatever the host's is.
        target = ["--python-version", "3.11", "--implementation", "cp"]
        for path in self._fetch_wheels("requirements-ears.txt", *target):
            with zipfile.ZipFile(path) as wheel:
                wheel.extractall(self.python_root / "usr/lib/python3.11")

    def _write_python(self):
        archive = Archive()
        program = self.python_root / "usr/bin/python3.11"
        archive.add_file("bin/python3", program, executable=True)
        library = self.python_root / "usr/lib/python3.11"
        for name, path in self._libraries([program, *library.glob("dbus_fast/**/*.so")]).items():
            archive.add_file(f"lib/{name}", path, executable=True)
        for path in sorted(library.rglob("*")):
            name = path.relative_to(library)
            if path.is_file() and not UNUSED & set(name.parts):
                archive.add_file(f"usr/lib/python3.11/{name}", path)
        archive.write(self.python)

    def _fetch_rootcanal(self):
        target = self.folder / "rootcanal"
        with zipfile.ZipFile(self._fetch_wheels("requirements.txt")[0]) as wheel:
            target.write_bytes(wheel.read("rootcanal/bin/linux-x86_64/rootcanal"))
        target.chmod(0o755)
        _run(["strip", target], "install binutils")

    def _build_tools(self, sources):
        for source in sources:
            flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-static", "-s"]
            _run(["gcc", *flags, "-o", self.folder / source.stem, source], "install gcc and libc6-dev")

    def _write_base(self):
        archive = Archive()
        for folder in ("dev", "proc", "sys", "run", "run/dbus", "root", "var/lib/bluetooth"):
            archive.add_folder(folder)
        archive.add_folder("tmp", 0o1777)
        users = ["root:x:0:0::/root:/bin/sh", "nobody:x:65534:65534::/:/bin/sh", "messagebus:x:101:101::/:/bin/sh"]
        archive.add_text("etc/passwd", "\n".join(users) + "\n")
        archive.add_text("etc/group", "root:x:0:\nnogroup:x:65534:\nmessagebus:x:101:\n")
        archive.add_link("var/run", "../run")
        for name in BUS_FILES:
            archive.add_file(name, self.root / name)
        archive.add_text("etc/machine-id", "0123456789abcdef0123456789abcdef\n")
        archive.add_file("bin/busybox", self.root / "bin/busybox", executable=True)
        programs = [self.root / name for name in PROGRAMS] + [self.folder / "rootcanal"]
        programs += [self.folder / source.stem for source in (LAB / "tools").glob("*.c")]
        for program in programs:
            archive.add_file(f"bin/{program.name}", program, executable=True)
        for name, path in self._libraries(programs).items():
            archive.add_file(f"lib/{name}", path, executable=True)
        archive.add_file("lib64/ld-linux-x86-64.so.2", self._loader(), executable=True)
        modules = {path.stem: path for path in (self.root / "lib/modules").rglob("*.ko")}
        for number, name in enumerate(MODULES):
            archive.add_file(f"modules/{number:02}-{name}.ko", modules[name])
        archive.write(self.base)

    def _loader(self):
        return (self.root / "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2").resolve()

    def _libraries(self, programs):
        """The shared libraries the programs need, found in the unpacked packages and nowhere else."""
        folders = [self.root / "lib/x86_64-linux-gnu", self.root / "usr/lib/x86_64-linux-gnu"]
        command = [self._loader(), "--library-path", ":".join(map(str, folders)), "--list"]
        found = {}
        for program in programs:
            listing = subprocess.run([*command, program], capture_output=True, text=True).stdout
            for name, path in re.findall(r"(\S+) => (\S+) \(", listing):
                if not path.startswith(str(self.root)):
                    raise PreparationError(f"{program.name} needs {name}: add its package to guest-packages.txt")
                found[name] = path
        return found


def _names(list_of_packages):
    lines = (LAB / list_of_packages).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _output(command):
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def _run(command, remedy, cwd=None):
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    except FileNotFoundError:
        raise PreparationError(f"{command[0]} is not installed; {remedy}") from None
    if done.returncode != 0:
        words = " ".join(map(str, command[:3]))
        raise PreparationError(f"`{words} …` failed; {remedy}\n{(done.stderr or done.stdout).strip()}")
