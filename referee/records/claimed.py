"""The result of a match as its record claims it, for a quick look at many records. `verify` proves a result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from referee.kit.document import Document, parse_json
from referee.match.result import Outcome, Result, SeatResult
from referee.records.record import RecordError, read_bytes, unpacked
from referee.records.seats import seconds

_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_LAST_LINES = 4
"""The number of lines at the end of a record that are searched for the result; a seed and a signature may follow it."""


def claimed_result(path: Path) -> Result:
    """Read the result at the end of a record. Neither the chain nor the match is checked.

    Raises:
        RecordError: if the record cannot be read, or has no result.
    """
    lines = unpacked(path, read_bytes(path)).rstrip(b"\n").split(b"\n")
    try:
        # The lines are found by the first bytes that the writer puts into them, so that few lines are parsed.
        outs = [parse_json(line) for line in lines if line.startswith(b'{"type":"out",')]
        header = Document(parse_json(lines[0]), "header")
        last = [parse_json(line) for line in lines[-_LAST_LINES:]]
    except ValueError as error:
        raise RecordError(path, len(lines), f"is not JSON: {error}") from error
    found = next((each for each in last if isinstance(each, dict) and each.get("type") == "result"), None)
    if found is None:
        raise RecordError(path, len(lines), "has no result at its end")
    document = Document(found, "result", header.problems)
    details = {
        each["seat"]: str(each.get("detail", ""))
        for each in outs
        if isinstance(each, dict) and isinstance(each.get("seat"), int)
    }
    seats = tuple(
        _seat(entry, bot, details) for entry, bot in zip(document.tables("seats"), header.texts("bots"), strict=False)
    )
    result = Result(seats, document.integer("decisions", 0, 2**31), document.text("digest"), None)
    if document.problems:
        raise RecordError(path, len(lines), document.problems[0])
    # `zip` stops at the shorter list, so the result may lack seats.
    if [seat.seat for seat in seats] != list(range(len(header.texts("bots")))):
        raise RecordError(path, len(lines), "does not have one result for each seat, in their order")
    # `match_points` divides the win by the number of first places.
    if min((seat.rank for seat in seats), default=0) != 1:
        raise RecordError(path, len(lines), "has no first place in its result")
    return result


def _seat(entry: Document, bot: str, details: Mapping[int, str]) -> SeatResult:
    seat = entry.integer("seat", 0, 100)
    return SeatResult(
        seat=seat,
        bot=bot,
        rank=entry.integer("rank", 1, 100),
        score=entry.integer("score", -(2**31), 2**31),
        outcome=entry.choice("outcome", _OUTCOMES),
        decisions=entry.integer("decisions", 0, 2**31),
        think_seconds=_seconds(entry, "think_ms"),
        wall_seconds=_seconds(entry, "wall_ms"),
        lag_seconds=_seconds(entry, "lag_ms"),
        detail=details.get(seat, ""),
    )


def _seconds(entry: Document, key: str) -> float:
    found = seconds(entry.raw(key, 0))
    if found is None:
        entry.note(key, "must be a number of milliseconds, and not negative")
    return found or 0.0
