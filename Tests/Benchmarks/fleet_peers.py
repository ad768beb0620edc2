"""The manifests of a fleet, made with Python's csv and json: `fleet_peers.py TABLE FOLDER`.

What `pharos fleet generate --manifest-only` does with the benchmark's fleet, as far as those modules take one: reads
the
table, gives identities out, refuses what is there twice, and writes manifest.json and manifest.csv with the same fields
of the same lengths. Without lock, airtime, controllers and places in messages.
"""
import csv
import hashlib
import json
import sys
from pathlib import Path

UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"
COLUMNS = (
    "name,site,floor,room,host,serial,controller,adapter,address,x,y,z,latitude,longitude,profileHash,eidEpoch,"
    "advertisement,type,uuid,major,minor,companyId,id,namespace,instance,url,intervalMs,radioPowerDbm,"
    "measuredPowerDbm,identityKeyFile,rotationExponent,payloadOctets").split(",")


def only_once(seen: set, value) -> None:
    if value in seen:
        sys.exit(f"{value} is there twice")
    seen.add(value)


def main(table: str, folder: Path) -> None:
    names, identities, majors, minors = set(), set(), {}, {}
    folder.mkdir(exist_ok=True)
    with open(table, newline="", encoding="utf-8") as source, \
            open(folder / "manifest.json", "w", encoding="utf-8") as manifest, \
            open(folder / "manifest.csv", "w", newline="", encoding="utf-8") as lines:
        cells = csv.writer(lines)
        cells.writerow(COLUMNS)
        manifest.write('{"version":1,"fleet":"benchmark","beacons":[')
        separator = "\n"
        for row in csv.DictReader(source):
            name, site = row["name"], row["site"]
            only_once(names, name)
            major = majors.setdefault(site, len(majors) + 1)
            minor = minors[site] = minors.get(site, 0) + 1
            only_once(identities, (UUID, major, minor))
            url = f"https://e.org/{row['page']}"
            only_once(identities, url)
            digest = hashlib.sha256(name.encode()).digest()
            address = ":".join(f"{octet:02X}" for octet in (digest[0] | 0xC0, *digest[1:6]))
            profile = json.dumps({
                "version": 1, "name": name, "address": address, "advertisements": [
                    {"type": "ibeacon", "uuid": UUID, "major": major, "minor": minor, "intervalMs": 2500,
                     "measuredPowerDbm": -59},
                    {"type": "eddystone-url", "url": url, "intervalMs": 2500, "measuredPowerDbm": -18}]}, indent=2)
            fingerprint = hashlib.sha256(profile.encode()).hexdigest()[:16]
            advertisements = [
                {"type": "ibeacon", "uuid": UUID, "major": major, "minor": minor, "intervalMs": 2500,
                 "measuredPowerDbm": -59},
                {"type": "eddystone-url", "url": url, "intervalMs": 2500, "measuredPowerDbm": -18}]
            manifest.write(separator + json.dumps({
                "name": name, "group": f"{site}/{row['floor']}/{row['room']}", "host": row["host"],
                "serial": row["serial"], "address": address,
                "position": {"x": json.loads(row["x"]), "y": json.loads(row["y"])}, "profileHash": fingerprint,
                "advertisements": advertisements}, separators=(",", ":")))
            separator = ",\n"
            start = [name, site, row["floor"], row["room"], row["host"], row["serial"], "", "", address, row["x"],
                     row["y"], "", "", "", fingerprint, ""]
            cells.writerow([*start, 1, "ibeacon", UUID, major, minor, "", "", "", "", "", 2500, "", -59, "", "", ""])
            cells.writerow([*start, 2, "eddystone-url", "", "", "", "", "", "", "", url, 2500, "", -18, "", "", ""])
        manifest.write("\n]}\n")


main(sys.argv[1], Path(sys.argv[2]))
