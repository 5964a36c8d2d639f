"""Swiss tournaments and knockouts: who meets whom after each round, byes, and who goes on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import pytest

from referee.kit.chance import LiveChance
from referee.match.result import Result
from referee.tournament.course import course
from referee.tournament.fixtures import Fixture
from referee.tournament.knockout import sizes
from referee.tournament.plan import FaultRule, Format, Preliminary, TieBreak, TournamentPlan
from referee.tournament.standings import FinalTable, final_table, verdict_sentence
from referee.tournament.swiss import tables_and_byes
from tests.tournament.played import by_strength, plan_for, play_out, result_of


def table_of(plan: TournamentPlan, results: dict[str, Result]) -> FinalTable:
    return final_table(plan, course(plan, results), results)


def rounds(plan: TournamentPlan, results: dict[str, Result]) -> list[list[tuple[int, ...]]]:
    """The tables of each round, byes included."""
    return [[one.entrants for one in each.companies] for each in course(plan, results).rounds]


def meetings(tables: list[list[tuple[int, ...]]]) -> Counter[tuple[int, int]]:
    return Counter(pair for each in tables for table in each for pair in combinations(sorted(table), 2))


@pytest.mark.parametrize(("entrants", "length"), [(8, 3), (8, 7), (9, 5), (16, 6), (15, 9)])
def test_in_a_swiss_tournament_no_two_meet_twice_while_that_is_avoidable(entrants: int, length: int) -> None:
    plan = plan_for(entrants, form="swiss", rounds=length, blocks=1)
    results = play_out(plan)
    tables = rounds(plan, results)
    assert len(tables) == length
    assert max(meetings(tables).values()) == 1
    assert table_of(plan, results).rows[0].entrant == 0


def test_when_all_have_met_somebody_meets_again_but_only_once() -> None:
    plan = plan_for(4, form="swiss", rounds=5, blocks=1)
    counts = meetings(rounds(plan, play_out(plan)))
    assert set(counts.values()) == {1, 2}


@pytest.mark.parametrize(("entrants", "seats", "length"), [(12, 3, 4), (16, 4, 3), (25, 5, 3), (13, 3, 4)])
def test_at_larger_tables_company_is_new_as_long_as_there_is_enough(entrants: int, seats: int, length: int) -> None:
    plan = plan_for(entrants, seats=seats, form="swiss", rounds=length, blocks=1)
    tables = rounds(plan, play_out(plan))
    assert max(meetings(tables).values()) == 1
    assert all(len(table) == seats for each in tables for table in each)


def test_those_with_like_points_share_a_table() -> None:
    plan = plan_for(8, form="swiss", rounds=3, blocks=1)
    results = play_out(plan)
    _, second, _ = rounds(plan, results)
    first = course(plan, {}).rounds[0]
    won = {min(one.entrants) for one in first.companies}
    assert sorted(len(won & set(table)) for table in second) == [0, 0, 2, 2]


def test_byes_go_round_from_the_last_and_count_as_the_mean_of_a_table() -> None:
    plan = plan_for(7, form="swiss", rounds=5, blocks=1)
    results = play_out(plan)
    known = course(plan, results)
    out = [set(range(7)) - {entrant for one in each.companies for entrant in one.entrants} for each in known.rounds]
    assert [len(each) for each in out] == [1] * 5
    assert len(set.union(*out)) == 5
    row = next(row for row in table_of(plan, results).rows if row.entrant in out[0])
    assert row.byes == 1
    wins = sum(
        result.seats[one.seats.index(row.entrant)].rank == 1
        for one in known.fixtures
        if row.entrant in one.seats
        for result in [results[one.name]]
    )
    assert row.points == Fraction(wins + 1, 10)  # two rotations a table; a bye is half a table


@pytest.mark.parametrize(
    ("seats", "byes", "out"),
    [(2, {}, {6}), (2, {6: 1}, {5}), (2, dict.fromkeys(range(7), 1), {6}), (4, {}, {4, 5, 6}), (5, {6: 1}, {4, 5})],
)
def test_the_last_of_those_with_the_fewest_byes_have_a_bye(seats: int, byes: dict[int, int], out: set[int]) -> None:
    points = [(entrant, Fraction(7 - entrant)) for entrant in range(7)]
    assert set(tables_and_byes(1, 2, seats, points, {}, byes)[1]) == out


def test_a_round_begins_when_the_round_before_it_is_over() -> None:
    plan = plan_for(8, form="swiss", rounds=3, blocks=2)
    first = course(plan, {})
    assert len(first.rounds) == 1
    some = {one.name: result_of(by_strength(one)) for one in first.fixtures[:-1]}
    assert len(course(plan, some).rounds) == 1
    assert len(course(plan, {one.name: result_of(by_strength(one)) for one in first.fixtures}).rounds) == 2
    assert not table_of(plan, some).is_final


def test_who_is_struck_out_is_paired_no_more() -> None:
    plan = plan_for(8, form="swiss", rounds=3, blocks=1, faults=FaultRule.STRIKE_OUT)
    results = play_out(plan, lambda one: by_strength(one))
    one = next(each for each in course(plan, {}).fixtures if 0 in each.seats)
    first = {each.name: results[each.name] for each in course(plan, {}).fixtures}
    first[one.name] = result_of([0, 0], [one.seats.index(0)])
    second = course(plan, first).rounds[1]
    assert all(0 not in table.entrants for table in second.companies)


@pytest.mark.parametrize(
    ("entrants", "seats", "advance", "tables"),
    [
        (8, 2, 1, [4, 2, 1]),
        (5, 2, 1, [1, 2, 1]),
        (6, 2, 1, [2, 2, 1]),
        (9, 3, 1, [3, 1]),
        (10, 3, 1, [4, 2, 1]),
        (16, 4, 2, [4, 2, 1]),
        (11, 5, 2, [3, 2, 1]),
        (4, 4, 1, [1]),
    ],
)
def test_the_strongest_wins_a_knockout(entrants: int, seats: int, advance: int, tables: list[int]) -> None:
    plan = plan_for(entrants, seats=seats, form="knockout", advance=advance)
    results = play_out(plan)
    found = rounds(plan, results)
    assert [len(each) for each in found] == tables
    assert [sorted(map(len, each)) for each in found] == [sorted(each) for each in sizes(entrants, seats, advance)]
    table = table_of(plan, results)
    assert table.is_final
    assert [row.entrant for row in table.rows][:2] == [0, 1]
    assert verdict_sentence(plan, table).startswith("e0 wins; the chance that e0 is the best of the final is 0.9")
    assert sorted(row.entrant for row in table.rows) == list(range(entrants))


def test_in_a_knockout_a_tie_is_broken_to_a_decision() -> None:
    plan = plan_for(8, form="knockout", tie_breaks=(TieBreak.LOTS,))
    results = play_out(plan, lambda one: [0] * len(one.seats))
    assert [len(each) for each in rounds(plan, results)] == [4, 2, 1]
    table = table_of(plan, results)
    assert [row.place for row in table.rows][:3] == [1, 2, 3]
    assert TieBreak.LOTS in table.rows[0].numbers
    assert verdict_sentence(plan, table).startswith("e")
    assert " wins by drawing lots" in verdict_sentence(plan, table)


def test_the_first_of_the_file_begins_against_the_last() -> None:
    for entrants, seats, tables in (
        (8, 2, [(0, 7), (1, 6), (2, 5), (3, 4)]),
        (9, 3, [(0, 5, 6), (1, 4, 7), (2, 3, 8)]),
    ):
        assert rounds(plan_for(entrants, seats=seats, form="knockout"), {}) == [tables]


def test_the_first_two_of_the_file_can_only_meet_in_the_final() -> None:
    for entrants in range(3, 20):
        plan = plan_for(entrants, form="knockout", blocks=1)
        assert plan.format is Format.KNOCKOUT
        *before, last = rounds(plan, play_out(plan))
        assert last == [(0, 1)]
        assert all(not {0, 1} <= set(table) for each in before for table in each)


def upside_down(fixture: Fixture) -> Sequence[int]:
    """The entrant with the higher number wins."""
    return fixture.seats


@pytest.mark.parametrize("kind", [Preliminary.SWISS, Preliminary.ROUND_ROBIN])
@pytest.mark.parametrize(("entrants", "seats", "qualify"), [(8, 2, 4), (9, 3, 6), (7, 2, 0), (6, 2, 2)])
def test_a_preliminary_decides_the_seeding_of_a_knockout_and_who_qualifies(
    kind: Preliminary, entrants: int, seats: int, qualify: int
) -> None:
    plan = plan_for(
        entrants, seats=seats, form="knockout", blocks=1, preliminary=kind, qualify=qualify, rounds=entrants - 1
    )
    results = play_out(plan, upside_down)
    known = course(plan, results)
    before = [one for one in known.rounds if one.is_preliminary]
    assert len(before) == (1 if kind is Preliminary.ROUND_ROBIN else entrants - 1)
    assert [one.number for one in known.rounds] == list(range(1, len(known.rounds) + 1))
    first = known.rounds[len(before)]
    playing = {entrant for one in first.companies for entrant in one.entrants} | set(first.byes)
    assert len(playing) == (qualify or entrants)
    best = set(range(entrants - (qualify or entrants), entrants))
    assert playing == best or kind is Preliminary.SWISS  # Swiss rounds at three seats do not sort a whole field
    table = table_of(plan, results)
    assert table.is_final
    assert table.rows[0].entrant == entrants - 1
    assert sorted(row.entrant for row in table.rows) == list(range(entrants))
    assert [row.place for row in table.rows][-1] >= entrants - 1 - len(playing) // 2
    assert {row.entrant for row in table.rows[: len(playing)]} == playing


def test_the_best_of_the_preliminary_begins_against_the_last_who_qualified() -> None:
    plan = plan_for(6, form="knockout", blocks=1, preliminary=Preliminary.ROUND_ROBIN, qualify=4)
    preliminary = course(plan, {})
    assert [one.is_preliminary for one in preliminary.rounds] == [True]
    results = {one.name: result_of(upside_down(one)) for one in preliminary.fixtures}
    assert [one.entrants for one in course(plan, results).rounds[1].companies] == [(2, 5), (3, 4)]
    some = dict(list(results.items())[:-1])
    assert len(course(plan, some).rounds) == 1
    assert verdict_sentence(plan, table_of(plan, some)).startswith("6 entrants are left after ")


def test_who_is_struck_out_in_a_preliminary_does_not_qualify_before_others() -> None:
    plan = plan_for(
        6, form="knockout", blocks=1, preliminary=Preliminary.ROUND_ROBIN, qualify=4, faults=FaultRule.STRIKE_OUT
    )
    results = {
        one.name: result_of(upside_down(one), [one.seats.index(5)] if 5 in one.seats else [])
        for one in course(plan, {}).fixtures
    }
    assert [one.entrants for one in course(plan, results).rounds[1].companies] == [(1, 4), (2, 3)]


def matchings(field: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    """Yield all ways to pair entrants."""
    if not field:
        yield []
    for other in field[1:]:
        for rest in matchings(tuple(one for one in field[1:] if one != other)):
            yield [(field[0], other), *rest]


@pytest.mark.parametrize("seed", range(20))
def test_no_other_pairing_has_fewer_meetings_again_and_then_closer_places(seed: int) -> None:
    chance = random.Random(seed)
    points = [(entrant, Fraction(chance.randrange(4))) for entrant in range(8)]
    met = {pair: chance.choice([0, 0, 1, 2]) for pair in combinations(range(8), 2)}
    pairs, out = tables_and_byes(seed, 3, 2, points, met, {})
    lots = LiveChance(seed).stream("order of round 3").permutation(8)
    order = sorted(range(8), key=lambda entrant: (-points[entrant][1], lots[entrant]))

    def cost(tables: Sequence[Sequence[int]]) -> tuple[int, int]:
        again = sum(met[min(table), max(table)] for table in tables)
        return again, sum((order.index(table[0]) - order.index(table[1])) ** 2 for table in tables)

    assert out == []
    assert cost(pairs) == min(map(cost, matchings(tuple(range(8)))))


def companies(field: tuple[int, ...], seats: int) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to put entrants to tables."""
    if not field:
        yield []
        return
    for others in combinations(field[1:], seats - 1):
        for rest in companies(tuple(one for one in field[1:] if one not in others), seats):
            yield [(field[0], *others), *rest]


@pytest.mark.long
@pytest.mark.parametrize(("entrants", "seats", "length"), [(9, 3, 4), (12, 3, 5), (8, 4, 4), (10, 5, 4)])
@pytest.mark.parametrize("seed", range(5))
def test_at_larger_tables_too_no_other_companies_have_fewer_meetings_again(
    entrants: int, seats: int, length: int, seed: int
) -> None:
    chance = random.Random(seed)
    met, points = Counter[tuple[int, int]](), [Fraction(0)] * entrants
    for number in range(1, length + 1):
        tables, out = tables_and_byes(seed, number, seats, list(enumerate(points)), met, {})
        again = [
            sum(met[pair] for table in each for pair in combinations(sorted(table), 2))
            for each in (tables, *companies(tuple(range(entrants)), seats))
        ]
        assert out == []
        assert again[0] == min(again)
        met += meetings([tables])
        for table in tables:
            points[chance.choice(table)] += 1


@pytest.mark.parametrize(("seats", "advance"), [(3, 1), (4, 1), (4, 2), (5, 1), (5, 2)])
@pytest.mark.parametrize("tied", range(10))
def test_a_tie_at_any_places_of_a_table_is_decided_and_everybody_is_placed(seats: int, advance: int, tied: int) -> None:
    first, second = list(combinations(range(seats), 2))[tied % (seats * (seats - 1) // 2)]

    def scores(fixture: Fixture) -> list[int]:
        """The entrants of two places have the same score, that of the better one."""
        order = sorted(fixture.seats)
        last = len(order) - 1
        same = {order[min(second, last)]: order[min(first, last)]}
        return [-same.get(entrant, entrant) for entrant in fixture.seats]

    plan = plan_for(3 * seats, seats=seats, form="knockout", advance=advance, blocks=1)
    results = play_out(plan, scores)
    table = table_of(plan, results)
    assert table.is_final
    assert sorted(row.entrant for row in table.rows) == list(range(3 * seats))
    assert [row.place for row in table.rows[:2]] == [1, 2]
    played = course(plan, results).rounds
    assert all(len(one.companies) * advance + len(one.byes) == sum(len(each.entrants) for each in after.companies) + len(after.byes)
               for one, after in pairwise(played))  # fmt: skip
