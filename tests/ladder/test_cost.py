"""What a ladder does between matches costs the same, however long its history is."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bench.ladder import make, name_of
from ladder.archive.recompute import MAX_REPORTED, compare
from ladder.facts.standings import scheduled, standings, statuses
from ladder.facts.store import Store
from ladder.model import rating
from ladder.model.match import Match
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.bots import BotsRequest, ShowRequest
from ladder.questions.changes import RequalifyRequest, RetireRequest
from ladder.questions.comparing import CompareRequest, CrosstableRequest
from ladder.questions.desk import Desk
from ladder.questions.info import InfoRequest
from ladder.questions.match import LogRequest, MatchRequest, RecordRequest
from ladder.questions.matches import MatchesRequest, PlayingRequest
from ladder.questions.news import NewsRequest
from ladder.questions.proof import KeyRequest
from ladder.questions.queue import QueueRequest
from ladder.questions.standings import TopRequest
from tests.ladder.made import CONDITION, OTHER, counted_steps, differences, next_matches, play

MANY_VERSIONS = 60
VERSIONS = 8  # so few that all pairs have met in the short history, too


def costs(stores: Iterable[Store], action: Callable[[Store], object], monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The number of SQLite's instructions that something takes on each ladder: whatever else the machine does."""
    steps = counted_steps(monkeypatch)
    for store in stores:
        with Store(store.file.path, create=False) as reader:
            yield steps(partial(action, reader))


@pytest.fixture(scope="module")
def ladders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    folder = tmp_path_factory.mktemp("ladders")
    return make(folder, 600, VERSIONS), make(folder, 3000, VERSIONS)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    """Two ladders of many versions; on the second one, all of them have met."""
    folder = tmp_path_factory.mktemp("crowded")
    return make(folder, 300, MANY_VERSIONS), make(folder, 6000, MANY_VERSIONS)


def block_and_count(store: Store) -> None:
    matches: list[Match] = next_matches(store)
    for match in matches:
        play(store, match, random.Random(1))
    again = next_matches(store)
    store.results.give_up(again[0], "x")
    for match in again[1:]:
        play(store, match, random.Random(1))


@pytest.mark.parametrize(
    "action",
    [
        pytest.param(lambda store: scheduled(store, CONDITION), id="who is scheduled, who is suspended"),
        pytest.param(lambda store: statuses(store, CONDITION), id="the status of every version"),
        pytest.param(lambda store: store.evidence.blocks_to_seal(), id="which blocks are to be sealed"),
        pytest.param(block_and_count, id="scheduling, counting, giving up"),
        pytest.param(lambda store: standings(store, CONDITION), id="the standings, once they were read"),
    ],
)
def test_the_cost_does_not_grow_with_the_history(
    ladders: tuple[Store, Store], action: Callable[[Store], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for store in ladders:
        action(store)
    short, long = costs(ladders, action, monkeypatch)
    assert 0 < long < 1.2 * short


@pytest.mark.long
def test_to_schedule_the_first_block_costs_the_same_however_many_pairs_have_met(
    crowded: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (len(store.file.rows("select 1 from meetings")) for store in crowded)
    assert 3 * few < many
    short, long = costs(crowded, next_matches, monkeypatch)
    assert 0 < long < 1.2 * short


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda desk: desk.ask(MatchesRequest(limit=20)), id="matches"),
        pytest.param(lambda desk: desk.ask(MatchesRequest(bot="bot1")), id="matches of a bot"),
        pytest.param(lambda desk: desk.ask(MatchRequest(match=name_of(7))), id="match"),
        pytest.param(lambda desk: list(desk.ask(RecordRequest(match=name_of(7)))), id="record"),
        pytest.param(lambda desk: desk.ask(LogRequest(what="bot1")), id="log of a bot"),
        pytest.param(lambda desk: desk.ask(ShowRequest(bot="bot1")), id="show"),
    ],
)
@pytest.mark.long
def test_the_cost_of_a_question_does_not_grow_with_the_versions_that_it_is_not_about(
    ladders: tuple[Store, Store],
    crowded: tuple[Store, Store],
    ask: Callable[[Desk], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = counted_steps(monkeypatch)

    def question(store: Store) -> None:
        with suppress(LadderError):
            ask(Desk(Home(store.file.path.parent)))

    for store in (ladders[1], crowded[1]):
        question(store)  # so that the strengths have been computed
    few, many = (steps(partial(question, store)) for store in (ladders[1], crowded[1]))
    assert 0 < many < 1.3 * few


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({}, id="all"),
        pytest.param({"out": True}, id="out"),
        pytest.param({"bot": "bot1"}, id="of a bot"),
        pytest.param({"bot": "bot0", "out": True}, id="of a bot that was out, which it never was"),
        pytest.param({"bot": "bot1", "lost": True, "conditions": [CONDITION]}, id="of a bot that lost"),
        pytest.param({"bot": "bot1", "conditions": [OTHER]}, id="of a bot, under another condition"),
        pytest.param({"before": name_of(150)}, id="further back"),
    ],
)
def test_the_cost_of_a_page_of_matches_does_not_grow_with_the_history(
    ladders: tuple[Store, Store], wanted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    filters = {key: value for key, value in wanted.items() if key != "bot"}

    def page(store: Store) -> None:
        versions = store.roster.find_versions(wanted["bot"]) if "bot" in wanted else ()
        store.history.matches(10, versions=versions, **filters)

    short, long = costs(ladders, page, monkeypatch)
    assert 0 < long < 1.2 * short


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda desk: desk.ask(InfoRequest()), id="info"),
        pytest.param(lambda desk: desk.ask(TopRequest()), id="top"),
        pytest.param(lambda desk: desk.ask(BotsRequest()), id="bots"),
        pytest.param(lambda desk: desk.ask(ShowRequest(bot="bot0")), id="show of one that was never out"),
        pytest.param(lambda desk: desk.ask(CompareRequest(one="bot1", other="bot2")), id="compare"),
        pytest.param(lambda desk: desk.ask(CrosstableRequest(game="cargo_noir")), id="crosstable"),
        pytest.param(lambda desk: desk.ask(MatchesRequest(after=name_of(150))), id="matches, newer ones"),
        pytest.param(lambda desk: desk.ask(QueueRequest()), id="queue"),
        pytest.param(lambda desk: desk.ask(NewsRequest()), id="news"),
        pytest.param(lambda desk: desk.ask(NewsRequest(bot="bot1")), id="news of a bot"),
        pytest.param(lambda desk: desk.ask(KeyRequest()), id="key"),
        pytest.param(lambda desk: desk.ask(MatchesRequest(game="cargo_noir", limit=50)), id="matches"),
        pytest.param(lambda desk: desk.ask(PlayingRequest()), id="playing"),
        pytest.param(lambda desk: desk.ask(MatchRequest(match=name_of(7))), id="match"),
        pytest.param(lambda desk: desk.ask(LogRequest(what=name_of(7))), id="log of a match"),
        pytest.param(lambda desk: desk.ask(LogRequest(what="bot1")), id="log of a bot"),
        pytest.param(lambda desk: list(desk.ask(RecordRequest(match=name_of(7)))), id="record"),
        pytest.param(lambda desk: desk.ask(RetireRequest(bot="bot7")), id="retire"),
        pytest.param(lambda desk: desk.ask(RequalifyRequest(bot="bot7")), id="requalify"),
    ],
)
def test_the_cost_of_a_question_does_not_grow_with_the_history(
    ladders: tuple[Store, Store], ask: Callable[[Desk], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are no records and no logs here: it looks for them in vain, and looks no further for that."""
    steps = counted_steps(monkeypatch)

    def question(store: Store) -> None:
        with suppress(LadderError):
            ask(Desk(Home(store.file.path.parent)))

    for store in ladders:
        question(store)  # so that the strengths have been computed
    short, long = (steps(partial(question, store)) for store in ladders)
    assert 0 < long < 1.2 * short


@pytest.mark.long
def test_all_of_a_history_that_was_made_at_once_follows_from_its_events_but_for_the_ratings(tmp_path: Path) -> None:
    with make(tmp_path, 300, VERSIONS) as store:
        assert {line.partition(":")[0] for line in differences(store)} == {
            "ratings",
            "block_ratings",
        }  # these were drawn
        found = compare(Home(tmp_path / "300"), store)
        assert found.log == ""
        assert list(store.evidence.broken()) == [
            match.match_id for match in store.history.all_played()
        ]  # it has no records
        assert len(found.broken.reported) == MAX_REPORTED
        assert all("there is no such record" in problem for problem in found.broken.reported)


@pytest.mark.long
def test_the_memory_of_a_comparison_does_not_grow_with_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All records are missing and all ratings differ: the worst case."""
    monkeypatch.setattr(rating, "update", lambda ratings, _: list(ratings))  # what it gives takes as much room

    def peak(store: Store) -> int:
        tracemalloc.start()
        try:
            found = compare(Home(store.file.path.parent), store)
            assert (
                found.unreported > found.matches > MAX_REPORTED
            )  # the records, and the ratings of two versions at least
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # The first of each loads what stays; and there is some garbage, which is collected at any time.
    with make(tmp_path, 200, VERSIONS) as short, make(tmp_path, 2000, VERSIONS) as long:
        assert min(peak(long) for _ in range(2)) < 2.5 * min(peak(short) for _ in range(2))
