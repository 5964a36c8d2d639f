"""`dogana ladder queue`: who plays next and why, beside a run."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ladder.facts.standings import SUSPENDED_AFTER, queue
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import HOUSE
from ladder.model.schedule import NEW_BLOCKS
from tests.commands.conftest import Dogana
from tests.commands.conftest import dogana as dogana_process
from tests.commands.test_hostile_text import check
from tests.ladder.made import CONDITION, GAME, OTHER, ladder, next_matches, play
from tests.ladder.test_schedule import fail

dogana = dogana_process
LOUD = "\x1b[2J\u202e[red]"
"""It would clear the screen, reverse the text and change its colour."""


@pytest.fixture(scope="module")
def settled_ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder of ten bots, three of them of one author and one of the house; all have played their first blocks."""
    folder = tmp_path_factory.mktemp("settled")
    with ladder(folder, bots=6) as store:
        for bot, author in (("one", "ann"), ("two", "ann"), ("three", "ann"), ("anchor", HOUSE)):
            add(store, bot, author)
        number = 0
        while any(one.is_new for one in queue(store, CONDITION)):
            number += 1
            for match in next_matches(store, number):
                play(store, match, random.Random(number))
    return folder


@pytest.fixture
def home(settled_ladder: Path, tmp_path: Path) -> Path:
    """A ladder that a test may change."""
    return shutil.copytree(settled_ladder, tmp_path / "home")


def add(store: Store, bot: str, author: str, content: str = "first") -> int:
    version, _ = store.roster.add_version(bot, author, f"{bot} {content}", ["./bot"], [GAME.name])
    store.admission.qualify(version.id, CONDITION, passed=True, reason="")
    return version.id


@pytest.fixture
def listed(dogana: Dogana, home: Path) -> Callable[..., dict[str, Any]]:
    """Runs `dogana ladder queue --json`; returns what it says of the first condition, by bot."""

    def run(*words: object) -> dict[str, Any]:
        said = json.loads(dogana("ladder", "queue", *words, "--home", home, "--json").stdout)
        return {entry["bot"]: entry for entry in said if entry["options"] == CONDITION.options}

    return run


def test_it_lists_the_next_ten_in_the_order_in_which_they_will_be_first(
    home: Path, listed: Callable[..., dict[str, Any]]
) -> None:
    with Store(home / "ladder.db", create=False) as store:
        due = [one.version for one in queue(store, CONDITION)]
        assert due[0] in next_matches(store)[0].versions
        for name in ("newcomer", "another"):
            add(store, name, name)
        versions = store.roster.versions()
    with Store(home / "ladder.db", create=False) as store:
        order = [versions[one.version].bot for one in queue(store, CONDITION)]
    assert list(listed()) == order[:10]
    assert list(listed(GAME.name)) == order[:10]
    dues = [entry["due"] for entry in listed().values()]
    assert dues == sorted(dues)
    assert all(entry["waits"] < entry["at_most"] for entry in listed().values() if not entry["due"])


def test_each_reason_is_given_in_words(home: Path, listed: Callable[..., dict[str, Any]]) -> None:
    with Store(home / "ladder.db", create=False) as store:
        old = next(version.id for version in store.roster.versions().values() if version.bot == "bot1")
        faults = 0
        failing = next(version for version in next_matches(store, 1)[0].versions if version != old)
        while faults < 3:
            fail(store, store.schedule.unfinished(CONDITION)[:1], failing)
            faults = store.results.tallies(CONDITION)[failing].faults_in_a_row
            if not store.schedule.unfinished(CONDITION):
                next_matches(store, faults)
        assert faults < SUSPENDED_AFTER
        add(store, "bot1", "author1", "second")
        for match in store.schedule.unfinished(CONDITION):
            store.results.give_up(match, "x")
        for name in ("bot0", "bot2"):  # so that all that are left are listed, and too many for one table
            [version] = [one for one in store.roster.versions().values() if one.bot == name]
            if version.id not in (failing, old):
                store.admission.retire(version.id, retired=True)
        assert "; to be accompanied by bot1 v1" in listed()["bot1"]["why"]
        labels = {version.id: version.bot for version in store.roster.versions().values()}
        playing = {labels[version] for version in next_matches(store, 7)[0].versions}
    found = listed()
    assert "new: " in found["bot1"]["why"]
    assert f"of {NEW_BLOCKS} first blocks" in found["bot1"]["why"]
    assert "house bot: a quarter of a share" in found["anchor"]["why"]
    assert "out in its last 3 matches: sits out 3 rounds" in found[labels[failing]]["why"]
    assert {bot for bot, entry in found.items() if "is playing" in entry["why"]} == playing
    longest = max(entry["waits"] for entry in found.values())
    for entry in found.values():
        assert ("waits longest" in entry["why"]) == (entry["waits"] == longest)
    first = next(entry for entry in found.values() if not entry["playing"])
    assert f"least certain of those due: sigma {first['sigma']:.1f}" in first["why"]


def test_bots_that_share_a_part_have_that_reason(listed: Callable[..., dict[str, Any]]) -> None:
    found = listed()
    assert {bot for bot, entry in found.items() if "one of 3 bots that share the part of ann" in entry["why"]} == {
        "one",
        "two",
        "three",
    }


def test_every_condition_has_its_own_queue_and_a_game_that_was_not_run_has_none(home: Path, dogana: Dogana) -> None:
    said = json.loads(dogana("ladder", "queue", "--home", home, "--json").stdout)
    assert {entry["options"].get("last_turn") for entry in said} == {None, OTHER.options["last_turn"]}
    text = dogana("ladder", "queue", "--home", home).stdout
    assert text.index(CONDITION.terms) < text.index(OTHER.terms)
    other = next(name for name in ("yunnan", "venezia") if name != GAME.name)
    assert json.loads(dogana("ladder", "queue", other, "--home", home, "--json").stdout) == []
    assert "nothing was run" in dogana("ladder", "queue", other, "--home", home).stdout


def test_it_changes_nothing_and_does_not_wait_for_somebody_who_writes(home: Path, dogana: Dogana) -> None:
    with Store(home / "ladder.db", create=False) as store:
        add(store, "newcomer", "newcomer")  # it joins with the next block, not by being looked at
        dues, matches = store.schedule.dues(CONDITION), store.schedule.open_matches()
        with store.writing():
            store.admission.retire(1, retired=True)
            assert "newcomer v1" in dogana("ladder", "queue", "--home", home).stdout
        assert store.schedule.dues(CONDITION) == dues
        assert store.schedule.open_matches() == matches


def test_names_of_strangers_are_made_visible(home: Path, dogana: Dogana) -> None:
    with Store(home / "ladder.db", create=False) as store:
        add(store, f"loud{LOUD}", f"author{LOUD}")
        add(store, f"loud{LOUD}2", f"author{LOUD}")
    text = dogana("ladder", "queue", "--home", home).stdout
    check(text)
    assert "[red]" in "".join(text.split())


def test_a_condition_without_bots_says_so(tmp_path: Path, dogana: Dogana) -> None:
    with Store(tmp_path / "ladder.db", create=True) as store:
        store.roster.condition(GAME.name, {}, "10+1/10")
    assert Condition(1, GAME.name, {}, "10+1/10").terms in dogana("ladder", "queue", "--home", tmp_path).stdout
    assert "nobody can be scheduled" in dogana("ladder", "queue", "--home", tmp_path).stdout
