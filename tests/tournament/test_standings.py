"""The table: points, tie-breaks with their numbers, faults, and how certain it all is."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from referee.match.result import Result
from referee.tournament.certainty import certainty
from referee.tournament.course import course
from referee.tournament.fixtures import Fixture, PlayedFixture, company, fixtures
from referee.tournament.plan import FaultRule, Format, Scoring, TieBreak, TournamentPlan
from referee.tournament.scoring import match_points
from referee.tournament.standings import FinalTable, chance_text, final_table, table_texts, verdict_sentence
from tests.cases import mostly_long
from tests.tournament.played import plan_for, play_out, result_of


def table_of(plan: TournamentPlan, results: dict[str, Result]) -> FinalTable:
    return final_table(plan, course(plan, results), results)


def order(table: FinalTable) -> list[int]:
    return [row.entrant for row in table.rows]


@pytest.mark.parametrize(
    ("scoring", "scores", "outs", "points"),
    [
        (Scoring.WINS, [5, 3, 5], (), [Fraction(1, 2), 0, Fraction(1, 2)]),
        (Scoring.PLACES, [9, 4, 4, 1], (), [1, Fraction(1, 2), Fraction(1, 2), 0]),
        (Scoring.SCORE, [9, 4, 1], (), [9, 4, 1]),
        (Scoring.WINS, [5, 3], (0,), [0, 1]),
        (Scoring.WINS, [5, 3], (0, 1), [0, 0]),
        (Scoring.PLACES, [9, 4, 4], (0,), [0, Fraction(3, 4), Fraction(3, 4)]),
        (Scoring.SCORE, [9, 4, 1], (0,), [1, 4, 1]),
    ],
)
def test_points_of_a_match(scoring: Scoring, scores: list[int], outs: tuple[int, ...], points: list[Fraction]) -> None:
    assert match_points(scoring, result_of(scores, outs)) == points


@pytest.mark.parametrize(("entrants", "seats"), mostly_long([(7, 3), (5, 2), (8, 3), (9, 4), (11, 5)]))
@pytest.mark.parametrize("scoring", [Scoring.WINS, Scoring.PLACES])
def test_the_stronger_comes_first(entrants: int, seats: int, scoring: Scoring) -> None:
    plan = plan_for(entrants, seats=seats, scoring=scoring)
    table = table_of(plan, play_out(plan))
    assert order(table)[0] == 0
    assert table.is_final
    assert scoring is Scoring.WINS or order(table) == list(range(entrants))
    assert [row.place for row in table.rows][:1] == [1]


def test_a_table_of_results_that_are_missing_in_part_is_not_final() -> None:
    plan = plan_for(5, blocks=4)
    results = play_out(plan)
    some = {one.name: results[one.name] for one in course(plan, {}).fixtures[:40]}
    table = table_of(plan, some)
    assert not table.is_final
    assert (table.played, table.total) == (40, 80)
    assert verdict_sentence(plan, table).startswith("e0 leads after 40 of 80 matches; the chance that e0 is the best")


def circle(fixture: Fixture) -> list[int]:
    """Each of three beats the next one: all have the same points."""
    return [1 if (seat + 1) % 3 == fixture.seats[1 - place] else 0 for place, seat in enumerate(fixture.seats)]


def broken(results: dict[str, Result], plan: TournamentPlan, scores: dict[tuple[int, int], tuple[int, int]]) -> None:
    """Give the matches of some pairs, in the order of their seats, other scores."""
    for one in course(plan, {}).fixtures:
        if (pair := (one.seats[0], one.seats[1])) in scores:
            results[one.name] = result_of(scores[pair])


def test_head_to_head_separates_two_with_the_same_points() -> None:
    plan = plan_for(4, tie_breaks=(TieBreak.HEAD_TO_HEAD, TieBreak.LOTS))
    results = play_out(plan)  # 0 beats all; now 3 beats 0, and 1 lost only to 0
    broken(results, plan, {(0, 3): (0, 1), (3, 0): (1, 0)})
    table = table_of(plan, results)
    assert order(table)[:2] == [0, 1]
    assert table.rows[0].points == table.rows[1].points
    assert table.rows[0].numbers == {TieBreak.HEAD_TO_HEAD: Fraction(1)}
    assert table.rows[1].numbers == {TieBreak.HEAD_TO_HEAD: Fraction(0)}
    assert "e0 wins by head-to-head" in verdict_sentence(plan, table)


@pytest.mark.parametrize(
    ("kind", "first"),
    [(TieBreak.SCORE_DIFFERENCE, 2), (TieBreak.LAST_SEAT_WINS, 1)],
)
def test_each_tie_break_can_decide_a_circle_of_three(kind: TieBreak, first: int) -> None:
    plan = plan_for(3, tie_breaks=(TieBreak.HEAD_TO_HEAD, kind, TieBreak.LOTS))
    results = play_out(plan, circle)
    if kind is TieBreak.SCORE_DIFFERENCE:
        broken(results, plan, {(2, 0): (5, 0)})
    else:  # all win two matches: 1 in the last seat both times, 0 and 2 once
        broken(
            results,
            plan,
            {(1, 2): (0, 1), (2, 1): (0, 1), (0, 1): (0, 1), (1, 0): (0, 1), (0, 2): (1, 0), (2, 0): (1, 0)},
        )
    table = table_of(plan, results)
    tied = [row for row in table.rows if row.points == table.rows[0].points]
    assert len(tied) > 1
    assert table.rows[0].entrant == first
    assert table.rows[0].numbers[kind] > tied[-1].numbers[kind]


def test_opponents_count_by_their_points() -> None:
    plan = plan_for(6, hosts=2, form="gauntlet", tie_breaks=(TieBreak.OPPONENTS,))
    table = table_of(plan, play_out(plan))
    assert plan.format is Format.GAUNTLET
    assert sorted(order(table)) == [2, 3, 4, 5]
    assert {row.place for row in table.rows} == {1}  # all lost to the same hosts
    assert table.rows[0].numbers[TieBreak.OPPONENTS] == 1
    assert verdict_sentence(plan, table) == "e2 and e3 and e4 and e5 share the first place"


def test_lots_from_the_seed_decide_in_the_end() -> None:
    plans = [plan_for(4, tie_breaks=(TieBreak.HEAD_TO_HEAD, TieBreak.LOTS), seed=seed) for seed in range(8)]
    tables = [table_of(plan, play_out(plan, lambda one: [0] * len(one.seats))) for plan in plans]
    assert all([row.place for row in table.rows] == [1, 2, 3, 4] for table in tables)
    assert len({tuple(order(table)) for table in tables}) > 3
    assert sorted(row.numbers[TieBreak.LOTS] for row in tables[0].rows) == [1, 2, 3, 4]


def test_a_bot_that_is_out_forfeits_the_match_or_is_struck_out() -> None:
    plan = plan_for(4)
    results = play_out(plan)
    one = next(each for each in course(plan, {}).fixtures if set(each.seats) == {0, 3})
    results[one.name] = result_of([0, 0], [one.seats.index(0)])
    forfeit = table_of(plan, results)
    assert (order(forfeit), forfeit.rows[0].points, forfeit.rows[0].outs) == ([0, 1, 2, 3], Fraction(11, 12), 1)
    struck = table_of(plan_for(4, faults=FaultRule.STRIKE_OUT), results)
    assert order(struck) == [1, 2, 3, 0]
    assert (struck.rows[0].matches, struck.rows[3].is_struck, struck.rows[3].place) == (8, True, 4)


@pytest.mark.parametrize("form", ["round-robin", "swiss", "knockout"])
@pytest.mark.parametrize("entrants", [2, 3, 4])
def test_nobody_wins_if_all_are_struck_out(form: str, entrants: int) -> None:
    plan = plan_for(entrants, form=form, faults=FaultRule.STRIKE_OUT)
    results: dict[str, Result] = {}
    while (found := course(plan, results).next_round(results)) is not None:
        results.update({one.name: result_of([0, 0], [0, 1]) for one in found.fixtures})
    table = table_of(plan, results)
    out = [row for row in table.rows if row.is_struck]
    assert len(out) >= entrants - 1  # one can have a bye until nobody is left to play with
    places = [place for place, *_ in table_texts(plan, table)[1]]
    assert places == ["struck out" if row.is_struck else str(row.place) for row in table.rows]
    if len(out) == entrants:
        assert verdict_sentence(plan, table) == "nobody wins: all entrants are struck out"
    else:
        assert verdict_sentence(plan, table).startswith(f"{plan.names[table.rows[0].entrant]} wins")


def coins(fixture: Fixture) -> list[int]:
    """Whoever wins, by chance; the same for the same match."""
    return random.Random(fixture.name).sample(range(len(fixture.seats)), len(fixture.seats))


def test_equal_bots_are_not_told_apart_and_the_chance_is_the_same_for_every_call() -> None:
    plan = plan_for(4, blocks=6)
    results = play_out(plan, coins)
    table = table_of(plan, results)
    assert table == table_of(plan, results)
    best = [row.best for row in table.rows]
    assert sum(each for each in best if each is not None) == pytest.approx(1)
    assert all(each is not None and each < 0.95 for each in best)
    for row in table.rows:
        assert row.interval is not None
        assert row.interval[0] < row.points < row.interval[1]


@pytest.mark.long
@pytest.mark.parametrize(("entrants", "blocks"), [(6, 2), (4, 6)])
def test_intervals_hold_what_they_say(entrants: int, blocks: int) -> None:
    """Of 60 tournaments between equal bots, the intervals have the truth in nearly 19 of 20 cases."""
    held = 0
    for seed in range(60):
        plan = plan_for(entrants, blocks=blocks, seed=seed)
        table = table_of(plan, play_out(plan, lambda one, seed=seed: lucky(one, seed)))  # type: ignore[misc]
        held += sum(row.interval[0] <= 0.5 <= row.interval[1] for row in table.rows if row.interval is not None)
    assert held >= 0.9 * 60 * entrants


def lucky(fixture: Fixture, seed: int) -> list[int]:
    """A coin for each block decides who wins all of it."""
    winner = random.Random(f"{seed} {fixture.luck}").choice(sorted(fixture.seats))
    return [int(entrant == winner) for entrant in fixture.seats]


def test_few_blocks_prove_little_even_if_one_wins_them_all() -> None:
    few, many = (table_of(plan, play_out(plan)).rows[0] for plan in (plan_for(2, blocks=2), plan_for(2, blocks=30)))
    assert few.best is not None
    assert many.best is not None
    assert 0.9 < few.best < 0.96 < 0.99 < many.best
    assert few.interval is not None
    assert few.interval[0] < 0.7


def test_a_block_counts_the_same_however_many_there_are_of_its_luck() -> None:
    """Both have 9 of 18 points in every resample, so only the further block says who is the best of it."""
    six, three = plan_for(2, blocks=6), plan_for(2, blocks=3)
    played = [
        PlayedFixture(one, result_of([1 + (one.rotation and entrant) for entrant in one.seats]))
        for one in fixtures(six, [company(1, 1, (0, 1))])
    ]
    played += [
        PlayedFixture(one, result_of([1 - entrant for entrant in one.seats]))
        for one in fixtures(three, [company(2, 1, (0, 1))])
    ]
    found = certainty(six, played, (0, 1))
    assert found is not None
    assert found.best[0] == pytest.approx(0.5, abs=0.06)


def test_a_single_block_says_nothing_about_luck() -> None:
    plan = plan_for(2, blocks=1)
    assert table_of(plan, play_out(plan)).rows[0].best is None


def test_no_chance_is_printed_as_certain() -> None:
    texts = {
        0.0: "under 0.01",
        0.004: "under 0.01",
        0.005: "0.01",
        0.93: "0.93",
        0.994: "0.99",
        0.995: "over 0.99",
        1.0: "over 0.99",
    }
    assert {chance: chance_text(chance) for chance in texts} == texts
    assert chance_text(None) == "-"
