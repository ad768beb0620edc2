"""Runs the program under test as a user would: arguments in, exit code, standard output and standard error out."""
import functools
import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(os.environ.get("PHAROS") or ROOT / ".build" / "pharos")


def companion(name: str) -> Path:
    """A program of the tests themselves."""
    return ROOT / ".build" / "release" / name


class Result(NamedTuple):
    """How one run ended. `code` is negative where a signal (a trap, for one) ended it."""

    code: int
    out: str
    err: str

    def lines(self) -> list[dict]:
        """Standard output as JSON Lines, or as any other sequence of JSON values."""
        values, text, decoder = [], self.out.strip(), json.JSONDecoder()
        while text:
            value, end = decoder.raw_decode(text)
            values.append(value)
            text = text[end:].lstrip()
        return values


def run(*arguments, stdin: str | bytes | None = None, timeout: float = 60, cwd=None) -> Result:
    """One run to its end."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=given if given is not None else b"",
                          capture_output=True, timeout=timeout, cwd=cwd)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace"))


def commands() -> dict:
    """The argument parser's description of each command of pharos; the commands of pharos-hub describe themselves."""
    def dumped(program):
        text = subprocess.run([program, "--experimental-dump-help"], capture_output=True, check=True, text=True).stdout
        return json.loads(text)["command"]

    command, kept = dumped(PROGRAM), dumped(Path(PROGRAM).resolve().parent / "pharos-hub")
    whole = {each["commandName"]: each for each in kept["subcommands"]
             if each["commandName"] != "help" and each["shouldDisplay"]}
    command["subcommands"] = [whole.get(each["commandName"], each) for each in command["subcommands"]]
    return command


def checked(*arguments, **options) -> Result:
    """One run that must succeed."""
    result = run(*arguments, **options)
    assert result.code == 0, f"pharos {' '.join(map(str, arguments))}\nended with {result.code}: {result.err}"
    return result


@functools.cache
def encode(frame: str, *options: str) -> bytes:
    """The octets of `pharos encode FRAME …`: one line of lower-case hex."""
    out = checked("encode", frame, *options, "--format", "hex").out
    assert out == out.strip().lower() + "\n", f"one line of lower-case hex was expected: {out!r}"
    return bytes.fromhex(out)


def decode(octets: bytes, *options: str) -> dict:
    """The one JSON object of `pharos decode HEX --json`."""
    return json.loads(checked("decode", octets.hex(), "--json", *options).out)


class Decoded:
    """Many payloads decoded by one run, one hex line and one JSON line each: starting a program costs most of it."""

    def __init__(self, payloads: Iterable[bytes]):
        self.payloads = list(payloads)

    @functools.cached_property
    def answers(self) -> dict[bytes, dict]:
        result = checked("decode", "-", "--json", stdin="".join(octets.hex() + "\n" for octets in self.payloads))
        answers = [json.loads(line) for line in result.out.splitlines()]
        assert len(answers) == len(self.payloads)
        return dict(zip(self.payloads, answers, strict=True))

    def only_frame(self, octets: bytes) -> dict:
        return only_frame(octets, self.answers[octets])


def only_frame(octets: bytes, answer: dict) -> dict:
    """The frame of a payload that holds exactly one and breaks no rule."""
    assert answer["octets"] == octets.hex()
    assert answer["problems"] == [], answer["problems"]
    assert len(answer["frames"]) == 1, answer["frames"]
    return answer["frames"][0]


def frames_within(value) -> list[dict]:
    """Every decoded payload (an object with `octets` and `frames`) inside JSON values, in their order."""
    found = []
    if isinstance(value, dict):
        if "octets" in value and "frames" in value:
            found.append(value)
        for inner in value.values():
            found += frames_within(inner)
    elif isinstance(value, list):
        for inner in value:
            found += frames_within(inner)
    return found
