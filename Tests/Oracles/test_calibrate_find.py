"""`pharos calibrate` and `pharos find`: recordings with known levels, checked by a second computation."""
import json
import math
import random
import signal
import statistics

import pytest

import peers
import pharos
from test_scan import UUID, address, ibeacon, recording, report

BEACON = f"ibeacon:{UUID}-1-7"
PROFILE = f"""{{
  "version": 1,
  "name": "desk",  "radioPowerDbm": 4,
  "advertisements": [
    {{ "type": "ibeacon", "uuid": "{UUID}", "major": 1, "minor": 7, "intervalMs": 100 }}  ]
}}
"""


def trimmed(levels, share=0.1):
    cut = int(len(levels) * share)
    return statistics.fmean(sorted(levels)[cut:len(levels) - cut])


def quarters(folder, means, seconds=60, chance=None, rate=10, extra=()):
    """A beacon that is turned while it is recorded: one mean a heading."""
    chance = chance or random.Random(1)
    packets, levels = [], [[] for _ in means]
    for number in range(seconds * rate):
        heading = number * len(means) // (seconds * rate)
        level = round(chance.gauss(means[heading], 2) + chance.choice((-3, 0, 3)))
        levels[heading].append(level)
        packets.append((number * 1_000_000 // rate, report(address(1), ibeacon(1, 7), level)))
    # The recording ends with its last packet, wherever that came from.
    packets += [*extra, (seconds * 1_000_000, report(address(9), b"\2\1\6", -90))]
    return recording(folder / "turn.btsnoop", sorted(packets, key=lambda packet: packet[0])), levels


def test_the_mean_is_that_of_headings(tmp_path):
    path, levels = quarters(tmp_path, [-50, -54, -52, -53])
    answer = json.loads(pharos.checked("calibrate", "--beacon", BEACON, "--replay", path, "--turn", "--json").out)
    means = [trimmed(each) for each in levels]
    assert [each["heading"] for each in answer["headings"]] == [0, 90, 180, 270]
    assert [each["dBm"] for each in answer["headings"]] == pytest.approx(means, abs=0.25)
    assert answer["measuredPowerAt1mDbm"] == pytest.approx(statistics.fmean(means), abs=0.1)
    assert answer["measuredPowerAt0mDbm"] == pytest.approx(answer["measuredPowerAt1mDbm"] + 41, abs=0.0011)
    assert answer["standardErrorDb"] == pytest.approx(statistics.stdev(means) / 2, abs=0.1)
    assert answer["packets"] == 600 and answer["estimator"] == "trimmed mean, 10 %"
    assert answer["exponent"] is None and answer["channels"] == [] and answer["warnings"] == []
    text = pharos.checked("calibrate", "--strongest", "--replay", path, "--turn").out
    assert "dBm at 1 m" in text and "heading 270°" in text and str(path) in text


def test_of_equally_strong_beacons_the_same_is_measured_each_time(tmp_path):
    """The one with most packets, then the first by name; that there is another one is said."""
    def packets(*counts):
        return sorted((at * 100_000 + minor, report(address(minor), ibeacon(1, minor), -50 - at % 2))
                      for minor, count in zip((9, 8, 7), counts, strict=True) for at in range(count))

    tie = "is equally strong (-50.5 dBm): name the beacon with --beacon"
    for counts, measured, others in (((300, 300, 300), 7, "-8 and 1 more"), ((300, 400, 200), 8, "-7 and 1 more")):
        path = recording(tmp_path / "three.btsnoop", packets(*counts))
        for _ in range(6):
            result = pharos.checked("calibrate", "--strongest", "--replay", path, "--json")
            answer = json.loads(result.out)
            assert f"-1-{measured} was measured, but " in result.err and f"{others} {tie}" in result.err
            assert any(tie in warning for warning in answer["warnings"])
    alone = recording(tmp_path / "alone.btsnoop", packets(300, 0, 0))
    assert "equally strong" not in pharos.checked("calibrate", "--strongest", "--replay", alone).err


def test_packets_without_a_level_are_told(tmp_path):
    packets = [(number * 100_000, report(address(1), ibeacon(1, 7), 127)) for number in range(300)]
    path = recording(tmp_path / "silent.btsnoop", packets)
    for beacon in (("--beacon", BEACON), ("--strongest",)):
        result = pharos.run("calibrate", *beacon, "--replay", path)
        assert result.code == 75 and "0 packets were received with a level and 300 without one" in result.err
    short = recording(tmp_path / "short.btsnoop", [
        (number * 100_000, report(address(1), ibeacon(1, 7), -50)) for number in range(15)])
    result = pharos.run("calibrate", "--strongest", "--replay", short)
    assert result.code == 75 and "15 packets were received" in result.err


def test_the_value_is_written_into_the_profile_and_nothing_else_changes(tmp_path):
    path, _ = quarters(tmp_path, [-50, -54, -52, -53])
    profile = tmp_path / "desk.json"
    profile.write_text(PROFILE)
    assert pharos.run("profile", "check", profile).code == 1
    options = ["calibrate", "--beacon", BEACON, "--replay", path, "--turn", "--write", profile]
    out = pharos.checked(*options).out
    assert "calibration 4 is -52 dBm now" in out
    text = profile.read_text()
    written = f'\n  "calibration": {{ "4": -52, "receiver": {json.dumps(str(path))} }},'
    assert text == PROFILE.replace("{", "{" + written, 1)
    assert pharos.run("profile", "check", profile).code == 0
    shown = json.loads(pharos.checked("profile", "show", profile).out)
    assert shown["calibration"] == {"4": -52, "receiver": str(path)}
    # Again, and with what a person has written there.
    profile.write_text(text.replace("-52", "-70"))
    pharos.checked(*options)
    assert profile.read_text() == text
    own = '"calibration": {"0": -59, "default": -60}, "advertisements"'
    profile.write_text(PROFILE.replace('"advertisements"', own))
    pharos.checked(*options)
    assert json.loads(profile.read_text())["calibration"] == {
        "receiver": str(path), "4": -52, "0": -59, "default": -60}
    assert pharos.run("profile", "check", profile).code == 0
    profile.write_text(profile.read_text().replace('"radioPowerDbm": 4,', ""))
    assert "calibration default is -52" in pharos.checked(*options).out


def test_what_was_measured_is_told_where_the_profile_cannot_be_written(tmp_path):
    path, _ = quarters(tmp_path, [-50, -54, -52, -53])
    # A stream is read, and nothing takes its place.
    result = pharos.run("calibrate", "--beacon", BEACON, "--replay", path, "--turn", "--write", "/dev/stdin",
                        stdin=PROFILE)
    assert result.code == 71 and "/dev/stdin: " in result.err and "-52" in result.out
    assert "calibration 4 is" not in result.out


def test_several_distances_fit_power_and_exponent(tmp_path):
    means = [-60 - 22 * math.log10(meters) for meters in (1, 2, 4) for _ in range(2)]
    path, _ = quarters(tmp_path, means, seconds=90)
    distances = [word for meters in (1, 2, 4) for word in ("--distance-m", meters)]
    answer = json.loads(pharos.checked("calibrate", "--beacon", BEACON, "--replay", path, "--headings", "2",
                                       "--seconds", "30", *distances, "--json").out)
    assert answer["measuredPowerAt1mDbm"] == pytest.approx(-60, abs=0.7)
    assert answer["exponent"] == pytest.approx(2.2, abs=0.2)
    assert answer["exponentLow"] < 2.2 < answer["exponentHigh"]


def test_too_little_and_the_wrong_distance_are_refused(tmp_path):
    path, _ = quarters(tmp_path, [-50, -54, -52, -53], rate=1)
    few = pharos.run("calibrate", "--beacon", BEACON, "--replay", path, "--turn")
    assert few.code == 75 and "60 packets were received" in few.err
    none = pharos.run("calibrate", "--beacon", f"ibeacon:{UUID}-9-9", "--replay", path)
    assert none.code == 75 and "0 packets" in none.err
    for options in (["--distance-m", "2"], [], ["--strongest", "--turn", "--headings", "4"], ["--write", path],
                    ["--headings", "1"], ["--path-loss-exponent", "9"], ["--distance-m", "0"]):
        beacon = [] if options == [] else ["--beacon", BEACON]
        assert pharos.run("calibrate", *beacon, "--replay", path, *options).code == 64, options
    assert pharos.run("calibrate", "--beacon", "nobody", "--replay", path).code == 64


def test_warnings(tmp_path):
    chance = random.Random(3)
    twin = [(at * 250_000 + 7, report(address(2), ibeacon(1, 7), round(chance.gauss(-55, 2)))) for at in range(240)]
    path, _ = quarters(tmp_path, [-40, -60, -58, -57], extra=twin)
    result = pharos.checked("calibrate", "--beacon", BEACON, "--replay", path, "--turn", "--radio-power-dbm", "-38")
    for part in ("the headings differ by", "a second beacon", "above the -38 dBm"):
        assert part in result.err, result.err
    assert "one heading is not enough for a calibration" in pharos.checked(
        "calibrate", "--beacon", BEACON, "--replay", path).err


# ---- find
def walk(folder, levels):
    """One level a second, ten packets each."""
    chance = random.Random(2)
    packets = [(second * 1_000_000 + 100_000 * n, report(address(1), ibeacon(1, 7), round(chance.gauss(level, 3))))
               for second, level in enumerate(levels) if level for n in range(10)]
    packets.append((len(levels) * 1_000_000, report(address(9), b"\2\1\6", -90)))
    return recording(folder / "walk.btsnoop", packets)


def test_find_says_warmer_and_ends_before_the_beacon(tmp_path):
    path = walk(tmp_path, [-85] * 6 + [-72] * 6 + [-60] * 6 + [-43] * 6)
    lines = pharos.checked("find", BEACON, "--replay", path, "--json").lines()
    advice = [line["advice"] for line in lines]
    assert advice[-1] == "arrived" and advice.count("arrived") == 1
    assert advice.count("warmer") >= 2 and "colder" not in advice[:40]
    assert len(lines) < 48
    for line in lines[4:]:
        assert line["distanceLowM"] < line["distanceM"] < line["distanceHighM"]
        assert line["distanceM"] == pytest.approx(10 ** ((-59 - line["rssiDbm"]) / 20), rel=0.01)
    text = pharos.checked("find", BEACON, "--replay", path).out
    assert "warmer" in text and text.splitlines()[-1].find("you have reached it") > 0


def test_find_says_why_there_is_no_distance(tmp_path):
    packets = [(at * 100_000, report(address(1), ibeacon(1, 7, -3), -70)) for at in range(50)]
    path = recording(tmp_path / "power.btsnoop", packets)
    result = pharos.checked("find", BEACON, "--replay", path, "--json")
    assert result.err.count("its distance is unknown, because its measured power of -3 dBm is outside -100 to -20") == 1
    assert {line["distanceM"] for line in result.lines()} == {None}


def test_find_tells_silence(tmp_path):
    path = walk(tmp_path, [-70] * 6 + [None] * 6 + [-70] * 3)
    lines = pharos.checked("find", BEACON, "--replay", path, "--json").lines()
    silent = [line for line in lines if line["advice"] == "silent"]
    assert len(silent) >= 7 and all(line["silentS"] >= 1.5 and line["rssiDbm"] is None for line in silent)
    assert silent[-1]["bestRssiDbm"] == pytest.approx(-69, abs=2)
    assert lines[-1]["advice"] != "silent"


def test_find_what_is_not_there(tmp_path):
    path = walk(tmp_path, [-70] * 3)
    assert pharos.run("find", f"ibeacon:{UUID}-9-9", "--replay", path).code == 75
    assert pharos.run("find", "nobody", "--replay", path).code == 64
    assert pharos.run("find", BEACON, "--replay", path, "--turn").code == 64
    assert pharos.run("find", BEACON, "--replay", path, "--duration-s", "1").code == 64
    assert pharos.run("find", BEACON, "--strongest", "--replay", path).code == 64
    assert pharos.run("find", UUID, "--replay", "-").code == 64


def test_find_says_that_a_recording_is_too_short(tmp_path):
    packets = [(at * 100_000, report(address(1), ibeacon(1, 7), -70)) for at in range(5)]
    path = recording(tmp_path / "short.btsnoop", packets)
    for words in ((BEACON,), ("--strongest",)):
        result = pharos.run("find", *words, "--replay", path)
        assert result.code == 75 and "received for less than 1 s, which is too short" in result.err


def test_both_on_the_virtual_air(tmp_path):
    sample = f"ibeacon:{UUID}-1-2"
    answer = pharos.run("calibrate", "--beacon", sample, "--adapter", "virtual", "--turn", "--seconds", "4", "--json")
    assert answer.code == 75 and "packets were received" in answer.err
    lines = pharos.checked("find", sample, "--adapter", "virtual", "--duration-s", "4", "--json").lines()
    assert lines[-1]["advice"] == "arrived", "the virtual air has 0.3 m"


def test_find_does_not_take_its_own_deafness_for_silence(start, tmp_path):
    """The controller goes away, so nothing is received any more: `find` must not tell the user to go back."""
    socket = tmp_path / "air"
    server = start(pharos.PROGRAM, "controller", "--listen", f"unix:{socket}")
    server.wait(lambda line: "listening" in str(line), 10)
    finding = start(pharos.PROGRAM, "find", f"ibeacon:{UUID}-1-8", "--json", "--adapter", f"unix:{socket}")
    finding.wait(lambda line: line["advice"] == "wait", 10)
    server.end()
    socket.unlink(missing_ok=True)
    deaf = finding.wait(lambda line: line["advice"] != "wait", 10)
    assert deaf["advice"] == "deaf" and deaf["silentS"] is None and deaf["rssiDbm"] is None


# ---- what people call a beacon
@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Two beacons of one UUID, the second nearer, one with a name, for 20 s."""
    packets = []
    for event in range(200):
        packets.append((100_000 * event, report(address(1), ibeacon(1, 7), -70)))
        packets.append((100_000 * event + 20_000, report(address(2), ibeacon(1, 8), -60)))
        if event % 5 == 0:
            packets.append((100_000 * event + 40_000, report(address(3), b"\2\1\6\6\x09Torch", -80)))
    return recording(tmp_path_factory.mktemp("crowd") / "crowd.btsnoop", packets)


@pytest.mark.parametrize(("words", "level"), [
    ([address(1)], -70), ([address(1).replace(":", "-").lower()], -70), ([address(1).replace(":", "")], -70),
    ([f"address:{address(1)}"], -70), ([f"{UUID}-1-7"], -70), ([UUID.replace("-", "").upper() + "-1-8"], -60),
    ([UUID, "--strongest"], -60), (["--strongest"], -60), (["Torch"], -80)])
def test_find_takes_what_people_have(crowd, words, level):
    lines = pharos.checked("find", *words, "--replay", crowd, "--json").lines()
    assert lines[-1]["event"] == "find" and lines[-1]["rssiDbm"] == level
    assert not any(line["advice"] in ("warmer", "colder") for line in lines)


def test_find_takes_a_profile(crowd, tmp_path):
    profile = tmp_path / "lobby.json"
    profile.write_text(json.dumps({"version": 1, "name": "lobby", "advertisements": [
        {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": 7, "intervalMs": 95, "measuredPowerDbm": -59}]}))
    line = pharos.checked("find", profile, "--replay", crowd, "--json").lines()[-1]
    assert (line["beacon"], line["rssiDbm"]) == ("lobby", -70)


def test_find_offers_a_list(crowd):
    rows = pharos.checked("find", "--replay", crowd).out.splitlines()
    assert [row.split()[1] for row in rows[1:]] == [
        f"ibeacon:{UUID}-1-8", f"ibeacon:{UUID}-1-7", f"address:{address(3)}"]
    assert '"Torch"' in rows[3]
    listed, = pharos.checked("find", "--replay", crowd, "--json").lines()
    assert [each["rssiDbm"] for each in listed["beacons"]] == [-60, -70, -80]
    several = pharos.run("find", UUID, "--replay", crowd)
    assert several.code == 64 and "2 beacons match" in several.err and f"{UUID}-1-7" in several.out
    unknown = pharos.run("find", "Lamp", "--replay", crowd)
    assert unknown.code == 64 and "no device sends it as its name" in unknown.err


# ---- groups of a listener file
@pytest.fixture
def museum(tmp_path):
    """A listener file with one beacon by its identity, all beacons of its UUID, and a device by its name."""
    path = tmp_path / "museum.json"
    path.write_text(json.dumps({"version": 1, "name": "museum", "known": [
        {"name": "door", "ibeacon": {"uuid": UUID, "major": 1, "minor": 8}},
        {"name": "gallery", "ibeacon": {"uuid": UUID}}, {"name": "lamp", "localName": "Torch"}]}))
    return path


@pytest.mark.parametrize("name, levels", [("gallery", {-70, -60}), ("door", {-60}), ("lamp", {-80})])
def test_find_takes_the_name_of_a_group_or_of_a_device(crowd, museum, name, levels):
    lines = pharos.checked("find", name, "--known", museum, "--replay", crowd, "--json").lines()
    assert {line["beacon"] for line in lines} == {name}
    assert min(levels) <= lines[-1]["rssiDbm"] <= max(levels)
    assert (min(levels) < lines[-1]["rssiDbm"] < max(levels)) == (len(levels) > 1)


@pytest.mark.parametrize("name, packets, dbm", [("gallery", 400, -65), ("door", 200, -60)])
def test_calibrate_takes_the_name_of_a_group(crowd, museum, name, packets, dbm):
    answer = json.loads(pharos.checked(
        "calibrate", "--beacon", name, "--known", museum, "--replay", crowd, "--json").out)
    assert answer["packets"] == packets
    assert answer["measuredPowerAt1mDbm"] == pytest.approx(dbm, abs=0.5)


# ---- prompts
SAMPLE = f"ibeacon:{UUID}-1-2"


@pytest.mark.parametrize("words, prompt", [
    (["find"], "number of the beacon"), (["find", SAMPLE, "--turn"], "Hold the receiver in front of you"),
    (["calibrate", "--beacon", SAMPLE, "--turn", "--seconds", "1"], "then press Enter"),
], ids=["list", "turn", "measure"])
def test_ctrl_c_at_a_prompt_ends_the_program_at_once(words, prompt):
    code, text, lasted = peers.on_terminal([(prompt, b"\x03")], pharos.PROGRAM, *words, "--adapter", "virtual")
    assert code == -signal.SIGINT and lasted < 2, (code, lasted, text)
