"""Random playouts: the most frequent work of search bots, in one call, compiled where the rules are."""

from __future__ import annotations

from referee.game import Chance, State


def random_playout(state: State, chance: Chance) -> int:
    """Play a state to its end, in place, with actions drawn uniformly.

    If several seats are to act, the first of them acts. Each choice is a draw from the stream `playout`, even if there
    is only one action.

    Returns:
        The number of decisions.
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
