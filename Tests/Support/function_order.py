#!/usr/bin/env python3
"""Write the order in which the linker lays out the functions of the static program: Tests/Support/function-order.txt.

    Tests/Support/function_order.py            records it anew, from the program that build-static has built
    Tests/Support/function_order.py --check    how many of its functions that program still has; ends with a line
                                               `N passed, N failed, N skipped`

A beacon sleeps between two turns, and finds all of its code cold after that. What a turn runs therefore lies together,
each function behind the one that calls it: on half as many pages, which the processor can fetch ahead. What a turn of
`run` with four frames runs comes first, then what its verifications and status files do, then what `encode` does until
it ends. Recorded by Valgrind (the Debian package valgrind); functions that share a section with others, as those of
the C library and of Swift's own do, cannot be moved, and are left out.
"""

import collections
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import symbol_graphs
from checks import Checks

ROOT = symbol_graphs.ROOT
ORDER = ROOT / "Tests/Support/function-order.txt"
LINKED = ROOT / ".build/release/pharos"
# The share of functions that must be in the program under the names that they had when the order was recorded.
KNOWN = 0.8
# Time for several hundred turns and two verifications, which come every 15 s.
SECONDS = 45
FRAMES = [
    {"type": "eddystone-uid", "namespace": "0102030405060708090A", "instance": "000000000001"},
    {"type": "eddystone-url", "url": "https://example.org/a"},
    {"type": "ibeacon", "uuid": "2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6", "major": 1, "minor": 2},
    {"type": "eddystone-url", "url": "https://example.org/b"},
]
ENCODE = "encode ibeacon --uuid 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6 --major 1 --minor 2 --measured-power-dbm -59"


class Recording:
    """How often functions were called, and what each calls, in the order of the places where it does."""

    def __init__(self, path):
        self.calls = collections.Counter()
        self.callees = collections.defaultdict(list)
        names = {}
        caller = callee = None
        for line in path.read_text().splitlines():
            # Names stand behind their number where it is new; a recursion's levels behind an apostrophe.
            if function := re.match(r"(c?fn)=\((\d+)\)(?: (.*?)(?:'\d+)?$)?", line):
                name = names.setdefault(function[2], function[3])
                caller, callee = (name, callee) if function[1] == "fn" else (caller, name)
            elif line.startswith("calls="):
                self.calls[callee] += int(line[6:].split()[0])
                self.callees[caller].append(callee)

    def in_order(self):
        called = {callee for callees in self.callees.values() for callee in callees}
        seen = {}
        waiting = [name for name in self.callees if name not in called][::-1]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen[name] = self.calls[name]
                waiting += reversed(self.callees[name])
        return seen


def callgrind(file, *arguments):
    return [
        "valgrind", "--tool=callgrind", "--demangle=no", "--dump-instr=yes", "--compress-pos=no",
        f"--callgrind-out-file={file}", *map(str, arguments),
    ]  # fmt: skip


@contextlib.contextmanager
def running(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def record_turns(program, folder):
    """The functions of a beacon on the air, with the number of their calls: those of each turn first."""
    socket = folder / "controller.sock"
    power = {"ibeacon": -59}
    profile = {
        "version": 1, "name": "order",
        "advertisements": [
            frame | {"intervalMs": 415, "measuredPowerDbm": power.get(frame["type"], -18)} for frame in FRAMES
        ],
    }  # fmt: skip
    (folder / "order.profile").write_text(json.dumps(profile))
    status = folder / "order.status.json"
    options = ["--adapter", f"unix:{socket}", "--state-dir", folder, "--runtime-dir", folder]
    run = callgrind(folder / "turns", "--instr-atstart=no", program, "run", folder / "order.profile", *options)
    controller = [program, "controller", "--listen", f"unix:{socket}", "--like", "raspberry-pi"]
    with running(controller):
        wait_for(socket.exists)
        with running(run) as process:
            wait_for(lambda: status.exists() and '"state":"on-air"' in status.read_text())
            subprocess.run(["callgrind_control", "--instr=on", str(process.pid)], check=True, capture_output=True)
            time.sleep(SECONDS)
    calls = Recording(folder / "turns").in_order()
    turns = max(count for name, count in calls.items() if name.startswith("$s10Advertiser12BeaconKeeperC4wakeyyF"))
    return sorted(calls, key=lambda name: calls[name] < 0.8 * turns)


def record_encode(program, folder):
    subprocess.run(callgrind(folder / "encode", program, *ENCODE.split()), check=True, capture_output=True)
    return list(Recording(folder / "encode").in_order())


def wait_for(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    sys.exit("function_order: the beacon did not go on the air")


def movable():
    """The functions that have a section of their own."""
    target = json.loads(subprocess.run(["swift", "-print-target-info"], capture_output=True, check=True).stdout)
    runtime = pathlib.Path(target["paths"]["runtimeResourcePath"]).parent / "swift_static/linux"
    objects = [*LINKED.resolve().parent.rglob("*.o"), *runtime.glob("*.a")]
    listing = subprocess.run(["readelf", "-SW", *objects], capture_output=True, text=True).stdout
    return set(re.findall(r" \.text\.(\S+)", listing))


def record():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / "pharos"
        subprocess.run(["strip", "-g", "-o", program, LINKED], check=True)
        names = record_turns(program, folder) + record_encode(program, folder)
    sections = movable()
    ORDER.write_text("".join(f".text.{name}\n" for name in dict.fromkeys(names) if name in sections))


def check():
    symbols = subprocess.run(["nm", LINKED], capture_output=True, text=True, check=True).stdout
    linked = {line.split()[-1] for line in symbols.splitlines()}
    names = [line.removeprefix(".text.") for line in ORDER.read_text().split()]
    known = sum(name in linked for name in names)
    checks = Checks("function_order")
    checks.check(
        "names", known >= KNOWN * len(names),
        f"{known} of {len(names)} functions of the order are in the program, at least {KNOWN:.0%}, or "
        "Tests/Support/function_order.py records the order anew",
    )  # fmt: skip
    return checks.end()


if __name__ == "__main__":
    if not LINKED.exists():
        sys.exit("function_order: there is no program; Tests/Support/build-static builds it")
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__.strip())
    if not sys.argv[1:]:
        record()
    sys.exit(check())
