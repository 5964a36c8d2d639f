"""Draw the unknown plans of a seat's opponents (RULES.md, section 2). Every consistent plan is possible."""

from __future__ import annotations

from referee.game import Chance, Seat, Stream
from referee.games.venezia import planning
from referee.games.venezia.names import ActionCard, FirstCard, Phase, Place, Step
from referee.games.venezia.observation import SeatView, VeneziaObservation
from referee.games.venezia.table import Plan, Table


def draw_plans(table: Table, seen: VeneziaObservation, chance: Chance, *, undone: bool = False) -> None:
    """Give every other seat a plan that is consistent with the observation; none yet in the planning, if `undone`."""
    if undone and seen.phase is Phase.PLAN:
        return
    draw = chance.stream("sample")
    for seat, has in enumerate(seen.seats):
        if seat == seen.viewer or seen.phase is Phase.HOME:
            continue
        if seen.phase is Phase.PLAN:
            _plan_on(table, seat, has.committed, draw)
        else:
            table.plans[seat] = _fitting(table, seat, has, draw)


def _plan_on(table: Table, seat: Seat, committed: bool, draw: Stream) -> None:
    """Plan at random: to the end if the seat has committed, otherwise up to some earlier step."""
    while table.plans[seat].step is not Step.COMMITTED:
        if not committed and draw.below(4) == 0:
            return
        before = table.plans[seat]
        legal = planning.legal(table, seat)
        planning.play(table, seat, legal[draw.below(len(legal))])
        if not committed and table.plans[seat].step is Step.COMMITTED:
            table.plans[seat] = before
            return


def _fitting(table: Table, seat: Seat, has: SeatView, draw: Stream) -> Plan:
    """Draw a plan that fits the piles, the first card if it is face up, and whether an action card lies face down."""
    first = has.first
    if first is None:
        could_be_piazza = 1 <= has.first_count <= table.board.piazza_limit - table.on_piazza(seat)
        first = FirstCard(draw.below(2)) if could_be_piazza else FirstCard.FEINT
    action = has.action
    if action is None and table.phase < Phase.FAMILY and table.round > 1:
        hand = table.hand(seat)
        if has.card_planned:
            action = hand[draw.below(len(hand))]
        elif hand:
            action = ActionCard.NONE
    order = draw.permutation(len(has.piles)) if len(has.piles) >= 2 else list(range(len(has.piles)))
    slots = has.pile_places or _some_places(len(has.piles), draw)
    chosen = [Place.CAN] * len(slots)
    counts = [0] * len(slots)
    for slot, place in enumerate(order):
        chosen[place] = slots[slot]
        counts[place] = has.piles[slot]
    return Plan(Step.COMMITTED, first, action, tuple(chosen), (has.first_count, *counts), slots)


def _some_places(number: int, draw: Stream) -> tuple[Place, ...]:
    return tuple(Place(place) for place in draw.permutation(len(Place))[:number])
