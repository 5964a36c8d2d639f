"""A call to Play that the gRPC library serves, for remote agents that connect over TCP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

import grpc
from grpc.aio import ServicerContext


class GrpcCall:
    """A call that the gRPC library serves (see `referee.live.seats.agent.Call`).

    Writing needs no task, because gRPC's callbacks drive it.

    Attributes:
        when_free: a function called when `is_free` becomes True.
        is_over: True when nothing more can be sent.
    """

    def __init__(self, context: ServicerContext[bytes, bytes]) -> None:
        self.when_free: Callable[[], None] = lambda: None
        self.is_over = False
        self._context = context
        self._write: Coroutine[Any, Any, None] | None = None  # the write that gRPC has not finished
        self._is_written = asyncio.Event()
        self._is_written.set()

    def peer(self) -> str:
        """Return the caller's address in gRPC's format."""
        return self._context.peer()

    async def read(self) -> bytes | None:
        """Return the next message, or None after the last."""
        data = await self._context.read()
        return data if isinstance(data, bytes) else None  # grpc.aio.EOF

    def listen(self, receive: Callable[[bytes | None], object]) -> Callable[[], object]:
        """Pass each message to `receive` as it arrives, and None after the last.

        Returns:
            A function that stops listening.
        """

        async def read_on() -> None:
            while (data := await self.read()) is not None:
                receive(data)
            receive(None)

        return asyncio.create_task(read_on()).cancel

    @property
    def is_free(self) -> bool:
        """True if gRPC has taken all messages."""
        return self._write is None

    def send(self, message: bytes) -> None:
        """Send a message at once, if the call is free."""
        self._is_written.clear()
        self._write = self._context.write(message)
        self._go_on()

    async def drained(self) -> None:
        """Wait until the call is free."""
        while self._write is not None:
            await self._is_written.wait()

    async def abort(self, code: grpc.StatusCode, text: str) -> NoReturn:
        """End the call with an error.

        Raises:
            grpc.aio.AbortError: always.
        """
        await self._context.abort(code, text)

    def _go_on(self) -> None:
        """Continue a write until it waits for gRPC again, or is done."""
        assert self._write is not None  # noqa: S101 only called during a write
        try:
            waited_for: asyncio.Future[None] = self._write.send(None)
            waited_for.add_done_callback(self._written)
            return
        except StopIteration:
            pass  # it is written
        except (grpc.aio.BaseError, asyncio.CancelledError):
            self.is_over = True
        self._write = None
        self._is_written.set()

    def _written(self, _: asyncio.Future[None]) -> None:
        self._go_on()
        if self._write is None:
            self.when_free()
