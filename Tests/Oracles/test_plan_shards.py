"""A simulation that is played in parts, anywhere, gives exactly the result of the one run with that seed."""
import json

import pytest

import pharos

SIMULATE = ("plan", "simulate")
COLLISIONS = ("collisions", "--beacons", 40, "--interval-ms", 200, "--precision", 0.002, "--seed", 11)
LATENCY = ("latency", "--beacons", 10, "--interval-ms", 100, "--scanner", "ios-find-my", "--precision", 0.2,
           "--seed", 3)


def alone(question) -> dict:
    return json.loads(pharos.checked(*SIMULATE, *question, "--json", timeout=240).out)


def part(question, index: int, count: int, *more) -> str:
    return pharos.checked(*SIMULATE, *question, "--shard", f"{index}/{count}", *more, timeout=240).out


def merged(*files):
    return pharos.run(*SIMULATE, "merge", *files, "--json", timeout=240)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Three parts of the collisions."""
    home = tmp_path_factory.mktemp("parts")
    files = []
    for index in (1, 2, 3):
        files.append(home / f"part-{index}.jsonl")
        files[-1].write_text(part(COLLISIONS, index, 3))
    return files


def test_parts_in_any_order_give_the_one_run(parts):
    result = merged(parts[2], parts[0], parts[1])
    assert result.code == 0, result.err
    assert json.loads(result.out) == alone(COLLISIONS)


def test_latencies_too(tmp_path):
    files = []
    for index in (1, 2):
        files.append(tmp_path / f"{index}.jsonl")
        # On any number of threads, in any order of the options.
        files[-1].write_text(part(LATENCY, index, 2, "--jobs", index))
    result = merged(*files)
    assert result.code == 0, result.err
    assert json.loads(result.out) == alone(LATENCY)


def test_a_part_tells_what_it_is(parts):
    head, *batches = [json.loads(line) for line in parts[1].read_text().splitlines()]
    assert head["pharosTally"] == 1 and (head["shard"], head["of"]) == (2, 3)
    assert head["arguments"] == [str(word) for word in COLLISIONS]
    assert len(batches) % 20 == 0 and [batch["batch"] for batch in batches[:2]] == [20, 21]


def test_what_does_not_belong_together_is_refused(parts, tmp_path):
    missing = merged(parts[0], parts[2])
    assert missing.code == 65 and "2/3" in missing.err
    other = tmp_path / "other.jsonl"
    other.write_text(part((*COLLISIONS[:-1], 12), 2, 3))
    strange = merged(parts[0], other, parts[2])
    assert strange.code == 65 and str(other) in strange.err
    broken = tmp_path / "broken.jsonl"
    broken.write_text(parts[1].read_text().replace('{"batch":21,', '{"batch":22,'))
    assert merged(parts[0], broken, parts[2]).code == 65
    assert merged("/dev/null").code == 65


def test_a_part_that_ended_early_leaves_it_open(parts, tmp_path):
    short = tmp_path / "short.jsonl"
    short.write_text("\n".join(parts[0].read_text().splitlines()[:6]) + "\n")
    result = merged(short, *parts[1:])
    assert result.code == 1 and json.loads(result.out)["interrupted"] is True
    text = pharos.run(*SIMULATE, "merge", short, *parts[1:])
    assert text.code == 1 and "--batches" in text.out


def test_more_batches_than_it_needs(tmp_path):
    path = tmp_path / "whole.jsonl"
    path.write_text(part(COLLISIONS, 1, 1, "--batches", 200))
    assert len(path.read_text().splitlines()) >= 201
    result = merged(path)
    assert json.loads(result.out) == alone(COLLISIONS)


@pytest.mark.parametrize("words, said", [
    (["--shard", "0/3"], "0"), (["--shard", "2"], "2/8"), (["--shard", "1/2", "--json"], "merge"),
    (["--batches", "5"], "--shard"),
])
def test_wrong_words(words, said):
    result = pharos.run(*SIMULATE, *COLLISIONS, *words)
    assert result.code == 64 and said in result.err
