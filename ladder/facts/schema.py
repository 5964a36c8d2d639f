"""The layout of `ladder.db`.

The facts are the events of the audit log, one row each, which are only ever added:

events                  a line of JSON each, chained by hash; the lines of the published audit log (`entries.py`)

The views follow from the events (`fold.py`). They change in the transaction that adds an event, so nothing reads the whole log.
They can be dropped and rebuilt (`rebuilt.py`):

keys                    the public keys of the ladder; the last one counts (`key.py`)
bots, versions          the participants; a version is immutable and identified by its content
conditions              a game with its options and a clock; most rows below belong to one of them
qualifications          whether a version has qualified, or may try once more; the last row counts
retirements             versions that were retired, or brought back; the last row counts
consents                bots that people may, or no longer may, play against at tables; the last row counts
blocks, matches, seats  the schedule: a block plays one seed in every rotation of the seats, on the ladder or in an event
results, seat_results   the results; `results.number` is the order in which matches were counted
voids                   attempts at a match without a result
trials                  versions that were put on trial because workers died (`trial.py`)
lost_records            matches whose records are lost for good: they still count (`recompute.py`)
prunings                removals of records and logs: their times, the age limits, and the records that stay (`retention.py`)
ratings                 the rating of each version under each condition (`rating.py`)
block_ratings           the rating of each version after each block
tallies                 for each condition and version: matches, wins, faults, ...
meetings                for each pair of versions: the number of blocks in which both sat
scores                  for each pair of versions: their common matches, and how often the first was ahead
table_sizes             for each number of seats: the number of blocks
appearances             for each seat of a counted match: its version, and whether the version lost or was out
tournaments             events: their terms, the times of their close and end, and their seed once it is revealed
tournament_conditions   the conditions of each event, in the order of its games
entrants                the versions entered in each event, in the order of their seeding
left_out                the versions not entered, with the reasons
open_matches            scheduled matches that are neither counted nor given up
dues                    for each condition and version: its due time (`schedule.py`)
days                    for each day and author: the number of scheduled matches (`budgets.py`)

The private tables contain the facts that must not be public. They do not affect ratings, and are not in the log:

seeds                   the seeds of blocks that are not over; the log contains their commitments
tournament_seeds        the seeds of events that are not over; the log contains their commitments
commands                the command that starts each version; the log contains its hash
telemetry               what bots report to their authors about their thinking, summed for each match, seat and key
authors, tokens         the authors who may ask over the network, and the tokens that identify them
budgets                 the maximum number of an author's matches a day; the last row counts (`budgets.py`)
quotas                  the maximum size of an author's files, in bytes; the last row counts
acts                    changes, such as a submitted bot or a set budget, each with the person who made it
connections             the bots at home that are connected at this moment
"""

from __future__ import annotations

import re

from ladder.operation.sqlite_file import Layout
from referee.records.audit_book import MAX_ATTEMPTS

MAX_VOIDS = MAX_ATTEMPTS
"""The number of void attempts after which a match is given up: it is not played again, and does not count."""
_EVENTS = """
create table events (
    number integer primary key,
    line text not null
) strict;
"""
_VIEWS = """
create table keys (
    id integer primary key,
    key text not null,
    signature text not null,
    at text not null
) strict;
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
    run_hash text not null,
    games text not null,
    submitted_at text not null,
    language text not null,
    unique (bot, number),
    unique (bot, content_hash)
) strict;
create table conditions (
    id integer primary key,
    game text not null,
    options text not null,
    clock text not null,
    unique (game, options, clock)
) strict;
create table qualifications (
    id integer primary key,
    condition integer not null references conditions (id),
    version integer not null references versions (id),
    passed integer,
    reason text not null,
    at text not null,
    after_number integer not null
) strict;
create index qualifications_of on qualifications (condition, version, id);
create table retirements (
    id integer primary key,
    version integer not null references versions (id),
    retired integer not null,
    at text not null
) strict;
create table consents (
    id integer primary key,
    bot integer not null references bots (id),
    given integer not null,
    at text not null
) strict;
create table tournaments (
    id integer primary key,
    name text not null unique,
    format text not null,
    seats integer not null,
    blocks integer not null,
    rounds integer not null,
    advance integer not null,
    scoring text not null,
    top integer not null,
    same_author integer not null,
    share integer not null,
    closes text not null,
    seed_commitment text not null,
    announced_at text not null,
    closed_at text not null default '',
    ended_at text not null default '',
    seed integer
) strict;
create table tournament_conditions (
    tournament integer not null references tournaments (id),
    number integer not null,
    condition integer not null references conditions (id),
    primary key (tournament, number)
) strict, without rowid;
create table entrants (
    tournament integer not null references tournaments (id),
    number integer not null,
    version integer not null references versions (id),
    place integer not null,
    primary key (tournament, number)
) strict, without rowid;
create index entrants_of on entrants (version);
create table left_out (
    tournament integer not null references tournaments (id),
    version integer not null references versions (id),
    reason text not null,
    primary key (tournament, version)
) strict, without rowid;
create table blocks (
    id integer primary key,
    condition integer not null references conditions (id),
    seats integer not null,
    seed integer,
    guests integer not null,
    round integer,
    schedule_seed integer,
    tournament integer references tournaments (id),
    fixture text,
    after_number integer not null,
    created_at text not null,
    sealed_at text
) strict;
create index blocks_to_seal on blocks (id) where sealed_at is null;
create index blocks_round on blocks (condition, round);
create index blocks_of on blocks (tournament) where tournament is not null;
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
    finished_at text not null,
    rated integer not null
) strict;
create index results_rated on results (digest) where rated = 1;
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
    id integer primary key,
    match text not null references matches (id),
    reason text not null,
    at text not null
) strict;
create index voids_match on voids (match);
create table trials (
    id integer primary key,
    cause text not null references matches (id),
    version integer not null references versions (id),
    guilty integer not null,
    at text not null
) strict;
create table lost_records (
    match text not null primary key references results (match),
    at text not null
) strict, without rowid;
create table prunings (
    id integer primary key,
    at text not null,
    records_before text,
    logs_before text,
    retained_bots text not null,
    one_block_of integer not null
) strict;
create table ratings (
    condition integer not null references conditions (id),
    version integer not null references versions (id),
    mu real not null,
    sigma real not null,
    primary key (condition, version)
) strict;
create table block_ratings (
    version integer not null references versions (id),
    condition integer not null references conditions (id),
    block integer not null references blocks (id),
    mu real not null,
    sigma real not null,
    primary key (version, condition, block)
) strict, without rowid;
create table tallies (
    condition integer not null references conditions (id),
    version integer not null references versions (id),
    matches integer not null default 0,
    different integer not null default 0,
    wins integer not null default 0,
    faults integer not null default 0,
    faults_in_a_row integer not null default 0,
    last_block integer not null default 0,
    blocks integer not null default 0,
    primary key (condition, version)
) strict, without rowid;
create table meetings (
    condition integer not null references conditions (id),
    one integer not null references versions (id),
    other integer not null references versions (id),
    blocks integer not null,
    primary key (condition, one, other)
) strict, without rowid;
create table scores (
    condition integer not null references conditions (id),
    one integer not null references versions (id),
    other integer not null references versions (id),
    matches integer not null,
    ahead integer not null,
    tied integer not null,
    primary key (condition, one, other)
) strict, without rowid;
create table table_sizes (
    condition integer not null references conditions (id),
    seats integer not null,
    blocks integer not null,
    primary key (condition, seats)
) strict, without rowid;
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
create table open_matches (
    match text not null primary key references matches (id),
    condition integer not null references conditions (id)
) strict, without rowid;
create table dues (
    condition integer not null references conditions (id),
    version integer not null references versions (id),
    due integer not null,
    primary key (condition, version)
) strict, without rowid;
create table days (
    day text not null,
    author text not null,
    matches integer not null,
    primary key (day, author)
) strict, without rowid;
"""
_PRIVATE = """
create table seeds (
    block integer primary key references blocks (id),
    seed integer not null
) strict;
create table tournament_seeds (
    tournament integer primary key references tournaments (id),
    seed integer not null
) strict;
create table commands (
    version integer primary key references versions (id),
    run text not null
) strict;
create table telemetry (
    match text not null references results (match),
    seat integer not null,
    key text not null,
    count integer not null,
    total real not null,
    primary key (match, seat, key)
) strict, without rowid;
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
create table budgets (
    id integer primary key,
    author text not null,
    matches integer,
    at text not null
) strict;
create table quotas (
    id integer primary key,
    author text not null,
    bytes integer,
    at text not null
) strict;
create table acts (
    id integer primary key,
    at text not null,
    who text not null,
    did text not null,
    about text not null
) strict;
create table connections (
    version integer primary key references versions (id),
    matches integer not null,
    leaving integer not null,
    since text not null
) strict;
"""
VIEWS = tuple(re.findall(r"^create table (\w+)", _VIEWS, re.MULTILINE))
"""The names of the views, each after the views to which it refers."""
LAYOUT = Layout("a ladder", int.from_bytes(b"dogn"), 4, _EVENTS + _VIEWS + _PRIVATE)
