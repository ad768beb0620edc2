"""No exit while the receiver may have failed: recordings in which nothing was received for an hour, whose clock jumps,
and in which a beacon was alone on the air; the same for zones, scan --monitor, listen and collect."""
import json

import pytest

import pharos
from test_scan import START, UUID, address, ibeacon, recording, report

REGION = f"ibeacon:{UUID}-1"
NEVER = b"\x02\x01\x06"


def heard(start, end, minor, step=0.105):
    """Seconds to packets of a beacon."""
    return [(int((start + at * step) * 1e6), report(address(minor), ibeacon(1, minor), -60))
            for at in range(int((end - start) / step))]


def others(start, end, step=0.5):
    """Seconds to packets of a device without an identity."""
    packet = report(address(99), NEVER, -70)
    return [(int((start + at * step) * 1e6), packet) for at in range(int((end - start) / step))]


def tape(folder, *parts):
    return recording(folder / "silence.btsnoop", sorted(sum(parts, []), key=lambda packet: packet[0]))


@pytest.fixture
def listener(tmp_path):
    path = tmp_path / "hall.json"
    known = [{"name": name, "ibeacon": {"uuid": UUID, "major": 1, "minor": minor}}
             for name, minor in (("key", 1), ("bag", 2))]
    zone = {"name": "room", "beacons": ["key"], "aboveDbm": -80}
    path.write_text(json.dumps({"version": 1, "name": "hall", "known": known, "zones": [zone]}))
    return path


def zones(listener, path):
    return pharos.checked("zones", listener, "--json", "--replay", path).lines()


def kinds(lines):
    return [line["event"] for line in lines]


def presences(listener, path):
    """The changes of the presence of `key`."""
    lines = pharos.checked("listen", listener, "--print", "--json", "--replay", path).lines()
    found = [beacon["presence"] for line in lines if line["event"] == "beacons" for beacon in line["beacons"]
             if beacon["beacon"] == "key"]
    return [found[0]] + [after for before, after in zip(found, found[1:], strict=False) if before != after]


def collected(folder, listener, path):
    """The events of `key` in a collector that reads the lines of the receiver."""
    lines = folder / "hall.jsonl"
    lines.write_text(pharos.checked("listen", listener, "--print", "--json", "--replay", path).out)
    site = folder / "museum.json"
    site.write_text(json.dumps({"version": 1, "name": "museum", "receivers": [{"name": "hall", "room": "hall"}]}))
    events = pharos.checked("collect", site, "--from", f"hall={lines}", "--json").lines()
    return [line for line in events if line.get("beacon") == "key"]


def seconds(line):
    hour, minute, second = line["at"][11:-1].split(":")
    return (int(hour) * 3600 + int(minute) * 60 + float(second) - START // 1_000_000) % 86_400


def test_an_hour_in_which_nothing_was_received_is_no_exit(tmp_path, listener):
    path = tape(tmp_path, *(heard(start, start + 60, minor) for start in (0, 3660) for minor in (1, 2)))
    lines = zones(listener, path)
    assert kinds(lines) == ["enter", "unknown", "known"]
    assert seconds(lines[1]) == pytest.approx(65, abs=0.2) and seconds(lines[2]) == pytest.approx(3660, abs=0.2)
    assert lines[1]["since"] == lines[2]["since"] and all(line["provenBy"] is None for line in lines)
    regions = pharos.checked("scan", "--json", "--replay", path, "--monitor", REGION).lines()
    assert kinds(regions) == ["enter", "unknown", "known"]
    text = pharos.checked("scan", "--replay", path, "--monitor", REGION).out
    assert [line.split()[1] for line in text.splitlines()] == ["enter", "unknown", "known"]
    assert presences(listener, path) == ["present", "unknown", "present"]
    assert "exit" not in kinds(collected(tmp_path, listener, path))


def test_a_clock_that_jumps_ten_years_ahead_is_no_exit(tmp_path, listener):
    years = 10 * 365 * 86_400
    path = tape(tmp_path, *(heard(start, start + 60, minor) for start in (0, 60 + years) for minor in (1, 2)))
    assert "exit" not in kinds(zones(listener, path))
    regions = pharos.checked("scan", "--json", "--replay", path, "--monitor", REGION).lines()
    assert "exit" not in kinds(regions)
    assert "gone" not in presences(listener, path)


def test_a_beacon_that_is_alone_on_the_air_is_unknown_until_something_else_is_received(tmp_path, listener):
    path = tape(tmp_path, heard(0, 60, 1))
    assert kinds(zones(listener, path)) == ["enter"]
    path = tape(tmp_path, heard(0, 60, 1), others(1000, 1060))
    lines = zones(listener, path)
    assert kinds(lines) == ["enter", "unknown", "known", "exit"]
    assert seconds(lines[3]) == pytest.approx(1010, abs=0.2)
    assert lines[3]["cause"] == "silence" and lines[3]["provenBy"] == "report"
    regions = pharos.checked("scan", "--json", "--replay", path, "--monitor", REGION).lines()
    assert kinds(regions) == ["enter", "unknown", "known", "exit"]
    assert regions[3]["provenBy"] == "report" and seconds(regions[3]) == pytest.approx(1010, abs=0.2)
    assert presences(listener, path) == ["present", "unknown", "present", "gone"]
    events = collected(tmp_path, listener, path)
    # The receiver reported that it may have failed, and works again.
    assert kinds(events)[-1] == "exit" and events[-1]["provenBy"] == "restart" and seconds(events[-1]) > 1009


def test_a_beacon_that_leaves_while_another_is_received_has_left(tmp_path, listener):
    path = tape(tmp_path, heard(0, 60, 1), heard(0, 120, 2))
    assert kinds(zones(listener, path)) == ["enter", "exit"]
    assert presences(listener, path) == ["present", "gone"]
    assert kinds(collected(tmp_path, listener, path))[-1] == "exit"


def test_the_count_of_an_inventory_tells_the_silent_hour(tmp_path):
    path = tape(tmp_path, *(heard(start, start + 60, 1) for start in (0, 3660)))
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps({"version": 1, "name": "tools", "items": [
        {"id": "drill", "name": "Drill", "beacon": f"ibeacon:{UUID}-1-1"}]}))
    pharos.checked("inventory", "start", tools, "--replay", path, "--json")
    receiver = json.loads(pharos.checked("inventory", "report", tools, "--json").out)["receivers"][0]
    assert receiver["deafS"] == pytest.approx(3600, abs=2) and receiver["listenedS"] == pytest.approx(120, abs=2)
