"""The panel of a seat in a picture of Cargo Noir: its coins, ships, goods and cards, with the latest changes marked."""

from __future__ import annotations

from referee.game import Scene, Seat
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.breakdown import titled
from referee.games.cargo_noir.drawing_style import card_colour, ship, token
from referee.games.cargo_noir.names import Card, Kind, Phase
from referee.games.cargo_noir.observation import CargoNoirObservation, SeatView
from referee.games.cargo_noir.spots import spot_of
from referee.games.cargo_noir.worth import worth
from referee.kit.scene import brackets, clock, ordinal, signed
from referee.kit.svg import (
    ALARM,
    BRASS,
    DARK,
    DEEP,
    FADED,
    INK,
    LAMP,
    LAND,
    LINE,
    LIT,
    SEAT_COLOURS,
    SMALLEST,
    box,
    figure,
    group,
    name_text,
    short,
    text,
)

_GOODS_TOP, _LINE, _STEP = 148, 28, 21


def panel_height(width: float) -> float:
    """Return the height of a panel of this width."""
    rows = -(-len(Card) // _card_columns(width))
    return _GOODS_TOP + _LINE * (-(-len(Kind) // _goods_columns(width))) + _STEP * min(rows, 8) + 12


def _goods_columns(width: float) -> int:
    return 10 if width > 450 else 5


def _card_columns(width: float) -> int:
    return max(1, int(width // 190))


def panel(
    board: CargoNoirBoard,
    seen: CargoNoirObservation,
    was: CargoNoirObservation,
    scene: Scene | None,
    seat: Seat,
    width: float,
) -> str:
    """Draw the holdings of a seat; `was` is the observation before the last action."""
    has, had, room, height = seen.seats[seat], was.seats[seat], width - 24, panel_height(width)
    over = seen.phase is Phase.OVER
    active, winner = seat == seen.seat and not over, over and has.rank == 1
    lit = active or winner
    remarks = ["you"] if seat == seen.viewer else [f"seat {seat}"]
    remarks += ["to act"] * active + [ordinal(has.rank)] * over
    name = board.families[seat] if scene is None else scene.bots[seat]
    rim = SEAT_COLOURS[seat] if active else BRASS if winner else LINE
    parts = [
        box(0, 0, width, height, LIT if lit else LAND, rim, 2.5 if lit else 1),
        box(10, 0, width - 20, 5, SEAT_COLOURS[seat], "none", 0, 2),
        ship(32, 30, seat, 1.1),
        name_text(58, 29, name, 16, width - 124),
        text(58, 49, " · ".join(remarks), SMALLEST, BRASS if lit else FADED, fit=width - 110),
        text(width - 12, 34, has.score, 25, BRASS, "end", bold=True, fit=50),
        text(width - 12, 50, "points", SMALLEST, FADED, "end"),
    ]
    if has.score != had.score:
        parts.append(brackets(width - 66, 9, 60, 49))
    parts += [_coins(has, had), _ships(seen, was, seat, room)]
    parts.append(_storage(sum(has.goods), has.storage, room, worth(board, has.goods)))
    columns = _goods_columns(width)
    parts.append(_goods(has, had, room, columns, is_own=seat == seen.viewer))
    top = _GOODS_TOP + _LINE * (-(-len(Kind) // columns))
    parts.append(_cards(board, has, had, room, top, height - top - 24))
    if scene is not None and scene.clocks is not None:
        parts.append(text(width - 12, height - 10, f"{clock(scene.clocks[seat])} left", SMALLEST, FADED, "end"))
    return "".join(parts)


def _coins(has: SeatView, had: SeatView) -> str:
    change = has.safe - had.safe
    parts = [text(12, 82, short(has.safe), 21, BRASS, bold=True, fit=34), text(12, 100, "coins", SMALLEST, FADED)]
    if change:
        parts.append(text(52, 100, signed(change), 14, LAMP, bold=True, fit=26))
    return "".join(parts)


def _ships(seen: CargoNoirObservation, was: CargoNoirObservation, seat: Seat, room: float) -> str:
    """Draw the number of a seat's ships at each place, in two rows of two."""
    now, then = _where(seen, seat), _where(was, seat)
    parts, step = [], (room - 70) / 2
    for place, (words, count) in enumerate(now.items()):
        x, y = 84 + step * (place % 2), 80 + 20 * (place // 2)
        parts.append(text(x, y, short(count), 15, INK if count else FADED, bold=True, fit=20))
        # Beside the number: a digit of this size is about 9.5 wide.
        parts.append(text(x + 4 + 9.5 * len(short(count)), y, words, SMALLEST, FADED, fit=step - 15))
        if count != then[words]:
            parts.append(brackets(x - 4, y - 15, min(step, 84), 20))
    return "".join(parts)


def _where(seen: CargoNoirObservation, seat: Seat) -> dict[str, int]:
    has = seen.seats[seat]
    in_ports = sum(1 for view in seen.ports if view.stacks[seat])
    return {"home": has.ships_home, "casino": has.casino, "market": has.black_market, "ports": in_ports}


def _storage(goods: int, storage: int, room: float, value: int) -> str:
    """Draw a bar for the goods that fit into the storage, with any excess in the alarm colour."""
    width = room - 180
    scale = width / max(goods, storage, 1)
    stored, spare = min(goods, storage), max(0, goods - storage)
    parts = [
        text(12, 125, f"goods {short(goods)}/{short(storage)}", SMALLEST, ALARM if spare else INK, fit=90),
        box(104, 116, width, 9, DEEP, LINE, 1, 4),
        box(104, 116, stored * scale, 9, BRASS, "none", 0, 4),
        box(104 + stored * scale, 116, spare * scale, 9, ALARM, "none", 0, 4),
        text(room + 12, 125, f"worth {short(value)}", SMALLEST, INK, "end", fit=68),
    ]
    return "".join(parts)


def _goods(has: SeatView, had: SeatView, room: float, columns: int, *, is_own: bool) -> str:
    """Draw the kinds of goods that a seat has, or had before the last action, with their numbers."""
    step, parts = room / columns, []
    kinds = [kind for kind in Kind if has.goods[kind] or had.goods[kind]]
    for place, kind in enumerate(kinds):
        x, y = 12 + step * (place % columns), _GOODS_TOP + _LINE * (place // columns)
        if is_own:
            parts.append(
                box(x - 3, y - 13, min(step - 2, 44), 26, "none", "none", 0, 4, data_spot=spot_of("good", kind))
            )
        parts.append(token(x + 11, y, kind, 22, 1 if has.goods[kind] else 0.35))  # faint if it was just handed in
        parts.append(text(x + 25, y + 5, short(has.goods[kind]), 14.5, bold=True, fit=step - 26))
        if has.goods[kind] != had.goods[kind]:
            parts.append(brackets(x - 3, y - 13, min(step - 2, 44), 26))
    return "".join(parts)


def _cards(board: CargoNoirBoard, has: SeatView, had: SeatView, room: float, top: float, height: float) -> str:
    """Draw the cards of a seat, with the number and the points of each."""
    owned = [card for card in Card if has.cards[card]]
    if not owned:
        return text(12, top + 12, "no cards", SMALLEST, FADED)
    columns = _card_columns(room + 24)
    rows = -(-len(owned) // columns)
    step, width = min(_STEP, height / rows), room / columns
    parts = []
    for place, card in enumerate(owned):
        x, y = 12 + width * (place // rows), top + 12 + step * (place % rows)
        row = (
            box(0, -13, 24, 16, card_colour(board, card), "none", 0, 3),
            figure(12, -1, f"{short(has.cards[card])}×", SMALLEST, DARK, fit=23),
            text(30, 0, titled(card), SMALLEST, fit=width - 70),
            text(width - 10, 0, short(has.cards[card] * board.vp[card]), 14, BRASS, "end", bold=True, fit=34),
        )
        parts.append(group(x, y, "".join(row), min(1, step / 16.5)))
        if has.cards[card] != had.cards[card]:
            parts.append(brackets(x - 4, y - 16, width - 2, 22))
    return "".join(parts)
