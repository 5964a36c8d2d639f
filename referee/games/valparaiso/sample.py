"""Draw what a seat cannot know (RULES.md, section 2): the order of the pile, and its opponents' unrevealed plans."""

from __future__ import annotations

from referee.game import Chance, RolloutPolicy, Seat, Stream
from referee.games.valparaiso import planning
from referee.games.valparaiso.actions import CLOSE, COMMIT
from referee.games.valparaiso.board import LEVELS
from referee.games.valparaiso.names import Card, Phase
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.observing import is_secret
from referee.games.valparaiso.table import Table


def draw_secrets(
    table: Table, seen: ValparaisoObservation, chance: Chance, policy: RolloutPolicy | None, undone: bool
) -> None:
    """Give the table a pile, and every other seat a plan, that are consistent with the observation.

    The policy makes the plans; without a policy, they are random. With `undone`, in the phase PLAN, the others have no
    plans and are still to act, except a first finisher, which has made its plan (V2.8).
    """
    draw = chance.stream("sample")
    table.deck = _pile(table, draw)[: seen.deck]
    if not is_secret(seen.phase):
        return
    for seat in range(table.setup.seats):
        if seat == seen.viewer:
            continue
        if undone and seen.phase is Phase.PLAN and seat != table.first_finisher:
            table.committed[seat] = False
        elif policy is not None:
            _plan_with(policy, table, seat, chance)
        else:
            _plan(table, seat, draw)


def _pile(table: Table, draw: Stream) -> tuple[Card, ...]:
    """Return the cards that are nowhere else, by level, each level in a random order (S4)."""
    elsewhere: set[int] = {*table.slots, *table.scrapped}
    for owned in table.owned:
        elsewhere.update(owned)
    pile: list[Card] = []
    for level in LEVELS:
        cards = [card for card in table.board.achievements(table.setup.seats, level) if card not in elsewhere]
        pile += [cards[place] for place in draw.permutation(len(cards))]
    return tuple(pile)


def _plan(table: Table, seat: Seat, draw: Stream) -> None:
    """Plan for a seat at random, and stop after a random number of choices."""
    while True:
        # Whether the seat has committed is known, and stays as observed; only the cards are drawn.
        legal = [action for action in planning.legal(table, seat) if action is not COMMIT and action is not CLOSE]
        choice = draw.below(len(legal) + 1)
        if choice == len(legal):
            return
        planning.play(table, seat, legal[choice])


def _plan_with(policy: RolloutPolicy, table: Table, seat: Seat, chance: Chance) -> None:
    """Give a seat the plan that a policy makes for it, in a copy of the table where all seats are still planning."""
    # In phase BONUS all have committed; the policy must see the table as it was during planning.
    planned = table.clone()
    planned.phase = Phase.PLAN
    planned.committed = [False] * table.setup.seats
    while not planned.committed[seat]:
        for action in policy.row(planned, seat, chance):
            planning.play(planned, seat, action)
    table.plans[seat] = planned.plans[seat]
