"""The layout of `ladder.db`: ordered migrations.

Facts, which are only ever added:

bots, versions          who takes part; a version is immutable and known by its content
conditions              what is played and how: a game, options, a clock; everything below is of one of them
qualifications          whether a version got through a first match, or may try once more; the last one counts
retirements             versions that the organiser has taken out, or brought back; the last one counts
blocks, matches, seats  what was scheduled: a block is one seed, played in every rotation of the seats
turns                   when versions were due from a block on: those in it, and those that had joined; the last one counts
results, seat_results   what came out; `results.number` is the order in which matches count
voids                   attempts at a match that came to no result
trials                  versions that were tried because workers died (`trial.py`)
lost_records            matches whose records are lost for good: they count all the same (`recompute.py`)
prunings                from before which time records and logs were removed, when, and what was kept (`retention.py`)
telemetry               what bots said of their thinking, summed for each match, seat and key
authors, tokens         who may ask over the network, and by which tokens they are known
consents                bots that people may play against at tables, or may not any more; the last one counts
budgets                 how many matches a day an author may have; the last one counts (`budgets.py`)
acts                    who has changed what: submitted, retired, given a token or a budget
keys                    the public keys of the ladder; the last one counts (`key.py`)
audit_log               an entry for each of these facts: versions, blocks, results, voids, revealed seeds, keys (`entries.py`)

The other tables are tallies, which follow from the facts (`tallies.py`), and one that lasts for a moment: `connections`, the bots at
home that are connected.
"""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from ladder.facts.rated_again import rate_what_was_mixed, rated_again
from referee.records.audit_log import MAX_ATTEMPTS

MAX_VOIDS = MAX_ATTEMPTS
"""A match that was void this often is given up: it is not played again, and does not count."""

migrations = Migrations("ladder")
"""They are applied in this order. Each runs in a transaction, so it must not call `executescript`, which would commit.

They change facts and layouts; after the last of them `tallies.derive` fills the tallies, whose queries know only the newest layout.
"""
NOT_OF_TALLIES = {"kept_records", "consents", "quotas"}
"""Those that change nothing from which a tally follows: to fill all tallies of a million matches takes minutes."""


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
    """Add the tallies, which `conditions` derives; seeds of schedules, evidence of voids, and which matches are rated."""
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
def lost_records(db: Database) -> None:
    """Note which matches count though their records are lost."""
    _run(
        db,
        """
        create table lost_records (
            match text not null primary key references results (match),
            at text not null
        ) strict, without rowid;
        """,
    )


@migrations()
def conditions(db: Database) -> None:
    """Give every block the condition under which it was played, and keep everything by condition instead of by game.

    What qualified for a game before had done so under a clock that the run did not have. It keeps what it has for every condition
    of the game.
    """
    _run(
        db,
        """
        create table conditions (
            id integer primary key,
            game text not null,
            options text not null,
            clock text not null,
            unique (game, options, clock)
        ) strict;
        insert into conditions (game, options, clock)
            select game, options, clock from blocks group by game, options, clock order by min(id);
        insert into conditions (game, options, clock)
            select distinct game, '{}', '10+1/10' from qualifications where game not in (select game from conditions);
        alter table blocks add column condition integer references conditions (id);
        update blocks set condition = (
            select id from conditions
            where (conditions.game, conditions.options, conditions.clock) = (blocks.game, blocks.options, blocks.clock)
        );
        alter table blocks drop column game;
        alter table blocks drop column options;
        alter table blocks drop column clock;
        alter table qualifications rename to old_qualifications;
        create table qualifications (
            condition integer not null references conditions (id),
            version integer not null references versions (id),
            passed integer not null,
            reason text not null,
            at text not null,
            primary key (condition, version)
        ) strict;
        insert into qualifications
            select conditions.id, version, passed, reason, at from old_qualifications join conditions using (game);
        drop table old_qualifications;
        alter table ratings rename to old_ratings;
        create table ratings (
            condition integer not null references conditions (id),
            version integer not null references versions (id),
            mu real not null,
            sigma real not null,
            primary key (condition, version)
        ) strict;
        insert into ratings
            select conditions.id, version, mu, sigma from old_ratings join conditions using (game)
            where game in (select game from conditions group by game having count(*) = 1);
        drop table old_ratings;
        drop table tallies;
        create table tallies (
            condition integer not null references conditions (id),
            version integer not null references versions (id),
            matches integer not null default 0,
            different integer not null default 0,
            wins integer not null default 0,
            faults integer not null default 0,
            faults_in_a_row integer not null default 0,
            last_block integer not null default 0,
            primary key (condition, version)
        ) strict, without rowid;
        drop table meetings;
        create table meetings (
            condition integer not null references conditions (id),
            one integer not null references versions (id),
            other integer not null references versions (id),
            blocks integer not null,
            primary key (condition, one, other)
        ) strict, without rowid;
        drop table table_sizes;
        create table table_sizes (
            condition integer not null references conditions (id),
            seats integer not null,
            blocks integer not null,
            primary key (condition, seats)
        ) strict, without rowid;
        drop table open_matches;
        create table open_matches (
            match text not null primary key references matches (id),
            condition integer not null references conditions (id)
        ) strict, without rowid;
        """,
    )
    rate_what_was_mixed(db)


@migrations()
def appearances(db: Database) -> None:
    """List the matches of each version, so that the last ones are found without reading the others."""
    _run(
        db,
        """
        create table appearances (
            version integer not null references versions (id),
            condition integer not null references conditions (id),
            number integer not null references results (number),
            seat integer not null,
            lost integer not null,
            out integer not null,
            primary key (version, condition, number, seat)
        ) strict, without rowid;
        create index appearances_under on appearances (condition, number) where seat = 0;
        create index appearances_under_out on appearances (condition, number) where out = 1;
        create index appearances_lost on appearances (version, condition, number) where lost = 1;
        create index appearances_out on appearances (version, condition, number) where out = 1;
        """,
    )


@migrations()
def block_ratings(db: Database) -> None:
    """Keep how the rating of each version went, block by block."""
    _run(
        db,
        """
        create table block_ratings (
            version integer not null references versions (id),
            block integer not null references blocks (id),
            mu real not null,
            sigma real not null,
            primary key (version, block)
        ) strict, without rowid;
        """,
    )
    db.conn.executemany(
        "insert into block_ratings (version, block, mu, sigma) values (?, ?, ?, ?)",
        ((*key, rating.mu, rating.sigma) for key, rating in rated_again(db, "true").after_blocks.items()),
    )


@migrations()
def second_chances(db: Database) -> None:
    """Let versions try more than once to qualify, and let the organiser take them out."""
    _run(
        db,
        """
        alter table qualifications rename to old_qualifications;
        create table qualifications (
            id integer primary key,
            condition integer not null references conditions (id),
            version integer not null references versions (id),
            passed integer,
            reason text not null,
            at text not null,
            after_number integer not null
        ) strict;
        insert into qualifications (condition, version, passed, reason, at, after_number)
            select condition, version, passed, reason, at, 0 from old_qualifications order by at;
        drop table old_qualifications;
        create index qualifications_of on qualifications (condition, version, id);
        create table retirements (
            id integer primary key,
            version integer not null references versions (id),
            retired integer not null,
            at text not null
        ) strict;
        """,
    )


@migrations()
def authors_acts_and_telemetry(db: Database) -> None:
    """Know authors by their tokens, and keep who has changed what, and what bots say of their thinking."""
    _run(
        db,
        """
        create table authors (
            name text primary key,
            created_at text not null
        ) strict;
        create table tokens (
            id text primary key,
            author text not null references authors (name),
            sha256 text not null,
            created_at text not null,
            expires_at text not null,
            used_on text,
            revoked_at text
        ) strict;
        create table acts (
            id integer primary key,
            at text not null,
            who text not null,
            did text not null,
            about text not null
        ) strict;
        create table telemetry (
            match text not null references results (match),
            seat integer not null,
            key text not null,
            count integer not null,
            total real not null,
            primary key (match, seat, key)
        ) strict, without rowid;
        """,
    )


@migrations()
def audit_log(db: Database) -> None:
    """Add the audit log, which `entries.begin` begins, and the keys of the ladder."""
    _run(
        db,
        """
        create table keys (
            id integer primary key,
            key text not null,
            signature text not null,
            at text not null
        ) strict;
        create table audit_log (
            number integer primary key,
            kind text not null,
            subject integer not null,
            line text not null,
            unique (kind, subject)
        ) strict;
        """,
    )


@migrations()
def turns(db: Database) -> None:
    """Note when each version is due, and in how many blocks it was. Blocks that were drawn before have no round."""
    _run(
        db,
        """
        alter table blocks add column round integer;
        create index blocks_round on blocks (condition, round);
        create table turns (
            block integer not null references blocks (id),
            version integer not null references versions (id),
            due integer not null,
            primary key (block, version)
        ) strict, without rowid;
        create table dues (
            condition integer not null references conditions (id),
            version integer not null references versions (id),
            due integer not null,
            primary key (condition, version)
        ) strict, without rowid;
        alter table tallies add column blocks integer not null default 0;
        """,
    )


@migrations()
def bots_at_home(db: Database) -> None:
    """Note which bots at home are connected, and in which blocks they are guests."""
    _run(
        db,
        """
        alter table blocks add column guests integer not null default 0;
        create table connections (
            version integer primary key references versions (id),
            matches integer not null,
            leaving integer not null,
            since text not null
        ) strict;
        """,
    )


@migrations()
def prunings(db: Database) -> None:
    """Note from before which time records and logs were removed."""
    _run(
        db,
        """
        create table prunings (
            id integer primary key,
            at text not null,
            records_before text,
            logs_before text
        ) strict;
        """,
    )


@migrations()
def budgets(db: Database) -> None:
    """Let the organiser limit the matches of an author, and count those of each day."""
    _run(
        db,
        """
        create table budgets (
            id integer primary key,
            author text not null,
            matches integer,
            at text not null
        ) strict;
        create table days (
            day text not null,
            author text not null,
            matches integer not null,
            primary key (day, author)
        ) strict, without rowid;
        """,
    )


@migrations()
def scores_and_languages(db: Database) -> None:
    """Count who was ahead of whom, find the last ratings of a version under a condition, and note its language."""
    _run(
        db,
        """
        alter table versions add column language text not null default '';
        create table scores (
            condition integer not null references conditions (id),
            one integer not null references versions (id),
            other integer not null references versions (id),
            matches integer not null,
            ahead integer not null,
            tied integer not null,
            primary key (condition, one, other)
        ) strict, without rowid;
        alter table block_ratings rename to old_block_ratings;
        create table block_ratings (
            version integer not null references versions (id),
            condition integer not null references conditions (id),
            block integer not null references blocks (id),
            mu real not null,
            sigma real not null,
            primary key (version, condition, block)
        ) strict, without rowid;
        insert into block_ratings
            select version, condition, block, mu, sigma
            from old_block_ratings join blocks on blocks.id = old_block_ratings.block;
        drop table old_block_ratings;
        """,
    )


@migrations()
def kept_records(db: Database) -> None:
    """Let a pruning keep the records of some bots, and of one block of so many."""
    db.execute("alter table prunings add column kept_bots text not null default '[]'").close()
    db.execute("alter table prunings add column one_block_of integer not null default 0").close()


@migrations()
def consents(db: Database) -> None:
    """Let authors say whether people may play against a bot."""
    columns = (
        "id integer primary key, bot integer not null references bots (id), given integer not null, at text not null"
    )
    _run(db, f"create table consents ({columns}) strict")


@migrations()
def quotas(db: Database) -> None:
    """Let the organiser say how much room the files of an author may take."""
    columns = "id integer primary key, author text not null, bytes integer, at text not null"
    _run(db, f"create table quotas ({columns}) strict")
