"""What is done to the fleet, in this order, and what must hold after each step."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

# What a phone sees of an Eddystone EID at its default power, and the eight octets in the middle of it.
EID = re.compile(r"16aafe30..([0-9a-f]{16})")
CARDS = ("card-1", "card-2")
CHECKOUT = Path(__file__).resolve().parent.parent.parent


class Steps:
    def __init__(self, fleet, guest):
        self.fleet, self.guest = fleet, guest

    def all(self):
        return [
            (f"rollout/{name}", step)
            for name, step in (
                ("first", self.first),
                ("heard", self.heard),
                ("cards", self.cards),
                ("again", self.again),
                ("edit", self.edit),
                ("another-form", self.another_form),
                ("status-by-ssh", self.status_by_ssh),
                ("broken-profile", self.broken_profile),
                ("not-on-the-air", self.not_on_the_air),
                ("renamed", self.renamed),
            )
        ]

    def first(self):
        self.fleet.write()
        self.fleet.export()
        done = self.fleet.run("keys", "generate", "profiles", "--keys", "keys")
        assert done.returncode == 0, done.stderr
        self.fleet.keep_a_key_in_the_vault("card-2")
        self.rolled_out({"lobby", *CARDS})
        self.sends("lobby")

    def heard(self):
        """What is on the air is an id that the fleet's keys know as the lobby's, as hci1 hears it."""
        key = json.loads(self.there("cat /etc/pharos/lobby.json"))["advertisements"][0]["identityKeyFile"]
        assert self.there(f"stat -c '%a %U' {key}") == "600 pharos"
        self.hears("lobby")

    def cards(self):
        manifest = self.fleet.manifest()
        for name in CARDS:
            root = self.fleet.root(name)
            profile = (root / f"etc/pharos/{name}.json").read_text()
            assert profile == (self.fleet.folder / f"profiles/{name}.json").read_text()
            key = root / manifest[name]["advertisements"][0]["identityKeyFile"].lstrip("/")
            assert key.stat().st_mode & 0o777 == 0o600 and re.fullmatch("[0-9a-f]{32}\n", key.read_text())
            for unit in ("pharos.target", f"pharos@{name}.service"):
                enabled = subprocess.run(
                    ["systemctl", f"--root={root}", "is-enabled", unit], capture_output=True, text=True
                )
                assert enabled.stdout.strip() == "enabled", f"{unit}: {enabled.stdout}{enabled.stderr}"
            assert os.access(root / "usr/bin/pharos", os.X_OK)
            assert "pharos:" in (root / "etc/passwd").read_text()
        drop_in = self.fleet.root("card-2") / "etc/systemd/system/pharos@card-2.service.d/adapter.conf"
        assert drop_in.read_text() == (CHECKOUT / "systemd/drop-ins/serial.conf").read_text()
        assert not (self.fleet.root("card-1") / "etc/systemd/system/pharos@card-1.service.d").exists()

    def again(self):
        self.rolled_out(set())
        # systemd-tmpfiles, which also runs at each boot, gives the keys to the user of that root.
        for name in CARDS:
            root = self.fleet.root(name)
            user = next(line for line in (root / "etc/passwd").read_text().splitlines() if line.startswith("pharos:"))
            assert str((root / f"etc/pharos/keys/{name}.key").stat().st_uid) == user.split(":")[2]
        # From here on the package is there, and is not given again.
        self.fleet.forget_package()

    def edit(self):
        """One beacon's interval: its box takes the new profile without a restart, and no other box is touched."""
        process = self.there("systemctl show --value -p MainPID pharos@lobby")
        self.fleet.write(interval=200)
        self.fleet.export()
        self.rolled_out({"lobby"})
        self.sends("lobby")
        assert self.there("systemctl show --value -p MainPID pharos@lobby") == process, "it was restarted"
        told = json.loads(self.there("pharos status --json"))["instances"][0]["advertisements"][0]
        assert told["grantedIntervalMs"] == 200, told

    def another_form(self):
        """To a controller behind a network connection, and back to the kernel's adapter. The drop-in of the first takes
        rights away that the second needs, and a service that has given them up gets them back by a restart alone."""
        self.there("systemd-run --unit=elsewhere pharos controller --listen tcp:127.0.0.1:6402")
        drop_in = "/etc/systemd/system/pharos@lobby.service.d"
        for adapter in ("tcp:127.0.0.1:6402", "hci0"):
            process = self.there("systemctl show --value -p MainPID pharos@lobby")
            self.fleet.write(interval=200, adapter=adapter)
            self.fleet.export()
            self.rolled_out({"lobby"})
            self.sends("lobby")
            assert self.there("systemctl show --value -p MainPID pharos@lobby") != process, "it was not restarted"
            there = self.there(f"ls {drop_in}", status=None)
            assert there == ("adapter.conf" if adapter != "hci0" else ""), there
        self.there("systemctl stop elsewhere")
        self.hears("lobby")

    def status_by_ssh(self):
        """The daily question, asked by a real ssh, which is told here only where the box is."""
        wrapper = self.fleet.folder / "bin/ssh"
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {self.guest.config} "$@"\n')
        wrapper.chmod(0o755)
        path = f"{wrapper.parent}:{os.environ['PATH']}"
        done = self.fleet.run(
            "status", "profiles", "--ssh", "--all", "--json", environment={**self.fleet.environment, "PATH": path}
        )
        told = {beacon["name"]: beacon for beacon in json.loads(done.stdout)["entries"]}
        assert done.returncode == 1, "the cards are silent, and it does not say so"
        assert not told["lobby"]["problems"], told["lobby"]
        assert all(told[name]["problems"] for name in CARDS), told

    def broken_profile(self):
        """The first box refuses it, before anything of its own is changed, and no other box is tried."""
        before = self.everything()
        for name in ("lobby", *CARDS):
            profile = self.fleet.rollout / f"profiles/{name}.json"
            profile.write_text(profile.read_text().replace('"eddystone-eid"', '"eddystone-edi"'))
        recap = self.fleet.roll_out()
        assert recap.status != 0 and recap.failed == {"lobby"}, recap.text
        assert set(recap.changed) == {"lobby"} and recap.changed["lobby"] == 0, recap.text
        assert "eddystone-edi" in recap.text, recap.text
        assert self.everything() == before
        self.sends("lobby")

    def not_on_the_air(self):
        """A good profile for an adapter that the box does not have: its batch fails, and the next one is not begun."""
        before = {name: self.card(name) for name in CARDS}
        self.fleet.write(adapter="hci7")
        (self.fleet.rollout / "profiles/lobby.json").unlink()
        self.fleet.export()
        recap = self.fleet.roll_out(pharos_wait_s=5)
        assert recap.status != 0 and recap.failed == {"lobby"} and set(recap.changed) == {"lobby"}, recap.text
        assert "lobby did not come on the air with its profile within 5 s" in recap.text, recap.text
        assert {name: self.card(name) for name in CARDS} == before

    def renamed(self):
        """Another name for the same beacon: the old instance is gone, and the box sends as the new one."""
        self.fleet.write(lobby="entrance")
        self.fleet.export()
        self.fleet.hosts["entrance"] = self.fleet.hosts.pop("lobby")
        self.fleet.write_hosts()
        self.rolled_out({"entrance"})
        self.sends("entrance")
        assert self.there("systemctl is-active pharos@lobby", status=None) == "inactive"
        assert self.there("systemctl is-enabled pharos@lobby", status=None) == "disabled"
        self.there("test ! -e /etc/pharos/lobby.json")
        self.hears("entrance")

    # What the steps look at.

    def rolled_out(self, changed):
        """It succeeds everywhere, and changes something on these hosts alone."""
        recap = self.fleet.roll_out()
        assert recap.status == 0, recap.text
        assert len(recap.changed) == 3, recap.text
        found = {host for host, count in recap.changed.items() if count}
        assert found == changed, f"changed: {sorted(found)}\n" + "\n".join(recap.tasks)

    def there(self, command, status=0):
        """What a command in the guest prints. Any exit status of the command is right if `status` is None."""
        done = self.guest.ssh(command)
        # 255: ssh itself failed, or there was no answer in time.
        is_right = done.returncode != 255 if status is None else done.returncode == status
        assert is_right, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()

    def sends(self, name):
        """The box is on the air with the very profile of the manifest."""
        done = self.guest.ssh("pharos status --json")
        assert done.stdout, f"pharos status printed nothing and exited with {done.returncode}\n{done.stderr}"
        told = json.loads(done.stdout)["instances"]
        found = [(one["name"], one["state"], one["profileHash"]) for one in told if one["state"] != "off"]
        assert found == [(name, "on-air", self.fleet.manifest()[name]["profileHash"])], told

    def hears(self, name):
        """hci1 hears an id that belongs to this beacon."""
        time.sleep(1)
        captured = self.there("/lab/bin/btsnoop_lines /var/lib/lab/air.btsnoop | tail -n 400")
        heard = [EID.search(line) for line in captured.splitlines() if " hci1 event " in line]
        ids = [found.group(1) for found in heard if found]
        assert ids, f"hci1 hears no ephemeral id\n{captured}"
        done = self.fleet.run("keys", "resolve", ids[-1], "profiles", "--keys", "keys", "--json")
        assert done.returncode == 0 and f'"{name}"' in done.stdout, f"{ids[-1]}: {done.stdout}{done.stderr}"

    def everything(self):
        return {name: self.card(name) for name in CARDS} | {"lobby": self.there("sha256sum /etc/pharos/*.json")}

    def card(self, name):
        """All files of a root with their contents and times."""
        return {
            path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() and not path.is_symlink() else b"")
            for path in sorted(self.fleet.root(name).rglob("*"))
            if "usr/bin" not in str(path)
        }
