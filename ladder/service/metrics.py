"""Figures of a served ladder for Prometheus: what is asked and how long answers take, and how the ladder stands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ladder.home import Home
from ladder.playing import playing
from ladder.store import Store
from referee.live.server import Listen, PortInUse


class Metrics:
    """The figures of one server.

    Attributes:
        registry: all of them.
        uploaded: the bytes of bots that have arrived.
    """

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
            "How long calls took, waiting for their turn included.",
            ["method"],
            registry=self.registry,
        )
        self.uploaded = Counter(
            "dogana_ladder_uploaded_bytes", "Bytes of bots that have arrived.", registry=self.registry
        )
        self.registry.register(_Facts(home))

    @contextmanager
    def call(self, method: str) -> Iterator[Ending]:
        """Measure a call; the ending is given its status."""
        ending, began = Ending(), time.monotonic()
        try:
            yield ending
        finally:
            self._seconds.labels(method).observe(time.monotonic() - began)
            self._calls.labels(method, ending.status).inc()

    @contextmanager
    def shown(self, listen: Listen) -> Iterator[int]:
        """Show the figures meanwhile, at `/metrics` by HTTP; yield the port.

        Raises:
            PortInUse: if that is not possible.
        """
        host, _, port = listen.address.rpartition(":")
        try:
            server, thread = start_http_server(int(port), host.strip("[]"), self.registry)
        except OSError as error:
            raise PortInUse(f"cannot show metrics at {listen.address}: {error.strerror}") from error
        try:
            yield server.server_port
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class Ending:
    """How a call has ended.

    Attributes:
        status: the name of its gRPC status.
    """

    def __init__(self) -> None:
        self.status = "OK"


class _Facts(Collector):
    """How the ladder stands when somebody looks."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def collect(self) -> Iterator[Metric]:
        """Yield what the database knows."""
        with Store(self._home.database, create=False) as store:
            versions = store.versions()
            yield CounterMetricFamily("dogana_ladder_matches", "Matches that count.", value=store.count_of_matches())
            yield CounterMetricFamily(
                "dogana_ladder_void_matches",
                "Attempts at matches that came to no result.",
                value=store.count_of_voids(),
            )
            yield GaugeMetricFamily("dogana_ladder_bots", "Bots.", value=len({one.bot for one in versions.values()}))
            yield GaugeMetricFamily("dogana_ladder_versions", "Versions of bots.", value=len(versions))
            yield GaugeMetricFamily(
                "dogana_ladder_open_matches",
                "Matches that are scheduled and not over.",
                value=sum(store.open_matches().values()),
            )
        yield GaugeMetricFamily(
            "dogana_ladder_playing_matches", "Matches that are being played.", value=len(playing(self._home))
        )
