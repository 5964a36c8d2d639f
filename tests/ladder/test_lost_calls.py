"""Calls that are lost: when they are made again, and that a task which is cancelled makes none again."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import grpc
import pytest

from dogana.v1 import ladder_pb2 as pb
from dogana.v1 import referee_pb2
from ladder.operation.lost_calls import LONGEST_PAUSE, pauses
from ladder.service import offering
from ladder.service.home_bot import look_at
from ladder.service.login import Login
from ladder.service.offering import Offer, Offering
from ladder.service.relay import Relay
from tests.patience import patient, until


def test_attempts_to_come_back_are_spread_and_never_stop() -> None:
    waits = [wait for wait, _ in zip(pauses(), range(30), strict=False)]
    assert all(wait <= LONGEST_PAUSE and math.isfinite(wait) for wait in waits)
    assert waits[0] <= 1
    assert waits[-1] >= LONGEST_PAUSE / 2


class Call:
    """A call that ends at the very moment at which the task that reads from it is cancelled: gRPC raises how it ended.

    Attributes:
        is_read: whether a task waits for a message.
    """

    def __init__(self, *messages: Any) -> None:
        self._messages = list(messages)
        self.is_read = False

    async def write(self, message: Any) -> None:
        pass

    async def read(self) -> Any:
        if self._messages:
            return self._messages.pop(0)
        self.is_read = True
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            nothing = grpc.aio.Metadata()
            raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, nothing, nothing) from None

    def __aiter__(self) -> Self:
        return self

    __anext__ = read

    def cancel(self) -> None:
        pass


def opening(call: Call, opened: list[Call]) -> Callable[..., Call]:
    """Return what opens a call, and fails when it is asked for another."""

    def open_call(*_: object, **__: object) -> Call:
        opened.append(call)
        assert len(opened) == 1, "the cancellation is lost: the call is made again"
        return call

    return open_call


async def test_a_relay_that_is_ended_at_the_moment_at_which_its_call_is_lost_does_not_make_it_again() -> None:
    call, opened = Call(), list[Call]()
    join = referee_pb2.AgentMessage(join=referee_pb2.Join(token="shown", protocol=1))  # noqa: S106
    async with (
        Relay(opening(call, opened), lambda: iter([0.0] * 9)) as relay,
        grpc.aio.insecure_channel(relay.address) as channel,
    ):
        bot: Any = channel.stream_stream("/dogana.v1.Referee/Play")()
        await bot.write(join.SerializeToString())
        await until(lambda: call.is_read)
        await bot.done_writing()
        assert await bot.code() is grpc.StatusCode.ABORTED
    assert len(opened) == 1


class LostWhileAnswered(Call):
    """A call whose decision comes twice, and which is lost before its answer can be sent once more."""

    def __init__(self, decide: bytes) -> None:
        super().__init__(decide)
        self._again = [decide]
        self._is_answered = asyncio.Event()

    async def write(self, message: bytes) -> None:
        if referee_pb2.AgentMessage.FromString(message).HasField("choose"):
            if self._is_answered.is_set():
                raise asyncio.InvalidStateError("the call has ended")
            self._messages += self._again
            self._is_answered.set()

    async def read(self) -> Any:
        if not self._messages:
            await self._is_answered.wait()
        if self._messages:
            return self._messages.pop(0)
        nothing = grpc.aio.Metadata()
        raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, nothing, nothing)

    __anext__ = read


async def test_a_call_that_is_lost_while_an_answer_is_sent_once_more_is_made_again() -> None:
    join = referee_pb2.AgentMessage(join=referee_pb2.Join(token="shown", protocol=1))  # noqa: S106
    answer = referee_pb2.AgentMessage(choose=referee_pb2.Choose(decision=1, index=0))
    decide = referee_pb2.RefereeMessage(decide=referee_pb2.Decide(decision=1, action_count=2)).SerializeToString()
    over = referee_pb2.RefereeMessage(game_over=referee_pb2.GameOver()).SerializeToString()
    calls = iter([LostWhileAnswered(decide), Call(over)])
    async with (
        asyncio.timeout(patient(60)),
        Relay(lambda: next(calls), lambda: iter([0.0] * 9)) as relay,
        grpc.aio.insecure_channel(relay.address) as channel,
    ):
        bot: Any = channel.stream_stream("/dogana.v1.Referee/Play")()
        await bot.write(join.SerializeToString())
        assert await bot.read() == decide
        await bot.write(answer.SerializeToString())
        assert await bot.read() == over
    assert relay.over is not None


async def test_an_offer_that_is_ended_at_the_moment_at_which_its_call_is_lost_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, opened = Call(pb.OfferAnswer(connected=pb.Connected(bot="remote", version=1))), list[Call]()

    class Stub:
        def __init__(self, channel: object) -> None:
            self.Offer = opening(call, opened)

    monkeypatch.setattr(offering, "LadderStub", Stub)
    (tmp_path / "bot.py").write_text("")
    offer = Offer(look_at(tmp_path / "bot.py", "v1"), "remote", "127.0.0.1:9", Login("ann", "t"), 1, None)
    said: list[str] = []
    running = asyncio.create_task(Offering(offer, said.append).run())
    await until(lambda: call.is_read)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, patient(60))
    assert not any("trying again" in line for line in said)
    assert len(opened) == 1
