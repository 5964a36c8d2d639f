"""A connection that breaks: a proxy before a TCP port that cuts connections when so much has come through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager


class Proxy:
    """Before a port of this machine.

    Attributes:
        connections: how many there have been.
        port: where it listens.
    """

    def __init__(self, target: int, limits: Sequence[int]) -> None:
        """Hand on to the port `target`; the first connection is cut after `limits[0]` bytes, and so on; later ones never."""
        self._target = target
        self._limits = limits
        self.connections = 0
        self.port = 0
        self._open: list[asyncio.StreamWriter] = []

    async def hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        limit = self._limits[self.connections] if self.connections < len(self._limits) else 1 << 60
        self.connections += 1
        theirs, ours = await asyncio.open_connection("127.0.0.1", self._target)
        self._open += [writer, ours]
        await asyncio.gather(_copy(reader, ours, limit), _copy(theirs, writer, limit))

    def cut(self) -> None:
        """Cut all connections now: what is sent on them from now on arrives nowhere."""
        for writer in self._open:
            writer.transport.abort()
        self._open = []


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: int) -> None:
    try:
        while left > 0 and (data := await reader.read(min(left, 4096))):
            writer.write(data)
            left -= len(data)
    except ConnectionError:
        pass
    writer.transport.abort()


@asynccontextmanager
async def breaking(target: int, limits: Sequence[int]) -> AsyncIterator[Proxy]:
    """Listen as long as the context lasts."""
    proxy = Proxy(target, limits)
    server = await asyncio.start_server(proxy.hand_on, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
