"""The streams that have not joined yet, and a limit on the long calls of other callers."""

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
"""The time allowed for a stream to send its Join."""
MAX_WAITING_PER_PEER = 128
"""The maximum number of one peer's streams that have not sent a Join."""
MAX_WAITING = 512
"""The maximum number of all peers' streams that have not sent a Join."""


class Lobby:
    """The streams that have not sent a Join yet; they take no resources from the seats.

    A newcomer always gets in. If there is no room, a stream is ended: the oldest stream of the newcomer's peer if that
    peer has too many, otherwise the oldest stream of the peer that has the most. Agents send their Join at once, so a
    stream that waits for a long time is not an agent's.
    """

    def __init__(
        self,
        join_seconds: float = JOIN_SECONDS,
        max_waiting: int = MAX_WAITING,
        max_waiting_per_peer: int = MAX_WAITING_PER_PEER,
    ) -> None:
        """Begin without waiting streams.

        Args:
            join_seconds: see `JOIN_SECONDS`.
            max_waiting: see `MAX_WAITING`.
            max_waiting_per_peer: see `MAX_WAITING_PER_PEER`.
        """
        self._join_seconds = join_seconds
        self._max_waiting = max_waiting
        self._max_waiting_per_peer = max_waiting_per_peer
        self._waiting: dict[str, dict[asyncio.Future[Any], None]] = {}

    @property
    def waiting(self) -> int:
        """The number of waiting streams."""
        return sum(map(len, self._waiting.values()))

    async def first_message(self, call: Call) -> bytes:
        """Return the first message of a new stream; end a stream that is silent for too long, or has to make room."""
        peer = host_of(call.peer())
        self._make_room(peer)
        reading = asyncio.ensure_future(call.read())
        self._waiting.setdefault(peer, {})[reading] = None
        try:
            await asyncio.wait([reading], timeout=self._join_seconds)
        finally:
            self._leave(peer, reading)
            # This is read before the cancel below, which would look the same.
            is_displaced = reading.cancelled()
            reading.cancel()
        if is_displaced:
            await call.abort(
                grpc.StatusCode.RESOURCE_EXHAUSTED, "too many streams that have not joined; send Join at once"
            )
        data = reading.result() if reading.done() else None
        if data is None:
            seen = "none" if reading.done() else f"none within {self._join_seconds:g} s"
            await call.abort(grpc.StatusCode.INVALID_ARGUMENT, f"the first message must be Join; it was {seen}")
        return data

    def _make_room(self, peer: str) -> None:
        if len(self._waiting.get(peer, ())) < self._max_waiting_per_peer:
            if self.waiting < self._max_waiting:
                return
            peer = max(self._waiting, key=lambda one: len(self._waiting[one]))
        longest = next(iter(self._waiting[peer]))  # dictionaries keep the order of arrival
        self._leave(peer, longest)
        longest.cancel()

    def _leave(self, peer: str, reading: asyncio.Future[Any]) -> None:
        waiting = self._waiting.get(peer, {})
        waiting.pop(reading, None)
        if not waiting:
            self._waiting.pop(peer, None)


def host_of(address: str) -> str:
    """Return the host of a gRPC address: an IPv4 host, the /64 of an IPv6 host, or `unix` for a Unix socket.

    The owner of one address usually has the whole /64.
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


class CallLimit:
    """A concurrency limit for long calls, per caller and overall."""

    def __init__(self, count: int, who: str, of_one: int | None = None) -> None:
        """Set the limit.

        Args:
            count: the maximum number of calls.
            who: the word for the callers in a refusal, such as `spectators`.
            of_one: the maximum number of calls by one caller; None for `count`.
        """
        self._count = count
        self._who = who
        self._of_one = count if of_one is None else of_one
        self._taken: Counter[str] = Counter()

    @contextlib.asynccontextmanager
    async def one(self, context: Any, caller: str = "") -> AsyncIterator[None]:
        """Hold a place for a caller; abort the call if no place is left."""
        if self._taken[caller] >= self._of_one:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than {self._of_one} {self._who} of yours")
        if self._taken.total() >= self._count:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than {self._count} {self._who}")
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken[caller] -= 1
            # Callers are strangers, and their names must not fill the memory.
            if not self._taken[caller]:
                del self._taken[caller]
