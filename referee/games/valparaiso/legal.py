"""Legal actions and defaults (RULES.md, section 5). Each phase has a function that lists its actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from referee.game import Action, Seat
from referee.games.valparaiso import actions as act
from referee.games.valparaiso import cards, flow, holdings, moving, planning, trading
from referee.games.valparaiso.board import PURE_GAINS, EffectType
from referee.games.valparaiso.names import Card, Effect, Good, Location, Mode, Phase, Sector, Store
from referee.games.valparaiso.table import Table

# Constants, because looking up a member of an enum is slow on the hot path.
_PLAN: Final = Phase.PLAN
_OVER: Final = Phase.OVER
_ALT: Final = Mode.ALT
_NONE: Final = Mode.NONE

_GOODS, _STORES, _SECTORS, _MODES = (
    tuple(Good),
    tuple(Store),
    tuple(Sector),
    tuple(Mode),
)  # faster to iterate over than the enums


def seats_to_act(table: Table) -> tuple[Seat, ...]:
    """Return the seats that have not finished their plans; outside planning, return the seat to act, if any."""
    if table.phase is not _PLAN:
        return () if table.phase is _OVER else (table.seat,)
    return tuple([seat for seat, done in enumerate(table.committed) if not done])


def is_to_act(table: Table, seat: Seat) -> bool:
    """Return whether a seat is one of those that `seats_to_act` returns."""
    if table.phase is _PLAN:
        return 0 <= seat < len(table.committed) and not table.committed[seat]
    return seat == table.seat and table.phase is not _OVER


def legal_actions(table: Table, seat: Seat) -> list[Action]:
    """Return all legal actions of a seat that is to act, in the order of the table in RULES.md, section 5."""
    if table.phase is _PLAN:
        return planning.legal(table, seat)
    return _LEGAL[table.phase](table)


def _sales(table: Table) -> list[Action]:
    """Return the possible sales of the current seat; they come last in every list (V1.3)."""
    stores = table.stores(table.seat)
    return [act.SALES[store][good] for store in _STORES for good in _GOODS if stores[store][good]]


def can_give(table: Table, *goods: Good) -> bool:
    """Return whether the current seat has these goods in its warehouse."""
    return holdings.can_pay(table, table.seat, holdings.goods_of(*goods))


def setup_goods(table: Table) -> list[Action]:
    """Return the actions that take a set of first goods that no seat has taken (S6)."""
    # A seat that has not chosen yet has no goods, so it excludes no set of three.
    taken = [tuple(goods) for goods in table.warehouse]
    return [
        goods
        for goods in act.FIRST_GOODS
        if holdings.goods_of(goods.first, goods.second, goods.third).goods not in taken
    ]


def _legal_setup_place(table: Table) -> list[Action]:
    return [act.PLACED_MERCHANTS[village] for village in table.side.villages if is_empty(table, village)]


def is_empty(table: Table, village: Location) -> bool:
    """Return whether a village has no merchant in it."""
    return not any(row[village] for row in table.merchants)


def _legal_bonus(table: Table) -> list[Action]:
    return list(act.BONUSES)


def _legal_use(table: Table) -> list[Action]:
    plan = table.plans[table.seat]
    found: list[Action] = []
    if plan.mayor is not None:
        found += [act.MAYOR_USES[mode] for mode in _modes(table, plan.mayor, 0)]
    for place, card in enumerate(plan.cards):
        uses = act.USES[place + 1]
        found += [uses[mode] for mode in _modes(table, card, table.board.surcharges[place])]
    return found + _sales(table)


def _modes(table: Table, card: Card, surcharge: int) -> list[Mode]:
    """Return the modes in which the current seat can use a card (V3.2, V3.3)."""
    return [mode for mode in _MODES if _can_use(table, card, mode, surcharge)]


def _can_use(table: Table, card: Card, mode: Mode, surcharge: int) -> bool:
    """Return whether the current seat can use a card in a mode (V3.2, V3.3)."""
    if table.money[table.seat] < surcharge:
        return False
    effect = cards.effect_of(table, table.seat, card, mode)
    if effect is not None:
        # A pure gain is always possible (V3.3), so nothing else is checked for it.
        return (mode is _ALT and effect in PURE_GAINS) or cards.is_executable(table, effect, surcharge)
    # A pure gain takes the place of `none`, because it is never worse (V3.3).
    return mode is _NONE and cards.effect_of(table, table.seat, card, _ALT) not in PURE_GAINS


def use_problem(table: Table, card: Card, mode: Mode, surcharge: int) -> tuple[str, str] | None:
    """Return the reason why the current seat cannot use a card in a mode, and the rule; None if it can."""
    if _can_use(table, card, mode, surcharge):
        return None
    seat = table.seat
    if table.money[seat] < surcharge:
        return f"the surcharge is {surcharge} pesos, and there are {table.money[seat]}", "V3.2"
    if mode is _NONE:
        return f"{card.name} has an alternative that is a pure gain, so it is not used without effect", "V3.3"
    effect = cards.effect_of(table, seat, card, mode)
    if effect is None:
        return f"{card.name} has no alternative action", "V3.2"
    return f"the action {effect.name} of {card.name} cannot be carried out now", "V3.2"


def _legal_transfer(table: Table) -> list[Action]:
    warehouse, hold = table.stores(table.seat)
    most = [min(table.board.hold, warehouse[good] + hold[good]) for good in _GOODS]
    return [
        act.transfer(silver, copper, wheat)
        for silver in range(most[0] + 1)
        for copper in range(min(most[1], table.board.hold - silver) + 1)
        for wheat in range(min(most[2], table.board.hold - silver - copper) + 1)
        if [silver, copper, wheat] != hold
    ]


def _legal_sell_for(table: Table) -> list[Action]:
    return [act.SALES_FOR[good] for good in _GOODS if table.warehouse[table.seat][good]]


def _done_if_begun(table: Table) -> list[Action]:
    return [act.DONE] if table.begun else []


def _legal_move(table: Table) -> list[Action]:
    found: list[Action] = [
        act.STARTS[start][end]
        for start in table.side.locations
        if table.unmoved[start]
        for end in moving.ends(table, (start,), 0, table.money[table.seat])
    ]
    return found + _done_if_begun(table) + _sales(table)


def _legal_step(table: Table) -> list[Action]:
    return [
        *(act.STEPS[end] for end in moving.ends(table, table.path, table.steps, table.money[table.seat])),
        act.STOP,
        *_sales(table),
    ]


def _legal_river(table: Table) -> list[Action]:
    found: list[Action] = [
        act.RIVERS[start][end]
        for start in table.side.river_locations
        if table.unmoved[start]
        for end in moving.river_ends(table, start, table.money[table.seat])
    ]
    found += _done_if_begun(table)
    # Without a toll there is nothing to pay, so nothing is sold (V1.3).
    return found + _sales(table) if table.setup.options["river_toll"] else found


def _legal_build(table: Table) -> list[Action]:
    return [act.BUILDS[location][space] for location, space in cards.sites(table)]


def _legal_build_good(table: Table) -> list[Action]:
    return [
        act.BUILDS_FOR_GOOD[location][space][good]
        for location, space in cards.sites(table)
        for good in _GOODS
        if table.warehouse[table.seat][good]
    ]


def _legal_build_or_hire(table: Table) -> list[Action]:
    return [*_legal_build(table), *([act.HIRE] if table.merchants_reserve[table.seat] else [])]


def _legal_trade(table: Table) -> list[Action]:
    found: list[Action] = []
    for village in table.villages:
        # At a choice tile, `trade` only pays the fee and uses the tile 0 times; pairs of goods are taken later (V4.7c).
        times = [0] if trading.tile(table, village).choose else range(1, trading.most(table, village) + 1)
        found += [
            act.TRADES[village][number] for number in times if trading.trade_problem(table, village, number) is None
        ]
    found += [act.SKIPS[village] for village in table.villages]
    return found + _sales(table)


def choices(choose: str) -> list[tuple[Good, Good]]:
    """Return the pairs of goods that a choice offers: `same`, `different` or `any`."""
    return [pair for pair in act.PAIRS if choose == "any" or (choose == "same") == (pair[0] is pair[1])]


def _legal_exchange(table: Table) -> list[Action]:
    found: list[Action] = []
    tile = trading.tile(table, Location(table.village))
    # The list is never empty (I10): `trade` needs the pesos for a first exchange, and after that the seat may stop.
    if holdings.can_pay(table, table.seat, tile.pay):
        found += [act.TAKES[pair] for pair in choices(tile.choose)]
    if table.begun:
        found.append(act.STOP)
    return found + _sales(table)


def _legal_sail(table: Table) -> list[Action]:
    return [act.SAILS[sector] for sector in _SECTORS if sector is not table.ship[table.seat]]


def _legal_acquire(table: Table) -> list[Action]:
    return [act.ACQUIRES[slot][pay_to] for slot, pay_to in cards.acquisitions(table, table.money[table.seat])]


def choice_of(table: Table) -> str:
    """Return the choice of two goods in the action in progress: `different` or `any`."""
    return cards.ACTIONS[cast("Effect", table.effect)].choose


def numbers_of(table: Table) -> EffectType:
    """Return the costs and gains of the action in progress."""
    return table.board.effects[cast("Effect", table.effect)]


def _legal_take(table: Table) -> list[Action]:
    return [act.TAKES[pair] for pair in choices(choice_of(table))]


def _legal_give(table: Table) -> list[Action]:
    return [act.GIVES[good] for good in _GOODS if can_give(table, good)]


def _legal_give_two(table: Table) -> list[Action]:
    return [act.GIVES_TWO[pair] for pair in act.PAIRS if can_give(table, *pair)]


def _legal_pay(table: Table) -> list[Action]:
    pay, _, most = numbers_of(table)
    return [act.PAYS[number] for number in range(1, most + 1) if holdings.can_pay(table, table.seat, pay, number)]


def _legal_buy(table: Table) -> list[Action]:
    found: list[Action] = list(act.BUYS) if holdings.can_pay(table, table.seat, numbers_of(table).pay) else []
    return found + _done_if_begun(table) + _sales(table)


def _legal_scrap(table: Table) -> list[Action]:
    return [*(act.SCRAPS[card] for card in table.owned[table.seat]), act.PASS]


def _legal_return(table: Table) -> list[Action]:
    merchants = table.merchants[table.seat]
    found: list[Action] = [act.RECALLS[village] for village in table.side.villages if merchants[village]]
    return [*found, act.DONE] if flow.may_stay(table, table.seat) else found


def _no_actions(table: Table) -> list[Action]:
    return []


_LEGAL: dict[Phase, Callable[[Table], list[Action]]] = {
    Phase.SETUP_GOODS: setup_goods,
    Phase.SETUP_PLACE: _legal_setup_place,
    Phase.BONUS: _legal_bonus,
    Phase.USE: _legal_use,
    Phase.TRANSFER: _legal_transfer,
    Phase.SELL_FOR: _legal_sell_for,
    Phase.MOVE: _legal_move,
    Phase.STEP: _legal_step,
    Phase.RIVER: _legal_river,
    Phase.BUILD: _legal_build,
    Phase.BUILD_GOOD: _legal_build_good,
    Phase.BUILD_OR_HIRE: _legal_build_or_hire,
    Phase.TRADE: _legal_trade,
    Phase.EXCHANGE: _legal_exchange,
    Phase.SAIL: _legal_sail,
    Phase.ACQUIRE: _legal_acquire,
    Phase.TAKE: _legal_take,
    Phase.GIVE: _legal_give,
    Phase.GIVE_TWO: _legal_give_two,
    Phase.PAY: _legal_pay,
    Phase.BUY: _legal_buy,
    Phase.SCRAP: _legal_scrap,
    Phase.RETURN: _legal_return,
    Phase.OVER: _no_actions,
}


def default_action(table: Table, seat: Seat) -> Action:
    """Return the action that is played for a seat that is out of the match or out of time. It is never a sale."""
    legal = legal_actions(table, seat)
    if table.phase is _PLAN:
        return act.CLOSE if planning.is_timed(table) else act.COMMIT
    if table.phase is Phase.USE:
        # Slot #1 and the mayor's slot have no surcharge, and a card has a pure gain or `none` (V3.3), so one of these
        # is legal.
        uses = act.USES[1] if table.plans[seat].cards else act.MAYOR_USES
        return next(uses[mode] for mode in (_NONE, _ALT, Mode.MAIN) if uses[mode] in legal)
    if table.phase is Phase.TRADE:
        # The first action of the list may be a trade.
        return act.SKIPS[table.villages[0]]
    if table.phase is Phase.RETURN and act.DONE not in legal:
        return act.RECALLS[_last_unsheltered(table, seat)]
    return next((last for last in (act.STOP, act.DONE, act.PASS) if last in legal), legal[0])


def _last_unsheltered(table: Table, seat: Seat) -> Location:
    merchants = table.merchants[seat]
    # Villages are numbered in alphabetical order, the order that section 5 prescribes for this default.
    return max(
        village for village in table.side.villages if merchants[village] and not flow.shelters(table, seat, village)
    )
