"""Reads what an agent writes, no faster than it may cost the referee: the pipe holds an agent that writes more.

The referee's event loop reads answers, too: whatever it does with the output of one agent, the others wait for. So reading has an
allowance, which grows with time: each read takes from it, each byte, and each byte in which telemetry is looked for. The output
of an agent that has used it up is not read for a while. The agent can write on until its pipe is full (64 KiB, unless it has
made it larger), and then waits in its write.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from referee.live.seats.telemetry import BEGINNING

READ_BYTES = 65_536
"""How much is read at once: what a pipe holds."""
RATE = 192 * 1024
"""How much the allowance grows in a second: a flood is read twice a second, at 128 KiB a second."""
MOST = 1024 * 1024
"""The largest allowance; also the one at first."""
READ_COST = 32 * 1024
"""What a read takes from the allowance besides its bytes, however few they are."""
TELEMETRY_COST = 64
"""What a byte takes besides in which telemetry is looked for."""
LAST_COST = 8 * MOST
"""How much the end may cost: twice a full pipe of telemetry, and more of anything else than a pipe can hold."""
_PIECE_BYTES = 4096
"""How much output is looked through at once if it has telemetry in it."""
_TURN_SECONDS = 0.01
"""How long others have their turn between pieces with telemetry at the end."""


class Output:
    """The end of a pipe at which the output of an agent is read, in the running event loop."""

    def __init__(self, file: int, take: Callable[[bytes], int]) -> None:
        """Begin to read.

        Args:
            file: the pipe; `finish` closes it.
            take: called with what was read; returns in how many bytes of it telemetry was looked for.
        """
        self._loop = asyncio.get_running_loop()
        self._file = file
        self._take = take
        self._held = b""  # read, and not taken yet
        self._allowance = float(MOST)
        self._allowed_at = self._loop.time()
        self._pause: asyncio.TimerHandle | None = None
        self._is_over = False
        self._is_closed = False
        os.set_blocking(file, False)
        self._loop.add_reader(file, self._on_output)

    def renew(self) -> None:
        """Give the whole allowance back: nobody else has to wait any more."""
        self._allowance = float(MOST)
        if self._pause is not None:
            self._pause.cancel()
            self._go_on()

    def read_on(self) -> None:
        """Take at once all that was written until now; an agent may write faster than this reads, so there is an end to it."""
        left = LAST_COST
        while left > 0 and (data := self._next()):
            left -= self._cost_of(data)

    async def finish(self) -> None:
        """Take what is left when the agent has ended, in pieces between which others have their turn, and close the pipe."""
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
        """Take what there is, or a piece of it, and pause if that has cost more than is allowed."""
        data = self._next()
        if not data:
            return
        now = self._loop.time()
        allowance = min(MOST, self._allowance + (now - self._allowed_at) * RATE)
        self._allowance = allowance - self._cost_of(data)
        self._allowed_at = now
        if self._allowance < 0 or self._held:
            self._rest()
            self._pause = self._loop.call_later(max(0.0, -self._allowance / RATE), self._go_on)

    def _cost_of(self, data: bytes) -> int:
        """Take output, and return what it has cost."""
        return READ_COST + len(data) + TELEMETRY_COST * self._take(data)

    def _next(self) -> bytes:
        """Return the next piece of output; nothing if there is none yet, or none any more."""
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
        """Read nothing for now."""
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
