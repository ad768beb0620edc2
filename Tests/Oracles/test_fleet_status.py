"""`pharos fleet status`: what boxes say, by file and by an ssh of ours, against what the manifest wants."""
import datetime
import json
import os
import time

import pytest

import fleets
import pharos


def now(age: int = 0) -> str:
    then = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=age)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def status(number: int, **more) -> dict:
    """What a box that is well says."""
    return {"name": f"hall-{number}", "adapter": "hci0", "state": "on-air", "since": now(86400),
            "lastVerified": now(5), "profileHash": f"{number:016x}", "advertisements": [
                {"type": "ibeacon", "intervalMs": 200, "grantedIntervalMs": 200, "radioPowerDbm": -4,
                 "grantedRadioPowerDbm": -4},
                {"type": "eddystone-uid", "intervalMs": 350, "grantedIntervalMs": 350}], **more}


@pytest.fixture
def fleet(tmp_path):
    fleets.write(tmp_path, [fleets.beacon(number) for number in range(6)])
    (tmp_path / "from").mkdir()
    return tmp_path


def write(fleet, *statuses):
    for number, said in enumerate(statuses):
        (fleet / "from" / f"{number}.status.json").write_text(json.dumps(said))


def problems(fleet, *options) -> dict[str, list[str]]:
    result = pharos.run("fleet", "status", fleet, *options, "--json", timeout=60)
    answer = json.loads(result.out)
    found = {entry["name"]: [problem["kind"] for problem in entry["problems"]] for entry in answer["entries"]}
    assert result.code == (1 if any(found.values()) else 0), result.err
    assert answer["good"] == sum(1 for kinds in found.values() if not kinds)
    return found


def test_a_fleet_that_is_well(fleet):
    write(fleet, *(status(number) for number in range(6)))
    assert problems(fleet, "--from", fleet / "from") == {f"hall-{n}": [] for n in range(6)}
    text = pharos.checked("fleet", "status", fleet, "--from", fleet / "from").out
    assert text == "6 of 6 beacons of museum are as they should be.\n"


def test_everything_that_is_wrong_is_told(fleet):
    slow = status(3)
    slow["advertisements"][0] |= {"grantedIntervalMs": 1000, "grantedRadioPowerDbm": -20}
    write(fleet, status(0), status(1, state="recovering", since=now(3700), lastError="adapter-gone\u001b[2J"),
          status(2, profileHash="ffff"), slow, status(4, lastVerified=now(90)))
    assert problems(fleet, "--from", fleet / "from") == {
        "hall-0": [], "hall-1": ["silent"], "hall-2": ["other-profile"], "hall-3": ["slow", "weak"],
        "hall-4": ["stale"], "hall-5": ["no-report"]}
    result = pharos.run("fleet", "status", fleet, "--from", fleet / "from")
    assert result.code == 1
    lines = result.out.splitlines()
    assert lines[0].split() == ["beacon", "place", "host", "since", "what"]
    assert "1 h 1 min" in lines[1] and "recovering: adapter-gone" in lines[1] and "\u001b" not in result.out
    assert "every 1000 ms instead of 200 ms" in lines[3] and "-20 dBm instead of -4 dBm" in lines[3]
    assert lines[-1] == "1 of 6 beacons of museum are as they should be."
    assert problems(fleet, "--from", fleet / "from", "--stale-after-s", "3600")["hall-4"] == []


def test_answers_of_whole_boxes_in_folders_of_their_own(fleet):
    for number in range(6):
        folder = fleet / "from" / f"pi-{number}.example"
        folder.mkdir()
        (folder / "status.json").write_text(json.dumps({"instances": [status(number), status(number + 50)]}))
    assert not any(problems(fleet, "--from", fleet / "from").values())
    text = pharos.checked("fleet", "status", fleet, "--from", fleet / "from").out
    assert "Not in this fleet: hall-50 (pi-0.example), " in text and "and 1 more" in text


def test_a_second_box_with_the_same_name_is_told(fleet):
    for source in ("pi-0.example", "old"):
        (fleet / "from" / source).mkdir()
        (fleet / "from" / source / "s.json").write_text(json.dumps(status(0)))
    assert problems(fleet, "--from", fleet / "from")["hall-0"] == ["several"]


def test_files_that_are_no_status_are_said(fleet):
    write(fleet, *(status(number) for number in range(6)))
    (fleet / "from" / "x.json").write_text("{")
    (fleet / "from" / "y.json").write_text('{"name": "y", "state": "asleep"}')
    result = pharos.checked("fleet", "status", fleet, "--from", fleet / "from")
    assert ("x.json: this is not a status file" in result.err
            and "y.json: the instance's state is not one of" in result.err)


def test_what_listeners_and_collectors_leave_beside_it_is_passed_over(fleet):
    write(fleet, *(status(number) for number in range(6)))
    (fleet / "from" / "pi-0.example").mkdir()
    for folder in (fleet / "from", fleet / "from" / "pi-0.example"):
        (folder / "hall.listener.json").write_text('{"name": "hall", "state": "listening"}')
        (folder / "museum.collector.json").write_text('{"name": "museum", "state": "collecting"}')
        (folder / "museum.where.json").write_text('{"site": "museum", "beacons": []}')
        (folder / "hall-0.state.json").write_text('{"version": 1}')
    result = pharos.checked("fleet", "status", fleet, "--from", fleet / "from")
    assert "6 of 6 beacons" in result.out and result.err == ""


def test_a_named_pipe_among_the_files_is_passed_over(fleet):
    write(fleet, *(status(number) for number in range(6)))
    os.mkfifo(fleet / "from" / "a.json")
    (fleet / "from" / "pi-9.example").mkdir()
    os.mkfifo(fleet / "from" / "pi-9.example" / "b.json")
    result = pharos.run("fleet", "status", fleet, "--from", fleet / "from", timeout=10)
    assert result.code == 0 and "6 of 6 beacons" in result.out
    assert result.err.count("regular file") == 2, result.err


@pytest.fixture
def ssh(fleet, monkeypatch):
    """An `ssh` first in PATH that keeps its arguments and answers from `from/HOST`, late where that says `sleep`."""
    folder = fleet / "bin"
    folder.mkdir()
    # The host stands behind "--"; every argument is one line of calls, every call ends with an empty one.
    (folder / "ssh").write_text(f"""#!/bin/sh
printf '%s\\n' "$@" '' > {fleet}/calls.$$
while [ "$1" != -- ]; do shift; done
[ -e "{fleet}/from/$2" ] || {{ echo "ssh: connect to host $2 port 22: No route to host" >&2; exit 255; }}
[ "$(cat "{fleet}/from/$2")" != sleep ] || exec sleep 60
cat "{fleet}/from/$2"
exit 1
""")
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return fleet


def test_boxes_are_asked_by_ssh(ssh):
    for number in range(4):
        (ssh / "from" / f"pi-{number}.example").write_text(json.dumps({"instances": [status(number)]}))
    (ssh / "from" / "pi-4.example").write_text("sleep")
    started = time.monotonic()
    result = pharos.run("fleet", "status", ssh, "--ssh", "--timeout-s", "8", "--parallel", "2", timeout=60)
    assert time.monotonic() - started < 50
    assert result.code == 1
    assert "no answer within 8 s" in result.out and "No route to host" in result.out
    assert "4 of 6 beacons" in result.out
    calls = [path.read_text().split("\n")[:-2] for path in ssh.glob("calls.*")]
    assert sorted(call[call.index("--") + 1] for call in calls) == [f"pi-{n}.example" for n in range(6)]
    assert all(call[call.index("--") + 2:] == ["pharos", "status", "--json"] for call in calls)


@pytest.mark.parametrize("host", ["-oProxyCommand=touch /tmp/x", "a b", "$(id)", "a;id", "a\nb", "", "é"])
def test_no_host_becomes_an_option_or_a_command(tmp_path, ssh, host):
    fleets.write(ssh, [fleets.beacon(0, host=host)])
    result = pharos.run("fleet", "status", ssh, "--ssh")
    assert result.code in (1, 65)
    assert not list(ssh.glob("calls.*"))
