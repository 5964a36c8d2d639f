"""A policy for Venezia that estimates the majorities that pigeons, cards and births may win, given rivals' likely play.

Every place has an outlook: for each rival, the likely numbers of arriving pigeons. The value of the seat's own pigeons
there is computed from it; plans, cards and reinforcements are chosen for the highest total.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from typing_extensions import override

from house_bots.greedy.venezia_cards import (
    best_card,
    execute,
    poison_pigeons,
    recover_card,
    remove_pigeons,
    send_greys,
)
from house_bots.greedy.venezia_outlook import BORN, Row, Shares, View, share_out
from house_bots.greedy.venezia_piazza import Mover, place_pigeons, square_values
from referee.game import Action, Chance, RolloutPolicy, Seat, Setup, State
from referee.games.venezia import actions as act
from referee.games.venezia.names import ActionCard, FirstCard, Phase, Place, Step
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.observing import restore
from referee.games.venezia.state import VeneziaState
from referee.games.venezia.table import Plan, Table

CROWDED = 0.93  # births to each further pigeon on the Piazza, as a share of those to the previous one: pigeons share the tourists
LATE_BIRTH = 0.2  # worth of a pigeon born in the last round, which can only reinforce the home
OWN_NEST = 0.5  # share of the expected newborn that a plan assumes to reinforce the seat's home
OWN_WAY = 0.15  # worth of a step along an order of places that differs by seat, so that equal bots do not meet

_PLACES = len(Place)
CARD_PHASES = {
    Phase.FAMILY: ActionCard.FAM,
    Phase.TAKEOVER: ActionCard.UEB,
    Phase.RAPTOR: ActionCard.RAU,
    Phase.PURGE: ActionCard.SAU,
}


def choose(setup: Setup, seen: VeneziaObservation, actions: Sequence[Action]) -> Sequence[Action]:
    """Return the actions to play in order, the first of which is legal.

    Args:
        setup: the terms of the match.
        seen: the observation of the seat to act.
        actions: its legal actions.
    """
    state = VeneziaState.empty(setup)
    restore(state, seen)
    return row(state, cast("Seat", seen.viewer))


class GreedyPolicy(RolloutPolicy):
    """The policy of `greedy`, for every seat in a rollout."""

    @override
    def row(self, state: State, seat: Seat, chance: Chance) -> Sequence[Action]:
        return row(cast("VeneziaState", state), seat)


def row(table: Table, seat: Seat) -> list[Action]:
    """Return a seat's next actions in order, as far as they can be foreseen, without using the plans of other seats."""
    view, phase = View(table, seat), table.phase
    if phase is Phase.PLAN:
        return make_plan(view)
    if phase is Phase.MOVE:
        return Mover(view).plan(set(table.unmoved))
    if phase is Phase.CHAIN:
        return Mover(view).plan_on()
    if phase is Phase.FEINT:
        return lay_feint(view)
    if phase is Phase.PLACE:
        return place_pigeons(view)
    if phase is Phase.REINFORCE:
        return reinforce(view)
    return _use_card(view)


def _use_card(view: View) -> list[Action]:
    """Use an action card, or choose a home, a card to recover, or pigeons from the cemetery."""
    phase = view.table.phase
    if phase in CARD_PHASES:
        return execute(view, CARD_PHASES[phase])
    if phase is Phase.FEHDE:
        return remove_pigeons(view)
    if phase is Phase.POISON:
        return poison_pigeons(view, square_values(view))
    if phase is Phase.GREY:
        return send_greys(view)
    if phase is Phase.RECOVER:
        return recover_card(view)
    legal = view.table.legal_actions(view.seat)
    # This chooses any free home, as few pigeons from the reserve as possible, but all pigeons from the cemetery.
    return [legal[-1] if phase is Phase.MICHELE else legal[0]]


# --- planning (Z2) -------------------------------------------------------------------------------------------


def make_plan(view: View, likings: Sequence[float] = ()) -> list[Action]:
    """Make the plan of a round, or complete it without changing earlier decisions.

    Args:
        view: the data for the decision.
        likings: additional points for pigeons in each place, which lead to other plans.
    """
    _, pigeons, placed = best_piles(view, view.table.plans[view.seat], likings)
    return row_of_plan(view, pigeons, placed, None)


def has_card(view: View, plan: Plan) -> bool:
    """Return whether the seat still has to plan an action card."""
    return plan.step <= Step.ACTION and view.table.round > 1 and bool(view.table.hand(view.seat))


def spare_pigeons(view: View, pigeons: Sequence[int], placed: int) -> int:
    """Return the number of pigeons that a plan leaves in the reserve."""
    return view.table.reserve[view.seat] - sum(pigeons) - placed


def row_of_plan(view: View, pigeons: Sequence[int], placed: int, card: ActionCard | None) -> list[Action]:
    """Return the actions that complete a plan.

    Args:
        view: the data for the decision.
        pigeons: the pigeons for each place.
        placed: the pigeons for the Piazza.
        card: the action card; None for the best one.
    """
    plan, board = view.table.plans[view.seat], view.board
    reserve = view.table.reserve[view.seat]
    is_piazza = plan.first is FirstCard.PIAZZA if plan.first is not None else placed > 0
    new = [place for place in Place if pigeons[place] and place not in plan.chosen]
    row: list[Action] = []
    if plan.step is Step.FIRST:
        row.append(act.FIRSTS[FirstCard.PIAZZA if is_piazza else FirstCard.FEINT])
    if has_card(view, plan):
        row.append(
            act.PLANNED_CARDS[best_card(view, pigeons, spare_pigeons(view, pigeons, placed)) if card is None else card]
        )
    if plan.step <= Step.DISTRICTS:
        row += [act.PLANNED_DISTRICTS[place] for place in new]
        if len(plan.chosen) + len(new) < board.district_cards:
            row.append(act.DONE)
    if not plan.counts:
        # Pigeons on the Feint are laid when the piles of all others are visible.
        row.append(act.COUNTS[placed if is_piazza else reserve])
    return row + _counts(plan, [*plan.chosen, *new], pigeons, 0 if is_piazza else _on_feint(plan, reserve))


def _on_feint(plan: Plan, reserve: int) -> int:
    return plan.counts[0] if plan.counts else reserve


def _counts(plan: Plan, places: Sequence[Place], pigeons: Sequence[int], feint: int) -> list[Action]:
    """Lay pigeons on the cards that have no pile yet, except for pigeons that can come from the Feint."""
    left = places[max(0, len(plan.counts) - 1) :]
    needed = max(0, sum([pigeons[place] for place in left]) - feint)
    row: list[Action] = []
    for place in left:
        count = min(needed, pigeons[place])
        if not feint:
            count = pigeons[place]
        needed -= count
        row.append(act.COUNTS[count])
    return row


def best_piles(view: View, plan: Plan, likings: Sequence[float]) -> tuple[float, list[int], int]:
    """Return the best gain, and the pigeons for each place and for the Piazza; piles that are already laid stay unchanged."""
    table, seat, cards = view.table, view.seat, view.board.district_cards
    laid = [0] * _PLACES
    for index in range(1, len(plan.counts)):
        laid[plan.chosen[index - 1]] = plan.counts[index]
    home, coming = table.home[seat], laid[:]
    coming[home] += round(OWN_NEST * view.newborn(seat))
    looks, free = view.outlooks_with(coming), _pigeons_left(table, seat)
    shares = Shares(free, cards - len(plan.chosen))
    decided = plan.chosen[: max(0, len(plan.counts) - 1)]
    for place in range(_PLACES):
        liking = OWN_WAY * ((place * 3 + seat * 5 + table.round) % 8)
        if likings:
            liking += likings[place]
        closed = place in decided or (plan.step > Step.DISTRICTS and place not in plan.chosen)
        most = 0 if closed else free
        shares.add(looks[place].gains(most, liking), view.in_reserve, 0 if place in plan.chosen else 1)
    shares.add(piazza_row(view, plan), view.in_reserve, 0)
    gain, counts = shares.best()
    return gain, [laid[place] + counts[place] for place in range(_PLACES)], counts[_PLACES]


def _pigeons_left(table: Table, seat: Seat) -> int:
    """Return the number of pigeons that can still be laid, including those on the Feint."""
    plan, left = table.plans[seat], table.left_to_lay(seat)
    return left + plan.counts[0] if plan.counts and plan.first is FirstCard.FEINT else left


def piazza_row(view: View, plan: Plan) -> Row:
    """Return the gains of pigeons on the Piazza from their births, as far as the plan leaves a choice."""
    if plan.counts or plan.first is FirstCard.FEINT:
        return Row(0, 0.0)
    table, seat = view.table, view.seat
    there, rounds = table.on_piazza(seat), view.left + 1
    value = 0.0
    for passed in range(view.left):
        value += view.reserve_value(passed)
    value += LATE_BIRTH
    supply, gain = float(table.supply[seat]), 0.0
    # Pigeons that are already there take their newborn from the supply first.
    supply -= min(supply, BORN * there * rounds)
    row = Row(0, 0.0)
    for more in range(min(table.reserve[seat], view.board.piazza_limit - there)):
        born = min(supply, BORN * CROWDED ** (there + more) * rounds)
        supply -= born
        gain += value * born / rounds
        if more == 0 and plan.first is not None:
            row = Row(1, gain)  # the card Piazza needs a pigeon
        else:
            row.add(more + 1, gain)
    return row


def lay_feint(view: View) -> list[Action]:
    """Distribute the pigeons on the Feint among the district cards, now that all piles are face up."""
    table, seat = view.table, view.seat
    pigeons, looks = table.first_count[seat], view.outlooks()
    places = table.plans[seat].slots[table.slot :]
    _, counts = share_out([looks[place].gains(pigeons) for place in places], pigeons, view.in_reserve)
    row, left = list[Action](), pigeons
    for count in counts:
        row.append(act.FEINTS[count])
        left -= count
        if not left:
            break
    return row


# --- the home (Z7.3) -----------------------------------------------------------------------------------------


def reinforce(view: View) -> list[Action]:
    """Reinforce the home with the newborn pigeons that gain more there than in the reserve.

    In the last round, reinforce it with all of them.
    """
    nest = view.table.nest[view.seat]
    if not view.left:
        return [act.REINFORCES[nest]]
    _, counts = share_out([gains_at_home(view)], nest, view.in_reserve)
    return [act.REINFORCES[counts[0]]]


def gains_at_home(view: View) -> Row:
    """Return the gains from reinforcing the home with newborn pigeons."""
    return view.outlooks()[view.table.home[view.seat]].gains(view.table.nest[view.seat])
