"""The desk of a ladder that is served elsewhere: the same questions and answers as `ladder.questions.desk.Desk`, over gRPC."""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import grpc
import msgspec

from dogana.v1 import ladder_pb2 as pb
from dogana.v1.ladder_pb2_grpc import LadderStub
from ladder.operation.errors import LadderError
from ladder.questions.changes import SubmitAnswer
from ladder.questions.question import PIECE_BYTES, Answer, File, Request, question_of
from ladder.service.bridge import answer_of, message_of
from ladder.service.login import Login, login_of
from referee.bots.files import check_path

ANSWER_SECONDS = 60.0
"""How long an answer may take; that of a bot that was sent may take longer."""
INTAKE_SECONDS = 600.0
_MAX_VERSION = 100
"""How many characters of the server's version are shown; ours has about ten."""
MAX_ANSWER_BYTES = 64 * 1024 * 1024
NO_PROXY = ("grpc.enable_http_proxy", 0)
"""For connections that are not encrypted: gRPC would send all of them to a proxy that the environment names, also those to this machine."""


class RemoteDesk:
    """The desk of a served ladder; use it as a context manager. Each question raises `LadderError` if it is refused."""

    def __init__(self, server: str, login: Login | None = None) -> None:
        """Prepare to ask `host:port` or `unix:path`, by the token that is kept for it unless another is given.

        Raises:
            LadderError: if the certificate that is kept with it cannot be read, or the token would be sent in plain text.
        """
        self._server = server
        self._login = login or login_of(server)
        self._login.check_private(server)
        self._channel = _channel(server, self._login)
        self._stub = LadderStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def ask(self, request: Request[Answer]) -> Answer:
        """Ask the ladder."""
        asked = question_of(type(request))
        kind = getattr(pb, type(request).__name__, None)
        if kind is None:
            raise LadderError(
                f"this is asked by HTTP; name the ladder at {self._server} by the URL of its pages: --server https://..."
            )
        call = getattr(self._stub, type(request).__name__.removesuffix("Request"))
        message = message_of(request, kind())
        with self._explained():
            if asked.is_file:
                return self._file(call(message, timeout=INTAKE_SECONDS, metadata=self._metadata()))  # type: ignore[return-value]
            found = call(message, timeout=ANSWER_SECONDS, metadata=self._metadata())
        try:
            answer: Answer = answer_of(found, asked.answer)
        except msgspec.ValidationError as error:
            raise LadderError(self._what_is_older()) from error
        return answer

    def _file(self, call: Iterator[pb.FilePiece]) -> File:
        first = next(call)

        def pieces() -> Iterator[bytes]:
            with self._explained():
                for piece in call:
                    yield piece.data

        return File(first.name, pieces())

    def submit(self, path: Path, bot: str, author: str, *, at_tables: bool = False) -> SubmitAnswer:
        """Send a bot. A folder travels as an archive.

        Raises:
            BadBot: if there is no such file or folder.
            LadderError: if the author is not the one whose token is used, or the bot is refused.
        """
        check_path(path)
        if author and author != self._login.author:
            raise LadderError(
                f"you are logged in at {self._server} as {self._login.author or 'nobody'}, not as {author};"
                " leave out --author, or log in: dogana login"
            )
        with tempfile.TemporaryDirectory(prefix="dogana-") as scratch:
            file = path
            if path.is_dir():
                file = Path(scratch) / "bot.tar.gz"
                with tarfile.open(file, "w:gz") as archive:
                    archive.add(path, ".", filter=_kept)
            with self._explained():
                answer = self._stub.Submit(
                    _pieces(file, bot, at_tables), timeout=INTAKE_SECONDS, metadata=self._metadata()
                )
        return answer_of(answer, SubmitAnswer)

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self._login.token}"),) if self._login.token else ()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except grpc.RpcError as error:
            code, details = error.code(), error.details()
            if code is grpc.StatusCode.UNAVAILABLE:
                hint = (
                    ""
                    if self._login.authority or self._server.startswith("unix:")
                    else f"; if it encrypts: dogana login {self._server} --ca FILE"
                )
                raise LadderError(f"no ladder answers at {self._server}: {details}{hint}") from error
            if code is grpc.StatusCode.UNIMPLEMENTED:
                raise LadderError(self._what_is_older()) from error
            if code is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise LadderError(f"the ladder at {self._server} did not answer in time; try again later") from error
            raise LadderError(f"{details}" if details else f"the ladder at {self._server} failed: {code}") from error

    def _what_is_older(self) -> str:
        """Say that the server does not know a call that this version knows."""
        try:
            answer = self._stub.Info(pb.InfoRequest(), timeout=ANSWER_SECONDS, metadata=self._metadata())
        except grpc.RpcError:
            return f"what answers at {self._server} is no ladder; look at the address"
        version = f"dogana {answer.dogana[:_MAX_VERSION]}" if answer.dogana else "an older version of dogana"
        return f"the ladder at {self._server} runs {version}, which does not know this; ask its organiser to upgrade"


def _channel(server: str, login: Login) -> grpc.Channel:
    options = [("grpc.max_receive_message_length", MAX_ANSWER_BYTES)]
    if login.authority is None:
        return grpc.insecure_channel(server, [*options, NO_PROXY])
    return grpc.secure_channel(server, grpc.ssl_channel_credentials(login.certificate()), options)


def _kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return an entry of an archive without what tells of this machine; None to leave it out, as the intake does."""
    if Path(entry.name).name == "__pycache__":
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def _pieces(file: Path, bot: str, at_tables: bool) -> Iterator[pb.SubmitRequest]:
    status = file.stat()
    with file.open("rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()
        source.seek(0)
        yield pb.SubmitRequest(
            submission=pb.Submission(
                bot=bot,
                file=file.name,
                size=status.st_size,
                sha256=digest,
                executable=bool(status.st_mode & 0o100),
                at_tables=at_tables,
            )
        )
        while data := source.read(PIECE_BYTES):
            yield pb.SubmitRequest(data=data)
