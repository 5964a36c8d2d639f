"""What goes wrong, as HTTP says it."""

from __future__ import annotations

import grpc
from starlette.exceptions import HTTPException
from starlette.requests import Request

from ladder.http.requests.asked import BadQuestion, NoPage, TooSlow
from ladder.http.requests.hosts import WrongHost
from ladder.http.requests.limits import address_of
from ladder.operation.errors import BadHome, Busy, Forbidden, NotFound, TooMuch, Unauthenticated
from ladder.operation.refusals import Refusals
from ladder.operation.room import TOLD, is_for_want_of_room
from referee.errors import DoganaError
from referee.registry import UnknownGame

_STATUS: dict[type[Exception], int] = {
    NoPage: 404,
    NotFound: 404,
    UnknownGame: 404,
    Forbidden: 403,
    Unauthenticated: 401,
    TooMuch: 429,
    BadQuestion: 400,
    TooSlow: 408,
    Busy: 503,
    OSError: 503,
    BadHome: 500,
    WrongHost: 421,
    DoganaError: 400,
}

_CODES = {
    404: grpc.StatusCode.NOT_FOUND,
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    500: grpc.StatusCode.INTERNAL,
    503: grpc.StatusCode.RESOURCE_EXHAUSTED,
}
"""What refusals are called over gRPC, and so in the journal and in figures."""


def told(error: Exception) -> tuple[int, str]:
    """Return the HTTP status of what went wrong, and what strangers are told of it: nothing of where the ladder is."""
    if isinstance(error, HTTPException):
        return error.status_code, error.detail
    if is_for_want_of_room(error):
        return 503, TOLD
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)
    if status == 500:
        return status, "its organiser finds the reason in its log"
    if isinstance(error, Busy):
        return status, "another program keeps the ladder busy; come back in a minute"
    if isinstance(error, OSError):
        return status, f"the ladder cannot do that now: {error.strerror or 'it took too long'}"
    return status, str(error)


def refused(refusals: Refusals, request: Request, method: str, error: Exception) -> tuple[int, str]:
    """Write a refusal into the journal; return its HTTP status, and the reason."""
    status, reason = told(error)
    code = _code(status)
    if isinstance(error, OSError):
        code = grpc.StatusCode.INTERNAL
    refusals.note(address_of(request), method, code, str(error), 0.0)
    return status, reason


def status_name(status: int) -> str:
    """Return what an HTTP status of a refusal is called in figures."""
    return str(_code(status).name)


def _code(status: int) -> grpc.StatusCode:
    return _CODES.get(status, grpc.StatusCode.INVALID_ARGUMENT)
