"""Running matches for browsers: one spectator per match serves any number of viewers.

Events announce changes; browsers then fetch the picture, which is drawn once for all of them.
The referee sends spectators only public information, so all of it is passed on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import grpc

from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub
from ladder.facts.store import Store
from ladder.http.rendering.render import fragment
from ladder.http.rendering.sentence import sentence
from ladder.http.requests.prepared import PreparedResponse
from ladder.model.match import Match
from ladder.operation.errors import NotFound, TooMuch
from ladder.operation.home import Home
from ladder.operation.journal import note, traceback_of
from ladder.operation.limits import LiveLimits
from ladder.play.playing import playing
from ladder.questions.match import SeatAccount
from referee.game import Game, Observation, Scene, Setup
from referee.live.matches.telling import actions_in_words
from referee.live.messages import wire
from referee.live.messages.codec import codec
from referee.match.effects import Happened, SeatNow
from referee.match.result import Outcome
from referee.records.moments import round_of
from referee.registry import find, shipped_board
from referee.terminal import visible

MAX_MATCHES = 64
"""The maximum number of matches that are followed at a time."""
MAX_LINES = 200
"""The maximum number of recent actions that a new viewer gets."""
MAX_LINE = 300
"""The maximum length of an action in words."""


@dataclass(frozen=True, slots=True)
class Look:
    """The state of a match for its viewers.

    Attributes:
        heading: the progress of the match, such as `Round 5`; empty if the game has no rounds.
        picture: the drawing, as SVG.
        lines: the latest actions, oldest first. Each has its number, counted from 1 among all actions that spectators see, the seat
            that played it, and its text with its consequences.
        seats: the standing of each seat.
        revision: the number of this state, from 1; each change adds one.
    """

    heading: str
    picture: str
    lines: Sequence[tuple[int, int, str]]
    seats: Sequence[SeatNow]
    revision: int


class Live:
    """The running matches of a ladder, for viewers. All methods must be called from one event loop."""

    def __init__(self, home: Home, limits: LiveLimits) -> None:
        self._home = home
        self._limits = limits
        self._matches: dict[str, _Followed] = {}

    async def look(self, match_id: str) -> Look:
        """Return the current state of a match.

        Raises:
            NotFound: if the match is not running.
            TooMuch: if too many other matches are followed.
        """
        followed = await self._follow(match_id)
        with followed.looked_at():
            try:
                async with asyncio.timeout(self._limits.first_seconds):
                    await followed.begun.wait()
            except TimeoutError:
                raise NotFound(f"match {match_id} has not begun yet; look again in a moment") from None
            if followed.look is None:
                raise NotFound(f"match {match_id} is not being played any more")
            return followed.look

    def fragment(self, match_id: str) -> PreparedResponse:
        """Return the changing part of a match's page, as HTML.

        Raises:
            NotFound: if the match is not followed, or has no picture yet.
        """
        followed = self._matches.get(match_id)
        if followed is None or followed.fragment is None:
            raise NotFound(f"match {match_id} is not followed")
        return followed.fragment

    async def events(self, match_id: str) -> AsyncGenerator[bytes]:
        """Yield the server-sent events of a match from now on: `changed` with a revision, and `over` at the end.

        A slow reader misses revisions, but not the last one. Empty events keep the connection alive. If the events end without
        `over`, the reader should reconnect.

        Raises:
            NotFound: if the match is not running.
            TooMuch: if too many other matches are followed.
        """
        followed = await self._follow(match_id)
        with followed.looked_at():
            seen = 0
            while True:
                # Read before the state is compared: a later change sets this event.
                change = followed.change
                if followed.look is not None and followed.look.revision != seen:
                    seen = followed.look.revision
                    yield event_of("changed", seen)
                elif followed.has_ended:
                    if followed.over is not None:
                        yield event_of("over", followed.over)
                    return
                elif not await _happens(change, self._limits.beat_seconds):
                    yield b":\n\n"

    async def _follow(self, match_id: str) -> _Followed:
        if match_id not in self._matches:
            address, match = await asyncio.to_thread(self._find, match_id)
            # Another viewer may have started to follow the match during the search.
            if match_id not in self._matches:
                if sum(not followed.has_ended for followed in self._matches.values()) >= MAX_MATCHES:
                    raise TooMuch("too many matches are being watched; come back in a minute")
                followed = self._matches[match_id] = _Followed(match, self._limits)
                followed.task = asyncio.create_task(followed.run(address))
                followed.task.add_done_callback(lambda _: self._matches.pop(match_id, None))
        return self._matches[match_id]

    def _find(self, match_id: str) -> tuple[str, Match]:
        """Return the address of a running match, and its entry in the schedule."""
        addresses = [one.address for one in playing(self._home) if one.match_id == match_id]
        with Store(self._home.database, create=False) as store:
            match = store.schedule.match(match_id) if addresses else None
        if match is None:
            raise NotFound(f"match {match_id} is not being played")
        return addresses[0], match

    async def close(self) -> None:
        """Stop following all matches."""
        tasks = [followed.task for followed in self._matches.values() if followed.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Followed:
    """A followed match.

    Attributes:
        task: the task that follows the match.
        begun: an event that is set with the first picture, or when there will be none.
        look: the state of the match; None before the first picture.
        fragment: the state as HTML.
        change: the event that is set at the next change, and then replaced by a new one.
        over: the `result` in words, or the `reason` why there is none; None until the end.
        has_ended: True if there will be no more changes.
    """

    def __init__(self, match: Match, limits: LiveLimits) -> None:
        game = find(match.condition.game)
        self.task: asyncio.Task[None] | None = None
        self.begun = asyncio.Event()
        self.look: Look | None = None
        self.fragment: PreparedResponse | None = None
        self.change = asyncio.Event()
        self.over: dict[str, str] | None = None
        self.has_ended = False
        self._match = match
        self._limits = limits
        self._game: Game = game
        self._setup: Setup = game.setup(len(match.seats), match.condition.options, shipped_board(game))
        self._scene = Scene(bots=tuple(match.labels))
        self._seen: Observation | None = None
        self._now: Happened | None = None
        self._lines: deque[tuple[int, int, str]] = deque(maxlen=MAX_LINES)
        self._news = asyncio.Event()
        self._looked_on = 0
        self._looked_at = 0.0

    @contextlib.contextmanager
    def looked_at(self) -> Any:
        """Count a viewer for the duration of this context."""
        self._looked_on += 1
        try:
            yield
        finally:
            self._looked_on -= 1
            self._looked_at = asyncio.get_running_loop().time()

    async def run(self, address: str) -> None:
        """Follow the match until it is over, or has had no viewers for a while."""
        watching = asyncio.create_task(self._watch(address))
        drawing = asyncio.create_task(self._draw())
        idling = asyncio.create_task(self._idle())
        try:
            done, _ = await asyncio.wait([watching, drawing, idling], return_when=asyncio.FIRST_COMPLETED)
            if watching in done:
                self.over = watching.result()
                self._news.set()
                await drawing  # until the end of the match has been drawn
            elif drawing in done:
                drawing.result()
        except (ValueError, LookupError) as error:  # a message of the referee cannot be read or drawn
            note("live_failed", logging.ERROR, match=self._match.match_id, traceback=traceback_of(error))
        finally:
            for task in (watching, drawing, idling):
                task.cancel()
            await asyncio.gather(watching, drawing, idling, return_exceptions=True)
            self.has_ended = True
            self._publish()
            self.begun.set()
        if self.over is not None and "result" in self.over:
            await asyncio.sleep(self._limits.last_seconds)

    async def _idle(self) -> None:
        clock, seconds = asyncio.get_running_loop().time, self._limits.linger_seconds
        self._looked_at = clock()
        while self._looked_on or clock() - self._looked_at < seconds:
            await asyncio.sleep(seconds / 10)

    async def _watch(self, address: str) -> dict[str, str]:
        """Receive the referee's messages; return the `result` in words, or the `reason` why there is none."""
        read = codec(self._game)
        async with grpc.aio.insecure_channel(address) as channel:
            try:
                async for message in RefereeStub(channel).Watch(pb.WatchRequest(match_id=self._match.match_id)):
                    self._note(wire.read_happened(read, message))
                    if message.HasField("game_over"):
                        return {"result": self._won(message.game_over)}
            except grpc.aio.AioRpcError:
                pass  # the text of the error names sockets of the ladder's machine
        return {"reason": "The match was broken off; it will be played again."}

    def _note(self, now: Happened) -> None:
        for number, seat, said in actions_in_words(self._game, self._setup, self._scene.bots, self._seen, now):
            self._lines.append((number, seat, visible("; ".join(said), MAX_LINE)))
        if now.played:
            seat, action = now.played[-1]
            self._scene = replace(self._scene, step=now.step, before=self._seen or now.seen, seat=seat, action=action)
        if self._seen is None:
            self._scene = Scene(bots=self._scene.bots, step=now.step)
        self._seen, self._now = now.seen, now
        self._news.set()

    async def _draw(self) -> None:
        """Draw each change, and notify the viewers, until the match is over."""
        for revision in count(1):
            await self._news.wait()
            # Cleared before the state is read, so that later news is drawn next.
            self._news.clear()
            is_last = self.over is not None
            now = self._now
            if now is None:  # it ended before it began
                return
            lines, heading = tuple(self._lines), round_of(now.seen).capitalize()
            picture = await asyncio.to_thread(self._game.draw, self._setup, now.seen, self._scene)
            look = Look(heading, picture, lines, now.seats, revision)
            # Rendered before the revision is announced, because browsers fetch it at once.
            self.fragment = await asyncio.to_thread(self._as_html, look)
            self.look = look
            self._publish()
            self.begun.set()
            if is_last:
                return
            await asyncio.sleep(self._limits.picture_seconds)

    def _as_html(self, look: Look) -> PreparedResponse:
        return PreparedResponse.of(fragment("live_look.html", {"look": look, "bots": self._match.labels}).encode(), 200)

    def _won(self, result: pb.GameOver) -> str:
        actions_in_words = [
            SeatAccount(
                seat=one.seat,
                bot=self._match.labels[one.seat],
                rank=one.rank,
                score=one.score,
                outcome=Outcome[pb.SeatResult.Outcome.Name(one.outcome).removeprefix("OUTCOME_")].value,
            )
            for one in result.seats
        ]
        return sentence(actions_in_words)

    def _publish(self) -> None:
        # All waiting readers have this event; readers that come later wait for a new event.
        self.change.set()
        self.change = asyncio.Event()


async def _happens(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event for at most this number of seconds; return True if it is set."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False


def event_of(name: str, data: object) -> bytes:
    """Return a server-sent event."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
