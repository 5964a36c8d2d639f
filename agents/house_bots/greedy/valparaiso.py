"""A policy for Valparaíso that searches sequences of cards for the seat's own turns, and uses the best sequence.

A search keeps the best states after one card, after two, and so on, and tries each remaining card in them
(`valparaiso_outlook.py`). The search makes the plan of a round. It runs again before each card is used, when all plans
are known and other seats have acted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import cast

from house_bots.greedy.valparaiso_outlook import Row, View, outcomes, played, stay, use_worth, variants, worth
from referee.game import Action, Seat, Setup
from referee.games.valparaiso import actions as act
from referee.games.valparaiso import cards as deck
from referee.games.valparaiso import holdings, planning, scoring
from referee.games.valparaiso.board import ACTION_CARDS, PURE_GAINS
from referee.games.valparaiso.names import Card, Effect, Good, Mode, Phase
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.observing import restore
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.table import Table

WIDTH, WIDTH_IN_USE, WIDTH_IN_SETUP = 9, 7, 2  # numbers of states that a search keeps, by purpose
LEAD, RETAINED = 4, 1  # the lead at which cards are scrapped, and the minimum number of cards kept


class Trail:
    """A card in a sequence, linked to the cards before it."""

    def __init__(self, before: Trail | None, place: int, mode: Mode, row: Row) -> None:
        self.before = before
        self.place = place  # index in the list of cards
        self.mode = mode
        self.row = row


class Node:
    """A state in the search."""

    def __init__(self, points: float, table: Table, used: int, least: int, risk: float, trail: Trail | None) -> None:
        self.points = points
        self.table = table
        self.used = used  # the used cards, as bits by index
        self.least = least  # the lowest amount of money on the way
        self.risk = risk  # possible loss because others come first
        self.trail = trail


Check = Callable[[], None]
"""A function called before each use of a card that a search tries; it raises an exception to end the search."""


def unchecked() -> None:
    """Do nothing, so that a search is never interrupted."""


def search(
    view: View,
    table: Table,
    cards: Sequence[Card],
    length: int,
    width: int,
    check: Check = unchecked,
    *,
    mayor: bool = False,
    slotted: int = 0,
) -> list[Node]:
    """Return the end states of good sequences of `length` cards, the best first.

    A sequence has one card more if the seat can pay for the mayor's slot. The first `slotted` cards of the list lie in
    slots; using those cards out of order costs extra.
    """
    board, seat = view.board, view.seat
    effects = []
    for card in cards:
        modes = [(mode, deck.effect_of(table, seat, card, mode)) for mode in (Mode.MAIN, Mode.ALT)]
        idle = [] if modes[1][1] in PURE_GAINS else [(Mode.NONE, None)]
        effects.append([*((mode, effect) for mode, effect in modes if effect is not None), *idle])
    trading = sum(1 << place for place, card in enumerate(cards) if board.cards[card].main is Effect.TRADE)
    shipping = sum(1 << place for place, card in enumerate(cards) if board.cards[card].main is Effect.OVERSEAS)
    beam = [Node(0.0, table, 0, table.money[seat], 0.0, None)]
    ends: list[Node] = []
    for depth in range(length + mayor):
        extra, found = depth == length, dict[object, Node]()
        free = max(0, length - depth - 1)
        for node in beam:
            start = node.table
            if extra:
                if node.least < board.mayor_price:
                    # The mayor is paid when the plan is made (V2.3), before the cards are used: the pesos must never be
                    # missing on the way.
                    continue
                start = start.clone()
                start.money[seat] -= board.mayor_price
            behind = 0
            for place, options in enumerate(effects):
                if node.used >> place & 1:
                    continue
                check()
                used, paid = node.used | 1 << place, start
                if place < slotted:
                    # The surcharge depends on the slot of the card at that time: used cards leave gaps, and the others
                    # move up (R13).
                    behind += 1
                    if board.surcharges[behind - 1]:
                        if start.money[seat] < board.surcharges[behind - 1]:
                            continue
                        paid = start.clone()
                        paid.money[seat] -= board.surcharges[behind - 1]
                can_trade, can_ship = bool(trading & ~used), bool(shipping & ~used)
                for mode, effect in options:
                    for end, row in variants(view, paid, effect) if effect is not None else [(paid, ())]:
                        risk = node.risk
                        if depth and row:
                            risk += depth * sum(
                                [view.contest[action.village] for action in row if isinstance(action, act.Trade)], 0.0
                            )
                        points = worth(view, end, free, can_trade, can_ship) - risk
                        # Equal states are not examined twice, because the best way to each is enough.
                        stores = (*end.warehouse[seat], *end.hold[seat], *end.merchants[seat], *end.markets)
                        key = (
                            end.money[seat],
                            end.vp[seat],
                            end.ship[seat],
                            end.owned[seat],
                            end.houses_left[seat],
                            stores,
                        )
                        if key not in found or found[key].points < points:
                            least = min(node.least, end.money[seat])
                            found[key] = Node(points, end, used, least, risk, Trail(node.trail, place, mode, row))
        if not found:
            break
        beam = sorted(found.values(), key=lambda node: -node.points)[:width]
        if depth >= length - 1:
            ends += beam
    return sorted(ends, key=lambda node: -node.points)


def steps_to(node: Node) -> list[Trail]:
    """Return the cards that lead to a state, in order."""
    steps: list[Trail] = []
    trail = node.trail
    while trail:
        steps.append(trail)
        trail = trail.before
    return steps[::-1]


# --- decisions --------------------------------------------------------------------------------------------------------------


def choose(setup: Setup, seen: ValparaisoObservation, actions: Sequence[Action]) -> list[Action]:
    """Return the actions to play in order, the first of which is legal.

    Args:
        setup: the terms of the match.
        seen: the observation of the seat to act.
        actions: its legal actions.
    """
    return decide(view_of(setup, seen, actions))


def view_of(setup: Setup, seen: ValparaisoObservation, actions: Sequence[Action]) -> View:
    """Return the data for a decision, built from the arguments of `choose`."""
    table = ValparaisoState.empty(setup)
    restore(table, seen)
    return View(table, cast("Seat", seen.viewer), actions)


def decide(view: View) -> list[Action]:
    """Return the actions to play in order, the first of which is legal."""
    row = _DECISIONS.get(view.phase, go_on)(view)
    # The first action is good enough if no better one is found, or in the middle of an unplanned sequence.
    return row if row and row[0] in view.actions else [view.actions[0]]


def set_up(view: View) -> list[Action]:
    """Return the goods, or the village, that lead to the best first turn (S6, S8)."""
    return max(rated_set_up(view), key=operator.itemgetter(0))[1]


def rated_set_up(view: View) -> list[tuple[float, list[Action]]]:
    """Return each set-up choice, paired with the points of the best first turn after it."""
    found: list[tuple[float, list[Action]]] = []
    for action in view.actions:
        ends = search(view, with_choice(view, action), ACTION_CARDS, view.board.open_slots, WIDTH_IN_SETUP)
        found.append((ends[0].points, [action]))
    return found


def with_choice(view: View, action: Action) -> Table:
    """Return the table after a set-up choice."""
    table = view.table.clone()
    if isinstance(action, act.Goods):
        table.warehouse[view.seat] = list(holdings.goods_of(action.first, action.second, action.third).goods)
    elif isinstance(action, act.PlaceMerchant):
        table.merchants[view.seat][action.village] += 1
    return table


def make_plan(view: View) -> list[Action]:
    """Return the cards of the best sequence in order; a card beyond the number of slots is for the mayor's slot."""
    return plans(view, WIDTH)[0]


def plans(view: View, width: int, check: Check = unchecked) -> list[list[Action]]:
    """Return rows that complete the plan, the best first."""
    return [row for _, row in rated_plans(view, width, check)]


def rated_plans(view: View, width: int, check: Check = unchecked) -> list[tuple[float, list[Action]]]:
    """Return rows that complete the plan, each paired with its points, the best first."""
    plan, table = view.plan, view.table
    cards = [card for card in table.cards_of(view.seat) if card not in plan.cards and card is not plan.mayor]
    length = planning.slots(table, view.seat) - len(plan.cards)
    ends = search(view, table, cards, length, width, check, mayor=plan.mayor is None) if length else []
    rated = [(end.points, planned([cards[step.place] for step in steps_to(end)], length)) for end in ends]
    return rated or [(0.0, [act.COMMIT])]


def planned(order: list[Card], length: int) -> list[Action]:
    """Return the row that plans cards in their order of use.

    If there are more than `length` cards, the last one is for the mayor's slot.
    """
    row: list[Action] = [act.MAYORS[order.pop()]] if len(order) > length else []
    return [*row, *[act.PLACES[card] for card in order], act.COMMIT]


def bonus(view: View) -> list[Action]:
    """Choose the good with the smallest stock, because one more of it is worth most."""
    return [act.BONUSES[min(Good, key=view.stock.__getitem__)]]


def use_card(view: View) -> list[Action]:
    """Return the row that uses the first card in the best sequence of the remaining cards.

    The row contains all choices of the card's action.
    """
    found = uses(view, WIDTH_IN_USE)
    return found[0] if found else []


def uses(view: View, width: int, check: Check = unchecked) -> list[list[Action]]:
    """Return rows that use a card, from the best sequences of the remaining cards, the best first."""
    return [row for _, row in rated_uses(view, width, check)]


def rated_uses(view: View, width: int, check: Check = unchecked) -> list[tuple[float, list[Action]]]:
    """Return rows that use a card, each paired with the points of its sequence, the best first."""
    slotted = len(view.plan.cards)
    cards = [*view.plan.cards, *([] if view.plan.mayor is None else [view.plan.mayor])]
    ends = search(view, view.table, cards, len(cards), width, check, slotted=slotted)
    first = [(end.points, steps_to(end)[0]) for end in ends]
    return [(points, used(step.place, step.mode, step.row, slotted)) for points, step in first]


def used(place: int, mode: Mode, row: Row, slotted: int) -> list[Action]:
    """Return the row that uses the card at index `place`.

    The first `slotted` cards lie in slots; the next one is the mayor's card.
    """
    sales = [action for action in row if isinstance(action, act.Sell)]
    return [*sales, act.USES[place + 1][mode] if place < slotted else act.MAYOR_USES[mode], *row[len(sales) :]]


def go_on(view: View) -> list[Action]:
    """Continue an action in progress: end it if it has had an effect, and otherwise choose the best continuation.

    There may be no promising continuation, for example if the seat lacks the pesos for a step; then each legal action
    is rated.
    """
    last: list[Action] = [action for action in view.actions if action in (act.STOP, act.DONE)]
    if last:
        return last
    found = list(outcomes(view, view.table)) or [played(view, view.table, action) for action in view.actions]
    rated = [(worth(view, end, 1, True, True), row) for end, row in found]
    return list(max(rated, key=lambda item: item[0])[1])


def scrap(view: View) -> list[Action]:
    """Scrap the least valuable card or pass.

    A card is scrapped if that ends the match in the lead, or brings the end nearer with a safe lead.
    """
    table, seat, board = view.table, view.seat, view.board
    vp, final = table.vp[seat], scoring.final(table, seat)[0]
    owned = sorted(table.owned[seat], key=lambda card: (use_worth(view, card), -board.cards[card].vp))
    outcome = [card for card in owned if vp + board.cards[card].vp >= board.end_vp]
    if final > view.rival and outcome:
        return [act.SCRAPS[outcome[0]]]
    return [act.SCRAPS[owned[0]] if final >= view.rival + LEAD and len(owned) > RETAINED else act.PASS]


def recall(view: View) -> list[Action]:
    """Recall the merchants that are worth more in Valparaíso."""
    staying = stay(view, view.table)
    called = [
        village
        for village in view.side.villages
        for _ in range(view.table.merchants[view.seat][village] - staying[village])
    ]
    return [*map(act.RECALLS.__getitem__, called), *([act.DONE] if any(staying[1:]) else [])]


_DECISIONS: dict[Phase, Callable[[View], list[Action]]] = {
    Phase.SETUP_GOODS: set_up,
    Phase.SETUP_PLACE: set_up,
    Phase.PLAN: make_plan,
    Phase.BONUS: bonus,
    Phase.USE: use_card,
    Phase.SCRAP: scrap,
    Phase.RETURN: recall,
}
