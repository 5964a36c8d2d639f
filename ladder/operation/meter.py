"""Limits on the requests of each caller; a refusal says how long to wait before the next try."""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ladder.operation.errors import TooMuch

MAX_KNOWN = 10_000
"""The maximum number of remembered callers; the least recent ones are forgotten first."""
RETRY_AFTER = "retry-after"
"""The key, in the trailing metadata of a refused call, of the time to wait in seconds, as in HTTP.

Only a call that is refused because of a limit has it."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """A token bucket: at most `number` in a burst, refilled evenly within `seconds`."""

    what: str
    """The name, in the plural, of the things that are counted."""
    number: int
    seconds: float


SECONDS_OF_REQUEST = 0.05
"""The processor time that counts as one request; a longer request counts as several."""


class Meter:
    """The remaining allowances of all callers under one limit."""

    def __init__(
        self,
        allowance: Allowance,
        clock: Callable[[], float] = time.monotonic,
        seconds_of_one: float = SECONDS_OF_REQUEST,
    ) -> None:
        """Prepare the meter; `seconds_of_one` is the processor time that counts as one request."""
        self._allowance = allowance
        self._clock = clock
        self.seconds_of_one = seconds_of_one
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str, number: float = 1) -> None:
        """Take from a caller's allowance.

        Raises:
            TooMuch: if not enough is left; the text says when there will be enough.
        """
        allowance = self._allowance
        left = self.change(who, 0)
        if left >= number:
            self.change(who, -number)
        else:
            when = math.ceil((number - left) * allowance.seconds / allowance.number)
            per = f"{allowance.number:,} {allowance.what} in {_span(allowance.seconds)}"
            hope = f"come back in {_span(when)}" if number <= allowance.number else "that is more than is ever allowed"
            raise TooMuch(f"too many {allowance.what}: {per} are allowed; {hope}", when)

    def change(self, who: str, number: float) -> float:
        """Add to a caller's remaining allowance, or take from it, even below zero; return the new remainder."""
        allowance, now = self._allowance, self._clock()
        # Removed and added again at the end, so that the first caller is the least recent one.
        left, at = self._left.pop(who, (float(allowance.number), now))
        most = float(allowance.number)
        left = min(most, left + (now - at) * allowance.number / allowance.seconds)
        left = min(most, left + number)
        self._left[who] = (left, now)
        if len(self._left) > MAX_KNOWN:
            self._left.popitem(last=False)
        return left


class AtATime:
    """A concurrency limit, per caller and overall."""

    def __init__(self, of_one: int, of_all: int, too_many_of_one: str, too_many: str) -> None:
        """Set the limits per caller and overall, and the text of each refusal."""
        self._of_one = of_one
        self._of_all = of_all
        self._too_many_of_one = too_many_of_one
        self._too_many = too_many
        self._taken: Counter[str] = Counter()

    @contextmanager
    def one(self, who: str) -> Iterator[None]:
        """Count one use by a caller, in this context.

        Raises:
            TooMuch: if the caller, or all callers together, have reached the limit.
        """
        if self._taken[who] >= self._of_one:
            raise TooMuch(self._too_many_of_one)
        if self._taken.total() >= self._of_all:
            raise TooMuch(self._too_many)
        self._taken[who] += 1
        try:
            yield
        finally:
            self._taken[who] -= 1
            if not self._taken[who]:
                del self._taken[who]  # otherwise the mapping would fill up with addresses


def _span(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:g} s"
