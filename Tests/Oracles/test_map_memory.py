"""The memory that `map show` and `locate` need for a large map."""
import json
import random

import pharos
import pytest
from test_map_fit import peak

PLACES, SECONDS, BEACONS = 2000, 20, 150
# A map of the vectors themselves, read as one JSON value.
GOAL = 600_000_000
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A map of 40,000 vectors, which it holds all, and a run of a few seconds."""
    folder = tmp_path_factory.mktemp("large")
    chance = random.Random(7)
    hung = [(chance.uniform(0, 90), chance.uniform(0, 90)) for _ in range(BEACONS)]
    lines, last = ['{"survey":1}'], []
    for place in range(PLACES):
        x, y = 2 * (place % 45), 2 * (place // 45)
        near = sorted(range(BEACONS), key=lambda n: (hung[n][0] - x) ** 2 + (hung[n][1] - y) ** 2)[:20]
        lines.append(f'{{"stay":{place + 1},"place":"P{place}","position":[{x},{y}]}}')
        seconds = []
        for _ in range(5):
            levels = ",".join(f'"beacon-{1000 + n}":[{-50 - 2 * rank + chance.randrange(-4, 5)}]'
                              for rank, n in enumerate(near))
            seconds.append(f'"rssi":{{{levels}}}}}')
        last = [f'{{"t":{second},{seconds[second % 5]}' for second in range(SECONDS)]
        lines += last
    (folder / "survey.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "run.jsonl").write_text("\n".join(last) + "\n")
    pharos.checked("map", "fit", folder / "survey.jsonl", "--algorithm", "nn", "--output", folder / "map.json",
                   timeout=300)
    return folder


def test_the_map_is_as_large_as_they_come(large):
    made = json.loads((large / "map.json").read_text())
    assert len(made["vectors"]) == PLACES * SECONDS
    assert (len(made["places"]), len(made["beacons"])) == (PLACES, BEACONS)


@pytest.mark.parametrize("options", [[], ["--json"], ["--html", "page.html"]])
def test_a_large_map_is_shown_in_little_memory(large, options):
    options = [large / option if option.endswith("html") and option[0] != "-" else option for option in options]
    assert peak("map", "show", large / "map.json", *options) < GOAL


@pytest.mark.parametrize("algorithm", ["nn", "wknn", "gauss"])
def test_somebody_is_located_on_a_large_map_in_little_memory(large, algorithm):
    assert peak("locate", large / "map.json", "--from", large / "run.jsonl", "--algorithm", algorithm) < GOAL
