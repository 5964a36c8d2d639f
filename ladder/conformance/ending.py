"""Exercises of how a match can end, and how the bot ends then."""

from __future__ import annotations

import os
import signal
import time
from functools import partial

import grpc

from ladder.conformance.conversation import Conversation, Failed
from ladder.conformance.judging import Exercise, Judge
from ladder.conformance.table import Table

_ENDS = {
    "stream-ends": (grpc.StatusCode.OK, ""),
    "void": (grpc.StatusCode.ABORTED, "the match was voided: this is a check"),
    "unavailable": (grpc.StatusCode.UNAVAILABLE, "the referee goes"),
}


def exercises() -> list[Exercise]:
    """Return the exercises of this module."""
    return [
        Exercise(("no-seed",), _no_seed),
        *(Exercise((name,), partial(_ended, name)) for name in _ENDS),
        Exercise(("socket-vanishes",), _vanishes),
        Exercise(("refused",), _refused),
        Exercise(("sigterm",), _sigterm),
    ]


async def _playing(judge: Judge, talk: Conversation) -> Table:
    """Let the bot begin a match and answer once."""
    table = judge.table()
    await talk.begin(table)
    await talk.next(table)
    return table


async def _exits(talk: Conversation, seconds: float) -> str:
    ended = await talk.exit(seconds)
    if not ended:
        raise Failed(f"it still ran {seconds:g} s later")
    return f"it {ended}"


async def _no_seed(judge: Judge) -> None:
    async with judge.conversation() as talk:
        with judge.step("no-seed"):
            ended = await talk.over(await _playing(judge, talk), reveals_seed=False)
            if ended != "exited with status 0":
                raise Failed(f"it {ended}" if ended else f"it still ran {judge.course.patience.exit:g} s later")


async def _ended(name: str, judge: Judge) -> None:
    async with judge.conversation() as talk:
        with judge.step(name) as remark:
            await _playing(judge, talk)
            talk.end(*_ENDS[name])
            remark.said = await _exits(talk, judge.course.patience.end)


async def _vanishes(judge: Judge) -> None:
    async with judge.conversation() as talk:
        with judge.step("socket-vanishes") as remark:
            await _playing(judge, talk)
            await talk.vanish()
            remark.said = await _exits(talk, judge.course.patience.end)


async def _refused(judge: Judge) -> None:
    async with judge.conversation() as talk:
        with judge.step("refused") as remark:
            await talk.join()
            talk.end(grpc.StatusCode.UNAUTHENTICATED, "the token is unknown or was used up; this is a check")
            remark.said = await _exits(talk, judge.course.patience.end)


async def _sigterm(judge: Judge) -> None:
    async with judge.conversation() as talk:
        with judge.step("sigterm") as remark:
            await _playing(judge, talk)
            if not talk.processes:
                raise Failed("it has ended before")
            os.kill(talk.processes[0], signal.SIGTERM)
            sent = time.monotonic()
            ended = await talk.exit(judge.course.patience.exit)
            remark.tell(f"it {ended} after {time.monotonic() - sent:.1f} s" if ended else "it runs on")
