"""The table of known faults is true today."""
import pytest

from known_faults import KNOWN_FAULTS


@pytest.mark.parametrize("name", KNOWN_FAULTS)
def test_the_fault_is_still_there(name, needs):
    fault = KNOWN_FAULTS[name]
    if fault.program:
        needs(fault.program)
    assert fault.still_there(), f"{name} was mended: take it out of the table and let its cases in"
