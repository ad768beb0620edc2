"""The independent Monte Carlo finds what airtime is known to do, before anything is held against it."""
import pytest

import airtime_montecarlo as air


def near(value: air.Value, expected: float, share: float = 0.01) -> bool:
    return abs(value.mean - expected) <= max(3 * value.error, share * expected)


@pytest.mark.parametrize("count,interval,expected", [(50, 100, 0.70314), (250, 100, 0.16701), (1000, 1000, 0.47341)])
def test_clear_share_of_equal_fleets(count, interval, expected):
    assert near(air.collisions(count, interval, repetitions=20).clear, expected)


def test_losses_come_in_runs():
    found = air.collisions(10, 100)
    assert near(found.loss_after_loss, 0.123, 0.03)
    assert found.loss_after_loss.mean > 1.5 * (1 - found.clear.mean)


def test_one_beacon_in_a_channel_that_is_a_quarter_busy():
    assert near(air.collisions(1, 100, busy=0.25).clear, 0.5625)


def test_copies_of_different_spacing_help_each_other():
    assert near(air.any_of_three(100, 100, (0.45, 6)), 0.8355)


def test_one_beacon_under_a_scanner_of_low_power():
    found = air.latency(1, 100, air.Scanner(512, 5120), horizon=10, repetitions=1000, instants=100)
    for percent, expected in {50: 2.153, 90: 4.201, 99: 4.666}.items():
        assert near(found.percentiles[percent], expected)
