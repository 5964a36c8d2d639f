"""The layout of `ladder.db`: ordered migrations, and how every kept tally follows from the facts.

Facts, which are only ever added:

bots, versions          who takes part; a version is immutable and known by its content
qualifications          whether a version got through a short match of a game
blocks, matches, seats  what was scheduled: a block is one seed, played in every rotation of the seats
results, seat_results   what came out; `results.number` is the order in which matches count
voids                   attempts at a match that came to no result
trials                  versions that were tried because workers died (`trial.py`)

Tallies, which follow from the facts and change in the same transaction, so that nothing has to read the whole history:

ratings                 derived by `rating.py` from the results, in their order
tallies                 for each version and game: matches, wins, faults, ...
meetings                for each pair of versions: in how many blocks both sat
table_sizes             for each number of seats: how many blocks there were
appearances             for each seat of a match that counts: who sat there, and whether it lost or was out
open_matches            matches that were scheduled, do not count yet, and are not given up
"""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MAX_VOIDS = 3
"""A match that was void this often is given up: it is not played again, and does not count."""

migrations = Migrations("ladder")
"""They are applied in this order. Each runs in a transaction, so it must not call `executescript`, which would commit."""


def _run(db: Database, script: str) -> None:
    for statement in script.split(";\n"):
        if statement.strip():
            db.execute(statement).close()


@migrations()
def facts_and_ratings(db: Database) -> None:
    """Create the first layout."""
    _run(
        db,
        """
        create table bots (
            id integer primary key,
            name text not null unique,
            author text not null,
            created_at text not null
        ) strict;
        create table versions (
            id integer primary key,
            bot integer not null references bots (id),
            number integer not null,
            content_hash text not null,
            run text not null,
            games text not null,
            submitted_at text not null,
            unique (bot, number),
            unique (bot, content_hash)
        ) strict;
        create table qualifications (
            version integer not null references versions (id),
            game text not null,
            passed integer not null,
            reason text not null,
            at text not null,
            primary key (version, game)
        ) strict;
        create table blocks (
            id integer primary key,
            game text not null,
            seats integer not null,
            seed integer not null,
            options text not null,
            clock text not null,
            created_at text not null
        ) strict;
        create table matches (
            id text primary key,
            block integer not null references blocks (id),
            rotation integer not null,
            unique (block, rotation)
        ) strict;
        create table seats (
            match text not null references matches (id),
            seat integer not null,
            version integer not null references versions (id),
            primary key (match, seat)
        ) strict;
        create table results (
            number integer primary key,
            match text not null unique references matches (id),
            digest text not null,
            record_hash text not null,
            decisions integer not null,
            finished_at text not null
        ) strict;
        create table seat_results (
            match text not null references results (match),
            seat integer not null,
            rank integer not null,
            score integer not null,
            outcome text not null,
            decisions integer not null,
            think_ms real not null,
            detail text not null,
            primary key (match, seat)
        ) strict;
        create table voids (
            match text not null references matches (id),
            reason text not null,
            at text not null
        ) strict;
        create table ratings (
            game text not null,
            version integer not null references versions (id),
            mu real not null,
            sigma real not null,
            matches integer not null,
            primary key (game, version)
        ) strict;
        """,
    )


@migrations()
def kept_tallies(db: Database) -> None:
    """Add the tallies, derived from the facts; seeds of schedules, evidence of voids, and which matches are rated."""
    _run(
        db,
        """
        alter table blocks add column schedule_seed integer;
        alter table blocks add column after_number integer;
        alter table results add column rated integer not null default 1;
        alter table ratings drop column matches;
        create index voids_match on voids (match);
        create index results_rated on results (digest) where rated = 1;
        create table tallies (
            game text not null,
            version integer not null references versions (id),
            matches integer not null default 0,
            different integer not null default 0,
            wins integer not null default 0,
            faults integer not null default 0,
            faults_in_a_row integer not null default 0,
            last_block integer not null default 0,
            primary key (game, version)
        ) strict, without rowid;
        create table meetings (
            game text not null,
            one integer not null references versions (id),
            other integer not null references versions (id),
            blocks integer not null,
            primary key (game, one, other)
        ) strict, without rowid;
        create table table_sizes (
            game text not null,
            seats integer not null,
            blocks integer not null,
            primary key (game, seats)
        ) strict, without rowid;
        create table open_matches (
            match text not null primary key references matches (id),
            game text not null
        ) strict, without rowid;
        """,
    )
    for table in ("tallies", "meetings", "table_sizes", "open_matches"):
        derive(db, table)


@migrations()
def sealed_blocks_and_trials(db: Database) -> None:
    """Note which blocks have revealed their seed, and who was tried because workers died."""
    _run(
        db,
        """
        alter table blocks add column sealed_at text;
        create index blocks_to_seal on blocks (id) where sealed_at is null;
        create table trials (
            id integer primary key,
            cause text not null references matches (id),
            version integer not null references versions (id),
            guilty integer not null,
            at text not null
        ) strict;
        """,
    )


@migrations()
def appearances(db: Database) -> None:
    """List the matches of each version, so that the last ones are found without reading the others."""
    _run(
        db,
        """
        create table appearances (
            version integer not null references versions (id),
            game text not null,
            number integer not null references results (number),
            seat integer not null,
            lost integer not null,
            out integer not null,
            primary key (version, game, number, seat)
        ) strict, without rowid;
        create index appearances_of_game on appearances (game, number) where seat = 0;
        create index appearances_of_game_out on appearances (game, number) where out = 1;
        create index appearances_lost on appearances (version, game, number) where lost = 1;
        create index appearances_out on appearances (version, game, number) where out = 1;
        """,
    )
    derive(db, "appearances")


DERIVED = {
    "tallies": """
        with
        seated as (
            select blocks.game, seats.version, seats.match, seats.seat, blocks.id as block
            from seats join matches on matches.id = seats.match join blocks on blocks.id = matches.block
        ),
        played as (
            select seated.game, seated.version, results.number, results.rated, seat_results.rank, seat_results.outcome
            from seated join results using (match) join seat_results using (match, seat)
        ),
        last_played as (
            select game, version, max(number) as number from played where outcome = 'played' group by game, version
        ),
        counted as (
            select played.game, played.version, count(*) as matches, sum(rated) as different, sum(rank = 1) as wins,
                sum(outcome <> 'played') as faults,
                sum(played.number > coalesce(last_played.number, 0)) as faults_in_a_row
            from played left join last_played using (game, version) group by played.game, played.version
        ),
        scheduled as (select game, version, max(block) as last_block from seated group by game, version)
        select game, version, coalesce(matches, 0) as matches, coalesce(different, 0) as different,
            coalesce(wins, 0) as wins, coalesce(faults, 0) as faults, coalesce(faults_in_a_row, 0) as faults_in_a_row,
            last_block
        from scheduled left join counted using (game, version)
        """,
    "meetings": """
        select blocks.game, seats.version as one, others.version as other, count(*) as blocks
        from blocks
        join matches on matches.block = blocks.id and matches.rotation = 0
        join seats on seats.match = matches.id
        join seats as others on others.match = matches.id and others.version > seats.version
        group by blocks.game, seats.version, others.version
        """,
    "table_sizes": "select game, seats, count(*) as blocks from blocks group by game, seats",
    "open_matches": f"""
        select matches.id as match, blocks.game
        from matches join blocks on blocks.id = matches.block
        where matches.id not in (select match from results)
            and matches.id not in (select match from voids group by match having count(*) >= {MAX_VOIDS})
        """,  # noqa: S608
    "appearances": """
        select seats.version, blocks.game, results.number, seats.seat, seat_results.rank > 1 as lost,
            seat_results.outcome <> 'played' as out
        from results
        join seat_results using (match)
        join seats using (match, seat)
        join matches on matches.id = results.match
        join blocks on blocks.id = matches.block
        """,
}
"""For each tally the query that derives it from the facts."""


def derive(db: Database, table: str) -> None:
    """Put what follows from the facts in the place of a tally."""
    db.execute(f"delete from {table}").close()  # noqa: S608 one of the tables above
    db.execute(f"insert into {table} {DERIVED[table]}").close()


def differences(db: Database, table: str) -> list[str]:
    """Return the rows of a tally that do not follow from the facts, and those that are missing, a line each."""
    kept, derived = f"select * from {table}", f"select * from ({DERIVED[table]})"  # noqa: S608 one of the tables above
    # SQLite compares them: a long history does not fit into Python's memory.
    wrong, missing = db.execute(f"{kept} except {derived}"), db.execute(f"{derived} except {kept}")
    return [f"{table}: keeps {row}, which does not follow from the matches" for row in wrong] + [
        f"{table}: lacks {row}, which follows from the matches" for row in missing
    ]
