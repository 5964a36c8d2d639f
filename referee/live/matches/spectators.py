"""Show a match to spectators, who are strangers, may come before the match begins, and may read slowly."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import grpc

from referee.live.matches.driver import MatchDriver
from referee.live.messages import wire
from referee.match.effects import Happened

SLOW_SECONDS = 10.0
"""The time allowed for a spectator to read a message; slower spectators are dropped."""


class Showing:
    """The display of one match, from before its agents have joined until it is over.

    Each event is serialised once for all spectators, and sent to each spectator as fast as that spectator reads. A slow
    spectator costs the match no more than a queue, and all queues share the bytes of the messages.

    Attributes:
        spectators: the spectators whose streams are open.
        watched: an event that is set when the first spectator arrives.
    """

    def __init__(self) -> None:
        self._driver: MatchDriver | None = None
        self.spectators: list[_Spectator] = []
        self._ended = False
        self._last: Happened | None = None
        self._last_bytes: dict[bool, bytes] = {}
        self.watched = asyncio.Event()

    def begin(self, driver: MatchDriver) -> None:
        """Show the match to all waiting spectators; call this before `driver.start`."""
        self._driver = driver
        driver.done.add_done_callback(lambda _: self.end())
        for spectator in self.spectators:
            self._open(spectator, driver)

    def end(self) -> None:
        """Let spectators read the remaining messages, and then end their streams."""
        self._ended = True
        for spectator in self.spectators:
            spectator.news.set()

    async def show(self, context: Any, *, labels: bool, slow_seconds: float = SLOW_SECONDS) -> None:
        """Serve a spectator until the match is over."""
        spectator = _Spectator(labels)
        self.spectators.append(spectator)
        self.watched.set()
        try:
            if self._driver is not None:
                self._open(spectator, self._driver)
            await context.send_initial_metadata(())  # the match exists, even if there is nothing to show yet
            await self._serve(spectator, context, slow_seconds)
        finally:
            self.spectators.remove(spectator)
            spectator.leave()

    def _open(self, spectator: _Spectator, driver: MatchDriver) -> None:
        def take(happened: Happened) -> None:
            if not spectator.is_joined:
                spectator.is_joined = True
                message = wire.first_happened(driver.plan, driver.codec, happened, spectator.labels)
                spectator.waiting.append(message.SerializeToString())
            else:
                spectator.waiting.append(self._bytes(driver, happened, spectator.labels))
            spectator.news.set()

        spectator.leave = driver.watch(take)

    def _bytes(self, driver: MatchDriver, happened: Happened, labels: bool) -> bytes:
        if happened is not self._last:
            self._last, self._last_bytes = happened, {}
        if labels not in self._last_bytes:
            message = wire.happened(driver.plan, driver.codec, happened, labels)
            self._last_bytes[labels] = message.SerializeToString()
        return self._last_bytes[labels]

    async def _serve(self, spectator: _Spectator, context: Any, slow_seconds: float) -> None:
        while spectator.waiting or not self._ended:
            if not spectator.waiting:
                await spectator.news.wait()
            # The event is cleared before the queue is emptied, so that a message that comes meanwhile sets it again.
            spectator.news.clear()
            while spectator.waiting:
                try:
                    async with asyncio.timeout(slow_seconds):
                        await context.write(spectator.waiting.popleft())
                except TimeoutError:
                    await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "this spectator reads too slowly")
        failure = self._failure()
        if failure:
            await context.abort(grpc.StatusCode.ABORTED, failure)

    def _failure(self) -> str:
        """Return the reason why the match has ended without a result; empty if it has one."""
        if self._driver is None:
            return "the match did not begin"
        done = self._driver.done
        if not done.done() or done.cancelled():
            return "the match was broken off"
        return "" if done.exception() is None else "the match was voided"


class _Spectator:
    """A spectator.

    Attributes:
        labels: True to send actions with their labels.
        is_joined: True when the first message, with the state of the match, has been queued.
        waiting: the queue of messages.
        news: an event that is set when there are messages, or the match is over.
        leave: a function that stops watching.
    """

    def __init__(self, labels: bool) -> None:
        self.labels = labels
        self.is_joined = False
        self.waiting: deque[bytes] = deque()
        self.news = asyncio.Event()
        self.leave: Callable[[], None] = lambda: None
