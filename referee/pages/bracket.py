"""The picture of a bracket: a column for each round, and a line from each advancing entrant to its next table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.kit.svg import BRASS, DIM, FADED, INK, LAND, LINE, box, document, name_text, path, text
from referee.tournament.bracket import BracketSeat, BracketTable

_WIDTH, _ACROSS, _BETWEEN, _MARGIN = 240, 70, 18, 20
"""The width of a table, and the spaces between rounds, between tables and at the edges."""
_ROW, _SMALL_ROW, _PADDING = 24, 15, 5
"""The heights of an entrant, of each of its tie-breaks, and of the padding of a table."""


@dataclass(slots=True)
class _PlacedTable:
    table: BracketTable
    top: float = 0.0

    @property
    def height(self) -> float:
        return 2 * _PADDING + sum(map(_row_height, self.table.seats))

    def middles(self) -> dict[str, float]:
        """Return, by entrant's name, the height at which lines meet the entrant."""
        found, top = {}, self.top + _PADDING
        for seat in self.table.seats:
            found[seat.name] = top + _ROW / 2
            top += _row_height(seat)
        return found


def bracket_picture(rounds: Sequence[Sequence[BracketTable]]) -> str:
    """Draw the tables of a knockout; at least one round must have a table."""
    columns = [[_PlacedTable(table) for table in tables] for tables in rounds]
    # From the final backwards: a round follows the order of the next one.
    for column, after in zip(columns[-2::-1], columns[:0:-1], strict=True):
        _put_beside(column, after)
    bottom = _stack(columns)
    parts: list[str] = []
    for number, column in enumerate(columns):
        left = _MARGIN + number * (_WIDTH + _ACROSS)
        after = columns[number + 1] if number + 1 < len(columns) else []
        parts += [line for one in column for line in _lines(one, after, left + _WIDTH)]
        parts += [part for one in column for part in _drawn(one, left)]
    width = len(columns) * (_WIDTH + _ACROSS) - _ACROSS + 2 * _MARGIN
    described = "The tables of each round with the points per match; a line leads from each entrant who goes on to the next table."
    return document(width, 0, bottom + _MARGIN, "Bracket", described, parts)


def _row_height(seat: BracketSeat) -> float:
    return _ROW + _SMALL_ROW * len(seat.tie_breaks)


def _put_beside(column: list[_PlacedTable], after: Sequence[_PlacedTable]) -> None:
    """Order the tables of a round by the positions of their entrants in the next round, so that few lines cross."""
    names = [seat.name for one in after for seat in one.table.seats]
    places = {name: place for place, name in enumerate(names)}

    def mean(one: _PlacedTable) -> float:
        found = [places[seat.name] for seat in one.table.seats if seat.name in places]
        return sum(found) / len(found) if found else len(places)

    column.sort(key=mean)


def _stack(columns: Sequence[Sequence[_PlacedTable]]) -> float:
    """Put each table at the average height of the tables that its entrants come from; return the lowest edge.

    A table that would overlap the previous one is put below it.
    """
    sources: dict[str, float] = {}
    lowest = 0.0
    for column in columns:
        free = float(_MARGIN)
        for one in column:
            heights = [sources[seat.name] for seat in one.table.seats if seat.name in sources]
            wanted = sum(heights) / len(heights) - one.height / 2 if heights else free
            one.top = max(free, wanted)
            free = one.top + one.height + _BETWEEN
            lowest = max(lowest, one.top + one.height)
        sources = {name: height for one in column for name, height in one.middles().items()}
    return lowest


def _lines(one: _PlacedTable, after: Sequence[_PlacedTable], right: float) -> list[str]:
    """Draw a line from each advancing entrant to its place in the next round."""
    ends = {name: height for other in after for name, height in other.middles().items()}
    half = _ACROSS / 2
    return [
        path(
            # Both control points are halfway across, so the curve leaves and arrives level.
            f"M{right:g} {height:g}c{half:g} 0 {half:g} {ends[name] - height:g} {_ACROSS:g} {ends[name] - height:g}",
            "none",
            DIM,
        )
        for name, height in one.middles().items()
        if name in ends
    ]


def _drawn(one: _PlacedTable, left: float) -> list[str]:
    parts = [box(left, one.top, _WIDTH, one.height, LAND if one.table.is_played else "none", LINE)]
    middles = one.middles()
    for seat in one.table.seats:
        baseline, colour = middles[seat.name] + 5, BRASS if seat.goes_on else INK
        parts.append(name_text(left + 12, baseline, seat.name, 14, _WIDTH - 80, colour))
        if seat.points is not None:
            parts.append(text(left + _WIDTH - 12, baseline, f"{seat.points:.3g}", 13, colour, "end"))
        for row, (kind, number) in enumerate(seat.tie_breaks.items(), start=1):
            parts.append(text(left + 20, baseline + row * _SMALL_ROW, kind, 11, FADED))
            parts.append(text(left + _WIDTH - 12, baseline + row * _SMALL_ROW, f"{number:.4g}", 11, FADED, "end"))
    return parts
