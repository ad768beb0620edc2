"""A box with systemd, a Raspberry Pi's controller and somebody who listens, that can be reached by ssh."""

import secrets
import socket
import subprocess
import threading
import time

from host.errors import PreparationError
from host.machine import run_guest

ADDRESS = "10.0.2.15"
LIMIT_S = 3000


class Guest:
    """Runs while it is entered. `ssh(…)` runs a command there; `config` tells every ssh how to reach it as `name`."""

    def __init__(self, cache, image, folder, name):
        self.cache, self.image, self.name = cache, image, name
        self.key = folder / "ssh-key"
        self.config = folder / "ssh-config"
        self.port = _free_port()
        self.complaint = None

    def prepare(self, package, pharos):
        """The disks, with a key for us and an address for the guest on them."""
        _checked(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key])
        self.config.write_text(
            f"Host {self.name}\n  HostName 127.0.0.1\n  Port {self.port}\n  User root\n  IdentityFile {self.key}\n"
            "  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n"
            # To make a connection takes this machine seconds.
            f"  ControlMaster auto\n  ControlPath {self.key.parent}/ssh-%C\n  ControlPersist 60\n"
        )
        network = f"[Match]\nType=ether\n[Network]\nAddress={ADDRESS}/24\n"
        more = {
            "etc/systemd/network/lab.network": network,
            "etc/ssh/sshd_config.d/lab.conf": "UsePAM no\nUseDNS no\n",
            "root/.ssh/authorized_keys": self.key.with_suffix(".pub").read_text(),
        }
        self.image.write_tests([package], pharos, more)
        self.image.write_state()

    def __enter__(self):
        words = "systemd.unit=lab.target systemd.wants=systemd-networkd.service lab.visited"
        network = f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-{ADDRESS}:22"
        hardware = [
            "-no-reboot", "-smp", "2", *self.image.drives(), "-netdev", network, "-device", "virtio-net-pci,netdev=net"
        ]  # fmt: skip

        def run():
            _, self.complaint = run_guest(
                self.cache, "rollout", secrets.token_hex(8), self.image.first_stage, self.cache.folder, LIMIT_S, words,
                hardware,
            )

        self.thread = threading.Thread(target=run)
        self.thread.start()
        deadline = time.monotonic() + 900
        while self.thread.is_alive() and time.monotonic() < deadline:
            if self.ssh("test -e /run/lab-listens", limit_s=60).returncode == 0:
                return self
            time.sleep(0.5)
        self.__exit__()
        raise PreparationError(f"the guest cannot be reached: {self.complaint or 'no ssh within 900 s'}")

    def __exit__(self, *_):
        while self.thread.is_alive():
            self.ssh("touch /run/lab-over", limit_s=60)
            self.thread.join(5)

    def ssh(self, command, limit_s=300):
        """Runs a shell's command line there. The guest is emulated at low priority, so a command can take minutes."""
        arguments = ["ssh", "-F", self.config, "-o", "BatchMode=yes", "-o", "ConnectTimeout=240", self.name, command]
        try:
            return subprocess.run(
                arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_s
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(arguments, 255, "", f"no end within {limit_s} s")


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _checked(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise PreparationError(f"{command[0]}: {done.stderr.strip()}")
