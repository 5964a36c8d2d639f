"""How often somebody may ask, and that it is said when more may be asked."""

from __future__ import annotations

import pytest

from ladder.operation.errors import LadderError
from ladder.operation.meter import MAX_KNOWN, Allowance, Meter


def test_an_allowance_fills_up_again_and_says_when() -> None:
    now = [0.0]
    meter = Meter(Allowance("requests", 10, 60), lambda: now[0])
    for _ in range(10):
        meter.take("ann")
    meter.take("bob")
    with pytest.raises(LadderError, match="10 requests in 60 s are allowed; come back in 6 s"):
        meter.take("ann")
    now[0] = 6.0
    meter.take("ann")
    with pytest.raises(LadderError, match="come back"):
        meter.take("ann")
    with pytest.raises(LadderError, match="more than is ever allowed"):
        meter.take("ann", 11)
    now[0] = 1e6
    for _ in range(10):
        meter.take("ann")


def test_a_meter_does_not_grow_with_those_who_ask() -> None:
    """It forgets who has not asked for the longest time."""
    meter = Meter(Allowance("requests", 10, 60), lambda: 0.0)
    for number in range(1 + MAX_KNOWN):
        meter.take(str(number))
    assert [meter.change(str(number), 0) for number in (MAX_KNOWN, 0)] == [9, 10]
