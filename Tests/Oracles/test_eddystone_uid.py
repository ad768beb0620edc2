"""Eddystone-UID against scapy, PyBeacon and beacontools."""
import hashlib
import random
import uuid
from typing import NamedTuple

import pytest

import independent as other
import pharos


class Case(NamedTuple):
    namespace: bytes
    instance: bytes
    power: int

    @property
    def options(self) -> tuple[str, ...]:
        return ("--namespace", self.namespace.hex(), "--instance", self.instance.hex(),
                "--measured-power-dbm", str(self.power))

    @property
    def octets(self) -> bytes:
        return other.scapy_uid(*self)


def _cases() -> list[Case]:
    chance = random.Random("UID")
    corners = [Case(bytes(10), bytes(6), -100), Case(b"\xFF" * 10, b"\xFF" * 6, 20), Case(bytes(10), bytes(6), 0)]
    return corners + [Case(chance.randbytes(10), chance.randbytes(6), chance.randint(-100, 20)) for _ in range(25)]


CASES = _cases()
READ = pharos.Decoded(case.octets for case in CASES)


@pytest.mark.parametrize("case", CASES)
def test_the_octets_are_those_of_scapy(case):
    assert pharos.encode("uid", *case.options).hex() == case.octets.hex()


@pytest.mark.parametrize("case", CASES)
def test_the_octets_are_those_of_pybeacon(case):
    sent = other.pybeacon_octets((case.namespace + case.instance).hex(), other.pybeacon.Eddystone.uid)
    assert other.as_pybeacon_sends(pharos.encode("uid", *case.options)).hex() == sent.hex()


@pytest.mark.parametrize("case", CASES)
def test_beacontools_reads_what_was_asked(case):
    read = other.beacontools_parse(pharos.encode("uid", *case.options))
    assert (bytes.fromhex(read.namespace), bytes.fromhex(read.instance), read.tx_power) == case


@pytest.mark.parametrize("case", CASES)
def test_what_scapy_wrote_is_read(case):
    frame = READ.only_frame(case.octets)
    assert frame == {"type": "eddystone-uid", "namespace": case.namespace.hex(), "instance": case.instance.hex(),
                     "measuredPowerDbm": case.power}


def test_a_frame_of_old_senders_without_the_two_reserved_octets_is_read():
    short = CASES[5].octets[:7] + b"\x15" + CASES[5].octets[8:-2]
    frame = pharos.decode(short)["frames"][0]
    assert (frame["namespace"], frame["instance"]) == (CASES[5].namespace.hex(), CASES[5].instance.hex())


@pytest.mark.parametrize("domain", ["example.org", "pharos.example", "a.b.c.example.com"])
def test_a_namespace_comes_from_a_domain_name(domain):
    octets = pharos.encode("uid", "--namespace-from-domain", domain, *CASES[0].options[2:])
    assert octets[13:23] == hashlib.sha1(domain.encode()).digest()[:10]


@pytest.mark.parametrize("number", range(5))
def test_a_namespace_comes_from_a_uuid_without_its_middle(number):
    identifier = uuid.UUID(int=random.Random(number).getrandbits(128), version=4)
    octets = pharos.encode("uid", "--namespace-from-uuid", str(identifier), *CASES[0].options[2:])
    assert octets[13:23] == identifier.bytes[:4] + identifier.bytes[10:]


@pytest.mark.parametrize("one_meter", [-100, -59, -41, -21])
def test_the_power_at_one_meter_is_41_db_less(one_meter):
    octets = pharos.encode("uid", *CASES[3].options[:4], "--measured-power-1m-dbm", str(one_meter))
    assert other.beacontools_parse(octets).tx_power == one_meter + 41
