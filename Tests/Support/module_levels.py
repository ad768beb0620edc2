#!/usr/bin/env python3
"""Check the package's module graph: no module imports one above it.

Reads the manifest (`swift package dump-package`) and compares it with the table below, which Modules.md repeats in one
line. That the sources import only what the manifest declares is checked by the compiler
(--explicit-target-dependency-import-check error). Ends with a line `N passed, N failed, N skipped`.
"""

import re
import sys

import symbol_graphs
from checks import Checks

# From the top down. A module may import modules of its own level and of those below.
LEVELS = [
    ["pharos", "pharos-hub"],
    ["CommandSupport", "HubService"],
    [
        "Planner", "FleetStore", "BeaconService", "ListenerService", "Positioning", "PositioningFiles",
        "PositioningReport", "Inventory", "Collector",
    ],
    [
        "Fleet", "Sites", "Profiles", "Payloads", "Advertiser", "Listener", "HCITransports", "BeaconStatus",
        "PlanReport", "Sightings", "Auditing", "ESPHomeAPI", "Zones", "Publishing", "Broker",
    ],
    [
        "Configuration", "BeaconFrames", "EddystoneSecurity", "HCI", "VirtualController", "Airtime", "LinuxHost",
        "QRCodes", "SiteStore", "Store", "TextEscaping",
    ],
    ["BluetoothTypes"],
]  # fmt: skip

# Modules that may import these and nothing else.
ONLY = {
    "VirtualController": {"HCI", "BluetoothTypes"},
    "HCI": {"BluetoothTypes"},
}

# What lies outside Swift is imported in one place: other modules use it through that one.
OWNERS = {
    "ArgumentParser": {"CommandSupport", "pharos", "pharos-hub"},
    "Crypto": {"ESPHomeAPI", "EddystoneSecurity"},
    "CryptoExtras": {"EddystoneSecurity"},
    "CBlueZ": {"HCITransports"},
    "CLinux": {"LinuxHost"},
    "CPaho": {"Broker"},
    "CPostgreSQL": {"SiteStore"},
    "CSQLite": {"Store"},
}


def modules():
    """What each module under Sources imports, by its name; modules of C are left out."""
    found = {}
    for target in symbol_graphs.manifest()["targets"]:
        is_ours = target["type"] in ("regular", "executable") and target["name"] not in OWNERS
        if not is_ours or (target.get("path") or "").startswith("Tests"):
            continue
        kinds = ("byName", "target", "product")
        found[target["name"]] = {item[kind][0] for item in target["dependencies"] for kind in kinds if kind in item}
    return found


def graph():
    """The levels as Modules.md states them."""
    return " → ".join(level[0] if len(level) == 1 else "{" + ", ".join(level) + "}" for level in LEVELS)


def stated(page):
    """The levels in Modules.md, each as a set, or None where it states none."""
    line = re.search(r"\{pharos, .*→ BluetoothTypes", page.replace("`", ""))
    return line and [set(re.findall(r"[\w-]+", level)) for level in line[0].split("→")]


def problems(module, imports):
    """What the table forbids of a module's imports, each as half a sentence."""
    heights = {name: -index for index, level in enumerate(LEVELS) for name in level}
    if module not in heights:
        return ["is in no level: add it to LEVELS in Tests/Support/module_levels.py"]
    found = []
    for other in sorted(imports):
        if heights.get(other, -len(LEVELS)) > heights[module]:
            found.append(f"imports {other}, which is above it")
        if module not in OWNERS.get(other, {module}):
            found.append(f"imports {other}, which only {', '.join(OWNERS[other])} may")
        if other not in ONLY.get(module, {other}):
            found.append(f"imports {other}; it may import only {', '.join(sorted(ONLY[module]))}")
    return found


def main():
    checks = Checks("module levels")
    for module, imports in modules().items():
        found = problems(module, imports)
        checks.check(module, not found, f"{module} {'; '.join(found) or 'imports no module above it'}")
    page = (symbol_graphs.ROOT / "Sources/pharos/pharos.docc/Modules.md").read_text()
    checks.check(
        "Modules.md", stated(page) == [set(level) for level in LEVELS], f"Modules.md states the levels: {graph()}"
    )
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
