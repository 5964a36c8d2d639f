"""Playouts, the most frequent work of search bots. Each is one call, and is compiled if the rules are."""

from __future__ import annotations

from collections.abc import Sequence

from referee.game import Action, Chance, IllegalAction, RolloutPolicy, Seat, State

END = 1 << 60
"""A stage that no match reaches."""


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


def rollout(state: State, policy: RolloutPolicy, chance: Chance, until: int = END) -> int:
    """Continue a state in place, with a policy for all seats, until its stage is at least `until` or the match is over.

    If several seats are to act, the first of them acts. The rest of a row is dropped as soon as it is no longer legal.

    Args:
        state: the state to continue.
        policy: the policy that plays for every seat.
        chance: the chance for the rules and for the policy.
        until: the stage to stop at (`State.stage`).

    Returns:
        The number of decisions.

    Raises:
        IllegalAction: if the first action of a row is not legal.
    """
    decisions = 0
    while state.stage() < until:
        seats = state.seats_to_act()
        if not seats:
            break
        decisions += play_row(state, seats[0], policy.row(state, seats[0], chance), chance)
    return decisions


def play_row(state: State, seat: Seat, row: Sequence[Action], chance: Chance) -> int:
    """Play a seat's row of actions in place, until one is no longer legal because of chance or a rival's action.

    Returns:
        The number of actions played.

    Raises:
        IllegalAction: if the first action is not legal.
    """
    played = 0
    for action in row:
        try:
            state.apply(seat, action, chance)
        except IllegalAction:
            if not played:  # or `rollout` would call the policy for ever
                raise
            break
        played += 1
    return played
