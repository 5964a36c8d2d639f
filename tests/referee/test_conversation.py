"""A conversation with an agent outside of a match (`referee/live/matches/conversation.py`)."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import grpc
import pytest

from dogana.v1 import referee_pb2 as pb
from referee.live.matches.conversation import MAX_UNREAD, conversation
from referee.live.matches.play import Command
from referee.live.seats.command import CannotStart
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]
BOT = """
import os, sys
import grpc
from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub

def messages():
    yield pb.AgentMessage(join=pb.Join(token=os.environ["DOGANA_TOKEN"], protocol=1))
    for number in range(COUNT):
        yield pb.AgentMessage(choose=pb.Choose(decision=number))
    open("sent", "w").close()
    if STAYS:
        import threading
        threading.Event().wait()

with grpc.insecure_channel(os.environ["DOGANA_ADDRESS"]) as channel:
    try:
        for message in RefereeStub(channel).Play(messages()):
            print(message.WhichOneof("message"), flush=True)
    except grpc.RpcError as error:
        os._exit(7 if error.code() is grpc.StatusCode.ABORTED else 8)
os._exit(0)
"""
WELCOME = pb.RefereeMessage(welcome=pb.Welcome(protocol=1))


def bot(folder: Path, count: int = 0, *, stays: bool = True) -> Command:
    (folder / "bot.py").write_text(BOT.replace("COUNT", str(count)).replace("STAYS", str(stays)))
    return Command([sys.executable, "bot.py"], {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}, folder)


def test_both_sides_are_heard_and_the_end_of_the_stream_is_the_callers(tmp_path: Path) -> None:
    async def talks() -> None:
        async with conversation(bot(tmp_path)) as talk:
            data = await talk.hear(patient(60))
            assert data is not None
            assert pb.AgentMessage.FromString(data).join.token == talk.token
            assert talk.first_seconds > 0
            await talk.say(WELCOME)
            assert await talk.hear(0.05) is None
            assert not talk.has_closed
            talk.end(grpc.StatusCode.ABORTED, "enough")
            assert await talk.exit(patient(60)) == "exited with status 7"
            await talk.process.stop()
            assert talk.process.log.text() == "welcome\n"
            assert [who for who, _ in talk.transcript] == ["bot", "referee", "referee"]

    asyncio.run(talks())


def test_an_agent_that_closes_its_stream_is_told_from_one_that_says_nothing(tmp_path: Path) -> None:
    async def closes() -> None:
        async with conversation(bot(tmp_path, 1, stays=False)) as talk:
            for _ in range(2):
                assert await talk.hear(patient(60)) is not None
            for _ in range(2):  # it stays closed
                assert await talk.hear(patient(60)) is None
                assert talk.has_closed

    asyncio.run(closes())


def test_what_an_agent_sends_unread_is_bounded(tmp_path: Path) -> None:
    """When the last message is sent, all but two windows of HTTP/2 (some 5,000 of these messages) have arrived."""
    sent = 40 * MAX_UNREAD

    async def floods() -> None:
        async with conversation(bot(tmp_path, sent)) as talk:
            while not (tmp_path / "sent").exists():
                await asyncio.sleep(0.02)
            heard = 0
            while await talk.hear(1.0) is not None:
                heard += 1
            assert MAX_UNREAD <= heard < sent

    asyncio.run(floods())


def test_the_end_of_a_stream_is_heard_after_more_messages_than_fit(tmp_path: Path) -> None:
    async def floods() -> None:
        async with conversation(bot(tmp_path, 2 * MAX_UNREAD, stays=False)) as talk:
            await talk.hear(patient(60))
            while not (tmp_path / "sent").exists():
                await asyncio.sleep(0.02)
            while await talk.hear(patient(60)) is not None:
                pass
            assert talk.has_closed

    asyncio.run(floods())


def test_a_program_that_is_not_there_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    async def starts() -> None:
        async with conversation(Command(["./nothing"], {}, tmp_path)):
            pass

    with pytest.raises(CannotStart, match=r"\./nothing"):
        asyncio.run(starts())
    assert list(tmp_path.iterdir()) == []
