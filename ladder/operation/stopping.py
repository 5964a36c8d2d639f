"""The end of a served ladder: a signal ends it within seconds, whatever it is doing.

The signal raises `KeyboardInterrupt` in the main thread, so all resources are closed in order; running matches are
broken off, and are played again later. If that takes too long, as on a busy machine, or a library swallows the
exception, a thread ends the process and all processes below it. That loses nothing either, because a ladder may be
killed at any moment.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType

from ladder.operation.journal import note
from referee.live.seats.orphans import kill_below
from referee.sandbox.system import children

STOP_SECONDS = 4.0
"""The time allowed, in seconds, for closing everything after a signal, before the process is ended."""


@contextmanager
def heeding_signals(seconds: float = STOP_SECONDS) -> Iterator[None]:
    """Let the first SIGINT, SIGTERM or SIGHUP raise `KeyboardInterrupt` with its name, and end this process in time.

    Later signals change nothing, so that none interrupts the closing. Use this in the main thread, for the life of the
    process.

    Args:
        seconds: the time, in seconds, allowed for the process to end.
    """
    came: SimpleQueue[int | None] = SimpleQueue()  # the only reentrant queue, because a signal may come during `put`
    has_come = False

    def stop(number: int, _: FrameType | None) -> None:
        nonlocal has_come
        if not has_come:
            has_come = True
            came.put(number)
            raise KeyboardInterrupt(signal.Signals(number).name)

    threading.Thread(target=_end_in_time, args=(came, seconds), name="stopping", daemon=True).start()
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, stop)  # `cli` passes the others on to it
        yield
    finally:
        if not has_come:
            signal.signal(signal.SIGINT, before)
            came.put(None)


def _end_in_time(came: SimpleQueue[int | None], seconds: float) -> None:
    number = came.get()
    if number is None:
        return
    time.sleep(seconds)
    note(
        "stop", logging.WARNING, reason=signal.Signals(number).name, text=f"ended after {seconds:g} s without an order"
    )
    for child in children():
        kill_below(child)
    os._exit(128 + number)  # `sys.exit` would end only this thread
