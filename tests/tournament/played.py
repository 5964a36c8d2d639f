"""Plans and results of tournaments, made up: no match is played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from referee.match.result import Outcome, Result, SeatResult
from referee.tournament.course import course
from referee.tournament.fixtures import Fixture
from referee.tournament.plan import TournamentPlan, read_plan

FILE = """
format = "{format}"
seats = {seats}
blocks = {blocks}
seed = 7
clock = "60+0.5/10"
[[games]]
game = "cargo_noir"
"""

Scores = Callable[[Fixture], Sequence[int]]
"""The scores of a match, by seat."""


def plan_for(
    entrants: int, *, seats: int = 2, blocks: int = 2, form: str = "round-robin", hosts: int = 0, **changes: Any
) -> TournamentPlan:
    """A plan with entrants e0, e1, ...; the first are the hosts of a gauntlet."""
    text = FILE.format(format=form, seats=seats, blocks=blocks)
    for number in range(entrants):
        host = "host = true" if number < hosts else ""
        text += f'[[entrants]]\nname = "e{number}"\nseat = "./e{number}"\n{host}\n'
    return replace(read_plan(text, "tournament.toml"), **changes)


def result_of(scores: Sequence[int], outs: Sequence[int] = ()) -> Result:
    """A result with these scores; the seats in `outs` were put out, and rank last."""
    keys = [(seat in outs, -score) for seat, score in enumerate(scores)]
    return Result(
        tuple(
            SeatResult(
                seat=seat,
                bot="",
                rank=1 + sum(other < keys[seat] for other in keys),
                score=score,
                outcome=Outcome.CRASH if seat in outs else Outcome.PLAYED,
                decisions=1,
                think_seconds=0.0,
                wall_seconds=0.0,
                lag_seconds=0.0,
                detail="",
            )
            for seat, score in enumerate(scores)
        ),
        1,
        "",
        None,
    )


def by_strength(fixture: Fixture) -> Sequence[int]:
    """The entrant with the lower number wins."""
    return [-entrant for entrant in fixture.seats]


def play_out(plan: TournamentPlan, scores: Scores = by_strength) -> dict[str, Result]:
    """Play a tournament to its end, and return the results."""
    results: dict[str, Result] = {}
    while (found := course(plan, results).next_round(results)) is not None:
        results.update({one.name: result_of(scores(one)) for one in found.fixtures})
    return results
