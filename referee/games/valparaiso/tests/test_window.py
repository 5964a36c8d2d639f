"""The sand timer of the expert game (RULES.md, V2.8) on the referee's clock: one that the test moves, and once the real one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from house_bots.random_bot import RandomBot

from referee.game import Action
from referee.games.valparaiso import GAME
from referee.games.valparaiso.actions import COMMIT, PLACES
from referee.games.valparaiso.names import Card
from referee.games.valparaiso.tests.table import place
from referee.live.matches.play import Command, House
from referee.match.effects import Withdraw, Withdrawal
from referee.match.result import Fault, Outcome
from referee.records.verify import verify
from referee.registry import find
from tests import matches
from tests.tables import Table, plan_of

ROOT = Path(__file__).resolve().parents[4]
EXPERT = {"expert_timer": True}
PLAN: list[Action] = [PLACES[Card.K2], COMMIT]


def planning(seats: int = 3, clock: str = "600+0/600", **options: object) -> Table:
    """All seats plan, and time stands still until the test advances it."""
    chosen = {**EXPERT, **options}
    position = place(seats, phase="PLAN", options=chosen).to_json()
    fixed = {"start_player": 0, "colours": "+".join(["red", "blue", "yellow", "green", "black"][:seats])}
    return Table(plan_of(GAME, seats, clock=clock, options={**fixed, **chosen}, position=position))


def played(table: Table, seat: int) -> list[tuple[str, str]]:
    """The actions played for a seat, with the origin of each."""
    return [(line["action"], line["by"]) for line in table.actions() if line["seat"] == seat]


def test_v2_8_the_first_to_finish_starts_the_timer_for_all_others() -> None:
    table = planning()
    table.wait(100)
    table.answer(1, PLAN)
    assert table.open[0].window_deadline == table.open[2].window_deadline == table.now + 65


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(64.999, ("commit", "agent")), (65.0, ("commit", "agent")), (65.001, ("close", "clock"))],
)
def test_v2_8_a_plan_counts_until_exactly_the_end_of_the_countdown(seconds: float, expected: tuple[str, str]) -> None:
    table = planning(2)
    table.answer(0, PLAN)
    table.now += seconds
    table.answer(1, PLAN, table.open[1].number)
    assert played(table, 1)[-1] == expected


def test_v2_8_what_lies_in_the_slots_when_time_is_up_counts() -> None:
    table = planning(2)
    table.answer(0, PLAN)
    table.answer(1, [PLACES[Card.K7], PLACES[Card.K1]])
    table.wait(65.001)
    assert played(table, 1) == [("place(k7)", "agent"), ("place(k1)", "agent"), ("close", "clock")]
    assert {effect.reason for effect in table.said(Withdraw)} == {Withdrawal.WINDOW}
    assert table.match.strikes(1) == 0
    table.answer(0, 0)  # the bonus, before the plans are revealed
    assert [len(plan.cards) for plan in table.match.state.plans] == [1, 2]  # type: ignore[attr-defined]


def test_v2_8_two_who_finish_together_are_both_in_time_and_the_log_says_who_was_first() -> None:
    table = planning()
    table.answer(2, PLAN)
    table.answer(0, PLAN)
    table.now += 65
    table.answer(1, PLAN)
    assert table.match.state.first_finisher == 2  # type: ignore[attr-defined]
    assert [line["by"] for line in table.actions()] == ["agent"] * 6
    assert list(table.open) == [2]


def test_v2_8_a_silent_seat_is_closed_and_plays_on_in_the_next_round() -> None:
    table = planning()
    table.answer(0, PLAN)
    table.answer(2, PLAN)
    table.wait(65.001)
    assert played(table, 1) == [("close", "clock")]
    assert table.match.strikes(1) == 0
    table.answer(0, 0)
    table.answer(0, 0)
    table.answer(2, 0)
    assert 1 in table.open


def test_v2_8_a_seat_that_crashes_inside_the_window_is_closed_and_the_others_plan_on() -> None:
    table = planning()
    table.answer(0, PLAN)
    table.fault(1, Fault(Outcome.CRASH, "exited with status 1"))
    assert played(table, 1) == [("close", "default")]
    table.now += 1
    table.answer(2, PLAN)
    assert played(table, 2)[-1] == ("commit", "agent")


def test_v2_8_a_seat_that_is_out_never_starts_the_timer() -> None:
    table = planning()
    table.fault(1, Fault(Outcome.CRASH, "exited with status 1"))
    assert table.match.state.window() is None
    table.wait(300)
    assert 0 in table.open


def test_v2_8_ones_own_clock_runs_on_inside_the_window_and_closes_without_a_bonus() -> None:
    table = planning(2, clock="0+20/20")
    table.answer(0, PLAN)
    table.wait(20.001)
    assert played(table, 1) == [("close", "clock")]
    assert table.match.strikes(1) == 1
    alone = planning(2, clock="0+20/20")
    alone.wait(20.001)
    assert played(alone, 0) == played(alone, 1) == [("close", "clock")]
    assert alone.match.state.first_finisher < 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("seats", [2, 5])
def test_v2_8_house_bots_that_are_overtaken_by_the_timer_are_asked_again(seats: int) -> None:
    plan = plan_of(GAME, seats, options={**EXPERT, "max_rounds": 4})
    result = matches.play(plan, [House(RandomBot)] * seats).result
    assert [seat.outcome for seat in result.seats] == [Outcome.PLAYED] * seats


SLOW = """
import time
from dogana.sdk import play
slept = False
def choose(decision):
    global slept
    if "commit" in decision.labels and not slept:
        slept = True
        time.sleep(4)
    return 0
play(choose, labels=True)
"""

QUICK = """
from dogana.sdk import play
play(lambda decision: list(decision.labels).index("commit") if "commit" in decision.labels else 0, labels=True)
"""


@pytest.mark.long
def test_v2_8_for_real_the_slow_are_closed_and_the_record_needs_no_clock(tmp_path: Path) -> None:
    options = {**EXPERT, "timer_seconds": 1, "countdown_seconds": 0, "max_rounds": 2}
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "quick.py").write_text(QUICK)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    bots = [Command([sys.executable, name], environment, tmp_path) for name in ("quick.py", "slow.py")]
    path = tmp_path / "match.jsonl"
    result = matches.play(plan_of(GAME, 3, options=options), [*bots, House(RandomBot)], record=path).result
    assert [seat.outcome for seat in result.seats] == [Outcome.PLAYED] * 3
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    closed = [line for line in lines if line.get("seat") == 1 and line.get("action") == "close"]
    assert closed[0]["by"] == "clock"
    assert any(line.get("action", "").startswith("bonus(") for line in lines)
    assert verify(path, find).result.digest == result.digest
