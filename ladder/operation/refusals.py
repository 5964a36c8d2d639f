"""Which refused and failed calls a journal has: enough to see who is refused and why, and never so many that they fill a disk."""

from __future__ import annotations

import logging

import grpc

from ladder.operation.errors import TooMuch
from ladder.operation.journal import note
from ladder.operation.meter import Allowance, Meter

TOLD = Allowance("refusals that are told", 60, 60)
TOLD_OF_EACH = Allowance("refusals of one who asks that are told", 2, 60)
CHANGES = ("submit", "retire", "requalify", "at_tables")
"""The calls that change something: each refusal of one is told, and so is that of an offer."""
_TOLD = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INTERNAL)
"""How any other call ends that is told: for a limit, a token that is worth nothing, or a failure."""


class Refusals:
    """The refusals of one server. Figures (`metrics.py`) count all of them; here most of many are left out."""

    def __init__(self) -> None:
        self._all = Meter(TOLD)
        self._each = Meter(TOLD_OF_EACH)

    def note(self, who: str, method: str, code: grpc.StatusCode, reason: str, seconds: float) -> None:
        """Note a call that was refused or has failed, if it is one to be told.

        Args:
            who: the address that asks.
            method: the call.
            code: how it ended.
            reason: what was answered, or for a failure what the organiser must know.
            seconds: how long it took.
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
