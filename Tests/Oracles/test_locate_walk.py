"""The regions of `pharos locate` in a simulated building: how often they contain a receiver that walks."""
import csv
import json
from statistics import median

import pharos
import pytest

PATHS = ["tour", "through to the shop"]


def area(polygon):
    """By the shoelace formula."""
    pairs = zip(polygon, [*polygon[1:], polygon[0]], strict=True)
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs) / 2


def inside(polygon, spot):
    """Whether a convex polygon with counterclockwise corners contains a position."""
    pairs = zip(polygon, [*polygon[1:], polygon[0]], strict=True)
    return all((b[0] - a[0]) * (spot["y"] - a[1]) - (b[1] - a[1]) * (spot["x"] - a[0]) >= -0.01 for a, b in pairs)


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ["gauss", "field"])
def test_regions_hold_for_who_walks_between_the_places_of_the_survey(tmp_path, algorithm):
    pharos.checked("sample", "sites/museum-ground-floor", "--output", tmp_path / "floor.json")
    by_polygon, by_radius, areas = [], [], []
    for seed in range(2):
        survey, plan, walk, truth = (tmp_path / f"{name}-{seed}" for name in ("s.jsonl", "m.json", "w.jsonl", "t.csv"))
        pharos.checked("map", "simulate", tmp_path / "floor.json", "--seed", seed, "--output", survey)
        pharos.checked("map", "fit", survey, "--algorithm", algorithm, "--output", plan)
        for path in PATHS:
            pharos.checked("map", "simulate", tmp_path / "floor.json", "--seed", seed, "--path", path, "--output", walk,
                           "--truth", truth)
            spots = list(csv.DictReader(truth.open()))
            lines = pharos.checked("locate", plan, "--from", walk, "--truth", truth, "--json").lines()
            located = [line for line in lines if line.get("region95")]
            assert len(located) > 0.95 * len(spots)
            for line in located:
                region = line["region95"]
                assert abs(area(region["polygon"]) - region["areaM2"]) < 0.01 * region["areaM2"] + 0.1
                by_polygon.append(inside(region["polygon"], line["truth"]))
                by_radius.append(line["errorM"] <= region["radiusM"])
                areas.append(region["areaM2"])
    shares = [sum(found) / len(found) for found in (by_polygon, by_radius)]
    assert all(0.9 <= share <= 0.995 for share in shares), json.dumps(shares)
    # The floor has 1,296 m².
    assert median(areas) < 1296 / 4
