"""What `fleet export ansible` writes, linted by ansible-lint and played by Ansible into roots as mounted images are.

The guest that it is played to for real is in Tests/Rollout.
"""
import hashlib
import json
import os
import re
import subprocess

import pytest

import pharos

SERIAL = "serial:/dev/ttyACM0@115200"
PLACES = ("etc", "run", "usr/bin", "usr/lib/systemd/system", "usr/lib/udev/rules.d", "usr/lib/sysusers.d",
          "usr/lib/tmpfiles.d")


class Fleet:
    """A fleet whose boxes are roots in a directory. `beacons` is all that there is to say of it: name → variables, with
    `host`, `key` and `adapter` among them."""

    def __init__(self, directory, playbook):
        self.directory, self.playbook = directory, playbook
        self.rollout = directory / "rollout"
        self.keys = directory / "keys"
        self.keys.mkdir()
        self.program = directory / "program"
        self.program.write_text("#!/bin/sh\n")

    def root(self, host):
        path = self.directory / "roots" / host
        for place in PLACES:
            (path / place).mkdir(parents=True, exist_ok=True)
        return path

    def export(self, beacons, roots=None):
        rotating = {"type": "eddystone-eid", "identityKeyFile": "/etc/pharos/keys/${key}", "rotationExponent": 10,
                    "intervalMs": 1000, "measuredPower1mDbm": -59}
        beacons = {name: {"host": name, "adapter": "hci0", "key": "a.key", **more} for name, more in beacons.items()}
        template = {"adapter": "${adapter}", "advertisements": [rotating]}
        records = [
            {"name": name, **{key: more.pop(key) for key in ("host", "was") if key in more}, "variables": more}
            for name, more in beacons.items()]
        for more in (record["variables"] for record in records):
            (self.keys / more["key"]).write_text(hashlib.md5(more["key"].encode()).hexdigest() + "\n")
        (self.directory / "fleet.json").write_text(json.dumps(
            {"version": 1, "name": "hall", "template": template, "beacons": records}))
        pharos.checked("fleet", "generate", "fleet.json", "--output", "profiles", cwd=self.directory)
        pharos.checked("fleet", "export", "ansible", "profiles", "--output", "rollout", cwd=self.directory)
        inventory = json.loads((self.rollout / "inventory.json").read_text())["pharos"]
        hosts = {box: {"ansible_connection": "local", "ansible_become": False,
                       "pharos_root": (roots or {}).get(box) or str(self.root(record["ansible_host"]))}
                 for box, record in inventory["hosts"].items()}
        (self.directory / "more.json").write_text(json.dumps({"pharos": {"hosts": hosts}}))

    def play(self, **variables):
        """What Ansible said, its exit code, and how many tasks changed something."""
        variables = {"pharos_keys_directory": str(self.keys), "pharos_binary": str(self.program),
                     "pharos_batches": ["100%"], **variables}
        environment = {**os.environ, "ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                       "ANSIBLE_HOME": str(self.directory / "ansible"), "ANSIBLE_LOCALHOST_WARNING": "0"}
        done = subprocess.run(
            [self.playbook, "rollout.json", "-i", "inventory.json", "-i", "../more.json", "-e", json.dumps(variables)],
            cwd=self.rollout, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, timeout=300)
        found = re.findall(r"^(\S+) +: ok=\d+ +changed=(\d+)", done.stdout, re.M)
        return done.stdout + done.stderr, done.returncode, {host: int(changed) for host, changed in found}

    def rolled_out(self, beacons):
        self.export(beacons)
        said, code, changed = self.play()
        assert code == 0, said
        return changed

    def files(self, host):
        """Everything below a root but the program and its units: path → content, target of a link, or None."""
        root = self.root(host)
        made = {}
        for path in sorted(root.rglob("*")):
            name = str(path.relative_to(root))
            if name.startswith(("etc/pharos", "etc/systemd/system/")):
                made[name] = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else None
        return made


@pytest.fixture
def fleet(tmp_path, needs):
    needs("systemd-sysusers")
    return Fleet(tmp_path, needs("ansible-playbook"))


def test_what_the_role_made_it_removes_and_nothing_else(fleet):
    """`left` goes to another adapter form, `old` gets another name and key, a second beacon of its box goes altogether.
    `early` is as version 0.1 left it: its record is a list of names."""
    fleet.rolled_out({"left": {"adapter": SERIAL, "key": "a.key"}, "old": {"adapter": "unix:/run/air", "key": "b.key"},
                      "second": {"host": "old", "adapter": "tcp:10.0.0.1:6402", "key": "c.key"},
                      "early": {"adapter": SERIAL, "key": "e.key"}})
    (fleet.root("early") / "etc/pharos/.rollout.json").write_text('["early"]\n')
    left, old = fleet.files("left"), fleet.files("old")
    drop_in = "etc/systemd/system/pharos@{}.service.d/adapter.conf".format
    assert "SupplementaryGroups=dialout" in left[drop_in("left")]
    assert {drop_in("old"), drop_in("second"), "etc/pharos/keys/b.key", "etc/pharos/keys/c.key", "etc/pharos/old.json",
            "etc/systemd/system/pharos.target.wants/pharos@second.service"} <= set(old)

    # Files of the machine's owner in the same directories, with similar names.
    theirs = ["etc/pharos/theirs.json", "etc/pharos/keys/theirs.key", "etc/pharos/.rollout.json.bak",
              "etc/systemd/system/pharos@second.service.d/theirs.conf", drop_in("theirs")]
    for name in theirs:
        (fleet.root("old") / name).parent.mkdir(exist_ok=True)
        (fleet.root("old") / name).write_text("theirs")

    changed = fleet.rolled_out({"left": {"adapter": "hci0", "key": "a.key"},
                                "new": {"was": "old", "host": "old", "adapter": "unix:/run/air", "key": "d.key"},
                                "late": {"was": "early", "host": "early", "key": "e.key"}})
    assert all(changed.values())
    left, old, early = (fleet.files(host) for host in ("left", "old", "early"))
    assert not [name for name in (*left, *early) if "service.d" in name or name.endswith("early.json")]
    ask = ["systemctl", f"--root={fleet.root('left')}", "is-enabled", "pharos@left", "pharos.target"]
    enabled = subprocess.run(ask, capture_output=True, text=True)
    assert enabled.stdout == "enabled\nenabled\n", enabled
    assert "etc/pharos/keys/a.key" in left
    gone = [name for name in old if re.search(r"old|second|[bc]\.key", name)]
    assert gone == [name for name in old if "pharos@second.service.d" in name] and len(gone) == 2
    assert all(old[name] == "theirs" for name in theirs)
    assert {drop_in("new"), "etc/pharos/keys/d.key", "etc/pharos/new.json",
            "etc/systemd/system/pharos.target.wants/pharos@new.service"} <= set(old)
    assert json.loads(old["etc/pharos/.rollout.json"]) == {"beacons": {"new": "unix"}, "key_files": ["d.key"]}
    assert set(fleet.play()[2].values()) == {0}


def test_a_roll_out_that_ended_early_leaves_nothing_behind(fleet):
    """The second beacon is not brought, because its profile is not there; the next fleet has neither."""
    fleet.export({"a": {"key": "a.key"}, "b": {"host": "a", "adapter": SERIAL, "key": "b.key"}})
    (fleet.rollout / "profiles/b.json").unlink()
    said, code, _ = fleet.play()
    assert code != 0 and "b.json" in said, said
    assert "etc/pharos/keys/b.key" in fleet.files("a") and "etc/pharos/a.json" in fleet.files("a")
    fleet.rolled_out({"c": {"host": "a", "key": "c.key"}})
    assert not [name for name in fleet.files("a") if re.search(r"/[ab]\.(json|key)$|pharos@[ab]", name)]


NAMES = ["../../../victim", "../victim", "/victim", "a/b", "..", "", "-rf", "a\n", "{{ 7 * 6 }}", "*", "a" * 65]
RECORDS = [
    *(json.dumps([name]) for name in NAMES[:2]),
    *(json.dumps({"beacons": {name: "serial"}, "key_files": []}) for name in NAMES),
    *(json.dumps({"beacons": {}, "key_files": [name]}) for name in NAMES),
    '{"beacons": {"a": "hci"}, "key_files": "../x"}', '{"beacons": ["a"], "key_files": []}', '{"beacons": {}}', "{}",
    '"abc"', "5", "null", '[["a"]]', '{"beacons": {}, "key_files": [{"a": 1}]}', "", "{", "\udcff\udcfe",
    " " * (1 << 20),
]
LINKS = [
    "etc", "etc/pharos", "etc/pharos/keys", "etc/pharos/.rollout.json", "etc/pharos/{}.json", "etc/pharos/keys/{}.key",
    "usr", "usr/bin", "usr/bin/pharos", "usr/lib", "usr/lib/systemd/system", "usr/lib/systemd/system/pharos@.service",
    "usr/lib/sysusers.d", "etc/systemd", "etc/systemd/system", "etc/systemd/system/pharos.target.wants",
    "etc/systemd/system/pharos@{}.service.d", "etc/systemd/system/pharos@{}.service.d/adapter.conf",
    "etc/systemd/system/pharos@gone.service.d",
]


def test_an_image_cannot_lead_the_role_out_of_it(fleet):
    """Each host is a prepared image with a hostile record or link. All are refused before anything is changed."""
    record = {f"record-{number}": text for number, text in enumerate(RECORDS)}
    link = {f"link-{number}": place.format(f"link-{number}") for number, place in enumerate(LINKS)}
    root = {"root-0": "//", "root-1": "roots/root-1"}
    fleet.export({host: {"adapter": SERIAL, "key": f"{host}.key"} for host in (*record, *link, *root)}, roots=root)
    playbook = fleet.rollout / "rollout.json"
    playbook.write_text(playbook.read_text().replace('"any_errors_fatal": true', '"any_errors_fatal": false'))

    outside = fleet.directory / "outside"
    for place in (outside, fleet.directory, fleet.directory / "roots"):
        place.mkdir(exist_ok=True)
        for name in ("victim", "victim.json", "gone.json", "adapter.conf"):
            (place / name).write_text("theirs")
    for host, text in record.items():
        path = fleet.root(host) / "etc/pharos/.rollout.json"
        path.parent.mkdir()
        path.write_bytes(text.encode(errors="surrogateescape"))
    for host, place in link.items():
        path = fleet.root(host) / "etc/pharos/.rollout.json"
        path.parent.mkdir()
        path.write_text('{"beacons": {"gone": "serial"}, "key_files": []}')
        path = fleet.root(host) / place
        path.parent.mkdir(parents=True, exist_ok=True)
        aim = outside / host / path.name
        aim.parent.mkdir()
        if path.exists():
            path.rename(aim)
        path.symlink_to(aim if aim.exists() else outside)

    def everything():
        return {str(path): path.read_bytes() for path in fleet.directory.rglob("*")
                if path.is_file() and "ansible" not in path.parts}

    before = everything()
    said, code, changed = fleet.play()
    assert code != 0 and everything() == before
    assert changed == dict.fromkeys((*record, *link, *root), 0), said
    named = dict.fromkeys(record, ".rollout.json") | link | dict.fromkeys(root, "the absolute path of a mounted image")
    for host, words in named.items():
        told = re.findall(rf"^(?:fatal|failed): \[{host}\].*?(?=^\S|\Z)", said, re.M | re.S)
        assert any(words in each for each in told), f"{host} {record.get(host, words)!r:.60}: {told}"


@pytest.mark.parametrize("suffix", ["json", "yml"])
def test_ansible_lint_finds_nothing(tmp_path, needs, suffix):
    """As it is, and under names that ansible-lint takes for YAML, as it applies most of its rules to those alone."""
    lint = needs("ansible-lint")
    fleet = Fleet(tmp_path, None)
    fleet.export({"a": {"adapter": SERIAL, "key": "a.key"}})
    directory = fleet.rollout
    files = [directory / "rollout.json", *directory.glob("roles/*/*/*.json")]
    assert len(files) == 12
    for file in files:
        text = file.read_text()
        json.loads(text)
        assert all(len(line) <= 120 for line in text.splitlines()), file
        if suffix == "yml":
            file.with_suffix(".yml").write_text(re.sub(r'(import_tasks": "\w+)\.json', r"\1.yml", text))
            file.unlink()
    settings = directory / ".ansible-lint"
    settings.write_text(settings.read_text().replace('.json"', f'.{suffix}"'))
    environment = {**os.environ, "NO_COLOR": "1", "ANSIBLE_HOME": str(tmp_path / "ansible")}
    done = subprocess.run(
        [lint, "--strict"], cwd=directory, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_task_says_what_it_is_for(tmp_path):
    fleet = Fleet(tmp_path, None)
    fleet.export({"a": {}})
    for file in fleet.rollout.glob("roles/pharos/tasks/*.json"):
        text = file.read_text()
        names = [task["name"] for task in json.loads(text)]
        assert len(set(names)) == len(names) == len(re.findall(r"^  \{$", text, re.M)), file
        assert text.count("\n\n") == len(names) - 1, f"{file}: one task a block"
