"""Positions for the tests of the rules: a test names the relevant entries, and the rest is filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from referee.game import Setup
from referee.games.yunnan import GAME
from referee.games.yunnan.names import Colour, Province
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.table import number_of_colours
from referee.kit.chance import ScriptedChance
from referee.registry import shipped_board
from tests import rules

BOARD = shipped_board(GAME)
legal, refused = rules.legal, partial(rules.refused, GAME)
RED, BLUE, GREEN, YELLOW, VIOLET = Colour
PUE, YUN, SIC, QAM, TIB, QIN = Province
COLOURS = tuple(colour.name.lower() for colour in Colour)
# What a list by colour has for a colour that is not named.
_ELSE: dict[str, Any] = {
    "money": 50,
    "passes": 2,
    "horse": "yun",
    "influence": 0,
    "m": {},
    "posts": {},
    "bridges": [],
    "struct_reserve": {},
    "gifts_taken": 0,
    "reserve": 3,
    "general": 4,
    "income": 0,
}


def setup(seats: int = 3, **options: object) -> Setup:
    """The terms of a match with the shipped board."""
    return GAME.setup(seats, options, BOARD)


def place(
    seats: int = 3,
    *,
    phase: str = "TRAVEL",
    turn: int = 2,
    acting: str = "red",
    auction_order: Sequence[str] | None = None,
    travel_order: Sequence[str] | None = None,
    options: Mapping[str, object] | None = None,
    **rest: Any,
) -> YunnanState:
    """A position without problems; red is first in the order of the phase. What is by colour is written `m={"red": {"qam": 2}}`; gifts that are taken are with red."""
    colours = number_of_colours(seats)
    data: dict[str, Any] = {"money": {}, **rest}
    for key, other in _ELSE.items():
        if isinstance(data.get(key), Mapping):
            data[key] = [data[key].get(colour, other) for colour in COLOURS[:colours]]
    if "gifts" in data and "gifts_taken" not in data:
        data["gifts_taken"] = [14 - sum(data["gifts"].values())] + [0] * (colours - 1)
    if travel_order is not None and auction_order is None:
        auction_order = travel_order if phase in ("CONVERT", "OVER") else travel_order[::-1]
    natural = COLOURS[:colours] if phase in ("AUCTION", "YARD") else COLOURS[colours - 1 :: -1]
    data["auction_order"] = list(auction_order or natural)
    if travel_order is not None:
        data["travel_order"] = list(travel_order)
    data |= {"phase": phase, "turn": turn}
    if phase != "OVER":
        data["acting_colour"] = acting
    state = rules.read_sound(GAME, setup(seats, **(options or {})), data)
    assert isinstance(state, YunnanState)
    return state


def do(state: YunnanState, *actions: str) -> YunnanState:
    """Play actions of the seat to act, and check that the position stays sound."""
    for action in actions:
        state.apply(state.seats_to_act()[0], GAME.parse_action(action), ScriptedChance())
        assert state.problems() == []
    return state


def merchants(state: YunnanState, colour: Colour) -> dict[str, int]:
    """The places of a colour's Merchants."""
    found: dict[str, int] = state.to_json()["m"][colour]
    return found


def order(colours: Sequence[int]) -> str:
    """An order as the letters of its colours."""
    return "".join("RBGYV"[colour] for colour in colours)
