"""A ladder that is served elsewhere over HTTP, with the same requests and answers as `ladder.questions.desk.Desk`."""

from __future__ import annotations

import hashlib
import json
import re
import ssl
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from ladder.operation.errors import Forbidden, LadderError, NotFound, Unauthenticated
from ladder.questions.changes import SubmitAnswer, SubmitRequest
from ladder.questions.info import InfoAnswer
from ladder.questions.question import (
    PIECE_BYTES,
    Answer,
    File,
    Request,
    Row,
    check_filled,
    document,
    joined,
    question_of,
)
from ladder.service.login import Login, login_of
from referee.bots.files import check_path

API = "/api/v1"
ANSWER_SECONDS = 60.0
"""The time allowed for an answer, in seconds; the answer to a submitted bot may take longer."""
INTAKE_SECONDS = 600.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""The maximum size, in bytes, of an answer that is not a file, which is more than any ladder sends."""
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The errors for an answer that is not the expected JSON.

The answer has another form, is not UTF-8, or is nested too deeply."""
_MAX_VERSION = 100
"""The maximum length, in characters, of the server's version in an error message; our own has about ten."""
_ERRORS = {403: Forbidden, 404: NotFound}
_IN_PATH = re.compile(r"{(\w+)}")

Answered = TypeVar("Answered", bound=Row)


class RemoteLadder:
    """A served ladder; use it as a context manager."""

    def __init__(self, server: str, login: Login | None = None) -> None:
        """Prepare requests to the ladder at a URL, with this user's stored login unless a different one is given.

        Raises:
            LadderError: if the stored certificate cannot be read, or the token would be sent in plain text.
        """
        self._server = server
        self._login = login or login_of(server)
        self._login.check_private(server)
        self._client = httpx.Client(
            verify=_verification(self._login),
            timeout=ANSWER_SECONDS,
            headers={"authorization": f"Bearer {self._login.token}"} if self._login.token else {},
            trust_env=False,  # no token is sent to the environment's proxy
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, request: Request[Answer]) -> Answer:
        """Send a request, and return its answer.

        Raises:
            LadderError: if the request is refused, or no ladder answers.
        """
        check_filled(request)
        question, fields = question_of(type(request)), document(request)
        path = _IN_PATH.sub(lambda name: quote(fields.pop(name[1]), safe=""), question.path)
        if question.is_file:
            return self._file(path, fields)  # type: ignore[return-value]  # the answer to this request is a file
        if question.is_change:
            self._login.check_logged_in(self._server)
            body = self._send("POST", path, json=fields)
        else:
            body = self._send("GET", path, params=dict(_parameters(fields)))
        answer: Answer = self._read(body, question.answer)
        return answer

    def submit(self, path: Path, bot: str, author: str, *, at_tables: bool = False) -> SubmitAnswer:
        """Submit a bot; a folder is sent as an archive.

        Raises:
            BadBot: if there is no such file or folder.
            LadderError: if the token is another author's, or the bot is refused.
        """
        check_path(path)
        self._login.check_logged_in(self._server)
        if author and author != self._login.author:
            raise LadderError(
                f"you are logged in at {self._server} as {self._login.author}, not as {author};"
                f" leave out --author, or log in: dogana login {self._server}"
            )
        with tempfile.TemporaryDirectory(prefix="dogana-") as scratch:
            file = path
            if path.is_dir():
                file = Path(scratch) / "bot.tar.gz"
                with tarfile.open(file, "w:gz") as archive:
                    archive.add(path, ".", filter=_entry)
            with file.open("rb") as source:
                request = SubmitRequest(
                    bot=bot,
                    file=file.name,
                    sha256=hashlib.file_digest(source, "sha256").hexdigest(),
                    executable=bool(file.stat().st_mode & 0o100),
                    at_tables=at_tables,
                )
                source.seek(0)
                body = self._send(
                    "POST",
                    "/submissions",
                    params=dict(_parameters(document(request))),
                    content=iter(lambda: source.read(PIECE_BYTES), b""),
                    # Without this header, httpx sends an iterator in chunks, and the ladder refuses a file of unknown length.
                    headers={"content-length": str(file.stat().st_size)},
                    timeout=httpx.Timeout(ANSWER_SECONDS, read=INTAKE_SECONDS),
                )
        return self._read(body, SubmitAnswer)

    def _read(self, body: bytes, kind: type[Answered]) -> Answered:
        """Read an answer.

        Raises:
            LadderError: if the answer has a different form.
        """
        try:
            return msgspec.json.decode(body, type=kind)
        except _UNREADABLE as error:
            raise LadderError(f"{self._what_is_it()}: {error}") from error

    def _send(self, method: str, path: str, **more: Any) -> bytes:
        with self._answer(method, path, **more) as answer:
            return joined(answer.iter_bytes(), MAX_ANSWER_BYTES)

    def _file(self, path: str, fields: dict[str, Any]) -> File:
        # The connection stays open until the pieces have been read.
        stack = ExitStack()
        answer = stack.enter_context(self._answer("GET", path, params=dict(_parameters(fields))))
        name = re.search(r'filename="([^"/]*)"', answer.headers.get("content-disposition", ""))

        def pieces() -> Iterator[bytes]:
            with self._explained(), stack:
                yield from answer.iter_bytes(PIECE_BYTES)

        return File("" if name is None else name[1], pieces())

    @contextmanager
    def _answer(self, method: str, path: str, **more: Any) -> Iterator[httpx.Response]:
        """Send a request; yield its answer with the body unread.

        Raises:
            LadderError: if the request is refused, or no ladder answers.
        """
        with (
            self._explained(),
            self._client.stream(method, f"{self._server.rstrip('/')}{API}{path}", **more) as answer,
        ):
            if answer.status_code != 200:
                self._refuse(answer)
            yield answer

    def _refuse(self, answer: httpx.Response) -> NoReturn:
        try:
            error = json.loads(joined(answer.iter_bytes(), MAX_ANSWER_BYTES))["error"]
            message, command = str(error["message"]), str(error.get("command", ""))
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            raise LadderError(f"what answers at {self._server} is not a ladder; look at the address") from None
        # This is the answer of a ladder that is too old for the question.
        if answer.status_code == 405 or message.startswith("there is no page"):
            raise LadderError(self._what_is_it())
        if answer.status_code == 401:
            raise Unauthenticated(f"{message}; to log in: dogana login {self._server}")
        raise _ERRORS.get(answer.status_code, LadderError)(message, command)

    def _what_is_it(self) -> str:
        """Return the error text for a question that the server does not know."""
        try:
            with self._client.stream("GET", f"{self._server.rstrip('/')}{API}/info") as answer:
                found = msgspec.json.decode(joined(answer.iter_bytes(), MAX_ANSWER_BYTES), type=InfoAnswer)
        except (httpx.HTTPError, *_UNREADABLE, LadderError):
            return f"what answers at {self._server} is not a ladder; look at the address"
        version = f"dogana {found.dogana[:_MAX_VERSION]}" if found.dogana else "another version of dogana"
        return f"the ladder at {self._server} runs {version}, which does not know this; ask its organiser to upgrade"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException as error:
            raise LadderError(f"the ladder at {self._server} did not answer in time; try again later") from error
        except (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            is_untrusted = "CERTIFICATE_VERIFY_FAILED" in str(error)
            hint = f"; if it has a certificate of its own: dogana login {self._server} --ca FILE"
            raise LadderError(f"no ladder answers at {self._server}: {error}{hint if is_untrusted else ''}") from error
        except httpx.HTTPError as error:
            hint = "; if it encrypts, its address begins with https://" if self._server.startswith("http:") else ""
            raise LadderError(f"the connection to the ladder at {self._server} was lost: {error}{hint}") from error


def _verification(login: Login) -> ssl.SSLContext | bool:
    """Return the certificates to trust: that of the login, or True for those that this system trusts.

    Raises:
        LadderError: if the certificate cannot be read.
    """
    if login.authority is None:
        return True
    try:
        # Without a certificate here, Python would trust those of this system.
        return ssl.create_default_context(cadata=login.certificate().decode("ascii") or "empty")
    except (UnicodeDecodeError, ssl.SSLError) as error:
        raise LadderError(
            f"the certificate {login.authority} is not a PEM file, a text that begins with -----BEGIN CERTIFICATE-----"
        ) from error


def _parameters(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from ((f"{name}[{key}]", one) for key, one in value.items())
        else:
            yield name, str(value).lower() if isinstance(value, bool) else str(value)


def _entry(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return an archive entry without traces of this machine; return None for entries that the intake skips."""
    if Path(entry.name).name == "__pycache__":
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry
