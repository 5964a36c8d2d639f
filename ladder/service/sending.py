"""Sending one message of many over gRPC, to somebody who may not read them."""

from __future__ import annotations

import asyncio
from typing import Any

from ladder.errors import TooMuch
from referee.live.spectators import SLOW_SECONDS


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
