"""The first steps of every process that plays matches for another process."""

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
"""The signals with which people and systems stop a process."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delay signals to the main thread until the end of the context, for work that must not be left half done.

    A half-started process would print a traceback. A process that starts in this context has these signals blocked
    until `become_worker`.
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
    """Make this process exit when its parent does, make its agents exit when it does, and leave Ctrl-C to its parent.

    From then on, the process ignores SIGINT, which is how other processes recognise a worker.
    """
    end_with_parent()
    parent = parent_process()
    if parent is not None and not parent.is_alive():  # it had died before `end_with_parent`
        os._exit(1)
    if parent is not None and not IS_LINUX:
        threading.Thread(target=_end_after, args=(parent,), name="parent", daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)  # blocked while it was started
    sys.stderr = Remarks()  # a worker must not wait for a reader of its remarks
    gc.freeze()  # loaded modules stay; collecting them took 20 ms, during which no answer was read
    adopt_orphans()


def _end_after(parent: BaseProcess) -> None:
    """Wait for the parent process to end, then end this process; to its agents, this is the same as a kill."""
    parent.join()
    os._exit(1)
