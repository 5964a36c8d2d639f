"""What programs change with the token of an author, and that nobody else can do it for them."""

from __future__ import annotations

import hashlib
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from ladder.facts.store import Store
from ladder.http.api.api import PREFIX
from ladder.http.requests.changes import Changes
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.operation.meter import Allowance, Meter
from referee.bots.files import MAX_BYTES, taken_in
from tests.ladder.noted import Noted, noted
from tests.patience import patient, wait_until
from tests.web.conftest import BOT, Browse

__all__ = ["noted"]

SITE = Site(takes_bots=True)


@pytest.fixture
def client(home: Home, browse: Browse) -> httpx.Client:
    return browse(home, SITE)


def send(client: httpx.Client, token: str, data: bytes = BOT, body: Any = None, **other: str) -> httpx.Response:
    """Submit a bot; `body` is sent in the place of the data that were announced."""
    announced = {"bot": "sent", "file": "bot.py", "sha256": hashlib.sha256(data).hexdigest(), **other}
    return client.post(
        f"{PREFIX}/submissions",
        params={name: value for name, value in announced.items() if value},
        content=data if body is None else body,
        headers={"authorization": f"Bearer {token}"} if token else {},
    )


def change(client: httpx.Client, what: str, token: str, **fields: object) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return client.post(f"{PREFIX}/{what}", json=fields, headers=headers)


def said(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["error"]["message"])


def wait_for_no_uploads(home: Home) -> None:
    wait_until(lambda: not list(home.versions.glob(".*")))


def test_a_bot_is_submitted_and_the_same_files_are_the_same_version(
    client: httpx.Client, tokens: dict[str, str], noted: Noted
) -> None:
    first = send(client, tokens["new"])
    assert first.headers["cache-control"] == "no-store"
    assert (first.json()["version"], first.json()["is_new"], first.json()["author"]) == (1, True, "new")
    assert not send(client, tokens["new"]).json()["is_new"]
    event, fields = noted.events[0]
    assert (event, fields["did"], fields["about"], fields["author"]) == ("change", "submit", "sent v1", "new")


def test_a_submitted_bot_comes_back_to_its_author_and_to_nobody_else(
    client: httpx.Client, tokens: dict[str, str], tmp_path: Path
) -> None:
    sent = send(client, tokens["new"]).json()

    def files(**headers: str) -> httpx.Response:
        return client.get(f"{PREFIX}/bots/sent/files", headers=headers)

    got = files(authorization=f"Bearer {tokens['new']}")
    assert got.headers["content-disposition"] == 'attachment; filename="sent-v1.tar.gz"'
    assert got.headers["cache-control"] == "no-store"
    (tmp_path / "sent.tar.gz").write_bytes(got.content)
    with taken_in(tmp_path / "sent.tar.gz") as (_, artefact):
        assert artefact.content_hash == sent["content_hash"]
    assert files(authorization=f"Bearer {tokens['eve']}").status_code == 403
    assert files().status_code == 403


def test_an_upload_that_is_not_right_is_refused_and_leaves_nothing(
    client: httpx.Client, home: Home, tokens: dict[str, str]
) -> None:
    uploads: list[tuple[bytes, Any, dict[str, str], str]] = [
        (BOT, BOT[:-1] + b"x", {}, "did not arrive as it was sent"),
        (BOT, BOT[:-1], {}, "did not arrive as it was sent"),
        (BOT, b"", {}, "did not arrive as it was sent"),
        (BOT, iter([BOT]), {}, "say beforehand how long"),  # in chunks: what an author sends is counted by the length
        (BOT, None, {"sha256": ""}, "sha256 must be given"),
        (BOT, None, {"bot": ""}, "bot must be given"),
        (BOT, None, {"bot": "x" * 201}, "bot has more than 200 characters"),
        (BOT, None, {"more": "x"}, "there is no parameter 'more'"),
        (BOT, None, {"executable": "perhaps"}, "true or false"),
        (BOT, None, {"file": "../../evil.py"}, "the name of a submitted file"),
        (BOT, None, {"file": ".hidden"}, "the name of a submitted file"),
        (BOT, None, {"bot": "a b"}, "a bot's name must be"),
        (BOT, None, {"bot": "greedy"}, "reserved"),
        (BOT, None, {"bot": "best"}, "another author's"),
        (b"PK\x03\x04", None, {"file": "x.zip"}, "damaged archive"),
    ]
    for data, body, other, reason in uploads:
        status, why = said(send(client, tokens["new"], data, body, **other))
        assert 400 <= status < 500, reason
        assert reason in why
        assert str(home.folder) not in why
        wait_for_no_uploads(home)


def test_a_bot_that_is_too_large_is_refused_before_it_comes(client: httpx.Client, tokens: dict[str, str]) -> None:
    url = client.base_url
    head = (
        f"POST {PREFIX}/submissions?bot=b&file=b.py&sha256=0 HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {tokens['new']}\r\nContent-Length: {MAX_BYTES + 1}\r\n\r\n"
    )
    with socket.create_connection((url.host, url.port or 0), patient(60)) as raw:
        raw.sendall(head.encode())
        raw.shutdown(socket.SHUT_WR)
        assert not raw.recv(4096).startswith(b"HTTP/1.1 200")


def test_only_the_token_of_an_author_changes_something(
    client: httpx.Client, home: Home, tokens: dict[str, str], noted: Noted
) -> None:
    """Not that of another author, none at all, or a cookie, which browsers send for pages of other sites, too."""
    assert said(change(client, "retire", "", bot="best"))[0] == 403
    assert said(change(client, "retire", tokens["ann"], bot="best")) == (403, "best is another author's bot")
    assert said(change(client, "retire", "dgn_00000000_" + "x" * 32, bot="best"))[0] == 401
    assert said(send(client, ""))[0] == 403
    client.cookies.set("dogana", tokens["eve"])
    for what in ("retire", "requalify", "at-tables"):
        assert said(change(client, what, "", bot="best"))[0] == 403
    assert said(send(client, ""))[0] == 403
    with Store(home.database, create=False) as store:
        assert not store.admission.retired()
        assert not store.roster.versions_called("sent")
    assert {event for event, _ in noted.events} == {"refused"}


def test_a_page_of_another_site_changes_nothing_even_where_it_may_ask(
    home: Home, tokens: dict[str, str], browse: Browse
) -> None:
    client = browse(home, Site(takes_bots=True, cors_origins=frozenset("*")))
    headers = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    for path in ("/retire", "/submissions"):
        preflight = client.options(PREFIX + path, headers=headers)
        assert preflight.status_code == 405
        assert "POST" not in preflight.headers.get("access-control-allow-methods", "")


def test_what_is_no_change_is_refused_in_words(client: httpx.Client, tokens: dict[str, str]) -> None:
    headers = {"authorization": f"Bearer {tokens['eve']}"}
    for body in (
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"bot": 1}',
        b'{"bot": "best", "more": 1}',
        b"\xff",
        b'{"bot": "\xff"}',
        b"x" * 20_000,
    ):
        status, why = said(client.post(f"{PREFIX}/retire", content=body, headers=headers))
        assert status == 400, body[:20]
        assert "RetireRequest" in why or "more than" in why


@pytest.mark.parametrize("name", ["more", "bot[", "bot[x"])
def test_a_bot_with_an_unknown_parameter_is_refused_in_words(
    client: httpx.Client, tokens: dict[str, str], name: str
) -> None:
    assert said(send(client, tokens["new"], BOT, None, **{name: "1"}))[0] == 400


def test_a_ladder_that_only_shows_itself_takes_nothing(home: Home, tokens: dict[str, str], browse: Browse) -> None:
    client = browse(home, Site())
    for answer in (change(client, "retire", tokens["eve"], bot="best"), send(client, tokens["eve"])):
        assert answer.status_code in (404, 405)
    assert {
        one for operations in client.get(f"{PREFIX}/openapi.json").json()["paths"].values() for one in operations
    } == {"get"}


def test_browser_and_programs_have_one_allowance_of_submissions(
    home: Home, tokens: dict[str, str], browse: Browse
) -> None:
    client = browse(home, SITE, limits=Limits(submissions=Meter(Allowance("submissions", 2, 86_400))))
    client.post("/login", data={"token": tokens["new"]}, headers={"sec-fetch-site": "same-origin"})
    by_form = client.post("/submit", data={"bot": "mybot"}, files={"file": ("bot.py", BOT)})
    assert by_form.status_code == 303
    assert send(client, tokens["new"]).status_code == 200
    refused = send(client, tokens["new"], b"another")
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 60


def test_a_second_chance_counts_as_a_submission(home: Home, tokens: dict[str, str], browse: Browse) -> None:
    client = browse(home, SITE, limits=Limits(submissions=Meter(Allowance("submissions", 1, 86_400))))
    assert change(client, "requalify", tokens["eve"], bot="best").status_code == 400  # it needs none
    assert change(client, "requalify", tokens["eve"], bot="best").status_code == 429


def test_an_upload_ends_though_its_pieces_keep_coming(home: Home, tokens: dict[str, str], browse: Browse) -> None:
    url = browse(home, SITE, limits=Limits(upload_seconds=0.2)).base_url
    with socket.create_connection((url.host, url.port or 0), patient(60)) as raw:
        raw.sendall(head_of_an_upload(tokens["new"]))
        while not select.select([raw], [], [], 0.05)[0]:
            raw.sendall(b"x")
        said = b""
        while b"did not arrive within 0.2 s" not in said:
            more = raw.recv(65536)
            assert more, said
            said += more
    wait_for_no_uploads(home)


def head_of_an_upload(token: str) -> bytes:
    return (
        f"POST {PREFIX}/submissions?bot=slow&file=b.py&sha256=0 HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: 100000\r\n\r\nbegin"
    ).encode()


@pytest.fixture
def begun(home: Home, tokens: dict[str, str], browse: Browse) -> Iterator[tuple[httpx.Client, socket.socket]]:
    """An upload of which only the beginning comes, and a client."""
    client = browse(home, SITE, limits=Limits(piece_seconds=patient(0.5)))
    url = client.base_url
    with socket.create_connection((url.host, url.port or 0), patient(60)) as raw:
        raw.sendall(head_of_an_upload(tokens["new"]))
        wait_until(lambda: list(home.versions.glob(".receiving-*")))
        yield client, raw


def test_an_upload_that_stops_keeps_its_author_from_another_until_it_is_forgotten(
    home: Home, tokens: dict[str, str], begun: tuple[httpx.Client, socket.socket]
) -> None:
    client, raw = begun
    assert said(send(client, tokens["new"]))[0] == 429
    assert send(client, tokens["ann"]).status_code == 200
    assert b" 400 " in raw.recv(65536)
    wait_for_no_uploads(home)
    raw.close()
    wait_until(lambda: send(client, tokens["new"], bot="again").status_code == 200)


@pytest.mark.parametrize("by", ["program", "browser"])
def test_what_is_still_being_sent_when_its_token_is_revoked_is_not_taken_in(
    home: Home, client: httpx.Client, tokens: dict[str, str], by: str
) -> None:
    path = f"{PREFIX}/submissions?bot=late&file=bot.py&sha256={hashlib.sha256(BOT).hexdigest()}"
    whole = httpx.Request("POST", client.base_url.join(path), content=BOT)
    whole.headers["authorization"] = f"Bearer {tokens['new']}"
    if by == "browser":
        whole = httpx.Request(
            "POST", client.base_url.join("/submit"), data={"bot": "late"}, files={"file": ("bot.py", BOT)}
        )
        whole.headers["cookie"] = f"dogana={tokens['new']}"
    data = whole.read()

    def revoked_meanwhile() -> Iterator[bytes]:
        middle = data.index(BOT) + 1
        yield data[:middle]
        wait_until(lambda: list(home.versions.glob(".receiving-*")))
        with Authors(home.database, create=False) as authors:
            authors.revoke("new")
        yield data[middle:]

    assert client.post(whole.url, content=revoked_meanwhile(), headers=whole.headers).status_code == 401
    wait_for_no_uploads(home)
    with Store(home.database, create=False) as store:
        assert "late" not in {one.bot for one in store.roster.versions().values()}


async def test_a_bot_that_has_arrived_may_take_longer_to_be_taken_in_than_to_arrive() -> None:
    limits = Limits(upload_seconds=0.05)
    changes, upload = Changes(limits), Mock()
    upload.take_in.side_effect = lambda *, executable: time.sleep(2 * limits.upload_seconds)
    async with changes.uploading("ann") as limit:
        await changes.take_in(upload, limit, executable=False)
    changes.threads.close()
