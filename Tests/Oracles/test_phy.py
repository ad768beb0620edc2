"""Extended advertising: what the program sends and receives, and what it plans against the independent Monte Carlo."""
import json
import random
import struct

import pytest

import airtime_montecarlo as air
import pharos
from test_scan import recording

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"


def profile(tmp_path, *advertisements, name="hall", **more):
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps({"version": 1, "name": name, "advertisements": list(advertisements), **more}))
    return path


def ibeacon(**more):
    return {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": 2, "intervalMs": 200, "measuredPowerDbm": -59, **more}


def long(octets, **more):
    """A row of manufacturer data with so many bytes in all."""
    structures = []
    while octets:
        part = min(octets, 200 if octets - 200 != 1 else 199)
        structures.append({"type": "0xFF", "data": "ff" * (part - 2)})
        octets -= part
    return {"type": "raw", "structures": structures, "intervalMs": 500, **more}


def dry_run(path, like):
    return pharos.run("advertise", path, "--adapter", "virtual", "--like", like, "--dry-run")


@pytest.mark.parametrize("phy,opcode,end", [
    ("1M", "36 20 19", "01 00 01 00 00"), ("2M", "36 20 19", "01 00 02 00 00"), ("coded", "36 20 19", "03 00 03 00 00"),
    ("coded-s2", "7f 20 1b", "03 00 03 00 00 03 03"), ("coded-s8", "7f 20 1b", "03 00 03 00 00 04 04")])
def test_the_commands_of_each_phy(tmp_path, phy, opcode, end):
    done = dry_run(profile(tmp_path, ibeacon(phy=phy)), "zephyr")
    assert done.code == 0, done.err
    commands = [line for line in done.out.lower().splitlines() if opcode in line]
    assert commands and all(end in line for line in commands), done.out


def test_long_data_is_sent_in_fragments(tmp_path):
    done = dry_run(profile(tmp_path, long(1650, phy="1M")), "intel")
    assert done.code == 0, done.err
    assert [done.out.count(word) for word in ("first fragment", "intermediate fragment", "last fragment")] == [1, 5, 1]


@pytest.mark.parametrize("phy,like,words", [
    ("1M", "raspberry-pi", "no extended advertising"), ("coded", "core-4", "Raspberry Pi"),
    ("coded-s8", "intel", "write coded")])
def test_controllers_that_cannot_are_named(tmp_path, phy, like, words):
    done = dry_run(profile(tmp_path, ibeacon(phy=phy)), like)
    assert done.code == 78 and words in done.err, done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("advertisement,words", [
    (ibeacon(phy="3M"), "1M"), (ibeacon(phy="1M", pdu="scannable"), "no data of its own"),
    (long(1650, phy="coded", intervalMs=100), "longer than the interval"), (long(300), '"phy": "1M"'),
    (long(246, phy="1M", pdu="connectable"), "245"), (long(1651, phy="1M"), "1650")])
def test_what_no_controller_may_send_is_refused_at_its_place(tmp_path, advertisement, words):
    path = profile(tmp_path, advertisement)
    done = pharos.run("profile", "check", path)
    assert done.code == 1 and words in done.err + done.out
    assert f"{path}:1:" in done.err + done.out


@pytest.mark.parametrize("phy", ["1M", "2M", "coded", "coded-s2", "coded-s8"])
def test_an_audit_finds_what_the_profile_says(tmp_path, phy):
    path = profile(tmp_path, ibeacon(phy=phy), long(600, phy=phy))
    done = pharos.run("audit", path, "--adapter", "virtual", "--duration-s", "6", "--json")
    answer = json.loads(done.out)
    assert done.code == 0, answer
    assert [each["verdicts"] for each in answer["advertisements"]] == [["ok"], ["ok"]]


def coded_report(octets, rssi):
    """An LE Extended Advertising Report on the LE Coded PHY, from a static random address, as an H4 packet."""
    body = struct.pack("<BBHB6sBBBbbHB6sB", 0x0D, 1, 0, 1, bytes.fromhex("010000005ec0"), 3, 3, 0, 127, rssi, 0, 0,
                       bytes(6), len(octets)) + octets
    return bytes([4, 0x3E, len(body)]) + body


@pytest.mark.parametrize("share, verdict", [(0.5, "ok"), (0.2, "weak")])
def test_a_recording_of_le_coded_is_audited_with_half_of_the_time(tmp_path, share, verdict):
    """A receiver listens to LE 1M in the other half of the time, so it misses half of the events of a good beacon."""
    path = profile(tmp_path, ibeacon(phy="coded"), address="C0:5E:00:00:00:01")
    octets, chance = pharos.encode("ibeacon", "--uuid", UUID, "--major", "1", "--minor", "2", "--measured-power-dbm",
                                   "-59"), random.Random(7)
    packets, at = [], 0
    while at < 120_000_000:
        if not packets or chance.random() < share:
            packets.append((at, coded_report(octets, round(chance.gauss(-60, 3)))))
        at += 200_000 + chance.randrange(10_000)
    done = pharos.run("audit", path, "--replay", recording(tmp_path / "coded.btsnoop", packets), "--json")
    advertisement, = json.loads(done.out)["advertisements"]
    assert advertisement["verdicts"] == [verdict], advertisement
    assert done.code == (0 if verdict == "ok" else 1)


def test_a_scan_receives_coded_only_if_it_is_asked_to(tmp_path):
    path = profile(tmp_path, ibeacon(phy="coded"), ibeacon(phy="2M", minor=3))
    found = {}
    for options in [(), ("--coded",)]:
        done = pharos.checked("scan", "--adapter", "virtual", "--known", path, "--duration-s", "3", "--json", *options)
        reports = [line for line in done.lines() if line["event"] == "report"]
        found[options] = {(each["frames"][0]["minor"], each["pdu"], each["phy"], each.get("secondaryPhy"))
                          for each in reports}
    assert found[()] == {(3, "ADV_EXT_IND", "LE 1M", "LE 2M")}
    assert found["--coded",] == {(3, "ADV_EXT_IND", "LE 1M", "LE 2M"), (2, "ADV_EXT_IND", "LE Coded", "LE Coded")}


def test_the_event_on_the_air_names_the_phy(tmp_path):
    path = profile(tmp_path, ibeacon(phy="coded"), ibeacon(minor=3))
    done = pharos.checked("advertise", path, "--adapter", "virtual", "--like", "intel", "--duration-s", "1", "--json")
    on_air = done.lines()[0]
    assert [each.get("phy") for each in on_air["advertisements"]] == ["coded", None]


def test_encode_and_decode_long_data():
    structures = [f"ff:{'aa' * 200}" for _ in range(3)]
    done = pharos.run("encode", "raw", "--structure", *structures)
    assert done.code == 64 and "--phy 1M" in done.err
    octets = pharos.encode("raw", "--structure", *structures, "--phy", "1M")
    assert octets == bytes([201, 0xFF] + [0xAA] * 200) * 3
    assert pharos.run("advertise", "raw", "--structure", *structures, "--dry-run", "--like", "intel").code == 64
    raw = ("advertise", "raw", "--structure", *structures, "--phy", "2M", "--dry-run", "--adapter", "virtual")
    assert pharos.run(*raw, "--like", "intel").code == 0


def test_a_fleet_says_which_machines_cannot(tmp_path):
    fleet = {"version": 1, "name": "f", "allocation": {"major": {"from": 1}},
             "template": {"version": 1, "name": "${name}", "advertisements": [
                 {"type": "raw", "intervalMs": 1000, "phy": "coded",
                  "structures": [{"type": "0xFF", "data": "ffff00112233"}]}]},
             "beacons": [{"name": "a", "controller": "raspberry-pi"}, {"name": "b", "controller": "extended"}]}
    del fleet["allocation"]
    path = tmp_path / "f.json"
    path.write_text(json.dumps(fleet))
    done = pharos.run("fleet", "check", path)
    assert done.code == 1
    faults = [line for line in (done.err + done.out).splitlines() if "no extended advertising" in line]
    assert len(faults) == 1 and "Raspberry Pi" in faults[0]


# MARK: Models

def plan(*arguments) -> dict:
    return json.loads(pharos.checked("plan", *arguments, "--json").out)


def agree(value, found, share=0.01):
    assert abs(value - found.mean) <= max(3 * found.error, share * found.mean), (value, found)


@pytest.mark.parametrize("phy,octets", [("1M", 31), ("2M", 245), ("coded", 31), ("coded-s2", 600), ("1M", 1650)])
def test_airtimes(phy, octets):
    found = plan("collisions", "--beacons", "2", "--interval-ms", "1000", "--phy", phy, "--payload-octets", octets)
    frame = found["advertisements"][0]
    primary, secondary = air.PHYS[phy]
    assert frame["phy"] == phy
    assert frame["airtimeMicroseconds"] == pytest.approx(1000 * air.packet(primary, 7))
    assert frame["auxiliaryAirtimeMicroseconds"] == pytest.approx(1000 * sum(air.auxiliary(secondary, octets)))


@pytest.mark.long
@pytest.mark.parametrize("beacons,interval,phy,octets", [
    (100, 100, "1M", 31), (250, 200, "2M", 200), (50, 500, "coded", 31), (40, 1000, "coded", 600),
    (60, 500, "coded-s2", 245), (200, 1000, "1M", 1650), (30, 2000, "coded-s8", 1650)])
def test_collisions(beacons, interval, phy, octets):
    found = air.extended_collisions(beacons, interval, phy, octets)
    answer = plan("collisions", "--beacons", beacons, "--interval-ms", interval, "--phy", phy,
                  "--payload-octets", octets)
    agree(answer["collisionFreeProbability"], found)


@pytest.mark.long
@pytest.mark.parametrize("beacons,interval,scanner,phy,octets,horizon,repetitions", [
    (1, 200, (512, 5120), "coded", 31, 10, 10_000), (50, 400, (1024, 4096), "coded", 31, 40, 2000),
    (60, 200, (512, 5120), "1M", 245, 25, 1200),
    (40, 1000, (4096, 4096), "coded-s2", 600, 20, 4000)])
def test_latency(beacons, interval, scanner, phy, octets, horizon, repetitions):
    """Means and the percentiles of one beacon within 1 %, percentiles among others within 2 %."""
    window, whole = scanner
    found = air.extended_latency(beacons, interval, air.Scanner(window, whole), phy, octets, horizon=horizon,
                                 repetitions=repetitions)
    answer = plan("latency", "--beacons", beacons, "--interval-ms", interval, "--phy", phy, "--payload-octets", octets,
                  "--scan-window-ms", window, "--scan-interval-ms", whole,
                  "--scanner-phy", "coded" if phy.startswith("coded") else "1M")["latencyS"]
    share = 0.01 if beacons == 1 else 0.02
    for value, simulated, limit in [(answer["mean"], found.mean, 0.01),
                                    *((answer[f"p{percent}"], simulated, share)
                                      for percent, simulated in found.percentiles.items())]:
        # The simulation is so exact that the limit decides, and not its error.
        assert 3 * simulated.error <= 1.05 * limit * simulated.mean, simulated
        agree(value, simulated, limit)


@pytest.mark.long
@pytest.mark.parametrize("beacons,interval,phy,octets", [(40, 1000, "coded-s2", 600), (50, 400, "coded", 31)])
def test_losses_of_auxiliary_packets_come_in_runs(beacons, interval, phy, octets):
    """Chains that overlap in time overlap again in the next event: the losses are not independent."""
    found = air.extended_collisions(beacons, interval, phy, octets)
    again = air.extended_loss_after_loss(beacons, interval, phy, octets)
    answer = plan("collisions", "--beacons", beacons, "--interval-ms", interval, "--phy", phy,
                  "--payload-octets", octets)
    agree(answer["lossAfterLossProbability"], again, 0.02)
    assert again.mean > 1.5 * (1 - found.mean)


@pytest.mark.parametrize("phy,options,words", [
    ("coded", ["--scanner", "android-low-power"], "legacy PDUs"), ("1M", ["--scanner", "linux"], "--scanner-phy 1M"),
    ("coded", ["--scanner", "linux", "--scanner-phy", "1M"], "does not receive LE Coded")])
def test_scanners_that_never_find_it_are_refused(phy, options, words):
    done = pharos.run("plan", "latency", "--beacons", "5", "--interval-ms", "500", "--phy", phy, *options)
    assert done.code == 64 and words in done.err and not done.out


@pytest.mark.parametrize("words", [
    ["interval", "--beacons", "5", "--detect-within-s", "10", "--probability", "0.9"],
    ["pattern", "--events-per-s", "1"], ["simulate", "latency", "--beacons", "5", "--interval-ms", "500"]])
def test_each_question_about_a_scanner_asks_for_its_phy(words):
    done = pharos.run("plan", *words, "--phy", "coded", "--scanner", "android-balanced")
    assert done.code == 64 and "--scanner-phy coded" in done.err and not done.out


@pytest.mark.long
@pytest.mark.parametrize("beacons,interval,phy,octets", [
    (100, 100, "1M", 31), (50, 500, "coded", 200), (60, 500, "2M", 1000), (30, 2000, "coded-s8", 1650)])
def test_simulated_collisions(beacons, interval, phy, octets):
    found = air.extended_collisions(beacons, interval, phy, octets)
    answer = plan("simulate", "collisions", "--beacons", beacons, "--interval-ms", interval, "--phy", phy,
                  "--payload-octets", octets, "--precision", "0.003")
    agree(answer["collisionFreeProbability"], found)
    agree(answer["model"]["collisionFreeProbability"], found)
    assert answer["lossAfterLossProbability"] == pytest.approx(answer["model"]["lossAfterLossProbability"], rel=0.1)
    assert answer["phy"] == phy


def test_simulated_background():
    """Other devices are as busy on all channels, so each packet is clear of them with (1 - 0.2)²."""
    words = ["collisions", "--interval-ms", "100", "--payload-octets", "600", "--phy", "1M", "--background-load", "0.2"]
    alone = plan(*words, "--beacons", "1")["collisionFreeProbability"]
    assert alone == pytest.approx(0.64 ** (1 + len(air.auxiliary("1M", 600))), rel=0.01)
    answer = plan("simulate", *words, "--beacons", "20", "--precision", "0.03")
    model = plan(*words, "--beacons", "20")["collisionFreeProbability"]
    assert model < alone
    assert answer["collisionFreeProbability"] == pytest.approx(model, rel=0.06)


@pytest.mark.long
@pytest.mark.parametrize("beacons,interval,scanner,phy,octets,horizon", [
    (50, 400, (1024, 4096), "coded", 31, 60), (60, 200, (512, 5120), "1M", 245, 60),
    (40, 1000, (4096, 4096), "coded-s2", 600, 40)])
def test_simulated_latency(beacons, interval, scanner, phy, octets, horizon):
    window, whole = scanner
    found = air.extended_latency(beacons, interval, air.Scanner(window, whole), phy, octets, horizon=horizon)
    answer = plan("simulate", "latency", "--beacons", beacons, "--interval-ms", interval, "--phy", phy,
                  "--payload-octets", octets, "--scan-window-ms", window, "--scan-interval-ms", whole,
                  "--scanner-phy", "coded" if phy.startswith("coded") else "1M")
    # The precision at which the simulation stops is that of 95 %.
    agree(answer["latencyS"]["p95"], found.percentiles[95], 0.02)
    for percent in (50, 90):
        low, high = answer["confidence95"]["latencyS"][f"p{percent}"]
        expected = found.percentiles[percent]
        assert low - 3 * expected.error <= expected.mean <= high + 3 * expected.error, (percent, low, high, expected)


@pytest.mark.long
@pytest.mark.parametrize("beacons,interval,phy,octets,threshold", [
    (150, 100, "1M", 31, 6), (60, 500, "coded", 200, 12), (80, 1000, "1M", 1650, 12)])
def test_capture(beacons, interval, phy, octets, threshold):
    words = ["--beacons", beacons, "--interval-ms", interval, "--phy", phy, "--payload-octets", octets, "--capture-db",
             threshold]
    answer = plan("collisions", *words)
    band, plain = answer["capture"], answer["collisionFreeProbability"]
    agree(band["fullCapture"], air.extended_capture(beacons, interval, phy, octets, threshold, 4.0))
    assert plain < band["stayingWithFirst"] < band["fullCapture"]
    # Weak interferers add up, so the simulation with sums of powers lies below the upper bound.
    played = plan("simulate", "collisions", *words, "--precision", "0.005")["collisionFreeProbability"]
    assert plain < played < band["fullCapture"] * 1.01


SEARCHES = [("coded", 31, "android-balanced", "20"), ("1M", 245, "android-low-power", "20"), ("2M", 1000, "linux", "3")]


@pytest.mark.parametrize("phy,octets,scanner,seconds", SEARCHES)
def test_the_advised_interval_reaches_its_target_and_longer_ones_miss_it(phy, octets, scanner, seconds):
    packets = ["--beacons", "40", "--phy", phy, "--payload-octets", octets, "--scanner", scanner, "--scanner-phy",
               "coded" if phy == "coded" else "1M"]
    advised = plan("interval", "--detect-within-s", seconds, "--probability", "0.9", *packets)
    assert advised["outcome"] == "met" and advised["phy"] == phy

    def asked(interval):
        return plan("latency", "--interval-ms", interval, "--undiscovered-after-s", seconds, *packets)

    same = asked(advised["intervalMs"])
    assert same["undiscoveredAfterS"][seconds] <= 0.1 + 1e-6
    assert same["collisionFreeProbability"] == pytest.approx(advised["collisionFreeProbability"])
    assert same["latencyS"]["p90"] == pytest.approx(advised["latencyS"]["p90"], rel=1e-3)
    longer = [round(advised["intervalMs"] * factor / 0.625) * 0.625 for factor in (1.03, 1.06, 1.1)]
    assert max(asked(interval)["undiscoveredAfterS"][seconds] for interval in longer) > 0.1


def test_the_most_packets_arrive_at_one_window_for_each_beacon():
    """An event is destroyed by those within 2·136 µs, or 2·(408 - 136) µs more on one channel of 37."""
    answer = plan("interval", "--beacons", "5000", "--max-throughput", "--phy", "1M")
    assert answer["intervalMs"] == pytest.approx(5000 * (0.272 + 0.544 / 37) - 5, abs=0.4)
    # No interval is shorter than the events.
    long = plan("interval", "--beacons", "2", "--max-throughput", "--phy", "coded", "--payload-octets", "1650")
    event = 2 * sum(air.auxiliary("S8", 1650))
    assert long["outcome"] == "clamped-to-shortest" and event < long["intervalMs"] < 1.1 * event
    assert "two events of one beacon could then hit the same event" in pharos.checked(
        "plan", "interval", "--beacons", "2", "--max-throughput", "--phy", "coded", "--payload-octets", "1650").out


def test_the_interval_of_a_fleet(tmp_path):
    def fleet(name, *phys):
        rows = [{"type": "raw", "intervalMs": 1000, "structures": [{"type": "0xFF", "data": "ffff00112233"}],
                 **({"phy": phy} if phy else {})} for phy in phys]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({
            "version": 1, "name": name, "template": {"version": 1, "name": "${name}", "advertisements": rows},
            "beacons": [{"name": f"b{number}", "controller": "extended"} for number in range(20)]}))
        return path

    goal = ["--detect-within-s", "20", "--probability", "0.9", "--scanner", "android-balanced", "--scanner-phy",
            "coded"]
    answer = plan("interval", "--from-fleet", fleet("one", "coded"), *goal)
    alone = plan("interval", "--beacons", "20", "--phy", "coded", "--payload-octets", "8", *goal)
    assert (answer["phy"], answer["intervalMs"]) == ("coded", alone["intervalMs"])
    # The same advertisement twice: the second one keeps its interval, and destroys packets of the others.
    more = plan("interval", "--from-fleet", fleet("two", "coded", "coded"), *goal)
    assert more["collisionFreeProbability"] < answer["collisionFreeProbability"]


def test_a_fleet_on_several_phys_has_no_common_interval(tmp_path):
    row = {"type": "raw", "intervalMs": 1000, "phy": "${phy}", "structures": [{"type": "0xFF", "data": "ffff0011"}]}
    path = tmp_path / "f.json"
    path.write_text(json.dumps({
        "version": 1, "name": "f", "template": {"version": 1, "name": "${name}", "advertisements": [row]},
        "beacons": [{"name": phy, "controller": "extended", "variables": {"phy": phy}} for phy in ("1M", "2M")]}))
    done = pharos.run("plan", "interval", "--from-fleet", path, "--max-throughput")
    assert done.code == 64 and "LE 1M and LE 2M" in done.err and "use --phy" in done.err, done.err
    assert plan("interval", "--from-fleet", path, "--max-throughput", "--phy", "1M")["phy"] == "1M"


def test_the_best_pattern_has_the_latency_that_it_says():
    packets = ["--beacons", "30", "--phy", "coded", "--payload-octets", "100", "--scan-window-ms", "200",
               "--scan-interval-ms", "500", "--scanner-phy", "coded"]
    answer = plan("pattern", "--events-per-s", "1.9", *packets)
    assert answer["phy"] == "coded" and answer["patterns"]
    for pattern in answer["patterns"]:
        text = ",".join(f"{part['intervalMs']}:{part['forS']}" for part in pattern["parts"])
        again = plan("latency", "--pattern", text, *packets)
        assert again["latencyS"]["mean"] == pytest.approx(pattern["latencyS"]["mean"], rel=0.01)
        assert pattern["eventsPerS"] <= 1.9 * 1.001
    legacy = plan("pattern", "--events-per-s", "1.9", "--scan-window-ms", "200", "--scan-interval-ms", "500")
    # Among thirty beacons on LE Coded some events are lost, and longer packets fit into fewer windows.
    assert answer["single"]["latencyS"]["mean"] > legacy["single"]["latencyS"]["mean"]
    done = pharos.run("plan", "pattern", "--power-uw", "60", "--chip", "bl652-0dbm", *packets)
    assert done.code == 64 and "--events-per-s" in done.err


def test_energy_grows_with_the_airtime():
    life = {phy: plan("energy", "--interval-ms", "1000", "--chip", "nrf52832", "--battery", "cr2477", *phy)["lifeDays"]
            for phy in [(), ("--phy", "1M"), ("--phy", "2M"), ("--phy", "coded")]}
    # An extended event of 31 bytes has less airtime than three legacy packets: 816 and 1128 µs.
    assert life["--phy", "coded"] < life[()] < life["--phy", "1M"] < life["--phy", "2M"]
    done = pharos.run("plan", "energy", "--interval-ms", "1000", "--chip", "bl652-0dbm", "--battery", "cr2477",
                      "--phy", "coded")
    assert done.code == 64 and "--charge-uc" in done.err


# MARK: Wi-Fi

@pytest.mark.parametrize("background,clear", [
    ("wifi-1-6-11", 1), ("wifi-1-5-9-13:0.5", (1 + 0.25 + 0.25) / 3),
    ("37:0,38:0.1,39:0.05", (1 + 0.9**2 + 0.95**2) / 3)])
def test_background_by_channel(background, clear):
    answer = plan("collisions", "--beacons", "1", "--interval-ms", "100", "--background", background)
    assert answer["collisionFreeProbability"] == pytest.approx(clear)


def test_background_on_secondary_channels():
    one = ["collisions", "--beacons", "1", "--interval-ms", "100", "--phy", "1M", "--background"]
    # Nine of 37 channels lie in each of the three networks: 0...8 at 2404...2420 MHz, for one.
    inside = sum(abs(frequency - wifi) <= 9 for wifi in (2412, 2437, 2462)
                 for frequency in [*range(2404, 2426, 2), *range(2428, 2480, 2)])
    assert plan(*one, "wifi-1-6-11:0.5")["collisionFreeProbability"] == pytest.approx(1 - inside / 37 * 0.75)
    assert plan(*one, "data:0.2")["collisionFreeProbability"] == pytest.approx(0.64)


@pytest.mark.parametrize("options", [
    ["--background", "wifi-15"], ["--background", "40:0.1"], ["--background", "38:1"],
    ["--background", "wifi-1", "--background-load", "0.1"]])
def test_wrong_backgrounds(options):
    done = pharos.run("plan", "collisions", "--beacons", "1", "--interval-ms", "100", *options)
    assert done.code == 64 and "--background" in done.err


def test_background_of_a_site(tmp_path):
    site = {"version": 1, "name": "s", "outline": [[0, 0], [10, 0], [10, 10], [0, 10]],
            "beacons": [{"position": [5, 5], "intervalMs": 500}]}
    shares = {}
    for name, load in {"none": 0, "object": {"38": 0.5, "39": 0.1}, "number": 0.5}.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**site, "backgroundLoad": load}))
        shares[name] = json.loads(pharos.run("plan", "site", path, "--json").out)
    assert shares["none"] != shares["object"] != shares["number"]
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({**site, "backgroundLoad": {"40": 0.5}}))
    done = pharos.run("plan", "site", path)
    assert done.code != 0 and "40" in done.err
