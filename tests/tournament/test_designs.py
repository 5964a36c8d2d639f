"""Round robins and gauntlets are even: proved by counting, for 4 to 40 entrants at tables of 2 to 5."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from referee.tournament.course import course, evenness
from referee.tournament.designs import Blocks, balance_of, exact_design, near_design
from referee.tournament.plan import Balance
from tests.tournament.played import plan_for

SIZES = [
    pytest.param(entrants, seats, marks=[pytest.mark.long] if entrants > 20 else [])
    for seats in (2, 3, 4, 5)
    for entrants in range(max(4, seats), 41)
]
UNEVEN = {(points, 3) for points in (8, 14, 20, 26, 32, 38)} | {
    (points, 5) for points in (8, 12, 14, 18, 22, 24, 28, 32, 34, 38)
}
"""The sizes whose smallest even design has more tables than there are pairs."""


def fewest_tables(points: int, size: int) -> int:
    """The number of tables by which both counts of a design come out even; Hanani's one exception needs twice as many."""
    times = next(
        times
        for times in range(1, 100)
        if times * (points - 1) % (size - 1) == 0 and times * points * (points - 1) % (size * (size - 1)) == 0
    )
    return (2 if (points, size) == (15, 5) else 1) * times * points * (points - 1) // (size * (size - 1))


def all_sit_equally_often(points: int, blocks: Blocks) -> bool:
    seated = Counter(point for block in blocks for point in block)
    return len({seated[point] for point in range(points)}) == 1


@pytest.mark.parametrize(("points", "size"), SIZES)
def test_every_two_meet_equally_often_at_the_fewest_tables(points: int, size: int) -> None:
    blocks = exact_design(points, size)
    assert (blocks is None) == ((points, size) in UNEVEN)
    if blocks is None:
        assert fewest_tables(points, size) > points * (points - 1) / 2
        return
    least, most = balance_of(points, blocks)
    assert len(blocks) == fewest_tables(points, size)
    assert least == most > 0
    assert all_sit_equally_often(points, blocks)
    assert all(len(set(block)) == size for block in blocks)


@pytest.mark.parametrize(("points", "size"), SIZES)
def test_without_such_a_design_or_with_fewer_tables_meetings_differ_by_one(points: int, size: int) -> None:
    blocks = near_design(points, size)
    least, most = balance_of(points, blocks)
    even = exact_design(points, size)
    assert even is None or len(blocks) <= len(even)
    assert even is None or len(blocks) < len(even) or least == most
    assert least >= 1
    assert most - least <= 1
    assert all_sit_equally_often(points, blocks)
    assert len(blocks) <= points * (points - 1) / 2 or points <= size + 1


@pytest.mark.parametrize(("points", "size"), [(6, 3), (12, 4)])
def test_where_the_places_of_one_block_are_enough_for_all_to_meet_no_more_are_used(points: int, size: int) -> None:
    assert len(near_design(points, size)) == points


def test_in_a_large_field_without_an_even_design_everybody_meets_everybody() -> None:
    """Here the three smallest sizes leave pairs that never meet."""
    assert balance_of(296, near_design(296, 4)) == (1, 2)


@pytest.mark.parametrize(("entrants", "seats"), SIZES)
def test_in_the_fixtures_of_a_round_robin_everybody_sits_in_every_seat_equally_often(entrants: int, seats: int) -> None:
    plan = plan_for(entrants, seats=seats, blocks=1)
    matches = course(plan, {}).fixtures
    seated = Counter((seat, entrant) for one in matches for seat, entrant in enumerate(one.seats))
    assert len(set(seated.values())) == 1
    assert len(seated) == entrants * seats
    met = Counter(pair for one in matches for pair in combinations(sorted(one.seats), 2))
    least, most = evenness(plan)
    assert (least * seats, most * seats) == (min(met.values()), max(met.values()))
    assert len({one.name for one in matches}) == len(matches)


def test_the_rotations_of_a_block_share_a_seed_that_no_other_block_has() -> None:
    matches = course(plan_for(6, seats=3, blocks=3), {}).fixtures
    blocks: dict[tuple[int, int], set[int]] = {}
    for one in matches:
        blocks.setdefault((one.company.number, one.block), set()).add(one.seed)
    assert all(len(seeds) == 1 for seeds in blocks.values())
    assert len({seed for seeds in blocks.values() for seed in seeds}) == len(blocks)


def test_every_company_plays_its_first_block_before_any_plays_its_second() -> None:
    blocks = [one.block for one in course(plan_for(7, seats=3, blocks=3), {}).fixtures]
    assert blocks == sorted(blocks)


def test_near_needs_fewer_tables_and_another_seed_puts_others_in_the_places_of_the_design() -> None:
    exact, near = plan_for(20, seats=4), plan_for(20, seats=4, balance=Balance.NEAR)
    assert [len(course(plan, {}).rounds[0].companies) for plan in (exact, near)] == [95, 40]
    assert evenness(near) == (1, 2)
    orders = {
        tuple(one.entrants for one in course(plan_for(20, seats=4, seed=seed), {}).rounds[0].companies)
        for seed in (1, 2)
    }
    assert len(orders) == 2


@pytest.mark.parametrize(("entrants", "hosts", "seats"), [(9, 1, 2), (9, 3, 2), (7, 2, 3), (10, 4, 3), (12, 4, 5)])
def test_challengers_never_meet_and_have_the_same_hosts_seats_and_seeds(entrants: int, hosts: int, seats: int) -> None:
    plan = plan_for(entrants, hosts=hosts, seats=seats, form="gauntlet")
    matches = course(plan, {}).fixtures
    known = [
        sorted(
            (one.seed, one.rotation, tuple("x" if seat == challenger else seat for seat in one.seats))
            for one in matches
            if challenger in one.seats
        )
        for challenger in plan.competitors
    ]
    assert plan.competitors == list(range(hosts, entrants))
    assert all(len(set(one.seats) & set(plan.competitors)) == 1 for one in matches)
    assert all(each == known[0] for each in known)


@pytest.mark.parametrize(("form", "hosts", "seats"), [("round-robin", 0, 2), ("gauntlet", 1, 2), ("gauntlet", 3, 3)])
def test_who_joins_changes_no_match_of_the_others(form: str, hosts: int, seats: int) -> None:
    began = plan_for(7, form=form, hosts=hosts, seats=seats)
    late = [replace(one, name=f"late{number}", has_joined=True) for number, one in enumerate(began.entrants[-2:])]
    both = replace(began, entrants=(*began.entrants, *late))
    matches = {one.name: one for one in course(both, {}).fixtures}
    earlier = course(began, {}).fixtures
    assert {one.name: matches[one.name] for one in earlier} == {one.name: one for one in earlier}
    new = [one for name, one in matches.items() if name not in {one.name for one in earlier}]
    assert all({7, 8} & set(one.seats) for one in new)
    met = Counter(pair for one in matches.values() for pair in combinations(sorted(one.seats), 2))
    if form == "round-robin":
        assert set(met.values()) == {4}  # two blocks of two rotations
        assert len(met) == 36
    else:
        assert {len([one for one in matches.values() if each in one.seats]) for each in both.competitors} == {
            len(earlier) // len(began.competitors)
        }
