"""Verifies every record, derives all ratings from them again, and compares with what the ladder keeps."""

from __future__ import annotations

from ladder.home import Home
from ladder.match import Match
from ladder.rating import Rating, rate_all
from ladder.store import Store
from referee.records.record import RecordError
from referee.records.verify import verified
from referee.registry import find, games


def recompute(home: Home, store: Store) -> list[str]:
    """Verify every record, derive all ratings from them again, and put them in place of the old ones.

    Returns:
        What did not agree, a line each; empty if everything did. Where a record is missing or does not agree with what
        is known of its match, the ratings are left as they were.
    """
    problems: list[str] = []
    parents = {version.id: version.parent for version in store.versions().values()}
    for game in games():
        counted = store.counted(game)
        broken = [problem for match in counted for problem in _record_problems(home, match)]
        problems += broken
        if broken:
            continue
        ratings, played = rate_all(((match.versions, match.count.ranks) for match in counted if match.count), parents)
        known = store.ratings(game)
        problems += [
            f"{game}: version {version} had {_text(known.get(version))}, its matches give {_text(ratings.get(version))}"
            for version in sorted(ratings.keys() | known.keys())
            if known.get(version) != ratings.get(version)
        ]
        store.replace_ratings(game, ratings, played)
    return problems


def _record_problems(home: Home, match: Match) -> list[str]:
    """Return whether a match's record holds, is the one that was counted, and says what was counted."""
    count = match.count
    assert count is not None  # noqa: S101 it counts
    try:
        record = verified(home.find_record(match.match_id), find, match.seed)
    except RecordError as error:
        return [str(error)]
    plan, result = record.plan, record.result
    if (plan.match_id, plan.game.name, plan.bots) != (match.match_id, match.game, match.labels):
        return [f"match {match.match_id}: the record is of another match"]
    if count.record_hash not in (record.result_hash, record.last_hash):  # older versions kept the last one
        return [f"match {match.match_id}: the record is not the one that was counted"]
    seats = tuple((seat.rank, seat.outcome) for seat in result.seats)
    if seats != tuple(zip(count.ranks, count.outcomes, strict=True)) or result.digest != count.digest:
        return [f"match {match.match_id}: the record has another result than the one that was counted"]
    return []


def _text(rating: Rating | None) -> str:
    return "no rating" if rating is None else f"mu {rating.mu!r} sigma {rating.sigma!r}"
