"""The tracks of Yunnan: the two orders, the levels, and the score with the bank's payments and the incomes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.drawing_pieces import FILLS, LETTERS, marker
from referee.games.yunnan.drawing_words import colours_of, expected
from referee.games.yunnan.names import Colour, Phase
from referee.games.yunnan.observation import YunnanObservation
from referee.kit.scene import brackets, halo
from referee.kit.svg import (
    ALARM,
    BRASS,
    DARK,
    DEEP,
    FADED,
    INK,
    LAMP,
    LINE,
    NIGHT,
    PARCHMENT,
    SMALLEST,
    box,
    figure,
    group,
    path,
    short,
    text,
    width_of,
)

ORDERS_HEIGHT, LEVELS_HEIGHT, SCORE_HEIGHT = 128, 92, 108
_NEW = halo(0, 0, 13)
"""The halo around a marker that has just moved."""
_GREEN, _BROWN = ("#3c5a3d", "#22331f"), ("#6a4f2e", "#33261a")


def orders(seen: YunnanObservation, acted: Colour | None, width: float) -> str:
    """Draw the order tracks with each colour's state; the first to act is on the left.

    `acted` is the colour that acted last.
    """
    parts = [box(0, 0, width, ORDERS_HEIGHT)]
    in_auction = seen.phase in (Phase.AUCTION, Phase.YARD)
    for row, (name, order, shades) in enumerate(
        (("auction order", seen.auction_order, _GREEN), ("travel order", seen.travel_order, _BROWN))
    ):
        y, current = 26 + 60 * row, in_auction == (row == 0) and seen.phase is not Phase.OVER
        parts.append(text(12, y + 5, name, SMALLEST, INK if current else FADED, fit=116))
        step = (width - 136) / len(order)
        for place, colour in enumerate(order):
            x = 130 + step * (place + 0.5)
            acts = current and colour is seen.acting_colour
            parts.append(
                box(
                    x - 20,
                    y - 17,
                    40,
                    34,
                    shades[place * 2 >= len(order)],
                    LAMP if acts else LINE,
                    2.5 if acts else 1,
                    5,
                )
            )
            parts.append(group(x, y, marker(colour) + _NEW * (current and colour is acted)))
            note = "to act" if acts else _note(seen, row, colour, place) if current else ""
            parts.append(
                text(x, y + 31, note, SMALLEST, LAMP if acts else FADED, "middle", fit=step + 6) if note else ""
            )
    return "".join(parts)


def _note(seen: YunnanObservation, row: int, colour: Colour, place: int) -> str:
    if seen.phase is Phase.AUCTION:
        return "passed" if colour in seen.passed else "bank" if colour in seen.banked else ""
    order = seen.travel_order if row else seen.auction_order
    done = seen.acting_colour is not None and place < order.index(seen.acting_colour)
    return "done" if done else ""


# --- levels ---------------------------------------------------------------------------------------------


def levels(board: YunnanBoard, seen: YunnanObservation, was: YunnanObservation, width: float) -> str:
    """Draw the tracks of border passes and of influence, with the value of each level at the end of the match."""
    half = (width - 8) / 2
    passes = [
        (has.passes - board.first_passes, has.passes != had.passes)
        for has, had in zip(seen.colours, was.colours, strict=True)
    ]
    influence = [
        (has.influence, has.influence != had.influence) for has, had in zip(seen.colours, was.colours, strict=True)
    ]
    return _level_track("Border passes", board.first_passes, board.passes_vp, passes, half) + group(
        half + 8, 0, _level_track("Influence, in dragon heads", 0, board.influence_vp, influence, half)
    )


def _level_track(name: str, first: int, worth: Sequence[int], reached: Sequence[tuple[int, bool]], width: float) -> str:
    """Draw a track; `reached` contains each colour's level, and whether the colour has just reached it."""
    step = (width - 8) / len(worth)
    parts = [
        box(0, 0, width, LEVELS_HEIGHT),
        text(10, 17, name, SMALLEST, INK, bold=True),
        text(width - 8, 17, "VP at the end", SMALLEST, FADED, "end"),
    ]
    for level, vp in enumerate(worth):
        there = [(colour, new) for colour, (own, new) in zip(Colour, reached, strict=False) if own == level]
        room = step - 3
        scale = min(1, room / 70)  # a corrected board may have more levels
        edge = room / scale / 2
        parts.append(box(4 + step * level, 24, room, 65, DEEP if level % 2 else NIGHT, LINE, 1, 5))
        inside = [
            text(6 - edge, 14, first + level, 15, bold=True),
            text(edge - 6, 14, f"{short(vp)} VP", SMALLEST, BRASS, "end", fit=2 * edge - 26),
        ]
        for at, (colour, new) in enumerate(there):
            row = there[at // 3 * 3 :][:3]
            where = (24 * (at % 3 - (len(row) - 1) / 2), 30 + 23.5 * (at // 3))
            inside.append(group(*where, marker(colour) + _NEW * new))
        parts.append(group(4 + step * level + room / 2, 24, "".join(inside), scale))
    return "".join(parts)


# --- score ----------------------------------------------------------------------------------------------

_AXIS, _BAND, _BAND_HEIGHT = 154, 42, 24
_FURTHEST = 300
"""The highest score that the track can show; a higher score is drawn at its end."""


class _Axis(NamedTuple):
    """The track: its range of points, and its width."""

    low: int
    high: int
    width: float

    def at(self, points: int) -> float:
        """Return the position of a score; a score beyond either end is placed at that end."""
        return _AXIS + (min(max(points, self.low), self.high) - self.low) * self.width / (self.high - self.low)


class _Pin(NamedTuple):
    """A label beside the track: its score, its colours, its text, and whether it has just moved to that score."""

    points: int
    colours: Sequence[Colour]
    words: str
    new: bool = False

    @property
    def wide(self) -> float:
        """The width of the pin's label."""
        return 20 * len(self.colours) + width_of(self.words) * 16 + 10


def score(board: YunnanBoard, seen: YunnanObservation, was: YunnanObservation, width: float) -> str:
    """Draw the score track with the bank's payments, the seats above it, and incomes or the bids' total below it."""
    over = seen.phase is Phase.OVER
    all_points = [points for view in seen.seats for points in ((view.vp, view.score) if over else (view.vp,))]
    low = min(0, 10 * (max(min(all_points), -_FURTHEST) // 10))
    high = max(100, 10 * -(-min(max(all_points), _FURTHEST) // 10))
    axis = _Axis(low, high, width - _AXIS - 20)
    above = [
        _Pin(view.vp, colours_of(seen, seat), str(view.vp), new=view.vp != was.seats[seat].vp)
        for seat, view in enumerate(seen.seats)
    ]
    title, below = _below(board, seen)
    end = board.end_vp[len(seen.seats) == 2]
    parts = [
        box(0, 0, width, SCORE_HEIGHT),
        text(12, 17, "score track", SMALLEST, INK, bold=True, fit=_AXIS - 34),
        text(12, 34, f"the end: {end}", SMALLEST, ALARM, fit=_AXIS - 34),
        text(12, _BAND + 17, "bank, left/right", SMALLEST, BRASS, fit=_AXIS - 18),
        text(12, _BAND + 54, title, SMALLEST, INK, fit=_AXIS - 18),
        _sectors(board, axis),
        _pins(above, axis, 8, _BAND, width),
        _pins(below, axis, 78, _BAND + _BAND_HEIGHT, width),
    ]
    if end <= high:
        pole = f"M{axis.at(end):.1f} {_BAND + _BAND_HEIGHT + 8}v{-_BAND_HEIGHT - 16}l12 4l-12 4"
        parts.append(path(pole, ALARM, ALARM, 2.4, stroke_linejoin="round"))
    return "".join(parts)


@lru_cache(maxsize=100)
def _sectors(board: YunnanBoard, axis: _Axis) -> str:
    """Draw the track, shaded by the bank's payments."""
    rows = [row for row in board.bank if row[0] < axis.high]
    parts = []
    for at, (start, pays_left, pays_right) in enumerate(rows):
        left = axis.at(start)
        room = axis.at(rows[at + 1][0] if at + 1 < len(rows) else axis.high) - left
        pays = f"{short(pays_left)}/{short(pays_right)}"
        parts.append(box(left, _BAND, room, _BAND_HEIGHT, "#31485a" if at % 2 else "#20323f", LINE, 1, 0))
        if room > 32:
            parts.append(text(left + 5, _BAND + 17, start, SMALLEST, PARCHMENT))
        if room > 84:
            parts.append(text(left + room - 6, _BAND + 17, pays, SMALLEST, BRASS, "end", bold=True, fit=room - 34))
    if axis.low < 0:
        parts.append(box(axis.at(axis.low), _BAND, axis.at(0) - axis.at(axis.low), _BAND_HEIGHT, DARK, LINE, 1, 0))
        parts.append(text(axis.at(axis.low) + 4, _BAND + 17, axis.low, SMALLEST, ALARM))
    return "".join(parts)


def _below(board: YunnanBoard, seen: YunnanObservation) -> tuple[str, list[_Pin]]:
    """Return the heading and the pins below the track in the current phase."""
    if seen.phase is Phase.OVER:
        final = [_Pin(view.score, colours_of(seen, seat), str(view.score)) for seat, view in enumerate(seen.seats)]
        return "in the end", final
    if seen.phase in (Phase.TRAVEL, Phase.DISPLACE):
        earned = [earnings.income for earnings in expected(board, seen)]
        return "expected income", [
            _Pin(sum_, [colour], str(sum_)) for colour, sum_ in zip(Colour, earned, strict=False)
        ]
    if seen.phase is Phase.CONVERT:
        to_come = [(colour, has.income) for colour, has in zip(Colour, seen.colours, strict=False) if has.income]
        return "income", [_Pin(income, [colour], str(income)) for colour, income in to_come]
    total = sum(bid.value for bid in seen.bids)
    return "all bids", [_Pin(total, [], f"{total} bid in all")]


def _pins(pins: list[_Pin], axis: _Axis, y: float, edge: float, width: float) -> str:
    """Draw pins side by side at a height, each with a line to its place on an edge of the track."""
    ordered = sorted(pins, key=lambda pin: pin.points)
    # From the left, each pin is pushed off the one before it; that can push the last ones over the right edge. So from
    # the right, each is pushed back off the one after it.
    lefts: list[float] = []
    free = _AXIS - 16.0
    for pin in ordered:
        lefts.append(max(axis.at(pin.points) - pin.wide / 2, free))
        free = lefts[-1] + pin.wide + 4
    limit = width - 6
    for at in range(len(ordered) - 1, -1, -1):
        lefts[at] = min(lefts[at], limit - ordered[at].wide)
        limit = lefts[at] - 4
    parts = []
    near = y + 22 if edge > y else y
    for pin, left in zip(ordered, lefts, strict=True):
        middle = left + pin.wide / 2
        fill = FILLS[pin.colours[0]] if pin.colours else BRASS
        parts.append(path(f"M{middle:.1f} {near}L{axis.at(pin.points):.1f} {edge}", stroke=fill, thick=2))
        parts.append(box(left, y, pin.wide, 22, NIGHT, fill, 1.5, 3))
        for at, colour in enumerate(pin.colours):
            parts.append(box(left + 20 * at, y, 20, 22, FILLS[colour], DARK, 1, 3))
            parts.append(figure(left + 20 * at + 10, y + 16, LETTERS[colour], 14, DARK))
        parts.append(text(left + 20 * len(pin.colours) + 5, y + 16, pin.words, 14, INK, bold=True))
        parts += [brackets(left - 4, y - 4, pin.wide + 8, 30)] * pin.new
    return "".join(parts)
