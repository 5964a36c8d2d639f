"""What the verification of a record proves, and for which of its lines it takes the referee's word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.records.record import Line


@dataclass(frozen=True, slots=True)
class Trust:
    """What is known of a record that holds."""

    proved: Sequence[str]
    """What follows from playing the match again, a text each."""
    word: Mapping[str, Sequence[int]]
    """What only the referee says: a text for each kind of claim, and the lines that make it, counted from 1."""


def trust(lines: Sequence[Line], *, seed_is_known: bool) -> Trust:
    """Sort out what a record that holds proves.

    Args:
        lines: the whole record.
        seed_is_known: whether chance was checked against the seed.
    """
    proved = ["every action by the rules", "whose decision each was", "the result, given the seats that were out"]
    if seed_is_known:
        proved.insert(1, "chance by the seed that was committed to")
    claims: dict[str, list[int]] = {"names": [1], "times": []}
    for line in lines:
        if "ms" in line.data or line.data["type"] == "result":
            claims["times"].append(line.number)
        claim = _claim(line)
        if claim:
            claims.setdefault(claim, []).append(line.number)
    return Trust(proved, claims)


def _claim(line: Line) -> str:
    match line.data:
        case {"type": "action", "by": "clock"}:
            return "time was up"
        case {"type": "strike", "reason": str(reason)}:
            return f"strike for {reason}"
        case {"type": "out", "reason": str(reason)}:
            return f"out for {reason}"
    return ""
