"""The size of a tournament is printed before it begins."""

import pytest

from referee.commands.tournament.forecast import forecast
from tests.tournament.played import plan_for


@pytest.mark.parametrize(
    ("entrants", "form", "rounds", "printed"),
    [
        (2, "swiss", 3, "3 rounds, each of 1 table, 4 matches"),
        (4, "swiss", 3, "3 rounds, each of 2 tables, 8 matches"),
        (4, "knockout", 0, "2 tables, 8 matches in the first round; the best of each table advances"),
    ],
)
def test_the_matches_of_a_round_are_not_taken_for_all_matches(
    entrants: int, form: str, rounds: int, printed: str
) -> None:
    assert forecast(plan_for(entrants, form=form, rounds=rounds)) == printed
