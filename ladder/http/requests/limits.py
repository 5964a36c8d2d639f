"""The limits on the requests of the callers of one server of pages, in one place."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from starlette.requests import Request

from ladder.operation.errors import TooMuch
from ladder.operation.meter import GUESSES, MAX_UPLOADS, REQUESTS, SUBMISSIONS, UPLOADED, AtATime, Meter
from ladder.operation.threads import WAIT_SECONDS
from ladder.questions.asker import Asker
from referee.live.doors.lobby import host_of

MAX_OPEN = 256
"""The number of unanswered requests of one address: enough for a lecture hall behind one."""
MAX_READERS = 32
"""The number of records and audit logs that are sent at a time: an audit log is a temporary file meanwhile."""
MAX_READERS_OF_ONE = 4
"""The number of them for one caller."""
MAX_STREAMS = 256
"""The number of browsers that follow matches at a time."""
MAX_STREAMS_OF_ONE = 128
"""The number of them at one address."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The remaining allowances of all callers, and what they do at the moment. Calls over gRPC are counted there."""

    open: AtATime = field(
        default_factory=lambda: AtATime(
            MAX_OPEN, sys.maxsize, "too many requests come from your address at a time; come back in a minute", ""
        )
    )
    requests: Meter = field(default_factory=lambda: Meter(REQUESTS))
    guesses: Meter = field(default_factory=lambda: Meter(GUESSES))
    submissions: Meter = field(default_factory=lambda: Meter(SUBMISSIONS))
    uploaded: Meter = field(default_factory=lambda: Meter(UPLOADED))
    uploads: AtATime = field(
        default_factory=lambda: AtATime(
            1,
            MAX_UPLOADS,
            "one of your bots is being sent already; wait until it has arrived",
            "too many bots are being sent at the moment; come back in a minute",
        )
    )
    files: AtATime = field(
        default_factory=lambda: AtATime(
            MAX_READERS_OF_ONE,
            MAX_READERS,
            f"{MAX_READERS_OF_ONE} files are being sent to you already; read them first",
            "too many files are being sent at the moment; come back in a minute",
        )
    )
    streams: AtATime = field(
        default_factory=lambda: AtATime(
            MAX_STREAMS_OF_ONE,
            MAX_STREAMS,
            f"more than {MAX_STREAMS_OF_ONE} matches are followed from your address; close one",
            "too many people follow matches; come back in a minute",
        )
    )

    def submissions_left(self, author: str) -> int:
        """Return how many bots an author may send now."""
        return math.floor(self.submissions.change(author, 0))


class CallerQueues:
    """Lets each caller do a few things at a time. Further ones wait, and delay only that caller."""

    def __init__(self, of_one: int, wait_seconds: float = WAIT_SECONDS) -> None:
        """Let each caller do `of_one` things at a time, and wait for `wait_seconds`."""
        self._of_one = of_one
        self._wait_seconds = wait_seconds
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def place(self, who: str) -> AsyncIterator[None]:
        """Wait for a place, and have it while the context lasts.

        Raises:
            TooMuch: if no place is free in time.
        """
        places = self._places.setdefault(who, asyncio.Semaphore(self._of_one))
        try:
            async with asyncio.timeout(self._wait_seconds):
                await places.acquire()
        except TimeoutError:
            raise TooMuch("too many pages are asked for from your address; come back in a minute") from None
        try:
            yield
        finally:
            places.release()


def network_of(host: str) -> str:
    """Return what counts as one address: of IPv6 the network, since whoever has one address has many."""
    return host_of(f"ipv6:[{host}]:0" if ":" in host else f"ipv4:{host}:0")


def address_of(request: Request) -> str:
    """Return for whom it is counted what is asked without a token."""
    return network_of("" if request.client is None else request.client.host)


def name_of(asker: Asker, request: Request) -> str:
    """Return for whom it is counted what is asked for."""
    return f"author {asker.author}" if asker.author else address_of(request)
