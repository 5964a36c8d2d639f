"""Versions against each other: two side by side, and the best of a condition in one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from math import sqrt

from dogana.v1 import ladder_pb2 as pb
from ladder.facts.history import PlayedMatch, Score
from ladder.facts.standings import standings
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.model.rating import better
from ladder.operation.errors import LadderError
from ladder.questions.answers import condition_message, played_messages, standing_message

CROSSED = 20
"""How many versions a crosstable has."""
LAST_COMMON = 100
"""From how many of their last common matches it is told how two versions have fared in each seat."""
LISTED = 10
"""How many of them are listed."""
_Z = 1.96
"""95 % of a normal distribution are within this many standard deviations."""


def compare(chronicle: Store, one: str, other: str, conditions: Sequence[Condition]) -> pb.CompareAnswer:
    """Return how two versions compare, under each condition under which both have matches.

    Args:
        chronicle: what has happened.
        one: a bot, which means its newest version that has matches, or a version as in `mybot v2`.
        other: the same.
        conditions: those that are looked at.

    Raises:
        LadderError: if there is no such bot, or both are the same version.
    """
    first, second = (_played_version(chronicle, name, conditions) for name in (one, other))
    if first == second:
        raise LadderError(
            f"{first.label} cannot be compared with itself; name two bots, or versions as in {first.label!r}"
        )
    return pb.CompareAnswer(
        one=pb.Compared(bot=first.bot, version=first.number, author=first.author),
        other=pb.Compared(bot=second.bot, version=second.number, author=second.author),
        comparisons=[
            found for condition in conditions if (found := _comparison(chronicle, first, second, condition)) is not None
        ],
    )


def _played_version(chronicle: Store, name: str, conditions: Iterable[Condition]) -> Version:
    versions = chronicle.roster.find_versions(name)
    ids = [version.id for version in versions]
    tallies = [chronicle.results.tallies(condition, ids) for condition in conditions]
    have_played = (
        version
        for version in reversed(versions)
        if any(version.id in kept and kept[version.id].matches for kept in tallies)
    )
    return next(have_played, versions[-1])


def _comparison(chronicle: Store, one: Version, other: Version, condition: Condition) -> pb.Comparison | None:
    """Return how two versions compare under a condition; None if not both have matches there."""
    found = {
        standing.version: (place, standing)
        for place, standing in enumerate(standings(chronicle, condition), 1)
        if standing.version in (one, other) and standing.tally.matches
    }
    if len(found) < 2:
        return None
    (first_place, first), (second_place, second) = found[one], found[other]
    matches = chronicle.history.together(one, other, condition, LAST_COMMON)
    return pb.Comparison(
        one=standing_message(condition, first, first_place),
        other=standing_message(condition, second, second_place),
        better=None if first.rating is None or second.rating is None else better(first.rating, second.rating),
        met=_head_to_head(chronicle.history.scores(condition, [one.id, other.id]).get((one.id, other.id), NEVER)),
        seats=_by_seat(matches, one, other),
        matches=played_messages(chronicle, matches[:LISTED]),
    )


NEVER = Score(0, 0, 0, 0)


def _by_seat(matches: Sequence[PlayedMatch], one: Version, other: Version) -> list[pb.SeatScore]:
    """Return how a version has fared against another from each seat, the smaller tables first."""
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
        found.append(pb.SeatScore(seats=seats, seat=seat, met=_head_to_head(score)))
    return found


def _head_to_head(score: Score) -> pb.HeadToHead:
    if not score.matches:
        return pb.HeadToHead()
    share = (score.ahead + score.tied / 2) / score.matches
    low, high = likely_share(share, score.matches)
    return pb.HeadToHead(**asdict(score), share=share, low=low, high=high)


def likely_share(share: float, matches: int) -> tuple[float, float]:
    """Return between which shares the one in the long run is with 95 % certainty, if matches do not depend on each other.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    spread = _Z**2 / matches
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * sqrt(share * (1 - share) / matches + spread / (4 * matches)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def crosstable(chronicle: Store, condition: Condition) -> pb.Crosstable:
    """Return how the best versions under a condition have fared against each other in all their matches."""
    best = [one for one in standings(chronicle, condition) if one.rating is not None][:CROSSED]
    scores = chronicle.history.scores(condition, [one.version.id for one in best])
    return pb.Crosstable(
        condition=condition_message(condition),
        versions=[standing_message(condition, one, place) for place, one in enumerate(best, 1)],
        rows=[
            pb.CrosstableRow(
                met=[_head_to_head(scores.get((one.version.id, other.version.id), NEVER)) for other in best]
            )
            for one in best
        ],
    )
