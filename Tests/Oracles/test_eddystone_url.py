"""Eddystone-URL against scapy, PyBeacon and beacontools, and against every legal encoding there is."""
import functools
import random

import pytest

import independent as other
import pharos
from known_faults import without

SCHEMES = ["http://www.", "https://www.", "http://", "https://"]
EXPANSIONS = [".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/",
              ".com", ".org", ".edu", ".net", ".info", ".biz", ".gov"]


def shortest(url: str) -> int:
    """Octets after the scheme octet in the shortest of all legal encodings, each of them tried."""

    @functools.cache
    def fewest(text: str) -> int:
        if not text:
            return 0
        steps = [1] + [len(word) for word in EXPANSIONS if text.startswith(word)]
        return min(1 + fewest(text[step:]) for step in steps)

    return min(fewest(url[len(scheme):]) for scheme in SCHEMES if url.startswith(scheme))


def _urls() -> list[str]:
    chance = random.Random("URL")
    fixed = ["https://www.info/", "http://www.com", "https://www.org/a", "http://www.biz/www.biz",
             "https://x.community", "https://a.com.com/", "http://a.comm", "https://a/b.org/c.org",
             "https://goo.gl/SkcDTN", "http://.com", "https://example.org/n2", "https://www.example.com/",
             "http://a", "https://A.COM/b", "https://a.gov.gov/.g", "https://~!*'();:@&=+$",
             "http://,/?#[]%20-_.~"]
    letters = "abcxyz0189-._~/%?&=#"
    found: list[str] = []
    while len(found) < 60:
        pieces = [chance.choice(EXPANSIONS + [chance.choice(letters) * chance.randint(1, 3), "www", "info", "."])
                  for _ in range(chance.randint(1, 6))]
        url = chance.choice(SCHEMES) + "".join(pieces)
        if 1 <= shortest(url) <= 17:
            found.append(url)
    return fixed + found


URLS = _urls()
_chance = random.Random("power of URL")
POWERS = {url: _chance.randint(-100, 20) for url in URLS}
READ = pharos.Decoded(other.scapy_url(url, POWERS[url]) for url in URLS)


def encoded(url: str) -> bytes:
    return pharos.encode("url", "--url", url, "--measured-power-dbm", str(POWERS[url]))


def first_scheme_is_not_shortest(url: str) -> bool:
    """The corner in which a scheme with "www." costs more than one without."""
    first = next(scheme for scheme in SCHEMES if url.startswith(scheme))
    plain = first.removesuffix("www.")
    return first != plain and shortest(plain + url[len(plain):]) < len(other.scapy_url(url, 0)) - 13 - 1


@pytest.mark.parametrize("url", URLS)
def test_the_encoding_is_the_shortest_that_is_legal(url):
    octets = encoded(url)
    assert octets[:7] == bytes.fromhex("0201060303aafe") and octets[8:12] == bytes.fromhex("16aafe10")
    assert octets[7] == len(octets) - 8 == 6 + shortest(url)


@pytest.mark.parametrize("url", without("scapy: first scheme wins", URLS, first_scheme_is_not_shortest))
def test_the_octets_are_those_of_scapy(url):
    assert encoded(url).hex() == other.scapy_url(url, POWERS[url]).hex()


@pytest.mark.parametrize("url", without("PyBeacon: first scheme wins", URLS, first_scheme_is_not_shortest))
def test_the_octets_are_those_of_pybeacon(url):
    sent = other.pybeacon_octets(url, other.pybeacon.Eddystone.url)
    assert other.as_pybeacon_sends(encoded(url)).hex() == sent.hex()


@pytest.mark.parametrize("url", URLS)
def test_every_reader_finds_the_url_again(url):
    octets = encoded(url)
    tools = other.beacontools_parse(octets)
    assert (tools.url, tools.tx_power) == (url, POWERS[url])
    assert other.scapy_layer(octets, other.Eddystone_URL).to_url().decode() == url
    assert other.pybeacon.decodeUrl(list(octets[13:])) == url


@pytest.mark.parametrize("url", URLS)
def test_what_scapy_wrote_is_read(url):
    frame = READ.only_frame(other.scapy_url(url, POWERS[url]))
    assert frame == {"type": "eddystone-url", "url": url, "measuredPowerDbm": POWERS[url]}


@pytest.mark.parametrize("octet", [0x0E, 0x20, 0x7F, 0x80, 0xFF])
def test_a_reserved_octet_is_a_problem(octet):
    octets = bytes.fromhex("0201060303aafe0916aafe10ee0361") + bytes([octet]) + b"b"
    assert pharos.decode(octets)["problems"] != []
