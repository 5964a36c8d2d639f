"""The Piazza: walks, jumps, captures, births, tourists and hunters (RULES.md, Z4 to Z6)."""

from __future__ import annotations

from collections.abc import Iterable

from referee.game import Action, Chance, Seat
from referee.games.venezia.grid import ALL_AXES, STRAIGHT_AXES, bits
from referee.games.venezia.table import NONE, Table


def spin(table: Table, chance: Chance) -> None:
    """Place tourists and hunters, and remove the pigeons in the danger zone (Z4)."""
    options = table.setup.options
    tourists: list[int] = []
    for _ in range(_number(options["tourists"])):
        tourists.append(_spin_one(table, chance, "tourist", tourists))
    hunters: list[int] = []
    for _ in range(_number(options["hunters"])):
        hunters.append(_spin_one(table, chance, "hunter", tourists + hunters))
    # Squares are sorted, because the order of the spins means nothing, and equal squares must make equal states.
    table.tourists, table.hunters = tuple(sorted(tourists)), tuple(sorted(hunters))
    table.danger = table.grid.danger(hunters)  # once all hunters are in place (Z4.4)
    for square in table.grid.usable:
        if table.danger >> square & 1:
            bury(table, square)  # Z4.4


def _number(option: object) -> int:
    return option if isinstance(option, int) else 0


def _spin_one(table: Table, chance: Chance, stream: str, taken: list[int]) -> int:
    """Draw a free square; this has the same effect as spinning until the square is free (Z4.1, Z4.3)."""
    free = [square for square in table.grid.usable if square not in taken]
    return free[chance.stream(stream).below(len(free))]


def bury(table: Table, square: int) -> None:
    """Move the pigeon on a square, if there is one, to the cemetery."""
    seat = table.piazza[square]
    if seat != NONE:
        table.piazza[square] = NONE
        table.cemetery[seat] += 1


def legal_moves(table: Table) -> list[Action]:
    """Return the walks, then the jumps, of the pigeons that have not moved (Z5.2, Z5.3)."""
    piazza, danger, walks = table.piazza, table.danger, table.grid.walk_actions
    pigeons = sorted(table.unmoved)
    found: list[Action] = [
        walk for start in pigeons for end, walk in walks[start] if piazza[end] == NONE and not danger >> end & 1
    ]
    for start in pigeons:
        found += jumps_from(table, start)
    return found


def jumps_from(table: Table, start: int) -> list[Action]:
    """Return the jumps of a pigeon, in an open chain or at the beginning of one (Z5.3, Z5.4)."""
    return [jump for over, end, jump in table.grid.jump_actions[start] if can_jump(table, over, end)]


def can_jump(table: Table, over: int, end: int) -> bool:
    """Return whether a pigeon may jump over a square to the one beyond it (Z5.3, Z5.4)."""
    piazza, danger = table.piazza, table.danger
    return (
        piazza[end] == NONE
        and not danger >> end & 1
        # A hunter is neither a pigeon nor a tourist, and no jump of the grid leads over the Campanile (R10).
        and (piazza[over] != NONE or over in table.tourists)
        and (not danger >> over & 1 or bool(table.setup.options["jump_over_danger"]))
        and end not in table.chain
    )


def capture(table: Table, seat: Seat) -> None:
    """Remove each opposing pigeon that is alone between two pigeons of the seat (Z6.1, Z6.2)."""
    piazza, steps = table.piazza, table.grid.steps
    axes = ALL_AXES if table.setup.options["capture_diagonal"] else STRAIGHT_AXES
    captured = []
    for square, owner in enumerate(piazza):
        if owner in (NONE, seat):
            continue
        around = steps[square]
        for one, other in axes:
            if around[one] >= 0 and around[other] >= 0 and piazza[around[one]] == seat == piazza[around[other]]:
                captured.append(square)
                break
    for square in captured:
        bury(table, square)


def births(table: Table, seat: Seat) -> int:
    """Return the number of pigeons born to a seat's pigeons (Z6.3); the supply may contain fewer."""
    board = table.board
    tourists = bits(table.tourists)
    around = table.grid.around
    total = 0
    for square in pigeons_of(table, seat):
        same, adjacent = tourists >> square & 1, (tourists & around[square]).bit_count()
        if table.setup.options["births_rule"] == "per_tourist":
            total += same * board.born_same + adjacent * board.born_adjacent
        elif same:  # a pigeon breeds only once; a tourist on its own square takes precedence (R15)
            total += board.born_same
        elif adjacent:
            total += board.born_adjacent
    return total


def pigeons_of(table: Table, seat: Seat) -> Iterable[int]:
    """Return the squares with a seat's pigeons, in ascending order."""
    return [square for square, owner in enumerate(table.piazza) if owner == seat]
