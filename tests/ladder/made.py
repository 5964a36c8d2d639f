"""Ladders that are made for a test, without playing."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ladder.facts.rebuilt import Rebuilt
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Match
from ladder.play.blocks import Blocks
from ladder.play.running import count
from referee.match.result import Outcome, Result, SeatResult
from referee.registry import find

GAME = find("cargo_noir")
CONDITION = Condition(1, GAME.name, {}, "60+0.5/10")
OTHER = Condition(2, GAME.name, {"last_turn": 2}, "60+0.5/10")


def ladder(path: Path, bots: int = 5) -> Store:
    """A ladder with bots that have qualified under two conditions."""
    store = Store(path / "ladder.db", create=True)
    assert [store.roster.condition(one.game, one.options, one.clock) for one in (CONDITION, OTHER)] == [
        CONDITION,
        OTHER,
    ]
    for number in range(bots):
        version, _ = store.roster.add_version(
            f"bot{number}", f"author{number}", f"hash{number}", ["./bot"], [GAME.name]
        )
        for condition in (CONDITION, OTHER):
            store.admission.qualify(version.id, condition, passed=True, reason="")
    return store


def result_of(
    match: Match, ranks: Sequence[int], *, outs: frozenset[int] = frozenset(), digest: str | None = None
) -> Result:
    """The result of a match with these places, in which some seats were out."""
    return Result(
        seats=tuple(
            SeatResult(
                seat=seat,
                bot=version.label,
                rank=ranks[seat],
                score=10 - ranks[seat],
                outcome=Outcome.CRASH if seat in outs else Outcome.PLAYED,
                decisions=5,
                think_seconds=0.5,
                wall_seconds=0.5,
                lag_seconds=0.0,
                detail="it crashed" if seat in outs else "",
            )
            for seat, version in enumerate(match.seats)
        ),
        decisions=5 * len(match.seats),
        digest=match.match_id if digest is None else digest,
        seed=match.seed,
    )


def counted_steps(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], int]:
    """Gives how many steps SQLite takes for something, on all connections that it opens."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    connect = sqlite3.connect

    def connect_counting(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.set_progress_handler(step, 1)
        return connection

    def counted(action: Callable[[], object]) -> int:
        before = steps
        action()
        return steps - before

    monkeypatch.setattr(sqlite3, "connect", connect_counting)
    return counted


def be_impatient(store: Store) -> None:
    """Let transactions not wait for those of others."""
    store.file.db.execute("pragma busy_timeout = 0").close()


def next_matches(store: Store, seed: int = 0, condition: Condition = CONDITION) -> list[Match]:
    """Schedule a block."""
    return Blocks(store, condition, list(GAME.seat_counts)).add(seed)


def play(store: Store, match: Match, chance: random.Random) -> bool:
    """Make a match count, with places that are drawn."""
    ranks = list(range(1, len(match.seats) + 1))
    chance.shuffle(ranks)
    return count(store, match, result_of(match, ranks), f"record of {match.match_id}")


def differences(store: Store) -> list[str]:
    """What a ladder has that does not follow from its events; they must follow from each other."""
    with Rebuilt(store.file) as rebuilt, store.reading():
        rebuilt.take_events()
        return list(rebuilt.differences())
