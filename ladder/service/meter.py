"""How much one who asks may ask for, and when to come back."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from ladder.errors import TooMuch

MAX_KNOWN = 10_000
"""How many of those who ask are remembered; the ones that were seen longest ago are forgotten first."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """A number of something within some seconds: what is not used fills up again, evenly."""

    what: str
    """What is counted, in the plural."""
    number: int
    seconds: float


class Meter:
    """What those who ask have left of an allowance."""

    def __init__(self, allowance: Allowance, clock: Callable[[], float] = time.monotonic) -> None:
        self._allowance = allowance
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str, number: float = 1) -> None:
        """Take some of it.

        Raises:
            TooMuch: if there is not so much left; the text says when there will be.
        """
        allowance, now = self._allowance, self._clock()
        left, at = self._left.pop(who, (float(allowance.number), now))
        rate = allowance.number / allowance.seconds
        left = min(float(allowance.number), left + (now - at) * rate)
        enough = left >= number
        self._left[who] = (left - number if enough else left, now)
        if len(self._left) > MAX_KNOWN:
            self._left.popitem(last=False)
        if not enough:
            when = math.ceil((number - left) / rate)
            per = f"{allowance.number:,} {allowance.what} in {_span(allowance.seconds)}"
            hope = f"come back in {_span(when)}" if number <= allowance.number else "that is more than is ever allowed"
            raise TooMuch(f"too many {allowance.what}: {per} are allowed; {hope}")


def _span(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:g} s"
