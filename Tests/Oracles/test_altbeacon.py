"""AltBeacon against scapy, both ways. (beacontools and PyBeacon know no AltBeacon.)"""
import random
from typing import NamedTuple

import pytest

import independent as other
import pharos


class Case(NamedTuple):
    company: int
    beacon: bytes
    power: int
    reserved: int

    @property
    def options(self) -> tuple[str, ...]:
        return ("--company-id", f"{self.company:#06x}", "--id", self.beacon.hex(),
                "--measured-power-dbm", str(self.power), "--reserved", str(self.reserved))

    @property
    def octets(self) -> bytes:
        return other.scapy_altbeacon(*self)


def _cases() -> list[Case]:
    chance = random.Random("AltBeacon")
    corners = [Case(0x0118, bytes(20), 0, 0), Case(0xFFFF, b"\xFF" * 20, -127, 255),
               Case(0x0118, bytes(range(20)), -59, 1)]
    return corners + [
        Case(chance.randrange(65536), chance.randbytes(20), -chance.randrange(128), chance.randrange(256))
        for _ in range(25)]


CASES = _cases()
READ = pharos.Decoded(case.octets for case in CASES)


@pytest.mark.parametrize("case", CASES)
def test_the_octets_are_those_of_scapy(case):
    assert pharos.encode("altbeacon", *case.options).hex() == case.octets.hex()


@pytest.mark.parametrize("case", CASES)
def test_scapy_reads_what_was_asked(case):
    read = other.scapy_layer(pharos.encode("altbeacon", *case.options), other.AltBeacon)
    assert read.id1.bytes + read.id2.to_bytes(2, "big") + read.id3.to_bytes(2, "big") == case.beacon
    assert (read.tx_power, read.mfg_reserved) == (case.power, case.reserved)


@pytest.mark.parametrize("case", CASES)
def test_what_scapy_wrote_is_read(case):
    frame = READ.only_frame(case.octets)
    assert (frame["type"], frame["measuredPowerDbm"], frame["reserved"]) == ("altbeacon", case.power, case.reserved)
    assert frame["companyId"] == case.company
    assert frame["id"] == case.beacon.hex()


def test_the_reserved_octet_is_zero_where_nothing_is_said():
    assert pharos.encode("altbeacon", *CASES[0].options[:-2]) == CASES[0].octets
