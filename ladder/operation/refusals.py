"""Refused and failed calls in the journal: enough to see the callers and reasons, but too few to fill a disk."""

from __future__ import annotations

import logging

import grpc

from ladder.operation.errors import TooMuch
from ladder.operation.journal import note
from ladder.operation.meter import Allowance, Meter

TOLD = Allowance("refusals that are told", 60, 60)
TOLD_OF_EACH = Allowance("refusals of one who asks that are told", 2, 60)
CHANGES = ("submit", "retire", "requalify", "at_tables")
"""The calls that change something: the journal has each refusal of one, and of an offer."""
_TOLD = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INTERNAL)
"""The statuses with which the journal has other calls: exceeded limits, invalid tokens, and failures."""


class Refusals:
    """The refusals of one server. Figures (`metrics.py`) count all of them; the journal leaves out most of a flood."""

    def __init__(self) -> None:
        self._all = Meter(TOLD)
        self._each = Meter(TOLD_OF_EACH)

    def note(self, who: str, method: str, code: grpc.StatusCode, reason: str, seconds: float) -> None:
        """Note a refused or failed call, if it belongs in the journal.

        Args:
            who: the address of the caller.
            method: the name of the call.
            code: the status of the answer.
            reason: the text of the answer, or for a failure the information for the organiser.
            seconds: the duration of the call.
        """
        if code not in _TOLD and method not in (*CHANGES, "connect"):
            return
        try:
            self._each.take(who)
            self._all.take("")
        except TooMuch:
            return
        failed = code is grpc.StatusCode.INTERNAL
        event, level = ("failed", logging.ERROR) if failed else ("refused", logging.WARNING)
        note(event, level, method=method, status=code.name, reason=reason, seconds=seconds)
