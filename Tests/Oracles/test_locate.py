"""`pharos map fit` and `pharos locate` as a user runs them, against independent implementations and with bad input."""

import itertools
import json
import math
import random
import xml.etree.ElementTree as ElementTree

import numpy as np
import pharos
import positioning
import pytest
from test_map_record import Person
from test_positioning import RULES, instants
from test_scan import address, ibeacon, recording, report

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A survey with its map, and a test run at other places."""
    folder = tmp_path_factory.mktemp("locate")
    survey, test, beacons = positioning.world(folder, 7)
    fit = pharos.checked("map", "fit", folder / "survey.jsonl", "--output", folder / "map.json", "--algorithm", "gauss",
                         timeout=300)
    assert "chose gauss" in fit.out and "expected error" in fit.out
    return folder, survey, test, beacons


def locate(folder, *options, run="test.jsonl", code=0):
    result = pharos.run("locate", folder / "map.json", "--from", folder / run, "--json", *options, timeout=300)
    assert result.code == code, result.err
    return result.lines()


def same(found, expected):
    if expected is None or isinstance(expected, float) and math.isinf(expected):
        return found == ("infinity" if expected else None)
    return isinstance(found, int | float) and math.isclose(found, expected, rel_tol=1e-8, abs_tol=1e-8)


@pytest.mark.parametrize("window", [1, 5])
@pytest.mark.parametrize("name", RULES)
def test_every_score_is_that_of_an_independent_implementation(world, name, window):
    folder, survey, test, beacons = world
    prints = ["--prints", "vectors"] if name == "relative" else []
    lines = locate(folder, "--algorithm", name, "--window-s", window, "--scores", *prints)
    asked = list(instants(test, window))
    assert len(lines) == len(asked) and {line["algorithm"] for line in lines} == {name}
    for line, (heard, _) in zip(lines, asked, strict=True):
        if not any(heard):
            assert line["state"] == "none" and set(line["scores"].values()) == {None}
            continue
        expected = RULES[name](survey, heard, beacons)
        assert list(line["scores"]) == [f"P{number}" for number in range(len(survey))]
        assert all(map(same, line["scores"].values(), expected)), (line["scores"], expected)
        if name != "gauss":
            assert line["place"] == f"P{int(np.argmin(np.round(expected, 9)))}"


def test_bhattacharyya_has_null_for_no_candidate(world):
    folder, survey, test, beacons = world
    lines = locate(folder, "--algorithm", "bhattacharyya", "--scores")
    seen = set()
    for line, (heard, run) in zip(lines, instants(test, 1), strict=True):
        expected = positioning.bhattacharyya(survey, run, beacons)
        assert all(map(same, line["scores"].values(), expected)) or not any(heard)
        seen |= {type(value) for value in line["scores"].values()}
        if line["state"] == "none":
            assert not {"position", "place", "floor", "region95"} & set(line) and line["reason"]
    assert type(None) in seen and float in seen


def test_the_protocol_of_the_experiment_is_the_table_of_the_thesis(world):
    folder, survey, test, beacons = world
    # The map's own algorithm is one of the four, with a window that the protocol does not have.
    pharos.checked("map", "fit", folder / "survey.jsonl", "--output", folder / "nn.json", "--algorithm", "nn",
                   "--window-s", "5", timeout=300)
    asked = ("map", "evaluate", folder / "nn.json", "--protocol", "experiment", "--test", folder / "test.jsonl")
    rules = {name: lambda run, rule=RULES[name]: rule(survey, run[-1:], beacons) for name in RULES if "nn" in name}
    rules["bhattacharyya"] = lambda run: [math.inf if score is None else score
                                          for score in positioning.bhattacharyya(survey, run, beacons)]
    lines = {line["algorithm"]: line for line in pharos.checked(*asked, "--json").lines()}
    assert list(lines) == list(rules) == ["nn", "nn-mean", "nn-median", "bhattacharyya"]
    spots = np.array([spot for spot, _ in survey])
    for name, rule in rules.items():
        exact, near, count = 0, 0, 0
        for (spot, _), (_, run) in zip([stay for stay in test for _ in stay[1]], instants(test, 1), strict=True):
            if not run[-1]:
                continue
            count += 1
            scores = np.round(rule(run), 9)
            if not np.isfinite(scores).any():
                continue
            found, truth = spots[np.argmin(scores)], spots[np.argmin(np.hypot(*(spots - spot).T))]
            exact += tuple(found) == tuple(truth)
            near += math.dist(found, truth) <= 1.45 * 2
        assert lines[name]["instants"] == count and lines[name]["exact"] == pytest.approx(exact / count, abs=1e-4)
        assert lines[name]["near"] == pytest.approx(near / count, abs=1e-4) and 0 < exact < near
    text = pharos.checked(*asked).out
    assert text.startswith("algorithm") and "neighbor %" in text and "they cannot rank algorithms" in text
    for row in text.splitlines()[1:5]:
        assert sum(float(cell) for cell in row.split()[1:4]) == pytest.approx(100, abs=2), row


def test_scores_have_twelve_digits(world):
    for line in locate(world[0], "--algorithm", "gauss", "--scores"):
        for value in line["scores"].values():
            digits = f"{value!r}".split("e")[0].replace("-", "").replace(".", "").lstrip("0")
            assert len(digits) <= 12


def test_a_fix_has_all_that_is_promised(world):
    lines = locate(world[0], "--algorithm", "field")
    fixes = [line for line in lines if line["state"] == "fix"]
    assert fixes and lines[0]["time"] == 0
    for line in fixes:
        assert set(line) == {"session", "time", "state", "floor", "position", "place", "probability", "candidates",
                             "region95", "heading", "heard", "used", "receiverOffsetDb", "algorithm"}
        assert set(line["position"]) == {"x", "y"} and set(line["region95"]) == {"areaM2", "radiusM", "polygon"}
        assert line["candidates"][0] == {"place": line["place"], "probability": line["probability"]}
        assert line["used"] <= line["heard"] and -12 <= line["receiverOffsetDb"] <= 12
        assert len(line["region95"]["polygon"]) >= 3


def test_all_algorithms_stand_next_to_each_other(world, tmp_path):
    folder = world[0]
    names = ["nn", "nn-mean", "nn-median", "bhattacharyya", "relative", "wknn", "gauss", "field", "hmm"]
    alone = {name: locate(folder, "--algorithm", name, "--scores") for name in ("nn", "field", "gauss")}
    lines = locate(folder, "--all-algorithms", "--scores")
    for second, line in enumerate(lines):
        assert [each["algorithm"] for each in line["algorithms"]] == names
        assert line["algorithm"] == "gauss"
        for each in line["algorithms"]:
            if each["algorithm"] in alone:
                whole = alone[each["algorithm"]][second]
                assert each == {key: whole[key] for key in each}
    (tmp_path / "truth.csv").write_text("session,time,x,y\n,0,0,0\n,5,10,0\n")
    run = ("locate", folder / "map.json", "--from", folder / "test.jsonl", "--all-algorithms")
    text = pharos.checked(*run, "--truth", tmp_path / "truth.csv").out
    assert text.count("  algorithm") == len(lines) and "error m" in text.splitlines()[1]
    assert [row.split()[0] for row in text.splitlines()[-9:]] == names
    both = pharos.run(*run, "--algorithm", "nn")
    assert both.code == 64 and "Give --algorithm or --all-algorithms, not both." in both.err


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A hall of two rooms, its map, and a walk from the west to the east, after which the receiver stands."""
    folder = tmp_path_factory.mktemp("walk")
    beacons = [{"name": f"b{x}-{y}", "position": [x, y]} for x in range(2, 40, 5) for y in (1, 9)]
    site = {"version": 1, "name": "hall", "outline": [[0, 0], [40, 0], [40, 10], [0, 10]], "beacons": beacons,
            "paths": [{"name": "east", "points": [[2, 5], [38, 5]], "speedMps": 1}],
            "rooms": [{"name": "ships", "outline": [[0, 0], [20, 0], [20, 10], [0, 10]]},
                      {"name": "maps", "outline": [[20, 0], [40, 0], [40, 10], [20, 10]]}],
            "target": {"detectWithinS": 5, "probability": 0.9}}
    (folder / "site.json").write_text(json.dumps(site))
    pharos.checked("map", "fit", "--from-site", "site.json", "--output", "map.json", cwd=folder)
    pharos.checked("map", "simulate", "site.json", "--path", "east", "--output", "walk.jsonl", cwd=folder)
    return folder


def test_the_room_has_a_name_and_a_probability(walk):
    lines = pharos.checked("locate", "map.json", "--from", "walk.jsonl", "--json", cwd=walk).lines()
    first, last = lines[4], lines[-1]
    assert first["room"] == "ships" and last["room"] == "maps" and first["roomProbability"] > 0.5
    for line in lines:
        shares = [each["probability"] for each in line["rooms"]]
        assert shares == sorted(shares, reverse=True) and sum(shares) <= 1.001
        assert line["room"] is None or line["rooms"][0] == {
            "room": line["room"], "probability": line["roomProbability"]}
    text = pharos.checked("locate", "map.json", "--from", "walk.jsonl", cwd=walk).out
    assert "  room ships " in text and "  room maps " in text
    # A map of a survey gets the rooms from --site; without them, no room is named.
    bare = json.loads((walk / "site.json").read_text())
    del bare["rooms"]
    (walk / "bare.json").write_text(json.dumps(bare))
    pharos.checked("map", "fit", "--from-site", "bare.json", "--output", "bare-map.json", cwd=walk)
    run = ("locate", "bare-map.json", "--from", "walk.jsonl", "--json")
    assert not {"room", "rooms"} & set(pharos.checked(*run, cwd=walk).lines()[-1])
    named = pharos.checked(*run, "--site", "site.json", "--algorithm", "weighted-centroid", cwd=walk).lines()[-1]
    assert named["room"] == "maps" and named["roomProbability"] is None


def test_the_heading_is_shown_while_the_receiver_moves(walk):
    lines = pharos.checked("locate", "map.json", "--from", "walk.jsonl", "--json", cwd=walk).lines()
    found = [line["heading"] for line in lines if line["heading"]]
    assert len(found) > len(lines) / 4 and lines[0]["heading"] is None
    assert all(abs((each["deg"] - 90 + 180) % 360 - 180) < 45 for each in found), found
    assert {"east"} <= {each["compass"] for each in found} <= {"east", "north-east", "south-east"}
    assert all(0 < each["uncertaintyDeg"] <= 90 and 0.4 < each["speedMps"] < 2 for each in found)
    assert "heading east (" in pharos.checked("locate", "map.json", "--from", "walk.jsonl", cwd=walk).out
    # The same place again and again: the receiver stands.
    still = [json.loads(line) for line in (walk / "walk.jsonl").read_text().splitlines()]
    seconds = [line for line in still if "t" in line][:6]
    (walk / "still.jsonl").write_text("".join(
        json.dumps({"t": at, "rssi": seconds[at % 6]["rssi"]}) + "\n" for at in range(60)))
    stood = pharos.checked("locate", "map.json", "--from", "still.jsonl", "--json", cwd=walk).lines()
    assert not any(line["heading"] for line in stood[6:]), [line["heading"] for line in stood]


def test_the_truth_adds_errors(world, tmp_path):
    folder, _, test, _ = world
    truth = tmp_path / "truth.csv"
    truth.write_text("session,time,x,y\n,0,0,0\n,5,10,0\n")
    for line in locate(folder, "--truth", truth):
        at = line["time"]
        assert line["truth"] == {"x": 2 * at, "y": 0, "floor": None, "place": None}
        if line["state"] != "none":
            spot = line["position"]
            assert line["errorM"] == pytest.approx(math.hypot(spot["x"] - 2 * at, spot["y"]), abs=1e-3)
    text = pharos.checked("locate", folder / "map.json", "--from", folder / "test.jsonl", "--truth", truth).out
    assert "mean error" in text.splitlines()[-1] and "75th percentile" in text


# ---- the same run in every form
def as_csv(test, path):
    rows = ["session,place,x,y,floor,heading,time,beacon,rssi"]
    for number, (_, vectors) in enumerate(test):
        for second, heard in enumerate(vectors):
            start = f"s{number},,,,,,{second}"
            rows += [f"{start},beacon-{beacon},{level:.0f}" for beacon, level in heard.items()] or [f"{start},,"]
    path.write_text("\n".join(rows) + "\n")


def test_csv_gives_the_same_as_json_lines(world):
    folder, _, test, _ = world
    as_csv(test, folder / "test.csv")
    for algorithm in ("nn", "field"):
        lines, rows = (locate(folder, "--algorithm", algorithm, run=run) for run in ("test.jsonl", "test.csv"))
        assert [row.pop("session") for row in rows][-1] == f"s{len(test) - 1}"
        assert [{**line, "session": None} for line in lines] == [{**row, "session": None} for row in rows]


def test_a_walk_of_one_session_is_one_run(world, tmp_path):
    folder, survey, test, beacons = world
    rows, vectors = ["session,time,x,y,beacon,rssi"], [heard for _, part in test[:2] for heard in part]
    for second, heard in enumerate(vectors):
        rows += [f"walk,{second},{second},0,beacon-{beacon},{level:.0f}" for beacon, level in heard.items()]
    path = tmp_path / "walk.csv"
    path.write_text("\n".join(rows) + "\n")
    result = pharos.checked("locate", folder / "map.json", "--from", path, "--algorithm", "nn", "--window-s", "5",
                            "--scores")
    for second, line in enumerate(result.lines()):
        expected = positioning.nearest(survey, vectors[max(0, second - 4):second + 1], beacons)
        assert all(map(same, line["scores"].values(), expected))


def test_lines_without_a_stay_are_a_run(world, tmp_path):
    folder = world[0]
    path = tmp_path / "run.jsonl"
    text = (folder / "test.jsonl").read_text().splitlines()
    path.write_text("\n".join(line for line in text[2:8]) + "\n")
    whole = locate(folder)[:6]
    assert pharos.checked("locate", folder / "map.json", "--from", path, "--json").lines() == whole
    piped = pharos.checked("locate", folder / "map.json", "--from", "-", "--json", stdin=path.read_text()).lines()
    assert piped == whole


@pytest.fixture(scope="module")
def tape(tmp_path_factory):
    """Three places with three beacons each second, as packets and as a survey, and the map of it."""
    folder = tmp_path_factory.mktemp("tape")
    chance = random.Random(3)
    levels = {"A": (-50, -70, -80), "B": (-70, -50, -70), "C": (-80, -70, -50)}
    lines, packets, at = ['{"survey":1}'], [], 0
    for number, (place, means) in enumerate(levels.items()):
        lines.append(json.dumps({"stay": number + 1, "place": place, "position": [3.0 * number, 0.0]}))
        for second in range(20):
            heard = {}
            for beacon, mean in enumerate(means):
                rssi = round(chance.gauss(mean, 2))
                heard[f"ibeacon:{UUID}-1-{beacon}"] = [rssi]
                packets.append((at * 1_000_000 + beacon * 100_000 + 1,
                                report(address(beacon + 1), ibeacon(1, beacon), rssi)))
            lines.append(json.dumps({"t": second, "rssi": heard}))
            at += 1
    (folder / "survey.jsonl").write_text("\n".join(lines) + "\n")
    pharos.checked("map", "fit", folder / "survey.jsonl", "--output", folder / "map.json", "--algorithm", "gauss")
    (folder / "nothing.csv").write_text("time\n1\n")
    (folder / "site.json").write_text('{"version": 1, "name": "hall", "beacons": []}\n')
    return folder, packets, recording(folder / "walk.btsnoop", packets)


def test_a_recording_is_located_as_the_survey_of_it(tape):
    folder, _, path = tape
    lines = pharos.checked("locate", folder / "map.json", "--from", path, "--json").lines()
    assert [line["time"] for line in lines] == list(range(60))
    right = [line["place"] == "ABC"[line["time"] // 20] for line in lines if line["time"] % 20 >= 5]
    assert sum(right) / len(right) > 0.9
    assert all(line["session"] is None and line["heard"] == 3 for line in lines)
    scanned = pharos.checked("scan", "--replay", path, "--json").out
    assert pharos.checked("locate", folder / "map.json", "--from", "-", "--json", stdin=scanned).lines() == lines
    rare = pharos.checked("locate", folder / "map.json", "--from", path, "--json", "--every-s", "10").lines()
    assert rare == lines[::10]


def test_a_silent_second_is_told(tape):
    folder, packets, _ = tape
    path = recording(folder / "gap.btsnoop", [packet for packet in packets if not 5e6 <= packet[0] < 15e6])
    lines = pharos.checked("locate", folder / "map.json", "--from", path, "--json").lines()
    assert [line["time"] for line in lines] == list(range(60))
    assert lines[12]["state"] == "none" and lines[12]["reason"] == "nothing received" and "position" not in lines[12]
    assert lines[16]["state"] != "none"


def test_a_map_of_another_site_gives_none_with_the_reason(tape, world):
    lines = pharos.checked("locate", world[0] / "map.json", "--from", tape[2], "--json").lines()
    assert {line["state"] for line in lines} == {"none"} and {line["used"] for line in lines} == {0}
    assert {line["reason"] for line in lines} == {"no received beacon is on this map"}
    assert not any({"position", "place", "floor"} & set(line) for line in lines)


def test_two_devices_of_one_identity_are_told_apart(tape):
    folder, packets, _ = tape
    twice = packets + [(at + 50_000, report(address(9), octets[14:-1], -40)) for at, octets in packets
                       if octets[7:13] == bytes.fromhex(address(1).replace(":", ""))[::-1]]
    path = recording(folder / "twice.btsnoop", sorted(twice, key=lambda packet: packet[0]))
    result = pharos.checked("locate", folder / "map.json", "--from", path, "--json")
    assert "sent by several devices at once" in result.err
    # The map has the identity without an address, so it is unknown which device is the beacon.
    assert {line["used"] for line in result.lines()[5:]} == {2}


def test_fewer_than_three_beacons_are_poor(tape):
    folder, packets, _ = tape
    path = recording(folder / "two.btsnoop", [packet for packet in packets if packet[1][7] != 3])
    lines = pharos.checked("locate", folder / "map.json", "--from", path, "--json").lines()
    assert {line["state"] for line in lines} == {"poor"} and {line["used"] for line in lines} == {2}


def test_live_ends_and_says_what_it_hears(tape):
    result = pharos.checked("locate", tape[0] / "map.json", "--adapter", "virtual", "--duration-s", "2.2", "--json")
    assert [line["time"] for line in result.lines()][:2] == [0, 1]
    assert {line["used"] for line in result.lines()} <= {0, 1}


def test_a_terminal_shows_the_plan(tape, tmp_path):
    """Live: each second the picture is drawn over the previous one."""
    for place, spot in ("A", "0,0"), ("B", "8,4"):
        pharos.checked("map", "record", "air.jsonl", "--place", place, "--position", spot, "--adapter", "virtual",
                       "--seconds", "2", cwd=tmp_path)
    pharos.checked("map", "fit", "air.jsonl", "--algorithm", "gauss", "--output", "map.json", cwd=tmp_path)
    person = Person("locate", tmp_path / "map.json", "--adapter", "virtual", "--duration-s", "3.2")
    assert person.end() == 0, person.text
    # After each plan, what is below it is erased.
    *drawn, rest = person.text.split("\x1b[J")
    assert rest == "" and len(drawn) >= 3, drawn
    assert all("●" in plan and "poor" in plan and "1 of 1 beacon" in plan for plan in drawn), drawn
    for before, plan in itertools.pairwise(drawn):
        assert plan.startswith(f"\x1b[{before.count(chr(10))}A")


def test_the_way_is_drawn(tape, tmp_path):
    folder, _, path = tape
    site = tmp_path / "site.json"
    site.write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[-1, -1], [8, -1], [8, 4], [-1, 4]],
        "walls": [{"from": [4, 1], "to": [4, 4], "attenuationDb": 6}],
        "target": {"detectWithinS": 5, "probability": 0.9}, "beacons": [{"name": "a", "position": [0, 1]}]}))
    (tmp_path / "truth.csv").write_text("time,x,y\n0,0,0\n59,6,0\n")
    run = ("locate", folder / "map.json", "--from", path)
    plain = pharos.checked(*run).out
    drawn = pharos.checked(*run, "--site", site, "--truth", tmp_path / "truth.csv", "--html", tmp_path / "way.html",
                           "--svg", tmp_path / "way.svg")
    assert len(drawn.out.splitlines()) == len(plain.splitlines()) + 1
    page = (tmp_path / "way.html").read_text()
    assert "60 seconds: " in page and "Mean error" in page and "script-src 'none'" in page and "<script" not in page
    assert page.count("<tr>") == 61 and 'class="wall"' in page and 'class="way"' in page and "://" not in page
    drawing = ElementTree.fromstring((tmp_path / "way.svg").read_text())
    classes = {each.get("class") for each in drawing.iter() if each.tag.endswith("path")}
    assert {"outline", "wall", "track", "way", "fill"} <= classes
    assert pharos.checked(*run, "--html", "-").out.startswith("<!doctype html>")
    assert pharos.run(*run, "--html", "-", "--json").code == 64
    strange = '{"t":0,"rssi":{"x":[-50]}}\n'
    none = pharos.checked("locate", folder / "map.json", "--from", "-", "--html", "-", stdin=strange)
    assert "no received beacon is on this map" in none.out


# ---- the baselines
def test_the_baselines_are_those_of_an_independent_implementation(tmp_path):
    chance = random.Random(6)
    spots = {"a": (0, 0), "b": (12, 0), "c": (12, 8), "d": (0, 8), "e": (5, 3)}
    (tmp_path / "site.json").write_text(json.dumps({
        "version": 1, "name": "hall", "target": {"detectWithinS": 5, "probability": 0.9},
        "beacons": [{"name": name, "position": spot} for name, spot in spots.items()]}))
    pharos.checked("map", "fit", "--from-site", "site.json", "--output", "map.json", cwd=tmp_path)
    run = [{name: chance.randint(-90, -40) for name in spots if chance.random() < 0.8} for _ in range(30)]
    (tmp_path / "run.jsonl").write_text("".join(
        json.dumps({"t": at, "rssi": {name: [level] for name, level in heard.items()}}) + "\n"
        for at, heard in enumerate(run)))
    for algorithm in "simple-distance", "weighted-centroid":
        lines = pharos.checked("locate", tmp_path / "map.json", "--from", tmp_path / "run.jsonl", "--json",
                               "--algorithm", algorithm, "--window-s", "1").lines()
        for heard, line in zip(run, lines, strict=True):
            weights = {name: 10 ** (level / 10) for name, level in heard.items()}
            share = {name: min(1, max(0, (heard.get(name, -100) + 96) / 82)) for name in "abcd"}
            if algorithm == "simple-distance":
                total = sum(share.values())
                x, y = (size * ((share[near] + share["c"]) / total if total else 0.5)
                        for size, near in ((12, "b"), (8, "d")))
                is_there = bool(set(heard) & set("abcd"))
            else:
                is_there, total = bool(heard), sum(weights.values())
                x, y = (sum(weights[name] * spots[name][axis] for name in heard) / total if heard else 0
                        for axis in (0, 1))
            assert (line["state"] != "none") == is_there
            if is_there:
                assert line["position"] == pytest.approx({"x": x, "y": y}, abs=1e-5) and line["region95"] is None
    result = pharos.run("locate", tmp_path / "map.json", "--from", tmp_path / "run.jsonl", "--algorithm", "nn")
    assert result.code == 64 and "needs a survey" in result.err


def test_the_baselines_stand_in_the_table_of_all(tape, tmp_path):
    folder = tape[0]
    (tmp_path / "site.json").write_text(json.dumps({
        "version": 1, "name": "hall", "target": {"detectWithinS": 5, "probability": 0.9},
        "beacons": [{"name": f"ibeacon:{UUID}-1-{n}", "position": [3 * n, 0]} for n in range(3)]}))
    pharos.checked("map", "fit", folder / "survey.jsonl", "--algorithm", "nn", "--output", tmp_path / "map.json",
                   "--beacon-positions", tmp_path / "site.json")
    test = ("--test", folder / "survey.jsonl", "--all-algorithms")
    told = pharos.checked("map", "evaluate", tmp_path / "map.json", *test, "--json")
    errors = {line["algorithm"]: line["errorM"]["mean"] for line in told.lines()}
    assert errors["weighted-centroid"] < 1 and "simple-distance" not in errors
    assert "simple-distance needs the positions of four beacons" in told.err
    bare = pharos.checked("map", "evaluate", folder / "map.json", *test, "--json")
    assert not {"weighted-centroid", "simple-distance"} & {line["algorithm"] for line in bare.lines()}


def test_a_site_with_too_few_beacons_says_what_to_do(tmp_path):
    """Not what a map of a survey would want: --from-site takes no --beacon-positions."""
    (tmp_path / "site.json").write_text(json.dumps({
        "version": 1, "name": "hall", "target": {"detectWithinS": 5, "probability": 0.9},
        "beacons": [{"name": name, "position": [3 * x, 0]} for x, name in enumerate("abc")]}))
    (tmp_path / "run.jsonl").write_text('{"t":0,"rssi":{"a":[-60]}}\n')
    pharos.checked("map", "fit", "--from-site", "site.json", "--output", "map.json", cwd=tmp_path)
    told = pharos.run("locate", "map.json", "--from", "run.jsonl", "--algorithm", "simple-distance", cwd=tmp_path)
    assert told.code == 64 and "the site has fewer: add them" in told.err and "--beacon-positions" not in told.err


# ---- to a beacon over the map
def found(folder, beacon, *options, code=0):
    result = pharos.run("find", beacon, "--replay", folder / "walk.btsnoop", "--map", folder / "map.json", *options)
    assert result.code == code, result.err
    return result


def test_find_leads_over_the_map(tape):
    lines = found(tape[0], f"ibeacon:{UUID}-1-2", "--json").lines()
    here = {line["map"]["place"]: line["map"] for line in lines}
    assert lines[0]["advice"] == "wait" and lines[-1]["advice"] == "arrived"
    assert here["A"]["state"] in ("fix", "poor") and here["A"]["reason"] is None and here["A"]["otherFloor"] is False
    assert here["A"]["target"] == {"source": "survey", "place": "C", "floor": None, "position": {"x": 6, "y": 0}}
    assert here["A"]["distanceM"] == pytest.approx(6 - here["A"]["position"]["x"], abs=0.002) == pytest.approx(6, abs=1)
    assert here["B"]["distanceM"] == pytest.approx(3, abs=1) and here["A"]["bearingDeg"] == 90
    text = found(tape[0], f"ibeacon:{UUID}-1-2").out
    assert " m east, at C" in text and "warmer" in text


def test_an_identity_leads_to_what_the_map_calls_by_its_name(tape, tmp_path):
    folder = tape[0]
    (tmp_path / "hall.json").write_text(json.dumps({"version": 1, "name": "hall", "known": [
        {"name": "third", "ibeacon": {"uuid": UUID, "major": 1, "minor": 2}}]}))
    made = (folder / "map.json").read_text()
    (tmp_path / "map.json").write_text(made.replace(f"ibeacon:{UUID}-1-2", "third"))
    (tmp_path / "walk.btsnoop").write_bytes((folder / "walk.btsnoop").read_bytes())
    for name in ("third", f"ibeacon:{UUID}-1-2"):
        lines = found(tmp_path, name, "--known", tmp_path / "hall.json", "--json").lines()
        assert lines[1]["map"]["target"]["source"] == "survey" and lines[1]["map"]["target"]["place"] == "C"


def test_a_beacon_that_the_map_does_not_know_is_where_it_was_strongest(tape, tmp_path):
    folder, packets, _ = tape
    levels = [-90] * 20 + [-70] * 20 + [-85] * 20
    thing = [(second * 1_000_000 + 700_000 + n * 50_000, report(address(8), ibeacon(9, 9), level))
             for second, level in enumerate(levels) for n in range(3)]
    path = recording(tmp_path / "thing.btsnoop", sorted(packets + thing, key=lambda packet: packet[0]))
    last = pharos.checked("find", f"ibeacon:{UUID}-9-9", "--replay", path, "--map", folder / "map.json",
                          "--json").lines()[-1]["map"]
    assert last["place"] == "C" and last["target"]["source"] == "walk" and last["target"]["place"] == "B"
    assert last["distanceM"] == pytest.approx(3, abs=1.5) and last["bearingDeg"] == 270


def test_find_says_that_it_is_on_another_floor(tape, tmp_path):
    folder = tape[0]
    made = json.loads((folder / "map.json").read_text())
    for place in made["places"]:
        place["floor"] = "upper" if place["name"] == "C" else "ground"
    (tmp_path / "map.json").write_text(json.dumps(made))
    (tmp_path / "walk.btsnoop").write_bytes((folder / "walk.btsnoop").read_bytes())
    lines = found(tmp_path, f"ibeacon:{UUID}-1-2", "--json").lines()
    first = next(line["map"] for line in lines if line["map"]["place"] == "A")
    assert first["otherFloor"] is True and first["distanceM"] is None and first["target"]["floor"] == "upper"
    assert "it is on another floor: upper" in found(tmp_path, f"ibeacon:{UUID}-1-2").out


def test_find_on_no_map_is_a_sentence(tape):
    folder, beacon = tape[0], f"ibeacon:{UUID}-1-2"
    for options, code, said in [(["--map", "nowhere"], 66, "no such file"), (["--map", "survey.jsonl"], 65, "a survey"),
                                (["--map", "map.json", "--turn"], 64, "not both"), (["--map"], 64, "--map")]:
        result = pharos.run("find", beacon, "--replay", "walk.btsnoop", *options, cwd=folder)
        assert result.code == code and said in result.err and result.err.startswith("pharos: "), result.err


# ---- bad input
@pytest.mark.parametrize("options, code, said", [
    (["nowhere.json", "--from", "x"], 66, "no such file"),
    (["map.json", "--from", "nowhere"], 66, "no such file"),
    (["survey.jsonl", "--from", "survey.jsonl"], 65, "this is a survey"),
    (["site.json", "--from", "survey.jsonl"], 65, "this is not a map"),
    (["map.json", "--from", "map.json"], 65, "a map of signals, not a run"),
    (["map.json", "--from", "survey.jsonl", "--algorithm", "best"], 64, "use nn"),
    (["map.json", "--from", "survey.jsonl", "--window-s", "0"], 64, "out of range"),
    (["map.json", "--from", "survey.jsonl", "--receiver-offset", "loud"], 64, "write a number, such as 2.5 or 2.5 dB"),
    (["map.json", "--from", "survey.jsonl", "--every-s", "0"], 64, "0.1 s"),
    (["map.json", "--from", "survey.jsonl", "--adapter", "virtual"], 64, "--from"),
    (["map.json", "--from", "survey.jsonl", "--truth", "nothing.csv"], 65, "columns x and y"),
])
def test_mistakes_are_sentences(tape, options, code, said):
    result = pharos.run("locate", *options, cwd=tape[0])
    assert result.code == code and said in result.err, result.err
    assert result.err.startswith("pharos: ")


@pytest.mark.parametrize("line", [
    '{"t":1,"rssi":{"a":[127,-200,0]}}', '{"t":-5,"rssi":{}}', '{"t":1e99,"rssi":{}}', '{"t":1,"rssi":{"a":["x"]}}',
    '{"t":NaN,"rssi":{}}', '{"t":1,"rssi":{"":[-70]}}', "nonsense", '{"t":1}', "[]", "{}", '{"end":7}', '{"drop":3}',
    '{"t":1,"rssi":{' + ",".join(f'"b{n}":[-70]' for n in range(10_000)) + "}}",
])
def test_hostile_lines_lose_themselves_only(world, tmp_path, line):
    path = tmp_path / "run.jsonl"
    path.write_text((world[0] / "test.jsonl").read_text() + line + "\n")
    for algorithm in ("gauss", "field", "nn"):
        result = pharos.run("locate", world[0] / "map.json", "--from", path, "--json", "--algorithm", algorithm)
        assert result.code == 0, result.err
        assert result.lines()[:30] == locate(world[0], "--algorithm", algorithm)[:30]


def test_a_damaged_map_is_a_sentence(world, tmp_path):
    octets = bytearray((world[0] / "map.json").read_bytes())
    chance = random.Random(5)
    for attempt in range(40):
        damaged = bytearray(octets)
        for _ in range(4):
            damaged[chance.randrange(len(damaged))] = chance.randrange(32, 127)
        path = tmp_path / "map.json"
        path.write_bytes(damaged if attempt % 2 else damaged[:chance.randrange(len(damaged))])
        result = pharos.run("locate", path, "--from", world[0] / "test.jsonl", "--json")
        assert result.code in (0, 65), result.err
