"""What the other implementations are known to get wrong, by name, with a proof for each that it still is so.

A test that leaves cases out says which fault is the reason (`without`), so that nothing is left out silently;
test_known_faults.py runs every proof, so that a fault that was mended upstream does not stay on the list.
"""
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

import btsnoop
import independent as other

Case = TypeVar("Case")


class Fault(NamedTuple):
    reason: str
    still_there: Callable[[], bool]
    #: Where it is not a library: the program that must be installed.
    program: str | None = None


def _tlm(temperature: bytes) -> bytes:
    return bytes.fromhex("0201060303aafe1116aafe20000c8d") + temperature + bytes.fromhex("0001755d10885a5b")


def _scapy_reads(octets: bytes) -> float:
    return float(other.scapy_layer(octets, other.Eddystone_TLM_Unencrypted).temperature)


def _raises(kind, call) -> bool:
    try:
        call()
    except kind:
        return True
    return False


_REPORT = btsnoop.legacy_report(other.scapy_ibeacon(other.uuid.UUID(int=7), 1, 2, -59))


def _shown(*command: str, report: btsnoop.Packet) -> str:
    """What a program prints about a capture of one report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.btsnoop"
        btsnoop.write(path, btsnoop.H4, [report])
        return subprocess.run([*command, path], capture_output=True, text=True, timeout=60).stdout


KNOWN_FAULTS: dict[str, Fault] = {
    "scapy: TLM below 0 °C": Fault(
        "an unsigned fixed-point field: writes -4.5 °C as FF80 and reads F000 (-16 °C) as 240",
        lambda: other.scapy_tlm(3000, -4.5, 1, 2)[13:17] == bytes.fromhex("0bb8ff80")
        and _scapy_reads(_tlm(b"\xF0\x00")) == 240),
    "scapy: TLM fractions are cut off": Fault(
        "127.996 °C becomes 7FFE, where 7FFF is nearest",
        lambda: other.scapy_tlm(3000, 127.996, 1, 2)[15:17] == bytes.fromhex("7ffe")),
    "scapy: first scheme wins": Fault(
        "https://www.info/ as 01 'info/', six octets, where 03 'www' 04 needs five",
        lambda: other.scapy_url("https://www.info/", 0)[13:] == b"\x01info/"),
    "scapy: URL length unchecked": Fault(
        "a URL that needs more than 17 octets is encoded all the same",
        lambda: len(other.scapy_url("https://a.example/" + "x" * 30, 0)) > 31),
    "scapy: URL characters unchecked": Fault(
        "a space, which is outside 21...7E, is sent as it is",
        lambda: other.scapy_url("https://a b", 0).endswith(b"\x03a b")),
    "PyBeacon: measured power and flags are fixed": Fault(
        "always -19 dBm (ED) and Flags 1A",
        lambda: other.pybeacon_octets("https://a.b", other.pybeacon.Eddystone.url)[:13].hex()
        == "02011a0303aafe0916aafe10ed"),
    "PyBeacon: first scheme wins": Fault(
        "https://www.info/ as 01 'info/', six octets, where 03 'www' 04 needs five",
        lambda: bytes(other.pybeacon.encodeurl("https://www.info/")) == b"\x01info/"),
    "PyBeacon: URL characters unchecked": Fault(
        "a space is sent as it is", lambda: bytes(other.pybeacon.encodeurl("https://a b")) == b"\x03a b"),
    "PyBeacon: reserved URL octets raise": Fault(
        "0E...20 end in an IndexError",
        lambda: _raises(IndexError, lambda: other.pybeacon.decodeUrl([3, 0x61, 0x0E]))),
    "beacontools: TLM below 0 °C": Fault(
        "reads the temperature as unsigned: F000 (-16 °C) as 240",
        lambda: other.beacontools_parse(_tlm(b"\xF0\x00")).temperature == 240),
    "beacontools: salt and check of encrypted TLM little-endian": Fault(
        "salt F683 is reported as 83F6",
        lambda: other.beacontools_parse(
            bytes.fromhex("0201060303aafe1516aafe2001d5d89979ae79ebee4e385fa5f6830efb")).salt == 0x83F6),
    "beacontools: no AltBeacon": Fault(
        "returns nothing for it",
        lambda: other.beacontools_parse(other.scapy_altbeacon(0x118, bytes(20), -59, 0)) is None),
    "beacontools: reserved URL octets pass": Fault(
        "7F inside a URL is given back as text",
        lambda: other.beacontools_parse(other.scapy_url("https://a\x7fb", 0)).url == "https://a\x7fb"),
    "btmon: iBeacon backwards": Fault(
        "prints the UUID from its last octet on, and major and minor with their octets swapped",
        lambda: re.search(r"UUID: 07000000-0000-.*Version: 256\.512",
                          _shown("btmon", "-r", report=_REPORT), re.DOTALL) is not None, "btmon"),
    "tshark: iBeacon not taken apart": Fault(
        "shows the manufacturer's data as octets",
        lambda: "0215" + "00" * 15 + "07" in _shown("tshark", "-T", "fields", "-e", "btcommon.eir_ad.entry.data", "-r",
                                                  report=_REPORT), "tshark"),
}


def without(fault: str, cases: Iterable[Case], is_hit: Callable[[Case], bool]) -> list[Case]:
    """The cases that a named fault does not touch. Both kinds must exist, or the filter itself has gone wrong."""
    assert fault in KNOWN_FAULTS, f"{fault} is not in the table"
    cases = list(cases)
    kept = [case for case in cases if not is_hit(case)]
    assert 0 < len(kept) < len(cases), f"{fault} leaves {len(kept)} of {len(cases)} cases"
    return kept
