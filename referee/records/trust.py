"""The facts that verifying a record proves, and the claims for which there is only the referee's word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from referee.match.plan import MatchPlan
from referee.records.record import RecordLine
from referee.registry import shipped_board

MAX_WIDTH = 40
"""The maximum number of characters of a board entry that are shown."""
_HEADER = ("match id", "options", "clock", "names", "seed commitment")
"""The header's claims about the setup of the match; a file does not prove when it was written."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The proved facts and the mere claims of a valid record."""

    proved: Sequence[str]
    """The facts that follow from the replay, one text for each."""
    word: Mapping[str, Sequence[int]]
    """The referee's unproved claims: a text for each kind, with the numbers of the lines that make it, from 1."""
    board: Sequence[str]
    """The differences from the board that this version of Dogana ships: one text for each entry that differs."""


def trust(plan: MatchPlan, claims: Mapping[str, Sequence[int]], *, seed_is_known: bool) -> Trust:
    """Return the proved facts and the claims of a valid record.

    Args:
        plan: the plan from the record's header.
        claims: the claims that `note_claims` has collected from all lines of the record.
        seed_is_known: True if chance was checked against the seed.
    """
    board = list(_differences(plan.setup.board_data, shipped_board(plan.game), ""))
    rules = "every action by the rules on the " + ("board in its header" if board else "shipped board")
    proved = [rules, "whose decision each was", "the result, given the seats that were out"]
    if seed_is_known:
        proved.insert(1, "chance by the seed that fits its commitment")
    return Trust(proved, {"board": [1], **claims} if board else claims, board)


def _differences(board: Any, shipped: Any, place: str) -> Iterator[str]:
    """Yield the entries in which two boards differ, with both values."""
    if isinstance(board, Mapping) and isinstance(shipped, Mapping):
        for key in {**shipped, **board}:
            yield from _differences(board.get(key), shipped.get(key), f"{place}.{key}" if place else key)
    elif isinstance(board, list) and isinstance(shipped, list) and len(board) == len(shipped):
        for number, (one, other) in enumerate(zip(board, shipped, strict=True)):
            yield from _differences(one, other, f"{place}[{number}]")
    elif json.dumps(board) != json.dumps(shipped):  # in JSON, true is not 1
        yield f"{place} is {_quoted(board)}, not {_quoted(shipped)}"


def _quoted(value: Any) -> str:
    text = "missing" if value is None else json.dumps(value)
    return text if len(text) <= MAX_WIDTH else text[: MAX_WIDTH - 3] + "..."


def note_claims(claims: dict[str, list[int]], line: RecordLine) -> None:
    """Add those of a line's claims that nothing else in the record proves."""
    data = line.data
    if data.get("type") == "header":
        claims.update((claim, [line.number]) for claim in _HEADER)
        if "position" in data:
            claims["position"] = [line.number]
    if "ms" in data or data.get("type") == "result":
        claims.setdefault("times", []).append(line.number)
    claim = _claim(line)
    if claim:
        claims.setdefault(claim, []).append(line.number)


def _claim(line: RecordLine) -> str:
    match line.data:
        case {"type": "action", "by": "clock"}:
            return "time was up"
        case {"type": "strike", "reason": str(reason)}:
            return f"strike for {reason}"
        case {"type": "out", "reason": str(reason)}:
            return f"out for {reason}"
    return ""
