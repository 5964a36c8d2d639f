"""Serves the pages: in this process, or beside a ladder that is served, in a process of its own.

A process of its own, because whoever looks at pages must not keep the ladder's own threads waiting: bots at home are charged for
the time of their messages. It is begun anew if it dies, by a keeper that does nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext

import uvicorn
from starlette.types import ASGIApp

from ladder import journal
from ladder.errors import LadderError
from ladder.home import Home
from ladder.journal import note
from ladder.upload import sweep_uploads
from ladder.web.app import application
from ladder.web.asked import Site
from ladder.web.connections import MAX_CONNECTIONS, Connection, Crowd
from referee.live.door import allow_files
from referee.live.orphans import kill_below, kill_children
from referee.live.server import Listen, PortInUse
from referee.live.worker import become_worker, undisturbed

KEEP_ALIVE_SECONDS = 15
MAX_NEW = 128
"""How many connections are taken up at once. With all connections there may be, these must leave files to open: otherwise
asyncio tells of each that it could not take up, some megabytes a second."""
FILES = MAX_CONNECTIONS + MAX_NEW + 68
"""How many files must be allowed: besides connections, for the database, records and what is drawn."""
FILES_OF_TABLE = 3
"""How many files each table takes: two pipes, and its process."""
STOP_SECONDS = 3.0
"""How long answers that are under way may take when the pages are to stop."""
AGAIN_SECONDS = 1.0
"""How long it takes until pages that have died are there again."""
NICENESS = 5
"""Pages wait when there is not enough of the processor for them and for matches."""


def listening(address: str, tables: int = 0) -> socket.socket:
    """Return a socket that listens at `host:port`, for pages with so many tables.

    Raises:
        PortInUse: if that is not possible.
        LadderError: if this process may not open enough files.
    """
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES + FILES_OF_TABLE * tables
    if 0 <= files < needed:  # less than 0 is without a limit
        raise LadderError(
            f"the pages need {needed} open files at a time, and this process may have {files};"
            " raise its limit (ulimit -n, or LimitNOFILE= of its unit)"
        )
    host, _, port = Listen(address).address.rpartition(":")
    try:
        [family, *_, found], *_ = socket.getaddrinfo(
            host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        return socket.create_server((str(found[0]), int(port)), family=family, backlog=1024)
    except OSError as error:
        raise PortInUse(
            f"cannot show pages at {address}: {error.strerror}; is the address right, and no other program using it?"
        ) from error


@dataclass(frozen=True, slots=True)
class Certificate:
    """What encrypts the connections, as PEM files."""

    chain: Path
    key: Path

    def encryption(self) -> SSLContext:
        """Return what encrypts with it.

        Raises:
            OSError: if the files cannot be read, or do not belong together.
        """
        context = SSLContext(PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.chain, self.key)
        return context


def url_of(address: str, bound: socket.socket, certificate: Certificate | None = None) -> str:
    """Return where a browser finds the pages."""
    scheme = "http" if certificate is None else "https"
    return f"{scheme}://{address.rpartition(':')[0]}:{bound.getsockname()[1]}/"


def config_of(application: ASGIApp, certificate: Certificate | None = None, proxy: str = "") -> uvicorn.Config:
    """Return how an application is served; `proxy` is as in `Site`."""
    return uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxy),
        forwarded_allow_ips=proxy,
        ws="none",
        backlog=MAX_NEW,
        lifespan="on",
        # Uvicorn would encrypt before anything of ours knows of the connection: who says nothing then has a place for a minute,
        # with a third of a megabyte, as often as he likes.
        http=partial(Connection, Crowd(proxy), None if certificate is None else certificate.encryption()),  # type: ignore[arg-type]  # it is called, no more
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(STOP_SECONDS),
    )


def serve_pages(home: Home, site: Site, bound: socket.socket, certificate: Certificate | None = None) -> None:
    """Serve until this process is told to stop, by SIGINT or SIGTERM."""
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    allow_files()
    asyncio.run(uvicorn.Server(config_of(application(home, site), certificate, site.proxy)).serve([bound]))


@contextmanager
def pages_beside(home: Home, site: Site, address: str, certificate: Certificate | None) -> Iterator[str]:
    """Serve the pages meanwhile, in processes of their own; yield their address.

    Enter it before anything that takes all processes below this one for leftovers.

    Raises:
        PortInUse: if that is not possible.
    """
    with listening(address, site.tables if site.has_tables else 0) as bound:
        context = multiprocessing.get_context("spawn")
        form = journal.form_of_this_process()
        keeper = context.Process(target=_keep, args=(home, site, bound, certificate, form), name="pages")
        with undisturbed():
            keeper.start()
        is_over = threading.Event()
        watching = threading.Thread(target=_watch, args=(keeper, bound, is_over), name="pages", daemon=True)
        watching.start()
        try:
            yield url_of(address, bound, certificate)
        finally:
            is_over.set()
            _end(keeper)


def _watch(keeper: BaseProcess, bound: socket.socket, is_over: threading.Event) -> None:
    """Tell if somebody has killed the keeper, and let browsers be refused then: nobody would ever answer them."""
    wait([keeper.sentinel])
    if not is_over.is_set():
        note(
            "pages_ended",
            logging.ERROR,
            text="the keeper of the pages was killed; there are none until the ladder is restarted",
        )
        bound.close()


def _keep(
    home: Home, site: Site, bound: socket.socket, certificate: Certificate | None, form: journal.Form | None
) -> None:
    """Serve the pages in a process below this one, again and again."""
    become_worker()
    if form is not None:
        journal.begin(form)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit())
    context = multiprocessing.get_context("spawn")
    while True:
        process = context.Process(target=_serve, args=(home, site, bound, certificate, form), name="pages")
        try:
            with undisturbed():
                process.start()
            process.join()
        finally:
            _end(process)
        kill_children(())  # what was below them, such as tables, has become ours
        note("pages_died", logging.ERROR, status=process.exitcode, text="the pages have died, and begin anew")
        time.sleep(AGAIN_SECONDS)


def _serve(
    home: Home, site: Site, bound: socket.socket, certificate: Certificate | None, form: journal.Form | None
) -> None:
    become_worker()
    if form is not None:
        journal.begin(form)
    os.umask(0o077)
    os.nice(NICENESS)
    sweep_uploads(home)
    serve_pages(home, site, bound, certificate)


def _end(process: BaseProcess) -> None:
    """Let a process end, and all below it; kill it if it does not."""
    if process.pid is None:
        return
    process.terminate()
    process.join(2 * STOP_SECONDS)
    if process.is_alive():
        kill_below(process.pid)
    process.join()
