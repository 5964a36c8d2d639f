"""The end of a match of Yunnan: the sources of all points and the deciding criteria, in a narrow column."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.breakdown import breakdown, criteria
from referee.games.yunnan.observation import YunnanObservation
from referee.kit.scene import ordinal, what_decided
from referee.kit.svg import (
    BRASS,
    DIM,
    FADED,
    INK,
    LAMP,
    LAND,
    LINE,
    SMALLEST,
    box,
    cut,
    group,
    name_text,
    path,
    text,
    width_of,
)

_WORDS = 126
"""The width of the column that contains the names of the rows."""


def final_table(
    board: YunnanBoard,
    seen: YunnanObservation,
    who: str,
    seats: Sequence[tuple[str, str]],
    width: float,
    height: float,
) -> str:
    """Draw the points of each seat by source, the best seat first.

    The table of `referee.kit.scene` is too wide for the column beside the map, which must have room for five seats.

    Args:
        board: the numbers printed on the components of the game.
        seen: the last observation of a match.
        who: the heading above the names of the seats, such as `bot`.
        seats: the mark and name of each seat; names are untrusted text.
        width: the width of the table.
        height: the height of the table.
    """
    points, decided_by = breakdown(board, seen), criteria(seen)
    ranks = [view.rank for view in seen.seats]
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    column = (width - _WORDS - 8) / len(order)
    middles = {seat: _WORDS + column * (place + 0.5) for place, seat in enumerate(order)}
    parts = [
        box(0, 0, width, height, LAND, BRASS, 1.5),
        text(14, 32, "Final standing", 19, BRASS, serif=True, bold=True),
        text(14, 126, who, 15, FADED),
    ]
    for seat, x in middles.items():
        mark, name = seats[seat]
        words = cut(name, SMALLEST, column - 4)
        room = min(max(width_of(words), 1) * SMALLEST * 1.13, column - 4)
        parts.append(text(x, 68, ordinal(ranks[seat]), 17, BRASS if ranks[seat] == 1 else INK, "middle", bold=True))
        parts.append(group(x, 92, mark))
        parts.append(name_text(x - room / 2, 126, words, SMALLEST, room))
    # Sources that give nobody any points have no row.
    scored = [at for at in range(len(points[0])) if any(of_seat[at].points for of_seat in points)]
    rows = [(points[0][at].source, [of_seat[at].points for of_seat in points], INK) for at in scored]
    rows.append(("total", [sum(part.points for part in of_seat) for of_seat in points], BRASS))
    ties = [(name, list(values), FADED) for name, values in decided_by[1:]]
    decided = what_decided(ranks, decided_by)
    verdict = textwrap.wrap(f"{decided[0].upper()}{decided[1:]}", 42)
    # The rows share the height between the heads of the columns and the verdict.
    step = min(36, (height - 170 - 20 * len(verdict)) / (len(rows) + len(ties) + 1))
    parts.append(path(f"M14 {160 + step * (len(scored) - 0.72):.1f}H{width - 14}", stroke=LINE, thick=1.5))
    parts.append(text(14, 160 + step * len(rows), "what breaks ties:", 15, DIM))
    below = 160 + step * (len(rows) + 1)
    for first, lines in ((160, rows), (below, ties)):
        for row, (name, values, ink) in enumerate(lines):
            y, total = first + step * row, name == "total"
            for line, words in enumerate(said := textwrap.wrap(name, 14)):
                lower = 16 * (line - (len(said) - 1) / 2)
                parts.append(text(14, y + lower, words, 15, ink, bold=total, fit=_WORDS - 18))
            for seat, x in middles.items():
                shade = ink if values[seat] or total else DIM
                parts.append(text(x, y, values[seat], 16, shade, "middle", bold=total, fit=column - 2))
    for line, words in enumerate(verdict, start=1):
        parts.append(text(14, height + 2 - 20 * (len(verdict) + 1 - line), words, 15, LAMP, fit=width - 28))
    return "".join(parts)
