"""The virtual adapter sends everything that a file describes, and the shipped samples fit each other."""
import shutil
from pathlib import Path

import pytest

import pharos

PROFILES = Path(__file__).resolve().parents[2] / "profiles"


@pytest.fixture
def samples(tmp_path):
    """A copy of the shipped samples."""
    folder = tmp_path / "samples"
    shutil.copytree(PROFILES, folder)
    return folder


def test_a_fleet_is_on_the_air(samples):
    fleet = samples / "fleets/museum.json"
    pharos.checked("fleet", "generate", fleet, "--output", samples / "out")
    result = pharos.run("audit", fleet, "--adapter", "virtual", "--duration-s", "3", "--json")
    # A frame every ten seconds may not be on the air in three.
    adverts = [each for each in result.lines()[0]["advertisements"] if each["type"] != "eddystone-tlm"]
    assert len(adverts) == 10 and all(each["verdicts"] == ["ok"] for each in adverts), result.out


def test_the_collector_knows_the_sample_listener_and_its_beacons(samples):
    heard = pharos.checked("listen", samples / "listeners/hall.json", "--print", "--json", "--adapter", "virtual",
                           "--duration-s", "4")
    lines = pharos.checked("collect", samples / "collectors/museum.json", "--json", "--runtime-dir", samples,
                           "--state-dir", samples, stdin=heard.out).lines()
    rooms = {(line.get("beacon"), line.get("room")) for line in lines if line["event"] == "room"}
    assert rooms == {("lobby", "great hall"), ("key-peter", "great hall")}, lines


def test_the_sample_inventory_finds_its_things(samples):
    result = pharos.checked("inventory", "start", samples / "inventories/museum-tools.json", "--adapter", "virtual",
                            "--by", "ana", "--duration-s", "6")
    assert "3 of 3 found" in result.out


def test_a_sender_takes_no_tour_and_a_wrong_path_is_refused(samples):
    result = pharos.run("advertise", samples / "lobby-ibeacon.json", "--adapter", "virtual?path=tour")
    assert result.code == 64 and "only commands that receive can use this adapter" in result.err
    result = pharos.run("scan", "--adapter", "virtual?path=round")
    assert result.code == 64 and "virtual?path=tour" in result.err


@pytest.mark.long
def test_on_a_tour_a_zone_is_entered_and_left(samples):
    lines = pharos.checked("zones", samples / "listeners/desk.json", "--adapter", "virtual?path=tour",
                           "--duration-s", "36", "--json", timeout=90).lines()
    events = [(line["event"], line["beacon"]) for line in lines if line["event"] in ("enter", "exit")]
    assert events[:3] == [("enter", "desk-peter"), ("exit", "desk-peter"), ("enter", "desk-alex")]
