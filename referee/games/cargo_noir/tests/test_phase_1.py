"""Phase 1: resolving ships, in Macao and in ports (RULES.md, C2 and C3)."""

from __future__ import annotations

import pytest

from referee.games.cargo_noir import GAME
from referee.games.cargo_noir.names import Phase, Port
from referee.games.cargo_noir.tests.table import BOARD, counts, do, legal, place, refused
from referee.kit.chance import FastChance


def test_c2_1_every_ship_is_resolved_once_in_the_order_that_the_seat_chooses() -> None:
    state = place(casino={0: 1}, black_market={0: 1}, stacks={"cape_town": {0: 2}})
    assert legal(state) == ["casino", "bm_draw", "collect(cape_town)"]
    do(state, "collect(cape_town)", bag=[0])
    do(state, "bm_draw", bag=[1])
    assert "collect(cape_town)" not in legal(state)
    do(state, "casino")
    assert state.phase is Phase.P2


def test_c2_2_a_resolved_ship_is_home_at_once() -> None:
    state = place(casino={0: 2}, stacks={"rotterdam": {0: 1}})
    do(state, "casino")
    assert state.ships_home == 1


def test_c2_3_goods_are_kept_without_limit_until_the_end_of_phase_2() -> None:
    state = place(goods={0: {"gold": 6}}, stacks={"rotterdam": {0: 1}})
    do(state, "collect(rotterdam)", bag=[2, 2, 2, 2])
    assert sum(state.goods[0]) == 10
    assert state.phase is Phase.P2


def test_c2_4_e4_a_ship_at_the_casino_brings_two_coins_from_the_bank() -> None:
    state = place(casino={0: 3})
    bank = state.bank
    do(state, "casino", "casino", "casino")
    assert (state.safe[0], state.bank, state.ships_home) == (11, bank - 6, 3)


def test_c2_5_a_swap_gives_a_good_for_one_of_another_kind() -> None:
    state = place(black_market={0: 1}, market={"gold": 3, "ivory": 5}, goods={0: {"art": 1, "ivory": 1, "wild": 1}})
    assert legal(state) == [
        "bm_draw",
        "bm_swap(art,ivory)",
        "bm_swap(art,gold)",
        "bm_swap(ivory,gold)",
        "bm_swap(wild,ivory)",
        "bm_swap(wild,gold)",
    ]
    do(state, "bm_swap(wild,gold)")
    assert counts(state) == {"art": 1, "ivory": 1, "gold": 1}
    assert state.to_json()["market"] == {"gold": 2, "ivory": 5, "wild": 1}


def test_c2_5_a_draw_takes_a_token_from_the_bag_and_the_market_is_not_refilled() -> None:
    state = place(black_market={0: 1})
    do(state, "bm_draw", bag=[9])
    assert counts(state) == {"wild": 1}
    assert state.to_json()["market"] == {"uranium": 8}


@pytest.mark.parametrize("action", ["bm_swap(gold,gold)", "bm_swap(art,uranium)", "bm_swap(gold,ivory)"])
def test_c2_5_a_swap_needs_what_is_given_and_what_is_taken(action: str) -> None:
    assert refused(place(black_market={0: 1}, goods={0: {"gold": 1}}), action) == "C2.5"


def test_c2_5_without_a_ship_at_the_market_there_is_no_swap() -> None:
    assert refused(place(casino={0: 3}, goods={0: {"gold": 1}}), "bm_swap(gold,uranium)") == "C2.5"


def test_c2_6_without_goods_that_differ_only_the_draw_is_left() -> None:
    assert legal(place(black_market={0: 3})) == ["bm_draw"]
    assert legal(place(black_market={0: 3}, goods={0: {"uranium": 2}})) == ["bm_draw"]


def test_c2_7_phase_1_ends_by_itself() -> None:
    state = do(place(casino={0: 1}, goods={0: {"gold": 1}}), "casino")
    assert state.phase is Phase.P2


def test_c3_1_a_seat_has_at_most_one_ship_in_a_port() -> None:
    state = place(phase="P3", stacks={"rotterdam": {0: 2, 1: 1}})
    assert "send(rotterdam)" not in legal(state)
    assert refused(state, "send(rotterdam)") == "C3.1"


def test_c3_2_alone_in_a_port_a_seat_pays_takes_all_goods_and_the_port_is_refilled() -> None:
    state = place(stacks={"new_york": {0: 4}}, port_goods={"new_york": {"cars": 2, "wild": 1}})
    bank = state.bank
    do(state, "collect(new_york)", bag=[8, 8, 0])
    assert counts(state) == {"cars": 2, "wild": 1}
    assert state.bank == bank + 4
    assert state.stacks[Port.NEW_YORK] == [0, 0]
    assert state.to_json()["port"]["new_york"]["goods"] == {"alcohol": 1, "uranium": 2}
    assert state.ships_home == 3


def test_c3_2_collecting_is_compulsory() -> None:
    state = place(stacks={"new_york": {0: 4}})
    assert legal(state) == ["collect(new_york)"]
    assert refused(state, "withdraw(new_york)") == "C3.3"
    assert refused(state, "raise(new_york)") == "C3.3"


def test_c3_2_nobody_collects_from_a_port_with_another_stack() -> None:
    assert refused(place(stacks={"new_york": {0: 4, 1: 5}}), "collect(new_york)") == "C3.2"


def test_c3_2_nobody_collects_from_a_port_without_an_own_ship() -> None:
    assert refused(place(casino={0: 1}), "collect(cape_town)") == "C2.1"


def test_c3_3_outbid_a_seat_raises_or_withdraws() -> None:
    assert legal(place(stacks={"rotterdam": {0: 2, 1: 3}})) == ["raise(rotterdam)", "withdraw(rotterdam)"]


def test_c3_4_a_raise_beats_every_other_stack() -> None:
    state = place(4, stacks={"rotterdam": {0: 1, 1: 4, 2: 2, 3: 6}}, safe=[9, 5, 5, 5])
    do(state, "raise(rotterdam)")
    assert legal(state) == [f"stake({coins})" for coins in (7, 8, 9, 10)]
    do(state, "stake(8)")
    assert (state.stacks[Port.ROTTERDAM], state.safe[0]) == ([8, 4, 2, 6], 2)


def test_c3_4_the_raised_ship_stays_and_is_not_home_in_phase_3() -> None:
    state = place(stacks={"rotterdam": {0: 1, 1: 4}}, casino={0: 2}, safe=[9, 5])
    do(state, "raise(rotterdam)", "stake(5)", "casino", "casino")
    assert state.ships_home == 2
    assert counts(state) == {}


def test_c3_4_a_raise_that_cannot_be_paid_is_not_legal() -> None:
    state = place(stacks={"rotterdam": {0: 1, 1: 4}}, safe=[3, 5])
    assert legal(state) == ["withdraw(rotterdam)"]
    assert refused(state, "raise(rotterdam)") == "C3.4"


@pytest.mark.parametrize("coins", [0, 4, 11, -1])
def test_c3_4_a_stake_is_between_the_next_higher_and_all_one_has(coins: int) -> None:
    state = do(place(stacks={"rotterdam": {0: 1, 1: 4}}, safe=[9, 5]), "raise(rotterdam)")
    assert refused(state, f"stake({coins})") == "C3.4"


def test_c3_5_a_withdrawal_brings_coins_and_ship_back_and_bans_the_port_for_this_turn() -> None:
    state = place(stacks={"rotterdam": {0: 3, 1: 4}}, casino={0: 2})
    do(state, "withdraw(rotterdam)")
    assert (state.safe[0], state.ships_home) == (8, 1)
    do(state, "casino", "casino")
    assert "send(rotterdam)" not in legal(state)
    assert refused(state, "send(rotterdam)") == "C3.5"
    assert state.to_json()["port"]["rotterdam"]["goods"] == {"alcohol": 4}


def test_c3_5_in_its_next_turn_the_seat_may_send_there_again() -> None:
    state = place(stacks={"rotterdam": {0: 3, 1: 4}}, casino={0: 2})
    do(state, "withdraw(rotterdam)", "casino", "casino", *["send(casino)"] * 3)
    do(state, "collect(rotterdam)", *["casino"] * 2, "end_smuggling", *["send(casino)"] * 3, bag=[0, 0, 0, 0])
    do(state, *["casino"] * 3)
    assert "send(rotterdam)" in legal(state)


def test_c3_6_who_can_raise_may_withdraw_all_the_same() -> None:
    state = place(stacks={"rotterdam": {0: 2, 1: 3}}, safe=[50, 0])
    do(state, "withdraw(rotterdam)")
    assert state.stacks[Port.ROTTERDAM] == [0, 3]


def test_c3_7_highest_but_not_alone_a_ship_waits() -> None:
    state = place(stacks={"rotterdam": {0: 5, 1: 3}})
    assert legal(state) == ["wait(rotterdam)"]
    assert refused(state, "collect(rotterdam)") == "C3.2"
    do(state, "wait(rotterdam)")
    assert state.stacks[Port.ROTTERDAM] == [5, 3]
    assert refused(place(stacks={"rotterdam": {0: 2, 1: 3}}), "wait(rotterdam)") == "C3.7"


@pytest.mark.parametrize(("syndicates", "income"), [(0, 0), (1, 2), (2, 4)])
def test_c3_8_e6_syndicates_pay_for_withdrawals_each_once_a_turn(syndicates: int, income: int) -> None:
    state = place(
        stacks={"rotterdam": {0: 1, 1: 2}, "new_york": {0: 3, 1: 4}, "hong_kong": {0: 1, 1: 2}},
        cards={0: {"syndicate": syndicates}},
        safe=[0, 0],
    )
    do(state, "withdraw(rotterdam)", "withdraw(new_york)", "withdraw(hong_kong)")
    assert state.safe[0] == 1 + 3 + 1 + income


def test_c3_8_c7_2_a_syndicate_that_an_empty_bank_cannot_pay_has_paid_for_this_turn() -> None:
    state = place(
        stacks={"rotterdam": {0: 1, 1: 2}, "new_york": {0: 1, 1: 2}, "hong_kong": {0: 4}},
        cards={0: {"syndicate": 1}},
        safe=[30, 20],
    )
    assert state.bank == 0
    do(state, "withdraw(rotterdam)")
    assert (state.safe[0], state.syndicate_used) == (31, 1)
    do(state, "collect(hong_kong)", "withdraw(new_york)", bag=[0, 0])
    assert (state.safe[0], state.bank) == (32, 4)


def test_c3_8_in_the_next_turn_a_syndicate_pays_again() -> None:
    state = place(stacks={"rotterdam": {0: 1, 1: 2}}, casino={0: 2}, cards={0: {"syndicate": 1}}, safe=[0, 0])
    do(state, "withdraw(rotterdam)", "casino", "casino", *["send(casino)"] * 3)
    assert state.syndicate_used == 0


def test_e2_two_ships_at_the_black_market() -> None:
    state = place(market={"uranium": 2, "gold": 6}, black_market={0: 1, 1: 2}, goods={0: {"art": 1}})
    do(state, "bm_swap(art,uranium)", "end_smuggling", "send(casino)")
    do(state, "send(casino)", "send(casino)")
    assert state.to_json()["market"] == {"uranium": 1, "gold": 6, "art": 1}
    do(state, "casino")
    assert legal(state) == ["bm_draw"]
    do(state, "bm_draw", bag=[4])
    do(state, "bm_swap(cigars,uranium)")
    assert counts(state, 1) == {"uranium": 1}
    assert state.to_json()["market"] == {"cigars": 1, "gold": 6, "art": 1}


def test_e7_coins_that_one_action_earns_pay_for_the_next() -> None:
    state = place(stacks={"rotterdam": {0: 3, 1: 4}}, casino={0: 1}, safe=[0, 5])
    assert legal(state) == ["casino", "withdraw(rotterdam)"]
    do(state, "casino")
    assert legal(state) == ["raise(rotterdam)", "withdraw(rotterdam)"]
    do(state, "raise(rotterdam)")
    assert state.pending_stake is not None
    assert (state.pending_stake.min, state.pending_stake.max) == (5, 5)


def test_i7_i12_a_seat_finds_itself_alone_or_lowest_and_never_has_to_wait() -> None:
    for seed in range(30):
        state, chance = GAME.start(GAME.setup(4, {}, BOARD), FastChance(seed)), FastChance(seed)
        while not state.is_over():
            [seat] = state.seats_to_act()
            actions = state.legal_actions(seat)
            assert not any(type(action).__name__ == "Wait" for action in actions)
            bids = [action for action in actions if type(action).__name__ in ("Raise", "Send", "Stake")]
            choices = bids or actions
            state.apply(seat, choices[seed % len(choices)], chance)


def test_the_defaults_of_phase_1_in_their_order() -> None:
    state = place(
        4,
        casino={0: 1},
        black_market={0: 1},
        stacks={"new_york": {0: 1}, "rotterdam": {0: 1, 1: 2}, "cape_town": {0: 2}},
        cards={0: {"cargo_ship": 2}},
    )
    played = []
    while state.phase is Phase.P1:
        action = state.default_action(0)
        played.append(type(action).__name__ + "".join(str(getattr(action, "port", "")).title() for _ in "x"))
        state.apply(0, action, FastChance(1))
    assert [name[:7] for name in played] == ["Casino", "Collect", "Collect", "BmDraw", "Withdra"]


def test_the_default_of_a_stake_is_the_minimum() -> None:
    state = do(place(stacks={"rotterdam": {0: 1, 1: 4}}, safe=[9, 5]), "raise(rotterdam)")
    assert state.default_action(0) == state.legal_actions(0)[0] == GAME.parse_action("stake(5)")


def test_the_default_of_a_lonely_highest_ship_is_to_wait() -> None:
    assert place(stacks={"rotterdam": {0: 5, 1: 3}}).default_action(0) == GAME.parse_action("wait(rotterdam)")
