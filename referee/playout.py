"""Play a state to its end at random: what search bots do most, in one call, compiled where the rules are."""

from __future__ import annotations

from referee.game import Chance, State


def random_playout(state: State, chance: Chance) -> int:
    """Play a state to its end, in place, with actions that are drawn uniformly.

    Where several seats are to act, the first of them is. Each choice is a draw from the stream `playout`, also one that has a
    single action.

    Returns:
        How many decisions there were.
    """
    decisions = 0
    while True:
        seats = state.seats_to_act()
        if not seats:
            return decisions
        seat = seats[0]
        legal = state.legal_actions(seat)
        state.apply(seat, legal[chance.stream("playout").below(len(legal))], chance)
        decisions += 1
