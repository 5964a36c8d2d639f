"""How every kept tally of `ladder.db` follows from the facts (`schema.py`).

Tallies change in the same transaction as the facts, so that nothing has to read the whole history:

ratings                 derived by `rating.py` from the results, in their order
block_ratings           the same after each block
tallies                 for each condition and version: matches, wins, faults, ...
meetings                for each pair of versions: in how many blocks both sat
scores                  for each pair of versions: in how many matches both sat, and how often the first was ahead
table_sizes             for each number of seats: how many blocks there were
appearances             for each seat of a match that counts: who sat there, and whether it lost or was out
open_matches            matches that were scheduled, do not count yet, and are not given up
dues                    for each condition and version: when it is due (`schedule.py`)
days                    for each day and author: how many matches were scheduled (`budgets.py`)
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlite_utils import Database

from ladder.facts.schema import MAX_VOIDS
from ladder.model.rating import Rating

DERIVED = {
    "tallies": """
        with
        counted as (
            select blocks.condition, seats.version, count(*) as matches, sum(rated) as different, sum(rank = 1) as wins,
                sum(outcome <> 'played') as faults, max(case outcome when 'played' then number else 0 end) as last_played
            from results
            join matches on matches.id = results.match
            join blocks on blocks.id = matches.block
            join seats on seats.match = results.match
            join seat_results on seat_results.match = seats.match and seat_results.seat = seats.seat
            group by blocks.condition, seats.version
        ),
        forgiven as (
            select condition, version, max(after_number) as number from qualifications
            where passed is null group by condition, version
        ),
        failing as (
            select blocks.condition, seats.version, count(*) as faults_in_a_row
            from seat_results -- few of its rows: "cross" begins with them
            cross join seats on seats.match = seat_results.match and seats.seat = seat_results.seat
            join results on results.match = seat_results.match
            join matches on matches.id = results.match
            join blocks on blocks.id = matches.block
            join counted on counted.condition = blocks.condition and counted.version = seats.version
            left join forgiven on forgiven.condition = blocks.condition and forgiven.version = seats.version
            where outcome <> 'played' and results.number > max(last_played, coalesce(forgiven.number, 0))
            group by blocks.condition, seats.version
        ),
        scheduled as (
            select blocks.condition, seats.version, count(*) as blocks, max(blocks.id) as last_block
            from blocks
            cross join matches on matches.block = blocks.id and rotation = 0
            cross join seats on seats.match = matches.id
            group by blocks.condition, seats.version
        )
        select condition, version, coalesce(matches, 0) as matches, coalesce(different, 0) as different,
            coalesce(wins, 0) as wins, coalesce(faults, 0) as faults, coalesce(faults_in_a_row, 0) as faults_in_a_row,
            last_block, blocks
        from scheduled left join counted using (condition, version) left join failing using (condition, version)
        """,
    "meetings": """
        select blocks.condition, seats.version as one, others.version as other, count(*) as blocks
        from blocks
        join matches on matches.block = blocks.id and matches.rotation = 0
        join seats on seats.match = matches.id
        join seats as others on others.match = matches.id and others.version > seats.version
        group by blocks.condition, seats.version, others.version
        """,
    "scores": """
        select blocks.condition, seats.version as one, others.version as other, count(*) as matches,
            sum(own.rank < theirs.rank) as ahead, sum(own.rank = theirs.rank) as tied
        from results
        join matches on matches.id = results.match
        join blocks on blocks.id = matches.block
        join seats on seats.match = results.match
        join seats as others on others.match = results.match and others.version > seats.version
        join seat_results as own on own.match = seats.match and own.seat = seats.seat
        join seat_results as theirs on theirs.match = others.match and theirs.seat = others.seat
        group by blocks.condition, seats.version, others.version
        """,
    "table_sizes": "select condition, seats, count(*) as blocks from blocks group by condition, seats",
    "open_matches": f"""
        select matches.id as match, blocks.condition
        from matches join blocks on blocks.id = matches.block
        where matches.id not in (select match from results)
            and matches.id not in (select match from voids group by match having count(*) >= {MAX_VOIDS})
        """,  # noqa: S608
    "appearances": """
        select seats.version, blocks.condition, results.number, seats.seat, seat_results.rank > 1 as lost,
            seat_results.outcome <> 'played' as out
        from results
        join seat_results using (match)
        join seats using (match, seat)
        join matches on matches.id = results.match
        join blocks on blocks.id = matches.block
        """,
    "dues": """
        select condition, version, due from (
            select blocks.condition, turns.version, turns.due, max(turns.block)
            from turns join blocks on blocks.id = turns.block group by blocks.condition, turns.version
        )
        """,
    "days": """
        select substr(blocks.created_at, 1, 10) as day, bots.author, count(distinct matches.id) as matches
        from blocks
        join matches on matches.block = blocks.id
        join seats on seats.match = matches.id
        join versions on versions.id = seats.version
        join bots on bots.id = versions.bot
        group by day, bots.author
        """,
}
"""For each tally the query that derives it from the facts."""


def derive(db: Database, table: str) -> None:
    """Put what follows from the facts in the place of a tally."""
    db.execute(f"delete from {table}").close()  # noqa: S608 one of the tables above
    db.execute(f"insert into {table} {DERIVED[table]}").close()


def differences(db: Database, table: str) -> Iterator[str]:
    """Yield the rows of a tally that do not follow from the facts, and those that are missing, a line each."""
    derived = DERIVED[table]
    columns = [row["name"] for row in db.query("select name from pragma_table_info(?)", [table])]
    agrees = " and ".join(f"kept.{column} is derived.{column}" for column in columns)
    # A tally that agrees has as many rows as follow from the facts, and each of these: then nothing is sorted but by the query.
    [found] = db.query(
        f"""
        select count(*) as derived, count(kept.{columns[0]}) as agree, (select count(*) from {table}) as kept
        from ({derived}) as derived left join {table} as kept on {agrees}
        """  # noqa: S608 one of the tables above
    )
    if found["derived"] == found["agree"] == found["kept"]:
        return
    rows, follow = f"select * from {table}", f"select * from ({derived})"  # noqa: S608
    # SQLite compares them: a long history does not fit into Python's memory.
    for row in db.execute(f"{rows} except {follow}"):
        yield f"{table}: keeps {row}, which does not follow from the matches"
    for row in db.execute(f"{follow} except {rows}"):
        yield f"{table}: lacks {row}, which follows from the matches"


REPEATED = """
    with
    alike as (select digest from results group by digest having count(*) > 1),
    played as (
        select results.number, results.digest, blocks.condition, (
            select json_group_array(version) from (select version from seats where match = results.match order by seat)
        ) as versions
        from results join matches on matches.id = results.match join blocks on blocks.id = matches.block
        where results.digest in (select digest from alike)
    )
    select number from (
        select number, row_number() over (partition by condition, digest, versions order by number) as time from played
    )
    where time > 1 order by number
    """
"""The numbers, ascending, of the results at which the same had been played before, between the same versions in the same seats."""


def begin_again(db: Database) -> None:
    """Make the tables in which a comparison notes what there may be a million of; only its connection sees them.

    `again` has the ratings after blocks as they are derived again, `broken` the matches whose records do not hold.
    """
    db.execute(
        """
        create temp table if not exists again (
            version integer, condition integer, block integer, mu real, sigma real, primary key (version, condition, block)
        ) without rowid
        """
    ).close()
    db.execute("create temp table if not exists broken (match text)").close()
    for table in ("again", "broken"):
        db.execute(f"delete from temp.{table}").close()  # noqa: S608


def differing_after_blocks(db: Database) -> Iterator[tuple[int, int, Rating | None, Rating | None]]:
    """Yield version, block, the rating that is kept, and the one that was derived again, where they differ."""
    rows = db.execute(
        """
        select kept.version, kept.block, kept.mu, kept.sigma, again.mu, again.sigma
        from block_ratings as kept left join temp.again using (version, condition, block)
        where (kept.mu, kept.sigma) is not (again.mu, again.sigma)
        union all
        select again.version, again.block, kept.mu, kept.sigma, again.mu, again.sigma
        from temp.again left join block_ratings as kept using (version, condition, block) where kept.mu is null
        order by 1, 2
        """
    )
    for version, block, *found in rows:
        kept, again = (None if mu is None else Rating(mu, sigma) for mu, sigma in (found[:2], found[2:]))
        yield version, block, kept, again
