"""A picture of an observation, for spectators who look and do not read (RULES.md, section 2).

Left, the map: provinces with what stands in them, the road, the bridge sites. Right, from the top: the two orders, whose turn it
is or who has won, the progress buildings, the bank. Below, a panel for each seat. Every piece carries its colour's letter.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise

from referee.game import Seat
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.drawing_style import (
    COLOUR_NAMES,
    LETTERS,
    bridge,
    chip,
    empty_space,
    gift,
    horse,
    post,
    teahouse,
)
from referee.games.yunnan.names import Building, Colour, Phase, Province, Site, Space, Structure
from referee.games.yunnan.observation import ColourView, ProvinceView, YunnanObservation
from referee.kit.svg import (
    ALARM,
    BRASS,
    DARK,
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
    STEEL,
    box,
    crown,
    element,
    figure,
    group,
    name_text,
    path,
    short,
    text,
)

_WIDTH, _MARGIN, _TOP = 1200, 16, 64
_MAP_WIDTH, _MAP_HEIGHT = 716, 708
_PROVINCE_WIDTH, _PROVINCE_HEIGHT = 200, 108
_SIDE, _SIDE_WIDTH = 748, 436
_PANELS_TOP, _BLOCK_HEIGHT = 788, 106

_PHASES = {
    Phase.AUCTION: "auction: place a Merchant, or pass",
    Phase.YARD: "Construction Yard: choose a structure",
    Phase.TRAVEL: "travel: move and build",
    Phase.DISPLACE: "displace a Merchant, or nobody",
    Phase.CONVERT: "convert income into victory points",
    Phase.OVER: "the match is over",
}
_BUILDINGS = {
    Building.SCHOOL: ("School of Merchants", "a Merchant more"),
    Building.CUSTOMS: ("Customs Office", "a border pass more"),
    Building.HORSE: ("Horse Market", "the next province"),
    Building.DRAGON: ("House of the Dragon", "a dragon head more"),
    Building.YARD: ("Construction Yard", "Post, Bridge or Teahouse"),
}


def draw(board: YunnanBoard, seen: YunnanObservation) -> str:
    """Return an SVG document that shows all of an observation; equal observations give equal documents."""
    height = _PANELS_TOP + 44 + _BLOCK_HEIGHT + _MARGIN
    parts = [
        element("title", f"Yunnan, turn {seen.turn}"),
        element("desc", escape(_described(seen))),
        element("rect", width=_WIDTH, height=height, fill=NIGHT),
        _header(seen),
        group(_MARGIN, _TOP, _map(board, seen)),
        group(_SIDE, _TOP, _orders(seen)),
        group(_SIDE, _TOP + 110, _standing(seen) if seen.phase is Phase.OVER else _decision(board, seen)),
        group(_SIDE, _TOP + 256, _buildings(board, seen)),
        group(_SIDE, _TOP + 574, _bank(board, seen)),
        group(_MARGIN, _PANELS_TOP, _panels(seen)),
    ]
    return element(
        "svg",
        "\n" + "\n".join(parts) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        font_family=SANS,
    )


def _described(seen: YunnanObservation) -> str:
    scores = ", ".join(f"seat {seat} has {view.vp} points" for seat, view in enumerate(seen.seats))
    return f"Turn {seen.turn}, {_PHASES[seen.phase]}; {scores}"


def _header(seen: YunnanObservation) -> str:
    acting = seen.acting_colour
    parts = [
        text(_MARGIN, 42, "Yunnan", 30, PARCHMENT, bold=True, serif=True),
        text(_MARGIN + 146, 42, f"turn {seen.turn}", 20, BRASS, bold=True),
        text(_MARGIN + 240, 42, _PHASES[seen.phase], 16, FADED),
    ]
    if acting is not None:
        seat = seen.colours[acting].owner
        parts.append(text(_WIDTH - 56, 42, f"seat {seat}, {COLOUR_NAMES[acting]}, to act", 16, INK, "end", bold=True))
        parts.append(chip(_WIDTH - 34, 36, acting))
    return "".join(parts)


# --- the map --------------------------------------------------------------------------------------------


def _place(x: int, y: int) -> tuple[float, float]:
    """Convert a point of the board file to one of the map, which leaves room for the provinces."""
    half, tall = _PROVINCE_WIDTH / 2 + 8, _PROVINCE_HEIGHT / 2 + 8
    return half + (x - 22) * (_MAP_WIDTH - 2 * half) / 62, tall + (y - 12) * (_MAP_HEIGHT - 2 * tall) / 72


def _map(board: YunnanBoard, seen: YunnanObservation) -> str:
    centres = [_place(*place) for place in board.province_places]
    parts = [box(0, 0, _MAP_WIDTH, _MAP_HEIGHT, SEA)]
    for (x, y), (to_x, to_y) in pairwise(centres):
        parts.append(path(f"M{x:g} {y:g}L{to_x:g} {to_y:g}", stroke="#7c6437", thick=12, stroke_linecap="round"))
    for site in Site:
        parts.append(_site(board, seen, site, centres))
    for province in Province:
        x, y = centres[province]
        drawn = _province(board, seen, province)
        parts.append(group(x - _PROVINCE_WIDTH / 2, y - _PROVINCE_HEIGHT / 2, drawn))
    return "".join(parts)


def _site(board: YunnanBoard, seen: YunnanObservation, site: Site, centres: list[tuple[float, float]]) -> str:
    (x, y), (to_x, to_y) = (centres[end] for end in board.bridge_sites[site])
    middle_x, middle_y = _place(*board.site_places[site])
    line = f"M{x:g} {y:g}L{middle_x:g} {middle_y:g}L{to_x:g} {to_y:g}"
    owners = [colour for colour in Colour if colour < len(seen.colours) and site in seen.colours[colour].bridges]
    width = 30 + 24 * max(1, len(owners))
    parts = [
        path(line, stroke=STEEL, thick=3 if owners else 1.5, stroke_dasharray="2 7", stroke_linecap="round"),
        box(middle_x - width / 2, middle_y - 15, width, 30, DARK, STEEL if owners else DIM, 1, 15),
        text(middle_x - width / 2 + 9, middle_y + 4, site.name.lower(), 11, FADED),
    ]
    parts += [bridge(middle_x - width / 2 + 38 + 24 * place, middle_y, owner) for place, owner in enumerate(owners)]
    return "".join(parts)


def _province(board: YunnanBoard, seen: YunnanObservation, province: Province) -> str:
    view: ProvinceView = seen.provinces[province]
    inspected = seen.last_inspector is province
    outline = LAMP if seen.pending_displace is province else ALARM if inspected else LINE
    values = f"{board.merchant_value[province]}"
    if province is not Province.PUE:
        values += f" / {board.post_value[province]}"
    parts = [
        box(0, 0, _PROVINCE_WIDTH, _PROVINCE_HEIGHT, LIT if province is Province.PUE else LAND, outline, 2),
        name_text(10, 20, board.province_names[province], 16, 112),
        text(_PROVINCE_WIDTH - 10, 20, values, 14, BRASS, "end", bold=True),
    ]
    if inspected:
        banned = "" if seen.last_banned is None else f" took {LETTERS[seen.last_banned]}"
        parts.append(text(_PROVINCE_WIDTH / 2, -5, f"inspector{banned}", 11, ALARM, "middle", bold=True))
    acting = seen.acting_colour
    x = 8.0
    for colour, has in zip(Colour, seen.colours, strict=False):
        count = has.merchants[province]
        if count:
            waiting = bool(seen.unmoved) and colour == acting and seen.unmoved[province] > 0
            parts.append(chip(x + 17, 42, colour, count, waiting=waiting))
            x += 37
    x = 8.0
    for colour, has in zip(Colour, seen.colours, strict=False):
        if has.posts[province]:
            parts.append(post(x + 15, 67, colour, has.posts[province]))
            x += 35
    if province is not Province.PUE:
        parts.append(_goods_of(board, view, province))
    ends_here = [colour for colour, has in zip(Colour, seen.colours, strict=False) if has.horse is province]
    parts += [horse(106 + 20 * place, 91, colour) for place, colour in enumerate(ends_here)]
    return "".join(parts)


def _goods_of(board: YunnanBoard, view: ProvinceView, province: Province) -> str:
    parts = []
    if board.gifts[province]:
        parts += [gift(18, 91), text(31, 95.5, f"{view.gifts}", 14, INK if view.gifts else DIM, bold=True)]
    if board.teahouse_space[province]:
        parts.append(teahouse(70, 91, view.teahouse))
    return "".join(parts)


# --- the side -------------------------------------------------------------------------------------------


def _orders(seen: YunnanObservation) -> str:
    parts = [box(0, 0, _SIDE_WIDTH, 100)]
    for row, (name, order) in enumerate((("auction order", seen.auction_order), ("travel order", seen.travel_order))):
        y = 28 + 44 * row
        parts.append(text(14, y + 5, name, 13, FADED))
        for place, colour in enumerate(order):
            x = 150 + 58 * place
            parts.append(chip(x, y, colour, opacity=0.4 if row == 0 and colour in seen.passed else 1))
            note = "" if row else "bank" if colour in seen.banked else "passed" if colour in seen.passed else ""
            parts.append(text(x, y + 24, note, 10, DIM, "middle"))
    return "".join(parts)


def _decision(board: YunnanBoard, seen: YunnanObservation) -> str:
    acting = seen.acting_colour
    assert acting is not None  # noqa: S101 somebody is to act until the match is over
    has = seen.colours[acting]
    parts = [
        box(0, 0, _SIDE_WIDTH, 136, LIT, BRASS),
        chip(34, 34, acting),
        text(60, 40, f"{COLOUR_NAMES[acting].capitalize()}, seat {has.owner}", 18, bold=True, serif=True),
        text(16, 72, _PHASES[seen.phase], 14, INK),
    ]
    for row, line in enumerate(_decision_lines(board, seen, has)):
        parts.append(text(16, 97 + 20 * row, line, 13, FADED, fit=_SIDE_WIDTH - 32))
    return "".join(parts)


def _decision_lines(board: YunnanBoard, seen: YunnanObservation, has: ColourView) -> list[str]:
    if seen.phase is Phase.AUCTION:
        return [f"{has.money} Yuan, {has.committed} of them bid; {has.reserve} Merchants in the reserve"]
    if seen.phase is Phase.CONVERT:
        return [f"income {has.income}, of which any part becomes points"]
    if seen.phase is Phase.YARD:
        left = zip(Structure, has.struct_general, strict=True)
        return ["left: " + ", ".join(f"{count} {structure.name.capitalize()}" for structure, count in left)]
    lines = [f"{seen.passes_left} border passes left; {sum(seen.unmoved)} Merchants may still journey"]
    if seen.pending_displace is not None:
        lines.append(f"may displace somebody in {board.province_names[seen.pending_displace]}")
    return lines


def _standing(seen: YunnanObservation) -> str:
    order = sorted(range(len(seen.seats)), key=lambda seat: seen.seats[seat].rank)
    parts = [
        box(0, 0, _SIDE_WIDTH, 136, LIT, BRASS),
        text(16, 30, "Final scores", 18, PARCHMENT, bold=True, serif=True),
    ]
    for row, seat in enumerate(order):
        view = seen.seats[seat]
        y = 50 + 18 * row
        names = " and ".join(COLOUR_NAMES[colour] for colour in _colours_of(seen, seat))
        if view.rank == 1:
            parts.append(crown(28, y - 4))
        parts.append(text(48, y, f"seat {seat}, {names}", 13, INK, bold=view.rank == 1))
        parts.append(text(_SIDE_WIDTH - 16, y, f"{view.score}", 14, BRASS, "end", bold=True))
    return "".join(parts)


def _colours_of(seen: YunnanObservation, seat: Seat) -> list[Colour]:
    return [colour for colour, has in zip(Colour, seen.colours, strict=False) if has.owner == seat]


def _buildings(board: YunnanBoard, seen: YunnanObservation) -> str:
    bidders = {(bid.building, bid.value): bid.colour for bid in seen.bids}
    parts = [box(0, 0, _SIDE_WIDTH, 308)]
    for building, (name, gain) in _BUILDINGS.items():
        y = 12 + 58 * building
        parts += [text(14, y + 24, name, 14, bold=True, fit=160), text(14, y + 41, gain, 11, FADED, fit=160)]
        for space, value in enumerate(board.bid_spaces):
            x = 206 + 50 * space
            parts.append(empty_space(x, y + 27, value, small=space < board.small_spaces))
            if (building, value) in bidders:
                parts.append(chip(x, y + 27, bidders[building, value]))
                parts.append(figure(x, y + 52, value, 11, BRASS))
    return "".join(parts)


def _bank(board: YunnanBoard, seen: YunnanObservation) -> str:
    total = sum(bid.value for bid in seen.bids)
    payments = board.bank_payment(total)
    parts = [box(0, 0, _SIDE_WIDTH, 134), text(14, 28, "Bank", 14, bold=True)]
    for space, owner in ((Space.LEFT, seen.bank_left), (Space.RIGHT, seen.bank_right)):
        x = 206 + 100 * space
        parts.append(empty_space(x, 34, payments[space], small=False))
        if owner is not None:
            parts.append(chip(x, 34, owner))
        parts.append(text(x + 28, 39, f"pays {payments[space]}", 12, BRASS))
    left, right = seen.last_bank_pay
    parts += [
        text(14, 80, f"bids now: {total} Yuan in all", 13, INK),
        text(14, 104, f"last time: {seen.last_total} bid, {left} paid left, {right} right", 13, FADED),
        text(14, 124, "Merchant / Post values stand beside each province's name", 11, DIM),
    ]
    return "".join(parts)


# --- the seats ------------------------------------------------------------------------------------------


def _panels(seen: YunnanObservation) -> str:
    seats = len(seen.seats)
    width = (_WIDTH - 2 * _MARGIN + 8) / seats - 8
    parts = []
    for seat, view in enumerate(seen.seats):
        colours = _colours_of(seen, seat)
        acting = seen.acting_colour in colours
        inside = [
            box(0, 0, width, 44 + _BLOCK_HEIGHT, LAND, BRASS if acting else LINE, 2 if acting else 1),
            text(12, 28, f"seat {seat}", 15, INK, bold=True),
            text(width - 12, 28, f"{view.vp} VP", 18, BRASS, "end", bold=True),
            text(
                width - 12,
                43,
                f"{view.score} in the end" if seen.phase is Phase.OVER else f"{view.score} if it ended now",
                10,
                DIM,
                "end",
            ),
        ]
        if seen.phase is Phase.OVER and view.rank == 1:
            inside.append(crown(86, 22))
        block = (width - 12) / len(colours)
        for place, colour in enumerate(colours):
            inside.append(group(8 + block * place, 46, _block(seen.colours[colour], colour, block - 4)))
        parts.append(group((width + 8) * seat, 0, "".join(inside)))
    return "".join(parts)


def _block(has: ColourView, colour: Colour, width: float) -> str:
    money = f"{short(has.money)} Yuan"
    if has.committed:
        money += f" ({has.committed} bid)"
    if has.income:
        money += f" +{has.income}"
    structures = [
        f"{in_reserve} {name}" for name, in_reserve in zip(_STRUCTURES, has.struct_reserve, strict=True) if in_reserve
    ]
    lines = (
        f"passes {has.passes} · heads {has.influence} · gifts {has.gifts_taken}",
        f"Merchants: {has.reserve} reserve, {has.general} supply",
        "to build: " + (", ".join(structures) or "nothing"),
        "in supply: "
        + " ".join(f"{count} {name}" for name, count in zip(_STRUCTURES, has.struct_general, strict=True)),
    )
    parts = [chip(16, 12, colour), text(38, 17, money, 14, INK, bold=True, fit=width - 42)]
    parts += [text(2, 40 + 18 * row, line, 12, FADED, fit=width - 6) for row, line in enumerate(lines)]
    return "".join(parts)


_STRUCTURES = ("Post", "Bridge", "Tea")
