"""A connection of HTTP/2 as doors have it, without a socket, and the peer at its other end."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hpack import Decoder, Encoder

from referee.live.doors import frames
from referee.live.doors.call import Http2Call
from referee.live.doors.frames import (
    CONTINUATION,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PREFACE,
    SETTINGS,
    frame,
)
from referee.live.doors.http2 import Http2Connection
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


def opened_with(table: Table, number: int, *fields: tuple[str, str]) -> bytes:
    """Return the frames that open a call with more headers than usual."""
    block = table.encoder.encode([*FIELDS, *fields])
    parts = [block[at : at + frames.FRAME_BYTES] for at in range(0, len(block), frames.FRAME_BYTES)]
    kinds = [HEADERS] + [CONTINUATION] * (len(parts) - 1)
    flags = [0] * (len(parts) - 1) + [END_HEADERS]
    return b"".join(frame(kind, flag, number, part) for kind, flag, part in zip(kinds, flags, parts, strict=True))


ENCODERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}


def mebibytes(count: int, encoding: str = "gzip") -> bytes:
    """Return a compressed message that is this large in plain."""
    return message(ENCODERS[encoding](bytes(count << 20)), 1)
