"""The course of the match: turns, the bag, money, the end (RULES.md, C1, C5, C7, C8)."""

from __future__ import annotations

import copy

from referee.games.cargo_noir import GAME
from referee.games.cargo_noir.names import Phase, Port
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.tests.table import BOARD, counts, do, legal, place, place_with_bag, setup
from referee.kit.chance import FastChance, LiveChance


def test_c1_1_every_seat_takes_one_turn_in_order_then_the_next_turn_begins() -> None:
    state = place(3, phase="P3", turn=4, seat=2, first_seat=1)
    do(state, "send(casino)", "send(casino)", "send(casino)")
    assert (state.seat, state.turn) == (0, 4)
    do(state, *["casino"] * 3, *["send(casino)"] * 3)
    assert (state.seat, state.turn) == (1, 5)


def test_c1_2_a_turn_has_three_phases_in_their_order() -> None:
    state = place(casino={0: 3}, goods={0: {"gold": 1}})
    phases = [state.phase]
    for action in ("casino", "casino", "casino", "end_smuggling", "send(casino)"):
        do(state, action)
        phases.append(state.phase)
    assert phases == [Phase.P1, Phase.P1, Phase.P1, Phase.P2, Phase.P3, Phase.P3]


def test_c1_3_in_turn_1_ships_are_sent_and_nothing_else() -> None:
    state = GAME.start(setup(2, first_player=0), LiveChance(1))
    assert isinstance(state, CargoNoirState)
    do(state, *["send(casino)"] * 3)
    assert (state.seat, state.phase, state.turn) == (1, Phase.P3, 1)
    do(state, *["send(casino)"] * 3)
    assert (state.seat, state.phase, state.turn) == (0, Phase.P1, 2)


def test_c1_4_the_match_ends_after_the_final_turn_of_every_seat() -> None:
    state = place(turn=11, casino={0: 3})
    do(state, *["casino"] * 3)
    do(state, "end_smuggling", *["send(casino)"] * 3)
    assert (state.seat, state.turn) == (1, 11)
    do(state, *["casino"] * 3, "end_smuggling")
    assert state.is_over()


def test_c1_4_the_option_last_turn_moves_the_end() -> None:
    state = place(turn=5, options={"last_turn": 5}, casino={0: 3})
    assert state.is_final_turn()


def test_c1_5_the_last_seat_of_the_final_turn_sends_no_ships() -> None:
    state = place(turn=11, seat=1, casino={1: 3}, goods={1: {"gold": 1}})
    do(state, *["casino"] * 3, "end_smuggling")
    assert state.is_over()
    assert state.ships_home == 3


def test_c1_5_the_last_seat_is_counted_from_the_first_player() -> None:
    highest = place(3, turn=11, first_seat=1, seat=2, casino={2: 3}, goods={2: {"gold": 1}})
    do(highest, *["casino"] * 3, "end_smuggling")
    assert (highest.seat, highest.phase) == (2, Phase.P3)
    last = place(3, turn=11, first_seat=1, seat=0, casino={0: 3}, goods={0: {"gold": 1}})
    do(last, *["casino"] * 3, "end_smuggling")
    assert last.is_over()


def test_c1_5_with_the_option_skip_nobody_sends_ships_in_the_final_turn() -> None:
    state = place(turn=11, casino={0: 3}, options={"final_phase3": "skip"})
    do(state, *["casino"] * 3, "end_smuggling")
    assert (state.seat, state.phase) == (1, Phase.P1)


def test_c1_5_without_it_an_earlier_seat_can_outbid_a_later_one() -> None:
    state = place(turn=11, phase="P3", safe=[9, 0], stacks={"rotterdam": {1: 3}}, casino={1: 2})
    do(state, "send(rotterdam)", "stake(4)", *["send(casino)"] * 2)
    assert state.seat == 1
    assert legal(state) == ["casino", "withdraw(rotterdam)"]


def test_c5_1_when_the_bag_is_empty_the_discard_pile_is_put_into_it_before_the_draw() -> None:
    state = place_with_bag({"gold": 1}, black_market={0: 2}, goods={0: {"jewels": 5}})
    do(state, "bm_draw", bag=[7])
    assert counts(state)["gold"] == 1
    assert sum(state.bag) == 0
    assert sum(state.discard) > 0
    do(state, "bm_draw", bag=[8])
    assert counts(state)["uranium"] == 1
    assert sum(state.discard) == 0


def test_c5_1_a_refill_can_empty_the_bag_and_go_on_with_the_discard_pile() -> None:
    state = place_with_bag({"gold": 1}, casino={0: 2}, stacks={"new_york": {0: 1}}, goods={0: {"jewels": 5}})
    do(state, "collect(new_york)", bag=[7, 5, 5])
    assert state.to_json()["port"]["new_york"]["goods"] == {"ivory": 2, "gold": 1}
    assert sum(state.discard) == 0


def test_c5_2_with_bag_and_discard_pile_empty_a_draw_yields_nothing() -> None:
    board = copy.deepcopy(BOARD)
    board["goods"]["tokens_per_kind"] = 3
    state = CargoNoirState.empty(GAME.setup(2, {}, board))
    state.turn, state.phase, state.stacks[Port.ROTTERDAM] = 2, Phase.P1, [1, 0]
    state.black_market[0] = state.todo_market = 1
    state.todo_ports = frozenset({Port.ROTTERDAM})
    state.port_goods[Port.ROTTERDAM][0] = 3
    do(state, "bm_draw")
    assert counts(state) == {}
    do(state, "collect(rotterdam)")  # R31: what is there
    assert counts(state) == {"alcohol": 3}
    assert sum(state.port_goods[Port.ROTTERDAM]) == 0


def test_c7_1_coins_never_become_negative() -> None:
    state = place(phase="P3", safe=[0, 0])
    assert legal(state) == ["send(casino)", "send(black_market)"]


def test_c7_2_a_limited_bank_pays_what_it_still_has() -> None:
    state = place(casino={0: 3}, safe=[30, 29])
    assert state.bank == 1
    do(state, "casino")
    assert (state.bank, state.safe[0]) == (0, 31)
    do(state, "casino")
    assert (state.bank, state.safe[0], state.casino[0]) == (0, 31, 1)


def test_c7_2_an_unlimited_bank_pays_in_full_and_the_coins_grow() -> None:
    state = place(casino={0: 3}, safe=[30, 29], options={"bank_limited": False})
    do(state, "casino")
    assert (state.bank, state.safe[0], state.coins_total) == (0, 32, 61)
    do(state, "casino")
    assert (state.bank, state.safe[0], state.coins_total) == (0, 34, 63)


def test_c8_1_coins_and_goods_are_worth_nothing_at_the_end() -> None:
    state = over({0: {"villa": 1}}, safe=[50, 10])
    assert state.scores() == [6, 0]


def test_c8_2_the_score_is_the_sum_of_all_cards_smugglers_included() -> None:
    state = over({0: {"cargo_ship": 1, "warehouse": 2, "night_club": 1}, 1: {"syndicate": 1}})
    assert state.scores() == [8 + 5 + 5 + 25, 5]


def test_c8_3_the_higher_score_wins() -> None:
    assert over({0: {"yacht": 1}, 1: {"villa": 2}}).ranks() == [2, 1]


def test_c8_3_ties_go_to_the_most_valuable_single_card() -> None:
    assert over({0: {"dive_bar": 1}, 1: {"villa": 1, "yacht": 1}}).ranks() == [1, 2]


def test_c8_3_remaining_ties_share_the_place() -> None:
    state = over({0: {"villa": 1}, 1: {"villa": 1}}, seats=3)
    assert state.ranks() == [1, 1, 3]
    assert over({}, seats=4).ranks() == [1, 1, 1, 1]


def over(cards: dict[int, dict[str, int]], seats: int = 2, safe: list[int] | None = None) -> CargoNoirState:
    """A match that has just ended."""
    last = seats - 1
    return place(seats, phase="OVER", turn=11 if seats < 4 else 10, seat=last, cards=cards, safe=safe or [5] * seats)


def test_i11_the_score_never_falls() -> None:
    for seed in range(5):
        state, chance = GAME.start(setup(3), LiveChance(seed)), FastChance(seed)
        before = state.scores()
        while not state.is_over():
            [seat] = state.seats_to_act()
            legal_now = state.legal_actions(seat)
            state.apply(seat, legal_now[seed % len(legal_now)], chance)
            assert all(new >= old for new, old in zip(state.scores(), before, strict=True))
            before = state.scores()
