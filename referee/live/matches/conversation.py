"""A conversation with one started agent outside a match, in which the caller plays the referee from a script."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator

import grpc

from dogana.v1 import referee_pb2 as pb
from referee.live.doors.call import Http2Call
from referee.live.doors.door import STOP_SECONDS, Door
from referee.live.matches.play import Command, start_process
from referee.live.seats.command import AgentProcess
from referee.sandbox.socket_folder import sweep

MAX_UNREAD = 256
"""The maximum number of unread messages from an agent; further messages are dropped."""
_TRANSCRIPT_MESSAGES = 8
_LAST_WORDS_SECONDS = 0.2
"""The time allowed for messages to arrive after the process that sent them has ended."""


class Conversation:
    """The process of an agent, and the referee's end of its only stream.

    Attributes:
        player: the command that started the agent.
        process: the process of the agent.
        token: the agent's token for joining.
        streams: the number of streams that the agent has opened.
        first_seconds: the time from the agent's start to its first message; 0 until that message.
        transcript: the last messages in both directions, each with its sender, `referee` or `bot`; a text in place of a
            message says that the referee ends the stream.
    """

    def __init__(self, player: Command) -> None:
        self.player = player
        self.process: AgentProcess
        self.token = secrets.token_urlsafe(24)
        self.streams = 0
        self.first_seconds = 0.0
        self.transcript: deque[tuple[str, bytes | str]] = deque(maxlen=_TRANSCRIPT_MESSAGES)
        self._inbox: deque[bytes | None] = deque()
        """The received messages; None stands for the end of the stream."""
        self._news: asyncio.Future[None] | None = None
        self._call: Http2Call | None = None
        self._status: asyncio.Future[tuple[grpc.StatusCode, str]] = asyncio.get_running_loop().create_future()
        self._door = Door()
        self._is_open = True
        self._began = time.monotonic()

    async def open(self) -> None:
        """Start the agent.

        Raises:
            CannotIsolate, CannotStart: if the agent cannot be started.
        """
        self._door.serve(self._serve)
        self._door.socket.chmod(0o666)  # its folder keeps other users out; the agent may be another user
        self._began = time.monotonic()
        self.process = await start_process(self.player, self._door.socket, self.token)
        self._exited = asyncio.ensure_future(self.process.ended())
        self._exited.add_done_callback(self._wake)

    async def close(self) -> None:
        """End the agent, and the stream if it is open."""
        with contextlib.suppress(AttributeError):  # it was not started
            await self.process.stop()
            self._exited.cancel()
        if not self._status.done():
            self._status.cancel()
        await self.cut(STOP_SECONDS)

    async def cut(self, seconds: float = 0.0) -> None:
        """Break every connection, after giving calls `seconds` to end."""
        if self._is_open:
            self._is_open = False
            await self._door.close(seconds)

    async def _serve(self, call: Http2Call) -> None:
        self.streams += 1
        if self._call is not None:
            await call.abort(grpc.StatusCode.UNAUTHENTICATED, "the token was used up")
        self._call = call
        stop_listening = call.listen(self._receive)
        try:
            code, text = await self._status
        finally:
            stop_listening()
            self._receive(None)
        if code is not grpc.StatusCode.OK:
            await call.abort(code, text)

    def _receive(self, data: bytes | None) -> None:
        if data is None or len(self._inbox) < MAX_UNREAD:
            self._inbox.append(data)
        self._wake()

    def _wake(self, *_: object) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def _wait(self, seconds: float) -> None:
        """Wait until a message arrives, the agent ends, or the time is up."""
        loop = asyncio.get_running_loop()
        self._news = loop.create_future()
        timer = loop.call_later(seconds, self._wake)
        try:
            await self._news
        finally:
            timer.cancel()

    async def say(self, *messages: pb.RefereeMessage | bytes) -> None:
        """Send messages, or raw bytes that are not a message; do nothing if the agent has disconnected."""
        for message in messages:
            data = message if isinstance(message, bytes) else message.SerializeToString()
            self.transcript.append(("referee", data))
            if self._call is not None:
                await self._call.write(data)

    def end(self, code: grpc.StatusCode = grpc.StatusCode.OK, text: str = "") -> None:
        """End the stream."""
        self.transcript.append(("referee", f"ends the stream with {code.name}"))
        if not self._status.done():
            self._status.set_result((code, text))

    async def hear(self, seconds: float) -> bytes | None:
        """Wait for the next message; return None if none comes in time, or the agent closes its stream or ends."""
        if not self._inbox and not self._exited.done():
            await self._wait(seconds)
        if not self._inbox and self._exited.done():
            await self._wait(_LAST_WORDS_SECONDS)
        if not self._inbox or self._inbox[0] is None:  # the end of the stream stays
            return None
        data = self._inbox.popleft()
        assert data is not None  # noqa: S101 see above
        self.first_seconds = self.first_seconds or time.monotonic() - self._began
        self.transcript.append(("bot", data))
        return data

    @property
    def has_closed(self) -> bool:
        """True if the agent has closed its stream; only valid after `hear` has returned None."""
        return bool(self._inbox)

    async def exit(self, seconds: float) -> str:
        """Wait for the agent to end; describe how it ended, or return an empty text if it does not end in time."""
        await asyncio.wait([self._exited], timeout=seconds)
        return self._exited.result() if self._exited.done() else ""


@contextlib.asynccontextmanager
async def conversation(player: Command) -> AsyncIterator[Conversation]:
    """Start an agent for a conversation, and end all its processes afterwards.

    Raises:
        CannotIsolate, CannotStart: if the agent cannot be started.
    """
    sweep()
    talk = Conversation(player)
    try:
        await talk.open()
        yield talk
    finally:
        await talk.close()
