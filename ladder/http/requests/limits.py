"""How much those who look may ask for."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from starlette.requests import Request

from ladder.operation.errors import TooMuch
from ladder.operation.meter import AtATime
from ladder.operation.threads import WAIT_SECONDS
from ladder.questions.caller import Caller
from referee.live.doors.lobby import host_of

MAX_WAITING = 128
"""How many pages may be asked for at a time from one address: that of a lecture hall, or of a proxy."""


class Turns:
    """Lets each address do some things at a time; what it asks for beyond that waits, and keeps only that address waiting."""

    def __init__(self, of_one: int) -> None:
        """Allow so many."""
        self._of_one = of_one
        self._asked = AtATime(MAX_WAITING, sys.maxsize, "too many pages are asked for from your address", "")
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def one(self, who: str) -> AsyncIterator[None]:
        """Wait for a turn.

        Raises:
            TooMuch: if too many wait for one already, or it does not come in time.
        """
        turns = self._turns.setdefault(who, asyncio.Semaphore(self._of_one))
        with self._asked.one(who):
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    await turns.acquire()
            except TimeoutError:
                raise TooMuch("too many pages are asked for from your address; come back in a minute") from None
            try:
                yield
            finally:
                turns.release()


def network_of(host: str) -> str:
    """Return what counts as one address: of IPv6 the network, since whoever has one address has many."""
    return host_of(f"ipv6:[{host}]:0" if ":" in host else f"ipv4:{host}:0")


def address_of(request: Request) -> str:
    """Return for whom it is counted what is asked without a token."""
    return network_of("" if request.client is None else request.client.host)


def name_of(caller: Caller, request: Request) -> str:
    """Return the name by which limits count a request."""
    return caller.counted_as(address_of(request))
