"""Bars of strengths and curves of live ratings as SVG.

The style sheet sets the colours, and the pages also give the information in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, floor

from markupsafe import Markup

from ladder.questions.rows import BlockRating, StandingRow

BANDS = 2
"""The distance from mu to each edge of a band, in sigmas. A band of this width contains about 95 % of the distribution."""
_BAR = 160, 14
"""The width and height of a bar, in pixels."""
_SPARK = 60, 16
_CURVE = 640, 200
_MARGIN = 34
"""The margin for the numbers beside a curve, on the left and at the bottom, in pixels."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The common axis of the bars in a table."""

    low: float
    high: float

    def x(self, value: float, width: int) -> float:
        """Return the distance of a value from the left; values beyond an end are drawn at that end."""
        return round(min(1.0, max(0.0, (value - self.low) / (self.high - self.low))) * width, 1)


def axis_of(standings: Iterable[StandingRow]) -> Axis:
    """Return the axis that covers the bars of all versions that have a strength."""
    ranges = [one.strength_range for one in standings if one.strength_range is not None]
    low = min((one.low for one in ranges), default=0.0)
    high = max((one.high for one in ranges), default=1.0)
    # Never empty, because `x` divides by its length.
    return Axis(floor(low), max(ceil(high), floor(low) + 1))


def bar(one: StandingRow, axis: Axis) -> Markup:
    """Return a bar for the range of a strength, with a mark at the strength; an empty text without a strength."""
    found = one.strength_range
    if found is None:
        return Markup("")
    width, height = _BAR
    left, right, middle = (axis.x(value, width) for value in (found.low, found.high, found.strength))
    return Markup(
        '<svg class="bar" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="img" aria-label="{low:.1f} to {high:.1f}">'
        '<path class="axis" d="M0 {y}h{w}"/><path class="band" d="M{left} 2h{span:.1f}v{inner}h-{span:.1f}z"/>'
        '<path class="line" d="M{middle} 0v{h}"/></svg>'
    ).format(
        w=width,
        h=height,
        y=height // 2,
        low=found.low,
        high=found.high,
        left=left,
        span=max(right - left, 1),  # otherwise it would be invisible
        inner=height - 4,
        middle=middle,
    )


def scale(axis: Axis) -> Markup:
    """Return the scale above the bars: the lowest, the middle and the highest number of the axis."""
    width, _ = _BAR
    return Markup(
        '<svg class="bar" viewBox="0 0 {w} 14" aria-hidden="true">'
        '<text x="0" y="11">{low:.0f}</text><text x="{m}" y="11" text-anchor="middle">{middle:.0f}</text>'
        '<text x="{w}" y="11" text-anchor="end">{high:.0f}</text></svg>'
    ).format(w=width, m=width // 2, low=axis.low, middle=(axis.low + axis.high) / 2, high=axis.high)


def spark(trend: Sequence[BlockRating]) -> Markup:
    """Return the history of a live rating as a line without numbers; an empty text for fewer than two points."""
    if len(trend) < 2:
        return Markup("")
    width, height = _SPARK
    low, high = min(one.mu for one in trend), max(one.mu for one in trend)
    # 2 pixels on each side leave room for the width of the line; changes of less than 1 do not fill the height.
    points = " ".join(
        f"{2 + place * (width - 4) / (len(trend) - 1):.0f},{height - 2 - (one.mu - low) / max(high - low, 1.0) * (height - 4):.0f}"
        for place, one in enumerate(trend)
    )
    return Markup(
        '<svg class="spark" viewBox="0 0 {w} {h}" aria-hidden="true"><polyline class="line" points="{p}"/></svg>'
    ).format(w=width, h=height, p=points)


def curve(history: Sequence[BlockRating]) -> Markup:
    """Return curves with bands for the live ratings of a bot's versions after each block; empty for fewer than two points."""
    if len(history) < 2:
        return Markup("")
    width, height = _CURVE
    axis = Axis(
        floor(min(one.mu - BANDS * one.sigma for one in history)),
        ceil(max(one.mu + BANDS * one.sigma for one in history)),
    )

    def x(place: int) -> float:
        return round(_MARGIN + place * (width - _MARGIN - 8) / (len(history) - 1), 1)

    def y(value: float) -> float:
        return round(height - _MARGIN / 2 - axis.x(value, height - _MARGIN), 1)

    parts = [Markup("<title>{}</title>").format(curve_in_words(history))]
    for value in (axis.low, (axis.low + axis.high) / 2, axis.high):
        parts.append(
            Markup(
                '<path class="axis" d="M{m} {y}H{w}"/><text x="{t}" y="{ty:.1f}" text-anchor="end">{value:.0f}</text>'
            ).format(m=_MARGIN, y=y(value), w=width, t=_MARGIN - 6, ty=y(value) + 4, value=value)
        )
    for version, group in groupby(enumerate(history), key=lambda entry: entry[1].version):
        ratings = list(group)
        upper = [f"{x(place)},{y(one.mu + BANDS * one.sigma)}" for place, one in ratings]
        lower = [f"{x(place)},{y(one.mu - BANDS * one.sigma)}" for place, one in reversed(ratings)]
        middle = [f"{x(place)},{y(one.mu)}" for place, one in ratings]
        first = x(ratings[0][0])
        parts.append(
            Markup(
                '<polygon class="band" points="{band}"/><polyline class="line" points="{middle}"/>'
                '<path class="mark" d="M{first} 8V{bottom}"/><text x="{label:.1f}" y="16">v{version}</text>'
            ).format(
                band=" ".join(upper + lower),
                middle=" ".join(middle),
                first=first,
                bottom=height - _MARGIN // 2,
                label=first + 3,
                version=version,
            )
        )
    parts.append(
        Markup(
            '<text x="{m}" y="{h}">block {first}</text><text x="{w}" y="{h}" text-anchor="end">block {last}</text>'
        ).format(m=_MARGIN, h=height - 3, w=width - 8, first=history[0].block, last=history[-1].block)
    )
    return Markup('<svg class="curve" viewBox="0 0 {w} {h}" role="img">{parts}</svg>').format(
        w=width, h=height, parts=Markup("").join(parts)
    )


def curve_in_words(history: Sequence[BlockRating]) -> str:
    """Describe a curve in words."""
    first, last = history[0], history[-1]
    return (
        f"From {first.mu:.1f} ± {BANDS * first.sigma:.1f} (v{first.version}, block {first.block})"
        f" to {last.mu:.1f} ± {BANDS * last.sigma:.1f} (v{last.version}, block {last.block})"
    )
