"""Calls whose connection is lost, and when they are made again."""

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
"""How streams end whose connection is lost."""


LONGEST_PAUSE = 60.0


def pauses() -> Iterator[float]:
    """Yield how long to wait before each attempt to come back, in seconds: twice as long each time, up to a minute.

    Chance shortens each by up to a half, so that the bots of a ladder that was away do not come back all at once.
    """
    longest = 1.0
    while True:
        yield longest * random.uniform(0.5, 1.0)  # noqa: S311 spreads attempts, hides nothing
        longest = min(2 * longest, LONGEST_PAUSE)


def pass_on_cancellation() -> None:
    """Raise CancelledError if this task is being cancelled; call it wherever a call that has failed would be made again.

    When a call ends at the moment at which the task that reads from it is cancelled, gRPC raises how the call ended, and the
    cancellation would be lost.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
