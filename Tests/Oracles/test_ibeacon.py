"""iBeacon against scapy (both ways) and beacontools (reading)."""
import random
import uuid
from typing import NamedTuple

import pytest

import independent as other
import pharos


class Case(NamedTuple):
    identifier: uuid.UUID
    major: int
    minor: int
    power: int

    @property
    def options(self) -> tuple[str, ...]:
        return ("--uuid", str(self.identifier), "--major", str(self.major), "--minor", str(self.minor),
                "--measured-power-dbm", str(self.power))

    @property
    def octets(self) -> bytes:
        return other.scapy_ibeacon(*self)


def _cases() -> list[Case]:
    chance = random.Random("iBeacon")
    corners = [Case(uuid.UUID(int=0), 0, 0, 0), Case(uuid.UUID(int=2**128 - 1), 65535, 65535, -127),
               Case(uuid.UUID("fb0b57a2-8228-44cd-913a-94a122ba1206"), 1, 2, -59), Case(uuid.UUID(int=1), 256, 255, -1)]
    return corners + [
        Case(uuid.UUID(int=chance.getrandbits(128)), chance.randrange(65536), chance.randrange(65536),
             -chance.randrange(128)) for _ in range(36)]


CASES = _cases()
READ = pharos.Decoded(case.octets for case in CASES)


@pytest.mark.parametrize("case", CASES)
def test_the_octets_are_those_of_scapy(case):
    assert pharos.encode("ibeacon", *case.options).hex() == case.octets.hex()


@pytest.mark.parametrize("case", CASES)
def test_beacontools_reads_what_was_asked(case):
    read = other.beacontools_parse(pharos.encode("ibeacon", *case.options))
    assert (uuid.UUID(read.uuid), read.major, read.minor, read.tx_power) == case


@pytest.mark.parametrize("case", CASES)
def test_what_scapy_wrote_is_read(case):
    frame = READ.only_frame(case.octets)
    assert frame == {"type": "ibeacon", "uuid": str(case.identifier), "major": case.major, "minor": case.minor,
                     "measuredPowerDbm": case.power} | _flags(frame)


def _flags(frame: dict) -> dict:
    """Flags may be reported with the frame; they have their own place among the structures anyway."""
    return {"flags": frame["flags"]} if "flags" in frame else {}


@pytest.mark.parametrize("flags", [0x06, 0x1A, 0x04])
def test_flags_are_an_option(flags):
    octets = pharos.encode("ibeacon", *CASES[2].options, "--flags", f"{flags:#04x}")
    assert octets == bytes([2, 1, flags]) + CASES[2].octets[3:]
    assert pharos.decode(octets)["structures"][0] == {"type": 1, "name": "flags", "data": f"{flags:02x}"}


@pytest.mark.parametrize("text", ["FB0B57A2-8228-44CD-913A-94A122BA1206", "fb0b57a2822844cd913a94a122ba1206",
                                  "FB0B57A2822844CD913A94A122BA1206"])
def test_a_uuid_is_taken_as_people_have_it(text):
    assert pharos.encode("ibeacon", "--uuid", text, *CASES[2].options[2:]) == CASES[2].octets
