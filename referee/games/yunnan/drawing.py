"""A picture of an observation, for spectators who look rather than read (RULES.md, section 2).

Below the title line, the map with its legend and the level tracks are on the left. The two orders, the open decision,
the progress buildings and the bank are on the right. Below both are the score track and a panel for each seat. The
kinds of pieces differ in shape, and each piece carries its colour's letter.
"""

from __future__ import annotations

from functools import lru_cache

from referee.game import Scene, Seat
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.breakdown import breakdown
from referee.games.yunnan.drawing_changes import has_other_holdings, in_words
from referee.games.yunnan.drawing_end import final_table
from referee.games.yunnan.drawing_land import MAP_HEIGHT, MAP_WIDTH
from referee.games.yunnan.drawing_map import draw_map
from referee.games.yunnan.drawing_pieces import (
    COLOUR_NAMES,
    FILLS,
    GIFT,
    LETTERS,
    bridge,
    marker,
    merchant,
    pieces_of,
    post,
    space,
    teahouse,
)
from referee.games.yunnan.drawing_tracks import LEVELS_HEIGHT, ORDERS_HEIGHT, SCORE_HEIGHT, levels, orders, score
from referee.games.yunnan.drawing_words import BUILDINGS, PHASES, bank_in_words, colours_of, described, notes, reach_of
from referee.games.yunnan.names import Colour, Phase, Space, Structure
from referee.games.yunnan.observation import ColourView, YunnanObservation
from referee.games.yunnan.spots import bid_spot, spot_of
from referee.kit.scene import Strip, clock, gains, halo, sentences, strip, strip_height, strip_in_words
from referee.kit.svg import (
    BRASS,
    DARK,
    DIM,
    FADED,
    INK,
    LAND,
    LINE,
    LIT,
    NIGHT,
    SMALLEST,
    box,
    crown,
    cut,
    document,
    figure,
    group,
    name_text,
    path,
    short,
    text,
    wrapped,
)

_WIDTH, _MARGIN, _TOP, _GAP = 1200, 16, 56, 8
_SIDE = _MARGIN + MAP_WIDTH + _GAP
_SIDE_WIDTH = _WIDTH - _MARGIN - _SIDE
_LEVELS = _TOP + MAP_HEIGHT + _GAP
_DECISION = _TOP + ORDERS_HEIGHT + _GAP
_DECISION_HEIGHT, _BUILDINGS_HEIGHT = 170, 298
_BUILDINGS = _DECISION + _DECISION_HEIGHT + _GAP
_BANK = _BUILDINGS + _BUILDINGS_HEIGHT + _GAP
_SCORE = _LEVELS + LEVELS_HEIGHT + _GAP
_BANK_HEIGHT = _SCORE - _GAP - _BANK
_END_HEIGHT = _SCORE - _GAP - _DECISION
_PANELS = _SCORE + SCORE_HEIGHT + _GAP
_PANEL_HEIGHT = 152
_HEIGHT = _PANELS + _PANEL_HEIGHT + _MARGIN


def draw(board: YunnanBoard, seen: YunnanObservation, scene: Scene | None = None) -> str:
    """Return an SVG document of an observation and its scene; equal arguments give equal documents."""
    travelling = seen.phase in (Phase.TRAVEL, Phase.DISPLACE)
    reach = reach_of(board, seen.colours[seen.acting_colour]) if travelling and seen.acting_colour is not None else None
    before = None if scene is None else scene.before
    was = before if isinstance(before, YunnanObservation) else seen
    acted = None if before is None else was.acting_colour
    said = None if scene is None else happened(board, seen, scene)
    above = 0.0 if said is None else strip_height(_WIDTH, said)
    over = seen.phase is Phase.OVER
    who, names = ("seat", list("01234")) if scene is None else ("bot", list(scene.bots))
    marks = [_mark(seen, seat) for seat in range(len(seen.seats))]
    parts = [
        pieces_of(tuple(Colour)[: len(seen.colours)]),
        "" if said is None else strip(_WIDTH, said, marks),
        _header(seen),
        group(_MARGIN, _TOP, draw_map(board, seen, reach, was)),
        group(_MARGIN, _LEVELS, levels(board, seen, was, MAP_WIDTH)),
        group(_SIDE, _TOP, orders(seen, acted, _SIDE_WIDTH)),
        group(
            _SIDE,
            _DECISION,
            final_table(board, seen, who, list(zip(marks, names, strict=False)), _SIDE_WIDTH, _END_HEIGHT)
            if over
            else _decision(board, seen),
        ),
        "" if over else group(_SIDE, _BUILDINGS, _buildings(board, seen, was)),
        "" if over else group(_SIDE, _BANK, _bank(board, seen, was)),
        group(_MARGIN, _SCORE, score(board, seen, was, _WIDTH - 2 * _MARGIN)),
        group(_MARGIN, _PANELS, _panels(seen, was, scene)),
    ]
    words = (
        [*(f"{line}." for line in strip_in_words(said)), described(board, seen)] if said else [described(board, seen)]
    )
    return document(_WIDTH, -above, _HEIGHT + above, f"Yunnan, turn {seen.turn}", " ".join(words), parts)


def tell(board: YunnanBoard, seen: YunnanObservation, scene: Scene) -> list[str]:
    """Describe the last action in words."""
    return sentences(happened(board, seen, scene))


def happened(board: YunnanBoard, seen: YunnanObservation, scene: Scene) -> Strip:
    """Return the contents of the strip that shows the last action."""
    before = scene.before
    if not isinstance(before, YunnanObservation) or scene.action is None:
        what = "The match begins" if scene.seat is None else "acts"
        return Strip(scene.step, scene.steps, scene.bots, scene.seat, what, [])
    found = gains(breakdown(board, before), breakdown(board, seen))
    gained = [gain for gain in found if gain.source != "money"]  # money counts at the end
    return Strip(scene.step, scene.steps, scene.bots, scene.seat, in_words(board, before, scene.action, seen), gained)


def _mark(seen: YunnanObservation, seat: Seat) -> str:
    """Draw a seat's letters side by side, 36 wide and 24 high; the strip and the final table scale them down."""
    colours = colours_of(seen, seat)
    width = 36 / len(colours)
    return "".join(
        box(width * place - 18, -12, width, 24, FILLS[colour], DARK, 1, 3)
        + figure(width * (place + 0.5) - 18, 6.2, LETTERS[colour], 17.5, DARK)
        for place, colour in enumerate(colours)
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
    else:
        first = next(seat for seat, view in enumerate(seen.seats) if view.rank == 1)
        parts.append(text(_WIDTH - 58, 38, f"Seat {first} wins", 18, BRASS, "end", bold=True, fit=380))
        parts.append(crown(_WIDTH - 32, 32))
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
    lines = [line for note in notes(board, seen) for line in wrapped(note, SMALLEST, _SIDE_WIDTH - 28)]
    for row, line in enumerate(lines[:6]):
        parts.append(text(14, 83 + 16 * row, line, SMALLEST, FADED))
    return "".join(parts)


def _buildings(board: YunnanBoard, seen: YunnanObservation, was: YunnanObservation) -> str:
    parts = [_free_spaces(board.bid_spaces, board.small_spaces)]
    for bid in seen.bids:
        where = (212 + 37 * board.bid_spaces.index(bid.value), 42 + 58 * bid.building)
        parts.append(group(*where, _NEW * (bid not in was.bids) + merchant(bid.colour)))
    return "".join(parts)


@lru_cache(maxsize=8)
def _free_spaces(values: tuple[int, ...], small: int) -> str:
    """Draw the buildings without bids; the first `small` spaces of each can be outbid."""
    parts = [box(0, 0, _SIDE_WIDTH, _BUILDINGS_HEIGHT)]
    for building, (name, gain) in BUILDINGS.items():
        y = 4 + 58 * building
        parts.append(text(12, y + 26, name, 14.5, bold=True, fit=178))
        parts.append(text(12, y + 45, gain, SMALLEST, FADED, fit=178))
        parts += [
            group(212 + 37 * at, y + 29, space(bid_spot(building, value), value, small=at < small))
            for at, value in enumerate(values)
        ]
    return "".join(parts)


def _bank(board: YunnanBoard, seen: YunnanObservation, was: YunnanObservation) -> str:
    """Draw the bank's two spaces, with the payments for the current bids or those made in this turn."""
    pays = seen.phase is Phase.AUCTION
    payments = board.bank_payment(sum(bid.value for bid in seen.bids)) if pays else seen.last_bank_pay
    parts = [
        box(0, 0, _SIDE_WIDTH, _BANK_HEIGHT),
        text(12, 32, "Bank", 14.5, bold=True),
        text(12, 51, "pays now" if pays else "has paid", SMALLEST, FADED),
    ]
    spaces = ((Space.LEFT, seen.bank_left, was.bank_left), (Space.RIGHT, seen.bank_right, was.bank_right))
    for place, owner, old_owner in spaces:
        x = 104 + 140 * place
        amount = f"{short(payments[place])} Yuan" if payments[place] or pays else "nobody"
        parts.append(box(x, 12, 128, 44, NIGHT, DIM, 1, 4, data_spot=spot_of("bank", place)))
        parts.append(text(x + 40, 31, place.name.lower(), SMALLEST, FADED))
        parts.append(text(x + 40, 49, amount, 15, BRASS, bold=True, fit=86))
        if owner is not None:
            parts.append(group(x + 20, 35, _NEW * (owner is not old_owner) + merchant(owner)))
    for row, line in enumerate((bank_in_words(seen), "Spaces in dashes can be outbid.")):
        parts.append(text(12, 80 + 20 * row, line, SMALLEST, FADED, fit=_SIDE_WIDTH - 24))
    return "".join(parts)


# --- the seats ------------------------------------------------------------------------------------------


def _panels(seen: YunnanObservation, was: YunnanObservation, scene: Scene | None) -> str:
    """Draw the holdings of each seat, side by side, with its bot and its clock."""
    seats = len(seen.seats)
    width = (_WIDTH - 2 * _MARGIN + 8) / seats - 8
    parts = []
    for seat, view in enumerate(seen.seats):
        colours = colours_of(seen, seat)
        acting = seen.acting_colour in colours
        ended = f"{short(view.score)} {'in the end' if seen.phase is Phase.OVER else 'if it ended'}"
        inside = [
            box(0, 0, width, _PANEL_HEIGHT, LIT if acting else LAND, BRASS if acting else LINE, 2 if acting else 1),
            text(12, 24, f"Seat {seat}", 16, INK, bold=True, serif=True),
            text(width - 12, 24, f"{short(view.vp)} VP", 18, BRASS, "end", bold=True),
            text(width - 12, 43, ended, SMALLEST, FADED, "end"),
        ]
        if scene is not None:
            room = width - 24 - 8.2 * len(ended)
            inside.append(name_text(12, 43, cut(scene.bots[seat], SMALLEST, room), SMALLEST, room, FADED))
            if scene.clocks is not None:
                inside.append(text(76, 24, clock(scene.clocks[seat]), SMALLEST, FADED))
        if seen.phase is Phase.OVER and view.rank == 1:
            inside.append(crown(width / 2 + 20, 18))
        block = (width - 8) / len(colours)
        for place, colour in enumerate(colours):
            new = has_other_holdings(was, seen, colour)
            acts = colour is seen.acting_colour
            drawn = _block(seen.colours[colour], colour, block - 4, new=new, acts=acts)
            inside.append(group(6 + block * place, 44, drawn))
        parts.append(group((width + 8) * seat, 0, "".join(inside)))
    return "".join(parts)


_NEW, _NEW_HOLDINGS = halo(0, 0, 17), halo(0, 0, 13)
"""The marks of a Merchant that has just arrived, and of a colour that has just gained or spent something."""


def _block(has: ColourView, colour: Colour, width: float, *, new: bool, acts: bool) -> str:
    """Draw the holdings of a colour: money, gifts, and its pieces in the reserve and in the supply; changes are marked.

    If the colour is to act, its reserve and its supply are spots.
    """
    money = f"{short(has.money)} Yuan"
    if has.committed:
        money += f" ({short(has.committed)} bid)"
    if has.income:
        money += f" +{short(has.income)}"
    step = min(50, (width - 66) / 5)
    parts = [
        _heads(step),
        group(18, 16, marker(colour) + _NEW_HOLDINGS * new),
        text(38, 22, money, 15, INK, bold=True, fit=width - 42),
    ]
    if acts:
        parts += [
            box(66 + step * (at + 1) + 2, y, step - 4, 19, "none", "none", 0, 4, data_spot=spot_of(kind, structure))
            for at, structure in enumerate(Structure)
            for kind, y in (("reserve", 64), ("supply", 84))
        ]
    counted = (
        (79, INK, (has.reserve, *has.struct_reserve, has.gifts_taken)),
        (99, FADED, (has.general, *has.struct_general)),
    )
    for y, ink, counts in counted:
        parts += [
            figure(66 + step * (at + 0.5), y, count, 15, ink if count else DIM) for at, count in enumerate(counts)
        ]
    return "".join(parts)


@lru_cache(maxsize=16)
def _heads(step: float) -> str:
    """Draw the headings of a panel: the kinds of pieces side by side, and the reserve above the supply."""
    kinds = (merchant(None), post(None), bridge(None), teahouse(None), GIFT)
    parts = [group(66 + step * (at + 0.5), 48, kind, 0.72) for at, kind in enumerate(kinds)]
    parts += [text(6, 79, "reserve", SMALLEST, FADED, fit=58), text(6, 99, "supply", SMALLEST, FADED, fit=58)]
    return "".join(parts)
