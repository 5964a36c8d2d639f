"""Evidence that an agent was kept from starting: its share of a processor, and the time that it waited for one.

Linux counts each thread's running time and its waiting time for a processor (as in `lateness.py`). An agent was starved
if one of its threads waited for more than a third of the time, while all its processes together had less than a quarter
of one processor. An agent that itself keeps the machine busy has more than a quarter, and one that sleeps does not
wait. An agent that starves on purpose (on a busy processor, at the lowest priority) gains nothing: before it joins, it
knows nothing of its match, and callers must accept this excuse only a limited number of times. Other systems do not
count these times, so no agent is excused there.
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
"""The interval between two checks of a starting agent."""
WAITED_SHARE = 1 / 3
"""A starved agent has waited for more than this share of the time."""
RAN_SHARE = 1 / 4
"""The processes of a starved agent have together used less than this share of one processor."""
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


class _Thread(NamedTuple):
    """The times of a thread at the last check, in seconds."""

    ran: float
    waited: float
    since: float
    """The latest possible start of its current wait, which the kernel has not counted yet."""
    seen: float

    @property
    def waits(self) -> float:
        """The minimum duration of its current wait."""
        return self.seen - self.since


class Watched:
    """The processes of an agent while it starts.

    Attributes:
        ran: the total processor time of all of them so far, in seconds.
        waited: the longest time that any of their threads has waited for a processor, in seconds.
    """

    def __init__(self, supervisor: int) -> None:
        """Begin to watch; `supervisor` is the id of their common ancestor."""
        self.ran = self.waited = 0.0
        self._supervisor = supervisor
        self._began = time.monotonic()
        self._threads: dict[str, _Thread] = {}
        self._children: dict[int, int] = {}

    async def until_one_is_done(
        self, futures: Iterable[asyncio.Future[None] | asyncio.Future[str]], seconds: float
    ) -> None:
        """Watch until one of the futures is done, or the time is up.

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
        """Add up the kernel's counts, including those of threads that have ended."""
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
    """Return the fields of a `stat` file, beginning with the state; the name before it may contain any bytes."""
    return stat.read_bytes().rpartition(b")")[2].decode().split()


def is_starved(passed: float, ran: float, waited: float) -> bool:
    """Return True if an agent was starved, given the elapsed time and its running and waiting times, in seconds."""
    return waited > WAITED_SHARE * passed and ran < RAN_SHARE * passed
