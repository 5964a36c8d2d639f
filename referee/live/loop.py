"""The event loop of a referee that has a processor to spare."""

from __future__ import annotations

import asyncio
import os
import selectors
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

BUSY_SECONDS = 0.0003
"""So long a loop with nothing to do looks again and again before it sleeps."""


class _BusySelector(selectors.DefaultSelector):
    """Polls for a moment before it sleeps.

    A bot that answers at once does so within a fraction of a millisecond. A processor that has slept meanwhile needs as long again
    to wake up and find its caches cold; measured, a round trip takes a fifth less without that sleep.
    """

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """See `selectors.BaseSelector.select`."""
        ready = super().select(0)
        if timeout is not None and timeout <= BUSY_SECONDS:
            return ready or super().select(timeout)
        end = time.perf_counter() + BUSY_SECONDS
        while not ready and time.perf_counter() < end:
            ready = super().select(0)
        return ready or super().select(timeout)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine as `asyncio.run` does; polls busily if there is more than one processor.

    For processes that play one match at a time. Where there are as many referees as processors, polling would only take time from
    the agents: use `asyncio.run` there.
    """
    if (os.cpu_count() or 1) < 2:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_BusySelector())) as runner:
        return runner.run(main)
