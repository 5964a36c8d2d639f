"""Write docs/strength.md from the stored matches: the table, the plot, and the effect of each part of a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, pvariance, variance

from bench.matches import ROOT
from bench.strength_changes import CHANGES
from bench.strength_plot import Line, Panel, Point, plot
from bench.strength_results import Blocks, Cell, Played
from referee.registry import find
from referee.verdict.student import half_width, limit, wilson

PAGE = ROOT / "docs" / "strength.md"
PLOT = ROOT / "docs" / "strength.svg"
HEAD = """# The strength of `search`

Written by `make strength`. `search` has one seat and `greedy` all others; a block is one seed in all rotations.
*Seconds* is the processor time for a decision, with compiled rules; on a loaded machine it allows fewer rollouts, because caches are shared.
*First* is the share of first places (a tie for the first place is split) with its 95 % interval; *fair* is the share that `greedy` would have in its seat.
*Difference* is the score minus the mean score of the rivals; after ± comes half the width of its 95 % interval, by Student's t over blocks.
Yunnan begins with 4 random decisions, because it has no chance after the start.

The matches of a block depend on each other. So the interval of a share *p* is Wilson's, for an effective number of trials
(C. Franco and others, *Comparative Study of Confidence Intervals for Proportions in Complex Sample Surveys*, 2019).
This number is *p* (1 - *p*), divided by the variance of the mean of the blocks.
It is corrected by Student's t where blocks are few, as in E. L. Korn and B. I. Graubard
(*Confidence Intervals for Proportions With Small Expected Number of Positive Counts Estimated From Survey Data*, 1998).
It is at least the number of blocks, and at most the number of matches; where all blocks are equal, it is the number of matches. A single block is one trial.

[strength.jsonl](strength.jsonl) has a line for each match: its seed, and each row in which `search` departed from `greedy`; actions are given as indices of legal actions.
`make strength ONLY=--verify` plays all matches again, with these rows and with those of `greedy` elsewhere, and compares the results.
So the results follow from the rows on any machine, but the rows depend on the speed of the processor, because the time is limited.
A line no longer verifies if `greedy` or the rules have changed since it was measured.

![One panel for each game: the share of first places against the processor seconds for a decision, a line for each number of seats, with its fair share as a dashed line](strength.svg)

| game | seats (fair) | seconds | first, 95 % | blocks | difference | rollouts a decision | departs from `greedy` |
|---|---|---|---|---|---|---|---|
"""
PARTS = """
## What each part gives

This is the same measurement with one part of the recipe changed, next to the unchanged recipe with the same seeds:
`make strength ONLY='--games venezia --seats 2 --seconds 0.1 --blocks 12 --change margin candidates'`.
*Lost* is the decrease in the difference, paired block by block, with its 95 % interval.
*Rollouts* gives the rollouts for a decision with the unchanged and with the changed recipe; where these numbers differ, the loss is not due to the changed part alone.
A changed recipe has fewer rollouts in the same time because it is interpreted, and a loaded machine allows fewer, too.

| game | seats (fair) | seconds | changed | first as it is | first, changed | lost | rollouts | blocks |
|---|---|---|---|---|---|---|---|---|
"""


def page(found: dict[Cell, Blocks]) -> str:
    """Return the text of docs/strength.md."""
    as_is = [row_of(cell, blocks) for cell, blocks in found.items() if blocks and not cell.change]
    changed = [row for cell, blocks in found.items() if cell.change for row in changed_row(cell, blocks, found)]
    return "\n".join([HEAD + "\n".join(as_is), *([PARTS + "\n".join(changed)] if changed else [])]) + "\n"


def row_of(cell: Cell, blocks: Blocks) -> str:
    """Return a row of the table."""
    gains = differences(blocks)
    matches = matches_in(blocks)
    departs = sum(len(match.departed) for match in matches) / max(1, sum(match.decisions for match in matches))
    first = share_of(blocks)
    low, high = interval(blocks)
    return (
        f"| {named(cell)} | **{100 * first:.0f} %** ({100 * low:.0f} to {100 * high:.0f})"
        f" | {len(blocks)} | {with_error(gains)} | {rollouts_in(blocks):.0f} | {100 * departs:.0f} % |"
    )


def changed_row(cell: Cell, blocks: Blocks, found: dict[Cell, Blocks]) -> list[str]:
    """Return the row of a changed recipe, if the unchanged recipe has played any of its seeds."""
    own = found.get(cell._replace(change=""), {})
    seeds = sorted(blocks.keys() & own.keys())
    if not seeds:
        return []
    before, after = {seed: own[seed] for seed in seeds}, {seed: blocks[seed] for seed in seeds}
    lost = [one - other for one, other in zip(differences(before), differences(after), strict=True)]
    return [
        f"| {named(cell)} | {CHANGES[cell.change][1]} | {100 * share_of(before):.0f} % | {100 * share_of(after):.0f} %"
        f" | {with_error(lost)} | {rollouts_in(before):.0f}, {rollouts_in(after):.0f} | {len(seeds)} |"
    ]


def named(cell: Cell) -> str:
    """Return the first columns of both tables: game, seats with the fair share, and seconds."""
    return f"{find(cell.game).title} | {cell.seats} ({100 / cell.seats:.0f}) | {cell.seconds:g}"


def matches_in(blocks: Blocks) -> list[Played]:
    """Return the matches of all blocks."""
    return [match for block in blocks.values() for match in block]


def rollouts_in(blocks: Blocks) -> float:
    """Return the mean number of rollouts per decision."""
    matches = matches_in(blocks)
    return sum(match.rollouts for match in matches) / max(1, sum(match.decisions for match in matches))


def share_of(blocks: Blocks) -> float:
    """Return the share of first places."""
    return mean(match.first for match in matches_in(blocks))


def differences(blocks: Blocks) -> list[float]:
    """Return the mean difference of each block."""
    return [mean(match.difference for match in block) for block in blocks.values()]


def with_error(values: Sequence[float]) -> str:
    """Return a mean with half the width of its 95 % interval; a single value has no interval."""
    if len(values) < 2:
        return f"{mean(values):+.1f}"
    return f"{mean(values):+.1f} ± {half_width(len(values), pvariance(values)):.1f}"


def interval(blocks: Blocks) -> tuple[float, float]:
    """Return the 95 % interval of the share of first places: Wilson's, for the effective number of trials.

    Source: C. Franco et al., "Comparative Study of Confidence Intervals for Proportions in Complex Sample Surveys",
    Journal of Survey Statistics and Methodology 7 (2019).
    """
    return wilson(share_of(blocks), trials([[match.first for match in block] for block in blocks.values()]))


def trials(blocks: Sequence[Sequence[float]]) -> float:
    """Return the number of independent matches that would tell as much about the share of first places as these equal-sized blocks.

    Source: E. L. Korn and B. I. Graubard, "Confidence Intervals for Proportions With Small Expected Number of Positive
    Counts Estimated From Survey Data", Survey Methodology 24 (1998).
    """
    count, matches = len(blocks), sum(map(len, blocks))
    if count < 2:
        return count
    shares = [mean(block) for block in blocks]
    spread = variance(shares)
    if not spread:
        return matches
    share = mean(shares)
    # Korn and Graubard's correction: the square of Student's t for independent matches over that for the blocks.
    few = (limit(matches - 1) / limit(count - 1)) ** 2
    return min(matches, max(count, few * share * (1 - share) * count / spread))


def panels(found: dict[Cell, Blocks]) -> list[Panel]:
    """Return the plot's panels: one for each game, with a line for each number of seats."""
    games: dict[str, dict[int, list[Point]]] = {}
    for cell, blocks in found.items():
        if blocks and not cell.change:
            point = Point(cell.seconds, share_of(blocks), *interval(blocks))
            games.setdefault(cell.game, {}).setdefault(cell.seats, []).append(point)
    return [
        Panel(find(game).title, [Line(seats, points) for seats, points in lines.items()])
        for game, lines in games.items()
    ]


def write_page(found: dict[Cell, Blocks], to: Path = PAGE, plot_to: Path = PLOT) -> None:
    """Write the page and its plot."""
    to.write_text(page(found), encoding="utf-8")
    plot_to.write_text(plot(panels(found)), encoding="utf-8")
