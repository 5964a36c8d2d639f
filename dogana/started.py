"""The call to the referee by a bot that it has started: gRPC over a Unix domain socket, without the gRPC library.

Importing that library takes longer than everything else that a small bot does before its first answer, and its threads
take more time for each question than the bot does. A single call on one connection that nobody can cut needs only a
small part of HTTP/2 (RFC 9113) and of gRPC over HTTP/2 (gRPC's PROTOCOL-HTTP2.md). A bot that connects over TCP needs
more: encryption, pings while it thinks, and reconnection (`remote.py`).

All work happens in the calling thread, when a method is called.
"""

from __future__ import annotations

import socket
from collections import deque
from contextlib import suppress

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _WINDOW_UPDATE, _CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
"""The types of frames (RFC 9113, 6)."""
_ACK = _END_STREAM = 0x1
_END_HEADERS, _PADDED, _PRIORITY = 0x4, 0x8, 0x20
_HEADER_TABLE_SIZE, _ENABLE_PUSH, _INITIAL_WINDOW_SIZE, _MAX_FRAME_SIZE = 1, 2, 4, 5
"""The identifiers of settings (RFC 9113, 6.5.2)."""
_WINDOW = 65_535
"""The number of bytes that may be in flight before the peer makes room again, unless the peer sets another value."""
_CHUNK = 65_536
_STREAM = 1
"""The number of the only stream; 0 stands for the connection."""
STATUSES = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
"""The names of gRPC's status codes, by number."""


class CallEnded(Exception):
    """The call has ended.

    Attributes:
        status: the status of the call, one of `STATUSES`.
        details: the peer's or the system's message.
    """

    def __init__(self, status: str, details: str) -> None:
        super().__init__(f"{status}: {details}")
        self.status = status
        self.details = details


class SocketCall:
    """A bidirectional call over a Unix domain socket."""

    def __init__(self, path: str, method: str) -> None:
        """Connect to the socket at `path`, and call `method`, such as `/dogana.v1.Referee/Play`.

        Raises:
            CallEnded: if nobody is listening there.
        """
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(None)  # the bot may have called `socket.setdefaulttimeout`
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise CallEnded("UNAVAILABLE", error.strerror or str(error)) from error
        self._unread = bytearray()
        self._message = bytearray()  # received data that is not yet a complete message
        self._messages: deque[bytes] = deque()
        self._ended: CallEnded | None = None
        self._last_words = "the connection was closed"
        self._trailers = bytearray()
        self._are_trailers_last = False
        self._taken = 0  # received bytes for which the peer has no new room yet
        self._room = {0: _WINDOW, _STREAM: _WINDOW}  # the bytes that may be sent
        self._first_room = _WINDOW
        self._frame_bytes = 16_384
        # There is no header table, so that header blocks stand alone. The opening goes out with the first message.
        self._said = bytearray(
            _PREFACE
            + _frame(_SETTINGS, 0, 0, _setting(_HEADER_TABLE_SIZE, 0) + _setting(_ENABLE_PUSH, 0))
            + _frame(_HEADERS, _END_HEADERS, _STREAM, _headers(method))
        )

    def send(self, message: bytes) -> None:
        """Send a message. If the call has ended, nothing happens; `receive` reports the end."""
        left = bytes(1) + len(message).to_bytes(4, "big") + message
        while left:
            most = min(*self._room.values(), self._frame_bytes)
            if most > 0:
                part, left = left[:most], left[most:]
                for stream in self._room:
                    self._room[stream] -= len(part)
                self._said += _frame(_DATA, 0, _STREAM, part)
            else:
                self._flush()
                if not self._read():
                    break
        self._flush()

    def receive(self) -> bytes:
        """Wait for the next message, and return it.

        Raises:
            CallEnded: if the call has ended.
        """
        while not self._messages:
            if not self._read():
                assert self._ended is not None  # noqa: S101 else it would have waited
                raise self._ended
        return self._messages.popleft()

    def look(self) -> bytes | None:
        """Return the next message if it has arrived, else None.

        Raises:
            CallEnded: if the call has ended and all messages have been returned.
        """
        while not self._messages:
            if not self._read(socket.MSG_DONTWAIT):
                if self._ended is not None:
                    raise self._ended
                return None
        return self._messages.popleft()

    def close(self) -> None:
        """End the call unless it has ended."""
        self._socket.close()

    def _flush(self) -> None:
        if self._said:
            with suppress(OSError):  # the connection is gone; the unread data says why
                self._socket.sendall(self._said)
            self._said.clear()

    def _read(self, flags: int = 0) -> bool:
        """Read data and queue the replies to it; return False if there is no data or the call has ended."""
        if self._ended is not None:
            return False
        try:
            data = self._socket.recv(_CHUNK, flags)
        except BlockingIOError:
            return False
        except OSError as error:
            self._last_words = error.strerror or str(error)
            data = b""
        if not data:
            self._ended = CallEnded("UNAVAILABLE", self._last_words)
            return False
        unread = self._unread
        unread += data
        begin = 0
        while len(unread) - begin >= 9:
            end = begin + 9 + int.from_bytes(unread[begin : begin + 3], "big")
            if len(unread) < end:
                break
            stream = int.from_bytes(unread[begin + 5 : begin + 9], "big") & 0x7FFF_FFFF
            self._take(unread[begin + 3], unread[begin + 4], stream, bytes(unread[begin + 9 : end]))
            begin = end
        del unread[:begin]
        self._flush()
        return True

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == _DATA:
            self._take_data(_unpadded(payload, flags), len(payload))
            if flags & _END_STREAM:
                self._end("INTERNAL", "the stream has ended without a status")
        elif kind in (_HEADERS, _CONTINUATION):
            self._take_headers(kind, flags, payload)
        elif kind == _SETTINGS and not flags & _ACK:
            for at in range(0, len(payload), 6):
                self._set(int.from_bytes(payload[at : at + 2], "big"), int.from_bytes(payload[at + 2 : at + 6], "big"))
            self._said += _frame(_SETTINGS, _ACK, 0, b"")
        elif kind == _PING and not flags & _ACK:
            self._said += _frame(_PING, _ACK, 0, payload)
        elif kind == _WINDOW_UPDATE:
            self._room[stream] += int.from_bytes(payload, "big")
        elif kind == _RST_STREAM:
            self._end("UNAVAILABLE", f"the stream was reset, code {int.from_bytes(payload, 'big')}")
        elif kind == _GOAWAY:
            self._last_words = payload[8:].decode(errors="replace") or self._last_words

    def _take_data(self, data: bytes, size: int) -> None:
        self._taken += size
        if self._taken >= _WINDOW // 2:
            room = self._taken.to_bytes(4, "big")
            self._said += _frame(_WINDOW_UPDATE, 0, 0, room) + _frame(_WINDOW_UPDATE, 0, _STREAM, room)
            self._taken = 0
        message = self._message
        message += data
        while len(message) >= 5:
            end = 5 + int.from_bytes(message[1:5], "big")
            if len(message) < end:
                break
            self._messages.append(bytes(message[5:end]))
            del message[:end]

    def _take_headers(self, kind: int, flags: int, payload: bytes) -> None:
        """Process headers. Only the last headers matter, because they contain the status."""
        if kind == _HEADERS:
            payload = _unpadded(payload, flags)[5 if flags & _PRIORITY else 0 :]
            self._trailers.clear()
            self._are_trailers_last = bool(flags & _END_STREAM)
        self._trailers += payload
        if flags & _END_HEADERS and self._are_trailers_last:
            found = _fields(bytes(self._trailers))
            status = found.get("grpc-status", "")
            number = int(status) if status.isdecimal() else 2
            self._end(
                STATUSES[number] if number < len(STATUSES) else "UNKNOWN",
                _percent_decoded(found.get("grpc-message", "")),
            )

    def _set(self, name: int, value: int) -> None:
        if name == _INITIAL_WINDOW_SIZE:
            self._room[_STREAM] += value - self._first_room
            self._first_room = value
        elif name == _MAX_FRAME_SIZE:
            self._frame_bytes = value

    def _end(self, status: str, details: str) -> None:
        self._ended = self._ended or CallEnded(status, details)


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def _setting(name: int, value: int) -> bytes:
    return name.to_bytes(2, "big") + value.to_bytes(4, "big")


def _unpadded(payload: bytes, flags: int) -> bytes:
    return payload[1 : len(payload) - payload[0]] if flags & _PADDED else payload


def _headers(method: str) -> bytes:
    """Return the headers of a call, each as a literal (RFC 7541, 6.2.2)."""
    fields = (
        (":method", "POST"),
        (":scheme", "http"),
        (":path", method),
        (":authority", "localhost"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
    )
    return b"".join(b"\0" + _short(name) + _short(value) for name, value in fields)


def _short(text: str) -> bytes:
    """Encode a string of fewer than 127 bytes."""
    return bytes((len(text),)) + text.encode()


def _fields(block: bytes) -> dict[str, str]:
    """Return the headers in a block whose names are literals (RFC 7541), such as the status and its message.

    Headers with a Huffman-encoded name or value are left out, because neither the referee nor gRPC's C core writes any.
    """
    found: dict[str, str] = {}
    at = 0

    def number(bits: int) -> int:
        nonlocal at
        most = (1 << bits) - 1
        value = block[at] & most
        at += 1
        if value == most:
            for shift in range(0, 64, 7):
                value += (block[at] & 0x7F) << shift
                at += 1
                if block[at - 1] < 0x80:
                    break
        return value

    def string() -> str:
        nonlocal at
        is_huffman = block[at] & 0x80
        size = number(7)
        at += size
        return "" if is_huffman else block[at - size : at].decode("latin-1")

    while at < len(block):
        first = block[at]
        if first & 0x80:
            number(7)  # both from the static table
        elif first & 0xE0 == 0x20:
            number(5)  # the size of the header table, which is not kept
        else:
            name = "" if number(6 if first & 0x40 else 4) else string()
            found[name] = string()
    return found


def _percent_decoded(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote  # only if needed: its import takes longer than that of this module

    return unquote(text)
