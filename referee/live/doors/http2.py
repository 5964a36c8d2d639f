"""The server's end of an HTTP/2 connection (RFC 9113), without sockets.

Incoming bytes are handled at once, where they are read: no task or thread stands between the bytes of an answer and its
judge. Every byte comes from a stranger. A peer that breaks the rules of HTTP/2 loses its connection, as does one that
keeps to the rules but sends too much useless data. Whatever a peer does, the memory used for it is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import grpc
from hpack import Decoder, HPACKError, OversizedHeaderListError

from referee.live.doors import frames
from referee.live.doors.call import Broken, Http2Call
from referee.live.doors.compression import ENCODINGS
from referee.live.doors.frames import (
    ACK,
    COMPRESSION_ERROR,
    CONTINUATION,
    DATA,
    ENABLE_PUSH,
    END_HEADERS,
    END_STREAM,
    ENHANCE_YOUR_CALM,
    FLOW_CONTROL_ERROR,
    FRAME_BYTES,
    FRAME_SIZE_ERROR,
    GOAWAY,
    HAS_PRIORITY,
    HEAD,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS,
    MAX_FRAME_SIZE,
    MAX_HEADER_LIST_SIZE,
    MOST,
    PADDED,
    PING,
    PREFACE,
    PRIORITY,
    PROTOCOL_ERROR,
    PUSH_PROMISE,
    REFUSED_STREAM,
    RST_STREAM,
    SETTING,
    SETTINGS,
    WINDOW,
    WINDOW_UPDATE,
    WORD,
    frame,
)
from referee.terminal import visible

MAX_HEADER_BYTES = 16_384
"""The maximum size of a call's headers, as RFC 9113 measures it: with 32 extra bytes for each header."""
MAX_BLOCK_BYTES = 32_768
"""The maximum size of headers, packed or unpacked. Larger ones end the connection, because later headers need them."""
MAX_TABLE_SIZE_UPDATES = 2
"""The maximum number of changes to the header table's size at the start of a block (RFC 7541, 4.2).

A change takes only one byte, but handling it is slow.
"""
CALL_COST, HEADERS_COST_BYTES = 5, 32
"""The cost of a call in useless frames, and the number of header bytes that cost as much as one frame."""

_TABLE_SIZE_UPDATES = bytes(range(0x20, 0x40))
_NEEDED = {b":method", b":scheme", b":path"}
_PSEUDO = _NEEDED | {b":authority"}
_OF_CONNECTIONS = {b"connection", b"proxy-connection", b"keep-alive", b"transfer-encoding", b"upgrade"}
"""Headers of HTTP/1.1 that HTTP/2 forbids (RFC 9113, 8.2.2)."""


class Transport(Protocol):
    """Carries the bytes of a connection.

    Attributes:
        is_clear: True while no data waits to be sent. When it becomes True again, `Http2Connection.cleared` is called.
    """

    is_clear: bool

    def write(self, data: bytes) -> None:
        """Send bytes; those that cannot be sent now wait."""
        ...

    def close(self) -> None:
        """End the connection, and call `Http2Connection.lost`."""
        ...


class Service(Protocol):
    """Handles the calls that peers make on connections, and bounds the total cost of all peers."""

    max_message_bytes: int
    max_calls: int
    """The maximum number of open calls on a connection."""

    def begin(self, call: Http2Call) -> None:
        """Start the handler of a call. The handler ends with `Http2Call.end`, then `Http2Call.forget`."""
        ...

    def serves(self, method: str) -> bool:
        """Return True if there is a method with this path, such as `/dogana.v1.Referee/Play`."""
        ...

    def spend(self, frames: int) -> bool:
        """Charge for useless frames; return False once the allowance is spent."""
        ...

    def earn(self) -> None:
        """Extend the allowance, because a message to a peer is answered with window updates and pings."""
        ...


class Http2Connection:
    """A peer's connection; `receive` takes the bytes that arrive.

    Attributes:
        service: the service that handles its calls.
        transport: the transport that carries its bytes.
        window: the number of message bytes that may be sent on all calls together.
        frame_bytes: the maximum size of a frame to the peer.
    """

    def __init__(self, service: Service, transport: Transport) -> None:
        self.service = service
        self.transport = transport
        self.window = WINDOW
        self.frame_bytes = FRAME_BYTES
        self._calls: dict[int, Http2Call] = {}
        self._newest = 0
        self._decoder = Decoder(max_header_list_size=MAX_BLOCK_BYTES)
        self._unread = b""
        self._is_greeted = False
        self._wanted: int | None = SETTINGS  # the only type of frame that may come next, if there is just one
        self._block = bytearray()  # headers that are to be continued
        self._block_frame = (0, 0)  # the flags and the stream with which it began
        self._room = WINDOW  # the number of bytes that the peer may send
        self._first_window = WINDOW  # the initial window of a call
        self._is_over = False
        settings = SETTING.pack(MAX_CONCURRENT_STREAMS, service.max_calls) + SETTING.pack(
            MAX_HEADER_LIST_SIZE, MAX_HEADER_BYTES
        )
        transport.write(frame(SETTINGS, 0, 0, settings))

    @property
    def has_calls(self) -> bool:
        """True while a call is being served."""
        return bool(self._calls)

    def receive(self, data: bytes) -> None:
        """Handle bytes from the peer; no bytes can make this fail."""
        if self._is_over:
            return
        try:
            self._read(self._unread + data if self._unread else data)
        except Broken as error:
            self.end(error.code, str(error))

    def spend(self, frames: int = 1) -> None:
        """Charge for useless frames.

        Raises:
            Broken: if the allowance is spent.
        """
        if not self.service.spend(frames):
            raise Broken(ENHANCE_YOUR_CALM, "too many frames of no use")

    def cleared(self) -> None:
        """Continue sending, now that the transport has sent everything."""
        for call in list(self._calls.values()):
            call.resume()

    def forget(self, call: Http2Call) -> None:
        """Release the place of a call whose handler has returned."""
        self._calls.pop(call.number, None)

    def end(self, code: int, text: str) -> None:
        """Send the peer the reason, and end the connection."""
        if not self._is_over:
            self.transport.write(frame(GOAWAY, 0, 0, WORD.pack(self._newest) + WORD.pack(code) + text.encode()))
            self.transport.close()

    def lost(self) -> None:
        """End all calls, because the connection is gone."""
        self._is_over = True
        self._unread = b""
        for call in list(self._calls.values()):
            call.lose()

    def _read(self, data: bytes) -> None:
        at = 0
        if not self._is_greeted:
            if not data.startswith(PREFACE[: len(data)]):
                raise Broken(PROTOCOL_ERROR, "this is not HTTP/2")
            if len(data) >= len(PREFACE):
                self._is_greeted, at = True, len(PREFACE)
        while self._is_greeted and len(data) - at >= HEAD.size and not self._is_over:
            high, low, kind, flags, number = HEAD.unpack_from(data, at)
            size = high << 8 | low
            # No larger frame size was announced, so no larger frame may come (RFC 9113, 4.2).
            if size > FRAME_BYTES:
                raise Broken(FRAME_SIZE_ERROR, f"a frame of {size} bytes")
            begin = at + HEAD.size
            if len(data) - begin < size:
                break
            at = begin + size
            # The highest bit of the stream's number is reserved, and ignored.
            self._take(kind, flags, number & MOST, data[begin:at])
        if at == 0:
            self.spend()  # a part of a frame
        self._unread = b"" if self._is_over else data[at:]

    def _take(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if self._wanted is not None and kind != self._wanted:
            raise Broken(PROTOCOL_ERROR, f"frame {kind} where frame {self._wanted} must come")
        if kind == DATA:
            self._take_data(flags, number, payload)
        elif kind == HEADERS:
            self._take_headers(flags, number, payload)
        elif kind == CONTINUATION:
            self._take_continuation(flags, number, payload)
        elif kind == WINDOW_UPDATE:
            self._take_window_update(number, payload)
        elif kind == RST_STREAM:
            self._take_reset(number, payload)
        elif kind == SETTINGS:
            self._take_settings(flags, number, payload)
        elif kind == PING:
            self._take_ping(flags, number, payload)
        elif kind == PUSH_PROMISE:
            raise Broken(PROTOCOL_ERROR, "a client must not push")
        else:
            if (kind == PRIORITY and number == 0) or (kind == GOAWAY and number != 0):
                raise Broken(PROTOCOL_ERROR, f"frame {kind} of stream {number}")
            if kind == PRIORITY and len(payload) != 5:
                raise Broken(FRAME_SIZE_ERROR, f"a priority of {len(payload)} bytes")
            self.spend()

    def _take_data(self, flags: int, number: int, payload: bytes) -> None:
        # The padding, too, counts against the window (RFC 9113, 6.1).
        self._room -= len(payload)
        if self._room < 0:
            raise Broken(FLOW_CONTROL_ERROR, "more was sent than there is room for")
        if self._room < WINDOW // 2:  # what calls have not read is bounded by their own windows
            self.transport.write(frames.window_update(0, WINDOW - self._room))
            self._room = WINDOW
        data = _unpadded(payload, flags)
        call = self._open(number)
        if call is None:
            self.spend()  # it was in transit when the call ended
        else:
            call.take(flags, data, len(payload))

    def _take_headers(self, flags: int, number: int, payload: bytes) -> None:
        payload = _unpadded(payload, flags)
        if flags & HAS_PRIORITY:
            if len(payload) < 5:
                raise Broken(FRAME_SIZE_ERROR, "headers without their priority")
            payload = payload[5:]
        if number % 2 == 0:
            raise Broken(PROTOCOL_ERROR, f"headers of stream {number}")
        self._block = bytearray(payload)
        self._block_frame = flags, number
        self._go_on_with_headers(flags)

    def _take_continuation(self, flags: int, number: int, payload: bytes) -> None:
        if self._wanted != CONTINUATION or number != self._block_frame[1]:
            raise Broken(PROTOCOL_ERROR, "a continuation of headers that have not begun")
        self.spend()
        self._block += payload
        self._go_on_with_headers(flags)

    def _go_on_with_headers(self, flags: int) -> None:
        if len(self._block) > MAX_BLOCK_BYTES:
            raise Broken(ENHANCE_YOUR_CALM, f"headers of more than {MAX_BLOCK_BYTES} bytes")
        if not flags & END_HEADERS:
            self._wanted = CONTINUATION
            return
        self._wanted = None
        # The cost is charged before the work. Even unwanted headers are unpacked, because later ones need the table.
        self.spend(1 + len(self._block) // HEADERS_COST_BYTES)
        fields = self._unpacked(bytes(self._block))
        flags, number = self._block_frame
        if number > self._newest:
            self._newest = number
            self._begin_call(flags, number, fields)
        elif (call := self._open(number)) is not None:  # trailers
            if flags & END_STREAM:
                call.half_close()
            else:
                call.reset(PROTOCOL_ERROR)

    def _unpacked(self, block: bytes) -> list[tuple[bytes, bytes]]:
        if len(block) - len(block.lstrip(_TABLE_SIZE_UPDATES)) > MAX_TABLE_SIZE_UPDATES:
            raise Broken(COMPRESSION_ERROR, "headers that change the size of their table again and again")
        try:
            return list(self._decoder.decode(block, raw=True))
        except OversizedHeaderListError as error:
            raise Broken(ENHANCE_YOUR_CALM, f"headers of more than {MAX_BLOCK_BYTES} bytes") from error
        except HPACKError as error:
            raise Broken(COMPRESSION_ERROR, "headers that cannot be read") from error

    def _begin_call(self, flags: int, number: int, headers: Sequence[tuple[bytes, bytes]]) -> None:
        most, is_open = self.service.max_calls, [not call.is_over for call in self._calls.values()]
        if sum(is_open) >= most or len(is_open) >= 2 * most:  # calls that have ended may still be served for a moment
            self.transport.write(frames.reset(number, REFUSED_STREAM))
            return
        fields = dict(headers)
        timeout = frames.timeout_seconds(fields.get(b"grpc-timeout", b""))
        call = Http2Call(self, number, self._first_window, fields.get(b"grpc-encoding", b"identity"), timeout)
        if flags & END_STREAM:
            call.half_close()
        if _is_malformed(headers):
            call.reset(PROTOCOL_ERROR)
        elif (status := _http_refusal(fields)) is not None:
            call.refuse(status)
        elif (refusal := self._refusal(headers, fields)) is not None:
            call.end(*refusal)
        else:
            self.spend(CALL_COST)
            self._calls[number] = call
            self.service.begin(call)

    def _refusal(
        self, headers: Sequence[tuple[bytes, bytes]], fields: Mapping[bytes, bytes]
    ) -> tuple[grpc.StatusCode, str] | None:
        """Return the status and the reason if a call cannot be served; None if it can."""
        size = sum(len(name) + len(value) + 32 for name, value in headers)  # as RFC 9113 measures it (6.5.2)
        if size > MAX_HEADER_BYTES:
            return grpc.StatusCode.RESOURCE_EXHAUSTED, f"headers of {size} bytes; at most {MAX_HEADER_BYTES} are read"
        if not self.service.serves(method := fields[b":path"].decode("latin-1")):
            return grpc.StatusCode.UNIMPLEMENTED, f"there is no method '{visible(method, 64)}' here"
        if (encoding := fields.get(b"grpc-encoding", b"identity")) not in ENCODINGS:
            known = ", ".join(one.decode() for one in ENCODINGS)
            text = f"grpc-encoding '{visible(encoding.decode('latin-1'), 64)}' is not supported; {known} are"
            return grpc.StatusCode.UNIMPLEMENTED, text
        timeout = fields.get(b"grpc-timeout")
        if timeout is not None and frames.timeout_seconds(timeout) is None:
            text = f"grpc-timeout '{visible(timeout.decode('latin-1'), 64)}' is malformed: 5S means five seconds"
            return grpc.StatusCode.INTERNAL, text
        return None

    def _take_window_update(self, number: int, payload: bytes) -> None:
        more = _word(payload) & MOST
        self.spend()
        if number == 0:
            self.window += more
            if more == 0 or self.window > MOST:
                raise Broken(FLOW_CONTROL_ERROR, f"room for {more} bytes more")
            self.cleared()
            return
        if (call := self._open(number)) is not None:
            if more == 0:
                call.reset(PROTOCOL_ERROR)
            else:
                call.make_window(more)

    def _take_reset(self, number: int, payload: bytes) -> None:
        _word(payload)
        self.spend()
        if (call := self._open(number)) is not None:
            call.lose()

    def _take_settings(self, flags: int, number: int, payload: bytes) -> None:
        if number != 0:
            raise Broken(PROTOCOL_ERROR, "settings of a stream")
        if len(payload) % 6 or (flags & ACK and payload):
            raise Broken(FRAME_SIZE_ERROR, f"settings of {len(payload)} bytes")
        self.spend(1 + len(payload) // 6)
        if flags & ACK:
            if self._wanted == SETTINGS:
                raise Broken(PROTOCOL_ERROR, "settings are confirmed before any came")
            return
        self._wanted = None
        self.transport.write(frame(SETTINGS, ACK, 0, b""))
        for name, value in SETTING.iter_unpack(payload):
            self._set(name, value)

    def _set(self, name: int, value: int) -> None:
        if name == INITIAL_WINDOW_SIZE:
            if value > MOST:
                raise Broken(FLOW_CONTROL_ERROR, f"a window of {value} bytes")
            for call in list(self._calls.values()):
                # The windows of open calls change, too, and may become negative (RFC 9113, 6.9.2).
                call.make_window(value - self._first_window)
            self._first_window = value
        elif name == MAX_FRAME_SIZE:
            if not FRAME_BYTES <= value < 1 << 24:
                raise Broken(PROTOCOL_ERROR, f"frames of {value} bytes")
            self.frame_bytes = min(value, WINDOW)
        elif name == ENABLE_PUSH and value > 1:
            raise Broken(PROTOCOL_ERROR, f"push is {value}")

    def _take_ping(self, flags: int, number: int, payload: bytes) -> None:
        if number != 0:
            raise Broken(PROTOCOL_ERROR, "a ping of a stream")
        if len(payload) != 8:
            raise Broken(FRAME_SIZE_ERROR, f"a ping of {len(payload)} bytes")
        self.spend()
        if not flags & ACK:
            self.transport.write(frame(PING, ACK, 0, payload))

    def _open(self, number: int) -> Http2Call | None:
        """Return the call of a stream; None if it has ended.

        Raises:
            Broken: if the stream has not begun.
        """
        if number % 2 == 0 or number > self._newest:
            raise Broken(PROTOCOL_ERROR, f"stream {number} has not begun")
        call = self._calls.get(number)
        return None if call is None or call.is_over else call


def _is_malformed(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Return True if the headers of a request break the rules of HTTP/2 (RFC 9113, 8.2 and 8.3)."""
    names = [name for name, _ in headers]
    pseudo = [name for name in names if name.startswith(b":")]
    return (
        names[: len(pseudo)] != pseudo  # they come first,
        or len(set(pseudo)) < len(pseudo)  # each once,
        or not _NEEDED <= set(pseudo) <= _PSEUDO
        or any(name != name.lower() or name in _OF_CONNECTIONS for name in names)
        or any(value != b"trailers" for name, value in headers if name == b"te")
        or not dict(headers)[b":path"]
    )


def _http_refusal(fields: Mapping[bytes, bytes]) -> int | None:
    """Return the HTTP status with which gRPC's servers refuse a request that is no gRPC call; None for a gRPC call."""
    if fields[b":method"] != b"POST":
        return 405  # Method Not Allowed
    if not fields.get(b"content-type", b"").startswith(b"application/grpc"):
        return 415  # Unsupported Media Type
    return None


def _word(payload: bytes) -> int:
    if len(payload) != 4:
        raise Broken(FRAME_SIZE_ERROR, f"{len(payload)} bytes instead of 4")
    word: int = WORD.unpack(payload)[0]
    return word


def _unpadded(payload: bytes, flags: int) -> bytes:
    if not flags & PADDED:
        return payload
    if not payload or payload[0] >= len(payload):
        raise Broken(PROTOCOL_ERROR, "more padding than payload")
    return payload[1 : len(payload) - payload[0]]
