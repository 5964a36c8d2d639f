"""How long the referee's threads were held up: the only time that is given back to agents.

The answer of a started agent is read and judged by the event loop's thread (`referee/live/doors/listener.py`). That of an agent
elsewhere goes through a second one before: gRPC's poller, which reads it from the socket. Linux counts for each thread how long
it has run and how long it has waited for a processor (`/proc/<pid>/task/<tid>/schedstat`, see
Documentation/scheduler/sched-stats.rst of the kernel). A thread that waits for bytes does neither. So the growth of these
counters bounds how long an answer can have waited, whatever it was that kept the referee: other work, other answers, or other
processes on the machine. A referee that is stopped (SIGSTOP) neither runs nor waits for a processor: nothing is given back for
that, because nobody can know whether an answer came before or after.

Other systems do not count waits. There, the processor time of the whole process takes the place of what its threads have run, and
how late the event loop's beats were that of what they have waited; a wait that ends before the next beat is not seen, and time
in which the referee was stopped is given back.
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
"""How gRPC's asyncio API names its poller thread."""
BEAT_SECONDS = 0.02
"""How often the event loop shows that it is on time; also the longest time without a sample."""
_JITTER_SECONDS = 0.002
"""A beat that is no later than this is on time."""
_TURNS = 3
"""How many turns of the event loop it takes at most until a message that is ready has been handed on."""


class NoStatistics(DoganaError):
    """This kernel does not count what the referee needs to tell its own time from an agent's."""


class Sample(NamedTuple):
    """What the threads had used by a moment, in seconds."""

    at: float
    used: float


class Lateness:
    """Watches how late the referee is; used by one event loop, in its own thread.

    Call `close` when it is no longer needed.
    """

    def __init__(self, late: Callable[[float, float], None], *, polls: bool) -> None:
        """Begin to watch.

        Args:
            late: called with the seconds by which the event loop was late, and the time.
            polls: whether gRPC's poller reads some of the answers.

        Raises:
            NoStatistics: if the kernel has no scheduler statistics.
        """
        self._loop = asyncio.get_running_loop()
        self._late = late
        names = [thread for thread in threading.enumerate() if polls and _POLLER in thread.name]
        threads = {threading.get_native_id(), *(thread.native_id for thread in names)}
        self._files: list[int] = []
        self._beat: asyncio.Handle | None = None
        self._was_late = 0.0
        """How late all beats were together; used where the kernel does not count."""
        try:
            for thread in threads if IS_LINUX else ():
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

    def sample(self) -> Sample:
        """Return what the threads have used by now."""
        if not IS_LINUX:
            now = self._loop.time()
            return Sample(now, time.process_time() + self._was_late + max(0.0, now - self._due))
        used = 0
        for file in self._files:
            running, waiting, _ = os.pread(file, 100, 0).split()
            used += int(running) + int(waiting)
        return Sample(self._loop.time(), used / 1e9)

    def waited(self, now: Sample, since: Sample) -> float:
        """Bound how long a message that is read `now` has waited, in seconds, if it did not arrive before `since`."""
        since = max(since, self._idle)
        return max(0.0, min(now.at - since.at, now.used - since.used))

    def notice(self, now: float) -> None:
        """Tell of a beat that is overdue: what has arrived meanwhile may be read before the beat's turn has come."""
        late = now - self._due
        if late > _JITTER_SECONDS:
            self._due = now
            self._was_late += late
            self._late(late, now)

    def close(self) -> None:
        """Stop watching."""
        if self._beat is not None:
            self._beat.cancel()
        for file in self._files:
            os.close(file)
        self._files = []

    def _on_beat(self) -> None:
        now = self._loop.time()
        self.notice(now)
        self._due = now + BEAT_SECONDS
        # What has arrived meanwhile is still on its way through the loop. The sample is taken when it has been read.
        self._beat = self._loop.call_soon(self._on_turn, 1)

    def _on_turn(self, turn: int) -> None:
        if turn < _TURNS:
            self._beat = self._loop.call_soon(self._on_turn, turn + 1)
            return
        self._idle = self.sample()
        self._due = self._idle.at + BEAT_SECONDS
        self._beat = self._loop.call_at(self._due, self._on_beat)
