"""HTTP/2 as doors speak it: compressed messages."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Iterator
from urllib.parse import unquote

import pytest

from referee.live.doors import frames
from referee.live.doors.frames import (
    DATA,
    frame,
)
from tests.referee.http2_peer import (
    ALLOWANCE,
    ENCODERS,
    MAX_MESSAGE_BYTES,
    Table,
    heard,
    mebibytes,
    message,
    opened_with,
    statuses,
)


@pytest.mark.parametrize("encoding", ENCODERS)
@pytest.mark.parametrize("is_early", [False, True], ids=["somebody listens", "nobody listens yet"])
def test_compressed_messages_are_read_beside_plain_ones(encoding: str, is_early: bool) -> None:
    table = Table()
    call = table.call(grpc_encoding=encoding)
    packed = ENCODERS[encoding]
    data = message(packed(b"join"), 1) + message(b"plain") + message(packed(b""), 1)
    data += message(packed(bytes(MAX_MESSAGE_BYTES)), 1)
    if is_early:
        table.connection.receive(frame(DATA, 0, 1, data))
        assert heard(call) == [b"join", b"plain", b"", bytes(MAX_MESSAGE_BYTES)]
    else:
        said = heard(call)
        table.connection.receive(frame(DATA, 0, 1, data))
        assert said == [b"join", b"plain", b"", bytes(MAX_MESSAGE_BYTES)]


@pytest.mark.parametrize(
    ("encoding", "data", "status", "reason"),
    [
        ("identity", b"x", "13", "a compressed message in a call without grpc-encoding"),
        ("gzip", b"x", "13", "a message that is not valid gzip"),
        ("gzip", zlib.compress(b"join"), "13", "a message that is not valid gzip"),
        ("gzip", gzip.compress(b"join")[:-1], "13", "a message that is not valid gzip"),
        ("gzip", gzip.compress(b"join") + b"x", "13", "a message that is not valid gzip"),
        ("deflate", b"", "13", "a message that is not valid deflate"),
        ("gzip", gzip.compress(bytes(MAX_MESSAGE_BYTES + 1)), "8", "a compressed message of more than 131072 bytes"),
    ],
    ids=["no encoding", "no gzip", "another encoding", "cut short", "with more behind it", "empty", "too large"],
)
@pytest.mark.parametrize("is_early", [False, True], ids=["somebody listens", "somebody waits"])
async def test_a_message_that_cannot_be_decompressed_ends_the_call(
    encoding: str, data: bytes, status: str, reason: str, is_early: bool
) -> None:
    table = Table()
    call = table.call(grpc_encoding=encoding)
    said = [] if is_early else heard(call)
    table.connection.receive(frame(DATA, 0, 1, message(data, 1) + message(b"late")))
    if is_early:
        assert await call.read() is None
    assert said == []
    [ending] = statuses(table.said())
    assert (ending["grpc-status"], unquote(ending["grpc-message"])) == (status, reason)
    assert (table.cancelled, table.is_closed) == ([call], False)


def test_an_encoding_that_is_not_supported_is_refused() -> None:
    table = Table()
    table.said()
    table.connection.receive(opened_with(table, 1, ("grpc-encoding", "snappy\x1b")))
    [status] = statuses(table.said())
    assert status["grpc-status"] == "12"
    reason = unquote(status["grpc-message"])
    assert reason == r"grpc-encoding 'snappy\x1b' is not supported; identity, deflate, gzip are"
    assert (table.calls, status["grpc-accept-encoding"]) == ([], "identity,deflate,gzip")


@pytest.fixture
def traced() -> Iterator[None]:
    """Count the memory that Python allocates."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
def test_no_more_of_a_bomb_is_decompressed_than_a_message_may_have() -> None:
    table, bomb = Table(), mebibytes(60)
    said = heard(table.call(grpc_encoding="gzip"))
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    for at in range(0, len(bomb), 16_000):
        table.connection.receive(frame(DATA, 0, 1, bomb[at : at + 16_000]))
    _, peak = tracemalloc.get_traced_memory()
    assert [one["grpc-status"] for one in statuses(table.said())] == ["8"]
    assert said == []
    assert peak - before < 1 << 20


@pytest.mark.usefixtures("traced")
def test_compressed_messages_that_nobody_has_read_are_kept_compressed() -> None:
    table = Table()
    call = table.call(grpc_encoding="deflate")
    packed = message(zlib.compress(bytes(MAX_MESSAGE_BYTES)), 1)
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(100):
        table.connection.receive(frame(DATA, 0, 1, packed))
    after, _ = tracemalloc.get_traced_memory()
    assert after - before < 1 << 20
    assert heard(call) == [bytes(MAX_MESSAGE_BYTES)] * 100


def test_an_agent_that_compresses_each_answer_does_nothing_of_no_use() -> None:
    table = Table()
    call = table.call(grpc_encoding="gzip")
    heard(call)
    table.connection.receive(frames.window_update(1, 1 << 20) + frames.window_update(0, 1 << 20))
    for _ in range(ALLOWANCE):
        call.send(b"decide")
        table.connection.receive(frame(DATA, 0, 1, message(gzip.compress(b"choose"), 1)))
    assert not table.is_closed
