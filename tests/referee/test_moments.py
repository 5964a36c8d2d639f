"""Where a look at a match is worth most."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from referee.records.moments import lead_lost, lead_taken


@pytest.mark.parametrize(
    ("places", "found"),
    [
        ([(0, [1, 1]), (4, [1, 2]), (9, [2, 1]), (12, [2, 1])], (9, 0)),
        ([(0, [1, 1, 1]), (3, [3, 1, 2]), (5, [2, 1, 3])], (3, 0)),
        ([(0, [2, 1]), (3, [1, 1]), (7, [1, 2]), (8, [1, 3])], (7, 1)),
        ([(0, [1, 2]), (5, [1, 1]), (6, [1, 1])], None),
        ([(0, [1, 2])], None),
    ],
    ids=["overtaken at last", "the first of those who shared it", "shared, then lost", "never lost", "no step"],
)
def test_the_lead_was_lost_for_the_last_time(
    places: Sequence[tuple[int, Sequence[int]]], found: tuple[int, int] | None
) -> None:
    assert lead_lost(places) == found


@pytest.mark.parametrize(
    ("places", "found"),
    [
        ([(0, [1, 1]), (4, [1, 2]), (9, [2, 1]), (12, [2, 1])], 9),
        ([(0, [1, 2]), (5, [1, 1]), (6, [1, 2]), (7, [1, 2])], 6),
        ([(0, [1, 2]), (5, [1, 3])], 0),
        ([(0, [2, 1]), (8, [2, 1]), (8, [1, 2])], 8),
        ([(0, [1, 2]), (5, [1, 1])], None),
    ],
    ids=["overtaken at last", "shared meanwhile", "from the beginning", "by the result alone", "several have won"],
)
def test_the_lead_was_taken_for_good(places: Sequence[tuple[int, Sequence[int]]], found: int | None) -> None:
    assert lead_taken(places) == found
