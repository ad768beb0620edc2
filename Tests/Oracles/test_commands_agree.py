"""Every HCI command that Pharos can send is what Bumble's parser reads: name, fields, and the same octets again."""
import itertools
import json
from typing import NamedTuple

import pytest
from bumble import hci

import btsnoop
import frames
import pharos

MODELS = ["raspberry-pi", "zephyr", "intel", "core-4"]
EID = ("eid", "--identity-key", "0102030405060708090a111213141516", "--rotation-exponent", "10", "--time-s", "65280",
       "--measured-power-dbm", "-12")
#: Vendor commands are none that Bumble knows; their layouts stand here (hci.h of the vendors).
VENDOR = {0xFC26: ("fe00", 3), 0xFC01: ("", 0), 0xFC02: ("", 0), 0xFC0E: ("00", 4), 0xFC0F: ("00", 3)}


class Command(NamedTuple):
    opcode: int
    name: str
    octets: bytes
    fields: dict


def dry_run(*options: str) -> list[Command]:
    """What `--dry-run --json` says it would send."""
    lines = pharos.checked("advertise", *options, "--adapter", "virtual", "--dry-run", "--json").lines()
    return [Command(int(line["opcode"], 16), line["name"], bytes.fromhex(line["hex"]), line["fields"])
            for line in lines]


def combinations() -> list[tuple[str, ...]]:
    """Every option of `advertise` with every model of controller, one frame after the other."""
    extras = [(), ("--interval-ms", "152.5"), ("--interval-ms", "10.24s", "--channels", "38"),
              ("--radio-power-dbm", "-8"), ("--radio-power-dbm", "4", "--interval-ms", "250"),
              ("--pdu", "scannable"), ("--pdu", "connectable", "--channels", "37,39"), ("--local-name", "Lobby"),
              ("--address", "C0:01:02:03:04:05"), ("--address", "public")]
    chosen = itertools.cycle(frames.FIXED)
    found = [(*next(chosen).options, "--like", model, *extra) for model in MODELS for extra in extras]
    return found + [(*EID, "--like", model) for model in MODELS]


COMBINATIONS = combinations()


def assert_bumble_agrees(octets: bytes, name: str | None = None):
    packet = hci.HCI_Packet.from_bytes(octets)
    assert bytes(packet) == octets
    opcode, length = int.from_bytes(octets[1:3], "little"), octets[3]
    assert length == len(octets) - 4
    if opcode >= 0xFC00:
        begins, count = VENDOR[opcode]
        assert octets[4:].hex().startswith(begins) and length == count
        return
    assert opcode in hci.HCI_Command.command_classes, f"Bumble knows no {opcode:#06x}"
    # Bumble silently keeps octets that belong to no field: a packet that is built from the fields must be equal.
    fields = {key: getattr(packet, key) for key, field in packet.__dataclass_fields__.items() if field.init}
    assert bytes(type(packet)(**fields)) == octets
    if name:
        assert words(packet.name.removeprefix("HCI_").removesuffix("_COMMAND")) == words(name)


def words(name: str) -> str:
    """A command's name without what differs from one edition of the specification to the next."""
    plain = name.upper().replace("_", " ").replace("-", " ")
    for longer, shorter in (("ADVERTISING PHYSICAL CHANNEL", "ADVERTISING CHANNEL"), (" INFORMATION", ""),
                            ("HOST SUPPORTED", "HOST SUPPORT")):
        plain = plain.replace(longer, shorter)
    return " ".join(plain.split())


@pytest.mark.parametrize("options", COMBINATIONS, ids=" ".join)
def test_bumble_agrees_on_what_a_dry_run_prints(options):
    commands = dry_run(*options)
    for command in commands:
        assert command.octets[0] == btsnoop.COMMAND
        assert int.from_bytes(command.octets[1:3], "little") == command.opcode
        assert_bumble_agrees(command.octets, command.name)
    opcodes = [command.opcode for command in commands]
    legacy, extended = set(range(0x2006, 0x200B)), set(range(0x2035, 0x203E))
    is_legacy = options[options.index("--like") + 1] in ("raspberry-pi", "core-4")
    assert set(opcodes).isdisjoint(extended if is_legacy else legacy)
    enable = 0x200A if is_legacy else 0x2039
    switched_on = next(number for number, command in enumerate(commands)
                       if command.opcode == enable and command.octets[4] == 1)
    assert opcodes.index(0x2008 if is_legacy else 0x2037) < switched_on


def parameters(options: tuple[str, ...]) -> hci.HCI_Command:
    """The command that sets the advertising parameters, as Bumble reads it."""
    octets = next(command.octets for command in dry_run(*options) if command.opcode in (0x2006, 0x2036))
    return hci.HCI_Packet.from_bytes(octets)


@pytest.mark.parametrize("model", MODELS)
def test_bumble_reads_the_parameters_that_were_asked(model):
    packet = parameters((*frames.UID.options, "--like", model, "--interval-ms", "250", "--channels", "37,39",
                         "--radio-power-dbm", "-8"))
    if isinstance(packet, hci.HCI_LE_Set_Advertising_Parameters_Command):
        assert packet.advertising_interval_min == packet.advertising_interval_max == 400
        assert (int(packet.advertising_type), packet.advertising_channel_map) == (3, 0b101)
        assert packet.own_address_type == hci.OwnAddressType.RANDOM
    else:
        assert packet.primary_advertising_interval_min == packet.primary_advertising_interval_max == 400
        assert (int(packet.advertising_event_properties), packet.primary_advertising_channel_map) == (0x10, 0b101)
        assert packet.advertising_tx_power & 0xFF == 0xF8
        assert packet.own_address_type == hci.OwnAddressType.RANDOM


@pytest.mark.parametrize("pdu, legacy, extended", [("nonconnectable", 3, 0x10), ("scannable", 2, 0x12),
                                                   ("connectable", 0, 0x13)])
def test_bumble_reads_the_pdu_type_that_was_asked(pdu, legacy, extended):
    assert int(parameters((*frames.UID.options, "--like", "raspberry-pi", "--pdu", pdu)).advertising_type) == legacy
    packet = parameters((*frames.UID.options, "--like", "intel", "--pdu", pdu))
    assert int(packet.advertising_event_properties) == extended


def test_a_dry_run_prints_the_same_octets_for_people_and_for_programs():
    options = ("advertise", *frames.UID.options, "--adapter", "virtual", "--dry-run")
    shown = [line.replace(" ", "") for line in pharos.checked(*options).out.splitlines() if line.startswith("01 ")]
    assert shown == [json.loads(line)["hex"] for line in pharos.checked(*options, "--json").out.splitlines()]


@pytest.mark.parametrize("model", MODELS)
def test_bumble_agrees_on_what_a_run_sends(model, start, tmp_path):
    controller = start(pharos.PROGRAM, "controller", "--listen", f"unix:{tmp_path}/hci", "--like", model)
    controller.wait(lambda line: line.get("text", "").startswith("listening "))
    pharos.checked("advertise", *frames.URL.options, "--radio-power-dbm", "-8", "--local-name", "x", "--interval-ms",
                   "100", "--adapter", f"unix:{tmp_path}/hci", "--duration-s", "0.3", "--capture", tmp_path / "x")
    sent = [packet for packet in btsnoop.read(tmp_path / "x") if packet.kind == btsnoop.COMMAND]
    assert {0x2006, 0x2036} & {packet.opcode for packet in sent}
    for packet in btsnoop.read(tmp_path / "x"):
        if packet.kind == btsnoop.COMMAND:
            assert_bumble_agrees(packet.h4)
        else:
            assert bytes(hci.HCI_Packet.from_bytes(packet.h4)) == packet.h4
