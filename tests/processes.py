"""What the system says about processes, also about those that have left their parent."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from tests.patience import wait_until

T = TypeVar("T")


def is_running(pid: int) -> bool:
    """Whether a process has not ended; one that has ended may wait to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int, command: str = "") -> list[int]:
    """The processes that one has started from any thread, and whose command line has a word."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread may have ended meanwhile
            found += map(int, (task / "children").read_text().split())
    return [child for child in found if not command or command in _command_line(child)]


def _command_line(pid: int) -> str:
    """The command line of a process; empty if it has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def running_in(folder: Path) -> list[int]:
    """The processes whose current folder is somewhere in this one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append(int(process.name))
    return found


def wait_for_the_end(pids: Collection[int]) -> None:
    """Wait until none of some processes runs."""
    wait_until(lambda: not any(map(is_running, pids)))


def wait_for_work(process: subprocess.Popen[Any], condition: Callable[[], T], seconds: float = 120) -> T:
    """Wait for what a process does, as `wait_until`; fail with what it has said as soon as it has ended without."""

    def found() -> T:
        status = process.poll()  # before the condition, which its last act may have met
        met = condition()
        assert met or status is None, f"it ended with status {status}: {process.communicate()[1]}"
        return met

    return wait_until(found, seconds)
