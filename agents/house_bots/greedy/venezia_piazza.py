"""Placing and moving on Venezia's Piazza, for the `greedy` policy (RULES.md, Z3.3, Z5, Z6)."""

from __future__ import annotations

from functools import cache
from typing import Final

from house_bots.greedy.venezia_outlook import View
from referee.game import Action, Seat
from referee.games.venezia import actions as act
from referee.games.venezia.grid import ALL_AXES, STRAIGHT_AXES, Grid
from referee.games.venezia.names import Square
from referee.games.venezia.table import NONE

CAPTURE = 2.0  # worth of a capture in a match with two seats
RISK = 0.6  # cost of standing where a rival may capture
CENTRE = 0.03  # worth of each square near a pigeon, for later rounds

_SQUARES: Final = len(Square)
_LEAST: Final = 1e-6  # the smallest gain that counts


class Ground:
    """The squares of a Piazza.

    Attributes:
        near: for each square, the square itself and its neighbours.
        within_two: for each square, the number of squares at most two steps away.
        axes: for each square, the pairs of opposite neighbours between which a pigeon is captured.
    """

    def __init__(self, grid: Grid, diagonal: bool) -> None:
        self.near = [[square, *grid.neighbours[square]] for square in range(_SQUARES)]
        self.within_two = [
            len({other for beside in self.near[square] for other in self.near[beside]}) for square in range(_SQUARES)
        ]
        axes = ALL_AXES if diagonal else STRAIGHT_AXES
        self.axes = [[(row[one], row[two]) for one, two in axes if row[one] >= 0 <= row[two]] for row in grid.steps]


@cache
def ground_of(grid: Grid, diagonal: bool) -> Ground:
    """Return the squares of a grid, with or without diagonal captures."""
    return Ground(grid, diagonal)


def square_values(view: View) -> list[float]:
    """Return the value of every square to a pigeon: the births expected there, plus future prospects."""
    table, board, ground = view.table, view.board, _ground(view)
    each = table.setup.options["births_rule"] == "per_tourist"
    found = [CENTRE * squares if view.left else 0.0 for squares in ground.within_two]
    if not table.supply[view.seat]:
        return found
    adjacent = [0] * _SQUARES
    for tourist in table.tourists:
        for square in ground.near[tourist]:
            adjacent[square] += square != tourist
    for square in range(_SQUARES):
        same = square in table.tourists
        beside = adjacent[square] if each else min(0 if same else 1, adjacent[square])
        if same or beside:
            found[square] = (board.born_same if same else 0) + board.born_adjacent * beside + found[square]
    return found


def _ground(view: View) -> Ground:
    return ground_of(view.table.grid, bool(view.table.setup.options["capture_diagonal"]))


def is_threatened(ground: Ground, owner: list[int], seat: Seat, square: int) -> bool:
    """Return whether a rival next to a square may capture there, because the opposite square is free or holds a rival's pigeon."""
    for one, two in ground.axes[square]:
        first, second = owner[one], owner[two]
        if first != seat and second != seat and (first != NONE or second != NONE):
            return True
    return False


def place_pigeons(view: View) -> list[Action]:
    """Cover as many squares as possible on which a tourist would make a pigeon breed."""
    table, ground, seat = view.table, _ground(view), view.seat
    owner, covered = table.piazza[:], [False] * _SQUARES
    fresh = [len(squares) for squares in ground.near]
    for square in range(_SQUARES):
        if owner[square] == seat:
            _cover(ground, square, covered, fresh)
    adjacent, more = view.board.born_adjacent, view.board.born_same - view.board.born_adjacent
    risk, plan = RISK * _SQUARES / 4, list[Action]()
    for _ in range(table.first_count[seat]):
        best, most = NONE, 0.0
        for square in table.grid.usable:
            if owner[square] != NONE:
                continue
            gain = float(adjacent * ground.within_two[square] + more * fresh[square])
            if best == NONE or gain > most:
                if is_threatened(ground, owner, seat, square):
                    gain -= risk
                if best == NONE or gain > most:
                    best, most = int(square), gain
        plan.append(act.PLACES[best])
        owner[best] = seat
        _cover(ground, best, covered, fresh)
    return plan


def _cover(ground: Ground, square: int, covered: list[bool], fresh: list[int]) -> None:
    """Cover the squares near a pigeon, and update `fresh`, the number of uncovered squares near each square."""
    for beside in ground.near[square]:
        if not covered[beside]:
            covered[beside] = True
            for other in ground.near[beside]:
                fresh[other] -= 1


class Mover:
    """The moves of a seat, planned one pigeon at a time."""

    def __init__(self, view: View) -> None:
        table, self._seat = view.table, view.seat
        self._ground, self._grid = _ground(view), table.grid
        self._owner = table.piazza[:]
        self._danger = [bool(table.danger >> square & 1) for square in range(_SQUARES)]
        self._tourists = table.tourists
        self._over_danger = bool(table.setup.options["jump_over_danger"])
        self._values = square_values(view)
        self._rivals = [at for at in range(_SQUARES) if self._owner[at] not in (NONE, self._seat)]
        self._beside = [False] * _SQUARES
        for rival in self._rivals:
            for square in self._ground.near[rival]:
                self._beside[square] = True
        self._hunted = CAPTURE / (view.seats - 1) if view.left or table.supply[view.seat] else 0.0
        self._chain = table.chain
        self._walks = not table.chain
        self._best = _LEAST
        self._start = self._end = NONE
        self._parents: list[int] = []

    def plan(self, unmoved: set[int]) -> list[Action]:
        """Move one pigeon at a time, always the one with the largest gain; then end the moves."""
        plan: list[Action] = []
        while True:
            self._best, self._end = _LEAST, NONE
            for start in sorted(unmoved):
                self._try(start)
            if self._end == NONE:
                return [*plan, act.DONE]
            plan += self._way()
            self._move(self._start, self._end)
            unmoved.discard(self._start)

    def plan_on(self) -> list[Action]:
        """Continue a chain of jumps if that gains anything; otherwise, stop."""
        self._try(self._chain[-1])
        return [act.STOP] if self._end == NONE else self._way()

    def _try(self, start: int) -> None:
        """Find the best end of a pigeon's move, and store it if it is the best so far."""
        now, here = self._captured(), self._standing(start)
        parents = [NONE] * _SQUARES
        for end in self._ends(start, parents):
            # Even the capture of all rivals would not make this end better.
            if self._values[end] - here + self._hunted * len(self._rivals) <= self._best:
                continue
            # Captures and threats can change only beside a rival.
            near = self._beside[end] or self._beside[start]
            gain = self._values[end] - here
            if near:
                self._move(start, end)
                gain = self._standing(end) - here + self._hunted * (self._captured() - now)
                self._move(end, start)
            if gain > self._best:
                self._best, self._start, self._end, self._parents = gain, start, end, parents

    def _ends(self, start: int, parents: list[int]) -> list[int]:
        """Return the squares that a pigeon can walk to, then those it can jump to; store the start of each jump in `parents`."""
        owner, danger = self._owner, self._danger
        found: list[int] = []
        if self._walks:
            found = [end for end in self._grid.neighbours[start] if owner[end] == NONE and not danger[end]]
        been = [start]
        for at in been:
            for over, end in self._grid.jumps[at]:
                if parents[end] == NONE and self._can_jump(start, over, end):
                    parents[end] = at
                    been.append(end)
        return found + [end for end in been[1:] if not (self._walks and end in self._grid.neighbours[start])]

    def _can_jump(self, start: int, over: int, end: int) -> bool:
        """Return whether a pigeon that began its move at `start` can jump over one square to another."""
        if self._owner[end] != NONE or self._danger[end] or end in self._chain:
            return False
        if self._danger[over] and not self._over_danger:
            return False
        return over in self._tourists or (self._owner[over] != NONE and over != start)

    def _way(self) -> list[Action]:
        start, end = self._start, self._end
        if self._parents[end] == NONE or (self._walks and end in self._grid.neighbours[start]):
            return [act.walk(start, end)]
        squares = [end]
        while squares[-1] != start:
            squares.append(self._parents[squares[-1]])
        squares.reverse()
        way: list[Action] = [act.jump(squares[at], squares[at + 1]) for at in range(len(squares) - 1)]
        # If a further jump is possible, the chain does not end by itself (Z5.4).
        for over, further in self._grid.jumps[end]:
            if further not in squares and self._can_jump(start, over, further):
                return [*way, act.STOP]
        return way

    def _move(self, start: int, end: int) -> None:
        self._owner[start], self._owner[end] = NONE, self._seat

    def _standing(self, square: int) -> float:
        """Return the value of standing on a square."""
        risky = self._beside[square] and is_threatened(self._ground, self._owner, self._seat, square)
        return self._values[square] - (RISK if risky else 0.0)

    def _captured(self) -> int:
        """Return the number of rivals' pigeons between two pigeons of the seat."""
        count, owner, seat = 0, self._owner, self._seat
        for rival in self._rivals:
            for one, two in self._ground.axes[rival]:
                if owner[one] == seat and owner[two] == seat:
                    count += 1
                    break
        return count
