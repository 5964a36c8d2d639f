"""The rules of play (RULES.md, sections 3 and 4): set-up, legal actions, and the effects of actions.

`turns.py` handles the consequences that need no decision. Each phase has a function that lists its actions, and
each kind of action has a function that plays it. So the lists and the checks in the playing functions state the same
rules twice: the lists offer a choice, and the checks name the broken rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.game import Action, Chance, IllegalAction, Seat
from referee.games.yunnan import actions as act
from referee.games.yunnan import turns
from referee.games.yunnan.names import OUTER, Building, Colour, Phase, Place, Province, Site, Space, Structure
from referee.games.yunnan.table import NOBODY, Table
from referee.named import named

AUCTION, YARD, TRAVEL, DISPLACE, CONVERT, OVER = Phase
POST, BRIDGE, TEAHOUSE = Structure
SCHOOL, CUSTOMS, HORSE, DRAGON, CONSTRUCTION_YARD = Building

# --- set-up (section 3) -----------------------------------------------------------------------------


def set_up(table: Table, chance: Chance) -> None:
    """Lay out the pieces on an empty table."""
    board = table.board
    order = table.setup.options["initial_order"]
    if isinstance(order, str) and order != "random":
        table.auction_order = [int(Colour[word.upper()]) for word in order.split("+")]
    elif table.setup.seats == 2:
        table.auction_order = _alternating(chance)
    else:
        table.auction_order = chance.stream("order").permutation(table.colours)  # Y1.2
    table.travel_order = table.auction_order[::-1]  # as in every auction (section 2)
    table.acting_colour = table.auction_order[0]
    for place, colour in enumerate(table.auction_order):
        table.money[colour] = board.start_money[place]  # Y1.3
    for colour in range(table.colours):  # Y1.5
        table.reserve[colour] = board.start_merchants
        table.general[colour] = board.total_merchants - board.start_merchants
        table.struct_general[colour] = [board.structures_each] * len(Structure)
    table.gifts = list(board.gifts)  # Y1.6


def _alternating(chance: Chance) -> list[int]:
    """Draw one of the eight orders in which the seats alternate (Y12.2)."""
    draw = chance.stream("order")
    first = draw.below(2)
    mine, other = [first, first + 2], [1 - first, 3 - first]
    if draw.below(2):
        mine.reverse()
    if draw.below(2):
        other.reverse()
    return [mine[0], other[0], mine[1], other[1]]


# --- legal actions (section 5) --------------------------------------------------------------------------


def legal_actions(table: Table) -> list[Action]:
    """Return all legal actions of the colour to act, in the order of the table in RULES.md, section 5."""
    return _LEGAL[table.phase](table)


def sources(table: Table, colour: int) -> list[int]:
    """Return the possible origins of a Merchant, as numbers of `Place` (Y2.2)."""
    if table.reserve[colour]:
        return [Place.RESERVE]
    # Never from the market of Pu'er.
    return [province for province, count in enumerate(table.merchants[colour]) if count and province]


def _legal_in_auction(table: Table) -> list[Action]:
    colour = table.acting_colour
    places = sources(table, colour)
    if not places:  # R8
        return [act.PASS]
    legal: list[Action] = []
    if not table.banked >> colour & 1:
        _add_bids(table, colour, places, legal)
        for space, bidder in enumerate(table.bank):
            if bidder == NOBODY:
                actions = act.BANKS[space]
                legal += [actions[source] for source in places]
    legal += [act.MARKETS[source] for source in places]
    legal.append(act.PASS)
    return legal


def _add_bids(table: Table, colour: int, places: list[int], legal: list[Action]) -> None:
    most = limit(table, colour)
    actions = act.bids(table.board.bid_spaces)
    for building in range(len(table.bids)):
        for space in open_spaces(table, colour, building, most):
            legal += [actions[building][space][source] for source in places]


def open_spaces(table: Table, colour: int, building: int, most: int) -> list[int]:
    """Return the spaces of a building, up to the value `most`, that are open to a colour that has not used the bank."""
    row, values, small = table.bids[building], table.board.bid_spaces, table.board.small_spaces
    found: list[int] = []
    if colour in row or is_exhausted(table, colour, building):
        return found
    for space, value in enumerate(values):
        if value > most:
            break
        # NOBODY is below all colours, so a maximum of NOBODY means that all spaces from here on are empty.
        if row[space] == NOBODY and (space >= small or max(row[space:]) == NOBODY):  # Y2.3 d, e
            found.append(space)
    return found


def limit(table: Table, colour: int) -> int:
    """Return the highest bid that a colour can afford (Y2.3 f)."""
    if table.setup.options["expert"]:  # Y13.1
        return table.board.bid_spaces[-1]
    return table.money[colour] - table.committed()[colour]


def is_exhausted(table: Table, colour: int, building: int) -> bool:
    """Return whether a building has nothing more to give to a colour (RULES.md, 1.3)."""
    if building == SCHOOL:
        return not table.general[colour]
    if building == CUSTOMS:
        return table.passes[colour] >= table.board.max_passes
    if building == HORSE:
        return table.horse[colour] >= Province.QIN
    if building == DRAGON:
        return table.influence[colour] >= table.board.max_influence
    return not any(table.struct_general[colour])


def _legal_in_yard(table: Table) -> list[Action]:
    colour = table.acting_colour
    legal: list[Action] = [act.TAKES[kind] for kind, left in enumerate(table.struct_general[colour]) if left]
    if table.struct_general[colour][TEAHOUSE]:
        legal += [act.TAKES_TO[province] for province in _teahouse_sites(table, colour)]
    return legal


def _teahouse_sites(table: Table, colour: int) -> list[int]:
    spaces, taken = table.board.teahouse_space, table.teahouse
    return [
        province for province in range(1, table.horse[colour] + 1) if spaces[province] and taken[province] == NOBODY
    ]


def _legal_in_travel(table: Table) -> list[Action]:
    colour = table.acting_colour
    horse, left = table.horse[colour], table.passes_left
    legal: list[Action] = []
    if left:
        distances = table.routes.distances[table.bridges[colour]]
        for start, count in enumerate(table.unmoved):
            if count:
                row, moves = distances[start], act.MOVES[start]
                legal += [moves[end] for end in range(horse + 1) if 0 < row[end] <= left]  # 0: the start itself
    in_reserve = table.struct_reserve[colour]
    if in_reserve[POST]:
        legal += act.BUILD_POSTS[: horse + 1]  # also in Pu'er, where it earns nothing (R29)
    if in_reserve[BRIDGE]:
        own = table.bridges[colour]
        needs = table.routes.site_needs
        legal += [act.BUILD_BRIDGES[site] for site in Site if needs[site] <= horse and not own >> site & 1]
    if in_reserve[TEAHOUSE]:
        legal += [act.BUILD_TEAHOUSES[province] for province in _teahouse_sites(table, colour)]
    legal.append(act.DONE)
    return legal


def _legal_displacements(table: Table) -> list[Action]:
    legal: list[Action] = [act.DISPLACES[victim] for victim in turns.victims(table, table.pending_displace)]
    legal.append(act.NO_DISPLACE)
    return legal


def _legal_conversions(table: Table) -> list[Action]:
    return list(act.converts(table.income[table.acting_colour]))


def _no_actions(table: Table) -> list[Action]:
    return []


_LEGAL: dict[Phase, Callable[[Table], list[Action]]] = {
    AUCTION: _legal_in_auction,
    YARD: _legal_in_yard,
    TRAVEL: _legal_in_travel,
    DISPLACE: _legal_displacements,
    CONVERT: _legal_conversions,
    OVER: _no_actions,
}


# --- playing an action --------------------------------------------------------------------------------


def apply(table: Table, seat: Seat, action: Action) -> None:
    """Play an action; see `referee.game.State.apply`. Nothing is random after the set-up."""
    play = HANDLERS.get(type(action))
    if play is None:
        raise IllegalAction(f"{action!r} is not an action of yunnan")
    if table.phase is OVER:
        raise IllegalAction("the match is over", "Y11.1")
    if seat != table.owner[table.acting_colour]:
        raise IllegalAction(f"it is the turn of seat {table.owner[table.acting_colour]}, not of seat {seat}", "Y2.1")
    play(table, action)


def _check_phase(table: Table, phase: Phase, rule: str) -> None:
    if table.phase is not phase:
        raise IllegalAction(f"this is not possible now, in phase {table.phase.name}", rule)


def _check_source(table: Table, source: int) -> None:
    _check_phase(table, AUCTION, "Y2.1")
    place = named(Place, source)
    if place in sources(table, table.acting_colour):
        return
    if place is Place.RESERVE:
        raise IllegalAction("there is no Merchant in the reserve", "Y2.2")
    if table.reserve[table.acting_colour]:
        raise IllegalAction("a Merchant can only come from a province when the reserve is empty", "Y2.2")
    raise IllegalAction(f"this colour has no Merchant in {place.name}", "Y2.2")


def _take_merchant(table: Table, source: int) -> None:
    colour = table.acting_colour
    if source == Place.RESERVE:
        table.reserve[colour] -= 1
    else:
        table.merchants[colour][source] -= 1


def _play_bid(table: Table, action: act.Bid) -> None:
    colour = table.acting_colour
    _check_source(table, action.source)
    building = named(Building, action.building)
    row = table.bids[building]
    if action.value not in table.board.bid_spaces:
        raise IllegalAction(f"there is no space of value {action.value}", "Y2.3")
    space = table.board.bid_spaces.index(action.value)
    if table.banked >> colour & 1:
        raise IllegalAction("a colour that has used the bank cannot bid", "Y2.3a")
    if is_exhausted(table, colour, building):
        raise IllegalAction(f"{building.name} has nothing more to give to this colour", "Y2.3b")
    if colour in row:
        raise IllegalAction(f"this colour has a bid in {building.name} already", "Y2.3c")
    if row[space] != NOBODY:
        raise IllegalAction(f"space {action.value} of {building.name} is taken", "Y2.3d")
    if space < table.board.small_spaces and max(row[space:]) != NOBODY:
        raise IllegalAction(f"a small space needs the highest bid in {building.name}", "Y2.3e")
    if action.value > limit(table, colour):
        raise IllegalAction(f"only {limit(table, colour)} Yuan are not committed to other bids", "Y2.3f")
    _take_merchant(table, action.source)
    row[space] = colour
    for lower in range(min(space, table.board.small_spaces)):  # Y2.5
        outbid = row[lower]
        if outbid != NOBODY:
            row[lower] = NOBODY
            table.reserve[outbid] += 1
            table.passed &= ~(1 << outbid)  # it is in the auction again
    turns.next_in_auction(table)


def _play_bank(table: Table, action: act.Bank) -> None:
    colour = table.acting_colour
    _check_source(table, action.source)
    space = named(Space, action.space)
    if table.banked >> colour & 1:
        raise IllegalAction("a colour cannot use the bank twice in an auction", "Y2.6")
    if table.bank[space] != NOBODY:
        raise IllegalAction(f"the {space.name.lower()} space of the bank is taken", "Y2.6")
    _take_merchant(table, action.source)
    table.bank[space] = colour
    table.banked |= 1 << colour
    table.merchants[colour][Province.PUE] += turns.take_bids(table, colour)
    turns.next_in_auction(table)


def _play_market(table: Table, action: act.Market) -> None:
    _check_source(table, action.source)
    _take_merchant(table, action.source)
    table.merchants[table.acting_colour][Province.PUE] += 1
    turns.next_in_auction(table)


def _play_pass(table: Table, action: act.Pass) -> None:
    _check_phase(table, AUCTION, "Y2.1")
    colour = table.acting_colour
    table.passed |= 1 << colour
    if table.setup.options["pass_moves_reserve_to_market"]:
        table.merchants[colour][Province.PUE] += table.reserve[colour]
        table.reserve[colour] = 0
    turns.next_in_auction(table)


def _play_take(table: Table, action: act.Take) -> None:
    _check_phase(table, YARD, "Y4.5")
    colour = table.acting_colour
    structure, place = named(Structure, action.structure), named(Place, action.to)
    if not table.struct_general[colour][structure]:
        raise IllegalAction(f"there is no {structure.name.lower()} left in the general supply", "Y4.5")
    if place is Place.RESERVE:
        table.struct_reserve[colour][structure] += 1
    elif structure is TEAHOUSE:
        _check_teahouse_site(table, place, "Y4.5")
        table.teahouse[place] = colour
    else:
        raise IllegalAction("only a teahouse can be built at once", "Y4.5")
    table.struct_general[colour][structure] -= 1
    turns.next_in_yard(table)


def _check_access(table: Table, province: int, rule: str) -> None:
    if province > table.horse[table.acting_colour]:
        raise IllegalAction(f"the Horse has not reached {Province(province).name}", rule)


def _check_teahouse_site(table: Table, province: int, rule: str) -> None:
    if Province(province) not in OUTER or not table.board.teahouse_space[province]:
        raise IllegalAction(f"{Province(province).name} has no space for a teahouse", rule)
    _check_access(table, province, rule)
    if table.teahouse[province] != NOBODY:
        raise IllegalAction(f"there is a teahouse in {Province(province).name} already", rule)


def _play_move(table: Table, action: act.Move) -> None:
    _check_phase(table, TRAVEL, "Y5.2")
    colour = table.acting_colour
    start, end = named(Province, action.start), named(Province, action.end)
    if not table.unmoved[start]:
        raise IllegalAction(f"there is no Merchant in {start.name} that has not journeyed yet", "Y5.3")
    if start is end:
        raise IllegalAction("a journey never comes back to where it began", "Y5.4")
    _check_access(table, end, "Y5.3")
    distance = table.routes.distances[table.bridges[colour]][start][end]
    if distance > table.passes_left:
        raise IllegalAction(f"the journey needs {distance} border passes, and {table.passes_left} are left", "Y5.3")
    table.passes_left -= distance
    table.unmoved[start] -= 1
    table.merchants[colour][start] -= 1
    table.merchants[colour][end] += 1
    if end is not Province.PUE and turns.victims(table, end):  # Y5.5, R15
        table.pending_displace = end
        table.phase = DISPLACE


def _check_in_reserve(table: Table, structure: Structure, rule: str) -> None:
    _check_phase(table, TRAVEL, "Y5.2")
    if not table.struct_reserve[table.acting_colour][structure]:
        raise IllegalAction(f"there is no {structure.name.lower()} in the reserve", rule)


def _play_build_post(table: Table, action: act.BuildPost) -> None:
    _check_in_reserve(table, POST, "Y5.6")
    province = named(Province, action.province)
    _check_access(table, province, "Y5.6")
    table.struct_reserve[table.acting_colour][POST] -= 1
    table.posts[table.acting_colour][province] += 1


def _play_build_bridge(table: Table, action: act.BuildBridge) -> None:
    _check_in_reserve(table, BRIDGE, "Y5.7")
    colour, site = table.acting_colour, named(Site, action.site)
    _check_access(table, table.routes.site_needs[site], "Y5.7")
    if table.bridges[colour] >> site & 1:
        raise IllegalAction(f"this colour has a bridge at {site.name.lower()} already", "Y5.7")
    table.struct_reserve[colour][BRIDGE] -= 1
    table.bridges[colour] |= 1 << site


def _play_build_teahouse(table: Table, action: act.BuildTeahouse) -> None:
    _check_in_reserve(table, TEAHOUSE, "Y5.8")
    province = named(Province, action.province)
    _check_teahouse_site(table, province, "Y5.8")
    table.struct_reserve[table.acting_colour][TEAHOUSE] -= 1
    table.teahouse[province] = table.acting_colour


def _play_done(table: Table, action: act.Done) -> None:
    _check_phase(table, TRAVEL, "Y5.2")
    turns.end_travel_turn(table)


def _play_displace(table: Table, action: act.Displace) -> None:
    _check_phase(table, DISPLACE, "Y5.5")
    victim, province = named(Colour, action.colour), table.pending_displace
    if victim not in turns.victims(table, province):
        raise IllegalAction(
            f"{victim.name.lower()} has no Merchant in {Province(province).name} of an opponent with less influence",
            "Y5.5",
        )
    table.merchants[victim][province] -= 1
    table.merchants[victim][province - 1] += 1  # the next one on the road towards Pu'er, whatever bridges there are
    _end_displacement(table)


def _play_no_displace(table: Table, action: act.NoDisplace) -> None:
    _check_phase(table, DISPLACE, "Y5.5")
    _end_displacement(table)


def _end_displacement(table: Table) -> None:
    table.pending_displace = NOBODY
    table.phase = TRAVEL


def _play_convert(table: Table, action: act.Convert) -> None:
    _check_phase(table, CONVERT, "Y10.1")
    colour = table.acting_colour
    income = table.income[colour]
    if not 0 <= action.points <= income:
        raise IllegalAction(f"the income to convert is {income}", "Y10.1")
    table.vp[table.owner[colour]] += action.points
    table.converted[table.owner[colour]] += action.points
    table.money[colour] += income - action.points
    table.income[colour] = 0
    turns.next_in_conversion(table)


HANDLERS: dict[type[Action], Callable[[Table, Any], None]] = {
    act.Bid: _play_bid,
    act.Bank: _play_bank,
    act.Market: _play_market,
    act.Pass: _play_pass,
    act.Take: _play_take,
    act.Move: _play_move,
    act.BuildPost: _play_build_post,
    act.BuildBridge: _play_build_bridge,
    act.BuildTeahouse: _play_build_teahouse,
    act.Done: _play_done,
    act.Displace: _play_displace,
    act.NoDisplace: _play_no_displace,
    act.Convert: _play_convert,
}
"""The function that plays each type of action, in the order of the table in RULES.md, section 5."""


# --- defaults (section 5) -------------------------------------------------------------------------------


def default_action(table: Table) -> Action:
    """Return the action that is played for a seat that is out of the match or out of time (RULES.md, section 5)."""
    if table.phase is AUCTION:
        return act.PASS
    if table.phase is YARD:
        return _legal_in_yard(table)[0]
    if table.phase is TRAVEL:
        return act.DONE
    if table.phase is DISPLACE:
        return act.NO_DISPLACE
    return act.converts(0)[0]
