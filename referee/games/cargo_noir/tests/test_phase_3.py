"""Phase 3: sending ships (RULES.md, C6)."""

from __future__ import annotations

import pytest

from referee.games.cargo_noir import GAME
from referee.games.cargo_noir.names import Phase, Port
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.tests.table import counts, do, legal, place, refused


def test_c6_1_every_ship_at_home_is_sent_then_the_turn_ends() -> None:
    state = place(phase="P3")
    do(state, "send(casino)", "send(black_market)")
    assert state.seat == 0
    do(state, "send(casino)")
    assert state.seat == 1


def test_c6_1_with_all_ships_kept_in_ports_phase_3_is_skipped() -> None:
    state = place(stacks={"rotterdam": {0: 1, 1: 2}, "new_york": {0: 1, 1: 2}, "cape_town": {0: 1, 1: 2}}, safe=[20, 5])
    do(state, *[part for port in ("rotterdam", "new_york", "cape_town") for part in (f"raise({port})", "stake(3)")])
    assert state.seat == 1


def test_c6_2_any_number_of_ships_may_be_in_macao() -> None:
    state = place(phase="P3", safe=[0, 0])
    do(state, *["send(black_market)"] * 3)
    assert state.black_market[0] == 3


def test_c6_3_a_ship_to_a_port_needs_a_stack_higher_than_all_others() -> None:
    state = place(3, phase="P3", stacks={"rotterdam": {1: 2, 2: 4}}, safe=[6, 0, 0])
    do(state, "send(rotterdam)")
    assert legal(state) == ["stake(5)", "stake(6)"]
    assert refused(state, "stake(4)") == refused(state, "stake(7)") == "C6.3"
    do(state, "stake(6)")
    assert (state.stacks[Port.ROTTERDAM], state.safe[0], state.ships_home) == ([6, 2, 4], 0, 2)


def test_c6_3_in_an_empty_port_one_coin_is_enough_and_none_is_not() -> None:
    state = do(place(phase="P3", safe=[2, 0]), "send(rotterdam)")
    assert legal(state) == ["stake(1)", "stake(2)"]


def test_c6_3_a_port_that_the_safe_cannot_pay_is_not_listed() -> None:
    state = place(phase="P3", stacks={"rotterdam": {1: 4}}, safe=[4, 0])
    assert "send(rotterdam)" not in legal(state)
    assert refused(state, "send(rotterdam)") == "C6.3"


def test_c6_4_a_port_collected_from_in_this_turn_may_be_chosen_again() -> None:
    state = place(stacks={"rotterdam": {0: 1}}, casino={0: 2})
    do(state, "collect(rotterdam)", "casino", "casino", "end_smuggling", bag=[0, 0, 0, 0])
    assert "send(rotterdam)" in legal(state)


def test_c6_5_ships_may_not_stay_at_home() -> None:
    assert "end_smuggling" not in legal(place(phase="P3"))
    assert refused(place(phase="P3"), "end_smuggling") == "C4.10"


def test_c6_6_ships_act_at_the_owners_next_turn() -> None:
    state = place(phase="P3", safe=[5, 5])
    do(state, "send(cape_town)", "stake(1)", "send(casino)", "send(casino)")
    assert counts(state) == {}
    do(state, *["casino"] * 3, *["send(casino)"] * 3)
    assert "collect(cape_town)" in legal(state)


def test_e3_red_deters_green_with_five_coins_where_four_would_do() -> None:
    state = place(phase="P3", stacks={"new_york": {1: 3}}, safe=[5, 4])
    do(state, "send(new_york)")
    assert legal(state)[0] == "stake(4)"
    do(state, "stake(5)", "send(casino)", "send(casino)")
    do(state, "raise(new_york)")
    assert legal(state)[0] == "stake(6)"


def test_s1_a_closed_port_cannot_be_reached() -> None:
    assert refused(place(phase="P3"), "send(tanger)") == "S1"


def test_the_list_names_macao_first_then_the_ports_in_the_order_of_the_data() -> None:
    assert legal(place(4, phase="P3")) == [
        "send(casino)",
        "send(black_market)",
        "send(rotterdam)",
        "send(new_york)",
        "send(hong_kong)",
        "send(cape_town)",
        "send(rio)",
        "send(bombay)",
    ]


def test_the_default_of_phase_3_is_the_casino() -> None:
    assert place(phase="P3").default_action(0) == GAME.parse_action("send(casino)")


def in_phase(phase: Phase) -> CargoNoirState:
    """A position in which an action of another phase would have something to work on."""
    if phase in (Phase.P1, Phase.STAKE):
        ships = {"rotterdam": {0: 1, 1: 2}}
        state = place(stacks=ships, casino={0: 1}, black_market={0: 1}, goods={0: {"gold": 1, "art": 1}})
        return do(state, "raise(rotterdam)") if phase is Phase.STAKE else state
    if phase is Phase.P3:
        return place(phase="P3", goods={0: {"gold": 1, "art": 1}})
    state = place(phase="P2", goods={0: {"gold": 3, "art": 4}})
    return do(state, *{Phase.P2_DIFF: ["diff_start(art)"], Phase.P2_DISCARD: ["end_smuggling"]}.get(phase, []))


PHASES_OF_ACTIONS = {
    "casino": (Phase.P1, "C2.4"),
    "bm_draw": (Phase.P1, "C2.5"),
    "bm_swap(gold,uranium)": (Phase.P1, "C2.5"),
    "collect(rotterdam)": (Phase.P1, "C2.1"),
    "raise(rotterdam)": (Phase.P1, "C2.1"),
    "withdraw(rotterdam)": (Phase.P1, "C2.1"),
    "wait(rotterdam)": (Phase.P1, "C2.1"),
    "stake(3)": (Phase.STAKE, "C6.3"),
    "sell_same(gold,1,0)": (Phase.P2, "C4.1"),
    "diff_start(art)": (Phase.P2, "C4.1"),
    "diff_add(gold)": (Phase.P2_DIFF, "C4.2"),
    "diff_close(0)": (Phase.P2_DIFF, "C4.2"),
    "buy(villa)": (Phase.P2, "C4.5"),
    "end_smuggling": (Phase.P2, "C4.10"),
    "discard(gold)": (Phase.P2_DISCARD, "C4.9"),
    "send(casino)": (Phase.P3, "C6.1"),
}


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.OVER])
def test_actions_of_another_phase_are_refused_by_its_rule(phase: Phase) -> None:
    state = in_phase(phase)
    assert state.phase is phase
    others = {action: rule for action, (own, rule) in PHASES_OF_ACTIONS.items() if own is not phase}
    assert {action: refused(state, action) for action in others} == others


def test_nobody_acts_out_of_turn_or_after_the_end() -> None:
    from referee.game import IllegalAction
    from referee.kit.chance import ScriptedChance

    state = place(phase="P3")
    with pytest.raises(IllegalAction, match="turn of seat 0") as caught:
        state.apply(1, GAME.parse_action("send(casino)"), ScriptedChance())
    assert caught.value.rule == "C1.2"
    over = place(phase="OVER", turn=11, seat=1)
    with pytest.raises(IllegalAction, match="over"):
        over.apply(1, GAME.parse_action("send(casino)"), ScriptedChance())


def test_an_action_of_another_game_is_illegal_not_an_error() -> None:
    from referee.game import Action, IllegalAction
    from referee.kit.chance import ScriptedChance

    class Pass(Action):
        """An action that Cargo Noir does not have."""

    with pytest.raises(IllegalAction, match="not an action of cargo_noir"):
        place(phase="P3").apply(0, Pass(), ScriptedChance())
