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

from . import kernel, strict, vhci
from .apt import Apt
from .architecture import AMD64
from .errors import PreparationError
from .initramfs import Archive

LAB = Path(__file__).resolve().parent.parent

PROGRAMS = [
    "usr/bin/btmon",
    "usr/bin/btvirt",
    "usr/bin/hcitool",
    "usr/bin/hciconfig",
    "usr/bin/bluetoothctl",
    "usr/bin/btmgmt",
    "usr/bin/dbus-daemon",
    "usr/libexec/bluetooth/bluetoothd",
]
# Of Python's standard library, what no test needs.
UNUSED = {"__pycache__", "distutils", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter", "turtledemo"}
BUS_CONFIGURATION = "usr/share/dbus-1/system.conf"
# The policy of bluetoothd: BlueZ 5.66 has it in the first folder, 5.82 in the second.
BUS_POLICIES = ["etc/dbus-1/system.d/bluetooth.conf", "usr/share/dbus-1/system.d/bluetooth.conf"]


class Cache:
    """What the guests are made of, in a folder.

    The guests have the packages of `suites`, such as trixie and trixie-backports, or those of the host's own suites.
    Their kernel is the package `image`, or the one that it depends on, or the current one of these suites.
    """

    def __init__(self, folder, suites=(), image="", architecture=AMD64):
        self.folder = Path(folder).resolve()
        self.suites, self.image = suites, image
        self.architecture = architecture
        self.is_native = architecture is AMD64
        self.apt = Apt(self.folder / "apt", suites, architecture.name)
        self.root = self.folder / "root"
        self.kernel = self.folder / "vmlinuz"
        self.base = self.folder / "base.cpio"
        self.python_root = self.folder / "python-root"
        # Only the guests that need these get them: every guest has to unpack what it gets.
        self.python = self.folder / "python.cpio"
        self.strict = self.folder / "strict.cpio"

    def prepare(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        choice = " ".join([*self.suites, self.image])
        inputs = [LAB / "guest-packages.txt", LAB / "host/kernel.py"]
        fetched = self.step("packages", inputs, self._fetch_packages, also=choice)
        if self.is_native:
            fetched += self.step("rootcanal", [LAB / "requirements.txt"], self._fetch_rootcanal)
        tools = sorted((LAB / "tools").glob("*.c"))
        fetched += self.step("tools", tools, lambda: self._build_tools(tools))
        writers = [LAB / "host" / name for name in ("cache.py", "initramfs.py", "kernel.py")]
        self.step("base", writers, self._write_base, also=fetched)
        if not self.is_native:
            # rootcanal and the packages of Python are programs for amd64, and so is the change to the strict kernel.
            return
        rule = [LAB / "host/strict.py", *writers]
        self.step("strict", rule, lambda: strict.write_archive(self.root, self.strict), also=fetched)
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
        if self.suites:
            self.apt.update()
        image = self.image
        if not image or not re.search(r"\d\.\d", image):
            image = self.apt.kernel_image(image)
        kernels = self.apt.kernel_parts(image)
        names = [self.apt.current_name(name) for name in _names("guest-packages.txt")]
        self._unpack(self.apt, [*kernels, *names], self.folder / "packages", self.root)
        kernel.copy_image(self.root, self.kernel)
        if not self.is_native:
            vhci.build(self, image)

    def _unpack(self, apt, names, folder, root):
        archives = _empty(folder)
        apt.download(names, archives)
        _empty(root)
        for archive in sorted(archives.glob("*.deb")):
            # The machine of the package's tests, which has the host's suites, needs more modules than the lab.
            if archive.name.startswith("linux-") and self.suites:
                kernel.unpack(archive, root)
            else:
                _run(["dpkg", "-x", archive, root], "install dpkg")
        _merge_into_usr(root)

    def _fetch_wheels(self, requirements, *options):
        environment = _empty(self.folder / "venv")
        _run([sys.executable, "-m", "venv", environment], "install python3-venv")
        wheels = _empty(self.folder / "wheels")
        options = [*options, "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", LAB / requirements]
        _run([environment / "bin/pip", "-q", "download", "-d", wheels, *options], "PyPI must be reachable")
        shutil.rmtree(environment)
        return sorted(wheels.glob("*.whl"))

    def _fetch_python(self):
        # Debian 12's Python 3.11 also runs with the libraries of later suites.
        self._unpack(Apt(self.folder), _names("guest-python.txt"), self.folder / "python-packages", self.python_root)
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
            compiler = self.architecture.compiler
            _run([compiler, *flags, "-o", self.folder / source.stem, source], f"install {compiler} and libc6-dev")

    def _write_base(self):
        archive = Archive()
        for folder in ("dev", "proc", "sys", "run", "run/dbus", "root", "var/lib/bluetooth"):
            archive.add_folder(folder)
        archive.add_folder("tmp", 0o1777)
        users = ["root:x:0:0::/root:/bin/sh", "nobody:x:65534:65534::/:/bin/sh", "messagebus:x:101:101::/:/bin/sh"]
        archive.add_text("etc/passwd", "\n".join(users) + "\n")
        archive.add_text("etc/group", "root:x:0:\nnogroup:x:65534:\nmessagebus:x:101:\n")
        archive.add_link("var/run", "../run")
        archive.add_file(BUS_CONFIGURATION, self.root / BUS_CONFIGURATION)
        policy = next(self.root / name for name in BUS_POLICIES if (self.root / name).exists())
        archive.add_file(BUS_POLICIES[0], policy)
        archive.add_text("etc/machine-id", "0123456789abcdef0123456789abcdef\n")
        archive.add_file("bin/busybox", self.root / "bin/busybox", executable=True)
        programs = [self.root / name for name in PROGRAMS]
        if self.is_native:
            programs.append(self.folder / "rootcanal")
        programs += [self.folder / source.stem for source in (LAB / "tools").glob("*.c")]
        for program in programs:
            archive.add_file(f"bin/{program.name}", program, executable=True)
        for name, path in self._libraries(programs).items():
            archive.add_file(f"lib/{name}", path, executable=True)
        archive.add_file(self.architecture.loader, self._loader(), executable=True)
        for number, (name, content) in enumerate(kernel.modules(self.root).items()):
            archive.add_content(f"modules/{number:02}-{name}.ko", content)
        archive.write(self.base)

    def _loader(self):
        return (self.root / "usr/lib" / self.architecture.triple / Path(self.architecture.loader).name).resolve()

    def _libraries(self, programs):
        """The shared libraries the programs need, found in the unpacked packages and nowhere else."""
        folder = self.root / "usr/lib" / self.architecture.triple
        command = [*self.architecture.emulator, self._loader(), "--library-path", folder, "--list"]
        found = {}
        for program in programs:
            listing = subprocess.run([*command, program], capture_output=True, text=True).stdout
            for name, path in re.findall(r"(\S+) => (\S+) \(", listing):
                if not path.startswith(str(self.root)):
                    raise PreparationError(f"{program.name} needs {name}: add its package to guest-packages.txt")
                found[name] = path
        return found


def _merge_into_usr(root):
    """Moves /bin, /sbin and /lib into /usr, where Debian 13 has everything."""
    for name in ("bin", "sbin", "lib", "lib64"):
        old, new = root / name, root / "usr" / name
        if old.is_dir() and not old.is_symlink():
            shutil.copytree(old, new, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(old)
        new.mkdir(parents=True, exist_ok=True)
        if not old.exists():
            old.symlink_to(f"usr/{name}")


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
