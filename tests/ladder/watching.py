"""Spectators of a served ladder, by bytes."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from tests.patience import patient


def watched(channel: Any) -> Any:
    """The call by which one watches a match, which takes and gives bytes."""
    return channel.unary_stream("/dogana.v1.Referee/Watch")


def check_that_it_answers(channel: grpc.Channel) -> None:
    """Check that a server answers a spectator, whose match is not being played."""
    with pytest.raises(grpc.RpcError) as caught:
        next(watched(channel)(b"", timeout=patient(60)))
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
