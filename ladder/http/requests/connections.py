"""Limit the connections of browsers, because uvicorn does not (docs/decisions/0044-the-edge.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 480
"""The default maximum number of connections at a time."""
REQUEST_SECONDS = 10.0
"""The default time allowed for the head of a request to arrive, including the TLS handshake of a new connection."""
_CONNECTION = "dogana.connection"
"""The key under which the state of a request's scope holds its connection."""


class Connections:
    """The open connections of one server. A newcomer to a full server takes the place of the oldest connection without a request."""

    def __init__(self, most: int = MAX_CONNECTIONS, request_seconds: float = REQUEST_SECONDS) -> None:
        """Allow `most` connections at a time, and `request_seconds` for the head of a request."""
        self.request_seconds = request_seconds
        self._most = most
        self._open: dict[Connection, None] = {}  # in the order of their arrival

    def enter(self, newcomer: Connection) -> None:
        """Count a connection. If the server is full, end the oldest one without a request, or the oldest if all have one."""
        if len(self._open) >= self._most:
            oldest = next((one for one in self._open if not one.requests), next(iter(self._open)))
            self.leave(oldest)
            # `close` would wait for the client to read, which it may never do.
            oldest.transport.abort()
        self._open[newcomer] = None

    def leave(self, connection: Connection) -> None:
        """Stop counting a connection."""
        self._open.pop(connection, None)


class Connection(asyncio.Protocol):
    """A connection of a browser. It is counted before its TLS handshake; uvicorn's own protocol handles its requests.

    Attributes:
        transport: the TCP connection, and after the handshake the TLS connection on it.
        requests: the number of requests that are being answered.
    """

    transport: asyncio.Transport

    def __init__(self, connections: Connections, encryption: SSLContext | None = None, **of_server: Any) -> None:
        """Prepare a connection; without `encryption` it is plain HTTP. uvicorn passes the other arguments."""
        of_server["app_state"] = {**of_server["app_state"], _CONNECTION: self}
        self._http = H11Protocol(**of_server)
        self._connections = connections
        self._encryption = encryption
        self._handshake: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._early = bytearray()
        self.requests = 0

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        self.transport = transport
        self._connections.enter(self)
        self._expect_request()
        if self._encryption is None:
            self._http.connection_made(transport)
        else:  # asyncio's own server allows a minute for a handshake, and would not count the connection
            transport.pause_reading()
            self._handshake = asyncio.get_running_loop().create_task(self._encrypt(transport, self._encryption))

    async def _encrypt(self, transport: asyncio.Transport, encryption: SSLContext) -> None:
        try:
            encrypted = await asyncio.get_running_loop().start_tls(transport, self, encryption, server_side=True)
        except OSError:
            encrypted = None
        if encrypted is None:  # the client has gone, or does not speak TLS
            self._leave()
            return
        self.transport = encrypted
        self._handshake = None
        self._http.connection_made(encrypted)
        if self._early:
            self.data_received(bytes(self._early))

    @override
    def data_received(self, data: bytes) -> None:
        if self._handshake is not None:  # the handshake is over, but `_encrypt` has not resumed yet
            self._early += data
            return
        self._http.data_received(data)
        self._expect_request()

    @override
    def eof_received(self) -> None:
        self._http.eof_received()

    @override
    def pause_writing(self) -> None:
        self._http.pause_writing()

    @override
    def resume_writing(self) -> None:
        self._http.resume_writing()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        self._http.connection_lost(exc)

    def _leave(self) -> None:
        self._connections.leave(self)
        self._stop_timer()

    def _expect_request(self) -> None:
        """End the connection if no request begins in time; further bytes do not extend the time."""
        if self._timer is None and not self.requests:
            seconds = self._connections.request_seconds
            self._timer = asyncio.get_running_loop().call_later(seconds, self._end_late)

    def _end_late(self) -> None:
        """End the connection, unless its request is about to be counted, because the server has only just read it after a pause."""
        self._timer = asyncio.get_running_loop().call_later(0, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request as unanswered for the duration of this context."""
        self.requests += 1
        self._stop_timer()
        try:
            yield
        finally:
            self.requests -= 1


def counting_requests(app: ASGIApp) -> ASGIApp:
    """Return an application that counts the requests of each connection while it answers them."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        connection: Connection = scope["state"][_CONNECTION]
        with connection.answering():
            await app(scope, receive, send)

    return answer
