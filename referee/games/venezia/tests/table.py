"""Positions for the tests of the rules: a test names the relevant entries, and the rest is filled in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from referee.game import Setup
from referee.games.venezia import GAME
from referee.games.venezia.names import Phase, Place, Square
from referee.games.venezia.state import VeneziaState
from referee.kit.chance import ScriptedChance
from referee.registry import shipped_board
from tests import rules

BOARD = shipped_board(GAME)
legal, refused = rules.legal, partial(rules.refused, GAME)
_HOMES = ("can", "mar", "pol", "cas")


def setup(seats: int = 2, **options: object) -> Setup:
    """The terms of a match with the shipped board."""
    return GAME.setup(seats, options, BOARD)


def plan(first: str = "feint", *piles: tuple[str, int], action: str = "none", on_first: int = 0) -> dict[str, Any]:
    """A finished plan, with piles in the order of their slots, and pigeons left on the first card."""
    return {
        "step": "COMMITTED",
        "first": first,
        "action": action,
        "chosen": [place for place, _ in piles],
        "counts": [on_first, *(pigeons for _, pigeons in piles)],
        "slots": [{"place": place, "pigeons": pigeons} for place, pigeons in piles],
        "first_count": on_first,
    }


def place(
    seats: int = 2,
    *,
    phase: str = "MOVE",
    seat: int = 0,
    round: int = 2,  # noqa: A002 the rules' word
    options: Mapping[str, object] | None = None,
    plans: Mapping[int, Mapping[str, Any]] | None = None,
    discard: Mapping[int, Mapping[str, int]] | None = None,
    board: Mapping[str, Mapping[str, int]] | None = None,
    **rest: Any,
) -> VeneziaState:
    """Return a position without problems.

    By default all have planned nothing, tourists and hunters stand where they change nothing, and any seat may be first.
    `board` has the printed numbers that are not the shipped ones, by table.
    """
    numbers = {name: {**table, **(board or {}).get(name, {})} for name, table in BOARD.items()}
    chosen = GAME.setup(seats, {"first_player": "random"} | dict(options or {}), numbers)
    planned = Phase[phase] not in (Phase.HOME, Phase.PLAN)
    data: dict[str, Any] = {
        "round": round,
        "phase": phase,
        "home": list(_HOMES[:seats]),
        "reserve": [12] * seats,
        "plan": [dict((plans or {}).get(one, plan() if planned else {})) for one in range(seats)],
        "discard": [dict((discard or {}).get(one, {})) for one in range(seats)],
    }
    if round == 1:
        for entry in data["plan"]:
            entry.pop("action", None)
    if planned and Phase[phase] not in (Phase.FEINT, Phase.PLACE):
        data["tourists"] = ["a9", "a10", "b10"][: int(chosen.options["tourists"])]
        data["hunters"] = ["h10", "h8"][: int(chosen.options["hunters"])]
    if Phase[phase] not in (Phase.PLAN, Phase.OVER):
        data["seat"] = seat
    if Phase[phase] is Phase.MOVE and "unmoved" not in rest:
        rest["unmoved"] = [square for square, owner in rest.get("piazza", {}).items() if owner == seat]
    data |= rest
    state = rules.read_sound(GAME, chosen, data)
    assert isinstance(state, VeneziaState)
    return state


def do(state: VeneziaState, *actions: str, seat: int | None = None, **draws: Any) -> VeneziaState:
    """Play actions of a seat, or of whoever is to act first, with scripted draws; check that the position stays sound.

    `tourist` and `hunter` are squares, `slots0` and so on orders.
    """
    chance = Spins(state, draws)
    for action in actions:
        actor = state.seats_to_act()[0] if seat is None else seat
        state.apply(actor, GAME.parse_action(action), chance)
        assert state.problems() == []
    return state


class Spins(ScriptedChance):
    """Scripted chance that names spins by their squares."""

    def __init__(self, state: VeneziaState, draws: Mapping[str, Any]) -> None:
        taken: list[int] = []
        drawn: dict[str, list[Any]] = {name: list(values) for name, values in draws.items()}
        for stream in ("tourist", "hunter"):
            indices = []
            for name in drawn.get(stream, []):
                free = [square for square in state.grid.usable if square not in taken]
                indices.append(free.index(Square[name.upper()]))
                taken.append(Square[name.upper()])
            if stream in drawn:
                drawn[stream] = indices
        super().__init__(**drawn)


def pigeons(state: VeneziaState, name: str) -> list[int]:
    """The number of each seat's pigeons in a place."""
    return state.loc[Place[name.upper()]]
