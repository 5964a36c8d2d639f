"""A ladder with matches whose records, logs and faults are real, made without starting a process."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ladder.archive.archive import Archive
from ladder.facts.store import Store
from ladder.model.match import Match
from ladder.operation.home import Home
from ladder.play.running import count
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Outcome
from referee.records.record import RecordWriter, header
from referee.registry import shipped_board
from tests.ladder.made import CONDITION, GAME, next_matches
from tests.tables import Table

LOUD = "\x1b[2J\u202e"
"""It would clear the screen and reverse the text."""
FAULTY = "faulty"
"""The bot that is put out in each of its matches."""
LONG = "L" * 40
"""The longest name that a bot or an author may have."""


def played_ladder(folder: Path, matches: int) -> Home:
    """A ladder of five bots with matches that were played, and more that are scheduled."""
    home = Home(folder)
    home.make()
    with Store(home.database, create=True) as store:
        assert store.roster.condition(CONDITION.game, CONDITION.options, CONDITION.clock) == CONDITION
        for bot, author in {FAULTY: "ann", LONG: LONG, "good": "cat", "better": "dan", "best": "eve"}.items():
            version, _ = store.roster.add_version(bot, author, f"hash of {bot}", ["./bot"], [GAME.name])
            store.admission.qualify(version.id, CONDITION, passed=True, reason="")
            write_log(home, f"qualify-{version.id}-0")
        waiting: list[Match] = []
        for number in range(matches):
            waiting = waiting or next_matches(store, number)
            match = replace(waiting.pop(0), seed=number)  # the same in every run
            faulty = [seat for seat, version in enumerate(match.seats) if version.bot == FAULTY]
            play_really(home, store, match, dict.fromkeys(faulty, Fault(Outcome.CRASH, f"=crashed {LOUD}")))
    return home


def play_really(home: Home, store: Store, match: Match, faults: Mapping[int, Fault] | None = None) -> None:
    """Play a match by the rules, write its record and logs, and make it count.

    Each seat answers at random; those with faults first give two answers that are refused, then the fault puts them out.
    """
    plan = plan_of(match)
    table = Table(plan)
    chance = random.Random(match.seed)
    left = dict(faults or {})
    while table.match.result is None:
        seat = min(table.open)
        table.wait(chance.choice((0.0, 0.01, 0.2)))
        if seat in left and table.actions():
            table.answer(seat, 99999)
            table.answer(seat, 99999)
            table.fault(seat, left.pop(seat))
        else:
            table.answer(seat, chance.randrange(len(table.open[seat].actions)))
    path = home.record(match.match_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = RecordWriter(path)
    writer.append(header(plan), *table.lines)
    record_hash = writer.finish()
    with Archive(home.archive, create=True) as archive:
        archive.add(match.match_id, path.read_bytes(), logs_of(match))
    path.unlink()
    if match.block is not None:
        count(store, match, table.match.result, record_hash)


def logs_of(match: Match) -> dict[str, bytes]:
    """What each seat of a match wrote."""
    return {f"seat{seat}.log": _log(seat) for seat in range(len(match.seats))}


def write_log(home: Home, match_id: str) -> None:
    """Let the first seat of a match have written something."""
    with Archive(home.archive, create=True) as archive:
        archive.put_logs(match_id, {"seat0.log": _log(0)})


def _log(seat: int) -> bytes:
    return (f"first line of seat {seat}\n" + "thinking\n" * 60 + f"last {LOUD} line of seat {seat}\n").encode()


def plan_of(match: Match) -> MatchPlan:
    return MatchPlan(
        game=GAME,
        setup=GAME.setup(len(match.seats), match.condition.options, shipped_board(GAME)),
        match_id=match.match_id,
        seed=match.seed,
        bots=match.labels,
        control=TimeControl.parse(match.condition.clock),
        reveals_seed=match.block is None,
    )
