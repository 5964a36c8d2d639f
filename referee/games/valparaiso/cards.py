"""The actions on cards and their effects (RULES.md, V4).

`ACTIONS` has one entry for each action, and the board assigns actions to cards. An action without a decision is carried
out at once. Any other action opens its phase, and `rules.py` plays the decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from referee.game import Seat
from referee.games.valparaiso import holdings, moving, trading
from referee.games.valparaiso.board import OUTER, SLOTS_OF_A_SECTOR, Amount, level_of
from referee.games.valparaiso.names import Card, Effect, Location, Mode, PayTo, Phase, Sector, Slot, Source
from referee.games.valparaiso.table import NONE, Table

# Constants, because looking up a member of an enum is slow on the hot path.
_MAIN: Final = Mode.MAIN
_ALT: Final = Mode.ALT
_H: Final = Sector.H
_V: Final = Location.V


class CardAction(NamedTuple):
    """The decisions that an action involves; its costs and gains are on the board (`EffectType`)."""

    phase: Phase | None = None
    """The phase of the decision; None if the action has no decision."""
    can: Callable[[Table, int], bool] = lambda table, money: True
    """A function that returns whether the current seat can carry out the action with these pesos, its price aside."""
    begin: Callable[[Table], None] = lambda table: None
    """The function that carries out the effects that come before the first decision."""
    goods: int = 0
    """The number of goods that the seat chooses from its warehouse and pays in addition."""
    choose: str = ""
    """The choice of two goods to take: `different` or `any`; empty if none are taken."""


# --- conditions of actions ---------------------------------------------------------------------------------


def _can_transfer(table: Table, money: int) -> bool:
    return table.ship[table.seat] is _H and any(map(sum, table.stores(table.seat)))


def transfer_problem(table: Table, contents: tuple[int, int, int]) -> str:
    """Return the reason why the hold of the current seat cannot have these contents; empty if it can (V4.1)."""
    warehouse, hold = table.stores(table.seat)
    if any(not 0 <= new <= warehouse[good] + hold[good] for good, new in enumerate(contents)):
        return "there are too few goods for that"
    if sum(contents) > table.board.hold:
        return f"at most {table.board.hold} goods fit into the hold"
    return "the hold has these contents already" if list(contents) == hold else ""


def _can_hire(table: Table, money: int) -> bool:
    return table.merchants_reserve[table.seat] >= 1


def hire(table: Table) -> None:
    """Move a merchant of the current seat from its repository board to Valparaíso (V4.3)."""
    table.merchants_reserve[table.seat] -= 1
    table.merchants[table.seat][_V] += 1


def sites(table: Table) -> list[tuple[Location, int]]:
    """Return the building spaces where the current seat can build, whatever the cost (V4.5)."""
    seat = table.seat
    if not table.houses_left[seat]:
        return []
    # In Valparaíso only the next space of the row can be built on (V4.5), which is always number 0.
    found = [(_V, 0)] if table.merchants[seat][_V] and len(table.row) < len(table.side.row) else []
    for village in table.side.villages:
        if table.merchants[seat][village]:
            spaces = range(len(table.side.spaces[village]))
            found += [(village, space) for space in spaces if (village, space) not in table.houses]
    return found


def _can_build(table: Table, money: int) -> bool:
    return bool(sites(table))


def _can_pay_and_build(table: Table, money: int) -> bool:
    return money >= table.board.house_price and _can_build(table, money)


def build(table: Table, location: Location, space: int) -> None:
    """Build a house for the current seat, which has already paid for it (V4.5)."""
    seat = table.seat
    if location is _V:
        holdings.score(table, seat, Source.CITY, table.side.row[len(table.row)].built)
        table.row = (*table.row, seat)
    else:
        holdings.score(table, seat, Source.VILLAGES, table.side.spaces[location][space])
        table.houses[location, space] = seat
    table.houses_left[seat] -= 1
    if not table.houses_left[seat]:
        holdings.score(table, seat, Source.LAST_HOUSE, table.board.last_house_vp)


def _can_build_or_hire(table: Table, money: int) -> bool:
    return _can_hire(table, money) or _can_build(table, money)


def _at_sector(sector: Sector) -> range:
    """Return the slots of an outer sector."""
    first = OUTER.index(sector) * SLOTS_OF_A_SECTOR
    return range(first, first + SLOTS_OF_A_SECTOR)


def level_a_cards(table: Table, sector: Sector) -> int:
    """Return the number of cards of level A at a sector."""
    cards = [table.slots[slot] for slot in _at_sector(sector)]
    return sum(card != NONE and level_of(Card(card)) == "A" for card in cards)


def acquisitions(table: Table, money: int) -> list[tuple[Slot, PayTo]]:
    """Return each slot from which the seat to act can acquire a card, with each possible compensation (V4.9)."""
    seat = table.seat
    sector = table.ship[seat]
    if sector is _H:
        return []
    good = table.board.sector_goods[OUTER.index(sector)]
    if table.hold[seat][good] < table.board.overseas_goods:
        return []
    found = []
    for slot in _at_sector(sector):
        if table.slots[slot] != NONE:
            level_a = level_of(Card(table.slots[slot])) == "A"
            targets = (PayTo.NONE,) if level_a else _compensations(table, sector)
            if targets[0] is PayTo.NONE or money >= table.board.compensation:
                found += [(Slot(slot), pay_to) for pay_to in targets]
    return found


def _compensations(table: Table, sector: Sector) -> tuple[PayTo, ...]:
    """Return the possible targets of the compensation for a card of level B, of which the seat chooses one (V4.9b)."""
    # A card of level A counts here even in the same sector, which never receives anything (R36).
    level_a = {other: level_a_cards(table, other) for other in OUTER}
    if not any(level_a.values()):
        return (PayTo.NONE,)
    open_to = [
        other
        for other in OUTER
        if other is not sector and level_a[other] and table.sea_money[OUTER.index(other)] < table.board.compensation
    ]
    if not open_to:
        return (PayTo.SUPPLY,)
    most = max(level_a[other] for other in open_to)
    return tuple(PayTo(OUTER.index(other) + PayTo.OW) for other in open_to if level_a[other] == most)


def acquire(table: Table, slot: Slot, pay_to: PayTo) -> None:
    """Acquire a card in exchange for goods from the hold (V4.9)."""
    seat, board = table.seat, table.board
    sector = OUTER.index(table.ship[seat])
    card = Card(table.slots[slot])
    table.hold[seat][board.sector_goods[sector]] -= board.overseas_goods
    # The sector's pesos go only with a card of level A (R38).
    if level_of(card) == "A":
        table.money[seat] += table.sea_money[sector]
        table.sea_money[sector] = 0
    if pay_to is not PayTo.NONE:
        table.money[seat] -= board.compensation
        if pay_to is not PayTo.SUPPLY:
            table.sea_money[pay_to - PayTo.OW] += board.compensation
    table.owned[seat] = tuple(sorted((*table.owned[seat], card)))
    table.slots[slot] = table.deck[0] if table.deck else NONE
    table.deck = table.deck[1:]


def _can_acquire(table: Table, money: int) -> bool:
    return bool(acquisitions(table, money))


# --- the actions -------------------------------------------------------------------------------------------

ACTIONS: dict[Effect, CardAction] = {
    Effect.TRANSFER: CardAction(Phase.TRANSFER, can=_can_transfer),
    Effect.SELL10: CardAction(Phase.SELL_FOR, goods=1),
    Effect.HIRE: CardAction(can=_can_hire, begin=hire),
    Effect.MOVE: CardAction(Phase.MOVE, can=moving.can_move, begin=moving.begin_move),
    Effect.BUILD: CardAction(Phase.BUILD, can=_can_pay_and_build),
    Effect.TRADE: CardAction(Phase.TRADE, can=trading.can_trade, begin=trading.begin),
    Effect.SAIL: CardAction(Phase.SAIL),
    Effect.OVERSEAS: CardAction(Phase.ACQUIRE, can=_can_acquire),
    Effect.MOVE_PLUS: CardAction(Phase.MOVE, can=moving.can_move, begin=moving.begin_move),
    Effect.RIVER: CardAction(Phase.RIVER, can=moving.can_use_river, begin=moving.begin_river),
    Effect.TRADE_PAY5: CardAction(Phase.TRADE, can=trading.can_trade, begin=trading.begin),
    Effect.TWO_DIFF: CardAction(Phase.TAKE, choose="different"),
    Effect.GOOD5_VP: CardAction(Phase.GIVE, goods=1),
    Effect.SELL15: CardAction(Phase.SELL_FOR, goods=1),
    Effect.GAIN10: CardAction(),
    Effect.TWO_GOODS_VP: CardAction(Phase.GIVE_TWO, goods=2),
    Effect.BUILD_GOOD: CardAction(Phase.BUILD_GOOD, can=_can_build, goods=1),
    Effect.ONE_EACH: CardAction(),
    Effect.BUY3: CardAction(Phase.BUY),
    Effect.VP1: CardAction(),
    Effect.HIRE5: CardAction(can=_can_hire, begin=hire),
    Effect.GAIN15: CardAction(),
    Effect.PAY10_VP: CardAction(Phase.PAY),
    Effect.ONE_EACH_VP: CardAction(),
    Effect.TWO_ANY: CardAction(Phase.TAKE, choose="any"),
    Effect.FREE_BUILD_HIRE: CardAction(Phase.BUILD_OR_HIRE, can=_can_build_or_hire),
    Effect.TAKE_SILVER: CardAction(),
    Effect.TAKE_COPPER: CardAction(),
    Effect.TAKE_WHEAT: CardAction(),
    Effect.GAIN5: CardAction(),
}
"""For every action that a card can have, the decisions that it involves."""

_PAID_FIRST = frozenset((Effect.TRADE_PAY5,))
"""The actions that are paid for before their decision."""


def leads_to(effect: Effect, phase: Phase) -> bool:
    """Return whether an action can lead to a phase."""
    opened = ACTIONS[effect].phase
    return phase is opened or (opened, phase) in ((Phase.MOVE, Phase.STEP), (Phase.TRADE, Phase.EXCHANGE))


def effect_of(table: Table, seat: Seat, card: Card, mode: Mode) -> Effect | None:
    """Return the action of a seat's card in a mode; None if the card is used without effect, or has no such action."""
    printed = table.board.cards[card]
    if mode is _MAIN:
        return printed.main
    return printed.alternatives[table.colours[seat]] if mode is _ALT else None


def is_executable(table: Table, effect: Effect, surcharge: int) -> bool:
    """Return whether the current seat can carry out an action after paying a surcharge (V3.2)."""
    seat = table.seat
    action = ACTIONS[effect]
    pay = table.board.effects[effect].pay
    money = table.money[seat] - surcharge
    return (
        money >= pay.money
        and holdings.has_goods(table, seat, pay)
        and (not action.goods or sum(table.warehouse[seat]) >= action.goods)
        and action.can(table, money)
    )


def begin(table: Table, effect: Effect) -> None:
    """Begin an action of the current seat: open its phase, or carry it out if it needs no decision."""
    action = ACTIONS[effect]
    pay, gain, most = table.board.effects[effect]
    if action.phase is None:
        holdings.exchange(table, table.seat, pay, gain)
    else:
        # Any other action is paid for with its decision, which may offer a choice of goods.
        if effect in _PAID_FIRST:
            holdings.exchange(table, table.seat, pay, Amount())
        table.phase = action.phase
        table.effect = effect
        table.left = most if action.phase is Phase.BUY else 0
    action.begin(table)
