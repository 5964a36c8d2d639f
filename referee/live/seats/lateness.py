"""Measure the delay of the referee's threads, which is the only time that the referee credits to agents.

The event loop's thread reads and judges the answers of started agents (`referee/live/doors/listener.py`). Answers of
remote agents pass through another thread first: gRPC's poller, which reads them from the socket. For each thread, Linux
counts the time for which it has run and the time for which it has waited for a processor
(`/proc/<pid>/task/<tid>/schedstat`; see Documentation/scheduler/sched-stats.rst in the kernel's sources). A thread that
waits for bytes does neither. So the growth of these counters bounds the time for which an answer can have waited,
whatever delayed the referee: other work, other answers, or other processes on the machine. A referee that is stopped
(SIGSTOP) neither runs nor waits for a processor. Agents get no credit for that time, because nobody can know whether an
answer came before or after it.

Other systems do not count waits. There, the processor time of the whole process replaces the running time of the
threads, and the delay of the event loop's beats replaces their waiting time. A wait that ends before the next beat is
missed, and agents do get credit for time in which the referee was stopped.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from referee.errors import DoganaError
from referee.sandbox.system import IS_LINUX

_POLLER = "_poll_wrapper"
"""The name of the poller thread of gRPC's asyncio API."""
BEAT_SECONDS = 0.02
"""The time between two beats, which show that the event loop is on time; also the longest time without a sample."""
_JITTER_SECONDS = 0.002
"""The maximum delay of a beat that counts as on time."""
_LOOP_ROUNDS = 3
"""The maximum number of event-loop turns that it takes to pass on a message that is ready."""


class NoStatistics(DoganaError):
    """This kernel lacks the statistics that the referee needs to tell its own time from an agent's."""


class ThreadTimes(NamedTuple):
    """The time for which the measured threads had run or waited for a processor by the moment `at`, in seconds."""

    at: float
    used: float


class Lateness:
    """Measures the referee's delay. One event loop uses this object, in the loop's own thread.

    Call `close` when it is no longer needed.
    """

    def __init__(self, late: Callable[[float, float], None], *, polls: bool, counts_waits: bool = IS_LINUX) -> None:
        """Start measuring.

        Args:
            late: a function called with the delay of the event loop and the current time, in seconds.
            polls: True if gRPC's poller reads some of the answers.
            counts_waits: True if the kernel counts the time for which threads wait for a processor.

        Raises:
            NoStatistics: if the kernel has no scheduler statistics.
        """
        self._loop = asyncio.get_running_loop()
        self._late = late
        self._counts_waits = counts_waits
        names = [thread for thread in threading.enumerate() if polls and _POLLER in thread.name]
        threads = {threading.get_native_id(), *(thread.native_id for thread in names)}
        self._files: list[int] = []
        self._beat: asyncio.Handle | None = None
        self._was_late = 0.0
        """The total delay of all beats; used where the kernel does not count waits."""
        try:
            for thread in threads if counts_waits else ():
                self._files.append(os.open(f"/proc/self/task/{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC))
        except OSError as error:
            self.close()
            raise NoStatistics(
                f"cannot read {error.filename}: {error.strerror}; agents can only be timed on Linux with scheduler "
                "statistics (CONFIG_SCHED_INFO), which every common distribution has"
            ) from error
        self._due = self._loop.time() + BEAT_SECONDS
        self._idle = self.sample()
        self._beat = self._loop.call_at(self._due, self._on_beat)

    def sample(self) -> ThreadTimes:
        """Return the time for which the threads have run or waited for a processor up to now."""
        if not self._counts_waits:
            now = self._loop.time()
            return ThreadTimes(now, time.process_time() + self._was_late + max(0.0, now - self._due))
        used = 0
        for file in self._files:
            # At offset 0, each read gives the current numbers, so the file stays open.
            running, waiting, _ = os.pread(file, 100, 0).split()
            used += int(running) + int(waiting)
        return ThreadTimes(self._loop.time(), used / 1e9)

    def waited(self, now: ThreadTimes, since: ThreadTimes) -> float:
        """Return the longest time for which a message can have waited, in seconds.

        Args:
            now: the sample at the moment at which the message is read.
            since: an earlier sample, after which the message arrived.
        """
        since = max(since, self._idle)  # the later of the two, because tuples compare by `at` first
        return max(0.0, min(now.at - since.at, now.used - since.used))

    def notice(self, now: float) -> None:
        """Report a beat that is overdue, because the loop may read a newly arrived message before it runs that beat."""
        late = now - self._due
        if late > _JITTER_SECONDS:
            self._due = now
            self._was_late += late
            self._late(late, now)

    def close(self) -> None:
        """Stop measuring."""
        if self._beat is not None:
            self._beat.cancel()
        for file in self._files:
            os.close(file)
        self._files = []

    def _on_beat(self) -> None:
        now = self._loop.time()
        self.notice(now)
        self._due = now + BEAT_SECONDS
        # New messages are still on their way through the loop. The sample is taken when they have been read.
        self._beat = self._loop.call_soon(self._on_turn, 1)

    def _on_turn(self, turn: int) -> None:
        if turn < _LOOP_ROUNDS:
            self._beat = self._loop.call_soon(self._on_turn, turn + 1)
            return
        self._idle = self.sample()
        self._due = self._idle.at + BEAT_SECONDS
        self._beat = self._loop.call_at(self._due, self._on_beat)
