"""Two boxes at the same time, and the table of what one can tell the other; `docs/security.md` shows it.

As a program it measures how fast each open channel is: `python -m tests.sandbox.between`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from referee.sandbox.box import SUPERVISOR, Sandbox
from referee.sandbox.limits import MIB
from referee.sandbox.measures import build
from tests.sandbox import channels
from tests.sandbox.conftest import LIMITS
from tests.sandbox.hostile import program

Seen = str | int


@dataclass(frozen=True, slots=True)
class Closed:
    """A channel on which nothing is seen.

    Attributes:
        does: what the boxes try.
        sees: what the other box sees, whichever bit is shown; empty if it differs from machine to machine.
    """

    does: str
    sees: str = ""


@dataclass(frozen=True, slots=True)
class Open:
    """A channel that works.

    Attributes:
        does: what the boxes do.
        why: why it is not closed.
        rate: bits a second, as measured; for people.
        is_exact: whether nothing else on the machine disturbs it.
    """

    does: str
    why: str
    rate: str
    is_exact: bool = False


CHANNELS: dict[str, Closed | Open] = {
    "locks on files": Closed(
        "one locks a file that both can read (`flock`, POSIX, open file description); the other tries to do the same",
        "ENOSYS EINVAL EINVAL",
    ),
    "leases and notices": Closed(
        "one takes a lease or reads; the other asks for leases, dnotify, inotify and fanotify",
        "EINVAL EINVAL EINVAL ENOSYS ENOSYS",
    ),
    "programs that run": Closed("one runs a program; the other opens the program's file for writing, which is refused"),
    "times of files": Closed("one reads, runs and touches files; the other looks at their times"),
    "times of devices": Closed(
        "one touches `/dev/null` and the like, by name and as its standard input; the other looks at their times"
    ),
    "what is in memory": Closed(
        "one asks which pages others have read (`mincore`, `cachestat`, `preadv2`)", "ENOSYS ENOSYS ENOSYS"
    ),
    "names": Closed(
        "one makes files, an abstract socket, objects of System V and POSIX, and keys; the other looks for them",
        "ENOENT ENOENT ENOENT ENOENT ENOENT ENOENT ECONNREFUSED ENOSYS ENOSYS ENOSYS ENOSYS ENOSYS",
    ),
    "numbers of processes": Closed(
        "one starts processes; the other looks at the numbers that its own processes get", "1 0 True"
    ),
    "queues": Closed(
        "one fills sockets; the other asks how long the queues are of its own sockets, its seat's, and all that it can see"
    ),
    "futexes": Open(
        "threads of one wait on words of a file that both can read; the other wakes them and learns how many there were",
        "`pthread_join`, with which Java and C++ wait for threads, makes the same call, and no filter can see what an address belongs to",
        "58,000 bits a second",
        is_exact=True,
    ),
    "ends of threads": Open(
        "a thread of one ends, which wakes a thread of the other that waits on a word of a file",
        "the kernel itself does that, for every thread of every runtime",
        "4,500 bits a second",
        is_exact=True,
    ),
    "page cache": Open(
        "one reads pages of files; the other reads them, too, and notices that they do not come from the disk",
        "a file is in memory only once, for all boxes; pages that only one box has read leave memory with it",
        "24,000 bits a second",
        is_exact=True,
    ),
    "numbers of inodes": Open(
        "one makes pipes; the other looks how far the inode numbers have advanced",
        "the kernel counts them for the whole machine",
        "46 bits a second",
    ),
    "count of threads": Open(
        "one starts threads; the other asks how many the machine has (`sysinfo`)",
        "runtimes use the same call to learn how much memory there is",
        "59,000 bits a second",
    ),
    "load": Open(
        "one keeps a processor busy; the other reads `/proc/stat`, or measures how fast it runs itself",
        "processors are shared",
        "10 bits a second if nothing else runs",
    ),
}
"""By the name in `channels.py`."""


def table() -> list[str]:
    """Return the table of `docs/security.md`."""
    lines = ["| channel | how it is tried | it |", "|---|---|---|"]
    for name, one in CHANNELS.items():
        state = "is closed" if isinstance(one, Closed) else f"is open, {one.rate}: {one.why}"
        lines.append(f"| {name} | {one.does} | {state} |")
    return lines


class End:
    """A box that does one side of a channel."""

    def __init__(self, sandbox: Sandbox, channel: str, shared: Path, folder: Path) -> None:
        """Start it."""
        self._folder = program(folder / "bot", channels)
        argv = [sys.executable, "-I", "-S", "channels.py", channel, str(shared)]
        self._box = sandbox.box(argv, self._folder, folder / "s", "none")
        (folder / "s").touch()
        self._turn = 0
        self._process = subprocess.Popen(
            [*SUPERVISOR, "--box"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={},
            pass_fds=(self._box.reports,),
        )
        assert self._process.stdin is not None
        self._process.stdin.write(self._box.order())
        self._process.stdin.flush()

    def __enter__(self) -> End:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the box."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._box.end()

    def do(self, what: str) -> tuple[Seen, float]:
        """Let it do something, and return what it has seen, and how many seconds it took."""
        order = self._folder / "order"
        order.write_text(what)
        order.rename(self._folder / str(self._turn))
        self._turn += 1
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        try:
            seen, seconds = json.loads(line)
        except ValueError as error:
            raise AssertionError(line + self._process.stdout.read()) from error
        return seen, seconds


@contextlib.contextmanager
def boxes(sandbox: Sandbox) -> Iterator[Callable[[str], End]]:
    """What starts boxes for one side of a channel. They share a folder as they share /usr."""
    # Not where the other temporary files are: that may be in memory, and the page cache is of disks.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as shared, tempfile.TemporaryDirectory() as name:
        for folder in (shared, name):
            Path(folder).chmod(0o755)
        shutil.copy("/usr/bin/sleep", f"{shared}/file")
        os.utime(f"{shared}/file", (0, 0))  # so long ago that the next reader counts
        with Path(shared, "large").open("wb") as large:
            large.truncate(64 * MIB)
        runtimes = replace(sandbox.runtimes, folders=(*sandbox.runtimes.folders, shared))
        numbers = itertools.count()

        def start(channel: str) -> End:
            folder = Path(name, str(next(numbers)))
            folder.mkdir()
            return End(replace(sandbox, runtimes=runtimes), channel, Path(shared), folder)

        yield start


@contextlib.contextmanager
def two(sandbox: Sandbox, channel: str) -> Iterator[tuple[End, End]]:
    """Two boxes at the same time: the one that shows bits, and the one that looks."""
    with boxes(sandbox) as start, start(channel) as shows, start(channel) as looks:
        yield shows, looks


def exchange(ends: tuple[End, End], bits: Sequence[int]) -> tuple[list[Seen], float, float]:
    """Show bits one by one; return what was seen of each, and how many seconds showing took in all, and looking."""
    shows, looks = ends
    for one, what in ((shows, "set 0"), (looks, "look")):  # which begins where things stand
        one.do(what)
    seen: list[Seen] = []
    showing = looking = 0.0
    for bit in bits:
        showing += shows.do(f"set {bit}")[1]
        found, seconds = looks.do("look")
        seen.append(found)
        looking += seconds
    return seen, showing, looking


def read_bits(seen: Sequence[Seen]) -> list[int]:
    """Return the bits that a listener takes numbers for: those above the middle."""
    numbers = [one for one in seen if isinstance(one, int)]
    middle = (min(numbers) + max(numbers)) / 2
    return [int(one > middle) for one in numbers]


def main() -> None:
    """Measure all open channels."""
    sandbox = build(LIMITS)
    for name, one in CHANNELS.items():
        if isinstance(one, Open):
            bits = [random.getrandbits(1) for _ in range(128)]
            with two(sandbox, name) as ends:
                seen, showing, looking = exchange(ends, bits)
            right = sum(bit == got for bit, got in zip(bits, read_bits(seen), strict=True))
            print(
                f"{name}: {right} of {len(bits)} bits right, {len(bits) / (showing + looking):.0f} bits a second, "
                f"{len(bits) / looking:.0f} if all are shown beforehand"
            )


if __name__ == "__main__":
    main()
