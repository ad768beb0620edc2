"""On the air of rootcanal, a strict controller with true timing: what is heard is what was asked, when it was asked."""
import functools
import time

import pytest

import frames
import h4
import independent as other
import peers

EXTENDED, LEGACY = 0, 1
KEY = bytes.fromhex("0102030405060708090a111213141516")


@pytest.fixture(scope="module")
def air(start_shared):
    """The addresses at which controllers with and without extended advertising are to be had."""
    return peers.start_rootcanal(start_shared)


@pytest.fixture
def ear(air):
    """A host that scans, with a controller of its own."""
    host = h4.Host(air[EXTENDED])
    host.scan(active=True)
    yield host
    host.close()


def assert_silent(ear: h4.Host, seconds: float = 0.4):
    time.sleep(0.1)
    assert ear.heard_within(seconds) == []


@pytest.mark.parametrize("family", [EXTENDED, LEGACY], ids=["extended", "legacy"])
@pytest.mark.parametrize("frame", frames.FIXED, ids=lambda frame: frame.name)
def test_a_frame_is_heard_at_its_interval_and_no_longer_after_the_end(frame, family, air, ear, advertise):
    beacon = advertise(*frame.options, "--interval-ms", "100", "--adapter", air[family])
    heard = ear.heard(8)
    assert {report.octets for report in heard} == {frame.octets}
    assert {(report.kind, report.is_random, report.address) for report in heard} == {
        (0x10, True, beacon.on_air["address"])}
    # rootcanal sends extended sets without the random delay.
    h4.assert_interval([report.at for report in heard], 100, delay_ms=10 if family == LEGACY else 0,
                       more=lambda: ear.times(8))
    assert beacon.on_air["family"] == ("legacy" if family == LEGACY else "extended")
    assert beacon.on_air["grantedIntervalMs"] == 100
    assert beacon.interrupt() == 0
    assert_silent(ear)


@pytest.mark.parametrize("family", [EXTENDED, LEGACY], ids=["extended", "legacy"])
@pytest.mark.parametrize("asked, interval", [("152.5", 152.5), ("0.35s", 350)])
def test_the_interval_is_the_one_that_was_asked(asked, interval, family, air, ear, advertise):
    beacon = advertise(*frames.UID.options, "--interval-ms", asked, "--adapter", air[family])
    h4.assert_interval(ear.times(7), interval, delay_ms=10 if family == LEGACY else 0, more=lambda: ear.times(7))
    assert (beacon.on_air["intervalMs"], beacon.on_air["grantedIntervalMs"]) == (interval, interval)


@pytest.mark.parametrize("family", [EXTENDED, LEGACY], ids=["extended", "legacy"])
def test_a_local_name_makes_it_scannable_and_answers_a_scan(family, air, ear, advertise):
    advertise(*frames.IBEACON.options, "--local-name", "Lobby", "--interval-ms", "100", "--adapter", air[family])
    heard = {(report.kind, report.octets) for report in ear.heard(8)}
    assert heard == {(0x12, frames.IBEACON.octets), (0x1A, b"\x06\x09Lobby")}


@pytest.mark.parametrize("pdu, kind", [("nonconnectable", 0x10), ("scannable", 0x12), ("connectable", 0x13)])
def test_the_pdu_type_is_the_one_that_was_asked(pdu, kind, air, advertise):
    passive = h4.Host(air[EXTENDED])
    passive.scan(active=False)
    advertise(*frames.URL.options, "--pdu", pdu, "--interval-ms", "100", "--adapter", air[EXTENDED])
    assert {report.kind for report in passive.heard(3)} == {kind}
    passive.close()


@pytest.mark.parametrize("address", ["C0:01:02:03:04:05", "FF:FE:DD:CC:BB:AA"])
def test_the_address_is_the_one_that_was_asked(address, air, ear, advertise):
    advertise(*frames.UID.options, "--address", address, "--interval-ms", "100", "--adapter", air[EXTENDED])
    assert {(report.address, report.is_random) for report in ear.heard(3)} == {(address, True)}


def test_telemetry_counts_its_advertising_events_and_its_time(air, ear, advertise):
    advertise("tlm", "--battery-mv", "3000", "--temperature-c", "21.25", "--interval-ms", "100", "--adapter",
              air[EXTENDED])
    ear.heard(12)
    heard = [other.scapy_layer(report.octets, other.Eddystone_TLM_Unencrypted) for report in ear.heard(12)]
    assert {layer.batt_mv for layer in heard} == {3000}
    assert {float(layer.temperature) for layer in heard} == {21.25}
    assert heard == sorted(heard, key=lambda layer: (layer.adv_cnt, layer.sec_cnt))
    assert heard[-1].adv_cnt > heard[0].adv_cnt and heard[-1].sec_cnt > heard[0].sec_cnt
    assert heard[-1].sec_cnt < 200


def test_an_ephemeral_identifier_is_that_of_its_time(air, ear, advertise):
    advertise("eid", "--identity-key", KEY.hex(), "--rotation-exponent", "10", "--time-s", "2048000",
              "--measured-power-dbm", "-12", "--interval-ms", "100", "--adapter", air[EXTENDED])
    expected = other.scapy_eid(other.ephemeral_identifier(KEY, 10, 2048000), -12)
    assert {report.octets for report in ear.heard(3)} == {expected}


def test_an_ephemeral_identifier_and_its_address_turn_over(air, ear, advertise):
    advertise("eid", "--identity-key", KEY.hex(), "--rotation-exponent", "0", "--time-s", "100",
              "--measured-power-dbm", "-12", "--interval-ms", "100", "--adapter", air[EXTENDED])
    known = {other.scapy_eid(other.ephemeral_identifier(KEY, 0, 100 + later), -12): later for later in range(30)}
    heard = ear.heard(45)
    times = [known[report.octets] for report in heard]
    assert times == sorted(times) and len(set(times)) >= 3
    assert len({(report.octets, report.address) for report in heard}) == len({report.address for report in heard})


def test_encrypted_telemetry_opens_with_its_key(air, ear, advertise):
    advertise("tlm", "--battery-mv", "3000", "--temperature-c", "-4.5", "--identity-key", KEY.hex(),
              "--rotation-exponent", "10", "--time-s", "2048000", "--interval-ms", "100", "--adapter", air[EXTENDED])
    layer = other.scapy_layer(ear.heard(1)[0].octets, other.Eddystone_TLM_Encrypted)
    plain = other.opened_telemetry(KEY, 10, 2048000, layer.salt, layer.etlm, layer.mic)
    assert plain[:4].hex() == "0bb8fb80"


def test_two_beacons_do_not_disturb_each_other(air, ear, advertise):
    advertise(*frames.UID.options, "--address", "C0:00:00:00:00:01", "--interval-ms", "100", "--adapter", air[EXTENDED])
    advertise(*frames.URL.options, "--address", "C0:00:00:00:00:02", "--interval-ms", "200", "--adapter", air[LEGACY])
    for octets, interval in ((frames.UID.octets, 100), (frames.URL.octets, 200)):
        h4.assert_interval(ear.times(8, octets), interval, more=functools.partial(ear.times, 8, octets))
