"""What misleads a survey or a walk: each trap with commands as a user runs them."""
import json
import random

import pharos
import pytest
from test_scan import UUID, address, ibeacon, recording, report

SPOTS = {"A": (0, 0), "B": (4, 0), "C": (8, 0)}
LEVELS = {"A": (-50, -62, -74, -80), "B": (-62, -50, -62, -70), "C": (-74, -62, -50, -60)}


def packets_of(places, seconds=12, rate=4):
    """Packets for a receiver that stands at one place after the other."""
    chance, at = random.Random(8), 0
    for place in places:
        for _ in range(seconds):
            for part in range(rate):
                for beacon, mean in enumerate(LEVELS[place]):
                    when = at * 1_000_000 + part * 1_000_000 // rate + beacon * 20_000 + 1
                    yield when, report(address(beacon + 1), ibeacon(1, beacon), round(chance.gauss(mean, 1)))
            at += 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A survey of three places, its map, and a walk over them."""
    folder = tmp_path_factory.mktemp("traps")
    for place, (x, y) in SPOTS.items():
        recording(folder / "stay.btsnoop", list(packets_of(place)))
        pharos.checked("map", "record", "survey.jsonl", "--place", place, "--position", f"{x},{y}", "--seconds", "12",
                       "--from", "stay.btsnoop", cwd=folder)
    pharos.checked("map", "fit", "survey.jsonl", "--algorithm", "gauss", "--output", "map.json", cwd=folder)
    recording(folder / "walk.btsnoop", list(packets_of("ABC")))
    return folder


def located(folder, packets, *options):
    tape = recording(folder / "changed.btsnoop", packets)
    return pharos.checked("locate", folder / "map.json", "--from", tape, "--json", *options).lines()


@pytest.mark.parametrize("algorithm", ["nn", "wknn", "gauss", "bhattacharyya"])
def test_an_adapter_that_reports_twice_changes_nothing(folder, algorithm):
    walk = list(packets_of("ABC"))
    twice = [(at + more, octets) for at, octets in walk for more in (0, 7)]
    once, again = located(folder, walk, "--algorithm", algorithm), located(folder, twice, "--algorithm", algorithm)
    assert once == again and [line["place"] for line in once[8::12]] == list("ABC")


def test_an_adapter_that_reports_once_a_second_is_located(folder):
    lines = located(folder, list(packets_of("ABC", rate=1)), "--algorithm", "gauss")
    assert [line["place"] for line in lines[8::12]] == list("ABC") and "none" not in {line["state"] for line in lines}


@pytest.mark.parametrize("step", [-3600, -2, 5, 3600])
def test_a_clock_that_is_set_while_recording_moves_nobody(folder, step):
    stepped = [(at + (step * 1_000_000 if at >= 18_000_000 else 0), octets) for at, octets in packets_of("ABC")]
    lines = located(folder, stepped, "--algorithm", "gauss")
    times = [line["time"] for line in lines]
    assert times == sorted(set(times)) and len(lines) <= 48
    assert lines[8]["place"] == "A" and lines[-1]["place"] == "C"


@pytest.mark.parametrize("level", [0, 21, 127])
def test_a_packet_whose_level_is_none_changes_nothing(folder, tmp_path, level):
    """127 stands for "not available", 0 for "unknown"; more than 20 dBm no receiver says."""
    walk = list(packets_of("ABC"))
    more = [(at + 9_000, report(address(number + 1), ibeacon(1, number), level))
            for at, _ in walk[::4] for number in range(4)]
    packets = sorted(walk + more, key=lambda packet: packet[0])
    assert located(folder, packets, "--algorithm", "gauss") == located(folder, walk, "--algorithm", "gauss")
    for name, tape in ("plain", walk), ("more", packets):
        pharos.checked("map", "record", tmp_path / name, "--position", "0,0", "--session", "may", "--from",
                       recording(tmp_path / "stay.btsnoop", tape))
    assert (tmp_path / "more").read_text() == (tmp_path / "plain").read_text()


@pytest.mark.parametrize("value", ["100", "0", "-1", "-200", "127", "nan"])
def test_a_number_for_absence_is_none_where_that_is_said(tmp_path, value):
    table = f"place,x,y,a,b\nA,0,0,-50,{value}\nB,1,0,{value},-60\n"
    told = pharos.checked("map", "import", "-", "--absent", value, stdin=table)
    assert told.err == "" and [json.loads(line)["rssi"] for line in told.out.splitlines() if '"t"' in line] == [
        {"a": [-50]}, {"b": [-60]}]


@pytest.mark.parametrize("algorithm", ["gauss", "field", "hmm"])
def test_a_receiver_that_hears_less_is_found_all_the_same(folder, algorithm):
    """Another phone, or one in a pocket."""
    walk = [(at, octets[:-1] + bytes([(octets[-1] - 9) & 255])) for at, octets in packets_of("ABC")]
    lines = located(folder, walk, "--algorithm", algorithm)
    assert [line["place"] for line in lines[8::12]] == list("ABC")
    assert all(-12 <= line["receiverOffsetDb"] <= -6 for line in lines[8:])
    for offset in "-9", "0":
        told = located(folder, walk, "--algorithm", algorithm, "--receiver-offset", offset)
        assert {line["receiverOffsetDb"] for line in told} == {int(offset)}


@pytest.mark.parametrize("algorithm", ["gauss", "field", "hmm"])
def test_a_building_full_of_people_is_no_other_building(folder, algorithm):
    """Each beacon is shaded by others, and every second packet is lost, since the survey was made in the empty one."""
    chance, walk = random.Random(2), []
    shade = {(place, beacon): chance.randrange(2, 9) for place in "ABC" for beacon in range(4)}
    for number, (at, octets) in enumerate(packets_of("ABC", seconds=20)):
        place, beacon = "ABC"[number // 320], octets[7] - 1
        if chance.random() < 0.5:
            walk.append((at, octets[:-1] + bytes([(octets[-1] - shade[place, beacon]) & 255])))
    lines = located(folder, walk, "--algorithm", algorithm)
    settled = [(line["place"], "ABC"[line["time"] // 20]) for line in lines if line["time"] % 20 >= 5]
    assert len(settled) == 45 and sum(found == place for found, place in settled) >= 43, settled
    assert "none" not in {line["state"] for line in lines}


@pytest.mark.parametrize("algorithm", ["gauss", "field", "hmm"])
def test_where_all_places_are_alike_an_answer_is_poor(tmp_path, algorithm):
    chance, rows = random.Random(6), ['{"survey":1}']
    for number in range(8):
        rows.append(json.dumps({"stay": number, "place": f"P{number}", "position": [3 * number, 0]}))
        for second in range(10):
            rows.append(json.dumps({"t": second, "rssi": {f"b{n}": [round(chance.gauss(-70, 3))] for n in range(5)}}))
    (tmp_path / "s.jsonl").write_text("\n".join(rows) + "\n")
    pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", algorithm, "--output", tmp_path / "map.json")
    run = "".join(json.dumps({"t": at, "rssi": {f"b{n}": [-70] for n in range(5)}}) + "\n" for at in range(6))
    lines = pharos.checked("locate", tmp_path / "map.json", "--from", "-", "--json", stdin=run).lines()
    assert {line["state"] for line in lines} == {"poor"} and {line["used"] for line in lines} == {5}
    assert all(line["region95"]["radiusM"] > 21 / 4 for line in lines)


@pytest.mark.parametrize("algorithm", ["gauss", "field", "bhattacharyya", "nn"])
def test_one_level_that_was_never_seen_kills_no_place(folder, algorithm):
    run = [{f"ibeacon:{UUID}-1-{beacon}": [level] for beacon, level in enumerate(LEVELS["A"])} for _ in range(5)]
    run.append({**run[0], f"ibeacon:{UUID}-1-2": [-71]})
    text = "".join(json.dumps({"t": at, "rssi": heard}) + "\n" for at, heard in enumerate(run))
    lines = pharos.checked("locate", folder / "map.json", "--from", "-", "--algorithm", algorithm, "--json",
                           stdin=text).lines()
    assert lines[-1]["place"] == "A"


def test_many_weak_beacons_do_not_underflow(tmp_path):
    chance, rows = random.Random(1), ['{"survey":1}']
    for number in range(6):
        rows.append(json.dumps({"stay": number, "place": f"P{number}", "position": [5 * number, 0]}))
        for second in range(8):
            heard = {f"b{n}": [round(-90 + 3 * ((n + number) % 6) + chance.gauss(0, 1))] for n in range(120)}
            rows.append(json.dumps({"t": second, "rssi": heard}))
    (tmp_path / "s.jsonl").write_text("\n".join(rows) + "\n")
    pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", "gauss", "--output", tmp_path / "map.json")
    for offset in ("0", "auto"):
        lines = pharos.checked("locate", tmp_path / "map.json", "--from", tmp_path / "s.jsonl", "--json",
                               "--receiver-offset", offset, "--scores").lines()
        assert [line["place"] for line in lines[7::8]] == [f"P{number}" for number in range(6)]
        assert all(isinstance(score, int | float) for line in lines for score in line["scores"].values())
        assert all(0 < line["probability"] <= 1 for line in lines)


def test_a_floor_that_the_map_does_not_know_is_said(folder, tmp_path):
    text = (folder / "survey.jsonl").read_text().replace('"place"', '"floor":"cellar","place"')
    (tmp_path / "cellar.jsonl").write_text(text)
    result = pharos.checked("map", "evaluate", folder / "map.json", "--test", tmp_path / "cellar.jsonl", "--json")
    assert "the map has no floor cellar" in result.err and result.lines()[0]["floorRate"] == 0


def test_a_floor_that_the_site_does_not_know_is_said(folder, tmp_path):
    (tmp_path / "site.json").write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [9, 0], [9, 9]], "target": {"detectWithinS": 5,
        "probability": 0.9}, "beacons": {"fleet": "fleet.json", "floor": "ground"}}))
    for floor, is_known in ("cellar", False), ("ground", True):
        told = pharos.checked("map", "record", tmp_path / "s.jsonl", "--position", "1,1", "--floor", floor, "--site",
                              tmp_path / "site.json", "--seconds", "5", "--from", folder / "walk.btsnoop")
        assert ("not cellar" in told.err) == (not is_known)


def test_one_name_at_two_places_and_a_place_without_a_position(folder, tmp_path):
    text = (folder / "survey.jsonl").read_text()
    text = text.replace('"place":"B"', '"place":"A"').replace('"place":"C","position":[8,0]', '"place":"C"')
    (tmp_path / "s.jsonl").write_text(text)
    made = pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", "gauss", "--output", tmp_path / "m.json")
    assert "another position than before" in made.err
    lines = pharos.checked("locate", tmp_path / "m.json", "--from", folder / "walk.btsnoop", "--json").lines()
    assert [line["place"] for line in lines[8::12]] == ["A", "A (2)", "C"]
    assert [line["position"] is None for line in lines[8::12]] == [False, False, True]


def test_devices_of_one_identity_are_surveyed_apart(folder, tmp_path):
    walk = list(packets_of("A"))
    twin = [(at + 3, report(address(9), ibeacon(1, 0), -80)) for at, octets in walk if octets[7] == 1]
    recording(tmp_path / "twin.btsnoop", sorted(walk + twin, key=lambda packet: packet[0]))
    result = pharos.checked("map", "record", tmp_path / "s.jsonl", "--position", "0,0", "--seconds", "12", "--from",
                            tmp_path / "twin.btsnoop")
    assert "is sent by several devices at once" in result.err
    seconds = [json.loads(line)["rssi"] for line in (tmp_path / "s.jsonl").read_text().splitlines() if '"t"' in line]
    assert {key for key in seconds[-1] if "@" in key} == {
        f"ibeacon:{UUID}-1-0@{address(number)}" for number in (1, 9)}
    check = pharos.run("map", "check", tmp_path / "s.jsonl", "--json").lines()[0]
    assert any("is shared by several devices: 2 are distinguished" in each["message"] for each in check["problems"])


TABLE = "session,place,x,y,floor,heading,time,beacon,rssi\n{}\nmay,A,0,0,,,1,a,-60\n"


@pytest.mark.parametrize("row, said", [
    ("may,A,0,0,,,0,a,nan", "not a level"), ("may,A,0,0,,,0,a,inf", "not a level"),
    ("may,A,nan,0,,,0,a,-50", "not a number"), ("may,A,1e999,0,,,0,a,-50", "not a number"),
    ("may,A,0,0,,,soon,a,-50", "not a time"), ("may,A,0,0,,north,0,a,-50", "not a number"),
    ("may,A,9e9,0,,,0,a,-50", "farther"),
])
def test_a_row_that_cannot_be_read_refuses_the_table(tmp_path, row, said):
    result = pharos.run("map", "import", "-", stdin=TABLE.format(row))
    assert result.code == 65 and said in result.err and "standard input:2:1" in result.err and result.out == ""


@pytest.mark.parametrize("level", ["127", "0", "-128"])
def test_a_level_that_means_unknown_loses_its_row_only(tmp_path, level):
    result = pharos.checked("map", "import", "-", stdin=TABLE.format(f"may,A,0,0,,,0,a,{level}"))
    assert level in result.err and [json.loads(line)["rssi"]["a"] for line in result.out.splitlines()
                                   if '"a"' in line] == [[-60]]


def surveyed(path, sessions, noise=6, quiet="C"):
    """Three places with two stays a session, at one of which two beacons of five are heard only now and then."""
    chance, lines = random.Random(4), ['{"survey":1}']
    for session in sessions:
        for place, (x, y) in SPOTS.items():
            for _ in range(2):
                lines.append(json.dumps({"stay": len(lines), "place": place, "position": [x, y], "session": session,
                                         "heading": 90}))
                for second in range(8):
                    levels = (*LEVELS[place], -65)
                    heard = {f"b{n}": [round(chance.gauss(level, noise))] for n, level in enumerate(levels)
                             if place != quiet or n > 1 or second == n}
                    lines.append(json.dumps({"t": second, "rssi": heard}))
    path.write_text("\n".join(lines) + "\n")


def test_what_would_help_most_is_told(tmp_path):
    surveyed(tmp_path / "s.jsonl", ["may", "june"])
    said = pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", "gauss", "--output", tmp_path / "m.json",
                          "--json").lines()[0]
    by_place = {row["place"]: row["meanErrorM"] for row in said["evaluation"]["byPlace"]}
    beacon, *stays = said["advice"]
    assert beacon == {"kind": "beacon", "place": "C", "reason": "only 3 beacons are received in half of the seconds"}
    worst = sorted((place for place in by_place if by_place[place]), key=lambda place: (-by_place[place], place))
    assert [stay["place"] for stay in stays] == worst and worst
    for stay in stays:
        assert stay["kind"] == "stay" and stay["reason"].endswith("; only one heading was recorded"), stay
    fit = pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", "gauss", "--output", tmp_path / "m.json")
    assert "one more beacon would help at C: only 3 beacons are received in half of the seconds\n" in fit.out
    # Where nothing is wrong, nothing helps.
    surveyed(tmp_path / "s.jsonl", ["may", "june"], noise=0, quiet=None)
    fit = pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", "gauss", "--output", tmp_path / "m.json")
    assert "would help" not in fit.out


def test_numbers_that_flatter_say_so(tmp_path):
    for sessions in ["may"], ["may", "june"]:
        surveyed(tmp_path / "s.jsonl", sessions)
        fit = pharos.checked("map", "fit", tmp_path / "s.jsonl", "--algorithm", "gauss", "--output", tmp_path / "m")
        assert ("one session only: expect larger errors on another day" in fit.out) == (len(sessions) == 1)
        told = pharos.checked("map", "evaluate", tmp_path / "s.jsonl", "--leave", "visit", "--algorithm", "nn")
        assert ("leaving out a visit removes its place from the map" in told.err) == (len(sessions) == 1)
        single = pharos.checked("map", "evaluate", tmp_path / "s.jsonl", "--leave", "fingerprint", "--algorithm", "nn")
        assert "--leave fingerprint: vectors of one stay are nearly identical" in single.err
        assert "identical" not in told.err


def test_a_wrong_floor_costs_the_penalty_that_was_asked_for(folder, tmp_path):
    walk = [{"survey": 1}, {"stay": 1, "position": [0, 0], "floor": "cellar"}]
    walk += [{"t": second, "rssi": {f"ibeacon:{UUID}-1-{n}": [level] for n, level in enumerate(LEVELS["A"])}}
             for second in range(4)]
    (tmp_path / "w.jsonl").write_text("".join(json.dumps(line) + "\n" for line in walk))
    means = [pharos.checked("map", "evaluate", folder / "map.json", "--test", tmp_path / "w.jsonl", "--json",
                            "--floor-penalty-m", str(metres)).lines()[0]["errorM"]["mean"] for metres in (0, 4.5, 15)]
    assert [mean - means[0] for mean in means[1:]] == pytest.approx([4.5, 15], abs=2e-3)
