#!/usr/bin/env python3
"""Check the package's module graph: a module imports only modules of its own room and of the rooms below it.

The rooms are the folders of Sources. Reads the manifest (`swift package dump-package`). That the sources import only
what the manifest declares is checked by the compiler (--explicit-target-dependency-import-check error).
Ends with a line `N passed, N failed, N skipped`.
"""

import sys

import symbol_graphs
from checks import Checks

# From the ground up, as Modules.md shows them.
ROOMS = ["Bluetooth", "Controller", "System", "Beacon", "Fleet", "Planning", "Listening", "Hub", "Programs"]

# Each library from outside is imported by these modules only; other modules use it through them.
OWNERS = {
    "ArgumentParser": {"CommandSupport", "pharos", "pharos-hub"},
    "Crypto": {"EddystoneSecurity", "HubService"},
    "CryptoExtras": {"EddystoneSecurity"},
    "CBlueZ": {"HCITransports"},
    "CLinux": {"LinuxHost"},
    "CPaho": {"Messaging"},
    "CPostgreSQL": {"Store"},
    "CQRCode": {"Fleet"},
    "CSQLite": {"Store"},
    "SystemPackage": {"LinuxHost", "HCITransports"},
}


def modules():
    """The room and the imports of each Swift module under Sources, by the module's name."""
    found = {}
    kinds = ("byName", "target", "product")
    for target in symbol_graphs.manifest()["targets"]:
        parts = (target.get("path") or "").split("/")
        if len(parts) != 3 or parts[0] != "Sources" or parts[1] == "CLibraries":
            continue
        imports = {item[kind][0] for item in target["dependencies"] for kind in kinds if kind in item}
        found[target["name"]] = (parts[1], imports)
    return found


def problems(module, found):
    """What is wrong with a module's imports, each as half a sentence."""
    room, imports = found[module]
    if room not in ROOMS:
        return [f"is in {room}, which is no room: {', '.join(ROOMS)}"]
    sentences = []
    for other in sorted(imports):
        if other in found and ROOMS.index(found[other][0]) > ROOMS.index(room):
            sentences.append(f"imports {other} of the room {found[other][0]}, which is above {room}")
        if module not in OWNERS.get(other, {module}):
            sentences.append(f"imports {other}, which only {', '.join(sorted(OWNERS[other]))} may import")
    return sentences


def main():
    checks = Checks("module levels")
    found = modules()
    for module in found:
        wrong = problems(module, found)
        checks.check(module, not wrong, f"{module} {'; '.join(wrong) or 'imports only what its room allows'}")
    page = (symbol_graphs.ROOT / "Sources/Programs/pharos/pharos.docc/Modules.md").read_text()
    for module in found:
        checks.check(f"{module} in Modules.md", f"`{module}`" in page, f"Modules.md names {module}")
    overview = page.split("## Five walks")[0]
    rooms = [line.removeprefix("### ") for line in overview.splitlines() if line.startswith("### ")]
    checks.check("rooms in Modules.md", rooms == ROOMS, f"Modules.md lists the rooms in order: {', '.join(ROOMS)}")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
