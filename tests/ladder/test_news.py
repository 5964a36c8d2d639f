"""What is new on a ladder: everything that the facts say, the newest first."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ladder.facts.store import Store
from ladder.operation.errors import NotFound
from ladder.operation.home import Home
from ladder.questions.desk import Desk
from ladder.questions.matches import MatchesRequest
from ladder.questions.news import MAX_NEWS, NewsItem, NewsRequest
from tests.ladder.made import CONDITION, ladder, next_matches, play


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return ladder(tmp_path)


def news(store: Store, bot: str = "") -> list[NewsItem]:
    return list(Desk(Home(store.file.path.parent)).ask(NewsRequest(bot=bot)).news)


def test_versions_and_qualifications_are_news_and_house_bots_are_not(store: Store) -> None:
    with store:
        store.roster.add_version("greedy", "house", "house:greedy", [], ["cargo_noir"])
        version, _ = store.roster.add_version("bot1", "author1", "another", ["./bot"], ["cargo_noir"])
        store.admission.qualify(version.id, CONDITION, passed=False, reason="it crashed")
        found = news(store)
    assert found == sorted(found, key=lambda one: one.at, reverse=True)
    assert {one.bot for one in found} == {f"bot{number}" for number in range(5)}
    assert [(one.kind, one.version, one.reason) for one in found if one.version == 2] == [
        ("not qualified", 2, "it crashed"),
        ("sent", 2, ""),
    ]
    assert sum(one.kind == "sent" for one in found) == 6
    assert {one.condition.clock for one in found if one.condition is not None and one.kind == "qualified"} == {
        CONDITION.clock
    }
    assert len({one.key for one in found}) == len(found)


def test_versions_of_house_bots_leave_room_for_those_that_were_sent(store: Store) -> None:
    with store:
        for number in range(MAX_NEWS):
            store.roster.add_version("greedy", "house", f"house:greedy:{number}", [], ["cargo_noir"])
        assert [one for one in news(store) if one.kind == "sent"]


def test_news_is_no_more_than_the_newest(store: Store) -> None:
    with store:
        seen: list[NewsItem] = []
        for number in range(30):
            for match in next_matches(store, number):
                play(store, match, random.Random(number))
            found = news(store, "bot1")
            seen += [one for one in found if one not in seen]
        older = [one for one in seen if one not in found]
        assert len(found) == MAX_NEWS
        assert older
        assert max(one.at for one in older) <= min(one.at for one in found)


def test_news_of_a_bot_are_its_own_with_its_matches(store: Store) -> None:
    with store:
        for match in next_matches(store):
            play(store, match, random.Random(1))
        found = news(store, "bot1")
        played = Desk(Home(store.file.path.parent)).ask(MatchesRequest(bot="bot1")).matches
        assert {one.bot for one in found} == {"bot1"}
        assert [one.match for one in found if one.kind == "played"] == list(played)
        with pytest.raises(NotFound, match="bot1"):
            news(store, "bto1")


def test_a_ladder_without_anything_has_no_news(tmp_path: Path) -> None:
    with Store(tmp_path / "ladder.db", create=True) as store:
        assert news(store) == []
