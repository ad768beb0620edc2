"""Simulated floors, compared with what was asked for."""
import json
import math

import pharos
import pytest


def site(folder, **more):
    spots = [(x, y) for y in (1, 7) for x in (1, 8, 15)]
    (folder / "site.json").write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [16, 0], [16, 8], [0, 8]],
        "walls": [{"from": [8, 3], "to": [8, 8], "attenuationDb": 6}],
        "defaults": {"intervalMs": 200, "radioPowerDbm": 0},
        "pathLoss": {"model": "log-distance", "lossAt1mDb": 55, "exponent": 2.2, "shadowingDb": 3},
        "paths": [{"name": "round", "points": [[1, 2], [14, 2], [14, 6]], "speedMps": 0.5}],
        "target": {"detectWithinS": 5, "probability": 0.9},
        "beacons": [{"name": f"b{n}", "position": spot} for n, spot in enumerate(spots)], **more}))


def test_a_simulated_floor_is_mapped_and_walked(tmp_path):
    site(tmp_path)
    simulate = ("map", "simulate", tmp_path / "site.json")
    said = pharos.checked(*simulate, "--output", tmp_path / "s.jsonl", "--every-m", "2", "--seconds", "20").out
    assert said == f"32 places, 1280 s, 6 beacons to {tmp_path / 's.jsonl'}\n"
    assert pharos.run("map", "check", tmp_path / "s.jsonl").code == 0
    pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", "field", "--output", tmp_path / "map.json",
                   timeout=600)
    pharos.checked(*simulate, "--path", "round", "--output", tmp_path / "w.jsonl", "--truth", tmp_path / "t.csv")
    lines = pharos.checked("locate", tmp_path / "map.json", "--from", tmp_path / "w.jsonl", "--truth",
                           tmp_path / "t.csv", "--json").lines()
    assert len(lines) == 34 and lines[0]["truth"]["x"] == pytest.approx(1.25)
    errors = [line["errorM"] for line in lines]
    assert sum(errors) / len(errors) < 2.5, errors


def test_levels_follow_the_path_loss(tmp_path):
    site(tmp_path, walls=[{"from": [0, 20], "to": [1, 20], "attenuationDb": 6}],
         pathLoss={"model": "log-distance", "lossAt1mDb": 55, "exponent": 2.2, "shadowingDb": 0})
    text = pharos.checked("map", "simulate", tmp_path / "site.json", "--output", "-", "--seconds", "200", "--days",
                          "1").out
    spot, levels = None, {}
    for line in map(json.loads, text.splitlines()):
        spot = line.get("position", spot)
        for key, packets in line.get("rssi", {}).items():
            levels.setdefault((tuple(spot), key), []).extend(packets)
    assert len(levels) == 8 * 6
    for ((x, y), key), heard in levels.items():
        beacon = [(1, 1), (8, 1), (15, 1), (1, 7), (8, 7), (15, 7)][int(key[1:])]
        expected = -55 - 22 * math.log10(max(1, math.hypot(x - beacon[0], y - beacon[1])))
        # Nine in ten of five packets a second, less what their interval's delay takes.
        assert sum(heard) / len(heard) == pytest.approx(expected, abs=0.5) and 840 < len(heard) < 920


def test_the_seed_makes_the_floor(tmp_path):
    site(tmp_path)
    words = ("map", "simulate", tmp_path / "site.json", "--seconds", "4", "--days", "1", "--output", "-", "--seed")
    first, again, other = (pharos.checked(*words, seed).out for seed in "778")
    assert first == again != other


@pytest.mark.parametrize("options, code, said", [
    (["nowhere", "--output", "s"], 66, "no such file"), (["site.json"], 64, "--output"),
    (["site.json", "--output", "s", "--path", "x"], 64, "the paths round"),
    (["site.json", "--output", "s", "--every-m", "0.1"], 64, "out of range"),
    (["site.json", "--output", "s", "--every-m", "40"], 64, "no place"),
    (["site.json", "--output", "s", "--truth", "t"], 64, "--path"),
    (["site.json", "--output", "-", "--path", "round", "--truth", "-"], 64, "standard output"),
    (["site.json", "--output", "s", "--path", "round", "--every-m", "4"], 64, "--every-m"),
    (["site.json", "--output", "s", "--path", "round", "--seconds", "40"], 64, "--seconds"),
    (["site.json", "--output", "s", "--path", "round", "--days", "2"], 64, "--days"),
    (["site.json", "--output", "s", "--path", "round", "--truth", "./s"], 64, "--output names this file too"),
    (["site.json", "--output", "./site.json"], 64, "the command reads this file"),
    (["empty.json", "--output", "s"], 78, "no beacons"), (["s.csv", "--output", "s"], 65, "s.csv"),
])
def test_mistakes_are_sentences(tmp_path, options, code, said):
    site(tmp_path)
    made = json.loads((tmp_path / "site.json").read_text())
    (tmp_path / "empty.json").write_text(json.dumps({key: made[key] for key in made if key != "beacons"}))
    (tmp_path / "s.csv").write_text("place,x,y,a\nA,0,0,-50\n")
    result = pharos.run("map", "simulate", *options, cwd=tmp_path)
    assert result.code == code and said in result.err and result.err.startswith("pharos: "), result.err
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("words", [
    "map fit survey.jsonl --output ./survey.jsonl",
    "map fit survey.jsonl --beacon-positions site.json --output site.json",
    "map fit --from-site site.json --output site.json",
    "map update map.json --survey survey.jsonl --output survey.jsonl",
    "map export survey.jsonl --output linked.jsonl", "map import survey.jsonl --output survey.jsonl",
    "map show map.json --html linked.html", "map show map.json --svg map.json",
    "map show map.json --html way.html --svg way.html", "locate map.json --from survey.jsonl --html linked.html",
    "locate map.json --from survey.jsonl --svg site.json --site site.json",
])
def test_no_file_is_written_over_one_that_is_read(tmp_path, words):
    site(tmp_path)
    pharos.checked("map", "simulate", "site.json", "--output", "survey.jsonl", "--every-m", "8", "--seconds", "8",
                   cwd=tmp_path)
    pharos.checked("map", "fit", "survey.jsonl", "--algorithm", "gauss", "--output", "map.json", cwd=tmp_path)
    (tmp_path / "linked.jsonl").symlink_to("survey.jsonl")
    (tmp_path / "linked.html").symlink_to("survey.jsonl" if words.startswith("locate") else "map.json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = pharos.run(*words.split(), cwd=tmp_path)
    assert result.code == 64 and "give another file" in result.err, result.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
