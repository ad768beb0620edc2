"""On the strict controller, over every kind of link, as a Raspberry Pi and as a Zephyr board."""
import pytest

import frames
import h4
import peers
import pharos

EXTENDED = ("--strict",)
RASPBERRY_PI = ("--strict", "--no-ext", "--core", "4")
#: Refuses what a Core 4 controller refuses, yet says that it is a 5.0 one, so that nothing can be known beforehand.
PRETENDER = RASPBERRY_PI + ("--hci-version", "9")
ZEPHYR = ("--strict", "--vendor", "zephyr")
OLD_ZEPHYR = ("--strict", "--vendor", "zephyr", "--no-ext")
PATH_LOSS = 50


class Air:
    """One strict controller and its scanner, kept for all tests of this file that want the same."""

    def __init__(self, start, link: str, options: tuple[str, ...], folder):
        port = peers.free_port()
        transport, self.adapter = {
            "unix": lambda: (f"unix-server:{folder}/hci", f"unix:{folder}/hci"),
            "tcp": lambda: (f"tcp-server:127.0.0.1:{port}", f"tcp:127.0.0.1:{port}"),
            "pty": lambda: (f"pty:{folder}/tty", f"serial:{folder}/tty"),
        }[link]()
        self.scanner = peers.start_strict_controller(start, transport, *options, "--commands")

    def forget(self):
        """Drops what was printed until now."""
        self.scanner.during(0.2)
        self.scanner.lines.clear()

    def heard(self, count: int, octets: bytes) -> list[dict]:
        return self.scanner.collect(lambda line: line.get("data") == octets.hex(), count)

    def times(self, count: int, octets: bytes) -> list[float]:
        return [line["t"] for line in self.heard(count, octets)]

    def parameters(self, opcode: int) -> bytes:
        """Those of the first command of an opcode, which may still be on its way."""
        def is_wanted(line):
            return line.get("kind") == "cmd" and int(line["op"], 16) == opcode

        line = next(filter(is_wanted, self.scanner.lines), None) or self.scanner.wait(is_wanted)
        return bytes.fromhex(line["params"])

    @property
    def commands(self) -> list[tuple[int, bytes]]:
        """All commands of a run that is over."""
        self.scanner.during(0.2)
        return [(int(line["op"], 16), bytes.fromhex(line["params"]))
                for line in self.scanner.lines if line.get("kind") == "cmd"]


@pytest.fixture(scope="module")
def airs(start_shared, tmp_path_factory):
    made: dict = {}

    def find(link: str = "unix", options: tuple[str, ...] = EXTENDED) -> Air:
        if (link, options) not in made:
            made[link, options] = Air(start_shared, link, options, tmp_path_factory.mktemp("air"))
        made[link, options].forget()
        return made[link, options]

    return find


@pytest.mark.parametrize("link", ["unix", "tcp", "pty"])
def test_a_beacon_is_heard_over_every_kind_of_link(link, airs, advertise):
    air = airs(link)
    beacon = advertise(*frames.IBEACON.options, "--interval-ms", "100", "--adapter", air.adapter)
    heard = air.heard(8, frames.IBEACON.octets)
    h4.assert_interval([line["t"] for line in heard], 100, more=lambda: air.times(8, frames.IBEACON.octets))
    assert {(line["address"], line["random"], line["legacy"], line["connectable"], line["scannable"])
            for line in heard} == {(beacon.on_air["address"], True, True, False, False)}
    assert beacon.interrupt() == 0
    assert not [line for line in air.scanner.during(0.4) if line.get("kind") == "adv"]


@pytest.mark.parametrize("options", [EXTENDED, RASPBERRY_PI, ZEPHYR], ids=["extended", "raspberry-pi", "zephyr"])
@pytest.mark.parametrize("frame", frames.FIXED[1:], ids=lambda frame: frame.name)
def test_every_frame_is_heard_from_every_kind_of_controller(frame, options, airs, advertise):
    air = airs("unix", options)
    advertise(*frame.options, "--interval-ms", "150", "--adapter", air.adapter)
    h4.assert_interval(air.times(5, frame.octets), 150, more=lambda: air.times(5, frame.octets))


@pytest.mark.parametrize("options", [EXTENDED, ZEPHYR, OLD_ZEPHYR], ids=["extended", "zephyr", "zephyr-legacy"])
@pytest.mark.parametrize("asked, granted", [(-20, -20), (8, 8), (6, 4), (20, 8), (-100, -40)])
def test_radio_power_is_set_reported_and_felt(asked, granted, options, airs, advertise):
    """The strict controller grants the highest of its levels that is not above what was asked."""
    air = airs("unix", options)
    beacon = advertise(*frames.UID.options, "--radio-power-dbm", str(asked), "--interval-ms", "100", "--adapter",
                       air.adapter)
    heard = air.heard(3, frames.UID.octets)
    assert {line["rssi"] for line in heard[1:]} == {granted - PATH_LOSS}
    assert (beacon.on_air["radioPowerDbm"], beacon.on_air["grantedRadioPowerDbm"]) == (asked, granted)
    beacon.interrupt()
    assert (0xFC0E in [opcode for opcode, _ in air.commands]) == (options == OLD_ZEPHYR)


def test_power_that_cannot_be_set_is_told_and_does_not_stop_the_beacon(airs, advertise):
    air = airs("unix", RASPBERRY_PI)
    beacon = advertise(*frames.UID.options, "--radio-power-dbm", "-20", "--interval-ms", "100", "--adapter",
                       air.adapter)
    assert air.heard(2, frames.UID.octets)[1]["rssi"] == 0 - PATH_LOSS
    assert beacon.on_air["radioPowerDbm"] == -20
    assert beacon.on_air["grantedRadioPowerDbm"] != -20 and "cannot be set" in beacon.on_air["radioPowerNote"]


@pytest.mark.parametrize("pdu", ["nonconnectable", "scannable"])
def test_an_old_controller_gets_nothing_below_100_ms_that_is_not_connectable(pdu, airs):
    air = airs("unix", RASPBERRY_PI)
    result = pharos.run("advertise", *frames.UID.options, "--interval-ms", "99.375", "--pdu", pdu, "--adapter",
                        air.adapter, "--duration-s", "1")
    assert 64 <= result.code <= 78 and result.out == ""
    assert "100" in result.err and "99.375" in result.err
    assert not [opcode for opcode, parameters in air.commands
                if opcode in (0x2006, 0x2008) or opcode == 0x200A and parameters == b"\x01"]


def test_an_interval_that_the_controller_refuses_is_named_and_no_other_is_taken(airs):
    air = airs("unix", PRETENDER)
    result = pharos.run("advertise", *frames.UID.options, "--interval-ms", "50", "--adapter", air.adapter,
                        "--duration-s", "1")
    assert (result.code, result.out) == (76, "")
    assert "0x2006" in result.err and "0x11" in result.err
    assert "interval" in result.err.lower() and "50" in result.err, result.err
    assert len([opcode for opcode, _ in air.commands if opcode == 0x2006]) == 1


def test_an_old_controller_takes_50_ms_where_it_is_connectable(airs, advertise):
    air = airs("unix", RASPBERRY_PI)
    advertise(*frames.UID.options, "--interval-ms", "50", "--pdu", "connectable", "--adapter", air.adapter)
    heard = air.heard(10, frames.UID.octets)
    assert {line["connectable"] for line in heard} == {True}
    h4.assert_interval([line["t"] for line in heard], 50, more=lambda: air.times(10, frames.UID.octets))


@pytest.mark.parametrize("milliseconds, units", [("20", 32), ("100", 160), ("152.5", 244), ("100.3", 160),
                                                 ("100.3125", 161), ("10240", 16384), ("1.28s", 2048)])
@pytest.mark.parametrize("options, opcode", [(EXTENDED, 0x2036), (("--strict", "--no-ext"), 0x2006)],
                         ids=["extended", "legacy"])
def test_an_interval_is_sent_in_its_units_and_as_minimum_and_maximum(milliseconds, units, options, opcode, airs,
                                                                     advertise):
    air = airs("unix", options)
    beacon = advertise(*frames.UID.options, "--interval-ms", milliseconds, "--adapter", air.adapter)
    assert beacon.on_air["grantedIntervalMs"] == units * 0.625
    parameters = air.parameters(opcode)
    at, width = (3, 3) if opcode == 0x2036 else (0, 2)
    assert [int.from_bytes(parameters[begin:begin + width], "little") for begin in (at, at + width)] == [units, units]


def test_the_interval_of_a_set_may_be_longer_than_legacy_ones(airs, advertise):
    air = airs()
    advertise(*frames.UID.options, "--interval-ms", "20s", "--adapter", air.adapter)
    assert air.parameters(0x2036)[3:6] == (32000).to_bytes(3, "little")


def test_channels_are_those_that_were_asked(airs, advertise):
    air = airs()
    advertise(*frames.UID.options, "--interval-ms", "100", "--channels", "37,39", "--adapter", air.adapter)
    assert air.parameters(0x2036)[9] == 0b101


@pytest.mark.parametrize("options", [EXTENDED, RASPBERRY_PI], ids=["extended", "raspberry-pi"])
def test_nothing_is_refused_and_the_controller_is_left_silent(options, airs):
    """Every command of a run, and the two families never mixed: the strict controller would answer 0x0C."""
    air = airs("unix", options)
    pharos.checked("advertise", *frames.IBEACON.options, "--interval-ms", "100", "--adapter", air.adapter,
                   "--duration-s", "0.3")
    sent = {opcode for opcode, _ in air.commands}
    legacy, extended = {0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x200B, 0x200C}, set(range(0x2035, 0x203E))
    assert bool(sent & legacy) != bool(sent & extended)
    assert not [line for line in air.scanner.during(0.4) if line.get("kind") == "adv"]
