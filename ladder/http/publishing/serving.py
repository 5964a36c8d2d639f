"""Serve the pages in this process or, beside a served ladder, in a separate process.

The process is separate because the pages must not delay the ladder's own threads: bots at home would be charged for such delays.
It is restarted if it dies.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from socket import gethostname
from ssl import PROTOCOL_TLS_SERVER, SSLContext

import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override

from ladder.http.app import application
from ladder.http.requests.connections import MAX_CONNECTIONS, Connection, Connections, counting_requests
from ladder.http.requests.visit import Site
from ladder.intake.upload import sweep_uploads
from ladder.operation import journal
from ladder.operation.calls import CallFigures
from ladder.operation.errors import LadderError, TooMuch
from ladder.operation.home import Home
from ladder.operation.journal import note
from ladder.operation.meter import Meter
from ladder.operation.refusals import JOURNAL_LINES
from referee.files import in_words
from referee.live.matches.server import Listen, PortInUse
from referee.live.matches.worker import STOPPING, become_worker, undisturbed
from referee.live.seats.orphans import kill_below, own_ended, own_starting
from referee.sandbox.system import allow_files

EVERYWHERE = ("0.0.0.0", "[::]")  # noqa: S104 an organiser who gives one of them wants it
"""The addresses that stand for all addresses of this machine."""
KEEP_ALIVE_SECONDS = 15
MAX_NEW = 128
"""The maximum number of connections accepted at once. Some file descriptors must remain free beside these and all open connections;
otherwise, asyncio logs each connection that it could not accept, at a few megabytes per second."""
FILES = MAX_CONNECTIONS + MAX_NEW + 68
"""The number of file descriptors that the pages need: for connections, and 68 more for the database, records and drawings."""
FILES_OF_TABLE = 3
"""The number of file descriptors that each table needs: for two pipes, and its process."""
UNREAD_SECONDS = 30.0
"""The default time for which a client may leave an answer unread; a client that reads slowly still gets all of it."""
STOP_SECONDS = 1.0
"""The time allowed for finishing open answers when the pages stop, in seconds."""
END_SECONDS = 1.0
"""The time allowed for the process of the pages to end after `STOP_SECONDS`, in seconds."""
AGAIN_SECONDS = 1.0
"""The delay before pages that have died are restarted, in seconds."""
MOST_AGAIN_SECONDS = 60.0
"""The maximum delay before a restart, in seconds. The delay doubles each time, until the pages have lived this long."""
NICENESS = 5
"""The niceness of the pages, which makes them wait when they compete with matches for the processor."""
Certificate = tuple[Path, Path]
"""The certificate chain and the key of the connections, as PEM files."""


def listening(address: str, tables: int = 0, unread_seconds: float = UNREAD_SECONDS) -> socket.socket:
    """Return a socket that listens at `host:port`, for pages with this number of tables.

    On Linux, the kernel ends a connection whose client takes no data for `unread_seconds`.

    Raises:
        PortInUse: if the port cannot be used.
        LadderError: if this process may not open enough files.
    """
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES + FILES_OF_TABLE * tables
    if 0 <= files < needed:  # a negative number means no limit
        raise LadderError(
            f"the pages need {needed} open files at a time, and this process may have {files};"
            " raise its limit (ulimit -n, or LimitNOFILE= of its unit)"
        )
    host, _, port = Listen(address).address.rpartition(":")
    try:
        [family, *_, found], *_ = socket.getaddrinfo(
            host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        bound = socket.create_server((str(found[0]), int(port)), family=family, backlog=1024)
    except OSError as error:
        raise PortInUse(
            f"cannot show pages at {address}: {error.strerror}; is the address right, and no other program using it?"
        ) from error
    # Connections inherit both options. asyncio would set the first itself if Python reported this socket as TCP; without it,
    # Nagle's algorithm holds the body of each answer back for 40 ms.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if sys.platform == "linux":
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(unread_seconds * 1000))
    return bound


def url_of(address: str, bound: socket.socket, certificate: Certificate | None = None) -> str:
    """Return the URL of the pages for a browser."""
    scheme = "http" if certificate is None else "https"
    return f"{scheme}://{address.rpartition(':')[0]}:{bound.getsockname()[1]}/"


def config_of(
    application: ASGIApp,
    certificate: Certificate | None = None,
    proxy: str = "",
    connections: Connections | None = None,
) -> uvicorn.Config:
    """Return uvicorn's settings for an application.

    Args:
        application: the pages.
        certificate: the certificate for TLS; None for plain HTTP.
        proxy: the address of a trusted proxy, as in `Site`; empty without one.
        connections: the limits on connections; None for the default limits.

    Raises:
        OSError: if the files of the certificate cannot be read, or do not belong together.
    """
    encryption = None
    if certificate is not None:
        encryption = SSLContext(PROTOCOL_TLS_SERVER)
        encryption.load_cert_chain(*certificate)
    return uvicorn.Config(
        counting_requests(application),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxy),
        forwarded_allow_ips=proxy,
        ws="none",
        backlog=MAX_NEW,
        lifespan="on",
        http=partial(Connection, connections or Connections(), encryption),  # type: ignore[arg-type]  # uvicorn only calls it
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(STOP_SECONDS),
    )


def serve_pages(
    home: Home,
    site: Site,
    bound: socket.socket,
    certificate: Certificate | None = None,
    niceness: int = 0,
    calls: socket.socket | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        home: the ladder.
        site: the settings that all pages share.
        bound: the listening socket.
        certificate: the certificate for TLS; None for plain HTTP.
        niceness: the niceness of the pages; see `application`.
        calls: the socket for the figures of the API; see `ladder.operation.calls`.
    """
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.error").addFilter(_FewLines())
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # it warns of malformed forms, which are refused
    allow_files()
    asyncio.run(
        uvicorn.Server(config_of(application(home, site, niceness, CallFigures(calls)), certificate, site.proxy)).serve(
            [bound]
        )
    )


class _FewLines(logging.Filter):
    """Limits a flood of log lines, because uvicorn logs a traceback for each request that fails."""

    def __init__(self) -> None:
        super().__init__()
        self._left = Meter(JOURNAL_LINES)

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        try:
            self._left.take("")
        except TooMuch:
            return False
        return True


@contextmanager
def pages_beside(
    home: Home, site: Site, address: str, certificate: Certificate | None, calls: socket.socket | None = None
) -> Iterator[str]:
    """Serve the pages in a separate process while this context is open; yield their address.

    Enter the context before running any code that treats all descendants of this process as leftovers. `calls` is the same as in
    `serve_pages`.

    Raises:
        PortInUse: if the port cannot be used.
    """
    with listening(address, site.tables if site.has_tables else 0) as bound:
        site = replace(site, url=_for_commands(site, address, bound, certificate))
        arguments = (home, site, bound, certificate, calls, journal.form_of_this_process())
        pages = _Restarted(
            partial(multiprocessing.get_context("spawn").Process, target=_serve, args=arguments, name="pages")
        )
        try:
            pages.begin()
            yield url_of(address, bound, certificate)
        finally:
            pages.end()


def _for_commands(site: Site, address: str, bound: socket.socket, certificate: Certificate | None) -> str:
    """Return the URL of the pages for commands, which may be on other machines."""
    if site.public_url:
        return site.public_url
    is_everywhere = address.rpartition(":")[0] in EVERYWHERE
    return url_of(f"{gethostname()}:0" if is_everywhere else address, bound, certificate).rstrip("/")


class _Restarted:
    """The process of the pages, replaced whenever it dies. Browsers wait at the socket meanwhile."""

    def __init__(self, make_process: Callable[[], BaseProcess]) -> None:
        self._make_process = make_process
        self._is_over = threading.Event()
        self._starting = threading.Lock()
        self._process: BaseProcess | None = None
        self._thread = threading.Thread(target=self._watch, name="pages", daemon=True)

    def begin(self) -> None:
        with undisturbed():
            self._start()
            self._thread.start()

    def end(self) -> None:
        """End the process and all processes below it, and start no replacement."""
        # This comes first, so that a start that is waiting for the lock does nothing.
        self._is_over.set()
        with self._starting:
            process = self._process
        if process is None or process.pid is None:
            return
        process.terminate()
        process.join(STOP_SECONDS + END_SECONDS)
        if process.is_alive():
            kill_below(process.pid)
        process.join()

    def _start(self) -> None:
        """Start a process.

        Raises:
            OSError: if the machine cannot start one.
        """
        with self._starting:
            if self._is_over.is_set():
                return
            process = self._make_process()
            with own_starting() as started:  # the code that clears away agents' leftovers spares it
                process.start()
                started(process.pid)
            self._process = process

    def _watch(self) -> None:
        """Restart the process whenever it dies."""
        # A process that is started here inherits this, until it becomes a worker.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        seconds = AGAIN_SECONDS
        while (process := self._process) is not None:
            began = time.monotonic()
            wait([process.sentinel])
            if self._is_over.is_set():
                return
            process.join()
            own_ended(process.pid)
            if time.monotonic() - began >= MOST_AGAIN_SECONDS:
                seconds = AGAIN_SECONDS
            _note_death(f"the pages have died; they begin again in {seconds:g} s", process.exitcode)
            while not self._is_over.wait(seconds):
                seconds = min(2 * seconds, MOST_AGAIN_SECONDS)
                try:
                    self._start()
                    break
                except OSError as error:
                    _note_death(f"the pages cannot be started: {in_words(error)}; it is tried again in {seconds:g} s")


def _note_death(text: str, status: int | None = None) -> None:
    note("pages_died", logging.ERROR, status=status, text=text)


def _serve(
    home: Home,
    site: Site,
    bound: socket.socket,
    certificate: Certificate | None,
    calls: socket.socket | None,
    form: journal.Form | None,
) -> None:
    become_worker()
    if form is not None:
        journal.begin(form)
    os.umask(0o077)
    sweep_uploads(home)
    serve_pages(home, site, bound, certificate, NICENESS, calls)
