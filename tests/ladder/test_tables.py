"""What a table is made of: the eyes of a seat, the agent of a person, legal actions in words."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from house_bots.random_bot import RandomBot

from ladder.tables.choices import choices, in_common
from ladder.tables.following import Following
from ladder.tables.open_tables import MAX_VIEW_BYTES
from ladder.tables.person import REMARKS, Person
from ladder.tables.table_request import PERSON, TableRequest
from ladder.tables.view import Asking, Stage, TableSeat, View
from referee.game import Game, label
from referee.kit.chance import LiveChance
from referee.live.matches.play import House, MatchReport, play_match
from referee.match.effects import Decision, Withdrawal
from referee.match.plan import MatchPlan
from referee.match.result import Outcome
from referee.records.chain import FIRST_HASH, link
from referee.records.record import header
from referee.registry import find, games
from tests.commands.conftest import ROOT
from tests.tables import Table, plan_of
from tests.toy.games.sealed import GAME as SEALED

# --- the eyes of a seat -------------------------------------------------------------------------------


def find_sealed(name: str) -> Game:
    return SEALED if name == SEALED.name else find(name)


class Written:
    """A record that is still being written."""

    def __init__(self, folder: Path, plan: MatchPlan) -> None:
        self.path = folder / "record.jsonl"
        self._part = folder / "record.jsonl.0123.part"
        self._hash = FIRST_HASH
        self.write([header(plan)])

    def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
        with self._part.open("ab") as file:
            for data in lines:
                line, self._hash = link(self._hash, data)
                file.write(line + b"\n")

    def finish(self) -> None:
        self._part.rename(self.path)


@pytest.mark.parametrize("game", games())
def test_a_match_is_followed_while_it_is_played(game: str, tmp_path: Path) -> None:
    plan = plan_of(game, find(game).seat_counts.start + 1)
    table, written, dice = Table(plan), Written(tmp_path, plan), random.Random(1)
    written.write(table.lines)
    done = len(table.lines)
    following = Following(written.path, plan, find, 0)
    while table.match.result is None and len(table.actions()) < 200:
        seat = dice.choice(list(table.open))
        table.answer(seat, dice.randrange(len(table.open[seat].actions)))
        written.write(table.lines[done:])
        done = len(table.lines)
        following.read_on()
        assert following.viewpoint.seen == table.match.state.observation(0)
    at_once = Following(written.path, plan, find, 0)
    assert at_once.log == following.log
    assert at_once.viewpoint.draw() == following.viewpoint.draw()
    assert (following.replay.result is None) == (table.match.result is None)


def test_the_end_is_seen_whether_the_record_has_its_name_by_then_or_not(tmp_path: Path) -> None:
    plan = plan_of(SEALED)
    table, written = Table(plan), Written(tmp_path, plan)
    written.write(table.lines)
    early = Following(written.path, plan, find_sealed, 0)
    done = len(table.lines)
    table.play_out()
    written.write(table.lines[done:])
    early.read_on()
    written.finish()
    late = Following(written.path, plan, find_sealed, 1)
    assert early.replay.result == late.replay.result == table.match.result
    early.read_on()
    assert early.replay.result == late.replay.result


def test_what_another_seat_plans_in_secret_changes_nothing_that_this_one_is_shown(tmp_path: Path) -> None:
    def view_of(name: str, plans: Sequence[int]) -> tuple[object, ...]:
        plan = plan_of(SEALED)
        table = Table(plan)
        for choice in plans:
            table.answer(0, choice)
        (tmp_path / name).mkdir()
        written = Written(tmp_path / name, plan)
        written.write(table.lines)
        following = Following(written.path, plan, find_sealed, 1)
        return following.viewpoint.seen, following.viewpoint.draw(), following.log

    assert view_of("one", [0]) == view_of("two", [1]) == view_of("none", [])


# --- the seat of a person -----------------------------------------------------------------------------


async def played(person: Person, changed: asyncio.Event, clock: str, answer: Callable[[Decision], None]) -> MatchReport:
    """Play against a bot; `answer` is called with each new question."""
    plan = plan_of(find("cargo_noir"), options={"last_turn": 4}, clock=clock)
    match = asyncio.create_task(play_match(plan, [person, House(RandomBot)]))
    match.add_done_callback(lambda _: changed.set())
    last = 0
    while not match.done():
        await changed.wait()
        changed.clear()
        if person.question is not None and person.question.number > last:
            last = person.question.number
            answer(person.question)
    return match.result()


async def test_a_person_answers_each_decision_once_and_plays_to_the_end() -> None:
    changed = asyncio.Event()
    person = Person(changed.set)
    deadlines: list[float] = []

    def answer(question: Decision) -> None:
        person.choose(question.number + 1, 0)
        person.choose(question.number, len(question.actions))
        assert person.question is question, "what cannot be chosen is ignored"
        deadlines.append(question.deadline - time.monotonic())
        person.choose(question.number, 0)
        person.choose(question.number, 0)

    report = await played(person, changed, "600+5/600", answer)
    assert report.result.seats[0].outcome is Outcome.PLAYED
    assert len(deadlines) > 4
    assert all(0 < left < 610 for left in deadlines)
    assert (person.question, person.remark, person.is_out) == (None, "", False)


def test_the_time_of_a_person_begins_when_the_house_bots_have_moved() -> None:
    sent: list[tuple[int, int]] = []
    driver: Any = SimpleNamespace(sent=lambda seat, number: sent.append((seat, number)))
    decision: Any = SimpleNamespace(number=7, actions=[], deadline=12.5, bank=60.0, window=None)
    person = Person(lambda: None)
    person.begin(driver, 1)
    person.ask(decision)
    assert (sent, person.question) == ([], None)
    person.flush()
    person.flush()
    assert (sent, person.question) == ([(1, 7)], decision)


async def test_a_person_who_does_not_answer_reads_why_and_is_out_in_the_end() -> None:
    changed = asyncio.Event()
    person = Person(changed.set)
    remarks: list[str] = []
    late: list[Decision] = []

    def leave(question: Decision) -> None:
        remarks.append(person.remark)
        for old in late:
            person.choose(old.number, 0)  # too late: another decision is open
        late.append(question)

    report = await played(person, changed, "0+0.05/0.05", leave)
    assert remarks[0] == ""
    assert set(remarks[1:]) == {REMARKS[Withdrawal.TIMEOUT]}
    assert person.is_out
    assert person.question is None
    assert report.result.seats[0].outcome is Outcome.TIMEOUT


async def test_an_answer_to_another_decision_than_the_open_one_makes_nothing_old_news(tmp_path: Path) -> None:
    """As when the time for the decision runs out while the answer is on its way."""
    request = TableRequest("cargo_noir", ("greedy", PERSON), {"first_player": 0}, "0+2/2")
    order = {"request": asdict(request), "folder": str(tmp_path / "match"), "table": "table", "orders": {}}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "ladder.tables.process"),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=MAX_VIEW_BYTES,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    view = View(Stage.LAID, request.game, request.seat, request.clock)
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        while view.asking is None:
            view = View.from_json(await process.stdout.readline())
        process.stdin.write(json.dumps({"decision": view.asking.number + 100, "index": 0}).encode() + b"\n")
        while not view.remark:
            view = View.from_json(await process.stdout.readline())
    finally:
        process.kill()
        await process.wait()
    assert view.log[0].step == view.new_from == 1


# --- legal actions in words ---------------------------------------------------------------------------


@pytest.mark.parametrize("game", games())
def test_every_legal_action_is_offered_once_in_words_of_its_own(game: str) -> None:
    chosen = find(game)
    plan = plan_of(game, chosen.seat_counts.start)
    setup, chance, dice = plan.setup, LiveChance(2), random.Random(2)
    state = chosen.start(setup, chance)
    for step in range(400):
        if state.is_over():
            break
        seat = dice.choice(state.seats_to_act())
        legal = state.legal_actions(seat)
        if len(legal) > 1 and step % 4 == 0:
            groups = choices(chosen, setup, state.observation(seat), seat, plan.bots, legal)
            offered = sorted((choice for group in groups for choice in group.choices), key=lambda one: one.index)
            assert [choice.label for choice in offered] == [label(action) for action in legal]
            assert [choice.index for choice in offered] == list(range(len(legal)))
            words = [choice.words for choice in offered]
            assert all(words)
            assert len(set(words)) == len(words), words
            assert len({group.name for group in groups}) == len(groups)
        state.apply(seat, dice.choice(legal), chance)


def test_of_what_chance_decides_only_the_beginning_is_said() -> None:
    assert in_common(["draws: 1 gold", "draws: 1 art"]) == "draws"
    assert in_common(["sells 1 copper for 3 pesos", "sells 1 copper for 3 pesos"]) == "sells 1 copper for 3 pesos"
    assert in_common(["goes home, with 2", "goes home, with 3"]) == "goes home"
    assert in_common(["takes 12 coins", "takes 13 coins"]) == "takes"
    assert in_common(["a", "b"]) == ""


def test_a_view_comes_over_the_pipe_as_it_was() -> None:
    view = View(
        Stage.DECIDES,
        "toy",
        1,
        "60+0/10",
        picture="<svg>\u2212</svg>",
        seats=[TableSeat(0, "greedy", 3, 1, acts=True, is_out=False)],
        asking=Asking(3, "ab", [], 12.5, 60.0, is_shared=False),
    )
    assert View.from_json(view.to_json()) == view
    assert b"\n" not in view.to_json()


def test_a_reason_that_names_a_file_with_no_utf_8_name_arrives_with_escapes() -> None:
    view = View(Stage.VOID, "yunnan", 0, "60+0.5/10", why_void="/home/\udcff/record.jsonl: No space left")
    assert View.from_json(view.to_json()).why_void == r"/home/\udcff/record.jsonl: No space left"
