"""Ports for servers that a test starts at an address it has to know before, or more than once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def kept_ports(count: int) -> Iterator[list[int]]:
    """Keep so many ports of 127.0.0.1 until the end, also while no server listens there: the system gives them to nobody else.

    A server can listen at them: it may take an address at which others do not listen, as Python and gRPC ask for.
    """
    with ExitStack() as stack:
        ports = []
        for _ in range(count):
            one = stack.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
        yield ports
