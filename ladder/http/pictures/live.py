"""Matches that are being played, as browsers follow them: one spectator a match, however many people look on.

A picture is sent whole to who comes, and then what changes: the splices of `referee/pages/payload.py`, with the tokens themselves.
The referee tells spectators nothing that not everybody may know, so nothing of it is held back here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import grpc

from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub
from ladder.facts.chronicle import Chronicle
from ladder.http.rendering.sentence import sentence
from ladder.model.match import Match
from ladder.operation.errors import NotFound, TooMuch
from ladder.operation.home import Home
from ladder.operation.journal import note, traceback_of
from ladder.play.playing import playing
from ladder.questions.match import SeatAccount
from referee.game import Game, Observation, Scene, Setup
from referee.live.matches.telling import told
from referee.live.messages import wire
from referee.live.messages.codec import codec
from referee.match.effects import Happened, SeatNow
from referee.match.result import Outcome
from referee.pages.payload import splice, tokens_of
from referee.records.moments import round_of
from referee.registry import find, shipped_board
from referee.terminal import visible

PICTURE_SECONDS = 0.5
"""A match is drawn no more often."""
BEAT_SECONDS = 15.0
"""How long nothing is sent at most: proxies close connections that are silent."""
LINGER_SECONDS = 30.0
"""How long a match is followed after the last one has looked."""
FIRST_SECONDS = 10.0
"""How long is waited for the first picture of a match."""
MAX_MATCHES = 64
"""How many matches are followed at a time."""
MAX_UNREAD = 32
"""Who leaves more pictures unread is dropped; a browser that comes back gets a whole one."""
MAX_LINES = 200
"""How many of the last actions are told to who comes."""
MAX_LINE = 300
"""How many characters of a line are shown."""


@dataclass(frozen=True, slots=True)
class Line:
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
    """

    step: int
    heading: str
    picture: str
    lines: Sequence[Line]
    seats: Sequence[SeatNow]


@dataclass(slots=True)
class _Reader:
    """Somebody who looks on.

    Attributes:
        unread: events that are still to be sent; None ends them.
        news: set when there is something to send.
    """

    unread: deque[bytes | None] = field(default_factory=deque)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, event: bytes | None) -> None:
        self.unread.append(event)
        self.news.set()


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

    async def events(self, match_id: str) -> AsyncGenerator[bytes]:
        """Yield what happens in a match from now on, as server-sent events: `whole`, many `more`, at last `over`.

        Now and then an empty event comes, so that something is sent. Without `over` the reader was too slow.

        Raises:
            NotFound: if it is not being played.
            TooMuch: if too many others are looked at.
        """
        followed = await self._follow(match_id)
        with followed.looked_at(), followed.reading() as reader:
            while True:
                if not reader.unread:
                    reader.news.clear()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(BEAT_SECONDS):
                            await reader.news.wait()
                event = reader.unread.popleft() if reader.unread else b":\n\n"
                if event is None:
                    return
                yield event

    async def _follow(self, match_id: str) -> _Followed:
        if match_id not in self._matches:
            address, match = await asyncio.to_thread(self._find, match_id)
            if match_id not in self._matches:
                if len(self._matches) >= MAX_MATCHES:
                    raise TooMuch("too many matches are looked at; come back in a minute")
                followed = self._matches[match_id] = _Followed(match)
                followed.task = asyncio.create_task(followed.run(address))
                followed.task.add_done_callback(lambda _: self._matches.pop(match_id, None))
        return self._matches[match_id]

    def _find(self, match_id: str) -> tuple[str, Match]:
        """Return where a match is played, and what it is."""
        addresses = [one.address for one in playing(self._home) if one.match_id == match_id]
        with Chronicle(self._home.database, create=False) as chronicle:
            match = chronicle.match(match_id) if addresses else None
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
    """

    def __init__(self, match: Match) -> None:
        game = find(match.condition.game)
        self.task: asyncio.Task[None] | None = None
        self.begun = asyncio.Event()
        self.look: Look | None = None
        self._match = match
        self._game: Game = game
        self._setup: Setup = game.setup(len(match.seats), match.condition.options, shipped_board(game))
        self._scene = Scene(bots=tuple(match.labels))
        self._seen: Observation | None = None
        self._now: Happened | None = None
        self._lines: deque[Line] = deque(maxlen=MAX_LINES)
        self._new_lines: list[Line] = []
        self._news = asyncio.Event()
        self._tokens: list[str] = []
        self._readers: list[_Reader] = []
        self._is_over = False
        self._has_ended = False
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

    @contextlib.contextmanager
    def reading(self) -> Any:
        """Send somebody what happens meanwhile."""
        reader = _Reader()
        if self.look is not None:
            reader.put(self._whole(self.look))
        if self._has_ended:  # at this moment
            reader.put(None)
        self._readers.append(reader)
        try:
            yield reader
        finally:
            with contextlib.suppress(ValueError):  # it was dropped
                self._readers.remove(reader)

    async def run(self, address: str) -> None:
        """Follow the match until it is over, or nobody has looked for a while."""
        watching = asyncio.create_task(self._watch(address))
        drawing = asyncio.create_task(self._draw())
        idling = asyncio.create_task(self._idle())
        try:
            done, _ = await asyncio.wait([watching, drawing, idling], return_when=asyncio.FIRST_COMPLETED)
            if watching in done:
                over = watching.result()
                self._is_over = True
                self._news.set()
                await drawing
                self._publish(event_of("over", over))
            elif drawing in done:
                drawing.result()
        except (ValueError, LookupError) as error:  # what the referee says cannot be read or drawn
            note("live_failed", logging.ERROR, match=self._match.match_id, traceback=traceback_of(error))
        finally:
            for task in (watching, drawing, idling):
                task.cancel()
            await asyncio.gather(watching, drawing, idling, return_exceptions=True)
            self._has_ended = True
            self._publish(None)
            self.begun.set()

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
        for number, seat, said in told(self._game, self._setup, self._scene.bots, self._seen, now):
            self._add(Line(number, seat, visible("; ".join(said), MAX_LINE)))
        if now.played:
            seat, action = now.played[-1]
            self._scene = replace(self._scene, step=now.told, before=self._seen or now.seen, seat=seat, action=action)
        if self._seen is None:
            self._scene = Scene(bots=self._scene.bots, step=now.told)
        self._seen, self._now = now.seen, now
        self._news.set()

    def _add(self, line: Line) -> None:
        self._lines.append(line)
        self._new_lines = [*self._new_lines, line][-MAX_LINES:]

    async def _draw(self) -> None:
        """Draw what is new, and tell those who look on, until the match is over."""
        while True:
            await self._news.wait()
            self._news.clear()
            is_last = self._is_over
            now, scene, new = self._now, self._scene, self._new_lines
            if now is None:  # it was broken off before it began
                return
            self._new_lines = []
            lines = tuple(self._lines)
            picture = await asyncio.to_thread(self._game.draw, self._setup, now.seen, scene)
            self.look = Look(now.told, round_of(now.seen).capitalize(), picture, lines, now.seats)
            before, self._tokens = self._tokens, tokens_of(picture)
            if not before:
                self._publish(self._whole(self.look))
            else:
                change = changed(before, self._tokens)
                self._publish(event_of("more", {"change": change} | _words(self.look, new), now.told))
            self.begun.set()
            if is_last:
                return
            await asyncio.sleep(PICTURE_SECONDS)

    def _won(self, result: pb.GameOver) -> str:
        """Say how the match was won."""
        told = [
            SeatAccount(
                seat=one.seat,
                bot=self._match.labels[one.seat],
                rank=one.rank,
                score=one.score,
                outcome=Outcome[pb.SeatResult.Outcome.Name(one.outcome).removeprefix("OUTCOME_")].value,
            )
            for one in result.seats
        ]
        return sentence(told)

    def _whole(self, look: Look) -> bytes:
        return event_of("whole", {"picture": tokens_of(look.picture)} | _words(look, look.lines), look.step)

    def _publish(self, event: bytes | None) -> None:
        for reader in self._readers[:]:
            if len(reader.unread) >= MAX_UNREAD:
                self._readers.remove(reader)
                reader.unread.clear()
                reader.put(None)
            else:
                reader.put(event)


def changed(before: list[str], after: list[str]) -> list[Any]:
    """Return what makes one picture of another: how many tokens to keep, how many to drop, which to insert, and so on."""
    numbers: dict[str, int] = {}
    old, new = ([numbers.setdefault(token, len(numbers)) for token in tokens] for tokens in (before, after))
    tokens = list(numbers)
    steps: list[Any] = []
    change = splice(old, new)
    at = 0
    while at < len(change):
        keep, drop, count = change[at : at + 3]
        steps += [keep, drop, [tokens[number] for number in change[at + 3 : at + 3 + count]]]
        at += 3 + count
    return steps


def event_of(name: str, data: object, step: int | None = None) -> bytes:
    """Return a server-sent event."""
    numbered = "" if step is None else f"id: {step}\n"
    return f"event: {name}\n{numbered}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def _words(look: Look, lines: Sequence[Line]) -> dict[str, Any]:
    return {
        "step": look.step,
        "heading": look.heading,
        "lines": [[line.number, line.seat, line.text] for line in lines],
        "seats": [[seat.rank, seat.score, round(seat.thought, 1), doing(seat)] for seat in look.seats],
    }


def doing(seat: SeatNow) -> str:
    """Say what a seat does."""
    return "out" if seat.out else "decides" if seat.deciding else ""
