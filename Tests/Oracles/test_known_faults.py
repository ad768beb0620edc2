"""The table of known faults is true today."""
import pytest

from known_faults import KNOWN_FAULTS


@pytest.mark.parametrize("name", KNOWN_FAULTS)
def test_the_fault_is_still_there(name):
    assert KNOWN_FAULTS[name].still_there(), f"{name} was mended: take it out of the table and let its cases in"
