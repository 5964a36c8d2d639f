"""A picture of an observation, for spectators (RULES.md, section 2).

From top to bottom: the turn track; the chart with Macao among the ports, and beside it whose turn it is and the cards
on offer; the contents of bank and bag, with the legend of the goods; a panel for each seat. Every place
has room for the most that can lie there: many tokens are drawn as counts.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from referee.game import Seat
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.drawing_style import cargo, coins, counted, ship, token
from referee.games.cargo_noir.names import SMUGGLER_CARDS, Card, Kind, Phase, Port, Purpose
from referee.games.cargo_noir.observation import CargoNoirObservation, PortView
from referee.kit.svg import (
    ALARM,
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
    PARCHMENT,
    SANS,
    SEA,
    SEAT_COLOURS,
    STEEL,
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

_WIDTH, _MARGIN, _TOP = 1200, 16, 64
_CHART_WIDTH, _CHART_HEIGHT = 784, 560
_SIDE, _SIDE_WIDTH = 812, 372
_TURN_HEIGHT, _OFFER_TOP = 250, 322
_STOCK_TOP, _PANELS_TOP = 634, 690
_PORT_WIDTH, _PORT_HEIGHT = 212, 142
_MACAO_WIDTH, _MACAO_HEIGHT = 248, 196
_COLUMNS, _ROWS = (136, 408, 680), (145, 344, 543)
_BERTHS = ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1))  # around Macao, clockwise


def draw(board: CargoNoirBoard, seen: CargoNoirObservation) -> str:
    """Return an SVG document that shows all of an observation; equal observations give equal documents."""
    seats = range(len(seen.seats))
    panel_width = (_WIDTH - 2 * _MARGIN + 8) / len(seats) - 8
    # Wide panels have more columns of goods and cards, and so fewer rows.
    goods_columns, card_columns = 10 if len(seats) == 2 else 5, int((panel_width - 24) // 98)
    panel_height = 130 - 27 * (-len(Kind) // goods_columns) - 17 * (-len(Card) // card_columns)
    height = _PANELS_TOP + panel_height + _MARGIN
    parts = [
        element("title", f"Cargo Noir, turn {seen.turn} of {seen.last_turn}"),
        element("desc", escape(_described(board, seen))),
        element("rect", width=_WIDTH, height=height, fill=NIGHT),
        _header(seen),
        _chart(board, seen),
        _standing(board, seen) if seen.phase is Phase.OVER else _turn(board, seen),
        _offer(board, seen),
        _stock(seen),
    ]
    for seat in seats:
        panel = _panel(board, seen, seat, panel_width, panel_height, goods_columns, card_columns)
        parts.append(group(_MARGIN + (panel_width + 8) * seat, _PANELS_TOP, panel))
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


def _described(board: CargoNoirBoard, seen: CargoNoirObservation) -> str:
    """Describe the picture in words, for screen readers."""
    said = [] if seen.phase is Phase.OVER else [f"It is the turn of seat {seen.seat}"]
    said += [_doing(board, seen), *_notes(board, seen)]
    for seat, has in enumerate(seen.seats):
        said.append(
            f"Seat {seat}, {printable(board.families[seat])}: {has.score} points, {has.safe} coins, "
            f"{sum(has.goods)} goods with storage for {has.storage}, {sum(has.cards)} cards, "
            f"{has.casino} ships at the Casino, {has.black_market} at the Black Market, "
            f"{has.ships_home} at home"
        )
    for view in seen.ports:
        stacks = [f"{height} coins of seat {seat}" for seat, height in enumerate(view.stacks) if height]
        said.append(f"{_titled(view.port)}: {sum(view.goods)} goods, {', '.join(stacks) or 'no ships'}")
    return ". ".join(said) + "."


def _doing(board: CargoNoirBoard, seen: CargoNoirObservation) -> str:
    """Describe what the seat to act has to do."""
    has, pending = seen.seats[seen.seat], seen.pending_stake
    if seen.phase is Phase.OVER:
        winners = [str(seat) for seat, has in enumerate(seen.seats) if has.rank == 1]
        return f"The game is over and won by seat {' and seat '.join(winners)}"
    if pending is not None:
        height = f"{pending.min} to {pending.max} coins" if pending.min < pending.max else f"{pending.min} coins"
        if pending.purpose is Purpose.RAISE:
            return f"Raising its stack in {_titled(pending.port)} to a height of {height}"
        return f"Sending a ship to {_titled(pending.port)} on a stack of {height}"
    if seen.phase is Phase.P1:
        todo = {"at the Casino": seen.todo_casino, "at the Black Market": seen.todo_market}
        todo["in ports"] = len(seen.todo_ports)
        return f"Resolving its ships: {', '.join(f'{count} {place}' for place, count in todo.items() if count)}"
    if seen.phase is Phase.P2_DIFF:
        return f"Collecting different goods: worth {board.different[len(seen.diff_kinds)]}"
    if seen.phase is Phase.P2_DISCARD:
        return f"Discarding what it cannot store: {sum(has.goods) - has.storage} more"
    if seen.phase is Phase.P3:
        return f"Sending its ships: {has.ships_home} still at home"
    return "Handing in goods and buying cards"


def _notes(board: CargoNoirBoard, seen: CargoNoirObservation) -> list[str]:
    """Return what else is special about this turn."""
    notes = []
    if seen.banned_ports:
        notes.append(f"Barred: {', '.join(map(_titled, seen.banned_ports))}")
    if seen.syndicate_used:
        notes.append(f"Syndicate has paid for {seen.syndicate_used} of its withdrawals")
    if seen.turn == seen.last_turn and seen.phase is not Phase.OVER:
        notes.append("Final turn: coins of the safe buy cards too")
    return notes


def _titled(name: Port | Card) -> str:
    return name.name.replace("_", " ").title()


def _ordinal(place: int) -> str:
    return f"{place}{({1: 'st', 2: 'nd', 3: 'rd'}).get(place, 'th')}"


def _best_card(board: CargoNoirBoard, seen: CargoNoirObservation, seat: Seat) -> int:
    return max(vp if count else 0 for count, vp in zip(seen.seats[seat].cards, board.vp, strict=True))


# --- the head and the chart -----------------------------------------------------------------------


def _header(seen: CargoNoirObservation) -> str:
    """Draw the turn track, and who goes first in every turn."""
    over = seen.phase is Phase.OVER
    reached, step = seen.last_turn + 1 if over else seen.turn, min(34, 600 / seen.last_turn)
    parts = [
        text(_MARGIN, 42, "CARGO NOIR", 27, BRASS, serif=True, bold=True),
        text(252, 40, "Game over" if over else f"Turn {seen.turn} of {seen.last_turn}", 16, bold=True, fit=118),
        path(f"M390 35h{round(step * (seen.last_turn - 1), 2):g}", stroke=LINE, thick=2),
        text(1138, 40, "first player", 12, FADED, "end"),
        ship(1164, 36, seen.first_seat),
    ]
    for turn in range(1, seen.last_turn + 1):
        x, now, past = 390 + step * (turn - 1), turn == reached, turn < reached
        rim = ALARM if turn == seen.last_turn else BRASS if now or past else DIM
        parts.append(box(x - 11, 24, 22, 22, BRASS if now else "#5b4a26" if past else NIGHT, rim, 1.5, 11))
        parts.append(figure(x, 39.5, turn, 12, DARK if now else INK))
        if now:
            parts.append(element("circle", cx=x, cy=35, r=14.5, fill="none", stroke=BRASS, stroke_width=1.5))
    return "".join(parts)


def _chart(board: CargoNoirBoard, seen: CargoNoirObservation) -> str:
    places = _port_places(board)
    views = {view.port: view for view in seen.ports}
    parts = [
        _port(board, seen, views[port], *places[port]) if port in views else _closed_port(port, *places[port])
        for port in Port
    ]
    return "".join([_sea(), *parts, _macao(board, seen)])


def _port_places(board: CargoNoirBoard) -> dict[Port, tuple[float, float]]:
    """Put every port on the free berth that is nearest to its place on the board.

    The places themselves would not do: a corrected board may have all ports on one spot.
    """
    ways = sorted(
        ((x - 50 * column) ** 2 + (y - 50 * row) ** 2, port, column, row)
        for port, (x, y) in zip(Port, board.port_places, strict=True)
        for column, row in _BERTHS
    )
    places: dict[Port, tuple[float, float]] = {}
    for _, port, column, row in ways:
        place = (_COLUMNS[column], _ROWS[row])
        if port not in places and place not in places.values():
            places[port] = place
    return places


def _sea() -> str:
    """Draw the water, the light of Macao on it, and the lanes."""
    middle, left, right = f"M{_COLUMNS[1]} {_ROWS[1]}", _MARGIN, _MARGIN + _CHART_WIDTH
    berths = [f"L{_COLUMNS[column]} {_ROWS[row]}" for column, row in _BERTHS]
    lanes = "".join(middle + berth for berth in berths) + "M" + "".join(berths)[1:] + "z"
    crests = ((254, 100), (530, 160), (250, 270), (534, 440), (256, 500), (532, 590))
    parts = [box(left, _TOP, _CHART_WIDTH, _CHART_HEIGHT, DEEP)]
    for radius in (276, 220, 165):
        parts.append(element("circle", cx=_COLUMNS[1], cy=_ROWS[1], r=radius, fill=SEA, opacity=0.55))
    parts.append(path(f"{middle}L{left} 190V286z{middle}L{right} 400V500z", LAMP, opacity=0.07))
    parts.append(path(lanes, stroke=BRASS, thick=1.5, stroke_dasharray="2 7", opacity=0.5))
    parts.append(path("".join(f"M{x} {y}q5-5 10 0t10 0t10 0" for x, y in crests), stroke="#3d5c6b", thick=1.5))
    return "".join(parts)


def _port(board: CargoNoirBoard, seen: CargoNoirObservation, view: PortView, x: float, y: float) -> str:
    """Draw an open port: its goods, and on the quay the stack of each seat, always at the same place."""
    width, height, pending = _PORT_WIDTH, _PORT_HEIGHT, seen.pending_stake
    chosen = pending is not None and pending.port is view.port
    banned = view.port in seen.banned_ports
    rim = BRASS if chosen else ALARM if banned else LINE
    parts = [
        box(0, 0, width, height, LAND, rim, 3 if chosen else 1.5),
        text(10, 20, _titled(view.port), 15, serif=True, bold=True),
        path(f"M8 {height - 20}h{width - 16}", stroke="#4b3b26", thick=3),
        cargo(view.goods, board.spaces[view.port], 9, 46, 33, 6),
    ]
    if pending is not None and chosen:
        highest = f"–{short(pending.max)}" if pending.max > pending.min else ""
        parts.append(box(116, 6, 88, 19, BRASS, "none"))
        parts.append(figure(160, 20, f"stake {short(pending.min)}{highest}", 12, DARK, fit=80))
        if pending.purpose is Purpose.SEND:
            parts.append(ship(26 + 40 * seen.seat, height - 33, seen.seat, opacity=0.5))
    elif banned:
        parts.append(group(150, 15, path("M-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0M-4 0h8", "none", ALARM, 2.5)))
        parts.append(text(204, 19, "barred", 12, ALARM, "end"))
    for seat, stack in enumerate(view.stacks):
        if stack:
            middle, colour = 26 + 40 * seat, BRASS if stack == max(view.stacks) else FADED
            waiting = seat == seen.seat and view.port in seen.todo_ports
            parts.append(coins(middle, height - 21, stack))
            parts.append(ship(middle, height - 35 - 3 * min(stack, 7), seat, waiting=waiting))
            parts.append(figure(middle, height - 6, short(stack), 13, colour, fit=36))
    return group(x - width / 2, y - height / 2, "".join(parts))


def _closed_port(port: Port, x: float, y: float) -> str:
    parts = (
        box(-78, -32, 156, 64, DEEP, "none"),
        path("M-78-32h156v64h-156z", "none", DIM, stroke_dasharray="5 5"),
        text(0, -3, _titled(port), 15, DIM, "middle", serif=True),
        text(0, 15, "closed", 12, DIM, "middle"),
    )
    return group(x, y, "".join(parts))


def _macao(board: CargoNoirBoard, seen: CargoNoirObservation) -> str:
    """Draw Macao: the Black Market above, the Casino below, and the town behind."""
    width, height = _MACAO_WIDTH, _MACAO_HEIGHT
    town = (
        "M14 2v-12h14v-9h12v5h10v16zM70 2v-16h9v-8h5v8h9v16zM116 2v-9h16v-12l6-7 6 7v12h14v9z"
        "M182 2v-14h18v6h12v-12h10v20z"
    )
    windows = "M19-6h3M33-13h3M44-8h3M74-9h3M85-9h3M122-3h3M137-12h3M137-6h3M187-7h3M194-7h3M205-1h3M215-8h3"
    parts = (
        path(town, "#31454f"),
        path(windows, stroke=LAMP, thick=3),
        box(0, 0, width, height, LIT, BRASS, 2),
        text(width / 2, 22, "Macao", 18, BRASS, "middle", serif=True, bold=True),
        text(10, 38, "Black Market", 12, FADED),
        cargo(seen.market, board.black_market_spaces, 10, 58, 29, 8),
        _fleet(seen, [has.black_market for has in seen.seats], seen.todo_market > 0, 95),
        path(f"M10 124h{width - 20}", stroke=LINE, thick=1.5),
        text(10, 142, "Casino", 12, FADED),
        text(width - 10, 142, f"+{board.casino_income} coins a ship", 12, FADED, "end"),
        _fleet(seen, [has.casino for has in seen.seats], seen.todo_casino > 0, 164),
    )
    return group(_COLUMNS[1] - width / 2, _ROWS[1] - height / 2, "".join(parts))


def _fleet(seen: CargoNoirObservation, ships: Sequence[int], waiting: bool, y: float) -> str:
    """Draw the ships at one place of Macao: one for each seat that is there, and their number."""
    parts = []
    for seat, count in enumerate(ships):
        if count:
            parts.append(ship(28 + 48 * seat, y, seat, 0.92, waiting=waiting and seat == seen.seat))
        if count > 1:
            parts.append(figure(28 + 48 * seat, y + 23, f"×{short(count)}", 12, fit=40))
    return "".join(parts)


# --- beside the chart -----------------------------------------------------------------------------


def _turn(board: CargoNoirBoard, seen: CargoNoirObservation) -> str:
    """Draw whose turn it is, and what that seat is doing."""
    seat, pending, has = seen.seat, seen.pending_stake, seen.seats[seen.seat]
    sending = seen.phase is Phase.P3 or (pending is not None and pending.purpose is Purpose.SEND)
    now = 2 if sending else 1 if seen.phase in (Phase.P2, Phase.P2_DIFF, Phase.P2_DISCARD) else 0
    parts = [
        box(0, 0, _SIDE_WIDTH, _TURN_HEIGHT, LAND, SEAT_COLOURS[seat], 2),
        ship(286, 192, seat, 4, opacity=0.07),
        ship(40, 36, seat, 1.45),
        name_text(76, 34, board.families[seat], 20, 284),
        text(76, 53, f"seat {seat} is to act", 12.5, FADED),
    ]
    for step, words in enumerate(("1 Ships", "2 Smuggling", "3 Sending")):
        fill, rim, ink = (BRASS, BRASS, DARK) if step == now else (DEEP, LINE, DIM)
        parts.append(box(12 + 118 * step, 68, 112, 26, fill, rim, 1, 13))
        parts.append(figure(68 + 118 * step, 86, words, 13, ink))
    y = 118
    for line in textwrap.wrap(_doing(board, seen), 40):
        parts.append(text(14, y, line, 14, bold=True, fit=_SIDE_WIDTH - 28))
        y += 18
    if now == 1:
        parts.append(text(14, y + 10, f"Credit {short(seen.credit)}", 20, BRASS, bold=True, fit=114))
        parts += [token(148 + 25 * place, y + 3, kind, 23) for place, kind in enumerate(seen.diff_kinds)]
    elif pending is None:
        count = has.ships_home if sending else seen.todo_casino + seen.todo_market + len(seen.todo_ports)
        parts += [ship(32 + 44 * place, y + 6, seat) for place in range(min(count, 7))]
        if count > 7:
            parts.append(text(326, y + 11, f"+{short(count - 7)}", 14, bold=True, fit=36))
    y += 36 if pending is None else 4
    for line in (line for note in _notes(board, seen) for line in textwrap.wrap(note, 52)):
        parts.append(text(14, y, line, 12.5, FADED, fit=_SIDE_WIDTH - 28))
        y += 16
    return group(_SIDE, _TOP, "".join(parts))


def _standing(board: CargoNoirBoard, seen: CargoNoirObservation) -> str:
    """Draw the final standing, in place of a turn."""
    places = [has.rank for has in seen.seats]
    parts = [
        box(0, 0, _SIDE_WIDTH, _TURN_HEIGHT, LAND, BRASS, 2),
        text(14, 32, "Final standing", 19, BRASS, serif=True, bold=True),
        text(358, 30, "ties: best single card", 12, FADED, "end"),
    ]
    for line, seat in enumerate(sorted(range(len(places)), key=places.__getitem__)):
        y, colour, best = 66 + 38 * line, BRASS if places[seat] == 1 else INK, _best_card(board, seen, seat)
        parts.append(text(14, y + 5, _ordinal(places[seat]), 15, colour, bold=True))
        parts.append(crown(63, y) if places[seat] == 1 else "")
        parts.append(ship(102, y, seat))
        parts.append(name_text(130, y + 5, board.families[seat], 15, 118))
        parts.append(text(304, y + 6, seen.seats[seat].score, 19, colour, "end", bold=True, fit=52))
        parts.append(text(358, y + 5, f"best {short(best)}", 11, FADED, "end", fit=50))
    return group(_SIDE, _TOP, "".join(parts))


def _offer(board: CargoNoirBoard, seen: CargoNoirObservation) -> str:
    """Draw the victory cards that can be bought."""
    powers = {
        Card.CARGO_SHIP: "+1 ship",
        Card.WAREHOUSE: f"+{board.warehouse_storage} storage",
        Card.SYNDICATE: f"+{board.syndicate_income} coins",
    }
    parts = [
        box(0, 0, _SIDE_WIDTH, _TOP + _CHART_HEIGHT - _OFFER_TOP),
        text(14, 23, "Victory cards", 15, BRASS, serif=True, bold=True),
        text(271, 23, "cost", 12, FADED, "end"),
        text(360, 23, "left", 12, FADED, "end"),
    ]
    for card in Card:
        left, colour = seen.supply[card], _card_colour(board, card)
        row = [
            box(12, -14, 34, 18, colour, "none", 0, 4),
            figure(29, 0, board.vp[card], 13, DARK, fit=30),
            text(54, 0, _titled(card), 13.5, fit=104),
            text(162, 0, powers.get(card, ""), 11, FADED, fit=76),
            text(271, 0, board.cost[card], 14, INK, "end", bold=True, fit=30),
            text(360, 0, left or "sold out", 13, INK, "end", bold=left > 0, fit=24 if left else 56),
            *(box(330 - 7 * copy, -9, 5, 9, colour, "none", 0, 1) for copy in range(min(left, 8))),
        ]
        parts.append(group(0, 46 + 20.6 * card, "".join(row), opacity=1 if left else 0.4))
    return group(_SIDE, _OFFER_TOP, "".join(parts))


def _card_colour(board: CargoNoirBoard, card: Card) -> str:
    """Return the colour that tells Smuggler cards, common cards and unique cards apart."""
    return STEEL if card in SMUGGLER_CARDS else BRASS if board.copies[card] == 1 else PARCHMENT


# --- below the chart ------------------------------------------------------------------------------


def _stock(seen: CargoNoirObservation) -> str:
    """Draw bank, bag and discard pile; the contents of the bag are also the legend of the goods."""
    parts = [box(0, 0, _WIDTH - 2 * _MARGIN, 46)]
    stock = (("bank", seen.bank), ("bag", sum(seen.bag)), ("discard", sum(seen.discard)))
    for place, (words, count) in enumerate(stock):
        parts.append(text(50 + 88 * place, 29, short(count), 17, BRASS, "end", bold=True, fit=40))
        parts.append(text(55 + 88 * place, 29, words, 12, FADED))
    for kind in Kind:
        left = 304 + 87.5 * kind
        parts.append(token(left, 23, kind, 25))
        parts.append(text(left + 17, 20, kind.name.title(), 12, fit=57))
        parts.append(text(left + 17, 35, f"{short(seen.bag[kind])} in bag", 11, FADED, fit=57))
    return group(_MARGIN, _STOCK_TOP, "".join(parts))


def _panel(
    board: CargoNoirBoard,
    seen: CargoNoirObservation,
    seat: Seat,
    width: float,
    height: float,
    goods_columns: int,
    card_columns: int,
) -> str:
    """Draw all that a seat has. Every kind and card has its place; those that the seat lacks are shadows."""
    has, room = seen.seats[seat], width - 24
    over = seen.phase is Phase.OVER
    active, winner = seat == seen.seat and not over, over and has.rank == 1
    remarks = ["your seat" if seat == seen.viewer else f"seat {seat}"]
    remarks += ["to act"] * active + [_ordinal(has.rank)] * over
    parts = [
        box(0, 0, width, height),
        box(10, 0, width - 20, 5, SEAT_COLOURS[seat], "none", 0, 2),
        ship(32, 29, seat, 1.1),
        name_text(58, 28, board.families[seat], 15, width - 118),
        text(
            58,
            45,
            " · ".join(remarks),
            12,
            BRASS if active or winner else FADED,
            fit=width - 114,
        ),
        text(width - 12, 33, has.score, 25, BRASS, "end", bold=True, fit=46),
        text(width - 12, 47, "points", 11, FADED, "end"),
    ]
    if active or winner:
        parts[0] = box(0, 0, width, height, LIT, SEAT_COLOURS[seat] if active else BRASS, 2.5)
    in_ports = sum(1 for view in seen.ports if view.stacks[seat])
    numbers = (has.safe, has.ships_home, has.casino, has.black_market, in_ports)
    for cell, (words, count) in enumerate(zip(("coins", "home", "casino", "market", "ports"), numbers, strict=True)):
        middle = 12 + room * (cell + 0.5) / len(numbers)
        parts.append(figure(middle, 72, short(count), 16, INK if cell else BRASS, fit=room / 5 - 4))
        parts.append(text(middle, 86, words, 10.5, FADED, "middle"))
    parts.append(_storage(sum(has.goods), has.storage, room))
    parts.append(counted(has.goods, tuple(Kind), 12, 122, goods_columns, room / goods_columns, 27))
    top = 124 - 27 * (-len(Kind) // goods_columns)
    for card in Card:
        owned = short(has.cards[card]) if has.cards[card] else ""
        row = (
            box(0, -10, 18, 14, _card_colour(board, card), "none", 0, 3),
            figure(9, 1, owned, 11, DARK, fit=16),
            text(21, 1, _titled(card), 11.5, fit=room / card_columns - 23),
        )
        x, y = 12 + room / card_columns * (card % card_columns), top + 17 * (card // card_columns)
        parts.append(group(x, y, "".join(row), opacity=1 if owned else 0.2))
    return "".join(parts)


def _storage(goods: int, storage: int, room: float) -> str:
    """Draw a bar of the goods that fit into the storage, followed in the colour of alarm by those that do not."""
    scale = (room - 88) / max(goods, storage, 1)
    stored, spare = min(goods, storage), max(0, goods - storage)
    parts = (
        text(12, 105, f"goods {short(goods)}/{short(storage)}", 12, ALARM if spare else INK, fit=84),
        box(100, 97, room - 88, 8, DEEP, LINE, 1, 4),
        box(100, 97, stored * scale, 8, BRASS, "none", 0, 4),
        box(100 + stored * scale, 97, spare * scale, 8, ALARM, "none", 0, 4),
    )
    return "".join(parts)
