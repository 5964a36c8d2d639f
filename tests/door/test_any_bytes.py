"""Doors against hostile sessions, from seeds: no exception in the referee, bounded memory, and an honest agent that still plays."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import logging
import os
import random
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hpack import Encoder

from dogana.v1 import referee_pb2 as pb
from referee.live.doors import frames
from referee.live.doors.door import SERVICE, SeatDoor
from referee.live.doors.frames import frame
from referee.live.doors.listener import ALLOWANCE_SECONDS
from referee.live.matches.play import Command
from referee.live.seats.agent import AgentSeat
from referee.match.result import Outcome
from tests import matches
from tests.patience import patient
from tests.tables import plan_of

pytestmark = pytest.mark.door

ROOT = Path(__file__).resolve().parents[2]
SEED = 20
SESSIONS = 200
MEMORY = 32 * 1024 * 1024
FIELDS = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", f"/{SERVICE}/Play"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
]
NUMBERS = (0, 1, 5, 100, 16_384, 65_535, 65_536, 2**24 - 1, 2**31 - 1, 2**31, 2**32 - 1)


def message(data: bytes, dice: random.Random) -> bytes:
    flag = dice.choice((0, 0, 0, 0, 1))
    if flag and dice.random() < 0.7:
        data = gzip.compress(data * dice.choice((1, 1, 9000)))
    size = dice.choice((len(data),) * 8 + NUMBERS[3:])
    return struct.pack(">BI", flag, size) + data


def body(dice: random.Random) -> bytes:
    join = pb.AgentMessage(join=pb.Join(token="x" * dice.randrange(99), protocol=dice.randrange(3)))
    choose = pb.AgentMessage(choose=pb.Choose(decision=dice.randrange(9), index=dice.randrange(9)))
    one = dice.choice(
        (join.SerializeToString(), choose.SerializeToString(), b"", dice.randbytes(dice.choice((1, 80, 9000))))
    )
    return message(one, dice) * dice.choice((1, 1, 1, 2, 700 if len(one) < 9 else 3))


def headers(dice: random.Random, packer: Encoder) -> bytes:
    fields = list(FIELDS)
    for _ in range(dice.choice((0, 0, 1, 3))):
        name = dice.choice((":path", "te", "X-Large", "grpc-timeout", "grpc-encoding", "", "\0"))
        value = dice.choice(("gzip", "deflate", "5m", "0n", *("1" * size for size in (0, 1, 20, 200, 9000, 15_000))))
        fields.insert(dice.randrange(len(fields) + 1), (name, value))
    return packer.encode(fields, huffman=dice.random() < 0.5)


def session(dice: random.Random) -> list[bytes]:
    """Make frames that are almost a session, in any order, with any numbers, and some spoilt."""
    packer, sent = Encoder(), [frames.PREFACE + frame(frames.SETTINGS, 0, 0)]
    makers: list[Callable[[int], bytes]] = [
        lambda stream: frame(frames.HEADERS, dice.choice((4, 4, 5, 0)), stream, headers(dice, packer)[:16_000]),
        lambda stream: frame(frames.DATA, dice.choice((0, 0, 1, 8)), stream, body(dice)[:16_384]),
        lambda stream: frame(frames.WINDOW_UPDATE, 0, stream, struct.pack(">I", dice.choice(NUMBERS))),
        lambda stream: frame(
            frames.SETTINGS, 0, 0, frames.SETTING.pack(dice.randrange(8), dice.choice(NUMBERS)) * dice.randrange(9)
        ),
        lambda stream: frames.reset(stream, dice.randrange(14)),
        lambda stream: frame(frames.PING, dice.choice((0, 1)), 0, bytes(8)) * dice.choice((1, 500)),
        lambda stream: frame(frames.CONTINUATION, dice.choice((0, 4)), stream, dice.randbytes(dice.randrange(99))),
        lambda stream: frame(dice.randrange(256), dice.randrange(256), stream, dice.randbytes(dice.randrange(99))),
    ]
    for _ in range(dice.randrange(30)):
        sent.append(dice.choices(makers, (4, 6, 1, 1, 1, 1, 1, 1))[0](dice.choice((0, 1, 1, 1, 2, 3, 5, 7, 2**31 - 1))))
    for _ in range(dice.choice((0, 0, 1, 3))):
        at = dice.randrange(len(sent))
        spoilt = bytearray(sent[at])
        if spoilt:
            spoilt[dice.randrange(min(len(spoilt), 40))] = dice.randrange(256)
        sent[at] = bytes(spoilt[: dice.choice((len(spoilt), dice.randrange(len(spoilt) + 1)))])
    return sent


async def play_through(path: Path, dice: random.Random) -> None:
    """Send a session, read now and then, and leave somehow."""
    reader, writer = await asyncio.open_unix_connection(path)
    with contextlib.suppress(OSError, TimeoutError):
        for piece in session(dice):
            writer.write(piece)
            if dice.random() < 0.3:
                await asyncio.wait_for(reader.read(4096), 0.001)
        await asyncio.wait_for(writer.drain(), 0.05)
        await asyncio.wait_for(reader.read(65_536), 0.005)
    writer.transport.abort()


def memory() -> int:
    """Return how many bytes of memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_hostile_sessions_do_not_make_a_door_fail_or_grow(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[object] = []

    async def attack() -> int:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
        door, dice = SeatDoor(allowance=1 << 60), random.Random(SEED)  # nobody has to wait: all bytes are read
        door.open(AgentSeat(0, may_come_back=False))
        try:
            for _ in range(20):  # what is kept once is kept by then
                await play_through(door.socket, dice)
            before = memory()
            for _ in range(SESSIONS):
                await play_through(door.socket, dice)
            return memory() - before
        finally:
            await door.close()

    with caplog.at_level(logging.ERROR):
        grown = asyncio.run(asyncio.wait_for(attack(), patient(500)))
    assert failures == []
    assert caplog.records == []
    assert grown < MEMORY


AGENT = """
import asyncio, os, random, sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.door.test_any_bytes import play_through
from dogana.sdk import play

async def attack():
    dice = random.Random({seed})
    for _ in range(20):
        await play_through(Path(os.environ["DOGANA_ADDRESS"].removeprefix("unix:")), dice)

asyncio.run(attack())
time.sleep({seconds})
play(lambda decision: 0)
"""
"""It waits until it may send frames again."""


@pytest.mark.parametrize("seed", range(3))
def test_an_agent_plays_through_a_door_that_was_attacked(seed: int) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    agent = Command(
        [sys.executable, "-c", AGENT.format(root=str(ROOT), seed=seed, seconds=ALLOWANCE_SECONDS + 2)],
        environment,
        join_seconds=120,
    )
    report = matches.play(plan_of(seats=2, options={"last_turn": 3}), [agent, agent], seconds=400)
    assert [seat.outcome for seat in report.result.seats] == [Outcome.PLAYED] * 2
