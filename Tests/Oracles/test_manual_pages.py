"""The manual pages: one for each command and each kind of file, and nothing in them that the program does not say."""
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pharos
import pytest

ROOT = Path(__file__).resolve().parents[2]
PHAROS = os.environ["PHAROS"]
WRITTEN = json.loads((ROOT / "systemd/man/pages.json").read_text())


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, ROOT / "systemd/man/generate", PHAROS, folder], check=True)
    return {page.name: page.read_text() for page in folder.iterdir()}


@pytest.fixture(scope="module")
def commands():
    """Every command by its words, with what the program says of it."""
    found = {}

    def visit(command):
        found[" ".join(command.get("superCommands", []) + [command["commandName"]])] = command
        for child in command.get("subcommands", []):
            visit(child)

    visit(pharos.commands())
    return found


def test_each_command_and_each_kind_of_file_has_its_page(pages, commands):
    first = {f"pharos-{words.split()[1]}.1" for words in commands if len(words.split()) == 2 and "help" not in words}
    assert set(pages) == first | {
        "pharos.1", "pharos-profile.5", "pharos-fleet.5", "pharos-site.5", "pharos-scanners.5", "pharos-listener.5",
        "pharos-inventory.5", "pharos-collector.5", "pharos-faults.5"}
    for name, text in pages.items():
        assert ".SH EXAMPLES" in text, name


@pytest.mark.parametrize("kind, command", [
    ("profile", ["profile", "schema"]), ("fleet", ["fleet", "schema"]), ("site", ["site", "schema"]),
    ("scanners", ["plan", "scanners", "--schema"]),
    ("listener", ["listen", "--schema"]), ("collector", ["collect", "--schema"]),
    ("inventory", ["inventory", "--schema"]), ("faults", ["rehearse", "--schema"])])
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
    assert len(keys) > 8
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
