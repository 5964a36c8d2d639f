"""Send the messages of a stream over gRPC to a client that may not read them, and forward a referee's messages."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc

from ladder.operation.errors import TooMuch
from referee.live.doors.door import SERVICE as REFEREE


async def send(context: Any, message: object, seconds: float) -> None:
    """Send a message of a stream, which must be read within a time limit.

    Raises:
        TooMuch: if earlier messages are not read in time.
    """
    try:
        async with asyncio.timeout(seconds):
            await context.write(message)
    except TimeoutError:
        raise TooMuch(f"a message was not read for {seconds:g} s") from None


async def hand_on(address: str, request: bytes, context: Any, seconds: float) -> None:
    """Watch a match at its referee, and forward the referee's messages; each must be read within a time limit."""
    async with grpc.aio.insecure_channel(address) as channel:
        watch: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(f"/{REFEREE}/Watch")
        call = watch(request)
        await context.send_initial_metadata(())
        try:
            async for data in call:
                await send(context, data, seconds)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:  # its worker has ended; the text names the socket
                await context.abort(grpc.StatusCode.ABORTED, "the match was broken off")
            await context.abort(error.code(), error.details() or "")
        finally:
            call.cancel()
