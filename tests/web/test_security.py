"""What strangers try at the pages: odd addresses, markup, slow and silent connections, forged headers. Real server, raw bytes."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest
from bs4 import BeautifulSoup
from uvicorn.protocols.http.h11_impl import H11Protocol

from ladder.facts.announcing import announce
from ladder.facts.store import Store
from ladder.http.api.api import PREFIX
from ladder.http.app import HEADERS, PAGES
from ladder.http.publishing.serving import listening
from ladder.http.requests.connections import Connections
from ladder.http.requests.hosts import names_of
from ladder.http.requests.prepared import PreparedResponse
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.operation.meter import Allowance, Meter
from referee.registry import games
from tests.cases import mostly_long
from tests.ladder.announced import terms
from tests.ladder.made import CONDITION
from tests.ladder.real_ladder import LOUD, played_ladder
from tests.patience import patient
from tests.referee.test_wire import certificate
from tests.web.conftest import Browse, browsing, new_ladder
from tests.web.served import serving_pages

SITE = Site(takes_bots=True, url="https://ladder.example:8780")
EVIL = "'\"><script>alert(1)</script><img src=x onerror=alert(2)>{{7717*7919}}"
LARGE = 60_000_000
SQL = "' or 1=1; drop table bots; --"


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder with a bot and an author whose names no door would let in."""
    home = played_ladder(tmp_path_factory.mktemp("shared") / "home", 6)
    with Store(home.database, create=False) as store, store.writing():
        store.file.write("update bots set name = ?, author = ? where name = 'good'", [f"{EVIL}{LOUD}", EVIL])
        store.file.write("update seat_results set detail = detail || ?", [EVIL])
    with Store(home.database, create=False) as store:
        announce(store, terms(conditions=(CONDITION,)))
    return home


@pytest.fixture(scope="module")
def client(shared_home: Home) -> Iterator[httpx.Client]:
    """For tests that change nothing."""
    with browsing(shared_home, SITE) as client:
        yield client


@pytest.fixture(scope="module")
def pages(client: httpx.Client, shared_home: Home) -> dict[str, httpx.Response]:
    """Every page, by its path."""
    return {path: client.get(path) for path in pages_of(shared_home)}


def raw(client: httpx.Client, head: bytes, body: bytes = b"") -> bytes:
    """Send bytes as they are, and read the whole answer."""
    with connected(client) as connection:
        connection.sendall(head + body)
        return read_all(connection)


@contextlib.contextmanager
def connected(client: httpx.Client) -> Iterator[socket.socket]:
    url = client.base_url
    with socket.create_connection((url.host, url.port or 0), 60) as connection:
        yield connection


def read_all(connection: socket.socket) -> bytes:
    data = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            data += piece
    return data


def is_let_go(connection: socket.socket, data: bytes) -> bool:
    """Send something again and again, until the other side ends the connection."""
    try:
        while True:
            connection.sendall(data)
            time.sleep(0.01)
    except ConnectionError:
        return True


def get(path: str, *headers: str, method: str = "GET", host: str = "x", close: bool = True) -> bytes:
    ending = ["Connection: close"] if close else []
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *ending, *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def status(answer: bytes) -> int:
    found = re.match(rb"HTTP/1\.1 (\d+) ", answer)
    assert found, answer[:200]
    return int(found[1])


def pages_of(home: Home) -> list[str]:
    """Every page of the ladder, those of the hostile bot included."""
    with Store(home.database, create=False) as store:
        bots = {version.bot for version in store.roster.versions().values()}
        found = [one.match_id for one in store.history.matches(20)]
        slugs = [condition.slug for condition in store.roster.conditions().values()]
    named: dict[tuple[str, ...], list[dict[str, str]]] = {
        (): [{}],
        ("game",): [{"game": game} for game in games()],
        ("game", "slug"): [{"game": "cargo_noir", "slug": slug} for slug in slugs],
        ("bot",): [{"bot": quote(bot, safe="")} for bot in bots],
        ("match",): [{"match": match} for match in found],
        ("event",): [{"event": "final"}],
    }
    names = {page: tuple(re.findall(r"{(\w+)}", page)) for page in PAGES}
    return [page.format(**one) for page, its in names.items() for one in named[its]]


# --- headers ------------------------------------------------------------------------------------------------


def test_every_answer_says_what_browsers_may_do_with_it(client: httpx.Client, pages: dict[str, httpx.Response]) -> None:
    asset = re.findall(r'"([^"]*static/[^"]*)"', pages["/"].text)[0]
    requests = [("GET", f"/{asset}"), ("HEAD", "/"), ("DELETE", "/"), ("POST", "/login"), ("POST", "/logout")]
    requests += [("GET", path) for path in ("/nothing", "/bots/", "/me", f"{PREFIX}/bots", f"{PREFIX}/nothing")]
    answers = [*pages.items(), *((path, client.request(method, path)) for method, path in requests)]
    for path, answer in answers:
        assert answer.status_code < 500, (path, answer.text)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value or "replay.html" in path, (path, name)
        assert "server" not in answer.headers
        assert "unsafe" not in answer.headers["content-security-policy"]


def test_a_failure_of_ours_is_a_page_that_tells_nothing(
    home: Home, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the secret is in /srv")

    monkeypatch.setattr("ladder.questions.desk.Desk.ask", fail)
    answer = browse(home, SITE).get("/bots")
    assert answer.status_code == 500
    assert "srv" not in answer.text
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]


@pytest.mark.parametrize("host", ["[", "evil.example", "", "a b", "x:99999", "[::1", "x" * 5000, "<script>", "x/../y"])
def test_the_host_that_a_stranger_names_is_never_believed(client: httpx.Client, host: str) -> None:
    """Never more than 400, and no link leads there."""
    for path in ("/", "/enter", "/bots/", "/feed.xml", "/login", f"{PREFIX}/info", "/nothing"):
        answer = raw(client, get(path, host=host))
        assert status(answer) < 500
        if host and host not in ("[", "a b"):
            assert host.encode() not in answer.replace(b'"x"', b"")


OURS = ["127.0.0.1:8780", "[::1]:8780", "localhost", "LOCALHOST.:99", "desk.localhost", "classroom-pc", "192.0.2.7", ""]


@pytest.mark.parametrize("host", OURS)
def test_pages_answer_to_addresses_and_to_names_that_nobody_can_own(client: httpx.Client, host: str) -> None:
    for path in ("/", f"{PREFIX}/info", "/login"):
        assert status(raw(client, get(path, host=host))) == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8780", "127.0.0.1.evil.example", "localhost.evil.example.", "[evil.example]:8780"],
)
def test_a_site_that_lets_its_name_lead_here_reads_nothing(client: httpx.Client, host: str) -> None:
    """DNS rebinding: for the browser our pages would be of the same origin as those of the other site, also for its forms."""
    same_origin = (f"Origin: http://{host}", "Sec-Fetch-Site: same-origin")
    for path in (
        "/",
        "/bots",
        f"{PREFIX}/standings",
        f"{PREFIX}/openapi.json",
        "/static/dogana.css",
        "/nothing",
        "/feed.xml",
    ):
        answer = raw(client, get(path, *same_origin, host=host))
        assert status(answer) == 421, path
        assert b"--host-name" in answer
        assert b"greedy" not in answer
    assert (
        status(raw(client, get("/login", *same_origin, "Content-Length: 7", method="POST", host=host), b"token=x"))
        == 421
    )


@pytest.mark.parametrize(
    ("site", "host"),
    [
        (Site(public_url="https://ladder.example/below"), "Ladder.example."),
        (Site(host_names=names_of(["desk.lan:8780"], [])), "desk.lan"),
        (Site(host_names=names_of(["0.0.0.0:8780"], ["Ladder.Example"])), "ladder.example:443"),
        (Site(host_names=names_of(["0.0.0.0:8780"], ["*"])), "evil.example"),
    ],
)
def test_pages_answer_to_the_names_that_their_organiser_has_said(
    home: Home, browse: Browse, site: Site, host: str
) -> None:
    client = browse(home, site)
    assert status(raw(client, get("/", host=host))) == 200
    assert status(raw(client, get("/", host="evil.example.example"))) == (200 if "*" in site.host_names else 421)


def test_what_cannot_be_done_says_what_can_in_the_form_that_is_wanted(client: httpx.Client) -> None:
    for path, methods in (
        ("/", "GET, HEAD"),
        ("/login", "GET, HEAD, POST"),
        ("/me/retire", "POST"),
        ("/no", "GET, HEAD"),
    ):
        for method in ("DELETE", "TRACE", "WHATEVER"):
            page = client.request(method, path)
            assert (page.status_code, page.headers["allow"]) == (405, methods), path
            assert page.headers["content-type"].startswith("text/html")
            plain = client.request(method, path, headers={"accept": "application/json"})
            assert (plain.status_code, plain.headers["allow"]) == (405, methods)
            assert plain.headers["content-type"].startswith("text/plain")
            assert len(plain.text.splitlines()) == 1


# --- addresses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/..%5capp.py",
        "/static//etc/passwd",
        "/static/dogana.css",
        "/static/%00",
        "/../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/bots/..%2f..%2fladder.db",
        "/matches/..%2fkey.pem",
        "/matches/..%2f..%2fkey.pem/record.jsonl",
        f"{PREFIX}/matches/..%2fkey.pem/record",
        "/games/..%2f..",
        "/%ff%fe",
        "/bots/%ed%a0%80",
        "/" + "a" * 8000,
        "/?" + "&".join(f"q{number}=1" for number in range(2000)),
        "/bots?q=" + "a" * 8000,
        "*",
        "http://evil.example/",
        "/\\evil.example",
        "/%0d%0aSet-Cookie:x=1",
        "/bots/%0d%0aSet-Cookie:x=1/",
    ],
)
def test_an_odd_address_leads_nowhere_else(client: httpx.Client, path: str) -> None:
    answer = raw(client, get(path))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert status(answer) in (200, 308, 400, 404, 414), answer[:300]
    assert b"root:" not in body
    assert b"PRIVATE KEY" not in body
    assert b"SQLite" not in body
    assert not re.search(rb"^set-cookie", head, re.I | re.M)
    for location in re.findall(rb"^location: (.*?)\r?$", head, re.I | re.M):
        assert re.match(rb"/(?![/\\])", location)


def test_what_is_no_request_or_too_long_is_refused_and_the_next_one_is_served(client: httpx.Client) -> None:
    for head in (
        b"\x16\x03\x01\x02\x00" + b"\x00" * 200,  # TLS where there is none
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\r\n\r\n",
        b"\x00" * 1000 + b"\r\n\r\n",
        get("/", "Cookie: dogana=" + "a" * 100_000),
        get("/", *(f"X-{number}: y" for number in range(20_000))),
        get("/", "Content-Length: 5", "Content-Length: 6"),
        get("/", "Transfer-Encoding: chunked, identity"),
        get("/login", "Transfer-Encoding: chunked", method="POST") + b"zz\r\n",
    ):
        with connected(client) as connection, contextlib.suppress(OSError):
            connection.sendall(head)
            connection.shutdown(socket.SHUT_WR)
            answer = read_all(connection)
            assert not answer or status(answer) in (400, 404, 405), head[:50]
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    "path", ["/{}", "/bots/{}", "/bots?page={}", "/games/cargo_noir/under/{}", "/matches/{}/record.jsonl"]
)
def test_of_a_long_address_little_is_said_again(client: httpx.Client, path: str) -> None:
    """Else who sends long ones keeps the connections of all others waiting."""
    short, long = (client.get(path.format("a" * length)) for length in (20, 50_000))
    assert long.status_code == short.status_code
    assert len(long.text) < len(short.text) + 1200


def test_methods_that_a_page_does_not_have_are_refused(client: httpx.Client, pages: dict[str, httpx.Response]) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"):
        for path in ("/", "/bots", "/enter", "/feed.xml", f"{PREFIX}/openapi.json"):
            answer = client.request(method, path)
            if (method, path) != ("OPTIONS", f"{PREFIX}/openapi.json"):
                assert answer.status_code == 405, (method, path)
    for page, whole in pages.items():
        head = client.head(page)
        assert (head.status_code, head.content) == (whole.status_code, b"")


# --- text of strangers --------------------------------------------------------------------------------------


def check_markup(answer: httpx.Response, path: str) -> None:
    assert answer.status_code < 500, (path, answer.text[:500])
    if "html" not in answer.headers["content-type"]:
        assert LOUD not in answer.text, path
        return
    page = BeautifulSoup(answer.text, "html.parser")
    assert not re.search("[\x00\x1b\u202e]", page.get_text()), path
    for tag in page.find_all(True):
        assert tag.name != "script" or (tag.get("src") and not tag.get_text(strip=True)), path
        assert tag.name != "img" or tag.get("src") != "x", path
        for name, value in tag.attrs.items():
            assert not name.startswith("on"), (path, name)
            assert name != "style", (path, name)
            if name in ("href", "src", "action"):
                there = urlsplit(str(value))
                assert there.scheme in ("", "https"), (path, value)
                assert not there.netloc or there.scheme == "https", (path, value)
    assert "<script>alert" not in answer.text, path
    assert str(7717 * 7919) not in answer.text  # a template within the text was not run


def test_markup_in_names_and_reasons_stays_text_on_every_page(pages: dict[str, httpx.Response]) -> None:
    seen = 0
    for path, answer in pages.items():
        check_markup(answer, path)
        seen += "alert(1)" in answer.text
    assert seen > 5


@pytest.mark.parametrize("text", mostly_long([EVIL, SQL, LOUD, "\x00%\\", "\ud800", "a" * 3000]))
def test_whatever_is_typed_stays_text(client: httpx.Client, shared_home: Home, text: str) -> None:
    """In every place of every page where something can be typed: names in the path, and the query."""
    typed = quote(text, safe="", errors="surrogatepass")
    names = [
        "q", "sort", "status", "page", "before", "after", "bot", "one", "other", "version", "lost", "out", "game",
        "what", "seat", "condition", "size",
    ]  # fmt: skip
    for page in PAGES:
        path = re.sub(r"{\w+}", typed, page)
        check_markup(client.get(path), path)
    for path in ("/bots", "/compare", "/games/cargo_noir", "/games/cargo_noir/matches", "/bots/best"):
        for name in names:
            check_markup(client.get(f"{path}?{name}={typed}"), f"{path}?{name}")
    for path in ("/login", "/me", "/me/log", "/submit"):
        check_markup(client.get(f"{path}?what={typed}&bot={typed}"), path)
    with Store(shared_home.database, create=False) as store:
        assert len(store.roster.versions()) == 5


def test_what_is_typed_into_forms_stays_text(home: Home, browse: Browse) -> None:
    client = browse(home, SITE)
    with Authors(home.database, create=False) as authors:
        token = authors.add("ann")
    client.post("/login", data={"token": token})
    for text in (EVIL, SQL, LOUD, "\x00", "a" * 3000):
        for path, data in (
            ("/login", {"token": text}),
            ("/me/retire", {"bot": text}),
            ("/me/requalify", {"bot": text}),
        ):
            check_markup(client.post(path, data=data), path)
        check_markup(client.post("/submit", data={"bot": text}, files={"file": (text, b"1")}), "/submit")
        check_markup(client.post("/submit", data={"bot": "ok", text: text}, files={"file": ("a.zip", b"1")}), "/submit")


def test_what_one_author_sees_is_kept_for_nobody_else(home: Home, browse: Browse) -> None:
    client = browse(home, SITE)
    with Authors(home.database, create=False) as authors:
        token = authors.add("zoe")
    client.post("/login", data={"token": token})
    for path in ("/", "/me", "/submit", "/login"):
        answer = client.get(path)
        assert "zoe" in answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert "etag" not in answer.headers
    client.cookies.clear()
    for path in ("/", "/me", "/submit", "/login"):
        assert "zoe" not in client.get(path).text


# --- connections --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "begin",
    [b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"\r\n"],
    ids=["silent", "head", "header", "empty line"],
)
def test_who_does_not_finish_a_request_is_let_go(home: Home, browse: Browse, begin: bytes) -> None:
    """Also who says a little from time to time."""
    client = browse(home, SITE, connections=Connections(request_seconds=0.5))
    with connected(client) as connection:
        connection.sendall(begin)
        stop = threading.Event()

        def trickle() -> None:
            with contextlib.suppress(OSError):
                while begin and not stop.wait(0.05):
                    connection.send(b"\r\n" if begin == b"\r\n" else b"y")

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            assert read_all(connection) in (b"",) or begin == b"\r\n"
        finally:
            stop.set()
            thread.join()
    assert client.get("/").status_code == 200


def test_a_form_that_comes_too_slowly_is_refused(home: Home, browse: Browse) -> None:
    client = browse(home, SITE, limits=Limits(form_seconds=0.3))
    with connected(client) as connection:
        connection.sendall(get("/login", "Content-Length: 100", method="POST", close=False) + b"token=")
        answer = read_all(connection)  # to its end: the connection is closed
        assert status(answer) == 408
        assert b"did not arrive within" in answer


@pytest.mark.long
def test_what_an_author_sends_may_take_longer(home: Home, browse: Browse) -> None:
    client = browse(home, SITE, connections=Connections(request_seconds=0.3), limits=Limits(form_seconds=0.3))
    with Authors(home.database, create=False) as authors:
        token = authors.add("ann")
    files = {"file": ("bot.py", b"print('not run')\n")}
    request = client.build_request("POST", "/submit", data={"bot": "slow"}, files=files)
    body = request.read()
    head = get(
        "/submit",
        f"Cookie: dogana={token}",
        f"Content-Type: {request.headers['content-type']}",
        f"Content-Length: {len(body)}",
        method="POST",
    )
    with connected(client) as connection:
        connection.sendall(head)
        for at in range(0, len(body), len(body) // 4):
            time.sleep(0.3)
            connection.sendall(body[at : at + len(body) // 4])
        assert status(read_all(connection)) == 303


@contextlib.contextmanager
def idle_connections(
    client: httpx.Client, count: int, addresses: tuple[str, ...], sends: bytes
) -> Iterator[list[socket.socket]]:
    """Connections from each of some addresses, which have said something and say nothing more."""
    url = client.base_url
    with contextlib.ExitStack() as stack:
        opened = []
        for number in range(count * len(addresses)):
            one = stack.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(patient(60))
            one.bind((addresses[number % len(addresses)], 0))
            one.connect((url.host, url.port))
            with contextlib.suppress(ConnectionError):
                one.sendall(sends)
            opened.append(one)
        yield opened


TWO = ("127.0.0.2", "127.0.0.3")


def test_unfinished_forms_of_two_addresses_keep_nobody_out(home: Home, browse: Browse) -> None:
    """Neither people elsewhere, nor those at the same address."""
    client = browse(home, SITE, connections=Connections(most=20), limits=Limits(form_seconds=600.0))
    unfinished = get("/login", "Content-Length: 100", method="POST") + b"tok"
    with idle_connections(client, 15, TWO, unfinished):
        for source in (*TWO, "127.0.0.1") * 2:
            transport = httpx.HTTPTransport(local_address=source)
            with httpx.Client(base_url=client.base_url, transport=transport, timeout=patient(60)) as person:
                for page in ("/", "/login", "/enter"):
                    assert person.get(page).status_code == 200, source


def test_a_request_that_arrives_while_the_server_is_busy_is_answered(
    home: Home, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server reads the request only when the time for it is over."""
    busy, sent = threading.Event(), threading.Event()
    accept = H11Protocol.connection_made

    def stay_busy() -> None:
        busy.set()
        sent.wait(patient(60))
        time.sleep(1.0)

    def accept_and_stay_busy(self: H11Protocol, transport: asyncio.Transport) -> None:
        accept(self, transport)
        asyncio.get_running_loop().call_soon(stay_busy)

    client = browse(home, SITE, connections=Connections(request_seconds=0.5))
    monkeypatch.setattr(H11Protocol, "connection_made", accept_and_stay_busy)
    with connected(client) as connection:
        assert busy.wait(patient(60))
        connection.sendall(b"GET /enter HTTP/1.1\r\nHost: x\r\n\r\n")
        sent.set()
        assert connection.recv(12) == b"HTTP/1.1 200"


@pytest.mark.long
def test_two_addresses_that_do_not_read_keep_nobody_out(
    home: Home, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ladder.http.api.api.description_of", lambda *_: PreparedResponse(bytes(LARGE), b"", '"large"', 200, ())
    )
    client = browse(home, SITE, connections=Connections(most=20), unread_seconds=600.0)
    with idle_connections(client, 15, TWO, get("/api/v1/openapi.json")):
        for _ in range(3):
            with httpx.Client(base_url=client.base_url, timeout=patient(60)) as person:
                assert person.get("/enter").status_code == 200


def test_a_body_that_nobody_asked_for_does_not_keep_a_connection(home: Home, browse: Browse) -> None:
    """The answer has come; what follows is not read for ever."""
    client = browse(home, SITE, connections=Connections(request_seconds=0.5))
    with connected(client) as connection:
        connection.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
        assert is_let_go(connection, b"x" * 100)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends such connections")
def test_who_does_not_read_an_answer_is_let_go(home: Home, browse: Browse) -> None:
    client = browse(home, SITE, unread_seconds=0.3)
    url = client.base_url
    connection = socket.socket()
    with connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((url.host, url.port))
        connection.settimeout(patient(60))
        assert is_let_go(connection, b"GET /enter HTTP/1.1\r\nHost: x\r\n\r\n" * 20)  # no answer is read
    assert client.get("/").status_code == 200


def test_no_connection_holds_the_end_of_an_answer_back_for_more() -> None:
    """Nagle's algorithm would, for 40 ms on a connection with one request after the other."""
    with listening("127.0.0.1:0") as bound, socket.create_connection(bound.getsockname()):
        accepted, _ = bound.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.long
def test_who_reads_slowly_gets_all(home: Home, browse: Browse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ladder.http.api.api.description_of", lambda *_: PreparedResponse(bytes(LARGE), b"", '"large"', 200, ())
    )
    client = browse(home, SITE, unread_seconds=1.5)
    with connected(client) as connection:
        connection.sendall(get("/api/v1/openapi.json"))
        began, length = time.monotonic(), 0
        while data := connection.recv(100_000):
            length += len(data)
            if time.monotonic() - began < 2.5 * 1.5:
                time.sleep(0.01)
    assert length > LARGE


def test_silent_connections_make_room_for_who_asks(home: Home, browse: Browse) -> None:
    """More of them than there are places."""
    client = browse(home, SITE, connections=Connections(most=5, request_seconds=600.0))
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(connected(client)) for _ in range(20)]
        for _ in range(3):
            assert client.get("/").status_code == 200
        assert [read_all(one) for one in silent[:10]] == [b""] * 10  # the oldest had to go


def test_a_request_under_way_stays_when_silent_connections_make_room(home: Home, browse: Browse) -> None:
    patiently = Connections(most=5, request_seconds=600.0)
    client = browse(home, SITE, connections=patiently, limits=Limits(form_seconds=600.0))
    with connected(client) as connection, contextlib.ExitStack() as stack:
        connection.sendall(get("/login", "Content-Length: 11", method="POST") + b"token=")
        # By now the server has read the head of the form. The idle connection of this request would be among those that
        # make room, perhaps while the client uses it again.
        assert client.get("/enter", headers={"connection": "close"}).status_code == 200
        for _ in range(20):
            stack.enter_context(connected(client))
        assert client.get("/enter").status_code == 200
        connection.sendall(b"wrong")
        assert status(read_all(connection)) == 401


# --- TLS ----------------------------------------------------------------------------------------------------


@pytest.fixture
def encrypt(home: Home, tmp_path: Path) -> Iterator[Browse]:
    """Serves the pages by TLS, with some limits, until the end of the test; returns what asks for them."""
    certificate(tmp_path)
    chain = (tmp_path / "cert.pem", tmp_path / "key.pem")
    context = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with contextlib.ExitStack() as stack:

        def client(connections: Connections | None = None) -> httpx.Client:
            url = stack.enter_context(serving_pages(home, SITE, certificate=chain, connections=connections))
            return stack.enter_context(httpx.Client(base_url=url, verify=context, timeout=patient(60)))

        yield client


def test_pages_are_served_by_tls_and_the_cookie_stays_on_it(encrypt: Browse, home: Home) -> None:
    encrypted = encrypt()
    with Authors(home.database, create=False) as authors:
        token = authors.add("ann")
    answer = encrypted.post("/login", data={"token": token})
    assert answer.headers["set-cookie"].startswith("__Host-dogana=")
    assert "Secure" in answer.headers["set-cookie"]
    assert encrypted.get("/me").status_code == 200
    with connected(encrypted) as plain:
        plain.sendall(get("/"))
        assert not re.match(rb"HTTP/1.1 200", read_all(plain))


@pytest.mark.parametrize("begin", [b"", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/1.1\r\n\r\n"])
def test_who_does_not_come_to_speak_tls_is_let_go(encrypt: Browse, begin: bytes) -> None:
    impatient, patient_one = encrypt(Connections(request_seconds=0.5)), encrypt()
    with connected(impatient) as connection:
        connection.sendall(begin)
        assert not re.match(rb"HTTP", read_all(connection))
    assert patient_one.get("/enter").status_code == 200


def test_silent_connections_make_room_before_they_are_encrypted(encrypt: Browse) -> None:
    """Each takes a third of a megabyte: a few thousand of them would take all memory."""
    encrypted = encrypt(Connections(most=5, request_seconds=600.0))
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(connected(encrypted)) for _ in range(20)]
        assert encrypted.get("/enter").status_code == 200
        for one in silent[:10]:  # the oldest had to go, long before anybody else would have ended them
            one.settimeout(patient(30))
            assert read_all(one) == b""


@pytest.mark.parametrize(
    ("proxy", "statuses"), [("", [401, 429]), ("127.0.0.1", [401, 401]), ("192.0.2.1", [401, 429])]
)
def test_who_asks_is_whom_the_proxy_names_if_there_is_one(
    tmp_path: Path, browse: Browse, proxy: str, statuses: list[int]
) -> None:
    one_guess = Limits(guesses=Meter(Allowance("wrong tokens", 1, 60)))
    client = browse(new_ladder(tmp_path / "ladder"), Site(takes_bots=True, proxy=proxy), limits=one_guess)
    answers = [
        client.post("/login", data={"token": "dgn_wrong"}, headers={"x-forwarded-for": address})
        for address in ("198.51.100.1", "198.51.100.2")
    ]
    assert [answer.status_code for answer in answers] == statuses
