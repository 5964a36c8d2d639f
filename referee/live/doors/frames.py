"""HTTP/2 frames (RFC 9113) and gRPC headers (gRPC's PROTOCOL-HTTP2.md) as bytes."""

from __future__ import annotations

import re
import struct
from urllib.parse import quote

import grpc

from referee.live.doors.compression import ENCODINGS

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
"""Frame types (RFC 9113, 6)."""
ACK = END_STREAM = 0x1
END_HEADERS, PADDED, HAS_PRIORITY = 0x4, 0x8, 0x20
"""Frame flags."""
ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE = 2, 3, 4, 5, 6
"""Settings (RFC 9113, 6.5.2)."""
NO_ERROR, PROTOCOL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM = 0, 1, 3, 5, 6, 7
COMPRESSION_ERROR, ENHANCE_YOUR_CALM = 9, 11
"""Error codes (RFC 9113, 7)."""
WINDOW = 65_535
"""The default window: the maximum number of bytes in transit before the receiver sends an update."""
FRAME_BYTES = 16_384
"""The default maximum size of a frame."""
MOST = (1 << 31) - 1
"""The largest window, and the highest stream number."""
MAX_DETAILS_CHARACTERS = 1000
"""The maximum length of the text in a final status, which must fit into a frame after escaping."""
HEAD = struct.Struct(">HBBBI")
"""The header of a frame: the frame's size (as two bytes and then one), type, flags and stream."""
WORD = struct.Struct(">I")
SETTING = struct.Struct(">HI")
_TIMEOUT = re.compile(rb"([0-9]{1,8})([HMSmun])")
_UNIT_SECONDS = {b"H": 3600.0, b"M": 60.0, b"S": 1.0, b"m": 1e-3, b"u": 1e-6, b"n": 1e-9}
"""The length of each unit of `grpc-timeout`, in seconds."""
_AS_IS = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")
"""The characters that need no escape in `grpc-message`."""


def frame(kind: int, flags: int, number: int, payload: bytes = b"") -> bytes:
    """Return a frame of a stream, or of the connection if `number` is 0."""
    size = len(payload)
    return HEAD.pack(size >> 8, size & 0xFF, kind, flags, number) + payload


def reset(number: int, code: int) -> bytes:
    """Return the frame that resets a stream."""
    return frame(RST_STREAM, 0, number, WORD.pack(code))


def window_update(number: int, more: int) -> bytes:
    """Return the frame that lets the other side send `more` bytes."""
    return frame(WINDOW_UPDATE, 0, number, WORD.pack(more))


def field(name: bytes, value: bytes) -> bytes:
    """Return a header encoded as a literal (RFC 7541, 6.2.2)."""
    return b"\0" + _string(name) + _string(value)


def _string(text: bytes) -> bytes:
    """Return a string literal without Huffman coding (RFC 7541, 5.2)."""
    size = len(text)
    # A length has seven bits in its first byte, and seven more in each further one (RFC 7541, 5.1).
    if size < 127:
        return bytes((size,)) + text
    head, size = [127], size - 127
    while size >= 128:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes((*head, size)) + text


NO_TABLE = b"\x20"
"""The byte that sets the header table's size to 0, so that each block of headers stands alone.

A peer that has shrunk its table waits for this byte.
"""
BEGIN = (
    NO_TABLE
    + b"\x88"
    + field(b"content-type", b"application/grpc")
    + field(b"grpc-accept-encoding", b",".join(ENCODINGS))
)
"""The headers with which every answer begins: status 200 (RFC 7541, appendix A), and the supported encodings."""


def http_status(number: int, status: int) -> bytes:
    """Return the frame that answers a request with nothing but an HTTP status."""
    return frame(HEADERS, END_HEADERS | END_STREAM, number, NO_TABLE + field(b":status", str(status).encode()))


def trailers(code: grpc.StatusCode, text: str) -> bytes:
    """Return the header block of a call's final status, without the headers that precede it."""
    status = field(b"grpc-status", str(code.value[0]).encode())
    if not text:
        return status
    return status + field(b"grpc-message", quote(text[:MAX_DETAILS_CHARACTERS], safe=_AS_IS, errors="replace").encode())


def timeout_seconds(value: bytes) -> float | None:
    """Return a value of `grpc-timeout` in seconds; None if it is malformed."""
    match = _TIMEOUT.fullmatch(value)
    return None if match is None else int(match[1]) * _UNIT_SECONDS[match[2]]
