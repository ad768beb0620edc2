"""`pharos plan range` against formulas written again, counted grids and drawn shadowing."""
import json
import math

import numpy
import pytest

import pharos

MODELS = {
    "log-distance:65,2.03": lambda d: 65 + 20.3 * math.log10(d),
    "itu:30,0": lambda d: 20 * math.log10(2426) - 28 + 30 * math.log10(max(d, 1)),
    "heydon": lambda d: 40 + 25 * math.log10(d),
    "thesis": lambda d: 85 if d >= 20 else 32 - 0.01721 * d * d + 19.8256 * math.log(1 + d),
}


def plan(*arguments) -> dict:
    return json.loads(pharos.checked("plan", "range", *arguments, "--json").out)


@pytest.mark.parametrize("spacing,reach", [(10, 100), (15, 100), (7.3, 41), (2, 1), (5, 5)])
def test_grids_are_counted(spacing, reach):
    steps = numpy.arange(-200, 201)
    [grid] = plan("--spacing-m", spacing, "--range-m", reach)["grids"]
    for key, shift in (("beaconsAtBeacon", 0), ("beaconsAtCellCenter", 0.5)):
        east, north = numpy.meshgrid((steps + shift) * spacing, (steps + shift) * spacing)
        assert grid[key] == (numpy.hypot(east, north) <= reach * (1 + 1e-9)).sum()
    assert grid["meanBeacons"] == pytest.approx(math.pi * (reach / spacing) ** 2)


@pytest.mark.parametrize("distance,interferer,height,body", [(4, 20, 0, 0), (1.5, 9, 2.5, 6), (12, 3, 1, 15)])
def test_levels_and_capture_of_each_model(distance, interferer, height, body):
    answer = plan("--distance-m", distance, "--interferer-m", interferer, "--height-m", height, "--body-db", body)
    assert [each["model"] for each in answer["models"]] == list(MODELS)
    random = numpy.random.default_rng(5)
    for model in answer["models"]:
        loss = MODELS[model["model"]]
        wanted = loss(math.hypot(distance, height)) + body
        other = loss(math.hypot(interferer, height))
        assert model["lossDb"] == pytest.approx(wanted)
        assert model["levelDbm"] == pytest.approx(-wanted)
        assert model["advantageDb"] == pytest.approx(other - wanted)
        assert model["survivesSpecification"] == (other - wanted >= 21)
        shadows = random.normal(0, 4, (2, 400_000))
        assert model["survivalProbability"] == pytest.approx(
            (other - wanted + shadows[0] - shadows[1] >= 12).mean(), abs=0.003)
        assert model["receivedProbability"] == pytest.approx((-wanted + shadows[0] >= -90).mean(), abs=0.003)


@pytest.mark.parametrize("level", [-60, -75, -84])
def test_the_distance_at_a_level_has_that_level(level):
    for model in plan("--level-dbm", level)["models"]:
        assert MODELS[model["model"]](model["distanceAtLevelM"]) == pytest.approx(-level, abs=1e-6)


def test_the_farthest_survivor_has_just_the_ratio():
    for model in plan("--interferer-m", 19)["models"]:
        loss = MODELS[model["model"]]
        for key, ratio in (("farthestBySpecificationM", 21), ("farthestByCaptureM", 12)):
            assert loss(19) - loss(model[key]) == pytest.approx(ratio, abs=1e-6)


OPTIONS = ["spacing-m", "range-m", "distance-m", "level-dbm", "height-m", "body-db", "interferer-m"]


@pytest.mark.parametrize("option", OPTIONS)
def test_each_option_alone_gets_an_answer(option):
    text = pharos.checked("plan", "range", f"--{option}", "-70" if option == "level-dbm" else "5").out
    assert "5" in text.split("\n")[0] or "-70" in text.split("\n")[0]
    assert "log-distance:65,2.03" in text and "The usual rule" in text
