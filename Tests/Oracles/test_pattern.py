"""Patterns of intervals: latency, energy and the search, against a simulation of the link layer in numpy."""
import json

import numpy as np
import pytest

import pharos

#: Airtime of 31 bytes, and the time between two copies of an event, in ms.
TAU, SPACING = 0.376, 1.0
#: Window and interval in ms.
SCANNERS = {"android-low-power": (512, 5120), "android-balanced": (1024, 4096), "ios-find-my": (30, 300)}
PATTERNS = {
    "100:2,1000:8": [(100, 2000), (1000, 8000)],
    "50:1,760:9": [(50, 1000), (760, 9000)],
    "152.5:3,300:4,1285:20": [(152.5, 3000), (300, 4000), (1285, 20000)],
}


def plan(*words):
    result = pharos.run("plan", *words, "--json", timeout=600)
    assert result.code == 0, result.err
    return json.loads(result.out)


def part_events(generator, interval, duration, count):
    """Starts of the events of one part, from its beginning, for `count` beacons; infinite after its end."""
    number = int(duration / interval) + 1
    gaps = interval + generator.random((count, number)) * 10
    times = np.concatenate([np.zeros((count, 1)), np.cumsum(gaps, axis=1)], axis=1)
    times[times >= duration] = np.inf
    return times


def received(times, window, interval):
    """Whether a copy of an event lies wholly inside a window on its channel; time 0 is a window on channel 37."""
    result = np.zeros(times.shape, bool)
    finite = np.where(np.isfinite(times), times, 0)
    for channel in range(3):
        place = finite + channel * SPACING
        number = np.floor(place / interval)
        result |= (number % 3 == channel) & (place - number * interval + TAU <= window)
    return result & np.isfinite(times)


def discoveries(parts, window, interval, count, seed):
    """Times from a random instant to the first reception of one beacon, in ms."""
    generator = np.random.default_rng(seed)
    cycle = sum(duration for _, duration in parts)
    # Both phases are stratified: fewer rounds give the same precision.
    start = (np.arange(count) + generator.random(count)) / count * cycle
    phase = (generator.permutation(count) + generator.random(count)) / count * 3 * interval
    found = np.full(count, np.inf)
    begin = 0.0
    while (open_ := np.flatnonzero(np.isinf(found))).size and begin < 3_600_000:
        for length, duration in parts:
            open_ = np.flatnonzero(np.isinf(found))
            times = part_events(generator, length, duration, open_.size) + begin
            late = times > start[open_, None]
            hit = late & received(times + phase[open_, None], window, interval)
            first = np.where(hit, times, np.inf).min(axis=1)
            found[open_] = first - start[open_]
            begin += duration
    return found


def agree(answer, times, share, percentiles=(50, 90, 95)):
    """Percentiles within a share of what was found, or within three standard errors of it."""
    for percent in percentiles:
        error = 300 * np.sqrt(percent / 100 * (1 - percent / 100) / times.size)
        low, middle, high = np.percentile(times, (percent - error, percent, min(100, percent + error))) / 1000
        assert min(low, middle * (1 - share)) <= answer[f"p{percent}"] <= max(high, middle * (1 + share)), (
            percent, answer, low, middle, high)


@pytest.mark.long
@pytest.mark.parametrize("scanner", SCANNERS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_latency_of_one_beacon(pattern, scanner):
    times = discoveries(PATTERNS[pattern], *SCANNERS[scanner], 40_000, 7)
    answer = plan("latency", "--beacons", "1", "--pattern", pattern, "--scanner", scanner)["latencyS"]
    assert answer["mean"] == pytest.approx(times.mean() / 1000, rel=0.01)
    agree(answer, times, 0.01)


@pytest.mark.long
@pytest.mark.parametrize("seconds", ["2", "10"])
def test_the_share_of_a_mix_that_is_found_in_time(seconds):
    shares = {"android-low-power": 6, "android-balanced": 3}
    pattern = "100:2,1000:8"
    within = float(seconds) * 1000
    found = {name: (discoveries(PATTERNS[pattern], *SCANNERS[name], 40_000, 3) <= within).mean() for name in shares}
    expected = sum(weight * found[name] for name, weight in shares.items()) / 9
    mix = "android-low-power:6,android-balanced:3"
    answer = plan("latency", "--beacons", "1", "--pattern", pattern, "--scanners", mix,
                  "--undiscovered-after-s", seconds)
    assert 1 - answer["undiscoveredAfterS"][seconds] == pytest.approx(expected, abs=0.01)


@pytest.mark.long
def test_the_latency_among_others():
    """Forty beacons with the same pattern, each at a random place of its cycle."""
    parts, (window, interval), beacons, count = PATTERNS["100:2,1000:8"], SCANNERS["android-balanced"], 40, 6000
    cycle, horizon = 10_000.0, 20_000.0
    generator = np.random.default_rng(5)

    def events(number, begin, end):
        """Event starts of `number` beacons at random places of their cycles, in one sorted list."""
        times = []
        offset = generator.random(number) * cycle
        for round_ in range(-1, int((end - begin) / cycle) + 2):
            at = begin + round_ * cycle - offset
            for length, duration in parts:
                own = part_events(generator, length, duration, number) + at[:, None]
                times.append(own[np.isfinite(own)])
                at = at + duration
        joined = np.concatenate(times)
        return np.sort(joined[(joined > begin) & (joined < end)])

    found = []
    for _ in range(count):
        own = events(1, 0.0, horizon)
        phase = generator.random() * 3 * interval
        candidates = own[received(own[None, :] + phase, window, interval)[0]]
        others = events(beacons - 1, -10.0, min(horizon, (candidates[:20].max() if candidates.size else 0) + 10))
        place = np.searchsorted(others, candidates)
        before = np.concatenate([[-np.inf], others])[place]
        after = np.concatenate([others, [np.inf]])[place]
        clear = candidates[(candidates - before >= TAU) & (after - candidates >= TAU)]
        found.append(clear[0] if clear.size else np.inf)
    times = np.array(found)
    answer = plan("latency", "--beacons", str(beacons), "--pattern", "100:2,1000:8", "--scanner", "android-balanced")
    assert answer["latencyS"]["mean"] == pytest.approx(times[np.isfinite(times)].mean() / 1000, rel=0.03)
    agree(answer["latencyS"], times, 0.02)


def test_the_mean_current_is_that_of_the_events():
    generator = np.random.default_rng(1)
    parts = PATTERNS["100:2,1000:8"]
    events = sum(np.isfinite(part_events(generator, length, duration, 20_000)).sum() / 20_000
                 for length, duration in parts)
    charge = 13.65
    answer = plan("energy", "--pattern", "100:2,1000:8", "--chip", "nrf52832", "--battery", "cr2477")
    assert answer["meanCurrentMicroamperes"] == pytest.approx(charge * events / 10 + 2, rel=0.002)


@pytest.mark.long
def test_the_best_pattern_keeps_its_promise():
    """The period of the constant interval that the limit allows resonates with this scanner."""
    limit, scanner = 1.9, (200, 500)
    answer = plan("pattern", "--scan-window-ms", "200", "--scan-interval-ms", "500", "--events-per-s", str(limit))
    single = answer["single"]
    assert single["eventsPerS"] <= limit
    assert len(answer["patterns"]) == 2
    for found in answer["patterns"]:
        assert found["eventsPerS"] <= limit
        assert sum(part["shareOfTime"] for part in found["parts"]) == pytest.approx(1)
        assert sum(part["shareOfEvents"] for part in found["parts"]) == pytest.approx(1)
        assert sum(part["forS"] for part in found["parts"]) == pytest.approx(found["cycleS"])
        parts = [(part["intervalMs"], part["forS"] * 1000) for part in found["parts"]]
        mean = discoveries(parts, *scanner, 40_000, 2).mean() / 1000
        assert found["latencyS"]["mean"] == pytest.approx(mean, rel=0.015)
        assert found["gain"] == pytest.approx(1 - found["latencyS"]["mean"] / single["latencyS"]["mean"], abs=1e-6)
    best = min([single, *answer["patterns"]], key=lambda each: each["latencyS"]["mean"])
    assert answer["latencyS"]["mean"] <= best["latencyS"]["mean"] * 1.006
    assert answer["gain"] > 0.05
    assert [part["intervalMs"] for part in answer["pattern"]] in [
        [part["intervalMs"] for part in found["parts"]] for found in answer["patterns"]]


@pytest.mark.long
@pytest.mark.parametrize("scanner", [(12, 3000), (60, 6000)])
def test_the_latency_with_a_scanner_that_seldom_listens(scanner):
    """Each instant is followed for minutes, so the model follows fewer of them, and is less precise."""
    window, interval = scanner
    times = discoveries(PATTERNS["100:2,1000:8"], *scanner, 40_000, 11)
    answer = plan("latency", "--beacons", "1", "--pattern", "100:2,1000:8", "--scan-window-ms", window,
                  "--scan-interval-ms", interval)["latencyS"]
    agree(answer, times, 0.05, percentiles=(50, 90))
    # Some are not found within the hour that both follow.
    assert np.isinf(times).any() and answer["mean"] is None


def test_the_best_pattern_has_an_interval_on_each_side():
    """As CPBIS (arXiv 2504.01422) chooses them: of the shortest constant interval that the limit allows."""
    answer = plan("pattern", "--scan-window-ms", "200", "--scan-interval-ms", "500", "--events-per-s", "1.9")
    shortest = 1000 / 1.9 - 5
    intervals = [part["intervalMs"] for part in answer["patterns"][0]["parts"]]
    assert min(intervals) < shortest < max(intervals)
    # The mean over events keeps the limit.
    mean = sum(part["shareOfEvents"] * (part["intervalMs"] + 5) for part in answer["patterns"][0]["parts"])
    assert mean == pytest.approx(1000 / answer["patterns"][0]["eventsPerS"], rel=0.02)
    assert mean >= 1000 / 1.9 * 0.98


#: As CPBIS (arXiv 2504.01422) mixes two intervals: a share δ of the events has A1, and the others have A2.
MIXES = [(0.5, 200, 1000), (0.25, 100, 760), (0.8, 318.75, 1285)]


@pytest.mark.parametrize("delta, first, second", MIXES)
def test_a_share_of_events_becomes_a_share_of_time(delta, first, second):
    """Long parts, so that the event at the beginning of each hardly counts: δ·E1 and (1 - δ)·E2 are the times."""
    times = [round(100 * delta * (first + 5) / 1000, 3), round(100 * (1 - delta) * (second + 5) / 1000, 3)]
    text = f"{first}:{times[0]},{second}:{times[1]}"
    mean = delta * first + (1 - delta) * second + 5
    energy = plan("energy", "--pattern", text, "--chip", "nrf52832", "--battery", "cr2477")
    assert energy["meanCurrentMicroamperes"] == pytest.approx(13.65 / (mean / 1000) + 2, rel=0.02)


@pytest.mark.parametrize("words, message", [
    (("latency", "--scanner", "continuous", "--beacons", "1", "--pattern", "100"), "two to 16 intervals"),
    (("latency", "--scanner", "continuous", "--beacons", "1", "--pattern", "100:2,1000"), "part 2, 1000"),
    (("latency", "--scanner", "continuous", "--beacons", "1", "--pattern", "100:2,1000:0.9"), "time is shorter"),
    (("latency", "--scanner", "continuous", "--beacons", "1", "--pattern", "100:0.2,1000:8"), "0.5 s to one day"),
    (("latency", "--scanner", "continuous", "--beacons", "1", "--pattern", "100:2,100:8"), "the same interval"),
    (("latency", "--scanner", "continuous", "--beacons", "1", "--pattern", "100:2,1000:8", "--interval-ms", "100"),
     "not both"),
    (("pattern", "--scanner", "continuous"), "Give a limit"),
    (("pattern", "--events-per-s", "1"), "Give a scanner"),
    (("pattern", "--scanner", "continuous", "--events-per-s", "1", "--power-uw", "60", "--chip", "nrf52832"),
     "Give a limit"),
    (("pattern", "--scanner", "continuous", "--power-uw", "60"), "belong together"),
    (("pattern", "--scanner", "continuous", "--events-per-s", "0.01"), "--events-per-s 0.01"),
    (("pattern", "--scanner", "continuous", "--power-uw", "1", "--chip", "nrf52832"), "--power-uw 1"),
    (("pattern", "--scanner", "continuous", "--events-per-s", "1", "--goal", "fast"), "a percentile such as p95"),
])
def test_wrong_input_is_refused_in_one_sentence(words, message):
    result = pharos.run("plan", *words)
    assert result.code == 64, (result.code, result.err)
    assert message in result.err
