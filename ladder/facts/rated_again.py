"""Ratings that migrations work out of the facts of earlier layouts (`schema.py`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from sqlite_utils import Database

from ladder.model.rating import History, Rating


def rate_what_was_mixed(db: Database) -> None:
    """Rate the matches of games that were played under several conditions, each condition by itself."""
    again = rated_again(db, "conditions.game in (select game from conditions group by game having count(*) > 1)")
    db.conn.executemany("update results set rated = ? where number = ?", again.rated)
    db.conn.executemany(
        "insert into ratings (condition, version, mu, sigma) values (?, ?, ?, ?)",
        (
            (condition, version, rating.mu, rating.sigma)
            for condition, ratings in again.ratings.items()
            for version, rating in ratings.items()
        ),
    )


@dataclass(slots=True)
class RatedAgain:
    """What follows from some matches."""

    ratings: dict[int, dict[int, Rating]]
    """By condition and version."""
    after_blocks: dict[tuple[int, int], Rating] = field(default_factory=dict)
    """By version and block, the rating after the last match of the block that was rated."""
    rated: list[tuple[bool, int]] = field(default_factory=list)
    """Whether each match is rated, with its number: it is not if the same was played before."""


def rated_again(db: Database, which: str) -> RatedAgain:
    """Rate the matches that an SQL condition names."""
    history = History(dict(db.execute("select id, lag(id) over (partition by bot order by id) from versions")))
    rows = db.execute(
        f"""
        select results.number, blocks.condition, blocks.id, results.digest, seats.version, seat_results.rank
        from results
        join matches on matches.id = results.match
        join blocks on blocks.id = matches.block
        join conditions on conditions.id = blocks.condition
        join seats on seats.match = results.match
        join seat_results on seat_results.match = seats.match and seat_results.seat = seats.seat
        where {which} order by results.number, seats.seat
        """  # noqa: S608
    )
    again = RatedAgain(history.ratings)
    played = set()
    for number, seats in groupby(rows, key=itemgetter(0)):
        _, [condition, *_], [block, *_], [digest, *_], versions, ranks = zip(*seats, strict=True)
        is_new = (condition, digest, versions) not in played
        played.add((condition, digest, versions))
        again.rated.append((is_new, number))
        if is_new:
            new = history.add(condition, versions, ranks)
            again.after_blocks.update({(version, block): rating for version, rating in new.items()})
    return again
