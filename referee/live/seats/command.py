"""Agents that the referee starts: each is a process under a supervisor, and only part of its output is stored."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.errors import DoganaError
from referee.live.seats import orphans
from referee.live.seats.output import Output
from referee.live.seats.telemetry import Telemetry
from referee.sandbox.box import SUPERVISOR, Box
from referee.sandbox.system import descendants

LOG_HEAD_BYTES = 64 * 1024
"""The maximum number of bytes stored from the beginning of an agent's output."""
LOG_TAIL_BYTES = 64 * 1024
"""The maximum number of bytes stored from the end of an agent's output; the middle is dropped."""
GRACE_SECONDS = 2.0
"""The time allowed for an agent to end by itself after the match."""
_SUPERVISOR_SECONDS = 2.0
"""The time allowed for a supervisor to end the processes below it; it takes longer only if an agent has stopped it."""
_KILLED = 128
"""The number to which bubblewrap, like a shell, adds a signal's number to form its exit status."""


def killed_by(number: int) -> str:
    """Name the signal that killed a process, by number if it has no name; Python names only two real-time signals."""
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(number).name}"
    return f"was killed by signal {number}"


class CannotStart(DoganaError):
    """A command cannot be started; the text says why."""


class AgentLog:
    """An agent's standard output and standard error, up to a limit.

    Attributes:
        written: the total number of bytes that the agent has written.
        telemetry: the agent's reports on its thinking, taken from the whole output.
    """

    def __init__(self) -> None:
        self.written = 0
        self.telemetry = Telemetry()
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, data: bytes) -> int:
        """Add output, and return the number of its bytes that were parsed as telemetry.

        If the limits are exceeded, bytes in the middle of the output are dropped and counted.
        """
        self.written += len(data)
        looked_at = self.telemetry.add(data)
        room = LOG_HEAD_BYTES - len(self._head)
        self._head += data[:room]
        if len(data) > room:
            self._tail.append(data[max(0, room) :])
            self._tail_size += len(self._tail[-1])
        while self._tail_size > LOG_TAIL_BYTES:
            first = self._tail.popleft()
            surplus = self._tail_size - LOG_TAIL_BYTES
            if len(first) > surplus:
                self._tail.appendleft(first[surplus:])
                first = first[:surplus]
            self._tail_size -= len(first)
            self._dropped += len(first)
        return looked_at

    def text(self) -> str:
        """Return the stored output, with a note about the dropped bytes."""
        gap = f"\n... {self._dropped} bytes dropped ...\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + b"".join(self._tail)).decode(errors="replace")

    def last_line(self) -> str:
        """Return the last line that is not empty, shortened for messages."""
        lines = [line.strip() for line in self.text().splitlines() if line.strip()]
        return lines[-1][-300:] if lines else ""


class AgentProcess:
    """An agent that the referee has started.

    Attributes:
        log: the agent's output so far.
        box: the agent's box; None if it is not confined.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: int,
        box: Box | None,
    ) -> None:
        self.log = AgentLog()
        self.box = box
        self._process = process
        # The log is looked up at each call, because `dogana replay --bot` begins a new one at each question.
        self._output = Output(output, lambda data: self.log.add(data))

    @property
    def agent(self) -> int | None:
        """The id of the agent's own process on this machine, not its id inside the box; None if it has ended."""
        for pid in descendants(self._process.pid):
            with contextlib.suppress(OSError):  # it may end at any moment
                if self.box is None or Path(f"/proc/{pid}/comm").read_bytes() != b"bwrap\n":
                    return pid
        return None

    @property
    def supervisor(self) -> int:
        """The id of the supervisor, which is the ancestor of all the agent's processes."""
        return self._process.pid

    @staticmethod
    async def start(argv: Sequence[str], environment: Mapping[str, str], folder: Path | None) -> AgentProcess:
        """Start a command with the same rights as this process.

        Args:
            argv: the program and its arguments; no shell interprets them.
            environment: all environment variables of the agent; `PYTHONUNBUFFERED` is added.
            folder: the agent's working folder; None for the referee's own.

        Raises:
            CannotStart: if the program does not exist, or cannot be started.
        """
        name = argv[0] if argv else ""
        if "/" in name:
            program = shutil.which(str((folder or Path.cwd()) / name))
        else:
            program = shutil.which(name, path=environment.get("PATH"))
        if program is None:
            raise CannotStart(f"there is no program {name!r} that can be run")
        # Otherwise, text that a killed bot has printed would be lost in Python's buffer.
        unbuffered = {**environment, "PYTHONUNBUFFERED": "1"}
        return await AgentProcess._supervised([program, *argv[1:]], unbuffered, folder, None)

    @staticmethod
    async def start_in(box: Box) -> AgentProcess:
        """Start the agent of a box. The new object owns the box, and ends it.

        Raises:
            CannotStart: if the agent cannot be started.
        """
        try:
            return await AgentProcess._supervised(["--box"], {}, None, box)
        except BaseException:
            box.end()
            raise

    @staticmethod
    async def _supervised(
        words: Sequence[str], environment: Mapping[str, str], folder: Path | None, box: Box | None
    ) -> AgentProcess:
        """Start a supervisor with these arguments."""
        # The pipe is our own, because asyncio would wait until all holders of the process's standard output have ended.
        ours, theirs = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *SUPERVISOR,
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=theirs,
                stderr=asyncio.subprocess.STDOUT,
                env=dict(environment),
                cwd=folder,
                # Ctrl-C in the terminal is not for agents; on macOS the session shows which processes are the agent's.
                start_new_session=True,
                pass_fds=() if box is None else (box.reports,),
            )
            if box is not None:
                assert process.stdin is not None  # noqa: S101 it is a pipe
                process.stdin.write(box.order())
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
            os.close(ours)
            raise CannotStart(f"{words[0]!r} cannot be started: {error}") from error
        except asyncio.CancelledError:
            os.close(ours)
            raise
        finally:
            # Only the agent's processes hold this end now, so the output ends when the last of them does.
            os.close(theirs)
        orphans.own_started(process.pid)
        return AgentProcess(process, ours, box)

    def read_on(self) -> None:
        """Read all the output that the agent has written so far into the log."""
        self._output.read_on()

    async def ended(self) -> str:
        """Wait for the agent to end, and describe how it ended."""
        status = await self._process.wait()
        ended = f"exited with status {status}"
        if status < 0:
            ended = killed_by(-status)
        elif self.box is not None and status > _KILLED:  # bubblewrap reports signals as shells do
            with contextlib.suppress(ValueError):
                ended = f"was killed by {signal.Signals(status - _KILLED).name}, or exited with status {status}"
        limit = "" if self.box is None else self.box.why_killed()
        if limit and status in (-signal.SIGKILL, _KILLED + signal.SIGKILL):
            return limit
        return f"{ended}, after one of its processes was killed: {limit}" if limit else ended

    async def stop(self, grace: float = 0.0) -> None:
        """End the agent and all processes that it has started; return when all have ended."""
        if grace:
            self._output.renew()  # for its last output
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._process.wait(), grace)
        assert self._process.stdin is not None  # noqa: S101 it is a pipe
        self._process.stdin.close()  # this tells the supervisor to end all of them
        try:
            await asyncio.wait_for(self._process.wait(), _SUPERVISOR_SECONDS)
        except TimeoutError:
            orphans.kill_below(self._process.pid)
            await self._process.wait()
        # From here on, its id may be reused.
        orphans.own_ended(self._process.pid)
        orphans.kill_adopted()
        await self._output.finish()
        if self.box is not None:
            await asyncio.to_thread(self.box.end)  # in a thread, because the kernel takes milliseconds for this
