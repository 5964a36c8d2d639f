"""Time controls and the clock of one seat. Pure: time comes in as arguments, in seconds."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"(\d{1,7}(?:\.\d{1,6})?)"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How long a seat may think: `bank+increment/cap`, in seconds, such as `60+0.5/10`.

    When a seat is asked, the increment is added to its bank. The decision may take what is then in the bank, but no
    longer than the cap. What it took is taken out of the bank.
    """

    bank: float
    increment: float
    cap: float

    @staticmethod
    def parse(text: str) -> TimeControl:
        """Reads `bank+increment/cap`.

        Raises:
            ValueError: if the text is of another form, or leaves no time to answer.
        """
        match = re.fullmatch(rf"{_NUMBER}\+{_NUMBER}/{_NUMBER}", text, re.ASCII)
        if match is None:
            raise ValueError(f"{text!r} is no clock; write bank+increment/cap in seconds, such as 60+0.5/10")
        control = TimeControl(*map(float, match.groups()))
        if control.cap == 0 or control.bank + control.increment == 0:
            raise ValueError(f"clock {text} leaves no time to answer")
        return control

    def __str__(self) -> str:
        return f"{self.bank:g}+{self.increment:g}/{self.cap:g}"


class SeatClock:
    """What one seat has left.

    Attributes:
        bank: seconds in the bank.
        charged: seconds that the last decision was charged.
        total: seconds that all decisions were charged.
    """

    __slots__ = ("_control", "bank", "charged", "total")

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self.bank = control.bank
        self.charged = 0.0
        self.total = 0.0

    def ask(self) -> float:
        """Adds the increment for a decision; returns the seconds that it may take."""
        self.bank += self._control.increment
        return min(self.bank, self._control.cap)

    def charge(self, seconds: float) -> None:
        """Takes what a decision took out of the bank."""
        self.charged = seconds
        self.total += seconds
        self.bank = max(0.0, self.bank - seconds)
