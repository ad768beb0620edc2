"""Manifests as `pharos fleet generate` writes them, for the tests of what is made from them."""
import json
from pathlib import Path

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"


def beacon(number: int, **more) -> dict:
    """One beacon with an iBeacon, a UID and a URL."""
    return {
        "name": f"hall-{number}", "group": "museum/ground/hall", "host": f"pi-{number}.example", "adapter": "hci0",
        "address": f"D0:11:22:33:{number >> 8:02X}:{number & 255:02X}", "position": {"x": number, "y": 2.5},
        "profileHash": f"{number:016x}",
        "advertisements": [
            {"type": "ibeacon", "uuid": UUID, "major": 1, "minor": number, "intervalMs": 200, "radioPowerDbm": -4,
             "measuredPowerDbm": -59},
            {"type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": f"{number:012x}",
             "intervalMs": 350},
            {"type": "eddystone-url", "url": f"https://example.org/n{number}", "intervalMs": 700},
        ],
        **more,
    }


def rotating(number: int, **more) -> dict:
    """One beacon with an ephemeral id."""
    rotation = {"type": "eddystone-eid", "intervalMs": 1000, "identityKeyFile": f"keys/hall-{number}.key",
                "rotationExponent": 10}
    return beacon(number, eidEpoch="2026-03-01T12:00:00Z", advertisements=[rotation], **more)


def write(directory: Path, beacons: list[dict], fleet: str = "museum") -> Path:
    """`manifest.json`, one beacon a line."""
    directory.mkdir(exist_ok=True, parents=True)
    lines = ",\n".join(json.dumps(beacon, separators=(",", ":")) for beacon in beacons)
    path = directory / "manifest.json"
    path.write_text(f'{{"version":1,"fleet":{json.dumps(fleet)},"beacons":[\n{lines}\n]}}\n')
    return path
