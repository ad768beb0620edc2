"""Every way to find a place against an independent one, over generated surveys."""

import json
import math
import subprocess

import numpy as np
import pharos
import positioning
import pytest

PROGRAM = pharos.companion("PositioningProgram")
SEEDS = [1, 2, 3]


def ask(*arguments):
    output = subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def instants(test, window):
    for _, vectors in test:
        for second in range(len(vectors)):
            yield vectors[max(0, second + 1 - window) : second + 1], vectors[: second + 1]


def same(found, expected):
    if expected is None:
        return found is None
    if math.isinf(expected):
        return found == "infinity"
    return isinstance(found, int | float) and math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


RULES = {
    "nn": positioning.nearest,
    "nn-mean": lambda survey, window, beacons: positioning.middle(survey, window, beacons, np.mean),
    "nn-median": lambda survey, window, beacons: positioning.middle(survey, window, beacons, np.median),
    "relative": positioning.relative,
    "gauss": positioning.gauss,
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("window", [1, 5])
@pytest.mark.parametrize("name", RULES)
def test_scores(tmp_path, seed, window, name):
    survey, test, beacons = positioning.world(tmp_path, seed)
    answers = ask("scores", tmp_path / "survey.jsonl", tmp_path / "test.jsonl", name, window)
    asked = list(instants(test, window))
    assert len(answers) == len(asked)
    compared = 0
    for answer, (heard, _) in zip(answers, asked, strict=True):
        if not any(heard):
            assert answer["place"] is None
            continue
        expected = RULES[name](survey, heard, beacons)
        assert len(answer["scores"]) == len(expected)
        assert all(map(same, answer["scores"], expected)), (answer["scores"], expected)
        if name != "gauss":
            assert answer["place"] == int(np.argmin(np.round(expected, 9)))
        compared += 1
    assert compared > 10


@pytest.mark.parametrize("seed", SEEDS)
def test_bhattacharyya(tmp_path, seed):
    survey, test, beacons = positioning.world(tmp_path, seed)
    answers = ask("scores", tmp_path / "survey.jsonl", tmp_path / "test.jsonl", "bhattacharyya", "run")
    seen = set()
    for answer, (_, run) in zip(answers, instants(test, 1), strict=True):
        if not any(run):
            continue
        expected = positioning.bhattacharyya(survey, run, beacons)
        assert all(map(same, answer["scores"], expected)), (answer["scores"], expected)
        seen |= {type(score) for score in answer["scores"]}
    assert float in seen and type(None) in seen


@pytest.mark.parametrize("seed", SEEDS)
def test_weighted_neighbors(tmp_path, seed):
    survey, test, beacons = positioning.world(tmp_path, seed)
    answers = ask("scores", tmp_path / "survey.jsonl", tmp_path / "test.jsonl", "wknn", 5)
    for answer, (heard, _) in zip(answers, instants(test, 5), strict=True):
        if any(heard):
            expected = positioning.weighted_neighbors(survey, heard, beacons, 10)
            # Of equally near vectors at the edge of the ten another one may count.
            assert np.allclose(answer["position"], expected, atol=0.25)


@pytest.mark.parametrize("seed", SEEDS)
def test_field(tmp_path, seed):
    survey, _, beacons = positioning.world(tmp_path, seed)
    cells = ask("field", tmp_path / "survey.jsonl", 1)
    at = np.array([cell["position"] for cell in cells])
    for number in range(len(beacons)):
        means, deviations = positioning.field(survey, number, beacons, at)
        assert np.allclose([cell["means"][number] for cell in cells], means, atol=1e-6)
        assert np.allclose([cell["deviations"][number] for cell in cells], deviations, atol=1e-6)
