"""Agents' processes that have escaped from their supervisor, because they killed or stopped it.

When a parent ends, Linux gives its children to the nearest process above it that adopts orphans. That is a supervisor;
without one, it is the process that plays the match (`play`, or a worker of a ladder); without that, it is the ladder's
own process. Other systems do not hand on orphans in this way, so this module finds nothing there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Container, Iterator

from referee.sandbox.system import children, descendants, set_adopting

_own: set[int] = set()
_looking = threading.Lock()
"""The lock held while a thread lists the children, or starts a child that must not be killed."""
_adopting = False


def adopt_orphans() -> None:
    """Make this process the parent of all processes that its supervisors leave behind.

    `kill_adopted` then kills every child that was not registered.
    """
    global _adopting
    set_adopting(adopting=True)
    _adopting = True


def own_started(pid: int) -> None:
    """Register a child of this process that must not be killed, such as a supervisor."""
    _own.add(pid)


@contextlib.contextmanager
def own_starting() -> Iterator[Callable[[int | None], None]]:
    """Yield a function that registers a child started in this context; no thread can kill the child meanwhile."""
    with _looking:

        def started(pid: int | None) -> None:
            if pid is not None:
                _own.add(pid)

        yield started


def own_ended(pid: int | None) -> None:
    """Unregister a child that has ended and has been waited for."""
    if pid is not None:
        _own.discard(pid)


def kill_below(pid: int) -> None:
    """Kill a supervisor that does not end by itself, and all processes below it."""
    for victim in [*descendants(pid), pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)


def kill_adopted() -> None:
    """Kill all adopted processes; do nothing if this process does not adopt orphans."""
    if _adopting:
        kill_children(())


def kill_children(spared: Container[int | None]) -> None:
    """Kill all children of this process that are neither registered nor spared, with the processes below them."""
    # This is a loop, because the children of a killed process become ours.
    while orphans := _orphans(spared):
        for orphan in orphans:
            kill_below(orphan)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(orphan, 0)


def _orphans(spared: Container[int | None]) -> list[int]:
    with _looking:
        return [child for child in children() if child not in spared and child not in _own]
