"""Figures of calls that one process answers and another one shows: each call is a datagram, and none waits for its reader."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_MAX_BYTES = 1024
_OVER = b""


class CallFigures:
    """Sends the figures of calls to whoever reads the other end of a socket; without one they go nowhere."""

    def __init__(self, to: socket.socket | None = None) -> None:
        self._to = to

    def note(self, method: str, status: str, seconds: float, received: int = 0) -> None:
        """Send the figures of a call, with the number of bytes of a bot that have arrived. If the reader has fallen behind, they are lost, and the call is not."""
        if self._to is not None:
            with suppress(OSError):
                self._to.send(json.dumps([method, status, seconds, received]).encode(), socket.MSG_DONTWAIT)


@contextmanager
def reading(take: Callable[[str, str, float, int], None]) -> Iterator[socket.socket]:
    """Hand the figures of calls to a function meanwhile; yield the socket that they are sent to."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def read() -> None:
        while data := ours.recv(_MAX_BYTES):
            take(*json.loads(data))

    thread = threading.Thread(target=read, name="call figures", daemon=True)
    thread.start()
    try:
        yield theirs
    finally:
        theirs.send(_OVER)
        thread.join()
        ours.close()
        theirs.close()
