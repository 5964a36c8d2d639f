"""The call to the referee by a bot that it has not started: over TCP, with the gRPC library, optionally encrypted.

`sdk.py` imports this only if needed: the import takes longer than everything else that a small bot does before its
first answer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import grpc

from dogana.started import CallEnded

T = TypeVar("T")
_LOOK_SECONDS = 0.001
"""The time allowed for gRPC to hand over a message that has arrived, in seconds."""


class RemoteCall:
    """A bidirectional call, driven from the calling thread, with the interface of `dogana.started.SocketCall`.

    Its event loop runs only while the bot waits for the referee or checks for messages. Therefore, a bot may run its own event
    loop, and check for messages inside it.
    """

    def __init__(self, address: str, method: str, certificate: bytes | None) -> None:
        """Prepare a call of `method`, such as `/dogana.v1.Referee/Play`, at `host:port`.

        Args:
            address: the address of the referee.
            method: the path of the method.
            certificate: the certificate of the referee's authority (PEM); None for an unencrypted connection.
        """
        self._loop = asyncio.new_event_loop()
        self._reading: asyncio.Task[Any] | None = None
        self._run(self._open(address, method, certificate))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._loop.run_until_complete(work)
        with ThreadPoolExecutor(1) as aside:  # a thread runs one loop at a time, and this one runs the bot's
            return aside.submit(self._loop.run_until_complete, work).result()

    async def _open(self, address: str, method: str, certificate: bytes | None) -> None:
        self._channel = channel(address, certificate)
        self._call: Any = self._channel.stream_stream(method)()

    def send(self, message: bytes) -> None:
        """Send a message. If the call has ended, nothing happens; `receive` reports the end."""
        with contextlib.suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):
            self._run(self._call.write(message))

    def receive(self) -> bytes:
        """Wait for the next message, and return it.

        Raises:
            CallEnded: if the call has ended.
        """
        return self._run(self._receive())

    def look(self) -> bytes | None:
        """Return the next message if it has arrived, else None.

        Raises:
            CallEnded: if the call has ended and all messages have been returned.
        """
        return self._run(self._look())

    def close(self) -> None:
        """End the call unless it has ended."""
        self._run(self._close())
        self._loop.close()

    async def _close(self) -> None:
        await self._channel.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}  # the pending read, and unfinished tasks of gRPC
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _receive(self) -> bytes:
        reading = self._reading or self._loop.create_task(self._call.read())
        self._reading = reading
        try:
            message = await reading
        except grpc.aio.AioRpcError as error:
            raise CallEnded(error.code().name, error.details() or "") from error
        self._reading = None
        if not isinstance(message, bytes):  # grpc.aio.EOF
            code, details = await self._call.code(), await self._call.details()
            raise CallEnded(code.name, details or "")
        return message

    async def _look(self) -> bytes | None:
        if self._reading is None:
            self._reading = self._loop.create_task(self._call.read())
        await asyncio.wait([self._reading], timeout=_LOOK_SECONDS)
        return await self._receive() if self._reading.done() else None


def channel(address: str, certificate: bytes | None) -> grpc.aio.Channel:
    """Return a channel to a referee that is reached over TCP."""
    options = [
        ("grpc.max_receive_message_length", -1),
        ("grpc.keepalive_time_ms", 30_000),  # detects a connection that was lost silently
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.http2.max_pings_without_data", 0),  # 0 means no limit, however long the other seats think
    ]
    if certificate is None:
        return grpc.aio.insecure_channel(address, options)
    return grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(certificate), options)
