"""The common parts of several answers: conditions, standings, matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import field

from ladder.facts.history import PlayedMatch
from ladder.facts.standings import SCHEDULED, STOPPED, Placing, Standing, Status, standings, statuses
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.model.rating import Rating
from ladder.model.schedule import NEW_BLOCKS
from ladder.questions.question import Count, Row
from referee.options import OptionValue

TREND_BLOCKS = 10
"""The number of blocks over which tables show the course of a rating."""


class ConditionTerms(Row):
    """A game, its options and a clock. A result counts for exactly one condition."""

    game: str
    """The game, as in `dogana games`."""
    options: dict[str, OptionValue]
    """The options that are not the game's defaults."""
    clock: str
    """The clock, as on the command line: bank+increment/cap."""
    terms: str
    """Clock and options, as tables print them."""
    slug: str
    """Clock and options, as one part of an address."""


class BlockRating(Row):
    """A live rating after a block."""

    block: Count
    """The id of the block."""
    mu: float
    """TrueSkill's estimate of the skill of the version."""
    sigma: float
    """The uncertainty of `mu`."""
    version: Count
    """The number of the version with this rating."""


class Range(NamedTuple):
    """A strength with the ends of its 95 % range."""

    strength: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half the width of the range."""
        return (self.high - self.low) / 2


class StandingRow(Row):
    """The standing of a version under a condition."""

    game: str
    """The name of the game."""
    options: dict[str, OptionValue]
    """The options that are not the game's defaults."""
    clock: str
    """The clock of the condition."""
    terms: str
    """Clock and options, as tables print them."""
    place: Count | None
    """The version's place, from 1, in the order of the table: by `low`, or, without a strength, after all versions with
    one. Null while the version is not rated, and in answers without places."""
    best: Count | None
    """The best of the places that the version's matches leave open; null without a strength."""
    worst: Count | None
    """The worst of the places that the version's matches leave open; equal to `best` if the place is certain."""
    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version, from 1."""
    author: str
    """The author of the bot."""
    strength: float | None
    """The version's strength, from all matches at once; null while it is not rated, or if its first matches are newer
    than the last fit."""
    low: float | None
    """The lower end of the 95 % range of the strength, which decides the order of standings."""
    high: float | None
    """The upper end of the 95 % range of the strength."""
    mu: float | None
    """TrueSkill's estimate of the version's skill: the live rating, which each match moves a little; null while the
    version is not rated."""
    sigma: float | None
    """The uncertainty of `mu`."""
    lift: float | None
    """The median of live rating minus strength, over all versions under the condition that have both; the averages of
    the two differ. Null without a strength."""
    matches: Count
    """The number of the version's counted matches."""
    different: Count
    """The number of the version's counted matches whose play differs from that of every earlier match of the same
    versions in the same seats."""
    wins: Count
    """The number of matches in which the version was first, including shared first places."""
    out: Count
    """The number of matches in which the version was out through a fault of its own."""
    status: str
    """The version's status if it is not scheduled, in a word; empty if it is scheduled."""
    reason: str
    """The reason for this status; may be empty."""
    at_home: bool
    """True if the version runs on its author's machine."""
    language: str
    """The programming language of the version, from `language` in its bot.toml or from its command; empty if
    unknown."""
    is_new: bool
    """True if the version is scheduled, and in its first three blocks under this condition; never for a house bot."""
    trend: list[BlockRating] = field(default_factory=list)
    """The version's live rating after each of the last 10 blocks in which it had a rated match, oldest first. Only in
    tables, and only for versions that are not replaced."""

    @property
    def rating(self) -> Rating | None:
        """The version's live rating; None while the version is not rated."""
        return None if self.mu is None or self.sigma is None else Rating(self.mu, self.sigma)

    @property
    def strength_range(self) -> Range | None:
        """The version's strength with its range; None without a strength."""
        if self.strength is None or self.low is None or self.high is None:
            return None
        return Range(self.strength, self.low, self.high)


class SeatRow(Row):
    """The result of one seat."""

    seat: Count
    """The number of the seat, from 0."""
    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version, from 1."""
    rank: Count
    """The seat's place, from 1."""
    score: int
    """The seat's score under the rules of the game."""
    outcome: str
    """The outcome for the seat, in a word: `played`, or its fault."""
    detail: str
    """The reason why the seat was out, in words; empty for a seat that played to the end."""
    block_change: float | None
    """The change in the version's mu during the block of the match, as far as the block has been played; null if it had
    no rating before."""


class MatchRow(Row):
    """A counted match."""

    match: str
    """The id of the match."""
    number: Count
    """The match's number in the order in which matches were counted, from 1."""
    game: str
    """The name of the game."""
    options: dict[str, OptionValue]
    """The options that are not the game's defaults."""
    clock: str
    """The clock of the condition."""
    terms: str
    """Clock and options, as tables print them."""
    block: Count
    """The id of the block of the match; the matches of a block have one seed, with the seats rotated."""
    rotation: Count
    """The number of the match within the block, from 0."""
    finished_at: str
    """The time at which the match ended, in ISO 8601, UTC."""
    rated: bool
    """False if the match belongs to an event, or if the same versions have played the same match before in the same
    seats, so that it is not new evidence."""
    event: str
    """The event to which the match belongs; empty for a match of the ladder itself."""
    seats: list[SeatRow]
    """The result of each seat."""


def condition_terms(condition: Condition) -> ConditionTerms:
    """Convert a condition to the form used in answers."""
    return ConditionTerms(
        game=condition.game,
        options=dict(condition.options),
        clock=condition.clock,
        terms=condition.terms,
        slug=condition.slug,
    )


def standing_table(facts: Store, condition: Condition) -> list[StandingRow]:
    """Return the standings under a condition, best first."""
    listed = standings(facts, condition)
    # Tables draw no trend for replaced versions, of which a bot may have hundreds.
    current = [one.version.id for one, _ in listed if one.status is not Status.REPLACED]
    trends = facts.history.rating_history(current, condition, TREND_BLOCKS)
    return [
        standing_row(condition, one, place, trend=list(block_ratings({one.version: trends.get(one.version.id, {})})))
        for one, place in listed
    ]


def standing_row(
    condition: Condition, one: Standing, place: Placing | None = None, trend: Sequence[BlockRating] = ()
) -> StandingRow:
    """Convert a standing to the form used in answers, with its place if it has one."""
    rating, tally = one.rating, one.tally
    estimate = None if place is None else place.estimate
    return StandingRow(
        game=condition.game,
        options=dict(condition.options),
        clock=condition.clock,
        terms=condition.terms,
        place=None if place is None else place.number,
        best=None if estimate is None else estimate.best,
        worst=None if estimate is None else estimate.worst,
        bot=one.version.bot,
        version=one.version.number,
        author=one.version.author,
        strength=None if estimate is None else estimate.strength,
        low=None if estimate is None else estimate.low,
        high=None if estimate is None else estimate.high,
        mu=None if rating is None else rating.mu,
        sigma=None if rating is None else rating.sigma,
        lift=None if place is None or estimate is None else place.lift,
        matches=tally.matches,
        different=tally.different,
        wins=tally.wins,
        out=tally.faults,
        status=one.status.value,
        reason=one.reason,
        at_home=one.version.is_at_home,
        language=one.version.language,
        is_new=one.status in SCHEDULED and tally.blocks < NEW_BLOCKS and not one.version.is_house,
        trend=list(trend),
    )


def stopped_standings(facts: Store, version: Version) -> list[StandingRow]:
    """Return the standings in which a version is stopped: it failed to qualify, or is suspended or retired."""
    return [
        standing_row(condition, one)
        for condition in facts.roster.conditions().values()
        for one in statuses(facts, condition, [version.id])
        if one.version == version and one.status in STOPPED
    ]


def block_ratings(histories: Mapping[Version, Mapping[int, Rating]]) -> Iterator[BlockRating]:
    """Yield the ratings of versions after each block, in the form used in answers."""
    for version, blocks in histories.items():
        for block, rating in blocks.items():
            yield BlockRating(block=block, mu=rating.mu, sigma=rating.sigma, version=version.number)


def match_rows(facts: Store, matches: Sequence[PlayedMatch]) -> list[MatchRow]:
    """Convert counted matches to the form used in answers."""
    changes = facts.history.block_changes(matches)
    return [_match_row(match, changes) for match in matches]


def _match_row(match: PlayedMatch, changes: Mapping[tuple[int, int], tuple[Rating, Rating]]) -> MatchRow:
    return MatchRow(
        match=match.match_id,
        number=match.number,
        game=match.condition.game,
        options=dict(match.condition.options),
        clock=match.condition.clock,
        terms=match.condition.terms,
        block=match.block,
        rotation=match.rotation,
        finished_at=match.finished_at,
        rated=match.rated,
        event=match.event,
        seats=[
            SeatRow(
                seat=seat.seat,
                bot=seat.version.bot,
                version=seat.version.number,
                rank=seat.rank,
                score=seat.score,
                outcome=seat.outcome.value,
                detail=seat.detail,
                block_change=_change(changes.get((seat.version.id, match.block))),
            )
            for seat in match.seats
        ],
    )


def _change(ratings: tuple[Rating, Rating] | None) -> float | None:
    return None if ratings is None else ratings[1].mu - ratings[0].mu
