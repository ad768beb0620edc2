"""Runs the same commands on the programs of two architectures, and compares all that they print and write."""

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
sys.path.insert(0, str(CHECKOUT / "Tests/Oracles"))
import btsnoop  # noqa: E402
import pharos  # noqa: E402

LIST = HERE / "commands.txt"
# Commands that take longer hang.
LIMIT = 300


class Answer(NamedTuple):
    status: int
    out: bytes
    err: bytes


def commands():
    return [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]


def untried():
    """The commands, such as `plan interval`, that are in no line of the list."""
    start, text = r"(?:^|; |^timeout \d+ )pharos ", LIST.read_text()
    names = _leaves(pharos.commands(), [])
    return sorted(name for name in names if not re.search(rf"{start}{name}\b", text, re.MULTILINE))


def _leaves(command, words):
    """The commands that have no commands of their own."""
    inner = [each for each in command.get("subcommands", []) if each["commandName"] != "help"]
    if not inner:
        yield " ".join(words)
    for each in inner:
        yield from _leaves(each, [*words, each["commandName"]])


def run_all(program, folder, more_environment):
    """The answers of all commands, and the files that are there afterwards, by their paths."""
    shutil.rmtree(folder, ignore_errors=True)
    programs, work = folder / "bin", folder / "work"
    programs.mkdir(parents=True)
    shutil.copy(program, programs / "pharos")
    shutil.copy(f"{program}-hub", programs / "pharos-hub")
    shutil.copytree(CHECKOUT / "profiles", work / "profiles")
    (work / "empty").mkdir()
    write_recording(work / "recording.btsnoop")
    environment = {
        "PATH": f"{programs}:/usr/bin:/bin", "HOME": str(work), "LC_ALL": "C.UTF-8", "TZ": "UTC", **more_environment,
    }  # fmt: skip
    answers = {}
    for line in commands():
        done = subprocess.run(
            ["sh", "-c", line], cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT
        )
        answers[line] = Answer(done.returncode, done.stdout, done.stderr)
    return answers, files(work)


def files(folder):
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_recording(path):
    """Three thousand reports with frames, with random data, and cut short."""
    choice = random.Random(26)
    frames = [bytes.fromhex(text) for text in (
        "0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5",
        "0201061bff1801beac00112233445566778899aabbccddeeff00010002c500",
        "0201060303aafe1516aafe00ee00112233445566778899000000000001",
        "0201060303aafe0f16aafe10ee036578616d706c6507",
        "0201060303aafe1116aafe20000bb81540000000050000000a",
        "0201060e16d2fc4002ca0803ba1301640000",
    )]  # fmt: skip
    packets = []
    for _ in range(3000):
        data = choice.choice([*frames, choice.randbytes(choice.randrange(32))])
        if choice.random() < 0.1:
            data = data[: choice.randrange(len(data) + 1)]
        packets.append(choice.choice([btsnoop.legacy_report, btsnoop.extended_report])(data))
    btsnoop.write(path, btsnoop.H4, packets)


def compare(native, other, folder, environment):
    """Yields a line for each command and for the files: `OK …` or `NOT OK …`."""
    scratch = folder / "compare"
    first, written = run_all(native, scratch, {})
    second, also_written = run_all(other, scratch, environment)
    shutil.rmtree(scratch)
    for line in commands():
        if first[line] == second[line]:
            yield f"OK compare: {line}"
        else:
            yield f"NOT OK compare: {line}"
            yield from _difference(first[line], second[line])
    every = written.keys() | also_written.keys()
    different = sorted(path for path in every if written.get(path) != also_written.get(path))
    mark, equal = "NOT OK" if different else "OK", len(every) - len(different)
    yield f"{mark} compare: {equal} of {len(every)} files are the same"
    for path in different:
        yield f"  {path} differs"


def _difference(one, two):
    for name, left, right in zip(Answer._fields, one, two, strict=True):
        if left == right:
            continue
        if isinstance(left, int):
            yield f"  {name}: {left} and {right}"
            continue
        pairs = enumerate(zip(left, right, strict=False))
        at = next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))
        yield f"  {name}, byte {at} of {len(left)} and {len(right)}: {left[at:at + 100]!r} and {right[at:at + 100]!r}"
