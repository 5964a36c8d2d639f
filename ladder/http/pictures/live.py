"""Matches that are being played, as browsers follow them: one spectator a match, however many people look on.

Events say that something has changed; the browser then fetches the picture, which is made once for all.
The referee tells spectators nothing that not everybody may know, so nothing of it is held back here.
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
from ladder.http.requests.kept import Kept
from ladder.model.match import Match
from ladder.operation.errors import NotFound, TooMuch
from ladder.operation.home import Home
from ladder.operation.journal import note, traceback_of
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

PICTURE_SECONDS = 0.5
"""A match is drawn no more often."""
BEAT_SECONDS = 15.0
"""How long nothing is sent at most: proxies close connections that are silent."""
LINGER_SECONDS = 30.0
"""How long a match is followed after the last one has looked."""
LAST_SECONDS = 10.0
"""How long the last picture of a match stays, for browsers that were told of it."""
FIRST_SECONDS = 10.0
"""How long is waited for the first picture of a match."""
MAX_MATCHES = 64
"""How many matches are followed at a time."""
MAX_LINES = 200
"""How many of the last actions are told to who comes."""
MAX_LINE = 300
"""How many characters of a line are shown."""


@dataclass(frozen=True, slots=True)
class ActionLine:
    """What was done, in words.

    Attributes:
        number: its place among all actions that spectators are told of, from 1.
        seat: who did it.
        text: what it was, and what came of it.
    """

    number: int
    seat: int
    text: str


@dataclass(frozen=True, slots=True)
class Look:
    """How a match stands.

    Attributes:
        step: how many actions spectators have been told of.
        heading: how far the match is, such as `Round 5`; empty if the game has no rounds.
        picture: the drawing, as SVG.
        lines: the last actions, the oldest first.
        seats: how each seat stands.
        revision: counts the changes, from 1.
    """

    step: int
    heading: str
    picture: str
    lines: Sequence[ActionLine]
    seats: Sequence[SeatNow]
    revision: int


class Live:
    """What is being played on a ladder, for those who look on. All of it happens in one event loop."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._matches: dict[str, _Followed] = {}

    async def look(self, match_id: str) -> Look:
        """Return how a match stands now.

        Raises:
            NotFound: if it is not being played.
            TooMuch: if too many others are looked at.
        """
        followed = await self._follow(match_id)
        with followed.looked_at():
            try:
                async with asyncio.timeout(FIRST_SECONDS):
                    await followed.begun.wait()
            except TimeoutError:
                raise NotFound(f"match {match_id} has not begun yet; look again in a moment") from None
            if followed.look is None:
                raise NotFound(f"match {match_id} is not being played any more")
            return followed.look

    def fragment(self, match_id: str) -> Kept:
        """Return the part of the page of a match that changes, as HTML.

        Raises:
            NotFound: if the match is not followed, or has no picture yet.
        """
        followed = self._matches.get(match_id)
        if followed is None or followed.fragment is None:
            raise NotFound(f"match {match_id} is not followed")
        return followed.fragment

    async def events(self, match_id: str) -> AsyncGenerator[bytes]:
        """Yield what happens in a match from now on, as server-sent events: `changed` with a revision, at last `over`.

        A slow reader misses revisions, but not the last one. Now and then an empty event comes, so that something is sent.
        Without `over` the reader is to come back.

        Raises:
            NotFound: if it is not being played.
            TooMuch: if too many others are looked at.
        """
        followed = await self._follow(match_id)
        with followed.looked_at():
            seen = 0
            while True:
                change = followed.change
                if followed.look is not None and followed.look.revision != seen:
                    seen = followed.look.revision
                    yield event_of("changed", seen)
                elif followed.has_ended:
                    if followed.over is not None:
                        yield event_of("over", followed.over)
                    return
                elif not await _happens(change, BEAT_SECONDS):
                    yield b":\n\n"

    async def _follow(self, match_id: str) -> _Followed:
        if match_id not in self._matches:
            address, match = await asyncio.to_thread(self._find, match_id)
            if match_id not in self._matches:
                if sum(not followed.has_ended for followed in self._matches.values()) >= MAX_MATCHES:
                    raise TooMuch("too many matches are looked at; come back in a minute")
                followed = self._matches[match_id] = _Followed(match)
                followed.task = asyncio.create_task(followed.run(address))
                followed.task.add_done_callback(lambda _: self._matches.pop(match_id, None))
        return self._matches[match_id]

    def _find(self, match_id: str) -> tuple[str, Match]:
        """Return where a match is played, and what it is."""
        addresses = [one.address for one in playing(self._home) if one.match_id == match_id]
        with Store(self._home.database, create=False) as chronicle:
            match = chronicle.schedule.match(match_id) if addresses else None
        if match is None:
            raise NotFound(f"match {match_id} is not being played")
        return addresses[0], match

    async def close(self) -> None:
        """Follow nothing any more."""
        tasks = [followed.task for followed in self._matches.values() if followed.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Followed:
    """A match that is followed.

    Attributes:
        task: what follows it.
        begun: set when there is something to look at, or nothing will come.
        look: how it stands; None before the first picture.
        fragment: the same as HTML.
        change: set with the next change; another one takes its place then.
        over: the `result` in words, or the `reason` why there is none; None before.
        has_ended: whether nothing will change any more.
    """

    def __init__(self, match: Match) -> None:
        game = find(match.condition.game)
        self.task: asyncio.Task[None] | None = None
        self.begun = asyncio.Event()
        self.look: Look | None = None
        self.fragment: Kept | None = None
        self.change = asyncio.Event()
        self.over: dict[str, str] | None = None
        self.has_ended = False
        self._match = match
        self._game: Game = game
        self._setup: Setup = game.setup(len(match.seats), match.condition.options, shipped_board(game))
        self._scene = Scene(bots=tuple(match.labels))
        self._seen: Observation | None = None
        self._now: Happened | None = None
        self._lines: deque[ActionLine] = deque(maxlen=MAX_LINES)
        self._news = asyncio.Event()
        self._looked_on = 0
        self._looked_at = 0.0

    @contextlib.contextmanager
    def looked_at(self) -> Any:
        """Note that somebody looks on meanwhile."""
        self._looked_on += 1
        try:
            yield
        finally:
            self._looked_on -= 1
            self._looked_at = asyncio.get_running_loop().time()

    async def run(self, address: str) -> None:
        """Follow the match until it is over, or nobody has looked for a while."""
        watching = asyncio.create_task(self._watch(address))
        drawing = asyncio.create_task(self._draw())
        idling = asyncio.create_task(self._idle())
        try:
            done, _ = await asyncio.wait([watching, drawing, idling], return_when=asyncio.FIRST_COMPLETED)
            if watching in done:
                self.over = watching.result()
                self._news.set()
                await drawing
            elif drawing in done:
                drawing.result()
        except (ValueError, LookupError) as error:  # what the referee says cannot be read or drawn
            note("live_failed", logging.ERROR, match=self._match.match_id, traceback=traceback_of(error))
        finally:
            for task in (watching, drawing, idling):
                task.cancel()
            await asyncio.gather(watching, drawing, idling, return_exceptions=True)
            self.has_ended = True
            self._publish()
            self.begun.set()
        if self.over is not None and "result" in self.over:
            await asyncio.sleep(LAST_SECONDS)

    async def _idle(self) -> None:
        clock = asyncio.get_running_loop().time
        self._looked_at = clock()
        while self._looked_on or clock() - self._looked_at < LINGER_SECONDS:
            await asyncio.sleep(LINGER_SECONDS / 10)

    async def _watch(self, address: str) -> dict[str, str]:
        """Note what the referee shows; return the `result` in words, or the `reason` why there is none."""
        read = codec(self._game)
        async with grpc.aio.insecure_channel(address) as channel:
            try:
                async for message in RefereeStub(channel).Watch(pb.WatchRequest(match_id=self._match.match_id)):
                    self._note(wire.read_happened(read, message))
                    if message.HasField("game_over"):
                        return {"result": self._won(message.game_over)}
            except grpc.aio.AioRpcError:
                pass  # its text names sockets of the ladder's machine
        return {"reason": "The match was broken off; it will be played again."}

    def _note(self, now: Happened) -> None:
        for number, seat, said in actions_in_words(self._game, self._setup, self._scene.bots, self._seen, now):
            self._lines.append(ActionLine(number, seat, visible("; ".join(said), MAX_LINE)))
        if now.played:
            seat, action = now.played[-1]
            self._scene = replace(self._scene, step=now.told, before=self._seen or now.seen, seat=seat, action=action)
        if self._seen is None:
            self._scene = Scene(bots=self._scene.bots, step=now.told)
        self._seen, self._now = now.seen, now
        self._news.set()

    async def _draw(self) -> None:
        """Draw what is new, and tell those who look on, until the match is over."""
        for revision in count(1):
            await self._news.wait()
            self._news.clear()
            is_last = self.over is not None
            now = self._now
            if now is None:  # it was broken off before it began
                return
            lines, heading = tuple(self._lines), round_of(now.seen).capitalize()
            picture = await asyncio.to_thread(self._game.draw, self._setup, now.seen, self._scene)
            look = Look(now.told, heading, picture, lines, now.seats, revision)
            self.fragment = await asyncio.to_thread(self._as_html, look)
            self.look = look
            self._publish()
            self.begun.set()
            if is_last:
                return
            await asyncio.sleep(PICTURE_SECONDS)

    def _as_html(self, look: Look) -> Kept:
        return Kept.of(fragment("live_look.html", {"look": look, "bots": self._match.labels}).encode(), 200)

    def _won(self, result: pb.GameOver) -> str:
        """Say how the match was won."""
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
        self.change.set()
        self.change = asyncio.Event()


async def _happens(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, at most n seconds; tell whether it has happened."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False


def event_of(name: str, data: object) -> bytes:
    """Return a server-sent event."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
