"""Ports for servers whose address a test must know in advance, or use more than once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def kept_ports(count: int) -> Iterator[list[int]]:
    """Reserve ports of 127.0.0.1 in this context: the system gives them to no other program, even while no server listens.

    Servers in Python and gRPC can still listen there, because they share addresses at which no other socket listens.
    """
    with ExitStack() as stack:
        ports = []
        for _ in range(count):
            one = stack.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
        yield ports
