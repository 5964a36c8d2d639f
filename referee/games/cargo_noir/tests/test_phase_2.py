"""Phase 2: smuggling goods for victory cards (RULES.md, C4)."""

from __future__ import annotations

import itertools

import pytest

from referee.games.cargo_noir import GAME
from referee.games.cargo_noir.names import Card, Phase
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.tests.table import counts, do, legal, place, refused


def smuggling(goods: dict[str, int], **arguments: object) -> CargoNoirState:
    """Seat 0 of two is in phase 2 with these goods."""
    return place(phase="P2", goods={0: goods}, **arguments)  # type: ignore[arg-type]


E1 = {"jewels": 4, "wild": 1, "cars": 3, "weapons": 1}


def test_e1_a_the_jewels_and_the_wild_buy_a_ship_and_a_warehouse() -> None:
    state = do(smuggling(E1), "sell_same(jewels,4,1)")
    assert state.credit == 25
    do(state, "buy(cargo_ship)")
    assert state.credit == 10
    do(state, "buy(warehouse)")
    assert state.credit == 0
    assert counts(state) == {"cars": 3, "weapons": 1}


def test_e1_b_the_cars_and_the_weapon_buy_a_warehouse() -> None:
    state = do(smuggling(E1), "sell_same(cars,3,0)", "sell_same(weapons,1,0)")
    assert state.credit == 10
    do(state, "buy(warehouse)")
    assert counts(state) == {"jewels": 4, "wild": 1}


@pytest.mark.parametrize("third", ["warehouse", "syndicate"])
def test_e1_c_d_everything_buys_three_cards(third: str) -> None:
    state = do(smuggling(E1), "sell_same(jewels,4,1)", "sell_same(cars,3,0)", "sell_same(weapons,1,0)")
    assert state.credit == 35
    do(state, "buy(cargo_ship)", "buy(warehouse)", f"buy({third})")
    assert state.credit == 0
    assert state.phase is Phase.P3


def test_c4_1_any_number_of_sets_and_cards_in_one_turn() -> None:
    state = smuggling({"gold": 3, "art": 3, "ivory": 4})
    do(state, "sell_same(gold,3,0)", "buy(villa)", "sell_same(art,3,0)", "buy(yacht)", "sell_same(ivory,4,0)")
    do(state, "buy(dive_bar)")
    assert state.scores()[0] == 6 + 10 + 16


def test_c4_2_a_set_of_one_kind_with_wilds() -> None:
    state = smuggling({"gold": 2, "wild": 2}, seats=2)
    assert [action for action in legal(state) if action.startswith("sell_same")] == [
        "sell_same(gold,1,0)",
        "sell_same(gold,1,1)",
        "sell_same(gold,1,2)",
        "sell_same(gold,2,0)",
        "sell_same(gold,2,1)",
        "sell_same(gold,2,2)",
        "sell_same(wild,1,0)",
        "sell_same(wild,2,0)",
    ]


def test_c4_2_a_set_has_at_most_nine_tokens() -> None:
    state = smuggling({"gold": 9, "wild": 2}, cards={0: {"warehouse": 2}}, safe=[5, 5])
    assert "sell_same(gold,9,0)" in legal(state)
    assert "sell_same(gold,8,1)" in legal(state)
    assert refused(state, "sell_same(gold,9,1)") == "C4.2"
    assert refused(state, "sell_same(gold,8,2)") == "C4.2"
    assert do(state.clone(), "sell_same(gold,8,1)").credit == 81
    assert do(state, "sell_same(gold,9,0)").credit == 81


@pytest.mark.parametrize(
    "action", ["sell_same(gold,0,1)", "sell_same(gold,3,0)", "sell_same(art,1,0)", "sell_same(gold,1,2)",
               "sell_same(gold,1,-1)", "sell_same(wild,1,1)"]
)  # fmt: skip
def test_c4_2_a_set_is_made_of_goods_that_are_held(action: str) -> None:
    assert refused(smuggling({"gold": 2, "wild": 1}), action) == "C4.2"


def test_c4_2_a_set_of_different_kinds_is_built_in_ascending_order() -> None:
    state = smuggling({"alcohol": 1, "art": 2, "gold": 1, "wild": 1})
    assert [action for action in legal(state) if action.startswith("diff")] == [
        "diff_start(alcohol)",
        "diff_start(art)",
    ]
    do(state, "diff_start(alcohol)")
    assert legal(state) == ["diff_add(art)", "diff_add(gold)"]
    assert counts(state) == {"alcohol": 1, "art": 2, "gold": 1, "wild": 1}
    do(state, "diff_add(art)")
    assert legal(state) == ["diff_add(gold)", "diff_close(0)", "diff_close(1)"]
    assert refused(state, "diff_add(alcohol)") == "C4.2"
    assert refused(state, "diff_add(wild)") == "C4.2"
    assert refused(state, "diff_add(ivory)") == "C4.2"
    do(state, "diff_close(1)")
    assert state.credit == 6
    assert counts(state) == {"art": 1, "gold": 1}


def test_c4_2_a_set_of_different_kinds_has_at_most_nine_tokens_wilds_included() -> None:
    kinds = ["alcohol", "weapons", "art", "cars", "cigars", "ivory", "jewels", "gold"]
    state = smuggling({**dict.fromkeys(kinds, 1), "wild": 2}, cards={0: {"warehouse": 2}})
    do(state, "diff_start(alcohol)", *[f"diff_add({kind})" for kind in kinds[1:]])
    assert legal(state) == ["diff_close(0)", "diff_close(1)"]
    assert refused(state, "diff_close(2)") == "C4.2"


def test_c4_2_two_wilds_in_one_set() -> None:
    assert (
        do(smuggling({"art": 1, "gold": 1, "wild": 2}), "diff_start(art)", "diff_add(gold)", "diff_close(2)").credit
        == 10
    )


def test_c4_3_values_by_size_and_kind_of_set() -> None:
    for size in range(1, 7):
        assert do(smuggling({"gold": size, "art": 1}), f"sell_same(gold,{size},0)").credit == size**2
    kinds = ["alcohol", "weapons", "art", "cars", "cigars", "ivory"]
    for size in range(2, 6):
        state = smuggling({**dict.fromkeys(kinds[:size], 1), "gold": 1})
        do(state, "diff_start(alcohol)", *[f"diff_add({kind})" for kind in kinds[1:size]], "diff_close(0)")
        assert state.credit == size * (size + 1) // 2


def test_c4_3_a_set_that_is_both_counts_as_one_kind() -> None:
    state = do(smuggling({"gold": 1, "wild": 2, "art": 1}), "sell_same(gold,1,2)")
    assert state.credit == 9
    state = smuggling({"gold": 1, "wild": 2})
    assert refused(state, "diff_start(gold)") == "C4.3"
    assert refused(do(smuggling({"gold": 1, "art": 1}), "diff_start(art)"), "diff_close(0)") == "C4.3"


def test_c4_4_tokens_go_to_the_discard_pile_at_once() -> None:
    state = do(smuggling({"gold": 3, "wild": 1, "art": 1}), "sell_same(gold,2,1)")
    assert state.to_json()["discard"] == {"gold": 2, "wild": 1}
    do(state, "diff_start(art)", "diff_add(gold)", "diff_close(0)")
    assert state.to_json()["discard"] == {"art": 1, "gold": 3, "wild": 1}


def test_c4_5_sets_and_cards_are_pooled_over_the_phase() -> None:
    state = do(smuggling({"gold": 2, "art": 2, "ivory": 2}), "sell_same(gold,2,0)", "sell_same(art,2,0)")
    assert "buy(villa)" in legal(state)
    do(state, "buy(villa)")
    assert state.credit == 2
    do(state, "sell_same(ivory,2,0)", "buy(villa)")
    assert state.scores()[0] == 12


def test_c4_5_a_card_costs_what_is_printed() -> None:
    state = do(smuggling({"gold": 3, "art": 1}), "sell_same(gold,3,0)")
    assert [action for action in legal(state) if action.startswith("buy")] == ["buy(villa)"]
    assert refused(state, "buy(yacht)") == "C4.5"


def test_c4_6_of_each_smuggler_card_a_seat_owns_at_most_two() -> None:
    state = smuggling({"gold": 6, "art": 1}, cards={0: {"warehouse": 2}})
    do(state, "sell_same(gold,6,0)")
    assert "buy(warehouse)" not in legal(state)
    assert refused(state, "buy(warehouse)") == "C4.6"
    assert {"buy(cargo_ship)", "buy(syndicate)"} <= set(legal(state))


def test_c4_6_a_card_that_is_sold_out_cannot_be_bought() -> None:
    cards = {1: {"villa": 6, "show_business": 1}}
    state = do(smuggling({"gold": 6, "art": 1}, cards=cards), "sell_same(gold,6,0)")
    assert not {"buy(villa)", "buy(show_business)"} & set(legal(state))
    assert refused(state, "buy(villa)") == "C4.6"
    assert refused(state, "buy(show_business)") == "C4.6"


def test_c4_6_common_cards_have_no_cap() -> None:
    state = do(smuggling({"gold": 6, "art": 1}, cards={0: {"villa": 4}}), "sell_same(gold,6,0)")
    do(state, "buy(villa)", "buy(villa)")
    assert state.cards[0][Card.VILLA] == 6


def test_c4_7_a_cargo_ship_is_at_home_at_once_and_must_be_sent() -> None:
    state = do(smuggling({"gold": 4}), "sell_same(gold,4,0)", "buy(cargo_ship)")
    assert state.ships_home == 4
    do(state, *["send(casino)"] * 3)
    assert state.seat == 0
    do(state, "send(casino)")
    assert state.seat == 1


def test_c4_7_a_warehouse_counts_already_in_this_turn() -> None:
    goods = {"gold": 4, "art": 4, "ivory": 4}
    state = smuggling(goods)
    do(state, "sell_same(gold,4,0)", "buy(warehouse)", "end_smuggling")
    assert state.storage(0) == 8
    assert state.phase is Phase.P3


def test_c4_7_a_syndicate_pays_from_the_next_phase_1_on() -> None:
    state = place(
        stacks={"rotterdam": {0: 1, 1: 2}, "cape_town": {0: 3, 1: 4}},
        casino={0: 1},
        goods={0: {"gold": 4}},
        safe=[0, 0],
    )
    do(state, "withdraw(rotterdam)", "withdraw(cape_town)", "casino")
    assert state.safe[0] == 6
    do(state, "sell_same(gold,4,0)", "buy(syndicate)")
    assert state.safe[0] == 6


def test_c4_8_e5_in_the_final_turn_coins_pay_the_shortage() -> None:
    kinds = ["alcohol", "weapons", "art", "cars", "cigars", "ivory", "jewels", "gold", "uranium"]
    for turn, can_buy in ((11, True), (10, False)):
        market = {"gold": 4, "art": 4}
        state = smuggling(dict.fromkeys(kinds, 1), turn=turn, safe=[4, 0], market=market, cards={0: {"warehouse": 2}})
        do(state, "diff_start(alcohol)", *[f"diff_add({kind})" for kind in kinds[1:]], "diff_close(0)")
        assert state.credit == 45
        assert ("buy(cronies)" in legal(state)) == can_buy
        if can_buy:
            bank = state.bank
            do(state, "buy(cronies)")
            assert (state.credit, state.safe[0], state.bank) == (0, 0, bank + 4)
        else:
            assert refused(state, "buy(cronies)") == "C4.5"


def test_c4_8_coins_alone_buy_in_the_final_turn_but_stacks_do_not_count() -> None:
    state = smuggling({}, turn=11, safe=[6, 5], stacks={"rotterdam": {0: 20, 1: 4}})
    assert legal(state) == ["buy(villa)", "end_smuggling"]
    assert refused(state, "buy(yacht)") == "C4.8"
    do(state, "buy(villa)")
    assert state.safe[0] == 0


def test_c4_8_credit_is_used_first() -> None:
    state = smuggling({"gold": 2, "art": 1}, turn=11, safe=[10, 0])
    do(state, "sell_same(gold,2,0)", "buy(villa)")
    assert (state.credit, state.safe[0]) == (0, 8)


def test_c4_9_excess_goods_are_discarded_down_to_the_storage() -> None:
    state = do(smuggling({"gold": 5, "art": 3}), "end_smuggling")
    assert state.phase is Phase.P2_DISCARD
    assert legal(state) == ["discard(art)", "discard(gold)"]
    assert refused(state, "discard(ivory)") == "C4.9"
    do(state, "discard(art)", "discard(art)")
    assert (state.phase, counts(state)) == (Phase.P3, {"gold": 5, "art": 1})
    assert state.to_json()["discard"] == {"art": 2}


def test_c4_9_within_the_storage_nothing_is_discarded() -> None:
    state = do(smuggling({"gold": 6}), "end_smuggling")
    assert state.phase is Phase.P3


@pytest.mark.parametrize(("owner", "phase"), [(0, Phase.P2_DISCARD), (1, Phase.P3)])
def test_c4_9_the_storage_is_that_of_the_acting_seat(owner: int, phase: Phase) -> None:
    """A warehouse of another seat stores nothing for it, and that of its own does though the others have none."""
    state = place(phase="P2", seat=1, goods={1: {"gold": 5, "art": 2}}, cards={owner: {"warehouse": 1}})
    do(state, "end_smuggling")
    assert state.phase is phase


def test_c4_10_credit_that_is_left_is_lost() -> None:
    state = do(smuggling({"gold": 3, "art": 1}), "sell_same(gold,3,0)", "end_smuggling")
    assert state.credit == 0
    assert state.scores()[0] == 0


def test_c4_10_handing_in_without_buying_is_legal() -> None:
    state = do(smuggling({"gold": 2, "art": 1}), "sell_same(gold,2,0)", "end_smuggling")
    assert counts(state) == {"art": 1}


def test_c4_11_phase_2_is_skipped_with_nothing_to_hand_in_or_to_buy() -> None:
    assert do(place(casino={0: 1}), "casino").phase is Phase.P3


def test_c4_11_it_ends_by_itself_after_the_last_sale_or_purchase() -> None:
    assert do(smuggling({"gold": 2}), "sell_same(gold,2,0)").phase is Phase.P3
    state = do(smuggling({"gold": 3}), "sell_same(gold,3,0)")
    assert state.phase is Phase.P2
    assert do(state, "buy(villa)").phase is Phase.P3


def test_c4_11_with_goods_in_hand_it_does_not_end_by_itself() -> None:
    state = do(smuggling({"gold": 1, "art": 1}), "sell_same(gold,1,0)")
    assert (state.phase, legal(state)) == (Phase.P2, ["sell_same(art,1,0)", "end_smuggling"])


def test_c4_11_in_the_final_turn_coins_that_can_buy_keep_it_open() -> None:
    assert do(place(turn=11, casino={0: 1}, safe=[4, 0]), "casino").phase is Phase.P2
    assert do(place(turn=11, casino={0: 1}, safe=[3, 0]), "casino").phase is Phase.P3


def test_i13_a_list_of_phase_2_has_at_least_two_entries() -> None:
    for gold, art, wild in itertools.product(range(3), repeat=3):
        if gold + art + wild:
            assert len(legal(smuggling({"gold": gold, "art": art, "wild": wild}))) >= 2


def test_the_longest_list_stays_within_the_bound() -> None:
    goods = {"gold": 5, "art": 5, "ivory": 5, "cars": 5, "wild": 5}
    state = place(5, phase="P2", turn=10, goods={0: goods}, cards={0: {"warehouse": 2}}, safe=[10, 5, 5, 5, 5])
    assert len(legal(state)) < 150


def test_order_of_the_list_is_that_of_the_table() -> None:
    state = do(smuggling({"weapons": 1, "gold": 3, "wild": 1, "art": 1}), "sell_same(gold,3,0)")
    assert legal(state) == [
        "sell_same(weapons,1,0)",
        "sell_same(weapons,1,1)",
        "sell_same(art,1,0)",
        "sell_same(art,1,1)",
        "sell_same(wild,1,0)",
        "diff_start(weapons)",
        "buy(villa)",
        "end_smuggling",
    ]


def test_the_defaults_of_phase_2() -> None:
    assert smuggling({"gold": 9, "art": 1}).default_action(0) == GAME.parse_action("end_smuggling")
    state = do(smuggling({"gold": 1, "art": 1, "cars": 1}), "diff_start(art)")
    assert state.default_action(0) == GAME.parse_action("diff_add(cars)")
    do(state, "diff_add(cars)")
    assert state.default_action(0) == GAME.parse_action("diff_close(0)")


@pytest.mark.parametrize(
    ("goods", "default"),
    [({"gold": 5, "art": 2}, "art"), ({"gold": 4, "art": 4}, "art"), ({"wild": 1, "gold": 7}, "gold")],
)
def test_the_default_discard_is_of_the_rarest_kind_and_a_wild_only_if_nothing_else_is_left(
    goods: dict[str, int], default: str
) -> None:
    state = do(smuggling(goods), "end_smuggling")
    assert state.default_action(0) == GAME.parse_action(f"discard({default})")
