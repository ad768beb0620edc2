"""`pharos map record`, `check`, `export`, `import` and `update` as a surveyor runs them."""

import codecs
import json
import os
import pty
import random
import select
import signal
import socket
import statistics
import subprocess
import time
from pathlib import Path

import jsonschema
import peers
import pharos
import pytest
from test_scan import address, ibeacon, recording, report

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"
KEYS = [f"ibeacon:{UUID}-1-{beacon}" for beacon in range(4)]


@pytest.fixture
def tape(tmp_path):
    """Twelve seconds of four beacons, two packets a second each; the last one is heard in a third of the seconds."""
    packets = [(second * 1_000_000 + beacon * 100_000 + part * 450_000 + 1,
                report(address(beacon + 1), ibeacon(1, beacon), -50 - 5 * beacon - part))
               for second in range(12) for part in range(2) for beacon in range(4) if beacon < 3 or second % 3 == 0]
    return recording(tmp_path / "tape.btsnoop", packets)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def record(survey, *options):
    return pharos.checked("map", "record", survey, *options)


def test_every_packet_of_every_second_is_kept(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    result = record(survey, "--place", "A3", "--position", "4,6", "--floor", "ground", "--heading", "90", "--session",
                    "may", "--seconds", "10", "--from", tape)
    assert result.out == "4 beacons in 10 s, 1 of them in less than half of the seconds\n"
    header, stay, *seconds, end = lines(survey)
    assert header["survey"] == 1 and header["receiver"] == {"name": str(tape)} and header["started"].endswith("Z")
    assert stay == {"stay": 1, "place": "A3", "position": [4, 6], "floor": "ground", "heading": 90, "session": "may"}
    assert end == {"end": 1, "seconds": 10}
    for number, line in enumerate(seconds):
        expected = {key: [-50 - 5 * beacon, -51 - 5 * beacon] for beacon, key in enumerate(KEYS)
                    if beacon < 3 or number % 3 == 0}
        assert line == {"t": number, "rssi": expected}


def test_the_same_recording_gives_the_same_lines(tmp_path, tape):
    for name in ("a", "b"):
        record(tmp_path / name, "--place", "A", "--position", "1,2", "--from", tape)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_survey_grows_and_is_never_written_again(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    record(survey, "--place", "A", "--position", "1,2", "--from", tape)
    before = survey.read_bytes()
    told = pharos.checked("map", "record", survey, "--place", "A", "--turn", "--seconds", "12", "--from", tape,
                          "--json").lines()[0]
    assert survey.read_bytes().startswith(before) and told["stays"] == [2, 3, 4, 5] and told["position"] == [1, 2]
    stays = [line for line in lines(survey) if "stay" in line]
    assert [stay.get("heading") for stay in stays] == [None, 0, 90, 180, 270]
    assert [line["seconds"] for line in lines(survey) if "end" in line] == [12, 3, 3, 3, 3]
    record(survey, "--drop", "1")
    record(survey, "--move", "2", "--position", "9,-2")
    assert lines(survey)[-2:] == [{"drop": 1}, {"move": 2, "position": [9, -2]}]
    rows = pharos.checked("map", "export", survey, "--format", "wide").out.splitlines()[1:]
    assert len(rows) == 12 and {row.split(",")[3] for row in rows if row.split(",")[5] == "0"} == {"-2"}


def test_a_cut_line_loses_itself_only(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    record(survey, "--place", "A", "--position", "1,2", "--from", tape)
    survey.write_bytes(survey.read_bytes()[:-40])
    kept = survey.read_bytes()
    record(survey, "--place", "B", "--position", "5,2", "--from", tape)
    assert survey.read_bytes().startswith(kept + b"\n")
    found = pharos.run("map", "check", survey, "--json").lines()[0]["problems"]
    assert [each["line"] for each in found if "cut" in each["message"]] == [kept.count(b"\n") + 1]
    rows = pharos.checked("map", "export", survey, "--format", "wide").out.splitlines()[1:]
    assert sum(",A," in row for row in rows) >= 10 and sum(",B," in row for row in rows) == 12


def test_places_that_are_alike_are_told(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    record(survey, "--place", "A3", "--position", "4,6", "--from", tape)
    told = record(survey, "--place", "A4", "--position", "6,6", "--from", tape).out
    assert told.endswith("; A4 looks like A3: 100 % overlap\n")


def test_a_walk_is_interpolated(tmp_path, tape):
    site = tmp_path / "site.json"
    site.write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [20, 0], [20, 10], [0, 10]],
        "target": {"detectWithinS": 5, "probability": 0.9},
        "beacons": [{"name": name, "position": spot} for name, spot in [("a", [0, 1]), ("b", [8, 1]), ("c", [8, 5])]]}))
    survey = tmp_path / "s.jsonl"
    record(survey, "--walk", "a@0 b@4 c@8", "--site", site, "--from", tape)
    spots = [line["position"] for line in lines(survey) if "stay" in line]
    assert spots == [[1, 1], [3, 1], [5, 1], [7, 1], [8, 1.5], [8, 2.5], [8, 3.5], [8, 4.5]]
    assert lines(survey)[0]["site"] == "hall"


def test_live_on_the_virtual_air(tmp_path):
    survey = tmp_path / "s.jsonl"
    result = record(survey, "--place", "A", "--position", "-1.5,2", "--adapter", "virtual", "--seconds", "2")
    assert "fewer than four" in result.err and result.out == "1 beacon in 2 s\n"
    assert [len(line["rssi"]) for line in lines(survey) if "t" in line] == [1, 1]


def test_a_place_is_named_after_it_was_recorded(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    first = record(survey, "--turn", "--seconds", "12", "--from", tape)
    assert first.err == (
        "pharos: stays 1 to 4 have no place yet, so maps leave them out: name the place with `pharos map record "
        f"{survey} --move 1-4 --place NAME --position X,Y`\n")
    told = record(survey, "--from", tape, "--json")
    assert told.lines()[0]["place"] is None and told.lines()[0]["position"] is None
    assert "--move 5 --place NAME" in told.err
    # Without a place there is nothing to make a map from; with names and positions there is.
    assert pharos.run("map", "fit", survey, "--output", tmp_path / "map.json").code != 0
    record(survey, "--move", "1-4", "--place", "A3", "--position", "4,6")
    # A name is enough for a place that the survey knows.
    record(survey, "--move", "5", "--place", "A3")
    assert lines(survey)[-1] == {"move": 5, "position": [4, 6], "place": "A3"}
    rows = pharos.checked("map", "export", survey, "--format", "wide").out.splitlines()[1:]
    assert len(rows) == 24 and {tuple(row.split(",")[1:4]) for row in rows} == {("A3", "4", "6")}


def test_a_place_without_a_position_is_recorded(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    told = record(survey, "--place", "kitchen", "--from", tape)
    assert "kitchen has no position yet" in told.err and f"{survey} --move 1 --position X,Y`" in told.err
    assert "position" not in record(survey, "--place", "hall", "--position", "1,2", "--from", tape).err
    pharos.checked("map", "fit", survey, "--output", tmp_path / "map.json", "--algorithm", "nn")
    record(survey, "--move", "1", "--position", "4,6")
    assert "4,6" in pharos.checked("map", "export", survey).out


class Person:
    """Somebody at a terminal who reads what a command says and presses Enter."""

    def __init__(self, *words):
        self.terminal, inside = pty.openpty()
        self.process = subprocess.Popen(
            [pharos.PROGRAM, *map(str, words)], stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
            env={**os.environ, "TERM": "xterm"})
        os.close(inside)
        self.text, self.decoder = "", codecs.getincrementaldecoder("utf-8")()

    def read(self, seconds):
        """What comes within so many seconds; False at the end."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            octets = os.read(self.terminal, 65536)
        except OSError:
            octets = b""
        self.text += self.decoder.decode(octets)
        return bool(octets)

    def until(self, text):
        end = time.monotonic() + 10
        while text not in self.text:
            assert time.monotonic() < end, self.text
            assert self.read(0.2) or text in self.text, self.text

    def stay(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.1)

    def press(self, key=b"\n"):
        os.write(self.terminal, key)

    def end(self):
        deadline = time.monotonic() + 10
        while self.read(0.2):
            assert time.monotonic() < deadline, self.text
        os.close(self.terminal)
        return self.process.wait(10)


@pytest.fixture
def corridor(tmp_path):
    """A site with three places in a row."""
    (tmp_path / "site.json").write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [20, 0], [20, 10], [0, 10]],
        "target": {"detectWithinS": 5, "probability": 0.9},
        "beacons": [{"name": name, "position": spot} for name, spot in [("a", [0, 1]), ("b", [8, 1]), ("c", [8, 5])]]}))
    return tmp_path / "site.json"


def test_somebody_walks_and_presses_enter_at_each_place(tmp_path, corridor):
    survey = tmp_path / "s.jsonl"
    person = Person("map", "record", survey, "--walk", "a b c", "--site", corridor, "--adapter", "virtual",
                    "--session", "walk")
    person.until("Stand at a and press Enter")
    person.press()
    person.until("Next: b")
    person.stay(3.2)
    assert "Next: c" not in person.text
    person.press()
    person.until("Next: c")
    person.stay(2.2)
    person.press()
    assert person.end() == 0, person.text
    assert "1 beacon in " in person.text and "\a" in person.text and "working" not in person.text
    assert "packets per second and beacon" in person.text
    header, *rest = lines(survey)
    assert header["site"] == "hall" and header["receiver"] == {"name": socket.gethostname(), "adapter": "virtual"}
    stays = [line for line in rest if "stay" in line]
    assert 4 <= len(stays) <= 6 and {stay["session"] for stay in stays} == {"walk"}
    east = [stay["position"][0] for stay in stays if stay["position"][1] == 1]
    north = [stay["position"][1] for stay in stays if stay["position"][1] > 1]
    assert len(east) >= 2 and east == sorted(set(east)) and 0 < east[0] < 3 and 5 < east[-1] <= 8
    assert len(north) >= 1 and north == sorted(set(north)) and north[-1] < 5
    assert [len(line["rssi"]) for line in rest if "t" in line].count(1) >= len(stays) - 1


def test_a_walk_that_is_given_up_keeps_what_lies_between_marks(tmp_path, corridor):
    survey = tmp_path / "s.jsonl"
    person = Person("map", "record", survey, "--walk", "a b c", "--site", corridor, "--adapter", "virtual")
    person.until("Stand at a and press Enter")
    person.press()
    person.until("Next: b")
    person.stay(2.2)
    person.press()
    person.until("Next: c")
    person.stay(1.2)
    os.kill(person.process.pid, signal.SIGINT)
    assert person.end() == 0, person.text
    assert "the walk ended with 1 place left" in person.text
    assert all(line["position"][1] == 1 for line in lines(survey) if "stay" in line)


def test_somebody_is_asked_for_the_place_at_the_end(tmp_path, corridor):
    survey = tmp_path / "s.jsonl"
    words = ("map", "record", survey, "--adapter", "virtual", "--seconds", "1")
    person = Person(*words)
    person.until("name of the place")
    person.press(b"A3\n")
    person.until("its position in metres")
    person.press(b"here\n")
    person.until("use two numbers")
    person.press(b"4,6\n")
    assert person.end() == 0, person.text
    assert lines(survey)[-1] == {"move": 1, "position": [4, 6], "place": "A3"}
    # The site has the position of its beacons.
    person = Person(*words, "--site", corridor)
    person.until("name of the place")
    person.press(b"b\n")
    assert person.end() == 0 and "its position" not in person.text, person.text
    assert lines(survey)[-1] == {"move": 2, "position": [8, 1], "place": "b"}
    # Two times Enter: later.
    person = Person(*words)
    person.until("name of the place")
    person.press()
    person.until("its position in metres")
    person.press()
    assert person.end() == 0 and "stay 3 has no place yet" in person.text, person.text


@pytest.mark.parametrize("answers", [[], [("name of the place", b"A3\n")]], ids=["name", "position"])
def test_ctrl_c_at_the_last_question_ends_the_program_and_keeps_the_stay(tmp_path, answers):
    survey = tmp_path / "s.jsonl"
    last = "its position in metres" if answers else "name of the place"
    code, text, lasted = peers.on_terminal(
        [*answers, (last, b"\x03")], pharos.PROGRAM, "map", "record", survey, "--adapter", "virtual", "--seconds", "1")
    assert code == -signal.SIGINT and lasted < 2, (code, lasted, text)
    assert [line["stay"] for line in lines(survey) if "stay" in line] == [1]


def test_nobody_to_press_enter_is_said(tmp_path, corridor):
    walk = ("map", "record", tmp_path / "s.jsonl", "--walk", "a b", "--site", corridor, "--adapter", "virtual")
    result = pharos.run(*walk)
    assert result.code == 64 and "Enter cannot be pressed" in result.err


def test_somebody_turns_at_the_bell(tmp_path):
    survey = tmp_path / "s.jsonl"
    person = Person("map", "record", survey, "--place", "A", "--position", "1,2", "--turn", "--seconds", "4",
                    "--adapter", "virtual")
    assert person.end() == 0, person.text
    assert [f"{heading}°" in person.text for heading in (90, 180, 270)] == [True] * 3 and person.text.count("\a") == 3
    assert "s left, 1 beacon" in person.text
    assert [line["heading"] for line in lines(survey) if "stay" in line] == [0, 90, 180, 270]


def test_only_known_beacons(tmp_path, tape):
    profile = tmp_path / "known.json"
    profile.write_text(json.dumps({"version": 1, "name": "desk", "advertisements": [{
        "type": "ibeacon", "uuid": UUID, "major": 1, "minor": 1, "measuredPowerDbm": -59,
        "intervalMs": 500}]}))
    survey = tmp_path / "s.jsonl"
    record(survey, "--place", "A", "--position", "1,2", "--from", tape, "--fleet", profile, "--only-known")
    assert {key for line in lines(survey) if "t" in line for key in line["rssi"]} == {"desk"}


def test_tables_go_out_and_come_back(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    for place, spot in [("A", "1,2"), ("B, \"left\"", "-3,4.5")]:
        record(survey, "--place", place, "--position", spot, "--floor", "g", "--session", "may", "--from", tape)
    table = pharos.checked("map", "export", survey).out
    assert table.splitlines()[0] == "session,place,x,y,floor,heading,time,beacon,rssi"
    assert len(table.splitlines()) == 1 + 2 * (12 * 6 + 4 * 2)
    (tmp_path / "t.csv").write_text(table)
    pharos.checked("map", "import", tmp_path / "t.csv", "--output", tmp_path / "back.jsonl")
    assert pharos.checked("map", "export", tmp_path / "back.jsonl").out == table
    assert pharos.checked("map", "import", "-", stdin=table).out == (tmp_path / "back.jsonl").read_text()
    wide = pharos.checked("map", "export", survey, "--format", "wide").out
    again = pharos.checked("map", "export", "-", "--format", "wide", stdin=wide).out
    assert again == wide and wide.splitlines()[0].endswith(",".join(KEYS))


def test_a_floor_below_the_ground_comes_back_from_a_table(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    record(survey, "--place", "A", "--position", "1,2", "--floor=-1", "--from", tape)
    (tmp_path / "t.csv").write_text(pharos.checked("map", "export", survey).out)
    pharos.checked("map", "import", tmp_path / "t.csv", "--output", tmp_path / "back.jsonl")
    assert next(line for line in lines(tmp_path / "back.jsonl") if "place" in line)["floor"] == "-1"


def test_a_known_position_has_a_known_floor(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    record(survey, "--place", "A3", "--position", "4,6", "--floor", "ground", "--from", tape)
    record(survey, "--position", "4,6", "--from", tape)
    stays = [line for line in lines(survey) if "place" in line]
    assert [(each["place"], each["floor"]) for each in stays] == [("A3", "ground")] * 2


def test_a_dropped_stay_is_no_stay(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    record(survey, "--place", "A3", "--position", "4,6", "--from", tape)
    record(survey, "--drop", "1")
    refused = pharos.run("map", "check", survey)
    assert refused.code != 0 and "0 errors" not in refused.out


def test_node_medians_are_those_of_the_readings(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    record(survey, "--place", "A", "--position", "1,2", "--from", tape)
    record(survey, "--place", "B", "--position", "3,2", "--from", tape, "--seconds", "3")
    head, *rows = pharos.checked("map", "export", survey, "--format", "medians").out.splitlines()
    assert head.split("\t") == ["measurement", *KEYS]
    medians = [statistics.median([-50 - 5 * beacon, -51 - 5 * beacon]) for beacon in range(4)]
    assert [list(map(float, row.split("\t"))) for row in rows] == [[1, *medians], [2, *medians]]
    dump = pharos.checked("map", "export", survey, "--format", "dump").out
    assert dump.splitlines()[0] == f"1\t{KEYS[0]}\t-50"
    (tmp_path / "dump.tsv").write_text(dump)
    pharos.checked("map", "import", tmp_path / "dump.tsv", "--output", tmp_path / "i.jsonl")
    back = pharos.checked("map", "export", tmp_path / "i.jsonl", "--format", "dump").out
    assert sorted(back.splitlines()) == sorted(dump.splitlines())
    again = pharos.checked("map", "export", tmp_path / "i.jsonl", "--format", "medians").out
    assert again == pharos.checked("map", "export", survey, "--format", "medians").out


def test_a_map_has_statistics(tmp_path, tape):
    survey = tmp_path / "s.jsonl"
    record(survey, "--place", "A", "--position", "1,2", "--from", tape)
    pharos.checked("map", "fit", survey, "--output", tmp_path / "map.json", "--algorithm", "nn")
    rows = pharos.checked("map", "export", tmp_path / "map.json").out.splitlines()
    assert rows[0] == "place,x,y,floor,seconds,beacon,heard,mean,median,min,max,sd"
    assert rows[1] == f"A,1,2,,12,{KEYS[0]},12,-50.5,-50.5,-50.5,-50.5,0"
    assert rows[4].startswith(f"A,1,2,,12,{KEYS[3]},4,")


def test_absent_values_are_levels_unless_named(tmp_path):
    (tmp_path / "t.csv").write_text("place,x,y,a,b\nA,0,0,-50,100\nB,1,0,100,-60\n")
    plain = pharos.checked("map", "import", tmp_path / "t.csv")
    assert "--absent 100" in plain.err
    told = pharos.checked("map", "import", tmp_path / "t.csv", "--absent", "100")
    assert told.err == "" and [json.loads(line)["rssi"] for line in told.out.splitlines() if '"t"' in line] == [
        {"a": [-50]}, {"b": [-60]}]


def schema(name):
    path = Path(__file__).resolve().parents[2] / "profiles" / "schema" / f"{name}.schema.json"
    found = json.loads(path.read_text())
    assert pharos.checked("map", "schema", name).out == path.read_text()
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def test_surveys_and_maps_are_as_their_schemas_say(tmp_path, tape):
    survey, found = tmp_path / "s.jsonl", schema("survey")
    record(survey, "--place", "A", "--position", "1,2", "--turn", "--seconds", "12", "--from", tape)
    record(survey, "--place", "B", "--position", "4,2", "--floor", "g", "--session", "x", "--from", tape)
    record(survey, "--drop", "1")
    record(survey, "--move", "2", "--position", "1,3", "--place", "C")
    record(survey, "--move", "3-4", "--place", "D", "--floor", "g")
    assert lines(survey)[-2:] == [{"move": number, "place": "D", "floor": "g"} for number in (3, 4)]
    for line in lines(survey):
        found.validate(line)
    for wrong in {}, {"t": 0}, {"stay": "1"}, {"survey": 2}, {"t": 0, "rssi": [1]}, {"move": 1}:
        assert not found.is_valid(wrong), wrong
    site = tmp_path / "site.json"
    site.write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [20, 0], [20, 10], [0, 10]],
        "target": {"detectWithinS": 5, "probability": 0.9}, "beacons": [{"name": "a", "position": [0, 1]}]}))
    for words in (survey, "--algorithm", "nn"), (survey, "--algorithm", "field"), ("--from-site", site):
        pharos.checked("map", "fit", *words, "--output", tmp_path / "map.json")
        schema("map").validate(json.loads((tmp_path / "map.json").read_text()))


def shifted(lines, change):
    """A survey with the levels of a beacon changed."""
    for line in lines:
        line = json.loads(line)
        for key, levels in line.get("rssi", {}).items():
            line["rssi"][key] = [max(-120, level + change(key)) for level in levels]
        yield json.dumps(line)


def test_a_new_survey_is_put_into_a_map(tmp_path):
    chance, rows = random.Random(5), []
    for place in range(6):
        rows.append(json.dumps({"stay": place + 1, "place": f"P{place}", "position": [3 * place, 0]}))
        for second in range(10):
            heard = {f"b{n}": [round(-50 - 4 * abs(place - n) + chance.gauss(0, 2))] for n in range(5)}
            rows.append(json.dumps({"t": second, "rssi": heard}))
    may, june = tmp_path / "may.jsonl", tmp_path / "june.jsonl"
    may.write_text("\n".join(['{"survey":1,"started":"2026-05-01T09:00:00Z"}', *rows]) + "\n")
    header = '{"survey":1,"started":"2026-06-01T09:00:00Z"}'
    june.write_text("\n".join([header, *shifted(rows, lambda key: -25 if key == "b3" else 0)]) + "\n")
    pharos.checked("map", "fit", may, "--output", tmp_path / "map.json", "--algorithm", "gauss")
    before = (tmp_path / "map.json").read_bytes()
    update = ("map", "update", tmp_path / "map.json", "--survey", june)
    told = pharos.checked(*update, "--output", tmp_path / "new.json", "--json").lines()[0]
    assert (tmp_path / "map.json").read_bytes() == before
    kinds = [(change["kind"], change["subject"]) for change in told["changes"]]
    assert kinds == [("beacon moved", "b3"), *(("place kept", f"P{place}") for place in range(6))]
    new = json.loads((tmp_path / "new.json").read_text())
    assert {beacon["key"]: beacon["seconds"] for beacon in new["beacons"]} == {
        "b0": 120, "b1": 120, "b2": 120, "b3": 60, "b4": 120}
    assert [source["name"] for source in new["surveys"]] == [str(may), str(june)]
    assert new["algorithm"]["name"] == "gauss" and new["created"] == "2026-06-01T09:00:00Z"
    text = pharos.checked(*update).out
    assert "1 beacon moved" in text and "6 places kept" in text
    assert (tmp_path / "map.json").read_bytes() == (tmp_path / "new.json").read_bytes()
    # The same seconds twice would make the errors of the map look like none.
    again = pharos.run(*update)
    assert again.code == 65 and "was made from this survey already" in again.err


@pytest.mark.parametrize("options, code, said", [
    (["map.json"], 64, "--survey"), (["nowhere", "--survey", "s.jsonl"], 66, "no such file"),
    (["map.json", "--survey", "nowhere"], 66, "no such file"), (["map.json", "--survey", "empty"], 65, "of any second"),
    (["s.jsonl", "--survey", "s.jsonl"], 65, "s.jsonl"), (["empty", "--survey", "s.jsonl"], 65, "empty"),
    (["site-map.json", "--survey", "s.jsonl"], 65, "does not contain the seconds"),
    (["map.json", "--survey", "elsewhere.jsonl"], 65, "elsewhere.jsonl: the survey has no beacon of the map"),
])
def test_mistakes_of_updating_are_sentences(tmp_path, tape, options, code, said):
    (tmp_path / "empty").write_text("")
    (tmp_path / "elsewhere.jsonl").write_text(
        '{"survey":1}\n{"stay":1,"place":"A","position":[1,1]}\n{"t":0,"rssi":{"stranger":[-50]}}\n')
    (tmp_path / "site.json").write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [20, 0], [20, 10], [0, 10]],
        "target": {"detectWithinS": 5, "probability": 0.9}, "beacons": [{"name": "a", "position": [0, 1]}]}))
    record(tmp_path / "s.jsonl", "--place", "A", "--position", "1,1", "--from", tape)
    pharos.checked("map", "fit", "s.jsonl", "--output", "map.json", "--algorithm", "nn", cwd=tmp_path)
    pharos.checked("map", "fit", "--from-site", "site.json", "--output", "site-map.json", cwd=tmp_path)
    before = (tmp_path / "map.json").read_bytes()
    result = pharos.run("map", "update", *options, cwd=tmp_path)
    assert result.code == code and said in result.err and result.err.startswith("pharos: "), result.err
    assert (tmp_path / "map.json").read_bytes() == before


@pytest.mark.parametrize("options, code, said", [
    (["s.jsonl", "--place", "Z", "--position", "4"], 64, "two numbers"),
    (["s.jsonl", "--place", "Z", "--position", "nan,1"], 64, "two numbers"),
    (["s.jsonl", "--position", "1,1", "--seconds", "0"], 64, "out of range"),
    (["s.jsonl", "--position", "1,1", "--heading", "north"], 64, "write a number, such as 2.5 or 2.5 degrees"),
    (["s.jsonl", "--position", "1,1", "--from", "nowhere"], 66, "no such file"),
    (["s.jsonl", "--position", "1,1", "--from", "empty"], 65, "empty"),
    (["s.jsonl", "--walk", "a"], 64, "at least two"),
    (["s.jsonl", "--walk", "a@1 b@soon", "--from", "tape.btsnoop"], 64, "the text after @ in b@soon is not a time"),
    (["s.jsonl", "--walk", "a@1 b@9", "--from", "tape.btsnoop"], 64,
     "--walk a: the position of this place is neither in the survey nor in a site"),
    (["s.jsonl", "--walk", "a@5 b@1", "--from", "tape.btsnoop"], 64, "the times must increase"),
    (["s.jsonl", "--position", "1,1", "--only-known"], 64, "--fleet"),
    (["new.jsonl", "--drop", "9"], 64, "no stay 9"),
    (["nowhere.jsonl", "--drop", "9"], 66, "no such file"),
    (["nowhere.jsonl", "--move", "1", "--place", "A"], 66, "no such file"),
    (["s.jsonl", "--move", "1"], 64, "--move needs a --place, a --position or a --floor"),
    (["s.jsonl", "--move", "3-1", "--place", "A"], 64, "the number of a stay, such as 3, or of several, such as 3-6"),
    (["new.jsonl", "--move", "1-2", "--place", "A"], 64, "no stay 1"),
    (["tape.btsnoop", "--position", "1,1"], 65, "recording of packets"),
    (["table.csv", "--position", "1,1", "--adapter", "virtual"], 65, "map import"),
    (["other.json", "--position", "1,1", "--adapter", "virtual"], 65, "one JSON object"),
])
def test_mistakes_of_recording_are_sentences(tmp_path, tape, options, code, said):
    (tmp_path / "empty").write_text("")
    (tmp_path / "new.jsonl").write_text("")
    (tmp_path / "table.csv").write_text("place,x,y,a\nA,0,0,-50\n")
    (tmp_path / "other.json").write_text('{"version": 1, "name": "desk"}\n')
    others = {name: (tmp_path / name).read_bytes() for name in ("tape.btsnoop", "table.csv", "other.json")}
    result = pharos.run("map", "record", *options, cwd=tmp_path)
    assert result.code == code and said in result.err and result.err.startswith("pharos: "), result.err
    assert all((tmp_path / name).read_bytes() == octets for name, octets in others.items())
    assert not (tmp_path / "nowhere.jsonl").exists()


@pytest.mark.parametrize("command, code, said", [
    (["export"], 64, "at least one"), (["export", "nowhere"], 66, "no such file"),
    (["export", "empty"], 65, "of any second"), (["export", "tape.btsnoop"], 65, "recording of packets"),
    (["export", "s.jsonl", "--format", "xml"], 64, "use csv"), (["import"], 64, "at least one"),
    (["import", "nowhere"], 66, "no such file"), (["import", "empty"], 65, "of any second"),
    (["import", "s.jsonl", "--output", "tape.btsnoop"], 65, "recording of packets"),
    (["check"], 64, "at least one"), (["check", "nowhere"], 66, "no such file"),
    (["check", "empty"], 1, "of any second"),
])
def test_mistakes_with_tables_are_sentences(tmp_path, tape, command, code, said):
    (tmp_path / "empty").write_text("")
    record(tmp_path / "s.jsonl", "--position", "1,1", "--from", tape)
    result = pharos.run("map", *command, cwd=tmp_path)
    assert result.code == code and said in result.err + result.out, result.err
