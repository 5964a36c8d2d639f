"""Merchants on roads and rivers (RULES.md, V4.4, V4.10 and V5.2)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.valparaiso.names import Location, Phase
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import default, do, goods, legal, place, refused


def moving(seats: int = 2, card: str = "k4", **rest: Any) -> ValparaisoState:
    """A seat that has begun to move merchants."""
    owned = [[card] if card[0] != "k" else [], *([] for _ in range(seats - 1))]
    return do(place(seats, cards=[card, "k2"], achievements=owned, **rest), "use(1,main)")


def house(location: str, seat: int) -> dict[str, Any]:
    return {"location": location, "space": 0, "seat": seat}


def test_v4_4_one_step_is_free_two_cost_1_and_three_cost_4() -> None:
    state = do(moving(), "start(v,z1)")
    assert state.money[0] == 20
    do(state, "step(m1)")
    assert state.money[0] == 19
    do(state, "step(z4)")
    assert state.money[0] == 16
    assert legal(state) == ["stop"]
    assert refused(state, "step(m2)") == "V4.4"


def test_v4_4_a_better_move_has_two_free_steps_and_the_third_for_3() -> None:
    state = do(moving(card="a1"), "start(v,z1)", "step(m1)")
    assert state.money[0] == 20
    assert do(state, "step(z4)").money[0] == 17


def test_v4_4_each_merchant_moves_once_and_at_least_one_moves() -> None:
    state = moving(merchants=[{"v": 1, "z3": 1}, {"v": 2}])
    assert "done" not in legal(state)
    assert refused(state, "done") == "V3.5"
    do(state, "start(z3,m2)", "stop")
    assert refused(state, "start(m2,z3)") == "V4.4"
    assert legal(state) == ["start(v,z1)", "start(v,z2)", "start(v,z3)", "done"]
    do(state, "start(v,z3)", "stop")
    assert state.phase is Phase.USE


def test_v4_4_roads_are_followed_and_no_location_is_visited_twice() -> None:
    state = moving()
    assert refused(state, "start(v,m1)") == "V4.4"
    do(state, "start(v,z1)")
    assert refused(state, "step(v)") == "V4.4"
    do(state, "step(z3)")
    assert refused(state, "step(z1)") == "V4.4"
    assert legal(state) == ["step(m2)", "step(z2)", "stop"]


def test_v4_4_a_step_is_paid_at_once() -> None:
    state = do(moving(money=[0, 20]), "start(v,z1)")
    assert refused(state, "step(m1)") == "V4.4"
    assert legal(state) == ["stop"]
    seller = do(moving(money=[0, 20], warehouse=[goods(1), {}]), "start(v,z1)", "sell(warehouse,silver)", "step(m1)")
    assert seller.money[0] == 2


def test_v5_2_an_own_customs_house_makes_the_step_onto_it_free_and_uncounted() -> None:
    state = do(moving(houses=[house("z1", 0), house("z3", 0)]), "start(v,z1)", "step(z3)", "step(m2)", "step(z4)")
    assert state.money[0] == 19
    do(state, "step(m1)")
    assert state.money[0] == 16


def test_v5_2_an_own_customs_house_may_be_entered_after_the_third_step() -> None:
    state = do(moving(houses=[house("z4", 0)]), "start(v,z3)", "step(z1)", "step(m1)")
    assert state.money[0] == 16
    assert legal(state) == ["step(z4)", "stop"]


def test_v5_2_each_merchant_pays_2_pesos_to_the_owner_for_each_step_onto_a_customs_house() -> None:
    state = do(moving(houses=[house("z1", 1)]), "start(v,z1)", "step(m1)", "stop", "start(v,z1)", "stop")
    assert (state.money, state.phase) == ([20 - 2 - 1 - 2, 20 + 4], Phase.USE)
    assert refused(moving(houses=[house("z1", 1)], money=[1, 20]), "start(v,z1)") == "V4.4"


def test_v5_2_a_station_takes_no_toll() -> None:
    state = do(moving(houses=[house("m1", 1)]), "start(v,z1)", "step(m1)")
    assert state.money == [19, 20]


def test_v4_4_moving_needs_a_first_step_that_can_be_paid() -> None:
    blockers = [house("z1", 1), house("z2", 1), house("z3", 1)]
    assert refused(place(cards=["k4"], houses=blockers, money=[1, 20]), "use(1,main)") == "V3.2"


def test_v4_4_the_default_stops_then_ends_or_makes_the_first_step() -> None:
    state = moving()
    assert default(state) == "start(v,z1)"
    assert default(do(state, "start(v,z1)")) == "stop"
    assert default(do(state, "stop")) == "done"


class TestRivers:
    """V4.10."""

    def test_v4_10_each_merchant_at_a_river_is_relocated_once_to_another_location_at_a_river(self) -> None:
        state = moving(card="a3", merchants=[{"v": 1, "z1": 1}, {"v": 2}])
        assert legal(state) == ["river(v,m1)", "river(v,m2)", "river(v,z3)", "river(v,z4)"]
        assert refused(state, "river(v,v)") == "V4.10"
        assert refused(state, "river(z1,m1)") == "V4.10"
        do(state, "river(v,z4)")
        assert (state.merchants[0][Location.Z4], state.phase) == (1, Phase.USE)

    def test_v4_10_one_may_end_after_the_first(self) -> None:
        state = moving(card="a3")
        assert refused(state, "done") == "V3.5"
        do(state, "river(v,z4)")
        assert "done" in legal(state)
        assert refused(state, "river(z4,v)") == "V4.4"

    def test_v4_10_needs_a_merchant_at_a_river(self) -> None:
        state = place(cards=["a3"], achievements=[["a3"], []], merchants=[{"z1": 2}, {"v": 2}])
        assert refused(state, "use(1,main)") == "V3.2"

    def test_v4_10_tolls_are_an_option(self) -> None:
        free = do(moving(card="a3", houses=[house("z4", 1)]), "river(v,z4)")
        assert free.money == [20, 20]
        paid = moving(card="a3", houses=[house("z4", 1)], options={"river_toll": True}, warehouse=[goods(1), {}])
        assert legal(paid)[-1] == "sell(warehouse,silver)"
        assert do(paid, "river(v,z4)").money == [18, 22]

    @pytest.mark.parametrize(("money", "free"), [(1, False), (2, True)])
    def test_v4_10_a_toll_must_be_paid_at_once(self, money: int, free: bool) -> None:
        state = moving(card="a3", houses=[house("z4", 1)], options={"river_toll": True}, money=[money, 20])
        assert ("river(v,z4)" in legal(state)) is free
