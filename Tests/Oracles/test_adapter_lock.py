"""One controller sends for one program, also behind `unix:`, `tcp:` and `serial:`, and under all of its names."""
import json
import os
import time

import pytest

import frames
import h4
import h4_bridge
import peers
import pharos

RESET, READ_ADDRESS = 0x0C03, 0x1009
UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"


def profile(folder, name, minor):
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"version": 1, "name": name, "advertisements": [{
        "type": "ibeacon", "uuid": UUID, "major": 1, "minor": minor, "measuredPowerDbm": -59, "intervalMs": 100}]}))
    return path


def run_options(folder, name, minor, adapter):
    return ("run", profile(folder, name, minor), "--adapter", adapter, "--state-dir", folder / "state",
            "--runtime-dir", folder / "run")


@pytest.fixture
def running(start, tmp_path):
    """`running(NAME, MINOR, ADAPTER)`: a `pharos run` that is on the air."""

    def begin(name, minor, adapter):
        peer = start(pharos.PROGRAM, *run_options(tmp_path, name, minor, adapter))
        status = tmp_path / "run" / f"{name}.status.json"
        deadline = time.monotonic() + 20
        while not (status.exists() and '"state":"on-air"' in status.read_text()):
            assert time.monotonic() < deadline, peer.errors
            time.sleep(0.02)
        return peer

    return begin


@pytest.fixture
def board(start, tmp_path):
    """One controller that accepts several connections."""
    socket = tmp_path / "air"
    server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{socket}")
    server.wait(lambda line: "listening" in str(line), 10)
    bridge = h4_bridge.SharedBridge(tmp_path / "board", socket)
    bridge.air = f"unix:{socket}"
    yield bridge
    bridge.close()


def is_refused(result, adapter, holder, process):
    assert result.code == 69, result.err
    assert result.err.startswith(f"pharos: the adapter {adapter} is used by the instance \"{holder}\" (process "
                                 f"{process}); stop that instance"), result.err


def test_two_beacons_do_not_share_a_controller_behind_a_socket(running, board, tmp_path):
    first = running("first", 1, board.address)
    before = len(board.commands)
    result = pharos.run(*run_options(tmp_path, "second", 2, board.address))
    is_refused(result, board.address, "first", first.process.pid)
    # The controller was asked for its address, and nothing else.
    added = [opcode for opcode, _ in board.commands[before:]]
    assert RESET not in added and READ_ADDRESS in added
    ear = h4.Host(board.air)
    ear.scan()
    assert {report.octets[-3:-1] for report in ear.heard(5)} == {bytes([0, 1])}
    ear.close()
    # Free again after its end.
    assert first.interrupt() == 0
    running("second", 2, board.address)


def test_a_link_to_a_socket_is_no_other_controller(running, board, tmp_path):
    first = running("first", 1, board.address)
    link = tmp_path / "link"
    link.symlink_to(board.address.removeprefix("unix:"))
    is_refused(pharos.run(*run_options(tmp_path, "second", 2, f"unix:{link}")), f"unix:{link}", "first",
               first.process.pid)


def test_controllers_of_one_server_are_free_each(start, running, tmp_path):
    server = start(pharos.PROGRAM, "controller", "--listen", "tcp:127.0.0.1:0")
    address = server.wait(lambda line: "listening" in str(line), 10)["text"].removeprefix("listening ")
    running("first", 1, address)
    running("second", 2, address)
    # Another server's first controller has the address of this one's.
    other = start(pharos.PROGRAM, "controller", "--listen", "tcp:127.0.0.1:0")
    running("third", 3, other.wait(lambda line: "listening" in str(line), 10)["text"].removeprefix("listening "))


def test_a_link_to_a_serial_line_is_no_other_controller(start, running, tmp_path):
    line = tmp_path / "ttyACM0"
    peers.start_strict_controller(start, f"pty:{line}", "--strict")
    device = os.path.realpath(line)
    first = running("first", 1, f"serial:{device}")
    for name in (line, device):
        is_refused(pharos.run(*run_options(tmp_path, "second", 2, f"serial:{name}")), f"serial:{name}@115200", "first",
                   first.process.pid)


@pytest.mark.skipif(os.geteuid() != 0, reason="advertise and adapters lock in /run/pharos, which belongs to root")
def test_commands_in_the_foreground_respect_each_other(advertise, board, start):
    beacon = advertise(*frames.UID.options, "--adapter", board.address)
    for command in (("advertise", *frames.URL.options, "--duration-s", "1"), ("adapters",),
                    ("crowd", "--identities", "3")):
        is_refused(pharos.run(*command, "--adapter", board.address), board.address, "pharos advertise",
                   beacon.process.pid)
    scan = pharos.run("scan", "--adapter", board.address, "--duration-s", "1")
    assert scan.code == 69 and '"pharos advertise"' in scan.err
    assert beacon.interrupt() == 0
    assert pharos.run("adapters", "--adapter", board.address).code == 0
    crowd = start(pharos.PROGRAM, "crowd", "--identities", "3", "--adapter", board.address, "--json")
    crowd.wait(lambda line: line.get("event") == "start", 15)
    is_refused(pharos.run("advertise", *frames.URL.options, "--adapter", board.address), board.address, "pharos crowd",
               crowd.process.pid)
    assert crowd.interrupt() == 0


def test_virtual_adapters_need_no_lock(running):
    for number in (1, 2):
        running(f"beacon-{number}", number, "virtual")
