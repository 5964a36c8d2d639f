"""Planning (RULES.md, V2)."""

from __future__ import annotations

import pytest

from referee.games.valparaiso.names import Card, Phase
from referee.games.valparaiso.tests.table import default, do, legal, place, refused

EXPERT = {"expert_timer": True}
EIGHT = [f"k{number}" for number in range(1, 9)]


def test_v2_1_all_seats_plan_at_once_in_any_order() -> None:
    state = place(3, phase="PLAN")
    assert state.seats_to_act() == (0, 1, 2)
    one, other = state.clone(), state.clone()
    do(do(one, "place(k2)", seat=0), "place(k3)", seat=2)
    do(do(other, "place(k3)", seat=2), "place(k2)", seat=0)
    assert one.to_json() == other.to_json()


def test_v2_2_slots_are_filled_from_the_left_and_the_fifth_needs_two_houses() -> None:
    state = do(place(phase="PLAN"), "place(k4)", "place(k6)", "place(k1)", "place(k8)")
    assert state.plans[0].cards == (Card.K4, Card.K6, Card.K1, Card.K8)
    assert refused(state, "place(k2)") == "V2.2"
    assert not any(action.startswith("place(") for action in legal(state))
    one_house = do(place(phase="PLAN", row=[0]), "place(k4)", "place(k6)", "place(k1)", "place(k8)")
    assert refused(one_house, "place(k2)") == "V2.2"
    richer = do(place(phase="PLAN", row=[0, 0]), "place(k4)", "place(k6)", "place(k1)", "place(k8)", "place(k2)")
    assert len(richer.plans[0].cards) == 5
    assert refused(richer, "place(k3)") == "V2.2"


def test_v2_3_the_mayors_slot_takes_one_card_for_5_pesos() -> None:
    state = do(place(phase="PLAN"), "mayor(k6)")
    assert refused(state, "mayor(k5)") == "V2.3"
    assert refused(place(phase="PLAN", money=[4, 20]), "mayor(k6)") == "V2.3"
    do(state, "commit", "commit")
    assert state.money[0] == 15


def test_v2_4_a_plan_may_be_empty_and_cannot_be_changed() -> None:
    state = place(phase="PLAN")
    assert "commit" in legal(state)
    do(state, "commit", seat=0)
    assert refused(state, "place(k1)", seat=0) == "V2.4"


def test_v2_5_every_own_card_can_be_planned_once() -> None:
    state = place(phase="PLAN", achievements=[["a3", "b11"], []])
    places = [f"place({card})" for card in [*EIGHT, "a3", "b11"]]
    assert legal(state, 0)[:10] == places
    assert legal(state, 1)[:8] == places[:8]
    do(state, "place(a3)")
    assert refused(state, "mayor(a3)") == "V2.5"
    assert refused(state, "place(a4)") == "V2.5"


def test_v2_6_when_all_have_committed_plans_are_revealed_and_the_start_player_uses_a_card() -> None:
    state = place(3, phase="PLAN", start_seat=1)
    for seat in (0, 2, 1):
        do(state, "place(k2)", "commit", seat=seat)
    assert (state.phase, state.seats_to_act()) == (Phase.USE, (1,))
    assert state.observation(None).seats[2].plan == (Card.K2,)


def test_v2_7_sales_and_payments_show_only_after_the_reveal() -> None:
    state = place(phase="PLAN", money=[1, 20], warehouse=[{"silver": 2}, {}])
    before = state.observation(1)
    do(state, "sell(warehouse,silver)", "sell(warehouse,silver)", "mayor(k4)", seat=0)
    assert state.observation(1) == before
    own = state.observation(0).plan  # type: ignore[attr-defined]
    assert (own.money, own.warehouse, own.mayor) == (2, (0, 0, 0), Card.K4)
    do(state, "commit", seat=0)
    do(state, "commit", seat=1)
    assert (state.money[0], state.warehouse[0]) == (2, [0, 0, 0])


def test_v1_3_goods_are_sold_while_planning_only_for_the_mayor() -> None:
    poor = place(phase="PLAN", money=[4, 20], warehouse=[{"silver": 2}, {"silver": 2}])
    assert "sell(warehouse,silver)" in legal(poor, 0)
    assert "sell(warehouse,silver)" not in legal(poor, 1)
    do(poor, "sell(warehouse,silver)", seat=0)
    assert refused(poor, "sell(warehouse,silver)", seat=0) == "V1.3"


def test_v2_4_the_default_is_to_commit_what_is_planned() -> None:
    state = do(place(phase="PLAN"), "place(k4)")
    assert default(state) == "commit"


class TestTheExpertGame:
    """V2.8."""

    def test_v2_8_the_first_to_commit_gets_a_good_before_the_reveal(self) -> None:
        state = place(3, phase="PLAN", options=EXPERT)
        do(state, "place(k2)", "commit", seat=2)
        assert state.first_finisher == 2
        do(state, "commit", seat=0)
        do(state, "place(k3)", "commit", seat=1)
        assert (state.phase, state.seats_to_act()) == (Phase.BONUS, (2,))
        assert legal(state) == ["bonus(silver)", "bonus(copper)", "bonus(wheat)"]
        assert state.observation(0).seats[1].plan == ()
        assert default(state) == "bonus(silver)"
        do(state, "bonus(wheat)")
        assert (state.warehouse[2], state.phase) == ([0, 0, 1], Phase.USE)

    def test_v2_8_who_closes_is_never_the_first_finisher(self) -> None:
        state = place(phase="PLAN", options=EXPERT)
        assert legal(state)[-2:] == ["commit", "close"]
        do(state, "place(k2)", "close", seat=0)
        assert state.window() is None
        do(state, "close", seat=1)
        assert state.phase is Phase.USE

    def test_v2_8_one_may_commit_after_others_have_closed(self) -> None:
        state = place(phase="PLAN", options=EXPERT)
        do(state, "close", seat=0)
        do(state, "commit", seat=1)
        assert (state.phase, state.seats_to_act()) == (Phase.BONUS, (1,))

    def test_v2_8_the_timer_is_open_from_the_first_commit_to_the_last(self) -> None:
        state = place(3, phase="PLAN", options={**EXPERT, "timer_seconds": 30, "countdown_seconds": 4})
        assert state.window() is None
        do(state, "commit", seat=1)
        window = state.window()
        assert window is not None
        assert (window.name, window.seconds) == ("planning 3", 34)
        do(state, "close", seat=0)
        assert state.window() == window
        do(state, "close", seat=2)
        assert state.window() is None

    def test_v2_8_out_of_time_a_plan_is_closed_as_it_is(self) -> None:
        assert default(do(place(phase="PLAN", options=EXPERT), "place(k4)")) == "close"

    def test_v2_8_without_the_option_there_is_no_close(self) -> None:
        assert refused(place(phase="PLAN"), "close") == "V2.1"

    def test_v2_8_only_the_first_declaration_is_heard_at_once(self) -> None:
        state = place(3, phase="PLAN", options=EXPERT)
        commit, close = (action for action in state.legal_actions(0) if str(action) in ("Commit()", "Close()"))
        assert state.is_public(0, commit)
        assert not state.is_public(0, close)
        do(state, "commit", seat=1)
        assert not state.is_public(0, commit)


@pytest.mark.parametrize("phase", ["PLAN", "USE"])
def test_v2_1_nothing_else_is_possible_meanwhile(phase: str) -> None:
    state = place(phase=phase)
    assert refused(state, "sail(ow)" if phase == "PLAN" else "place(k1)") in ("V2.1", "V2.4")
