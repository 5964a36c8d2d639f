"""Positions for the tests of the rules: a test names the relevant entries, and the rest is filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from referee.game import Setup
from referee.games.cargo_noir import GAME
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import Port
from referee.games.cargo_noir.state import CargoNoirState
from referee.kit.chance import ScriptedChance
from referee.registry import shipped_board
from tests import rules

BOARD = shipped_board(GAME)
legal, refused = rules.legal, partial(rules.refused, GAME)
_FILLING = ("alcohol", "weapons", "art", "cars", "cigars", "ivory", "jewels", "gold")


def setup(seats: int = 2, **options: object) -> Setup:
    """Return the terms of a match with the shipped board."""
    return GAME.setup(seats, options, BOARD)


def place(
    seats: int = 2,
    *,
    phase: str = "P1",
    turn: int = 3,
    seat: int = 0,
    stacks: Mapping[str, Mapping[int, int]] | None = None,
    port_goods: Mapping[str, Mapping[str, int]] | None = None,
    market: Mapping[str, int] | None = None,
    casino: Mapping[int, int] | None = None,
    black_market: Mapping[int, int] | None = None,
    safe: Sequence[int] | None = None,
    goods: Mapping[int, Mapping[str, int]] | None = None,
    cards: Mapping[int, Mapping[str, int]] | None = None,
    options: Mapping[str, object] | None = None,
    **rest: Any,
) -> CargoNoirState:
    """Return a position without problems.

    Ports are filled, each with one kind; ships of the other seats that are not placed are at the Casino, those of the
    seat to act at home.
    """
    chosen = setup(seats, **(options or {}))
    board = cast("CargoNoirBoard", chosen.board)
    stacks, casino, black_market = stacks or {}, dict(casino or {}), black_market or {}
    cards, goods, port_goods = cards or {}, goods or {}, port_goods or {}
    for other in range(seats):
        if other != seat and other not in casino:
            placed = black_market.get(other, 0) + sum(other in row for row in stacks.values())
            casino[other] = 3 + cards.get(other, {}).get("cargo_ship", 0) - placed
    names = [Port(port).name.lower() for port in board.open_ports(seats)]
    data = {
        "turn": turn,
        "seat": seat,
        "phase": phase,
        "market": market or {"uranium": 8},
        "port": {
            name: {
                "goods": port_goods.get(name, {_FILLING[index]: board.spaces[Port[name.upper()]]}),
                "stacks": {str(owner): coins for owner, coins in stacks.get(name, {}).items()},
            }
            for index, name in enumerate(names)
        },
        "casino": [casino.get(owner, 0) for owner in range(seats)],
        "black_market": [black_market.get(owner, 0) for owner in range(seats)],
        "safe": safe or [5] * seats,
        "goods": [goods.get(owner, {}) for owner in range(seats)],
        "cards": [cards.get(owner, {}) for owner in range(seats)],
        **rest,
    }
    state = rules.read_sound(GAME, chosen, data)
    assert isinstance(state, CargoNoirState)
    return state


def place_with_bag(bag: Mapping[str, int], **arguments: Any) -> CargoNoirState:
    """Return a position with these goods in the bag; all tokens that are nowhere else are on the discard pile."""
    rest = dict(place(**arguments).to_json()["bag"])
    for name, count in bag.items():
        rest[name] -= count
    return place(**arguments, bag=bag, discard=rest)


def do(state: CargoNoirState, *actions: str, **draws: Sequence[int]) -> CargoNoirState:
    """Play actions of the seat to act, with scripted draws (`bag=[8]` draws uranium); check that positions stay sound."""
    chance = ScriptedChance(**draws)
    for action in actions:
        sound = not state.problems()
        state.apply(state.seat, GAME.parse_action(action), chance)
        assert not sound or state.problems() == []
    return state


def counts(state: CargoNoirState, seat: int = 0) -> dict[str, int]:
    """Return the goods of a seat by name, without missing kinds."""
    found: dict[str, int] = state.to_json()["goods"][seat]
    return found
