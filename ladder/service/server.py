"""The gRPC streams of a ladder, for bots at home and spectators.

Everything else is a question over HTTP (`ladder/http/api`).
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator
from typing import Any, Self
from weakref import WeakValueDictionary

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health_pb2, health_pb2_grpc
from typing_extensions import override

from dogana.v1 import ladder_pb2 as pb
from dogana.v1 import referee_pb2
from dogana.v1.ladder_pb2_grpc import LadderServicer, add_LadderServicer_to_server
from ladder.facts.entries import now
from ladder.intake.offer import OfferedBot, connect, disconnect, is_in_match, leave_ladder
from ladder.intake.tokens import Tokens
from ladder.model.match import Version
from ladder.operation.errors import Busy, NoRoom, NotFound, TooMuch
from ladder.operation.home import Home
from ladder.operation.journal import note, of_this_call
from ladder.operation.limits import CallLimits, Limits
from ladder.operation.meter import RETRY_AFTER, AtATime
from ladder.operation.refusals import ErrorReply, Refusals, refusal_of
from ladder.operation.threads import Threads
from ladder.play.playing import playing
from ladder.questions.access import check_is_author
from ladder.questions.caller import ANYBODY, Caller
from ladder.questions.desk import Desk
from ladder.service.at_home import AtHome, Client
from ladder.service.metrics import Metrics
from ladder.service.prompt import PromptRequests
from ladder.service.sending import hand_on
from referee.bots.errors import BadBot
from referee.live.doors.door import OPTIONS, Calls
from referee.live.doors.door import SERVICE as REFEREE
from referee.live.doors.lobby import CallLimit, host_of
from referee.live.matches.server import Health, Listen, PortInUse
from referee.sandbox.system import allow_files
from referee.terminal import visible

MAX_STATUS_CHARACTERS = 1000
"""The maximum length of an error text, in characters; HTTP/2 accepts 8 kB."""
MAX_MESSAGE_BYTES = 1024 * 1024
MAX_CALLS = 64
"""The maximum number of open calls on a connection; further calls wait on the client's side."""
MAX_CHANGES = 8
"""The maximum number of concurrent changes; each waits for the others to finish changing the ladder."""
OFFER_SECONDS = 30.0
"""The time allowed for the first message of a stream, in seconds."""
MAX_MATCHES_NAMED = 5
"""The maximum number of matches in the list for a spectator who named none."""
MAX_WATCHERS_OF_ONE = 16
"""The maximum number of spectators of one author, or at one address without a token, at a time."""
STOP_SECONDS = 1.0
FULL_SECONDS = 1.0
"""The interval, in seconds, between attempts on a full disk to store that a bot at home has disconnected."""
SERVICE = "dogana.v1.Ladder"

Context = Any


class LadderServer(LadderServicer):
    """Serves the streams of one ladder; use it as an asynchronous context manager."""

    def __init__(self, home: Home, listen: Listen, metrics: Metrics, at_home: AtHome, limits: Limits) -> None:
        self._home = home
        self._at_home = at_home
        self._listen = listen
        self._metrics = metrics
        self._calls = Calls()
        self._lookups = Threads(limits.calls.lookups, limits.thread_seconds)
        self._changes = Threads(MAX_CHANGES, limits.thread_seconds)
        self._refusals = Refusals()
        most = limits.calls.open_of_one
        self._open = AtATime(most, sys.maxsize, f"{most} of your calls are open; read their answers first", "")
        self._limits = limits
        self._tokens = Tokens(home.database, limits.guesses)
        self._watchers = CallLimit(limits.calls.watchers, "spectators", MAX_WATCHERS_OF_ONE)
        self._connecting: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        """A lock for each version: its connections are stored one after another, so that the newest one stays."""
        self._server: grpc.aio.Server | None = None
        self.port = 0
        """The TCP port."""

    async def __aenter__(self) -> Self:
        """Start to listen.

        Raises:
            PortInUse: if the port cannot be used.
        """
        allow_files()
        self._at_home.begin(self._limits.calls)
        server = self._server = grpc.aio.server(
            interceptors=[self._calls, PromptRequests(self._limits.calls.request_seconds)],
            options=_options(self._limits.calls),
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
            for threads in (self._lookups, self._changes):
                threads.close()
            self._server = None

    # callers

    async def _caller(self, context: Context) -> Caller:
        """Return the caller; count the request, and count the call as open until it ends.

        Raises:
            Unauthenticated: if the token is not valid.
            TooMuch: if the caller has sent too many requests or invalid tokens, or has too many open calls.
        """
        caller, address = ANYBODY, host_of(context.peer())
        token = _token(context)
        if token:
            caller = Caller(await self._lookups.run(self._tokens.author_of, token, address))
        if caller.author:
            of_this_call(author=caller.author)
        who = caller.counted_as(address)
        self._limits.requests.take(who)
        self._count_open(who)
        return caller

    def _count_open(self, who: str) -> None:
        """Count a call as open until its task ends.

        Even a refusal waits for a caller who does not read, while the connection lasts.

        Raises:
            TooMuch: if the caller has too many open calls.
        """
        place = contextlib.ExitStack()
        place.enter_context(self._open.one(who))
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 this is a coroutine
        task.add_done_callback(lambda _: place.close())

    @contextlib.asynccontextmanager
    async def _explained(self, context: Context, method: str) -> AsyncIterator[None]:
        """Measure a call in this context; end the call with a status and a reason if something goes wrong."""
        address, began, status = host_of(context.peer()), time.monotonic(), "OK"
        of_this_call(address=address)
        try:
            yield
        except grpc.aio.AbortError:
            status, details = "ABORTED", context.details()
            refusal = ErrorReply(context.code(), 0, details, details)
            self._refusals.note(address, method, refusal, time.monotonic() - began)
            raise
        except (asyncio.CancelledError, grpc.aio.InternalError):  # the second if the client disconnects during a write
            status = "CANCELLED"
            raise
        except Exception as error:
            refusal = refusal_of(error)
            status = refusal.code.name
            self._refusals.note(address, method, refusal, time.monotonic() - began)
            when = ((RETRY_AFTER, str(refusal.retry_after)),) if refusal.retry_after else ()
            await context.abort(refusal.code, visible(refusal.message, MAX_STATUS_CHARACTERS), when)
        finally:
            self._metrics.count(method, status, time.monotonic() - began)

    # bots at home

    @override
    async def Offer(  # type: ignore[override]  # it writes the answers itself, to detect clients that do not read them
        self, requests: AsyncIterator[pb.OfferRequest], context: Context
    ) -> None:
        async with self._explained(context, "connect"):
            coming = aiter(requests)
            # Read before any refusal: if a client writes to an ended call, gRPC reports "internal", not the reason for the end.
            first = await _first_message(coming)
            caller = await self._caller(context)
            check_is_author(caller)
            with self._at_home.place(caller.author):
                if first is None or first.WhichOneof("part") != "offer":
                    raise BadBot("the first message must be an offer")
                version, connected = await self._take_offer(caller, first.offer)
                client = Client(version, self._limits.calls)
                client.tell(pb.OfferAnswer(connected=connected))
                await self._serve_client(client, first.offer.matches, coming, context)

    async def _take_offer(self, caller: Caller, offer: pb.Offer) -> tuple[Version, pb.Connected]:
        """Register the offered version of a bot; return the version, and the answer for the client."""
        self._limits.connections.take(caller.author)
        desk = Desk(self._home, caller)
        bot = OfferedBot(offer.bot, offer.content, tuple(offer.games), offer.matches)
        # A new version costs a match in every game, just as a submission does.
        if not await self._lookups.run(desk.is_known, bot):
            self._limits.submissions.take(caller.author)
        version, is_new, stopped = await self._changes.run(desk.offer, bot)
        connected = pb.Connected(
            bot=version.bot,
            version=version.number,
            is_new=is_new,
            author=version.author,
            guests=self._at_home.guests,
            stopped=[
                pb.Stopped(game=one.game, terms=one.terms, status=one.status, reason=one.reason) for one in stopped
            ],
        )
        return version, connected

    async def _serve_client(
        self, client: Client, matches: int, requests: AsyncIterator[pb.OfferRequest], context: Context
    ) -> None:
        """Serve a client that has offered a bot, and keep the bot connected."""

        async def leave(one: Client) -> None:
            await self._changes.run(leave_ladder, self._home, one.version)
            one.leave()

        async def heard(request: pb.OfferRequest) -> None:
            self._limits.requests.take(Caller(client.version.author).counted_as(""))
            if request.WhichOneof("part") != "leave":
                raise BadBot("after the offer, only answers to beats can come, and a request to leave")
            await leave(client)

        async def stays() -> bool:
            # If the ladder is too busy now, this is checked again before the next beat.
            with contextlib.suppress(TooMuch):
                credentials = _token(context), host_of(context.peer())
                # The token may have been revoked meanwhile.
                await self._lookups.run(self._tokens.author_of, *credentials)
                return not client.is_leaving or await self._lookups.run(
                    is_in_match, self._home, client.version, self._at_home.plays
                )
            return True

        # The time distinguishes this connection from a newer one of the same version.
        older, since = self._at_home.enter(client), now()
        try:
            async with self._connecting.setdefault(client.version.id, asyncio.Lock()):
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
        """Remove a connection as soon as the database can be written; the bot may have reconnected by then."""
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
        async with self._explained(context, "play"):
            await self._at_home.play(context, self._limits.requests)

    async def _watch(self, data: bytes, context: Context) -> None:
        """Forward the messages of a match's referee to a spectator."""
        async with self._explained(context, "watch"):
            caller = await self._caller(context)
            async with self._watchers.one(context, caller.counted_as(host_of(context.peer()))):
                address, request = await self._lookups.run(self._find, data)
                await hand_on(address, request, context, self._limits.calls.slow_seconds)

    def _find(self, data: bytes) -> tuple[str, bytes]:
        """Return the address of the match to watch, and the request for that address.

        Raises:
            BadBot: if the bytes are not a request.
            NotFound: if the match is not in progress, or the request names none and there are several.
        """
        try:
            request = referee_pb2.WatchRequest.FromString(data)
        except DecodeError as error:
            raise BadBot("this is not a dogana.v1.WatchRequest") from error
        wanted = request.match_id
        found = [one for one in playing(self._home) if wanted in ("", one.match_id)]
        if not found:
            raise NotFound(f"match {wanted} is not being played" if wanted else "no match is being played")
        if len(found) > 1:
            ids = ", ".join(one.match_id for one in found[:MAX_MATCHES_NAMED])
            raise NotFound(f"several matches are being played, such as {ids}; `dogana ladder playing` lists all")
        [one] = found
        return one.address, referee_pb2.WatchRequest(match_id=one.match_id, labels=request.labels).SerializeToString()


def _options(limits: CallLimits) -> list[tuple[str, Any]]:
    options = {
        **dict(OPTIONS),  # if an option is given twice, gRPC uses the first value
        "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
        "grpc.max_concurrent_streams": MAX_CALLS,
        "grpc.keepalive_time_ms": 30_000,
        "grpc.keepalive_timeout_ms": 10_000,
        "grpc.server_handshake_timeout_ms": int(limits.handshake_seconds * 1000),
    }
    return list(options.items())


def _token(context: Context) -> str:
    """Return the token of a call; empty if there is none."""
    header = dict(context.invocation_metadata() or ()).get("authorization", "")
    return header.removeprefix("Bearer ") if isinstance(header, str) else ""


async def _first_message(requests: AsyncIterator[pb.OfferRequest]) -> pb.OfferRequest | None:
    """Return the first message of a stream; None if it ends without one.

    Raises:
        BadBot: if no message comes in time.
    """
    try:
        async with asyncio.timeout(OFFER_SECONDS):
            return await anext(requests, None)
    except TimeoutError:
        raise BadBot(f"nothing came for {OFFER_SECONDS:g} s; offer the bot again") from None
