"""The desk of a ladder over gRPC: who asks is known by a token, what they ask for is limited, what goes wrong has a status."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, Self, TypeVar, TypeVarTuple

import grpc
from google.protobuf.message import DecodeError, Message
from grpc_health.v1 import health_pb2, health_pb2_grpc
from typing_extensions import override

from dogana.v1 import ladder_pb2 as pb
from dogana.v1 import referee_pb2
from dogana.v1.ladder_pb2_grpc import LadderServicer, add_LadderServicer_to_server
from ladder.facts.entries import now
from ladder.intake.offer import connect, disconnect, is_in_match, leave_ladder
from ladder.intake.tokens import Tokens
from ladder.intake.upload import PIECE_SECONDS, UPLOAD_SECONDS, Upload
from ladder.model.match import Version
from ladder.operation.errors import (
    BadHome,
    Busy,
    Forbidden,
    NoRoom,
    NotFound,
    Replaced,
    Silent,
    TooMuch,
    Unauthenticated,
)
from ladder.operation.home import Home
from ladder.operation.journal import note, of_this_call, traceback_of
from ladder.operation.meter import (
    FILE_REQUESTS,
    GUESSES,
    MAX_UPLOADS,
    REQUESTS,
    RETRY_AFTER,
    SUBMISSIONS,
    UPLOADED,
    Allowance,
    AtATime,
    Meter,
)
from ladder.operation.refusals import CHANGES, Refusals
from ladder.operation.room import TOLD, is_for_want_of_room
from ladder.operation.threads import Threads
from ladder.play.playing import playing
from ladder.questions.access import check_is_author
from ladder.questions.asker import ANYBODY, Asker
from ladder.questions.bots import BotsRequest, ShowRequest
from ladder.questions.changes import AtTablesRequest, RequalifyRequest, RetireRequest, SubmitAnswer
from ladder.questions.comparing import CompareRequest, CrosstableRequest
from ladder.questions.desk import Desk
from ladder.questions.info import InfoRequest
from ladder.questions.match import LogRequest, MatchRequest, RecordRequest
from ladder.questions.matches import MatchesRequest, PlayingRequest
from ladder.questions.news import NewsRequest
from ladder.questions.proof import AuditLogRequest, KeyRequest
from ladder.questions.question import Answer, File, Request, question_of
from ladder.questions.queue import QueueRequest
from ladder.questions.standings import TopRequest
from ladder.service.at_home import AtHome, Client
from ladder.service.bridge import Sent, message_of, request_of, submission_of
from ladder.service.metrics import Metrics
from ladder.service.prompt import PromptRequests
from ladder.service.sending import hand_on, send
from referee.bots.errors import BadBot
from referee.errors import DoganaError
from referee.live.doors.door import OPTIONS, Calls
from referee.live.doors.door import SERVICE as REFEREE
from referee.live.doors.lobby import CallLimit, host_of
from referee.live.matches.server import Health, Listen, PortInUse
from referee.sandbox.system import allow_files
from referee.terminal import visible

MAX_STATUS_CHARACTERS = 1000
"""How much is said of what went wrong; HTTP/2 takes 8 kB."""
MAX_MESSAGE_BYTES = 1024 * 1024
MAX_CALLS = 64
"""How many calls one connection may have open; more wait on the client's side."""
MAX_OPEN_OF_ONE = 64
"""How many calls of one author, or of one address without a token, may be open on all their connections."""
MAX_QUESTIONS = 16
"""How many questions are answered at a time; more wait for a moment, and are refused then."""
MAX_CHANGES = 8
"""The same for what authors change: it waits for others who change the ladder."""
MAX_FILES = 16
"""The same for the next piece of a file that comes or goes."""
MAX_UPLOADS_OF_AUTHOR = 2
"""How many of them may be those of one author."""
MAX_MATCHES_NAMED = 5
"""How many matches are named to a spectator who has not said which one they want."""
MAX_WATCHERS = 64
"""How many spectators are served at a time."""
MAX_WATCHERS_OF_ONE = 16
"""How many of them may be of one author, or one address without a token; the same below."""
MAX_READERS = 64
"""How many files are sent at a time."""
MAX_READERS_OF_ONE = 8
MAX_LOG_READERS = 8
"""How many audit logs are sent at a time: each is a temporary file meanwhile."""
MAX_LOG_READERS_OF_ONE = 2
STOP_SECONDS = 1.0
FULL_SECONDS = 1.0
"""How soon it is tried again on a full disk to note that a bot at home has gone."""
SERVICE = "dogana.v1.Ladder"

CONNECTIONS = Allowance("connections", 60, 600)
"""Of the bots of an author: each is written down, and lets a run look at its queue again."""

_BROKEN = "the ladder failed; its organiser finds the reason in its log"
_BUSY = "the ladder can change nothing at the moment; come back in a minute"
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
    Replaced: grpc.StatusCode.ABORTED,
    Silent: grpc.StatusCode.UNAVAILABLE,
    BadBot: grpc.StatusCode.INVALID_ARGUMENT,
    DoganaError: grpc.StatusCode.FAILED_PRECONDITION,
}
Piece = TypeVar("Piece")
Arguments = TypeVarTuple("Arguments")
Context = Any


class LadderServer(LadderServicer):
    """Serves the desk of one ladder; use it as an asynchronous context manager."""

    def __init__(self, home: Home, listen: Listen, metrics: Metrics, at_home: AtHome) -> None:
        self._home = home
        self._at_home = at_home
        self._listen = listen
        self._metrics = metrics
        self._calls = Calls()
        self._questions = Threads(MAX_QUESTIONS)
        self._changes = Threads(MAX_CHANGES)
        self._files = Threads(MAX_FILES)
        self._logs = Threads(1)
        self._uploads = AtATime(
            MAX_UPLOADS_OF_AUTHOR,
            MAX_UPLOADS,
            f"{MAX_UPLOADS_OF_AUTHOR} of your bots are being sent already; wait until they have arrived",
            "too many bots are being sent at the moment; come back in a minute",
        )
        self._refusals = Refusals()
        self._open: Counter[str] = Counter()
        """How many calls of each who asks have not ended."""
        self._requests = Meter(REQUESTS)
        self._tokens = Tokens(home.database, Meter(GUESSES))
        self._watchers = CallLimit(MAX_WATCHERS, "spectators", MAX_WATCHERS_OF_ONE)
        self._readers = CallLimit(MAX_READERS, "files that are being sent", MAX_READERS_OF_ONE)
        self._log_readers = CallLimit(MAX_LOG_READERS, "audit logs that are being sent", MAX_LOG_READERS_OF_ONE)
        self._submissions = Meter(SUBMISSIONS)
        self._connections = Meter(CONNECTIONS)
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
        self._at_home.begin()
        server = self._server = grpc.aio.server(
            interceptors=[self._calls, PromptRequests()],
            options=list(_OPTIONS.items()),
        )
        add_LadderServicer_to_server(self, server)
        watch: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_stream_rpc_method_handler(self._watch)
        play: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(self._play)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(REFEREE, {"Watch": watch, "Play": play}),)
        )
        healthy = Health()
        health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
        try:
            self.port = self._listen.add_to(server)
        except PortInUse:
            await self.__aexit__()
            raise
        await server.start()
        for name in ("", SERVICE):
            await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
        return self

    async def __aexit__(self, *_: object) -> None:
        """End every call, and stop listening."""
        if self._server is not None:
            await self._server.stop(grace=STOP_SECONDS)
            await self._calls.end()
            for threads in (self._questions, self._changes, self._files, self._logs):
                threads.close()
            self._server = None

    # who asks

    async def _asker(self, context: Context, requests: int = 1) -> Asker:
        """Return who asks, and count the request for as many.

        Raises:
            Unauthenticated: if a token is shown that is worth nothing.
            TooMuch: if they have asked too often, or shown too many such tokens.
        """
        asker, address = ANYBODY, host_of(context.peer())
        token = _token(context)
        if token:
            asker = Asker(await self._questions.run(self._tokens.author_of, token, address))
        if asker.author:
            of_this_call(author=asker.author)
        who = _name_of(asker, context)
        self._requests.take(who, requests)
        self._count_open(who)
        return asker

    def _count_open(self, who: str) -> None:
        """Count a call until it has ended. That of somebody who does not read its answer may stay as long as its connection.

        Raises:
            TooMuch: if somebody has too many.
        """
        if self._open[who] >= MAX_OPEN_OF_ONE:
            raise TooMuch(f"{MAX_OPEN_OF_ONE} of your calls are open; read their answers first")
        self._open[who] += 1

        def has_ended(_: object) -> None:
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]

        task = asyncio.current_task()
        assert task is not None  # noqa: S101 this is a coroutine
        task.add_done_callback(has_ended)

    async def _ask(
        self,
        context: Context,
        kind: type[Request[Answer]],
        message: Message,
        answer: Sent,
        allowance: Meter | None = None,
    ) -> Sent:
        """Answer a question, or do what an author wants; take one of an allowance of theirs."""
        asked = question_of(kind)
        async with self._explained(context, asked.name):
            asker = await self._asker(context)
            if allowance is not None and asker.author:
                allowance.take(asker.author)
            threads = self._changes if asked.is_change else self._questions
            request = request_of(message, kind)
            found = await threads.run_charged(
                self._requests, _name_of(asker, context), Desk(self._home, asker).ask, request
            )
            return message_of(found, answer)
        raise AssertionError  # `_explained` has ended the call

    @contextlib.asynccontextmanager
    async def _explained(self, context: Context, method: str) -> AsyncIterator[None]:
        """Measure a call, and end it with a status and a reason if something goes wrong."""
        address, began = host_of(context.peer()), time.monotonic()
        of_this_call(address=address)
        come_back = 0
        with self._metrics.call(method) as ending:
            try:
                yield
                if method in CHANGES:
                    note("change", did=method, seconds=time.monotonic() - began)
                return
            except grpc.aio.AbortError:
                ending.status = "ABORTED"
                self._refusals.note(address, method, context.code(), context.details(), time.monotonic() - began)
                raise
            except (asyncio.CancelledError, grpc.aio.InternalError):  # the second if they go while something is sent
                ending.status = "CANCELLED"
                raise
            except Busy as error:
                code, said, why = grpc.StatusCode.RESOURCE_EXHAUSTED, _BUSY, str(error)
            except NoRoom as error:
                code, said, why = grpc.StatusCode.RESOURCE_EXHAUSTED, TOLD, str(error)
            except BadHome as error:
                code, said, why = grpc.StatusCode.INTERNAL, _BROKEN, str(error)
            except DoganaError as error:
                code = next(code for kind, code in _STATUS.items() if isinstance(error, kind))
                said = why = str(error)
                come_back = error.seconds if isinstance(error, TooMuch) else 0
            except OSError as error:
                code, said = grpc.StatusCode.INTERNAL, f"the ladder cannot do that now: {error.strerror}"
                if is_for_want_of_room(error):
                    code, said = grpc.StatusCode.RESOURCE_EXHAUSTED, TOLD
                why = str(error)
            except Exception as error:
                code, said, why = grpc.StatusCode.INTERNAL, _BROKEN, traceback_of(error)
            self._refusals.note(address, method, code, why, time.monotonic() - began)
            ending.status = code.name
            when = ((RETRY_AFTER, str(come_back)),) if come_back else ()
            await context.abort(code, visible(said, MAX_STATUS_CHARACTERS), when)

    # calls

    @override
    async def Info(self, request: pb.InfoRequest, context: Context) -> pb.InfoAnswer:
        return await self._ask(context, InfoRequest, request, pb.InfoAnswer())

    @override
    async def Top(self, request: pb.TopRequest, context: Context) -> pb.TopAnswer:
        return await self._ask(context, TopRequest, request, pb.TopAnswer())

    @override
    async def Bots(self, request: pb.BotsRequest, context: Context) -> pb.BotsAnswer:
        return await self._ask(context, BotsRequest, request, pb.BotsAnswer())

    @override
    async def Compare(self, request: pb.CompareRequest, context: Context) -> pb.CompareAnswer:
        return await self._ask(context, CompareRequest, request, pb.CompareAnswer())

    @override
    async def Crosstable(self, request: pb.CrosstableRequest, context: Context) -> pb.CrosstableAnswer:
        return await self._ask(context, CrosstableRequest, request, pb.CrosstableAnswer())

    @override
    async def Show(self, request: pb.ShowRequest, context: Context) -> pb.ShowAnswer:
        return await self._ask(context, ShowRequest, request, pb.ShowAnswer())

    @override
    async def Matches(self, request: pb.MatchesRequest, context: Context) -> pb.MatchesAnswer:
        return await self._ask(context, MatchesRequest, request, pb.MatchesAnswer())

    @override
    async def Playing(self, request: pb.PlayingRequest, context: Context) -> pb.PlayingAnswer:
        return await self._ask(context, PlayingRequest, request, pb.PlayingAnswer())

    @override
    async def Match(self, request: pb.MatchRequest, context: Context) -> pb.MatchAnswer:
        return await self._ask(context, MatchRequest, request, pb.MatchAnswer())

    @override
    async def Log(self, request: pb.LogRequest, context: Context) -> pb.LogAnswer:
        return await self._ask(context, LogRequest, request, pb.LogAnswer())

    @override
    async def Retire(self, request: pb.RetireRequest, context: Context) -> pb.RetireAnswer:
        of_this_call(about=request.bot)
        return await self._ask(context, RetireRequest, request, pb.RetireAnswer())

    @override
    async def Requalify(self, request: pb.RequalifyRequest, context: Context) -> pb.RequalifyAnswer:
        of_this_call(about=request.bot)
        return await self._ask(context, RequalifyRequest, request, pb.RequalifyAnswer(), self._submissions)

    @override
    async def AtTables(self, request: pb.AtTablesRequest, context: Context) -> pb.AtTablesAnswer:
        of_this_call(about=request.bot)
        return await self._ask(context, AtTablesRequest, request, pb.AtTablesAnswer())

    @override
    async def Record(  # type: ignore[override]  # it writes the pieces itself, to see whether they are read
        self, request: pb.RecordRequest, context: Context
    ) -> None:
        await self._send_file(context, self._readers, self._files, RecordRequest(match=request.match))

    @override
    async def AuditLog(  # type: ignore[override]  # as Record
        self, request: pb.AuditLogRequest, context: Context
    ) -> None:
        await self._send_file(context, self._log_readers, self._logs, AuditLogRequest())

    async def _send_file(self, context: Context, places: CallLimit, threads: Threads, request: Request[File]) -> None:
        """Send a file; each file counts as several requests."""
        async with self._explained(context, question_of(type(request)).name):
            asker = await self._asker(context, FILE_REQUESTS)
            who = _name_of(asker, context)
            async with places.one(context, who):
                file = await threads.run_charged(self._requests, who, Desk(self._home, asker).ask, request)
                await send(context, pb.FilePiece(name=file.name))
                while (piece := await threads.run_charged(self._requests, who, next, file.pieces, None)) is not None:
                    await send(context, pb.FilePiece(data=piece))

    @override
    async def Queue(self, request: pb.QueueRequest, context: Context) -> pb.QueueAnswer:
        return await self._ask(context, QueueRequest, request, pb.QueueAnswer())

    @override
    async def News(self, request: pb.NewsRequest, context: Context) -> pb.NewsAnswer:
        return await self._ask(context, NewsRequest, request, pb.NewsAnswer())

    @override
    async def Key(self, request: pb.KeyRequest, context: Context) -> pb.KeyAnswer:
        return await self._ask(context, KeyRequest, request, pb.KeyAnswer())

    @override
    async def Submit(self, requests: AsyncIterator[pb.SubmitRequest], context: Context) -> pb.SubmitAnswer:
        async with self._explained(context, "submit"):
            asker = await self._asker(context)
            desk = Desk(self._home, asker)
            check_is_author(asker)  # before a place is taken, or anybody could keep all of them
            with self._uploads.one(asker.author):
                answer = await self._receive(desk, asker, aiter(requests))
            of_this_call(about=f"{answer.bot} v{answer.version}", new=answer.is_new)
            return answer
        raise AssertionError  # `_explained` has ended the call

    async def _receive(self, desk: Desk, asker: Asker, requests: AsyncIterator[pb.SubmitRequest]) -> pb.SubmitAnswer:
        first = await _next_piece(requests)
        if first is None or first.WhichOneof("part") != "submission":
            raise BadBot("the first message must say what is submitted")
        submission = submission_of(first.submission)
        of_this_call(about=submission.bot)
        with contextlib.ExitStack() as stack:
            upload = await self._changes.run(lambda: stack.enter_context(desk.receive(submission)))
            self._submissions.take(asker.author)
            self._uploaded.take(asker.author, submission.size)
            try:
                async with asyncio.timeout(UPLOAD_SECONDS):
                    await self._receive_pieces(upload, requests)
            except TimeoutError:
                raise BadBot(f"it did not arrive within {UPLOAD_SECONDS:g} s; send it again") from None
            return message_of(await self._changes.run(upload.finish), pb.SubmitAnswer())

    async def _receive_pieces(self, upload: Upload[SubmitAnswer], requests: AsyncIterator[pb.SubmitRequest]) -> None:
        while (piece := await _next_piece(requests)) is not None:
            if piece.WhichOneof("part") != "data":
                raise BadBot("after the first message, only bytes can come")
            await self._files.run(upload.write, piece.data)
            self._metrics.uploaded.inc(len(piece.data))

    # bots at home

    @override
    async def Offer(  # type: ignore[override]  # as Record
        self, requests: AsyncIterator[pb.OfferRequest], context: Context
    ) -> None:
        async with self._explained(context, "connect"):
            coming = aiter(requests)
            # Read before any refusal: whoever writes into an ended call is told "internal" by gRPC, not why it has ended.
            first = await _next_piece(coming)
            asker = await self._asker(context)
            desk = Desk(self._home, asker)
            check_is_author(asker)
            with self._at_home.place(asker.author):
                if first is None or first.WhichOneof("part") != "offer":
                    raise BadBot("the first message must be an offer")
                self._connections.take(asker.author)
                if not await self._questions.run(desk.is_known, first.offer):
                    self._submissions.take(asker.author)
                version, is_new, stopped = await self._changes.run(desk.offer, first.offer)
                connected = pb.Connected(
                    bot=version.bot,
                    version=version.number,
                    is_new=is_new,
                    author=version.author,
                    guests=self._at_home.guests,
                    stopped=[message_of(one, pb.Standing()) for one in stopped],
                )
                client = Client(version)
                client.tell(pb.OfferAnswer(connected=connected))
                await self._serve_client(client, first.offer.matches, coming, context)

    async def _serve_client(
        self, client: Client, matches: int, requests: AsyncIterator[pb.OfferRequest], context: Context
    ) -> None:
        """Serve a client that has offered a bot, which is connected meanwhile."""

        async def leave(one: Client) -> None:
            await self._changes.run(leave_ladder, self._home, one.version)
            one.leave()

        async def heard(request: pb.OfferRequest) -> None:
            self._requests.take(f"author {client.version.author}")  # who chatters is soon told to come back later
            if request.WhichOneof("part") != "leave":
                raise BadBot("after the offer, only answers to beats can come, and the wish to leave")
            await leave(client)

        async def stays() -> bool:
            with contextlib.suppress(TooMuch):  # if others ask too much now, it is asked at the next beat
                shown = _token(context), host_of(context.peer())
                await self._questions.run(self._tokens.author_of, *shown)  # it may have been revoked meanwhile
                return not client.is_leaving or await self._questions.run(
                    is_in_match, self._home, client.version, self._at_home.plays
                )
            return True

        older, since = self._at_home.enter(client), now()
        try:
            await self._changes.run(connect, self._home, client.version, matches, since)
            note("connected", bot=client.version.label, matches=matches)
            for other in older:
                await leave(other)
            await client.serve(context, requests, heard, stays)
        finally:
            self._at_home.exit(client)
            await self._forget(client.version, since)
            note("disconnected", bot=client.version.label)

    async def _forget(self, version: Version, since: str) -> None:
        """Note that a connection has ended, as soon as that can be written; the bot may have come back by then."""
        while True:
            try:
                await self._changes.run(disconnect, self._home, version, since)
            except (TooMuch, Busy):
                continue
            except NoRoom:
                await asyncio.sleep(FULL_SECONDS)
            else:
                return

    async def _play(self, _: object, context: Context) -> None:
        """Hand on the stream of a bot at home."""
        async with self._explained(context, "play"):
            await self._at_home.play(context, self._requests)

    async def _watch(self, data: bytes, context: Context) -> None:
        """Hand on what the referee of a match shows to spectators."""
        async with self._explained(context, "watch"):
            asker = await self._asker(context)
            async with self._watchers.one(context, _name_of(asker, context)):
                address, asked = await self._questions.run(self._find, data)
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
            ids = ", ".join(one.match_id for one in found[:MAX_MATCHES_NAMED])
            raise NotFound(f"several matches are being played, such as {ids}; `dogana ladder playing` lists all")
        [one] = found
        return one.address, referee_pb2.WatchRequest(match_id=one.match_id, labels=request.labels).SerializeToString()


def _token(context: Context) -> str:
    """Return the token that is shown; empty if there is none."""
    shown = dict(context.invocation_metadata() or ()).get("authorization", "")
    return shown.removeprefix("Bearer ") if isinstance(shown, str) else ""


def _name_of(asker: Asker, context: Context) -> str:
    """Return for whom it is counted what is asked for."""
    return f"author {asker.author}" if asker.author else host_of(context.peer())


async def _next_piece(requests: AsyncIterator[Piece]) -> Piece | None:
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
