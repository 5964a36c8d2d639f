"""The chart in a picture of Cargo Noir: Macao among the ports, with the latest changes marked."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.breakdown import titled
from referee.games.cargo_noir.drawing_style import cargo, coins, ship
from referee.games.cargo_noir.names import Destination, Port, Purpose
from referee.games.cargo_noir.observation import CargoNoirObservation, PortView
from referee.games.cargo_noir.spots import spot_of
from referee.kit.scene import brackets, halo, nearest_berths
from referee.kit.svg import (
    ALARM,
    BRASS,
    DARK,
    DEEP,
    DIM,
    FADED,
    LAMP,
    LAND,
    LINE,
    LIT,
    SEA,
    SMALLEST,
    box,
    element,
    figure,
    group,
    path,
    short,
    text,
)

LEFT, TOP, WIDTH, HEIGHT = 16, 64, 784, 560
_PORT_WIDTH, _PORT_HEIGHT = 212, 142
_MACAO_WIDTH, _MACAO_HEIGHT = 248, 196
_COLUMNS, _ROWS = (136, 408, 680), (145, 344, 543)
_BERTHS = ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1))  # around Macao, clockwise


def chart(board: CargoNoirBoard, seen: CargoNoirObservation, was: CargoNoirObservation) -> str:
    """Draw the chart; `was` is the observation before the last action."""
    places = _port_places(board)
    views = {view.port: view for view in seen.ports}
    olds = {view.port: view for view in was.ports}
    parts = [
        _port(board, seen, views[port], olds.get(port, views[port]), *places[port])
        if port in views
        else _closed_port(port, *places[port])
        for port in Port
    ]
    return "".join([_sea(), *parts, _macao(board, seen, was)])


def _port_places(board: CargoNoirBoard) -> dict[Port, tuple[float, float]]:
    found = nearest_berths(board.port_places, [(50 * column, 50 * row) for column, row in _BERTHS])
    return {port: (_COLUMNS[int(x) // 50], _ROWS[int(y) // 50]) for port, (x, y) in zip(Port, found, strict=True)}


def _sea() -> str:
    """Draw the water, the light that Macao casts on it, and the shipping lanes."""
    middle, left, right = f"M{_COLUMNS[1]} {_ROWS[1]}", LEFT, LEFT + WIDTH
    berths = [f"L{_COLUMNS[column]} {_ROWS[row]}" for column, row in _BERTHS]
    lanes = "".join(middle + berth for berth in berths) + "M" + "".join(berths)[1:] + "z"
    crests = ((254, 100), (530, 160), (250, 270), (534, 440), (256, 500), (532, 590))
    parts = [box(left, TOP, WIDTH, HEIGHT, DEEP)]
    for radius in (276, 220, 165):
        parts.append(element("circle", cx=_COLUMNS[1], cy=_ROWS[1], r=radius, fill=SEA, opacity=0.55))
    parts.append(path(f"{middle}L{left} 190V286z{middle}L{right} 400V500z", LAMP, opacity=0.07))
    parts.append(path(lanes, stroke=BRASS, thick=1.5, stroke_dasharray="2 7", opacity=0.5))
    parts.append(path("".join(f"M{x} {y}q5-5 10 0t10 0t10 0" for x, y in crests), stroke="#3d5c6b", thick=1.5))
    return "".join(parts)


def _port(board: CargoNoirBoard, seen: CargoNoirObservation, view: PortView, was: PortView, x: float, y: float) -> str:
    """Draw an open port: its goods, and each seat's stack on the quay, always in the same position."""
    width, height, pending = _PORT_WIDTH, _PORT_HEIGHT, seen.pending_stake
    chosen = pending is not None and pending.port is view.port
    banned = view.port in seen.banned_ports
    rim = BRASS if chosen else ALARM if banned else LINE
    parts = [
        box(0, 0, width, height, LAND, rim, 3 if chosen else 1.5, data_spot=spot_of("port", view.port)),
        text(10, 20, titled(view.port), 15, serif=True, bold=True),
        path(f"M8 {height - 20}h{width - 16}", stroke="#4b3b26", thick=3),
        cargo(view.goods, board.spaces[view.port], 9, 46, 33, 6),
    ]
    if pending is not None and chosen:
        highest = f"–{short(pending.max)}" if pending.max > pending.min else ""
        parts.append(box(116, 6, 88, 19, BRASS, "none"))
        parts.append(figure(160, 20.5, f"stake {short(pending.min)}{highest}", SMALLEST, DARK, fit=80))
        if pending.purpose is Purpose.SEND:
            parts.append(ship(26 + 40 * seen.seat, height - 33, seen.seat, opacity=0.5))
    elif banned:
        parts.append(group(146, 15, path("M-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0M-4 0h8", "none", ALARM, 2.5)))
        parts.append(text(204, 20, "barred", SMALLEST, ALARM, "end"))
    for seat, stack in enumerate(view.stacks):
        if stack:
            middle, colour = 26 + 40 * seat, BRASS if stack == max(view.stacks) else FADED
            waiting = seat == seen.seat and view.port in seen.todo_ports
            parts.append(coins(middle, height - 21, stack))
            parts.append(ship(middle, height - 35 - 3 * min(stack, 7), seat, waiting=waiting))
            parts.append(figure(middle, height - 5, short(stack), 14, colour, fit=36))
            if stack != was.stacks[seat]:
                parts.append(halo(middle, height - 36 - 3 * min(stack, 7), 17))
    if view != was:
        parts.append(brackets(-5, -5, width + 10, height + 10))
    return group(x - width / 2, y - height / 2, "".join(parts))


def _closed_port(port: Port, x: float, y: float) -> str:
    parts = (
        box(-78, -32, 156, 64, DEEP, "none"),
        path("M-78-32h156v64h-156z", "none", DIM, stroke_dasharray="5 5"),
        text(0, -3, titled(port), 15, DIM, "middle", serif=True),
        text(0, 16, "closed", SMALLEST, DIM, "middle"),
    )
    return group(x, y, "".join(parts))


def _macao(board: CargoNoirBoard, seen: CargoNoirObservation, was: CargoNoirObservation) -> str:
    """Draw Macao: the Black Market above, the Casino below, and the town behind them."""
    width, height = _MACAO_WIDTH, _MACAO_HEIGHT
    town = (
        "M14 2v-12h14v-9h12v5h10v16zM70 2v-16h9v-8h5v8h9v16zM116 2v-9h16v-12l6-7 6 7v12h14v9z"
        "M182 2v-14h18v6h12v-12h10v20z"
    )
    windows = "M19-6h3M33-13h3M44-8h3M74-9h3M85-9h3M122-3h3M137-12h3M137-6h3M187-7h3M194-7h3M205-1h3M215-8h3"
    market, casino = ([getattr(has, place) for has in seen.seats] for place in ("black_market", "casino"))
    old_market, old_casino = ([getattr(has, place) for has in was.seats] for place in ("black_market", "casino"))
    parts = [
        path(town, "#31454f"),
        path(windows, stroke=LAMP, thick=3),
        box(0, 0, width, height, LIT, BRASS, 2),
        text(width / 2, 22, "Macao", 18, BRASS, "middle", serif=True, bold=True),
        box(4, 26, width - 8, 94, "none", "none", data_spot=spot_of("macao", Destination.BLACK_MARKET)),
        text(10, 39, "Black Market", SMALLEST, FADED),
        cargo(seen.market, board.black_market_spaces, 10, 58, 29, 8, "market"),
        _fleet(seen, market, old_market, seen.todo_market > 0, 95),
        path(f"M10 124h{width - 20}", stroke=LINE, thick=1.5),
        box(4, 128, width - 8, height - 132, "none", "none", data_spot=spot_of("macao", Destination.CASINO)),
        text(10, 142, "Casino", SMALLEST, FADED),
        text(width - 10, 142, f"+{board.casino_income} coins a ship", SMALLEST, FADED, "end", fit=150),
        _fleet(seen, casino, old_casino, seen.todo_casino > 0, 164),
    ]
    if seen.market != was.market or market != old_market:
        parts.append(brackets(4, 26, width - 8, 94))
    if casino != old_casino:
        parts.append(brackets(4, 128, width - 8, height - 132))
    return group(_COLUMNS[1] - width / 2, _ROWS[1] - height / 2, "".join(parts))


def _fleet(seen: CargoNoirObservation, ships: Sequence[int], old_ships: Sequence[int], waiting: bool, y: float) -> str:
    """Draw the ships at one place in Macao: one for each seat that has any there, with a count if it has several."""
    parts = []
    for seat, count in enumerate(ships):
        if count:
            parts.append(ship(28 + 48 * seat, y, seat, 0.92, waiting=waiting and seat == seen.seat))
        if count > 1:
            parts.append(figure(28 + 48 * seat, y + 24, f"×{short(count)}", SMALLEST, fit=40))
        if count > old_ships[seat]:
            parts.append(halo(28 + 48 * seat, y, 17))
    return "".join(parts)
