"""The desk of a ladder that is served elsewhere: the same questions and answers as `ladder.questions.desk.Desk`, over gRPC."""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

import grpc

from dogana.v1 import ladder_pb2 as pb
from dogana.v1.ladder_pb2_grpc import LadderStub
from ladder.operation.errors import LadderError
from ladder.questions.answers import PIECE_BYTES
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
Answer = TypeVar("Answer")


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

    def info(self, request: pb.InfoRequest) -> pb.InfoAnswer:
        """Ask which ladder this is."""
        return self._ask(self._stub.Info, request)

    def top(self, request: pb.TopRequest) -> pb.TopAnswer:
        """Ask for the standings."""
        return self._ask(self._stub.Top, request)

    def bots(self, request: pb.BotsRequest) -> pb.BotsAnswer:
        """Ask for every bot with its newest version."""
        return self._ask(self._stub.Bots, request)

    def show(self, request: pb.ShowRequest) -> pb.ShowAnswer:
        """Ask for a bot."""
        return self._ask(self._stub.Show, request)

    def compare(self, request: pb.CompareRequest) -> pb.CompareAnswer:
        """Ask for two versions side by side."""
        return self._ask(self._stub.Compare, request)

    def crosstable(self, request: pb.CrosstableRequest) -> pb.CrosstableAnswer:
        """Ask for the best versions against each other."""
        return self._ask(self._stub.Crosstable, request)

    def queue(self, request: pb.QueueRequest) -> pb.QueueAnswer:
        """Ask who plays next."""
        return self._ask(self._stub.Queue, request)

    def news(self, request: pb.NewsRequest) -> pb.NewsAnswer:
        """Ask what is new."""
        return self._ask(self._stub.News, request)

    def key(self, request: pb.KeyRequest) -> pb.KeyAnswer:
        """Ask for the key by which the ladder signs."""
        return self._ask(self._stub.Key, request)

    def audit_log(self, request: pb.AuditLogRequest) -> Iterator[pb.FilePiece]:
        """Ask for the audit log."""
        with self._explained():
            yield from self._stub.AuditLog(request, timeout=INTAKE_SECONDS, metadata=self._metadata())

    def matches(self, request: pb.MatchesRequest) -> pb.MatchesAnswer:
        """Ask for matches that count."""
        return self._ask(self._stub.Matches, request)

    def playing(self, request: pb.PlayingRequest) -> pb.PlayingAnswer:
        """Ask which matches are being played."""
        return self._ask(self._stub.Playing, request)

    def match(self, request: pb.MatchRequest) -> pb.MatchAnswer:
        """Ask how a match went."""
        return self._ask(self._stub.Match, request)

    def log(self, request: pb.LogRequest) -> pb.LogAnswer:
        """Ask what bots wrote."""
        return self._ask(self._stub.Log, request)

    def retire(self, request: pb.RetireRequest) -> pb.RetireAnswer:
        """Have a bot taken out."""
        return self._ask(self._stub.Retire, request)

    def requalify(self, request: pb.RequalifyRequest) -> pb.RequalifyAnswer:
        """Have a bot qualify once more."""
        return self._ask(self._stub.Requalify, request)

    def at_tables(self, request: pb.AtTablesRequest) -> pb.AtTablesAnswer:
        """Say whether people may play against a bot."""
        return self._ask(self._stub.AtTables, request)

    def record(self, request: pb.RecordRequest) -> Iterator[pb.FilePiece]:
        """Ask for the record of a match."""
        with self._explained():
            yield from self._stub.Record(request, timeout=INTAKE_SECONDS, metadata=self._metadata())

    def submit(self, path: Path, bot: str, author: str, *, at_tables: bool = False) -> pb.SubmitAnswer:
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
                return self._stub.Submit(
                    _pieces(file, bot, at_tables), timeout=INTAKE_SECONDS, metadata=self._metadata()
                )

    def _ask(self, call: Callable[..., Answer], request: object) -> Answer:
        with self._explained():
            return call(request, timeout=ANSWER_SECONDS, metadata=self._metadata())

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
