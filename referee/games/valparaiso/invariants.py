"""Checks of a position (RULES.md, section 9): every broken invariant, and everything that does not fit the phase."""

from __future__ import annotations

from referee.game import Seat
from referee.games.valparaiso import cards, flow, legal, moving, planning, scoring, set_up, trading
from referee.games.valparaiso.board import LEVELS, OUTER, is_market, level_of
from referee.games.valparaiso.names import Card, Location, Phase, Sector, Slot, Tile
from referee.games.valparaiso.observing import is_secret
from referee.games.valparaiso.table import NONE, USE_PHASES, Table

_SETUP = (Phase.SETUP_GOODS, Phase.SETUP_PLACE)
_MOVING = (Phase.MOVE, Phase.STEP, Phase.RIVER)
_GOING_ON = (*_MOVING, Phase.EXCHANGE, Phase.BUY)
_BETWEEN_ROUNDS = (*_SETUP, Phase.PLAN, Phase.BONUS, Phase.RETURN)
"""Phases that a match does not reach once it has to end (V6.4)."""


def problems(table: Table) -> list[str]:
    """Return a line for each problem, in most cases with the number of the invariant or rule.

    Checks that need a sound table, such as whether an action could have begun, run only if all others pass.
    """
    found = _tile_problems(table) + _card_problems(table) + _place_problems(table)
    for seat in range(table.setup.seats):
        found += [f"seat {seat}: {problem}" for problem in _seat_problems(table, seat)]
    found += _setup_problems(table) + _phase_problems(table) + _movement_problems(table)
    return found or _action_problems(table)


def _tile_problems(table: Table) -> list[str]:
    found = []
    tiles = [tile for column in table.markets for tile in column] + list(table.reserve)
    if len(tiles) != len(Tile) or len(set(tiles)) != len(Tile):
        found.append(f"I1: the markets and the reserve must have all {len(Tile)} tiles, each once")
    sizes = {len(column) for column in table.markets}
    if sizes != {len(table.side.column)} or len(table.reserve) != len(table.side.reserve):
        found.append(
            f"I7: each market must have {len(table.side.column)} tiles, and the reserve {len(table.side.reserve)}"
        )
    return found


def _card_problems(table: Table) -> list[str]:
    found = []
    in_play = [card for level in LEVELS for card in table.board.achievements(table.setup.seats, level)]
    slots = [Card(card) for card in table.slots if card != NONE]
    placed = [*slots, *table.deck, *table.scrapped, *(card for owned in table.owned for card in owned)]
    if sorted(placed) != sorted(in_play):
        found.append(f"I2: slots, pile, seats and scrapped must have the {len(in_play)} cards in play, each once")
    if len(slots) < len(Slot) and table.deck:
        found.append("I2: a slot is empty only if the pile is (V4.9d)")
    levels = [LEVELS.index(level_of(card)) for card in table.deck]
    if levels != sorted(levels):
        found.append("I2: the pile has level A on B1 on B2 (S4)")
    return found


def _place_problems(table: Table) -> list[str]:
    """Return the problems with the sea and the building spaces."""
    found = []
    for sector, start, money in zip(OUTER, table.board.sector_money, table.sea_money, strict=True):
        possible = sorted({0, start, table.board.compensation, start + table.board.compensation})
        if money not in possible:
            found.append(f"I4: {sector.name.lower()} has {money} pesos, not {', '.join(map(str, possible))} (R37)")
    for location, space in table.houses:
        if space >= len(table.side.spaces[location]):
            found.append(f"I3: there is no building space {space} in {location.name.lower()}")
    if len(table.row) > len(table.side.row):
        found.append(f"I3: there are {len(table.side.row)} building spaces in Valparaíso, not {len(table.row)}")
    return found


def _seat_problems(table: Table, seat: Seat) -> list[str]:
    found = []
    # The merchant in front of a seat is neither on the board nor in the reserve (S2).
    merchants = sum(table.merchants[seat]) + table.merchants_reserve[seat]
    total = table.board.merchants_of(table.setup.seats) - _is_in_front(table, seat)
    if merchants != total:
        found.append(f"I3: it has {merchants} merchants, not {total}")
    if any(count and location not in table.side.locations for location, count in enumerate(table.merchants[seat])):
        found.append("I3: it has a merchant at a location that this side of the board does not have")
    houses = table.built(seat) + table.houses_left[seat]
    if houses != table.board.houses:
        found.append(f"I3: it has {houses} houses, not {table.board.houses}")
    if sum(table.hold[seat]) > table.board.hold:
        found.append(f"I4: {sum(table.hold[seat])} goods are in the hold; {table.board.hold} fit")
    if sum(table.earned[seat]) > table.vp[seat]:
        found.append(f"it has earned {sum(table.earned[seat])} on the track, but is at {table.vp[seat]}")
    return found + _plan_problems(table, seat)


def _plan_problems(table: Table, seat: Seat) -> list[str]:
    found = []
    plan = table.plans[seat]
    planned = [*plan.cards, *([] if plan.mayor is None else [plan.mayor])]
    slots = planning.slots(table, seat)
    if len(set(planned)) < len(planned):
        found.append("I8: it plans a card twice")
    if len(plan.cards) > slots:
        found.append(f"I8: it has {len(plan.cards)} cards in the slots, of which {slots} are open (V2.2)")
    if not set(planned) <= set(table.cards_of(seat)):
        found.append("I8: it plans a card that it does not have")
    if is_secret(table.phase):
        if not found and not planning.can_be_made(table, seat, plan):
            found.append("I8: the plan cannot be made, choice by choice (V2)")
    else:
        if any(map(any, plan.sold)) or table.committed[seat]:
            found.append("committed and what a plan has sold are settled when plans are revealed (V2.6)")
        if planned and table.phase not in USE_PHASES:
            found.append(f"there are no planned cards in the phase {table.phase.name}")
    return found


# --- the set-up -------------------------------------------------------------------------------------


def _chosen(table: Table) -> list[Seat]:
    """Return the seats that have decided in this phase of the set-up: counter-clockwise from the last seat (S6, S8)."""
    order = table.turn_order()[::-1]
    return order[: order.index(table.seat)]


def _is_in_front(table: Table, seat: Seat) -> bool:
    """Return whether the second merchant of a seat is still to be placed (S8)."""
    return table.phase is Phase.SETUP_GOODS or (table.phase is Phase.SETUP_PLACE and seat not in _chosen(table))


def _setup_problems(table: Table) -> list[str]:
    if table.phase not in _SETUP:
        return []
    found = []
    changed = (
        *(table.round != 1, table.row, table.houses, table.scrapped, NONE in table.slots),
        *(any(table.owned), any(table.vp), any(map(any, table.hold))),
        *(
            table.money != [table.board.start_money] * table.setup.seats,
            table.sea_money != list(table.board.sector_money),
        ),
        any(ship is not Sector.H for ship in table.ship),
    )
    if any(changed):
        found.append("set-up is in round 1, with pesos, ships and cards where they begin, and nothing built or gained")
    with_goods = _chosen(table) if table.phase is Phase.SETUP_GOODS else range(table.setup.seats)
    for seat in range(table.setup.seats):
        goods = set_up.FIRST_GOODS if seat in with_goods else 0
        if sum(table.warehouse[seat]) != goods:
            found.append(f"seat {seat}: it has {sum(table.warehouse[seat])} goods, not {goods} (S6)")
        if table.merchants[seat][Location.V] != 1:
            found.append(f"seat {seat}: it must have one merchant in Valparaíso (S2)")
    chosen = [tuple(table.warehouse[seat]) for seat in with_goods]
    if len(set(chosen)) < len(chosen):
        found.append("two seats have taken the same goods (S6)")
    return found


# --- the phase --------------------------------------------------------------------------------------


def _phase_problems(table: Table) -> list[str]:
    found = []
    phase, seat = table.phase, table.seat
    timed = planning.is_timed(table)
    if table.first_finisher != NONE and not (timed and is_secret(phase) and table.committed[table.first_finisher]):
        found.append("first_finisher is a seat that has committed, while plans are made with expert_timer (V2.8)")
    if phase is Phase.PLAN and all(table.committed):
        found.append("all have committed, so this is not the phase PLAN (V2.6)")
    if phase is Phase.BONUS and (table.first_finisher != seat or not all(table.committed)):
        found.append("phase BONUS needs seat to be the first finisher, and all to have committed (V2.8)")
    if phase is Phase.USE and table.plans[seat].is_empty():
        found.append(f"seat {seat} has no card to use (V3.1)")
    if phase is Phase.SCRAP and not table.owned[seat]:
        found.append(f"seat {seat} has no achievement card (V6.3)")
    if phase is Phase.RETURN and not flow.merchants_in_villages(table, seat):
        found.append(f"seat {seat} has no merchant in a village (V6.5)")
    if phase is Phase.OVER and not scoring.match_ends(table):
        found.append("nothing has ended the match (V7.1)")
    if phase in _BETWEEN_ROUNDS and scoring.match_is_decided(table):
        found.append(f"the match has ended before the phase {phase.name} (V6.4, V7.1)")
    if phase is Phase.RETURN and table.round >= table.last_round:
        found.append("the match ends with the last round, before merchants return (V6.4)")
    in_action = phase in USE_PHASES and phase is not Phase.USE
    if in_action != (table.effect is not None):
        found.append("effect belongs to the phases of an action, and to no other")
    elif table.effect is not None and not cards.leads_to(table.effect, phase):
        found.append(f"phase {phase.name} is not one of the action {table.effect.name.lower()}")
    if bool(table.villages) != (phase in (Phase.TRADE, Phase.EXCHANGE)):
        found.append("villages belongs to the phases TRADE and EXCHANGE, and to no other")
    elif any(not is_market(village) or not table.merchants[seat][village] for village in table.villages):
        found.append("villages names one that is not a market with a merchant of the seat (V4.7)")
    if (table.village in table.villages) != (phase is Phase.EXCHANGE) or (
        table.village != NONE and phase is not Phase.EXCHANGE
    ):
        found.append("village is one of villages in the phase EXCHANGE, and absent in any other")
    if bool(table.left) != (phase in (Phase.EXCHANGE, Phase.BUY)):
        found.append("left is the number of exchanges or goods left in the phases EXCHANGE and BUY, and 0 in any other")
    if table.begun and phase not in _GOING_ON:
        found.append(f"begun belongs to an action that goes on, not to {phase.name}")
    if table.hold_was_full and not (table.refill_is_strict() and phase in USE_PHASES):
        found.append("hold_was_full belongs to a seat's turn with the option refill_rule=strict (V4.1)")
    elif table.refill_is_strict() and phase in USE_PHASES and table.hold_is_full(seat) and not table.hold_was_full:
        found.append("hold_was_full: the hold is full, so it was when the turn began (V4.1)")
    return found


def _movement_problems(table: Table) -> list[str]:
    """Return the problems with the merchants that an action moves (V4.4, V4.10)."""
    found = []
    phase, path = table.phase, table.path
    if bool(table.unmoved) != (phase in _MOVING):
        found.append("unmoved belongs to the phases MOVE, STEP and RIVER, and to no other")
    if bool(path) != (phase is Phase.STEP) or (phase is not Phase.STEP and table.steps):
        found.append("path and steps belong to the phase STEP, and to no other")
    if found or not table.unmoved:
        return found
    resting, unmoved = list(table.merchants[table.seat]), list(table.unmoved)
    if path:
        if not moving.is_path(table, path) or not resting[path[-1]]:
            return ["path must follow roads, and end where the merchant stands (V4.4)"]
        if table.steps != moving.counted_steps(table, path):
            found.append(f"steps: the path has {moving.counted_steps(table, path)} counted steps (V4.4)")
        resting[path[-1]] -= 1
    if any(one > other for one, other in zip(unmoved, resting, strict=True)):
        found.append("unmoved names a merchant that is not there")
    if path:  # for the check, the moving merchant goes back to its start
        resting[path[0]] += 1
        unmoved[path[0]] += 1
    movable = list(moving.at_rivers(table, resting)) if phase is Phase.RIVER else resting
    if phase is Phase.RIVER and any(one > other for one, other in zip(unmoved, movable, strict=True)):
        found.append("unmoved names a merchant that is not at a river (V4.10)")
    if not any(unmoved):
        found.append("unmoved is empty: an action ends by itself when all merchants have moved (R53)")
    if table.begun and sum(unmoved) >= sum(movable):
        found.append("begun: all merchants are unmoved, so none has moved")
    if not table.begun and unmoved != movable:
        found.append("begun: not all merchants are unmoved, so one has moved")
    return found


def _action_problems(table: Table) -> list[str]:
    """Return the reasons why the action in progress cannot have come to this point, given an otherwise sound table."""
    found = []
    phase, effect = table.phase, table.effect
    # In TRADE the villages are checked elsewhere, and the price of TRADE_PAY5 has been paid.
    opened = effect is not None and cards.ACTIONS[effect].phase is phase and phase is not Phase.TRADE
    # The surcharge has been paid, so it is 0 here; and an action that has begun need not be possible a second time.
    if effect is not None and opened and not table.begun and not cards.is_executable(table, effect, 0):
        found.append(f"the action {effect.name.lower()} cannot be carried out (V3.2)")
    if phase is Phase.EXCHANGE:
        village = Location(table.village)
        used = trading.tile(table, village)
        if not used.choose:
            found.append(f"the tile in {village.name.lower()} gives no choice of goods (V4.7c)")
        elif not table.begun and table.money[table.seat] < used.pay.money:
            found.append("there are no pesos for the first exchange (V4.7c)")
        found += _left_problems(table, trading.most(table, village))
    if phase is Phase.BUY and effect is not None:
        found += _left_problems(table, table.board.effects[effect].most)
    if not found and phase not in (Phase.OVER, Phase.PLAN) and not legal.legal_actions(table, table.seat):
        found.append(f"I10: seat {table.seat} can do nothing in the phase {phase.name}")
    return found


def _left_problems(table: Table, most: int) -> list[str]:
    if table.left > most:
        return [f"left: {most} are possible at most, not {table.left}"]
    if table.begun != (table.left < most):
        return [f"left and begun: {most} are left until the first is done"]
    return []
