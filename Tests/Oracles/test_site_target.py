"""Targets of several beacons on a floor: `pharos plan site` compared with the definition in numpy.

A beacon counts at a place if it is found within the time with the probability: a·F >= p. The scanner listens all the
time on one channel, and the time is no longer than any interval, so F = c·t/(T + 5 ms): one event lies in the time with
probability t/(T + 5 ms), and its packet on that channel is clear with probability c.
"""
import itertools
import json
import math

import numpy as np
import pytest

import pharos

SIGMA, SENSITIVITY, LOSS, EXPONENT = 4.0, -80.0, 55.0, 2.2
SECONDS, PROBABILITY = 1.0, 0.8
WIDTH, DEPTH = 36.0, 20.0
WALLS = [((12, 0), (12, 13), 9.0), ((20, 8), (36, 8), 5.0)]
INTERVALS = [1022.5, 1285.0, 1105.0]


def airtime(octets):
    """Seconds of a legacy packet: 16 bytes around the payload, 1 Mbit/s."""
    return (16 + octets) * 8e-6


def fleet(seed, count):
    random = np.random.default_rng(seed)
    spots = random.uniform((0, 0), (WIDTH, DEPTH), (count, 2)).round(2)
    powers = random.integers(-6, 5, count)
    return [{"name": f"b{n}", "position": spots[n].tolist(), "intervalMs": INTERVALS[n % 3],
             "payloadOctets": [31, 12][n % 2], "radioPowerDbm": int(powers[n])} for n in range(count)]


def site(folder, beacons, wanted, **more):
    path = folder / "floor.json"
    outline = [[0, 0], [WIDTH, 0], [WIDTH, DEPTH], [0, DEPTH]]
    path.write_text(json.dumps({
        "version": 1, "name": "floor", "outline": outline, "beacons": beacons,
        "walls": [{"from": start, "to": end, "attenuationDb": loss} for start, end, loss in WALLS],
        "pathLoss": {"model": "log-distance", "lossAt1mDb": LOSS, "exponent": EXPONENT, "shadowingDb": SIGMA},
        "receiverSensitivityDbm": SENSITIVITY, "scanner": "continuous",
        "target": {"detectWithinS": SECONDS, "probability": PROBABILITY, "beacons": wanted}} | more))
    return path


def places(spacing):
    """A square grid in the middle of the floor."""
    columns, rows = int(WIDTH / spacing) + 1, int(DEPTH / spacing) + 1
    left, low = (WIDTH - (columns - 1) * spacing) / 2, (DEPTH - (rows - 1) * spacing) / 2
    return np.array([(left + column * spacing, low + row * spacing)
                     for row in range(rows) for column in range(columns)])


def crossed(place, beacon, start, end):
    """Whether the line of sight crosses a wall, for all pairs of places and beacons."""
    def side(first, second, third):
        return ((second[..., 0] - first[..., 0]) * (third[..., 1] - first[..., 1])
                - (second[..., 1] - first[..., 1]) * (third[..., 0] - first[..., 0]))
    start, end = np.array(start, float), np.array(end, float)
    return ((side(place, beacon, start) * side(place, beacon, end) < 0)
            & (side(start, end, place) * side(start, end, beacon) < 0))


def audible(spots, beacons):
    """The probability that each beacon is above the sensitivity at each place: places by beacons."""
    there = np.array([beacon["position"] for beacon in beacons])
    place, beacon = spots[:, None, :], there[None, :, :]
    distance = np.sqrt(((place - beacon) ** 2).sum(-1))
    level = (np.array([each["radioPowerDbm"] for each in beacons])[None, :]
             - LOSS - 10 * EXPONENT * np.log10(np.maximum(distance, 1e-9)))
    for start, end, loss in WALLS:
        level = level - loss * crossed(place, beacon, start, end)
    return 0.5 * np.vectorize(math.erfc)(-(level - SENSITIVITY) / SIGMA / math.sqrt(2))


def shares(heard, beacons, chosen=None):
    """a·F of each beacon at each place, among the chosen ones."""
    period = np.array([each["intervalMs"] / 1000 + 0.005 for each in beacons])
    air = np.array([airtime(each["payloadOctets"]) for each in beacons])
    chosen = np.ones(len(beacons)) if chosen is None else chosen
    # For a packet of i: ln(1 - a_j (tau_i + tau_j) / E_j), and nothing for i itself.
    terms = np.log1p(-heard[:, None, :] * (air[:, None] + air[None, :]) / period[None, :])
    terms[:, range(len(beacons)), range(len(beacons))] = 0
    return heard * np.exp(terms @ chosen) * SECONDS / period


@pytest.mark.parametrize("wanted, count, seed", [(2, 12, 1), (4, 40, 2), (10, 60, 3)])
def test_the_number_of_beacons_found_at_each_place(wanted, count, seed, tmp_path):
    beacons = fleet(seed, count)
    answer = json.loads(pharos.checked("plan", "site", site(tmp_path, beacons, wanted), "--places", 300, "--json").out)
    spots = places(answer["placeSpacingM"])
    assert len(spots) == answer["places"]
    found = shares(audible(spots, beacons), beacons)
    counts = (found >= PROBABILITY).sum(axis=1)
    # Places this close to the limit may fall on either side.
    unsure = (np.abs(found - PROBABILITY) < 5e-4).any(axis=1).sum()
    assert unsure < 0.03 * len(spots)
    assert answer["targetBeacons"] == wanted
    assert abs(answer["holdingShare"] - (counts >= wanted).mean()) <= unsure / len(spots) + 1e-9
    assert abs(answer["meanBeaconsInTime"] - counts.mean()) <= 2 * unsure / len(spots) + 1e-9
    assert abs(answer["fewestBeaconsInTime"] - counts.min()) <= (unsure > 0)
    assert 0 < (counts >= wanted).mean() < 1, "the case is too easy or too hard"
    ranked = np.sort(found, axis=1)[:, -wanted]
    for spot in answer["weakestSpots"]:
        number = int(np.argmin(((spots - [spot["x"], spot["y"]]) ** 2).sum(axis=1)))
        assert spot["detectedShare"] == pytest.approx(ranked[number], abs=2e-3)
        assert spot["beaconsInTime"] == pytest.approx(counts[number], abs=int(unsure > 0))
    assert answer["weakestSpots"][0]["beaconsInTime"] == answer["fewestBeaconsInTime"]


def test_one_beacon_is_the_default(tmp_path):
    path = site(tmp_path, fleet(4, 12), 1)
    plain = pharos.checked("plan", "site", path, "--json").out
    assert "beaconsInTime" not in plain
    assert pharos.checked("plan", "site", path, "--target-beacons", 1, "--json").out == plain
    several = json.loads(pharos.checked("plan", "site", path, "--target-beacons", 3, "--json").out)
    assert several["targetBeacons"] == 3 and several["holdingShare"] < json.loads(plain)["holdingShare"]


@pytest.mark.parametrize("wanted, power", [(2, 4), (3, 8)])
def test_a_proposal_is_nearly_the_smallest_number(wanted, power, tmp_path):
    """All sets of mounts are tried."""
    mounts = [[x, y] for x in (3, 11, 19, 27, 33) for y in (4, 10, 16)][:14]
    defaults = {"intervalMs": 1022.5, "payloadOctets": 31, "radioPowerDbm": power}
    path = site(tmp_path, [], wanted, mounts=mounts, defaults=defaults)
    content = json.loads(path.read_text())
    del content["beacons"]
    path.write_text(json.dumps(content))
    answer = json.loads(pharos.checked("plan", "site", path, "--places", 60, "--json").out)
    spots = places(answer["placeSpacingM"])
    beacons = [defaults | {"name": str(mount), "position": mount} for mount in mounts]
    heard = audible(spots, beacons)
    sets = np.array(list(itertools.product((0, 1), repeat=len(mounts))))
    # Without collisions first, which is quick.
    able = sets @ (heard * SECONDS / 1.0275 >= PROBABILITY).astype(int).T
    candidates = sets[(able >= wanted).all(axis=1)]

    def reached(chosen, probability):
        numbers = np.flatnonzero(chosen)
        found = shares(heard[:, numbers], [beacons[number] for number in numbers])
        return ((found >= probability).sum(axis=1) >= wanted).all()

    smallest = next(int(chosen.sum()) for chosen in sorted(candidates, key=np.sum) if reached(chosen, PROBABILITY))
    assert 2 * wanted <= smallest < len(mounts), "the case is too easy or too hard"
    proposal = answer["proposal"]
    every = [mounts.index(position) for position in proposal["positions"]]
    assert len(set(every)) == len(every)
    # Those that a finer grid needs come last.
    numbers = every[:len(every) - proposal["check"]["added"]]
    assert reached(np.isin(range(len(mounts)), numbers), PROBABILITY - 1e-3)
    assert smallest - 1 <= proposal["least"] <= smallest <= len(numbers) <= smallest + 1
