"""What commands of `map` print for people, held against what they say to programs, and what they say of mistakes."""
import json
import random
import re

import pharos
import pytest
from test_scan import UUID, address, ibeacon, recording, report

SIDE = 5


@pytest.fixture(scope="module")
def surveys(tmp_path_factory):
    """A survey of 25 places on two days with a stay and a few seconds on each, of places that differ in how well they
    are told apart; and the same of places that nothing tells apart."""
    folder = tmp_path_factory.mktemp("text")
    for name, spread in ("sharp", 1), ("dull", 30):
        chance, lines = random.Random(5), ['{"survey":1}']
        for session in "may", "june":
            for number in range(SIDE * SIDE):
                x, y = 3 * (number % SIDE), 3 * (number // SIDE)
                lines.append(json.dumps({"stay": len(lines), "place": f"P{number}", "position": [x, y],
                                         "session": session}))
                for second in range(4):
                    levels = (-50 - 2 * x, -50 - 2 * y, -74 + 2 * x, -74 + 2 * y)
                    heard = {f"b{n}": [max(-98, min(-20, round(chance.gauss(level, spread + number / 5))))]
                             for n, level in enumerate(levels)}
                    lines.append(json.dumps({"t": second, "rssi": heard}))
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def table(text, head):
    """The rows below the heading that starts with `head`, each as its cells."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(head))
    rows = []
    for line in lines[start + 1:]:
        if not line.strip():
            break
        rows.append(re.split(r" {2,}", line.strip()))
    return rows


def two_digits(value):
    return "-" if value is None else pytest.approx(float(value), abs=0.0051)


# ---- which algorithm, and by how much
@pytest.mark.parametrize("survey", ["sharp", "dull"])
def test_the_choice_of_the_algorithm_is_told_with_by_how_much(surveys, tmp_path, survey):
    words = ("map", "fit", surveys / survey, "--output", tmp_path / "map.json")
    told = pharos.checked(*words, "--json", timeout=600).lines()[0]
    text = pharos.checked(*words, timeout=600).out
    trials = told["trials"]
    taken = trials[0]["algorithm"]
    assert told["algorithm"]["name"] == taken == json.loads((tmp_path / "map.json").read_text())["algorithm"]["name"]
    assert taken == min(trials, key=lambda trial: trial["evaluation"]["errorM"]["mean"])["algorithm"]
    rows = table(text, "algorithm")
    assert [row[0] for row in rows] == [trial["algorithm"] for trial in trials] and len(rows) == 8
    for row, trial in zip(rows, trials, strict=True):
        said = trial["evaluation"]
        assert float(row[1]) == two_digits(said["errorM"]["mean"])
        assert float(row[4]) == two_digits(said["errorM"]["p95"])
        # Whoever answers at every second is behind by the difference of the means.
        if trial["behindM"] and said["availability"] == trials[0]["evaluation"]["availability"] == 1:
            behind = said["errorM"]["mean"] - trials[0]["evaluation"]["errorM"]["mean"]
            assert trial["behindM"]["mean"] == pytest.approx(behind, abs=0.002)
            assert float(row[7].split(" ")[0]) == two_digits(behind)
    number = r"(-?[\d.]+)"
    sentence = rf"^chose (\S+): its mean error is {number} m \({number}…{number}\) smaller than that of ([\w-]+)(.*)$"
    found = re.search(sentence, text, re.MULTILINE)
    assert found, text
    behind = trials[1]["behindM"]
    assert (found[1], found[5]) == (taken, trials[1]["algorithm"])
    assert [float(found[n]) for n in (2, 3, 4)] == [two_digits(behind[key]) for key in ("mean", "low", "high")]
    assert behind["certain"] == (behind["low"] > 0 or behind["high"] < 0)
    assert found[6] == ("" if behind["certain"] and behind["mean"] > 0 else ", which may be chance")


def test_an_algorithm_that_was_asked_for_is_no_choice(surveys, tmp_path):
    text = pharos.checked("map", "fit", surveys / "sharp", "--algorithm", "gauss", "--output", tmp_path / "m").out
    assert "chose gauss, as requested\n" in text and "smaller than that of" not in text


# ---- the worst places
def test_the_worst_places_come_first(surveys):
    words = ("map", "evaluate", surveys / "sharp", "--leave", "visit", "--algorithm", "nn-mean")
    told = pharos.checked(*words, "--json").lines()[0]
    text = pharos.checked(*words).out
    places = {row["place"]: row for row in told["byPlace"]}
    *rows, more = table(text, "place ")
    assert len(places) > 21 and len(rows) == 20 and more == [f"{len(places) - 20} more places are better than these"]
    errors = [places[row[0]]["meanErrorM"] for row in rows]
    assert errors == sorted(errors, reverse=True) and errors[0] > errors[-1]
    assert sorted(row["meanErrorM"] for row in told["byPlace"])[-20:] == errors[::-1]
    for place, seconds, error, exact in rows:
        assert int(seconds) == places[place]["instants"]
        assert float(error) == two_digits(places[place]["meanErrorM"])
        assert int(exact) == pytest.approx(100 * places[place]["exact"], abs=0.51)
    for row, entry in zip(table(text, "place  taken for"), told["confusion"], strict=False):
        assert row[:2] == [entry["place"], entry["taken"]]
        assert int(row[2]) == pytest.approx(100 * entry["share"], abs=0.51)


def test_a_place_that_is_never_found_is_among_the_worst(tmp_path):
    lines = ['{"survey":1}']
    for number, beacon in enumerate(["a", "b", "c"]):
        lines.append(json.dumps({"stay": number, "place": f"P{number}", "position": [4 * number, 0]}))
        lines += [json.dumps({"t": at, "rssi": {beacon: [-60]}}) for at in range(4)]
    (tmp_path / "s.jsonl").write_text("\n".join(lines) + "\n")
    pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", "nn", "--output", tmp_path / "m.json")
    (tmp_path / "t.jsonl").write_text("\n".join(lines).replace('"c"', '"stranger"') + "\n")
    text = pharos.checked("map", "evaluate", tmp_path / "m.json", "--test", tmp_path / "t.jsonl").out
    assert [row[::2] for row in table(text, "place ")] == [["P2", "-"], ["P0", "0.00"], ["P1", "0.00"]]
    assert "better than these" not in text


# ---- 0 dBm
def test_a_table_with_zeros_has_them_where_that_is_said(tmp_path):
    rows = "session,place,x,y,floor,heading,time,beacon,rssi\nmay,A,0,0,,,0,a,0\nmay,A,0,0,,,0,b,-60\n"
    for flags, level in ((), None), (("--accept-zero",), [0]):
        told = pharos.checked("map", "import", "-", *flags, stdin=rows)
        (heard,) = [json.loads(line)["rssi"] for line in told.out.splitlines() if '"t"' in line]
        assert heard.get("a") == level and heard["b"] == [-60]
        assert ("--accept-zero" in told.err) == (level is None)


def test_a_survey_and_a_recording_with_zeros_have_them_where_that_is_said(tmp_path):
    packets = [(second * 1_000_000 + number, report(address(number), ibeacon(1, number), level))
               for second in range(6) for number, level in ((1, 0), (2, -60), (3, -70))]
    recording(tmp_path / "tape.btsnoop", packets)
    scan = pharos.checked("scan", "--replay", tmp_path / "tape.btsnoop", "--json").out
    (tmp_path / "scan.jsonl").write_text(scan)
    key = f"ibeacon:{UUID}-1-1"
    for tape in "tape.btsnoop", "scan.jsonl":
        for flags in (), ("--accept-zero",):
            survey = f"{tape}{len(flags)}.jsonl"
            pharos.checked("map", "record", survey, "--place", "A", "--position", "0,0", "--seconds", "6", "--from",
                           tape, *flags, cwd=tmp_path)
            heard = [json.loads(line)["rssi"] for line in (tmp_path / survey).read_text().splitlines() if '"t"' in line]
            assert heard and {key in each for each in heard} == {bool(flags)}, (tape, flags)
    survey = "tape.btsnoop1.jsonl"
    for flags, count in ((), 2), (("--accept-zero",), 3):
        fit = pharos.checked("map", "fit", survey, "--algorithm", "nn", "--output", "map.json", *flags, cwd=tmp_path)
        assert f"1 place, {count} beacons" in fit.out and ("--accept-zero" in fit.err) == (count == 2)
    for run in survey, "tape.btsnoop", "scan.jsonl":
        for flags, used in ((), 2), (("--accept-zero",), 3):
            lines = pharos.checked("locate", "map.json", "--from", run, "--json", *flags, cwd=tmp_path).lines()
            assert {line["used"] for line in lines} == {used}, (run, flags)


@pytest.mark.parametrize("part", ["session", "heading"])
def test_what_cannot_be_left_out_is_named(tmp_path, part):
    lines = ['{"survey":1}']
    for number in range(3):
        lines.append(json.dumps({"stay": number, "place": f"P{number}", "position": [number, 0]}))
        lines += [json.dumps({"t": at, "rssi": {"a": [-50 - number], "b": [-60 + number]}}) for at in range(3)]
    (tmp_path / "s.jsonl").write_text("\n".join(lines) + "\n")
    for more in ["--algorithm", "nn"], ["--algorithm", "gauss"], ["--all-algorithms"]:
        told = pharos.run("map", "evaluate", tmp_path / "s.jsonl", "--leave", part, *more)
        assert told.code == 65 and told.out == ""
        assert f"--leave {part}: without this part, no data remains to make a map from" in told.err
        assert f"record more than one {part}" in told.err


def test_a_text_that_is_no_table_is_no_run_that_heard_nothing(surveys, tmp_path):
    pharos.checked("map", "fit", surveys / "sharp", "--algorithm", "nn", "--output", tmp_path / "map.json")
    (tmp_path / "notes.txt").write_text("Bread, milk\nand eggs, please\nthank you\n")
    told = pharos.run("locate", tmp_path / "map.json", "--from", tmp_path / "notes.txt", "--json")
    assert told.code == 65 and told.out == "" and "the table was not read, because 2 of 2 rows" in told.err
    # Whoever did hear nothing says so without a mistake.
    (tmp_path / "silence.csv").write_text("time,beacon,rssi\n0,,\n1,,\n")
    lines = pharos.checked("locate", tmp_path / "map.json", "--from", tmp_path / "silence.csv", "--json").lines()
    assert [line["reason"] for line in lines] == ["nothing received"] * 2
