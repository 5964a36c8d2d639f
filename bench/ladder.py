"""Ladders with a long history, and the steps that a run performs on them between matches."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from hashlib import blake2b
from itertools import cycle
from pathlib import Path
from time import process_time
from unittest.mock import patch

from ladder.facts.entries import append
from ladder.facts.fitted import fitted
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.standings import standings, statuses
from ladder.facts.store import Store
from ladder.model import rating
from ladder.model.condition import Condition
from ladder.model.match import Match
from ladder.model.rating import Rating
from ladder.model.schedule import rotations
from ladder.play.blocks import Blocks
from ladder.play.running import count
from referee.kit.chance import commitment
from referee.match.result import Outcome, Result, SeatResult
from referee.registry import find, games

VERSIONS = 52
CLOCK = "60+0.5/10"
_SEED = 1
"""The seed of each block."""


def name_of(number: int) -> str:
    """Return the id of the n-th scheduled match, counted from 1, on a ladder made by `make`."""
    return blake2b(b"%d" % number, digest_size=8).hexdigest()


def make(folder: Path, matches: int, versions: int = VERSIONS) -> Store:
    """Make a ladder by adding the events of its matches, one in a hundred of which is given up.

    Every version except the first was out in about one in a hundred of its matches. Ratings are drawn at random: inferring them
    would take most of the time.
    """
    game = next(iter(games().values()))
    path = folder / f"{matches}" / "ladder.db"
    path.parent.mkdir()
    with Store(path, create=True) as store:
        condition = store.roster.condition(game.name, {}, CLOCK)
        for number in range(versions):
            version, _ = store.roster.add_version(
                f"bot{number}", f"author{number}", f"{number}", ["./bot"], [game.name]
            )
            store.admission.qualify(version.id, condition, passed=True, reason="")
    chance = random.Random(matches)

    def drawn(ratings: Sequence[Rating], _: Sequence[int]) -> list[Rating]:
        return [Rating(chance.gauss(25, 6), 1 + chance.random()) for _ in ratings]

    with closing(sqlite3.connect(path, isolation_level=None)) as connection, patch.object(rating, "update", drawn):
        connection.execute("pragma synchronous = off")  # a ladder that is damaged by a crash is made again
        connection.execute("pragma cache_size = -1000000")  # otherwise a million matches take hours
        connection.execute("begin")
        _add_blocks(connection, condition, matches, versions, chance)
        connection.execute("commit")
    return Store(path, create=False)


def _add_blocks(
    connection: sqlite3.Connection, condition: Condition, matches: int, versions: int, chance: random.Random
) -> None:
    """Add blocks with all numbers of seats in turn until there are enough matches."""
    seat_counts = find(condition.game).seat_counts
    sizes = cycle(seat_counts)
    block = made = last_out = 0
    # The second condition ensures that the next block has the same number of seats on every ladder.
    while made < matches or block % len(seat_counts):
        block, seats = block + 1, next(sizes)
        tables = list(rotations(chance.sample(range(versions), seats)))
        names = [name_of(made + 1 + number) for number in range(seats)]
        planned = [
            {"match": name, "seed_commitment": commitment(name, _SEED), "seats": [f"bot{one} v1" for one in table]}
            for name, table in zip(names, tables, strict=True)
        ]
        drawn = {"guests": False, "round": 0, "schedule_seed": 0, "due": {}}
        append(connection, "block", {"block": block, **condition.fields, **drawn, "matches": planned})
        for name, table in zip(names, tables, strict=True):
            made += 1
            out = made >= last_out + 25 and made % 100 != 0 and table[-1] != 0  # the first version is never out
            last_out = made if out else last_out
            _end_match(connection, name, len(table), out=out, given_up=made % 100 == 0)
        append(connection, "seed", {"block": block, "seed": _SEED})


def _end_match(connection: sqlite3.Connection, name: str, seats: int, *, out: bool, given_up: bool) -> None:
    if given_up:
        for attempt in range(1, MAX_VOIDS + 1):
            end = {"match": name, "attempt": attempt, "given_up": attempt == MAX_VOIDS, "reason": "the worker died"}
            append(connection, "void", end)
        return
    append(
        connection,
        "result",
        {
            "match": name,
            "record": "",
            "digest": name,
            "all_decisions": 100,
            "ranks": list(range(1, seats + 1)),
            "scores": [0] * seats,
            "outcomes": ["played"] * (seats - 1) + ["crash" if out else "played"],
            "decisions": [20] * seats,
            "think_ms": [1.0] * seats,
            "details": [""] * seats,
        },
    )
    connection.execute("insert into telemetry (match, seat, key, count, total) values (?, 0, 'nodes', 9, 9)", [name])


def _result(match: Match) -> Result:
    """Return a result in which the seats are ranked in the order of their numbers."""
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
    """Yield the processor seconds of each step, round by round; each round schedules a block and counts its matches."""
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
            "statuses": _timed(lambda: statuses(store, condition)),
        }
        fitted(store, condition)  # stores the fit for the next readers
        took["standings"] = _timed(lambda: standings(store, condition))
        matches.clear()
        yield took


def _timed(step: Callable[[], object]) -> float:
    start = process_time()
    step()
    return process_time() - start
