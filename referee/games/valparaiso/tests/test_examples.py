"""The worked examples (RULES.md, section 10)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.valparaiso.names import Card, PayTo, Phase, Sector
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import do, goods, legal, place, read, refused


def steve() -> ValparaisoState:
    """Red, blue, yellow, green; red trades in M1 and M4."""
    state = place(
        4,
        cards=["k6", "k2"],
        merchants=[{"m1": 3, "m4": 1}, {"m1": 1, "m4": 1}, {"m1": 1, "v": 1}, {"m4": 1, "v": 1}],
        houses=[{"location": "m1", "space": 0, "seat": 0}, {"location": "m4", "space": 0, "seat": 1}],
        money=[10, 20, 20, 20],
        bottom={1: "ta1", 4: "tb1"},
    )
    return do(state, "use(1,main)")


def test_w1_trade() -> None:
    state = steve()
    assert legal(state) == ["trade(m1,1)", "trade(m1,2)", "trade(m1,3)", "skip(m1)", "skip(m4)"]
    first, second, *rest = state.reserve
    m1, m4 = state.markets[0], state.markets[3]
    do(state, "trade(m1,3)")
    assert (state.money, state.warehouse[0]) == ([8, 21, 21, 20], [3, 3, 0])
    do(state, "trade(m4,1)")
    assert (state.money, state.warehouse[0], state.vp[0]) == ([5, 23, 21, 21], [2, 3, 0], 1)
    assert state.reserve == (*rest, m1[0], m4[0])
    assert (state.markets[0][-1], state.markets[3][-1]) == (first, second)


def test_w2_skip() -> None:
    state = do(steve(), "trade(m1,3)")
    m4 = state.markets[3]
    do(state, "skip(m4)")
    assert (state.money, state.warehouse[0], state.vp[0]) == ([8, 21, 21, 20], [3, 3, 0], 0)
    assert state.reserve[-1] is m4[0]


@pytest.mark.parametrize("trades", [False, True])
def test_w3_angela(trades: bool) -> None:
    state = place(
        phase="PLAN",
        colours=["blue", "red"],
        row=[0, 0],
        money=[30, 20],
        warehouse=[goods(2), {}],
        merchants=[{"v": 1, "z3": 1}, {"v": 2}],
    )
    do(state, *(f"place({card})" for card in ("k4", "k5", "k1", "k7", "k8")), "mayor(k6)", "commit", seat=0)
    do(state, "commit", seat=1)
    assert state.money[0] == 25
    do(state, "use(2,main)")
    assert state.money[0] == 24
    do(state, "build(z3,0)")
    assert (state.money[0], state.plans[0].cards) == (14, (Card.K4, Card.K1, Card.K7, Card.K8))
    do(state, "use(1,main)", "start(z3,m2)", "stop", "done")
    assert (state.money[0], state.plans[0].cards) == (14, (Card.K1, Card.K7, Card.K8))
    if trades:
        do(state, "use_mayor(main)", "trade(m2,1)")
        return
    do(state, "use_mayor(alt)")
    assert (state.warehouse[0], len(state.plans[0].cards)) == ([3, 0, 0], 3)
    do(state, "use(1,main)", "transfer(3,0,0)")
    assert (state.hold[0], state.vp[0]) == ([3, 0, 0], 0)
    do(state, "use(1,main)", "sail(ow)", "use(1,main)", "acquire(ow1,none)")
    # 14, the pesos of the sector, and the bonus for two houses in Valparaíso at the end of the round
    assert (state.money[0], state.hold[0], state.owned[0]) == (14 + 5 + 5, [0, 0, 0], (Card.A1,))


@pytest.mark.parametrize(("card", "costs"), [("k4", [0, 1, 4]), ("a1", [0, 0, 3])])
def test_w4_movement_price(card: str, costs: list[int]) -> None:
    owned = [[card] if card == "a1" else [], [], []]
    state = place(3, cards=[card, "k2"], merchants=[{"v": 3}, {"v": 2}, {"v": 2}], achievements=owned)
    do(
        state,
        "use(1,main)",
        "start(v,z1)",
        "stop",
        "start(v,z1)",
        "step(m1)",
        "stop",
        "start(v,z1)",
        "step(m1)",
        "step(z4)",
        "stop",
    )
    assert state.money[0] == 20 - sum(costs)


def test_w5_any_time_sale() -> None:
    state = place(money=[0, 20], warehouse=[goods(1, 2), {}], hold=[goods(6), {}])
    while sales := [action for action in legal(state) if action.startswith("sell")]:
        do(state, sales[0])
    assert state.money[0] == 27


def test_w6_full_hold() -> None:
    five = do(place(cards=["k1", "k2"], warehouse=[goods(1, 1), {}], hold=[goods(5), {}]), "use(1,main)")
    assert do(five, "transfer(5,1,0)").vp[0] == 1
    six = do(place(cards=["k1", "k2"], warehouse=[goods(0, 1), {}], hold=[goods(6), {}]), "use(1,main)")
    assert do(six, "transfer(5,1,0)").vp[0] == 0


def test_w7_compensation() -> None:
    slots = {
        "ow1": "b11",
        "ow2": "b12",
        "ow3": "b13",
        "on1": "a1",
        "on2": "a2",
        "on3": "b21",
        "oe1": "a3",
        "oe2": "b22",
        "oe3": "b23",
    }
    at_sea: dict[str, Any] = {
        "ship": ["ow", "ow"],
        "hold": [goods(6), goods(6)],
        "scrapped": [f"a{number}" for number in range(4, 10)],
    }
    state = place(
        cards=["k8", "k8"][:1], others={1: ["k8"]}, slots=slots, sea_money={"ow": 5, "on": 5}, money=[30, 30], **at_sea
    )
    assert legal(do(state, "use(1,main)"))[0] == f"acquire(ow1,{PayTo.ON.name.lower()})"
    do(state, "acquire(ow1,on)")
    assert state.sea_money == [5, 15, 0]
    assert legal(do(state, "use(1,main)")) == ["acquire(ow2,oe)", "acquire(ow3,oe)"]
    do(state, "acquire(ow2,oe)")
    assert state.sea_money == [5, 15, 10]
    data = {**state.to_json(), "phase": "USE", "seat": 0, "plan": [{"cards": ["k8"]}, {}], "hold": [goods(3), {}]}
    third = read(2, data, {})
    assert legal(do(third, "use(1,main)"))[0].endswith(",supply)")
    assert third.ship[0] is Sector.OW


def test_w8_city_bonus_tie() -> None:
    state = place(3, cards=["k2"], row=[0, 0, 2, 1, 1], money=[0, 0, 0])
    do(state, "use(1,alt)")
    assert state.money == [
        5 + 2,
        5 + 5,
        0,
    ]  # seat 0 has used a card for 5 pesos, the fourth space brings seat 1 5 pesos


def test_w9_final_scoring() -> None:
    state = place(
        phase="OVER",
        vp=[11, 0],
        money=[47, 0],
        warehouse=[goods(2, 2, 1), {}],
        hold=[goods(4), {}],
        achievements=[["a1", "b11"], []],
    )
    assert state.phase is Phase.OVER
    assert state.scores()[0] == 19
    assert state.observation(None).seats[0].rest_money == 14
    assert refused_after_the_end(state)


def refused_after_the_end(state: ValparaisoState) -> bool:
    return refused(state, "pass", seat=0) == "V7.1"
