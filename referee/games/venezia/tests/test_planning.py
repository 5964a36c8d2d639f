"""Set-up and planning (RULES.md, Z1 and Z2)."""

from __future__ import annotations

from collections import Counter

import pytest

from referee.game import IllegalAction, SetupError
from referee.games.venezia import GAME
from referee.games.venezia.board import MAX_PIGEONS
from referee.games.venezia.names import Phase, Step
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.state import VeneziaState
from referee.games.venezia.table import NO_PLAN
from referee.games.venezia.tests.table import BOARD, do, legal, place, plan, refused, setup
from referee.kit.chance import FastChance, LiveChance, ScriptedChance


def start(seats: int = 2, seed: int = 1, **options: object) -> VeneziaState:
    state = GAME.start(setup(seats, **options), LiveChance(seed))
    assert isinstance(state, VeneziaState)
    assert state.problems() == []
    return state


def seen(state: VeneziaState, viewer: int | None = None) -> VeneziaObservation:
    found = state.observation(viewer)
    assert isinstance(found, VeneziaObservation)
    return found


def test_z1_1_z1_5_two_to_four_seats_and_no_other_difference() -> None:
    for seats in (2, 3, 4):
        assert start(seats).setup.seats == seats
    for seats in (1, 5):
        with pytest.raises(SetupError, match="2 to 4 seats"):
            setup(seats)


def test_z1_2_e8_what_everybody_starts_with() -> None:
    state = start(3)
    assert (state.supply, state.reserve, state.nest, state.score) == ([28] * 3, [12] * 3, [0] * 3, [0] * 3)
    assert (state.grey_side, [len(state.hand(seat)) for seat in range(3)]) == (6, [8] * 3)


def test_z1_3_the_first_player_is_seat_0_or_drawn() -> None:
    assert {start(3, seed).first_seat for seed in range(20)} == {0}
    assert set(Counter(start(3, seed, first_player="random").first_seat for seed in range(60))) == {0, 1, 2}


def test_z1_4_homes_are_chosen_in_turn_and_differ() -> None:
    state = start(2)
    assert legal(state) == [f"home({name})" for name in ("can", "cas", "dor", "giu", "mar", "pol", "cro", "sgm")]
    do(state, "home(sgm)")
    assert refused(state, "home(sgm)") == "Z1.4"
    do(state, "home(can)")
    assert state.phase is Phase.PLAN
    assert refused(start(2, home_sgm="forbidden"), "home(sgm)") == "Z1.4"
    assert len(legal(start(2, home_sgm="forbidden"))) == 7


def test_z0_1_seats_act_clockwise_from_the_first_player() -> None:
    state = start(3, 5, first_player="random")
    order: list[int] = []
    for name in ("can", "cas", "dor"):
        order += state.seats_to_act()
        do(state, f"home({name})")
    assert order == [(state.first_seat + step) % 3 for step in range(3)]


def test_z0_2_a_choice_without_alternative_is_a_list_of_one() -> None:
    state = place(phase="PLAN", reserve=[0, 12], cemetery=[12, 0])
    assert legal(state, 0) == ["first(feint)"]


def test_z2_1_seats_plan_at_once_and_see_nothing_of_each_other() -> None:
    state = place(3, phase="PLAN")
    assert state.seats_to_act() == (0, 1, 2)
    before = [seen(state, viewer) for viewer in (0, 2, None)]
    do(state, "first(piazza)", "card(feh)", "district(sgm)", "done", "count(4)", seat=1)
    assert [seen(state, viewer) for viewer in (0, 2, None)] == before
    assert seen(state, 1) != before[0]
    do(state, "count(3)", seat=1)
    assert state.seats_to_act() == (0, 2)
    assert [view.committed for view in seen(state).seats] == [False, True, False]
    assert seen(state).seats[1].reserve == 12


def test_z2_2_the_card_piazza_needs_a_pigeon_and_room() -> None:
    assert legal(place(phase="PLAN"), 0) == ["first(feint)", "first(piazza)"]
    assert refused(place(phase="PLAN", reserve=[0, 12], cemetery=[12, 0]), "first(piazza)", 0) == "Z2.2"
    do(place(phase="PLAN", reserve=[0, 12], cemetery=[12, 0]), "first(feint)", seat=0)
    full = {f"a{column}": 0 for column in range(1, 11)}
    assert refused(place(phase="PLAN", piazza=full), "first(piazza)", 0) == "Z2.2"


def test_z2_3_e8_an_action_card_from_round_2_on() -> None:
    state = do(place(phase="PLAN", round=1), "first(feint)", seat=0)
    assert state.plans[0].step is Step.DISTRICTS
    assert refused(state, "card(feh)", 0) == "Z2.3"
    state = do(place(phase="PLAN", round=3, discard={0: {"feh": 2}}), "first(feint)", seat=0)
    assert legal(state, 0)[:3] == ["card(none)", "card(fam)", "card(ueb)"]
    assert refused(state, "card(feh)", 0) == "Z2.3"
    spent = {name: when for when, name in enumerate(("fam", "feh", "ueb", "gif", "rau", "mic", "sau", "wei"), 2)}
    late = place(phase="PLAN", round=10, discard={0: spent}, options={"end_rule": "open"})
    state = do(late, "first(feint)", seat=0)
    assert state.plans[0].step is Step.DISTRICTS


def test_z2_4_up_to_three_different_places() -> None:
    state = do(place(phase="PLAN", round=1), "first(feint)", "district(sgm)", "district(can)", seat=0)
    assert legal(state, 0)[-1] == "done"
    assert refused(state, "district(sgm)", 0) == "Z2.4"
    do(state, "district(cas)", seat=0)
    assert state.plans[0].step is Step.COUNT
    assert refused(state, "done", 0) == "Z2.4"
    state = do(place(phase="PLAN", round=1), "first(feint)", "done", seat=0)
    assert state.plans[0].step is Step.COUNT


def test_z2_5_pigeons_are_laid_on_the_cards_from_the_reserve() -> None:
    three = {"b1": 0, "b2": 0, "b3": 0}
    state = do(place(phase="PLAN", round=1, piazza=three), "first(piazza)", "district(can)", "done", seat=0)
    assert legal(state, 0) == [f"count({n})" for n in range(1, 8)]
    assert refused(state, "count(0)", 0) == "Z2.5"
    do(state, "count(7)", seat=0)
    assert legal(state, 0) == [f"count({n})" for n in range(6)]
    assert refused(state, "count(6)", 0) == "Z2.5"
    state = do(place(phase="PLAN", round=1), "first(feint)", "done", seat=0)
    assert len(legal(state, 0)) == 13


def test_z2_6_a_made_plan_cannot_be_changed() -> None:
    state = do(place(phase="PLAN", round=1), "first(feint)", "done", "count(0)", seat=0)
    assert state.seats_to_act() == (1,)
    with pytest.raises(IllegalAction) as caught:
        state.apply(0, GAME.parse_action("first(piazza)"), ScriptedChance())
    assert caught.value.rule == "Z2.6"
    assert refused(place(piazza={"d4": 0}), "first(feint)") == "Z2.6"


def planned() -> VeneziaState:
    """Seat 0 has 2 pigeons on cas and 3 on can, in this order, seat 1 one on the Piazza card; the plans are revealed."""
    state = place(phase="PLAN")
    mine = ["first(feint)", "card(mic)", "district(cas)", "district(can)", "done", "count(1)", "count(2)", "count(3)"]
    do(state, *mine, seat=0)
    return do(state, "first(piazza)", "card(none)", "done", "count(1)", seat=1, slots0=[[1, 0]])


def test_z2_1_the_choices_of_a_plan_come_in_their_order() -> None:
    rules = {"first(feint)": "Z2.2", "card(feh)": "Z2.3", "district(can)": "Z2.4", "done": "Z2.4", "count(0)": "Z2.5"}
    state = place(phase="PLAN")
    for taken, possible in (
        (None, {"first(feint)"}),
        ("first(feint)", {"card(feh)"}),
        ("card(none)", {"district(can)", "done"}),
        ("done", {"count(0)"}),
    ):
        if taken:
            do(state, taken, seat=0)
        for action, rule in rules.items():
            if action not in possible:
                assert refused(state, action, 0) == rule
    assert refused(state, "home(cro)", 0) == "Z2.1"


def test_z2_7_numbers_are_public_when_all_have_committed_and_identities_are_not() -> None:
    mine, other = seen(planned(), 1).seats
    assert (mine.first_count, mine.card_planned, mine.piles) == (1, True, (3, 2))
    assert (other.first_count, other.card_planned, other.piles) == (1, False, ())
    assert (mine.action, mine.pile_places, other.first) == (None, (), None)


def test_z2_8_the_reserve_is_then_reduced() -> None:
    assert planned().reserve == [6, 11]


def test_z2_9_the_piles_lie_in_a_random_order() -> None:
    assert [place.name for place in planned().plans[0].slots] == ["CAN", "CAS"]
    orders = set()
    for seed in range(40):
        state = place(phase="PLAN", round=1, piazza={"d4": 0, "h1": 1})
        chance = FastChance(seed)
        for action in ("first(feint)", "district(can)", "district(cas)", "done", "count(0)", "count(1)", "count(2)"):
            state.apply(0, GAME.parse_action(action), chance)
        for action in ("first(feint)", "done", "count(0)"):
            state.apply(1, GAME.parse_action(action), chance)
        orders.add(tuple(state.piles[0]))
    assert orders == {(1, 2), (2, 1)}


def test_z2_10_the_order_of_choosing_is_for_its_owner_only() -> None:
    state = planned()
    own = seen(state, 0).plan
    assert own is not None
    assert [place.name for place in own.slots] == ["CAN", "CAS"]
    other = seen(state, 1).plan
    assert other is not None
    assert other.slots == ()
    assert seen(state).plan is None


def test_an_expired_plan_is_completed_by_the_rules_defaults() -> None:
    state = place(phase="PLAN")
    chance = FastChance(1)
    while 0 in state.seats_to_act():
        state.apply(0, state.default_action(0), chance)
    plan = state.plans[0]
    assert (plan.chosen, plan.counts, plan.step) == ((), (0,), Step.COMMITTED)


def test_z2_2_one_pigeon_and_room_for_one_are_enough_for_the_card_piazza() -> None:
    nine = {f"c{column}": 0 for column in range(1, 10)}
    for state in (place(phase="PLAN", reserve=[1, 12], cemetery=[11, 0]), place(phase="PLAN", piazza=nine)):
        do(state, "first(piazza)", "card(none)", "done", seat=0)
        assert legal(state, 0) == ["count(1)"]


def test_z2_5_all_pigeons_that_a_board_may_give_can_be_laid_on_one_card() -> None:
    most = {"pigeons": {"per_seat": MAX_PIGEONS, "start_reserve": MAX_PIGEONS}}
    state = place(phase="PLAN", round=1, board=most, reserve=[MAX_PIGEONS] * 2)
    do(state, "first(feint)", "done", seat=0)
    assert legal(state, 0) == [f"count({pigeons})" for pigeons in range(MAX_PIGEONS + 1)]


@pytest.mark.parametrize(
    ("where", "value", "said"),
    [
        (("piazza", "campanile"), "z9", "board.piazza.campanile must be one of a1"),
        (("pigeons", "start_reserve"), 41, "board.pigeons.start_reserve must be an integer from 0 to 40"),
        (("cards", "greys"), 7, "must not exceed the 6 grey pigeons"),
        (("end", "districts"), 3, "board.end.districts must be an integer from 4 to 7"),
    ],
)
def test_a_board_that_contradicts_itself_is_refused(where: tuple[str, str], value: object, said: str) -> None:
    board = {name: dict(table) for name, table in BOARD.items()}
    board[where[0]][where[1]] = value
    with pytest.raises(SetupError) as caught:
        GAME.setup(2, {}, board)
    assert said in str(caught.value)


def test_in_an_undone_sample_only_the_observer_has_begun_to_plan() -> None:
    state = start(3)
    do(state, "home(can)", "home(cas)", "home(dor)")
    do(state, "first(feint)", "done", "count(2)", seat=0)
    do(state, "first(piazza)", seat=1)
    undone = GAME.sample(state.setup, seen(state, 1), FastChance(1), undone=True)
    assert isinstance(undone, VeneziaState)
    assert undone.plans == [NO_PLAN, state.plans[1], NO_PLAN]
    assert undone.problems() == []
    assert undone.seats_to_act() == (0, 1, 2)


def test_an_undone_sample_after_the_planning_has_plans_that_fit() -> None:
    state = place(3, phase="MOVE", seat=1, piazza={"a1": 1}, plans={2: plan("feint", ("cas", 3))})
    sample = GAME.sample(state.setup, seen(state, 1), FastChance(1), undone=True)
    assert sample.observation(1) == state.observation(1)
