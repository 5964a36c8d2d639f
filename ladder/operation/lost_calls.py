"""Calls whose connection was lost, and the pauses before they are repeated."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

import grpc

LOST = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.CANCELLED,
)
"""The final statuses of streams whose connection was lost."""


LONGEST_PAUSE = 60.0


def pauses() -> Iterator[float]:
    """Yield the pause, in seconds, before each attempt to reconnect.

    The pauses double, up to a minute. Each is shortened at random by up to half, so that the bots of a restarted ladder
    do not reconnect all at once.
    """
    longest = 1.0
    while True:
        yield longest * random.uniform(0.5, 1.0)  # noqa: S311 spreads attempts, hides nothing
        longest = min(2 * longest, LONGEST_PAUSE)


def pass_on_cancellation() -> None:
    """Raise CancelledError if this task is being cancelled; call it before repeating a failed call.

    If a call ends at the moment when its reading task is cancelled, gRPC raises the status of the call, and the cancellation
    would be lost.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
