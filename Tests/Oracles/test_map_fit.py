"""`pharos map fit`: the file that it writes, the grid that it is asked for, and what a long survey takes."""
import json
import random
import shutil
import subprocess
import time
from pathlib import Path

import pharos
import positioning
import pytest
from test_positioning import ask

SECONDS = 40_000


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A survey on a square of 4 m with a place every 2 m, and a run on it."""
    folder = tmp_path_factory.mktemp("fit")
    positioning.world(folder, 7)
    return folder


@pytest.fixture(scope="module")
def long_survey(tmp_path_factory):
    """More readings than a map keeps unless its algorithm wants them."""
    chance, lines = random.Random(3), ['{"survey":1}']
    for place in range(40):
        lines.append(f'{{"stay":{place + 1},"place":"P{place}","position":[{place % 8 * 2},{place // 8 * 2}]}}')
        for second in range(SECONDS // 40):
            levels = ",".join(f'"b{(place + n) % 24}":[{-chance.randrange(50, 90)},{-chance.randrange(50, 90)}]'
                              for n in range(6))
            lines.append(f'{{"t":{second},"rssi":{{{levels}}}}}')
    path = tmp_path_factory.mktemp("long") / "survey.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def peak(*words):
    """The most memory that a command had, in octets."""
    most = 0
    with subprocess.Popen([pharos.PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status") as status:
                    found = [int(line.split()[1]) for line in status if line.startswith("VmHWM")]
            except OSError:
                break
            most = max([most, *found])
            time.sleep(0.002)
    assert process.returncode == 0
    return most * 1024


def test_the_vectors_of_a_long_survey_are_written_as_they_are_made(tmp_path, long_survey):
    """A tree of their numbers took a kilobyte for each second."""
    without, kept = (peak("map", "fit", long_survey, "--algorithm", algorithm, "--output", tmp_path / algorithm)
                     for algorithm in ("gauss", "nn"))
    assert json.loads((tmp_path / "gauss").read_text())["vectors"] is None
    assert len(json.loads((tmp_path / "nn").read_text())["vectors"]) == SECONDS
    assert kept - without < 350 * SECONDS, (kept, without)


@pytest.mark.parametrize("algorithm", ["nn", "gauss", "field"])
def test_the_file_is_the_same_wherever_it_goes(tmp_path, world, long_survey, algorithm):
    for survey in world / "survey.jsonl", long_survey:
        words = ("map", "fit", survey, "--algorithm", algorithm, "--output")
        pharos.checked(*words, tmp_path / "map.json", timeout=900)
        text = (tmp_path / "map.json").read_text()
        printed = pharos.checked(*words, "-", timeout=900)
        assert printed.out == text and f"chose {algorithm}" in printed.err
        assert json.loads(text)["version"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["map.json"]


def test_beacons_hang_where_a_fleet_or_a_site_says(tmp_path):
    profiles = Path(__file__).resolve().parents[2] / "profiles"
    for name in "fleets", "sites":
        shutil.copytree(profiles / name, tmp_path / name)
    (site,) = (path for path in (tmp_path / "sites").iterdir() if path.name == "museum-from-fleet.json")
    pharos.checked("fleet", "generate", tmp_path / "fleets" / "museum.json", "--output", tmp_path / "out", timeout=900)
    pharos.checked("map", "fit", "--from-site", site, "--output", tmp_path / "map.json", timeout=900)
    hung = {each["key"]: each["position"] for each in json.loads((tmp_path / "map.json").read_text())["beacons"]}
    assert len(hung) > 3 and None not in hung.values()
    lines = ['{"survey":1}']
    for number, spot in enumerate([[1, 1], [9, 4], [17, 10]]):
        lines.append(json.dumps({"stay": number, "place": f"P{number}", "position": spot}))
        lines += [json.dumps({"t": at, "rssi": {key: [-60 - number] for key in [*hung, "stranger"]}})
                  for at in range(5)]
    (tmp_path / "s.jsonl").write_text("\n".join(lines) + "\n")
    for positions in tmp_path / "fleets" / "museum.json", site:
        pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", "gauss", "--beacon-positions", positions,
                       "--output", tmp_path / "map.json", timeout=900)
        made = json.loads((tmp_path / "map.json").read_text())["beacons"]
        assert {each["key"]: each["position"] for each in made} == {**hung, "stranger": None}


def test_evaluate_states_the_error_that_fit_states(tmp_path):
    chance, lines = random.Random(5), ['{"survey":1}']
    for stay in range(8):
        place = stay % 4
        lines.append(json.dumps({"stay": stay + 1, "place": f"P{place}", "position": [4 * place, 0],
                                 "session": f"day {stay // 4 + 1}"}))
        lines += [json.dumps({"t": at, "rssi": {f"b{n}": [-50 - 2 * abs(place - n) + chance.randrange(-8, 9)]
                                                for n in range(4)}}) for at in range(4)]
    survey = tmp_path / "s.jsonl"
    survey.write_text("\n".join(lines) + "\n")
    for algorithm in [], ["--algorithm", "wknn"]:
        fitted = pharos.checked("map", "fit", survey, *algorithm, "--output", tmp_path / "map.json", "--json",
                                timeout=900).lines()[0]
        (evaluated,) = pharos.checked("map", "evaluate", survey, *algorithm, "--json", timeout=900).lines()
        assert evaluated == fitted["evaluation"] and evaluated["errorM"]["mean"] > 0


# ---- the grid
@pytest.mark.parametrize("metres, side", [(0.5, 9), (1, 5), (2, 3), (4, 2)])
def test_a_grid_has_as_many_cells_as_asked(world, metres, side):
    assert len(ask("field", world / "survey.jsonl", metres)) == side * side


@pytest.mark.parametrize("algorithm", ["field", "hmm"])
def test_a_finer_grid_is_another_map(world, tmp_path, algorithm):
    areas, ways = {}, {}
    for metres in 0.25, 1, 2:
        pharos.checked("map", "fit", world / "survey.jsonl", "--algorithm", algorithm, "--grid-m", metres, "--output",
                       tmp_path / "map.json", timeout=900)
        assert json.loads((tmp_path / "map.json").read_text())["algorithm"]["gridM"] == metres
        lines = pharos.checked("locate", tmp_path / "map.json", "--from", world / "test.jsonl", "--json").lines()
        found = [line for line in lines if line["state"] != "none"]
        areas[metres] = [line["region95"]["areaM2"] for line in found]
        ways[metres] = [(line["position"]["x"], line["position"]["y"]) for line in found]
        # A region has one cell or more.
        assert min(areas[metres]) > 0.9 * metres**2
    for fine, coarse in (0.25, 1), (1, 2):
        assert areas[fine] != areas[coarse]
        assert ways[fine] != ways[coarse]


def test_a_site_alone_has_the_grid_that_was_asked_for(tmp_path):
    (tmp_path / "site.json").write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [12, 0], [12, 8], [0, 8]],
        "target": {"detectWithinS": 5, "probability": 0.9},
        "beacons": [{"name": name, "position": at} for name, at in [("a", [1, 1]), ("b", [11, 2]), ("c", [5, 7])]]}))
    run = '{"t":0,"rssi":{"a":[-60],"b":[-70],"c":[-75]}}\n'
    regions = set()
    for metres in 1, 3:
        pharos.checked("map", "fit", "--from-site", tmp_path / "site.json", "--grid-m", metres, "--output",
                       tmp_path / "map.json")
        line = pharos.checked("locate", tmp_path / "map.json", "--from", "-", "--json", stdin=run).lines()[0]
        assert line["region95"]["areaM2"] % metres**2 == pytest.approx(0, abs=0.01)
        regions.add(line["region95"]["areaM2"])
    assert len(regions) == 2


@pytest.mark.parametrize("metres, said", [
    ("0", "0.05...1000"), ("1e4", "0.05...1000"), ("nan", "write a number"), ("fine", "write a number")])
def test_a_grid_that_is_none_is_refused(world, tmp_path, metres, said):
    told = pharos.run("map", "fit", world / "survey.jsonl", "--grid-m", metres, "--output", tmp_path / "map.json")
    assert told.code == 64 and said in told.err and not (tmp_path / "map.json").exists()
