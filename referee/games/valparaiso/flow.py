"""Consequences that need no decision: the next turn, the end of a round, and the next round (RULES.md, V3.1 and V6)."""

from __future__ import annotations

from referee.game import Seat
from referee.games.valparaiso import holdings, planning, scoring
from referee.games.valparaiso.board import Amount
from referee.games.valparaiso.names import Location, Phase, Source
from referee.games.valparaiso.table import NO_PLAN, NONE, Table


def _after(table: Table) -> list[Seat]:
    """Return the seats after the current one in this round's order."""
    order = table.turn_order()
    return order[order.index(table.seat) + 1 :]


def after_plan(table: Table) -> None:
    """Once all seats have finished planning, continue with the bonus, or else with the reveal (V2.6, V2.8)."""
    if all(table.committed):
        if table.first_finisher != NONE:
            table.seat, table.phase = table.first_finisher, Phase.BONUS
        else:
            reveal(table)


def reveal(table: Table) -> None:
    """Turn the plans face up, and begin the use of cards (V2.6)."""
    planning.reveal(table)
    _next_turn(table, table.turn_order())


def end_turn(table: Table) -> None:
    """End the action of the current seat, and continue with the next seat that has a card left (V3.1)."""
    table.effect = None
    table.unmoved = ()
    table.left = 0
    table.begun = False
    order = table.turn_order()
    place = order.index(table.seat) + 1
    # The seat itself is the last of these: if no other seat has a card left, it goes on alone.
    _next_turn(table, order[place:] + order[:place])


def _next_turn(table: Table, seats: list[Seat]) -> None:
    for seat in seats:
        if not table.plans[seat].is_empty():
            table.seat, table.phase = seat, Phase.USE
            table.hold_was_full = table.refill_is_strict() and table.hold_is_full(seat)
            return
    table.hold_was_full = False
    _end_use(table)


def _end_use(table: Table) -> None:
    table.plans = [NO_PLAN] * table.setup.seats
    # Only built spaces have an owner; the zip leaves out the others.
    for seat, space in zip(table.row, table.side.row, strict=False):  # V6.1
        holdings.exchange(table, seat, Amount(), space.revenue, source=Source.REVENUE)
    # If two seats have equal numbers, the later builder is first (R33).
    residents = sorted(set(table.row), key=lambda seat: (table.row.count(seat), _last_built(table, seat)), reverse=True)
    # With one resident the second prize is not paid (R33).
    for seat, pesos in zip(residents, table.board.city_bonus, strict=False):  # V6.2
        table.money[seat] += pesos
    _begin_scrap(table, table.turn_order())


def _last_built(table: Table, seat: Seat) -> int:
    """Return the position of the last house that a seat has built in the building row of Valparaíso."""
    return max(place for place, owner in enumerate(table.row) if owner == seat)


def _begin_scrap(table: Table, seats: list[Seat]) -> None:
    """Let the next seat with an achievement card decide about scrapping (V6.3)."""
    for seat in seats:
        if table.owned[seat]:
            table.seat, table.phase = seat, Phase.SCRAP
            return
    # The check comes after all seats have scrapped, because points from scrapped cards may end the match (R35).
    if scoring.match_ends(table):  # V6.4
        table.phase = Phase.OVER
    else:
        _begin_return(table, table.turn_order())


def end_scrap(table: Table) -> None:
    """Continue after one seat has scrapped a card, or passed."""
    _begin_scrap(table, _after(table))


def merchants_in_villages(table: Table, seat: Seat) -> int:
    """Return the number of merchants that a seat has outside Valparaíso."""
    return sum(table.merchants[seat]) - table.merchants[seat][Location.V]


def shelters(table: Table, seat: Seat, village: Location) -> bool:
    """Return whether all of a seat's merchants can stay in a village: the seat needs a house there, and the option."""
    return table.setup.options["return_rule"] == "shelter" and table.houses_of(seat, village) > 0


def may_stay(table: Table, seat: Seat) -> bool:
    """Return whether a seat has at most one merchant in the villages that do not shelter its merchants (V6.5)."""
    merchants = table.merchants[seat]
    return sum(merchants[village] for village in table.side.villages if not shelters(table, seat, village)) <= 1


def _begin_return(table: Table, seats: list[Seat]) -> None:
    """Let the next seat with a merchant in a village call merchants back (V6.5)."""
    for seat in seats:
        if merchants_in_villages(table, seat):
            table.seat, table.phase = seat, Phase.RETURN
            return
    _begin_round(table)


def end_return(table: Table) -> None:
    """Continue after one seat's merchants have returned."""
    _begin_return(table, _after(table))


def _begin_round(table: Table) -> None:
    # The order changes only now, because merchants return in the old order (R32).
    if table.row and table.row[-1] != table.start_seat:  # V6.6
        table.start_seat = table.row[-1]
    else:
        table.start_seat = (table.start_seat + 1) % table.setup.seats
    table.round += 1
    table.phase = Phase.PLAN
