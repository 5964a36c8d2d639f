"""Metrics of a served ladder for Prometheus: its requests, its response times, and its state."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, Counter, Histogram, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from typing_extensions import override

from ladder.facts.store import Store
from ladder.operation.home import Home
from ladder.play.playing import playing
from referee.live.matches.server import Listen, PortInUse

LASTING = ("connect", "play", "watch")
"""The calls that last as long as somebody plays or watches; their duration says nothing about the server."""
MAX_SCRAPES = 8
"""The maximum number of concurrent connections for reading the metrics."""
SCRAPE_SECONDS = 10.0
"""The maximum time, in seconds, for which a connection for reading the metrics may be idle."""


class Metrics:
    """The figures of one server."""

    def __init__(self, home: Home) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter(
            "dogana_ladder_calls",
            "Calls that have ended, by their status.",
            ["method", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "dogana_ladder_call_seconds",
            "The duration of calls, including the wait for their turn. Calls that last as long as matches are left out.",
            ["method"],
            registry=self.registry,
        )
        self._uploaded = Counter(
            "dogana_ladder_uploaded_bytes", "Bytes of bots that have arrived.", registry=self.registry
        )
        self.registry.register(_Facts(home))

    def count(self, method: str, status: str, seconds: float, received: int = 0) -> None:
        """Count a call that has ended, and the bytes of a bot that arrived with it."""
        if method not in LASTING:
            self._seconds.labels(method).observe(seconds)
        self._calls.labels(method, status).inc()
        self._uploaded.inc(received)

    @contextmanager
    def serving(
        self, listen: Listen, *, scrapes: int = MAX_SCRAPES, idle_seconds: float = SCRAPE_SECONDS
    ) -> Iterator[int]:
        """Serve the figures over HTTP, at `/metrics`, in this context; yield the port.

        At most `scrapes` connections are served at a time.

        Raises:
            PortInUse: if the port cannot be used.
        """
        host, _, port = listen.address.rpartition(":")
        try:
            [family, *_, address], *_ = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
            server = _FewAtATime(family, (str(address[0]), int(port)), scrapes, idle_seconds)
        except OSError as error:
            raise PortInUse(f"cannot show metrics at {listen.address}: {error.strerror}") from error
        server.set_app(make_wsgi_app(self.registry))
        thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _FewAtATime(ThreadingMixIn, WSGIServer):
    """A server with a thread for each connection, up to a maximum number of connections."""

    daemon_threads = True

    def __init__(
        self, family: socket.AddressFamily, address: tuple[str, int], connections: int, idle_seconds: float
    ) -> None:
        self.address_family = family
        super().__init__(address, partial(_Prompt, idle_seconds))
        self._places = threading.BoundedSemaphore(connections)

    @override
    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            try:
                super().process_request(request, client_address)
            except RuntimeError:  # no thread can be started at the moment
                self._places.release()
                raise
        else:
            self.shutdown_request(request)

    @override
    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of clients that have disconnected."""


class _Prompt(WSGIRequestHandler):
    """Closes connections that send no request or read no answer, and logs no requests."""

    def __init__(self, idle_seconds: float, *arguments: Any) -> None:
        self.timeout = idle_seconds  # type: ignore[misc]  # the time limit of this connection
        super().__init__(*arguments)  # this serves the connection

    @override
    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class _Facts(Collector):
    """The figures about the ladder at the moment of a request."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def collect(self) -> Iterator[Metric]:
        with Store(self._home.database, create=False) as store:
            versions = store.roster.versions()
            yield CounterMetricFamily(
                "dogana_ladder_matches", "Matches that count.", value=store.results.count_of_matches()
            )
            yield CounterMetricFamily(
                "dogana_ladder_void_matches",
                "Attempts at matches that came to no result.",
                value=store.results.count_of_voids(),
            )
            yield GaugeMetricFamily("dogana_ladder_bots", "Bots.", value=len({one.bot for one in versions.values()}))
            yield GaugeMetricFamily("dogana_ladder_versions", "Versions of bots.", value=len(versions))
            yield GaugeMetricFamily(
                "dogana_ladder_open_matches",
                "Matches that are scheduled and not over.",
                value=sum(store.schedule.open_matches().values()),
            )
            yield GaugeMetricFamily(
                "dogana_ladder_connected_bots", "Bots at home that are connected.", value=len(store.roster.connected())
            )
        yield GaugeMetricFamily(
            "dogana_ladder_playing_matches", "Matches that are being played.", value=len(playing(self._home))
        )
