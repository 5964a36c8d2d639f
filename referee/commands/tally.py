"""The results of several matches in a table, by the positions of the players on the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, pvariance

from rich.table import Table

from referee.match.result import Outcome, Result
from referee.terminal import counted
from referee.verdict.student import half_width, wilson


class SeriesStatistics:
    """The statistics of several matches.

    The matches of a block (one seed, in every rotation of the seats) share their chance, so only blocks are
    independent: intervals are computed from the means of blocks. Without rotation, a block is one match. If a block
    repeats the play of an earlier one, as deterministic bots do in a game with little chance, its matches are counted
    but not used.

    Attributes:
        with_outs: the number of matches in which a seat was put out.
    """

    def __init__(self, names: Sequence[str], block: int) -> None:
        """`names` are the names of the players, by index; `block` is the number of consecutive matches in a block."""
        self._names = names
        self._block = block
        self._matches: list[_Played] = []
        self.with_outs = 0
        self._faults: list[Counter[str]] = [Counter() for _ in names]

    def add(self, result: Result, turn: int) -> None:
        """Count a match whose seats were rotated by `turn`; seats that share first place share the win."""
        self.with_outs += any(seat.outcome is not Outcome.PLAYED for seat in result.seats)
        winners = sum(seat.rank == 1 for seat in result.seats)
        # Convert seats back to positions on the command line.
        players = [(seat.seat + turn) % len(self._names) for seat in result.seats]
        played = _Played((result.digest, *(self._names[player] for player in players)))
        for player, seat in sorted(zip(players, result.seats, strict=True), key=lambda pair: pair[0]):
            played.scores.append(seat.score)
            played.ranks.append(seat.rank)
            played.wins.append(1 / winners if seat.rank == 1 else 0.0)
            if seat.outcome is not Outcome.PLAYED:
                self._faults[player][seat.outcome.value] += 1
        self._matches.append(played)

    @property
    def count(self) -> int:
        """The number of matches."""
        return len(self._matches)

    def table(self) -> Table:
        """Return a table with a line for each player."""
        count = len(self._matches)
        different = len({played.key for played in self._matches})
        blocks = self._different_blocks()
        alike = "" if different == count else f" ({different} different)"
        over = f" over {counted(len(blocks), 'block')}" if self._block > 1 else ""
        table = Table(
            "player",
            "bot",
            "wins",
            "mean rank",
            "mean score",
            "out",
            title=f"{counted(count, 'match', 'matches')}{alike}, mean and 95 % interval{over}",
        )
        for player, name in enumerate(self._names):
            faults = ", ".join(f"{number} {kind}" for kind, number in self._faults[player].items()) or "-"
            wins, ranks, scores = (
                [fmean(getattr(played, key)[player] for played in block) for block in blocks]
                for key in ("wins", "ranks", "scores")
            )
            table.add_row(str(player), name, share(wins), mean(ranks), mean(scores), faults)
        return table

    def _different_blocks(self) -> list[list[_Played]]:
        """Return, in order, the blocks with different play; include an incomplete block only if it is the first."""
        found: dict[tuple[tuple[str, ...], ...], list[_Played]] = {}
        # In an incomplete block, some bots have had better seats than others.
        for first in range(0, max(1, len(self._matches) - self._block + 1), self._block):
            block = self._matches[first : first + self._block]
            found.setdefault(tuple(played.key for played in block), block)
        return list(found.values())


@dataclass(slots=True)
class _Played:
    """A match, with lists that have one entry for each player."""

    key: tuple[str, ...]
    """The match's digest and the bot in each seat: equal for matches with the same play."""
    scores: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    wins: list[float] = field(default_factory=list)


def mean(values: Sequence[float]) -> str:
    """Return the mean and its 95 % interval by Student's t; a dash replaces the interval if the values do not vary."""
    count = len(values)
    if count < 2 or not pvariance(values):
        return f"{fmean(values):.1f} ± -"
    return f"{fmean(values):.1f} ± {half_width(count, pvariance(values)):.1f}"


def share(values: Sequence[float]) -> str:
    """Return, in percent, the mean of shares from 0 to 1, with Wilson's 95 % interval, or a dash for a single share.

    Wilson's interval assumes that each share is 0 or 1. Such shares vary most, so the interval is never too narrow for
    other shares.
    """
    count, centre = len(values), fmean(values)
    if count < 2:
        return f"{centre:.1%} (-)"
    low, high = wilson(centre, count)
    return f"{centre:.1%} ({low:.1%} to {high:.1%})"
