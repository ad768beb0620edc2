"""One example of each frame type, for tests of how frames get on the air."""
from typing import NamedTuple

import independent as other


class Frame(NamedTuple):
    name: str
    #: What follows `pharos encode` or `pharos advertise`.
    options: tuple[str, ...]
    octets: bytes


_IBEACON = "fb0b57a2-8228-44cd-913a-94a122ba1206"
_KEY = "0102030405060708090a111213141516"

IBEACON = Frame(
    "ibeacon", ("ibeacon", "--uuid", _IBEACON, "--major", "1", "--minor", "2", "--measured-power-dbm", "-59"),
    other.scapy_ibeacon(other.uuid.UUID(_IBEACON), 1, 2, -59))
ALTBEACON = Frame(
    "altbeacon", ("altbeacon", "--company-id", "0x0118", "--id", bytes(range(20)).hex(), "--measured-power-dbm", "-65",
                  "--reserved", "7"),
    other.scapy_altbeacon(0x0118, bytes(range(20)), -65, 7))
UID = Frame(
    "eddystone-uid", ("uid", "--namespace", "8b0ca750095477cb3e77", "--instance", "000000000002",
                      "--measured-power-dbm", "-12"),
    other.scapy_uid(bytes.fromhex("8b0ca750095477cb3e77"), bytes.fromhex("000000000002"), -12))
URL = Frame("eddystone-url", ("url", "--url", "https://example.org/n2", "--measured-power-dbm", "-20"),
            other.scapy_url("https://example.org/n2", -20))
RAW = Frame("raw", ("raw", "--structure", "01:06", "--structure", "09:5068617261", "--structure", "ff:ffff0102030405"),
            bytes.fromhex("020106" "06095068617261" "08ffffff0102030405"))
#: Frames whose octets stay the same while they are on the air.
FIXED = [IBEACON, ALTBEACON, UID, URL, RAW]
