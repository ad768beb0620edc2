"""The symbol graphs of the package's libraries, taken from the build of the tests. DocC reads them."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build/release"
GRAPHS = ROOT / ".build/symbol-graphs"


def libraries(manifest):
    """The names of the modules under Sources, without programs and without modules of C."""
    return [
        target["name"]
        for target in manifest["targets"]
        if target["type"] == "regular" and any((ROOT / "Sources" / target["name"]).rglob("*.swift"))
    ]


def products(manifest):
    """The names of the libraries that the package offers to others."""
    return [product["name"] for product in manifest["products"] if "library" in product["type"]]


def manifest():
    """What `swift package dump-package` says."""
    command = ["swift", "package", "--package-path", str(ROOT), "dump-package"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def extract(module):
    """Write the symbol graph of a module that has been built for the tests.

    Returns: the folder that holds it, and the graphs of its extensions to other modules.
    """
    if not (BUILD / f"Modules/{module}.swiftmodule").exists():
        raise SystemExit(f"{module} is not built: make test-swift")
    folder = GRAPHS / module
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    # The maps of system libraries, of C modules that have one in the build, and of those in swift-system.
    paths = [*ROOT.glob("Sources/CLibraries/*/module.modulemap"), *BUILD.glob("C*.build/module.modulemap")]
    paths += ROOT.glob(".build/checkouts/swift-system/Sources/*/include/module.modulemap")
    maps = [f"-fmodule-map-file={path}" for path in paths]
    command = ["swift-symbolgraph-extract", "-module-name", module, "-I", str(BUILD / "Modules"), "-output-dir", folder]
    command += ["-target", target(), "-sdk", "/", "-minimum-access-level", "public", "-skip-synthesized-members"]
    command += [word for path in maps for word in ("-Xcc", path)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder


def program(name):
    """The path of a program that has been built for the tests."""
    path = BUILD / name
    if not path.exists():
        raise SystemExit(f"{name} is not built: make test-swift")
    return path


def target():
    """The triple of this machine, from the name of the build's folder."""
    return BUILD.resolve().parent.name
