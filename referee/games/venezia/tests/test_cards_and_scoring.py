"""Action cards, districts, scoring, cleaning and the end (RULES.md, Z7 to Z12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from referee.game import Action, IllegalAction, label
from referee.games.venezia import scoring
from referee.games.venezia.names import ActionCard, Phase, Place
from referee.games.venezia.state import VeneziaState
from referee.games.venezia.tests.table import do, legal, pigeons, place, plan, refused
from referee.kit.chance import ScriptedChance


def cards(*actions: str, seats: int = 0, **arguments: Any) -> VeneziaState:
    """The action cards of the seats have just been turned."""
    seats = seats or len(actions)
    plans = {seat: plan("feint", action=card) for seat, card in enumerate(actions)} | arguments.pop("plans", {})
    piazza = {"e1": seats - 1} | arguments.pop("piazza", {})
    state = place(seats, seat=seats - 1, plans=plans, piazza=piazza, unmoved=[], **arguments)
    return do(state, "done")


def executed(state: VeneziaState) -> list[list[str]]:
    return [[card.name for card in ActionCard if card and row[card - 1]] for row in state.discard]


def test_z7_1_a_card_that_several_play_is_for_the_lowest_score() -> None:
    assert executed(cards("mic", "mic", score=[3, 0])) == [[], ["MIC"]]
    assert executed(cards("mic", "mic")) == [[], []]  # R36
    assert executed(cards("mic", "mic", "mic", score=[3, 0, 6])) == [[], ["MIC"], []]
    assert executed(cards("mic", "mic", "mic", score=[3, 0, 0])) == [[], [], []]  # R35


def test_z7_2_z8_1_the_family_meeting_comes_first_and_empties_all_nests() -> None:
    state = cards("rau", "fam", nest=[3, 2])
    assert (state.phase, state.seat) == (Phase.FAMILY, 1)
    assert refused(state, "family(sgm)") == "Z8.1"
    do(state, "family(pol)")
    assert (pigeons(state, "pol"), state.nest) == ([3, 2], [0, 0])
    assert (state.phase, state.seat) == (Phase.RAPTOR, 0)


def test_z8_1_e9_after_it_nobody_reinforces_and_with_empty_nests_nothing_is_asked() -> None:
    assert executed(cards("fam", "none")) == [["FAM"], []]
    state = do(cards("fam", "none", nest=[1, 1]), "family(can)")
    assert state.phase is not Phase.REINFORCE


def test_z7_3_each_seat_reinforces_its_home_from_its_nest() -> None:
    state = cards("none", "none", nest=[3, 0], home=["sgm", "mar"])
    assert legal(state) == [f"reinforce({n})" for n in range(4)]
    assert refused(state, "reinforce(4)") == "Z7.3"
    do(state, "reinforce(2)")
    assert state.reserve[0] == 12 + 1 + 2  # what is left of the nest, and the cleaned island


def test_z7_4_cards_are_executed_in_turn_order() -> None:
    state = cards("rau", "rau", "gif", first_seat=1, score=[3, 0, 0], piazza={"d4": 1})
    assert (state.seat, state.phase) == (1, Phase.RAPTOR)
    do(state, "raptor(can)")
    assert (state.seat, state.phase) == (2, Phase.POISON)


def test_z7_4_the_first_player_and_not_seat_0_executes_first() -> None:
    state = cards("rau", "gif", "sau", first_seat=1, loc={"can": [1, 0, 0]})
    order: list[int] = [state.seat]
    for action in ("done", "purge(can,0)", "raptor(can)"):
        do(state, action)
        order.append(state.seat)
    assert order[:3] == [1, 2, 0]


def test_z7_5_an_executed_card_is_spent_even_without_effect() -> None:
    state = cards("sau", "feh")
    assert executed(state) == [["SAU"], ["FEH"]]
    assert [len(state.hand(seat)) for seat in range(2)] == [7, 7]


def test_z8_2_the_feud_removes_one_opposing_pigeon_in_each_district() -> None:
    state = cards("feh", "none", "none", loc={"can": [1, 2, 1], "pol": [0, 0, 1], "sgm": [0, 1, 0]})
    assert legal(state) == ["fehde(1)", "fehde(2)", "skip"]
    for nobody in ("fehde(0)", "fehde(3)", "fehde(-1)"):
        assert refused(state, nobody) == "Z8.2"
    do(state, "fehde(1)")
    assert (pigeons(state, "can"), state.reserve[1]) == ([1, 1, 1], 13)
    assert legal(state) == ["fehde(2)", "skip"]
    do(state, "skip")
    assert executed(state)[0] == ["FEH"]
    state = cards("feh", "none", loc={"sgm": [0, 1]}, options={"vatican_feud_sgm": True})
    assert legal(state) == ["fehde(1)", "skip"]


def test_z8_3_the_takeover_replaces_all_opposing_pigeons() -> None:
    elsewhere = {f"c{column}": 0 for column in range(1, 10)}
    state = cards("ueb", "none", loc={"can": [1, 5], "cas": [2, 0]}, reserve=[2, 12], nest=[4, 0], piazza=elsewhere)
    do(state, "reinforce(0)")
    assert legal(state) == ["takeover(can)"]
    assert refused(state, "takeover(cas)") == "Z8.3"
    do(state, "takeover(can)")
    assert legal(state) == ["from_reserve(1)", "from_reserve(2)"]
    assert state.reserve[1] == 17
    do(state, "from_reserve(1)")
    assert state.score[0] == 6  # can is his own home, and cas the other district
    state = cards("ueb", "none", loc={"can": [1, 5]}, reserve=[2, 12], piazza=elsewhere)
    do(state, "takeover(can)")  # no choice: only two pigeons there are
    assert state.reserve[0] == 3  # they were cleaned away again


def test_z8_3_where_the_nest_has_more_than_are_replaced_none_need_come_from_the_reserve() -> None:
    state = do(cards("ueb", "none", loc={"can": [0, 2]}, nest=[5, 0]), "reinforce(0)", "takeover(can)")
    assert legal(state) == ["from_reserve(0)", "from_reserve(1)", "from_reserve(2)"]
    assert refused(state, "from_reserve(-1)") == "Z8.3"
    assert refused(state, "from_reserve(3)") == "Z8.3"


@pytest.mark.parametrize(("from_reserve", "nest"), [(1, 0), (2, 1), (3, 2)])
def test_z8_3_the_rest_of_the_replacing_pigeons_comes_from_the_nest(from_reserve: int, nest: int) -> None:
    """Seen before the end of the round, at which the nest goes back into the reserve."""
    state = do(cards("ueb", "gif", loc={"can": [0, 5]}, nest=[4, 0]), "reinforce(0)", "takeover(can)")
    before = state.reserve[0]
    do(state, f"from_reserve({from_reserve})")
    assert state.phase is Phase.POISON
    assert (state.nest[0], before - state.reserve[0]) == (nest, from_reserve)


def test_z8_3_only_the_own_nest_counts_for_what_can_come_from_the_reserve() -> None:
    state = do(cards("ueb", "none", loc={"can": [0, 5]}, nest=[2, 4]), "reinforce(0)", "reinforce(0)", "takeover(can)")
    assert legal(state) == ["from_reserve(3)", "from_reserve(4)", "from_reserve(5)"]


def test_z8_3_a_takeover_without_opponents_has_no_effect() -> None:
    state = cards("ueb", "none", loc={"can": [2, 0], "sgm": [0, 1]})
    assert (state.phase, executed(state)[0]) == (Phase.PLAN, ["UEB"])


def test_z8_4_poison_removes_up_to_three_pigeons_of_anybody() -> None:
    state = cards("none", "gif", piazza={"a1": 0, "a2": 0, "a3": 1})
    assert legal(state) == ["poison(a1)", "poison(a2)", "poison(a3)", "poison(e1)", "done"]
    assert refused(state, "poison(b1)") == "Z8.4"
    do(state, "poison(a1)", "poison(e1)", "poison(a2)")
    assert executed(state)[1] == ["GIF"]
    state = cards("none", "gif")
    do(state, "done")
    assert executed(state)[1] == ["GIF"]


def test_z8_4_on_an_empty_piazza_there_is_nothing_to_poison() -> None:
    state = place(phase="RAPTOR", plans={0: plan(action="rau"), 1: plan(action="gif")}, waiting=[0, 1])
    do(state, "raptor(can)")
    assert (state.phase, executed(state)) == (Phase.PLAN, [["RAU"], ["GIF"]])


def test_z8_5_where_the_bird_of_prey_is_nobody_scores() -> None:
    state = cards("rau", "none", loc={"mar": [3, 0], "can": [0, 1]})
    assert len(legal(state)) == 8
    do(state, "raptor(mar)")
    assert state.score == [0, 6]


def test_z8_5_z10_3_where_the_bird_of_prey_is_on_san_giorgio_nobody_recovers_a_card() -> None:
    island: dict[str, Any] = {"loc": {"sgm": [2, 1]}, "discard": {0: {"feh": 2}}, "round": 3}
    assert do(cards("none", "rau", **island), "raptor(can)").phase is Phase.RECOVER
    assert do(cards("none", "rau", **island), "raptor(sgm)").phase is Phase.PLAN


def test_z8_6_san_michele_brings_all_own_pigeons_back() -> None:
    state = cards("mic", "none", cemetery=[4, 0])
    assert (state.reserve[0], state.cemetery[0]) == (16, 0)


def test_z8_7_a_purge_removes_one_colour_from_a_district() -> None:
    state = cards("sau", "none", loc={"can": [1, 2], "cas": [0, 3]})
    assert legal(state) == ["purge(can,0)", "purge(can,1)", "purge(cas,1)"]
    for nobody in ("purge(cas,0)", "purge(cas,2)", "purge(cas,-1)"):
        assert refused(state, nobody) == "Z8.7"
    assert refused(state, "purge(sgm,1)") == "Z8.7"
    do(state, "purge(cas,1)")
    assert pigeons(state, "cas") == [0, 0]


def test_z8_7_by_default_a_purge_takes_an_opponents_colour() -> None:
    state = cards("sau", "none", loc={"can": [2, 0], "cas": [1, 3]})
    assert label(state.default_action(0)) == "purge(cas,1)"
    state = cards("sau", "none", loc={"pol": [2, 0], "cas": [1, 0]})
    assert label(state.default_action(0)) == "purge(cas,0)"


def test_z8_8_three_greys_are_added_or_moved_and_count_in_this_round() -> None:
    state = cards("wei", "none", loc={"dor": [0, 1]}, grey={"giu": 1})
    assert legal(state)[:2] == ["grey_add(can)", "grey_add(cas)"]
    assert refused(state, "grey_add(sgm)") == "Z8.8"
    assert refused(state, "grey_move(giu,giu)") == "Z8.8"
    do(state, "grey_move(giu,dor)")
    assert refused(state, "grey_move(dor,can)") == "Z8.8"  # this one was touched
    do(state, "grey_add(dor)", "grey_add(cro)")
    assert state.score == [6, 0]  # dor and cro
    state = cards("none", "none", loc={"dor": [0, 1]}, grey={"dor": 2})
    assert state.score == [0, 3]  # R22


def test_z8_8_greys_are_added_from_the_side_and_moved_between_districts() -> None:
    state = cards("wei", "none", grey={"giu": 4, "can": 2})
    districts = ("can", "cas", "dor", "giu", "mar", "pol", "cro")
    moves = [f"grey_move({start},{end})" for start in ("can", "giu") for end in districts if end != start]
    assert legal(state) == moves
    assert refused(state, "grey_add(pol)") == "Z8.8"
    state = cards("wei", "none", grey={"giu": 1})
    assert legal(state) == [f"grey_add({name})" for name in districts] + [
        f"grey_move(giu,{name})" for name in districts if name != "giu"
    ]
    do(state, "grey_add(pol)", "grey_add(pol)", "grey_add(dor)")
    assert not any(state.grey_untouched)  # the one in giu could still have been moved


def test_z8_4_poison_ends_when_the_piazza_is_empty() -> None:
    state = do(cards("none", "gif", piazza={"a1": 0}), "poison(a1)")
    assert legal(state) == ["poison(e1)", "done"]
    do(state, "poison(e1)")
    assert executed(state)[1] == ["GIF"]
    assert state.phase is Phase.PLAN


@pytest.mark.parametrize(
    ("state", "action", "rule"),
    [
        (lambda: cards("none", "none", nest=[2, 0]), "reinforce", "Z7.3"),
        (lambda: cards("none", "none", cemetery=[3, 1]), "michele", "Z10.4"),
        (lambda: place(phase="FEINT", plans={0: plan("feint", ("can", 1), on_first=2)}), "feint", "Z3.2"),
        (lambda: do(place(phase="PLAN", round=1), "first(feint)", "done", seat=0), "count", "Z2.5"),
    ],
)
def test_z2_5_z3_2_z7_3_z10_4_numbers_below_the_least_are_refused(
    state: Callable[[], VeneziaState], action: str, rule: str
) -> None:
    assert refused(state(), f"{action}(-1)") == rule
    assert f"{action}(0)" in legal(state())


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        ("home(cro)", "Z1.4"),
        ("feint(0)", "Z3.2"),
        ("place_pigeon(a1)", "Z3.3"),
        ("stop", "Z5.4"),
        ("family(can)", "Z8.1"),
        ("reinforce(0)", "Z7.3"),
        ("fehde(1)", "Z8.2"),
        ("skip", "Z8.2"),
        ("takeover(can)", "Z8.3"),
        ("from_reserve(0)", "Z8.3"),
        ("poison(d4)", "Z8.4"),
        ("raptor(can)", "Z8.5"),
        ("purge(can,0)", "Z8.7"),
        ("grey_add(can)", "Z8.8"),
        ("grey_move(can,cas)", "Z8.8"),
        ("recover(none)", "Z10.3"),
        ("michele(0)", "Z10.4"),
    ],
)
def test_z0_1_an_action_of_another_phase_is_refused_by_its_rule(action: str, rule: str) -> None:
    state = place(piazza={"d4": 0}, loc={"can": [1, 1]}, grey={"can": 1})
    assert refused(state, action) == rule
    state = place(phase="RAPTOR", plans={0: plan(action="rau")}, waiting=[0])
    for action_of_moves, rule_of_moves in (("walk(d4,d5)", "Z5.2"), ("jump(d4,d6)", "Z5.3"), ("done", "Z5.1")):
        assert refused(state, action_of_moves) == rule_of_moves


def test_z0_1_nobody_acts_for_another_and_only_with_actions_of_venezia() -> None:
    state = place(seat=1, piazza={"d4": 1})
    assert refused(state, "done", seat=0) == "Z0.1"
    with pytest.raises(IllegalAction, match="is not an action of venezia"):
        state.apply(1, Action(), ScriptedChance())


def test_z9_1_the_district_cards_are_turned_and_the_pigeons_placed() -> None:
    piles = {0: plan("feint", ("dor", 2), ("sgm", 1)), 1: plan("feint", ("dor", 1))}
    state = cards(seats=2, plans=piles, loc={"can": [9, 0]}, round=1)
    assert (pigeons(state, "dor"), pigeons(state, "sgm")) == ([2, 1], [1, 0])
    state = cards(seats=2, plans=piles, cemetery=[1, 0], round=1)
    assert (state.phase, state.piles) == (Phase.MICHELE, [[0, 0], [0]])


def test_z0_3_a_tie_is_no_majority() -> None:
    assert scoring.majority([2, 2, 1]) == -1
    assert scoring.majority([0, 0]) == -1
    assert scoring.majority([1, 3, 2]) == 1


def test_z0_4_pigeons_go_from_supply_to_nest_to_reserve() -> None:
    state = place(seat=1, piazza={"d4": 1}, tourists=["d4", "h1"])
    do(state, "done", "reinforce(1)")
    assert (state.supply[1], state.nest[1], state.reserve[1]) == (22, 0, 12 + 4 + 1)


def test_z10_1_e10_points_for_majorities() -> None:
    state = cards("none", "none", loc={"can": [1, 0], "mar": [2, 1], "dor": [0, 1], "giu": [1, 1]})
    assert state.score == [3 + 6, 3]


def test_z10_2_when_the_match_ends_nothing_further_happens() -> None:
    state = cards("none", "none", loc={"can": [1, 0]}, round=4, cemetery=[0, 2])
    assert (state.phase, pigeons(state, "can")) == (Phase.OVER, [1, 0])
    assert state.majority[Place.CAN] == 0
    assert refused(state, "michele(2)", seat=1) == "Z12.1"


def test_z10_3_the_majority_on_san_giorgio_recovers_a_card_of_an_earlier_round() -> None:
    endless = {"end_rule": "open"}
    state = cards("mic", "none", loc={"sgm": [1, 0]}, discard={0: {"feh": 2, "sau": 3}}, round=4, options=endless)
    assert legal(state) == ["recover(feh)", "recover(sau)", "recover(none)"]
    assert refused(state, "recover(mic)") == "Z10.3"  # executed in this round
    do(state, "recover(sau)")
    assert executed(state)[0] == ["FEH", "MIC"]
    assert cards("none", "none", loc={"sgm": [1, 0]}).phase is Phase.PLAN  # nothing to recover


def test_z10_3_without_a_majority_on_san_giorgio_nobody_recovers() -> None:
    for island in ([0, 0], [1, 1]):
        spent = {0: {"feh": 2}, 1: {"feh": 2}}
        assert cards("none", "none", loc={"sgm": island}, discard=spent, round=3).phase is Phase.PLAN


def test_z10_4_the_majority_in_the_cemetery_takes_back_up_to_two() -> None:
    state = cards("none", "none", cemetery=[3, 1])
    assert legal(state) == ["michele(0)", "michele(1)", "michele(2)"]
    assert refused(state, "michele(3)") == "Z10.4"
    do(state, "michele(2)")
    assert (state.reserve[0], state.cemetery) == (14, [1, 1])
    assert cards("none", "none", cemetery=[1, 1]).phase is Phase.PLAN


def test_z8_4_z8_8_z10_4_where_the_board_gives_nothing_to_decide_nothing_is_asked() -> None:
    assert cards("none", "none", cemetery=[3, 1], board={"scoring": {"from_cemetery": 0}}).phase is Phase.PLAN
    assert cards("gif", "none", board={"cards": {"poisoned": 0}}).phase is Phase.PLAN
    assert cards("wei", "none", board={"cards": {"greys": 0}}).phase is Phase.PLAN


def test_z11_1_the_fullest_places_are_emptied() -> None:
    state = cards("none", "none", loc={"can": [2, 1], "cas": [1, 0], "sgm": [0, 2]}, grey={"cas": 2})
    assert (pigeons(state, "can"), pigeons(state, "cas"), pigeons(state, "sgm")) == ([0, 0], [0, 0], [0, 2])
    assert (state.grey_side, state.reserve) == (6, [15, 13])


def test_z11_2_tourists_hunters_and_the_bird_leave_and_pigeons_stay() -> None:
    state = do(cards("rau", "none"), "raptor(can)")
    assert (state.tourists, state.hunters, state.danger, state.raptor, state.grey_owner) == ((), (), 0, -1, -1)
    assert state.on_piazza(1) == 1


def test_z11_3_z11_4_nests_empty_and_the_next_seat_is_first() -> None:
    state = cards("none", "none", "none", nest=[2, 0, 0])
    do(state, "reinforce(0)")
    assert (state.nest, state.reserve[0], state.first_seat, state.round) == ([0, 0, 0], 14, 1, 3)


FIVE = {name: [1, 0] for name in ("can", "cas", "dor", "giu", "pol")}


@pytest.mark.parametrize(
    ("arguments", "ends"),
    [
        ({"loc": FIVE}, True),
        ({"loc": FIVE, "options": {"end_rule": "fixed4"}}, False),
        ({"loc": FIVE, "options": {"end_rule": "open"}}, True),
        ({"score": [45, 0], "loc": {"can": [1, 0]}, "round": 3}, False),
        ({"score": [48, 0], "loc": {"can": [1, 0]}, "round": 3}, True),
        ({"score": [48, 0], "loc": {"can": [1, 0]}, "round": 3, "options": {"end_rule": "fixed4"}}, False),
        ({"round": 4}, True),
        ({"round": 4, "options": {"end_rule": "fixed4"}}, True),
        ({"round": 4, "options": {"end_rule": "open"}}, False),
        ({"round": 5, "options": {"end_rule": "open", "max_rounds": 5}}, True),
        ({}, False),
    ],
)
def test_z12_1_when_the_match_ends(arguments: dict[str, Any], ends: bool) -> None:
    assert cards("none", "none", **arguments).is_over() is ends


def test_z12_1_fifty_points_are_enough() -> None:
    state = place(piazza={"d4": 0})
    for points, won in ((49, False), (50, True)):
        state.score = [points, 0]
        assert scoring.is_won(state) is won


def test_z12_2_a_domination_beats_points() -> None:
    state = cards("none", "none", loc=FIVE, score=[0, 48], round=3)
    assert state.score == [15, 48]
    assert state.ranks() == [1, 2]


def test_z12_2_with_fixed4_the_domination_of_round_4_counts() -> None:
    state = cards("none", "none", loc=FIVE, score=[0, 60], round=4, options={"end_rule": "fixed4"})
    assert state.ranks() == [1, 2]


def test_z12_3_equal_points_share_a_place() -> None:
    state = cards("none", "none", "none", score=[6, 9, 6], round=4)
    assert state.ranks() == [2, 1, 2]
