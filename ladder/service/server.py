"""The desk of a ladder over gRPC: who asks is known by a token, what they ask for is limited, what goes wrong has a status."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Self, TypeVar

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from typing_extensions import override

from dogana.v1 import ladder_pb2 as pb
from dogana.v1 import referee_pb2
from dogana.v1.ladder_pb2_grpc import LadderServicer, add_LadderServicer_to_server
from ladder.authors import Authors
from ladder.desk import ANYBODY, Asker, Desk
from ladder.errors import BadBot, BadHome, Forbidden, NotFound, TooMuch, Unauthenticated
from ladder.home import Home
from ladder.playing import playing
from ladder.service.meter import Allowance, Meter
from ladder.service.metrics import Metrics
from ladder.upload import Upload
from referee.errors import DoganaError
from referee.live.door import OPTIONS, Calls, allow_files
from referee.live.door import SERVICE as REFEREE
from referee.live.lobby import Places
from referee.live.server import Listen, PortInUse
from referee.live.spectators import SLOW_SECONDS
from referee.terminal import visible

_log = logging.getLogger(__name__)

MAX_STATUS_CHARACTERS = 1000
"""How much is said of what went wrong; HTTP/2 takes 8 kB."""
MAX_MESSAGE_BYTES = 1024 * 1024
MAX_CALLS = 64
"""How many calls are answered at a time; more wait for a moment, and are refused then."""
WAIT_SECONDS = 10.0
"""How long a call waits for its turn."""
PIECE_SECONDS = 30.0
"""How long the next piece of an upload may take to come."""
UPLOAD_SECONDS = 600.0
"""How long all pieces of an upload may take to come; clients wait no longer."""
MAX_UPLOADS = 8
"""How many uploads may be under way."""
MAX_UPLOADS_OF_AUTHOR = 2
"""How many of them may be those of one author."""
MAX_WATCHERS = 64
"""How many spectators are served at a time."""
MAX_READERS = 64
"""How many files are sent at a time."""
STOP_SECONDS = 2.0
SERVICE = "dogana.v1.Ladder"

REQUESTS = Allowance("requests", 600, 60)
"""Of an author, or of an address without a token."""
FILE_REQUESTS = 5
"""For how many requests one for a file counts."""
SUBMISSIONS = Allowance("submissions", 50, 86_400)
UPLOADED = Allowance("bytes of submissions", 2 * 1024**3, 86_400)

_BROKEN = "the ladder failed; its organiser finds the reason in its log"
_OPTIONS = {
    **dict(OPTIONS),  # of an option that is given twice, gRPC takes the first
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_concurrent_streams": MAX_CALLS,
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
}
_STATUS: dict[type[Exception], grpc.StatusCode] = {
    NotFound: grpc.StatusCode.NOT_FOUND,
    Forbidden: grpc.StatusCode.PERMISSION_DENIED,
    Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    TooMuch: grpc.StatusCode.RESOURCE_EXHAUSTED,
    BadBot: grpc.StatusCode.INVALID_ARGUMENT,
    DoganaError: grpc.StatusCode.FAILED_PRECONDITION,
}
Request = TypeVar("Request")
Answer = TypeVar("Answer")
Context = Any


class LadderServer(LadderServicer):
    """Serves the desk of one ladder; use it as an asynchronous context manager."""

    def __init__(self, home: Home, listen: Listen, metrics: Metrics) -> None:
        self._home = home
        self._listen = listen
        self._metrics = metrics
        self._calls = Calls()
        self._turns = asyncio.Semaphore(MAX_CALLS)
        self._uploading: Counter[str] = Counter()
        """How many uploads of each author are under way."""
        self._requests = Meter(REQUESTS)
        self._watchers = Places(MAX_WATCHERS, "spectators")
        self._readers = Places(MAX_READERS, "files that are being sent")
        self._submissions = Meter(SUBMISSIONS)
        self._uploaded = Meter(UPLOADED)
        self._server: grpc.aio.Server | None = None
        self.port = 0
        """The TCP port."""

    async def __aenter__(self) -> Self:
        """Start to listen.

        Raises:
            PortInUse: if that is not possible.
        """
        allow_files()
        server = self._server = grpc.aio.server(
            interceptors=[self._calls],
            options=list(_OPTIONS.items()),
        )
        add_LadderServicer_to_server(self, server)
        watch: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_stream_rpc_method_handler(self._watch)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(REFEREE, {"Watch": watch}),))
        healthy = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
        try:
            self.port = self._add_port(server)
        except RuntimeError as error:
            await self.__aexit__()
            raise PortInUse(
                f"cannot listen on {self._listen.address}: is the address right, and no other program using it?"
                + (" Are certificate and key PEM files that belong together?" if self._listen.key else "")
            ) from error
        await server.start()
        for name in ("", SERVICE):
            await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
        return self

    def _add_port(self, server: grpc.aio.Server) -> int:
        listen = self._listen
        if listen.certificate is None or listen.key is None:
            return server.add_insecure_port(listen.address)
        return server.add_secure_port(listen.address, grpc.ssl_server_credentials([(listen.key, listen.certificate)]))

    async def __aexit__(self, *_: object) -> None:
        """End every call, and stop listening."""
        if self._server is not None:
            await self._server.stop(grace=STOP_SECONDS)
            await self._calls.end()
            self._server = None

    # who asks

    async def _asker(self, context: Context, requests: int = 1) -> Asker:
        """Return who asks, and count the request for as many.

        Raises:
            Unauthenticated: if a token is shown that is worth nothing.
            TooMuch: if they have asked too often.
        """
        address = _host(context.peer())
        shown = dict(context.invocation_metadata() or ()).get("authorization", "")
        token = shown.removeprefix("Bearer ") if isinstance(shown, str) else ""
        if not token:
            self._requests.take(address, requests)
            return ANYBODY
        try:
            author = await asyncio.to_thread(self._author_of, token)
        except Unauthenticated:
            self._requests.take(address, 10)  # who guesses tokens is soon told to come back later
            raise
        self._requests.take(f"author {author}", requests)
        return Asker(author)

    def _author_of(self, token: str) -> str:
        with Authors(self._home.database, create=False) as authors:
            return authors.author_of(token)

    async def _answer(self, context: Context, ask: Callable[[Desk, Request], Answer], request: Request) -> Answer:
        """Answer a question in a thread of its own: it reads files and the database."""
        async with self._explained(context, ask.__name__):
            asker = await self._asker(context)
            async with self._turn():
                return await asyncio.to_thread(ask, Desk(self._home, asker), request)
        raise AssertionError  # `_explained` has ended the call

    @contextlib.asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        try:
            await asyncio.wait_for(self._turns.acquire(), WAIT_SECONDS)
        except TimeoutError:
            raise TooMuch("the ladder has too much to do; come back in a minute") from None
        try:
            yield
        finally:
            self._turns.release()

    @contextlib.asynccontextmanager
    async def _explained(self, context: Context, method: str) -> AsyncIterator[None]:
        """Measure a call, and end it with a status and a reason if something goes wrong."""
        with self._metrics.call(method) as ending:
            try:
                yield
                return
            except grpc.aio.AbortError:
                ending.status = "ABORTED"
                raise
            except (asyncio.CancelledError, grpc.aio.InternalError):  # the second if they go while something is sent
                ending.status = "CANCELLED"
                raise
            except BadHome as error:
                _log.error("%s failed: %s", method, error)
                code, said = grpc.StatusCode.INTERNAL, _BROKEN
            except DoganaError as error:
                code = next(code for kind, code in _STATUS.items() if isinstance(error, kind))
                said = str(error)
            except OSError as error:
                _log.error("%s failed: %s", method, error)
                code, said = grpc.StatusCode.INTERNAL, f"the ladder cannot do that now: {error.strerror}"
            except Exception:
                _log.exception("%s failed", method)
                code, said = grpc.StatusCode.INTERNAL, _BROKEN
            ending.status = code.name
            await context.abort(code, visible(said, MAX_STATUS_CHARACTERS))

    # calls

    @override
    async def Info(self, request: pb.InfoRequest, context: Context) -> pb.InfoAnswer:
        return await self._answer(context, Desk.info, request)

    @override
    async def Top(self, request: pb.TopRequest, context: Context) -> pb.TopAnswer:
        return await self._answer(context, Desk.top, request)

    @override
    async def Bots(self, request: pb.BotsRequest, context: Context) -> pb.BotsAnswer:
        return await self._answer(context, Desk.bots, request)

    @override
    async def Show(self, request: pb.ShowRequest, context: Context) -> pb.ShowAnswer:
        return await self._answer(context, Desk.show, request)

    @override
    async def Matches(self, request: pb.MatchesRequest, context: Context) -> pb.MatchesAnswer:
        return await self._answer(context, Desk.matches, request)

    @override
    async def Playing(self, request: pb.PlayingRequest, context: Context) -> pb.PlayingAnswer:
        return await self._answer(context, Desk.playing, request)

    @override
    async def Match(self, request: pb.MatchRequest, context: Context) -> pb.MatchAnswer:
        return await self._answer(context, Desk.match, request)

    @override
    async def Log(self, request: pb.LogRequest, context: Context) -> pb.LogAnswer:
        return await self._answer(context, Desk.log, request)

    @override
    async def Retire(self, request: pb.RetireRequest, context: Context) -> pb.RetireAnswer:
        return await self._answer(context, Desk.retire, request)

    @override
    async def Requalify(self, request: pb.RequalifyRequest, context: Context) -> pb.RequalifyAnswer:
        return await self._answer(context, Desk.requalify, request)

    @override
    async def Record(  # type: ignore[override]  # it writes the pieces itself, to see whether they are read
        self, request: pb.RecordRequest, context: Context
    ) -> None:
        await self._send_file(context, Desk.record, request)

    @override
    async def AuditLog(  # type: ignore[override]  # as Record
        self, request: pb.AuditLogRequest, context: Context
    ) -> None:
        await self._send_file(context, Desk.audit_log, request)

    async def _send_file(
        self, context: Context, ask: Callable[[Desk, Request], Iterator[pb.FilePiece]], request: Request
    ) -> None:
        """Send a file; each file counts as several requests."""
        async with self._explained(context, ask.__name__):
            asker = await self._asker(context, FILE_REQUESTS)
            async with self._readers.one(context):
                pieces = ask(Desk(self._home, asker), request)
                while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
                    await _send(context, piece)

    @override
    async def Queue(self, request: pb.QueueRequest, context: Context) -> pb.QueueAnswer:
        return await self._answer(context, Desk.queue, request)

    @override
    async def Key(self, request: pb.KeyRequest, context: Context) -> pb.KeyAnswer:
        return await self._answer(context, Desk.key, request)

    @override
    async def Submit(self, requests: AsyncIterator[pb.SubmitRequest], context: Context) -> pb.SubmitAnswer:
        async with self._explained(context, "submit"):
            asker = await self._asker(context)
            desk = Desk(self._home, asker)
            desk.check_is_author()  # before a place is taken, or anybody could keep all of them
            with self._place_for_upload(asker.author):
                return await self._receive(desk, asker, aiter(requests))
        raise AssertionError  # `_explained` has ended the call

    @contextlib.contextmanager
    def _place_for_upload(self, author: str) -> Iterator[None]:
        """Count an upload while it is under way.

        Raises:
            TooMuch: if there are too many, of this author or of all.
        """
        if self._uploading[author] >= MAX_UPLOADS_OF_AUTHOR:
            raise TooMuch(f"{MAX_UPLOADS_OF_AUTHOR} of your bots are being sent already; wait until they have arrived")
        if self._uploading.total() >= MAX_UPLOADS:
            raise TooMuch("too many bots are being sent at the moment; come back in a minute")
        self._uploading[author] += 1
        try:
            yield
        finally:
            self._uploading[author] -= 1

    async def _receive(self, desk: Desk, asker: Asker, requests: AsyncIterator[pb.SubmitRequest]) -> pb.SubmitAnswer:
        first = await _next_piece(requests)
        if first is None or first.WhichOneof("part") != "submission":
            raise BadBot("the first message must say what is submitted")
        submission = first.submission
        upload = await asyncio.to_thread(desk.receive, submission)
        with upload:
            self._submissions.take(asker.author)
            self._uploaded.take(asker.author, submission.size)
            try:
                async with asyncio.timeout(UPLOAD_SECONDS):
                    await self._receive_pieces(upload, requests)
            except TimeoutError:
                raise BadBot(f"it did not arrive within {UPLOAD_SECONDS:g} s; send it again") from None
            async with self._turn():
                return await asyncio.to_thread(upload.finish)

    async def _receive_pieces(self, upload: Upload, requests: AsyncIterator[pb.SubmitRequest]) -> None:
        while (piece := await _next_piece(requests)) is not None:
            if piece.WhichOneof("part") != "data":
                raise BadBot("after the first message, only bytes can come")
            await asyncio.to_thread(upload.write, piece.data)
            self._metrics.uploaded.inc(len(piece.data))

    async def _watch(self, data: bytes, context: Context) -> None:
        """Hand on what the referee of a match shows to spectators."""
        async with self._explained(context, "watch"):
            await self._asker(context)
            async with self._watchers.one(context):
                address, asked = await asyncio.to_thread(self._find, data)
                await hand_on(address, asked, context)

    def _find(self, data: bytes) -> tuple[str, bytes]:
        """Return where the match is played that somebody wants to watch, and what is asked for there.

        Raises:
            BadBot: if that is no request.
            NotFound: if it is not played, or there are several to choose from.
        """
        try:
            request = referee_pb2.WatchRequest.FromString(data)
        except DecodeError as error:
            raise BadBot("this is no dogana.v1.WatchRequest") from error
        wanted = request.match_id
        found = [one for one in playing(self._home) if wanted in ("", one.match_id)]
        if not found:
            raise NotFound(f"match {wanted} is not being played" if wanted else "no match is being played")
        if len(found) > 1:
            raise NotFound("several matches are being played; see dogana ladder playing")
        [one] = found
        return one.address, referee_pb2.WatchRequest(match_id=one.match_id, labels=request.labels).SerializeToString()


async def hand_on(address: str, asked: bytes, context: Context) -> None:
    """Ask a referee to show a match, and hand on its answers and the end of the call."""
    async with grpc.aio.insecure_channel(address) as channel:
        watch: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(f"/{REFEREE}/Watch")
        call = watch(asked)
        await context.send_initial_metadata(())
        try:
            async for data in call:
                await _send(context, data)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:  # its worker has ended; the text names the socket
                await context.abort(grpc.StatusCode.ABORTED, "the match was broken off")
            await context.abort(error.code(), error.details() or "")
        finally:
            call.cancel()


async def _send(context: Context, message: object) -> None:
    """Send a message of many.

    Raises:
        TooMuch: if those before it are not read in time.
    """
    try:
        async with asyncio.timeout(SLOW_SECONDS):
            await context.write(message)
    except TimeoutError:
        raise TooMuch(f"what was sent was not read for {SLOW_SECONDS:g} s") from None


async def _next_piece(requests: AsyncIterator[pb.SubmitRequest]) -> pb.SubmitRequest | None:
    """Return the next message; None at the end.

    Raises:
        BadBot: if none comes in time.
    """
    try:
        async with asyncio.timeout(
            PIECE_SECONDS
        ):  # `wait_for` of Python 3.11 can swallow that the whole upload is late
            return await anext(requests, None)
    except TimeoutError:
        raise BadBot(f"nothing came for {PIECE_SECONDS:g} s; send it again") from None


def _host(peer: str) -> str:
    """Return who is behind a gRPC address: the host of `ipv4:host:port`, or all of this machine for a Unix socket."""
    return "unix" if peer.startswith("unix:") else peer.rpartition(":")[0]
