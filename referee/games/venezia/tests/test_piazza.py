"""The Piazza (RULES.md, Z3 to Z6)."""

from __future__ import annotations

from typing import Any

from referee.games.venezia import piazza
from referee.games.venezia.names import FirstCard, Phase, Square
from referee.games.venezia.tests.table import do, legal, place, plan, refused
from referee.kit.chance import FastChance

SPIN: dict[str, Any] = {"tourist": ["a9", "h1"], "hunter": ["h10"]}


def test_z3_1_first_cards_are_turned_one_after_another() -> None:
    state = place(phase="PLACE", seat=0, plans={0: plan("piazza", on_first=1), 1: plan("piazza", on_first=1)})
    assert [view.first for view in state.observation(1).seats] == [FirstCard.PIAZZA, None]
    do(state, "place_pigeon(a1)")
    assert [view.first for view in state.observation(0).seats] == [FirstCard.PIAZZA] * 2


def test_z3_2_the_feint_gives_its_pigeons_to_the_piles_and_the_rest_back() -> None:
    state = place(phase="FEINT", plans={0: plan("feint", ("can", 1), ("cas", 0), on_first=5)}, piazza={"e5": 1})
    assert legal(state) == [f"feint({n})" for n in range(6)]
    assert refused(state, "feint(6)") == "Z3.2"
    do(state, "feint(2)")
    do(state, "feint(1)", **SPIN)
    assert (state.piles[0], state.reserve[0]) == ([3, 1], 14)
    state = place(phase="FEINT", plans={0: plan("feint", ("can", 1), ("cas", 0), on_first=5)}, piazza={"e5": 1})
    do(state, "feint(5)", **SPIN)  # nothing is left to decide about
    assert state.piles[0] == [6, 0]


def test_z3_3_pigeons_are_placed_on_empty_squares_and_the_rest_goes_back() -> None:
    state = place(phase="PLACE", plans={0: plan("piazza", on_first=3)}, piazza={"a2": 1})
    assert len(legal(state)) == 79  # 79 squares but for a2, and done
    for square in ("a2", "f8"):
        assert refused(state, f"place_pigeon({square})") == "Z3.3"
    do(state, "place_pigeon(a1)")
    do(state, "done", **SPIN)
    assert (state.piazza[Square.A1], state.reserve[0]) == (0, 14)
    state = place(phase="PLACE", plans={0: plan("piazza", on_first=1)}, options={"campanile": False})
    do(state, "place_pigeon(f8)", **SPIN)
    assert state.piazza[Square.F8] == 0


def test_z3_4_first_and_district_cards_are_never_used_up() -> None:
    state = place(phase="MICHELE", cemetery=[1, 0])
    do(state, "michele(1)")
    assert state.phase is Phase.PLAN
    assert legal(state, 0) == ["first(feint)", "first(piazza)"]


def test_z4_1_e1_a_tourist_never_lands_on_another_or_on_the_campanile() -> None:
    state = place(phase="PLACE", plans={0: plan("piazza", on_first=1)})
    drawn = set()
    for seed in range(60):
        again = state.clone()
        again.piazza[0] = 0
        piazza.spin(again, FastChance(seed))
        assert len(set(again.tourists)) == 2
        assert Square.F8 not in again.tourists
        drawn |= set(again.tourists)
    assert len(drawn) > 50
    do(state, "place_pigeon(a1)", tourist=["c4", "e9"], hunter=["h10"])
    assert state.tourists == (Square.C4, Square.E9)


def test_z4_2_e2_a_tourist_may_land_on_a_pigeon_which_then_bears_five() -> None:
    state = place(phase="PLACE", plans={0: plan("piazza", on_first=1)})
    do(state, "place_pigeon(c4)", tourist=["c4", "h1"], hunter=["h10"])
    do(state, "done")
    assert (state.piazza[Square.C4], state.nest[0]) == (0, 5)


def test_z4_3_a_hunter_never_lands_where_a_tourist_or_a_hunter_is() -> None:
    state = place(phase="PLACE", plans={0: plan("piazza", on_first=1)}, options={"hunters": 2, "tourists": 3})
    for seed in range(60):
        again = state.clone()
        piazza.spin(again, FastChance(seed))
        assert len({*again.tourists, *again.hunters}) == 5


def test_z4_4_e3_the_pigeons_in_the_danger_zone_go_to_the_cemetery() -> None:
    pigeons = {"d6": 1, "f7": 2, "e7": 3, "e9": 0}
    plans = {0: plan("piazza", on_first=1)}
    state = place(4, phase="PLACE", plans=plans, piazza=pigeons)
    do(state, "place_pigeon(a1)", tourist=["a9", "h1"], hunter=["e7"])
    assert state.cemetery == [0, 1, 1, 1]
    assert state.piazza[Square.E9] == 0
    zone = [square.name for square in Square if state.danger >> square & 1]
    assert zone == ["D6", "D7", "D8", "E6", "E7", "E8", "F6", "F7"]


def test_z5_1_z5_6_a_pigeon_moves_once_and_nobody_else_in_between() -> None:
    state = place(piazza={"d4": 0, "g4": 0, "d5": 1})
    do(state, "walk(g4,g5)")
    assert not any("g5" in action.split(",")[0] for action in legal(state))
    assert refused(state, "walk(g5,g6)") == "Z5.1"
    assert refused(state, "walk(d5,d6)") == "Z5.1"
    do(state, "jump(d4,d6)")
    assert state.phase is Phase.MOVE
    assert legal(state) == ["done"]
    state = place(piazza={"d2": 0, "d3": 1, "c5": 1, "g4": 0})
    do(state, "jump(d2,d4)")
    assert refused(state, "walk(g4,g5)") == "Z5.2"
    assert refused(state, "jump(g4,g6)") == "Z5.6"


def test_z5_1_each_seat_in_turn_may_move_all_its_pigeons() -> None:
    state = place(phase="PLACE", piazza={"d4": 0, "e5": 1, "f6": 1}, plans={0: plan("piazza", on_first=1)})
    do(state, "done", tourist=["a9", "a10", "b10"], hunter=["h10"])
    assert (state.phase, state.seat, set(state.unmoved)) == (Phase.MOVE, 0, {Square.D4})
    do(state, "done")
    assert (state.phase, state.seat, set(state.unmoved)) == (Phase.MOVE, 1, {Square.E5, Square.F6})


def test_z5_2_e4_a_walk_to_a_free_neighbour_also_with_a_tourist() -> None:
    state = place(piazza={"e5": 0, "d4": 1}, tourists=["e6", "h1"], hunters=["a1"])
    assert refused(state, "walk(e5,d4)") == "Z5.2"
    assert refused(state, "walk(e5,e7)") == "Z5.2"
    do(state, "walk(e5,e6)", "done")
    assert state.nest[0] == 5
    state = place(piazza={"e7": 0}, hunters=["e5"])
    assert refused(state, "walk(e7,e6)") == "Z5.2"  # the danger zone
    assert legal(state) == [*(f"walk(e7,{end})" for end in ("d7", "d8", "e8", "f7")), "done"]  # f8 is the Campanile


def test_z5_3_e5_a_jump_over_one_pigeon_or_tourist() -> None:
    state = place(3, piazza={"d2": 0, "d3": 1, "c5": 2, "b7": 2}, tourists=["a9", "h1"], hunters=["h10"])
    assert legal(state) == [
        *(f"walk(d2,{end})" for end in ("c1", "c2", "c3", "d1", "e1", "e2", "e3")),
        "jump(d2,d4)",
        "done",
    ]
    do(state, "jump(d2,d4)")
    assert legal(state) == ["jump(d4,b6)", "stop"]
    do(state, "jump(d4,b6)")
    assert legal(state) == ["jump(b6,b8)", "stop"]
    do(state, "jump(b6,b8)")
    assert state.phase is Phase.MOVE
    do(state, "done")
    assert state.nest[0] == 2
    assert refused(place(piazza={"d2": 0}), "jump(d2,d4)") == "Z5.3"


def test_z5_3_a_tourist_in_the_danger_zone_is_jumped_over_by_an_option_only() -> None:
    where: dict[str, Any] = {"piazza": {"d2": 0}, "tourists": ["d3", "h1"], "hunters": ["c4"]}
    assert "jump(d2,d4)" not in legal(place(**where))
    free: dict[str, Any] = {"piazza": {"d2": 0}, "tourists": ["e3", "h1"], "hunters": ["d5"]}
    assert "jump(d2,f4)" in legal(place(**free))
    near: dict[str, Any] = {"piazza": {"d2": 0}, "tourists": ["e3", "h1"], "hunters": ["d4"]}
    assert "jump(d2,f4)" not in legal(place(**near))
    assert "jump(d2,f4)" in legal(place(options={"jump_over_danger": True}, **near))


def test_z5_4_a_chain_never_comes_back_to_where_it_has_been() -> None:
    state = place(piazza={"d4": 0, "d5": 1, "e6": 1, "e5": 1})
    do(state, "jump(d4,d6)")
    assert refused(state, "jump(d6,d4)") == "Z5.4"
    assert refused(state, "walk(d6,d7)") == "Z5.2"
    do(state, "stop")
    assert legal(state) == ["done"]


def test_z5_5_jumped_pigeons_stay_where_they_are() -> None:
    state = do(place(piazza={"d4": 0, "d5": 1}), "jump(d4,d6)")
    assert state.piazza[Square.D5] == 1


def test_z5_7_an_obstacle_may_be_jumped_twice_from_different_sides() -> None:
    around = place(piazza={"e4": 0, "d5": 1, "c5": 1, "d6": 1})
    do(around, "jump(e4,c6)")
    assert "jump(c6,e6)" in legal(around)


def test_z6_1_z6_2_e6_single_pigeons_between_two_of_the_mover_are_captured() -> None:
    pigeons = dict.fromkeys(("c3", "c5", "d3", "f5", "g1", "g4", "b8"), 0)
    pigeons |= {"c4": 1, "e4": 2, "g2": 3, "g3": 3, "b7": 3, "b9": 3}
    state = do(place(4, piazza=pigeons), "done")
    assert state.cemetery == [0, 1, 1, 0]
    assert [state.piazza[Square[name]] for name in ("C4", "E4", "G2", "G3", "B8")] == [-1, -1, 3, 3, 0]
    state = do(place(4, seat=3, piazza=pigeons), "done")
    assert state.cemetery == [1, 0, 0, 0]


def test_z6_1_captures_are_made_along_all_four_axes() -> None:
    for one, captured, other in (("c3", "d4", "e5"), ("c4", "d4", "e4"), ("c5", "d4", "e3"), ("d3", "d4", "d5")):
        assert do(place(piazza={one: 0, captured: 1, other: 0}), "done").cemetery == [0, 1]
    bent = {"c3": 0, "d4": 1, "e4": 0}
    assert do(place(piazza=bent), "done").cemetery == [0, 0]


def test_z6_2_one_pigeon_alone_captures_nobody() -> None:
    for diagonal in (True, False):
        for neighbour in ("c3", "c4", "c5", "d3", "d5", "e3", "e4", "e5"):
            state = place(piazza={"d4": 1, neighbour: 0}, options={"capture_diagonal": diagonal})
            assert do(state, "done").cemetery == [0, 0]


def test_z5_2_z6_3_the_corner_squares_are_neighbours_like_others() -> None:
    state = place(piazza={"a2": 0})
    assert legal(state) == [*(f"walk(a2,{end})" for end in ("a1", "a3", "b1", "b2", "b3")), "done"]
    assert do(place(piazza={"b2": 0}, tourists=["a1", "h1"]), "done").nest[0] == 2
    assert "jump(a3,a1)" in legal(place(piazza={"a3": 0, "a2": 1}))


def test_z6_1_without_diagonal_captures_the_rows_and_columns_capture() -> None:
    straight: dict[str, Any] = {"options": {"capture_diagonal": False}}
    row, column = {"c3": 0, "c4": 1, "c5": 0}, {"e7": 0, "f7": 1, "g7": 0}
    assert do(place(piazza=row, **straight), "done").cemetery == [0, 1]
    assert do(place(piazza=column, **straight), "done").cemetery == [0, 1]
    falling, rising = {"c3": 0, "d4": 1, "e5": 0}, {"e3": 0, "d4": 1, "c5": 0}
    assert do(place(piazza=falling, **straight), "done").cemetery == [0, 0]
    assert do(place(piazza=rising, **straight), "done").cemetery == [0, 0]


def test_z6_3_e7_births() -> None:
    state = do(place(piazza={"c3": 0, "d5": 0}, tourists=["d4", "h1"]), "done")
    assert (state.nest[0], state.supply[0]) == (4, 22)
    state = do(place(piazza={"d4": 0}, tourists=["d4", "h1"]), "done")
    assert state.nest[0] == 5
    state = do(place(piazza={"d4": 0}, tourists=["d4", "d5"]), "done")
    assert state.nest[0] == 5
    state = do(place(piazza={"d4": 0}, tourists=["d3", "d5"]), "done")
    assert state.nest[0] == 2
    state = do(place(piazza={"d4": 0}, tourists=["d4", "d5"], options={"births_rule": "per_tourist"}), "done")
    assert state.nest[0] == 7
    state = do(place(piazza={"d4": 0}, tourists=["d4", "h1"], reserve=[37, 12]), "done")
    assert (state.nest[0], state.supply[0]) == (2, 0)  # R16


def test_z6_4_a_seat_without_pigeons_on_the_piazza_is_skipped() -> None:
    state = do(place(3, piazza={"d4": 0, "d9": 2}), "done")
    assert (state.phase, state.seat) == (Phase.MOVE, 2)
