"""What a ladder does between matches costs the same, however long its history is."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.ladder import make
from ladder.chronicle import Chronicle
from ladder.home import Home
from ladder.match import Match
from ladder.recompute import compare
from ladder.standings import scheduled, standings
from ladder.store import Store
from tests.ladder.made import CONDITION, OTHER, next_matches, play

VERSIONS = 8  # so few that all pairs have met in the short history, too


def steps_of(store: Store, action: Callable[[], object]) -> int:
    """How many instructions SQLite's virtual machine takes for something: its cost, independent of the machine's load."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    store._db.conn.set_progress_handler(step, 1)
    action()
    store._db.conn.set_progress_handler(None, 1)
    return steps


@pytest.fixture(scope="module")
def ladders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    folder = tmp_path_factory.mktemp("ladders")
    return make(folder, 300, VERSIONS), make(folder, 4000, VERSIONS)


def block_and_count(store: Store) -> None:
    matches: list[Match] = next_matches(store)
    for match in matches:
        play(store, match, random.Random(1))
    again = next_matches(store)
    store.give_up(again[0], "x")
    for match in again[1:]:
        play(store, match, random.Random(1))


@pytest.mark.parametrize(
    "action",
    [
        pytest.param(lambda store: scheduled(store, CONDITION), id="who is scheduled, who is suspended"),
        pytest.param(lambda store: standings(store, CONDITION), id="top"),
        pytest.param(lambda store: store.blocks_to_seal(), id="which blocks are to be sealed"),
        pytest.param(block_and_count, id="scheduling, counting, giving up"),
    ],
)
def test_the_cost_does_not_grow_with_the_history(
    ladders: tuple[Store, Store], action: Callable[[Store], object]
) -> None:
    short, long = (steps_of(store, lambda store=store: action(store)) for store in ladders)  # type: ignore[misc]
    assert short > 0
    assert long < 1.2 * short


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({}, id="all"),
        pytest.param({"out": True}, id="out, which none is"),
        pytest.param({"bot": "bot1"}, id="of a bot"),
        pytest.param({"bot": "bot1", "out": True}, id="of a bot that was out, which it never was"),
        pytest.param({"bot": "bot1", "lost": True, "conditions": [CONDITION]}, id="of a bot that lost"),
        pytest.param({"bot": "bot1", "conditions": [OTHER]}, id="of a bot, under another condition"),
        pytest.param({"before": "match150"}, id="further back"),
    ],
)
def test_the_cost_of_a_page_of_matches_does_not_grow_with_the_history(
    ladders: tuple[Store, Store], wanted: dict[str, Any]
) -> None:
    def page(store: Store) -> None:
        with Chronicle(store._path, create=False) as chronicle:
            versions = chronicle.find_versions(wanted["bot"]) if "bot" in wanted else ()
            filters = {key: value for key, value in wanted.items() if key != "bot"}
            found.append(steps_of(chronicle, lambda: chronicle.matches(10, versions=versions, **filters)))

    found: list[int] = []
    for store in ladders:
        page(store)
    short, long = found
    assert 0 < long < 1.2 * short


def test_tallies_of_a_history_that_was_made_at_once_agree_with_it(tmp_path: Path) -> None:
    with make(tmp_path, 300, VERSIONS) as store:
        assert store.differences() == []
        found = compare(Home(tmp_path / "300"), store)
        assert found.log == ""
        broken = found.broken
        assert list(broken) == [match.match_id for match in store.counted()]  # it has no records
        assert all("cannot be read" in problem for problem in broken.values())
