"""Encrypted TLM against pycryptodome and ephemeral identifiers against cryptography, in scapy's frames."""
import random
import struct
from typing import NamedTuple

import pytest

import independent as other
import pharos


class Case(NamedTuple):
    key: bytes
    exponent: int
    seconds: int
    power: int
    salt: bytes
    battery: int
    #: 1/256 °C
    temperature: int
    advertisements: int
    deciseconds: int

    @property
    def rotation(self) -> tuple[str, ...]:
        return ("--identity-key", self.key.hex(), "--rotation-exponent", str(self.exponent),
                "--time-s", str(self.seconds))

    @property
    def telemetry(self) -> tuple[str, ...]:
        whole, tenth = divmod(self.deciseconds, 10)
        return ("--battery-mv", str(self.battery), "--temperature-c", str(self.temperature / 256), "--advertisements",
                str(self.advertisements), "--uptime-s", f"{whole}.{tenth}", *self.rotation, "--salt", self.salt.hex())

    @property
    def sealed(self) -> tuple[bytes, bytes]:
        plain = struct.pack(">HhII", self.battery, self.temperature, self.advertisements, self.deciseconds)
        return other.encrypted_telemetry(self.key, self.exponent, self.seconds, self.salt, plain)

    @property
    def identifier(self) -> bytes:
        return other.ephemeral_identifier(self.key, self.exponent, self.seconds)

    @property
    def ephemeral(self) -> bytes:
        return other.scapy_eid(self.identifier, self.power)

    @property
    def encrypted(self) -> bytes:
        encrypted, check = self.sealed
        return other.scapy_encrypted_tlm(encrypted, self.salt, check)


def _cases() -> list[Case]:
    chance = random.Random("security")
    published = bytes.fromhex("0102030405060708090A111213141516")
    nordic = bytes.fromhex("589417B0324B1B71D7A6751852867AE8")
    corners = [Case(published, 10, 0, -12, bytes(2), 3000, 256, 1, 1),
               Case(published, 10, 2000, -12, b"\xFF\xFF", 1, 0, 0, 0),
               Case(nordic, 10, 65536, 0, b"\xF6\x83", 3333, 0x1C40, 0x48, 0x73),
               Case(nordic, 0, 2**32 - 1, 20, b"\x00\x01", 3000, -1, 5, 6),
               Case(nordic, 15, 65280, -100, b"\x01\x00", 9, -9, 9, 9)]
    return corners + [Case(chance.randbytes(16), chance.randrange(16), chance.getrandbits(32), chance.randint(-100, 20),
                           chance.randbytes(2), chance.randint(1, 65535), chance.randint(-32767, 32767),
                           chance.getrandbits(32), chance.getrandbits(32)) for _ in range(25)]


CASES = _cases()
EIDS = pharos.Decoded(case.ephemeral for case in CASES)
TELEMETRY = pharos.Decoded(case.encrypted for case in CASES)


@pytest.mark.parametrize("case", CASES)
def test_an_identifier_is_that_of_cryptography_in_a_frame_of_scapy(case):
    octets = pharos.encode("eid", *case.rotation, "--measured-power-dbm", str(case.power))
    assert octets.hex() == case.ephemeral.hex()


@pytest.mark.parametrize("case", CASES)
def test_beacontools_and_pharos_read_the_identifier(case):
    read = other.beacontools_parse(case.ephemeral)
    assert (read.eid, read.tx_power) == (case.identifier, case.power)
    assert EIDS.only_frame(case.ephemeral) == {"type": "eddystone-eid", "id": case.identifier.hex(),
                                               "measuredPowerDbm": case.power}


@pytest.mark.parametrize("case", CASES)
def test_encrypted_telemetry_is_that_of_pycryptodome_in_a_frame_of_scapy(case):
    assert pharos.encode("tlm", *case.telemetry).hex() == case.encrypted.hex()


@pytest.mark.parametrize("case", CASES)
def test_encrypted_telemetry_is_read_in_its_three_parts(case):
    encrypted, check = case.sealed
    frame = TELEMETRY.only_frame(case.encrypted)
    assert frame["type"] == "eddystone-etlm"
    assert (frame["encrypted"], frame["salt"], frame["mic"]) == (encrypted.hex(), case.salt.hex(), check.hex())


def _opened(case: Case, octets: bytes) -> dict:
    """The frame of an encrypted TLM decoded with its key, what was inside it merged in."""
    frame = pharos.decode(octets, *case.rotation)["frames"][0]
    for inner in [value for value in frame.values() if isinstance(value, dict)]:
        frame = frame | inner
    return frame


@pytest.mark.parametrize("case", CASES)
def test_encrypted_telemetry_is_opened_with_the_key(case):
    frame = _opened(case, case.encrypted)
    assert (frame["batteryMv"], frame["advertisements"]) == (case.battery, case.advertisements)
    assert frame["temperatureC"] == pytest.approx(case.temperature / 256, abs=1e-9)
    assert frame["uptimeS"] == pytest.approx(case.deciseconds / 10, abs=1e-6)


def test_a_wrong_check_opens_nothing():
    case = CASES[2]
    encrypted, check = case.sealed
    result = pharos.run("decode", other.scapy_encrypted_tlm(encrypted, case.salt, b"\x46\xA9").hex(), "--json",
                        *case.rotation)
    assert check != b"\x46\xA9" and "batteryMv" not in result.out
    assert 0 <= result.code < 128
