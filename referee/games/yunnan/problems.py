"""Checks of a position, with their numbers in RULES.md: invariants of section 9 (`I7`) and rules of section 4 (`Y2.6`).

The checks cover everything that a single position can show, so that any position that passes can be played to its end.
They do not cover facts that only the course of a match can show (I5, I9, I12).
"""

from __future__ import annotations

from referee.games.yunnan import rules, scoring, turns
from referee.games.yunnan.names import Building, Colour, Phase, Province, Site, Structure
from referee.games.yunnan.position import incomes, placed, taken
from referee.games.yunnan.table import NOBODY, Table

_COLOURS = tuple(colour.name.lower() for colour in Colour)
_BUILDINGS = tuple(building.name.lower() for building in Building)
_STRUCTURES = tuple(structure.name.lower() for structure in Structure)


def problems(table: Table) -> list[str]:
    """Return a line for each broken invariant or rule, in most cases with its number."""
    found: list[str] = []
    for colour in range(table.colours):
        found += _colour_problems(table, colour)
    found += _map_problems(table)
    if not table.setup.options["expert"]:
        found += [f"I6: the score of seat {seat} is below 0" for seat, vp in enumerate(table.vp) if vp < 0]
        found += [
            f"I6: seat {seat} has converted {converted} without debts, but its score is {vp}"
            for seat, (vp, converted) in enumerate(zip(table.vp, table.converted, strict=True))
            if converted > vp
        ]
        if any(table.debts):
            found.append("debts are made in the expert game only (Y13.3)")
    found += _building_problems(table)
    found += _order_problems(table)
    found += _last_turn_problems(table)
    found += _phase_problems(table)
    found += _OF_PHASE[table.phase](table)
    return found


def _colour_problems(table: Table, colour: int) -> list[str]:
    found: list[str] = []
    board, name, horse = table.board, _COLOURS[colour], table.horse[colour]
    merchants = table.general[colour] + table.reserve[colour] + placed(table, colour)
    if merchants != board.total_merchants:
        found.append(f"I1: {name} has {merchants} Merchants, not {board.total_merchants}")
    for word, left, used in zip(_STRUCTURES, table.struct_general[colour], taken(table, colour), strict=True):
        if left + used != board.structures_each:
            found.append(f"I2: {name} has {left + used} structures of the kind {word}, not {board.structures_each}")
    for province in Province:
        if province > horse and (table.merchants[colour][province] or table.posts[colour][province]):
            found.append(f"I4: {name} is in {province.name.lower()}, which its Horse has not reached")
    for site in Site:
        if table.bridges[colour] >> site & 1 and table.routes.site_needs[site] > horse:
            found.append(f"I4: {name} has a bridge at {site.name.lower()}, but its Horse has not reached both ends")
    if not table.setup.options["expert"] and (bid := table.committed()[colour]) > table.money[colour]:
        found.append(f"I6: {name} has bid {bid} Yuan, but has {table.money[colour]}")
    return found


def _map_problems(table: Table) -> list[str]:
    found: list[str] = []
    board = table.board
    gifts = sum(table.gifts) + sum(table.gifts_taken)
    if gifts != sum(board.gifts):
        found.append(f"I3: there are {gifts} gifts on the map and with the colours, not {sum(board.gifts)}")
    for province in Province:
        name, owner = province.name.lower(), table.teahouse[province]
        if table.gifts[province] > board.gifts[province]:
            found.append(f"I3: {name} has {table.gifts[province]} gifts; it started with {board.gifts[province]}")
        if owner != NOBODY and (not board.teahouse_space[province] or table.horse[owner] < province):
            found.append(f"I4: a teahouse of {_COLOURS[owner]} in {name} is not possible")
    return found


def _building_problems(table: Table) -> list[str]:
    found: list[str] = []
    small = table.board.small_spaces
    for building, row in enumerate(table.bids):
        name = _BUILDINGS[building]
        filled = [space for space, colour in enumerate(row) if colour != NOBODY]
        if any(space < small and space != filled[-1] for space in filled):
            found.append(f"I7: a small space in {name} does not hold its highest bid")
        bidders = [row[space] for space in filled]
        if len(set(bidders)) < len(bidders):
            found.append(f"I7: a colour has two Merchants in {name}")
        for colour in sorted(set(bidders)):
            if table.banked >> colour & 1:
                found.append(f"I7: {_COLOURS[colour]} has used the bank, and has a bid in {name}")
            if rules.is_exhausted(table, colour, building):
                found.append(f"{_COLOURS[colour]} has a bid in {name}, which has nothing left to give it (Y2.3b)")
    return found


def _order_problems(table: Table) -> list[str]:
    found: list[str] = []
    if table.phase not in (Phase.CONVERT, Phase.OVER):
        if table.travel_order != table.auction_order[::-1]:
            found.append("I13: until the incomes are noted, travel_order is the reverse of auction_order")
    else:
        # The old travel order was the reverse of auction_order, so among equal incomes the first in auction_order
        # leads.
        order = sorted(table.auction_order, key=lambda colour: -scoring.income(table, colour))
        if table.travel_order != order:
            names = ", ".join(_COLOURS[colour] for colour in order)
            found.append(f"travel_order must be by income, which gives {names} (Y9.1)")
    if table.turn == 1 and table.setup.seats == 2:
        owners = [table.owner[colour] for colour in table.auction_order]
        if owners[0] == owners[1] or owners != owners[:2] * 2:
            found.append("auction_order must alternate between the seats in turn 1 (Y12.2)")
    return found


def _last_turn_problems(table: Table) -> list[str]:
    found: list[str] = []
    payments = table.board.bank_payment(table.last_total)
    if any(paid not in (0, payment) for paid, payment in zip(table.last_bank_pay, payments, strict=True)):
        found.append(f"last_bank_pay must be {payments[0]} left and {payments[1]} right, or 0 (Y3.2)")
    if table.last_banned != NOBODY and table.last_inspector == NOBODY:
        found.append("last_banned needs last_inspector (Y6.3)")
    return found


def _phase_problems(table: Table) -> list[str]:
    """Return the problems found: entries that belong to another phase, or a phase that follows the end of the match."""
    found: list[str] = []
    phase = table.phase
    if phase is not Phase.AUCTION:
        if table.passed or table.banked:
            found.append(f"passed and banked belong to the phase AUCTION, not to {phase.name}")
        if any(colour != NOBODY for colour in table.bank):
            found.append(f"Merchants in the bank belong to the phase AUCTION, not to {phase.name}")
        elif phase is not Phase.YARD and any(colour != NOBODY for row in table.bids for colour in row):
            found.append(f"bids belong to the phases AUCTION and YARD, not to {phase.name}")
    if phase not in (Phase.TRAVEL, Phase.DISPLACE) and (any(table.unmoved) or table.passes_left):
        found.append(f"unmoved and passes_left belong to the phases TRAVEL and DISPLACE, not to {phase.name}")
    if (phase is Phase.DISPLACE) != (table.pending_displace != NOBODY):
        found.append("pending_displace belongs to the phase DISPLACE, and to no other")
    if phase is not Phase.CONVERT and any(table.income):
        found.append(f"income that is still to be converted belongs to the phase CONVERT, not to {phase.name}")
    if phase not in (Phase.CONVERT, Phase.OVER) and scoring.end_is_reached(table):
        found.append("the match is over already: the points of a seat or the gifts left ended an earlier turn (Y11.1)")
    return found


def _auction_problems(table: Table) -> list[str]:
    found: list[str] = []
    if table.passed >> table.acting_colour & 1:
        found.append("acting_colour has passed (Y2.1)")
    standing = [colour for colour in table.bank if colour != NOBODY]
    if table.banked != sum(1 << colour for colour in set(standing)) or len(set(standing)) < len(standing):
        found.append("banked must name the colours that stand in the bank, each on one space (Y2.6)")
    return found


def _yard_problems(table: Table) -> list[str]:
    found: list[str] = []
    acting = table.acting_colour
    if not any(table.struct_general[acting]):
        found.append("phase YARD needs a structure in the general supply of acting_colour (Y4.5)")
    done = table.auction_order[: table.auction_order.index(acting) + 1]
    found += [
        f"{_COLOURS[colour]} has bids, but has paid and taken its Merchants back already (Y4.6)"
        for colour in done
        if table.committed()[colour]
    ]
    return found


def _travel_problems(table: Table) -> list[str]:
    found: list[str] = []
    acting = table.acting_colour
    merchants, horse = table.merchants[acting], table.horse[acting]
    moved = [there - waiting for there, waiting in zip(merchants, table.unmoved, strict=True)]
    found += [
        f"unmoved names more Merchants in {province.name.lower()} than {_COLOURS[acting]} has there"
        for province in Province
        if moved[province] < 0
    ]
    spent = table.passes[acting] - table.passes_left
    # The farthest place from which a Merchant can have come is Pu'er or the province of the Horse.
    farthest = sum(count * max(province, horse - province) for province, count in enumerate(moved))
    if spent < 0:
        found.append("passes_left exceeds the border passes of acting_colour (Y5.2)")
    elif not sum(moved) <= spent <= farthest:
        found.append(f"I14: {sum(moved)} Merchants have journeyed, but {spent} border passes are spent")
    if table.phase is Phase.DISPLACE and table.pending_displace != NOBODY:
        province = table.pending_displace
        if province == Province.PUE or not turns.victims(table, province):
            found.append(
                "pending_displace needs an opponent's Merchant with less influence there, and not Pu'er (Y5.5)"
            )
        if moved[province] <= 0:
            found.append("pending_displace needs a Merchant of acting_colour that has journeyed there (Y5.5)")
    return found


def _convert_problems(table: Table) -> list[str]:
    return [
        f"the income of {_COLOURS[colour]} to be converted is {income}, not {table.income[colour]} (Y8.1)"
        for colour, income in enumerate(incomes(table))
        if table.income[colour] != income
    ]


def _over_problems(table: Table) -> list[str]:
    if scoring.ends_after_turn(table):
        return []
    return ["the match is not over: no seat has the victory points, gifts are left, and turns too (Y11.1)"]


_OF_PHASE = {
    Phase.AUCTION: _auction_problems,
    Phase.YARD: _yard_problems,
    Phase.TRAVEL: _travel_problems,
    Phase.DISPLACE: _travel_problems,
    Phase.CONVERT: _convert_problems,
    Phase.OVER: _over_problems,
}
