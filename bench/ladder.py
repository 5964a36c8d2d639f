"""Ladders with a long history, and what a run does between matches there.

The history is made with SQL, and the tallies are derived from it as `dogana ladder recompute --repair` derives them.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import cycle
from pathlib import Path
from time import process_time

from sqlite_utils import Database

from ladder.facts.entries import note
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.standings import standings
from ladder.facts.store import Store
from ladder.facts.tallies import DERIVED, derive
from ladder.model.match import Match
from ladder.model.schedule import rotations
from ladder.play.blocks import Blocks
from ladder.play.running import count
from referee.match.result import Outcome, Result, SeatResult
from referee.registry import find, games

VERSIONS = 52
CLOCK = "60+0.5/10"


def name_of(number: int) -> str:
    """Return the id of the match that was scheduled as this one of a ladder that is made here, from 1."""
    return blake2b(b"%d" % number, digest_size=8).hexdigest()


def make(folder: Path, matches: int, versions: int = VERSIONS) -> Store:
    """Make a ladder with a history of matches, one in a hundred of them given up, and all of it in its audit log.

    All versions but the first were out in one of a hundred matches.
    """
    game = next(iter(games().values()))
    path = folder / f"{matches}" / "ladder.db"
    path.parent.mkdir()
    with Store(path, create=True) as store:
        for number in range(versions):
            version, _ = store.roster.add_version(
                f"bot{number}", f"author{number}", f"{number}", ["./bot"], [game.name]
            )
            store.admission.qualify(version.id, store.roster.condition(game.name, {}, CLOCK), passed=True, reason="")
    connection = sqlite3.connect(path)
    connection.execute("pragma synchronous = off")
    connection.execute("pragma cache_size = -1000000")  # else a million matches take hours
    chance = random.Random(matches)
    sizes = cycle(game.seat_counts)
    block = made = 0
    while made < matches or block % len(game.seat_counts):  # both ladders are about to play as many seats
        block, seats = block + 1, next(sizes)
        connection.execute(
            """
            insert into blocks
                (id, condition, seats, seed, guests, round, schedule_seed, after_number, created_at, sealed_at)
            values (?, 1, ?, 1, 0, 0, 0, 0, '', '')
            """,
            [block, seats],
        )
        for rotation, table in enumerate(rotations(chance.sample(range(1, versions + 1), seats))):
            made += 1
            out = len(table) - 1 if made % 25 == 0 and table[-1] != 1 else None
            _add_match(connection, name_of(made), block, rotation, table, out, given_up=made % 100 == 0)
            seated = sorted(table)
        connection.executemany(
            "insert into block_ratings (version, condition, block, mu, sigma) values (?, 1, ?, ?, ?)",
            ((version, block, chance.gauss(25, 6), 1 + chance.random()) for version in seated),
        )
    connection.executemany(
        "insert into ratings (condition, version, mu, sigma) values (1, ?, ?, ?)",
        ((version, chance.gauss(25, 6), 1 + chance.random()) for version in range(1, versions + 1)),
    )
    db = Database(connection)
    for table_name in DERIVED:
        derive(db, table_name)
    for kind, facts in {
        "block": "select id from blocks",
        "result": "select number from results",
        "void": "select rowid from voids",
        "seed": "select id from blocks",
    }.items():
        for [fact] in connection.execute(f"{facts} order by 1").fetchall():
            note(db, kind, fact)
    connection.commit()
    connection.close()
    return Store(path, create=False)


def _add_match(
    connection: sqlite3.Connection,
    match_id: str,
    block: int,
    rotation: int,
    versions: list[int],
    out: int | None,
    *,
    given_up: bool,
) -> None:
    connection.execute("insert into matches (id, block, rotation) values (?, ?, ?)", [match_id, block, rotation])
    connection.executemany(
        "insert into seats (match, seat, version) values (?, ?, ?)",
        ((match_id, seat, version) for seat, version in enumerate(versions)),
    )
    if given_up:
        connection.executemany(
            "insert into voids (match, reason, at) values (?, 'the worker died', '')", [[match_id]] * MAX_VOIDS
        )
        return
    connection.execute(
        "insert into results (match, digest, record_hash, decisions, finished_at) values (?, ?, '', 100, '')",
        [match_id, match_id],
    )
    connection.executemany(
        """
        insert into seat_results (match, seat, rank, score, outcome, decisions, think_ms, detail)
        values (?, ?, ?, 0, ?, 20, 1.0, '')
        """,
        ((match_id, seat, 1 + seat, "crash" if seat == out else "played") for seat in range(len(versions))),
    )
    connection.execute(
        "insert into telemetry (match, seat, key, count, total) values (?, 0, 'nodes', 9, 9)", [match_id]
    )


def _result(match: Match) -> Result:
    """Return a result in which the seats come in by their number."""
    seats = tuple(
        SeatResult(
            seat=seat,
            bot=version.label,
            rank=1 + seat,
            score=0,
            outcome=Outcome.PLAYED,
            decisions=20,
            think_seconds=0.001,
            wall_seconds=0.001,
            lag_seconds=0.0,
            detail="",
        )
        for seat, version in enumerate(match.seats)
    )
    return Result(seats=seats, decisions=100, digest=match.match_id, seed=match.seed)


def measure(store: Store, rounds: int) -> Iterator[dict[str, float]]:
    """Yield the seconds of CPU that each step takes, a round at a time; each round schedules a block and plays it."""
    condition = store.roster.conditions()[1]
    blocks = Blocks(store, condition, list(find(condition.game).seat_counts))
    matches: list[Match] = []

    def count_all() -> None:
        for match in matches:
            count(store, match, _result(match), "hash")
            blocks.touch(match.versions)

    for seed in range(rounds):
        took = {
            "schedule a block": _timed(
                lambda: matches.extend(blocks.add(seed))  # noqa: B023
            ),
            "count its matches": _timed(count_all),
            "standings": _timed(lambda: standings(store, condition)),
        }
        matches.clear()
        yield took


def _timed(step: Callable[[], object]) -> float:
    start = process_time()
    step()
    return process_time() - start
