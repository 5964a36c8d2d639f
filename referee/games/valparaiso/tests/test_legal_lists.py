"""In every phase, exactly the listed actions are accepted (RULES.md, section 5)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest

from referee.game import Action, IllegalAction, label
from referee.games.valparaiso import actions as act
from referee.games.valparaiso.names import Phase
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import do, goods, legal, place, refused, start
from referee.kit.chance import LiveChance
from tests.cases import mostly_long


def flat(found: Any) -> Iterable[Action]:
    """The actions in lists of lists."""
    if isinstance(found, Action):
        yield found
    else:
        for one in found.values() if isinstance(found, dict) else found:
            yield from flat(one)


EVERY = [
    *flat((act.COMMIT, act.CLOSE, act.STOP, act.DONE, act.HIRE, act.PASS, act.FIRST_GOODS, act.PLACED_MERCHANTS)),
    *flat((act.PLACES, act.MAYORS, act.BONUSES, act.MAYOR_USES, act.USES, act.SALES_FOR, act.STARTS, act.STEPS)),
    *flat((act.RIVERS, act.BUILDS, act.BUILDS_FOR_GOOD, act.TRADES, act.SKIPS, act.TAKES, act.GIVES, act.GIVES_TWO)),
    *flat((act.PAYS, act.BUYS, act.SAILS, act.ACQUIRES, act.SCRAPS, act.RECALLS, act.SALES)),
    *(act.transfer(*load) for load in product(range(-1, 8), repeat=3)),
]
RICH: dict[str, Any] = {"warehouse": [goods(2, 1), {}, {}], "money": [30, 20, 20]}
SPREAD: dict[str, Any] = {"merchants": [{"m1": 2, "z1": 1}, {"m1": 1, "v": 1}, {"v": 2}]}


def using(card: str, mode: str = "main", *then: str, **rest: Any) -> ValparaisoState:
    """Seat 0 of three has begun to use a card, has two more in its plan, and plays on."""
    owned = [] if card.startswith("k") else [card]
    mayor = "k4" if card == "k2" else "k2"
    return do(
        place(3, cards=[card, "k3"], mayor=mayor, achievements=[owned, [], []], **{**RICH, **rest}),
        f"use(1,{mode})",
        *then,
    )


def after_a_round(**rest: Any) -> ValparaisoState:
    """Seat 0 of three has used the last card of a round."""
    return do(place(3, cards=["k2"], **rest), "use(1,alt)")


POSITIONS = {
    Phase.SETUP_GOODS: lambda: do(start(3), "goods(silver,copper,wheat)"),
    Phase.SETUP_PLACE: lambda: do(start(2), "goods(silver,copper,wheat)", "goods(silver,silver,wheat)"),
    Phase.PLAN: lambda: do(place(3, phase="PLAN", achievements=[["a5"], [], []], **RICH), "place(k1)", "mayor(k2)"),
    Phase.BONUS: lambda: do(place(phase="PLAN", options={"expert_timer": True}), "commit", "commit"),
    Phase.USE: lambda: place(3, cards=["k4", "a8", "k3"], mayor="b14", achievements=[["a8", "b14"], [], []], **RICH),
    Phase.TRANSFER: lambda: using("k1", hold=[goods(1), {}, {}]),
    Phase.SELL_FOR: lambda: using("k2"),
    Phase.MOVE: lambda: using("k4", "main", "start(m1,z1)", "stop", **SPREAD),
    Phase.STEP: lambda: using("k4", "main", "start(m1,z1)", **SPREAD),
    Phase.RIVER: lambda: using("a3", merchants=[{"m1": 2, "z1": 1}, {"v": 2}, {"v": 2}]),
    Phase.BUILD: lambda: using("k5", **SPREAD),
    Phase.BUILD_GOOD: lambda: using("b11", **SPREAD),
    Phase.BUILD_OR_HIRE: lambda: using("b21", **SPREAD),
    Phase.TRADE: lambda: using("k6", bottom={1: "ta4", 2: "tb1"}, merchants=[{"m1": 2, "m2": 1}, {"v": 2}, {"v": 2}]),
    Phase.EXCHANGE: lambda: using("k6", "main", "trade(m1,0)", bottom={1: "ta4"}, **SPREAD),
    Phase.SAIL: lambda: using("k7"),
    Phase.ACQUIRE: lambda: using("k8", ship=["ow", "h", "h"], hold=[goods(3), {}, {}]),
    Phase.TAKE: lambda: using("a1", "alt"),
    Phase.GIVE: lambda: using("a8"),
    Phase.GIVE_TWO: lambda: using("a9"),
    Phase.PAY: lambda: using("b22"),
    Phase.BUY: lambda: using("b14", "alt"),
    Phase.SCRAP: lambda: after_a_round(achievements=[["a1", "b11"], ["a2"], []]),
    Phase.RETURN: lambda: after_a_round(**SPREAD),
    Phase.OVER: lambda: place(phase="OVER"),
}


@pytest.mark.parametrize("phase", mostly_long(Phase, 6))
def test_v3_2_exactly_the_listed_actions_are_accepted(phase: Phase) -> None:
    state = POSITIONS[phase]()
    assert state.phase is phase
    before = state.to_json()
    for seat in state.seats_to_act():
        listed = state.legal_actions(seat)
        assert set(listed) <= set(EVERY)
        for action in EVERY:
            again = state.clone()
            try:
                again.apply(seat, action, LiveChance(1))
                accepted = True
            except IllegalAction:
                accepted = False
                assert again.to_json() == before
            assert accepted == (action in listed), label(action)
            assert again.problems() == [], label(action)


def test_v4_1_every_way_to_fill_the_hold_is_listed() -> None:
    state = using("k1", warehouse=[goods(1, 3), {}, {}], hold=[goods(0, 1, 2), {}, {}])
    loads = [
        (s, c, w) for s in range(2) for c in range(5) for w in range(3) if s + c + w <= 6 and (s, c, w) != (0, 1, 2)
    ]
    assert legal(state) == [f"transfer({s},{c},{w})" for s, c, w in loads]


def test_v4_7_an_exchange_that_cannot_be_paid_is_neither_listed_nor_accepted() -> None:
    state = using(
        "k6", "main", "trade(m1,0)", bottom={1: "ta4"}, merchants=[{"m1": 2}, {"v": 2}, {"v": 2}], money=[3] * 3
    )
    do(state, "take(silver,copper)")
    assert legal(state) == ["stop", "sell(warehouse,silver)", "sell(warehouse,copper)"]
    assert refused(state, "take(silver,copper)") == "V4.7c"


def test_v4_7_a_tile_with_a_choice_of_goods_is_listed_with_0_times() -> None:
    assert legal(POSITIONS[Phase.TRADE]()) == [
        *("trade(m1,0)", "trade(m2,1)", "skip(m1)", "skip(m2)"),
        *("sell(warehouse,silver)", "sell(warehouse,copper)"),
    ]
