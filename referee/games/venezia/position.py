"""Positions: tables as JSON, with the names used in RULES.md, section 2. `problems.py` checks positions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TypeVar

from referee.game import JsonObject
from referee.games.venezia.names import CARDS, DISTRICTS, ActionCard, FirstCard, Phase, Place, Square, Step
from referee.games.venezia.table import NONE, Plan, Table
from referee.kit.document import Document, by_name, counted, names_of

N = TypeVar("N", bound=IntEnum)

_PLACES, _SQUARES, _FIRSTS, _CARDS = by_name(Place), by_name(Square), by_name(FirstCard), by_name(ActionCard)
_PLACE_NAMES, _DISTRICT_NAMES, _CARD_NAMES = names_of(Place), names_of(DISTRICTS), names_of(CARDS)
_STEPS = {step.name: step for step in Step}
_PHASES = {phase.name: phase for phase in Phase}
_MOST = 100_000  # the largest number in a position


def to_json(table: Table) -> JsonObject:
    """Return the whole position in the format that `read` accepts, including entries that a person may leave out."""
    data: JsonObject = {
        "round": table.round,
        "first_seat": table.first_seat,
        "phase": table.phase.name,
        "score": list(table.score),
        "earned": [counted(_DISTRICT_NAMES, earned) for earned in table.earned],
        "home": [None if home == NONE else _PLACE_NAMES[home] for home in table.home],
        "supply": list(table.supply),
        "reserve": list(table.reserve),
        "nest": list(table.nest),
        "cemetery": list(table.cemetery),
        "loc": {name: list(row) for name, row in zip(_PLACES, table.loc, strict=True) if any(row)},
        "grey": counted(_PLACES, table.grey),
        "piazza": {name: seat for name, seat in zip(_SQUARES, table.piazza, strict=True) if seat != NONE},
        "tourists": names_of(map(Square, table.tourists)),
        "hunters": names_of(map(Square, table.hunters)),
        "discard": [counted(_CARD_NAMES, row) for row in table.discard],
        "plan": [_plan_to_json(table, seat) for seat in range(table.setup.seats)],
        "majority": {name: seat for name, seat in zip(_DISTRICT_NAMES, table.majority, strict=True) if seat != NONE},
        "unmoved": names_of(map(Square, sorted(table.unmoved))),
        "chain": names_of(map(Square, table.chain)),
        "waiting": list(table.waiting),
        "slot": table.slot,
        "card_count": table.card_count,
        "grey_untouched": counted(_PLACES, table.grey_untouched),
    }
    if table.phase not in (Phase.PLAN, Phase.OVER):
        data["seat"] = table.seat
    for key, place in (("raptor", table.raptor), ("card_place", table.card_place)):
        if place != NONE:
            data[key] = _PLACE_NAMES[place]
    if table.grey_owner != NONE:
        data["grey_owner"] = table.grey_owner
    return data


def _plan_to_json(table: Table, seat: int) -> JsonObject:
    plan = table.plans[seat]
    data: JsonObject = {"step": plan.step.name, "chosen": names_of(plan.chosen), "counts": list(plan.counts)}
    if plan.first is not None:
        data["first"] = plan.first.name.lower()
    if plan.action is not None:
        data["action"] = plan.action.name.lower()
    if plan.slots:
        piles = zip(plan.slots, table.piles[seat], strict=True)
        data["slots"] = [{"place": place.name.lower(), "pigeons": pigeons} for place, pigeons in piles]
    if table.first_count[seat]:
        data["first_count"] = table.first_count[seat]
    return data


def read(table: Table, document: Document) -> None:
    """Fill an empty table from a position.

    Empty and zero entries may be left out. So may `supply`, which is then everything that is nowhere else.
    """
    seats, board = table.setup.seats, table.board
    none = [0] * seats
    table.round = document.integer("round", 1, table.last_round)
    table.phase = document.choice("phase", _PHASES)
    table.first_seat = document.integer("first_seat", 0, seats - 1, 0)
    if table.phase in (Phase.PLAN, Phase.OVER):
        table.seat = table.first_seat
        if document.has("seat"):
            document.note("seat", f"is for nobody in the phase {table.phase.name}; leave it out")
    else:
        table.seat = document.integer("seat", 0, seats - 1)
    table.score = document.integers("score", 0, _MOST, seats, none)
    table.earned = [
        tuple(earned)
        for earned in document.counts_of_each("earned", _DISTRICT_NAMES, _MOST, seats, default=table.earned)
    ]
    table.home = _homes(document, seats)
    table.reserve = document.integers("reserve", 0, _MOST, seats)
    table.nest = document.integers("nest", 0, _MOST, seats, none)
    table.cemetery = document.integers("cemetery", 0, _MOST, seats, none)
    if document.has("loc"):
        places = document.table("loc")
        table.loc = [places.integers(name, 0, _MOST, seats, none) for name in _PLACES]
    table.grey = document.counts("grey", _PLACE_NAMES, board.greys, [0] * len(Place))
    table.grey_side = max(0, board.greys - sum(table.grey))
    if document.has("piazza"):
        pigeons = document.table("piazza")
        table.piazza = [pigeons.integer(name, 0, seats - 1, NONE) for name in _SQUARES]
    table.tourists = _squares(document, "tourists")
    table.hunters = _squares(document, "hunters")
    table.danger = table.grid.danger(table.hunters)
    table.raptor = document.choice("raptor", _numbers(_PLACES), NONE)
    table.grey_owner = document.integer("grey_owner", 0, seats - 1, NONE)
    table.discard = document.counts_of_each("discard", _CARD_NAMES, table.round, seats, default=table.discard)
    if document.has("plan"):
        for seat, plan in enumerate(document.tables_of_each("plan", seats)):
            _read_plan(table, seat, plan)
    if document.has("majority"):
        majority = document.table("majority")
        table.majority = [majority.integer(name, 0, seats - 1, NONE) for name in _DISTRICT_NAMES]
    table.unmoved = frozenset(_squares(document, "unmoved"))
    table.chain = tuple(int(square) for square in document.choices("chain", _SQUARES, ()))
    table.waiting = tuple(document.integers("waiting", 0, seats - 1, None, ()))
    table.slot = document.integer("slot", 0, len(Place), 0)
    table.card_place = document.choice("card_place", _numbers(_PLACES), NONE)
    table.card_count = document.integer("card_count", 0, _MOST, 0)
    table.grey_untouched = document.counts("grey_untouched", _PLACE_NAMES, board.greys, [0] * len(Place))
    # The supply comes last, because by default it is what all other entries leave.
    supply = [max(0, board.pigeons - pigeons_outside_supply(table, seat)) for seat in range(seats)]
    table.supply = document.integers("supply", 0, _MOST, seats, supply)


def _homes(document: Document, seats: int) -> list[int]:
    homes = document.raw("home", [None] * seats)
    words = homes if isinstance(homes, list) and len(homes) == seats else ["?"] * seats
    if any(word is not None and (not isinstance(word, str) or word not in _PLACES) for word in words):
        document.note("home", f"must have {seats} places of {', '.join(_PLACES)}, or null for a seat without a home")
        return [NONE] * seats
    return [NONE if word is None else int(_PLACES[word]) for word in words]


def _numbers(names: Mapping[str, N]) -> dict[str, int]:
    return {name: int(member) for name, member in names.items()}


def _squares(document: Document, key: str) -> tuple[int, ...]:
    return tuple(sorted(int(square) for square in document.choices(key, _SQUARES, ())))


def _read_plan(table: Table, seat: int, document: Document) -> None:
    chosen = tuple(document.choices("chosen", _PLACES, ()))
    slots, piles = [], []
    if document.has("slots"):
        for entry in document.tables("slots"):
            slots.append(entry.choice("place", _PLACES))
            piles.append(entry.integer("pigeons", 0, _MOST))
    table.piles[seat] = piles
    table.first_count[seat] = document.integer("first_count", 0, _MOST, 0)
    table.plans[seat] = Plan(
        document.choice("step", _STEPS, Step.FIRST),
        document.choice("first", _FIRSTS, None),
        document.choice("action", _CARDS, None),
        chosen,
        tuple(document.integers("counts", 0, _MOST, None, ())),
        tuple(slots),
    )


def pigeons_outside_supply(table: Table, seat: int) -> int:
    """Return the number of a seat's pigeons outside its supply (I1)."""
    on_cards = table.first_count[seat] + sum(table.piles[seat])
    in_places = sum(row[seat] for row in table.loc)
    piazza = table.on_piazza(seat)
    return table.reserve[seat] + table.nest[seat] + table.cemetery[seat] + on_cards + in_places + piazza
