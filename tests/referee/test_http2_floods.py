"""HTTP/2 as doors speak it: frames of no use, bytes of any kind, and what is kept of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType

import grpc
import pytest
from hpack import Encoder
from hypothesis import given
from hypothesis import strategies as st

from referee.live.doors import frames
from referee.live.doors.call import COMPRESSED_COST, Http2Call
from referee.live.doors.frames import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    HEADERS,
    PING,
    PRIORITY,
    SETTINGS,
    WINDOW,
    frame,
)
from referee.live.doors.http2 import CALL_COST, MAX_BLOCK_BYTES
from tests.referee.http2_peer import (
    ALLOWANCE,
    FIELDS,
    MAX_CALLS,
    MAX_MESSAGE_BYTES,
    Table,
    heard,
    mebibytes,
    message,
    opened_with,
)

# --- frames of no use ----------------------------------------------------------------------------------------------

FLOODS: dict[str, Callable[[Table], Iterator[bytes]]] = {
    "pings": lambda _: iter([frame(PING, 0, 0, bytes(8))] * (ALLOWANCE + 1)),
    "settings": lambda _: iter([frame(SETTINGS, 0, 0)] * (ALLOWANCE + 1)),
    "many settings": lambda _: iter([frame(SETTINGS, 0, 0, bytes(6 * 100))] * (ALLOWANCE // 100)),
    "priorities": lambda _: iter([frame(PRIORITY, 0, 1, bytes(5))] * (ALLOWANCE + 1)),
    "unknown frames": lambda _: iter([frame(77, 0, 0, bytes(5))] * (ALLOWANCE + 1)),
    "room": lambda _: iter([frames.window_update(1, 1)] * (ALLOWANCE + 1)),
    "empty data": lambda _: iter([frame(DATA, 0, 1, b"")] * (ALLOWANCE + 1)),
    "messages in crumbs": lambda _: iter([frame(DATA, 0, 1, one) for one in (b"\0", b"\0", b"\1", b"\0", b"\0")] + [frame(DATA, 0, 1, b"x")] * ALLOWANCE),
    "data of a call that has ended": lambda _: iter([frames.reset(1, 8)] + [frame(DATA, 0, 1, b"x" * 50)] * ALLOWANCE),
    "empty headers that go on": lambda _: iter([frame(HEADERS, 0, 3, b"")] + [frame(CONTINUATION, 0, 3, b"")] * (ALLOWANCE + 1)),
    "a frame in crumbs": lambda _: iter([b"\0\x40\0\0\0\0\0\0\1"] + [b"x"] * ALLOWANCE),
    "messages of no bytes": lambda _: iter([frame(DATA, 0, 1, message(b"") * (ALLOWANCE + 2))]),
    "messages of no bytes that somebody listens to": lambda table: _heard(table, message(b"") * (ALLOWANCE + 2)),
    "messages before the first was read": lambda _: iter([frame(DATA, 0, 1, message(b"x"))] * (ALLOWANCE + 2)),
    "messages that nobody listens to any more": lambda table: _unheard(table),
    "calls that are reset": lambda table: (
        piece for number in range(3, 2 * ALLOWANCE, 2) for piece in _reset_call(table, number)
    ),
    "large headers": lambda table: (
        opened_with(table, number, ("x-notes", "~" * 8000)) for number in range(3, 2 * ALLOWANCE, 2)
    ),
    "compressed messages that somebody listens to": lambda table: _compressed(table),
}  # fmt: skip


def _heard(table: Table, data: bytes) -> Iterator[bytes]:
    heard(table.calls[0])
    yield frame(DATA, 0, 1, data)


def _compressed(table: Table) -> Iterator[bytes]:
    heard(table.call(3, grpc_encoding="gzip"))
    yield from [frame(DATA, 0, 3, mebibytes(0))] * (ALLOWANCE // COMPRESSED_COST + 1)


def _unheard(table: Table) -> Iterator[bytes]:
    stop_listening = table.calls[0].listen(lambda _: None)
    stop_listening()
    yield from [frame(DATA, 0, 1, message(b"choose"))] * (ALLOWANCE + 1)


def _reset_call(table: Table, number: int) -> Iterator[bytes]:
    yield frame(HEADERS, END_HEADERS, number, Encoder().encode(FIELDS))
    yield frames.reset(number, 8)
    table.calls[-1].forget()


@pytest.mark.parametrize("flood", FLOODS)
def test_it_ends_a_connection_with_too_much_of_no_use(flood: str) -> None:
    table = Table()
    table.call()
    for piece in FLOODS[flood](table):
        assert not table.is_closed
        table.connection.receive(piece)
        if table.is_closed:
            break
    assert table.ending() == (frames.ENHANCE_YOUR_CALM, "too many frames of no use")


def test_calls_cost_more_than_frames() -> None:
    table = Table()
    for piece in FLOODS["calls that are reset"](table):
        table.connection.receive(piece)
        if table.is_closed:
            break
    assert ALLOWANCE // (CALL_COST + 5) < len(table.calls) < ALLOWANCE // CALL_COST


def test_a_call_after_a_call_full_of_messages_costs_as_much_as_its_messages() -> None:
    """Nobody reads them: only how many there are counts."""
    table = Table()
    for number in range(1, 200, 2):
        call = table.call(number)
        table.connection.receive(frame(DATA, 0, number, message(b"") * 100) + frames.reset(number, 8))
        call.forget()
        if table.is_closed:
            break
    assert len(table.calls) < ALLOWANCE // 100 + 1


def test_whole_messages_are_not_of_no_use_and_nothing_is_kept_of_them() -> None:
    table = Table()
    table.call().listen(lambda _: None)
    for _ in range(3 * ALLOWANCE):
        table.connection.receive(frame(DATA, 0, 1, message(b"choose")))
    assert not table.is_closed
    assert held(reached(table.connection, table)) + held(reached(table.calls[0], table)) < frames.FRAME_BYTES


# --- whatever comes ------------------------------------------------------------------------------------------------

STREAMS = st.sampled_from([0, 1, 1, 1, 3, 3, 5, 2, 4, frames.MOST])
PAYLOADS = st.one_of(
    st.binary(max_size=64),
    st.builds(message, st.binary(max_size=40), st.sampled_from([0, 0, 0, 1])),
    st.sampled_from([Encoder().encode(FIELDS), Encoder().encode(FIELDS, huffman=False), b"\x20", b"\x3f\xe1\x1f"]),
    st.builds(
        frames.SETTING.pack, st.integers(0, 8), st.sampled_from([0, 1, 10, 16_384, WINDOW, frames.MOST, 1 << 31])
    ),
    st.builds(frames.WORD.pack, st.sampled_from([0, 1, 100, WINDOW, frames.MOST])),
    st.just(bytes(8)),
    st.just(b"x" * 16_384),
)
HEADER_TABLE_BYTES = 4096
"""What RFC 7541 lets a peer have remembered of its headers."""
FRAMES = st.builds(
    frame, st.integers(0, 11), st.sampled_from([0, 1, 4, 5, 8, 0x20, 0x2C, 0xFF]), STREAMS, PAYLOADS
)  # fmt: skip


def reached(beginning: object, *beside: object) -> list[object]:
    """Return what an object leads to: not through other calls, and neither code nor what is beside it."""
    seen, waiting, found = set(map(id, beside)), [beginning], []
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | FunctionType | ModuleType):
            continue
        seen.add(id(one))
        found.append(one)
        if one is beginning or not isinstance(one, Http2Call):
            waiting += gc.get_referents(one)
    return found


def held(found: list[object]) -> int:
    """Return how many bytes objects have together."""
    return sum(len(one) for one in found if isinstance(one, bytes | bytearray))


@given(st.lists(st.one_of(FRAMES, st.binary(max_size=12)), max_size=40), st.lists(st.integers(0, 5), max_size=40))
def test_whatever_comes_it_does_not_fail_and_keeps_little(pieces: list[bytes], deeds: list[int]) -> None:
    table = Table()
    table.call()
    for number, piece in enumerate(pieces):
        table.connection.receive(piece)
        call = table.calls[number % len(table.calls)]
        match deeds[number] if number < len(deeds) else 0:
            case 1:
                call.send(b"x" * 30_000)
            case 2:
                call.end(grpc.StatusCode.OK, "")
            case 3:
                call.listen(lambda _: None)
            case 4:
                table.is_clear = not table.is_clear
                if table.is_clear:
                    table.connection.cleared()
            case 5 if call.is_over:
                call.forget()
    connection = reached(table.connection, table)
    assert held(connection) <= MAX_BLOCK_BYTES + 2 * frames.FRAME_BYTES + HEADER_TABLE_BYTES
    assert sum(isinstance(one, Http2Call) for one in connection) <= 2 * MAX_CALLS
    unsent = 30_000 * deeds.count(1)
    for call in table.calls:
        assert held(reached(call, table, table.connection)) <= WINDOW + MAX_MESSAGE_BYTES + unsent + 100
    if table.is_closed:
        assert all(call.is_over for call in table.calls)


@given(st.binary(max_size=300), st.booleans())
def test_headers_of_any_bytes_do_not_make_it_fail(block: bytes, after: bool) -> None:
    table = Table()
    if after:
        table.call()
    table.connection.receive(frame(HEADERS, END_HEADERS, 3, block))
    if table.is_closed:
        assert table.ending()[0] in (frames.COMPRESSION_ERROR, frames.ENHANCE_YOUR_CALM)
