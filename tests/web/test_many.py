"""One who asks for much keeps nobody else waiting, and fills no memory."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import time
from pathlib import Path

import httpx
import pytest

from ladder.http.requests.cache import AnswerCache
from ladder.http.requests.limits import CallerQueues
from ladder.http.requests.prepared import PreparedResponse
from ladder.http.requests.visit import Site
from ladder.operation.errors import TooMuch
from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.operation.meter import AtATime
from tests.patience import patient
from tests.web.conftest import Browse, new_ladder
from tests.web.served import serving_pages

PAGE = PreparedResponse.of(b"page", 200)


async def test_an_address_that_asks_for_much_keeps_only_itself_waiting() -> None:
    queues = CallerQueues(2)
    async with contextlib.AsyncExitStack() as stack:
        for who in ("greedy", "greedy", "modest"):
            await stack.enter_async_context(queues.place(who))
        third = asyncio.create_task(stack.enter_async_context(queues.place("greedy")))
        await asyncio.sleep(0)
        assert not third.done()
        await stack.enter_async_context(queues.place("another"))
        third.cancel()
    async with queues.place("greedy"), queues.place("greedy"):
        pass


async def test_who_waits_too_long_is_refused_with_that_reason() -> None:
    queues = CallerQueues(1, wait_seconds=0.01)
    async with queues.place("greedy"):
        with pytest.raises(TooMuch, match="come back in a minute"):
            async with queues.place("greedy"):
                pass


def test_an_address_with_too_many_requests_at_a_time_is_refused_and_no_other_one(tmp_path: Path) -> None:
    limits = Limits(open=AtATime(2, 100, "too many requests", ""))
    unfinished = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ntok"
    with (
        serving_pages(new_ladder(tmp_path / "ladder"), Site(takes_bots=True), limits=limits) as url,
        contextlib.ExitStack() as stack,
    ):
        address = httpx.URL(url)
        for _ in range(2):
            one = stack.enter_context(socket.create_connection((address.host, address.port), patient(60)))
            one.sendall(unfinished)
        while (refused := httpx.get(f"{url}/enter", timeout=patient(60))).status_code == 200:
            time.sleep(0.01)  # until both have come
        assert (refused.status_code, "too many requests" in refused.text) == (429, True)
        transport = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(transport=transport, timeout=patient(60)) as another:
            assert another.get(f"{url}/enter").status_code == 200


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
