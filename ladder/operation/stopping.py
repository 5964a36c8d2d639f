"""How a served ladder is stopped: a signal ends it within seconds, whatever it was doing.

The signal is a `KeyboardInterrupt` in the main thread, so all that was opened is closed in order: what is being played is broken off,
and is played again. Should that take too long, as on a machine without a processor to spare, or should the exception be lost in
somebody else's code, a thread ends the process and all below it. That loses nothing either: a ladder may be killed at any moment.
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
"""How long everything may take to close after a signal; then the process is ended."""


@contextmanager
def heeding_signals(seconds: float = STOP_SECONDS) -> Iterator[None]:
    """Let the first SIGINT, SIGTERM or SIGHUP raise `KeyboardInterrupt` with its name, and end this process in time.

    Later ones change nothing, so that none interrupts the closing. Use it in the main thread, for all of the process's life.

    Args:
        seconds: how long the process may take to end.
    """
    came: SimpleQueue[int | None] = SimpleQueue()  # of all queues, this one may be filled while it is being filled
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
        signal.signal(signal.SIGINT, stop)  # `cli` hands on the others to it
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
    os._exit(128 + number)
