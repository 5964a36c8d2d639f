"""The effects of actions (RULES.md, sections 4 and 5).

Each kind of action has a function that plays it and whose checks name the broken rule. `legal.py` lists the actions.
`planning.py` handles the plans, `cards.py` the actions on cards, `moving.py` and `trading.py` the two longest of these,
and `flow.py` the consequences that need no decision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from referee.game import Action, Chance, IllegalAction, Seat
from referee.games.valparaiso import actions as act
from referee.games.valparaiso import cards, flow, holdings, legal, moving, planning, trading
from referee.games.valparaiso.board import Amount
from referee.games.valparaiso.names import Card, Good, Location, Mode, PayTo, Phase, Sector, Slot, Source, Store
from referee.games.valparaiso.table import NONE, Table
from referee.named import named

# Constants, because looking up a member of an enum is slow on the hot path.
_PLAN: Final = Phase.PLAN
_OVER: Final = Phase.OVER
_USE: Final = Phase.USE
_EXCHANGE: Final = Phase.EXCHANGE
_MOVE: Final = Phase.MOVE
_STEP: Final = Phase.STEP
_RIVER: Final = Phase.RIVER


def apply(table: Table, seat: Seat, action: Action, chance: Chance) -> None:
    """Play an action of a seat and its consequences.

    Raises:
        IllegalAction: if the action is not legal; the table is then unchanged.
    """
    play = HANDLERS.get(type(action))
    if play is None:
        raise IllegalAction(f"{action!r} is not an action of valparaiso")
    if table.phase is _OVER:
        raise IllegalAction("the match is over", "V7.1")
    if not legal.is_to_act(table, seat):
        raise IllegalAction(f"seat {seat} is not to act", "V2.4" if table.phase is _PLAN else "V3.1")
    # A sale can be a choice of a plan or part of a turn, so the phase decides which function plays it.
    if table.phase is _PLAN:
        planning.play(table, seat, action)
        flow.after_plan(table)
    else:
        play(table, action)


def _check_phase(table: Table, phase: Phase, rule: str) -> None:
    if table.phase is not phase:
        raise IllegalAction(f"this is not possible now, in phase {table.phase.name}", rule)


def _check(problem: tuple[str, str] | None) -> None:
    if problem is not None:
        raise IllegalAction(*problem)


def _play_goods(table: Table, action: act.Goods) -> None:
    _check_phase(table, Phase.SETUP_GOODS, "S6")
    if action not in legal.setup_goods(table):
        raise IllegalAction(
            "another seat has taken these goods, or they are not in the order silver, copper, wheat", "S6"
        )
    gain = holdings.goods_of(named(Good, action.first), named(Good, action.second), named(Good, action.third))
    holdings.exchange(table, table.seat, Amount(), gain)
    _next_in_setup(table, Phase.SETUP_PLACE)


def _play_place_merchant(table: Table, action: act.PlaceMerchant) -> None:
    _check_phase(table, Phase.SETUP_PLACE, "S8")
    village = named(Location, action.village)
    if village not in table.side.villages or not legal.is_empty(table, village):
        raise IllegalAction(f"{village.name} is not a village without a merchant", "S8")
    table.merchants[table.seat][village] += 1
    _next_in_setup(table, _PLAN)


def _next_in_setup(table: Table, then: Phase) -> None:
    """Continue the set-up counter-clockwise, from the last seat to the start player."""
    if table.seat == table.start_seat:
        table.phase = then
    # After the start player this is the last seat again, which begins the next phase, too (S8).
    table.seat = (table.seat - 1) % table.setup.seats


def _play_plan(table: Table, action: Action) -> None:
    raise IllegalAction(f"plans are made already; this is phase {table.phase.name}", "V2.4")


def _play_bonus(table: Table, action: act.Bonus) -> None:
    _check_phase(table, Phase.BONUS, "V2.8")
    holdings.exchange(table, table.seat, Amount(), holdings.goods_of(named(Good, action.good)))
    flow.reveal(table)


def _play_use_mayor(table: Table, action: act.UseMayor) -> None:
    _check_phase(table, _USE, "V3.1")
    plan = table.plans[table.seat]
    if plan.mayor is None:
        raise IllegalAction("there is no card in the mayor's slot", "V3.2")
    _use(table, plan.mayor, named(Mode, action.mode), 0)


def _play_use(table: Table, action: act.Use) -> None:
    _check_phase(table, _USE, "V3.1")
    plan = table.plans[table.seat]
    if not 1 <= action.slot <= len(plan.cards):
        raise IllegalAction(f"there is no card in slot #{action.slot}", "V3.2")
    place = action.slot - 1
    _use(table, plan.cards[place], named(Mode, action.mode), table.board.surcharges[place])


def _use(table: Table, card: Card, mode: Mode, surcharge: int) -> None:
    _check(legal.use_problem(table, card, mode, surcharge))
    seat = table.seat
    plan = table.plans[seat]
    effect = cards.effect_of(table, seat, card, mode)
    # The surcharge comes first (V3.2): the action begins with the pesos that are left.
    table.money[seat] -= surcharge
    if plan.mayor is card:  # V3.4
        table.plans[seat] = plan._replace(mayor=None)
    else:
        table.plans[seat] = plan._replace(cards=tuple(other for other in plan.cards if other is not card))
    if effect is not None:
        cards.begin(table, effect)
    if table.phase is _USE:  # the action had no decision, and is over
        flow.end_turn(table)


def _play_transfer(table: Table, action: act.Transfer) -> None:
    _check_phase(table, Phase.TRANSFER, "V4.1")
    seat = table.seat
    contents = (action.silver, action.copper, action.wheat)
    problem = cards.transfer_problem(table, contents)
    if problem:
        raise IllegalAction(problem, "V4.1")
    warehouse, hold = table.stores(seat)
    # A hold that is full now earns nothing (V4.1); nor, with `refill_rule=strict`, does one that was full at the start
    # of the turn (R15).
    was_full = table.hold_was_full or table.hold_is_full(seat)
    for good, new in enumerate(contents):
        warehouse[good] += hold[good] - new
        hold[good] = new
    if not was_full and table.hold_is_full(seat):
        holdings.score(table, seat, Source.HOLD, table.board.full_hold_vp)
    flow.end_turn(table)


def _exchange_and_end(table: Table, pay: Amount, gain: Amount, rule: str, times: int = 1) -> None:
    if not holdings.can_pay(table, table.seat, pay, times):
        raise IllegalAction("the warehouse has too few goods for that, or the seat too few pesos", rule)
    holdings.exchange(table, table.seat, pay, gain, times)
    flow.end_turn(table)


def _play_sell_for(table: Table, action: act.SellFor) -> None:
    _check_phase(table, Phase.SELL_FOR, "V4.2")
    _exchange_and_end(table, holdings.goods_of(named(Good, action.good)), legal.numbers_of(table).gain, "V4.2")


def _play_start(table: Table, action: act.Start) -> None:
    _check_phase(table, _MOVE, "V4.4")
    start, end = named(Location, action.start), named(Location, action.end)
    _check(moving.step_problem(table, (start,), 0, end, table.money[table.seat]))
    # This may also refuse the action, so it precedes every change.
    moving.take_from_unmoved(table, start)
    table.path, table.steps = (start,), 0
    table.phase = _STEP
    moving.step(table, end)


def _play_step(table: Table, action: act.Step) -> None:
    _check_phase(table, _STEP, "V4.4")
    end = named(Location, action.end)
    _check(moving.step_problem(table, table.path, table.steps, end, table.money[table.seat]))
    moving.step(table, end)


def _play_stop(table: Table, action: act.Stop) -> None:
    if table.phase is _STEP:
        table.path, table.steps = (), 0
        table.phase = _MOVE
        _end_if_all_moved(table)
        return
    _check_phase(table, _EXCHANGE, "V4.7c")
    if not table.begun:
        raise IllegalAction("the fee is paid, so goods are taken at least once", "V4.7c")
    _end_exchange(table)


def _end_if_all_moved(table: Table) -> None:
    # A merchant has just moved, so the action may end early (R11); it ends by itself when all have moved (R53).
    table.begun = any(table.unmoved)
    if not table.begun:
        flow.end_turn(table)


def _play_river(table: Table, action: act.River) -> None:
    _check_phase(table, _RIVER, "V4.10")
    start, end = named(Location, action.start), named(Location, action.end)
    _check(moving.river_problem(table, start, end, table.money[table.seat]))
    moving.take_from_unmoved(table, start)
    moving.relocate(table, start, end)
    _end_if_all_moved(table)


def _play_done(table: Table, action: act.Done) -> None:
    if table.phase is Phase.RETURN:
        if not flow.may_stay(table, table.seat):
            raise IllegalAction("at most one merchant may stay in villages that do not shelter it", "V6.5")
        flow.end_return(table)
        return
    if table.phase not in (_MOVE, _RIVER, Phase.BUY):
        raise IllegalAction(f"this is not possible now, in phase {table.phase.name}", "V3.5")
    if not table.begun:
        raise IllegalAction("the action must do something before it ends", "V3.5")
    flow.end_turn(table)


def _play_build(table: Table, action: act.Build) -> None:
    if table.phase is not Phase.BUILD_OR_HIRE:
        _check_phase(table, Phase.BUILD, "V4.5")
    location = _check_site(table, action.location, action.space)
    # The pesos were checked when the card was used, and nothing can have been spent or sold since.
    if table.phase is Phase.BUILD:
        table.money[table.seat] -= table.board.house_price
    cards.build(table, location, action.space)
    flow.end_turn(table)


def _check_site(table: Table, number: Location, space: int) -> Location:
    location = named(Location, number)
    if (location, space) not in cards.sites(table):
        raise IllegalAction(f"space {space} in {location.name} is not free, or this seat has no merchant there", "V4.5")
    return location


def _play_build_for_good(table: Table, action: act.BuildForGood) -> None:
    _check_phase(table, Phase.BUILD_GOOD, "V4.5")
    location, good = _check_site(table, action.location, action.space), named(Good, action.good)
    if not legal.can_give(table, good):
        raise IllegalAction(f"there is no {good.name.lower()} in the warehouse", "V4.5")
    # The good was checked above, because the payment cannot be refused after the house is built.
    cards.build(table, location, action.space)
    _exchange_and_end(table, holdings.goods_of(good), Amount(), "V4.5")


def _play_hire(table: Table, action: act.Hire) -> None:
    _check_phase(table, Phase.BUILD_OR_HIRE, "V4.5")
    if not table.merchants_reserve[table.seat]:
        raise IllegalAction("there is no merchant left to hire", "V4.3")
    cards.hire(table)
    flow.end_turn(table)


def _check_village(table: Table, number: Location) -> Location:
    village = named(Location, number)
    if village not in table.villages:
        raise IllegalAction(f"{village.name} is not a market to be resolved", "V4.7")
    return village


def _play_trade(table: Table, action: act.Trade) -> None:
    _check_phase(table, Phase.TRADE, "V4.7")
    village = _check_village(table, action.village)
    _check(trading.trade_problem(table, village, action.times))
    tile = trading.tile(table, village)
    trading.pay_fee(table, village)
    if tile.choose:
        # `trade` has paid only the fee; each `take` pays for itself (V4.7c).
        table.village, table.left = int(village), trading.most(table, village)
        table.begun = False
        table.phase = _EXCHANGE
        return
    holdings.exchange(table, table.seat, tile.pay, tile.gain, action.times, Source.MARKET)
    _resolve(table, village)


def _play_skip(table: Table, action: act.Skip) -> None:
    _check_phase(table, Phase.TRADE, "V4.7")
    _resolve(table, _check_village(table, action.village))


def _resolve(table: Table, village: Location) -> None:
    trading.resolve(table, village)
    # An exchange has its own phase, and leads back to the other villages.
    table.phase = Phase.TRADE
    if not table.villages:
        flow.end_turn(table)


def _end_exchange(table: Table) -> None:
    village = Location(table.village)
    table.village, table.left, table.begun = NONE, 0, False
    _resolve(table, village)


def _play_take(table: Table, action: act.Take) -> None:
    pair = (named(Good, action.first), named(Good, action.second))
    if table.phase is not _EXCHANGE:
        _check_phase(table, Phase.TAKE, "V4.11")
        _check_choice(pair, legal.choice_of(table), "V4.11")
        _exchange_and_end(table, Amount(), holdings.goods_of(*pair), "V4.11")
        return
    tile = trading.tile(table, Location(table.village))
    _check_choice(pair, tile.choose, "V4.7c")
    if not holdings.can_pay(table, table.seat, tile.pay):
        raise IllegalAction(f"this costs {tile.pay.money} pesos", "V4.7c")
    holdings.exchange(table, table.seat, tile.pay, holdings.goods_of(*pair))
    table.left -= 1
    table.begun = True
    if not table.left:
        _end_exchange(table)


def _check_choice(pair: tuple[Good, Good], choose: str, rule: str) -> None:
    if pair not in legal.choices(choose):
        raise IllegalAction(f"two {choose} goods are taken, in the order silver, copper, wheat", rule)


def _play_give(table: Table, action: act.Give) -> None:
    _check_phase(table, Phase.GIVE, "V4.11")
    _give(table, named(Good, action.good))


def _play_give_two(table: Table, action: act.GiveTwo) -> None:
    _check_phase(table, Phase.GIVE_TWO, "V4.11")
    pair = (named(Good, action.first), named(Good, action.second))
    _check_choice(pair, "any", "V4.11")
    _give(table, *pair)


def _give(table: Table, *goods: Good) -> None:
    numbers = legal.numbers_of(table)
    pay = numbers.pay._replace(goods=holdings.goods_of(*goods).goods)
    _exchange_and_end(table, pay, numbers.gain, "V4.11")


def _play_pay(table: Table, action: act.Pay) -> None:
    _check_phase(table, Phase.PAY, "V4.11")
    pay, gain, most = legal.numbers_of(table)
    if not 1 <= action.times <= most:
        raise IllegalAction(f"1 to {most} times are possible, not {action.times}", "V4.11")
    _exchange_and_end(table, pay, gain, "V4.11", action.times)


def _play_buy(table: Table, action: act.Buy) -> None:
    _check_phase(table, Phase.BUY, "V4.11")
    gain, pay = holdings.goods_of(named(Good, action.good)), legal.numbers_of(table).pay
    if not holdings.can_pay(table, table.seat, pay):
        raise IllegalAction(f"a good costs {pay.money} pesos", "V4.11")
    holdings.exchange(table, table.seat, pay, gain)
    table.left -= 1
    table.begun = True
    if not table.left:
        flow.end_turn(table)


def _play_sail(table: Table, action: act.Sail) -> None:
    _check_phase(table, Phase.SAIL, "V4.8")
    sector = named(Sector, action.sector)
    if sector is table.ship[table.seat]:
        raise IllegalAction(f"the ship is in {sector.name} already", "V4.8")
    table.ship[table.seat] = sector
    flow.end_turn(table)


def _play_acquire(table: Table, action: act.Acquire) -> None:
    _check_phase(table, Phase.ACQUIRE, "V4.9")
    choice = (named(Slot, action.slot), named(PayTo, action.pay_to))
    if choice not in cards.acquisitions(table, table.money[table.seat]):
        raise IllegalAction(f"{choice[0].name} cannot be acquired with {choice[1].name} as the compensation", "V4.9")
    cards.acquire(table, *choice)
    flow.end_turn(table)


def _play_scrap(table: Table, action: act.Scrap) -> None:
    _check_phase(table, Phase.SCRAP, "V6.3")
    card, seat = named(Card, action.card), table.seat
    if card not in table.owned[seat]:
        raise IllegalAction(f"{card.name} is not an achievement card of this seat", "V6.3")
    table.owned[seat] = tuple(other for other in table.owned[seat] if other is not card)
    table.scrapped = (*table.scrapped, card)
    holdings.score(table, seat, Source.SCRAP, table.board.cards[card].vp)
    flow.end_scrap(table)


def _play_pass(table: Table, action: act.Pass) -> None:
    _check_phase(table, Phase.SCRAP, "V6.3")
    flow.end_scrap(table)


def _play_recall(table: Table, action: act.Recall) -> None:
    _check_phase(table, Phase.RETURN, "V6.5")
    village, seat = named(Location, action.location), table.seat
    if village is Location.V or not table.merchants[seat][village]:
        raise IllegalAction(f"{village.name} is not a village with a merchant of this seat", "V6.5")
    table.merchants[seat][village] -= 1
    table.merchants[seat][Location.V] += 1
    if not flow.merchants_in_villages(table, seat):
        flow.end_return(table)


# Everywhere else a payment is a single step, so selling just before the card is used has the same effect (R12).
_SELLING = frozenset((Phase.USE, Phase.MOVE, Phase.STEP, Phase.TRADE, Phase.EXCHANGE, Phase.BUY))


def _play_sell(table: Table, action: act.Sell) -> None:
    store, good = named(Store, action.store), named(Good, action.good)
    if table.phase not in _SELLING and not (table.phase is _RIVER and table.setup.options["river_toll"]):
        raise IllegalAction(f"goods are not sold in phase {table.phase.name}", "V1.3")
    if not table.stores(table.seat)[store][good]:
        raise IllegalAction(f"there is no {good.name.lower()} in the {store.name.lower()}", "V1.3")
    holdings.sell(table, table.seat, store, good)


HANDLERS: dict[type[Action], Callable[[Table, Any], None]] = {
    act.Goods: _play_goods,
    act.PlaceMerchant: _play_place_merchant,
    act.Place: _play_plan,
    act.Mayor: _play_plan,
    act.Commit: _play_plan,
    act.Close: _play_plan,
    act.Bonus: _play_bonus,
    act.UseMayor: _play_use_mayor,
    act.Use: _play_use,
    act.Transfer: _play_transfer,
    act.SellFor: _play_sell_for,
    act.Start: _play_start,
    act.Step: _play_step,
    act.Stop: _play_stop,
    act.River: _play_river,
    act.Build: _play_build,
    act.BuildForGood: _play_build_for_good,
    act.Hire: _play_hire,
    act.Trade: _play_trade,
    act.Skip: _play_skip,
    act.Take: _play_take,
    act.Give: _play_give,
    act.GiveTwo: _play_give_two,
    act.Pay: _play_pay,
    act.Buy: _play_buy,
    act.Sail: _play_sail,
    act.Acquire: _play_acquire,
    act.Scrap: _play_scrap,
    act.Pass: _play_pass,
    act.Recall: _play_recall,
    act.Done: _play_done,
    act.Sell: _play_sell,
}
"""The function that plays each type of action, in the order of section 5 of RULES.md; `Sell` is last in every list."""
