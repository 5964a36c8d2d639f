"""Evidence that an agent could not start in time: its share of a processor, and its waiting time for one.

Linux counts each thread's running time and its waiting time for a processor (as in `lateness.py`). An agent was starved if
one of its threads waited for more than a third of the time, while all its processes together had less than a quarter of one
processor. An agent that keeps the machine busy itself has more than that, and one that sleeps does not wait. An agent that starves
on purpose (on a busy processor, at the lowest priority) gains nothing: before it has joined, it knows nothing of its match, and
callers must accept this excuse only a limited number of times. Other systems do not count, so nothing is excused there.
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
"""The time between two looks at a starting agent."""
WAITED_SHARE = 1 / 3
"""A starved agent has waited for longer than this share of the time,"""
RAN_SHARE = 1 / 4
"""and its processes have had less of one processor than this."""
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


class _Thread(NamedTuple):
    """The times of a thread at the last look, in seconds."""

    ran: float
    waited: float
    since: float
    """The latest possible beginning of its present wait, which the kernel has not counted yet."""
    seen: float

    @property
    def waits(self) -> float:
        """The minimum duration of its present wait."""
        return self.seen - self.since


class Watched:
    """The processes of an agent while it starts.

    Attributes:
        ran: their processor time so far, all together, in seconds.
        waited: the longest waiting time for a processor of any of their threads, in seconds.
    """

    def __init__(self, supervisor: int) -> None:
        """`supervisor` is the id of the process above all of them."""
        self.ran = self.waited = 0.0
        self._supervisor = supervisor
        self._began = time.monotonic()
        self._threads: dict[str, _Thread] = {}
        self._children: dict[int, int] = {}

    async def until_one_is_done(
        self, futures: Iterable[asyncio.Future[None] | asyncio.Future[str]], seconds: float
    ) -> None:
        """Watch until a future is done, or the time is over.

        The time is counted in ticks of the referee: an agent loses nothing while the referee is stopped.
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
        """True if other processes have kept the agent from starting."""
        passed = time.monotonic() - self._began
        return is_starved(passed, self.ran, self.waited)

    def _look(self) -> None:
        """Add up the kernel's counts, also of ended threads."""
        now = time.monotonic()
        for process in descendants(self._supervisor):
            with contextlib.suppress(OSError):  # it may end at any moment
                for folder in Path(f"/proc/{process}/task").iterdir():
                    self._threads[folder.name] = _look_at(folder, self._threads.get(folder.name), now)
                # The fields cutime and cstime of proc(5): the time of children that have ended.
                ended = _fields(Path(f"/proc/{process}/stat"))[13:15]
                self._children[process] = sum(map(int, ended))
        ended_ran = sum(self._children.values()) / _CLOCK_TICKS
        self.ran = sum(thread.ran for thread in self._threads.values()) + ended_ran
        self.waited = max((thread.waited + thread.waits for thread in self._threads.values()), default=0.0)


def _look_at(folder: Path, before: _Thread | None, now: float) -> _Thread:
    """Return the times of a thread; the kernel counts a wait only when it is over."""
    ran, waited, _ = (int(number) / 1e9 for number in (folder / "schedstat").read_text().split())
    since = now
    if before is not None and _fields(folder / "stat")[0] == "R" and (ran, waited) == (before.ran, before.waited):
        since = before.since
    return _Thread(ran, waited, since, now)


def _fields(stat: Path) -> list[str]:
    """Return the fields of a `stat` file from the state on; the name before it may contain any bytes."""
    return stat.read_bytes().rpartition(b")")[2].decode().split()


def is_starved(passed: float, ran: float, waited: float) -> bool:
    """Return True if an agent was starved, by its running and waiting times in the passed time; all in seconds."""
    return waited > WAITED_SHARE * passed and ran < RAN_SHARE * passed
