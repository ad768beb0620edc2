"""`--distance-model`: the numbers of `pharos scan`, compared with the library that Android phones use.

AltBeacon/android-beacon-library: `CurveFittedDistanceCalculator.calculateDistance`; the coefficients of altbeacon are
those that `model-distance-calculations.json` marks as the default (Nexus 5, LPV79), those of radius the ones that it
had before (still in `ModelSpecificDistanceCalculatorTest`); the mean is that of `RunningAverageRssiFilter`.
"""
import json

import pytest

import pharos
from test_scan import UUID, address, ibeacon, recording, report

#: coefficient1, coefficient2, coefficient3.
CURVES = {"altbeacon": (0.42093, 6.9476, 0.54992), "radius": (0.89976, 7.7095, 0.111)}
POWERS = (-59, -65, -77)
LEVELS = (-30, -45, -58, -59, -60, -66, -77, -90, -100)


def curve(coefficients, power, rssi):
    """In metres."""
    ratio = rssi / power
    factor, exponent, offset = coefficients
    return ratio ** 10 if ratio < 1 else factor * ratio ** exponent + offset


def android_mean(levels):
    """Of more than two levels: a tenth is left out at each end, and one more."""
    kept = sorted(levels)[len(levels) // 10 + 1:len(levels) - len(levels) // 10 - 1]
    return sum(kept) / len(kept)


def test_the_arithmetic_gives_what_the_library_expects():
    """By its own test: a Moto X Pro at -58 dBm, of a beacon with -49 dBm at 1 m, which stood 3 m away."""
    assert curve((0.9401940951, 6.170094565, 0.0), -49, -58) == pytest.approx(2.661125466, rel=1e-8)


@pytest.mark.parametrize("model", CURVES)
def test_the_distances_are_those_of_the_published_curve(model, tmp_path):
    beacons = {(power, level): number for number, (power, level) in
               enumerate((power, level) for power in POWERS for level in LEVELS)}
    packets = [(100_000 * at + number, report(address(number), ibeacon(2, number, power), level))
               for at in range(9) for (power, level), number in beacons.items()]
    path = recording(tmp_path / "levels.btsnoop", sorted(packets))
    line, = pharos.checked("scan", "--replay", path, "--json", "--every-s", "10", "--distance-model", model).lines()
    told = {each["identity"]: each for each in line["beacons"]}
    assert len(told) == len(beacons)
    for (power, level), number in beacons.items():
        each = told[f"ibeacon:{UUID}-2-{number}"]
        wanted = curve(CURVES[model], power, level)
        assert each["distanceM"] == pytest.approx(wanted, rel=1e-3, abs=0.0051), (power, level)


@pytest.mark.parametrize("model", CURVES)
def test_a_spread_of_levels_gives_nearly_what_android_shows(model, tmp_path):
    """Our mean leaves out one level less at each end."""
    levels = [-60, -62, -65, -61, -90, -59, -63, -64, -62, -61]
    assert android_mean(levels) == pytest.approx(-62.1667, abs=1e-4)
    packets = [(100_000 * at, report(address(1), ibeacon(1, 1), level)) for at, level in enumerate(levels)]
    path = recording(tmp_path / "ten.btsnoop", packets)
    out = pharos.checked("scan", "--replay", path, "--json", "--every-s", "10", "--distance-model", model).out
    each, = json.loads(out)["beacons"]
    kept = sorted(levels)[1:-1]
    assert each["rssiDbm"]["mean"] == pytest.approx(sum(kept) / len(kept), abs=0.006)
    assert each["distanceM"] == pytest.approx(curve(CURVES[model], -59, android_mean(levels)), rel=0.02)
