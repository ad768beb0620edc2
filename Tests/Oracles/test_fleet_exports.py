"""A fleet written for other programs, read by parsers of theirs: PyYAML, csv, json, and promtool."""
import csv
import json
import subprocess

import pytest
import yaml

import fleets
import pharos

COUNT = 5


@pytest.fixture
def fleet(tmp_path):
    fleets.write(tmp_path, [fleets.beacon(number) for number in range(COUNT)])
    return tmp_path


def test_a_spreadsheet_has_a_line_an_advertisement(fleet):
    pharos.checked("fleet", "export", "csv", fleet, "--output", fleet / "fleet.csv")
    with open(fleet / "fleet.csv", encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 3 * COUNT
    assert all(None not in line and None not in line.values() for line in lines)
    first, second, third = lines[3:6]
    assert first["name"] == "hall-1" and first["site"] == "museum" and first["room"] == "hall"
    assert (first["uuid"], first["major"], first["minor"]) == (fleets.UUID, "1", "1")
    assert (first["interval ms"], first["radio power dBm"], first["measured power dBm"]) == ("200", "-4", "-59")
    assert second["instance"] == "0x000000000001"
    assert third["url"] == "https://example.org/n1"


def test_a_map_has_a_point_a_beacon(fleet):
    answer = pharos.checked("fleet", "export", "geojson", fleet, "--anchor", "-33.5,-70.25")
    collection = json.loads(answer.out)
    assert collection["type"] == "FeatureCollection"
    assert [feature["properties"]["name"] for feature in collection["features"]] == [f"hall-{n}" for n in range(COUNT)]
    for number, feature in enumerate(collection["features"]):
        longitude, latitude = feature["geometry"]["coordinates"]
        assert latitude == pytest.approx(-33.5 + 2.5 / 110_900, abs=2e-6)
        assert longitude == pytest.approx(-70.25 + number / 92_900, abs=2e-6)


def test_a_plan_without_an_anchor_is_said(fleet):
    answer = pharos.checked("fleet", "export", "geojson", fleet)
    assert all(feature["geometry"] is None for feature in json.loads(answer.out)["features"])
    assert f"{COUNT} beacons without a position on the globe" in answer.err


def test_an_anchor_of_no_site_is_refused(fleet):
    answer = pharos.run("fleet", "export", "geojson", fleet, "--anchor", "musuem=-33.5,-70.25")
    assert answer.code == 64 and not answer.out
    assert "there is no site of that name" in answer.err and "it has museum" in answer.err
    answer = pharos.checked("fleet", "export", "geojson", fleet, "--anchor", "museum=-33.5,-70.25")
    assert all(feature["geometry"] for feature in json.loads(answer.out)["features"])


def test_a_table_for_programs_has_no_byte_order_mark(fleet):
    pharos.checked("fleet", "export", "csv", fleet, "--output", fleet / "fleet.csv")
    marked = (fleet / "fleet.csv").read_bytes()
    plain = pharos.checked("fleet", "export", "csv", fleet).out
    assert marked.startswith(b"\xef\xbb\xbf") and not plain.startswith("\ufeff")
    assert marked[3:].decode() == plain.replace("\r\n", "\n").replace("\n", "\r\n")


def test_home_assistant_knows_every_address(fleet):
    devices = yaml.safe_load(pharos.checked("fleet", "export", "homeassistant", fleet).out)
    assert [device["mac"] for device in devices.values()] == [f"BLE_D0:11:22:33:00:{n:02X}" for n in range(COUNT)]
    for number, (key, device) in enumerate(devices.items()):
        assert key == f"beacon_hall_{number}"
        assert device["name"] == f"hall-{number} (museum / ground / hall)"
        assert device["track"] is True and device["picture"] is None and device["icon"].startswith("mdi:")


@pytest.mark.parametrize("export", ["csv", "geojson", "homeassistant"])
@pytest.mark.parametrize("name", ["boxes.json", "boxes.csv", "boxes.lock.json", "link"])
def test_an_export_does_not_replace_the_files_of_the_fleet(tmp_path, export, name):
    (tmp_path / "boxes.csv").write_text("name,site\na,nord\nb,nord\n")
    pharos.checked("fleet", "init", "--from", tmp_path / "boxes.csv")
    pharos.checked("fleet", "generate", tmp_path / "boxes.json", "--output", tmp_path / "out")
    (tmp_path / "link").symlink_to("boxes.csv")
    before = {file: file.read_bytes() for file in tmp_path.glob("boxes*")}
    assert len(before) == 3
    refused = pharos.run("fleet", "export", export, tmp_path / "boxes.json", "--output", tmp_path / name)
    assert refused.code == 64 and f"--output {tmp_path / name}: the command reads this file" in refused.err
    assert {file: file.read_bytes() for file in tmp_path.glob("boxes*")} == before
    pharos.checked("fleet", "export", export, tmp_path / "boxes.json", "--output", tmp_path / "other")


def test_an_export_does_not_replace_the_manifest(fleet):
    before = (fleet / "manifest.json").read_bytes()
    for path in (fleet, fleet / "manifest.json"):
        refused = pharos.run("fleet", "export", "geojson", path, "--output", fleet / "manifest.json")
        assert refused.code == 64 and "the command reads this file" in refused.err
    assert (fleet / "manifest.json").read_bytes() == before


def test_titles_are_in_the_files_for_home_assistant_and_prometheus(tmp_path):
    fleets.write(tmp_path, [fleets.beacon(0, title='"Great": Hall'), fleets.beacon(1)])
    devices = yaml.safe_load(pharos.checked("fleet", "export", "homeassistant", tmp_path).out)
    assert devices["beacon_hall_0"]["name"] == '"Great": Hall (museum / ground / hall)'
    assert devices["beacon_hall_1"]["name"] == "hall-1 (museum / ground / hall)"
    _, rules = prometheus(tmp_path)
    labels = [rule["labels"] for rule in yaml.safe_load(rules.read_text())["groups"][0]["rules"]]
    assert [label.get("title") for label in labels] == ['"Great": Hall', None]


def prometheus(fleet):
    pharos.checked("fleet", "export", "prometheus", fleet, "--output", fleet / "prometheus")
    targets = json.loads((fleet / "prometheus" / "pharos-targets.json").read_text())
    return targets, fleet / "prometheus" / "pharos-alerts.yml"


def test_prometheus_gets_targets_and_rules(fleet):
    targets, rules = prometheus(fleet)
    assert [target["targets"] for target in targets] == [[f"pi-{n}.example:9100"] for n in range(COUNT)]
    assert targets[0]["labels"] == {"fleet": "museum", "beacons": "hall-0", "site": "museum", "floor": "ground",
                                    "room": "hall"}
    groups = {group["name"]: group["rules"] for group in yaml.safe_load(rules.read_text())["groups"]}
    assert [rule["labels"]["profile"] for rule in groups["pharos-fleet"]] == [f"hall-{n}" for n in range(COUNT)]
    assert [rule["labels"]["profile_hash"] for rule in groups["pharos-fleet"]] == [f"{n:016x}" for n in range(COUNT)]
    assert [rule["alert"] for rule in groups["pharos-alerts"]] == [
        "PharosBeaconSilent", "PharosMetricsStale", "PharosProfileHashDiffers"]


def series(name: str, values: str, **labels) -> dict:
    text = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return {"series": f"{name}{{{text}}}", "values": values}


def box(number: int, on_air: str, verified: str, profile_hash: str) -> list[dict]:
    name = {"profile": f"hall-{number}", "instance": f"pi-{number}.example:9100"}
    return [series("pharos_on_air", on_air, **name),
            series("pharos_last_verified_timestamp_seconds", verified, **name),
            series("pharos_info", "1x40", profile_hash=profile_hash, **name)]


def test_alarms_are_raised_for_what_is_wrong_and_nothing_else(fleet, needs):
    """hall-0 is well, hall-1 is off after a while, hall-2 does not look, hall-3 sends another profile, hall-4 is
    gone."""
    promtool = needs("promtool")
    _, rules = prometheus(fleet)
    looks = "0+15x40"
    inputs = [*box(0, "1x40", looks, f"{0:016x}"), *box(1, "1x4 0x36", looks, f"{1:016x}"),
              *box(2, "1x40", "0x40", f"{2:016x}"), *box(3, "1x40", looks, "ffff")]

    def alarm(number: int, severity: str, summary: str) -> dict:
        return {"exp_labels": {"severity": severity, "fleet": "museum", "profile": f"hall-{number}",
                               "profile_hash": f"{number:016x}"},
                "exp_annotations": {"summary": f"Beacon hall-{number} {summary}"}}

    silent = [alarm(n, "critical", "has been silent for a minute.") for n in (1, 4)]
    expected = {"PharosBeaconSilent": silent,
                "PharosMetricsStale": [alarm(2, "critical", "has not been verified for a minute.")],
                "PharosProfileHashDiffers": [
                    alarm(3, "warning", "does not send the profile that the fleet has for it.")]}
    test = {"rule_files": [str(rules)], "evaluation_interval": "15s", "tests": [{
        "interval": "15s", "input_series": inputs,
        "alert_rule_test": [{"eval_time": "9m", "alertname": name, "exp_alerts": alarms}
                            for name, alarms in expected.items()] + [
            {"eval_time": "45s", "alertname": name, "exp_alerts": []} for name in expected]}]}
    file = fleet / "test.yml"
    file.write_text(json.dumps(test))
    for arguments in (["check", "rules", rules], ["test", "rules", file]):
        done = subprocess.run([promtool, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_only_a_file_for_spreadsheets_begins_with_a_byte_order_mark(fleet):
    pharos.checked("fleet", "export", "csv", fleet, "--output", fleet / "fleet.csv")
    told = pharos.checked("fleet", "export", "csv", fleet).out
    assert told.startswith("name,site,")
    assert (fleet / "fleet.csv").read_bytes() == b"\xef\xbb\xbf" + told.encode()


@pytest.mark.parametrize("text", ["=1+1", "0\r\n=cmd|' /C calc'!A1,2", '",=1,"', "00;=1"])
def test_no_fingerprint_of_a_manifest_becomes_a_row_or_a_formula(tmp_path, text):
    fleets.write(tmp_path, [fleets.beacon(0, profileHash=text)])
    told = pharos.run("fleet", "export", "csv", tmp_path)
    if told.code == 0:
        lines = list(csv.DictReader(told.out.splitlines()))
        assert len(lines) == 3
        assert not lines[0]["profile hash"].lstrip(" ").startswith(("=", "+", "-", "@")) and ";=" not in told.out


@pytest.mark.parametrize("export", ["geojson", "homeassistant"])
def test_an_output_file_is_replaced_as_a_whole(fleet, export):
    file = fleet / "out"
    file.write_text("old\n" * 100_000)
    pharos.checked("fleet", "export", export, fleet, "--output", file)
    assert file.read_bytes().decode() == pharos.checked("fleet", "export", export, fleet).out
    refused = pharos.run("fleet", "export", export, fleet, "--output", fleet / "no" / "such")
    assert refused.code == 66 and "no directory" in refused.err
