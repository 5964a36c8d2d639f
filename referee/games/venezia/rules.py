"""The rules of play (RULES.md, section 4): set-up, legal actions, and the effects of actions.

`planning.py` handles the plans, `piazza.py` the Piazza, and `flow.py` the consequences that need no decision. Each
phase has a function that lists its actions, and each kind of action has a function that plays it. The lists offer a
choice, and the checks in the playing functions name the broken rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from referee.game import Action, Chance, IllegalAction, Seat
from referee.games.venezia import actions as act
from referee.games.venezia import flow, piazza, planning
from referee.games.venezia.names import CARDS, DISTRICTS, ActionCard, Phase, Place, Square, Step
from referee.games.venezia.table import NONE, Table
from referee.named import named

# Constants, because looking up a member of an enum is slow on the hot path.
_PLAN: Final = Phase.PLAN
_OVER: Final = Phase.OVER
_COMMITTED: Final = Step.COMMITTED
_MOVE: Final = Phase.MOVE
_CHAIN: Final = Phase.CHAIN

# --- set-up (section 3) -----------------------------------------------------------------------------


def set_up(table: Table, chance: Chance) -> None:
    """Lay out the pieces on an empty table."""
    board, seats = table.board, table.setup.seats
    table.reserve = [board.start_reserve] * seats  # Z1.2
    table.supply = [board.pigeons - board.start_reserve] * seats
    table.grey_side = board.greys
    if table.setup.options["first_player"] == "random":  # Z1.3
        table.first_seat = chance.stream("first_player").below(seats)
    table.seat = table.first_seat


# --- legal actions (section 5) --------------------------------------------------------------------------


def seats_to_act(table: Table) -> tuple[Seat, ...]:
    """Return the seats with unfinished plans; outside planning, return the current seat, unless the match is over."""
    if table.phase is _PLAN:
        return tuple([seat for seat, plan in enumerate(table.plans) if plan.step is not _COMMITTED])
    return () if table.phase is _OVER else (table.seat,)


def is_to_act(table: Table, seat: Seat) -> bool:
    """Return whether a seat is one of those that `seats_to_act` returns."""
    if table.phase is _PLAN:
        return 0 <= seat < len(table.plans) and table.plans[seat].step is not _COMMITTED
    return seat == table.seat and table.phase is not _OVER


def legal_actions(table: Table, seat: Seat) -> list[Action]:
    """Return all legal actions of a seat that is to act, in the order of the table in RULES.md, section 5."""
    if table.phase is _PLAN:
        return planning.legal(table, seat)
    return _LEGAL[table.phase](table)


def _homes(table: Table) -> tuple[Place, ...]:
    return tuple(Place) if table.setup.options["home_sgm"] == "allowed" else DISTRICTS


def _legal_homes(table: Table) -> list[Action]:
    return [act.HOMES[place] for place in _homes(table) if place not in table.home]


def _legal_feints(table: Table) -> list[Action]:
    return list(act.FEINTS[: table.first_count[table.seat] + 1])


def _legal_places(table: Table) -> list[Action]:
    found: list[Action] = [act.PLACES[square] for square in table.grid.usable if table.piazza[square] == NONE]
    found.append(act.DONE)
    return found


def _legal_moves(table: Table) -> list[Action]:
    return [*piazza.legal_moves(table), act.DONE]


def _legal_in_chain(table: Table) -> list[Action]:
    return [*piazza.jumps_from(table, table.chain[-1]), act.STOP]


def _legal_families(table: Table) -> list[Action]:
    return [act.FAMILIES[place] for place in DISTRICTS]


def _legal_reinforcements(table: Table) -> list[Action]:
    return list(act.REINFORCES[: table.nest[table.seat] + 1])


def _legal_fehde(table: Table) -> list[Action]:
    pigeons = table.loc[table.card_place]
    found: list[Action] = [act.FEHDES[seat] for seat, count in enumerate(pigeons) if count and seat != table.seat]
    found.append(act.SKIP)
    return found


def _legal_takeovers(table: Table) -> list[Action]:
    return [act.TAKEOVERS[place] for place in DISTRICTS if flow.has_opponents(table, place)]


def _from_reserve_limits(table: Table) -> tuple[int, int]:
    """Return the minimum and maximum number of replacing pigeons that can come from the reserve (Z8.3)."""
    seat, wanted = table.seat, table.card_count
    return max(0, wanted - table.nest[seat]), min(wanted, table.reserve[seat])


def _legal_from_reserve(table: Table) -> list[Action]:
    low, high = _from_reserve_limits(table)
    return list(act.FROM_RESERVES[low : high + 1])


def _legal_poisons(table: Table) -> list[Action]:
    found: list[Action] = [act.POISONS[square] for square, owner in enumerate(table.piazza) if owner != NONE]
    found.append(act.DONE)
    return found


def _legal_raptors(table: Table) -> list[Action]:
    return list(act.RAPTORS)


def _legal_purges(table: Table) -> list[Action]:
    return [act.PURGES[place][seat] for place in DISTRICTS for seat, count in enumerate(table.loc[place]) if count]


def _legal_greys(table: Table) -> list[Action]:
    places = flow.open_to_vatican_and_feud(table)
    found: list[Action] = [act.GREY_ADDS[place] for place in places] if table.grey_side else []
    for start in places:
        # Greys that this execution has added or moved are not among these, because each is touched only once (Z8.8).
        if table.grey_untouched[start]:
            found += [act.GREY_MOVES[start][end] for end in places if end is not start]
    return found


def _legal_recoveries(table: Table) -> list[Action]:
    found: list[Action] = [act.RECOVERS[card] for card in flow.recoverable(table, table.seat)]
    found.append(act.RECOVERS[ActionCard.NONE])
    return found


def _most_from_cemetery(table: Table) -> int:
    return min(table.board.from_cemetery, table.cemetery[table.seat])


def _legal_micheles(table: Table) -> list[Action]:
    return list(act.MICHELES[: _most_from_cemetery(table) + 1])


def _no_actions(table: Table) -> list[Action]:
    return []


_LEGAL: dict[Phase, Callable[[Table], list[Action]]] = {
    Phase.HOME: _legal_homes,
    Phase.FEINT: _legal_feints,
    Phase.PLACE: _legal_places,
    Phase.MOVE: _legal_moves,
    Phase.CHAIN: _legal_in_chain,
    Phase.FAMILY: _legal_families,
    Phase.REINFORCE: _legal_reinforcements,
    Phase.FEHDE: _legal_fehde,
    Phase.TAKEOVER: _legal_takeovers,
    Phase.FROM_RESERVE: _legal_from_reserve,
    Phase.POISON: _legal_poisons,
    Phase.RAPTOR: _legal_raptors,
    Phase.PURGE: _legal_purges,
    Phase.GREY: _legal_greys,
    Phase.RECOVER: _legal_recoveries,
    Phase.MICHELE: _legal_micheles,
    Phase.OVER: _no_actions,
}


# --- playing an action --------------------------------------------------------------------------------


def apply(table: Table, seat: Seat, action: Action, chance: Chance) -> None:
    """Play an action; see `referee.game.State.apply`."""
    play = HANDLERS.get(type(action))
    if play is None:
        raise IllegalAction(f"{action!r} is not an action of venezia")
    if table.phase is _OVER:
        raise IllegalAction("the match is over", "Z12.1")
    if not is_to_act(table, seat):
        raise IllegalAction(f"seat {seat} is not to act", "Z2.6" if table.phase is _PLAN else "Z0.1")
    # `done` ends a step of a plan and several phases, so the phase decides which function plays it.
    if table.phase is _PLAN:
        planning.play(table, seat, action)
        flow.after_plan(table, chance)
    else:
        play(table, action, chance)


def _check_phase(table: Table, phase: Phase, rule: str) -> None:
    if table.phase is not phase:
        raise IllegalAction(f"this is not possible now, in phase {table.phase.name}", rule)


def _check_number(number: int, low: int, high: int, rule: str) -> None:
    if not low <= number <= high:
        raise IllegalAction(f"{low} to {high} are possible, not {number}", rule)


def _play_home(table: Table, action: act.Home, chance: Chance) -> None:
    _check_phase(table, Phase.HOME, "Z1.4")
    place = named(Place, action.place)
    if place in table.home or place not in _homes(table):
        raise IllegalAction(f"{place.name} cannot be a home, or is already one", "Z1.4")
    table.home[table.seat] = int(place)
    if NONE in table.home:
        table.seat = (table.seat + 1) % table.setup.seats
    else:
        flow.begin_round(table)


def _play_plan(table: Table, action: Action, chance: Chance) -> None:
    raise IllegalAction(f"plans are made already; this is phase {table.phase.name}", "Z2.6")


def _play_feint(table: Table, action: act.Feint, chance: Chance) -> None:
    _check_phase(table, Phase.FEINT, "Z3.2")
    seat = table.seat
    _check_number(action.pigeons, 0, table.first_count[seat], "Z3.2")
    table.piles[seat][table.slot] += action.pigeons
    table.first_count[seat] -= action.pigeons
    table.slot += 1
    if not table.first_count[seat] or table.slot == len(table.piles[seat]):  # what is left goes back (Z3.2)
        flow.end_first_card(table, chance)


def _play_place(table: Table, action: act.PlacePigeon, chance: Chance) -> None:
    _check_phase(table, Phase.PLACE, "Z3.3")
    square = named(Square, action.square)
    if square not in table.grid.usable or table.piazza[square] != NONE:
        raise IllegalAction(f"{square.name} is not empty, or blocked by the Campanile", "Z3.3")
    table.piazza[square] = table.seat
    table.first_count[table.seat] -= 1
    if not table.first_count[table.seat]:
        flow.end_first_card(table, chance)


def _play_done(table: Table, action: act.Done, chance: Chance) -> None:
    if table.phase is Phase.PLACE:
        flow.end_first_card(table, chance)
    elif table.phase is _MOVE:
        flow.end_moves(table)
    else:
        _check_phase(table, Phase.POISON, "Z5.1")
        flow.end_card(table)


def _move_pigeon(table: Table, start: int, end: int) -> None:
    table.piazza[start] = NONE
    table.piazza[end] = table.seat
    table.unmoved -= {start}


def _check_start(table: Table, start: Square) -> None:
    if start not in table.unmoved:
        raise IllegalAction(f"no pigeon of the seat on {start.name} has still to move", "Z5.1")


def _play_walk(table: Table, action: act.Walk, chance: Chance) -> None:
    _check_phase(table, _MOVE, "Z5.2")
    start, end = named(Square, action.start), named(Square, action.end)
    _check_start(table, start)
    if end not in table.grid.neighbours[start] or table.piazza[end] != NONE or table.danger >> end & 1:
        raise IllegalAction(f"{end.name} is not a free neighbour of {start.name} outside the danger zone", "Z5.2")
    _move_pigeon(table, start, end)


def _play_jump(table: Table, action: act.Jump, chance: Chance) -> None:
    start, end = named(Square, action.start), named(Square, action.end)
    if table.phase is _CHAIN:
        if start != table.chain[-1]:
            raise IllegalAction(f"the pigeon on {Square(table.chain[-1]).name} is jumping", "Z5.6")
        if end in table.chain:
            raise IllegalAction(f"the pigeon has been on {end.name} in this chain", "Z5.4")
    else:
        _check_phase(table, _MOVE, "Z5.3")
        _check_start(table, start)
    over = next((between for between, reached in table.grid.jumps[start] if reached == end), NONE)
    if over == NONE or not piazza.can_jump(table, over, end):
        raise IllegalAction(
            f"{start.name} to {end.name} does not jump over one pigeon or tourist to a free square", "Z5.3"
        )
    _move_pigeon(table, start, end)
    # The start belongs to the chain: the pigeon may not land there, either (Z5.4).
    table.chain = (*(table.chain or (int(start),)), int(end))
    if piazza.jumps_from(table, end):  # this leaves out the squares of the chain, including `end`
        table.phase = _CHAIN
    else:  # Z5.4
        _end_chain(table)


def _play_stop(table: Table, action: act.Stop, chance: Chance) -> None:
    _check_phase(table, _CHAIN, "Z5.4")
    _end_chain(table)


def _end_chain(table: Table) -> None:
    table.chain = ()
    table.phase = _MOVE


def _district(place: int, rule: str) -> Place:
    district = named(Place, place)
    if district not in DISTRICTS:
        raise IllegalAction(f"{district.name} is not a district", rule)
    return district


def _play_family(table: Table, action: act.Family, chance: Chance) -> None:
    _check_phase(table, Phase.FAMILY, "Z8.1")
    district = _district(action.district, "Z8.1")
    # All nests go there, even those of opponents.
    table.loc[district] = [own + nest for own, nest in zip(table.loc[district], table.nest, strict=True)]
    table.nest = [0] * table.setup.seats
    flow.end_family(table)


def _play_reinforce(table: Table, action: act.Reinforce, chance: Chance) -> None:
    _check_phase(table, Phase.REINFORCE, "Z7.3")
    seat = table.seat
    _check_number(action.pigeons, 0, table.nest[seat], "Z7.3")
    table.nest[seat] -= action.pigeons
    table.loc[table.home[seat]][seat] += action.pigeons
    flow.end_reinforcement(table)


def _play_fehde(table: Table, action: act.Fehde, chance: Chance) -> None:
    _check_phase(table, Phase.FEHDE, "Z8.2")
    pigeons = table.loc[table.card_place]
    if not 0 <= action.seat < table.setup.seats or action.seat == table.seat or not pigeons[action.seat]:
        raise IllegalAction(
            f"seat {action.seat} is not an opponent with a pigeon in {Place(table.card_place).name}", "Z8.2"
        )
    pigeons[action.seat] -= 1
    table.reserve[action.seat] += 1
    _go_on_with_fehde(table)


def _play_skip(table: Table, action: act.Skip, chance: Chance) -> None:
    _check_phase(table, Phase.FEHDE, "Z8.2")
    _go_on_with_fehde(table)


def _go_on_with_fehde(table: Table) -> None:
    if not flow.next_fehde(table):
        flow.end_card(table)


def _play_takeover(table: Table, action: act.Takeover, chance: Chance) -> None:
    _check_phase(table, Phase.TAKEOVER, "Z8.3")
    district = _district(action.district, "Z8.3")
    if not flow.has_opponents(table, district):
        raise IllegalAction(f"no opponent has a pigeon in {district.name}", "Z8.3")
    seat, pigeons = table.seat, table.loc[district]
    removed = sum(pigeons) - pigeons[seat]
    for other, count in enumerate(pigeons):
        if other != seat:
            table.reserve[other] += count
            pigeons[other] = 0
    table.card_place = int(district)
    # The seat may have too few pigeons to replace all that have left; those on cards are not in the reserve (R18).
    table.card_count = min(removed, table.reserve[seat] + table.nest[seat])
    low, high = _from_reserve_limits(table)
    if low < high:
        table.phase = Phase.FROM_RESERVE
    else:
        _replace(table, low)


def _play_from_reserve(table: Table, action: act.FromReserve, chance: Chance) -> None:
    _check_phase(table, Phase.FROM_RESERVE, "Z8.3")
    _check_number(action.pigeons, *_from_reserve_limits(table), "Z8.3")
    _replace(table, action.pigeons)


def _replace(table: Table, from_reserve: int) -> None:
    seat = table.seat
    table.reserve[seat] -= from_reserve
    table.nest[seat] -= table.card_count - from_reserve
    table.loc[table.card_place][seat] += table.card_count
    flow.end_card(table)


def _play_poison(table: Table, action: act.Poison, chance: Chance) -> None:
    _check_phase(table, Phase.POISON, "Z8.4")
    square = named(Square, action.square)
    if table.piazza[square] == NONE:
        raise IllegalAction(f"there is no pigeon on {square.name}", "Z8.4")
    piazza.bury(table, square)
    table.card_count += 1
    # On an empty Piazza there is nothing left to choose.
    if table.card_count == table.board.poisoned or all(owner == NONE for owner in table.piazza):
        flow.end_card(table)


def _play_raptor(table: Table, action: act.Raptor, chance: Chance) -> None:
    _check_phase(table, Phase.RAPTOR, "Z8.5")
    table.raptor = int(named(Place, action.place))
    flow.end_card(table)


def _play_purge(table: Table, action: act.Purge, chance: Chance) -> None:
    _check_phase(table, Phase.PURGE, "Z8.7")
    district = _district(action.district, "Z8.7")
    if not 0 <= action.seat < table.setup.seats or not table.loc[district][action.seat]:
        raise IllegalAction(f"seat {action.seat} has no pigeon in {district.name}", "Z8.7")
    table.reserve[action.seat] += table.loc[district][action.seat]
    table.loc[district][action.seat] = 0
    flow.end_card(table)


def _grey_place(table: Table, place: int) -> Place:
    chosen = named(Place, place)
    if chosen not in flow.open_to_vatican_and_feud(table):
        raise IllegalAction(f"greys cannot go to or from {chosen.name}", "Z8.8")
    return chosen


def _play_grey_add(table: Table, action: act.GreyAdd, chance: Chance) -> None:
    _check_phase(table, Phase.GREY, "Z8.8")
    place = _grey_place(table, action.district)
    if not table.grey_side:
        raise IllegalAction("no grey pigeon is left at the side", "Z8.8")
    table.grey_side -= 1
    table.grey[place] += 1
    _end_grey_operation(table)


def _play_grey_move(table: Table, action: act.GreyMove, chance: Chance) -> None:
    _check_phase(table, Phase.GREY, "Z8.8")
    start, end = _grey_place(table, action.start), _grey_place(table, action.end)
    if not table.grey_untouched[start]:
        raise IllegalAction(f"{start.name} has no grey pigeon that is still untouched", "Z8.8")
    if start is end:
        raise IllegalAction("a grey pigeon moves to another place", "Z8.8")
    table.grey_untouched[start] -= 1
    table.grey[start] -= 1
    table.grey[end] += 1
    _end_grey_operation(table)


def _end_grey_operation(table: Table) -> None:
    table.card_count += 1
    if table.card_count == table.board.grey_operations:
        table.grey_owner = table.seat  # only now: the greys are added or moved first (Z8.8)
        flow.end_card(table)


def _play_recover(table: Table, action: act.Recover, chance: Chance) -> None:
    _check_phase(table, Phase.RECOVER, "Z10.3")
    card = named(ActionCard, action.card)
    if card is not ActionCard.NONE:
        if card not in flow.recoverable(table, table.seat):
            raise IllegalAction(f"{card.name} was not executed in an earlier round", "Z10.3")
        table.discard[table.seat][CARDS.index(card)] = 0  # 0: it is in the hand again
    flow.begin_michele(table)


def _play_michele(table: Table, action: act.Michele, chance: Chance) -> None:
    _check_phase(table, Phase.MICHELE, "Z10.4")
    _check_number(action.pigeons, 0, _most_from_cemetery(table), "Z10.4")
    table.cemetery[table.seat] -= action.pigeons
    table.reserve[table.seat] += action.pigeons
    flow.end_round(table)


HANDLERS: dict[type[Action], Callable[[Table, Any, Chance], None]] = {
    act.Home: _play_home,
    act.First: _play_plan,
    act.Card: _play_plan,
    act.District: _play_plan,
    act.Count: _play_plan,
    act.Feint: _play_feint,
    act.PlacePigeon: _play_place,
    act.Walk: _play_walk,
    act.Jump: _play_jump,
    act.Stop: _play_stop,
    act.Done: _play_done,
    act.Family: _play_family,
    act.Reinforce: _play_reinforce,
    act.Fehde: _play_fehde,
    act.Skip: _play_skip,
    act.Takeover: _play_takeover,
    act.FromReserve: _play_from_reserve,
    act.Poison: _play_poison,
    act.Raptor: _play_raptor,
    act.Purge: _play_purge,
    act.GreyAdd: _play_grey_add,
    act.GreyMove: _play_grey_move,
    act.Recover: _play_recover,
    act.Michele: _play_michele,
}
"""The function that plays each type of action, in the order of the table in RULES.md, section 5."""


# --- defaults (section 5) -------------------------------------------------------------------------------


def default_action(table: Table, seat: Seat) -> Action:
    """Return the action for a seat that is out of the match or out of time: column D in RULES.md, section 5."""
    legal = legal_actions(table, seat)
    if table.phase is _PLAN:
        # In any other step, the default is the first action: the Feint, no card, or the fewest pigeons.
        return act.DONE if act.DONE in legal else legal[0]
    if table.phase is Phase.FAMILY:
        home = table.home[seat]
        return act.FAMILIES[home] if home in DISTRICTS else legal[0]
    if table.phase is Phase.PURGE:
        others = [action for action in legal if isinstance(action, act.Purge) and action.seat != seat]
        return (others or legal)[0]
    if table.phase in _DEFAULT_IS_FIRST:
        return legal[0]
    # In all other phases, the default is the last action: `done`, `stop`, `skip`, no card, or the largest number.
    return legal[-1]


_DEFAULT_IS_FIRST = {Phase.HOME, Phase.FEINT, Phase.REINFORCE, Phase.TAKEOVER, Phase.RAPTOR, Phase.GREY}
