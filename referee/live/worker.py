"""What every process that plays matches for another one does first."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from referee.live.orphans import adopt_orphans
from referee.terminal import Remarks

_PR_SET_PDEATHSIG = 1
_STOPPING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let a process be started to its end, whatever signal comes: one that is half started says so in a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def become_worker() -> None:
    """Make this process one that ends with its parent, takes its agents with it, and leaves Ctrl-C to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)  # blocked while it was started
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    sys.stderr = Remarks()  # a worker must not wait for somebody to read what it says
    adopt_orphans()
