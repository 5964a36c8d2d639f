"""Offer a bot to a remote ladder, and play the matches to which it is invited, until its author stops it."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from dogana.v1 import ladder_pb2 as pb
from dogana.v1.ladder_pb2_grpc import LadderStub
from ladder.operation.errors import LadderError
from ladder.operation.lost_calls import LOST, pass_on_cancellation, pauses
from ladder.service.home_bot import Bot, play_match
from ladder.service.login import Login
from ladder.service.relay import retry_after
from referee.errors import DoganaError
from referee.files import in_words
from referee.live.doors.door import SERVICE as REFEREE
from referee.terminal import visible

_MATCH = re.compile(r"[A-Za-z0-9-]{1,80}", re.ASCII)
"""The pattern of the id of a match."""
_MAX_JOIN_SECONDS = 3600.0
SILENT_SECONDS = 45.0
"""The time, in seconds, after which a silent connection is given up as lost; a ladder sends something every 15 s."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The maximum size, in bytes, of a message from a ladder.

A larger message ends the call, because it could fill the memory of the author's machine."""
NO_PROXY = ("grpc.enable_http_proxy", 0)
"""The option for unencrypted connections that turns off proxies.

Without it, gRPC would use the environment's proxy even for local connections."""
_OPTIONS = [
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),  # no limit; by default gRPC stops after two
]


@dataclass(frozen=True, slots=True)
class Offer:
    """The offered bot, and the ladder's address."""

    bot: Bot
    name: str
    server: str
    login: Login
    matches: int
    """The maximum number of matches that the bot plays at a time."""
    logs: Path | None
    """The folder for the output of the bot; None if the output is not stored."""
    is_encrypted: bool = False
    """True if the connection to the ladder uses TLS."""


class _Lost(Exception):
    """The connection is lost; it can be restored, after `seconds` if the ladder has named a time."""

    def __init__(self, why: str, seconds: float = 0.0) -> None:
        super().__init__(why)
        self.seconds = seconds


class Offering:
    """The offer of one bot to one ladder."""

    def __init__(self, offer: Offer, say: Callable[[str], None], *, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        """Prepare the offer; `say` prints a line for the user."""
        self._offer = offer
        self._max_message_bytes = max_message_bytes
        self._say = say
        self._matches: set[asyncio.Task[None]] = set()
        self._playing: set[str] = set()
        """The ids of the matches that are being played here.

        After a lost connection, the bot may be invited to one of them again."""
        self._call: Any = None
        self._pauses = pauses()
        self._was_connected = False
        self._leaving = asyncio.Event()
        self._over = asyncio.Event()

    async def run(self) -> bool:
        """Offer the bot until it has left; return False if its author made it leave at once.

        Raises:
            LadderError: if the ladder refuses the bot, or does not answer at the start.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._leave)
        over = asyncio.ensure_future(self._over.wait())
        async with _channel(self._offer, self._max_message_bytes) as channel:
            offering = asyncio.ensure_future(self._keep_offering(channel))
            try:
                await asyncio.wait([offering, over], return_when=asyncio.FIRST_COMPLETED)
                if offering.done():
                    offering.result()
            finally:
                tasks = [offering, over, *self._matches]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        return not self._over.is_set()

    def _leave(self) -> None:
        """Leave after the current matches; at a second call, leave at once."""
        if self._leaving.is_set():
            self._over.set()
            return
        self._leaving.set()
        self._say("leaving when the matches of this bot are over; Ctrl-C again to leave at once, and lose them")
        if self._call is not None:
            self._later(self._ask_to_leave(self._call))

    async def _ask_to_leave(self, call: Any) -> None:
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # `_hear` asks once more
            await call.write(pb.OfferRequest(leave=pb.Leave()))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._matches.add(task)
        task.add_done_callback(self._matches.discard)

    async def _keep_offering(self, channel: grpc.aio.Channel) -> None:
        while True:
            try:
                await self._offer_once(channel)
            except _Lost as lost:
                if not self._was_connected:
                    raise LadderError(f"no ladder answers at {self._offer.server}: {lost}") from lost
                # A bot that is leaving and has no match need not reconnect to say so.
                if not (self._leaving.is_set() and not self._matches):
                    pause = max(next(self._pauses), lost.seconds)
                    self._say(f"the connection to the ladder is lost ({lost}); trying again in {pause:.1f} s")
                    await self._pause(pause)
                    continue
            if not self._leaving.is_set():
                self._say("a newer version of this bot is offered: this one leaves")
            if self._matches:  # the matches have ended on the ladder, and will end here at any moment
                await asyncio.wait(self._matches)
            return

    async def _pause(self, seconds: float) -> None:
        if self._leaving.is_set():
            # The event is set, so waiting for it would end at once.
            await asyncio.sleep(seconds)
        else:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._leaving.wait(), seconds)

    async def _offer_once(self, channel: grpc.aio.Channel) -> None:
        """Offer the bot until the ladder releases it.

        Raises:
            _Lost: if the connection is lost.
            LadderError: if the ladder refuses the bot.
        """
        offer = self._offer
        call = LadderStub(channel).Offer(metadata=(("authorization", f"Bearer {offer.login.token}"),))
        try:
            await call.write(
                pb.OfferRequest(
                    offer=pb.Offer(
                        bot=offer.name, content=offer.bot.content, games=offer.bot.games, matches=offer.matches
                    )
                )
            )
            while True:
                async with asyncio.timeout(SILENT_SECONDS):
                    answer = await call.read()
                if not isinstance(answer, pb.OfferAnswer):  # grpc.aio.EOF
                    break
                await self._hear(answer, call, channel)
            code, details = await call.code(), await call.details()
            if code is not grpc.StatusCode.OK:
                raise self._explained(code, details, await call.trailing_metadata())
        except TimeoutError:
            raise _Lost(f"nothing was heard for {SILENT_SECONDS:g} s") from None
        except asyncio.InvalidStateError:  # the call has ended before everything was sent
            raise self._explained(await call.code(), await call.details(), await call.trailing_metadata()) from None
        except grpc.aio.AioRpcError as error:
            pass_on_cancellation()
            raise self._explained(error.code(), error.details(), error.trailing_metadata()) from error
        finally:
            self._call = None
            call.cancel()

    async def _hear(self, answer: pb.OfferAnswer, call: Any, channel: grpc.aio.Channel) -> None:
        match answer.WhichOneof("part"):
            case "connected":
                self._tell(answer.connected)
                self._call = call
                if self._leaving.is_set():
                    await self._ask_to_leave(call)
            case "beat":
                await call.write(pb.OfferRequest(beat=pb.Beat()))
            case "invitation":
                self._accept(answer.invitation, channel)

    def _accept(self, invitation: pb.Invitation, channel: grpc.aio.Channel) -> None:
        """Accept an invitation. A ladder can neither start more bots here than were offered, nor name files."""
        if not _MATCH.fullmatch(invitation.match) or not 0 < invitation.join_seconds <= _MAX_JOIN_SECONDS:
            self._say("an invitation was passed over: it cannot be read")
        elif invitation.match in self._playing:
            return
        elif len(self._matches) >= 2 * self._offer.matches + 2:  # some of them may be ending
            self._say(f"match {invitation.match} was passed over: {len(self._matches)} matches are being played here")
        else:
            play: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(f"/{REFEREE}/Play")
            self._playing.add(invitation.match)
            self._later(self._play(invitation, play))

    async def _play(self, invitation: pb.Invitation, play: Callable[[], Any]) -> None:
        try:
            await play_match(self._offer.bot, invitation, play, self._offer.logs, self._say)
        except (DoganaError, OSError) as error:
            self._say(f"match {invitation.match}: {in_words(error)}")
        finally:
            self._playing.discard(invitation.match)

    def _tell(self, connected: pb.Connected) -> None:
        self._pauses = pauses()
        label = f"{visible(connected.bot, 40)} v{connected.version}"
        if self._was_connected:
            self._say(f"{label} is connected again")
            return
        self._was_connected = True
        self._say(
            f"{label} by {visible(connected.author, 40)} is offered to {self._offer.server}; Ctrl-C lets it leave"
        )
        self._say(
            "it is a guest there: its matches do not rate the bots that others have submitted"
            if connected.guests
            else "it is rated there like all other bots"
        )
        if connected.is_new:
            self._say("it qualifies first, with a match in each game")
        for one in connected.stopped:
            why = f"{one.status} for {one.game} ({one.terms}): {one.reason}".rstrip(": ")
            self._say(f"it is {visible(why, 300)}; to try again: dogana ladder requalify {label!r}")

    def _explained(
        self, code: grpc.StatusCode, details: str | None, metadata: Iterable[tuple[str, str | bytes]] | None
    ) -> Exception:
        """Return the reason why a stream ended: a lost connection, or an error for the user."""
        said = visible((details or code.name).partition(";")[0], 1000)  # gRPC adds details about each address
        # At the first attempt, the user is shown a limit; later, this program waits by itself.
        if code in LOST or (code is grpc.StatusCode.RESOURCE_EXHAUSTED and self._was_connected):
            return _Lost(said, retry_after(code, metadata) or 0.0)
        if code is grpc.StatusCode.UNIMPLEMENTED:
            return LadderError(f"what answers at {self._offer.server} is not a ladder, or is one of another version")
        return LadderError(said)


def _channel(offer: Offer, max_message_bytes: int) -> grpc.aio.Channel:
    options = [*_OPTIONS, ("grpc.max_receive_message_length", max_message_bytes)]
    if not offer.is_encrypted:
        return grpc.aio.insecure_channel(offer.server, [*options, NO_PROXY])
    certificate = None if offer.login.authority is None else offer.login.certificate()
    return grpc.aio.secure_channel(offer.server, grpc.ssl_channel_credentials(certificate), options)
