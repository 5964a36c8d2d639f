"""HTTP/2 as doors speak it: what is answered, what ends a call, what ends the connection, and what is kept of a peer's bytes."""

from __future__ import annotations

import asyncio
import gc
import gzip
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any, NamedTuple
from urllib.parse import unquote

import grpc
import pytest
from hpack import Decoder, Encoder
from hypothesis import given
from hypothesis import strategies as st

from referee.live.doors import frames
from referee.live.doors.call import COMPRESSED_COST, Http2Call
from referee.live.doors.frames import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    PRIORITY,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW,
    WINDOW_UPDATE,
    frame,
)
from referee.live.doors.http2 import CALL_COST, MAX_BLOCK_BYTES, MAX_HEADER_BYTES, Http2Connection
from referee.live.doors.listener import EARNED

METHOD = "/dogana.v1.Referee/Play"
MAX_MESSAGE_BYTES = 128 * 1024
MAX_CALLS = 8
ALLOWANCE = 1000
HELLO = PREFACE + frame(SETTINGS, 0, 0)
FIELDS = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", METHOD),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
]


class Frame(NamedTuple):
    kind: int
    flags: int
    stream: int
    payload: bytes


class Table:
    """A connection with all that surrounds it: bytes go in and come out, and calls are kept without being served."""

    max_message_bytes = MAX_MESSAGE_BYTES
    max_calls = MAX_CALLS

    def __init__(self, greeting: bytes = HELLO) -> None:
        self.calls: list[Http2Call] = []
        self.cancelled: list[Http2Call] = []
        self.is_clear = True
        self.is_closed = False
        self.allowance = ALLOWANCE
        self.sent = bytearray()
        self.encoder = Encoder()
        self.connection = Http2Connection(self, self)
        self.connection.receive(greeting)

    # the transport

    def write(self, data: bytes) -> None:
        if not self.is_closed:
            self.sent += data

    def close(self) -> None:
        self.is_closed = True
        self.connection.lost()

    # the service

    def begin(self, call: Http2Call) -> None:
        self.calls.append(call)
        call.cancel = lambda: self.cancelled.append(call)

    def serves(self, method: str) -> bool:
        return method == METHOD

    def spend(self, frames: int) -> bool:
        self.allowance -= frames
        return self.allowance >= 0

    def earn(self) -> None:
        self.allowance = min(ALLOWANCE, self.allowance + EARNED)

    # the peer

    def said(self) -> list[Frame]:
        """Return what was sent since the last time."""
        found, at = [], 0
        while at < len(self.sent):
            high, low, kind, flags, stream = frames.HEAD.unpack_from(self.sent, at)
            begin = at + frames.HEAD.size
            at = begin + (high << 8 | low)
            found.append(Frame(kind, flags, stream, bytes(self.sent[begin:at])))
        self.sent.clear()
        return found

    def call(self, number: int = 1, flags: int = 0, **fields: str) -> Http2Call:
        """Open a call."""
        replaced = {name.replace("_", "-").replace("-path", ":path"): value for name, value in fields.items()}
        block = self.encoder.encode(list({**dict(FIELDS), **replaced}.items()))
        self.connection.receive(frame(HEADERS, END_HEADERS | flags, number, block))
        return self.calls[-1]

    def ending(self) -> tuple[int, str]:
        """Return the code and the text with which the connection has ended."""
        assert self.is_closed
        [last] = [one for one in self.said() if one.kind == GOAWAY]
        return int.from_bytes(last.payload[4:8], "big"), last.payload[8:].decode()


def message(data: bytes, flag: int = 0) -> bytes:
    return struct.pack(">BI", flag, len(data)) + data


def setting(name: int, value: int) -> bytes:
    return frame(SETTINGS, 0, 0, frames.SETTING.pack(name, value))


def heard(call: Http2Call) -> list[bytes | None]:
    """Listen to a call; return the list that will have what it says."""
    said: list[bytes | None] = []
    call.listen(said.append)
    return said


def fields_of(block: bytes) -> dict[str, str]:
    """Return headers; no table is kept, so each block can be read by itself."""
    fields: Any = Decoder().decode(block)
    return dict(fields)


def statuses(said: Sequence[Frame]) -> list[dict[str, str]]:
    """Return the headers that end streams."""
    return [fields_of(one.payload) for one in said if one.kind == HEADERS and one.flags & END_STREAM]


# --- what is answered -------------------------------------------------------------------------------------------


def test_it_says_first_what_it_allows_and_confirms_settings() -> None:
    first, confirmed = Table().said()
    assert (first.kind, first.flags) == (SETTINGS, 0)
    assert dict(frames.SETTING.iter_unpack(first.payload)) == {
        frames.MAX_CONCURRENT_STREAMS: MAX_CALLS,
        frames.MAX_HEADER_LIST_SIZE: MAX_HEADER_BYTES,
    }
    assert confirmed == Frame(SETTINGS, ACK, 0, b"")


def test_it_answers_pings() -> None:
    table = Table()
    table.said()
    table.connection.receive(frame(PING, 0, 0, b"12345678"))
    assert table.said() == [Frame(PING, ACK, 0, b"12345678")]
    table.connection.receive(frame(PING, ACK, 0, b"12345678"))
    assert table.said() == []


def test_a_call_has_messages_both_ways_and_an_end() -> None:
    table = Table()
    call = table.call()
    said = heard(call)
    table.connection.receive(frame(DATA, 0, 1, message(b"join")))
    assert said == [b"join"]
    table.said()
    call.send(b"welcome")
    call.send(b"decide")
    call.end(grpc.StatusCode.OK, "")
    begin, first, second, end, rest = table.said()
    assert fields_of(begin.payload) == {
        ":status": "200",
        "content-type": "application/grpc",
        "grpc-accept-encoding": "identity,deflate,gzip",
    }
    assert [first.payload, second.payload] == [message(b"welcome"), message(b"decide")]
    assert fields_of(end.payload) == {"grpc-status": "0"}
    assert (end.kind, end.flags) == (HEADERS, END_HEADERS | END_STREAM)
    assert (rest.kind, rest.payload) == (RST_STREAM, bytes(4))  # the peer had not said its last


@pytest.mark.parametrize("details", ["", "the seat is out", "100 % sure\n", "Schluß", "\ud800", "\x00é" * 400])
def test_a_call_that_is_ended_at_once_has_one_block_of_headers_with_the_reason(details: str) -> None:
    table = Table()
    call = table.call(flags=END_STREAM)
    table.said()
    call.end(grpc.StatusCode.ABORTED, details)
    [end] = table.said()
    assert len(end.payload) < frames.FRAME_BYTES
    fields = fields_of(end.payload)
    assert (fields[":status"], fields["grpc-status"]) == ("200", "10")
    assert unquote(fields.get("grpc-message", "")) == details.replace("\ud800", "?")


def test_what_is_said_at_the_end_is_shortened_so_that_it_fits_into_a_frame() -> None:
    table = Table()
    table.call().end(grpc.StatusCode.ABORTED, "\U0001f3b2" * 5000)
    end = table.said()[-2]
    assert (end.kind, len(end.payload) < frames.FRAME_BYTES) == (HEADERS, True)
    assert unquote(fields_of(end.payload)["grpc-message"]) == "\U0001f3b2" * frames.MAX_DETAILS_CHARACTERS


def test_headers_may_be_packed_in_every_way() -> None:
    """By Huffman's code and with a table that grows; in parts, padded, with a priority."""
    table = Table()
    packed = Encoder()
    for number in (1, 3):
        block = packed.encode([*FIELDS, ("user-agent", "grpc-go/1.80.0")], huffman=True)
        padded = b"\x02" + b"\x80\0\0\0\x10" + block[:10] + bytes(2)
        flags = frames.PADDED | frames.HAS_PRIORITY
        table.connection.receive(frame(HEADERS, flags, number, padded))
        table.connection.receive(frame(CONTINUATION, 0, number, block[10:12]))
        assert len(table.calls) == number // 2
        table.connection.receive(frame(CONTINUATION, END_HEADERS, number, block[12:]))
    assert [call.number for call in table.calls] == [1, 3]


def opened_with(table: Table, number: int, *fields: tuple[str, str]) -> bytes:
    """Return the frames that open a call with more headers than usual."""
    block = table.encoder.encode([*FIELDS, *fields])
    parts = [block[at : at + frames.FRAME_BYTES] for at in range(0, len(block), frames.FRAME_BYTES)]
    kinds = [HEADERS] + [CONTINUATION] * (len(parts) - 1)
    flags = [0] * (len(parts) - 1) + [END_HEADERS]
    return b"".join(frame(kind, flag, number, part) for kind, flag, part in zip(kinds, flags, parts, strict=True))


def test_metadata_of_16_kilobytes_is_read() -> None:
    table = Table()
    table.allowance = 2000  # large headers cost much of it
    usual = sum(len(name) + len(value) + 32 for name, value in FIELDS)
    notes = "~" * (MAX_HEADER_BYTES - usual - len("x-notes") - 32)
    table.connection.receive(opened_with(table, 1, ("x-notes", notes)))
    assert len(table.calls) == 1
    table.said()
    table.connection.receive(opened_with(table, 3, ("x-notes", notes + "~")))
    [status] = statuses(table.said())
    assert status["grpc-status"] == "8"
    assert unquote(status["grpc-message"]) == "headers of 16385 bytes; at most 16384 are read"
    assert (len(table.calls), table.is_closed) == (1, False)


def test_headers_after_those_that_were_too_large_are_read() -> None:
    """The table of headers that the peer refers to was kept up to date."""
    table = Table()
    table.allowance = 2000
    table.connection.receive(opened_with(table, 1, ("x-late", "entry"), ("x-notes", "a" * 20_000)))
    table.connection.receive(opened_with(table, 3, ("x-late", "entry")))
    assert [call.number for call in table.calls] == [3]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param([*FIELDS, ("Upper", "x")], id="a name in capitals"),
        pytest.param([*FIELDS, (":authority", "x")], id="a pseudo-header after others"),
        pytest.param([(":status", "200"), *FIELDS], id="a pseudo-header of answers"),
        pytest.param([(":method", "POST"), *FIELDS], id="one twice"),
        pytest.param(FIELDS[:1] + FIELDS[2:], id="no scheme"),
        pytest.param(FIELDS[:2] + FIELDS[3:], id="no path"),
        pytest.param([*FIELDS[:2], (":path", ""), *FIELDS[3:]], id="an empty path"),
        pytest.param([*FIELDS, ("connection", "keep-alive")], id="a header of connections"),
        pytest.param([*FIELDS[:3], ("te", "gzip"), *FIELDS[4:]], id="other trailers"),
    ],
)
def test_a_request_that_is_none_of_http2_is_reset(fields: list[tuple[str, str]]) -> None:
    table = Table()
    table.said()
    table.connection.receive(frame(HEADERS, END_HEADERS, 1, Encoder().encode(fields)))
    assert [(one.kind, one.stream, one.payload[-1]) for one in table.said()] == [(RST_STREAM, 1, frames.PROTOCOL_ERROR)]
    assert table.calls == []
    assert not table.is_closed


def test_data_may_be_padded_and_hold_parts_of_messages() -> None:
    table = Table()
    said = heard(table.call())
    data = message(b"one") + message(b"") + message(b"x" * 2000)
    padded = b"\x05" + data[:11] + bytes(5)
    table.connection.receive(frame(DATA, frames.PADDED, 1, padded))
    table.connection.receive(frame(DATA, 0, 1, data[11:20]) + frame(DATA, END_STREAM, 1, data[20:]))
    assert said == [b"one", b"", b"x" * 2000, None]


@given(st.lists(st.integers(1, 40), max_size=60))
def test_it_makes_no_difference_in_which_pieces_bytes_arrive(cuts: list[int]) -> None:
    table = Table(b"")
    block = Encoder().encode(FIELDS)
    data = HELLO + frame(HEADERS, END_HEADERS, 1, block) + frame(DATA, END_STREAM, 1, message(b"a" * 90))
    at = 0
    for cut in [*cuts, len(data)]:
        table.connection.receive(data[at : at + cut])
        at += cut
    assert heard(table.calls[0]) == [b"a" * 90, None]


# --- room ---------------------------------------------------------------------------------------------------------


def test_a_message_goes_out_as_far_as_there_is_room_for_it() -> None:
    table = Table(PREFACE + setting(frames.INITIAL_WINDOW_SIZE, 10))
    call = table.call()
    freed: list[bool] = []
    call.when_free = lambda: freed.append(call.is_free)
    table.said()
    call.send(b"x" * 20)
    call.end(grpc.StatusCode.OK, "")
    assert [len(one.payload) for one in table.said() if one.kind == DATA] == [10]
    assert not call.is_free
    table.connection.receive(frames.window_update(1, 5))
    assert [len(one.payload) for one in table.said()] == [5]
    table.connection.receive(setting(frames.INITIAL_WINDOW_SIZE, 3))  # 7 less than nothing
    table.connection.receive(frames.window_update(1, 7))
    assert [one.kind for one in table.said()] == [SETTINGS]
    table.connection.receive(setting(frames.INITIAL_WINDOW_SIZE, 100))
    assert [one.kind for one in table.said()] == [SETTINGS, DATA, HEADERS, RST_STREAM]
    assert freed == [True]


def test_all_calls_of_a_connection_share_its_room() -> None:
    table = Table(PREFACE + setting(frames.INITIAL_WINDOW_SIZE, 1 << 20))
    one, two = table.call(1), table.call(3)
    table.said()
    one.send(b"x" * (WINDOW - 5))
    two.send(b"y")
    assert sum(len(said.payload) for said in table.said() if said.kind == DATA) == WINDOW
    assert (one.is_free, two.is_free) == (True, False)
    table.connection.receive(frames.window_update(0, 6))
    assert two.is_free


def test_a_message_waits_while_the_peer_does_not_read() -> None:
    table = Table()
    call = table.call()
    table.said()
    table.is_clear = False
    call.send(b"decide")
    assert not call.is_free
    assert table.said() == []
    table.is_clear = True
    table.connection.cleared()
    assert call.is_free


@pytest.mark.parametrize("ending", ["reset", "lost", "ended", "read"])
async def test_who_waits_for_a_slow_reader_wakes_when_it_reads_or_is_gone(ending: str) -> None:
    table = Table()
    call = table.call()
    waiting = asyncio.create_task(call.write(b"x" * (WINDOW + 1)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not waiting.done()
    if ending == "reset":
        table.connection.receive(frames.reset(1, 8))
    elif ending == "lost":
        table.close()
    elif ending == "ended":
        table.connection.end(frames.NO_ERROR, "")
    else:
        table.connection.receive(frames.window_update(0, 100) + frames.window_update(1, 100))
    for _ in range(3):
        await asyncio.sleep(0)
    assert waiting.done()


def test_what_is_not_read_takes_no_more_than_a_window() -> None:
    table = Table()
    call = table.call()
    table.said()
    for _ in range(3):
        table.connection.receive(frame(DATA, 0, 1, message(b"x" * 16_000)))
    assert [one for one in table.said() if one.kind == WINDOW_UPDATE and one.stream == 1] == []
    said = heard(call)
    assert len(said) == 3
    assert [one for one in table.said() if one.kind == WINDOW_UPDATE and one.stream == 1]
    unread = Table()
    unread.call()
    for _ in range(5):
        unread.connection.receive(frame(DATA, 0, 1, message(b"x" * 16_000)))
    assert unread.ending()[0] == frames.FLOW_CONTROL_ERROR


def test_the_largest_message_has_room() -> None:
    table = Table()
    said = heard(table.call())
    data = message(b"x" * MAX_MESSAGE_BYTES)
    for at in range(0, len(data), 16_000):
        table.connection.receive(frame(DATA, 0, 1, data[at : at + 16_000]))
    assert said == [b"x" * MAX_MESSAGE_BYTES]


# --- what ends a call ---------------------------------------------------------------------------------------------


def test_a_method_that_is_not_there_is_told_so() -> None:
    table = Table()
    table.call()
    table.said()
    table.call(3, _path="/dogana.v1.Referee/\x1b[2JWatch")
    [status] = statuses(table.said())
    assert status["grpc-status"] == "12"
    assert unquote(status["grpc-message"]) == r"there is no method '/dogana.v1.Referee/\x1b[2JWatch' here"
    assert len(table.calls) == 1


@pytest.mark.parametrize(
    ("data", "status"),
    [(message(b"x", 1), "13"), (struct.pack(">BI", 0, MAX_MESSAGE_BYTES + 1), "8"), (b"\0\xff\xff\xff\xff", "8")],
    ids=["compressed", "too large", "far too large"],
)
def test_a_message_that_is_not_read_ends_the_call(data: bytes, status: str) -> None:
    table = Table()
    call = table.call()
    said = heard(call)
    table.connection.receive(frame(DATA, 0, 1, message(b"join") + data + bytes(10)))
    assert [one["grpc-status"] for one in statuses(table.said())] == [status]
    assert (said, table.cancelled) == ([b"join"], [call])
    assert not table.is_closed


def test_more_calls_than_are_allowed_are_refused_until_one_has_ended() -> None:
    table = Table()
    for number in range(MAX_CALLS):
        table.call(2 * number + 1)
    table.said()
    table.call(17)
    assert table.said() == [Frame(RST_STREAM, 0, 17, frames.WORD.pack(frames.REFUSED_STREAM))]
    table.calls[0].end(grpc.StatusCode.OK, "")
    assert table.call(19).number == 19


def test_calls_that_are_reset_at_once_are_refused_until_those_before_are_not_served_any_more() -> None:
    table = Table()
    for number in range(1, 4 * MAX_CALLS, 2):
        table.call(number)
        table.connection.receive(frames.reset(number, 8))
    assert len(table.calls) == len(table.cancelled) == 2 * MAX_CALLS
    table.call(101)
    assert table.said()[-1] == Frame(RST_STREAM, 0, 101, frames.WORD.pack(frames.REFUSED_STREAM))
    table.calls[0].forget()
    assert table.call(103).number == 103


STREAM_ERRORS: dict[str, tuple[bytes, int]] = {
    "data after the end": (frame(DATA, END_STREAM, 1, b"") + frame(DATA, 0, 1, b"x"), frames.STREAM_CLOSED),
    "trailers that are not the last": (frame(HEADERS, END_HEADERS, 1, b"\x83"), frames.PROTOCOL_ERROR),
    "no more room": (frames.window_update(1, 0), frames.PROTOCOL_ERROR),
    "too much room": (frames.window_update(1, frames.MOST), frames.FLOW_CONTROL_ERROR),
}


@pytest.mark.parametrize("what", STREAM_ERRORS)
def test_it_resets_a_stream_that_does_not_keep_to_http2(what: str) -> None:
    data, code = STREAM_ERRORS[what]
    table = Table()
    call = table.call()
    table.said()
    table.connection.receive(data)
    assert [one for one in table.said() if one.kind == RST_STREAM] == [Frame(RST_STREAM, 0, 1, frames.WORD.pack(code))]
    assert (table.cancelled, table.is_closed) == ([call], False)
    table.connection.receive(frame(DATA, 0, 1, message(b"late")))  # it was on its way
    assert not table.is_closed


@pytest.mark.parametrize(
    ("method", "kind", "status"), [("HEAD", "application/grpc", "405"), ("POST", "application/json", "415")]
)
@pytest.mark.parametrize("flags", [0, END_STREAM])
def test_a_request_that_is_no_call_has_a_status_of_http(method: str, kind: str, status: str, flags: int) -> None:
    table = Table()
    table.said()
    fields = [(":method", method), *FIELDS[1:4], ("content-type", kind)]
    table.connection.receive(frame(HEADERS, END_HEADERS | flags, 1, Encoder().encode(fields)))
    answer, *rest = table.said()
    assert (answer.kind, answer.flags, fields_of(answer.payload)) == (
        HEADERS,
        END_HEADERS | END_STREAM,
        {":status": status},
    )
    assert rest == ([] if flags else [Frame(RST_STREAM, 0, 1, bytes(4))])
    assert (table.calls, table.is_closed) == ([], False)


def test_what_is_said_before_a_refusal_is_not_sent_when_there_is_room_for_it_later() -> None:
    table = Table(PREFACE + setting(frames.INITIAL_WINDOW_SIZE, 10))
    call = table.call()
    table.said()
    call.send(b"x" * 20)
    table.connection.receive(frame(DATA, 0, 1, struct.pack(">BI", 0, MAX_MESSAGE_BYTES + 1)))
    table.connection.receive(frames.window_update(1, 1000))
    assert [len(one.payload) for one in table.said() if one.kind == DATA] == [10]


# --- compressed messages --------------------------------------------------------------------------------------------

ENCODERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}


def mebibytes(count: int, encoding: str = "gzip") -> bytes:
    """Return a compressed message that is this large in plain."""
    return message(ENCODERS[encoding](bytes(count << 20)), 1)


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
        ("gzip", b"x", "13", "a message that is no gzip"),
        ("gzip", zlib.compress(b"join"), "13", "a message that is no gzip"),
        ("gzip", gzip.compress(b"join")[:-1], "13", "a message that is no gzip"),
        ("gzip", gzip.compress(b"join") + b"x", "13", "a message that is no gzip"),
        ("deflate", b"", "13", "a message that is no deflate"),
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


# --- deadlines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (b"2H", 7200.0),
        (b"3M", 180.0),
        (b"0S", 0.0),
        (b"1500m", 1.5),
        (b"20u", 20e-6),
        (b"99999999n", 0.099999999),
        *((wrong, None) for wrong in (b"", b"S", b"5", b"5s", b"-5S", b"5 S", b"1.5S", b"123456789S", "٣S".encode())),
    ],
)
def test_a_timeout_is_a_number_of_at_most_8_digits_and_a_unit(value: bytes, seconds: float | None) -> None:
    assert frames.timeout_seconds(value) == (None if seconds is None else pytest.approx(seconds))


def test_a_timeout_that_is_malformed_is_refused() -> None:
    table = Table()
    assert table.call().timeout_seconds is None
    table.connection.receive(opened_with(table, 3, ("grpc-timeout", "1500m")))
    assert table.calls[-1].timeout_seconds == 1.5
    table.said()
    table.connection.receive(opened_with(table, 5, ("grpc-timeout", "soon\n")))
    [status] = statuses(table.said())
    assert status["grpc-status"] == "13"
    assert unquote(status["grpc-message"]) == r"grpc-timeout 'soon\n' is malformed: 5S means five seconds"
    assert len(table.calls) == 2


def test_a_call_that_has_expired_is_cancelled_though_its_peer_does_not_read() -> None:
    table = Table(PREFACE + setting(frames.INITIAL_WINDOW_SIZE, 10))
    table.connection.receive(opened_with(table, 1, ("grpc-timeout", "2S")))
    [call] = table.calls
    call.send(b"x" * 20)
    call.end(grpc.StatusCode.OK, "")
    table.said()
    call.expire()
    [ending] = statuses(table.said())
    assert (ending["grpc-status"], ending["grpc-message"]) == ("4", "more than the 2 s of grpc-timeout")
    assert (table.cancelled, call.is_over) == ([call], True)
    call.expire()
    assert (table.said(), table.cancelled) == ([], [call])


# --- what ends the connection -------------------------------------------------------------------------------------

BROKEN: dict[str, tuple[bytes, int]] = {
    "another protocol": (b"GET / HTTP/1.1\r\n\r\n", frames.PROTOCOL_ERROR),
    "no settings first": (PREFACE + frame(PING, 0, 0, bytes(8)), frames.PROTOCOL_ERROR),
    "settings confirmed first": (PREFACE + frame(SETTINGS, ACK, 0), frames.PROTOCOL_ERROR),
    "settings in part": (PREFACE + frame(SETTINGS, 0, 0, bytes(5)), frames.FRAME_SIZE_ERROR),
    "settings confirmed with settings": (HELLO + frame(SETTINGS, ACK, 0, bytes(6)), frames.FRAME_SIZE_ERROR),
    "settings of a stream": (PREFACE + frame(SETTINGS, 0, 1), frames.PROTOCOL_ERROR),
    "a window that is too large": (HELLO + setting(frames.INITIAL_WINDOW_SIZE, 1 << 31), frames.FLOW_CONTROL_ERROR),
    "frames that are too small": (HELLO + setting(frames.MAX_FRAME_SIZE, 16_383), frames.PROTOCOL_ERROR),
    "frames that are too large": (HELLO + setting(frames.MAX_FRAME_SIZE, 1 << 24), frames.PROTOCOL_ERROR),
    "push that is neither": (HELLO + setting(frames.ENABLE_PUSH, 2), frames.PROTOCOL_ERROR),
    "a giant frame": (HELLO + b"\xff\xff\xff\0\0\0\0\0\1", frames.FRAME_SIZE_ERROR),
    "a ping of 7 bytes": (HELLO + frame(PING, 0, 0, bytes(7)), frames.FRAME_SIZE_ERROR),
    "a ping of a stream": (HELLO + frame(PING, 0, 1, bytes(8)), frames.PROTOCOL_ERROR),
    "a push": (HELLO + frame(PUSH_PROMISE, 0, 1, bytes(8)), frames.PROTOCOL_ERROR),
    "data of no call": (HELLO + frame(DATA, 0, 1, b"x"), frames.PROTOCOL_ERROR),
    "data of the connection": (HELLO + frame(DATA, 0, 0, b"x"), frames.PROTOCOL_ERROR),
    "a reset of no call": (HELLO + frames.reset(1, 0), frames.PROTOCOL_ERROR),
    "a reset in part": (HELLO + frame(RST_STREAM, 0, 1, b"x"), frames.FRAME_SIZE_ERROR),
    "room for no call": (HELLO + frames.window_update(1, 1), frames.PROTOCOL_ERROR),
    "no room": (HELLO + frames.window_update(0, 0), frames.FLOW_CONTROL_ERROR),
    "too much room": (HELLO + frames.window_update(0, frames.MOST), frames.FLOW_CONTROL_ERROR),
    "headers of an even stream": (HELLO + frame(HEADERS, END_HEADERS, 2, b"\x83"), frames.PROTOCOL_ERROR),
    "headers of the connection": (HELLO + frame(HEADERS, END_HEADERS, 0, b"\x83"), frames.PROTOCOL_ERROR),
    "headers of all padding": (HELLO + frame(HEADERS, END_HEADERS | frames.PADDED, 1, b"\x01"), frames.PROTOCOL_ERROR),
    "headers without priority": (HELLO + frame(HEADERS, frames.HAS_PRIORITY, 1, b"1234"), frames.FRAME_SIZE_ERROR),
    "headers of no entry": (HELLO + frame(HEADERS, END_HEADERS, 1, b"\xff\xff\x7f"), frames.COMPRESSION_ERROR),
    "headers in part": (HELLO + frame(HEADERS, END_HEADERS, 1, b"\x40\x0a"), frames.COMPRESSION_ERROR),
    "a bomb of headers": (
        HELLO + frame(HEADERS, END_HEADERS, 1, b"\x40\x01x\x7f\x81\x1e" + b"y" * 4000 + b"\xbe" * 4000),
        frames.ENHANCE_YOUR_CALM,
    ),
    "headers without end": (
        HELLO + frame(HEADERS, 0, 1, b"\x83" * 16_000) + frame(CONTINUATION, 0, 1, b"\x83" * 16_000) * 2,
        frames.ENHANCE_YOUR_CALM,
    ),
    "a table that changes its size again and again": (
        HELLO + frame(HEADERS, END_HEADERS, 1, b"\x20\x20\x3f\xe1\x1f"),
        frames.COMPRESSION_ERROR,
    ),
    "a priority of no stream": (HELLO + frame(PRIORITY, 0, 0, bytes(5)), frames.PROTOCOL_ERROR),
    "a priority without its weight": (HELLO + frame(PRIORITY, 0, 1, bytes(4)), frames.FRAME_SIZE_ERROR),
    "the end of a stream instead of the connection": (HELLO + frame(GOAWAY, 0, 1, bytes(8)), frames.PROTOCOL_ERROR),
    "something between headers": (
        HELLO + frame(HEADERS, 0, 1, b"\x83") + frame(PING, 0, 0, bytes(8)),
        frames.PROTOCOL_ERROR,
    ),
    "headers that go on elsewhere": (
        HELLO + frame(HEADERS, 0, 1, b"\x83") + frame(CONTINUATION, END_HEADERS, 3, b""),
        frames.PROTOCOL_ERROR,
    ),
    "headers that go on without beginning": (HELLO + frame(CONTINUATION, END_HEADERS, 1, b""), frames.PROTOCOL_ERROR),
}


@pytest.mark.parametrize("what", BROKEN)
def test_it_ends_a_connection_that_does_not_keep_to_http2(what: str) -> None:
    data, code = BROKEN[what]
    table = Table(b"")
    table.connection.receive(data)
    assert table.ending()[0] == code
    table.connection.receive(HELLO)
    assert (table.said(), table.calls) == ([], [])


def test_calls_end_with_their_connection() -> None:
    table = Table()
    one, two = table.call(1), table.call(3)
    table.connection.receive(frame(PING, 0, 1, bytes(8)))
    assert table.cancelled == [one, two]


# --- frames of no use ---------------------------------------------------------------------------------------------

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


# --- whatever comes -----------------------------------------------------------------------------------------------

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
