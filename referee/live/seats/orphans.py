"""Processes that agents have left behind where their supervisor could not find them, because they killed or stopped it.

Linux gives a process whose parent has ended to the nearest process above it that adopts orphans: a supervisor, else the process
that plays the match (`play`, or a worker of a ladder), else the ladder's. Other systems have no such thing: there is nothing to
find there.
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
"""Held while it is looked who is a child, and while another thread starts one that is ours."""
_adopting = False


def adopt_orphans() -> None:
    """Make this process the parent of whatever its supervisors leave behind.

    `kill_adopted` then kills every child that was not noted with `own_started`.
    """
    global _adopting
    set_adopting(adopting=True)
    _adopting = True


def own_started(pid: int) -> None:
    """Note a child of this process that is a supervisor, or something else that is not to be killed."""
    _own.add(pid)


@contextlib.contextmanager
def own_starting() -> Iterator[Callable[[int | None], None]]:
    """Start a child meanwhile that is not to be killed, and note it with what this yields: from any thread, with no moment between."""
    with _looking:

        def started(pid: int | None) -> None:
            if pid is not None:
                _own.add(pid)

        yield started


def own_ended(pid: int | None) -> None:
    """Note that it has ended and been waited for."""
    if pid is not None:
        _own.discard(pid)


def kill_below(pid: int) -> None:
    """Kill a supervisor that does not end by itself, and all that is below it."""
    for victim in [*descendants(pid), pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)


def kill_adopted() -> None:
    """Kill what was adopted, until nothing of it is left; do nothing in a process that does not adopt."""
    if _adopting:
        kill_children(())


def kill_children(spared: Container[int | None]) -> None:
    """Kill all children of this process but its own and those that are spared, and all below them, until nothing of them is left."""
    while orphans := _orphans(spared):
        for orphan in orphans:
            kill_below(orphan)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(orphan, 0)


def _orphans(spared: Container[int | None]) -> list[int]:
    with _looking:
        return [child for child in children() if child not in spared and child not in _own]
