"""A picture of an observation, for spectators who look and do not read (RULES.md, section 2).

Below the title line, from the left: the map, with the sea, Valparaíso and its building row, and the villages, in each market its
tiles; below it what is being done, the reserve of tiles and the legend; a panel for each seat, with its plan as far as the
observer may know it. Every place has room for the most that can lie there, and pieces carry the number of their seat.
"""

from __future__ import annotations

import textwrap
from html import escape
from itertools import pairwise

from referee.game import Seat
from referee.games.valparaiso.board import OUTER, SLOTS_OF_A_SECTOR, Side, ValparaisoBoard, is_market
from referee.games.valparaiso.drawing_style import (
    DOING,
    EFFECTS,
    GROUND,
    MAP_HEIGHT,
    MAP_WIDTH,
    RIVER,
    ROAD,
    Owner,
    Slot,
    achievement,
    action_cards,
    arrow,
    coin,
    column,
    cube,
    goods_in_letters,
    goods_in_words,
    holdings,
    house,
    in_a_row,
    in_words,
    legend,
    lighthouse,
    merchant,
    ordinal,
    owned_cards,
    places_of,
    plan_slot,
    seats_in_words,
    share_within,
    ship,
    size_of,
    symbols_of,
    tile,
    waves,
)
from referee.games.valparaiso.names import Card, Location, Phase, Sector
from referee.games.valparaiso.observation import ValparaisoObservation, is_secret
from referee.kit.svg import (
    BRASS,
    DARK,
    DEEP,
    DIM,
    FADED,
    INK,
    LAMP,
    LAND,
    LINE,
    LIT,
    NIGHT,
    SANS,
    SEA,
    box,
    crown,
    element,
    figure,
    group,
    name_text,
    path,
    printable,
    short,
    text,
)

_WIDTH, _MARGIN, _TOP, _BODY = 1440, 16, 64, 1040
_BELOW = _TOP + MAP_HEIGHT + 10
_BELOW_HEIGHT = _TOP + _BODY - _BELOW
_TURN_WIDTH, _STOCK, _STOCK_WIDTH = 462, 488, 508
_PANELS, _PANELS_WIDTH = 1006, 418
_SECTOR_WIDTH, _SECTOR_HEIGHT, _CARD_WIDTH, _CARD_HEIGHT = 312, 164, 98, 84
_COAST, _ROW_SHOWN, _LEGEND = 234, 20, 150

Places = dict[Location, tuple[float, float]]
"""For each location, the middle of its box on the map."""


def draw(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> str:
    """An SVG document that shows all of an observation; equal observations give equal documents."""
    seats = range(len(seen.seats))
    height = _TOP + _BODY + _MARGIN
    panel_height = (_BODY + 8) / len(seats) - 8
    parts = [
        element("title", f"Valparaíso, round {seen.round}"),
        element("desc", escape(_described(board, side, seen))),
        element("rect", width=_WIDTH, height=height, fill=NIGHT),
        _header(seen),
        group(_MARGIN, _TOP, _map(board, side, seen)),
        group(_MARGIN, _BELOW, _standing(board, seen) if seen.phase is Phase.OVER else _turn(board, side, seen)),
        group(_STOCK, _BELOW, _stock(board, seen)),
    ]
    for seat in seats:
        panel = _panel(board, seen, seat, panel_height)
        parts.append(group(_PANELS, _TOP + (panel_height + 8) * seat, panel))
    return element(
        "svg",
        "\n" + "\n".join(parts) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        direction="ltr",
        font_family=SANS,
    )


# --- in words -------------------------------------------------------------------------------------


def _described(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> str:
    """The picture for those who hear it."""
    said = [f"Round {seen.round}", _who(seen), DOING[seen.phase], *_notes(board, side, seen)]
    for seat, has in enumerate(seen.seats):
        there = [
            f"{count} in {_name(side, where)}" for where, count in zip(Location, has.merchants, strict=True) if count
        ]
        said.append(
            f"{_owner(seen, seat).name.capitalize()}: {has.vp} VP on the track, {has.final_vp} were it to end now, {has.money} pesos, "
            f"warehouse {goods_in_words(has.warehouse)}, hold {goods_in_words(has.hold)}, {has.merchants_reserve} merchants in reserve, "
            f"{has.houses_left} houses left, ship in {printable(board.sector_names[has.ship])}, merchants: {', '.join(there) or 'none'}, "
            f"achievements: {' '.join(card.name for card in has.achievements) or 'none'}"
        )
    for village, market in zip(side.markets, seen.markets, strict=True):
        said += [f"Market of {_name(side, village)}: {in_words(board.tiles[kind])}" for kind in market.tiles[:1]]
    said += [f"House of seat {built.seat} in {_name(side, built.location)}" for built in seen.houses]
    return ". ".join(said) + "."


def _owner(seen: ValparaisoObservation, seat: Seat) -> Owner:
    return Owner(seat, seen.seats[seat].colour)


def _name(side: Side, location: Location) -> str:
    return printable(side.names[location])


def _to_act(seen: ValparaisoObservation) -> list[Seat]:
    """Whose decisions are open."""
    if seen.phase is Phase.PLAN:
        return [seat for seat, has in enumerate(seen.seats) if not has.committed]
    return [] if seen.seat is None else [seen.seat]


def _who(seen: ValparaisoObservation) -> str:
    """Who is to act, or who has won."""
    if seen.phase is Phase.OVER:
        return f"Seat {[has.rank for has in seen.seats].index(1)} wins"
    seats = _to_act(seen)
    return f"{seats_in_words(seats)} {'is' if len(seats) == 1 else 'are'} to act"


def _notes(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> list[str]:
    """The action in progress, and what else holds now."""
    notes = [] if seen.effect is None else [f"Action: {EFFECTS[seen.effect][1]}"]
    if seen.phase is Phase.PLAN:
        done = [seat for seat, has in enumerate(seen.seats) if has.committed]
        notes.append(f"{seats_in_words(done)}: planning is finished" if done else "Nobody has finished planning yet")
    if seen.first_finisher is not None:
        notes.append(f"Seat {seen.first_finisher} has finished first, and gets a good")
    if seen.plan is not None:
        left = f"warehouse: {goods_in_words(seen.plan.warehouse)}; hold: {goods_in_words(seen.plan.hold)}"
        notes.append(f"Your plan leaves {seen.plan.money} pesos; {left}")
    if seen.path:
        way = " → ".join(location.name for location in seen.path)
        notes.append(f"Merchant in motion: {way}; counted steps: {seen.steps} of {len(board.move_costs)}")
    if any(seen.unmoved):
        still = zip(Location, seen.unmoved, strict=True)
        notes.append(
            "May still move: " + ", ".join(f"{count} in {_name(side, where)}" for where, count in still if count)
        )
    if seen.village is not None:
        bottom = seen.markets[seen.village - Location.M1].tiles[:1]
        notes += [f"{_name(side, seen.village)}: {in_words(board.tiles[kind])}" for kind in bottom]
    if seen.phase is Phase.EXCHANGE:
        notes.append(f"Uses of the tile left: {seen.left}")
    if seen.phase is Phase.BUY:
        notes.append(f"Goods that can still be bought: {seen.left}")
    if seen.villages:
        notes.append("Still to be resolved: " + ", ".join(_name(side, village) for village in seen.villages))
    if seen.phase is Phase.USE:
        notes.append("The card in slot #1 and the mayor's cost nothing more")
    if seen.phase is not Phase.OVER and _is_last(board, seen):
        notes.append("This is the last round")
    return notes


def _is_last(board: ValparaisoBoard, seen: ValparaisoObservation) -> bool:
    """Whether the match ends with this round as things are (V7.1)."""
    on_track = max(has.vp for has in seen.seats)
    return on_track >= board.end_vp or any(slot.card is None for slot in seen.slots) or seen.round >= seen.last_round


def _order(seen: ValparaisoObservation) -> list[Seat]:
    """The seats in this round's order."""
    seats = len(seen.seats)
    return [(seen.start_seat + step) % seats for step in range(seats)]


# --- the head and the sea -------------------------------------------------------------------------


def _header(seen: ValparaisoObservation) -> str:
    """Round, what is open and for whom, and the start player."""
    parts = [
        text(_MARGIN, 43, "VALPARAÍSO", 28, BRASS, serif=True, bold=True, fit=222),
        text(254, 41, f"Round {seen.round}", 17, bold=True, fit=92),
        path("M356 22v26", stroke=LINE, thick=2),
        text(374, 41, "Game over" if seen.phase is Phase.OVER else DOING[seen.phase], 17, fit=470),
        text(1212, 41, _who(seen), 17, BRASS, "end", bold=True, fit=330),
        path("M1234 22v26", stroke=LINE, thick=2),
        text(1346, 41, "start player", 14, FADED, "end"),
        lighthouse(1370, 35),
        ship(1404, 37, _owner(seen, seen.start_seat)),
    ]
    return "".join(parts)


def _map(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> str:
    """Sea and land, and on the land roads, rivers, the way of the merchant in motion, and the locations."""
    places = places_of(side)
    parts = [
        box(0, 0, MAP_WIDTH, MAP_HEIGHT, GROUND),
        _sea(board, seen),
        _ways(side, places),
        _motion(seen, places),
        *(_village(board, side, seen, village, *places[village]) for village in side.villages),
        _city(side, seen, *places[Location.V]),
    ]
    return "".join(parts)


def _sea(board: ValparaisoBoard, seen: ValparaisoObservation) -> str:
    """The sectors: the outer ones from the west to the east, the harbour below; beside it the pile, and what was scrapped."""
    coast = f"M0 8q0-8 8-8h{MAP_WIDTH - 16}q8 0 8 8v{_COAST - 12}"
    for step in range(7):
        coast += f"q-35 {14 if step % 2 else -10}-70 0t-70 0"
    crests = ((264, 196), (282, 214))
    parts = [
        path(f"{coast}z", SEA, "#6f6242", 2),
        path("".join(f"M{x} {y}q6-6 12 0t12 0" for x, y in crests), stroke="#33586a", thick=2),
    ]
    west_to_east = sorted(OUTER, key=lambda sector: (board.sector_places[sector], sector))
    for at, sector in enumerate(west_to_east):
        parts.append(group(14 + (_SECTOR_WIDTH + 8) * at, 10, _outer(board, seen, sector)))
    parts.append(group((MAP_WIDTH - _SECTOR_WIDTH) / 2, 182, _harbour(board, seen)))
    parts += [
        box(16 + 4 * at, 188 + 3 * at, 26, 34, DEEP, BRASS, 1.2, 4) for at in range(3 if seen.deck > 2 else seen.deck)
    ]
    parts.append(text(60, 206, f"{seen.deck} card{'' if seen.deck == 1 else 's'} in the pile", 13, bold=True))
    below = "a space left empty ends the match" if seen.deck < 4 else "of achievements"
    parts.append(text(60, 222, below, 11, FADED, fit=196))
    words = " ".join(card.name for card in seen.scrapped) or "none"
    for row, line in enumerate(textwrap.wrap(f"Scrapped: {words}", 44)[:3]):
        parts.append(text(668, 197 + 13 * row, line, 11.5, FADED, fit=296))
    return "".join(parts)


def _rim_of(seen: ValparaisoObservation, lit: bool) -> tuple[str, float]:
    """The outline of what the action in progress is about."""
    return (_owner(seen, seen.seat).rim, 3) if lit and seen.seat is not None else (LINE, 1)


def _outer(board: ValparaisoBoard, seen: ValparaisoObservation, sector: Sector) -> str:
    """An outer sector: what it asks for, its pesos, the cards, and the ships."""
    at = OUTER.index(sector)
    lit = seen.phase is Phase.ACQUIRE and seen.seat is not None and seen.seats[seen.seat].ship is sector
    parts = [
        box(0, 0, _SECTOR_WIDTH, _SECTOR_HEIGHT, DEEP, *_rim_of(seen, lit)),
        text(9, 21, sector.name, 12, DIM, bold=True),
        name_text(38, 21, board.sector_names[sector], 15, 116),
        text(198, 20, f"{board.overseas_goods} ×", 14, INK, "end", bold=True),
        cube(211, 15, board.sector_goods[at], 18),
        coin(254, 15, seen.sea_money[at], 11),
        text(269, 20, "pesos", 12, FADED),
    ]
    for place in range(SLOTS_OF_A_SECTOR):
        card, x = seen.slots[at * SLOTS_OF_A_SECTOR + place].card, 5 + (_CARD_WIDTH + 4) * place
        if card is None:
            gone = box(x, 31, _CARD_WIDTH, _CARD_HEIGHT, "none", DIM, 1, 5, stroke_dasharray="4 4")
            parts.append(gone + text(x + _CARD_WIDTH / 2, 77, "empty", 12, DIM, "middle"))
        else:
            parts.append(group(x, 31, achievement(_CARD_WIDTH, _CARD_HEIGHT, card, board.cards[card])))
    parts.append(_ships(seen, sector, 30, 142))
    return "".join(parts)


def _harbour(board: ValparaisoBoard, seen: ValparaisoObservation) -> str:
    parts = (
        box(0, 0, _SECTOR_WIDTH, 44, DEEP, LINE, 1, 8),
        text(9, 27, Sector.H.name, 12, DIM, bold=True),
        name_text(24, 27, board.sector_names[Sector.H], 15, 88),
        _ships(seen, Sector.H, 136, 25),
    )
    return "".join(parts)


def _ships(seen: ValparaisoObservation, sector: Sector, x: float, y: float) -> str:
    there = [seat for seat, has in enumerate(seen.seats) if has.ship is sector]
    return "".join(ship(x + 38 * at, y, _owner(seen, seat)) for at, seat in enumerate(there))


# --- the land -------------------------------------------------------------------------------------


def _ways(side: Side, places: Places) -> str:
    """Rivers, and above them the roads."""
    parts = []
    for one, other in sorted({tuple(sorted(pair)) for river in side.rivers for pair in pairwise(river)}):
        (x, y), (to_x, to_y) = places[one], places[other]
        bend = f"Q{(x + to_x) / 2 + (to_y - y) * 0.32:g} {(y + to_y) / 2 - (to_x - x) * 0.32:g} {to_x:g} {to_y:g}"
        parts.append(path(f"M{x:g} {y:g}{bend}", stroke=RIVER, thick=9, stroke_linecap="round", opacity=0.8))
    for one, other in sorted({tuple(sorted(road)) for road in side.roads}):
        (x, y), (to_x, to_y) = places[one], places[other]
        parts.append(path(f"M{x:g} {y:g}L{to_x:g} {to_y:g}", stroke=ROAD, thick=5, stroke_dasharray="12 4"))
    return "".join(parts)


def _motion(seen: ValparaisoObservation, places: Places) -> str:
    """The way of the merchant in motion, with an arrow between its locations."""
    if seen.seat is None or len(seen.path) < 2:
        return ""
    rim, lines, arrows = _owner(seen, seen.seat).rim, [], []
    for start, end in pairwise(seen.path):
        (x, y), (to_x, to_y) = places[start], places[end]
        east, south = to_x - x, to_y - y
        lines.append(f"M{x:g} {y:g}L{to_x:g} {to_y:g}")
        # The arrow is in the middle of what the boxes leave to be seen of the line.
        left, right = (share_within(size_of(location), east, south) for location in (start, end))
        middle = (left + 1 - right) / 2
        arrows.append(arrow(x + east * middle, y + south * middle, east, south))
    way = "".join(lines)
    return path(way, stroke=DARK, thick=11) + path(way, stroke=rim, thick=5) + path("".join(arrows), rim, DARK, 1.5)


def _sign(side: Side, location: Location, width: float, river: tuple[float, float]) -> str:
    """The name of a location, and the mark of a river if it is at one."""
    left = 24 if location is Location.V else 33
    parts = [
        text(8, 19, location.name, 11, FADED, bold=True),
        name_text(left, 19, side.names[location], 14.5, width - left - 8),
    ]
    return "".join([*parts, waves(*river)] if location in side.river_locations else parts)


def _village(
    board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, village: Location, x: float, y: float
) -> str:
    """A village: its building spaces with their points, merchants and, at a market, the column of tiles, the bottom one in use."""
    width, height = size_of(village)
    lit = seen.village is village or seen.path[-1:] == (village,)
    rim = (LAMP, 2.0) if village in seen.villages and not lit else _rim_of(seen, lit)
    room, per_row = (88, 3) if is_market(village) else (width - 14, 5)
    parts = [
        box(0, 0, width, height, LAND, *rim, 8 if is_market(village) else 22),
        _sign(side, village, width - 20 * is_market(village), (width - 15, 14 if is_market(village) else 40)),
        _sites(side, seen, village, room if is_market(village) else room - 20),
        _merchants(seen, village, 7, 77, room / per_row, per_row),
    ]
    if is_market(village):
        tiles = [board.tiles[kind] for kind in seen.markets[village - Location.M1].tiles]
        parts.append(group(96, 27, column(89, tiles, lit=seen.village is village)))
    return group(x - width / 2, y - height / 2, "".join(parts))


def _sites(side: Side, seen: ValparaisoObservation, village: Location, room: float) -> str:
    """The building spaces of a village, with the points for building there, and the houses."""
    built = {house.space: house.seat for house in seen.houses if house.location is village}
    spaces = side.spaces[village]
    step = min(42, room / len(spaces))
    parts = []
    for space, vp in enumerate(spaces):
        x = 8 + step * (space + 0.5)
        owner = _owner(seen, built[space]) if space in built else None
        parts.append(house(x, 39, owner, min(1, step / 26)))
        parts.append(figure(x, 59, f"{short(vp)} VP", 9.5, BRASS if vp and owner is None else DIM, fit=step - 2))
    return "".join(parts)


def _merchants(
    seen: ValparaisoObservation,
    location: Location,
    x: float,
    y: float,
    step: float,
    per_row: int,
    *,
    beside: bool = False,
) -> str:
    """The merchants at a location: one of each seat that is there, and how many it has."""
    parts = []
    there = [seat for seat, has in enumerate(seen.seats) if has.merchants[location]]
    for at, seat in enumerate(there):
        waiting = seat == seen.seat and any(seen.unmoved) and seen.unmoved[location] > 0
        left, middle = x + step * (at % per_row + 0.5), y + 38 * (at // per_row)
        count = seen.seats[seat].merchants[location]
        parts.append(merchant(left - 8 * beside, middle, _owner(seen, seat), 0.95, waiting=waiting))
        if count > 1:
            parts.append(
                figure(left + (15 if beside else 0), middle + (5 if beside else 24), f"×{short(count)}", 12, fit=26)
            )
    return "".join(parts)


def _city(side: Side, seen: ValparaisoObservation, x: float, y: float) -> str:
    """Valparaíso: the building row from the lighthouse on, each space with its revenue and points, and the merchants."""
    width, height = size_of(Location.V)
    lit = seen.path[-1:] == (Location.V,)
    parts = [
        box(0, 0, width, height, LIT, *(_rim_of(seen, lit) if lit else (BRASS, 1.5))),
        _sign(side, Location.V, width - 50, (width - 42, 14)),
        lighthouse(width - 19, 15, 0.8),
    ]
    spaces = side.row[:_ROW_SHOWN]  # more than all seats have houses
    columns = max(5, -(-len(spaces) // 2))
    step = (width - 12) / columns
    for at, space in enumerate(spaces):
        free, owner = at == len(seen.row), _owner(seen, seen.row[at]) if at < len(seen.row) else None
        inside = [
            box(0, 0, 46, 39, DEEP, LAMP if free else owner.rim if owner else LINE, 2 if free or owner else 1, 5),
            in_a_row(symbols_of(space.revenue), 23, 11.5, 40),
            house(11.5, 28, owner, 0.75, bid=free),
            text(44, 33, f"{short(space.built)} VP", 9.5, BRASS if space.built else DIM, "end", bold=True, fit=22.5),
        ]
        where = (8 + step * (at % columns), 28 + 42 * (at // columns))
        parts.append(group(*where, "".join(inside), min(1, step / 50)))
    parts.append(_merchants(seen, Location.V, 6, 132, (width - 12) / 5, 5, beside=True))
    return group(x - width / 2, y - height / 2, "".join(parts))


# --- below the map --------------------------------------------------------------------------------


def _turn(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> str:
    """Who is to do what, the action in progress, and the order of the round."""
    seats, order = _to_act(seen), _order(seen)
    rim = _owner(seen, seats[0]).rim if len(seats) == 1 else BRASS
    parts = [box(0, 0, _TURN_WIDTH, _BELOW_HEIGHT, LAND, rim, 2)]
    parts += [ship(34 + 42 * at, 32, _owner(seen, seat), 1.15) for at, seat in enumerate(seats)]
    left = 20 + 42 * len(seats)
    who = f"{_owner(seen, seats[0]).name.capitalize()}, to act" if len(seats) == 1 else _who(seen)
    parts.append(text(left, 37, who, 18, BRASS, serif=True, bold=True, fit=_TURN_WIDTH - left - 14))
    parts.append(text(16, 70, DOING[seen.phase], 16, bold=True, fit=_TURN_WIDTH - 32))
    lines = [line for note in _notes(board, side, seen) for line in textwrap.wrap(note, 64)]
    step = min(19, 126 / max(len(lines), 1))
    for row, line in enumerate(lines):
        parts.append(text(16, 94 + step * row, line, min(13.5, step), FADED, fit=_TURN_WIDTH - 32))
    parts.append(text(16, _BELOW_HEIGHT - 18, "order of the round", 12.5, DIM))
    for at, seat in enumerate(order):
        parts.append(ship(166 + 44 * at, _BELOW_HEIGHT - 24, _owner(seen, seat), 0.9, 1 if seat in seats else 0.55))
    return "".join(parts)


def _standing(board: ValparaisoBoard, seen: ValparaisoObservation) -> str:
    """The final standing, in place of a turn."""
    places, columns = [has.rank for has in seen.seats], (316, 356, 396, 438)
    parts = [
        box(0, 0, _TURN_WIDTH, _BELOW_HEIGHT, LAND, BRASS, 2),
        text(16, 32, "Final standing", 19, BRASS, serif=True, bold=True),
        text(16, _BELOW_HEIGHT - 14, "ties: pesos that are left, then who went last", 12, DIM),
    ]
    for x, words in zip(columns, ("track", "cards", "pesos", "left"), strict=True):
        parts.append(text(x, 42, words, 11.5, FADED, "middle"))
    for row, seat in enumerate(sorted(range(len(places)), key=places.__getitem__)):
        has, y, colour = seen.seats[seat], 66 + 36 * row, BRASS if places[seat] == 1 else INK
        cards = sum(board.cards[card].vp for card in has.achievements)
        parts.append(text(16, y + 6, ordinal(places[seat]), 16, colour, bold=True))
        parts.append(crown(66, y) if places[seat] == 1 else "")
        parts.append(ship(106, y, _owner(seen, seat)))
        parts.append(text(130, y + 6, _owner(seen, seat).name, 13.5, fit=96))
        parts.append(text(292, y + 6, f"{short(has.final_vp)} VP", 17, colour, "end", bold=True, fit=66))
        for x, count in zip(columns, (has.vp, cards, has.final_vp - has.vp - cards, has.rest_money), strict=True):
            parts.append(text(x, y + 6, short(count), 14, FADED, "middle", fit=36))
    return "".join(parts)


def _stock(board: ValparaisoBoard, seen: ValparaisoObservation) -> str:
    """The reserve of market tiles, the next one first; and what pieces and marks mean."""
    count = len(seen.reserve)
    per_row = max(5, -(-count // 2)) if count <= 10 else -(-count // 3)
    step = (_STOCK_WIDTH - 24) / per_row
    parts = [
        box(0, 0, _STOCK_WIDTH, _BELOW_HEIGHT),
        text(14, 26, "Reserve of tiles", 16, BRASS, serif=True, bold=True),
        text(_STOCK_WIDTH - 14, 25, "from the bottom, which is next, to the top", 12, FADED, "end"),
    ]
    for at, kind in enumerate(seen.reserve):
        where = (14 + step * (at % per_row), 40 + 27 * (at // per_row))
        parts.append(tile(*where, step - 5, board.tiles[kind], lit=False))
        if not at:
            parts.append(box(where[0] - 2, where[1] - 2, step - 1, 25, "none", LAMP, 1.5, 5))
    parts.append(path(f"M14 {_LEGEND - 24}h{_STOCK_WIDTH - 28}", stroke=LINE))
    parts.append(group(34, _LEGEND, legend(_owner(seen, seen.start_seat))))
    return "".join(parts)


# --- the seats ------------------------------------------------------------------------------------


def _panel(board: ValparaisoBoard, seen: ValparaisoObservation, seat: Seat, height: float) -> str:
    """All that a seat has; where there are few seats, with more room between, and more said of its cards."""
    has, width, over, owner = seen.seats[seat], _PANELS_WIDTH, seen.phase is Phase.OVER, _owner(seen, seat)
    active, winner = seat in _to_act(seen), over and has.rank == 1
    remarks = ["start player"] * (seat == seen.start_seat) + ["finished first"] * (seat == seen.first_finisher)
    remarks += ["to act"] * active + [ordinal(has.rank)] * over
    roomy = height > 250
    gap = min(32, max(0, height - 202 - 52 * roomy) / 6)
    parts = [
        box(0, 0, width, height, LIT if active or winner else LAND, owner.rim if active else BRASS if winner else LINE),
        box(12, 0, width - 24, 5, owner.fill, owner.rim, 0.8, 2),
        ship(34, 32, owner, 1.15),
        text(62, 28, f"Seat {seat}{' (you)' if seat == seen.viewer else ''}", 17, bold=True, serif=True),
        text(
            62,
            44,
            " · ".join([owner.colour.name.lower(), *remarks]),
            12.5,
            BRASS if active or winner else FADED,
            fit=220,
        ),
        text(width - 82, 31, short(has.vp), 25, BRASS, "end", bold=True, fit=54),
        text(width - 82, 44, "VP on track", 10.5, FADED, "end", fit=66),
        text(width - 14, 31, short(has.final_vp), 20, INK, "end", bold=True, fit=48),
        text(width - 14, 44, "in the end" if over else "if it ended", 10.5, FADED, "end", fit=58),
    ]
    if active or winner:
        parts[0] = box(0, 0, width, height, LIT, owner.rim if active else BRASS, 2.5)
    y = 64 + gap
    parts.append(group(0, y, holdings(has, owner, board.hold)))
    y += 28 + gap
    if seat == seen.viewer and seen.plan is not None:
        left = f"warehouse {goods_in_letters(seen.plan.warehouse)} · hold {goods_in_letters(seen.plan.hold)}"
        parts.append(text(14, y + 7, f"plan leaves {short(seen.plan.money)}p · {left}", 11.5, INK, fit=width - 28))
        y += 14
    slot_height = min(74.0, 46 + gap)
    parts.append(group(14, y, _plan(board, seen, seat, width - 28, slot_height)))
    y += slot_height + 6 + gap / 2
    if roomy:
        cards, mayor = _known_plan(seen, seat)
        planned = cards if mayor is None else (*cards, mayor)
        parts.append(group(14, y, action_cards(planned, board.cards, has.colour, width - 28, 20 + gap / 3)))
        y += 2 * (20 + gap / 3) + 12 + gap / 2
    parts.append(group(14, y, owned_cards(has.achievements, board.cards, has.colour, width - 28, height - y - 8)))
    return "".join(parts)


def _known_plan(seen: ValparaisoObservation, seat: Seat) -> tuple[tuple[Card, ...], Card | None]:
    """The cards in the slots of a seat and in its mayor's slot, as far as the observer may know them."""
    if seat == seen.viewer and seen.plan is not None:
        return seen.plan.cards, seen.plan.mayor
    return seen.seats[seat].plan, seen.seats[seat].mayor


def _plan(board: ValparaisoBoard, seen: ValparaisoObservation, seat: Seat, width: float, height: float) -> str:
    """The plan of a seat, as far as the observer may know it."""
    has, hidden = seen.seats[seat], is_secret(seen.phase)
    if seen.phase < Phase.PLAN or (hidden and seat != seen.viewer):
        done = has.committed and hidden
        words = "no plan yet" if seen.phase < Phase.PLAN else "finished" if done else "planning"
        frame = box(0, 0, width, height, DEEP, DIM if done else LINE, 1, 6, stroke_dasharray="none" if done else "5 5")
        return frame + text(width / 2, height / 2 + 5, words, 14, INK if done else FADED, "middle")
    cards, mayor = _known_plan(seen, seat)
    shut = has.houses_left > board.houses - board.slot_houses
    slots = []
    for at, price in enumerate(board.surcharges):
        card = cards[at] if at < len(cards) else None
        kind = None if card is None else board.cards[card]
        slots.append(
            Slot(f"#{at + 1}", price, card, kind, has.colour, hidden, shut and at + 1 == len(board.surcharges))
        )
    slots.append(Slot("mayor", 0, mayor, None if mayor is None else board.cards[mayor], has.colour, hidden))
    step = (width + 5) / len(slots)
    return "".join(group(step * at, 0, plan_slot(step - 5, height, slot)) for at, slot in enumerate(slots))
