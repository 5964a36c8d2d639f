"""The pages of a ladder, served by a thread of this process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from ladder.http.app import application
from ladder.http.publishing.serving import config_of, listening
from ladder.http.requests.asked import Site
from ladder.operation.calls import CallFigures
from ladder.operation.home import Home
from ladder.operation.limits import Limits


@contextmanager
def serving_pages(
    home: Home, site: Site, limits: Limits | None = None, figures: CallFigures | None = None
) -> Iterator[str]:
    """Serve the pages meanwhile, as `dogana ladder web` does; yield their address."""
    with listening("127.0.0.1:0") as bound:
        server = uvicorn.Server(config_of(application(home, site, figures=figures, limits=limits), proxy=site.proxy))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])), daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
