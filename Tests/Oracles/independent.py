"""Payloads as other people's programs make and read them."""
import struct
import sys
import uuid

from beacontools.parser import parse_packet as beacontools_parse  # noqa: F401 - the tests take it from here
from Crypto.Cipher import AES as pycryptodome_aes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scapy.contrib.altbeacon import AltBeacon
from scapy.contrib.eddystone import (Eddystone_EID, Eddystone_Frame, Eddystone_TLM, Eddystone_TLM_Encrypted,
                                     Eddystone_TLM_Unencrypted, Eddystone_UID, Eddystone_URL)
from scapy.contrib.ibeacon import Apple_BLE_Submessage, IBeacon_Data
from scapy.layers.bluetooth import EIR_Hdr, HCI_LE_Meta_Advertising_Report
from scapy.packet import Packet

# PyBeacon parses the command line of the program that imports it.
_arguments, sys.argv = sys.argv, ["PyBeacon"]
from PyBeacon import PyBeacon as pybeacon  # noqa: E402

sys.argv = _arguments

FLAGS = bytes.fromhex("020106")


# ---- scapy ----------------------------------------------------------------------------------------------------
def scapy_octets(layer: Packet) -> bytes:
    """The advertising data that scapy builds around a frame, its Flags included."""
    return b"".join(bytes(structure) for structure in layer.build_eir())


def scapy_structures(octets: bytes) -> list[EIR_Hdr]:
    """The AD structures that scapy finds in advertising data."""
    report = HCI_LE_Meta_Advertising_Report(bytes(8) + bytes([len(octets)]) + octets + b"\xC5")
    return report.data


def scapy_layer(octets: bytes, kind: type) -> Packet:
    """The one layer of a kind that scapy finds in advertising data."""
    found = [layer for structure in scapy_structures(octets) if (layer := structure.getlayer(kind)) is not None]
    assert len(found) == 1, f"scapy finds {len(found)} {kind.__name__} in {octets.hex()}"
    return found[0]


def scapy_ibeacon(identifier: uuid.UUID, major: int, minor: int, power: int) -> bytes:
    return scapy_octets(
        Apple_BLE_Submessage() / IBeacon_Data(uuid=identifier, major=major, minor=minor, tx_power=power))


def scapy_altbeacon(company: int, beacon: bytes, power: int, reserved: int) -> bytes:
    """scapy always takes Radius Networks' company, so that its two octets are put in afterwards."""
    major, minor = struct.unpack(">HH", beacon[16:])
    octets = scapy_octets(AltBeacon(id1=uuid.UUID(bytes=beacon[:16]), id2=major, id3=minor, tx_power=power,
                                    mfg_reserved=reserved))
    at = octets.index(b"\xFF\x18\x01\xBE\xAC") + 1
    return octets[:at] + struct.pack("<H", company) + octets[at + 2:]


def scapy_uid(namespace: bytes, instance: bytes, power: int) -> bytes:
    return scapy_octets(Eddystone_Frame() / Eddystone_UID(tx_power=power, namespace=namespace, instance=instance))


def scapy_url(url: str, power: int) -> bytes:
    layer = Eddystone_URL.from_url(url)
    layer.tx_power = power
    return scapy_octets(layer)


def scapy_tlm(battery: int, temperature: float, advertisements: int, deciseconds: int) -> bytes:
    return scapy_octets(Eddystone_Frame() / Eddystone_TLM() / Eddystone_TLM_Unencrypted(
        batt_mv=battery, temperature=temperature, adv_cnt=advertisements, sec_cnt=deciseconds))


def scapy_encrypted_tlm(encrypted: bytes, salt: bytes, mic: bytes) -> bytes:
    return scapy_octets(
        Eddystone_Frame() / Eddystone_TLM() / Eddystone_TLM_Encrypted(etlm=encrypted, salt=salt, mic=mic))


def scapy_eid(identifier: bytes, power: int) -> bytes:
    return scapy_octets(Eddystone_Frame() / Eddystone_EID(tx_power=power, eid=identifier))


# ---- PyBeacon -------------------------------------------------------------------------------------------------
def pybeacon_octets(text: str, kind) -> bytes:
    return bytes(pybeacon.encodeMessage(text, kind))


def as_pybeacon_sends(octets: bytes) -> bytes:
    """The same payload with PyBeacon's fixed Flags (1A) and measured power (-19 dBm) in place of what was asked."""
    assert octets[:3] == FLAGS
    return b"\x02\x01\x1A" + octets[3:12] + b"\xED" + octets[13:]


# ---- the two ciphers ------------------------------------------------------------------------------------------
def _ecb(key: bytes, block: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def quantized(seconds: int, exponent: int) -> int:
    """The beacon's counter with its lowest bits cleared."""
    return seconds >> exponent << exponent


def ephemeral_identifier(key: bytes, exponent: int, seconds: int) -> bytes:
    """Eddystone-EID by cryptography's AES (github google/eddystone, eddystone-eid/eid-computation.md)."""
    temporary = _ecb(key, bytes(11) + b"\xFF\x00\x00" + struct.pack(">H", seconds >> 16))
    return _ecb(temporary, bytes(11) + bytes([exponent]) + struct.pack(">I", quantized(seconds, exponent)))[:8]


def private_address(key: bytes, prand: bytes) -> str:
    """A resolvable private address by cryptography's AES (Core Specification 5.4, Vol 6 Part B 1.3.2.2): prand, whose
    two top bits become 01, and the last three octets of its encryption."""
    prand = bytes([prand[0] & 0x3F | 0x40]) + prand[1:]
    return (prand + _ecb(key, bytes(13) + prand)[13:]).hex(":").upper()


def encrypted_telemetry(key: bytes, exponent: int, seconds: int, salt: bytes, plain: bytes) -> tuple[bytes, bytes]:
    """Ciphertext and two-octet check of an encrypted TLM, by pycryptodome's EAX."""
    nonce = struct.pack(">I", quantized(seconds, exponent)) + salt
    return pycryptodome_aes.new(key, pycryptodome_aes.MODE_EAX, nonce=nonce, mac_len=2).encrypt_and_digest(plain)


def opened_telemetry(key: bytes, exponent: int, seconds: int, salt: bytes, encrypted: bytes, check: bytes) -> bytes:
    """The twelve octets inside an encrypted TLM; an error where the check does not hold."""
    nonce = struct.pack(">I", quantized(seconds, exponent)) + salt
    return pycryptodome_aes.new(key, pycryptodome_aes.MODE_EAX, nonce=nonce, mac_len=2).decrypt_and_verify(
        encrypted, check)
