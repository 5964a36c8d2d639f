"""The pages of a ladder, served by a thread of this process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from ladder.http.app import application
from ladder.http.publishing.serving import UNREAD_SECONDS, Certificate, config_of, listening, url_of
from ladder.http.requests.cache import FRESH_SECONDS
from ladder.http.requests.connections import Connections
from ladder.http.requests.visit import Site
from ladder.operation.calls import CallFigures
from ladder.operation.home import Home
from ladder.operation.limits import Limits


@contextmanager
def serving_pages(
    home: Home,
    site: Site,
    limits: Limits | None = None,
    figures: CallFigures | None = None,
    *,
    certificate: Certificate | None = None,
    connections: Connections | None = None,
    unread_seconds: float = UNREAD_SECONDS,
    fresh_seconds: float = FRESH_SECONDS,
) -> Iterator[str]:
    """Serve the pages meanwhile, as `dogana ladder web` does; yield their address."""
    with listening("127.0.0.1:0", unread_seconds=unread_seconds) as bound:
        pages = application(home, site, figures=figures, limits=limits, fresh_seconds=fresh_seconds)
        server = uvicorn.Server(config_of(pages, certificate, site.proxy, connections))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])), daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield url_of("localhost:0" if certificate else "127.0.0.1:0", bound, certificate).rstrip("/")
        finally:
            server.should_exit = True
            thread.join()
