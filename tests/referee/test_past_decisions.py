"""The decisions of a record, made again: the same bytes as in the match, whatever happened in it (`referee/records/past_decisions.py`)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dogana.v1 import referee_pb2 as pb
from referee.game import Action, Game, IllegalAction, Seat, State
from referee.kit.chance import FastChance
from referee.live.messages import wire
from referee.live.messages.codec import codec
from referee.match.clock import TRANSIT_SECONDS, TimeControl
from referee.match.effects import Ask, Decision, Effect
from referee.match.judging import Unreadable
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Outcome
from referee.records.past_decisions import DecisionEnd, PastDecision, past_decisions
from referee.records.record import RecordError
from referee.registry import find, games
from tests.cases import mostly_long
from tests.tables import Table, plan_of, random_setup
from tests.toy.games.sealed import GAME as SEALED
from tests.toy.games.sealed import SealedState

CLOCK = "60+0.5/10"


def found(name: str) -> Game:
    return SEALED if name == SEALED.name else find(name)


def sent(table: Table, decision: Decision) -> pb.Decide:
    """What the seat is sent for a decision, parsed."""
    data = wire.decide(codec(table.match.plan.game), decision, True, decision.sent_at)
    return pb.RefereeMessage.FromString(data).decide


class Noting(Table):
    """A table that notes every question as it is sent."""

    def __init__(self, plan: MatchPlan, absent: dict[Seat, Fault] | None = None) -> None:
        self.sent: dict[Seat, list[pb.Decide]] = {seat: [] for seat in range(plan.setup.seats)}
        super().__init__(plan, absent, transit=TRANSIT_SECONDS)

    def take(self, effects: list[Effect]) -> list[Effect]:
        for effect in effects:
            if isinstance(effect, Ask):
                self.sent[effect.decision.seat].append(sent(self, effect.decision))
        return super().take(effects)


def without_times(message: pb.Decide) -> bytes:
    """The bytes of a question without its clock, and without what a record does not tell of the last answer."""
    bare = pb.Decide()
    bare.CopyFrom(message)
    bare.ClearField("clock")
    bare.ClearField("dropped")
    return bare.SerializeToString(deterministic=True)


def row(dice: random.Random, state: State, seat: Seat, legal: Sequence[Action], most: int) -> list[Action]:
    """At most so many actions in a row, of which the first is legal; a later one may be dropped."""
    actions = [dice.choice(legal)]
    ahead = state.clone()
    for _ in range(dice.randrange(most)):
        try:
            ahead.apply(seat, actions[-1], FastChance(0))
        except IllegalAction:  # it is not legal any more: it stays in the answer, and is dropped
            break
        if ahead.is_over() or seat not in ahead.seats_to_act():
            break
        actions.append(dice.choice(ahead.legal_actions(seat)))
    return actions


def rough(plan: MatchPlan, dice: random.Random, trouble: float, most: int = 4) -> Noting:
    """A match in which everything happens that can happen, the more often the more `trouble`."""
    absent = {0: Fault(Outcome.START, "did not join")} if dice.random() < trouble else {}
    table = Noting(plan, absent)
    while table.match.result is None:
        pass_time(table, dice.random() * 0.2)
        waiting = [seat for seat in table.open if table.match.is_deciding(seat)]
        if not waiting:
            break
        seat = dice.choice(waiting)
        if dice.random() < trouble:
            make_trouble(table, dice, seat)
            continue
        decision = table.open[seat]
        waited = dice.random() * min(0.05, table.now - decision.sent_at)
        table.match.lagged(dice.random() * 0.01, table.now)
        table.answer(seat, row(dice, table.match.state, seat, decision.actions, most), waited=waited)
    return table


def pass_time(table: Table, seconds: float) -> None:
    """Let time pass in small steps, so that no deadline is missed by more than an answer may be late."""
    end = table.now + seconds
    while table.match.result is None and table.now < end:
        table.wait(min(0.05, end - table.now + 0.001))


def make_trouble(table: Table, dice: random.Random, seat: Seat) -> None:
    match dice.randrange(5):
        case 0:
            table.answer(seat, 10_000)
        case 1:
            table.answer(seat, Unreadable("no answer at all"))
        case 2:
            pass_time(table, dice.random() * 12)
        case 3:
            table.fault(seat, Fault(dice.choice([Outcome.CRASH, Outcome.DISCONNECT]), "gone"))
        case _:
            table.match.lost(seat)
            pass_time(table, 12)


def check(table: Noting, path: Path) -> list[PastDecision]:
    """Compare what was sent to each seat with what is made from the record; return all of it."""
    everything = []
    for seat in range(table.match.plan.setup.seats):
        record, decisions = past_decisions(path, found, seat)
        again = [sent(table, one.question) for one in decisions]
        assert [without_times(message) for message in again] == [without_times(one) for one in table.sent[seat]]
        for ours, theirs in zip(again, table.sent[seat], strict=True):
            for name in ("bank_ms", "charged_ms", "wall_ms", "lag_ms"):
                assert getattr(ours.clock, name) == pytest.approx(getattr(theirs.clock, name), abs=0.1), name
            if not theirs.clock.HasField("window_ms"):
                assert ours.clock.budget_ms == pytest.approx(theirs.clock.budget_ms, abs=0.1)
            assert ours.clock.HasField("window_ms") == theirs.clock.HasField("window_ms")
        assert record.result is not None
        thought = sum(one.seconds or 0.0 for one in decisions)
        assert thought == pytest.approx(record.result.seats[seat].think_seconds, abs=1e-6)
        everything += decisions
    return everything


def rough_plan(game: Game, dice: random.Random, **options: object) -> MatchPlan:
    """A plan of a game with drawn options, of which some are given."""
    setup = random_setup(game, dice)
    setup = game.setup(setup.seats, {**setup.options, **options}, setup.board_data)
    return MatchPlan(game, setup, "rough", dice.randrange(1 << 60), [""] * setup.seats, TimeControl.parse(CLOCK))


@pytest.mark.parametrize("trouble", [0.03, 0.25])
@pytest.mark.parametrize("game", mostly_long(games(), 2))
def test_every_question_is_made_again_as_it_was_sent(game: str, trouble: float, tmp_path: Path) -> None:
    dice = random.Random(f"{game} {trouble}")
    table = rough(rough_plan(find(game), dice), dice, trouble)
    check(table, table.record(tmp_path / "match.jsonl"))


def test_questions_under_a_sand_timer_are_made_again(tmp_path: Path) -> None:
    dice = random.Random("timer 0.03")
    table = rough(rough_plan(find("valparaiso"), dice, expert_timer=True, timer_seconds=1), dice, 0.03)
    decisions = check(table, table.record(tmp_path / "match.jsonl"))
    assert any(one.ending is DecisionEnd.WINDOW for one in decisions)


def test_whatever_can_happen_to_a_question_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the toy game, where all seats plan at once; in most of the matches they overtake each other."""
    legal = SealedState.legal_actions
    commits = 0

    def fewer_after_commits(state: SealedState, seat: Seat) -> list[Action]:
        return legal(state, seat)[-2:] if sum(state.committed) >= commits else legal(state, seat)

    everything: list[PastDecision] = []
    for seed in range(40):
        dice = random.Random(f"sealed {seed}")
        with monkeypatch.context() as patch:
            commits = seed % 3
            if commits:
                patch.setattr(SealedState, "legal_actions", fewer_after_commits)
            plan = rough_plan(SEALED, dice, timer=dice.choice(["off", 1, 5, 20]))
            table = rough(plan, dice, dice.choice([0.0, 0.1, 0.4]), most=1 if commits else 4)
            everything += check(table, table.record(tmp_path / f"{seed}.jsonl"))
    assert {one.ending for one in everything} == {*DecisionEnd}
    faults = {one.fault.outcome for one in everything if one.fault is not None}
    assert faults == {Outcome.CRASH, Outcome.DISCONNECT, Outcome.ILLEGAL}
    assert any(one.refused for one in everything)
    assert any(len(one.played) > 1 for one in everything)


def test_a_seat_that_never_answers_is_asked_until_it_is_out(tmp_path: Path) -> None:
    table = Noting(plan_of("cargo_noir", options={"first_player": 0}))
    while not table.match.is_out(0):
        seat = next(seat for seat in table.open if table.match.is_deciding(seat))
        if seat == 0:
            pass_time(table, 11)
        else:
            table.answer(seat, 0)
    table.play_out()
    check(table, table.record(tmp_path / "match.jsonl"))
    _, decisions = past_decisions(tmp_path / "match.jsonl", found, 0)
    assert [one.ending for one in decisions] == [DecisionEnd.TIMEOUT, DecisionEnd.TIMEOUT, DecisionEnd.OUT]
    assert decisions[-1].fault is not None
    assert decisions[-1].fault.outcome is Outcome.TIMEOUT


def test_a_match_from_a_position_begins_with_the_questions_there(tmp_path: Path) -> None:
    dice = random.Random(1)
    plan = replace(plan_of("yunnan", 3), position=rough_state(find("yunnan"), dice).to_json())
    table = rough(plan, dice, 0.02)
    assert len(check(table, table.record(tmp_path / "match.jsonl"))) > 20


def rough_state(game: Game, dice: random.Random) -> State:
    """A state some random actions from the start."""
    chance = FastChance(1)
    state = game.start(plan_of(game, 3).setup, chance)
    for _ in range(30):
        seat = dice.choice(state.seats_to_act())
        state.apply(seat, dice.choice(state.legal_actions(seat)), chance)
    return state


def test_what_was_revealed_of_the_seed_is_known_while_the_seed_is_not(tmp_path: Path) -> None:
    plan = replace(plan_of("cargo_noir"), reveals_seed=False)
    table = rough(plan, random.Random(2), 0.0)
    record, _ = past_decisions(table.record(tmp_path / "match.jsonl"), find, 0)
    assert record.plan.seed == -1
    assert record.plan.seed_commitment == plan.seed_commitment
    check(table, tmp_path / "match.jsonl")


def test_a_record_that_the_machine_could_not_have_written_is_refused_with_its_line(tmp_path: Path) -> None:
    """A strike of a seat that was not asked: the record holds, because why a seat was struck is the referee's word."""
    table = Noting(plan_of("cargo_noir", options={"first_player": 0}))
    table.lines.append({"type": "strike", "seat": 1, "reason": "illegal", "detail": "no", "rule": ""})
    table.play_out()
    path = table.record(tmp_path / "match.jsonl")
    with pytest.raises(RecordError, match=r"line 3: does not follow from what the seats were asked"):
        past_decisions(path, find, 0)


def test_a_record_that_does_not_hold_is_refused(tmp_path: Path) -> None:
    table = Noting(plan_of("cargo_noir"))
    table.play_out()
    table.lines[-1]["seed"] = 2
    with pytest.raises(RecordError, match="the seed at the end is not the one that was committed to"):
        past_decisions(table.record(tmp_path / "match.jsonl"), find, 0)
