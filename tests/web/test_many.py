"""One who asks for much keeps nobody else waiting, and fills no memory."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path

import pytest

from ladder.http.requests import limits
from ladder.http.requests.cache import AnswerCache
from ladder.http.requests.kept import Kept
from ladder.http.requests.limits import Turns
from ladder.operation.errors import TooMuch
from ladder.operation.home import Home
from tests.web.conftest import Browse, new_ladder

PAGE = Kept.of(b"page", 200)


def test_an_address_that_asks_for_much_keeps_only_itself_waiting() -> None:
    async def scene() -> None:
        turns = Turns(2)
        async with contextlib.AsyncExitStack() as stack:
            for who in ("greedy", "greedy", "modest"):
                await stack.enter_async_context(turns.one(who))
            third = asyncio.create_task(stack.enter_async_context(turns.one("greedy")))
            await asyncio.sleep(0)
            assert not third.done()
            await stack.enter_async_context(turns.one("another"))
            third.cancel()
        async with turns.one("greedy"), turns.one("greedy"):
            pass

    asyncio.run(scene())


def test_who_waits_too_long_or_too_often_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_WAITING", 2)
    monkeypatch.setattr(limits, "WAIT_SECONDS", 0.01)

    async def scene() -> None:
        turns = Turns(1)
        async with turns.one("greedy"):
            with pytest.raises(TooMuch, match="come back in a minute"):
                async with turns.one("greedy"):
                    pass
            monkeypatch.setattr(limits, "WAIT_SECONDS", 60.0)
            waiting = asyncio.create_task(contextlib.AsyncExitStack().enter_async_context(turns.one("greedy")))
            await asyncio.sleep(0)
            with pytest.raises(TooMuch, match=r"from your address$"):
                async with turns.one("greedy"):
                    pass
            waiting.cancel()

    asyncio.run(scene())


def test_long_questions_fill_the_cache_as_well() -> None:
    cache = AnswerCache(max_bytes=100_000)
    for number in range(10):
        cache.put(("bots", f"{number}{'x' * 30_000}"), PAGE)
    assert [number for number in range(10) if cache.find(("bots", f"{number}{'x' * 30_000}"))] == [7, 8, 9]


def test_an_answer_that_is_larger_than_the_cache_is_not_in_it() -> None:
    cache = AnswerCache(max_bytes=1000)
    cache.put(("bots", ""), PAGE)
    assert cache.find(("bots", "")) is None


def test_an_answer_is_sent_again_for_a_second_at_most() -> None:
    now = [100.0]
    cache = AnswerCache(1.0, clock=lambda: now[0])
    cache.put(("bots", ""), PAGE)
    assert cache.find(("bots", "")) is PAGE
    now[0] += 1.0
    assert cache.find(("bots", "")) is None


def test_pages_of_a_ladder_that_was_put_in_the_place_of_another_are_its_own(
    tmp_path: Path, browse: Browse, played: Home
) -> None:
    home = new_ladder(tmp_path / "ladder")
    client = browse(home, fresh_seconds=0.0)
    assert "greedy" not in client.get("/bots").text
    copy = shutil.copy(played.database, tmp_path / "copy")
    for old in home.folder.glob("ladder.db-*"):
        old.unlink()
    Path(copy).rename(home.database)
    assert "greedy" in client.get("/bots").text
