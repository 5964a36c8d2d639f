"""Positions for the tests of the rules: a test names the relevant entries, and the rest is filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from referee.game import Setup, label
from referee.games.valparaiso import GAME
from referee.games.valparaiso.state import ValparaisoState
from referee.kit.chance import LiveChance, ScriptedChance
from referee.registry import shipped_board
from tests import rules

BOARD = shipped_board(GAME)
legal, refused = rules.legal, partial(rules.refused, GAME)
COLOURS = ["red", "blue", "yellow", "green", "black"]


def setup(seats: int = 2, **options: object) -> Setup:
    """The terms of a match with the shipped board; seat 0 begins, and colours are in the order of the list."""
    fixed = {"start_player": 0, "colours": "+".join(COLOURS[:seats]), **options}
    return GAME.setup(seats, fixed, BOARD)


def start(seats: int = 2, seed: int = 1, **options: object) -> ValparaisoState:
    """A match that begins."""
    state = GAME.start(setup(seats, **options), LiveChance(seed))
    assert isinstance(state, ValparaisoState)
    return state


def goods(silver: int = 0, copper: int = 0, wheat: int = 0) -> dict[str, int]:
    """Goods, as a position has them."""
    return {"silver": silver, "copper": copper, "wheat": wheat}


def place(
    seats: int = 2,
    *,
    phase: str = "USE",
    seat: int = 0,
    cards: Sequence[str] = ("k2",),
    mayor: str = "",
    others: Mapping[int, Sequence[str]] | None = None,
    options: Mapping[str, object] | None = None,
    bottom: Mapping[int, str] | None = None,
    rows: Mapping[str, Mapping[int, Any]] | None = None,
    **rest: Any,
) -> ValparaisoState:
    """A position without problems.

    Args:
        seats: the number of seats.
        phase: which decision is open; by default, choosing a card to use.
        seat: whose decision it is.
        cards: the cards in its slots.
        mayor: the card in its mayor's slot.
        others: cards in the slots of other seats.
        options: options that are not at their defaults.
        bottom: the tile at the bottom of each market, by its number from 1.
        rows: what is by seat, where it is not the same for all: `rows={"money": {0: 3}}`.
        rest: everything else as a position has it.
    """
    plans: list[dict[str, Any]] = [{"cards": list((others or {}).get(one, ()))} for one in range(seats)]
    if phase not in ("PLAN", "SCRAP", "RETURN", "OVER", "SETUP_GOODS", "SETUP_PLACE", "BONUS"):
        plans[seat] = {"cards": list(cards) if phase == "USE" else []}
    if mayor:
        plans[seat]["mayor"] = mayor
    data: dict[str, Any] = {
        "round": 3,
        "phase": phase,
        "money": [20] * seats,
        "colours": COLOURS[:seats],
        "warehouse": [{}] * seats,
        "hold": [{}] * seats,
        "vp": [0] * seats,
        "merchants": [{"v": 2}] * seats,
        "achievements": [[]] * seats,
        "ship": ["h"] * seats,
        "plan": plans,
        "committed": [0] * seats,
        "sea_money": {"ow": 5, "on": 5, "oe": 5},
        "slots": dict(
            zip(
                ["ow1", "ow2", "ow3", "on1", "on2", "on3", "oe1", "oe2", "oe3"],
                [f"a{n}" for n in range(1, 10)],
                strict=True,
            )
        ),
        **tiles(seats, bottom or {}),
    }
    if phase not in ("PLAN", "OVER"):
        data["seat"] = seat
    data |= rest
    for key, values in (rows or {}).items():
        data[key] = [values.get(one, data[key][one]) for one in range(seats)]
    _make_room(data)
    ended = {"max_rounds": data["round"]} if phase == "OVER" else {}
    return read(seats, data, {**ended, **(options or {})})


def _make_room(data: dict[str, Any]) -> None:
    """Remove the cards that a seat has, or that were scrapped, from the slots."""
    gone = {card for owned in data["achievements"] for card in owned} | set(data.get("scrapped", []))
    free = iter(["b11", "b12", "b13", "b21", "b22", "b23"])
    used = set(data["slots"].values()) | gone
    for slot, card in data["slots"].items():
        if card in gone:
            data["slots"][slot] = next(other for other in free if other not in used)


def tiles(seats: int, bottom: Mapping[int, str]) -> dict[str, Any]:
    """Markets and a reserve with certain tiles at the bottom of the markets."""
    markets, in_reserve = (4, 5) if seats >= 4 else (3, 10)
    every = [f"t{letter}{number}" for letter in "abcde" for number in range(1, 6)]
    left = [tile for tile in every if tile not in bottom.values()]
    columns = []
    for market in range(1, markets + 1):
        first = bottom.get(market) or left.pop(0)
        columns.append([first, *(left.pop() for _ in range(4))])
    assert len(left) == in_reserve
    return {"markets": columns, "reserve": left}


def read(seats: int, data: Mapping[str, Any], options: Mapping[str, object]) -> ValparaisoState:
    """Read a position without problems."""
    state = rules.read_sound(GAME, setup(seats, **options), data)
    assert isinstance(state, ValparaisoState)
    return state


def do(state: ValparaisoState, *actions: str, seat: int | None = None) -> ValparaisoState:
    """Play actions of a seat, or of the first seat to act, and check that the position stays sound."""
    for action in actions:
        actor = state.seats_to_act()[0] if seat is None else seat
        state.apply(actor, GAME.parse_action(action), ScriptedChance())
        assert state.problems() == []
    return state


def default(state: ValparaisoState) -> str:
    """The default of the first seat to act."""
    return label(state.default_action(state.seats_to_act()[0]))
