"""Downloads of Debian packages from any suite, without changing the machine's own apt."""

import re
import subprocess
from pathlib import Path

from .errors import PreparationError

MIRROR = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Apt:
    """Downloads packages from the given suites, such as trixie and trixie-security.

    Without suites, apt uses the machine's own sources. With suites, it has lists, state and archives of its own in
    `folder`, and can download the packages of another architecture, such as arm64. The mirror is that of the machine.
    """

    def __init__(self, folder, suites=(), architecture="amd64"):
        self.suites, self.architecture = suites, architecture
        self.options = ["-o", "APT::Sandbox::User=root"]
        if suites:
            self.options += self._own_options(Path(folder))

    def _own_options(self, folder):
        for name in ("lists/partial", "archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        mirror = machine_mirror()
        lines = []
        for suite in self.suites:
            where = mirror + ("-security" if suite.endswith("-security") else "")
            lines.append(f"deb [signed-by={KEYRING}] {where} {suite} main\n")
        (folder / "sources.list").write_text("".join(lines))
        options = {
            "Dir::Etc::SourceList": folder / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::State::Lists": folder / "lists",
            "Dir::State::Status": folder / "status",
            "Dir::Cache": folder,
            "APT::Architecture": self.architecture,
            "APT::Architectures": self.architecture,
        }
        return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]

    def update(self):
        """Fetches the lists of the suites.

        Raises PreparationError if the mirror no longer has one of them.
        """
        done = subprocess.run(["apt-get", "-q", "update", *self.options], capture_output=True, text=True)
        # apt-get update ends with 0 even if a suite is missing, and says so on standard error.
        if self.suites and (done.returncode != 0 or "does not have a Release file" in done.stderr):
            raise PreparationError(f"the mirror does not have the suites {' '.join(self.suites)}")

    def kernel_image(self, package=""):
        """The package of the current kernel image: that of the backports, if they are one of the suites.

        `package` depends on it; by default it is linux-image- with the architecture's name.
        """
        # apt itself prefers the release to its backports.
        preferred = [f"APT::Default-Release={suite}" for suite in self.suites if suite.endswith("-backports")]
        options = ["-o", preferred[0]] if preferred else []
        package = package or f"linux-image-{self.architecture}"
        found = re.search(r"Depends: (linux-image-\S+)", self._cache(*options, "depends", package))
        if not found:
            raise PreparationError(f"apt knows no {package}: run `apt-get update` on a Debian 12 machine")
        return found[1]

    def kernel_parts(self, image):
        """The packages with the kernel's files: since 7.x, linux-image depends on linux-binary and linux-modules."""
        return [image, *re.findall(r"Depends: (linux-(?:binary|modules)-\S+)", self._cache("depends", image))]

    def dependencies(self, package):
        """The names of the packages that a package depends on, by itself."""
        return re.findall(r"Depends: (\S+)", self._cache("depends", package))

    def with_dependencies(self, packages):
        """The names of packages and of all that they need, without recommended ones."""
        command = ["apt-get", "-q", "install", "-s", "--no-install-recommends", *self.options, *packages]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise PreparationError(f"apt cannot install {' '.join(packages)}: {done.stderr.strip()}")
        return sorted(re.findall(r"^Inst (\S+)", done.stdout, re.MULTILINE))

    def current_name(self, package):
        """The name of a package in these suites.

        Since Debian 13, a library with 64-bit times has "t64" behind its name.
        """
        for candidate in (package, f"{package}t64"):
            policy = self._cache("policy", candidate)
            if policy and "Candidate: (none)" not in policy:
                return candidate
        return package

    def download(self, packages, folder):
        """Downloads packages into an empty folder. Raises PreparationError if one cannot be had."""
        command = ["apt-get", "-q", "download", *self.options, *packages]
        if subprocess.run(command, cwd=folder, capture_output=True).returncode == 0:
            return
        # Lists that are older than the archive name files that no longer exist.
        self.update()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["apt-get failed"])[-1]
            raise PreparationError(f"{reason}: run `apt-get update` as root and try again")

    def _cache(self, *words):
        return subprocess.run(["apt-cache", *self.options, *words], capture_output=True, text=True).stdout


def machine_mirror():
    """The URL of the machine's first Debian mirror, without a slash at its end."""
    for path in sorted(Path("/etc/apt").glob("sources.list.d/*.sources")):
        if found := re.search(r"^URIs: (\S+/debian)/?$", path.read_text(), re.MULTILINE):
            return found[1]
    return MIRROR
