"""Decisions that are parts of a larger one (`State.part_of`): what an expired one takes with it, in play and in verification.

Venezia, section 5: an expired decision gets its default; only an expired planning decision completes its plan.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.game import State
from referee.games.venezia import GAME as VENEZIA
from referee.games.venezia.state import VeneziaState
from referee.games.venezia.tests.table import place
from referee.records.record import RecordError, header
from referee.records.verify import verify
from referee.registry import find
from tests.referee.test_records import chained
from tests.tables import Table, plan_of

ROUND_2: dict[str, State] = {
    "HOME": place(phase="HOME", round=1, seat=1, home=["can", None]),
    "MOVE": place(phase="MOVE", seat=1, piazza={"c3": 1, "e5": 1}, reserve=[12, 10]),
    "MICHELE": place(phase="MICHELE", seat=0, cemetery=[1, 0], reserve=[11, 12]),
}
"""The last decision before the seats plan."""


def table_of(state: State) -> Table:
    return Table(plan_of(VENEZIA, 2, clock="0+10/10", options=state.setup.options, position=state.to_json()))


def planning() -> Table:
    return table_of(place(phase="PLAN"))


def finish_plan(table: Table, seat: int) -> None:
    plan = len(table.actions())
    while seat in table.open and table.match.state.to_json()["phase"] == "PLAN":
        done = [action for action in table.open[seat].actions if str(action).startswith("Done")]
        table.answer(seat, done or 0)
    assert len(table.actions()) > plan


def by_clock(table: Table) -> list[tuple[int, str]]:
    return [(line["seat"], line["action"]) for line in table.actions() if line["by"] == "clock"]


def record_of(table: Table, folder: Path) -> Path:
    """The record of the match, played to its end."""
    if table.match.result is None:
        table.play_out()
    return table.record(folder / "match.jsonl")


@pytest.mark.parametrize("phase", ROUND_2)
def test_an_expired_decision_does_not_take_the_plan_that_comes_next(phase: str, tmp_path: Path) -> None:
    table = table_of(ROUND_2[phase])
    [seat] = table.open
    default = table.match.state.default_action(seat)
    assert table.match.state.to_json()["phase"] == phase
    table.wait(10.1)
    assert [line["by"] for line in table.actions()] == ["clock"]
    assert type(default).__name__.lower() in table.actions()[0]["action"]
    assert table.match.state.to_json()["phase"] == "PLAN"
    assert sorted(table.open) == [0, 1]
    assert verify(record_of(table, tmp_path), find).result.digest


def test_an_expired_planning_decision_completes_its_plan(tmp_path: Path) -> None:
    table = planning()
    table.answer(0, 0)
    finish_plan(table, 1)
    before = len(table.actions())
    table.wait(10.1)
    completed = [line["action"] for line in table.actions()[before:]]
    assert by_clock(table) == [(0, "card(none)"), (0, "done"), (0, "count(0)")]
    assert completed[:3] == ["card(none)", "done", "count(0)"]
    assert table.match.strikes(0) == 1
    assert verify(record_of(table, tmp_path), find).result.digest


def test_an_expired_plan_does_not_take_the_decision_that_comes_after_it(tmp_path: Path) -> None:
    table = table_of(place(phase="PLAN", piazza={"c3": 0, "e5": 0}, reserve=[10, 12]))
    finish_plan(table, 1)
    table.wait(10.1)
    assert by_clock(table)[-1] == (0, "count(0)")
    assert list(table.open) == [0]
    assert table.match.state.to_json()["phase"] == "MOVE"
    assert verify(record_of(table, tmp_path), find).result.digest


def test_two_expired_plans_are_completed_each_for_itself(tmp_path: Path) -> None:
    table = planning()
    table.answer(0, 0)
    table.wait(10.1)
    assert [seat for seat, _ in by_clock(table)] == [0] * 3 + [1] * 4
    assert [table.match.strikes(seat) for seat in (0, 1)] == [1, 1]
    assert verify(record_of(table, tmp_path), find).result.digest


def lines_of(table: Table, folder: Path) -> list[dict[str, Any]]:
    record_of(table, folder)
    return [header(table.match.plan), *table.lines]


@pytest.mark.parametrize("phase", ROUND_2)
def test_verification_refuses_a_clock_that_goes_on_into_the_next_plan(phase: str, tmp_path: Path) -> None:
    table = table_of(ROUND_2[phase])
    table.wait(10.1)
    [seat] = {line["seat"] for line in table.actions()}
    table.answer(seat, [table.match.state.default_action(seat)])
    lines = lines_of(table, tmp_path)
    second = [line for line in lines if line["type"] == "action"][1]
    assert (second["seat"], second["by"]) == (seat, "agent")
    second["by"] = "clock"
    (tmp_path / "forged.jsonl").write_bytes(chained(lines))
    with pytest.raises(RecordError, match=f"the time of seat {seat} had not run out"):
        verify(tmp_path / "forged.jsonl", find)


def test_verification_refuses_an_agent_that_goes_on_with_an_expired_plan(tmp_path: Path) -> None:
    table = planning()
    finish_plan(table, 1)
    table.wait(10.1)
    lines = lines_of(table, tmp_path)
    clock = [line for line in lines if line.get("by") == "clock"]
    clock[1]["by"] = "agent"
    (tmp_path / "forged.jsonl").write_bytes(chained(lines))
    with pytest.raises(RecordError, match="the time of seat 0 ran out, but agent decided"):
        verify(tmp_path / "forged.jsonl", find)


def test_all_steps_of_a_plan_have_one_name_and_no_two_plans_share_it() -> None:
    state = place(phase="PLAN", round=2)
    assert isinstance(state, VeneziaState)
    assert {state.part_of(seat) for seat in (0, 1)} == {"plan 2"}
    assert place(phase="PLAN", round=3).part_of(0) == "plan 3"
    assert {position.part_of(0) for position in ROUND_2.values()} == {""}
