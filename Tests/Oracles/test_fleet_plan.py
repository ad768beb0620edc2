"""`pharos plan --from-fleet` against the product formula, computed here from what `fleet generate` wrote."""
import json
import random

import pytest

import pharos

#: Octets of advertising data, by the frames' own specifications: flags 3, UUID list 4, and the frame's structure.
LENGTHS = {"ibeacon": 3 + 27, "altbeacon": 3 + 28, "eddystone-uid": 3 + 4 + 24, "eddystone-eid": 3 + 4 + 14}
ENDINGS = [".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/",
           ".com", ".org", ".edu", ".net", ".info", ".biz", ".gov"]


def url_octets(url: str) -> int:
    """The octets behind the scheme's: endings of host names are one each."""
    for scheme in ("https://www.", "http://www.", "https://", "http://"):
        if url.startswith(scheme):
            rest = url[len(scheme):]
            break
    count = 0
    while rest:
        ending = next((ending for ending in ENDINGS if rest.startswith(ending)), rest[0])
        rest = rest[len(ending):]
        count += 1
    return count


def octets(advertisement: dict) -> int:
    kind = advertisement["type"]
    if "payloadOctets" in advertisement:
        return advertisement["payloadOctets"]
    if kind == "eddystone-url":
        return 3 + 4 + 4 + 3 + url_octets(advertisement["url"])
    if kind == "eddystone-tlm":
        return 3 + 4 + (22 if "identityKeyFile" in advertisement else 18)
    return LENGTHS[kind]


def airtime(advertisement: dict) -> float:
    """In ms: preamble, address, header, the advertiser's address, the data, CRC, at one bit a µs."""
    return 8 * (1 + 4 + 2 + 6 + octets(advertisement) + 3) / 1000


def mean_period(advertisement: dict) -> float:
    """In ms: as the controller counts, in steps of 0.625 ms, and half of advDelay."""
    return int(advertisement["intervalMs"] / 0.625 + 0.5) * 0.625 + 5


def clear_share(beacons: list[dict]) -> float:
    """Of all packets of these boxes, the share that no packet of another box touches."""
    clear = offered = 0.0
    for beacon in beacons:
        for asked in beacon["advertisements"]:
            product = 1.0
            for other in beacons:
                if other is not beacon:
                    for sent in other["advertisements"]:
                        product *= 1 - (airtime(asked) + airtime(sent)) / mean_period(sent)
            clear += product / mean_period(asked)
            offered += 1 / mean_period(asked)
    return clear / offered


def load(beacons: list[dict]) -> float:
    return sum(airtime(sent) / mean_period(sent) for beacon in beacons for sent in beacon["advertisements"])


def made_fleet(seed: int) -> dict:
    """Boxes of several sites with mixtures of their own."""
    chance = random.Random(seed)
    sites = [f"site-{number}" for number in range(chance.randint(1, 3))]
    advertisements = chance.sample([
        {"type": "ibeacon", "uuid": "3c2a6f0e-5b1d-4e77-9a48-0d6f2c9b7e11", "major": 1, "minor": "${minor}",
         "intervalMs": "${fast}", "measuredPowerDbm": -59},
        {"type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "${instance}",
         "intervalMs": "${slow}", "measuredPower1mDbm": -59},
        {"type": "eddystone-url", "url": "https://www.example.org/${page}", "intervalMs": 500,
         "measuredPower1mDbm": -59},
        {"type": "eddystone-tlm", "intervalMs": 5000},
        {"type": "raw", "structures": [{"type": "complete-local-name", "name": "${page}"}], "intervalMs": 900},
    ], chance.randint(1, 5))
    used = json.dumps(advertisements)
    beacons = []
    for number in range(chance.randint(2, 40)):
        variables = {"fast": chance.choice([100, 152.5, 211.3, 250, 400]), "slow": chance.choice([760, 1000.1, 1285]),
                     "page": "x" * chance.randint(1, 4)}
        variables = {name: value for name, value in variables.items() if f"${{{name}}}" in used}
        beacons.append({"name": f"b-{number}", "group": chance.choice(sites), "variables": variables})
    return {"version": 1, "name": "made", "template": {"advertisements": advertisements},
            "identities": {"minor": {"within": "fleet"}, "instance": {"from": "counter"}},
            "groups": [{"name": site} for site in sites], "beacons": beacons}


def plan(*arguments) -> dict:
    return json.loads(pharos.checked("plan", *arguments, "--json").out)


@pytest.mark.parametrize("seed", range(12))
def test_every_site_is_the_product_over_all_other_boxes(seed, tmp_path):
    fleet = tmp_path / "made.json"
    fleet.write_text(json.dumps(made_fleet(seed)), encoding="utf-8")
    before = plan("collisions", "--from-fleet", fleet)
    pharos.checked("fleet", "generate", fleet, "--output", tmp_path / "files")
    manifest = json.loads((tmp_path / "files" / "manifest.json").read_text(encoding="utf-8"))
    sites: dict[str, list] = {}
    for beacon in manifest["beacons"]:
        sites.setdefault(beacon["group"].split("/")[0], []).append(beacon)
    for source in (fleet, tmp_path / "files"):
        answer = plan("collisions", "--from-fleet", source)
        found = answer.get("sites", [answer])
        assert sorted(site["site"] for site in found) == sorted(sites)
        for site in found:
            beacons = sites[site["site"]]
            assert site["beacons"] == len(beacons)
            assert site["collisionFreeProbability"] == pytest.approx(clear_share(beacons), rel=1e-9)
            assert site["channelLoad"] == pytest.approx(load(beacons), rel=1e-9)
            rate = sum(1000 / mean_period(sent) for beacon in beacons for sent in beacon["advertisements"])
            assert site["arrivalsPerSecondPerBeacon"] == pytest.approx(
                rate * clear_share(beacons) / len(beacons), rel=1e-9)
    assert plan("collisions", "--from-fleet", fleet) == before, "identities play no part"


@pytest.mark.parametrize("seed", range(4))
def test_the_check_of_the_fleet_says_the_same(seed, tmp_path):
    fleet = tmp_path / "made.json"
    fleet.write_text(json.dumps(made_fleet(seed)), encoding="utf-8")
    check = json.loads(pharos.checked("fleet", "check", fleet, "--json").out)
    answer = plan("collisions", "--from-fleet", fleet)
    found = {site["site"]: site["collisionFreeProbability"] for site in answer.get("sites", [answer])}
    assert {site["name"]: site["collisionFreeProbability"] for site in check["sites"]} == found


def test_the_same_fleet_gives_the_same_octets(tmp_path):
    fleet = tmp_path / "made.json"
    fleet.write_text(json.dumps(made_fleet(7)), encoding="utf-8")
    outputs = {pharos.checked("plan", "collisions", "--from-fleet", fleet, "--json").out for _ in range(5)}
    assert len(outputs) == 1


def test_latency_in_a_mixture_is_that_of_its_clear_share(tmp_path):
    """One packet type among others of other intervals: losses are independent, so the wait is geometric."""
    beacons = [{"name": "asked", "group": "hall", "variables": {"fast": 300}}]
    beacons += [{"name": f"b-{number}", "group": "hall", "variables": {"fast": 20 + 2.5 * number}}
                for number in range(80)]
    fleet = {"version": 1, "name": "made", "groups": [{"name": "hall"}], "beacons": beacons,
             "template": {"advertisements": [{"type": "eddystone-tlm", "intervalMs": "${fast}"}]}}
    path = tmp_path / "made.json"
    path.write_text(json.dumps(fleet), encoding="utf-8")
    answer = plan("latency", "--from-fleet", path, "--scanner", "continuous")
    assert answer["advertisement"]["intervalMs"] == 300
    tau = 8 * (16 + 25) / 1000
    clear = 1.0
    for beacon in beacons[1:]:
        clear *= 1 - 2 * tau / (int(beacon["variables"]["fast"] / 0.625 + 0.5) * 0.625 + 5)
    assert answer["collisionFreeProbability"] == pytest.approx(clear, rel=1e-9)
    # P(later than the first event) = 1 - clear: the 50th percentile lies in the first or a later period.
    losses, share = 0, 0.0
    while share + clear * (1 - clear) ** losses < 0.5:
        share += clear * (1 - clear) ** losses
        losses += 1
    expected = (losses + (0.5 - share) / (clear * (1 - clear) ** losses)) * 0.305
    assert answer["latencyS"]["p50"] == pytest.approx(expected, rel=0.05)
