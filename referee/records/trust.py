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


def trust(claims: Mapping[str, Sequence[int]], *, seed_is_known: bool) -> Trust:
    """Say what a record that holds proves.

    Args:
        claims: what `note_claims` has noted of all its lines.
        seed_is_known: whether chance was checked against the seed.
    """
    proved = ["every action by the rules", "whose decision each was", "the result, given the seats that were out"]
    if seed_is_known:
        proved.insert(1, "chance by the seed that was committed to")
    return Trust(proved, claims)


def note_claims(claims: dict[str, list[int]], line: Line) -> None:
    """Note what a line says that nothing else in the record shows."""
    data = line.data
    if data.get("type") == "header":
        claims["names"] = [line.number]
    if "ms" in data or data.get("type") == "result":
        claims.setdefault("times", []).append(line.number)
    claim = _claim(line)
    if claim:
        claims.setdefault(claim, []).append(line.number)


def _claim(line: Line) -> str:
    match line.data:
        case {"type": "action", "by": "clock"}:
            return "time was up"
        case {"type": "strike", "reason": str(reason)}:
            return f"strike for {reason}"
        case {"type": "out", "reason": str(reason)}:
            return f"out for {reason}"
    return ""
