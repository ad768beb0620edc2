"""`pharos plan` against the independent Monte Carlo: what it computes must be what happens."""
import json
from typing import NamedTuple

import pytest

import airtime_montecarlo as air
import pharos

LOW_POWER, LOW_LATENCY = air.Scanner(512, 5120), air.Scanner(4096, 4096)
FIND_MY, HARMONY, CONTINUOUS = air.Scanner(30, 300), air.Scanner(20, 600), air.Scanner(1, 1, channels=1)


def plan(*arguments) -> dict:
    return json.loads(pharos.checked("plan", *arguments, "--json").out)


def agree(value: float | None, found: air.Value, share: float, what: str):
    """Within three standard errors of what was found, or within `share` of it."""
    assert value is not None, f"{what}: null, and {found.mean} happens"
    assert abs(value - found.mean) <= max(3 * found.error, share * found.mean), f"{what}: {value}, and {found} happens"


class Fleet(NamedTuple):
    beacons: int
    interval: float
    payload: int = 31
    busy: float = 0
    their_payload: int | None = None

    def __str__(self):
        strangers = f", {self.busy} busy" if self.busy else ""
        return f"{self.beacons} at {self.interval} ms, {self.payload} octets{strangers}"

    @property
    def options(self):
        options = ["--beacons", self.beacons, "--interval-ms", self.interval, "--payload-octets", self.payload]
        if self.busy:
            options += ["--background-load", self.busy]
        if self.their_payload is not None:
            options += ["--background-payload-octets", self.their_payload]
        return options


FLEETS = [
    Fleet(50, 100), Fleet(100, 100), Fleet(250, 100), Fleet(250, 183.125), Fleet(1000, 1000), Fleet(100, 20),
    Fleet(30, 152.5, 20), Fleet(500, 1022.5, 0), Fleet(1, 100, busy=0.25), Fleet(20, 100, busy=0.1, their_payload=10),
    Fleet(60, 318.75, 0, busy=0.4, their_payload=31)]


@pytest.mark.parametrize("fleet", FLEETS, ids=str)
def test_collisions(fleet):
    found = air.collisions(*fleet[:3], busy=fleet.busy, their_payload=fleet.their_payload)
    answer = plan("collisions", *fleet.options)
    agree(answer["collisionFreeProbability"], found.clear, 0.01, "collisionFreeProbability")
    agree(answer["arrivalsPerSecondPerBeacon"], found.arrivals_per_second, 0.01, "arrivalsPerSecondPerBeacon")
    assert answer["airtimeMicroseconds"] == pytest.approx(air.airtime(fleet.payload) * 1000)


@pytest.mark.parametrize("fleet", [Fleet(10, 100), Fleet(100, 100), Fleet(250, 183.125), Fleet(60, 20)], ids=str)
def test_loss_after_loss(fleet):
    found = air.collisions(*fleet[:3], packets=100_000, seed=2).loss_after_loss
    agree(plan("collisions", *fleet.options)["lossAfterLossProbability"], found, 0.02, "lossAfterLossProbability")


def test_one_beacon_has_no_loss_after_a_loss():
    assert plan("collisions", *Fleet(1, 100).options)["lossAfterLossProbability"] is None


@pytest.mark.parametrize("count,interval,low,high", [(100, 100, 0.45, 6), (50, 100, 1, 3), (250, 318.75, 0.6, 2)])
def test_any_of_three_copies(count, interval, low, high):
    found = air.any_of_three(count, interval, (low, high))
    answer = plan("collisions", *Fleet(count, interval).options, "--copy-spacing-ms", f"{low}..{high}")
    agree(answer["anyOfThreeProbability"], found, 0.01, "anyOfThreeProbability")


def test_equal_firmware_loses_all_three_copies_at_once():
    found = air.any_of_three(100, 100, (1, 1))
    agree(plan("collisions", *Fleet(100, 100).options)["anyOfThreeProbability"], found, 0.01, "anyOfThreeProbability")


class Wait(NamedTuple):
    beacons: int
    interval: float
    scanner: air.Scanner
    #: How the command line names the scanner.
    named: tuple
    horizon: float
    repetitions: int = 400
    instants: int = 20
    #: How far the model may be off.
    share: float = 0.02

    def __str__(self):
        return f"{self.beacons} at {self.interval} ms, {' '.join(map(str, self.named))}"


WAITS = [
    Wait(1, 100, LOW_POWER, ("--scanner", "android-low-power"), 10, 4000, 100, share=0.01),
    Wait(1, 760, LOW_POWER, ("--scanner", "android-low-power"), 40, 4000, 40),
    Wait(1, 152.5, LOW_POWER, ("--scanner", "android-low-power"), 12, 4000, 100),
    Wait(1, 417.5, FIND_MY, ("--scanner", "ios-find-my"), 60, 4000, 40),
    Wait(1, 211.25, HARMONY, ("--scanner", "harmony"), 60, 4000, 40),
    Wait(1, 1000, air.Scanner(60, 3000), ("--scan-window-ms", 60, "--scan-interval-ms", 3000), 900, 1500, 40),
    Wait(100, 100, LOW_LATENCY, ("--scanner", "android-low-latency"), 3, 500, 10),
    Wait(250, 100, CONTINUOUS, ("--scanner", "continuous"), 8, 300, 10),
    Wait(50, 318.75, FIND_MY, ("--scanner", "ios-find-my"), 30, 500, 20),
    Wait(250, 585, LOW_POWER, ("--scanner", "android-low-power"), 60, 400, 20),
    Wait(250, 546.25, air.Scanner(60, 600), ("--scanner", "gateway-60-600"), 60, 300, 20),
]


@pytest.mark.parametrize("wait", WAITS, ids=str)
def test_latency(wait):
    found = air.latency(wait.beacons, wait.interval, wait.scanner, horizon=wait.horizon, repetitions=wait.repetitions,
                        instants=wait.instants)
    assert found.percentiles, "the horizon is too near for any percentile"
    answer = plan("latency", "--beacons", wait.beacons, "--interval-ms", wait.interval, *wait.named)["latencyS"]
    for percent, value in found.percentiles.items():
        agree(answer[f"p{percent}"], value, wait.share, f"p{percent}")


class Mix(NamedTuple):
    beacons: int
    interval: float
    #: Weights by the name on the command line.
    weights: dict
    horizon: float
    after: float
    repetitions: int
    instants: int
    share: float

    def __str__(self):
        return f"{self.beacons} at {self.interval} ms, {' '.join(self.weights)}"


KNOWN = {"android-low-power": LOW_POWER, "android-balanced": air.Scanner(1024, 4096), "continuous": CONTINUOUS,
         "ios-foreground": air.Scanner(30, 40), "ios-background": FIND_MY}
MIXES = [
    Mix(1, 300, {"android-low-power": 6, "android-balanced": 3, "continuous": 1}, 30, 2, 2000, 60, 0.01),
    Mix(1, 152.5, {"ios-foreground": 2, "ios-background": 2, "android-low-power": 4}, 40, 1, 2000, 60, 0.01),
    Mix(50, 417.5, {"android-balanced": 1, "ios-foreground": 3}, 20, 1, 160, 20, 0.02),
    Mix(250, 585, {"android-low-power": 3, "continuous": 1}, 60, 5, 80, 20, 0.02),
]


@pytest.mark.parametrize("mix", MIXES, ids=str)
def test_latency_of_a_mix_of_scanners(mix):
    """The percentiles are those of visitors drawn by weight; means and shares are within 1 %."""
    scanners = {KNOWN[name]: weight for name, weight in mix.weights.items()}
    found = air.mixed_latency(mix.beacons, mix.interval, scanners, horizon=mix.horizon, after=(mix.after,),
                              repetitions=mix.repetitions, instants=mix.instants)
    asked = ",".join(f"{name}:{weight}" for name, weight in mix.weights.items())
    answer = plan("latency", "--beacons", mix.beacons, "--interval-ms", mix.interval, "--scanners", asked,
                  "--undiscovered-after-s", mix.after)
    times, whole = answer["latencyS"], sum(mix.weights.values())
    assert set(found.percentiles) == {50, 90, 95, 99}
    for percent, value in found.percentiles.items():
        agree(times[f"p{percent}"], value, mix.share, f"p{percent}")
    agree(times["mean"], found.mean, 0.01, "mean")
    agree(next(iter(answer["undiscoveredAfterS"].values())), found.undiscovered[mix.after], 0.01, "undiscovered")
    assert [part["share"] for part in answer["scanners"]] == pytest.approx(
        [weight / whole for weight in mix.weights.values()])
    assert times["mean"] == pytest.approx(
        sum(part["share"] * part["latencyS"]["mean"] for part in answer["scanners"]), rel=0.002)
    for part in answer["scanners"]:
        alone = plan("latency", "--beacons", mix.beacons, "--interval-ms", mix.interval, "--scanner", part["scanner"])
        assert part["latencyS"] == pytest.approx(alone["latencyS"], rel=0.003)


def test_an_interval_for_a_mix_holds_for_the_visitors_together():
    """By the Monte Carlo, the advised interval reaches the target, and one a twentieth longer hardly does."""
    weights = {"android-low-power": 2, "continuous": 2}
    asked = ",".join(f"{name}:{weight}" for name, weight in weights.items())
    answer = plan("interval", "--beacons", 1, "--detect-within-s", 6, "--probability", 0.9, "--scanners", asked)
    found = air.mixed_latency(1, answer["intervalMs"], {KNOWN[name]: each for name, each in weights.items()},
                              horizon=60, after=(6,), repetitions=2000, instants=60)
    agree(1 - found.undiscovered[6].mean, air.Value(0.9, found.undiscovered[6].error), 0.01, "found within 6 s")
    shares = {part["scanner"]: part["detectedShare"] for part in answer["scanners"]}
    assert shares["continuous"] > 0.99 > 0.9 > shares["android-low-power"]


def test_a_simulated_mix_agrees_with_the_monte_carlo():
    answer = plan("simulate", "latency", "--beacons", 1, "--interval-ms", 300, "--scanners",
                  "android-low-power:1,continuous:1", "--precision", 0.06, "--seed", 3)
    found = air.mixed_latency(1, 300, {LOW_POWER: 1, CONTINUOUS: 1}, horizon=30, repetitions=2000, instants=60)
    for percent in (90, 95):
        low, high = answer["confidence95"]["latencyS"][f"p{percent}"]
        error = ((high - low) ** 2 / 16 + found.percentiles[percent].error ** 2) ** 0.5
        agree(answer["latencyS"][f"p{percent}"], air.Value(found.percentiles[percent].mean, error), 0.01, f"p{percent}")


@pytest.mark.parametrize("interval,scanner,named,after", [
    (1022.5, LOW_POWER, "android-low-power", 120), (1285, LOW_POWER, "android-low-power", 30),
    (1022.5, FIND_MY, "ios-find-my", 20)])
def test_what_stays_undiscovered(interval, scanner, named, after):
    found = air.latency(1, interval, scanner, horizon=after, after=(after,), repetitions=6000)
    answer = plan("latency", "--beacons", 1, "--interval-ms", interval, "--scanner", named, "--undiscovered-after-s",
                  after)["undiscoveredAfterS"]
    [(asked, share)] = answer.items()
    assert float(asked) == after
    agree(share, found.undiscovered[after], 0.02, f"undiscovered after {after} s")


@pytest.mark.parametrize("fleet", [Fleet(40, 100), Fleet(20, 100, 9, busy=0.1)], ids=str)
def test_simulated_collisions(fleet):
    found = air.collisions(*fleet[:3], busy=fleet.busy)
    answer = plan("simulate", "collisions", *fleet.options, "--seed", 7)
    values = {"collisionFreeProbability": found.clear, "lossAfterLossProbability": found.loss_after_loss}
    for key, value in values.items():
        low, high = answer["confidence95"][key]
        error = ((high - low) ** 2 / 16 + value.error ** 2) ** 0.5
        agree(answer[key], air.Value(value.mean, error), 0.01, key)
    assert answer["seed"] == 7


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_cores():
    question = "simulate", "collisions", "--beacons", 20, "--interval-ms", 100, "--precision", 0.02
    alone = plan(*question, "--seed", 3, "--jobs", 1)
    assert plan(*question, "--seed", 3, "--jobs", 4) == alone
    assert plan(*question, "--seed", 4, "--jobs", 4) != alone
