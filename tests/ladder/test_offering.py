"""The author's side of bots at home: the relay of a match, and what a hostile ladder can do. Real gRPC."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from typing_extensions import override

from dogana.v1 import ladder_pb2 as pb
from dogana.v1 import referee_pb2
from dogana.v1.ladder_pb2_grpc import LadderServicer, add_LadderServicer_to_server
from ladder.operation.errors import LadderError
from ladder.operation.lost_calls import LONGEST_PAUSE
from ladder.service.home_bot import look_at, play_match
from ladder.service.login import Login
from ladder.service.offering import Offer, Offering
from ladder.service.relay import Relay
from tests.cases import mostly_long
from tests.patience import patient

CONTENT = "v1.0"
JOIN = referee_pb2.AgentMessage(join=referee_pb2.Join(token="shown", protocol=1))  # noqa: S106
DEAF = """
import os, time
import grpc
from dogana.v1 import referee_pb2 as pb
channel = grpc.insecure_channel(os.environ["DOGANA_ADDRESS"])
play = channel.stream_stream("/dogana.v1.Referee/Play")
join = pb.AgentMessage(join=pb.Join(token=os.environ["DOGANA_TOKEN"], protocol=1))
def requests():
    yield join.SerializeToString()
    if ENDS:
        return
    time.sleep(600)
call = play(requests())
time.sleep(600)
"""
"""A bot that joins, and hears nothing of what it is told; it ends its side of the stream at once, or never."""


# --- the relay ------------------------------------------------------------------------------------------------


Script = Callable[["Ladder", Any], Awaitable[None]]


class Ladder:
    """A ladder's side of the stream, that does what a test says: each stream that comes takes the next script."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.address = ""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[Any]:
        server = grpc.aio.server()
        handler: Any = grpc.stream_stream_rpc_method_handler(self._play)
        handlers = grpc.method_handlers_generic_handler("dogana.v1.Referee", {"Play": handler})
        server.add_generic_rpc_handlers((handlers,))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel.stream_stream("/dogana.v1.Referee/Play")
        await server.stop(None)

    async def _play(self, _: object, context: Any) -> None:
        join = await self.heard(context)
        assert join == JOIN
        await self.say(context, welcome=referee_pb2.Welcome(match_id="m"))
        await self.scripts.pop(0)(self, context)

    async def say(self, context: Any, **message: Any) -> None:
        await context.write(referee_pb2.RefereeMessage(**message).SerializeToString())

    async def heard(self, context: Any) -> referee_pb2.AgentMessage:
        data = await context.read()
        assert isinstance(data, bytes)
        return referee_pb2.AgentMessage.FromString(data)


class Bot:
    """A bot's side of the stream."""

    def __init__(self, call: Any) -> None:
        self._call = call

    async def say(self, **message: Any) -> None:
        await self._call.write(referee_pb2.AgentMessage(**message).SerializeToString())

    async def heard(self) -> referee_pb2.RefereeMessage:
        data = await self._call.read()
        assert isinstance(data, bytes), (await self._call.code(), await self._call.details())
        return referee_pb2.RefereeMessage.FromString(data)


def relayed(bot: Callable[[Bot], Awaitable[None]], *scripts: Script) -> Relay:
    """Let a bot play by way of a relay; return the relay, at the end."""

    async def go() -> Relay:
        async with (
            asyncio.timeout(patient(60)),
            Ladder(*scripts).serving() as play,
            Relay(play, lambda: iter([0.01] * 100)) as relay,
        ):
            async with grpc.aio.insecure_channel(relay.address) as channel:
                call: Any = channel.stream_stream("/dogana.v1.Referee/Play")()
                one = Bot(call)
                await one.say(join=JOIN.join)
                await bot(one)
                with contextlib.suppress(grpc.aio.AioRpcError):
                    assert not isinstance(await call.read(), bytes)
            return relay

    return asyncio.run(go())


def decide(number: int) -> referee_pb2.Decide:
    return referee_pb2.Decide(decision=number, action_count=3)


async def over(ladder: Ladder, context: Any) -> None:
    seats = [referee_pb2.SeatResult(seat=0, rank=1, score=7)]
    await ladder.say(context, game_over=referee_pb2.GameOver(seats=seats))


async def lose(context: Any) -> None:
    await context.abort(grpc.StatusCode.UNAVAILABLE, "the connection is lost")


def test_an_answer_tells_how_long_the_bot_has_thought() -> None:
    async def ladder(self: Ladder, context: Any) -> None:
        await self.say(context, decide=decide(1))
        answer = await self.heard(context)
        assert answer.choose.index == 2
        assert 50 <= answer.choose.thought_ms < 50_000
        await over(self, context)

    async def bot(self: Bot) -> None:
        assert (await self.heard()).HasField("welcome")
        assert (await self.heard()).decide.decision == 1
        await asyncio.sleep(0.05)
        await self.say(choose=referee_pb2.Choose(decision=1, index=2))
        assert (await self.heard()).HasField("game_over")

    relay = relayed(bot, ladder)
    assert relay.over is not None
    assert relay.over.seats[0].score == 7
    assert (relay.has_joined, relay.refusal) == (True, "")


def test_a_bot_does_not_notice_that_the_connection_is_lost_while_it_thinks() -> None:
    thinking = asyncio.Event()

    async def first(self: Ladder, context: Any) -> None:
        await self.say(context, decide=decide(1))
        await thinking.wait()
        await lose(context)

    async def second(self: Ladder, context: Any) -> None:
        await self.say(context, decide=decide(1))  # as the referee does for a seat that has come back
        assert (await self.heard(context)).choose.decision == 1
        await over(self, context)

    async def bot(self: Bot) -> None:
        assert (await self.heard()).HasField("welcome")
        assert (await self.heard()).decide.decision == 1
        thinking.set()
        await asyncio.sleep(0.3)
        await self.say(choose=referee_pb2.Choose(decision=1, index=0))
        assert (await self.heard()).HasField("game_over")  # neither Welcome nor Decide a second time

    assert relayed(bot, first, second).over is not None


def test_a_bot_that_is_refused_for_a_limit_comes_back_when_the_ladder_has_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []
    sleep = asyncio.sleep

    async def wait(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    async def busy(_: Ladder, context: Any) -> None:
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many requests", (("retry-after", "7"),))

    async def very_busy(_: Ladder, context: Any) -> None:
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many requests", (("retry-after", "99999"),))

    async def bot(one: Bot) -> None:
        assert (await one.heard()).WhichOneof("message") == "welcome"
        assert (await one.heard()).WhichOneof("message") == "game_over"

    monkeypatch.setattr("ladder.service.relay.asyncio.sleep", wait)
    relay = relayed(bot, busy, very_busy, over)
    assert relay.over is not None
    assert waited == [7.0, LONGEST_PAUSE]


@pytest.mark.parametrize("metadata", [(), (("retry-after", "soon"),), (("retry-after", "-1"),), (("x", "1"),)])
def test_a_refusal_that_names_no_time_is_final(metadata: tuple[tuple[str, str], ...]) -> None:
    async def refuses(_: Ladder, context: Any) -> None:
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "the message is too large", metadata)

    async def bot(one: Bot) -> None:
        assert (await one.heard()).WhichOneof("message") == "welcome"

    assert relayed(bot, refuses).refusal == "the message is too large"


def test_an_answer_that_was_lost_is_sent_again() -> None:
    async def first(self: Ladder, context: Any) -> None:
        await self.say(context, decide=decide(4))
        await self.heard(context)
        await lose(context)  # before the referee had it

    async def second(self: Ladder, context: Any) -> None:
        await self.say(context, decide=decide(4))
        assert (await self.heard(context)).choose.index == 1
        await self.say(context, decide=decide(5))
        assert (await self.heard(context)).choose.decision == 5
        await over(self, context)

    async def bot(self: Bot) -> None:
        await self.heard()
        for number in (4, 5):
            assert (await self.heard()).decide.decision == number
            await self.say(choose=referee_pb2.Choose(decision=number, index=1))
        assert (await self.heard()).HasField("game_over")

    assert relayed(bot, first, second).over is not None


def test_an_answer_that_is_refused_is_asked_for_again() -> None:
    async def ladder(self: Ladder, context: Any) -> None:
        await self.say(context, decide=decide(1))
        await self.heard(context)
        illegal = referee_pb2.Rejected(decision=1, reason=referee_pb2.Rejected.REASON_ILLEGAL)
        await self.say(context, rejected=illegal)
        assert (await self.heard(context)).choose.index == 2
        await over(self, context)

    async def bot(self: Bot) -> None:
        await self.heard()
        await self.heard()
        await self.say(choose=referee_pb2.Choose(decision=1, index=9))
        assert (await self.heard()).HasField("rejected")
        await self.say(choose=referee_pb2.Choose(decision=1, index=2))
        assert (await self.heard()).HasField("game_over")

    assert relayed(bot, ladder).over is not None


def test_what_the_bot_sends_otherwise_is_for_the_ladder_to_judge() -> None:
    async def ladder(self: Ladder, context: Any) -> None:
        assert await context.read() == b"\xff\xff\xff"
        stale = await self.heard(context)
        assert not stale.choose.HasField("thought_ms")
        await context.abort(grpc.StatusCode.ABORTED, "the seat is out (protocol)")

    async def bot(self: Bot) -> None:
        await self.heard()
        await self._call.write(b"\xff\xff\xff")
        await self.say(choose=referee_pb2.Choose(decision=77, index=0))

    relay = relayed(bot, ladder)
    assert (relay.over, relay.refusal) == (None, "the seat is out (protocol)")


def test_what_the_ladder_sends_that_is_no_message_ends_the_match_for_the_bot(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def ladder(_: Ladder, context: Any) -> None:
        await context.write(b"\xff\xff\xff")
        await context.read()

    async def bot(self: Bot) -> None:
        assert (await self.heard()).HasField("welcome")

    relay = relayed(bot, ladder)
    assert (relay.over, relay.refusal) == (None, "the ladder sent something that is not a message of the protocol")
    assert "Traceback" not in capfd.readouterr().err + caplog.text


@pytest.mark.parametrize(
    ("bot_ends", "why"),
    mostly_long(
        [
            (False, "the ladder ended the match without its result"),
            (True, "the bot ended its stream before the match was over"),
        ]
    ),
    ids=["the ladder ends the stream", "the bot ends it"],
)
async def test_a_bot_is_not_left_waiting_for_a_match_that_ended_without_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot_ends: bool, why: str
) -> None:
    async def ends(self: Ladder, context: Any) -> None:
        while bot_ends and isinstance(await context.read(), bytes):
            pass

    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    (tmp_path / "bot.py").write_text(f"ENDS = {bot_ends}\n{DEAF}")
    said: list[str] = []

    async with asyncio.timeout(patient(60)), Ladder(ends).serving() as play:
        bot = look_at(tmp_path / "bot.py", CONTENT)
        await play_match(bot, invitation(token="shown"), play, None, said.append)  # noqa: S106
    assert said[-1] == f"match abc: {why}"


async def test_the_outcome_of_a_match_is_printed_also_if_what_the_bot_wrote_cannot_be_stored(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("raise SystemExit(3)\n")
    said: list[str] = []

    async with Ladder().serving() as play:
        bot = look_at(tmp_path / "bot.py", CONTENT)
        await play_match(bot, invitation(), play, tmp_path / "a folder that is gone", said.append)
    assert any(
        "what the bot wrote is not kept: " in line and "there is no such file or folder" in line for line in said
    )
    assert said[-1] == "match abc: the bot exited with status 3"


def test_a_bot_that_ends_its_stream_ends_that_to_the_ladder() -> None:
    ended = []

    async def ladder(self: Ladder, context: Any) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            while isinstance(await context.read(), bytes):
                pass
        ended.append(True)

    async def bot(self: Bot) -> None:
        await self.heard()
        await self._call.done_writing()

    relayed(bot, ladder)
    assert ended


# --- a hostile ladder -----------------------------------------------------------------------------------------


class HostileLadder(LadderServicer):
    """A ladder that sends what it likes to who offers a bot."""

    def __init__(self, *invitations: pb.Invitation) -> None:
        self._invitations = invitations

    @override
    async def Offer(self, requests: Any, context: Any) -> Any:
        await anext(requests)
        yield pb.OfferAnswer(connected=pb.Connected(bot="\x1b[2Jremote", version=1, author="\x1b]0;x\x07"))
        yield pb.OfferAnswer()
        for invitation in self._invitations:
            yield pb.OfferAnswer(invitation=invitation)
        await asyncio.sleep(0.5)
        await context.abort(grpc.StatusCode.ABORTED, "\x1b[31menough\n")


def reported_by(tmp_path: Path, *invitations: pb.Invitation, **limits: int) -> tuple[list[str], str]:
    """What an author is told who offers a bot to such a ladder, and why it ends."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "bot.py").write_text("import time\ntime.sleep(60)\n")
    said: list[str] = []
    with pytest.raises(LadderError) as caught:
        offer_to(HostileLadder(*invitations), tmp_path, once(said), tmp_path / "logs", **limits)
    return said, str(caught.value)


def once(said: list[str]) -> Callable[[str], None]:
    """Return what takes the lines for an author, and ends the offer before it is made again."""

    def say(line: str) -> None:
        said.append(line)
        if "trying again" in line:
            raise LadderError(line)

    return say


def offer_to(
    ladder: LadderServicer, tmp_path: Path, say: Callable[[str], None], logs: Path | None = None, **limits: int
) -> bool:
    """Offers the bot in a folder to a ladder, until that ends."""

    async def go() -> bool:
        server = grpc.aio.server()
        add_LadderServicer_to_server(ladder, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        bot = look_at(tmp_path / "bot.py", CONTENT)
        offered = Offer(bot, "remote", f"127.0.0.1:{port}", Login("ann", "t"), 1, logs)
        try:
            return await Offering(offered, say, **limits).run()
        finally:
            await server.stop(None)

    return asyncio.run(go())


def invitation(**changes: Any) -> pb.Invitation:
    known = {"match": "abc", "game": "cargo_noir", "bots": ["a", "b"], "token": "t", "join_seconds": 30.0}
    return pb.Invitation(**{**known, **changes})


def test_nothing_that_a_ladder_says_reaches_the_terminal_as_it_is(tmp_path: Path) -> None:
    said, why = reported_by(tmp_path, invitation(game="\x1b[2J", bots=["\x1b[2J", "b\n"]))
    assert not any("\x1b" in line or "\n" in line for line in [*said, why])
    assert any(line.startswith("match abc: ") for line in said)


def test_a_ladder_can_neither_name_a_file_nor_make_a_bot_wait_without_end(tmp_path: Path) -> None:
    names = ["../evil", "/etc/evil", "", "a\0b", "x" * 81, "\x1b"]
    seconds = [0.0, -1.0, math.nan, math.inf, 1e9]
    wrong = [*(invitation(match=one) for one in names), *(invitation(join_seconds=one) for one in seconds)]
    said, _ = reported_by(tmp_path, *wrong)
    assert said.count("an invitation was passed over: it cannot be read") == len(wrong)
    assert {path.name for path in tmp_path.iterdir()} == {"bot.py", "logs"}
    assert not list((tmp_path / "logs").iterdir())


def test_a_ladder_cannot_start_more_bots_than_were_offered(tmp_path: Path) -> None:
    said, _ = reported_by(tmp_path, *(invitation(match=f"m{number}") for number in range(10)))
    assert len([line for line in said if "was passed over: 4 matches" in line]) == 6


def test_an_invitation_that_comes_twice_starts_one_bot(tmp_path: Path) -> None:
    said, _ = reported_by(tmp_path, invitation(), invitation(token="other"))  # noqa: S106
    assert len([line for line in said if line.startswith("match abc: cargo_noir")]) == 1


def test_who_has_to_leave_for_a_newer_version_is_told(tmp_path: Path) -> None:
    class Ending(LadderServicer):
        @override
        async def Offer(self, requests: Any, context: Any) -> Any:
            await anext(requests)
            yield pb.OfferAnswer(connected=pb.Connected(bot="remote", version=1, author="ann"))

    said: list[str] = []
    (tmp_path / "bot.py").write_text("")
    assert offer_to(Ending(), tmp_path, said.append)
    assert said[-1] == "a newer version of this bot is offered: this one leaves"


def test_a_ladder_cannot_fill_the_memory_of_an_author(tmp_path: Path) -> None:
    said, why = reported_by(tmp_path, invitation(game="x" * 20_000), max_message_bytes=10_000)
    assert not any("xxx" in line for line in said)
    assert "larger than max (20" in why
    assert "trying again in" in why


def test_who_was_connected_comes_back_when_the_ladder_has_said(tmp_path: Path) -> None:
    class Busy(LadderServicer):
        @override
        async def Offer(self, requests: Any, context: Any) -> Any:
            await anext(requests)
            yield pb.OfferAnswer(connected=pb.Connected(bot="remote", version=1, author="ann"))
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many requests", (("retry-after", "33"),))

    (tmp_path / "bot.py").write_text("")
    with pytest.raises(LadderError, match=r"\(too many requests\); trying again in 33\.0 s"):
        offer_to(Busy(), tmp_path, once([]))
