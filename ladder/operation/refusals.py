"""Refusals and failures: the answer to a caller over HTTP and over gRPC, and the line in the journal.

The answer reveals nothing about the machine of the ladder; the journal gives its organiser the whole reason. It
contains enough lines to show the callers and reasons in a flood of refusals, but too few to fill a disk.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import grpc

from ladder.operation.errors import (
    BadHome,
    Busy,
    Forbidden,
    NoRoom,
    NotFound,
    Replaced,
    Silent,
    TooMuch,
    Unauthenticated,
)
from ladder.operation.journal import note, traceback_of
from ladder.operation.meter import Allowance, Meter
from ladder.operation.room import NO_ROOM_TEXT as NO_ROOM
from ladder.operation.room import is_for_want_of_room
from referee.bots.errors import BadBot
from referee.errors import DoganaError
from referee.registry import UnknownGame

JOURNAL_LINES = Allowance("refusals in the journal", 60, 60)
JOURNAL_LINES_OF_CALLER = Allowance("refusals of a caller in the journal", 2, 60)
CHANGES = ("submit", "retire", "requalify", "at_tables", "connect")
"""The calls that change something: the journal records each refusal of such a call."""
RETRY_SECONDS = 60
"""The time in seconds after which a caller may come back to a ladder that is busy, or whose disk is full."""
FAILED = "the ladder failed; its organiser finds the reason in its log"
BUSY = "another program keeps the ladder busy; come back in a minute"

Code = grpc.StatusCode
STATUSES: Mapping[type[Exception], tuple[grpc.StatusCode, int]] = MappingProxyType(
    {
        NotFound: (Code.NOT_FOUND, 404),
        UnknownGame: (Code.NOT_FOUND, 404),
        Forbidden: (Code.PERMISSION_DENIED, 403),
        Unauthenticated: (Code.UNAUTHENTICATED, 401),
        TooMuch: (Code.RESOURCE_EXHAUSTED, 429),
        Busy: (Code.RESOURCE_EXHAUSTED, 503),
        NoRoom: (Code.RESOURCE_EXHAUSTED, 503),
        Replaced: (Code.ABORTED, 409),
        Silent: (Code.UNAVAILABLE, 408),
        BadBot: (Code.INVALID_ARGUMENT, 400),
        DoganaError: (Code.FAILED_PRECONDITION, 400),
        OSError: (Code.INTERNAL, 503),
        BadHome: (Code.INTERNAL, 500),
        Exception: (Code.INTERNAL, 500),
    }
)
"""The status of each kind of error over gRPC and over HTTP. The nearest base class counts."""
_IN_JOURNAL = (Code.RESOURCE_EXHAUSTED, Code.UNAUTHENTICATED, Code.INTERNAL)
"""The statuses of calls that the journal records even if the calls change nothing.

They stand for exceeded limits, invalid tokens and failures."""


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """The answer to a call that was refused, or failed."""

    code: grpc.StatusCode
    """The status over gRPC; the journal and the metrics use its name for calls over HTTP, too."""
    status: int
    """The status over HTTP."""
    message: str
    """The reason, as the caller sees it."""
    reason: str
    """The reason, as the organiser sees it."""
    retry_after: int = 0
    """The number of seconds after which the caller may come back; 0 if that does not help."""


def refusal_of(
    error: Exception, statuses: Mapping[type[Exception], tuple[grpc.StatusCode, int]] = STATUSES
) -> ErrorReply:
    """Return the answer to a failed call, according to a table of statuses."""
    # This is checked first, because a full disk may be the cause of any error.
    if is_for_want_of_room(error):
        return ErrorReply(*STATUSES[NoRoom], NO_ROOM, str(error), RETRY_SECONDS)
    code, status = next(statuses[kind] for kind in type(error).__mro__ if kind in statuses)
    if isinstance(error, Busy):
        return ErrorReply(code, status, BUSY, str(error), RETRY_SECONDS)
    if isinstance(error, OSError):
        message = f"the ladder cannot do that now: {error.strerror or 'it took too long'}"  # without the path
        return ErrorReply(code, status, message, str(error), RETRY_SECONDS)
    if status == 500:
        return ErrorReply(code, status, FAILED, str(error) if isinstance(error, DoganaError) else traceback_of(error))
    return ErrorReply(code, status, str(error), str(error), error.seconds if isinstance(error, TooMuch) else 0)


class Refusals:
    """The refusals of one server.

    The metrics (`metrics.py`) count all of them; the journal leaves out most of a flood.
    """

    def __init__(self) -> None:
        self._all = Meter(JOURNAL_LINES)
        self._each = Meter(JOURNAL_LINES_OF_CALLER)

    def note(self, who: str, method: str, refusal: ErrorReply, seconds: float = 0.0) -> None:
        """Note a refused or failed call, if it belongs in the journal.

        Args:
            who: the address of the caller.
            method: the name of the call.
            refusal: the answer.
            seconds: the duration of the call.
        """
        if refusal.code not in _IN_JOURNAL and method not in CHANGES:
            return
        try:
            # The caller's allowance comes first, so that a caller who exceeds it does not use up everybody's allowance.
            self._each.take(who)
            self._all.take("")
        except TooMuch:
            return
        failed = refusal.code is Code.INTERNAL
        event, level = ("failed", logging.ERROR) if failed else ("refused", logging.WARNING)
        note(event, level, method=method, status=refusal.code.name, reason=refusal.reason, seconds=seconds)
