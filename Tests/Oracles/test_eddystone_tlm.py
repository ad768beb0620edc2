"""Eddystone-TLM against scapy and beacontools, and its temperatures against arithmetic of our own."""
import random
import struct
from typing import NamedTuple

import pytest

import independent as other
import pharos
from known_faults import without


class Case(NamedTuple):
    battery: int
    #: 1/256 °C
    temperature: int
    advertisements: int
    deciseconds: int

    @property
    def celsius(self) -> float:
        return self.temperature / 256

    @property
    def options(self) -> tuple[str, ...]:
        whole, tenth = divmod(self.deciseconds, 10)
        return ("--battery-mv", str(self.battery), "--temperature-c", str(self.celsius),
                "--advertisements", str(self.advertisements), "--uptime-s", f"{whole}.{tenth}")

    @property
    def octets(self) -> bytes:
        """As scapy encodes it, with the temperature put in by ourselves."""
        octets = other.scapy_tlm(self.battery, 0, self.advertisements, self.deciseconds)
        return octets[:15] + struct.pack(">h", self.temperature) + octets[17:]


def _cases() -> list[Case]:
    chance = random.Random("TLM")
    corners = [Case(1, 0, 0, 0), Case(65535, 32767, 2**32 - 1, 2**32 - 1), Case(3000, -32767, 1, 1),
               Case(3213, -4096, 95581, 2777770), Case(500, 5760, 0x01020304, 0x05060708), Case(3000, -1, 9, 10)]
    return corners + [
        Case(chance.randint(1, 65535), chance.randint(-32767, 32767), chance.getrandbits(32), chance.getrandbits(32))
        for _ in range(34)]


CASES = _cases()
READ = pharos.Decoded(case.octets for case in CASES)


@pytest.mark.parametrize("case", CASES)
def test_the_octets_are_those_of_scapy(case):
    assert pharos.encode("tlm", *case.options).hex() == case.octets.hex()


@pytest.mark.parametrize("case", without("scapy: TLM below 0 °C", CASES, lambda case: case.temperature < 0))
def test_the_temperature_is_that_of_scapy(case):
    sent = other.scapy_tlm(case.battery, case.celsius, case.advertisements, case.deciseconds)
    assert pharos.encode("tlm", *case.options).hex() == sent.hex()


@pytest.mark.parametrize("case", without("beacontools: TLM below 0 °C", CASES, lambda case: case.temperature < 0))
def test_beacontools_reads_what_was_asked(case):
    read = other.beacontools_parse(pharos.encode("tlm", *case.options))
    assert (read.voltage, read.temperature, read.advertising_count, read.seconds_since_boot) \
        == (case.battery, case.celsius, case.advertisements, case.deciseconds)


@pytest.mark.parametrize("case", CASES)
def test_what_scapy_wrote_is_read(case):
    frame = READ.only_frame(case.octets)
    assert frame["type"] == "eddystone-tlm"
    assert (frame["batteryMv"], frame["advertisements"]) == (case.battery, case.advertisements)
    assert frame["temperatureC"] == pytest.approx(case.celsius, abs=1e-9)
    assert frame["uptimeS"] == pytest.approx(case.deciseconds / 10, abs=1e-6)


def test_what_is_not_known_is_sent_as_unknown_and_read_as_null():
    octets = pharos.encode("tlm")
    assert octets[13:17].hex() == "00008000"
    frame = pharos.only_frame(octets, pharos.decode(octets))
    assert (frame["batteryMv"], frame["temperatureC"]) == (None, None)


@pytest.mark.parametrize("celsius, octets", [
    ("21.25", "1540"), ("-4.5", "fb80"), ("-0.1", "ffe6"), ("127.996", "7fff"), ("-128", "8001"), ("0", "0000"),
    ("0.002", "0001"), ("-0.002", "ffff"), ("0.0019", "0000"), ("-127.998", "8001"), ("22.5", "1680")])
def test_a_temperature_is_rounded_to_the_nearest_256th(celsius, octets):
    assert pharos.encode("tlm", "--temperature-c", celsius)[15:17].hex() == octets
