"""The schemas of each kind of file, held against the corpora that the decoders read.

Good files pass both; bad files fail both; semantic files pass the schema and fail the decoder, because no schema can
say what is wrong with them. The decoders' half of this stands in Tests/ProfilesTests/CorpusTests.swift,
Tests/SitesTests/SiteCorpusTests.swift, Tests/SitesTests/ScannerFileTests.swift,
Tests/ListenerServiceTests/ListenerFileTests.swift,
Tests/InventoryTests/InventoryFileTests.swift, Tests/CollectorTests/CollectorFileTests.swift and
Tests/HubServiceTests/HubFileTests.swift (zones, hooks and history).
"""
import json
import pathlib

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "Tests" / "Corpus"
# What its corpus is called, its schema, its samples.
KINDS = {
    "profiles": ("beacon", ROOT / "profiles"),
    "sites": ("site", ROOT / "profiles" / "sites"),
    "scanners": ("scanners", ROOT / "profiles" / "scanners"),
    "listeners": ("listener", ROOT / "profiles" / "listeners"),
    "hub": ("listener", ROOT / "profiles" / "listeners"),
    "inventories": ("inventory", ROOT / "profiles" / "inventories"),
    "collectors": ("collector", ROOT / "profiles" / "collectors"),
}


def validator(kind: str) -> jsonschema.Draft202012Validator:
    path = ROOT / "profiles" / "schema" / f"{KINDS[kind][0]}.schema.json"
    return jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))


VALIDATORS = {kind: validator(kind) for kind in KINDS}


def files(folder: pathlib.Path, kind: str) -> list:
    paths = sorted(folder.glob("*.json"))
    assert paths, f"no files in {folder}"
    return [pytest.param(kind, path, id=f"{kind}-{path.stem}") for path in paths]


def corpora(verdict: str) -> list:
    return [case for kind in KINDS for case in files(CORPUS / kind / verdict, kind)]


def errors(kind: str, path: pathlib.Path) -> list[str]:
    """The errors of the file: that it is not JSON, or those of the schema."""
    try:
        value = json.loads(path.read_bytes())
    except ValueError as fault:
        return [str(fault)]
    return [f"{fault.json_path}: {fault.message}" for fault in VALIDATORS[kind].iter_errors(value)]


@pytest.mark.parametrize("kind", KINDS)
def test_schema_is_valid(kind):
    jsonschema.Draft202012Validator.check_schema(VALIDATORS[kind].schema)


@pytest.mark.parametrize("kind", KINDS)
def test_every_reference_leads_somewhere(kind):
    def references(node):
        if isinstance(node, dict):
            yield from ([node["$ref"]] if isinstance(node.get("$ref"), str) else [])
            node = list(node.values())
        if isinstance(node, list):
            for child in node:
                yield from references(child)

    schema = VALIDATORS[kind].schema
    used = {reference.removeprefix("#/$defs/") for reference in references(schema)}
    assert used == set(schema["$defs"])


@pytest.mark.parametrize("kind, path", [case for kind in KINDS for case in files(KINDS[kind][1], kind)])
def test_samples_pass(kind, path):
    assert errors(kind, path) == []
    assert json.loads(path.read_bytes())["name"] == path.stem


@pytest.mark.parametrize("kind, path", corpora("good"))
def test_good_files_pass(kind, path):
    assert errors(kind, path) == []


@pytest.mark.parametrize("kind, path", corpora("bad"))
def test_bad_files_fail(kind, path):
    assert errors(kind, path) != []


@pytest.mark.parametrize("kind, path", corpora("semantic"))
def test_semantic_files_pass_the_schema(kind, path):
    assert errors(kind, path) == []
