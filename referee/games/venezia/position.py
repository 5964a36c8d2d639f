"""Positions: a table as JSON with the names of RULES.md, section 2, and what can be wrong with one (section 9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import TypeVar

from referee.game import JsonObject
from referee.games.venezia import flow, planning, rules
from referee.games.venezia.names import CARDS, DISTRICTS, ActionCard, FirstCard, Phase, Place, Square, Step
from referee.games.venezia.table import NO_PLAN, NONE, Plan, Table
from referee.kit.document import Document

N = TypeVar("N", bound=IntEnum)

_PLACES = {place.name.lower(): place for place in Place}
_PLACE_NAMES = tuple(_PLACES)
_SQUARES = {square.name.lower(): square for square in Square}
_SQUARE_NAMES = tuple(_SQUARES)
_FIRSTS = {card.name.lower(): card for card in FirstCard}
_CARDS = {card.name.lower(): card for card in ActionCard}
_STEPS = {step.name: step for step in Step}
_PHASES = {phase.name: phase for phase in Phase}
_MOST = 100_000  # bounds every number of a position


def to_json(table: Table) -> JsonObject:
    """The position, as `read` reads it; what can be left out when written by hand is in it all the same."""
    data: JsonObject = {
        "round": table.round,
        "first_seat": table.first_seat,
        "phase": table.phase.name,
        "score": list(table.score),
        "home": [None if home == NONE else _PLACE_NAMES[home] for home in table.home],
        "supply": list(table.supply),
        "reserve": list(table.reserve),
        "nest": list(table.nest),
        "cemetery": list(table.cemetery),
        "loc": {name: list(row) for name, row in zip(_PLACES, table.loc, strict=True) if any(row)},
        "grey": {name: count for name, count in zip(_PLACES, table.grey, strict=True) if count},
        "piazza": {_SQUARE_NAMES[square]: seat for square, seat in enumerate(table.piazza) if seat != NONE},
        "tourists": [_SQUARE_NAMES[square] for square in table.tourists],
        "hunters": [_SQUARE_NAMES[square] for square in table.hunters],
        "discard": [
            {card.name.lower(): when for card, when in zip(CARDS, row, strict=True) if when} for row in table.discard
        ],
        "plan": [_plan_to_json(table, seat) for seat in range(table.setup.seats)],
        "majority": {_PLACE_NAMES[place]: seat for place, seat in enumerate(table.majority) if seat != NONE},
        "unmoved": [_SQUARE_NAMES[square] for square in sorted(table.unmoved)],
        "chain": [_SQUARE_NAMES[square] for square in table.chain],
        "waiting": list(table.waiting),
        "slot": table.slot,
        "card_count": table.card_count,
        "grey_untouched": {name: count for name, count in zip(_PLACES, table.grey_untouched, strict=True) if count},
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
    data: JsonObject = {"step": plan.step.name, "chosen": _names(plan.chosen), "counts": list(plan.counts)}
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


def _names(members: Iterable[IntEnum]) -> list[str]:
    return [member.name.lower() for member in members]


def read(table: Table, document: Document) -> None:
    """Fills an empty table from a position.

    What is empty or 0 may be left out, and `supply`: it is then what is nowhere else.
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
            document.raw("seat", None)
    else:
        table.seat = document.integer("seat", 0, seats - 1)
    table.score = document.integers("score", 0, _MOST, seats, none)
    homes = document.raw("home", [None] * seats)
    if (
        not isinstance(homes, list)
        or len(homes) != seats
        or any(home is not None and home not in _PLACES for home in homes)
    ):
        document.note("home", f"must have {seats} places of {', '.join(_PLACES)}, or null for a seat without a home")
    else:
        table.home = [NONE if home is None else int(_PLACES[home]) for home in homes]
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
        table.piazza = [pigeons.integer(name, 0, seats - 1) if pigeons.has(name) else NONE for name in _SQUARES]
    table.tourists = _squares(document, "tourists")
    table.hunters = _squares(document, "hunters")
    table.danger = table.grid.danger(table.hunters)
    table.raptor = document.choice("raptor", _numbers(_PLACES), NONE)
    table.grey_owner = document.integer("grey_owner", 0, seats - 1) if document.has("grey_owner") else NONE
    card_names = [card.name.lower() for card in CARDS]
    if document.has("discard"):
        rows = _tables(document, "discard", seats)
        table.discard = [[row.integer(name, 0, table.round, 0) for name in card_names] for row in rows]
    if document.has("plan"):
        for seat, plan in enumerate(_tables(document, "plan", seats)):
            _read_plan(table, seat, plan)
    if document.has("majority"):
        majority = document.table("majority")
        names = _PLACE_NAMES[: len(DISTRICTS)]
        table.majority = [majority.integer(name, 0, seats - 1) if majority.has(name) else NONE for name in names]
    table.unmoved = frozenset(_squares(document, "unmoved"))
    table.chain = tuple(int(square) for square in document.choices("chain", _SQUARES, ()))
    table.waiting = tuple(document.integers("waiting", 0, seats - 1, None, ()))
    table.slot = document.integer("slot", 0, len(Place), 0)
    table.card_place = document.choice("card_place", _numbers(_PLACES), NONE)
    table.card_count = document.integer("card_count", 0, _MOST, 0)
    table.grey_untouched = document.counts("grey_untouched", _PLACE_NAMES, board.greys, [0] * len(Place))
    supply = [max(0, board.pigeons - _pigeons_outside_supply(table, seat)) for seat in range(seats)]
    table.supply = document.integers("supply", 0, _MOST, seats, supply)


def _numbers(names: Mapping[str, N]) -> dict[str, int]:
    return {name: int(member) for name, member in names.items()}


def _squares(document: Document, key: str) -> tuple[int, ...]:
    return tuple(sorted(int(square) for square in document.choices(key, _SQUARES, ())))


def _tables(document: Document, key: str, seats: int) -> list[Document]:
    found = document.tables(key)
    if len(found) != seats:
        document.note(key, f"must have {seats} entries, one for each seat, not {len(found)}")
    return (found + [Document({}, key, []) for _ in range(seats)])[:seats]


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
        document.choice("first", _FIRSTS) if document.has("first") else None,
        document.choice("action", _CARDS) if document.has("action") else None,
        chosen,
        tuple(document.integers("counts", 0, _MOST, None, ())),
        tuple(slots),
    )


def _pigeons_outside_supply(table: Table, seat: int) -> int:
    on_cards = table.first_count[seat] + sum(table.piles[seat])
    in_places = sum(row[seat] for row in table.loc)
    piazza = table.on_piazza(seat)
    return table.reserve[seat] + table.nest[seat] + table.cemetery[seat] + on_cards + in_places + piazza


def problems(table: Table) -> list[str]:
    """Every broken invariant (section 9), with its number."""
    found: list[str] = []
    board = table.board
    for seat in range(table.setup.seats):
        found += _seat_problems(table, seat)
    if table.grey_side + sum(table.grey) != board.greys:
        found.append(f"I2: there are {table.grey_side + sum(table.grey)} grey pigeons, not {board.greys}")
    if table.grey[Place.SGM] and not table.setup.options["vatican_feud_sgm"]:
        found.append("I2: grey pigeons are on San Giorgio Maggiore only with the option vatican_feud_sgm")
    found += _piazza_problems(table)
    if len({home for home in table.home if home != NONE}) < sum(home != NONE for home in table.home):
        found.append("two seats have the same home (Z1.4)")
    if table.setup.options["home_sgm"] == "forbidden" and Place.SGM in table.home:
        found.append("San Giorgio Maggiore is a home only with the option home_sgm (Z1.4)")
    found += _phase_problems(table)
    return found


def _seat_problems(table: Table, seat: int) -> list[str]:
    found: list[str] = []
    board, plan = table.board, table.plans[seat]
    total = table.supply[seat] + _pigeons_outside_supply(table, seat)
    if total != board.pigeons:
        found.append(f"I1: seat {seat} has {total} pigeons, not {board.pigeons}")
    if table.on_piazza(seat) > board.piazza_limit:
        found.append(
            f"I3: seat {seat} has {table.on_piazza(seat)} pigeons on the Piazza; {board.piazza_limit} are allowed"
        )
    if any(when == 1 for when in table.discard[seat]):
        found.append(f"I6: seat {seat} has executed a card in round 1 (Z2.3)")
    if table.home[seat] == NONE and table.phase is not Phase.HOME:
        found.append(f"seat {seat} has no home, which belongs to the phase HOME only (Z1.4)")
    if table.phase is Phase.HOME:
        if plan != NO_PLAN:
            found.append(f"seat {seat} has a plan in the phase HOME")
    elif table.phase is Phase.PLAN:
        found += _open_plan_problems(table, seat)
    else:
        found += _made_plan_problems(table, seat)
    return [problem if problem.startswith(("I", "seat")) else f"seat {seat}: {problem}" for problem in found]


def _open_plan_problems(table: Table, seat: int) -> list[str]:
    """Whether a plan in the making can be made again, choice by choice."""
    if table.piles[seat] or table.first_count[seat] or table.plans[seat].slots:
        return ["slots and first_count come when all have committed (Z2.8)"]
    return _replan(table, seat)


def _replan(table: Table, seat: int) -> list[str]:
    plan = table.plans[seat]
    again = table.clone()
    again.plans[seat] = NO_PLAN
    actions = planning.actions_of(plan, table.board.district_cards)
    for action in actions:
        if action not in planning.legal(again, seat):
            return [f"the plan cannot be made: {action} is not possible (Z2)"]
        planning.play(again, seat, action)
    if again.plans[seat] != plan:
        return [f"the plan is at {again.plans[seat].step.name} by its choices, not at {plan.step.name} (Z2)"]
    return []


def _made_plan_problems(table: Table, seat: int) -> list[str]:
    plan = table.plans[seat]
    found = []
    if plan.step is not Step.COMMITTED or plan.first is None:
        found.append(f"the plan must be made in the phase {table.phase.name} (Z2.6)")
    if sorted(plan.slots) != sorted(plan.chosen) or len(set(plan.chosen)) < len(plan.chosen):
        found.append("slots must have the chosen places, each once (Z2.9)")
    if len(plan.chosen) > table.board.district_cards or len(plan.counts) != len(plan.chosen) + 1:
        found.append(
            f"a plan has up to {table.board.district_cards} places, and a count for the first card and each place (Z2.5)"
        )
    executed = table.discard[seat][plan.action - 1] if plan.action else 0
    if plan.action and (table.round == 1 or 0 < executed < table.round):
        found.append(f"{plan.action.name} is not in the hand (Z2.3)")
    if table.first_count[seat] and (table.phase not in (Phase.FEINT, Phase.PLACE)):
        found.append(f"I5: there are no pigeons on a first card in the phase {table.phase.name}")
    if table.phase in (Phase.RECOVER, Phase.MICHELE, Phase.OVER) and any(table.piles[seat]):
        found.append("I5: pigeons on district cards have been moved to the places (Z9.1)")
    return found


def _piazza_problems(table: Table) -> list[str]:
    found: list[str] = []
    options = table.setup.options
    placed = table.phase not in (Phase.HOME, Phase.PLAN, Phase.FEINT, Phase.PLACE)
    blocked = [square for square in Square if square not in table.grid.usable]
    for square in blocked:
        if table.piazza[square] != NONE or square in table.tourists + table.hunters:
            found.append(f"I3: {square.name.lower()} is blocked by the Campanile")
    for name, squares, number in (
        ("tourists", table.tourists, options["tourists"]),
        ("hunters", table.hunters, options["hunters"]),
    ):
        if len(squares) != (number if placed else 0):
            found.append(f"I8: there are {len(squares)} {name} in the phase {table.phase.name}")
    if set(table.tourists) & set(table.hunters):
        found.append("I8: a tourist and a hunter stand on one square")
    for place, seat in enumerate(table.piazza):
        if seat != NONE and table.danger >> place & 1:
            found.append(f"I4: the pigeon on {_SQUARE_NAMES[place]} is in the danger zone")
    moving = table.phase in (Phase.MOVE, Phase.CHAIN)
    if table.unmoved and not moving:
        found.append(f"unmoved belongs to the phases MOVE and CHAIN, not to {table.phase.name}")
    if any(table.piazza[square] != table.seat for square in table.unmoved):
        found.append("unmoved names a square without a pigeon of the seat")
    if moving and not table.on_piazza(table.seat):
        found.append(f"seat {table.seat} has no pigeon on the Piazza to move (Z6.4)")
    if (table.phase is Phase.CHAIN) != bool(table.chain):
        found.append("chain belongs to the phase CHAIN, and to no other")
    if table.chain:
        last = table.chain[-1]
        if len(table.chain) < 2 or table.piazza[last] != table.seat or last in table.unmoved:
            found.append("chain must end where a pigeon of the seat stands that has jumped (Z5.4)")
        elif len(rules.legal_actions(table, table.seat)) == 1:
            found.append("chain has ended: there is no further jump (Z5.4)")
    return found


_CARD_OF = {
    Phase.FAMILY: ActionCard.FAM,
    Phase.FEHDE: ActionCard.FEH,
    Phase.TAKEOVER: ActionCard.UEB,
    Phase.FROM_RESERVE: ActionCard.UEB,
    Phase.POISON: ActionCard.GIF,
    Phase.RAPTOR: ActionCard.RAU,
    Phase.PURGE: ActionCard.SAU,
    Phase.GREY: ActionCard.WEI,
}


def _phase_problems(table: Table) -> list[str]:
    """What the phase needs."""
    found: list[str] = []
    phase, seat = table.phase, table.seat
    if phase is Phase.HOME and table.home[seat] != NONE:
        found.append(f"seat {seat} has a home already (Z1.4)")
    if phase is Phase.PLAN and not rules.seats_to_act(table):
        found.append("all plans are made, so this is not the phase PLAN (Z2.7)")
    if phase in (Phase.FEINT, Phase.PLACE):
        wanted = FirstCard.FEINT if phase is Phase.FEINT else FirstCard.PIAZZA
        if table.plans[seat].first is not wanted or not table.first_count[seat]:
            found.append(f"phase {phase.name} needs pigeons on the card {wanted.name.lower()} of seat {seat} (Z3)")
    if phase is Phase.FEINT and table.slot >= len(table.piles[seat]):
        found.append("slot is beyond the last district card (Z3.2)")
    if table.slot and phase is not Phase.FEINT:
        found.append(f"slot belongs to the phase FEINT, not to {phase.name}")
    if phase in _CARD_OF and (
        not table.waiting or table.waiting[0] != seat or table.plans[seat].action is not _CARD_OF[phase]
    ):
        found.append(
            f"phase {phase.name} needs seat {seat} to execute {_CARD_OF[phase].name} first of those waiting (Z7.4)"
        )
    if any(not table.plans[other].action for other in table.waiting) or len(set(table.waiting)) < len(table.waiting):
        found.append("waiting names a seat without an action card, or one twice (Z7.4)")
    if table.waiting and phase not in _CARD_OF and phase is not Phase.REINFORCE:
        found.append(f"waiting belongs to the execution of cards, not to {phase.name}")
    if phase is Phase.REINFORCE and not table.nest[seat]:
        found.append(f"seat {seat} has no nest to reinforce from (Z7.3)")
    if phase is Phase.FEHDE and (table.card_place == NONE or not flow.has_opponents(table, table.card_place)):
        found.append("phase FEHDE needs an opposing pigeon in card_place (Z8.2)")
    if phase is Phase.FROM_RESERVE and (table.card_place == NONE or len(rules.legal_actions(table, seat)) < 2):
        found.append("phase FROM_RESERVE needs card_place, and a choice for card_count (Z8.3)")
    if phase in (Phase.TAKEOVER, Phase.PURGE) and not rules.legal_actions(table, seat):
        found.append(f"phase {phase.name} needs a district to choose (Z8)")
    if phase is Phase.POISON and table.card_count >= table.board.poisoned:
        found.append("card_count: no more pigeons can be poisoned (Z8.4)")
    if phase is Phase.GREY and table.card_count >= table.board.grey_operations:
        found.append("card_count: all grey pigeons are added or moved (Z8.8)")
    if any(one > other for one, other in zip(table.grey_untouched, table.grey, strict=True)):
        found.append("grey_untouched exceeds the greys in a place (Z8.8)")
    if phase is not Phase.GREY and any(table.grey_untouched):
        found.append(f"grey_untouched belongs to the phase GREY, not to {phase.name}")
    if phase is Phase.GREY and not rules.legal_actions(table, seat):
        found.append("phase GREY has no grey pigeon left to add or to move (Z8.8)")
    if phase is Phase.RECOVER and not flow.recoverable(table, seat):
        found.append(f"seat {seat} has no card to recover (Z10.3)")
    if phase is Phase.MICHELE and not table.cemetery[seat]:
        found.append(f"seat {seat} has no pigeon in the cemetery (Z10.4)")
    early = phase in (Phase.HOME, Phase.PLAN, Phase.FEINT, Phase.PLACE, Phase.MOVE, Phase.CHAIN)
    if early and (table.raptor != NONE or table.grey_owner != NONE):
        found.append("raptor and grey_owner are of this round's cards only (Z11.2)")
    if phase in (Phase.HOME, Phase.PLAN, Phase.FEINT, Phase.PLACE) and any(table.nest):
        found.append("I5: nests are empty until pigeons are born (Z11.3)")
    return found
