"""The opening of a match: random decisions by all seats, the same for all matches with one seed.

Bots that draw nothing repeat their matches in a game without chance after its start. Some random decisions first make the
matches independent evidence. They are legal actions like all others, drawn from a stream of the match's chance: the record
has them, and `dogana verify` draws them again.
"""

from __future__ import annotations

from referee.game import Action, Chance, Seat, State

STREAM = "opening"
"""The stream of chance for the decisions of an opening."""


def draw_opening(state: State, chance: Chance) -> tuple[Seat, Action]:
    """Draw a decision of the opening: a seat among those to act, then one of its legal actions.

    Args:
        state: a state that is not over; it stays as it is.
        chance: the chance of the match.
    """
    seats = state.seats_to_act()
    # Of its own, so that the draws of the rules are those of a match without an opening.
    stream = chance.stream(STREAM)
    seat = seats[stream.below(len(seats))]
    legal = state.legal_actions(seat)
    return seat, legal[stream.below(len(legal))]
