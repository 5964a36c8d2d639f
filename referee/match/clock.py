"""Time controls and the clock of one seat. They are pure: times are passed as arguments, in seconds."""

from __future__ import annotations

import re
from dataclasses import dataclass

TRANSIT_SECONDS = 0.1
"""The grace period after a deadline in which an answer from outside the referee's process still counts, in seconds.

A question and its answer wait in parts of the machine that the referee cannot see. This time is charged like any
other, so it is missing from the bank afterwards.
"""
# The length is bounded, so that a float keeps the number to the microsecond, and `__str__` writes back the same number.
_NUMBER = r"(\d{1,7}(?:\.\d{1,6})?)"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A seat's time to think: `bank+increment/cap`, in seconds, such as `60+0.5/10`.

    When the referee asks a seat for a decision, it adds the increment to the seat's bank. The decision may take as long
    as the bank then allows, but no longer than the cap. The time it took is subtracted from the bank.
    """

    bank: float
    increment: float
    cap: float

    @staticmethod
    def parse(text: str) -> TimeControl:
        """Read `bank+increment/cap`.

        Raises:
            ValueError: if the text has another form, or leaves no time to answer.
        """
        # Only ASCII digits match. Otherwise, the digits of all scripts would be valid, and one clock would have several
        # spellings.
        match = re.fullmatch(rf"{_NUMBER}\+{_NUMBER}/{_NUMBER}", text, re.ASCII)
        if match is None:
            raise ValueError(f"{text!r} is not a clock; write bank+increment/cap in seconds, such as 60+0.5/10")
        control = TimeControl(*map(float, match.groups()))
        if control.cap == 0 or control.bank + control.increment == 0:
            raise ValueError(
                f"clock {text} leaves no time to answer; its cap, and its bank or its increment, must be more than 0"
            )
        return control

    def __str__(self) -> str:
        bank, increment, cap = (f"{part:.6f}".rstrip("0").rstrip(".") for part in (self.bank, self.increment, self.cap))
        return f"{bank}+{increment}/{cap}"


class SeatClock:
    """The clock of one seat.

    Attributes:
        bank: the time in the bank, in seconds; negative if a decision took longer than the bank allowed.
    """

    __slots__ = ("_control", "bank")

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self.bank = control.bank

    def ask(self) -> float:
        """Add the increment for a decision; return the time that the decision may take, in seconds."""
        self.bank += self._control.increment
        # The bank may be negative after an answer in the grace period.
        return max(0.0, min(self.bank, self._control.cap))

    def charge(self, seconds: float) -> None:
        """Subtract the time of a decision from the bank."""
        self.bank -= seconds
