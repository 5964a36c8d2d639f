"""The statuses of errors, by gRPC and by HTTP, and the texts for callers and for the organiser."""

from __future__ import annotations

import pytest
from grpc import StatusCode

from ladder.http.requests.refused import refusal
from ladder.http.requests.visit import NoPage, TooSlow
from ladder.operation.errors import (
    BadHome,
    Busy,
    Forbidden,
    LadderError,
    NotFound,
    Replaced,
    SealBroken,
    TooMuch,
    Unauthenticated,
)
from ladder.operation.refusals import BUSY, FAILED, RETRY_SECONDS, ErrorReply, refusal_of
from referee.bots.errors import BadBot
from referee.registry import UnknownGame

PRIVATE = "/srv/ladder.db: broken"


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (NotFound("x"), StatusCode.NOT_FOUND, 404),
        (UnknownGame("x"), StatusCode.NOT_FOUND, 404),
        (Forbidden("x"), StatusCode.PERMISSION_DENIED, 403),
        (Unauthenticated("x"), StatusCode.UNAUTHENTICATED, 401),
        (Replaced("x"), StatusCode.ABORTED, 409),
        (BadBot("x"), StatusCode.INVALID_ARGUMENT, 400),
        (LadderError("x"), StatusCode.FAILED_PRECONDITION, 400),
        (SealBroken("x"), StatusCode.FAILED_PRECONDITION, 400),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else None,
)
def test_an_error_has_a_status_by_grpc_and_one_by_http_and_its_own_text(
    error: Exception, code: StatusCode, status: int
) -> None:
    assert refusal_of(error) == refusal(error) == ErrorReply(code, status, "x", "x")


@pytest.mark.parametrize(
    ("error", "code", "status", "message"),
    [
        (Busy(PRIVATE), StatusCode.RESOURCE_EXHAUSTED, 503, BUSY),
        (BadHome(PRIVATE), StatusCode.INTERNAL, 500, FAILED),
        (ZeroDivisionError(PRIVATE), StatusCode.INTERNAL, 500, FAILED),
        (
            OSError(5, "Input/output error", PRIVATE),
            StatusCode.INTERNAL,
            503,
            "the ladder cannot do that now: Input/output",
        ),
    ],
    ids=["busy", "bad-home", "fault", "disk"],
)
def test_a_failure_tells_its_reason_to_the_organiser_alone(
    error: Exception, code: StatusCode, status: int, message: str
) -> None:
    found = refusal_of(error)
    assert (found.code, found.status) == (code, status)
    assert found.message.startswith(message)
    assert PRIVATE not in found.message
    assert PRIVATE in found.reason


def test_a_refusal_has_the_time_to_wait_where_waiting_helps() -> None:
    assert refusal_of(TooMuch("x", 7)).retry_after == 7
    assert refusal_of(Busy("x")).retry_after == RETRY_SECONDS
    assert refusal_of(Forbidden("x")).retry_after == 0


def test_http_has_statuses_of_its_own() -> None:
    assert refusal(NoPage("x")).status == 404
    assert refusal(TooSlow("x")).status == 408
