"""Custom AD layouts, and arbitrary octets, against Bumble's parser of advertising data and one of our own."""
import random

import pytest
from bumble.core import AdvertisingData

import pharos

#: Flags; TX power level +3 dBm; name; one 128-bit UUID, least significant byte first.
THESIS = ["01:06", "0a:03", "09:4e64654d31", "07:669a0c200008fdbce2113345d05da467"]


def structures(octets: bytes) -> tuple[list[tuple[int, bytes]], bool]:
    """Type and data of every AD structure that is whole, and whether all is as the specification says."""
    found, at = [], 0
    while at < len(octets) and octets[at]:
        end = at + 1 + octets[at]
        if end > len(octets):
            return found, False
        found.append((octets[at + 1], octets[at + 2:end]))
        at = end
    return found, not any(octets[at:])


def _layouts() -> list[list[tuple[int, bytes]]]:
    chance = random.Random("layouts")
    types = [0x09, 0x0A, 0x16, 0x1B, 0x21, 0x3D, 0x99, 0xFF]
    layouts = []
    while len(layouts) < 20:
        layout = [(chance.choice(types), chance.randbytes(chance.randrange(12))) for _ in range(chance.randint(1, 4))]
        if sum(2 + len(data) for _, data in layout) <= 31:
            layouts.append(layout)
    return layouts


def raw(described) -> bytes:
    return pharos.encode("raw", *[word for structure in described for word in ("--structure", structure)])


@pytest.mark.parametrize("layout", _layouts())
def test_a_layout_is_read_by_bumble_and_by_pharos(layout):
    octets = raw(f"{kind:02x}:{data.hex()}" for kind, data in layout)
    assert structures(octets) == (layout, True)
    assert [(int(kind), bytes(data)) for kind, data in AdvertisingData.from_bytes(octets).ad_structures] == layout
    read = [(structure["type"], bytes.fromhex(structure["data"])) for structure in pharos.decode(octets)["structures"]]
    assert read == layout


def test_the_advertiser_of_the_thesis_fills_31_octets():
    octets = raw(THESIS)
    assert octets.hex() == "020106" "020a03" "06094e64654d31" "1107669a0c200008fdbce2113345d05da467"
    assert len(octets) == 31


def _random_octets() -> list[bytes]:
    chance = random.Random("octets")
    whole = bytes.fromhex("0201060303aafe1716aafe00e3123456789012346789010000000000010000")
    cut = [whole[:length] for length in (1, 2, 3, 5, 7, 11, 12, 13, 20, 30)]
    bent = [whole[:at] + chance.randbytes(1) + whole[at + 1:] for at in range(0, 31, 2)]
    return cut + bent + [chance.randbytes(chance.randint(1, 31)) for _ in range(25)] \
        + [whole + bytes(8), bytes(31), b"\xFF" * 31, bytes.fromhex("02010600000001"), bytes.fromhex("00")]


OCTETS = _random_octets()
READ = pharos.Decoded(OCTETS)


@pytest.mark.parametrize("octets", OCTETS, ids=bytes.hex)
def test_any_octets_give_the_structures_that_are_in_them_or_a_problem(octets):
    answer = READ.answers[octets]
    expected, is_whole = structures(octets)
    read = [(structure["type"], bytes.fromhex(structure["data"])) for structure in answer["structures"]]
    assert read[:len(expected)] == expected
    if not is_whole:
        assert answer["problems"] != []
