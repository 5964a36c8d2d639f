"""How soon a page of a ladder begins to come, beside a bare page of the same framework: `python -m bench.first_byte HOME`.

Both are served by processes of their own in the same way, and asked in turn. A page is measured as it is kept, and as it is when
it must be made anew because the ladder has changed.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

import uvicorn
from rich.console import Console
from rich.table import Table
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from bench.asked import PAGES
from ladder.http.publishing.serving import config_of, listening, serve_pages
from ladder.http.requests.asked import Site
from ladder.operation.home import Home

ROUNDS = 200
AIM = 3.0
BODY = "<!DOCTYPE html><title>bare</title>" + "<p>nothing</p>" * 1500


def _bare(bound: socket.socket) -> None:
    async def page(request: Request) -> HTMLResponse:
        return HTMLResponse(BODY)

    uvicorn.Server(config_of(Starlette(routes=[Route("/", page)]))).run([bound])


def _ladder(home: Home, bound: socket.socket) -> None:
    serve_pages(home, Site(), bound)


@contextmanager
def _served(target: Callable[..., None], *words: object) -> Iterator[HTTPConnection]:
    with listening("127.0.0.1:0") as bound:
        process = multiprocessing.get_context("spawn").Process(target=target, args=(*words, bound))
        process.start()
        connection = HTTPConnection("127.0.0.1", bound.getsockname()[1])
        try:
            yield connection
        finally:
            connection.close()
            process.terminate()
            process.join()


def _first_byte(connection: HTTPConnection, page: str) -> float:
    """Return how many seconds pass until an answer begins."""
    began = time.perf_counter()
    connection.request("GET", page)
    answer = connection.getresponse()
    took = time.perf_counter() - began
    answer.read()
    assert answer.status == 200, f"{page}: {answer.status}"
    return took


def measure(home: Home, rounds: int = ROUNDS) -> Iterator[tuple[str, float, float, float]]:
    """Yield for each page the median seconds until it begins: of the bare one, of ours as kept, of ours made anew."""
    with ExitStack() as stack:
        bare, ours = stack.enter_context(_served(_bare)), stack.enter_context(_served(_ladder, home))
        for page in PAGES:
            taken: list[tuple[float, float, float]] = []
            for number in range(rounds):
                # An address that nobody has asked for before; answers for programs are made anew each time.
                anew = _first_byte(ours, page if page.startswith("/api/") else f"{page}?n={number}")
                kept = _first_byte(ours, page)
                taken.append((_first_byte(bare, "/"), kept, anew))
            yield page, *(median(column) for column in zip(*taken, strict=True))


def main() -> None:
    """Print the table."""
    table = Table("page", "bare", "kept", "ratio", "aim", "", "made anew", title=f"load {os.getloadavg()[0]:.1f}")
    for page, bare, kept, anew in measure(Home(Path(sys.argv[1]))):
        ratio = kept / bare
        judged = "OK" if ratio <= AIM else "SHORT"
        table.add_row(
            page,
            f"{bare * 1e3:.2f} ms",
            f"{kept * 1e3:.2f} ms",
            f"{ratio:.2f}",
            f"<= {AIM}",
            judged,
            f"{anew * 1e3:.1f} ms",
        )
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
