"""How many advertising reports a second another decoder reads: `peers.py scapy|beacontools CAPTURE COUNT`.

Prints one number. The decoder gets the bare advertising data; reading the capture and importing take no part in it.
"""
import struct
import sys
import time
from pathlib import Path


def advertising_data(path: Path, count: int) -> list[bytes]:
    """The data of the first reports of an H4 capture with one report an event."""
    octets, at, found = path.read_bytes(), 16, []
    while at < len(octets) and len(found) < count:
        (length,) = struct.unpack_from(">I", octets, at + 4)
        event = octets[at + 25:at + 24 + length]
        # Event code, length, subevent and number of reports come before the report.
        start = {0x02: 4 + 9, 0x0D: 4 + 24}[event[2]]
        found.append(event[start:start + event[start - 1]])
        at += 24 + length
    return found


def scapy_decoder():
    import scapy.contrib.altbeacon
    import scapy.contrib.eddystone
    import scapy.contrib.ibeacon  # noqa: F401
    from scapy.layers.bluetooth import HCI_LE_Meta_Advertising_Report

    # What scapy has for advertising data is the report around it; of that the eight octets of type and address, the
    # length and the RSSI are put back.
    head, tail = bytes(8), b"\xC4"
    return lambda data: HCI_LE_Meta_Advertising_Report(head + bytes([len(data)]) + data + tail)


def beacontools_decoder():
    from beacontools.parser import parse_packet

    return parse_packet


def main():
    name, path, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    decode = {"scapy": scapy_decoder, "beacontools": beacontools_decoder}[name]()
    sample = advertising_data(path, count)
    for data in sample[:100]:
        decode(data)
    start = time.perf_counter()
    for data in sample:
        decode(data)
    print(f"{len(sample) / (time.perf_counter() - start):.1f}")


main()
