"""A client and a server of different versions: what one of them does not know is ignored, or said in a line."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ladder.commands.where import Where
from ladder.facts.store import Store
from ladder.http.api.api import PREFIX, questions_by_path
from ladder.http.api.openapi import SUBMISSIONS
from ladder.http.api.reading import read_request
from ladder.http.publishing.serving import config_of, listening
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.desk import Desk
from ladder.questions.match import RecordRequest
from ladder.questions.question import Question, document
from ladder.service.login import Login, remember
from tests.commands.conftest import Dogana
from tests.ladder.in_process import dogana
from tests.ladder.real_ladder import FAULTY, played_ladder
from tests.patience import wait_until

__all__ = ["dogana"]

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return played_ladder(tmp_path_factory.mktemp("shared") / "home", 6)


MAPS = ("options", "faults")
"""Objects whose fields are names that a ladder chooses."""


def parts(answer: Any) -> Iterator[dict[str, Any]]:
    """An answer and all objects inside."""
    if isinstance(answer, dict):
        yield answer
        answer = [value for name, value in answer.items() if name not in MAPS]
    for inside in answer if isinstance(answer, list) else ():
        yield from parts(inside)


def application(home: Home, paths: set[str], change: Change) -> Starlette:
    """The questions of a ladder as another version answers them: those that it knows, with a change to all that it says."""

    def endpoint(question: Question) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            found = document(Desk(home).ask(read_request(request, question.request)))
            said = json.loads(json.dumps(found))
            for part in list(parts(said)):
                change(part)
            return JSONResponse(said)

        return answer

    async def nothing(request: Request) -> Response:
        message = f"there is no page {request.url.path}"
        return JSONResponse({"error": {"code": "not_found", "message": message}}, 404)

    async def taken_in(request: Request) -> Response:
        await request.body()
        return JSONResponse({"taken": "in"})

    known = [Route(PREFIX + path, endpoint(one)) for path, one in questions_by_path().items() if path in paths]
    known.append(Route(PREFIX + SUBMISSIONS, taken_in, methods=["POST"]))
    return Starlette(routes=[*known, Route("/{path:path}", nothing)])


@contextmanager
def other(home: Home, change: Change = lambda part: None, without: tuple[str, ...] = ()) -> Iterator[str]:
    """A server of another version; the address."""
    with answering(application(home, set(questions_by_path()) - set(without), change)) as address:
        yield address


@contextmanager
def answering(app: Starlette) -> Iterator[str]:
    """A server of an application; the address."""
    with listening("127.0.0.1:0") as bound:
        server = uvicorn.Server(config_of(app))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])), daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def a_match(home: Home) -> str:
    with Store(home.database, create=False) as store:
        return store.history.matches(1)[0].match_id


def questions(home: Home) -> list[list[str]]:
    match = a_match(home)
    return [
        ["top"],
        ["bots"],
        ["show", FAULTY],
        ["queue"],
        ["matches"],
        ["matches", FAULTY, "--out"],
        ["match", match],
        ["log", match],
        ["playing"],
    ]


# --- an older server --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "path"), [(["queue"], "/queue"), (["key"], "/key"), (["audit-log", "log.jsonl"], "/audit-log")]
)
def test_what_an_older_server_does_not_know_is_said_with_its_version(
    dogana: Dogana, home: Home, tmp_path: Path, words: list[str], path: str
) -> None:
    def be_old(part: dict[str, Any]) -> None:
        if "dogana" in part:
            part["dogana"] = "0.9\x1b[2J"

    with other(home, be_old, without=(path,)) as address:
        said = dogana("ladder", *words, "--server", address, status=1).stderr
    assert said == (
        f"dogana: the ladder at {address} runs dogana 0.9\\x1b[2J, which does not know this;"
        " ask its organiser to upgrade\n"
    )
    assert not list(tmp_path.glob("log.jsonl*"))


def test_what_answers_and_is_no_ladder_is_reported(dogana: Dogana, home: Home) -> None:
    with other(home, without=tuple(questions_by_path())) as address:
        said = dogana("ladder", "top", "--server", address, status=1).stderr
    assert said == f"dogana: what answers at {address} is not a ladder; look at the address\n"


DEEP = '{"error": ' + "[" * 200_000
TOO_MUCH = '{"error": {"message": "too many requests"}}'


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Response(DEEP), "is not a ladder; look at the address"),
        (Response(DEEP, 404), "is not a ladder; look at the address"),
        (Response(TOO_MUCH, 429), "too many requests"),
    ],
    ids=["deep answer", "deep refusal", "refusal"],
)
def test_what_a_hostile_server_answers_is_reported_in_a_line(dogana: Dogana, answer: Response, reason: str) -> None:
    with answering(Starlette(routes=[Route("/{path:path}", lambda _: answer)])) as address:
        said = dogana("ladder", "top", "--server", address, status=1).stderr
    assert reason in said
    assert len(said.splitlines()) == 1


def test_a_file_without_end_is_refused_before_it_fills_the_memory() -> None:
    answer = Response(bytes(1024**2 + 1), media_type="application/octet-stream")
    with (
        answering(Starlette(routes=[Route("/{path:path}", lambda _: answer)])) as address,
        pytest.raises(LadderError, match=r"^the ladder answered with more than 1 MiB$"),
    ):
        Where.chosen(None, address).fetch(RecordRequest(match="x"), max_bytes=1024**2)


def test_an_answer_that_lacks_something_is_refused_in_a_line(dogana: Dogana, home: Home) -> None:
    def drop(part: dict[str, Any]) -> None:
        part.pop("terms", None)

    with other(home, drop) as address:
        said = dogana("ladder", "top", "--server", address, status=1).stderr
    assert "which does not know this; ask its organiser to upgrade" in said
    assert "terms" in said
    assert len(said.splitlines()) == 1


def test_an_answer_to_a_submitted_bot_that_lacks_something_is_refused_in_a_line(
    dogana: Dogana, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "bot.py").write_text("print()")
    with other(home) as address:
        remember(address, Login("ann", "token"))
        said = dogana("ladder", "submit", tmp_path / "bot.py", "--server", address, status=1).stderr
    assert "which does not know this; ask its organiser to upgrade: Object missing required field `bot`" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("body", [b'{"dogana": "\xff"}', b'{"more":' + b"[" * 100_000], ids=["not UTF-8", "deep"])
def test_an_answer_that_cannot_be_read_is_reported_in_a_line(dogana: Dogana, body: bytes, status: int) -> None:
    async def garbled(_: Request) -> Response:
        return Response(body, status)

    with answering(Starlette(routes=[Route("/{path:path}", garbled)])) as address:
        said = dogana("ladder", "top", "--server", address, status=1).stderr
    assert said.startswith(f"dogana: what answers at {address} is not a ladder; look at the address")
    assert len(said.splitlines()) == 1


# --- a newer server, and an older client ------------------------------------------------------------------------


def test_what_a_newer_server_says_beyond_is_ignored(dogana: Dogana, home: Home) -> None:
    def add(part: dict[str, Any]) -> None:
        part["newer"] = "what nobody knows"

    with other(home, add) as newer, other(home) as ours:
        for words in questions(home):
            said = dogana("ladder", *words, "--server", ours).stdout
            assert dogana("ladder", *words, "--server", newer).stdout.replace(newer, ours) == said
            assert "nobody knows" not in dogana("ladder", *words, "--server", newer, "--json").stdout


def test_words_that_a_newer_server_has_are_shown_as_they_are(dogana: Dogana, home: Home) -> None:
    """Statuses and outcomes are words, not numbers, so that a newer one can be read."""

    def rename(part: dict[str, Any]) -> None:
        part.update({name: word for name, word in (("status", "resting"), ("outcome", "asleep")) if name in part})

    with other(home, rename) as address:
        for words in questions(home):
            dogana("ladder", *words, "--server", address)
        assert "resting" in dogana("ladder", "show", FAULTY, "--server", address).stdout
        assert "asleep" in dogana("ladder", "match", a_match(home), "--server", address).stdout


def test_a_game_that_only_a_newer_server_has_is_shown_by_its_name(dogana: Dogana, home: Home) -> None:
    def rename(part: dict[str, Any]) -> None:
        if "game" in part:
            part["game"] = "samarkand"

    with other(home, rename) as address:
        for words in questions(home):
            dogana("ladder", *words, "--server", address)
        for word in ("top", "queue"):
            assert "samarkand (60+0.5/10)" in dogana("ladder", word, "--server", address).stdout
