"""Fixtures: the matches of a tournament before they are played, with their names, seats and seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.kit.chance import LiveChance
from referee.match.result import Result
from referee.tournament.plan import TournamentPlan

Results = Mapping[str, Result]
"""The results so far, by match name."""


@dataclass(frozen=True, slots=True)
class Company:
    """Entrants who share a table in one round."""

    round: int
    """The number of the round, from 1."""
    number: int
    """The number of the table in its round, from 1."""
    entrants: tuple[int, ...]
    luck: str
    """The name of the company's luck; companies with the same luck have the same seeds."""
    order: tuple[int, ...]
    """The entrants in the order to which the draw of seats applies.

    In a gauntlet, entrants at the same index play under the same terms.
    """


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match of a tournament."""

    name: str
    """The name of the match's record, without its extension."""
    company: Company
    game: int
    block: int
    """The number of the block in its company, from 1."""
    rotation: int
    seats: tuple[int, ...]
    """The entrant in each seat."""
    seed: int

    @property
    def luck(self) -> tuple[str, int]:
        """The luck that the match shares with the same block in the other games, and in companies of the same luck."""
        return self.company.luck, self.block


@dataclass(frozen=True, slots=True)
class PlayedFixture:
    """A match of a tournament with its result."""

    fixture: Fixture
    result: Result


def company(round_number: int, number: int, entrants: Sequence[int], luck: str = "") -> Company:
    """Return a company, which has luck of its own unless `luck` names another."""
    own = luck or f"round {round_number} table {number}"
    # Sorted, so that the same entrants compare equal however they were dealt.
    return Company(round_number, number, tuple(sorted(entrants)), own, tuple(entrants))


def fixtures(plan: TournamentPlan, companies: Sequence[Company]) -> list[Fixture]:
    """Return the matches of the companies, block by block: every first block comes before any second block."""
    return [
        fixture
        for block in range(1, plan.blocks + 1)
        for one in companies
        for game in range(len(plan.games))
        for fixture in _block(plan, one, game, block)
    ]


def _block(plan: TournamentPlan, one: Company, game: int, block: int) -> list[Fixture]:
    """Return the matches of a block: one seed, in every rotation of an order that is drawn for each block."""
    label = plan.games[game].label
    # The luck decides, not the table, so that the challengers of a gauntlet get the same seats and neighbours.
    drawn = LiveChance(plan.seed).stream(f"order, {one.luck}, block {block}").permutation(len(one.order))
    order = [one.order[place] for place in drawn]
    return [
        Fixture(
            name=f"round{one.round}-table{one.number}-{label}-block{block}-rotation{turn}",
            company=one,
            game=game,
            block=block,
            rotation=turn,
            seats=(*order[turn:], *order[:turn]),
            seed=derived_seed(plan.seed, f"{one.luck}, {label}, block {block}"),
        )
        for turn in range(len(order))
    ]


def derived_seed(seed: int, purpose: str) -> int:
    """Return a seed for one purpose: the first 62 bits of the SHA-256 of the tournament's seed, a slash, and the purpose."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{purpose}".encode()).digest()[:8]) >> 2
