"""Budgets: how many matches a day an author may have, whatever is restarted, and what the others and the organiser see of it."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from ladder.facts import budgets, entries
from ladder.facts.standings import queue
from ladder.facts.store import Store
from ladder.intake.authors import Authors
from ladder.model.match import HOUSE, Match
from ladder.operation.errors import LadderError, NotFound, TooFew
from ladder.play.blocks import Blocks
from ladder.play.running import count
from tests.commands.conftest import Dogana
from tests.commands.conftest import dogana as dogana_process
from tests.ladder.made import CONDITION, OTHER, differences, ladder, result_of
from tests.ladder.test_queue import LOUD, add

dogana = dogana_process
SEATS = (2, 3, 4, 5)


class Day:
    """The clock of a ladder, which a test sets."""

    def __init__(self) -> None:
        self.day = "2026-01-01"

    def now(self) -> str:
        return f"{self.day}T23:59:59.999+00:00"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Day:
    day = Day()
    for module in (budgets, entries):
        monkeypatch.setattr(module, "now", day.now)
    return day


def allow(folder: Path, author: str, matches: int | None) -> None:
    with Authors(folder / "ladder.db", create=False) as authors:
        authors.set_budget(author, matches)


class Play:
    """Blocks of a run, which are played at once; `matches` counts those of each author."""

    def __init__(self, store: Store, blocks: Blocks | None = None, thinks: Mapping[str, float] | None = None) -> None:
        self.store = store
        self.thinks = thinks or {}
        self.blocks = blocks or Blocks(store, CONDITION, SEATS)
        self.matches = Counter[str]()
        self.tables: list[set[int]] = []

    def play(self, count: int) -> None:
        for number in range(count):
            block = self.blocks.add(number)
            self.tables.append(set(block[0].versions))
            for match in block:
                self.count(match, random.Random(number))
                self.blocks.touch(match.versions)
                self.matches.update({version.author for version in match.seats})

    def count(self, match: Match, chance: random.Random) -> None:
        result = result_of(match, chance.sample(range(1, len(match.seats) + 1), len(match.seats)))
        seats = [
            replace(seat, think_seconds=self.thinks.get(version.author, seat.think_seconds))
            for seat, version in zip(result.seats, match.seats, strict=True)
        ]
        count(self.store, match, replace(result, seats=tuple(seats)), f"record of {match.match_id}")


def test_who_has_used_up_a_budget_plays_no_more_and_the_last_block_is_whole(tmp_path: Path, clock: Day) -> None:
    with ladder(tmp_path, bots=7) as store:
        allow(tmp_path, "author0", 7)
        run = Play(store)
        run.play(40)
        assert 7 <= run.matches["author0"] < 7 + max(SEATS) - 1
        assert min(run.matches[f"author{n}"] for n in range(1, 7)) > 20
        assert differences(store) == []


def test_all_bots_of_an_author_and_all_conditions_have_one_budget(tmp_path: Path, clock: Day) -> None:
    with ladder(tmp_path, bots=7) as store:
        add(store, "second", "author0")
        allow(tmp_path, "author0", 8)
        here, there = Play(store), Play(store, Blocks(store, OTHER, SEATS))
        for _ in range(20):
            here.play(1)
            there.play(1)
        assert 8 <= here.matches["author0"] + there.matches["author0"] < 8 + max(SEATS) - 1


def test_a_restart_gives_nobody_more(tmp_path: Path, clock: Day) -> None:
    ladder(tmp_path, bots=7).close()
    allow(tmp_path, "author0", 7)
    total = 0
    for _ in range(10):
        with Store(tmp_path / "ladder.db", create=False) as store:
            run = Play(store)
            run.play(3)
            total += run.matches["author0"]
    assert 7 <= total < 7 + max(SEATS) - 1


def test_at_midnight_the_same_run_gives_the_budget_of_another_day(tmp_path: Path, clock: Day) -> None:
    with ladder(tmp_path, bots=7) as store:
        allow(tmp_path, "author0", 7)
        run = Play(store)
        run.play(20)
        before = run.matches["author0"]
        clock.day = "2026-01-02"
        run.play(20)
        assert 7 <= run.matches["author0"] - before < 7 + max(SEATS) - 1
        assert differences(store) == []


def test_another_budget_holds_at_once_and_none_lifts_it(tmp_path: Path, clock: Day) -> None:
    with ladder(tmp_path, bots=7) as store:
        allow(tmp_path, "author0", 3)
        run = Play(store)
        run.play(15)
        had = run.matches["author0"]
        allow(tmp_path, "author0", had + 1)
        run.play(15)
        assert had < run.matches["author0"] < had + 1 + max(SEATS)
        had = run.matches["author0"]
        allow(tmp_path, "author0", None)
        run.play(30)
        assert run.matches["author0"] > had + 10


def test_the_bound_of_the_others_holds_while_authors_rest_and_come_back(tmp_path: Path, clock: Day) -> None:
    with ladder(tmp_path, bots=8) as store:
        for number in range(4):
            allow(tmp_path, f"author{number}", 2 + number)
        run = Play(store)
        for day in range(1, 5):
            clock.day = f"2026-01-{day:02}"
            run.play(15)
        bound = queue(store, CONDITION).most_blocks(8, SEATS)
        for version in range(5, 9):
            seen = [-1, *(number for number, table in enumerate(run.tables) if version in table), len(run.tables)]
            assert max(later - earlier for earlier, later in pairwise(seen)) <= bound


def test_house_bots_have_no_budget(tmp_path: Path, clock: Day) -> None:
    with ladder(tmp_path, bots=2) as store:
        add(store, "anchor", HOUSE)
        with pytest.raises(LadderError, match="anchors"):
            allow(tmp_path, HOUSE, 1)
        run = Play(store)
        run.play(20)
        assert run.matches[HOUSE] > 1


def test_nobody_can_be_limited_who_is_not_known(tmp_path: Path) -> None:
    ladder(tmp_path).close()
    with pytest.raises(NotFound, match="there is no author 'nobody'"):
        allow(tmp_path, "nobody", 1)


def test_a_run_that_finds_too_few_says_whose_budget_is_used_up(tmp_path: Path, clock: Day) -> None:
    with ladder(tmp_path, bots=2) as store:
        allow(tmp_path, "author0", 2)
        run = Play(store)
        run.play(1)
        with pytest.raises(TooFew, match=r"out of their budget until 00:00 UTC: author0"):
            run.play(1)
        clock.day = "2026-01-02"
        run.play(1)


def test_the_queue_and_the_list_say_who_rests_and_until_when(tmp_path: Path, dogana: Dogana) -> None:
    with ladder(tmp_path, bots=7) as store:
        dogana("ladder", "author", "budget", "author0", "--matches-a-day", "3", "--home", tmp_path)
        run = Play(store)
        run.play(15)
        had = run.matches["author0"]
    said = json.loads(dogana("ladder", "queue", "--home", tmp_path, "--json").stdout)
    last = [one for one in said if one["clock"] == CONDITION.clock and one["options"] == CONDITION.options][-1]
    assert (last["bot"], last["again"], last["why"]) == (
        "bot0",
        "00:00 UTC",
        f"author0 has had {had} of 3 matches today",
    )
    assert "00:00 UTC" in dogana("ladder", "queue", "--home", tmp_path).stdout
    listed = json.loads(dogana("ladder", "author", "list", "--home", tmp_path, "--json").stdout)
    assert [one["budget"] for one in listed] == [{"matches": 3, "today": had}]
    assert f"{had} of 3" in dogana("ladder", "author", "list", "--home", tmp_path).stdout
    dogana("ladder", "author", "budget", "author0", "--matches-a-day", "none", "--home", tmp_path)
    with Authors(tmp_path / "ladder.db", create=False) as authors:
        assert authors.budgets.of_today() == {}
        assert [(act.did, act.about) for act in authors.acts(2)] == [
            ("author budget", "author0: none"),
            ("author budget", "author0: 3"),
        ]


@pytest.mark.parametrize("number", ["0", "9" * 5000, LOUD])
def test_what_is_no_budget_is_refused_in_words(tmp_path: Path, dogana: Dogana, number: str) -> None:
    ladder(tmp_path).close()
    done = dogana("ladder", "author", "budget", "author0", f"--matches-a-day={number}", "--home", tmp_path, status=2)
    assert "or none" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bot_that_thinks_longest_has_as_many_matches_as_the_others(tmp_path: Path, clock: Day) -> None:
    """Shares are paid in matches: the seconds that a result reports decide nothing."""
    tables = []
    for seconds in (0.01, 3600.0):
        (tmp_path / str(seconds)).mkdir()
        with ladder(tmp_path / str(seconds), bots=7) as store:
            run = Play(store, thinks={"author0": seconds})
            run.play(30)
            tables.append(run.tables)
    assert tables[0] == tables[1]
    assert max(run.matches.values()) <= 1.4 * min(run.matches.values())
