"""Time controls and the clock of one seat. Pure: time comes in as arguments, in seconds."""

from __future__ import annotations

import re
from dataclasses import dataclass

TRANSIT_SECONDS = 0.1
"""How long after its deadline an answer from outside of the referee's process still counts.

On its way, a question and its answer wait for the machine at places that the referee cannot see. What is used of this time is
charged like any other: it is missing from the bank afterwards.
"""
_NUMBER = r"(\d{1,7}(?:\.\d{1,6})?)"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How long a seat may think: `bank+increment/cap`, in seconds, such as `60+0.5/10`.

    When a seat is asked, the increment is added to its bank. The decision may take what is then in the bank, but no
    longer than the cap. What it took is subtracted from the bank.
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
        match = re.fullmatch(rf"{_NUMBER}\+{_NUMBER}/{_NUMBER}", text, re.ASCII)
        if match is None:
            raise ValueError(f"{text!r} is not a clock; write bank+increment/cap in seconds, such as 60+0.5/10")
        control = TimeControl(*map(float, match.groups()))
        if control.cap == 0 or control.bank + control.increment == 0:
            raise ValueError(f"clock {text} leaves no time to answer")
        return control

    def __str__(self) -> str:
        bank, increment, cap = (f"{part:.6f}".rstrip("0").rstrip(".") for part in (self.bank, self.increment, self.cap))
        return f"{bank}+{increment}/{cap}"


class SeatClock:
    """What one seat has left.

    Attributes:
        bank: what is in the bank, in seconds; negative while time is owed that a decision took beyond it.
    """

    __slots__ = ("_control", "bank")

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self.bank = control.bank

    def ask(self) -> float:
        """Add the increment for a decision; return how long the decision may take, in seconds."""
        self.bank += self._control.increment
        return max(0.0, min(self.bank, self._control.cap))

    def charge(self, seconds: float) -> None:
        """Take what a decision took out of the bank."""
        self.bank -= seconds
