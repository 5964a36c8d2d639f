"""HTTP/2 as doors speak it: what is answered, what ends a call, and what ends the connection."""

from __future__ import annotations

import struct
from urllib.parse import unquote

import grpc
import pytest
from hpack import Encoder
from hypothesis import given
from hypothesis import strategies as st

from referee.live.doors import frames
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
    frame,
)
from referee.live.doors.http2 import MAX_HEADER_BYTES
from tests.referee.http2_peer import (
    FIELDS,
    HELLO,
    MAX_CALLS,
    MAX_MESSAGE_BYTES,
    Frame,
    Table,
    fields_of,
    heard,
    message,
    opened_with,
    setting,
    statuses,
)

# --- what is answered ----------------------------------------------------------------------------------------------


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


# --- what ends a call ----------------------------------------------------------------------------------------------


def test_a_method_that_is_not_there_is_refused_by_name() -> None:
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


# --- deadlines -----------------------------------------------------------------------------------------------------


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


# --- what ends the connection --------------------------------------------------------------------------------------

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
