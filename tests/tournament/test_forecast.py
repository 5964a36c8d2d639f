"""The size of a tournament is printed before it begins."""

from typing import Any

import pytest

from referee.commands.tournament.forecast import forecast
from referee.match.result import Result
from referee.tournament.course import course, matches_to_come
from referee.tournament.plan import Preliminary
from tests.cases import mostly_long
from tests.tournament.played import by_strength, plan_for, result_of


@pytest.mark.parametrize(
    ("entrants", "form", "rounds", "printed"),
    [
        (2, "swiss", 3, "3 rounds, each of 1 table, 4 matches; 12 matches in all"),
        (4, "swiss", 3, "3 rounds, each of 2 tables, 8 matches; 24 matches in all"),
        (
            4,
            "knockout",
            0,
            "2 tables, 8 matches in the first round; the best of each table advances; 12 matches in all",
        ),
    ],
)
def test_the_matches_of_a_round_are_not_taken_for_all_matches(
    entrants: int, form: str, rounds: int, printed: str
) -> None:
    assert forecast(plan_for(entrants, form=form, rounds=rounds)) == printed


@pytest.mark.parametrize("entrants", mostly_long([9, 16, *(set(range(5, 20)) - {9, 16})], 2))
@pytest.mark.parametrize(
    "terms",
    [
        {"form": "round-robin"},
        {"form": "gauntlet", "hosts": 4},
        {"form": "swiss", "rounds": 4},
        {"form": "knockout"},
        {"form": "knockout", "preliminary": Preliminary.ROUND_ROBIN, "qualify": 4},
        {"form": "knockout", "preliminary": Preliminary.SWISS, "rounds": 2},
    ],
    ids=lambda terms: " ".join(map(str, terms.values())),
)
@pytest.mark.parametrize(("seats", "advance"), [(2, 1), (3, 1), (4, 2), (5, 2)])
def test_the_number_of_all_matches_is_known_from_the_beginning(
    entrants: int, terms: dict[str, Any], seats: int, advance: int
) -> None:
    plan = plan_for(entrants, seats=seats, blocks=1, advance=advance, **terms)
    results: dict[str, Result] = {}
    totals = []
    while (found := course(plan, results).next_round(results)) is not None:
        known = course(plan, results)
        totals.append(len(known.fixtures) + matches_to_come(plan, known))
        results.update({one.name: result_of(by_strength(one)) for one in found.fixtures})
    assert set(totals) == {len(results)}
