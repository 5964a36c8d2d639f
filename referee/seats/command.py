"""Agents that the referee starts: a process under a supervisor, its output drained and capped."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.errors import DoganaError

_SUPERVISOR = Path(__file__).with_name("supervise.py")
LOG_HEAD_BYTES = 64 * 1024
"""So much of an agent's output is kept from its beginning,"""
LOG_TAIL_BYTES = 64 * 1024
"""and so much up to its end; what lies between is dropped."""
GRACE_SECONDS = 2.0
"""How long an agent may take to end by itself after the match."""


class CannotStart(DoganaError):
    """A command cannot be started; the text says why."""


class AgentLog:
    """What an agent wrote to its standard output and standard error, capped."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Adds output; what is over the caps is counted and dropped."""
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

    def text(self) -> str:
        """Everything that was kept."""
        gap = f"\n... {self._dropped} bytes dropped ...\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + b"".join(self._tail)).decode(errors="replace")

    def last_line(self) -> str:
        """The last line that is not empty, shortened; for one-line messages."""
        lines = [line.strip() for line in self.text().splitlines() if line.strip()]
        return lines[-1][-300:] if lines else ""


class AgentProcess:
    """A started agent.

    Attributes:
        log: what it has written so far.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.log = AgentLog()
        self._process = process
        self._drain = asyncio.create_task(self._drain_output())

    @staticmethod
    async def start(argv: Sequence[str], environment: Mapping[str, str], folder: Path | None) -> AgentProcess:
        """Starts a command.

        Args:
            argv: the program and its arguments; no shell reads them.
            environment: all environment variables of the agent.
            folder: where it runs; None for the referee's own folder.

        Raises:
            CannotStart: if there is no such program.
        """
        name = argv[0] if argv else ""
        if "/" in name:
            program = shutil.which(str((folder or Path.cwd()) / name))
        else:
            program = shutil.which(name, path=environment.get("PATH"))
        if program is None:
            raise CannotStart(f"there is no program {name!r} that can be run")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            str(_SUPERVISOR),
            program,
            *argv[1:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )
        return AgentProcess(process)

    async def _drain_output(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 it is a pipe
        while data := await self._process.stdout.read(65536):
            self.log.add(data)

    async def ended(self) -> str:
        """Waits for the end of the agent; returns it in words."""
        status = await self._process.wait()
        if status < 0:
            return f"was killed by {signal.Signals(-status).name}"
        return f"exited with status {status}"

    async def stop(self, grace: float = 0.0) -> None:
        """Ends the agent and everything it has started; returns when nothing of it is left."""
        if grace:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._process.wait(), grace)
        assert self._process.stdin is not None  # noqa: S101 it is a pipe
        self._process.stdin.close()
        await self._process.wait()
        await self._drain
