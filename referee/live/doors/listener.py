"""A Unix domain socket that accepts gRPC calls. The event loop serves it directly, without a thread or a library.

It expects one or a few peers, and bounds the work that all of them together can cause.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc

from referee.live.doors.call import Aborted, Http2Call
from referee.live.doors.frames import ENHANCE_YOUR_CALM, NO_ERROR
from referee.live.doors.http2 import Http2Connection

_log = logging.getLogger(__name__)

MAX_CONNECTIONS = 8
"""The maximum number of connections. A further connection replaces the oldest one that has no call."""
MAX_UNSENT_BYTES = 256 * 1024
"""The maximum number of unread bytes beyond the kernel's buffers; a peer that leaves more unread loses the connection.

Messages wait elsewhere: see `Http2Call.is_free`.
"""
ALLOWANCE, ALLOWANCE_SECONDS = 5000, 10.0
"""The number of useless frames accepted on all connections together, and the period to which this number applies."""
EARNED = 4
"""The number of useless frames that a message to a peer earns, because clients answer with window updates and pings."""
CONNECTION_COST = 10
"""The cost of a connection in useless frames."""
PAUSE_SECONDS = 1.0
"""The time for which no connections are accepted after too many have arrived, or after file descriptors have run out."""
_CHUNK = 65_536

Play = Callable[[Http2Call], Awaitable[None]]
"""A function that serves a call until the call ends."""


class Listener:
    """A socket at which a single method can be called.

    Attributes:
        max_message_bytes: the maximum size of a message; a larger one is not even read, and its call ends.
        max_calls: the maximum number of open calls on a connection.
    """

    def __init__(
        self,
        path: Path,
        method: str,
        play: Play,
        *,
        max_message_bytes: int,
        max_calls: int,
        idle_seconds: float,
        allowance: int = ALLOWANCE,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        """Listen in the running event loop.

        Args:
            path: the path of the socket, which must not exist yet.
            method: the path of the method, such as `/dogana.v1.Referee/Play`.
            play: the function that serves a call; the call ends when the function returns.
            max_message_bytes: see the attribute.
            max_calls: see the attribute.
            idle_seconds: the maximum time that a connection may stay open without a call.
            allowance: see `ALLOWANCE`.
            pause_seconds: see `PAUSE_SECONDS`.
        """
        self.max_message_bytes = max_message_bytes
        self.max_calls = max_calls
        self._method = method
        self._play = play
        self._idle_seconds = idle_seconds
        self._allowance = allowance
        self._pause_seconds = pause_seconds
        self._loop = asyncio.get_running_loop()
        self._wires: dict[_Wire, None] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._left = allowance
        self._left_since = self._loop.time()
        self._pause: asyncio.TimerHandle | None = None
        self._is_open = True
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.setblocking(False)
            self._socket.bind(str(path))
            self._socket.listen(socket.SOMAXCONN)
        except OSError:
            self._socket.close()
            raise
        self._loop.add_reader(self._socket, self._accept)

    async def stop(self, seconds: float, cancel_seconds: float) -> None:
        """Accept no more calls, and end every connection.

        Args:
            seconds: the time allowed for open calls to end.
            cancel_seconds: the time allowed for them to end after they have been cancelled.
        """
        self._is_open = False
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._socket)
        self._socket.close()
        try:
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=seconds)
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=cancel_seconds)
        finally:  # `stop` is cancelled if the event loop ends
            for wire in list(self._wires):
                wire.connection.end(NO_ERROR, "the referee has stopped")

    # the side of the connections (`referee.live.doors.http2.Service`)

    def begin(self, call: Http2Call) -> None:
        """Start the handler of a call; refuse the call if the listener is stopping."""
        if not self._is_open:
            call.end(grpc.StatusCode.UNAVAILABLE, "the referee is stopping")
            call.forget()
            return
        task = self._loop.create_task(self._serve(call))
        self._tasks.add(task)
        call.cancel = task.cancel
        seconds = call.timeout_seconds
        deadline = None if seconds is None else self._loop.call_later(seconds, call.expire)

        def ended(_: asyncio.Task[None]) -> None:
            if deadline is not None:
                deadline.cancel()
            self._tasks.discard(task)
            call.forget()

        task.add_done_callback(ended)

    def serves(self, method: str) -> bool:
        """Return True if a method exists."""
        return method == self._method

    def spend(self, frames: int) -> bool:
        """Charge for useless frames; return False once the allowance is spent."""
        self._left -= frames
        if self._left < 0:
            now = self._loop.time()
            # A new period begins only when the allowance of the old one is spent, so no timer is needed.
            if now < self._left_since + ALLOWANCE_SECONDS:
                return False
            self._left, self._left_since = self._allowance, now
        return True

    def earn(self) -> None:
        """Extend the allowance, because a message is being sent to a peer."""
        self._left = min(self._allowance, self._left + EARNED)

    # connections

    def _accept(self) -> None:
        try:
            accepted, _ = self._socket.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError:  # file descriptors or memory have run out
            self._rest()
            return
        if not self.spend(CONNECTION_COST):
            accepted.close()
            self._rest()
            return
        if len(self._wires) >= MAX_CONNECTIONS:
            idle = next((wire for wire in self._wires if not wire.connection.has_calls), None)
            if idle is None:
                accepted.close()
                return
            idle.connection.end(ENHANCE_YOUR_CALM, f"more than {MAX_CONNECTIONS} connections")
        accepted.setblocking(False)
        wire = _Wire(self, accepted, self._wires.pop, self._idle_seconds)
        self._wires[wire] = None

    def _rest(self) -> None:
        """Accept no connections for a while; new ones wait."""
        self._loop.remove_reader(self._socket)
        self._pause = self._loop.call_later(self._pause_seconds, self._loop.add_reader, self._socket, self._accept)

    async def _serve(self, call: Http2Call) -> None:
        try:
            await self._play(call)
            call.end(grpc.StatusCode.OK, "")
        except Aborted:
            pass
        except Exception:  # a fault of ours
            _log.exception("a call has failed")
            call.end(grpc.StatusCode.UNKNOWN, "the referee has failed")
        await call.drained()  # once the call is forgotten, its window updates are ignored


class _Wire:
    """The socket of a connection.

    Attributes:
        is_clear: True while no data waits to be sent.
        connection: the HTTP/2 connection on it.
    """

    def __init__(
        self, listener: Listener, connected: socket.socket, gone: Callable[[_Wire, None], None], idle_seconds: float
    ) -> None:
        self.is_clear = True
        self._socket = connected
        self._gone = gone
        self._unsent = bytearray()
        self._is_closed = False
        self._loop = asyncio.get_running_loop()
        self._idle_seconds = idle_seconds
        self._was_idle = True
        self.connection = Http2Connection(listener, self)
        self._loop.add_reader(connected, self._read)
        self._look = self._loop.call_later(idle_seconds, self._look_whether_idle)

    def write(self, data: bytes) -> None:
        """Send bytes; those that the socket does not take now wait."""
        if self._is_closed:
            return
        if self.is_clear:
            try:
                sent = self._socket.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                return  # the peer is gone; the reader finds out, after its last data
            if sent == len(data):
                return
            data = data[sent:]
            self.is_clear = False
            self._loop.add_writer(self._socket, self._write_on)
        self._unsent += data
        if len(self._unsent) > MAX_UNSENT_BYTES:
            self.close()

    def close(self) -> None:
        """End the connection, and cancel the calls that are being served on it."""
        if self._is_closed:
            return
        self._is_closed = True
        self._look.cancel()
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()
        self._gone(self, None)
        self.connection.lost()

    def _read(self) -> None:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.connection.receive(data)
        else:
            self.close()

    def _write_on(self) -> None:
        try:
            sent = self._socket.send(self._unsent)
        except BlockingIOError:
            return
        except OSError:
            sent = len(self._unsent)  # as in `write`
        del self._unsent[:sent]
        if not self._unsent:
            self.is_clear = True
            self._loop.remove_writer(self._socket)
            self.connection.cleared()

    def _look_whether_idle(self) -> None:
        is_idle = not self.connection.has_calls
        # The connection must be idle at two checks in a row; otherwise a new one would be ended.
        if is_idle and self._was_idle:
            self.connection.end(NO_ERROR, "no call")
            return
        self._was_idle = is_idle
        self._look = self._loop.call_later(self._idle_seconds, self._look_whether_idle)
