"""Read an agent's output at a limited cost to the referee. If an agent writes faster than this, its full pipe stops it.

The event loop that handles output also reads answers, so all agents wait while it handles the output of one. Reading
therefore has an allowance, which grows with time. Each read and each byte use up some of it, and bytes parsed as
telemetry use up more. When an agent has spent its allowance, the referee stops reading its output for a while. The
agent can then write until its pipe is full (64 KiB, unless it has enlarged the pipe); after that, its writes block.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from referee.live.seats.telemetry import BEGINNING

READ_BYTES = 65_536
"""The maximum size of a read: the capacity of a pipe."""
RATE = 192 * 1024
"""The growth of the allowance per second, which lets a flood be read twice a second, or at 128 KiB a second."""
MOST = 1024 * 1024
"""The maximum allowance, which is also the initial one."""
READ_COST = 32 * 1024
"""The cost of a read, in addition to the cost of its bytes."""
TELEMETRY_COST = 64
"""The additional cost of a byte parsed as telemetry."""
LAST_COST = 8 * MOST
"""The maximum cost of reading all remaining output: nearly two full pipes of telemetry, or many more of other data."""
_PIECE_BYTES = 4096
"""The maximum number of bytes to parse at once if they contain telemetry."""
_TURN_SECONDS = 0.01
"""The pause between two pieces with telemetry while the remaining output is read, so that other tasks can run."""


class Output:
    """The reading end of an agent's output pipe, in the running event loop."""

    def __init__(self, file: int, take: Callable[[bytes], int]) -> None:
        """Begin to read.

        Args:
            file: the pipe; `finish` closes it.
            take: a function that takes output and returns the number of its bytes parsed as telemetry.
        """
        self._loop = asyncio.get_running_loop()
        self._file = file
        self._take = take
        self._held = b""  # read, but not yet taken
        self._allowance = float(MOST)
        self._allowed_at = self._loop.time()
        self._pause: asyncio.TimerHandle | None = None
        self._is_over = False
        self._is_closed = False
        os.set_blocking(file, False)
        self._loop.add_reader(file, self._on_output)

    def renew(self) -> None:
        """Restore the full allowance; call this once no other agent has to wait."""
        self._allowance = float(MOST)
        if self._pause is not None:
            self._pause.cancel()
            self._go_on()

    def read_on(self) -> None:
        """Read all the output so far at once, up to a limit, because the agent may write faster than this reads."""
        left = LAST_COST
        while left > 0 and (data := self._next()):
            left -= self._cost_of(data)

    async def finish(self) -> None:
        """Read the remaining output after the agent has ended, with pauses for other tasks, and close the pipe."""
        self._rest()
        left = LAST_COST
        try:
            while left > 0 and (data := self._next()):
                left -= self._cost_of(data)
                await asyncio.sleep(_TURN_SECONDS if self._held else 0)
        finally:
            if not self._is_closed:
                self._is_closed = True
                os.close(self._file)

    def _on_output(self) -> None:
        """Read the next output, and pause if it has cost more than the allowance."""
        data = self._next()
        if not data:
            return
        now = self._loop.time()
        allowance = min(MOST, self._allowance + (now - self._allowed_at) * RATE)
        self._allowance = allowance - self._cost_of(data)
        self._allowed_at = now
        # Held output waits for another turn of the loop, so that answers are read in between.
        if self._allowance < 0 or self._held:
            self._rest()
            self._pause = self._loop.call_later(max(0.0, -self._allowance / RATE), self._go_on)

    def _cost_of(self, data: bytes) -> int:
        """Take output, and return its cost."""
        return READ_COST + len(data) + TELEMETRY_COST * self._take(data)

    def _next(self) -> bytes:
        data = self._held or self._read()
        self._held = b""
        if len(data) > _PIECE_BYTES and BEGINNING in data:
            data, self._held = data[:_PIECE_BYTES], data[_PIECE_BYTES:]
        return data

    def _read(self) -> bytes:
        if self._is_closed or self._is_over:
            return b""
        try:
            data = os.read(self._file, READ_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            self._is_over = True
            self._rest()
        return data

    def _rest(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None
        if not self._is_closed:
            self._loop.remove_reader(self._file)

    def _go_on(self) -> None:
        self._pause = None
        if self._held:
            self._on_output()
        if self._pause is None and not (self._is_over or self._is_closed):
            self._loop.add_reader(self._file, self._on_output)
