"""Where streams wait until their Join has come, and the places of callers that are no agents."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc

from referee.live.agent import Context

JOIN_SECONDS = 10.0
"""How long a stream may stay without a Join."""
MAX_WAITING_PER_PEER = 128
"""How many streams of one peer may wait for their Join."""
MAX_WAITING = 512
"""How many streams of all peers may wait for their Join."""


class Lobby:
    """Streams whose Join has not come yet; they take nothing from the seats.

    A newcomer always gets in. If there is no room, the stream that has waited longest must go: of the same peer if that has
    too many, else of the peer that has most. Agents send their Join at once, so whoever waits long is not one.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, dict[asyncio.Future[Any], None]] = {}

    async def first_message(self, context: Context) -> bytes:
        """Return what a new stream sends first; a stream that sends nothing in time, or has to make room, is ended."""
        peer = _peer(context.peer())
        self._make_room(peer)
        reading = asyncio.ensure_future(context.read())
        self._waiting.setdefault(peer, {})[reading] = None
        try:
            await asyncio.wait([reading], timeout=JOIN_SECONDS)
        finally:
            self._leave(peer, reading)
            crowded_out = reading.cancelled()
            reading.cancel()
        if crowded_out:
            await context.abort(
                grpc.StatusCode.RESOURCE_EXHAUSTED, "too many streams that have not joined; send Join at once"
            )
        data = reading.result() if reading.done() else None
        if not isinstance(data, bytes):  # grpc.aio.EOF
            seen = "none" if reading.done() else f"none within {JOIN_SECONDS:g} s"
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"the first message must be Join; it was {seen}")
        assert isinstance(data, bytes)  # noqa: S101 `abort` raises
        return data

    def _make_room(self, peer: str) -> None:
        if len(self._waiting.get(peer, ())) < MAX_WAITING_PER_PEER:
            if sum(map(len, self._waiting.values())) < MAX_WAITING:
                return
            peer = max(self._waiting, key=lambda one: len(self._waiting[one]))
        longest = next(iter(self._waiting[peer]))
        self._leave(peer, longest)
        longest.cancel()

    def _leave(self, peer: str, reading: asyncio.Future[Any]) -> None:
        waiting = self._waiting.get(peer, {})
        waiting.pop(reading, None)
        if not waiting:
            self._waiting.pop(peer, None)


def _peer(address: str) -> str:
    """Return who is behind a gRPC address: the host of `ipv4:host:port`, or all of this machine for a Unix socket."""
    return "unix" if address.startswith("unix:") else address.rpartition(":")[0]


class Places:
    """A number of places for callers that may stay as long as they like."""

    def __init__(self, count: int, who: str) -> None:
        """Provide `count` places; `who` is what a refusal calls those who take them."""
        self._free = self._count = count
        self._who = who

    @contextlib.asynccontextmanager
    async def one(self, context: Any) -> AsyncIterator[None]:
        """Take a place; where none is left, the call is ended."""
        if not self._free:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than {self._count} {self._who}")
        self._free -= 1
        try:
            yield
        finally:
            self._free += 1
