"""The worked turn of RULES.md, section 10, and the invariants of section 9 that need more than one position."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.game import Action
from referee.games.yunnan import GAME, scoring
from referee.games.yunnan import actions as act
from referee.games.yunnan.names import OUTER, Phase, Province
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.tests.table import do, order, setup
from referee.kit.chance import FastChance


def test_the_first_turn_of_three_colours() -> None:
    state = GAME.start(setup(3, initial_order="red+blue+green"), FastChance(1))
    assert isinstance(state, YunnanState)
    do(state, "bid(horse,5,reserve)", "bid(horse,7,reserve)", "bid(school,9,reserve)", "bid(horse,9,reserve)")
    do(state, "bank(left,reserve)", *["market(reserve)"] * 6, "pass", "pass", "pass")
    assert (state.last_total, state.last_bank_pay) == (18, (6, 0))
    assert state.money == [0, 15, 3]
    assert [row[Province.PUE] for row in state.merchants] == [2, 2, 3]
    assert state.reserve == [1, 1, 1]
    assert state.to_json()["horse"] == ["sic", "yun", "yun"]
    assert order(state.travel_order) == "GBR"
    do(state, *["move(pue,yun)", "move(pue,yun)", "done"] * 3)
    assert scoring.tea(state)[Province.YUN] == 5 * 6
    assert (state.last_inspector, state.last_banned) == (Province.YUN, 2)
    assert state.gifts_taken == [0, 0, 0]
    assert state.income == [12, 12, 12]
    assert order(state.travel_order) == "RBG"
    do(state, "convert(0)", "convert(2)", "convert(12)")
    assert (state.money, state.vp, state.turn) == ([12, 25, 3], [0, 2, 12], 2)
    assert order(state.auction_order) == "GBR"
    assert [row[Province.YUN] for row in state.merchants] == [2, 2, 1]
    assert state.reserve == [1, 1, 3]


def levels(state: YunnanState) -> list[int]:
    """Everything that never decreases (I5)."""
    found = [*state.passes, *state.horse, *state.influence, *state.gifts_taken]
    for colour in range(state.colours):
        found += state.posts[colour]
        found += [state.bridges[colour].bit_count(), state.teahouses(colour)]
    return found


def chosen(state: YunnanState, actions: list[Action], rng: random.Random) -> Action:
    """Random, but with a preference for long journeys, displacement and building, which are otherwise rare."""
    if rng.random() < 0.5:
        bold = [a for a in actions if isinstance(a, act.Displace | act.BuildPost | act.BuildBridge | act.BuildTeahouse)]
        far = [a for a in actions if isinstance(a, act.Move) and a.end > a.start]
        if bold or far:
            return rng.choice(bold or far)
    return rng.choice(actions)


@settings(max_examples=60)
@given(seats=st.integers(2, 5), seed=st.integers(0, 2**32), expert=st.booleans(), pass_moves=st.booleans())
def test_the_invariants_of_section_9_hold_in_every_match(seats: int, seed: int, expert: bool, pass_moves: bool) -> None:
    options = {"expert": expert, "pass_moves_reserve_to_market": pass_moves, "turn_limit": 12}
    state = GAME.start(setup(seats, **options), chance := FastChance(seed))
    assert isinstance(state, YunnanState)
    rng = random.Random(seed)
    start_of_turn = levels(state)
    vp = list(state.vp)
    while not state.is_over():
        seat = state.seats_to_act()[0]
        before = state.clone()
        action = chosen(state, state.legal_actions(seat), rng)
        state.apply(seat, action, chance)
        assert state.problems() == []  # I1 to I4, I6, I7
        assert all(now >= then for now, then in zip(levels(state), levels(before), strict=True))  # I5
        assert min(state.money) >= 0  # I6
        assert expert or all(now >= then for now, then in zip(state.vp, vp, strict=True))
        vp = list(state.vp)
        for colour in range(state.colours):  # I10
            row = state.merchants[colour]
            assert scoring.income(state, colour) >= 3 * row[0] + 6 * sum(row[1:])
        acting = before.acting_colour
        if isinstance(action, act.Done):  # I9, when nobody else has acted since
            lost = state.last_banned == acting and state.phase is Phase.CONVERT
            connected = before.reach(acting).connected
            stayed = sum(before.merchants[acting][p] for p in OUTER if connected >> p & 1)
            assert sum(state.merchants[acting][1:]) == stayed - lost
            assert lost <= (before.influence[acting] < 4)  # I11
        if isinstance(action, act.Displace):  # I11
            assert before.influence[action.colour] < min(4, before.influence[acting])
        if state.turn > before.turn:  # I8, I13
            assert not any(row[0] for row in state.merchants)
            assert state.auction_order == before.travel_order[::-1]
            growth = [now - then for now, then in zip(levels(state), start_of_turn, strict=True)]
            assert max(growth[: 3 * state.colours]) <= 1  # I5
            start_of_turn = levels(state)


@pytest.mark.parametrize("seats", range(2, 6))
def test_i12_money_comes_from_bank_and_income_and_goes_into_bids_and_points(seats: int) -> None:
    state = GAME.start(setup(seats), chance := FastChance(seats))
    assert isinstance(state, YunnanState)
    rng = random.Random(seats)
    money, points = sum(state.money), 0
    earned = paid = banked = 0
    while not state.is_over():
        before = state.clone()
        action = chosen(state, state.legal_actions(state.seats_to_act()[0]), rng)
        state.apply(state.seats_to_act()[0], action, chance)
        if before.phase is Phase.AUCTION and state.phase is not Phase.AUCTION:
            banked += sum(state.last_bank_pay)
            paid += state.last_total
        if before.phase is Phase.TRAVEL and state.phase is Phase.CONVERT:
            earned += sum(state.income)
        if isinstance(action, act.Convert):
            points += action.points
    assert sum(state.money) == money + banked - paid + earned - points
    assert sum(state.vp) == points
