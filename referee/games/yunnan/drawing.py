"""A picture of an observation, for spectators who look and do not read (RULES.md, section 2).

Below the title line, on the left: the map with what explains its pieces, and the tracks of levels; on the right: the two orders,
what is being done, the progress buildings and the bank. Below both the score track, and a panel for each seat. Pieces differ in
shape, and each carries its colour's letter.
"""

from __future__ import annotations

import textwrap
from html import escape

from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.drawing_land import MAP_HEIGHT, MAP_WIDTH
from referee.games.yunnan.drawing_map import draw_map
from referee.games.yunnan.drawing_pieces import (
    COLOUR_NAMES,
    SMALLEST,
    bridge,
    gift,
    marker,
    merchant,
    post,
    space,
    teahouse,
)
from referee.games.yunnan.drawing_tracks import LEVELS_HEIGHT, ORDERS_HEIGHT, SCORE_HEIGHT, levels, orders, score
from referee.games.yunnan.drawing_words import (
    BUILDINGS,
    PHASES,
    bank_in_words,
    colours_of,
    described,
    notes,
    reach_of,
)
from referee.games.yunnan.names import Colour, Phase, Space
from referee.games.yunnan.observation import ColourView, YunnanObservation
from referee.kit.svg import (
    BRASS,
    DIM,
    FADED,
    INK,
    LAND,
    LINE,
    LIT,
    NIGHT,
    SANS,
    box,
    crown,
    element,
    figure,
    group,
    path,
    short,
    text,
)

_WIDTH, _MARGIN, _TOP, _GAP = 1200, 16, 56, 8
_SIDE = _MARGIN + MAP_WIDTH + _GAP
_SIDE_WIDTH = _WIDTH - _MARGIN - _SIDE
_LEVELS = _TOP + MAP_HEIGHT + _GAP
_DECISION = _TOP + ORDERS_HEIGHT + _GAP
_DECISION_HEIGHT, _BUILDINGS_HEIGHT = 150, 300
_BUILDINGS = _DECISION + _DECISION_HEIGHT + _GAP
_BANK = _BUILDINGS + _BUILDINGS_HEIGHT + _GAP
_SCORE = _LEVELS + LEVELS_HEIGHT + _GAP
_BANK_HEIGHT = _SCORE - _GAP - _BANK
_PANELS = _SCORE + SCORE_HEIGHT + _GAP
_PANEL_HEIGHT = 152
_HEIGHT = _PANELS + _PANEL_HEIGHT + _MARGIN


def draw(board: YunnanBoard, seen: YunnanObservation) -> str:
    """Return an SVG document that shows all of an observation; equal observations give equal documents."""
    travelling = seen.phase in (Phase.TRAVEL, Phase.DISPLACE)
    reach = reach_of(board, seen.colours[seen.acting_colour]) if travelling and seen.acting_colour is not None else None
    parts = [
        element("title", f"Yunnan, turn {seen.turn}"),
        element("desc", escape(described(board, seen))),
        element("rect", width=_WIDTH, height=_HEIGHT, fill=NIGHT),
        _header(seen),
        group(_MARGIN, _TOP, draw_map(board, seen, reach)),
        group(_MARGIN, _LEVELS, levels(board, seen, MAP_WIDTH)),
        group(_SIDE, _TOP, orders(seen, _SIDE_WIDTH)),
        group(_SIDE, _DECISION, _standing(seen) if seen.phase is Phase.OVER else _decision(board, seen)),
        group(_SIDE, _BUILDINGS, _buildings(board, seen)),
        group(_SIDE, _BANK, _bank(board, seen)),
        group(_MARGIN, _SCORE, score(board, seen, _WIDTH - 2 * _MARGIN)),
        group(_MARGIN, _PANELS, _panels(seen)),
    ]
    return element(
        "svg",
        "\n" + "\n".join(parts) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        direction="ltr",
        font_family=SANS,
    )


def _header(seen: YunnanObservation) -> str:
    acting = seen.acting_colour
    parts = [
        text(_MARGIN, 40, "YUNNAN", 28, BRASS, serif=True, bold=True, fit=150),
        text(182, 38, f"Turn {seen.turn}", 18, bold=True),
        path("M268 20v26", stroke=LINE, thick=2),
        text(284, 38, PHASES[seen.phase], 18, fit=430),
    ]
    if acting is not None:
        who = f"Seat {seen.colours[acting].owner}, {COLOUR_NAMES[acting]}, to act"
        parts.append(text(_WIDTH - 58, 38, who, 18, BRASS, "end", bold=True, fit=380))
        parts.append(group(_WIDTH - 32, 32, marker(acting), 1.25))
    return "".join(parts)


# --- the side -------------------------------------------------------------------------------------------


def _decision(board: YunnanBoard, seen: YunnanObservation) -> str:
    acting = seen.acting_colour
    assert acting is not None  # noqa: S101 somebody is to act until the match is over
    parts = [
        box(0, 0, _SIDE_WIDTH, _DECISION_HEIGHT, LIT, BRASS, 1.5),
        group(28, 28, marker(acting), 1.25),
        text(
            52,
            35,
            f"{COLOUR_NAMES[acting].capitalize()}, seat {seen.colours[acting].owner}",
            19,
            BRASS,
            serif=True,
            bold=True,
        ),
        text(14, 63, PHASES[seen.phase], 15.5, bold=True, fit=_SIDE_WIDTH - 28),
    ]
    lines = [line for note in notes(board, seen) for line in textwrap.wrap(note, 42)]
    for row, line in enumerate(lines[:4]):
        parts.append(text(14, 85 + 18.5 * row, line, 14, FADED, fit=_SIDE_WIDTH - 28))
    return "".join(parts)


def _standing(seen: YunnanObservation) -> str:
    order = sorted(range(len(seen.seats)), key=lambda seat: seen.seats[seat].rank)
    parts = [
        box(0, 0, _SIDE_WIDTH, _DECISION_HEIGHT, LIT, BRASS),
        text(14, 28, "Final scores", 18, BRASS, bold=True, serif=True),
    ]
    for row, seat in enumerate(order):
        view = seen.seats[seat]
        y = 54 + 22 * row
        names = " and ".join(COLOUR_NAMES[colour] for colour in colours_of(seen, seat))
        if view.rank == 1:
            parts.append(crown(28, y - 5))
        parts.append(text(48, y, f"seat {seat}, {names}", 15, INK, bold=view.rank == 1))
        parts.append(text(_SIDE_WIDTH - 16, y, f"{view.score}", 16, BRASS, "end", bold=True))
    return "".join(parts)


def _buildings(board: YunnanBoard, seen: YunnanObservation) -> str:
    bidders = {(bid.building, bid.value): bid.colour for bid in seen.bids}
    parts = [box(0, 0, _SIDE_WIDTH, _BUILDINGS_HEIGHT)]
    for building, (name, gain) in BUILDINGS.items():
        y = 5 + 58 * building
        parts += [
            text(12, y + 26, name, 14.5, bold=True, fit=178),
            text(12, y + 45, gain, SMALLEST, FADED, fit=178),
        ]
        for at, value in enumerate(board.bid_spaces):
            inside = space(value, small=at < board.small_spaces)
            if (building, value) in bidders:
                inside += group(0, 9, merchant(bidders[building, value]))
            parts.append(group(212 + 37 * at, y + 29, inside))
    return "".join(parts)


def _bank(board: YunnanBoard, seen: YunnanObservation) -> str:
    """Draw the two spaces of the bank: what they pay as bids stand now, or what they have paid in this turn."""
    pays = seen.phase is Phase.AUCTION
    payments = board.bank_payment(sum(bid.value for bid in seen.bids)) if pays else seen.last_bank_pay
    parts = [
        box(0, 0, _SIDE_WIDTH, _BANK_HEIGHT),
        text(12, 32, "Bank", 14.5, bold=True),
        text(12, 51, "pays now" if pays else "has paid", SMALLEST, FADED),
    ]
    for place, owner in ((Space.LEFT, seen.bank_left), (Space.RIGHT, seen.bank_right)):
        x = 104 + 140 * place
        amount = f"{short(payments[place])} Yuan" if payments[place] or pays else "nobody"
        parts.append(box(x, 12, 128, 44, NIGHT, DIM, 1, 4))
        parts.append(text(x + 40, 31, place.name.lower(), SMALLEST, FADED))
        parts.append(text(x + 40, 49, amount, 15, BRASS, bold=True, fit=86))
        if owner is not None:
            parts.append(group(x + 20, 35, merchant(owner)))
    for row, line in enumerate((bank_in_words(seen), "Spaces in dashes can be outbid.")):
        parts.append(text(12, 82 + 20 * row, line, SMALLEST, FADED, fit=_SIDE_WIDTH - 24))
    return "".join(parts)


# --- the seats ------------------------------------------------------------------------------------------


def _panels(seen: YunnanObservation) -> str:
    seats = len(seen.seats)
    width = (_WIDTH - 2 * _MARGIN + 8) / seats - 8
    parts = []
    for seat, view in enumerate(seen.seats):
        colours = colours_of(seen, seat)
        acting = seen.acting_colour in colours
        ended = f"{short(view.score)} {'in the end' if seen.phase is Phase.OVER else 'if it ended'}"
        inside = [
            box(0, 0, width, _PANEL_HEIGHT, LIT if acting else LAND, BRASS if acting else LINE, 2 if acting else 1),
            text(12, 25, f"Seat {seat}", 16, INK, bold=True, serif=True),
            text(width - 12, 25, f"{short(view.vp)} VP", 19, BRASS, "end", bold=True),
            text(width - 12, 43, ended, SMALLEST, FADED, "end"),
        ]
        if seen.phase is Phase.OVER and view.rank == 1:
            inside.append(crown(94, 20))
        block = (width - 8) / len(colours)
        for place, colour in enumerate(colours):
            inside.append(group(6 + block * place, 44, _block(seen.colours[colour], colour, block - 4)))
        parts.append(group((width + 8) * seat, 0, "".join(inside)))
    return "".join(parts)


_KINDS = (merchant(None), post(None), bridge(None), teahouse(None))


def _block(has: ColourView, colour: Colour, width: float) -> str:
    """Draw what a colour has: money and gifts, and what of its pieces is in its reserve and in the supply."""
    money = f"{short(has.money)} Yuan"
    if has.committed:
        money += f" ({short(has.committed)} bid)"
    if has.income:
        money += f" +{short(has.income)}"
    step = min(44, (width - 66) / 5)
    parts = [
        group(18, 16, marker(colour)),
        text(36, 22, money, 15, INK, bold=True, fit=width - 40),
        group(66 + step * 4.5, 48, gift(), 0.72),
        figure(66 + step * 4.5, 79, has.gifts_taken, 15, INK if has.gifts_taken else DIM),
        text(6, 79, "reserve", SMALLEST, FADED, fit=58),
        text(6, 99, "supply", SMALLEST, FADED, fit=58),
    ]
    for at, (kind, reserve, supply) in enumerate(
        zip(_KINDS, (has.reserve, *has.struct_reserve), (has.general, *has.struct_general), strict=True)
    ):
        x = 66 + step * (at + 0.5)
        parts.append(group(x, 48, kind, 0.72))
        parts.append(figure(x, 79, reserve, 15, INK if reserve else DIM))
        parts.append(figure(x, 99, supply, 15, FADED if supply else DIM))
    return "".join(parts)
