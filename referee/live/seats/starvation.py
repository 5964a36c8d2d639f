"""Whether an agent that did not start in time could have: how much of a processor it got, and how long it waited for one.

Linux counts for each thread how long it has run and how long it has waited for a processor (as in `lateness.py`). An agent was
starved if one of its threads waited for more than a third of the time, while all its processes together had less than a quarter of
one processor. An agent that keeps the machine busy itself has more than that, and one that sleeps does not wait. One that takes
care to be starved (on a processor that others use, at the lowest priority) gains nothing: before it has joined it knows nothing of
its match, and no caller may take this evidence for an excuse without end. Other systems do not count, so nothing is excused there.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from referee.sandbox.system import IS_LINUX, descendants

TICK_SECONDS = 0.2
"""How often an agent is looked at while it starts."""
WAITED_SHARE = 1 / 3
"""A starved agent has waited for longer than this share of the time,"""
RAN_SHARE = 1 / 4
"""and its processes have had less of one processor than this."""
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


class _Thread(NamedTuple):
    """A thread when it was last looked at; all in seconds."""

    ran: float
    waited: float
    since: float
    """Since when it has been waiting, at least, without a count."""
    seen: float

    @property
    def waits(self) -> float:
        """How long its present wait has taken, at least."""
        return self.seen - self.since


class Watched:
    """The processes of an agent while it starts.

    Attributes:
        ran: for how many seconds of processor time they have run so far, all together.
        waited: for how many seconds one of their threads has waited for a processor: the one that waited longest.
    """

    def __init__(self, supervisor: int) -> None:
        """`supervisor` is the process above all of them."""
        self.ran = self.waited = 0.0
        self._supervisor = supervisor
        self._began = time.monotonic()
        self._threads: dict[str, _Thread] = {}
        self._children: dict[int, int] = {}

    async def until_one_is_done(
        self, futures: Iterable[asyncio.Future[None] | asyncio.Future[str]], seconds: float
    ) -> None:
        """Watch until something is done, or the time is over.

        Time is counted in ticks that the referee has seen: an agent loses nothing while the referee is stopped.
        """
        for _ in range(math.ceil(seconds / TICK_SECONDS)):
            done, _ = await asyncio.wait(
                futures, timeout=min(seconds, TICK_SECONDS), return_when=asyncio.FIRST_COMPLETED
            )
            if done:
                return
            if IS_LINUX:
                self._look()

    @property
    def starved(self) -> bool:
        """Whether others have kept the agent from starting."""
        passed = time.monotonic() - self._began
        return is_starved(passed, self.ran, self.waited)

    def _look(self) -> None:
        """Add up what the kernel has counted, also for threads that have ended since."""
        now = time.monotonic()
        for process in descendants(self._supervisor):
            with contextlib.suppress(OSError):  # it may end at any moment
                for folder in Path(f"/proc/{process}/task").iterdir():
                    self._threads[folder.name] = _look_at(folder, self._threads.get(folder.name), now)
                ended = _fields(Path(f"/proc/{process}/stat"))[13:15]
                self._children[process] = sum(map(int, ended))
        ended_ran = sum(self._children.values()) / _CLOCK_TICKS
        self.ran = sum(thread.ran for thread in self._threads.values()) + ended_ran
        self.waited = max((thread.waited + thread.waits for thread in self._threads.values()), default=0.0)


def _look_at(folder: Path, before: _Thread | None, now: float) -> _Thread:
    """Return how a thread stands; the kernel counts a wait only when it is over."""
    ran, waited, _ = (int(number) / 1e9 for number in (folder / "schedstat").read_text().split())
    since = now
    if before is not None and _fields(folder / "stat")[0] == "R" and (ran, waited) == (before.ran, before.waited):
        since = before.since
    return _Thread(ran, waited, since, now)


def _fields(stat: Path) -> list[str]:
    """Return what the kernel says of a process or thread, from its state on: the name before it may hold any bytes."""
    return stat.read_bytes().rpartition(b")")[2].decode().split()


def is_starved(passed: float, ran: float, waited: float) -> bool:
    """Tell whether an agent that ran and waited for so many seconds of those that have passed was starved."""
    return waited > WAITED_SHARE * passed and ran < RAN_SHARE * passed
