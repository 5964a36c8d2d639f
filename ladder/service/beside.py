"""A server beside a run: gRPC runs in a separate thread while the main thread plays matches."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress

from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.service.at_home import AtHome
from ladder.service.metrics import Metrics
from ladder.service.server import LadderServer
from referee.live.matches.server import Listen
from referee.live.matches.worker import undisturbed


@contextmanager
def serving(
    home: Home,
    listen: Listen,
    metrics: Metrics | None = None,
    at_home: AtHome | None = None,
    limits: Limits | None = None,
) -> Iterator[int]:
    """Serve the streams of a ladder in this context; yield the port.

    Args:
        home: the ladder.
        listen: the address.
        metrics: counts calls.
        at_home: invites bots at home to their matches.
        limits: the remaining allowances of callers; None for full allowances.

    Raises:
        PortInUse: if the address is already in use.
    """
    server = LadderServer(home, listen, metrics or Metrics(home), at_home or AtHome(), limits or Limits())
    ready: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    thread = threading.Thread(
        target=lambda: asyncio.run(_serve(server, ready)),
        name="streams",
        daemon=True,
    )
    try:
        with undisturbed():
            thread.start()
        yield ready.result()[0]
    finally:
        if thread.is_alive():
            with suppress(Exception):  # the reason why it could not begin was raised before
                _, loop, over = ready.result()
                loop.call_soon_threadsafe(over.set)
            thread.join()


async def _serve(server: LadderServer, ready: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    over = asyncio.Event()
    try:
        async with server:
            ready.set_result((server.port, asyncio.get_running_loop(), over))
            await over.wait()
    except Exception as error:
        if ready.done():
            raise
        ready.set_exception(error)
