"""The limits on the requests of the callers of one server of pages, in one place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from starlette.requests import Request

from ladder.operation.errors import TooMuch
from ladder.operation.threads import WAIT_SECONDS
from ladder.questions.caller import Caller
from referee.live.doors.lobby import host_of


class CallerQueues:
    """Limits the concurrent actions of each caller. Further actions wait, and delay only that caller."""

    def __init__(self, of_one: int, wait_seconds: float = WAIT_SECONDS) -> None:
        """Allow each caller `of_one` concurrent actions; further ones wait for a place for at most `wait_seconds`."""
        self._of_one = of_one
        self._wait_seconds = wait_seconds
        # The references are weak: a queue disappears with its last waiting request, so that addresses do not fill the memory.
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def place(self, who: str) -> AsyncIterator[None]:
        """Wait for a place, and occupy it for the duration of this context.

        Raises:
            TooMuch: if no place is free in time.
        """
        places = self._places.setdefault(who, asyncio.Semaphore(self._of_one))
        try:
            async with asyncio.timeout(self._wait_seconds):
                await places.acquire()
        except TimeoutError:
            raise TooMuch("your address asks for too many pages; come back in a minute") from None
        try:
            yield
        finally:
            places.release()


def address_of(request: Request) -> str:
    """Return the address under which requests without a token are counted; for IPv6, it is a whole network."""
    host = "" if request.client is None else request.client.host
    return host_of(f"ipv6:[{host}]:0" if ":" in host else f"ipv4:{host}:0")


def name_of(caller: Caller, request: Request) -> str:
    """Return the name by which limits count a request."""
    return caller.counted_as(address_of(request))
