"""Export all counted matches to one file for other programs, with a row for each seat."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from referee.files import replacing
from referee.terminal import visible

COLUMNS = (
    "number",
    "match",
    "game",
    "options",
    "clock",
    "block",
    "rotation",
    "finished_at",
    "rated",
    "event",
    "digest",
    "seat",
    "bot",
    "version",
    "author",
    "rank",
    "score",
    "outcome",
    "detail",
    "decisions",
    "think_ms",
)
"""The columns, which `docs/running_a_ladder.md` explains."""

_FORMULA = tuple(
    "=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
"""The first characters of text that a spreadsheet may treat as a formula, and run."""


def export(store: Store, file: Path) -> int:
    """Write a snapshot of all counted matches; return the number of rows.

    The file takes its name when it is complete; an earlier file of that name is replaced only then.

    Args:
        store: the ladder.
        file: the file to write; its name ends with .csv or .json.

    Raises:
        LadderError: if the name of the file ends with neither, or the ladder cannot be read.
        OSError: if the file cannot be written; the error names it.
    """
    write = {".csv": _write_csv, ".json": _write_json}.get(file.suffix.lower())
    if write is None:
        raise LadderError(f"{file} does not say what it is to be: its name must end with .csv or .json")
    with (
        replacing(file) as part,
        # `csv` writes its own line endings.
        part.open("x", encoding="utf-8", newline="") as target,
        store.reading(),
    ):
        return write(target, _rows(store))


def _rows(store: Store) -> Iterator[dict[str, Any]]:
    for match in store.history.all_played():
        of_match = {
            "number": match.number,
            "match": match.match_id,
            "game": match.condition.game,
            "options": dict(match.condition.options),
            "clock": match.condition.clock,
            "block": match.block,
            "rotation": match.rotation,
            "finished_at": match.finished_at,
            "rated": match.rated,
            "event": match.event,
            "digest": match.digest,
        }
        for seat in match.seats:
            yield {
                **of_match,
                "seat": seat.seat,
                "bot": seat.version.bot,
                "version": seat.version.number,
                "author": seat.version.author,
                "rank": seat.rank,
                "score": seat.score,
                "outcome": seat.outcome.value,
                "detail": seat.detail,
                "decisions": seat.decisions,
                "think_ms": seat.think_ms,
            }


def _write_json(target: TextIO, rows: Iterable[dict[str, Any]]) -> int:
    """Write an array with an object for each row, each on its own line."""
    count = 0
    for row in rows:
        target.write((",\n" if count else "[\n") + json.dumps(row))
        count += 1
    target.write("\n]\n" if count else "[]\n")
    return count


def _write_csv(target: TextIO, rows: Iterable[dict[str, Any]]) -> int:
    writer = csv.DictWriter(target, COLUMNS)
    writer.writeheader()
    count = 0
    for row in rows:
        writer.writerow({column: cell_of(value) for column, value in row.items()})
        count += 1
    return count


def cell_of(value: Any) -> Any:
    """Return a value as a cell of a CSV file.

    Text gets no hidden characters, and is never a formula. Options become JSON, and truth values become 1 or 0.
    """
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, str):
        text = visible(value)
        return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
    return value
