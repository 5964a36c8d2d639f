"""The matches of a tournament's fixtures, in the form that `play_series` takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.live.matches.play import Player
from referee.match.plan import MatchPlan, match_id_for
from referee.registry import find, shipped_board
from referee.tournament.fixtures import Fixture
from referee.tournament.plan import TournamentPlan


@dataclass(frozen=True, slots=True)
class FixtureMatches:
    """Matches of a tournament; they can be sent to another process."""

    tournament: TournamentPlan
    fixtures: Sequence[Fixture]
    players: Sequence[Player]
    """The players, by entrant."""
    records: Path
    """The folder for records."""
    first_matches: frozenset[str]
    """The names of the matches in which an entrant plays for the first time."""
    resumes: bool = True

    @property
    def count(self) -> int:
        """The number of matches."""
        return len(self.fixtures)

    def plan(self, number: int) -> MatchPlan:
        """Return the plan of a match; numbers begin at 0."""
        return match_plan(self.tournament, self.fixtures[number])

    def seated(self, number: int) -> Sequence[Player]:
        """Return the player of each seat in a match."""
        return [self.players[entrant] for entrant in self.fixtures[number].seats]

    def name(self, number: int, plan: MatchPlan) -> str:
        """Return the name of a match's files."""
        return self.fixtures[number].name

    def must_start(self, number: int) -> bool:
        """Return True if this is an entrant's first match; the tournament stops if a bot does not start in it."""
        return self.fixtures[number].name in self.first_matches


def match_plan(tournament: TournamentPlan, fixture: Fixture) -> MatchPlan:
    """Return the plan of a match.

    Raises:
        UnknownGame: if the game of the match is not installed.
        SetupError: if this game cannot be played with this number of seats or with these options.
    """
    terms = tournament.games[fixture.game]
    game = find(terms.name)
    setup = game.setup(len(fixture.seats), terms.options, shipped_board(game))
    return MatchPlan(
        game=game,
        setup=setup,
        match_id=match_id_for(game, setup, fixture.seed),
        seed=fixture.seed,
        bots=[tournament.entrants[entrant].name for entrant in fixture.seats],
        control=tournament.clock,
    )


def first_matches(fixtures: Sequence[Fixture]) -> frozenset[str]:
    """Return the names of the matches in which an entrant plays for the first time.

    Args:
        fixtures: all matches, in order.
    """
    found: dict[int, str] = {}
    for fixture in fixtures:
        for entrant in fixture.seats:
            found.setdefault(entrant, fixture.name)
    return frozenset(found.values())
