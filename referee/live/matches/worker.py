"""What every process that plays matches for another one does first."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from types import FrameType

from referee.live.seats.orphans import adopt_orphans
from referee.sandbox.system import IS_LINUX, end_with_parent
from referee.terminal import Remarks

STOPPING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""The signals by which people and systems stop a process."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let the main thread finish what must not be left half done; a signal that comes meanwhile is heeded afterwards.

    A process that was half started says so in a traceback. One that is started here has these signals blocked until
    `become_worker`.
    """
    came: list[tuple[int, FrameType | None]] = []
    handlers = {number: signal.getsignal(number) for number in STOPPING}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in ours:  # other threads may take the signal, but the main thread runs the handler
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in ours.items():
            signal.signal(number, handler)
    for caught, frame in came:
        ours[signal.Signals(caught)](caught, frame)


def become_worker() -> None:
    """Make this process one that ends with its parent, takes its agents with it, and leaves Ctrl-C to its parent.

    It ignores SIGINT from then on, so that others can see that it has become one.
    """
    end_with_parent()
    parent = parent_process()
    if parent is not None and not parent.is_alive():  # it has died before it could be asked to take this one along
        os._exit(1)
    if parent is not None and not IS_LINUX:
        threading.Thread(target=_end_after, args=(parent,), name="parent", daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)  # blocked while it was started
    sys.stderr = Remarks()  # a worker must not wait for somebody to read what it says
    gc.freeze()  # what is loaded by now stays; a collection that looked at it took 20 ms, in which no answer was read
    adopt_orphans()


def _end_after(parent: BaseProcess) -> None:
    """Wait for the end of the parent, and end this process; its agents notice as they would if it was killed."""
    parent.join()
    os._exit(1)
