"""Places found by scikit-learn, which `pharos-benchmark` compares with its own.

    positioning_peers.py survey FILE    times of nearest neighbours and of a Gaussian process on a survey in JSON Lines
    positioning_peers.py recordings     mean and 95 % of the error on the recordings in $PHAROS_RECORDINGS,
                                        one row each, separated by tabs
"""
import gzip
import json
import os
import sys
import time

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.neighbors import KNeighborsRegressor

FLOOR = -100.0
WINDOW = 5


def neighbors(levels, positions):
    return KNeighborsRegressor(10, weights=lambda distances: 1 / (distances + 0.5) ** 2).fit(levels, positions)


def place_means(levels, positions):
    """The places, and the mean of each beacon at each, absence as FLOOR."""
    places, number = np.unique(positions, axis=0, return_inverse=True)
    number = number.ravel()
    sums = np.zeros((len(places), levels.shape[1]))
    np.add.at(sums, number, levels)
    return places, sums / np.bincount(number)[:, None]


def process(levels, positions, length, step):
    """A process for all beacons at once, and its levels on a grid."""
    places, means = place_means(levels, positions)
    model = GaussianProcessRegressor(RBF(length) + WhiteKernel(0.1), optimizer=None, normalize_y=True)
    model.fit(places, means)
    low, high = places.min(0) - 1, places.max(0) + 1
    grid = np.stack(np.meshgrid(*(np.arange(a, b + step, step) for a, b in zip(low, high, strict=True))), -1)
    grid = grid.reshape(-1, 2)
    return grid, model.predict(grid)


def nearest_cell(grid, field, levels):
    """The weighted middle of the cells, by squared differences of all beacons with a deviation of 6 dB."""
    misfit = ((field - levels) ** 2).sum(1) / (2 * 36 * 4)
    weights = np.exp(misfit.min() - misfit)
    return weights @ grid / weights.sum()


# ---- times on a large survey
def read_survey(path):
    numbers, levels, positions, position = {}, [], [], None
    for line in open(path):
        each = json.loads(line)
        if "stay" in each:
            position = each["position"]
        elif "t" in each:
            levels.append({numbers.setdefault(key, len(numbers)): sum(packets) / len(packets)
                           for key, packets in each["rssi"].items()})
            positions.append(position)
    table = np.full((len(levels), len(numbers)), FLOOR)
    for row, heard in enumerate(levels):
        table[row, list(heard)] = list(heard.values())
    return table, np.array(positions, dtype=float)


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def survey(path):
    levels, positions = read_survey(path)
    sample = levels[:: len(levels) // 50][:50]
    model, fit = timed(lambda: neighbors(levels, positions))
    _, each = timed(lambda: [model.predict(row[None]) for row in sample])
    print(f"nearest neighbours: {fit:.2f} s; {each / len(sample) * 1000:.2f} ms")
    (grid, field), fit = timed(lambda: process(levels, positions, 4, 1))
    _, each = timed(lambda: [nearest_cell(grid, field, row) for row in sample])
    print(f"Gaussian process on 1 m: {fit:.2f} s; {each / len(sample) * 1000:.2f} ms")


# ---- errors on public recordings
OFFICE = {1, 2, 3, 4, 5, 7, 9, 10, 12, 14, 15, 17, 19, 20, 22, 24, 25, 27, *range(29, 41), 42, 44, 45, 47, 49, 50, 52,
          54, 55, 57, 59, 60, 62, 64, 65, 66, 67, 68}
LEFT_OUT = {1, 17, 18, 34, 35, 51, 52, 68}


def samples(folder, kind):
    def table(name):
        with gzip.open(f"{folder}/rss_{kind}_{name}.csv.gz", "rt") as file:
            return np.loadtxt(file, delimiter=",")

    levels, ids = table("rss"), table("ids").astype(int).reshape(-1)
    return np.where(levels == 100, np.nan, levels), table("crd")[:, :2], ids


def columns():
    folder = os.environ["PHAROS_RECORDINGS"] + "/uji"
    levels, positions, ids = samples(folder, "lib")
    phone, campaign, point = ids // 10_000_000, ids // 100_000 % 10, ids // 100 % 1000
    for own, other in (1, 1), (2, 2), (3, 3), (1, 2), (1, 3), (3, 1):
        train = (phone == own) & (campaign == 2)
        test = (phone == other) & (campaign == 3) & ~np.isin(point, list(LEFT_OUT))
        yield levels[train], positions[train], levels[test], positions[test], point[test]
    levels, positions, ids = samples(folder, "geo")
    power, point = ids // 1_000_000 % 10, ids // 100 % 1000
    for number in range(1, 4):
        train = (power == number) & np.isin(point, list(OFFICE))
        test = (power == number) & ~np.isin(point, list(OFFICE))
        yield levels[train], positions[train], levels[test], positions[test], point[test]


def windows(levels, point):
    """The mean over the last samples of the same point, and whether this one heard anything."""
    result = np.full_like(levels, FLOOR)
    for row in range(len(levels)):
        first = max(0, row - WINDOW + 1)
        part = levels[first:row + 1][point[first:row + 1] == point[row]]
        heard = ~np.isnan(part).all(0)
        result[row, heard] = np.nanmean(part[:, heard], 0)
    return result, ~np.isnan(levels).all(1)


def text(errors):
    return f"{errors.mean():.2f} / {np.percentile(errors, 95):.1f}"


def recordings():
    rows = {"sklearn kNN, w 5": [], "sklearn GP, w 5": []}
    for levels, positions, test, truth, point in columns():
        filled = np.where(np.isnan(levels), FLOOR, levels)
        asked, counts = windows(test, point)
        asked, truth = asked[counts], truth[counts]
        found = neighbors(filled, positions).predict(asked)
        rows["sklearn kNN, w 5"].append(text(np.hypot(*(found - truth).T)))
        grid, field = process(filled, positions, 4, 0.5)
        found = np.array([nearest_cell(grid, field, row) for row in asked])
        rows["sklearn GP, w 5"].append(text(np.hypot(*(found - truth).T)))
    for name, cells in rows.items():
        print("\t".join([name, *cells]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["survey"] and len(sys.argv) == 3:
        survey(sys.argv[2])
    elif sys.argv[1:] == ["recordings"]:
        recordings()
    else:
        sys.exit(__doc__)
