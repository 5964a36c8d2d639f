"""Consequences that need no decision (RULES.md, Y2.9 to Y11): turns, payments, inspector, gifts, incomes, orders."""

from __future__ import annotations

from referee.games.yunnan import scoring
from referee.games.yunnan.names import OUTER, Building, Phase, Province, Space
from referee.games.yunnan.table import NOBODY, Table

# --- auction (1a) ---------------------------------------------------------------------------------------


def next_in_auction(table: Table) -> None:
    """Move on to the next colour that has not passed, or end the auction (Y2.9)."""
    order = table.auction_order
    place = order.index(table.acting_colour)
    # The colour itself is the last of these: it may be the only one that has not passed (Y2.9).
    for colour in order[place + 1 :] + order[: place + 1]:
        if not table.passed >> colour & 1:
            table.acting_colour = colour
            return
    table.passed = 0
    table.banked = 0
    _pay_from_bank(table)
    _resolve_buildings(table, order)


def take_bids(table: Table, colour: int) -> int:
    """Take a colour's Merchants out of the progress buildings; return their number."""
    taken = 0
    for row in table.bids:
        if colour in row:
            row[row.index(colour)] = NOBODY
            taken += 1
    return taken


# --- bank (1b) ------------------------------------------------------------------------------------------


def _pay_from_bank(table: Table) -> None:
    total = sum(table.committed())  # Y3.1
    paid = [0] * len(Space)
    for space, payment in enumerate(table.board.bank_payment(total)):
        colour = table.bank[space]  # a lone colour on the right still gets the right payment (Y3.2)
        if colour != NOBODY:
            table.money[colour] += payment  # Y3.2
            table.reserve[colour] += 1  # Y3.3
            paid[space] = payment
    table.bank = [NOBODY] * len(Space)
    table.last_total = total
    table.last_bank_pay = (paid[0], paid[1])


# --- paying and progress (1c) ---------------------------------------------------------------------------


def next_in_yard(table: Table) -> None:
    """Move on to the colours after the one that has just chosen a structure (Y4.6)."""
    place = table.auction_order.index(table.acting_colour)
    _resolve_buildings(table, table.auction_order[place + 1 :])


def _resolve_buildings(table: Table, colours: list[int]) -> None:
    for colour in colours:
        buildings = [building for building, row in enumerate(table.bids) if colour in row]
        if not buildings:
            continue
        # A colour pays before its Merchants are taken back, because the price is the sum of its bids.
        _pay(table, colour, table.committed()[colour])
        table.reserve[colour] += take_bids(table, colour)  # Y4.1
        for building in buildings:  # Y4.2
            if building == Building.SCHOOL:  # Y4.3
                table.general[colour] -= 1
                table.merchants[colour][Province.PUE] += 1
            elif building == Building.CUSTOMS:  # Y4.4
                table.passes[colour] += 1
            elif building == Building.HORSE:
                table.horse[colour] += 1
            elif building == Building.DRAGON:
                table.influence[colour] += 1
            else:
                # All later colours wait, with their bids, until this one has chosen (Y4.6).
                table.acting_colour = colour
                table.phase = Phase.YARD
                return
    table.travel_order = table.auction_order[::-1]  # Y5.1
    _begin_travel_turn(table, table.travel_order[0])


def _pay(table: Table, colour: int, price: int) -> None:
    paid = min(price, table.money[colour])  # in the base game the bids never exceed the money (Y2.3f)
    table.money[colour] -= paid
    debt = (price - paid) * table.board.debt(table.turn)  # Y13.3; 0 in the base game
    table.vp[table.owner[colour]] -= debt
    table.debts[table.owner[colour]] += debt


# --- travel (2a) ----------------------------------------------------------------------------------------


def _begin_travel_turn(table: Table, colour: int) -> None:
    table.phase = Phase.TRAVEL
    table.acting_colour = colour
    table.passes_left = table.passes[colour]  # Y5.2
    table.unmoved = table.merchants[colour][:]  # a copy: those that arrive have journeyed


def victims(table: Table, province: int) -> list[int]:
    """Return the colours whose Merchants the acting colour may displace in a province (Y5.5, Y12.4)."""
    acting = table.acting_colour
    influence, seat = table.influence[acting], table.owner[acting]
    return [
        colour
        for colour, merchants in enumerate(table.merchants)
        if merchants[province] and table.influence[colour] < influence and table.owner[colour] != seat
    ]


def end_travel_turn(table: Table) -> None:
    """Send unconnected Merchants to Pu'er (Y5.10), and move on to the next colour or to the end of the travel phase."""
    colour = table.acting_colour
    # This is computed before anybody leaves, because the check applies to all Merchants at once (Y5.10).
    connected = table.reach(colour).connected
    merchants = table.merchants[colour]
    for province in OUTER:
        if not connected >> province & 1:
            merchants[Province.PUE] += merchants[province]
            merchants[province] = 0
    place = table.travel_order.index(colour) + 1
    if place < table.colours:
        _begin_travel_turn(table, table.travel_order[place])
        return
    table.passes_left = 0
    table.unmoved = [0] * len(Province)
    # The order matters, because the banned Merchant gets no gift (Y7.2) and earns in Pu'er.
    _send_inspector(table)
    _give_gifts(table)
    _note_incomes(table)
    table.phase = Phase.CONVERT
    table.acting_colour = table.travel_order[0]


# --- inspector, gifts, incomes and order (2b to 2e) -------------------------------------------------------


def _send_inspector(table: Table) -> None:
    table.last_inspector = table.last_banned = NOBODY
    tea = scoring.tea(table)
    target = max(OUTER, key=lambda province: (tea[province], province))  # among equals, the farther one
    if not tea[target]:  # Y6.1
        return
    table.last_inspector = int(target)
    candidates = [
        colour
        for colour in table.travel_order
        if table.merchants[colour][target]
        and table.influence[colour] < table.board.immune_influence
        and table.teahouse[target] != colour
    ]
    if candidates:  # Y6.2, Y6.3; among equals, max takes the first
        banned = max(candidates, key=lambda colour: table.influence[colour])
        table.merchants[banned][target] -= 1
        table.merchants[banned][Province.PUE] += 1
        table.last_banned = banned


def _give_gifts(table: Table) -> None:
    for province in OUTER:
        left = table.gifts[province]
        if not left:
            continue
        # Y7.1: colours with more influence come first. Colours with equal influence each take one gift per round, as
        # long as they have had fewer gifts there than they have Merchants.
        for influence in sorted(set(table.influence), reverse=True):
            group = [colour for colour in table.travel_order if table.influence[colour] == influence]
            round_number = 0
            while left and any(table.merchants[colour][province] > round_number for colour in group):
                for colour in group:
                    if left and table.merchants[colour][province] > round_number:
                        table.gifts_taken[colour] += 1
                        left -= 1
                round_number += 1
        table.gifts[province] = left


def _note_incomes(table: Table) -> None:
    table.income = [scoring.income(table, colour) for colour in range(table.colours)]  # Y8.1
    old = {colour: place for place, colour in enumerate(table.travel_order)}
    table.travel_order.sort(key=lambda colour: (-table.income[colour], -old[colour]))  # Y9.1, R23


# --- conversion and the end of the turn (2f, 2g) ----------------------------------------------------------


def next_in_conversion(table: Table) -> None:
    """Move on to the next colour's conversion, or end the turn (Y11)."""
    place = table.travel_order.index(table.acting_colour) + 1
    if place < table.colours:
        table.acting_colour = table.travel_order[place]
        return
    if scoring.ends_after_turn(table):
        table.phase = Phase.OVER
        return
    for colour, merchants in enumerate(table.merchants):  # Y11.2
        table.reserve[colour] += merchants[Province.PUE]
        merchants[Province.PUE] = 0
    table.auction_order = table.travel_order[::-1]
    table.turn += 1
    table.phase = Phase.AUCTION
    table.acting_colour = table.auction_order[0]
