"""Errors as HTTP statuses."""

from __future__ import annotations

import grpc
from starlette.exceptions import HTTPException
from starlette.requests import Request

from ladder.http.requests.hosts import WrongHost
from ladder.http.requests.limits import address_of
from ladder.http.requests.visit import BadQuestion, NoPage, TooSlow
from ladder.operation.refusals import STATUSES, ErrorReply, Refusals, refusal_of

_STATUSES = {
    **STATUSES,
    NoPage: (grpc.StatusCode.NOT_FOUND, 404),
    BadQuestion: (grpc.StatusCode.INVALID_ARGUMENT, 400),
    TooSlow: (grpc.StatusCode.DEADLINE_EXCEEDED, 408),
    WrongHost: (grpc.StatusCode.INVALID_ARGUMENT, 421),
}
"""The statuses of all errors, including those that occur only over HTTP."""


def refusal(error: Exception) -> ErrorReply:
    """Return the answer to a request that has failed."""
    if isinstance(error, HTTPException):
        return ErrorReply(grpc.StatusCode.INVALID_ARGUMENT, error.status_code, error.detail, error.detail)
    return refusal_of(error, _STATUSES)


def refused(refusals: Refusals, request: Request, method: str, error: Exception) -> ErrorReply:
    """Report a refusal to the journal; return the answer to the request."""
    found = refusal(error)
    refusals.note(address_of(request), method, found)
    return found
