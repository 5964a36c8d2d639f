"""The stream of one bot at home: from a socket on this machine to the ladder, and back.

The bot sees a referee on its own machine. This module restores a lost connection, and corrects for messages that
arrived twice or not at all. Each answer contains the bot's thinking time, so that the ladder can tell it apart from
network delays.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from dogana.v1 import referee_pb2 as pb
from ladder.operation.lost_calls import LONGEST_PAUSE, LOST, pass_on_cancellation, pauses
from ladder.operation.meter import RETRY_AFTER
from referee.live.doors.call import Http2Call
from referee.live.doors.door import Door

_SECONDS = re.compile(r"[0-9]{1,6}", re.ASCII)
Stream = Any
"""A call of the ladder's `Play` method."""


def retry_after(code: grpc.StatusCode, metadata: Iterable[tuple[str, str | bytes]] | None) -> float | None:
    """Return the number of seconds to wait after a ladder has refused a call because of a limit.

    Return None if the call was refused for another reason, or the ladder names no time.
    """
    if code is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        return None
    seconds = next((str(value) for name, value in metadata or () if name == RETRY_AFTER), "")
    return float(seconds) if _SECONDS.fullmatch(seconds) else None


class Relay:
    """A socket on this machine for one bot, and its connection to the bot's seat.

    Use this object as an asynchronous context manager.

    Attributes:
        address: the address at which the bot joins, as in DOGANA_ADDRESS.
        has_joined: True if the bot has connected to this socket; the ladder welcomes it when all others have joined,
            too.
        over: the message that ends the match; None until it has arrived.
        refusal: the reason why the stream to the ladder ended before the match; empty if it did not.
    """

    def __init__(self, play: Callable[[], Stream], wait: Callable[[], Iterator[float]] = pauses) -> None:
        """Prepare the relay.

        Args:
            play: opens a stream of bytes to the ladder.
            wait: yields the pauses before the stream is opened again.
        """
        self._play = play
        self._wait = wait
        self._door = Door()
        self._up: Stream | None = None
        self._open = 0
        """The number of the last decision that was put to the bot."""
        self._sent_at = 0.0
        self._answer: bytes | None = None
        """The bot's answer to the last decision; None if there is none yet."""
        self._pauses = wait()
        self.address = f"unix:{self._door.socket}"
        self.has_joined = False
        self._is_welcome = False
        self.over: pb.GameOver | None = None
        self.refusal = ""

    async def __aenter__(self) -> Relay:
        """Start to accept the bot's connection."""
        self._door.serve(self._serve)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._door.close()

    async def _serve(self, call: Http2Call) -> None:
        join = await call.read()
        if join is None:
            return
        self.has_joined = True
        reading = asyncio.ensure_future(self._read(call))
        playing = asyncio.ensure_future(self._carry(join, call))
        try:
            await asyncio.wait([reading, playing], return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                playing.result()
            elif self.over is None:
                self.refusal = "the bot ended its stream before the match was over"
        finally:
            for task in (reading, playing):
                task.cancel()
            await asyncio.gather(reading, playing, return_exceptions=True)
            if self._up is not None:
                self._up.cancel()
        if self.refusal:
            await call.abort(grpc.StatusCode.ABORTED, self.refusal)

    async def _carry(self, join: bytes, call: Http2Call) -> None:
        """Forward the ladder's messages to the bot until the end of the match; reconnect after each lost connection."""
        while True:
            wait: float | None = None
            up = self._up = self._play()
            try:
                await up.write(join)
                async for data in up:
                    await self._hand_down(data, call, up)
                if self.over is None:
                    self.refusal = "the ladder ended the match without its result"
                return
            except grpc.aio.AioRpcError as error:
                pass_on_cancellation()
                wait = retry_after(error.code(), error.trailing_metadata())
                if error.code() not in LOST and wait is None:
                    self.refusal = error.details() or error.code().name
                    return
            except DecodeError:
                self.refusal = "the ladder sent something that is not a message of the protocol"
                return
            finally:
                self._up = None
                up.cancel()
            await asyncio.sleep(max(next(self._pauses), min(wait or 0.0, LONGEST_PAUSE)))

    async def _hand_down(self, data: bytes, call: Http2Call, up: Stream) -> None:
        message = pb.RefereeMessage.FromString(data)
        # A message has come, so the next lost connection begins with a short pause again.
        self._pauses = self._wait()
        match message.WhichOneof("message"):
            case "welcome":
                if self._is_welcome:
                    return
                self._is_welcome = True
            case "decide" if message.decide.decision == self._open:  # sent once more, after the connection was lost
                if self._answer is not None:
                    with contextlib.suppress(asyncio.InvalidStateError):  # lost again: the next read says how
                        await up.write(self._answer)
                return
            case "decide":
                self._ask(message.decide.decision)
            # The decision of a stale answer is closed; after any other rejected answer, the decision is open again.
            case "rejected" if message.rejected.reason != pb.Rejected.REASON_STALE:
                self._ask(message.rejected.decision)
            case "game_over":
                self.over = message.game_over
        await call.write(data)

    def _ask(self, number: int) -> None:
        self._open, self._answer = number, None
        self._sent_at = asyncio.get_running_loop().time()

    async def _read(self, call: Http2Call) -> None:
        """Forward the bot's messages to the ladder until the bot ends its stream."""
        while (data := await call.read()) is not None:
            data = self._with_thought(data)
            if self._up is not None:
                with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # lost: see `_hand_down`
                    await self._up.write(data)

    def _with_thought(self, data: bytes) -> bytes:
        """Add the thinking time to an answer, and store the answer.

        Any other message is returned unchanged, for the ladder to judge.
        """
        try:
            message = pb.AgentMessage.FromString(data)
        except DecodeError:
            return data
        if message.WhichOneof("message") != "choose" or message.choose.decision != self._open:
            return data
        message.choose.thought_ms = (asyncio.get_running_loop().time() - self._sent_at) * 1000
        self._answer = message.SerializeToString()
        return self._answer
