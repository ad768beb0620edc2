"""A fleet of three boxes, what `pharos fleet` makes of it, and Ansible that rolls it out."""

import json
import os
import re
import subprocess

PASSWORD = "museum"


class Fleet:
    """`lobby` is the guest. `card-1` and `card-2` are roots on this machine, as a mounted SD card is one: what is done
    there goes through `systemctl --root`, and nothing runs."""

    def __init__(self, folder, pharos, package, ssh_config):
        self.folder, self.pharos = folder, pharos
        self.file = folder / "hall.json"
        self.rollout = folder / "rollout"
        self.environment = {
            **os.environ, "ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8", "ANSIBLE_HOME": str(folder / "ansible"),
            "ANSIBLE_SSH_ARGS": f"-F {ssh_config}", "ANSIBLE_TIMEOUT": "240",
        }  # fmt: skip
        self.hosts = {
            "lobby": {"pharos_package": str(package), "ansible_become": False, "ansible_user": "root"},
            **{
                name: {
                    "ansible_connection": "local", "ansible_become": False, "pharos_binary": str(pharos),
                    "pharos_root": str(self.root(name)),
                }
                for name in ("card-1", "card-2")
            },
        }  # fmt: skip

    def root(self, name):
        return self.folder / "roots" / name

    def prepare(self):
        for name in ("card-1", "card-2"):
            for place in ("etc", "run", "usr/bin", *(f"usr/lib/{part}" for part in (
                    "systemd/system", "udev/rules.d", "sysusers.d", "tmpfiles.d"))):  # fmt: skip
                (self.root(name) / place).mkdir(parents=True)
        self.write_hosts()
        (self.folder / "password").write_text(PASSWORD)
        (self.folder / "password").chmod(0o600)

    def write_hosts(self):
        """What only these hosts need, as their operator would write it beside the inventory."""
        (self.folder / "more.json").write_text(json.dumps({"pharos": {"hosts": self.hosts}}))

    def forget_package(self):
        del self.hosts["lobby"]["pharos_package"]
        self.write_hosts()

    def write(self, lobby="lobby", **lobby_variables):
        """The fleet file. `lobby_variables` are the guest's own; a new name for it comes with the old one."""
        beacons = [
            {"name": lobby, "host": "lobby-box", "variables": lobby_variables},
            {"name": "card-1", "host": "card-1"},
            # A controller on a serial line: the service needs other rights for it.
            {"name": "card-2", "host": "card-2", "variables": {"adapter": "serial:/dev/ttyACM0@115200"}},
        ]  # fmt: skip
        if lobby != "lobby":
            beacons[0]["was"] = "lobby"
        template = {
            "adapter": "${adapter}",
            "advertisements": [
                {"type": "eddystone-eid", "identityKeyFile": "/etc/pharos/keys/${key}.key", "rotationExponent": 10,
                 "intervalMs": "${interval}", "measuredPower1mDbm": -59}
            ],
        }  # fmt: skip
        fleet = {
            "version": 1, "name": "hall", "template": template,
            "defaults": {"variables": {"adapter": "hci0", "interval": 100}},
            "groups": [{"name": "museum"}], "beacons": [{"group": "museum", **beacon} for beacon in beacons],
        }  # fmt: skip
        for beacon in fleet["beacons"]:
            name = "lobby" if beacon["host"] == "lobby-box" else beacon["name"]
            beacon["variables"] = {"key": name, **beacon.get("variables", {})}
        self.file.write_text(json.dumps(fleet, indent=2))

    def run(self, *arguments, environment=None):
        """Runs `pharos fleet …`."""
        return subprocess.run(
            [self.pharos, "fleet", *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
            env=environment or self.environment,
        )  # fmt: skip

    def export(self):
        """Profiles and all that Ansible needs. Returns what the programs said where one failed."""
        for words in (("generate", self.file, "--output", "profiles"),
                      ("export", "ansible", "profiles", "--output", self.rollout)):  # fmt: skip
            done = self.run(*words)
            assert done.returncode == 0, f"pharos fleet {words[0]}: {done.stdout}{done.stderr}"

    def manifest(self):
        manifest = json.loads((self.folder / "profiles/manifest.json").read_text())
        return {beacon["name"]: beacon for beacon in manifest["beacons"]}

    def keep_a_key_in_the_vault(self, name):
        """The key of one box leaves its folder, and is from now on in a file of that host which is encrypted."""
        key = self.folder / f"keys/{name}.key"
        file = self.rollout / f"host_vars/{name}.json"
        file.parent.mkdir()
        file.write_text(json.dumps({"pharos_keys": {key.name: key.read_text().strip()}}))
        key.unlink()
        done = subprocess.run(
            ["ansible-vault", "encrypt", "--vault-password-file", self.folder / "password", file],
            capture_output=True, text=True, env=self.environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert file.read_text().startswith("$ANSIBLE_VAULT")

    def roll_out(self, **variables):
        """Runs the playbook as its user would. Returns what it did to which host."""
        variables = {"pharos_keys_directory": "../keys", **variables}
        done = subprocess.run(
            ["ansible-playbook", "rollout.json", "-i", "inventory.json", "-i", self.folder / "more.json",
             "--vault-password-file", self.folder / "password", "-e", json.dumps(variables)],
            cwd=self.rollout, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=self.environment,
        )  # fmt: skip
        return Recap(done)


class Recap:
    """What Ansible says at its end: for each host that it came to, how many tasks changed something and failed."""

    def __init__(self, done):
        self.status = done.returncode
        self.text = done.stdout + done.stderr
        found = re.findall(r"^(\S+) +: ok=\d+ +changed=(\d+) +unreachable=(\d+) +failed=(\d+)", done.stdout, re.M)
        self.changed = {host: int(changed) for host, changed, _, _ in found}
        self.failed = {host for host, _, unreachable, failed in found if int(unreachable) or int(failed)}
        # What was done, for whoever looks for the reason.
        self.tasks = re.findall(r"^changed: .*", done.stdout, re.M)
