"""Connections of browsers: who says nothing, too little or reads nothing keeps no place, and nobody has all of them."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from ssl import SSLContext
from typing import Any

from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_remote_addr

from ladder.http.requests.limits import network_of

MAX_CONNECTIONS = 480
"""How many connections there are at a time."""
MAX_CONNECTIONS_OF_ONE = 256
"""How many of them are those of one address: enough for a lecture hall behind one."""
ASK_SECONDS = 10.0
"""How long the head of a request may take to come, or what nobody reads any more of one that was answered."""
BODY_SECONDS = 12.0
"""How long the rest of a request may take to come. Forms are refused in words before (`form.FORM_SECONDS`)."""
UNHURRIED = "dogana.unhurried"
"""In the scope of a request: that its body may take longer, since an author sends it."""
READ_SECONDS = 30.0
"""How long somebody may read nothing of an answer. Who reads slowly gets all of it."""


class Crowd:
    """The connections of one server, by address.

    Who has not asked for anything yet, or not to the end, makes room for newcomers, the oldest first. Where there is no place left
    for anybody, it is the address with the most connections that makes room, so one or two addresses never keep out all others.
    """

    def __init__(self, proxy: str = "") -> None:
        """`proxy` is an address that may have all of them."""
        self._proxy = network_of(proxy) if proxy else ""
        self._connections: dict[Connection, str] = {}
        self._of: Counter[str] = Counter()

    def enter(self, newcomer: Connection, address: str) -> None:
        """Count a connection. If there are too many, end one: of its own address, or of the one that has most."""
        self._connections[newcomer] = address
        self._of[address] += 1
        if self._of[address] > MAX_CONNECTIONS_OF_ONE and address != self._proxy:
            self._make_room(address)
        elif len(self._connections) > MAX_CONNECTIONS:
            self._make_room(max(self._of, key=self._of.__getitem__))

    def leave(self, one: Connection) -> None:
        """Count a connection no more."""
        address = self._connections.pop(one, None)
        if address is not None:
            self._of[address] -= 1
            if not self._of[address]:
                del self._of[address]

    def _make_room(self, address: str) -> None:
        """End the oldest connection of an address that is not being answered; if all are, the oldest."""
        theirs = [one for one, its in self._connections.items() if its == address]
        gone = next((one for one in theirs if one.may_go), theirs[0])
        self.leave(gone)
        gone.transport.abort()


class Connection(H11Protocol):
    """A connection of a browser. It has its place from the beginning, also while it is agreed how it is encrypted."""

    def __init__(self, crowd: Crowd, encryption: SSLContext | None = None, **of_server: Any) -> None:
        """`encryption` is by what it is encrypted; None if it is not."""
        super().__init__(**of_server)
        self._crowd = crowd
        self._encryption = encryption
        self._encrypting: asyncio.Task[None] | None = None
        self._early = bytearray()
        self._asks: asyncio.TimerHandle | None = None
        self._reads: asyncio.TimerHandle | None = None
        self._body: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def lacks_body(self) -> bool:
        """Whether a request is to be answered that has not come to its end, though it should have."""
        return not self.is_idle and self.cycle.more_body and UNHURRIED not in self.cycle.scope

    @property
    def may_go(self) -> bool:
        """Whether it may be ended to make room."""
        return self.is_idle or self.lacks_body

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the base has it
        self.transport = transport
        client = get_remote_addr(transport)
        self._crowd.enter(self, network_of(client[0] if client else ""))
        self._watch()
        if self._encryption is None:
            super().connection_made(transport)
        else:
            transport.pause_reading()
            self._encrypting = self.loop.create_task(self._encrypt(transport, self._encryption))

    async def _encrypt(self, transport: asyncio.Transport, encryption: SSLContext) -> None:
        """Agree on how the connection is encrypted; forget it if that fails, or takes too long."""
        try:
            encrypted = await self.loop.start_tls(
                transport, self, encryption, server_side=True, ssl_handshake_timeout=ASK_SECONDS
            )
        except OSError:
            encrypted = None
        if encrypted is None:  # the browser has gone, or speaks another language
            self._crowd.leave(self)
            self._stop_asking_timer()
            return
        super().connection_made(encrypted)
        if self._early:
            self.data_received(bytes(self._early))

    @override
    def data_received(self, data: bytes) -> None:
        if self.flow is None:  # before `_encrypt` has heard that it is encrypted
            self._early += data
            return
        super().data_received(data)
        self._watch()

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_reader()

    @override
    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_reading_timer()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.leave(self)
        self._stop_asking_timer()
        self._stop_body_timer()
        super().connection_lost(exc)
        self._stop_reading_timer()

    def _watch(self) -> None:
        """Limit how long we wait for something that nobody can be answered without; what comes meanwhile gives no more time."""
        if not self.lacks_body:
            self._stop_body_timer()
        elif self._body is None:
            self._body = self.loop.call_later(BODY_SECONDS, self._end_without_body)
        if not self.is_idle:
            self._stop_asking_timer()
        elif self._asks is None and not self.transport.is_closing():
            self._asks = self.loop.call_later(ASK_SECONDS, self.transport.abort)

    def _end_without_body(self) -> None:
        """End the connection, unless the body has come, or has been given more time, or nobody waits for it any more."""
        self._body = None
        if self.lacks_body:
            self.transport.abort()

    def _wait_for_reader(self, before: float = math.inf) -> None:
        """Go on as long as less is unread than before."""
        unread = self.transport.get_write_buffer_size()
        if unread < before:
            self._reads = self.loop.call_later(READ_SECONDS, self._wait_for_reader, unread)
        else:
            self.transport.abort()

    def _stop_asking_timer(self) -> None:
        if self._asks is not None:
            self._asks.cancel()
            self._asks = None

    def _stop_body_timer(self) -> None:
        if self._body is not None:
            self._body.cancel()
            self._body = None

    def _stop_reading_timer(self) -> None:
        if self._reads is not None:
            self._reads.cancel()
            self._reads = None
