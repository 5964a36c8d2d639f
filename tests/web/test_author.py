"""What authors do in a browser: log in, send bots, see what went wrong, take bots out; and that nobody else can do it for them."""

from __future__ import annotations

import io
import re
import resource
import socket
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from bs4 import BeautifulSoup

from ladder.facts.store import Store
from ladder.http.pages.enter import ten_lines
from ladder.http.requests.hosts import public_url_of
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.intake.submission import submit
from ladder.model.match import Version
from ladder.operation import journal
from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.operation.meter import Allowance, Meter
from ladder.questions.desk import Desk
from ladder.questions.standings import TopRequest
from referee.game import Game
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.records.record import RecordWriter, header
from referee.registry import find, shipped_board
from tests.ladder.archived import put_logs, put_record
from tests.ladder.noted import Noted, noted
from tests.ladder.real_ladder import FAULTY, LOUD
from tests.patience import patient
from tests.web.conftest import BOT, Browse, soup

__all__ = ["noted"]

ROOT = Path(__file__).resolve().parents[2]
SITE = Site(takes_bots=True, url="https://ladder.example:8780")


@pytest.fixture
def client(home: Home, browse: Browse) -> httpx.Client:
    """A browser, as far as these pages can tell."""
    client = browse(home, SITE)
    client.headers["sec-fetch-site"] = "same-origin"
    return client


def log_in(client: httpx.Client, token: str) -> httpx.Response:
    return client.post("/login", data={"token": token})


@pytest.fixture
def ann(client: httpx.Client, tokens: dict[str, str]) -> httpx.Client:
    """The browser of an author with a bot that fails."""
    log_in(client, tokens["ann"])
    return client


@pytest.fixture
def newcomer(client: httpx.Client, tokens: dict[str, str]) -> httpx.Client:
    """The browser of an author without bots."""
    log_in(client, tokens["new"])
    return client


def send(client: httpx.Client, bot: str, content: bytes = BOT, name: str = "bot.py") -> httpx.Response:
    return client.post("/submit", data={"bot": bot}, files={"file": (name, content)})


def reason_in(answer: httpx.Response) -> str:
    found = soup(answer).select_one(".notice")
    assert found is not None
    return found.get_text(" ", strip=True)


def versions(home: Home, bot: str) -> int:
    with Store(home.database, create=False) as store:
        return len(store.roster.versions_called(bot))


# --- in and out ---------------------------------------------------------------------------------------------


def test_an_author_logs_in_with_the_token_and_out_again(client: httpx.Client, tokens: dict[str, str]) -> None:
    answer = log_in(client, f"  {tokens['ann']} \n")
    assert (answer.status_code, answer.headers["location"]) == (303, "me")
    cookie = answer.headers["set-cookie"]
    for said in ("dogana=", "HttpOnly", "SameSite=lax", "Path=/"):
        assert said in cookie
    assert "Secure" not in cookie  # this connection is not encrypted
    assert "Max-Age" not in cookie  # it ends with the browser
    page = client.get("/me")
    assert "logged in as ann" in soup(page).get_text(" ", strip=True)
    assert page.headers["cache-control"] == "no-store"
    assert "Cookie" in page.headers["vary"]
    assert client.post("/logout").status_code == 303
    assert "dogana" not in client.cookies
    assert client.get("/me").status_code == 401


@pytest.mark.parametrize("url", ["https://ladder.example", "HTTPS://Ladder.Example/"])
def test_where_the_pages_are_encrypted_the_cookie_is_for_this_host_and_tls_alone(
    home: Home, tokens: dict[str, str], browse: Browse, url: str
) -> None:
    client = browse(home, Site(takes_bots=True, public_url=public_url_of(url)))
    cookie = log_in(client, tokens["ann"]).headers["set-cookie"]
    assert cookie.startswith("__Host-dogana=")
    assert "Secure" in cookie
    client.cookies.clear()
    assert (
        client.get("/me", headers={"cookie": f"dogana={tokens['ann']}"}).status_code == 401
    )  # another host may set it
    assert client.get("/me", headers={"cookie": f"__Host-dogana={tokens['ann']}"}).status_code == 200


@pytest.mark.parametrize("token", ["<script>1", "ä" * 50])
def test_a_wrong_token_is_refused_and_not_shown_again(client: httpx.Client, tokens: dict[str, str], token: str) -> None:
    answer = log_in(client, token)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "unknown" in reason_in(answer)
    assert token not in answer.text


def test_a_token_that_is_revoked_ends_what_it_allowed_at_once(
    client: httpx.Client, home: Home, tokens: dict[str, str]
) -> None:
    log_in(client, tokens["ann"])
    assert client.get("/me").status_code == 200
    with Authors(home.database, create=False) as authors:
        authors.revoke("ann")
    assert client.get("/me").status_code == 401
    assert client.post("/me/retire", data={"bot": FAULTY}).status_code == 401
    assert "revoked" in reason_in(log_in(client, tokens["ann"]))


def test_logging_in_gives_the_cookie_of_the_token_whatever_cookie_was_there(
    client: httpx.Client, tokens: dict[str, str]
) -> None:
    client.cookies.set("dogana", tokens["eve"], domain="127.0.0.1")
    answer = log_in(client, tokens["ann"])
    assert tokens["ann"] in answer.headers["set-cookie"]
    assert tokens["eve"] not in answer.headers["set-cookie"]


def test_cookies_with_wrong_tokens_are_looked_up_so_often_and_no_more(
    home: Home, tokens: dict[str, str], browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond that a visitor is anybody; whose cookie is good is an author all the while."""
    looked_up: list[str] = []
    author_of = Authors.author_of

    def spy(self: Authors, given: str) -> str:
        looked_up.append(given)
        return author_of(self, given)

    monkeypatch.setattr(Authors, "author_of", spy)
    client = browse(home, SITE, limits=Limits(guesses=Meter(Allowance("wrong tokens", 3, 86_400))))
    wrong, good = f"dgn_{'0' * 8}_{'x' * 32}", tokens["ann"]
    for _ in range(10):
        assert client.get("/", headers={"cookie": f"dogana={wrong}"}).status_code == 200
        assert client.get("/me", headers={"cookie": f"dogana={wrong}"}).status_code == 401
        assert client.get("/me", headers={"cookie": f"dogana={good}"}).status_code == 200
    assert looked_up.count(wrong) == 3


def test_wrong_tokens_are_in_the_journal_and_no_token_is(
    client: httpx.Client, tokens: dict[str, str], noted: Noted
) -> None:
    log_in(client, "dgn_00000000_" + "a" * 32)
    log_in(client, tokens["ann"])
    send(client, "mybot")
    events = [event for event, _ in noted.events]
    assert events == ["refused", "logged_in", "change"]
    assert noted.events[-1][1] == {"did": "submit", "about": "mybot v1", "address": "127.0.0.1", "author": "ann"}
    assert noted.events[0][1]["address"] == "127.0.0.1"
    for secret in ("a" * 32, tokens["ann"].rpartition("_")[2]):
        assert not any(secret in line for line in noted.lines)
    assert journal.form_of_this_process() is None


# --- another site -------------------------------------------------------------------------------------------

POSTS = ["/login", "/logout", "/me/retire", "/me/requalify", "/me/at-tables", "/submit"]


def test_a_form_on_another_site_changes_nothing(home: Home, tokens: dict[str, str], browse: Browse) -> None:
    client = browse(home, SITE)
    cookies = {"cookie": f"dogana={tokens['ann']}"}
    foreign: list[dict[str, str]] = [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1"},
    ]
    for path, headers in product(POSTS, foreign):
        answer = client.post(path, data={"bot": FAULTY, "token": tokens["eve"]}, headers={**cookies, **headers})
        assert answer.status_code == 403, (path, headers)
        assert "set-cookie" not in answer.headers, path
    with Store(home.database, create=False) as store:
        assert not store.admission.retired()


def test_where_browsers_tell_the_origin_alone_it_must_be_ours(
    home: Home, tokens: dict[str, str], browse: Browse
) -> None:
    site = replace(SITE, host_names=frozenset({"ladder.example"}))
    unnamed, named = browse(home, site), browse(home, replace(site, public_url="https://ladder.example"))
    for client, host, origin, status in (
        (unnamed, "ladder.example", "http://ladder.example", 303),
        (unnamed, "ladder.example", "https://ladder.example", 303),  # a proxy that says nothing of TLS
        (named, "ladder.example", "https://ladder.example", 303),
        (named, "ladder.example", "http://ladder.example", 403),
        (named, "127.0.0.1:8780", "https://ladder.example", 303),  # a proxy that changes the host
        (named, "127.0.0.1:8780", "https://evil.example", 403),
        (unnamed, "", "null", 403),
        (unnamed, "", "https://", 403),
    ):
        client.cookies.clear()
        answer = client.post("/login", data={"token": tokens["ann"]}, headers={"host": host, "origin": origin})
        assert answer.status_code == status, (client is named, host, origin)


def test_nothing_is_changed_by_a_link(client: httpx.Client, home: Home, tokens: dict[str, str]) -> None:
    log_in(client, tokens["ann"])
    for path in POSTS:
        client.get(path, params={"bot": FAULTY, "token": tokens["eve"]})
        assert tokens["ann"] == client.cookies["dogana"], path
    with Store(home.database, create=False) as store:
        assert not store.admission.retired()


# --- sending a bot ------------------------------------------------------------------------------------------


def test_a_bot_that_is_sent_is_a_version_and_its_page_says_that_it_waits(newcomer: httpx.Client, home: Home) -> None:
    answer = send(newcomer, "mybot")
    assert (answer.status_code, answer.headers["location"]) == (303, "me/bots/mybot?sent=new")
    page = newcomer.get("/me/bots/mybot?sent=new")
    assert "It is in" in reason_in(page)
    assert "qualifies now" in page.text
    assert page.text.count("data-refresh") == 1
    with Authors(home.database, create=False) as authors:
        [act] = authors.acts(1)
        assert (act.who, act.did, act.about) == ("new", "submit", "mybot v1")
    again = send(newcomer, "mybot")
    assert again.headers["location"] == "me/bots/mybot?sent=v1"
    assert versions(home, "mybot") == 1
    assert send(newcomer, "mybot", b"print(2)\n").headers["location"] == "me/bots/mybot?sent=new"
    assert versions(home, "mybot") == 2


def test_what_comes_from_a_downloads_folder_is_taken_in_without_the_folder(newcomer: httpx.Client, home: Home) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("main.py", "import helper\n" + "# long\n" * 50_000)
        archive.writestr("helper.py", "")
        archive.writestr("bot.toml", 'run = ["python", "main.py"]\ngames = ["cargo_noir"]\n')
    assert send(newcomer, "packed", data.getvalue(), "C:\\Downloads\\my bot (1).zip").status_code == 303
    with Store(home.database, create=False) as store:
        [version] = store.roster.versions_called("packed")
    assert version.games == ("cargo_noir",)
    assert list(home.versions.glob(".receiving-*")) == []
    assert send(newcomer, "single").headers["location"].endswith("sent=new")
    assert send(newcomer, "single", BOT, "folder/bot.py").headers["location"].endswith("sent=v1")


def test_a_program_can_be_run_though_browsers_do_not_say_so(newcomer: httpx.Client, home: Home) -> None:
    assert send(newcomer, "script", b"#!/bin/sh\nexit 0\n", "bot").status_code == 303
    answer = send(newcomer, "text", b"exit 0\n", "bot")
    assert answer.status_code == 400
    assert "bot" in reason_in(answer)


def test_a_refusal_says_why_and_keeps_what_was_typed(newcomer: httpx.Client, home: Home) -> None:
    for bot, file, content, says in (
        ("<img src=x>", "bot.py", BOT, "1 to 40 letters"),
        ("best", "bot.py", BOT, "another author"),
        ("mybot", "bot.zip", b"PK not really", "damaged"),
        ("mybot", "", b"", "choose a file"),
    ):
        answer = newcomer.post("/submit", data={"bot": bot}, files={"file": (file, content)})
        assert answer.status_code in (400, 403), says
        assert says in reason_in(answer)
        field = soup(answer).select_one("input[name=bot]")
        assert field is not None
        assert field["value"] == bot
        assert "choose it again" in answer.text
        assert str(home.folder) not in answer.text
        assert "<img" not in answer.text
    assert versions(home, "mybot") == 0
    assert list(home.versions.glob(".receiving-*")) == []


def test_a_form_that_is_none_is_refused(newcomer: httpx.Client, home: Home) -> None:
    head = {"content-type": "multipart/form-data; boundary=x"}
    part = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    file = b'; filename="a.py"'
    bodies = {
        b"nonsense": head,
        part % (b"bot", b"", b"mybot") + b"--x--\r\n": head,  # no file
        part % (b"file", file, b"1") + part % (b"bot", b"", b"mybot") + b"--x--\r\n": head,  # the name too late
        part % (b"bot", b"", b"mybot") + part % (b"file", file, b"1"): head,  # no end
        part % (b"bot", b"", b"mybot") + 2 * (part % (b"file", file, b"1")) + b"--x--\r\n": head,  # two files
        part % (b"bot", b"", b"m" * 50_000) + b"--x--\r\n": head,
        200 * (part % (b"bot", b"", b"")) + b"--x--\r\n": head,
        b"a" * 30_000: head,
        b"--x\r\n" + b"A" * 30_000 + b": 1\r\n\r\n--x--\r\n": head,
        b"bot=mybot": {"content-type": "application/x-www-form-urlencoded"},
        b"{}": {"content-type": "multipart/form-data"},
        b"": {"content-type": "multipart/form-data; boundary=" + "y" * 3000},
    }
    for body, headers in bodies.items():
        answer = newcomer.post("/submit", content=body, headers=headers)
        assert answer.status_code == 400, (body[:50], answer.text)
        assert reason_in(answer)
    assert versions(home, "mybot") == 0
    assert list(home.versions.glob(".receiving-*")) == []


def test_what_is_too_long_is_refused_before_it_is_read(client: httpx.Client, tokens: dict[str, str]) -> None:
    """Only the head is sent: the answer comes all the same."""
    url = client.base_url
    for length in ("999999999999", "-1", "x"):
        with socket.create_connection((url.host, url.port or 0), 30) as raw:
            head = f"POST /submit HTTP/1.1\r\nHost: x\r\nCookie: dogana={tokens['new']}\r\nContent-Length: {length}\r\n\r\n"
            raw.sendall(head.encode())
            assert re.match(rb"HTTP/1.1 4\d\d ", raw.recv(4096))


def test_a_bot_in_chunks_is_refused_also_if_a_length_is_named(client: httpx.Client, tokens: dict[str, str]) -> None:
    """What an author sends in a day is counted by the length, and then it would mean nothing."""
    url = client.base_url
    with socket.create_connection((url.host, url.port or 0), 30) as raw:
        head = f"POST /submit HTTP/1.1\r\nHost: x\r\nCookie: dogana={tokens['new']}\r\nContent-Length: 1\r\n"
        raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n".encode())
        answer = b""
        while b"</html>" not in answer and (more := raw.recv(65536)):
            answer += more
        assert "say beforehand how long the request is" in answer.decode()


def beginning_of_an_upload(token: str) -> str:
    """The beginning of a request that sends a bot, which stops in its file."""
    return (
        f"POST /submit HTTP/1.1\r\nHost: x\r\nCookie: dogana={token}\r\nContent-Length: 100000\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\n\r\n"
        '--x\r\nContent-Disposition: form-data; name="bot"\r\n\r\nslow\r\n'
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\nbegin'
    )


def test_an_upload_that_stops_is_forgotten_and_another_may_begin(
    home: Home, tokens: dict[str, str], browse: Browse
) -> None:
    client = browse(home, SITE, limits=Limits(piece_seconds=0.5))
    url = client.base_url
    head = beginning_of_an_upload(tokens["new"])
    with socket.create_connection((url.host, url.port or 0), 60) as raw:
        raw.sendall(head.encode())
        log_in(client, tokens["new"])
        with socket.create_connection((url.host, url.port or 0), 60) as second:
            second.sendall(head.encode())
            answers = [raw.recv(65536), second.recv(65536)]
    said = b" ".join(answers)
    assert b" 400 " in said  # nothing came for too long
    wait_for_no_uploads(home)
    assert send(client, "mybot").status_code == 303


def test_a_full_disk_is_reported_and_nothing_is_left_of_what_came(
    newcomer: httpx.Client, home: Home, noted: Noted
) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, limits[1]))  # for the system that is as good as a full disk
    try:
        answer = send(newcomer, "mybot", b"#" * 3_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert answer.status_code == 503
    assert "cannot do that now: File too large" in reason_in(answer)
    assert str(home.folder) not in answer.text
    assert not list(home.versions.glob(".*"))
    event, fields = noted.events[-1]
    assert (event, fields["method"], fields["author"]) == ("failed", "submit", "new")
    assert send(newcomer, "mybot").status_code == 303


def test_bots_that_take_long_to_be_taken_in_keep_nobody_from_logging_in(
    home: Home, browse: Browse, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And none that has arrived is refused because others are taken in."""
    going, begun = threading.Event(), threading.Semaphore(0)

    def slow(*words: Any, **options: Any) -> Any:
        begun.release()
        assert going.wait(patient(60))
        return submit(*words, **options)

    monkeypatch.setattr("ladder.questions.desk.submit", slow)
    client = browse(home, SITE, limits=Limits(thread_seconds=0.5))
    with ExitStack() as stack, ThreadPoolExecutor() as others:
        browsers = {
            name: stack.enter_context(httpx.Client(base_url=client.base_url, timeout=patient(60))) for name in tokens
        }
        for name, browser in browsers.items():
            assert log_in(browser, tokens[name]).status_code == 303
        sent = [others.submit(send, browser, f"bot-of-{name}") for name, browser in browsers.items()]
        try:
            assert begun.acquire(timeout=patient(60))
            while len(list(home.versions.glob(".receiving-*"))) < len(sent):
                assert not any(one.done() for one in sent)
                time.sleep(0.01)
            assert log_in(client, tokens["ann"]).status_code == 303
            assert client.post("/me/retire", data={"bot": FAULTY}).status_code == 303
        finally:
            going.set()
        assert [one.result().status_code for one in sent] == [303] * len(sent)


def wait_for_no_uploads(home: Home) -> None:
    tries = threading.Event()
    while list(home.versions.glob(".receiving-*")):
        tries.wait(0.01)


def test_one_bot_of_an_author_is_sent_at_a_time(client: httpx.Client, home: Home, tokens: dict[str, str]) -> None:
    log_in(client, tokens["new"])
    url = client.base_url
    head = beginning_of_an_upload(tokens["new"])
    with socket.create_connection((url.host, url.port or 0), 60) as raw:
        raw.sendall(head.encode())
        tries = threading.Event()
        while not list(home.versions.glob(".receiving-*")):
            tries.wait(0.01)
        answer = send(client, "mybot")
        assert answer.status_code == 429
        assert "already being sent" in reason_in(answer)
        assert int(answer.headers["retry-after"]) > 0
    wait_for_no_uploads(home)
    assert send(client, "mybot").status_code == 303


def test_on_a_full_disk_authors_are_known_still(home: Home, tokens: dict[str, str]) -> None:
    """That a token was used today is noted, but need not be."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Authors(home.database, create=False) as authors:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        try:
            author = authors.author_of(tokens["ann"])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert author == "ann"
        assert not authors.tokens()[0].used_at


def test_a_link_says_nothing_in_our_name(ann: httpx.Client) -> None:
    for sent, said in (("new", "The ladder tries it now"), ("v1", "Nothing new"), ("Call 555", None)):
        notice = soup(ann.get(f"/me/bots/{FAULTY}", params={"sent": sent})).select_one(".notice")
        assert (notice is not None and said in notice.text) if said else notice is None, sent


def test_submissions_have_an_allowance_that_the_page_tells(home: Home, tokens: dict[str, str], browse: Browse) -> None:
    client = browse(home, SITE, limits=Limits(submissions=Meter(Allowance("submissions", 2, 86_400))))
    log_in(client, tokens["new"])
    assert "may send 2 bots now" in " ".join(soup(client.get("/submit")).get_text().split())
    assert send(client, "no name!").status_code == 400  # costs nothing
    for number in range(2):
        assert send(client, "mybot", b"# %d" % number).status_code == 303
    answer = send(client, "mybot", b"# 3")
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 60
    assert "submissions" in reason_in(answer)
    assert "as many as you may" in client.get("/submit").text
    other = browse(home, SITE, limits=Limits(uploaded=Meter(Allowance("bytes of submissions", 10, 86_400))))
    log_in(other, tokens["new"])
    assert "more than is ever allowed" in reason_in(send(other, "mybot", b"# 4"))


# --- one's own bots -----------------------------------------------------------------------------------------


def test_an_author_sees_what_went_wrong_since_the_last_version(ann: httpx.Client) -> None:
    page = soup(ann.get("/me"))
    [_, faults] = page.select("table")
    assert faults.caption is not None
    rows = faults.select("tbody tr")
    assert rows
    for row in rows:
        assert f"{FAULTY} v1" in row.get_text()
        assert "crash" in row.get_text()
        link = row.select_one("a[href^='me/log']")
        assert link is not None
        log = ann.get(f"/{link['href']}")
        assert log.status_code == 200
        assert "first line of seat" in log.text
        assert LOUD not in log.text
        assert "\\x1b[2J\\u202e" in log.text
    assert LOUD not in str(page)
    assert ann.get("/me/log", params={"what": FAULTY}).status_code == 200


def test_what_a_bot_wrote_is_for_its_author_alone(client: httpx.Client, home: Home, tokens: dict[str, str]) -> None:
    log_in(client, tokens["eve"])
    for what in (FAULTY, f"{FAULTY} v1"):
        assert client.get("/me/log", params={"what": what}).status_code == 403
    assert client.get(f"/me/bots/{FAULTY}").status_code == 403
    with Store(home.database, create=False) as store:
        [match, *_] = store.history.matches(1, versions=store.roster.find_versions(FAULTY))
    seat = next(one.seat for one in match.seats if one.version.bot == FAULTY)
    answer = client.get("/me/log", params={"what": match.match_id, "seat": str(seat)})
    assert answer.status_code >= 400
    assert "first line" not in answer.text


def test_a_log_that_is_not_there_is_a_page_that_says_so(ann: httpx.Client) -> None:
    for query in (
        "",
        "what=zz",
        "what=zz&seat=-1",
        "what=zz&seat=one",
        "what=zz&seat=99999999999",
        "what=%00",
        "what=../x",
    ):
        answer = ann.get(f"/me/log?{query}")
        assert answer.status_code in (400, 404), query
        assert reason_in(answer)


def test_a_bot_that_has_not_qualified_shows_why_and_what_it_wrote(ann: httpx.Client, home: Home) -> None:
    with Store(home.database, create=False) as store:
        [version] = store.roster.versions_called(FAULTY)
        [condition] = store.roster.conditions().values()
        store.admission.qualify(version.id, condition, passed=False, reason=f"it crashed {LOUD}<b>")
    page = ann.get(f"/me/bots/{FAULTY}")
    assert "not qualified" in page.text
    assert "it crashed \\x1b[2J\\u202e&lt;b&gt;" in page.text
    assert "first line of seat" in page.text or "thinking" in page.text
    assert "Let it qualify once more" in page.text
    answer = ann.post("/me/requalify", data={"bot": FAULTY})
    assert (answer.status_code, answer.headers["location"]) == (303, f"../me/bots/{FAULTY}")
    assert "Let it qualify once more" not in ann.get(f"/me/bots/{FAULTY}").text
    with Authors(home.database, create=False) as authors:
        assert authors.acts(1)[0].did == "requalify"


def tried(home: Home, version: Version, game: Game, clock: str, wrote: str) -> None:
    """What is left of a match that was to qualify a version."""
    match = f"qualify-{version.id}-{game.name}"
    setup = game.setup(2, {}, shipped_board(game))
    path = home.record(match)
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = RecordWriter(path)
    bots = [version.label, "random v1"]
    writer.append(header(MatchPlan(game, setup, match, 1, bots, TimeControl.parse(clock))))
    writer.finish()
    put_record(home, match, path.read_bytes())
    put_logs(home, match, {"seat0.log": wrote.encode()})


def test_the_log_of_a_bot_that_has_not_qualified_is_that_of_the_trial_that_failed(
    ann: httpx.Client, home: Home
) -> None:
    good, bad = find("yunnan"), find("venezia")
    with Store(home.database, create=False) as store:
        version, _ = store.roster.add_version("both", "ann", "hash of both", ["./bot"], [good.name, bad.name])
        for game, passed in ((good, True), (bad, False)):
            condition = store.roster.condition(game.name, {}, "10+1/10")
            store.admission.qualify(
                version.id, condition, passed=passed, reason="" if passed else "crash: exited with status 1"
            )
            if not passed:
                tried(home, version, game, condition.clock, "a gondola has sunk")
        tried(home, version, good, "10+1/10", "tea was sold")
    page = ann.get("/me/bots/both")
    assert "What it wrote when it failed to qualify" in page.text
    assert "a gondola has sunk" in page.text
    assert "tea was sold" not in page.text
    assert "a gondola has sunk" in ann.get("/me/log", params={"what": "both"}).text


def test_an_author_sees_the_places_of_their_bots(client: httpx.Client, home: Home, tokens: dict[str, str]) -> None:
    listed = Desk(home).ask(TopRequest()).tables
    places = {one.bot: str(one.place) for table in listed for one in table.versions if one.place is not None}
    assert len(set(places.values())) > 1
    for whose, bot in (("ann", FAULTY), ("eve", "best")):
        log_in(client, tokens[whose])
        for page in ("/me", f"/me/bots/{bot}"):
            document = soup(client.get(page))
            column = [cell.text for cell in document.select_one("thead").select("th")].index("Place")  # type: ignore[union-attr]
            assert document.select_one("tbody tr").select("th, td")[column].text == places[bot]  # type: ignore[union-attr]


def test_a_bot_is_retired_and_comes_back(ann: httpx.Client, home: Home) -> None:
    assert ann.post("/me/retire", data={"bot": FAULTY}).headers["location"] == f"../me/bots/{FAULTY}"
    with Store(home.database, create=False) as store:
        assert store.admission.retired() == {store.roster.versions_called(FAULTY)[0].id}
    with Authors(home.database, create=False) as authors:
        assert (authors.acts(1)[0].who, authors.acts(1)[0].did) == ("ann", "retire")
    assert ">Retire it" not in ann.get(f"/me/bots/{FAULTY}").text
    assert ann.post("/me/requalify", data={"bot": FAULTY}).status_code == 303
    with Store(home.database, create=False) as store:
        assert not store.admission.retired()


def test_nobody_changes_a_bot_of_another(ann: httpx.Client, home: Home) -> None:
    statuses = {"best": 403, "greedy": 404, "nobody": 404, "": 404, "../x": 404}
    for path, bot in product(("/me/retire", "/me/requalify", "/me/at-tables"), statuses):
        assert ann.post(path, data={"bot": bot, "at_tables": "yes"}).status_code == statuses[bot], (path, bot)
    with Store(home.database, create=False) as store:
        assert not store.admission.retired()
        assert not store.roster.at_tables()


def test_an_author_lets_people_play_against_a_bot_and_takes_that_back(ann: httpx.Client, home: Home) -> None:
    assert "People cannot play against it." in ann.get(f"/me/bots/{FAULTY}").text
    for said, now in (("yes", "People may play against it"), ("no", "People cannot play against it.")):
        answer = ann.post("/me/at-tables", data={"bot": FAULTY, "at_tables": said})
        assert answer.headers["location"] == f"../me/bots/{FAULTY}"
        assert now in ann.get(f"/me/bots/{FAULTY}").text
    with Authors(home.database, create=False) as authors:
        acts = [(act.who, act.did, act.about) for act in authors.acts(2)]
    assert acts == [("ann", "at-tables", f"{FAULTY}: no"), ("ann", "at-tables", f"{FAULTY}: yes")]


def test_a_bot_is_sent_with_consent_or_as_a_rule_without(newcomer: httpx.Client, home: Home) -> None:
    send(newcomer, "shy")
    data = {"bot": "bold", "at_tables": "yes"}
    assert newcomer.post("/submit", data=data, files={"file": ("bot.py", BOT)}).status_code == 303
    with Store(home.database, create=False) as store:
        assert store.roster.at_tables() == {"bold"}


def test_who_is_not_logged_in_is_asked_to(client: httpx.Client) -> None:
    for path in ("/me", "/submit", "/me/log?what=x", "/me/bots/best"):
        answer = client.get(path)
        assert answer.status_code == 401
        assert soup(answer).select_one("form[action$=login]") is not None
    for path in ("/me/retire", "/me/requalify", "/me/at-tables", "/submit"):
        assert client.post(path, data={"bot": "best"}).status_code == 401


def test_pages_that_only_show_take_no_bots(home: Home, browse: Browse) -> None:
    client = browse(home, Site())
    for path in ("/login", "/me", "/submit"):
        assert client.get(path).status_code == 404
        assert client.post(path).status_code == 405
    assert soup(client.get("/enter")).select_one("a[href$=login], a[href$=submit], a[href$=me]") is None


def test_a_form_with_too_much_in_it_is_refused(client: httpx.Client) -> None:
    assert client.post("/login", content=b"token=" + b"a" * 100_000).status_code == 400
    assert client.post("/login", content=b"&" * 10_000).status_code == 400
    assert client.post("/login", content=b"\xff\xfe").status_code == 400


# --- how to enter -------------------------------------------------------------------------------------------


def test_the_bot_in_ten_lines_is_that_of_the_readme() -> None:
    assert f"```python\n{ten_lines()}```" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("site", [SITE, Site()], ids=["takes bots", "shows alone"])
def test_how_to_enter_tells_how_to_install_and_where_logs_are(home: Home, browse: Browse, site: Site) -> None:
    text = " ".join(soup(browse(home, site).get("/enter")).get_text(" ").split())
    assert "pip install ." in text
    where = "at My bots when you are logged in, or by" if site.takes_bots else "by"
    server = site.url or "URL"
    assert f"The output of your bot is shown to you alone: {where} dogana ladder log mybot --server {server} ." in text


def test_the_commands_have_the_address_of_this_ladder_whatever_the_browser_asked_for(
    home: Home, browse: Browse
) -> None:
    page = browse(home, replace(SITE, host_names=frozenset("*"))).get("/enter", headers={"host": "evil.example"})
    assert "dogana ladder submit mybot.py --name mybot --server https://ladder.example:8780" in page.text
    assert "evil" not in page.text
    _, block, *_ = BeautifulSoup(page.text, "html.parser").select("pre")
    assert block.get_text() == ten_lines()
