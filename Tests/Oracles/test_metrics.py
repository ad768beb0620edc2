"""`pharos status --metrics`, the text that `run` writes for node_exporter, read by Prometheus' own parser."""
import json
import os

import pytest
from prometheus_client.parser import text_string_to_metric_families

import pharos

NAMES = ["lobby-north", 'quote " and \\ backslash', "two\nlines", "\u00e4\u4e16 {}=,#", "\\n"]


def instance(name: str, **more) -> dict:
    """A status file's contents, of a process that runs: this one."""
    ticks = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19])
    frames = [
        {"type": "ibeacon", "intervalMs": 200, "grantedIntervalMs": 200, "grantedRadioPowerDbm": -4, "events": 7,
         "eventsCounted": True},
        {"type": "ibeacon", "intervalMs": 152.5, "grantedIntervalMs": 152.5, "grantedRadioPowerDbm": None,
         "events": 2**53, "eventsCounted": False},
        {"type": "eddystone-url", "intervalMs": 700},
    ]
    return {"name": name, "adapter": "hci0", "state": "on-air", "lastVerified": "2026-03-01T12:00:00Z",
            "profileHash": "abc", "controller": name, "advertisements": frames,
            "rearms": {"adapter-gone": 2, "rfkill": 1}, "pid": os.getpid(), "startTicks": ticks,
            "telemetry": {"temperatureC": -7.25, "batteryMv": 3700}, **more}


def samples(directory) -> dict:
    """Every sample by its name and labels; each may be there once only."""
    text = pharos.run("status", "--metrics", "--runtime-dir", directory).out
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation and family.type in ("counter", "gauge"), family
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.items()))
            assert key not in found, key
            assert "profile" in sample.labels, sample
            found[key] = sample.value
    assert len(found) == sum(1 for line in text.split("\n") if line and not line.startswith("#"))
    return found


def write(directory, *instances):
    for number, status in enumerate(instances):
        (directory / f"{number}.status.json").write_text(json.dumps(status))


@pytest.mark.parametrize("name", NAMES)
def test_values_and_labels_are_what_the_instance_wrote(tmp_path, name):
    write(tmp_path, instance(name))
    found = samples(tmp_path)

    def value(metric, **labels):
        return found[(metric, *sorted({"profile": name, **labels}.items()))]

    assert value("pharos_on_air") == 1
    assert value("pharos_info", profile_hash="abc", adapter="hci0", address="", controller=name) == 1
    assert value("pharos_last_verified_timestamp_seconds") == 1772366400
    assert value("pharos_interval_seconds", frame="ibeacon") == 0.2
    assert value("pharos_interval_seconds", frame="ibeacon-2") == 0.1525
    assert value("pharos_radio_power_dbm", frame="ibeacon") == -4
    assert value("pharos_events_total", frame="ibeacon-2") == 2**53
    assert value("pharos_events_counted", frame="ibeacon-2") == 0
    assert value("pharos_rearms_total", cause="adapter-gone") == 2
    assert value("pharos_temperature_celsius") == -7.25
    assert value("pharos_battery_volts") == 3.7
    assert not any("eddystone-url" in str(key) for key in found), "what is unknown is absent"


def test_instances_share_their_families(tmp_path):
    write(tmp_path, instance("a"), instance("b", state="recovering"), instance("c", pid=999999999))
    found = samples(tmp_path)
    assert [found[("pharos_on_air", ("profile", name))] for name in "abc"] == [1, 0, 0]


def test_nothing_running_is_no_metric(tmp_path):
    assert samples(tmp_path) == {}
