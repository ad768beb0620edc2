"""Ways to find a place, by numpy, scipy and scikit-learn: each written from its formula, none from the library.

A survey is a list of (place, vectors), a vector a dictionary of levels by beacon's number.
"""

import json
import math
import random
from collections import Counter

import numpy as np

FLOOR = -100.0


def generate(seed, places=9, beacons=7, seconds=6):
    """A survey on a square and a test on it, with beacons that are heard now and then."""
    chance = random.Random(seed)
    side = math.isqrt(places)
    hung = [(chance.uniform(0, 2 * side), chance.uniform(0, 2 * side)) for _ in range(beacons)]

    def vector(x, y):
        heard = {}
        for number, (east, north) in enumerate(hung):
            level = round(-58 - 22 * math.log10(max(1, math.hypot(x - east, y - north))) + chance.gauss(0, 4))
            if chance.random() < 0.85 and level > -80:
                heard[number] = float(level)
        return heard

    spots = [(2.0 * (number % side), 2.0 * (number // side)) for number in range(places)]
    survey = [(spot, [vector(*spot) for _ in range(seconds)]) for spot in spots]
    test = [((x + 0.7, y + 0.4), [vector(x + 0.7, y + 0.4) for _ in range(seconds)]) for x, y in spots[::2]]
    return survey, test


def write(path, stays):
    lines = ['{"survey":1}']
    for number, ((x, y), vectors) in enumerate(stays):
        lines.append(json.dumps({"stay": number + 1, "place": f"P{number}", "position": [x, y]}))
        for second, heard in enumerate(vectors):
            rssi = {f"beacon-{beacon}": [int(level)] for beacon, level in heard.items()}
            lines.append(json.dumps({"t": second, "rssi": rssi}))
    path.write_text("\n".join(lines) + "\n")


def world(folder, seed):
    """A survey and a test in files of that folder, with the beacons that the survey hears."""
    survey, test = generate(seed)
    write(folder / "survey.jsonl", survey)
    write(folder / "test.jsonl", test)
    return survey, test, heard_beacons(survey)


def heard_beacons(survey):
    return sorted({beacon for _, vectors in survey for heard in vectors for beacon in heard})


def matrix(vectors, beacons):
    return np.array([[heard.get(beacon, np.nan) for beacon in beacons] for heard in vectors]).reshape(-1, len(beacons))


def filled(levels):
    return np.where(np.isnan(levels), FLOOR, levels)


def window_mean(vectors, beacons):
    levels = matrix(vectors, beacons)
    counts = (~np.isnan(levels)).sum(0)
    return np.where(counts > 0, np.nansum(levels, 0) / np.maximum(counts, 1), np.nan)


def nearest(survey, window, beacons):
    sample = filled(window_mean(window, beacons))
    return [np.sqrt(((filled(matrix(vectors, beacons)) - sample) ** 2).sum(1)).min() for _, vectors in survey]


def middle(survey, window, beacons, of):
    sample = filled(window_mean(window, beacons))
    scores = []
    for _, vectors in survey:
        columns = matrix(vectors, beacons).T
        centre = [of(column[~np.isnan(column)]) if (~np.isnan(column)).any() else FLOOR for column in columns]
        scores.append(float(np.linalg.norm(np.array(centre) - sample)))
    return scores


def bhattacharyya(survey, run, beacons):
    recent = {}
    for heard in run:
        for beacon, level in heard.items():
            recent[beacon] = [*recent.get(beacon, []), level][-5:]
    scores = []
    for _, vectors in survey:
        columns = {b: [v[b] for v in vectors if b in v] for b in beacons if any(b in v for v in vectors)}
        strongest = sorted(columns, key=lambda b: (-np.mean(columns[b]), b))[:5]
        if not strongest or any(b not in recent for b in strongest):
            scores.append(None)
            continue
        total = 0.0
        for b in strongest:
            p, q = Counter(columns[b]), Counter(recent[b])
            total += sum(math.sqrt(p[s] / len(columns[b]) * q[s] / len(recent[b])) for s in q)
        scores.append(-math.log(total / len(strongest)) if total else math.inf)
    return scores


def relative(survey, window, beacons):
    def shares(levels):
        return np.clip((levels - FLOOR) / (np.nanmax(levels) - FLOOR), 0, 1)

    sample = shares(window_mean(window, beacons))
    scores = []
    for _, vectors in survey:
        best = math.inf
        for levels in matrix(vectors, beacons):
            if np.isnan(levels).all():
                continue
            print_ = shares(levels)
            both = ~np.isnan(print_) & ~np.isnan(sample)
            one = np.isnan(print_) != np.isnan(sample)
            if both.any():
                best = min(best, np.abs(print_ - sample)[both].sum() + 0.5 * one.sum())
        scores.append(best)
    return scores


def weighted_neighbors(survey, window, beacons, count):
    """By scikit-learn's regressor, with the same weights."""
    from sklearn.neighbors import KNeighborsRegressor

    prints = np.concatenate([filled(matrix(vectors, beacons)) for _, vectors in survey])
    places = np.concatenate([[spot] * len(vectors) for spot, vectors in survey])
    model = KNeighborsRegressor(count, weights=lambda distances: 1 / (distances + 0.5) ** 2, algorithm="brute")
    model.fit(prints, places)
    return model.predict([filled(window_mean(window, beacons))])[0]


def gauss(survey, window, beacons):
    """Minus the log-likelihood of each place, by scipy's t distribution; offsets summed with their prior."""
    from scipy import special, stats

    listened = [len(vectors) for _, vectors in survey]
    columns = [[[v[b] for v in vectors if b in v] for b in beacons] for _, vectors in survey]
    squares = [[float(((np.array(c) - np.mean(c)) ** 2).sum()) if c else 0.0 for c in row] for row in columns]
    freedom = [[max(len(c) - 1, 0) for c in row] for row in columns]
    pooled = np.sum(squares) / np.sum(freedom)
    by_beacon = (np.sum(squares, 0) + 4 * pooled) / (np.sum(freedom, 0) + 4)
    offsets = np.arange(-12, 13, 3.0)
    prior = -((offsets / 4) ** 2) / 2
    prior -= special.logsumexp(prior)
    constant = stats.t.logpdf(0, 5)
    scores = []
    for place, row in enumerate(columns):
        sums = np.zeros(len(offsets))
        for heard in window:
            for index, b in enumerate(beacons):
                c = row[index]
                chance = min(max(len(c) / listened[place], 0.02), 0.98)
                if b not in heard:
                    sums += math.log(1 - chance)
                    continue
                mean = np.mean(c) if c else FLOOR
                variance = (squares[place][index] + 4 * pooled) / (max(len(c) - 1, 0) + 4) + 4
                if not c:
                    variance = by_beacon[index] + 4 + 25
                # The density without its constant.
                density = stats.t.logpdf(heard[b] - offsets, 5, loc=mean, scale=math.sqrt(variance))
                sums += math.log(chance) + density - constant
        scores.append(-special.logsumexp(sums / math.sqrt(len(window)) + prior))
    return scores


def field(survey, beacon, beacons, at):
    """The level of one beacon at some positions, and its standard deviation, by scikit-learn's Gaussian process."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    spots = np.array([spot for spot, _ in survey])
    columns = [[[v[b] for v in vectors if b in v] for b in beacons] for _, vectors in survey]
    squares = np.array([[((np.array(c) - np.mean(c)) ** 2).sum() if c else 0.0 for c in row] for row in columns])
    freedom = np.array([[max(len(c) - 1, 0) for c in row] for row in columns])
    pooled = squares.sum() / freedom.sum()
    column = [row[beacon] for row in columns]
    heard = np.array([bool(c) for c in column])
    levels = np.array([np.mean(c) if c else np.nan for c in column])
    counts = np.array([len(c) for c in column])
    noise = (squares[:, beacon] + 4 * pooled) / (freedom[:, beacon] + 4) / np.maximum(counts, 1) + 4
    order = sorted(np.flatnonzero(heard), key=lambda i: (-levels[i], i))[:3]
    weights = 10 ** (levels[order] / 20)
    centre = (spots[order] * weights[:, None]).sum(0) / weights.sum()

    def logs(positions):
        return np.log10(np.maximum(np.linalg.norm(positions - centre, axis=1), 1))

    x, y, w = logs(spots[heard]), levels[heard], 1 / noise[heard]
    slope, _ = np.polyfit(x, y, 1, w=np.sqrt(w)) if np.ptp(x) > 1e-6 else (-20, 0)
    slope = -min(max(-slope / 10, 0.5), 4) * 10
    intercept = (w * (y - slope * x)).sum() / w.sum()
    trend = intercept + slope * logs(spots)
    rest = np.where(heard, levels - trend, np.minimum(FLOOR - trend, 0))
    variance = max(25.0, ((y - intercept - slope * x) ** 2 - noise[heard]).mean())
    gaps = np.linalg.norm(spots[:, None] - spots[None], axis=2) + 1e9 * np.eye(len(spots))
    length = max(2 * np.median(gaps.min(1)), 3)
    kernel = ConstantKernel(variance, "fixed") * RBF(length, "fixed")
    model = GaussianProcessRegressor(kernel, alpha=np.where(heard, noise, 100.0), optimizer=None)
    model.fit(spots, rest)
    mean, deviation = model.predict(at, return_std=True)
    packet = (squares.sum(0)[beacon] + 4 * pooled) / (freedom.sum(0)[beacon] + 4)
    return intercept + slope * logs(at) + mean, np.sqrt(np.maximum(deviation**2, 0.1) + packet)
