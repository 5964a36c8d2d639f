"""Comparisons of versions with each other: two side by side, or the best under a condition in one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby

from msgspec import field

from ladder.facts.fitted import fitted
from ladder.facts.history import PlayedMatch, Score
from ladder.facts.standings import places, standings, statuses
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.operation.errors import LadderError
from ladder.questions.choosing import chosen_conditions, conditions_of
from ladder.questions.question import Count, Ladder, Name, Request, Row, Text, question
from ladder.questions.rows import (
    ConditionTerms,
    MatchRow,
    StandingRow,
    condition_terms,
    match_rows,
    standing_row,
)
from referee.verdict.student import wilson

CROSSED = 20
"""The maximum number of versions in a crosstable."""
LAST_COMMON = 100
"""Two versions' results by seat are taken from at most this many of their most recent common matches."""
LISTED = 10
"""The maximum number of common matches in the list."""


class HeadToHead(Row):
    """The results of a version against another version."""

    matches: Count = 0
    """The number of matches in which both versions played."""
    ahead: Count = 0
    """The number of common matches in which the first version was placed ahead of the other."""
    tied: Count = 0
    """The number of common matches in which both versions had the same place."""
    behind: Count = 0
    """The number of common matches in which the other version was placed ahead of the first."""
    share: float | None = None
    """The share of common matches, from 0 to 1, in which the first version was ahead; a tie counts half. Null without
    matches."""
    low: float | None = None
    """The lower end of the 95 % confidence interval of `share`."""
    high: float | None = None
    """The upper end of the 95 % confidence interval of `share`."""


class SeatScore(Row):
    """The results of the first version against the other version in one of the first version's seats."""

    seats: Count
    """The number of seats at the table."""
    seat: Count
    """The number of the first version's seat, from 0."""
    met: HeadToHead
    """The results of the first version from this seat."""


class ComparedVersion(Row):
    """A compared version."""

    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version, from 1."""
    author: str
    """The author of the bot."""


class VersionComparison(Row):
    """The comparison of two versions under a condition."""

    one: StandingRow
    """The standing of the first version."""
    other: StandingRow
    """The standing of the other version."""
    better: float | None
    """The probability that the first version is the stronger one, from 0 to 1; beyond 97.5 % they are told apart. Null if a
    version has no strength yet."""
    met: HeadToHead
    """The two versions' results against each other in all common matches."""
    seats: list[SeatScore]
    """The results in the last 100 common matches, by the seat of the first version."""
    matches: list[MatchRow]
    """The last 10 common matches of the two versions, newest first."""


class CompareAnswer(Row):
    """Two versions side by side."""

    one: ComparedVersion
    """The first version."""
    other: ComparedVersion
    """The other version."""
    comparisons: list[VersionComparison]
    """The comparison under each condition under which both have matches."""


class CompareRequest(Request[CompareAnswer]):
    """Asks for two versions side by side."""

    one: Name
    """A bot, which stands for its newest version with matches, or one version of it, such as `mybot v2`."""
    other: Name
    """Another bot, or another version."""
    game: Text = ""
    """Compare only under conditions of this game; under all conditions if empty."""


@question("/compare")
def compare(ladder: Ladder, request: CompareRequest) -> CompareAnswer:
    """Compare two versions: their standings, and their results against each other.

    Raises:
        LadderError: if there is no such bot, or both are the same version.
        DoganaError: if there is no such game.
    """
    facts, conditions = ladder.facts, conditions_of(ladder.facts, request.game)
    first, second = (_played_version(facts, name, conditions) for name in (request.one, request.other))
    if first == second:
        raise LadderError(
            f"{first.label} cannot be compared with itself; name two bots, or versions as in {first.label!r}"
        )
    return CompareAnswer(
        one=ComparedVersion(bot=first.bot, version=first.number, author=first.author),
        other=ComparedVersion(bot=second.bot, version=second.number, author=second.author),
        comparisons=[
            found for condition in conditions if (found := _comparison(facts, first, second, condition)) is not None
        ],
    )


def _played_version(facts: Store, name: str, conditions: Iterable[Condition]) -> Version:
    versions = facts.roster.find_versions(name)
    ids = [version.id for version in versions]
    tallies = [facts.results.tallies(condition, ids) for condition in conditions]
    have_played = (
        version
        for version in reversed(versions)
        if any(version.id in tally and tally[version.id].matches for tally in tallies)
    )
    return next(have_played, versions[-1])


def _comparison(facts: Store, one: Version, other: Version, condition: Condition) -> VersionComparison | None:
    """Compare two versions under a condition; return None unless both have matches under it."""
    found = {
        standing.version: standing
        for standing in statuses(facts, condition, [one.id, other.id])
        if standing.version in (one, other) and standing.tally.matches
    }
    if len(found) < 2:
        return None
    placed, fit = places(facts, condition), fitted(facts, condition)
    matches = facts.history.together(one, other, condition, LAST_COMMON)
    return VersionComparison(
        one=standing_row(condition, found[one], placed.get(one.id)),
        other=standing_row(condition, found[other], placed.get(other.id)),
        better=fit.better(one.id, other.id) if one.id in fit and other.id in fit else None,
        met=_head_to_head(facts.history.scores(condition, [one.id, other.id]).get((one.id, other.id), NEVER)),
        seats=_by_seat(matches, one, other),
        matches=match_rows(facts, matches[:LISTED]),
    )


NEVER = Score(0, 0, 0, 0)


def _by_seat(matches: Sequence[PlayedMatch], one: Version, other: Version) -> list[SeatScore]:
    met = []
    for match in matches:
        own = next(seat for seat in match.seats if seat.version == one)
        theirs = next(seat for seat in match.seats if seat.version == other)
        met.append((len(match.seats), own.seat, own.rank, theirs.rank))
    found = []
    for (seats, seat), group in groupby(sorted(met), key=lambda entry: entry[:2]):
        ranks = [(own, theirs) for _, _, own, theirs in group]
        ahead, tied = sum(own < theirs for own, theirs in ranks), sum(own == theirs for own, theirs in ranks)
        score = Score(len(ranks), ahead, tied, len(ranks) - ahead - tied)
        found.append(SeatScore(seats=seats, seat=seat, met=_head_to_head(score)))
    return found


def _head_to_head(score: Score) -> HeadToHead:
    if not score.matches:
        return HeadToHead()
    share = (score.ahead + score.tied / 2) / score.matches
    # Ties counted as halves vary less than wins and losses with the same share, so the interval is too wide if there are ties.
    low, high = wilson(share, score.matches)
    return HeadToHead(**asdict(score), share=share, low=low, high=high)


class CrosstableRow(Row):
    """The results of a version against each version in a crosstable."""

    met: list[HeadToHead]
    """The version's results against each version, in the order of `versions`; there are no matches against itself."""


class Crosstable(Row):
    """The best versions against each other, under one condition."""

    condition: ConditionTerms
    """The condition of the matches."""
    versions: list[StandingRow]
    """The first 20 versions of the standings, best first."""
    rows: list[CrosstableRow]
    """The results of each version, in the order of `versions`."""


class CrosstableAnswer(Row):
    """The best versions against each other."""

    tables: list[Crosstable]
    """A table for each requested condition."""


class CrosstableRequest(Request[CrosstableAnswer]):
    """Asks for the best versions against each other."""

    game: Name
    """The name of the game."""
    clock: Text = ""
    """Use only standings under this clock; any clock if empty."""
    options: dict[Text, Text] = field(default_factory=dict)
    """Use only standings under these options: all that are not the game's defaults. They apply only if `by_options` is
    true."""
    by_options: bool = False
    """True if `options` applies."""


@question("/crosstable")
def crosstable(ladder: Ladder, request: CrosstableRequest) -> CrosstableAnswer:
    """Show the results of the best versions against each other.

    Raises:
        LadderError: if there was a run of the game, but none under such a condition.
        DoganaError: if there is no such game, or it has no such options.
    """
    chosen = chosen_conditions(ladder.facts, request.game, request.clock, request.options, request.by_options)
    return CrosstableAnswer(tables=[_crosstable(ladder.facts, condition) for condition in chosen])


def _crosstable(facts: Store, condition: Condition) -> Crosstable:
    rows = [(one, place) for one, place in standings(facts, condition) if place is not None][:CROSSED]
    best = [one for one, _ in rows]
    scores = facts.history.scores(condition, [one.version.id for one in best])
    return Crosstable(
        condition=condition_terms(condition),
        versions=[standing_row(condition, one, place) for one, place in rows],
        rows=[
            CrosstableRow(met=[_head_to_head(scores.get((one.version.id, other.version.id), NEVER)) for other in best])
            for one in best
        ],
    )
