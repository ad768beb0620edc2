"""What the tests share: the program must be there, and what cannot run is said, never passed over."""
import os
import shutil
from pathlib import Path

import pytest

import peers
import pharos

ON_CI = os.environ.get("CI") == "true"
# The files that take minutes, the longest first: each runs in one process, and those begin with these.
FIRST = [
    "test_map_fit", "test_documentation", "test_plan_page", "test_page_looks", "test_map_text", "test_map_newcomer",
    "test_fleet_rollout", "test_map_show", "test_progress", "test_plan_shards",
]
# Those that take a minute or two.
LATER = [
    "test_broker", "test_listen_service", "test_site_editor", "test_qualify", "test_json_outputs", "test_inventory",
]


def pytest_sessionstart(session):
    if not os.access(pharos.PROGRAM, os.X_OK):
        pytest.exit(f"no program at {pharos.PROGRAM}: build it first, or name it in PHAROS", returncode=2)


def pytest_collection_modifyitems(items):
    order = {name: place for place, name in enumerate(FIRST + LATER)}
    lines = Path(__file__).with_name("long_tests.txt").read_text().splitlines()
    long_tests = {line for line in lines if not line.startswith("#")}
    for item in items:
        test = f"{item.path.stem}::{item.name}"
        if not long_tests.isdisjoint({item.path.stem, test, test.partition("[")[0]}):
            item.add_marker(pytest.mark.long)
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))


@pytest.fixture
def needs():
    """`needs("tshark")`: the path of a program; without it the test is skipped, or fails where CI=true."""

    def find(program: str) -> str:
        path = shutil.which(program)
        if path is None:
            message = f"{program} is not installed: apt-get install {peers.PACKAGES.get(program, program)}"
            pytest.fail(message) if ON_CI else pytest.skip(message)
        return path

    return find


def _starting():
    started: list[peers.Peer] = []

    def begin(*arguments, **options) -> peers.Peer:
        started.append(peers.Peer(*arguments, **options))
        return started[-1]

    yield begin
    for peer in reversed(started):
        peer.end()


@pytest.fixture
def start():
    """`start(ARGUMENT, …)`: a process that is ended, by its id, with the test."""
    yield from _starting()


@pytest.fixture(scope="module")
def start_shared():
    """The same for what the tests of one file share."""
    yield from _starting()


@pytest.fixture
def advertise(start):
    """`advertise(OPTION, …)`: a running `pharos advertise … --json`, once it says that it is on the air."""

    def begin(*options, timeout: float = 10) -> peers.Peer:
        peer = start(pharos.PROGRAM, "advertise", *options, "--json")
        peer.on_air = peer.wait(lambda line: line.get("event") == "on-air", timeout)
        return peer

    return begin
