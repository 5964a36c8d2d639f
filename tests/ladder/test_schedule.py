"""Scheduling: informative matches, nobody starved, balanced tables, blocks."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ladder.match import HOUSE
from ladder.rating import Rating, quality, rate
from ladder.schedule import Candidate, next_block, rotations
from tests.ladder.made import ladder, next_matches, play


def candidates(count: int, **ratings: Rating) -> list[Candidate]:
    return [Candidate(n, f"author{n}", ratings.get(f"v{n}", Rating()), 0) for n in range(1, count + 1)]


class Season:
    """Blocks one after the other, with what is known after each."""

    def __init__(self, entered: list[Candidate], seat_counts: list[int], *, same_author: bool = False) -> None:
        self.entered = {candidate.version: candidate for candidate in entered}
        self.seat_counts = seat_counts
        self.same_author = same_author
        self.by_seats: Counter[int] = Counter()
        self.meetings: Counter[frozenset[int]] = Counter()
        self.played: Counter[int] = Counter()
        self.blocks: list[list[int]] = []
        self.chance = random.Random(1)

    def play(self, blocks: int) -> None:
        for _ in range(blocks):
            number = len(self.blocks) + 1
            block = self.draw(number, self.chance)
            self.note(block, number)
            for version in block:
                old = self.entered[version]
                self.entered[version] = replace(old, rating=Rating(old.rating.mu, max(1, old.rating.sigma * 0.98)))

    def draw(self, number: int, chance: random.Random) -> list[int]:
        block = next_block(
            list(self.entered.values()),
            self.seat_counts,
            self.by_seats,
            self.meetings,
            number,
            chance,
            same_author=self.same_author,
        )
        assert block is not None
        return block

    def note(self, block: list[int], number: int) -> None:
        self.blocks.append(block)
        self.by_seats[len(block)] += 1
        for version in block:
            self.entered[version] = replace(self.entered[version], last_block=number)
            self.played[version] += 1
            for other in block:
                if other > version:
                    self.meetings[frozenset((version, other))] += 1


def test_every_number_of_seats_is_played_equally_often() -> None:
    season = Season(candidates(6), [2, 3, 4, 5])
    season.play(40)
    assert season.by_seats == {2: 10, 3: 10, 4: 10, 5: 10}


def test_tables_that_cannot_be_filled_are_not_played() -> None:
    season = Season(candidates(3), [2, 3, 4, 5])
    season.play(10)
    assert set(season.by_seats) == {2, 3}
    assert next_block(candidates(1), [2, 3], {}, {}, 1, random.Random(1)) is None
    assert next_block([], [2, 3], {}, {}, 1, random.Random(1)) is None


def test_the_least_certain_plays_next() -> None:
    entered = candidates(8, v5=Rating(25, 8), **{f"v{n}": Rating(25, 2) for n in (1, 2, 3, 4, 6, 7, 8)})
    for seed in range(20):
        block = next_block(entered, [2], {}, {}, 1, random.Random(seed))
        assert block is not None
        assert 5 in block


def test_every_third_block_goes_to_who_has_waited_longest() -> None:
    entered = [Candidate(n, f"a{n}", Rating(25, 1 if n == 4 else 8), 3 if n == 4 else 10) for n in range(1, 9)]
    block = next_block(entered, [2], {}, {}, 12, random.Random(1))
    assert block is not None
    assert 4 in block


@pytest.mark.parametrize("number", range(1, 25))
def test_it_is_every_third_block_and_no_other(number: int) -> None:
    entered = [
        Candidate(n, f"a{n}", Rating(25, {4: 1, 5: 9}.get(n, 2)), {4: 3, 5: 30}.get(n, 10 + n)) for n in range(1, 9)
    ]
    blocks = [next_block(entered, [2], {}, {}, number, random.Random(seed)) for seed in range(40)]
    always = set.intersection(*(set(block or []) for block in blocks))
    assert always == ({4} if number % 3 == 0 else {5})


def test_an_opponent_is_drawn_by_quality_squared_and_by_how_rarely_they_have_met() -> None:
    """With the weights of the module's third rule, 3,000 draws come out near what they say."""
    first, near, far = Rating(25, 8), Rating(27, 2), Rating(40, 2)
    entered = [Candidate(n, f"a{n}", rating, 0) for n, rating in enumerate((first, near, far), start=1)]

    def share(meetings: dict[frozenset[int], int]) -> float:
        blocks = [next_block(entered, [2], {}, meetings, 1, random.Random(seed)) for seed in range(3000)]
        return sum(2 in (block or []) for block in blocks) / len(blocks)

    q_near, q_far = quality(first, near), quality(first, far)
    assert 0.15 < q_far / q_near < 0.6  # so that squared and unsquared are far apart
    weights = [q_near**2 + 0.001, q_far**2 + 0.001]
    assert share({}) == pytest.approx(weights[0] / sum(weights), abs=0.02)
    met = {frozenset((1, 2)): 4}
    assert share(met) == pytest.approx(weights[0] / 5 / (weights[0] / 5 + weights[1]), abs=0.03)


def test_a_schedule_can_be_drawn_again_from_what_the_ladder_keeps(tmp_path: Path) -> None:
    """Each block keeps its seed and how many results were known; with the facts up to there, it comes out again."""
    chance = random.Random(5)
    with ladder(tmp_path, bots=7) as store:
        for number in range(30):
            matches = next_matches(store, seed=1000 + number)
            for match in chance.sample(matches, chance.randrange(len(matches) + 1)):
                play(store, match, chance)
        counted = {match.count.number: match for match in store.counted() if match.count}
        authors = {version.id: version.author for version in store.versions().values()}
    database = sqlite3.connect(tmp_path / "ladder.db")
    season = Season([Candidate(version, author, Rating(), 0) for version, author in authors.items()], [2, 3, 4, 5])
    known: dict[int, Rating] = {}
    done = 0
    for block, seed, after in database.execute("select id, schedule_seed, after_number from blocks order by id"):
        for number in range(done + 1, after + 1):
            match = counted[number]
            assert match.count is not None
            known.update(rate(known, match.versions, match.count.ranks, dict.fromkeys(authors)))
        done = after
        season.entered = {
            version: replace(old, rating=known.get(version, Rating())) for version, old in season.entered.items()
        }
        drawn = season.draw(block, random.Random(seed))
        sql = "select version from seats join matches on id = match where block = ? and rotation = 0 order by seat"
        assert drawn == [version for (version,) in database.execute(sql, [block])]
        season.note(drawn, block)
    assert done > 20


def test_nobody_starves_even_far_from_all_others() -> None:
    ratings = {f"v{n}": Rating(25, 1.2) for n in range(1, 10)}
    ratings["v9"] = Rating(60, 0.9)
    season = Season(candidates(9, **ratings), [2])
    season.play(120)
    assert min(season.played.values()) >= 10
    last = {version: max(n for n, block in enumerate(season.blocks) if version in block) for version in range(1, 10)}
    assert min(last.values()) > 60


def test_opponents_change() -> None:
    season = Season(candidates(6), [2])
    season.play(60)
    assert len(season.meetings) == 15
    assert max(season.meetings.values()) <= 12


def test_even_matches_are_preferred() -> None:
    ratings = {f"v{n}": Rating(10 * n, 1) for n in range(1, 7)}
    season = Season(candidates(6, **ratings), [2])
    season.play(60)
    near = sum(count for pair, count in season.meetings.items() if abs(max(pair) - min(pair)) == 1)
    assert near > 30


def test_two_bots_of_one_author_do_not_meet_unless_asked() -> None:
    entered = [Candidate(1, "ann", Rating(), 0), Candidate(2, "ann", Rating(), 0), Candidate(3, "bob", Rating(), 0)]
    season = Season(entered, [2, 3])
    season.play(30)
    assert frozenset((1, 2)) not in season.meetings
    assert set(season.by_seats) == {2}
    friendly = Season(entered, [2, 3], same_author=True)
    friendly.play(30)
    assert friendly.meetings[frozenset((1, 2))]
    assert next_block(entered[:2], [2], {}, {}, 1, random.Random(1)) is None


def test_house_bots_may_meet_each_other() -> None:
    entered = [Candidate(n, HOUSE, Rating(), 0) for n in (1, 2)]
    assert next_block(entered, [2], {}, {}, 1, random.Random(1)) is not None


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_in_a_block_everybody_sits_in_every_seat_once(seats: int) -> None:
    matches = rotations(list(range(seats)))
    assert len(matches) == seats
    assert all(sorted(column) == list(range(seats)) for column in zip(*matches, strict=True))
