"""The changes that an action makes, for the drawing of Yunnan, in words and as ways from province to province."""

from __future__ import annotations

from typing import NamedTuple

from referee.game import Action
from referee.games.yunnan import actions as act
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.drawing_pieces import COLOUR_NAMES
from referee.games.yunnan.drawing_words import BUILDINGS, name_of
from referee.games.yunnan.names import Colour, Phase, Place, Province
from referee.games.yunnan.observation import YunnanObservation


class Walk(NamedTuple):
    """Merchants of a colour that have gone from one province to another."""

    colour: Colour
    start: Province
    end: Province


def walks(before: YunnanObservation, seen: YunnanObservation) -> list[Walk]:
    """Return the Merchants' moves from province to province, but not those that begin or end in another place."""
    found = []
    for colour, old, new in zip(Colour, before.colours, seen.colours, strict=False):
        if old.merchants != new.merchants:
            there = list(zip(Province, old.merchants, new.merchants, strict=True))
            ends = [province for province, had, has in there if has > had]
            found += [Walk(colour, start, end) for start, had, has in there if has < had for end in ends]
    return found


def in_words(board: YunnanBoard, before: YunnanObservation, action: Action, seen: YunnanObservation) -> str:
    """Describe an action and its most important consequences, as in `bids 7 in the Horse Market`."""
    acted = before.acting_colour
    said = _action(board, before, action) + _followed(board, before, seen)
    two_colours = len(before.seats) < len(before.colours)
    return f"with {COLOUR_NAMES[acted]} {said}" if two_colours and acted is not None else said


def _action(board: YunnanBoard, before: YunnanObservation, action: Action) -> str:
    match action:
        case act.Bid(building, value, source):
            return f"bids {value} in the {BUILDINGS[building][0]}{_from(board, source)}"
        case act.Bank(space, source):
            return f"goes to the bank, {space.name.lower()}{_from(board, source)}"
        case act.Market(source):
            return f"puts a Merchant into the market{_from(board, source)}"
        case act.Take(structure, place):
            at = "" if place is Place.RESERVE else f" and builds it in {name_of(board, place)}"
            return f"takes a {structure.name.capitalize()}{at}"
        case act.Move(start, end):
            return f"moves a Merchant from {name_of(board, start)} to {name_of(board, end)}"
        case act.BuildPost(province):
            return f"builds a Post in {name_of(board, province)}"
        case act.BuildBridge(site):
            return f"builds a Bridge at {site.name.lower()}"
        case act.BuildTeahouse(province):
            return f"builds a Teahouse in {name_of(board, province)}"
        case act.Displace(colour):
            there = "" if before.pending_displace is None else f" in {name_of(board, before.pending_displace)}"
            return f"displaces {COLOUR_NAMES[colour]}{there}"
        case act.Convert(points):
            acted = before.acting_colour
            return f"converts {points} of {0 if acted is None else before.colours[acted].income} Yuan"
    return {act.PASS: "passes", act.DONE: "ends its travel turn", act.NO_DISPLACE: "displaces nobody"}[action]


def _from(board: YunnanBoard, source: Place) -> str:
    return "" if source is Place.RESERVE else f", from {name_of(board, source)}"


def _followed(board: YunnanBoard, before: YunnanObservation, seen: YunnanObservation) -> str:
    """Describe the consequences of the action that need no decision."""
    if seen.phase is Phase.OVER:
        return ", and ends the match"
    if seen.turn > before.turn:
        return f", and ends turn {before.turn}"
    if before.phase is Phase.AUCTION:
        if seen.phase is not Phase.AUCTION:
            return ", and ends the auction"
        gone = [bid.colour for bid in before.bids if bid not in seen.bids and bid.colour is not before.acting_colour]
        return f", and outbids {COLOUR_NAMES[gone[0]]}" if gone else ""
    if before.phase is Phase.TRAVEL and seen.phase is Phase.CONVERT and seen.last_inspector is not None:
        banned = "nobody" if seen.last_banned is None else COLOUR_NAMES[seen.last_banned]
        return f"; the inspector takes {banned} in {name_of(board, seen.last_inspector)}"
    home = [walk for walk in walks(before, seen) if walk.end is Province.PUE]
    if before.phase is Phase.TRAVEL and before.acting_colour is not seen.acting_colour and home:
        return f"; its Merchants in {' and '.join(name_of(board, walk.start) for walk in home)} go home"
    return ""


def has_other_holdings(before: YunnanObservation, seen: YunnanObservation, colour: Colour) -> bool:
    """Return whether there is a change in the holdings that a colour's panel shows."""
    old, new = before.colours[colour], seen.colours[colour]
    return (old.money, old.gifts_taken, old.reserve, old.general, old.struct_reserve, old.struct_general) != (
        new.money, new.gifts_taken, new.reserve, new.general, new.struct_reserve, new.struct_general,
    )  # fmt: skip
