"""Threads for work that would block the event loop: files, and the database."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple, Unpack

from ladder.operation.errors import TooMuch
from ladder.operation.meter import Meter

WAIT_SECONDS = 10.0
"""The default maximum time, in seconds, that a call waits for a thread."""
Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")


class Threads:
    """A pool of threads for one kind of work, so that this work does not delay other kinds."""

    def __init__(self, count: int, wait_seconds: float = WAIT_SECONDS) -> None:
        """Provide `count` threads; a call waits for one for at most `wait_seconds`."""
        self._wait_seconds = wait_seconds
        self._free = asyncio.Semaphore(count)
        self._executor = ThreadPoolExecutor(count)

    async def run(self, work: Callable[[Unpack[Arguments]], Answer], *arguments: *Arguments) -> Answer:
        """Run a function in a thread, and return its answer.

        If the call is cancelled, this still waits for the end of the function, so that its files are closed afterwards.

        Raises:
            TooMuch: if no thread is free in time.
        """
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise TooMuch("the ladder has too much to do; come back in a minute") from None
        running = asyncio.get_running_loop().run_in_executor(self._executor, work, *arguments)
        # The place becomes free when the thread ends, which may be after the call ends.
        running.add_done_callback(lambda _: self._free.release())
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            while not running.done():
                # A stopping server may cancel more than once.
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([running])
            raise

    async def run_charged(
        self,
        requests: Meter,
        who: str,
        work: Callable[[Unpack[Arguments]], Answer],
        *arguments: *Arguments,
    ) -> Answer:
        """Run a function in a thread for a caller, and charge much processor time as several requests.

        Raises:
            TooMuch: if no thread is free in time.
        """
        spent = 0.0

        def measured() -> Answer:
            nonlocal spent
            began = time.thread_time()
            try:
                return work(*arguments)
            finally:
                spent = time.thread_time() - began

        try:
            return await self.run(measured)
        finally:
            # The caller has already paid for one request.
            requests.change(who, min(0.0, 1 - spent / requests.seconds_of_one))

    def close(self) -> None:
        """Accept no more work."""
        self._executor.shutdown(wait=False)
