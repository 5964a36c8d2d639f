"""Linear equations, for the values that searches estimate with."""

from __future__ import annotations

from collections.abc import Sequence


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Solve linear equations with a positive definite matrix by Gauss-Jordan elimination."""
    size = len(right)
    rows = [[*row, side] for row, side in zip(matrix, right, strict=True)]
    for pivot in range(size):
        rows[pivot] = [number / rows[pivot][pivot] for number in rows[pivot]]
        for row in range(size):
            if row != pivot:
                factor = rows[row][pivot]
                rows[row] = [own - factor * other for own, other in zip(rows[row], rows[pivot], strict=True)]
    return [row[size] for row in rows]
