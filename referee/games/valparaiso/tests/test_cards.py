"""Using cards, and the short actions (RULES.md, V3 and V4)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.valparaiso import GAME
from referee.games.valparaiso.names import Card, Location, Phase, Sector
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import default, do, goods, legal, place, refused
from referee.kit.document import Document


def test_v3_1_seats_use_one_card_each_in_turn_until_none_is_left() -> None:
    state = place(3, cards=["k2", "k3"], others={1: ["k7", "k3", "k4"]}, warehouse=[goods(1)] * 3)
    order = []
    while state.phase is Phase.USE:
        order.append(state.seats_to_act()[0])
        do(state, "use(1,alt)")
    assert order == [0, 1, 0, 1, 1]


def test_v3_2_a_card_out_of_order_costs_a_surcharge() -> None:
    state = place(cards=["k2", "k3", "k4", "k6", "k7"], row=[0, 0])
    do(state, "use(5,alt)")
    assert state.money[0] == 20 - 4
    poor = place(cards=["k3", "k4", "k6"], money=[1, 20])
    assert "use(2,alt)" in legal(poor)
    assert refused(poor, "use(3,alt)") == "V3.2"
    assert refused(poor, "use(4,alt)") == "V3.2"
    assert refused(poor, "use_mayor(alt)") == "V3.2"


def test_v3_2_the_action_must_be_possible_after_the_surcharge() -> None:
    state = place(cards=["k2", "k5"], money=[10, 20])
    assert refused(state, "use(2,main)") == "V3.2"
    assert "use(1,main)" in legal(place(cards=["k5"], money=[10, 20]))


@pytest.mark.parametrize(("card", "idle"), [("a5", True), ("a6", True), ("a8", True), ("b14", True), ("a1", False)])
def test_v3_3_a_card_is_used_without_effect_only_if_its_alternative_is_no_pure_gain(card: str, idle: bool) -> None:
    state = place(3, cards=[card], achievements=[[card], [], []])
    assert ("use(1,none)" in legal(state)) is idle
    if idle:
        before = state.money[0]
        do(state, "use(1,none)")
        assert state.money[0] == before
    else:
        assert refused(state, "use(1,none)") == "V3.3"


def test_v3_3_an_action_card_always_has_an_effect() -> None:
    assert refused(place(cards=["k7"]), "use(1,none)") == "V3.3"


def test_v3_4_cards_move_up_and_the_mayors_card_stays() -> None:
    state = place(cards=["k2", "k3", "k4"], mayor="k6", others={1: ["k2", "k2"][:1]})
    do(state, "use(2,alt)", "use(1,alt)")
    assert (state.plans[0].cards, state.plans[0].mayor) == ((Card.K2, Card.K4), Card.K6)
    do(state, "use_mayor(alt)")
    assert (state.plans[0].cards, state.plans[0].mayor) == ((Card.K2, Card.K4), None)
    assert state.money[0] == 19


def test_v3_5_the_alternative_of_an_action_card_is_a_good_of_the_colour_or_5_pesos() -> None:
    state = place(cards=["k1", "k2"], others={1: ["k1"]})
    do(state, "use(1,alt)", "use(1,alt)", "use(1,alt)")
    assert (state.warehouse[0], state.warehouse[1], state.money[0]) == ([1, 0, 0], [0, 0, 1], 25)


def test_v3_5_done_ends_no_exchange_of_goods_not_even_one_that_has_begun() -> None:
    """`done` ends moves and purchases; `stop` ends the use of a tile."""
    merchants = [{"m1": 2, "z1": 1}, {"v": 2}, {"v": 2}]
    state = place(3, cards=["k6", "k3"], bottom={1: "ta4"}, merchants=merchants, warehouse=[goods(2, 1), {}, {}])
    do(state, "use(1,main)", "trade(m1,0)")
    assert refused(state, "done") == "V3.5"
    do(state, next(action for action in legal(state) if action.startswith("take")))
    assert state.phase is Phase.EXCHANGE
    assert "stop" in legal(state)
    assert "done" not in legal(state)
    assert refused(state, "done") == "V3.5"


def test_v3_6_goods_are_sold_before_a_card_is_used() -> None:
    state = place(cards=["k5", "k2"], money=[5, 20], warehouse=[goods(2), {}])
    assert "use(1,main)" not in legal(state)
    do(state, "sell(warehouse,silver)", "sell(warehouse,silver)", "use(1,main)", "build(v,0)")
    assert state.money[0] == 1


class TestTransfer:
    """V4.1."""

    def test_v4_1_any_goods_move_between_warehouse_and_hold_in_the_harbour(self) -> None:
        state = do(place(cards=["k1"], warehouse=[goods(2, 1), {}], hold=[goods(0, 0, 1), {}]), "use(1,main)")
        assert refused(state, "transfer(0,0,1)") == "V4.1"
        assert refused(state, "transfer(3,0,0)") == "V4.1"
        do(state, "transfer(2,1,0)")
        assert (state.warehouse[0], state.hold[0], state.vp[0]) == ([0, 0, 1], [2, 1, 0], 0)

    def test_v4_1_not_at_sea_and_not_without_goods(self) -> None:
        assert refused(place(cards=["k1"], warehouse=[goods(2), {}], ship=["ow", "h"]), "use(1,main)") == "V3.2"
        assert refused(place(cards=["k1"]), "use(1,main)") == "V3.2"

    def test_v4_1_six_fit(self) -> None:
        state = do(place(cards=["k1"], warehouse=[goods(4, 4), {}]), "use(1,main)")
        assert refused(state, "transfer(4,3,0)") == "V4.1"
        assert refused(state, "transfer(-1,1,0)") == "V4.1"

    @pytest.mark.parametrize(("rule", "vp"), [("literal", 1), ("strict", 0)])
    def test_v4_1_a_good_sold_from_a_full_hold_and_loaded_again_earns_the_point_by_the_literal_rule_only(
        self, rule: str, vp: int
    ) -> None:
        state = place(cards=["k1"], warehouse=[goods(1), {}], hold=[goods(6), {}], options={"refill_rule": rule})
        do(state, "sell(hold,silver)", "use(1,main)", "transfer(6,0,0)")
        assert (sum(state.hold[0]), state.vp[0]) == (6, vp)

    def test_v4_1_by_the_strict_rule_a_hold_that_was_not_full_when_the_turn_began_earns_the_point(self) -> None:
        state = place(
            cards=["k2", "k1"],
            others={1: ["k2"]},
            warehouse=[goods(1), {}],
            hold=[goods(6), goods(6)],
            options={"refill_rule": "strict"},
        )
        assert state.hold_was_full
        do(state, "sell(hold,silver)", "use(1,alt)")
        assert state.hold_was_full  # now it is the turn of seat 1
        do(state, "use(1,alt)", "use(1,main)", "transfer(6,0,0)")
        assert (state.vp[0], state.phase, state.hold_was_full) == (1, Phase.PLAN, False)

    def test_v4_1_everybody_sees_that_the_hold_was_full_and_a_position_keeps_it(self) -> None:
        state = place(cards=["k1"], hold=[goods(6), {}], options={"refill_rule": "strict"})
        unlikely = GAME.read_state(state.setup, Document({**state.to_json(), "hold_was_full": False}, "position"))
        assert unlikely.problems() == ["hold_was_full: the hold is full, so it was when the turn began (V4.1)"]
        do(state, "sell(hold,silver)")
        seen = state.observation(None)
        assert isinstance(seen, ValparaisoObservation)
        assert seen.hold_was_full
        again = GAME.read_state(state.setup, Document(state.to_json(), "position"))
        assert isinstance(again, ValparaisoState)
        assert again.hold_was_full

    def test_v4_1_the_longest_list_has_83_entries(self) -> None:
        state = do(place(cards=["k1"], warehouse=[goods(6, 6, 6), {}]), "use(1,main)")
        assert len(legal(state)) == 83


def test_v4_2_one_good_of_the_warehouse_is_sold_for_10_or_15() -> None:
    state = place(cards=["k2", "a7"], achievements=[["a7"], []], warehouse=[goods(1, 1), {}], hold=[goods(0, 0, 1), {}])
    do(state, "use(1,main)")
    assert refused(state, "sell_for(wheat)") == "V4.2"
    do(state, "sell_for(copper)", "use(1,main)", "sell_for(silver)")
    assert (state.money[0], state.warehouse[0]) == (45, [0, 0, 0])
    assert refused(place(cards=["k2"], hold=[goods(1), {}]), "use(1,main)") == "V3.2"


def test_v4_3_a_merchant_is_hired_for_one_good_of_each_kind_or_5_pesos() -> None:
    state = place(3, cards=["k3", "b12"], achievements=[["b12"], [], []], warehouse=[goods(1, 1, 1), {}, {}])
    do(state, "use(1,main)")
    assert (state.merchants[0][Location.V], state.warehouse[0]) == (3, [0, 0, 0])
    do(state, "use(1,main)")
    assert (state.merchants[0][Location.V], state.money[0], state.merchants_reserve[0]) == (4, 15, 0)
    none_left = place(2, cards=["k3"], merchants=[{"v": 3}, {"v": 2}], warehouse=[goods(1, 1, 1), {}])
    assert refused(none_left, "use(1,main)") == "V3.2"
    assert refused(place(cards=["k3"], warehouse=[goods(1, 1), {}]), "use(1,main)") == "V3.2"


class TestBuild:
    """V4.5."""

    def test_v4_5_a_house_needs_10_pesos_and_a_merchant_there(self) -> None:
        state = do(place(cards=["k5"], merchants=[{"v": 1, "m1": 1}, {"v": 2}]), "use(1,main)")
        assert legal(state) == ["build(v,0)", "build(m1,0)", "build(m1,1)"]
        assert refused(state, "build(m2,0)") == "V4.5"
        do(state, "build(m1,0)")
        assert (state.money[0], state.vp[0], state.houses_left[0]) == (10, 1, 3)
        assert state.houses == {(Location.M1, 0): 0}

    def test_v4_5_in_valparaiso_houses_are_built_in_the_order_of_the_row(self) -> None:
        state = place(cards=["k5"], row=[1, 1, 1], others={1: ["k5"]})
        do(state, "use(1,main)", "build(v,0)")
        assert (state.row, state.vp[0]) == ((1, 1, 1, 0), 1)
        full = place(cards=["k5"], row=[1, 1, 1, 1, 0, 0, 0])
        assert refused(full, "use(1,main)") == "V3.2"

    @pytest.mark.parametrize(("built", "vp"), [(2, 0), (3, 1)])
    def test_v4_5_the_points_are_those_of_the_space_that_is_built_on(self, built: int, vp: int) -> None:
        state = do(place(cards=["k5"], row=[1] * built), "use(1,main)", "build(v,0)")
        assert state.vp[0] == vp

    def test_v4_5_the_fourth_house_is_worth_a_point(self) -> None:
        state = do(place(cards=["k5"], row=[0, 0, 0]), "use(1,main)", "build(v,0)")
        assert (state.vp[0], state.houses_left[0]) == (2, 0)
        assert refused(place(cards=["k5"], row=[0, 0, 0, 0]), "use(1,main)") == "V3.2"

    def test_v4_5_a_space_is_built_on_once(self) -> None:
        taken = [{"location": "z3", "space": 0, "seat": 1}]
        state = place(cards=["k5"], merchants=[{"z3": 2}, {"v": 2}], houses=taken)
        assert refused(state, "use(1,main)") == "V3.2"

    def test_v4_5_a_house_for_a_good(self) -> None:
        state = place(cards=["b11"], achievements=[["b11"], []], warehouse=[goods(1, 0, 1), {}], money=[0, 0])
        do(state, "use(1,main)")
        assert legal(state) == ["build_for_good(v,0,silver)", "build_for_good(v,0,wheat)"]
        assert refused(state, "build_for_good(v,0,copper)") == "V4.5"
        do(state, "build_for_good(v,0,wheat)")
        assert (state.warehouse[0], state.row) == ([1, 0, 1], (0,))  # the house brings a wheat at the end of the round

    def test_v4_5_a_house_or_a_merchant_for_nothing(self) -> None:
        state = do(place(cards=["b21"], achievements=[["b21"], []], money=[0, 0]), "use(1,main)")
        assert legal(state) == ["build(v,0)", "hire"]
        do(state, "hire")
        assert (state.merchants[0][Location.V], state.merchants_reserve[0], state.money[0]) == (3, 0, 0)
        only = place(cards=["b21"], achievements=[["b21"], []], merchants=[{"v": 3}, {"v": 2}])
        assert legal(do(only, "use(1,main)")) == ["build(v,0)"]
        assert refused(only, "hire") == "V4.3"


def test_v4_8_the_ship_sails_to_any_other_sector() -> None:
    state = do(place(cards=["k7"], ship=["on", "h"]), "use(1,main)")
    assert legal(state) == ["sail(h)", "sail(ow)", "sail(oe)"]
    assert refused(state, "sail(on)") == "V4.8"
    assert do(state, "sail(h)").ship[0] is Sector.H


MIXED = {"ow1": "b11", "ow2": "b12", "ow3": "b13", "on1": "a1", "on2": "a2", "on3": "b21", "oe1": "a3", "oe2": "b22"}
SCRAPPED = [f"a{number}" for number in range(4, 10)]


class TestOverseas:
    """V4.9."""

    def test_v4_9_three_goods_of_the_kind_that_the_sector_asks_for_buy_a_card(self) -> None:
        state = place(cards=["k8"], ship=["on", "h"], hold=[goods(1, 4), {}])
        do(state, "use(1,main)")
        assert legal(state) == ["acquire(on1,none)", "acquire(on2,none)", "acquire(on3,none)"]
        do(state, "acquire(on2,none)")
        assert (state.hold[0], state.owned[0]) == ([1, 1, 0], (Card.A5,))

    @pytest.mark.parametrize(("ship", "hold"), [("h", goods(6)), ("ow", goods(2, 4)), ("on", goods(6))])
    def test_v4_9_not_elsewhere_and_not_for_other_goods(self, ship: str, hold: dict[str, int]) -> None:
        assert refused(place(cards=["k8"], ship=[ship, "h"], hold=[hold, {}]), "use(1,main)") == "V3.2"

    def test_v4_9_a_card_of_level_a_brings_the_pesos_of_the_sector(self) -> None:
        state = place(cards=["k8"], ship=["ow", "h"], hold=[goods(3), {}], sea_money={"ow": 15, "on": 5})
        do(state, "use(1,main)", "acquire(ow1,none)")
        assert (state.money[0], state.sea_money) == (35, [0, 5, 0])

    def test_v4_9_for_a_card_of_level_b_10_pesos_go_to_the_sector_with_the_most_of_level_a(self) -> None:
        state = place(
            cards=["k8"], ship=["ow", "h"], hold=[goods(3), {}], slots={**MIXED, "oe3": "b23"}, scrapped=SCRAPPED
        )
        do(state, "use(1,main)")
        assert legal(state) == ["acquire(ow1,on)", "acquire(ow2,on)", "acquire(ow3,on)"]
        assert refused(state, "acquire(ow1,none)") == "V4.9"
        do(state, "acquire(ow1,on)")
        assert (state.money[0], state.sea_money) == (10, [5, 15, 5])

    def test_v4_9_who_cannot_pay_acquires_nothing(self) -> None:
        state = place(
            cards=["k8"],
            ship=["ow", "h"],
            hold=[goods(3), {}],
            slots={**MIXED, "oe3": "b23"},
            scrapped=SCRAPPED,
            money=[9, 20],
        )
        assert refused(state, "use(1,main)") == "V3.2"

    def test_v4_9_a_tie_is_for_the_seat_to_choose_and_full_sectors_are_left_out(self) -> None:
        tied = {**MIXED, "oe2": "a4", "oe3": "b23"}
        spent = [card for card in SCRAPPED if card != "a4"]
        state = place(cards=["k8"], ship=["ow", "h"], hold=[goods(3), {}], slots=tied, scrapped=[*spent, "b22"])
        assert legal(do(state, "use(1,main)"))[:2] == ["acquire(ow1,on)", "acquire(ow1,oe)"]
        full = place(
            cards=["k8"],
            ship=["ow", "h"],
            hold=[goods(3), {}],
            slots={**MIXED, "oe3": "b23"},
            scrapped=SCRAPPED,
            sea_money={"on": 10, "oe": 15},
        )
        assert legal(do(full, "use(1,main)"))[0] == "acquire(ow1,supply)"

    def test_v4_9_the_compensation_never_stays_in_the_own_sector(self) -> None:
        level_b = zip(
            ["ow1", "on2", "on3", "oe1", "oe2", "oe3"], ["b11", "b12", "b13", "b21", "b22", "b23"], strict=True
        )
        slots = {"ow2": "a1", "ow3": "a2", "on1": "a3", **dict(level_b)}
        state = place(cards=["k8"], ship=["ow", "h"], hold=[goods(3), {}], slots=slots, scrapped=SCRAPPED)
        do(state, "use(1,main)")
        assert legal(state) == ["acquire(ow1,on)", "acquire(ow2,none)", "acquire(ow3,none)"]

    def test_v4_9_without_cards_of_level_a_nothing_is_paid(self) -> None:
        slots = {**MIXED, "on1": "b23"}
        for slot in ("on2", "oe1"):
            del slots[slot]
        gone = [f"a{number}" for number in range(1, 10)]
        state = place(
            cards=["k8"], ship=["ow", "h"], hold=[goods(3), {}], slots=slots, scrapped=gone, deck=[], money=[0, 0]
        )
        do(state, "use(1,main)", "acquire(ow1,none)")
        assert state.money[0] == 0

    def test_v4_9_the_slot_is_refilled_and_the_card_cannot_be_used_in_this_round(self) -> None:
        state = place(cards=["k8", "k2"], ship=["ow", "h"], hold=[goods(3), {}])
        following = state.deck[0]
        do(state, "use(1,main)", "acquire(ow1,none)")
        assert state.slots[0] == following
        assert state.plans[0].cards == (Card.K2,)


class TestShortActions:
    """V4.11 and V4.12."""

    @pytest.mark.parametrize(
        ("card", "mode", "actions", "money", "warehouse", "vp"),
        [
            ("a1", "alt", ["take(silver,wheat)"], 20, [3, 2, 3], 0),
            ("a2", "alt", [], 30, [2, 2, 2], 0),
            ("a8", "main", ["give(copper)"], 15, [2, 1, 2], 1),
            ("a9", "main", ["give_two(copper,copper)"], 20, [2, 0, 2], 1),
            ("b12", "alt", [], 20, [3, 3, 3], 0),
            ("b13", "main", [], 20, [2, 2, 2], 1),
            ("b14", "alt", ["buy(wheat)", "buy(silver)", "buy(wheat)"], 14, [3, 2, 4], 0),
            ("b14", "alt", ["buy(wheat)", "done"], 18, [2, 2, 3], 0),
            ("b22", "main", ["pay(2)"], 0, [2, 2, 2], 2),
            ("b22", "alt", [], 35, [2, 2, 2], 0),
            ("b23", "main", [], 20, [1, 1, 1], 2),
            ("b21", "alt", ["take(wheat,wheat)"], 20, [2, 2, 4], 0),
        ],
    )
    def test_v4_11_each_does_what_it_says(
        self, card: str, mode: str, actions: list[str], money: int, warehouse: list[int], vp: int
    ) -> None:
        state = place(3, cards=[card, "k7"], achievements=[[card], [], []], warehouse=[goods(2, 2, 2), {}, {}])
        do(state, f"use(1,{mode})", *actions)
        assert (state.money[0], state.warehouse[0], state.vp[0]) == (money, warehouse, vp)
        assert state.phase is Phase.USE

    @pytest.mark.parametrize(
        ("card", "rest"),
        [
            ("a8", {"money": [4, 20]}),
            ("a8", {"warehouse": [{}, {}]}),
            ("a9", {"warehouse": [goods(1), {}], "hold": [goods(3), {}]}),
            ("b22", {"money": [9, 20]}),
            ("b23", {"warehouse": [goods(3, 3), {}]}),
            ("b12", {"money": [4, 20]}),
        ],
    )
    def test_v4_11_what_cannot_be_paid_cannot_be_done(self, card: str, rest: dict[str, Any]) -> None:
        filled: dict[str, Any] = {"warehouse": [goods(2, 2, 2), {}], **rest}
        assert refused(place(cards=[card], achievements=[[card], []], **filled), "use(1,main)") == "V3.2"

    def test_v4_11_points_are_bought_as_often_as_the_pesos_last(self) -> None:
        state = do(place(cards=["b22"], achievements=[["b22"], []], money=[29, 20]), "use(1,main)")
        assert legal(state) == ["pay(1)", "pay(2)"]
        assert refused(state, "pay(3)") == "V4.11"

    def test_v4_11_two_different_goods_are_different(self) -> None:
        state = do(place(cards=["a1"], achievements=[["a1"], []]), "use(1,alt)")
        assert legal(state) == ["take(silver,copper)", "take(silver,wheat)", "take(copper,wheat)"]
        assert refused(state, "take(silver,silver)") == "V4.11"
        assert refused(state, "take(wheat,silver)") == "V4.11"

    def test_v4_12_an_alternative_may_be_an_action_like_any_other(self) -> None:
        state = place(cards=["a6"], achievements=[["a6"], []], warehouse=[goods(1), {}])
        do(state, "use(1,alt)", "transfer(1,0,0)")
        assert state.hold[0] == [1, 0, 0]

    def test_v4_11_buying_needs_one_good_bought_before_it_ends(self) -> None:
        state = place(3, cards=["b14"], achievements=[["b14"], [], []], money=[3, 20, 20], warehouse=[goods(1), {}, {}])
        do(state, "use(1,alt)")
        assert refused(state, "done") == "V3.5"
        do(state, "buy(copper)")
        assert legal(state) == ["done", "sell(warehouse,silver)", "sell(warehouse,copper)"]
        do(state, "sell(warehouse,silver)", "buy(wheat)")
        assert state.warehouse[0] == [0, 1, 1]


class TestDefaults:
    """The defaults for a seat that is out (section 5)."""

    def test_v3_2_the_first_slot_is_used_for_its_alternative_or_for_nothing(self) -> None:
        assert default(place(cards=["k5", "k2"], mayor="k6")) == "use(1,alt)"
        assert default(place(cards=["a5", "k2"], achievements=[["a5"], []])) == "use(1,none)"
        assert default(place(cards=[], mayor="k6")) == "use_mayor(alt)"
        assert default(place(cards=["a1"], achievements=[["a1"], []])) == "use(1,alt)"

    def test_v4_11_an_action_goes_on_by_its_first_choice_and_never_sells(self) -> None:
        state = do(place(cards=["k1"], warehouse=[goods(1), {}]), "use(1,main)")
        assert default(state) == "transfer(1,0,0)"
        buying = place(3, cards=["b14"], achievements=[["b14"], [], []], warehouse=[goods(1), {}, {}])
        assert default(do(buying, "use(1,alt)")) == "buy(silver)"
        assert default(do(buying, "buy(silver)")) == "done"
