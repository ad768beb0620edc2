"""The manual pages: one for each command and each kind of file, and nothing in them that the program does not say."""
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PHAROS = os.environ["PHAROS"]
WRITTEN = json.loads((ROOT / "systemd/man/pages.json").read_text())
PROFILE = ROOT / "profiles/lobby-north.json"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, ROOT / "systemd/man/generate", PHAROS, folder], check=True)
    return {page.name: page.read_text() for page in folder.iterdir()}


@pytest.fixture(scope="module")
def commands():
    """Every command by its words, with what the program says of it."""
    dump = subprocess.run([PHAROS, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
    found = {}

    def visit(command):
        found[" ".join(command.get("superCommands", []) + [command["commandName"]])] = command
        for child in command.get("subcommands", []):
            visit(child)

    visit(json.loads(dump)["command"])
    return found


def test_each_command_and_each_kind_of_file_has_its_page(pages, commands):
    first = {f"pharos-{words.split()[1]}.1" for words in commands if len(words.split()) == 2 and "help" not in words}
    assert set(pages) == first | {"pharos.1", "pharos-profile.5", "pharos-fleet.5", "pharos-site.5"}
    for name, text in pages.items():
        assert ".SH EXAMPLES" in text, name


@pytest.mark.parametrize("kind, command", [
    ("profile", ["profile", "schema"]), ("fleet", ["fleet", "schema"]), ("site", ["plan", "site", "--schema"])])
def test_each_key_of_a_schema_stands_in_the_page(pages, kind, command):
    schema = json.loads(subprocess.run([PHAROS, *command], check=True, capture_output=True, text=True).stdout)
    keys = set()

    def visit(value):
        if isinstance(value, dict):
            properties = value.get("properties")
            if isinstance(properties, dict):
                keys.update(properties)
            for each in value.values():
                visit(each)
        elif isinstance(value, list):
            for each in value:
                visit(each)

    visit(schema)
    text = pages[f"pharos-{kind}.5"].replace("\\-", "-")
    assert len(keys) > 10
    assert {key for key in keys if f"\\fB{key}\\fR" not in text} == set()


def test_examples_use_commands_and_options_that_exist(commands):
    examples = [words for page in WRITTEN.values() for words, _ in page["examples"]]
    assert len(examples) >= 20
    for example in examples:
        words = [word for word in shlex.split(example) if word != "sudo"]
        path = "pharos"
        for word in words[1:]:
            if f"{path} {word}" not in commands:
                break
            path += f" {word}"
        if default := commands[path].get("defaultSubcommand"):
            path += f" {default}"
        names = {("--" if name["kind"] == "long" else "-") + name["name"]
                 for argument in commands[path].get("arguments", []) for name in argument.get("names", [])}
        assert path != "pharos", example
        assert {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)} <= names, example


def keys_of(texts):
    found = set()

    def visit(value, path):
        if isinstance(value, dict):
            for key, each in value.items():
                inner = f"{path}.{key}" if path else key
                found.add(inner)
                visit(each, inner)
        elif isinstance(value, list):
            for each in value:
                visit(each, path + "[]")

    for text in texts:
        for line in text.splitlines():
            visit(json.loads(line), "")
    return found


def output(*arguments):
    done = subprocess.run([PHAROS, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.stdout, done.stderr
    return done.stdout


PAYLOADS = [
    "0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5",
    "0201061bff1801beac000102030405060708090a0b0c0d0e0f10111213c500",
    "0201060303aafe1716aafe00ee8b0ca750095477cb3e770000000000020000",
    "0201060303aafe1016aafe10ee036578616d706c65016e32",
    "0201060303aafe1116aafe20000bb81600000000010000000a",
    "0201060303aafe1516aafe2001001122334455667788990a0b1122aabb",
    "0201060303aafe0d16aafe30ee823ea23e8675bc96",
    "0303aafe",
    "0201060303aafe1016aafe10ee036578616d706c65016e20",
]


def status_of_a_running_beacon(folder):
    process = subprocess.Popen(
        [PHAROS, "run", PROFILE, "--adapter", "virtual", "--state-dir", folder, "--runtime-dir", folder],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            done = subprocess.run([PHAROS, "status", "--json", "--runtime-dir", folder], capture_output=True, text=True)
            if '"on-air"' in done.stdout:
                return done.stdout
            process.poll()
    finally:
        process.terminate()
        process.wait(10)
    raise AssertionError("the beacon did not come on the air")


FLEET_OUTPUTS = [
    "check", "list", "generate", "diff", "status", "keys generate, pharos fleet keys agree", "keys resolve"]


@pytest.mark.parametrize("command", FLEET_OUTPUTS)
def test_the_keys_of_the_json_outputs_of_fleets_are_those_of_the_page(command, tmp_path):
    fleet = {
        "version": 1, "name": "f",
        "identities": {"minor": {"within": "fleet"}, "instance": {"from": "counter"}},
        "template": {"adapter": "hci0", "radioPowerDbm": 0, "advertisements": [
            {"type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": "${minor}",
             "intervalMs": 500, "measuredPowerDbm": -59, "flags": None},
            {"type": "altbeacon", "companyId": "0x0118", "id": "8b0ca750095477cb3e770011223344550000${bay}",
             "intervalMs": 500, "measuredPowerDbm": -59},
            {"type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "${instance}",
             "intervalMs": 500, "measuredPowerDbm": -18},
            {"type": "eddystone-url", "url": "https://e.org", "intervalMs": "${ms}", "measuredPowerDbm": -18},
            {"type": "eddystone-eid", "identityKeyFile": "keys/${name}.key", "rotationExponent": 4,
             "intervalMs": 5000, "measuredPowerDbm": -18}]},
        "defaults": {"controller": "extended", "variables": {"ms": 5000}},
        "groups": [{"name": "n"}],
        "beacons": [{"name": f"b{n}", "group": "n", "host": f"pi-{n}", "serial": f"s{n}",
                     "variables": {"bay": f"{n:04x}"},
                     "position": [1, 2, 3] if n % 2 else {"latitude": 1, "longitude": 2}} for n in range(6)]}

    def write(**more):
        (tmp_path / "f.json").write_text(json.dumps(fleet | more))

    def generated(*options):
        return output("fleet", "generate", tmp_path / "f.json", "--output", tmp_path / "out", "--json", *options)

    def found():
        write()
        if command == "check":
            write(beacons=fleet["beacons"] + [{"name": "x"}])
            return [output("fleet", "check", tmp_path / "f.json", "--json")]
        first = generated()
        renamed = {**fleet["beacons"][0], "name": "c", "was": "b0", "serial": "t0"}
        changed = {**fleet["beacons"][1], "variables": {"bay": "0001", "ms": 6000}}
        write(beacons=[renamed, changed, *fleet["beacons"][2:]])
        if command == "generate":
            return [first, generated()]
        if command == "diff":
            return [output("fleet", "diff", tmp_path / "f.json", "--against", tmp_path / "out", "--json")]
        if command == "list":
            return [output("fleet", "list", tmp_path / "out", "--json")]
        if command == "status":
            (tmp_path / "from").mkdir()
            (tmp_path / "from" / "s.json").write_text('{"name": "stranger", "state": "off"}')
            return [output("fleet", "status", tmp_path / "out", "--from", tmp_path / "from", "--json")]
        made = output("fleet", "keys", "generate", tmp_path / "out", "--json")
        if command.startswith("keys generate"):
            return [made]
        # Any id is none of these; its beacons have the keys that the source names.
        return [output("fleet", "keys", "resolve", "0011223344556677", tmp_path / "out", "--json")]

    documented = set(WRITTEN["pharos-fleet"]["json"][command])
    keys = keys_of(found())
    holders = {key for key in keys if any(other.startswith((key + ".", key + "[")) for other in keys | documented)}
    assert keys - documented - holders == set()
    absent = {key for key in documented if key.startswith("beacons[].")} if command == "keys resolve" else set()
    assert documented - keys == absent


@pytest.mark.parametrize("page", ["decode", "encode", "adapters", "advertise", "status", "doctor", "profile"])
def test_the_keys_of_json_outputs_are_those_of_the_page(page, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"version": 1, "name": "a b"}')
    texts = {
        "decode": lambda: [output("decode", "--json", payload) for payload in PAYLOADS],
        "encode": lambda: [output("encode", "raw", "--structure", structure, "--format", "json")
                           for structure in ("09:4e64654d31", "ff:4c000215" + "00" * 21)],
        "adapters": lambda: [output("adapters", "--json", "--adapter", "virtual")],
        "advertise": lambda: [output("advertise", PROFILE, "--adapter", "virtual", "--duration-s", "1", "--json")],
        "status": lambda: [status_of_a_running_beacon(tmp_path)],
        "doctor": lambda: [output("doctor", "--json")],
        "profile": lambda: [output("profile", "check", "--json", PROFILE, broken)],
    }[page]()
    documented = set(WRITTEN[f"pharos-{page}"]["json"])
    found = keys_of(texts)
    # A key that only holds others needs no words of its own; causes of rearms are data.
    holders = {key for key in found if any(other.startswith((key + ".", key + "[")) for other in found | documented)}
    if page == "encode":
        # Its frames have the keys that the page of decode lists.
        found = {key for key in found if not key.startswith("frames[].") or key == "frames[].type"}
    assert {key for key in found - documented - holders if not key.startswith("instances[].rearms.")} == set()
    # A payload that was just built breaks no rule.
    absent = {key for key in documented if key.startswith("problems[].")} if page == "encode" else set()
    assert documented - found == absent
