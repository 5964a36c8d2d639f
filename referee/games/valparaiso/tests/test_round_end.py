"""Houses, the end of a round and of the match (RULES.md, V5 to V7)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.valparaiso.names import Card, Location, Phase
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import default, do, goods, legal, place, refused


def last_card(seats: int = 2, **rest: Any) -> ValparaisoState:
    """Seat 0 has used the last card of the round: its alternative, 5 pesos."""
    return do(place(seats, cards=["k2"], **rest), "use(1,alt)")


def test_v5_1_houses_in_valparaiso_bring_revenue_bonus_and_the_first_turn() -> None:
    state = last_card(row=[1])
    assert (state.warehouse[1], state.money[1], state.start_seat) == ([0, 0, 1], 25, 1)


def test_v5_4_merchants_may_stay_where_the_seat_has_a_house() -> None:
    state = last_card(merchants=[{"m1": 2}, {"v": 2}], houses=[{"location": "m1", "space": 0, "seat": 0}])
    assert (state.phase, legal(state)) == (Phase.RETURN, ["recall(m1)", "done"])


def test_v5_5_houses_stay_and_are_no_merchants() -> None:
    state = last_card(houses=[{"location": "m1", "space": 0, "seat": 0}])
    assert state.houses == {(Location.M1, 0): 0}
    assert state.phase is Phase.PLAN


@pytest.mark.parametrize(
    ("row", "money", "warehouse", "vp"),
    [
        ([0], 25, [0, 0, 1], 0),
        ([0, 0], 25, [0, 1, 1], 0),
        ([1, 1, 1, 0], 25 + 5 - 3, [0, 0, 0], 0),
        ([1, 1, 1, 1, 0], 22, [1, 0, 0], 0),
        ([1, 1, 1, 1, 0, 0], 22, [1, 0, 0], 1),
    ],
)
def test_v6_1_every_house_in_valparaiso_brings_the_revenue_of_its_space(
    row: list[int], money: int, warehouse: list[int], vp: int
) -> None:
    state = last_card(row=row, money=[15, 20])
    assert (state.money[0], state.warehouse[0], state.vp[0]) == (money, warehouse, vp)


@pytest.mark.parametrize(
    ("row", "bonus"),
    [
        ([], [0, 0, 0]),
        ([2], [0, 0, 5]),
        ([2, 1], [0, 5, 2]),
        ([1, 2, 2], [0, 2, 5]),
        ([0, 1, 2], [0, 2, 5]),
        ([2, 2, 1, 1], [0, 5, 2]),
        ([1, 2, 2, 1], [0, 5, 2]),  # the last house decides, not the first
    ],
)
def test_v6_2_the_most_houses_earn_5_pesos_the_second_most_2_and_later_builders_win_ties(
    row: list[int], bonus: list[int]
) -> None:
    state = last_card(3, row=row, money=[0, 0, 0])
    fourth = [5 * (len(row) == 4 and row[3] == seat) for seat in range(3)]  # the revenue of the fourth space
    assert state.money == [5 * (seat == 0) + bonus[seat] + fourth[seat] for seat in range(3)]


class TestScrap:
    """V6.3."""

    def test_v6_3_each_seat_with_a_card_may_scrap_one_for_its_points(self) -> None:
        state = last_card(3, achievements=[["a1", "b11"], [], ["a2"]])
        assert (state.seats_to_act(), legal(state)) == ((0,), ["scrap(a1)", "scrap(b11)", "pass"])
        assert refused(state, "scrap(a2)") == "V6.3"
        assert default(state) == "pass"
        do(state, "scrap(b11)")
        assert (state.vp[0], state.owned[0], state.scrapped) == (3, (Card.A1,), (Card.B11,))
        assert state.seats_to_act() == (2,)
        do(state, "pass")
        assert state.phase is Phase.PLAN

    def test_v6_3_in_the_order_of_the_round(self) -> None:
        state = place(3, seat=1, start_seat=2, achievements=[["a1"], ["a2"], ["a3"]])
        do(state, "use(1,alt)")
        order = []
        while state.phase is Phase.SCRAP:
            order.append(state.seats_to_act()[0])
            do(state, "pass")
        assert order == [2, 0, 1]


def test_v6_4_the_match_ends_after_all_have_scrapped() -> None:
    state = last_card(achievements=[["a1"], ["a2"]], vp=[16, 0])
    do(state, "scrap(a1)")
    assert not state.is_over()
    do(state, "pass")
    assert state.is_over()


class TestReturn:
    """V6.5."""

    def test_v6_5_at_most_one_merchant_stays_in_villages_without_an_own_house(self) -> None:
        state = last_card(merchants=[{"m1": 1, "z1": 1}, {"z2": 1, "v": 1}])
        assert legal(state) == ["recall(m1)", "recall(z1)"]
        assert refused(state, "done") == "V6.5"
        assert refused(state, "recall(v)") == "V6.5"
        assert default(state) == "recall(z1)"
        do(state, "recall(m1)")
        assert default(state) == "done"
        do(state, "done")
        assert (state.seats_to_act(), legal(state)) == ((1,), ["recall(z2)", "done"])
        do(state, "recall(z2)")
        assert (state.phase, state.merchants[1][Location.V]) == (Phase.PLAN, 2)

    def test_v6_5_with_the_option_only_one_in_all_villages(self) -> None:
        house = [{"location": "m1", "space": 0, "seat": 0}]
        state = last_card(merchants=[{"m1": 2}, {"v": 2}], houses=house, options={"return_rule": "one_only"})
        assert legal(state) == ["recall(m1)"]
        assert default(state) == "recall(m1)"
        do(state, "recall(m1)")
        assert legal(state) == ["recall(m1)", "done"]

    def test_v6_5_in_the_order_of_the_round(self) -> None:
        state = place(3, seat=0, start_seat=1, merchants=[{"m1": 2}, {"m1": 2}, {"m1": 2}])
        do(state, "use(1,alt)")
        assert state.seats_to_act() == (1,)

    def test_v6_5_the_default_keeps_whom_a_house_shelters(self) -> None:
        house = [{"location": "z4", "space": 0, "seat": 0}]
        state = last_card(3, merchants=[{"m1": 2, "z4": 1}, {"v": 2}, {"v": 2}], houses=house)
        assert default(state) == "recall(m1)"


@pytest.mark.parametrize(("row", "start", "then"), [([], 0, 1), ([], 2, 0), ([1], 0, 1), ([1], 1, 2), ([0, 2], 0, 2)])
def test_v6_6_the_last_builder_in_valparaiso_begins_or_else_the_left_neighbour(
    row: list[int], start: int, then: int
) -> None:
    assert last_card(3, row=row, start_seat=start).start_seat == then


def test_v6_7_then_the_next_round_is_planned() -> None:
    state = last_card(3)
    assert (state.round, state.phase, state.seats_to_act()) == (4, Phase.PLAN, (0, 1, 2))


@pytest.mark.parametrize(("vp", "over"), [(17, False), (18, True), (30, True)])
def test_v7_1_18_points_on_the_track_end_the_match(vp: int, over: bool) -> None:
    assert last_card(vp=[0, vp]).is_over() is over


def test_v7_1_so_does_a_slot_that_cannot_be_refilled() -> None:
    rest = ["b11", "b12", "b13", "b21", "b22", "b23"]
    state = place(cards=["k8"], ship=["ow", "h"], hold=[goods(3), {}], scrapped=rest, deck=[], others={1: ["k2"]})
    do(state, "use(1,main)", "acquire(ow1,none)")
    assert not state.is_over()
    do(state, "use(1,alt)", "pass")
    assert state.is_over()


def test_v7_1_and_the_last_round() -> None:
    assert last_card(options={"max_rounds": 3}).is_over()
    assert not last_card(options={"max_rounds": 4}).is_over()


def test_v7_2_goods_and_pesos_are_turned_into_points_and_cards_are_counted() -> None:
    state = last_card(
        vp=[18, 0], money=[31, 19], warehouse=[goods(1), {}], hold=[goods(0, 1), {}], achievements=[["a1"], ["b11"]]
    )
    do(state, "pass", "pass")
    assert state.scores() == [18 + 2 + 2, 3]
    assert [view.rest_money for view in state.observation(None).seats] == [2, 19]


@pytest.mark.parametrize(
    ("vp", "money", "start", "ranks"),
    [
        ([18, 17, 0], [0, 0, 0], 0, [1, 2, 3]),
        ([18, 18, 18], [1, 3, 2], 1, [1, 2, 3]),  # seat 0 gets 5 pesos for its card
        ([18, 18, 18], [0, 5, 5], 0, [3, 2, 1]),
        ([18, 18, 18], [0, 5, 5], 1, [1, 3, 2]),
    ],
)
def test_v7_3_points_then_pesos_left_then_who_went_last(
    vp: list[int], money: list[int], start: int, ranks: list[int]
) -> None:
    state = last_card(3, vp=vp, money=money, start_seat=start)
    assert state.is_over()
    assert state.ranks() == ranks
