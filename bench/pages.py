"""Measure the rate at which a ladder serves its pages, compared with that of a bare page of the same framework.

The ladder and the bare page each have a process of their own.

A page is measured at one address, as when browsers look at the same ladder, and at addresses that nobody has requested before,
for which the page is built each time.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from itertools import count, islice, repeat
from pathlib import Path
from statistics import median

from bench.ladder import make
from bench.matches import ENVIRONMENT
from bench.report import Report

ROUNDS, REQUESTS = 5, 20
MATCHES, VERSIONS = 20_000, 300
PAGES = ("/", "/games/cargo_noir", "/games/cargo_noir/matches", "/bots", "/bots/bot7")
BARE = """
import uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
body = "<!DOCTYPE html><title>bare</title>" + "<p>nothing</p>" * 1500
async def page(request):
    return HTMLResponse(body)
uvicorn.run(Starlette(routes=[Route("/", page)]), port=0, access_log=False)
"""


@contextmanager
def served(words: Sequence[str]) -> Iterator[HTTPConnection]:
    """Start a server; yield a connection to the first address that it prints."""
    with subprocess.Popen(
        [sys.executable, *words], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if found := re.search(r"http://([\d.]+):(\d+)", line):
                    yield HTTPConnection(found[1], int(found[2]))
                    return
            raise RuntimeError(f"{words[0]} {words[1]} does not serve")
        finally:
            process.terminate()


def seconds(connection: HTTPConnection, addresses: Sequence[str]) -> float:
    """Return the mean seconds per page, for successive requests over one connection."""
    connection.connect()
    began = time.perf_counter()
    for address in addresses:
        connection.request("GET", address)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, f"{address}: {answer.status}"
    took = time.perf_counter() - began
    connection.close()
    return took / len(addresses)


def add_rows(report: Report) -> None:
    """Measure each page and a bare page alternately."""
    report.section(f"Pages of a ladder of {MATCHES:,} matches, one reader")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        make(Path(folder), MATCHES, VERSIONS).close()
        home = str(Path(folder) / str(MATCHES))
        web = ["-m", "ladder", "ladder", "web", "--home", home, "--listen", "127.0.0.1:0"]
        bare, ours = stack.enter_context(served(["-c", BARE])), stack.enter_context(served(web))
        for page in PAGES:
            seconds(ours, [page])  # the first request builds it
            # The numbers continue from round to round, so that no address is requested twice.
            anew = (f"{page}?n={number}" for number in count())
            for kind, addresses in (("again", repeat(page)), ("made anew", anew)):
                rounds = [
                    (seconds(ours, list(islice(addresses, REQUESTS))), seconds(bare, ["/"] * REQUESTS))
                    for _ in range(report.rounds(ROUNDS))
                ]
                took, other = (median(times) for times in zip(*rounds, strict=True))
                ratio = median(one / bare_page for one, bare_page in rounds)
                report.ratio(f"{page}, {kind}", _figure(took), f"a bare page {_figure(other)}", ratio)


def _figure(seconds: float) -> str:
    return f"{1 / seconds:,.0f} /s, {seconds * 1e3:.1f} ms each"
