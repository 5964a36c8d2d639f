"""The connection between the matches of a ladder and the bots that run on their authors' machines.

An author's client offers a bot (`serve`), and receives an invitation to each seat that waits for the bot (`invite`).
The bot's stream arrives at `play`, which forwards it to the referee of the match in a different process. Whoever has
the token of a seat may reconnect.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import grpc

from dogana.v1 import ladder_pb2 as pb
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.operation.errors import Forbidden, Replaced, Silent, TooMuch
from ladder.operation.limits import CallLimits
from ladder.operation.meter import RETRY_AFTER, AtATime, Meter
from ladder.play.pool import Invitation
from ladder.service.sending import send
from referee.bots.errors import BadBot
from referee.live.doors.door import SERVICE as REFEREE
from referee.live.doors.lobby import Lobby, host_of
from referee.live.messages import wire

MAX_CONNECTED = 256
"""The maximum number of connected bots at home."""
MAX_CONNECTED_OF_AUTHOR = 8
"""The maximum number of connected bots at home of one author."""
MAX_UNSENT = 64
"""The number of unread messages at which a client is cut off."""

Context = Any


class Client:
    """The stream of a client that offers a bot.

    Attributes:
        version: the version of the bot.
        is_leaving: True if the bot is only finishing its current blocks.
    """

    def __init__(self, version: Version, limits: CallLimits) -> None:
        self.version = version
        self._limits = limits
        self.is_leaving = False
        self._outbox: asyncio.Queue[pb.OfferAnswer] = asyncio.Queue(MAX_UNSENT)
        self._beats = 0
        """The number of unanswered beats."""
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def tell(self, answer: pb.OfferAnswer) -> None:
        """Send a message in the background."""
        try:
            self._outbox.put_nowait(answer)
        except asyncio.QueueFull:
            self.end(TooMuch(f"{MAX_UNSENT} messages are waiting to be read"))

    def leave(self) -> None:
        """Let the bot leave when it has finished its current blocks."""
        self.is_leaving = True
        self.tell(pb.OfferAnswer(beat=pb.Beat()))  # `_write` then checks at once whether the bot is in any block

    def end(self, error: Exception) -> None:
        """End the stream with an error."""
        if not self._ended.done():
            self._ended.set_exception(error)

    async def serve(
        self,
        context: Context,
        requests: AsyncIterator[pb.OfferRequest],
        heard: Callable[[pb.OfferRequest], Awaitable[None]],
        stays: Callable[[], Awaitable[bool]],
    ) -> None:
        """Serve the stream until it ends.

        Args:
            context: the call.
            requests: the client's messages after its offer.
            heard: called with each of these messages except the answers to beats.
            stays: called before each beat; returns True while the bot should stay.

        Raises:
            Exception: the reason why the stream ended, or any error of `heard` or `stays`.
        """
        tasks = [asyncio.ensure_future(self._read(requests, heard)), asyncio.ensure_future(self._write(context, stays))]
        try:
            await asyncio.wait([self._ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for done in (self._ended, *tasks):
                if done.done():
                    done.result()
        finally:
            self._ended.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(
        self, requests: AsyncIterator[pb.OfferRequest], heard: Callable[[pb.OfferRequest], Awaitable[None]]
    ) -> None:
        seconds = self._limits.silent_seconds
        while True:
            try:
                async with asyncio.timeout(seconds):
                    request = await anext(requests, None)
            except TimeoutError:
                raise Silent(f"nothing was heard of the client for {seconds:g} s") from None
            if request is None:
                return
            # An unexpected beat is not an answer: `heard` counts and refuses it.
            if request.HasField("beat") and self._beats:
                self._beats -= 1
            else:
                await heard(request)

    async def _write(self, context: Context, stays: Callable[[], Awaitable[bool]]) -> None:
        loop, limits = asyncio.get_running_loop(), self._limits
        last_beat = loop.time()
        while True:
            beat_at = last_beat + (limits.leaving_seconds if self.is_leaving else limits.beat_seconds)
            try:
                async with asyncio.timeout_at(beat_at):
                    answer = await self._outbox.get()
            except TimeoutError:
                if not await stays():
                    return
                answer, last_beat = pb.OfferAnswer(beat=pb.Beat()), loop.time()
            self._beats += answer.HasField("beat")
            await send(context, answer, limits.slow_seconds)


@dataclass(slots=True)
class _Seat:
    """A seat to which a bot is invited."""

    invitation: Invitation
    join_by: float
    """The time until which the seat waits for the bot, by the clock of the event loop."""
    has_come: bool = False


class AtHome:
    """The bots at home of one ladder.

    Only the event loop of the ladder's server may use them, but `invite` may be called from any thread.
    """

    def __init__(
        self,
        *,
        is_open: bool = True,
        guests: bool = True,
        plays: Callable[[Condition], bool] = lambda condition: True,
    ) -> None:
        """Prepare for a ladder's bots at home.

        Args:
            is_open: True if bots at home may take part.
            guests: True if matches with them do not rate submitted bots.
            plays: returns True for the conditions that are played now; matches under other conditions do not keep a bot
                from leaving.
        """
        self.plays = plays
        self._is_open = is_open
        self.guests = guests
        self._loop: asyncio.AbstractEventLoop | None = None
        self._limits = CallLimits()
        self._clients: dict[int, Client] = {}
        """The clients, by version."""
        self._connected = AtATime(
            MAX_CONNECTED_OF_AUTHOR,
            MAX_CONNECTED,
            f"{MAX_CONNECTED_OF_AUTHOR} bots of yours are already connected; disconnect one first",
            "too many bots at home are connected; come back in an hour",
        )
        self._seats: OrderedDict[str, _Seat] = OrderedDict()
        """The seats, by token."""
        self._lobby = Lobby()

    def begin(self, limits: CallLimits) -> None:
        """Begin to serve with these limits, in the running event loop."""
        self._limits = limits
        self._loop = asyncio.get_running_loop()

    @contextlib.contextmanager
    def place(self, author: str) -> Iterator[None]:
        """Count a connection of an author in this context.

        Raises:
            Forbidden: if bots at home do not take part.
            TooMuch: if this author, or all authors together, have too many connections.
        """
        if not self._is_open:
            raise Forbidden("bots at home do not take part in this ladder; submit the bot: dogana ladder submit")
        with self._connected.one(author):
            yield

    def enter(self, client: Client) -> list[Client]:
        """Register a client's bot for invitations; return the clients of the bot's other versions, which must leave.

        An older client of the same version is cut off. The invitations to seats that still wait for the bot are sent
        once more, because the first ones may have gone to a connection that was already lost.
        """
        older = self._clients.get(client.version.id)
        if older is not None:
            older.end(Replaced("a newer connection offers the same bot"))
        self._clients[client.version.id] = client
        now = asyncio.get_running_loop().time()
        for seat in self._seats.values():
            match = seat.invitation.match
            if match.versions[seat.invitation.seat] == client.version.id and not seat.has_come and now < seat.join_by:
                client.tell(_invited(seat.invitation, seat.join_by - now))
        return [
            one
            for one in self._clients.values()
            if one.version.bot == client.version.bot and one is not client and not one.is_leaving
        ]

    def exit(self, client: Client) -> None:
        """Stop inviting a client's bot, unless a newer client offers the same version."""
        if self._clients.get(client.version.id) is client:
            del self._clients[client.version.id]

    def invite(self, invitation: Invitation) -> None:
        """Invite a bot to a waiting seat, now or when the bot's client connects; return at once."""
        if self._loop is not None:
            # The run calls this in the main thread; everything else here belongs to the thread of the event loop.
            self._loop.call_soon_threadsafe(self._tell, invitation)

    def _tell(self, invitation: Invitation) -> None:
        match = invitation.match
        for token, seat in list(self._seats.items()):
            known = seat.invitation
            if known.address == invitation.address and known.match.match_id != match.match_id:
                del self._seats[token]  # a worker plays one match at a time
        now = asyncio.get_running_loop().time()
        self._seats[invitation.token] = _Seat(invitation, now + invitation.join_seconds)
        if len(self._seats) > self._limits.seats:
            self._seats.popitem(last=False)
        client = self._clients.get(match.versions[invitation.seat])
        if client is not None:
            client.tell(_invited(invitation, invitation.join_seconds))

    async def play(self, context: Context, requests: Meter) -> None:
        """Forward the stream of a bot, which begins with the token of an invitation.

        Args:
            context: the call.
            requests: counts streams by their tokens, so that nobody else at the same address can use up a bot's allowance;
                streams without the token of a seat are counted by their address.

        Raises:
            BadBot: if the first message is not a Join.
            TooMuch: if there were too many streams.
        """
        address = host_of(context.peer())
        context.set_trailing_metadata(((RETRY_AFTER, "1"),))  # for a stream that is ended to make room for others
        data = await self._lobby.first_message(context)
        context.set_trailing_metadata(())
        try:
            token = wire.read_agent_message(data).join.token
        except wire.MalformedMessage as error:
            requests.take(address)
            raise BadBot(f"the first message must be Join; it was {error}") from error
        seat = self._seats.get(token)
        requests.take(address if seat is None else f"seat {token}")
        if seat is None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is unknown, or its match is over")
            return
        seat.has_come = True
        address = seat.invitation.address
        # The peer is a referee of this ladder, whose observations may have any size.
        async with grpc.aio.insecure_channel(address, [("grpc.max_receive_message_length", -1)]) as channel:
            play: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(f"/{REFEREE}/Play")
            call = play()
            up = asyncio.ensure_future(_hand_up(data, context, call))
            try:
                async for answer in call:
                    await send(context, answer, self._limits.slow_seconds)
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.UNAVAILABLE:  # its worker has ended; the text names the socket
                    await context.abort(grpc.StatusCode.ABORTED, "the match was broken off")
                await context.abort(error.code(), error.details() or "")
            finally:
                up.cancel()
                call.cancel()


def _invited(invitation: Invitation, join_seconds: float) -> pb.OfferAnswer:
    """Return the invitation to a seat that waits for `join_seconds`."""
    match = invitation.match
    return pb.OfferAnswer(
        invitation=pb.Invitation(
            match=match.match_id,
            game=match.condition.game,
            terms=match.condition.terms,
            bots=match.labels,
            seat=invitation.seat,
            token=invitation.token,
            join_seconds=join_seconds,
        )
    )


async def _hand_up(first: bytes, context: Context, call: grpc.aio.StreamStreamCall[bytes, bytes]) -> None:
    """Forward the messages of a bot until its stream ends."""
    data: object = first
    with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the other direction reports the end
        while isinstance(data, bytes):
            await call.write(data)
            data = await context.read()
        await call.done_writing()
