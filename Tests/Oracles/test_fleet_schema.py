"""The schema of fleet files, held against the corpus that the Swift decoder is held against.

Good files pass both; bad files fail both; semantic files pass the schema and fail the decoder, because no schema can
say what is wrong with them. The decoder's half of this stands in Tests/FleetTests/CorpusTests.swift.
"""
import json
import pathlib

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "Tests" / "Corpus" / "fleets"
SCHEMA = json.loads((ROOT / "profiles" / "schema" / "fleet.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def files(folder: pathlib.Path) -> list:
    paths = sorted(folder.glob("*.json"))
    assert paths, f"no files in {folder}"
    return [pytest.param(path, id=path.stem) for path in paths]


def errors(path: pathlib.Path) -> list[str]:
    """The errors of the file: that it is not JSON, or those of the schema."""
    try:
        value = json.loads(path.read_bytes())
    except ValueError as fault:
        return [str(fault)]
    return [f"{fault.json_path}: {fault.message}" for fault in VALIDATOR.iter_errors(value)]


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", files(ROOT / "profiles" / "fleets"))
def test_samples_pass(path):
    assert errors(path) == []
    assert json.loads(path.read_bytes())["name"] == path.stem


@pytest.mark.parametrize("path", files(CORPUS / "good"))
def test_good_files_pass(path):
    assert errors(path) == []


@pytest.mark.parametrize("path", files(CORPUS / "bad"))
def test_bad_files_fail(path):
    assert errors(path) != []


@pytest.mark.parametrize("path", files(CORPUS / "semantic"))
def test_semantic_files_pass_the_schema(path):
    assert errors(path) == []
