"""The opening of a match: random decisions by all seats, the same for all matches with the same seed.

In a game without chance after its start, bots that draw no random numbers repeat their matches. A few random decisions
at the beginning make the matches independent evidence. These are legal actions like any others, drawn from a stream of
the match's chance: the record contains them, and `dogana verify` draws them again.
"""

from __future__ import annotations

from referee.game import Action, Chance, Seat, State

STREAM = "opening"
"""The stream of chance for the decisions of an opening."""


def draw_opening(state: State, chance: Chance) -> tuple[Seat, Action]:
    """Draw a decision of the opening: a seat among those to act, then one of its legal actions.

    Args:
        state: a state that is not over; it is not changed.
        chance: the chance of the match.
    """
    seats = state.seats_to_act()
    # The opening has its own stream, so that the rules draw as in a match without an opening.
    stream = chance.stream(STREAM)
    seat = seats[stream.below(len(seats))]
    legal = state.legal_actions(seat)
    return seat, legal[stream.below(len(legal))]
