"""Attackers of the pages and of the port of a served ladder: each tries its way at a real server, by raw bytes, on loopback.

While and after each, somebody else is answered, and nothing is left open.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

from ladder.http.requests.connections import Connections
from ladder.http.requests.visit import Site
from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.service.beside import serving
from referee.live.matches.server import Listen
from tests.cases import mostly_long
from tests.ladder.raw import PREFACE
from tests.ladder.watching import check_that_it_answers
from tests.patience import patient
from tests.web.conftest import Browse, new_ladder

SITE = Site(takes_bots=True)
HOST = b"Host: 127.0.0.1\r\n"
Attack = Callable[[tuple[str, int]], None]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return new_ladder(tmp_path / "ladder")


@pytest.fixture
def client(home: Home, browse: Browse) -> httpx.Client:
    return browse(home, SITE, connections=Connections(request_seconds=1.0))


def address_of(client: httpx.Client) -> tuple[str, int]:
    return client.base_url.host, client.base_url.port or 0


@contextlib.contextmanager
def connected(address: tuple[str, int], source: str = "") -> Iterator[socket.socket]:
    with socket.socket() as connection:
        connection.settimeout(patient(60))
        if source:
            connection.bind((source, 0))
        connection.connect(address)
        yield connection


def said(address: tuple[str, int], data: bytes, source: str = "", *, ends: bool = False) -> bytes:
    """What is answered to some bytes, until the other side ends the connection; `ends` ends this side at once."""
    answer = b""
    with connected(address, source) as connection, contextlib.suppress(OSError):
        connection.sendall(data)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(65536):
            answer += piece
    return answer


def answers(data: bytes) -> list[int]:
    """The statuses of all answers on a connection."""
    return [int(line.split()[1]) for line in data.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


# --- one request that is two --------------------------------------------------------------------------------

HIDDEN = b"GET /static/hidden HTTP/1.1\r\n" + HOST + b"\r\n"
SMUGGLED = {
    "a length and chunks": b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "two lengths": b"Content-Length: 0\r\nContent-Length: 40\r\n\r\n" + HIDDEN,
    "two lengths in one": b"Content-Length: 0, 40\r\n\r\n" + HIDDEN,
    "chunks by another name": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "chunks twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "a size with a sign": b"Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n" + HIDDEN,
    "a size of many digits": b"Transfer-Encoding: chunked\r\n\r\n" + b"0" * 30 + b"1\r\nx\r\n0\r\n\r\n" + HIDDEN,
    "a space before the colon": b"Content-Length : 40\r\n\r\n" + HIDDEN,
    "a folded header": b"Content-Length:\r\n 40\r\n\r\n" + HIDDEN,
    "a length with a sign": b"Content-Length: +0\r\n\r\n" + HIDDEN,
    "two hosts": b"Host: evil.example\r\n\r\n" + HIDDEN,
    "a nul": b"X: \x00\r\n\r\n" + HIDDEN,
}


@pytest.mark.parametrize("how", mostly_long(SMUGGLED, 0))
def test_a_request_that_hides_another_has_one_answer_at_most(client: httpx.Client, how: str) -> None:
    """A proxy before us may have read it in another way: what follows must be for nobody."""
    answer = said(address_of(client), b"POST /login HTTP/1.1\r\n" + HOST + SMUGGLED[how])
    assert len(answers(answer)) <= 1, answer
    assert answers(answer) in ([400], [401], [501], [])
    assert client.get("/login").status_code == 200


# --- another language ---------------------------------------------------------------------------------------

UPGRADES = {
    "websocket": b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
    "h2c": b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
    "tls": b"Upgrade: TLS/1.3\r\nConnection: Upgrade\r\n",
}


@pytest.mark.parametrize("to", mostly_long(UPGRADES, 0))
def test_nobody_talks_the_pages_into_another_protocol(client: httpx.Client, to: str) -> None:
    answer = said(address_of(client), b"GET /login HTTP/1.1\r\n" + HOST + UPGRADES[to] + b"\r\n")
    assert answers(answer) == [200]
    assert b"upgrade" not in answer.partition(b"\r\n\r\n")[0].lower()


@pytest.mark.parametrize(
    "method", mostly_long([b"GET http://evil.example/", b"CONNECT evil.example:443", b"PRI *", b"TRACE /"])
)
def test_the_pages_lead_nobody_elsewhere(client: httpx.Client, method: bytes) -> None:
    answer = said(address_of(client), method + b" HTTP/1.1\r\n" + HOST + b"X-Secret: sesame\r\n\r\n")
    assert not answers(answer) or answers(answer)[0] >= 400
    assert b"sesame" not in answer


# --- too much of it -----------------------------------------------------------------------------------------


def headers_without_end(address: tuple[str, int]) -> None:
    with connected(address) as connection, contextlib.suppress(OSError):
        connection.sendall(b"GET / HTTP/1.1\r\n" + HOST)
        while True:
            connection.sendall(b"X-More: " + b"y" * 1000 + b"\r\n")


def a_giant_cookie(address: tuple[str, int]) -> None:
    assert answers(said(address, b"GET /me HTTP/1.1\r\n" + HOST + b"Cookie: dogana=" + b"x" * 10**6 + b"\r\n\r\n")) in (
        [],
        [400],
    )


def a_thousand_cookies(address: tuple[str, int]) -> None:
    cookies = b"".join(b"Cookie: dogana=dgn_%08x_%s\r\n" % (number, b"x" * 32) for number in range(300))
    assert answers(said(address, b"GET /me HTTP/1.1\r\n" + HOST + cookies + b"\r\n")) in ([401], [400], [])


def a_body_without_end(address: tuple[str, int]) -> None:
    with connected(address) as connection, contextlib.suppress(OSError):
        connection.sendall(b"POST /login HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"400\r\n" + b"z" * 1024 + b"\r\n")


def a_hundred_pipelined(address: tuple[str, int]) -> None:
    assert answers(said(address, (b"GET /nothing HTTP/1.1\r\n" + HOST + b"\r\n") * 100))[:1] in ([404], [])


def empty_chunks_of_a_form(address: tuple[str, int]) -> None:
    with connected(address) as connection, contextlib.suppress(OSError):
        connection.sendall(b"POST /login HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:  # a byte at a time, so that it never is too long
            connection.sendall(b"1\r\na\r\n")
            time.sleep(0.02)


def tokens_from_many_addresses(address: tuple[str, int]) -> None:
    """Each has its own allowance of guesses; none of them learns anything."""
    for number in range(60):
        header = b"Authorization: Bearer dgn_%08x_%s\r\n" % (number, b"x" * 32)
        request = b"GET /api/v1/info HTTP/1.1\r\nConnection: close\r\n" + HOST + header + b"\r\n"
        assert answers(said(address, request, f"127.0.{number % 20 + 1}.{number % 200 + 2}")) == [401]


def names_of_another_site(address: tuple[str, int]) -> None:
    forged = b"Origin: http://evil.example\r\nSec-Fetch-Site: same-origin\r\nX-Forwarded-Host: 127.0.0.1\r\n"
    form = b"Content-Length: 7\r\n\r\ntoken=x"
    for path in (b"/login", b"/logout", b"/submit"):
        request = b"POST " + path + b" HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n" + forged + form
        assert answers(said(address, request))[:1] == [421]


def compressed_bodies(address: tuple[str, int]) -> None:
    head = b"POST /login HTTP/1.1\r\n" + HOST + b"Content-Encoding: gzip\r\nContent-Length: 20\r\n\r\n"
    assert answers(said(address, head + b"\x1f\x8b" + b"\x00" * 18))[0] in (400, 401)


def many_streams_of_events(address: tuple[str, int]) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            one = stack.enter_context(connected(address))
            one.sendall(b"GET /matches/0000000000000000/events HTTP/1.1\r\n" + HOST + b"\r\n")
        assert one.recv(100)


ATTACKS: list[Attack] = [
    headers_without_end,
    a_giant_cookie,
    a_thousand_cookies,
    a_body_without_end,
    a_hundred_pipelined,
    empty_chunks_of_a_form,
    tokens_from_many_addresses,
    names_of_another_site,
    compressed_bodies,
    many_streams_of_events,
]


def attacked(address: tuple[str, int], attack: Attack) -> None:
    """Attack the pages, and check that somebody else is answered meanwhile and afterwards."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            attack(address)
        except BaseException as error:
            failures.append(error)
            raise

    thread = threading.Thread(target=run)
    thread.start()
    with httpx.Client(base_url=f"http://{address[0]}:{address[1]}", timeout=patient(60)) as client:
        while thread.is_alive():
            assert client.get("/login").status_code == 200
            thread.join(0.05)
        assert failures == []
        assert client.get("/login").status_code == 200


@pytest.mark.parametrize("attack", mostly_long(ATTACKS, 2), ids=lambda attack: attack.__name__)
def test_an_attacker_ends_and_others_are_answered(home: Home, browse: Browse, attack: Attack) -> None:
    client = browse(home, SITE, connections=Connections(request_seconds=1.0), limits=Limits(form_seconds=1.0))
    attacked(address_of(client), attack)


# --- the port of streams -----------------------------------------------------------------------------------


def frames(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


SETTINGS = frames(4, 0, 0, b"")
TO_THE_PORT = {
    "headers that never end": PREFACE + SETTINGS + frames(1, 0, 1, b"\x82") + frames(9, 0, 1, b"\x00" * 1000) * 200,
    "resets": PREFACE + SETTINGS + b"".join(frames(3, 0, 2 * n + 1, b"\0\0\0\x08") for n in range(5000)),
    "pings": PREFACE + SETTINGS + frames(6, 0, 0, b"12345678") * 5000,
    "settings": PREFACE + SETTINGS * 5000,
    "no HTTP/2": b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n",
    "a frame of 16 MB": PREFACE + SETTINGS + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01" + b"x" * 100_000,
}


@pytest.mark.parametrize("what", TO_THE_PORT)
def test_what_is_no_call_keeps_nobody_from_the_ladder(home: Home, what: str) -> None:
    with serving(home, Listen("127.0.0.1:0")) as port, grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        for _ in range(5):
            said(("127.0.0.1", port), TO_THE_PORT[what], ends=True)
            check_that_it_answers(channel)


def test_streams_without_a_join_leave_the_port_to_others(home: Home) -> None:
    """More of them than may wait, from one address."""

    async def open_many(port: int) -> None:
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(6):
                options = [("grpc.use_local_subchannel_pool", 1)]
                channel = await stack.enter_async_context(grpc.aio.insecure_channel(f"127.0.0.1:{port}", options))
                play: Any = channel.stream_stream("/dogana.v1.Referee/Play")
                for _ in range(60):
                    await play().wait_for_connection()
            with grpc.insecure_channel(f"127.0.0.1:{port}") as another:
                await asyncio.to_thread(check_that_it_answers, another)

    with serving(home, Listen("127.0.0.1:0")) as port:
        asyncio.run(open_many(port))
