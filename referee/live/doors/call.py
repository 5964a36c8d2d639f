"""gRPC calls on an HTTP/2 connection (gRPC's PROTOCOL-HTTP2.md): messages in both directions, and a final status."""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import grpc

from referee.live.doors import frames
from referee.live.doors.compression import CannotDecompress, decompress
from referee.live.doors.frames import (
    BEGIN,
    DATA,
    END_HEADERS,
    END_STREAM,
    FLOW_CONTROL_ERROR,
    HEADERS,
    MOST,
    NO_ERROR,
    NO_TABLE,
    STREAM_CLOSED,
    WINDOW,
    frame,
)

if TYPE_CHECKING:
    from referee.live.doors.http2 import Http2Connection

WHOLE_BYTES = 1024
"""The size below which a frame that does not complete a message counts as useless."""
COMPRESSED_COST = 4
"""The cost of a compressed message, in useless frames; each message sent to the peer earns the same number."""
_PREFIX = struct.Struct(">BI")
"""The prefix of a message: a compression flag, and the size of the message."""


class Broken(Exception):
    """The peer has broken the rules of HTTP/2. The code and the text go into the connection's final frame."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Aborted(Exception):
    """The handler of a call has ended the call."""


class Http2Call:
    """A gRPC call on an HTTP/2 connection, with messages in both directions.

    Attributes:
        cancel: a function called when the call ends without its handler, because the peer has cancelled it or has
            broken a rule, the connection is gone, or the peer's time limit has passed.
        when_free: a function called when `is_free` becomes True.
        number: the number of its stream.
        is_over: True when the final status has been sent, or can no longer be sent.
        timeout_seconds: the time limit that the peer sets for the call (`grpc-timeout`); None if it sets none.
    """

    def __init__(
        self,
        connection: Http2Connection,
        number: int,
        window: int,
        encoding: bytes = b"identity",
        timeout_seconds: float | None = None,
    ) -> None:
        self.cancel: Callable[[], object] = lambda: None
        self.when_free: Callable[[], None] = lambda: None
        self.number = number
        self.timeout_seconds = timeout_seconds
        self._encoding = encoding
        self._connection = connection
        self._listener: Callable[[bytes | None], object] | None = None
        # Messages wait as they arrived, with their flags, because a compressed one may be large once it is unpacked.
        self._messages: deque[tuple[int, bytes]] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._partial = bytearray()
        self._room = WINDOW  # the number of bytes that the peer may send
        self._window = window  # the number of bytes that we may send
        self._unsent = b""
        self._has_begun = False
        self._has_spoken = False  # the peer has sent a whole message
        self._is_half_closed = False  # by the peer
        self._trailers: bytes | None = None
        self.is_over = False
        self._drained: asyncio.Future[None] | None = None

    # for the handler

    def peer(self) -> str:
        """Return the caller's address in gRPC's format."""
        return "unix:"

    @property
    def is_free(self) -> bool:
        """True if the transport has taken all messages and would take the next one at once."""
        return not self._unsent

    def send(self, message: bytes) -> None:
        """Send a message. The part that exceeds the peer's window waits."""
        if self._trailers is None and not self.is_over:
            self._connection.service.earn()
            self._unsent += _PREFIX.pack(0, len(message)) + message
            self._pump()

    async def drained(self) -> None:
        """Wait until `is_free` is True, or the call is over."""
        while self._unsent and not self.is_over:
            if self._drained is None or self._drained.done():
                self._drained = asyncio.get_running_loop().create_future()
            await self._drained

    async def write(self, message: bytes) -> None:
        """Send a message, and wait until the transport has taken it."""
        self.send(message)
        await self.drained()

    async def read(self) -> bytes | None:
        """Return the next message, or None after the peer's last one. Only one reader may wait at a time."""
        while not self._messages:
            if self._is_half_closed or self.is_over:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        flag, message = self._messages.popleft()
        plain = self._decompressed(message) if flag else message
        if not self._messages:
            self._make_room()
        return plain

    def listen(self, receive: Callable[[bytes | None], object]) -> Callable[[], object]:
        """Pass each message to `receive` as it arrives, and None after the last.

        Returns:
            A function that stops listening; messages that arrive later are dropped.
        """
        self._listener = receive
        while self._messages:
            self._deliver(*self._messages.popleft())
        self._make_room()
        if self._is_half_closed:
            self._listener(None)

        def stop() -> None:
            self._listener = _drop

        return stop

    async def abort(self, code: grpc.StatusCode, text: str) -> NoReturn:
        """End the call.

        Raises:
            Aborted: always.
        """
        self.end(code, text)
        raise Aborted

    def end(self, code: grpc.StatusCode, text: str) -> None:
        """Send the final status after all waiting messages; drop whatever the peer still sends."""
        if self._trailers is None and not self.is_over:
            self._trailers = frames.trailers(code, text)
            self._listener = _drop
            self._pump()

    def forget(self) -> None:
        """Release the call's place on the connection, after its handler has returned."""
        self._connection.forget(self)

    # for the connection

    def take(self, flags: int, data: bytes, size: int) -> None:
        """Handle the data of a frame; the frame's `size`, including its padding, counts against the window."""
        if self._is_half_closed:
            self.reset(STREAM_CLOSED)
            return
        self._room -= size
        if self._room < 0:
            raise Broken(FLOW_CONTROL_ERROR, "more was sent than there is room for")
        is_heard = self._listener is not _drop
        is_useless = len(data) < WHOLE_BYTES or not is_heard
        # Clients send one message per frame. Before anyone listens, they send a single message: Join.
        free = 0 if self._listener is None and self._has_spoken else 1
        if is_heard:
            self._partial += data
            while len(self._partial) >= 5:
                flag, length = _PREFIX.unpack_from(self._partial)
                if length > (most := self._connection.service.max_message_bytes):
                    self._refuse(
                        grpc.StatusCode.RESOURCE_EXHAUSTED, f"a message of {length} bytes; at most {most} are read"
                    )
                    return
                if len(self._partial) < 5 + length:
                    break
                message = bytes(self._partial[5 : 5 + length])
                del self._partial[: 5 + length]
                is_useless = False
                if free == 0:
                    self._connection.spend()
                if flag:
                    self._connection.spend(COMPRESSED_COST)
                free = 0
                self._has_spoken = True
                self._deliver(flag, message)
        if is_useless and not flags & END_STREAM:
            self._connection.spend()
        if self.is_over:
            return
        if flags & END_STREAM:
            self.half_close()
        elif not self._messages:
            self._make_room()

    def half_close(self) -> None:
        """Note that the peer will send no more messages."""
        self._is_half_closed = True
        if self._listener is not None:
            self._listener(None)
        self._wake(self._reader)

    def make_window(self, more: int) -> None:
        """Enlarge the window after an update from the peer; a negative number shrinks it."""
        self._window += more
        if self._window > MOST:
            self.reset(FLOW_CONTROL_ERROR)
        else:
            self.resume()

    def expire(self) -> None:
        """End the call because the time limit set by the peer has passed."""
        if not self.is_over:
            self._trailers = None  # if another status is waiting to be sent, this one takes its place
            self._refuse(grpc.StatusCode.DEADLINE_EXCEEDED, f"more than the {self.timeout_seconds:g} s of grpc-timeout")

    def reset(self, code: int) -> None:
        """End the call because the peer has broken the rules of HTTP/2."""
        self._connection.transport.write(frames.reset(self.number, code))
        self.lose()

    def refuse(self, status: int) -> None:
        """Answer the request with an HTTP status, because it is not a gRPC call."""
        self._connection.transport.write(frames.http_status(self.number, status) + self._stop_frame())
        self._close()

    def lose(self) -> None:
        """End the call without a final status, because the peer can no longer be reached."""
        if not self.is_over:
            self._close()
            self.cancel()

    def resume(self) -> None:
        """Send waiting data, as far as the windows allow."""
        if self._unsent:
            self._pump()
            if not self._unsent:
                self._wake(self._drained)
                self.when_free()

    def _deliver(self, flag: int, message: bytes) -> None:
        if self._listener is None:
            self._messages.append((flag, message))
            self._wake(self._reader)
        elif not flag:
            self._listener(message)
        elif self._listener is not _drop and (plain := self._decompressed(message)) is not None:
            self._listener(plain)

    def _decompressed(self, message: bytes) -> bytes | None:
        """Return the decompressed message; if it cannot be read, end the call and return None."""
        try:
            return decompress(self._encoding, message, self._connection.service.max_message_bytes)
        except CannotDecompress as error:
            self._refuse(error.code, str(error))
            return None

    def _make_room(self) -> None:
        """Let the peer send more once its earlier data has been read, so that memory holds at most one window of it."""
        if self._room < WINDOW // 2 and not self._is_half_closed and self._trailers is None and not self.is_over:
            self._connection.transport.write(frames.window_update(self.number, WINDOW - self._room))
            self._room = WINDOW

    def _refuse(self, code: grpc.StatusCode, text: str) -> None:
        """End the call because of the peer's data, and drop any messages that wait to be sent."""
        self._unsent = b""
        self.end(code, text)
        self.cancel()

    def _pump(self) -> None:
        """Send waiting data, as far as the windows and the transport allow, then the final status."""
        connection = self._connection
        while self._unsent:
            room = min(self._window, connection.window, connection.frame_bytes)
            if room <= 0 or not connection.transport.is_clear:
                return
            part, self._unsent = self._unsent[:room], self._unsent[room:]
            self._window -= len(part)
            connection.window -= len(part)
            begin = b"" if self._has_begun else frame(HEADERS, END_HEADERS, self.number, BEGIN)
            self._has_begun = True
            connection.transport.write(begin + frame(DATA, 0, self.number, part))
        if self._trailers is not None and not self.is_over:
            block = (NO_TABLE if self._has_begun else BEGIN) + self._trailers
            # The call is closed before the write, because a write that ends the connection cancels its open calls.
            last = frame(HEADERS, END_HEADERS | END_STREAM, self.number, block) + self._stop_frame()
            self._close()
            connection.transport.write(last)

    def _stop_frame(self) -> bytes:
        """Return the frame that tells the peer to stop sending to an ended call; empty if it has finished sending."""
        return b"" if self._is_half_closed else frames.reset(self.number, NO_ERROR)

    def _close(self) -> None:
        self.is_over = True
        self._unsent = b""
        self._messages.clear()
        self._partial.clear()
        self._wake(self._reader)
        self._wake(self._drained)

    @staticmethod
    def _wake(waiting: asyncio.Future[None] | None) -> None:
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


def _drop(_: bytes | None) -> None:
    """Drop a message. This function replaces a call's listener when listening stops; messages are then not parsed."""
