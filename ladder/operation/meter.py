"""How much one who asks may ask for, and when to come back."""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ladder.operation.errors import TooMuch

MAX_KNOWN = 10_000
"""How many of those who ask are remembered; the ones that were seen longest ago are forgotten first."""
RETRY_AFTER = "retry-after"
"""The metadata at the end of a call that was refused for a limit: after how many seconds to come back, as in HTTP."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """A number of something within some seconds: what is not used fills up again, evenly."""

    what: str
    """What is counted, in the plural."""
    number: int
    seconds: float


REQUESTS = Allowance("requests", 600, 60)
"""Of an author, or of an address without a token."""
SECONDS_OF_REQUEST = 0.05
"""What takes the processor longer counts as several requests, one for each such span."""
FILE_REQUESTS = 5
"""The number of requests that one for a file counts as."""
MAX_UPLOADS = 8
"""The number of bots that may be on their way to one server at a time."""
GUESSES = Allowance("wrong tokens", 60, 60)
"""Of an address."""
SUBMISSIONS = Allowance("submissions", 50, 86_400)
"""Of an author; a new version of a bot at home is one, too, and so is a second chance: each costs a match in every game."""
UPLOADED = Allowance("bytes of submissions", 2 * 1024**3, 86_400)
"""Of an author."""


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
        """Give some of it back, or take it although it is not there; return what is left, which may be less than nothing."""
        allowance, now = self._allowance, self._clock()
        left, at = self._left.pop(who, (float(allowance.number), now))
        most = float(allowance.number)
        left = min(most, left + (now - at) * allowance.number / allowance.seconds)
        left = min(most, left + number)
        self._left[who] = (left, now)
        if len(self._left) > MAX_KNOWN:
            self._left.popitem(last=False)
        return left


class AtATime:
    """How many of something one who asks may have at a time, and all together."""

    def __init__(self, of_one: int, of_all: int, too_many_of_one: str, too_many: str) -> None:
        """Allow so many; the texts refuse more."""
        self._of_one = of_one
        self._of_all = of_all
        self._too_many_of_one = too_many_of_one
        self._too_many = too_many
        self._taken: Counter[str] = Counter()

    @contextmanager
    def one(self, who: str) -> Iterator[None]:
        """Count one of it while it lasts.

        Raises:
            TooMuch: if there are too many, of this one or of all.
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
                del self._taken[who]


def _span(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:g} s"
