"""Where streams wait until their Join has come, and the places of callers that are no agents."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import unquote

import grpc

from referee.live.seats.agent import Call

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

    async def first_message(self, call: Call) -> bytes:
        """Return what a new stream sends first; a stream that sends nothing in time, or has to make room, is ended."""
        peer = host_of(call.peer())
        self._make_room(peer)
        reading = asyncio.ensure_future(call.read())
        self._waiting.setdefault(peer, {})[reading] = None
        try:
            await asyncio.wait([reading], timeout=JOIN_SECONDS)
        finally:
            self._leave(peer, reading)
            crowded_out = reading.cancelled()
            reading.cancel()
        if crowded_out:
            await call.abort(
                grpc.StatusCode.RESOURCE_EXHAUSTED, "too many streams that have not joined; send Join at once"
            )
        data = reading.result() if reading.done() else None
        if data is None:
            seen = "none" if reading.done() else f"none within {JOIN_SECONDS:g} s"
            await call.abort(grpc.StatusCode.INVALID_ARGUMENT, f"the first message must be Join; it was {seen}")
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


def host_of(address: str) -> str:
    """Return who is behind a gRPC address: an IPv4 host, the /64 of an IPv6 host, or all of this machine for a Unix socket.

    Who has one address of a /64 mostly has all of it.
    """
    if address.startswith("unix:"):
        return "unix"
    host = unquote(address.rpartition(":")[0].partition(":")[2]).strip("[]")
    try:
        ip = ip_address(host)
    except ValueError:
        return host
    if isinstance(ip, IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or IPv6Network((ip.packed[:8] + bytes(8), 64)))


class CallPlaces:
    """A number of places for callers that may stay as long as they like."""

    def __init__(self, count: int, who: str, of_one: int | None = None) -> None:
        """Provide `count` places, of which one caller may have `of_one`; `who` is what a refusal calls those who take them."""
        self._count = count
        self._who = who
        self._of_one = count if of_one is None else of_one
        self._taken: Counter[str] = Counter()

    @contextlib.asynccontextmanager
    async def one(self, context: Any, caller: str = "") -> AsyncIterator[None]:
        """Take a place for a caller; where none is left, the call is ended."""
        if self._taken[caller] >= self._of_one:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than {self._of_one} {self._who} of yours")
        if self._taken.total() >= self._count:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than {self._count} {self._who}")
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken[caller] -= 1
            if not self._taken[caller]:
                del self._taken[caller]
