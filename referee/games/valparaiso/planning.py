"""Planning, which every seat does on its own (RULES.md, V2). Nothing here depends on another seat's plan."""

from __future__ import annotations

from typing import cast

from referee.game import Action, IllegalAction, Seat
from referee.games.valparaiso import actions as act
from referee.games.valparaiso.names import GOODS, STORES, Card, Good, Store
from referee.games.valparaiso.table import NO_PLAN, NONE, Plan, Table
from referee.named import named


def is_timed(table: Table) -> bool:
    """Return whether the match is an expert game (V2.8)."""
    return bool(table.setup.options["expert_timer"])


def timer(table: Table) -> int:
    """Return the time that the others have after the first finisher, in seconds (V2.8)."""
    options = table.setup.options
    return cast("int", options["timer_seconds"]) + cast("int", options["countdown_seconds"])


def slots(table: Table, seat: Seat) -> int:
    """Return the number of slots that the seat can fill (V2.2)."""
    # Houses are not built during planning, so this is also the number at the start of planning (R9).
    board = table.board
    return board.open_slots + (board.houses - table.houses_left[seat] >= board.slot_houses)


def unplanned(table: Table, seat: Seat) -> list[Card]:
    """Return the cards that the seat may still plan (V2.5)."""
    plan = table.plans[seat]
    return [card for card in table.cards_of(seat) if card not in plan.cards and card is not plan.mayor]


def legal(table: Table, seat: Seat) -> list[Action]:
    """Return the possible next choices of a seat's plan, in the order of the rules."""
    plan = table.plans[seat]
    cards = unplanned(table, seat)
    found: list[Action] = []
    if len(plan.cards) < slots(table, seat):
        found += [act.PLACES[card] for card in cards]
    if plan.mayor is None and table.money_in_plan(seat) >= table.board.mayor_price:
        found += [act.MAYORS[card] for card in cards]
    found.append(act.COMMIT)
    if is_timed(table):
        found.append(act.CLOSE)
    if _may_sell(table, seat):
        found += [act.SALES[s][g] for s in STORES for g in GOODS if table.left_in_plan(seat, s, g)]
    return found


def _may_sell(table: Table, seat: Seat) -> bool:
    """Return whether goods may be sold during planning, which only serves to pay for the mayor's slot (V1.3)."""
    plan = table.plans[seat]
    return plan.mayor is None and table.money_in_plan(seat) < table.board.mayor_price and bool(unplanned(table, seat))


def play(table: Table, seat: Seat, action: Action) -> None:
    """Make the next choice of a plan.

    Raises:
        IllegalAction: if the choice is not legal; the plan is then unchanged.
    """
    plan = table.plans[seat]
    if isinstance(action, act.Place):
        card = _check_unplanned(table, seat, action.card)
        if len(plan.cards) >= slots(table, seat):
            raise IllegalAction(
                f"all {len(plan.cards)} open slots are full; slot #{table.board.open_slots + 1} needs {table.board.slot_houses} houses",
                "V2.2",
            )
        table.plans[seat] = Plan((*plan.cards, card), plan.mayor, plan.sold)
    elif isinstance(action, act.Mayor):
        card = _check_unplanned(table, seat, action.card)
        if plan.mayor is not None:
            raise IllegalAction("there is a card in the mayor's slot already", "V2.3")
        if table.money_in_plan(seat) < table.board.mayor_price:
            raise IllegalAction(f"the mayor's slot costs {table.board.mayor_price} pesos", "V2.3")
        table.plans[seat] = Plan(plan.cards, card, plan.sold)
    elif isinstance(action, act.Sell):
        store, good = named(Store, action.store), named(Good, action.good)
        if not _may_sell(table, seat):
            raise IllegalAction("goods are sold now only if pesos for the mayor's slot are missing", "V1.3")
        if not table.left_in_plan(seat, store, good):
            raise IllegalAction(f"there is no {good.name.lower()} in the {store.name.lower()}", "V1.3")
        sold = [list(goods) for goods in plan.sold]
        sold[store][good] += 1
        table.plans[seat] = plan._replace(sold=(tuple(sold[0]), tuple(sold[1])))
    elif isinstance(action, act.Commit):
        table.committed[seat] = True
        # Only `commit` declares a finished plan; `close`, by the referee or the seat itself, makes no first finisher
        # (V2.8, R51).
        if is_timed(table) and table.first_finisher == NONE:
            table.first_finisher = seat
    elif isinstance(action, act.Close) and is_timed(table):
        table.committed[seat] = True
    else:
        raise IllegalAction("this is not possible while plans are made", "V2.1")


def _check_unplanned(table: Table, seat: Seat, number: Card) -> Card:
    card = named(Card, number)
    if card not in unplanned(table, seat):
        raise IllegalAction(f"{card.name} is planned already, or it is not a card of this seat", "V2.5")
    return card


def reveal(table: Table) -> None:
    """Turn all plans face up, and settle their sales and payments (V2.6)."""
    for seat, plan in enumerate(table.plans):
        # The pesos come first, because they are computed from the sales, which the new plan lacks.
        table.money[seat] = table.money_in_plan(seat)
        for goods, sold in zip(table.stores(seat), plan.sold, strict=True):
            for good, number in enumerate(sold):
                goods[good] -= number
        table.plans[seat] = Plan(plan.cards, plan.mayor)
        table.committed[seat] = False
    table.first_finisher = NONE


def actions_of(plan: Plan) -> list[Action]:
    """Return the choices that make a plan: sales, then the mayor's card, then the slots."""
    # Sales are legal only until a card is in the mayor's slot, and while a card is unplanned (V1.3), so they come first.
    found: list[Action] = [
        act.SALES[store][good] for store in Store for good in Good for _ in range(plan.sold[store][good])
    ]
    if plan.mayor is not None:
        found.append(act.MAYORS[plan.mayor])
    return found + [act.PLACES[card] for card in plan.cards]


def can_be_made(table: Table, seat: Seat, plan: Plan) -> bool:
    """Return whether a plan can be made, choice by choice."""
    again = table.clone()
    again.plans[seat] = NO_PLAN
    # The legality of a choice depends on the choices before it.
    for action in actions_of(plan):
        if action not in legal(again, seat):
            return False
        play(again, seat, action)
    return True
