#!/usr/bin/env python3
"""Checks what a release consists of: packages, their contents as SPDX, checksums, and the OCI image.

Needs `make deb`. Prints a line for each check, and ends with status 1 if one does not hold.
"""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
DEB = CHECKOUT / ".build/deb"
# The development packages of the libraries that the package pharos-hub depends on.
DEVELOPMENT = {
    "libbluetooth3": "libbluetooth-dev",
    "libc6": "libc6-dev",
    "libgcc-s1": "libstdc++-12-dev",
    "libpaho-mqtt1.3": "libpaho-mqtt-dev",
    "libpq5": "libpq-dev",
    "libsqlite3-0": "libsqlite3-dev",
    "libstdc++6": "libstdc++-12-dev",
}


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def sums(paths):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def release_files():
    return sums(path for path in DEB.iterdir() if path.suffix in {".deb", ".json"} or path.name == "SHA256SUMS")


def packages_are_reproducible():
    before = release_files()
    run(CHECKOUT / "systemd/debian/build")
    assert release_files() == before


def checksums_are_right():
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=DEB)
    assert len((DEB / "SHA256SUMS").read_text().splitlines()) == 3


def contents_are_complete():
    document = json.loads(next(DEB.glob("*.spdx.json")).read_text())
    packages = {each["SPDXID"]: each for each in document["packages"]}
    for relation in document["relationships"]:
        assert relation["spdxElementId"] in {"SPDXRef-DOCUMENT", *packages}, relation
        assert relation["relatedSpdxElement"] in packages, relation
    for path in DEB.glob("*.deb"):
        described = packages["SPDXRef-" + path.name.split("_")[0]]
        assert described["packageFileName"] == path.name
        assert described["checksums"][0]["checksumValue"] == sums([path])[path.name]
    for pin in json.loads((CHECKOUT / "Package.resolved").read_text())["pins"]:
        assert packages["SPDXRef-" + pin["identity"]]["versionInfo"] == pin["state"]["version"]
    # Every library that the package pharos-hub depends on is named.
    hub = next(DEB.glob("pharos-hub_*.deb"))
    needed = [word.split()[0] for word in run("dpkg-deb", "-f", hub, "Depends").split(", ")]
    named = {
        each["relatedSpdxElement"]
        for each in document["relationships"]
        if each["spdxElementId"] == "SPDXRef-pharos-hub"
    }
    for library in needed:
        if library == "pharos":
            continue
        assert "SPDXRef-" + DEVELOPMENT[library].replace("+", "-") in named, f"{library} is not in {sorted(named)}"


def opened(path):
    with tarfile.open(path) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}


def image_is_sound():
    path = CHECKOUT / run(CHECKOUT / "systemd/oci-image").strip()
    first = path.read_bytes()
    run(CHECKOUT / "systemd/oci-image")
    assert path.read_bytes() == first, "the same program gives another image"
    files = opened(path)

    def blob(place):
        octets = files["blobs/" + place["digest"].replace(":", "/")]
        assert len(octets) == place["size"] and "sha256:" + hashlib.sha256(octets).hexdigest() == place["digest"]
        return octets

    manifest = json.loads(blob(json.loads(files["index.json"])["manifests"][0]))
    config = json.loads(blob(manifest["config"]))
    layers = [blob(layer) for layer in manifest["layers"]]
    assert config["config"]["Entrypoint"] == ["/usr/bin/pharos"] and len(layers) == 1
    with tempfile.TemporaryDirectory() as folder:
        layer = Path(folder) / "layer.tar.gz"
        layer.write_bytes(layers[0])
        assert list(opened(layer)) == ["usr/bin/pharos"]
        program = opened(layer)["usr/bin/pharos"]
        assert program == (CHECKOUT / ".build/pharos").read_bytes()
        if os.geteuid() == 0:
            runs_alone(Path(folder) / "root", layer)


def runs_alone(root, layer):
    """Starts the beacon as a container does: nothing but the program, a read-only root, two capabilities."""
    for name in ("proc", "etc/pharos", "run/pharos", "var/lib/pharos"):
        (root / name).mkdir(parents=True)
    run("tar", "-xzf", layer, "-C", root)
    sample = run(CHECKOUT / ".build/pharos", "sample", "lobby-ibeacon")
    (root / "etc/pharos/lobby.json").write_text(sample.replace("lobby-ibeacon", "lobby"))
    script = """
        mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount -t tmpfs state "$1/var/lib/pharos" &&
        mount -t tmpfs run "$1/run/pharos" && mount -o remount,bind,ro "$1" &&
        exec timeout -s TERM 2 setpriv --bounding-set=-all,+net_admin,+net_raw,+sys_chroot --inh-caps=-all \\
            chroot "$1" /usr/bin/pharos run /etc/pharos/lobby.json --adapter virtual
    """
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "sh", "-c", script, "sh", root], capture_output=True, text=True
    )
    said = done.stdout + done.stderr
    assert "on the air: ibeacon every 100 ms" in said, said
    assert "off the air" in said or done.returncode == 124, said


CHECKS = {
    "the packages are the same, byte for byte, when they are built twice": packages_are_reproducible,
    "the checksums are those of the packages": checksums_are_right,
    "the SPDX document names everything that is contained": contents_are_complete,
    "the OCI image is sound, and its program runs alone": image_is_sound,
}


def main():
    failed = False
    for sentence, check in CHECKS.items():
        try:
            check()
            print(f"release: {sentence}: holds")
        except (AssertionError, subprocess.CalledProcessError, KeyError) as error:
            print(f"release: {sentence}: DOES NOT HOLD\n{error!r}\n{getattr(error, 'stderr', '')}")
            failed = True
    sys.exit(failed)


main()
