"""Whole matches: situations that random play hardly ever reaches, samples of hidden facts, and impossible positions."""

from __future__ import annotations

import random
from typing import Any

import pytest

from referee.contract.suite import examine_match
from referee.game import Action, Chance, RolloutPolicy, Seat, SetupError, State
from referee.games.valparaiso import GAME
from referee.games.valparaiso import actions as act
from referee.games.valparaiso.board import LEVELS, level_of
from referee.games.valparaiso.names import Card, Phase, Slot
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import BOARD, do, goods, place, setup, start
from referee.kit.chance import FastChance, LiveChance
from referee.kit.document import Document
from tests.cases import mostly_long


def rich(seats: int) -> ValparaisoState:
    """All seats have achievement cards and means to pay, and plan."""
    in_play = [card.name.lower() for level in LEVELS for card in setup(seats).board.achievements(seats, level)]  # type: ignore[attr-defined]
    wanted = ["a3", "a8", "a9", "b11", "b12", "b14", "b21", "b22", "b23"]
    dealt = [card for card in wanted if card in in_play][: len(in_play) - len(Slot)]  # no slot is empty
    owned = [dealt[seat::seats] for seat in range(seats)]
    left = [card for card in in_play if card not in dealt]
    filled = dict(zip([slot.name.lower() for slot in Slot], left, strict=False))
    return place(
        seats,
        phase="PLAN",
        achievements=owned,
        slots=filled,
        deck=left[9:],
        money=[60] * seats,
        warehouse=[goods(3, 3, 3)] * seats,
        hold=[goods(2, 2, 2)] * seats,
        options={"max_rounds": 5},
    )


@pytest.mark.parametrize("seats", mostly_long([2, 3, 4, 5]))
def test_v4_11_the_contract_holds_when_all_have_achievement_cards(seats: int) -> None:
    state = rich(seats)
    examine_match(GAME, state.setup, seats, state)


def test_v4_11_the_rare_actions_occur_when_all_have_achievement_cards() -> None:
    played: set[type[Action]] = set()
    state, choice = rich(5), random.Random(1)
    for _ in range(60):
        match = state.clone()
        while not match.is_over() and match.phase is not Phase.SCRAP:  # a round
            seat = choice.choice(match.seats_to_act())
            legal = match.legal_actions(seat)
            used = [action for action in legal if not isinstance(action, act.Sell | act.Commit)]
            action = choice.choice(used or legal)
            played.add(type(action))
            match.apply(seat, action, LiveChance(1))
            assert match.problems() == []
    assert not GAME.rare_actions - played


def test_s4_a_sample_shuffles_each_level_of_the_pile_and_nothing_else() -> None:
    state = start(5)
    piles = set()
    for seed in range(20):
        other = GAME.sample(state.setup, state.observation(0), FastChance(seed))
        assert isinstance(other, ValparaisoState)
        assert sorted(other.deck) == sorted(state.deck)
        levels = [level_of(card) for card in other.deck]
        assert levels == sorted(levels)
        piles.add(other.deck)
    assert len(piles) == 20


def test_v2_7_a_sample_gives_the_others_every_kind_of_plan_and_the_observer_its_own() -> None:
    state = place(3, phase="PLAN", money=[20, 1, 20], warehouse=[{}, goods(2), {}])
    do(state, "place(k4)", "mayor(k6)", seat=0)
    sizes, mayors, sales = set(), set(), set()
    for seed in range(200):
        other = GAME.sample(state.setup, state.observation(0), FastChance(seed))
        assert isinstance(other, ValparaisoState)
        assert other.plans[0] == state.plans[0]
        sizes.add(len(other.plans[1].cards))
        mayors.add(other.plans[2].mayor is None)
        sales.add(sum(other.plans[1].sold[0]))
    assert (sizes, mayors, sales) == ({0, 1, 2, 3, 4}, {True, False}, {0, 1, 2})


class FirstCards(RolloutPolicy):
    """Plans the first two cards, one by one."""

    def row(self, state: State, seat: Seat, chance: Chance) -> list[Action]:
        assert isinstance(state, ValparaisoState)
        made = len(state.plans[seat].cards)
        return [act.COMMIT if made == 2 else state.legal_actions(seat)[0]]


@pytest.mark.parametrize("bonus", [False, True])
def test_v2_7_a_sample_with_a_policy_has_its_plans_for_all_others(bonus: bool) -> None:
    state = place(3, phase="PLAN", options={"expert_timer": True})
    do(state, "place(k4)", "commit", seat=0)
    do(state, "place(k8)", "commit", seat=1)
    if bonus:
        do(state, "commit", seat=2)
        assert state.phase is Phase.BONUS
    other = GAME.sample(state.setup, state.observation(0), FastChance(1), FirstCards())
    assert isinstance(other, ValparaisoState)
    assert [plan.cards for plan in other.plans] == [(Card.K4,), (Card.K1, Card.K2), (Card.K1, Card.K2)]
    assert other.observation(0) == state.observation(0)
    assert other.problems() == []


def test_v2_7_a_sample_with_undone_plans_leaves_the_others_to_act() -> None:
    state = place(3, phase="PLAN")
    do(state, "place(k4)", seat=0)
    do(state, "place(k8)", "commit", seat=1)
    other = GAME.sample(state.setup, state.observation(0), FastChance(1), undone=True)
    assert isinstance(other, ValparaisoState)
    assert [plan.cards for plan in other.plans] == [(Card.K4,), (), ()]
    assert other.seats_to_act() == (0, 1, 2)
    assert other.problems() == []


def test_v2_8_the_plan_of_the_first_finisher_is_never_undone() -> None:
    state = place(3, phase="PLAN", options={"expert_timer": True})
    do(state, "place(k8)", "commit", seat=1)
    other = GAME.sample(state.setup, state.observation(0), FastChance(1), FirstCards(), undone=True)
    assert isinstance(other, ValparaisoState)
    assert [plan.cards for plan in other.plans] == [(), (Card.K1, Card.K2), ()]
    assert other.seats_to_act() == (0, 2)
    assert other.observation(0) == state.observation(0)
    assert other.problems() == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"money": [20]}, "position.money must have 2 entries"),
        ({"phase": "SLEEP"}, "position.phase must be one of"),
        ({"round": 31}, "position.round must be an integer from 1 to 30"),
        ({"markets": [["ta1"]]}, "position.markets must have 3 lists of tiles"),
        ({"ship": ["h", "bay"]}, "position.ship must have 2 sectors"),
        ({"achievements": [["k1"], []]}, "position.achievements must have 2 lists of achievement cards"),
        ({"colours": ["red"]}, "position.colours must have 2 colours"),
        ({"hous": []}, "position.hous is not known here"),
        ({"plan": [{"cards": ["k9"]}, {}]}, "must be one of"),
    ],
)
def test_a_position_that_cannot_be_read_says_where(change: dict[str, Any], problem: str) -> None:
    document = Document({**place().to_json(), **change}, "position")
    GAME.read_state(setup(), document)
    document.finish()
    assert any(problem in line for line in document.problems), document.problems


def problems_with(change: dict[str, Any]) -> list[str]:
    """The problems of a position after a change."""
    data = place().to_json()
    if change.get("phase") in ("PLAN", "OVER"):
        del data["seat"]
    for key in change:
        if key in ("merchants", "houses"):
            data.pop("merchants_reserve" if key == "merchants" else "houses_left")
    document = Document({**data, **change}, "position")
    state = GAME.read_state(setup(), document)
    document.finish()
    return document.problems + state.problems()


STEPPING = {
    "phase": "STEP",
    "effect": "move",
    "path": ["v", "z1"],
    "steps": 1,
    "unmoved": {"v": 1},
    "merchants": [{"v": 1, "z1": 1}, {"v": 2}],
}
TRADING = {"phase": "TRADE", "effect": "trade", "villages": ["m1"], "merchants": [{"v": 1, "m1": 1}, {"v": 2}]}
EXCHANGING = {**TRADING, "phase": "EXCHANGE", "village": "m1"}
BEGINNING = {"round": 1, "sea_money": {"ow": 5, "on": 5, "oe": 5}, "plan": [{}, {}], "merchants_reserve": [1, 1]}
SETTING_UP = {**BEGINNING, "phase": "SETUP_GOODS", "seat": 1, "merchants": [{"v": 1}, {"v": 1}]}
PLACING = {
    **BEGINNING,
    "phase": "SETUP_PLACE",
    "seat": 1,
    "merchants": [{"v": 1}, {"v": 1}],
    "warehouse": [{"wheat": 3}, {"silver": 3}],
}


@pytest.mark.parametrize(
    "data", [{}, STEPPING, TRADING, SETTING_UP, PLACING], ids=lambda data: data.get("phase", "USE")
)
def test_the_positions_that_are_spoilt_below_have_nothing_wrong(data: dict[str, Any]) -> None:
    assert problems_with(data) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"reserve": ["ta1"]}, "I1: the markets and the reserve must have all 25 tiles"),
        ({"slots": {}}, "I2: slots, pile, seats and scrapped must have the 15 cards in play"),
        ({"merchants": [{"v": 4}, {"v": 2}]}, "I3: it has 4 merchants, not 3"),
        ({"merchants": [{"m4": 2}, {"v": 2}]}, "I3: it has a merchant at a location that this side"),
        ({"houses_left": [3, 4]}, "I3: it has 3 houses, not 4"),
        ({"houses": [{"location": "z1", "space": 1, "seat": 0}]}, "I3: there is no building space 1 in z1"),
        ({"hold": [{"silver": 7}, {}]}, "I4: 7 goods are in the hold; 6 fit"),
        ({"plan": [{"cards": ["k2", "k2"]}, {}]}, "names k2 a second time"),
        ({"plan": [{"cards": ["a1"]}, {}]}, "I8: it plans a card that it does not have"),
        ({"plan": [{}, {"cards": ["k2"]}]}, "seat 0 has no card to use"),
        ({"effect": "move"}, "effect belongs to the phases of an action"),
        ({"phase": "MOVE", "effect": "trade", "unmoved": {"v": 2}}, "phase MOVE is not one of the action trade"),
        ({"phase": "TRADE", "effect": "trade"}, "villages belongs to the phases TRADE and EXCHANGE"),
        ({"path": ["v"]}, "path and steps belong to the phase STEP"),
        ({"left": 2}, "left is the number of exchanges"),
        ({"phase": "SCRAP", "plan": [{}, {}]}, "has no achievement card"),
        ({"phase": "SAIL", "effect": "sail", "plan": [{}, {}], "village": "m1"}, "village is one of villages"),
        ({"first_finisher": 0}, "first_finisher is a seat that has committed"),
        ({"sea_money": {"ow": 7}}, "I4: ow has 7 pesos, not 0, 5, 10, 15"),
        ({"sea_money": {"on": 20}}, "I4: on has 20 pesos"),
        (
            {"plan": [{"cards": ["k1", "k2", "k3", "k4", "k5"]}, {}]},
            "I8: it has 5 cards in the slots, of which 4 are open",
        ),
        ({"phase": "OVER", "plan": [{}, {}]}, "nothing has ended the match (V7.1)"),
        ({"phase": "PLAN", "vp": [18, 0]}, "the match has ended before the phase PLAN"),
        ({"phase": "RETURN", "plan": [{}, {}]}, "seat 0 has no merchant in a village (V6.5)"),
        ({"phase": "RETURN", "plan": [{}, {}], "round": 30}, "the match ends with the last round"),
        ({"phase": "BUILD", "effect": "build", "money": [9, 9]}, "the action build cannot be carried out"),
        ({"phase": "TRANSFER", "effect": "transfer", "ship": ["ow", "h"]}, "the action transfer cannot be carried out"),
        ({"phase": "PAY", "effect": "pay10_vp", "money": [9, 9]}, "the action pay10_vp cannot be carried out"),
        ({"phase": "BUY", "effect": "buy3", "left": 3, "money": [1, 9]}, "the action buy3 cannot be carried out"),
        ({"phase": "BUY", "effect": "buy3", "left": 4}, "left: 3 are possible at most, not 4"),
        ({"phase": "BUY", "effect": "buy3", "left": 2}, "left and begun: 3 are left until the first is done"),
        ({"phase": "MOVE", "effect": "move", "unmoved": {"v": 1}}, "begun: not all merchants are unmoved"),
        ({"phase": "MOVE", "effect": "move", "unmoved": {"v": 2}, "begun": True}, "begun: all merchants are unmoved"),
        ({"phase": "MOVE", "effect": "move", "unmoved": {"z1": 1}}, "unmoved names a merchant that is not there"),
        ({"phase": "MOVE", "effect": "move", "unmoved": {}, "begun": True}, "unmoved is empty"),
        ({**STEPPING, "steps": 2}, "steps: the path has 1 counted steps"),
        ({**STEPPING, "path": ["v", "m1"], "merchants": [{"v": 1, "m1": 1}, {"v": 2}]}, "path must follow roads"),
        ({**STEPPING, "unmoved": {"z1": 1}}, "unmoved names a merchant that is not there"),
        ({**STEPPING, "unmoved": {}}, "begun: not all merchants are unmoved"),
        ({**STEPPING, "begun": True}, "begun: all merchants are unmoved"),
        (
            {"phase": "RIVER", "effect": "river", "unmoved": {"z1": 1}, "merchants": [{"v": 1, "z1": 1}, {"v": 2}]},
            "unmoved names a merchant that is not at a river",
        ),
        ({**TRADING, "begun": True}, "begun belongs to an action that goes on, not to TRADE"),
        ({**EXCHANGING, "left": 2}, "the tile in m1 gives no choice of goods"),
        ({"hold_was_full": True}, "hold_was_full belongs to a seat's turn with the option refill_rule=strict"),
        ({**SETTING_UP, "round": 2}, "set-up is in round 1"),
        ({**SETTING_UP, "vp": [1, 0]}, "nothing built or gained"),
        ({**SETTING_UP, "warehouse": [{"silver": 3}, {}]}, "seat 0: it has 3 goods, not 0 (S6)"),
        ({**SETTING_UP, "merchants": [{"v": 2}, {"v": 1}]}, "seat 0: I3: it has 3 merchants, not 2"),
        ({**SETTING_UP, "merchants": [{"z1": 1}, {"v": 1}]}, "it must have one merchant in Valparaíso (S2)"),
        ({**PLACING, "warehouse": [{"wheat": 3}, {"wheat": 3}]}, "two seats have taken the same goods (S6)"),
        ({**PLACING, "seat": 0}, "seat 1: I3: it has 2 merchants, not 3"),
    ],
)
def test_a_position_that_cannot_be_says_why(change: dict[str, Any], problem: str) -> None:
    assert any(problem in line for line in problems_with(change)), problems_with(change)


def test_everything_that_is_wrong_is_named_at_once() -> None:
    found = problems_with({"sea_money": {"ow": 7}, "phase": "RETURN", "hold": [{"silver": 7}, {}], "left": 2})
    for problem in ("I4: ow has 7", "I4: 7 goods", "no planned cards in the phase RETURN", "(V6.5)", "left is the"):
        assert any(problem in line for line in found), found


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("timer_seconds", 0, "a number from 1 to 600, not 0"),
        ("timer_seconds", -5, "not -5"),
        ("timer_seconds", "86400", "a number from 1 to 600, not '86400'"),
        ("timer_seconds", "a minute", "not 'a minute'"),
        ("countdown_seconds", 61, "a number from 0 to 60"),
        ("max_rounds", 0, "a number from 1 to 60"),
        ("colours", "red+red", "a list of red, blue"),
        ("colours", "red+blue+green", "needs 2 colours"),
        ("return_rule", "all", "shelter or one_only"),
    ],
)
def test_v2_8_an_option_that_cannot_be_is_refused_with_one_line(option: str, value: object, problem: str) -> None:
    with pytest.raises(SetupError) as caught:
        GAME.setup(2, {option: value}, BOARD)
    assert len(caught.value.problems) == 1
    assert problem in caught.value.problems[0]


def test_s4_a_card_is_added_in_one_place() -> None:
    board = {**BOARD, "achievements": {**BOARD["achievements"], "b19": {"vp": 5, "main": "vp1", "alt": "gain10"}}}
    state = GAME.start(GAME.setup(2, {}, board), LiveChance(1))
    assert isinstance(state, ValparaisoState)
    assert "B19" in {card.name for card in state.deck}
