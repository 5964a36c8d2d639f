"""Draw the unknown plans of a seat's opponents (RULES.md, section 2). Every consistent plan is possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.game import Action, Chance, IllegalAction, RolloutPolicy, Seat, Stream
from referee.games.venezia import planning
from referee.games.venezia.names import ActionCard, FirstCard, Phase, Place, Step
from referee.games.venezia.observation import SeatView, VeneziaObservation
from referee.games.venezia.table import NO_PLAN, Plan, Table

_PLACES: Final = tuple(Place)


def draw_plans(
    table: Table,
    seen: VeneziaObservation,
    chance: Chance,
    policy: RolloutPolicy | None = None,
    *,
    undone: bool = False,
) -> None:
    """Give every other seat a plan that is consistent with the observation; see `Game.sample`."""
    if undone and seen.phase is Phase.PLAN:
        return
    draw = chance.stream("sample")
    for seat, has in enumerate(seen.seats):
        if seat == seen.viewer or seen.phase is Phase.HOME:
            continue
        if seen.phase is not Phase.PLAN:
            # Once the district cards are face up, there is nothing to guess.
            liked = () if policy is None or not has.piles or has.pile_places else _liked(table, seat, policy, chance)
            table.plans[seat] = _fitting(table, seat, has, liked, draw)
        elif policy is None:
            _plan_on(table, seat, has.committed, draw)
        # A seat that has not committed gets no plan here: it plans in the rollout.
        elif has.committed:
            _play_row(table, seat, policy.row(table, seat, chance))
            # The row of the policy may be too short, or end early at an action that is not legal here.
            _plan_on(table, seat, committed=True, draw=draw)


def _play_row(table: Table, seat: Seat, row: Sequence[Action]) -> None:
    """Make a plan with the actions of a policy, as far as they are legal."""
    for action in row:
        try:
            planning.play(table, seat, action)
        except IllegalAction:
            return


def _liked(table: Table, seat: Seat, policy: RolloutPolicy, chance: Chance) -> tuple[Place, ...]:
    """Return the places where a policy would lay a seat's pigeons, beginning with the one that would get the most."""
    copy = table.clone()
    copy.phase, copy.plans = Phase.PLAN, [NO_PLAN] * table.setup.seats
    copy.nest = [0] * table.setup.seats
    # The policy plans in the seat's former situation: its cards' pigeons are in the reserve, and none were born yet.
    for other in range(table.setup.seats):
        copy.reserve[other] += sum(copy.piles[other]) + copy.first_count[other]
        copy.piles[other], copy.first_count[other] = [], 0
    _play_row(copy, seat, policy.row(copy, seat, chance))
    plan = copy.plans[seat]
    laid = sorted(zip(plan.chosen, plan.counts[1:], strict=False), key=lambda pair: -pair[1])
    return tuple(place for place, _ in laid)


def _plan_on(table: Table, seat: Seat, committed: bool, draw: Stream) -> None:
    """Continue a seat's plan at random: to its end if the seat has committed, otherwise up to some earlier step."""
    while table.plans[seat].step is not Step.COMMITTED:
        if not committed and draw.below(4) == 0:
            return
        before = table.plans[seat]
        legal = planning.legal(table, seat)
        planning.play(table, seat, legal[draw.below(len(legal))])
        if not committed and table.plans[seat].step is Step.COMMITTED:
            table.plans[seat] = before
            return  # the seat has not committed, so its plan cannot be complete


def _fitting(table: Table, seat: Seat, has: SeatView, liked: tuple[Place, ...], draw: Stream) -> Plan:
    """Draw a plan that fits the piles, the first card if it is face up, and whether an action card lies face down.

    The largest piles go to the liked places.
    """
    first = has.first
    if first is None:
        # A Piazza card has at least one pigeon, and no more than there is room for (R5, R6).
        could_be_piazza = 1 <= has.first_count <= table.board.piazza_limit - table.on_piazza(seat)
        first = FirstCard(draw.below(2)) if could_be_piazza else FirstCard.FEINT
    action = has.action
    if action is None and table.phase < Phase.FAMILY and table.round > 1:
        hand = table.hand(seat)
        if has.card_planned:
            action = hand[draw.below(len(hand))]
        elif hand:
            action = ActionCard.NONE
    # The piles were laid in a random order (Z2.9), so nobody can tell in which order their places were chosen.
    order = draw.permutation(len(has.piles)) if len(has.piles) >= 2 else list(range(len(has.piles)))
    slots = has.pile_places or _places(has.piles, liked, draw)
    chosen = [Place.CAN] * len(slots)
    counts = [0] * len(slots)
    for slot, place in enumerate(order):
        chosen[place] = slots[slot]
        counts[place] = has.piles[slot]
    return Plan(Step.COMMITTED, first, action, tuple(chosen), (has.first_count, *counts), slots)


def _places(piles: Sequence[int], liked: tuple[Place, ...], draw: Stream) -> tuple[Place, ...]:
    """Draw a place for each pile; the largest piles get the preferred places."""
    others = [_PLACES[place] for place in draw.permutation(len(_PLACES)) if place not in liked]
    places = iter((*liked, *others))
    largest = sorted(range(len(piles)), key=lambda slot: -piles[slot])
    chosen = {slot: next(places) for slot in largest}
    return tuple(chosen[slot] for slot in range(len(piles)))
