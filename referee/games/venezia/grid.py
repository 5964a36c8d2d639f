"""The squares of the Piazza and their neighbours (RULES.md, 1.2).

A set of squares is an integer with one bit per square.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from referee.games.venezia.actions import jump, walk
from referee.games.venezia.names import COLUMNS, Square

DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
"""The change in row and column for a step in each direction: NW, N, NE, W, E, SW, S, SE."""
_ROWS = len(Square) // COLUMNS
ALL_AXES = ((0, 7), (1, 6), (2, 5), (3, 4))
"""The pairs of opposite directions, as indices into `DIRECTIONS`."""
STRAIGHT_AXES = ((1, 6), (3, 4))
"""The pairs of opposite directions that are not diagonal."""


class Grid:
    """The Piazza with or without its Campanile. Use `grid_of`, which makes each grid only once."""

    def __init__(self, blocked: Square | None) -> None:
        self.usable = tuple(square for square in Square if square is not blocked)
        """The squares that are not blocked, in ascending order."""
        self.steps = tuple(tuple(self._step(square, direction, blocked) for direction in range(8)) for square in Square)
        """`steps[square][direction]`: the next square in that direction, or -1."""
        self.neighbours = tuple(tuple(step for step in row if step >= 0) for row in self.steps)
        """The squares around each square, in the order of the directions."""
        self.jumps = tuple(
            tuple(
                (between, self.steps[between][direction])
                for direction, between in enumerate(row)
                if between >= 0 and self.steps[between][direction] >= 0
            )
            for row in self.steps
        )
        """For each square, the jumps from it in the order of the directions: the square jumped over and the end."""
        self.walk_actions = tuple(
            tuple((end, walk(square, end)) for end in row) for square, row in zip(Square, self.neighbours, strict=True)
        )
        """For each square, its `neighbours`, each with the action of walking there."""
        self.jump_actions = tuple(
            tuple((over, end, jump(square, end)) for over, end in row)
            for square, row in zip(Square, self.jumps, strict=True)
        )
        """For each square, its `jumps`, each with its action."""
        self.around = tuple(bits(row) for row in self.neighbours)
        """The squares around each square, as a set with one bit per square."""

    @staticmethod
    def _step(square: int, direction: int, blocked: Square | None) -> int:
        row, column = divmod(square, COLUMNS)
        row, column = row + DIRECTIONS[direction][0], column + DIRECTIONS[direction][1]
        if not (0 <= row < _ROWS and 0 <= column < COLUMNS):
            return -1
        reached = row * COLUMNS + column
        return -1 if reached == blocked else reached  # blocked: no step leads there, and no jump over it

    def danger(self, hunters: Iterable[int]) -> int:
        """Return the danger zone of these hunters (Z4.4)."""
        zone = 0
        for hunter in hunters:
            zone |= 1 << hunter | self.around[hunter]
        return zone


@cache
def grid_of(blocked: Square | None) -> Grid:
    """Return the grid of the Piazza with this square blocked, or with none."""
    return Grid(blocked)


def bits(squares: Iterable[int]) -> int:
    """Return these squares as a set with one bit per square."""
    return sum(1 << square for square in squares)
