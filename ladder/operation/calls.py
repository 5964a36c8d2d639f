"""Metrics of calls, sent from one process to another in a datagram for each call, so that no call waits for the reader."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_MAX_BYTES = 1024
_OVER = b""


class CallFigures:
    """Sends the metrics of calls to the other end of a socket; without a socket, it drops them."""

    def __init__(self, to: socket.socket | None = None) -> None:
        self._to = to

    def note(self, method: str, status: str, seconds: float, received: int = 0) -> None:
        """Send the metrics of a call, including the number of bytes of a submitted bot that have arrived.

        They are lost if the reader has fallen behind; the call is not affected.
        """
        if self._to is not None:
            with suppress(OSError):
                self._to.send(json.dumps([method, status, seconds, received]).encode(), socket.MSG_DONTWAIT)


@contextmanager
def reading(take: Callable[[str, str, float, int], None]) -> Iterator[socket.socket]:
    """Pass the metrics of calls to a function in this context; yield the socket for sending them."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def read() -> None:
        while data := ours.recv(_MAX_BYTES):
            take(*json.loads(data))

    thread = threading.Thread(target=read, name="call figures", daemon=True)
    thread.start()
    try:
        yield theirs
    finally:
        theirs.send(_OVER)  # a datagram socket has no end of file
        thread.join()
        ours.close()
        theirs.close()
