"""The nginx of docs/pages.md before the pages: what it hands on, and attacks that are its job."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.operation.meter import Allowance, Meter
from tests.cases import mostly_long
from tests.patience import patient, wait_until
from tests.referee.test_wire import certificate
from tests.web.conftest import new_ladder
from tests.web.served import serving_pages
from tests.web.test_attackers import ATTACKS, HOST, SMUGGLED, Attack, answers, attacked, connected, said

ROOT = Path(__file__).resolve().parents[2]
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = [
    pytest.mark.skipif(NGINX is None, reason="nginx is missing: apt-get install nginx-light"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is missing: apt-get install openssl"),
]
SITE = Site(takes_bots=True, proxy="127.0.0.1")
OUTSIDE = """
daemon off;
worker_processes 1;
{user}
pid {folder}/nginx.pid;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    lingering_time 2s;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {inside}
}}
"""


def documented() -> str:
    """The configuration of the docs."""
    [found] = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs" / "pages.md").read_text(), re.DOTALL)
    return str(found)


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def nginx(folder: Path, pages: str, *changes: tuple[str, str], connections: int = 1000) -> Iterator[tuple[str, int]]:
    """Let nginx stand before pages as the docs say, with some changes; yield its address."""
    assert NGINX is not None
    certificate(folder)
    with socket.create_server(("127.0.0.1", 0), backlog=512) as bound:  # inherited, so that nobody else takes the port
        address = bound.getsockname()
        inside = changed(
            documented(),
            *changes,
            ("listen 443", f"listen 127.0.0.1:{address[1]}"),
            ("/etc/letsencrypt/live/ladder.example/fullchain.pem", f"{folder}/cert.pem"),
            ("/etc/letsencrypt/live/ladder.example/privkey.pem", f"{folder}/key.pem"),
            ("http://127.0.0.1:8780", pages),
        )
        user = "" if os.geteuid() else "user root;"  # nobody else may look into the folder
        outside = OUTSIDE.format(folder=folder, connections=connections, user=user, inside=inside)
        (folder / "nginx.conf").write_text(outside)
        process = subprocess.Popen(
            [NGINX, "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(folder / "nginx.conf")],
            env={"NGINX": f"{bound.fileno()};"},
            pass_fds=[bound.fileno()],
        )
    try:
        while not (folder / "nginx.pid").exists():
            assert process.poll() is None, (folder / "error.log").read_text()
            time.sleep(0.01)
        yield address
    finally:
        process.terminate()
        process.wait()


PLAIN = ("443 ssl", "443")
SOON = ("client_header_timeout 10s", "client_header_timeout 1s")
QUICK = (PLAIN, SOON, ("keepalive_timeout 15s", "keepalive_timeout 1s"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return new_ladder(tmp_path / "ladder")


@pytest.fixture
def proxied(home: Home, tmp_path: Path) -> Iterator[Callable[..., tuple[str, int]]]:
    """Serves the pages behind nginx until the end of the test, and returns the address of the proxy."""
    with contextlib.ExitStack() as stack:

        def proxy(*changes: tuple[str, str], limits: Limits | None = None, connections: int = 1000) -> tuple[str, int]:
            pages = stack.enter_context(serving_pages(home, SITE, limits=limits))
            return stack.enter_context(nginx(tmp_path, pages, *changes, connections=connections))

        yield proxy


def status_of_a_page(address: tuple[str, int], source: str = "127.0.0.1") -> int:
    transport = httpx.HTTPTransport(local_address=source)
    with httpx.Client(transport=transport, timeout=patient(60)) as client:
        return client.get(f"http://{address[0]}:{address[1]}/enter").status_code


def test_an_author_logs_in_and_submits_through_the_proxy(
    home: Home, proxied: Callable[..., tuple[str, int]], tmp_path: Path
) -> None:
    """By TLS, with the cookie of an encrypted site, and forms of the same origin."""
    with Authors(home.database, create=False) as authors:
        token = authors.add("ann")
    url = f"https://localhost:{proxied()[1]}"
    context = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with httpx.Client(base_url=url, verify=context, timeout=patient(60), headers={"origin": url}) as client:
        assert client.get("/").status_code == 200
        entered = client.post("/login", data={"token": token})
        assert entered.headers["set-cookie"].startswith("__Host-dogana=")
        sent = client.post("/submit", data={"bot": "mine"}, files={"file": ("bot.py", b"print()\n" * 100_000)})
        assert (sent.status_code, sent.headers["location"]) == (303, "me/bots/mine?sent=new")
        assert client.get("/matches/0123456789abcdef/events").status_code == 204
        assert client.post("/login", data={"token": token}, headers={"origin": "https://evil.example"}).is_error


def test_the_caller_is_the_one_that_the_proxy_sees_whatever_he_says(proxied: Callable[..., tuple[str, int]]) -> None:
    address = proxied(PLAIN, limits=Limits(guesses=Meter(Allowance("wrong tokens", 1, 60))))
    form = b"Content-Length: 15\r\n\r\ntoken=dgn_wrong"
    for source, status in (("127.0.0.2", 401), ("127.0.0.2", 429), ("127.0.0.3", 401)):
        head = b"POST /login HTTP/1.1\r\nConnection: close\r\nX-Forwarded-For: 198.51.100.1\r\n" + HOST
        assert answers(said(address, head + form, source)) == [status]


@pytest.mark.parametrize("begin", mostly_long([b"\x16\x03\x01\x02\x00\x01", b""]), ids=["part of a hello", "silent"])
def test_who_does_not_come_to_speak_tls_is_let_go(proxied: Callable[..., tuple[str, int]], begin: bytes) -> None:
    assert said(proxied(SOON), begin) == b""


@pytest.mark.parametrize("begin", mostly_long([b"GET / HTTP/1.1\r\nX-Slow: ", b""]), ids=["head", "silent"])
def test_who_does_not_finish_a_request_is_let_go(proxied: Callable[..., tuple[str, int]], begin: bytes) -> None:
    address = proxied(*QUICK)
    assert answers(said(address, begin)) in ([], [408])
    assert status_of_a_page(address) == 200


def test_one_address_cannot_end_the_upload_of_another(home: Home, proxied: Callable[..., tuple[str, int]]) -> None:
    """Though it has more unfinished requests than it may."""
    with Authors(home.database, create=False) as authors:
        token = authors.add("ann").encode()
    body = (
        b'--x\r\nContent-Disposition: form-data; name="bot"\r\n\r\nslow\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="bot.py"\r\n\r\n'
        + b"print()\n" * 100
        + b"\r\n--x--\r\n"
    )
    head = b"POST /submit HTTP/1.1\r\nConnection: close\r\nCookie: dogana=%s\r\nContent-Length: %d\r\n" % (
        token,
        len(body),
    )
    address = proxied(PLAIN, ("limit_conn callers 256", "limit_conn callers 4"))
    with contextlib.ExitStack() as stack:
        upload = stack.enter_context(connected(address, "127.0.0.3"))
        upload.sendall(head + b"Content-Type: multipart/form-data; boundary=x\r\n" + HOST + b"\r\n" + body[:-50])
        wait_until(lambda: list(home.versions.glob(".receiving-*")))
        for _ in range(20):
            one = stack.enter_context(connected(address, "127.0.0.2"))
            one.sendall(b"POST /login HTTP/1.1\r\nContent-Length: 100\r\n" + HOST + b"\r\ntok")
        assert answers(one.recv(65536)) == [503]
        assert status_of_a_page(address) == 200
        upload.sendall(body[-50:])
        assert answers(upload.recv(65536)) == [303]


def test_silent_connections_make_room_for_who_asks(proxied: Callable[..., tuple[str, int]]) -> None:
    """More of them than nginx takes."""
    address = proxied(PLAIN, ("client_header_timeout 10s", "client_header_timeout 600s"), connections=32)
    with contextlib.ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connected(address))
        for _ in range(3):
            assert status_of_a_page(address) == 200


@pytest.mark.parametrize("how", mostly_long(SMUGGLED, 0))
def test_a_request_that_may_hide_another_is_refused_or_clearly_two(
    proxied: Callable[..., tuple[str, int]], how: str
) -> None:
    """nginx sends on only what it has understood itself, so the pages understand the same."""
    address = proxied(*QUICK)
    answer = said(address, b"POST /login HTTP/1.1\r\n" + HOST + SMUGGLED[how], ends=True)
    assert answers(answer) in ([400], [401], [501], [401, 404], [])
    assert status_of_a_page(address) == 200


@pytest.mark.parametrize("attack", mostly_long(ATTACKS, 1), ids=lambda attack: attack.__name__)
def test_an_attacker_ends_and_others_are_answered(proxied: Callable[..., tuple[str, int]], attack: Attack) -> None:
    attacked(proxied(*QUICK), attack)
