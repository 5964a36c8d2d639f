"""Draw the parts of a picture around the board, which are the same for all games.

A strip at the top shows the last step: its number, the bot that acted, its action, and the points scored and why. A
table at the end lists the sources of all points, and the criteria that decided the places. Highlights show the latest
changes on the board. They have shapes of their own and do not rely on colour.

Drawings give each seat a *mark*: its piece, drawn around (0, 0), about 36 wide and 24 high. Sizes follow the width of
the picture, so that the smallest text is legible in a picture 800 pixels wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from referee.kit.svg import (
    BRASS,
    DEEP,
    DIM,
    FADED,
    INK,
    LAMP,
    LINE,
    NIGHT,
    box,
    group,
    name_text,
    number,
    path,
    printable,
    text,
    width_of,
)

Breakdown = Sequence[Sequence[tuple[str, int]]]
"""The points of each seat, as (source, points); all seats have the same sources in the same order."""
Point = tuple[float, float]
Criteria = Sequence[tuple[str, Sequence[int]]]
"""The criteria for the places, most important first, as (name, value of each seat); a larger value is better."""


class Gain(NamedTuple):
    """Points that a seat has just scored or lost."""

    seat: int
    source: str
    points: int


def gains(before: Breakdown, after: Breakdown) -> list[Gain]:
    """Return the changes from one breakdown to the next, seat by seat. A source may be in only one of the two."""
    found = []
    for seat, (olds, news) in enumerate(zip(map(dict, before), map(dict, after), strict=True)):
        found += [Gain(seat, source, new - olds.get(source, 0)) for source, new in news.items()]
        found += [Gain(seat, source, -old) for source, old in olds.items() if source not in news]
    return [gain for gain in found if gain.points]


def signed(points: int) -> str:
    """Format points as a change, as in `+3` and `−2`."""
    return f"+{points}" if points >= 0 else f"−{-points}"


def seats_in_words(seats: Sequence[int]) -> str:
    """Name seats at the beginning of a sentence, as in `Seats 0 and 1`."""
    named = [str(seat) for seat in seats]
    return f"Seat {''.join(named)}" if len(named) < 2 else f"Seats {', '.join(named[:-1])} and {named[-1]}"


def clock(seconds: float) -> str:
    """Format the time left on a clock, as in `1:05`, or as in `9.5 s` below ten seconds."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


# --- the strip --------------------------------------------------------------------------------------


class Strip(NamedTuple):
    """The contents of the strip; the game supplies the words."""

    step: int
    """The number of actions played so far."""
    steps: int | None
    """The number of actions in the match, if known."""
    bots: Sequence[str]
    """The name of the bot in each seat; untrusted text."""
    seat: int | None
    """The seat that acted; None at the beginning."""
    what: str
    """The action of that seat, in words."""
    gained: Sequence[Gain]
    """The points scored by the action."""


def strip_height(width: float, said: Strip) -> float:
    """Return the height of the strip in a picture of this width; it is larger if the gains need more than one line."""
    lines = max(1, len(_lines(width, said)))
    # In the units of `strip`, the height is 4.8 with one line of gains, and 1.7 more for each further line.
    return round(width * (0.057 + 0.02 * (lines - 1)), 1)


def strip(width: float, said: Strip, marks: Sequence[str]) -> str:
    """Draw the strip above the picture, from y = `-strip_height(width, said)` to 0, so that nothing else has to move."""
    height, unit = strip_height(width, said), width / 84
    upper, left = -height + 2.15 * unit, 11.5 * unit
    count = f"Step {said.step}" if said.steps is None else f"Step {said.step} of {said.steps}"
    parts = [
        box(0, -height, width, height + 1, NIGHT, "none", 0, 0),
        box(0.8 * unit, -height + 0.4 * unit, width - 1.6 * unit, height - 0.6 * unit, DEEP, LAMP, 1.5),
        text(1.8 * unit, -height + 2.85 * unit, count, 1.25 * unit, FADED, fit=9 * unit),
    ]
    if said.seat is None:
        parts.append(text(left, upper, said.what, 1.35 * unit, bold=True, fit=width - left - 2 * unit))
        return "".join(parts)
    name = min(width_of(printable(said.bots[said.seat])) * 1.14, 15) * 1.35 * unit
    parts.append(group(left + 1.4 * unit, upper - 0.4 * unit, marks[said.seat], unit / 14))
    parts.append(name_text(left + 3.2 * unit, upper, said.bots[said.seat], 1.35 * unit, name))
    after = left + 4 * unit + name
    parts.append(text(after, upper, said.what, 1.35 * unit, fit=width - after - 2 * unit))
    lines = _lines(width, said)
    for row, line in enumerate(lines):
        y, x, room = upper + (1.8 + 1.7 * row) * unit, left, (width - left - 2 * unit) / len(line)
        for seat, words in line:
            parts.append(group(x + 1.4 * unit, y - 0.45 * unit, marks[seat], unit / 14))
            parts.append(text(x + 3 * unit, y, words, 1.15 * unit, LAMP, bold=True, fit=room - 4 * unit))
            x += room
    if not lines:
        parts.append(text(left, upper + 1.8 * unit, "no points", 1.15 * unit, DIM))
    return "".join(parts)


def _lines(width: float, said: Strip) -> list[list[tuple[int, str]]]:
    """Return the latest gain of each seat that has one, as (seat, words), in as few lines as the width allows."""
    unit = width / 84
    scored = [
        (seat, _sum_in_words([gain for gain in said.gained if gain.seat == seat]))
        for seat in sorted({gain.seat for gain in said.gained})
    ]
    widest = max([width_of(words) * 1.13 * 1.15 * unit + 4 * unit for _, words in scored], default=0)
    # A mark and its gaps take 4 units; 13.5 units stay free to the left and right of the lines, as in `strip`.
    columns = max(1, min(len(scored), int((width - 13.5 * unit) / max(widest, 1))))
    return [scored[at : at + columns] for at in range(0, len(scored), columns)]


def _sum_in_words(gained: Sequence[Gain]) -> str:
    """Describe the latest gain of one seat, as in `+3 points: full holds +1, market tiles +2`."""
    total = sum(gain.points for gain in gained)
    unit = "point" if abs(total) == 1 else "points"
    if len(gained) == 1:
        return f"{signed(total)} {unit}: {gained[0].source}"
    return f"{signed(total)} {unit}: " + ", ".join(f"{gain.source} {signed(gain.points)}" for gain in gained)


def _gained_in_words(gained: Sequence[Gain]) -> list[str]:
    """Describe the latest gain of each seat, as in `Seat 1: +3 points: full holds +1, market tiles +2`."""
    return [
        f"Seat {seat}: {_sum_in_words([gain for gain in gained if gain.seat == seat])}"
        for seat in sorted({gain.seat for gain in gained})
    ]


def sentences(said: Strip) -> list[str]:
    """Return the action and the gains as sentences, without the bots' names or the step number."""
    return [said.what, *_gained_in_words(said.gained)]


def strip_in_words(said: Strip) -> list[str]:
    """Return the contents of the strip as sentences without full stops, for the description of the picture."""
    count = f"Step {said.step}" if said.steps is None else f"Step {said.step} of {said.steps}"
    lines = [f"Seat {seat} is {printable(bot)}" for seat, bot in enumerate(said.bots)]
    if said.seat is None:
        return [f"{count}: {said.what}", *lines]
    found = [f"{count}: seat {said.seat} {said.what}"]
    return [*found, *_gained_in_words(said.gained), *lines]


# --- the end ----------------------------------------------------------------------------------------


def end_table_height(width: float, breakdown: Breakdown, criteria: Criteria) -> float:
    """Return the height of an end table of this width, with text as large as in a strip of the same width."""
    lines = len(_rows(range(len(breakdown)), breakdown, criteria))
    return round((lines + 5.2) * width / 84 * 1.85, 1)


def _rows(order: Sequence[int], breakdown: Breakdown, criteria: Criteria) -> list[tuple[str, list[int], str]]:
    """Return the lines of the table as (name, value of each seat, kind): sources of points, total, tie-breaks.

    Sources that are 0 for all seats, and tie-breaks that are equal for all, explain nothing and are left out.
    """
    totals = [sum(points for _, points in row) for row in breakdown]
    rows = [
        (source, [breakdown[seat][place][1] for seat in order], "source")
        for place, (source, _) in enumerate(breakdown[0])
        if any(row[place][1] for row in breakdown)
    ]
    rows.append(("total", [totals[seat] for seat in order], "total"))
    for name, values in criteria:
        if list(values) != totals and len(set(values)) > 1:
            rows.append((name, [values[seat] for seat in order], "tie-break"))
    return rows


def end_table(
    width: float,
    height: float,
    seats: Sequence[tuple[str, str]],
    ranks: Sequence[int],
    breakdown: Breakdown,
    criteria: Criteria,
) -> str:
    """Draw the sources of all points and the deciding criteria in a box with its upper left corner at (0, 0).

    Args:
        width: the width of the box.
        height: the height of the box; the text is as large as the box allows.
        seats: the mark and name of each seat; names are untrusted text.
        ranks: the place of each seat.
        breakdown: the points of each seat, by source.
        criteria: the criteria that decide the places.
    """
    order = sorted(range(len(ranks)), key=lambda seat: (ranks[seat], seat))
    lines = _rows(order, breakdown, criteria)
    verdict = what_decided(ranks, criteria)
    step = height / (len(lines) + 5.2)
    size = min(step * 0.72, width / 30)
    words = width * (
        0.34 if len(order) < 4 else 0.29
    )  # the column of names, narrower with more seats, to leave room for them
    column = (width - words - size) / len(order)
    middles = [words + column * (place + 0.5) for place in range(len(order))]
    parts = [text(size, step * 1.5, "Final standing", size * 1.15, BRASS, serif=True, bold=True, fit=words - size)]
    for x, seat in zip(middles, order, strict=True):
        first = ranks[seat] == 1
        parts.append(group(x - size, step * 1.05, seats[seat][0], size / 14))
        parts.append(text(x + size * 0.7, step * 1.45, ordinal(ranks[seat]), size, BRASS if first else INK, bold=True))
        name_width = min(width_of(printable(seats[seat][1])) * size * 1.05, column - 6)
        parts.append(name_text(x - name_width / 2, step * 2.6, seats[seat][1], size * 0.9, name_width))
    y = step * 3.9
    for name, values, kind in lines:
        is_total = kind == "total"
        if is_total:
            y += step * 0.15
            parts.append(
                path(f"M{round(size, 1):g} {round(y - step * 0.76, 1):g}H{round(width - size, 1):g}", "none", LINE, 1.5)
            )
        shade = FADED if kind == "tie-break" else INK
        parts.append(text(size, y, name, size, shade, bold=is_total, fit=words - size))
        for x, value in zip(middles, values, strict=True):
            ink = shade if value or is_total else DIM
            parts.append(text(x, y, value, size, ink, "middle", bold=is_total, fit=column - 4))
        y += step
    parts.append(text(size, height - step * 0.45, verdict, size * 0.95, LAMP, fit=width - 2 * size))
    return "".join(parts)


def ordinal(place: int) -> str:
    """Format a place as an ordinal, as in `1st`."""
    return f"{place}{({1: 'st', 2: 'nd', 3: 'rd'}).get(place, 'th')}"


def what_decided(ranks: Sequence[int], criteria: Criteria) -> str:
    """Name the tie-breaks and the places that they decided, or the usual criterion if none was needed."""
    order = sorted(range(len(ranks)), key=lambda seat: (ranks[seat], seat))
    usual = next((name for name, values in criteria if any(values)), criteria[0][0])
    said = []
    for better, worse in pairwise(order):
        names = [name for name, values in criteria if values[better] != values[worse]]
        places = f"{ordinal(ranks[better])} and {ordinal(ranks[worse])}"
        if not names:
            said.append(f"seats {better} and {worse} share the {ordinal(ranks[better])} place")
        elif names[0] != usual:
            said.append(f"{places}: decided by {names[0]}")
    return "; ".join(said) or f"Decided by {usual}"


# --- places -----------------------------------------------------------------------------------------


def nearest_berths(wanted: Sequence[Point], berths: Sequence[Point]) -> list[Point]:
    """Return a different berth for each wanted place. The nearest pairs of a place and a free berth are matched first.

    The wanted places themselves are unsuitable: on a corrected board, all of them may coincide.
    """
    ways = sorted(
        ((x - left) ** 2 + (y - top) ** 2, at, (left, top)) for at, (x, y) in enumerate(wanted) for left, top in berths
    )
    found: dict[int, Point] = {}
    for _, at, berth in ways:
        if at not in found and berth not in found.values():
            found[at] = berth
    return [found[at] for at in range(len(wanted))]


# --- marks ------------------------------------------------------------------------------------------


def halo(x: float, y: float, radius: float) -> str:
    """Draw a ring of rays around a piece that has just appeared or changed."""
    inner, outer, slant = radius, radius * 1.4, 0.7071
    rays = "".join(
        f"M{number(dx * inner)} {number(dy * inner)}l{number(dx * (outer - inner))} {number(dy * (outer - inner))}"
        for dx, dy in (
            (0, -1), (slant, -slant), (1, 0), (slant, slant), (0, 1), (-slant, slant), (-1, 0), (-slant, -slant),
        )
    )  # fmt: skip
    return group(x, y, path(rays, "none", LAMP, max(radius * 0.14, 2), stroke_linecap="round"))


def brackets(x: float, y: float, width: float, height: float) -> str:
    """Draw four corners around a place or panel that has just changed."""
    arm = number(min(width, height) * 0.3)
    right, below = number(width), number(height)
    d = f"M0 {arm}v-{arm}h{arm}M{right} {arm}v-{arm}h-{arm}M0 {below}m{arm} 0h-{arm}v-{arm}M{right} {below}m-{arm} 0h{arm}v-{arm}"
    return group(x, y, path(d, "none", LAMP, 3, stroke_linejoin="round"))


def arrow(x1: float, y1: float, x2: float, y2: float, gap: float = 0) -> str:
    """Draw an arrow from a piece's old place to its new one; it stops `gap` short of both."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    if length <= 2 * gap + 12:
        return ""
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    x1, y1, x2, y2 = x1 + dx * gap, y1 + dy * gap, x2 - dx * gap, y2 - dy * gap
    wing = 9
    wings = [(number(-wing * (dx + side * dy)), number(-wing * (dy - side * dx))) for side in (0.7, -0.7)]
    d = f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}" + "".join(
        f"l{east} {south}M{number(x2)} {number(y2)}" for east, south in wings
    )
    return path(d, "none", LAMP, 3, stroke_linecap="round", stroke_dasharray="7 6")
