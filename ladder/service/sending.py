"""Sending one message of many over gRPC, to somebody who may not read them; and all that a referee shows."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc

from ladder.operation.errors import TooMuch
from referee.live.doors.door import SERVICE as REFEREE
from referee.live.matches.spectators import SLOW_SECONDS


async def send(context: Any, message: object) -> None:
    """Send a message of a stream.

    Args:
        context: the call.
        message: what the call sends.

    Raises:
        TooMuch: if those before it are not read in time.
    """
    try:
        async with asyncio.timeout(SLOW_SECONDS):
            await context.write(message)
    except TimeoutError:
        raise TooMuch(f"what was sent was not read for {SLOW_SECONDS:g} s") from None


async def hand_on(address: str, asked: bytes, context: Any) -> None:
    """Ask a referee to show a match, and hand on its answers and the end of the call."""
    async with grpc.aio.insecure_channel(address) as channel:
        watch: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(f"/{REFEREE}/Watch")
        call = watch(asked)
        await context.send_initial_metadata(())
        try:
            async for data in call:
                await send(context, data)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:  # its worker has ended; the text names the socket
                await context.abort(grpc.StatusCode.ABORTED, "the match was broken off")
            await context.abort(error.code(), error.details() or "")
        finally:
            call.cancel()
