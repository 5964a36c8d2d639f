"""The exercise that everything depends on: the bot starts, joins and answers; and how fast it starts on a slow machine."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from dogana.v1 import referee_pb2 as pb
from ladder.conformance.conversation import Conversation, Failed, legal
from ladder.conformance.judging import Exercise, Judge
from ladder.conformance.table import Table
from referee.live.messages import wire
from referee.sandbox.box import NO_PROGRAM

_DECISIONS = 5
_SLOW = 0.5
_NO_PROGRAM = (126, 127)
"""What shells, loaders and env(1) exit with if a program, its interpreter or a library is not there."""


def exercises() -> list[Exercise]:
    """Return the exercises of this module; the first must have succeeded before any other is held."""
    first = ("runs", "joins", "join-first", "protocol-number", "token", "silent-before-welcome", "labels")
    answers = ("answers", "its-number", "legal", "once", "goes-on", "one-stream", "exits")
    return [
        Exercise((*first, *answers), _first_contact, is_alone=True),
        Exercise(("slow-start",), _slow_start, is_alone=True),
    ]


async def _first_contact(judge: Judge) -> None:
    course = judge.course
    table = judge.table()
    async with judge.conversation() as talk:
        first = asyncio.create_task(talk.hear(course.patience.join, "joining"))
        with judge.step("runs") as remark:
            await _running(talk, first)
            if course.bot.sandbox is None:
                remark.tell("it runs here; whether it does in the sandbox cannot be tried without walls")
        with judge.step("joins", goes_on=first.exception() is None) as remark:
            message = await first
            remark.said = f"after {talk.joined_after:.2f} s"
            if talk.joined_after > course.patience.join_well:
                raise Failed(f"only {remark.said}")
        with judge.step("join-first"):
            if message.WhichOneof("message") != "join":
                raise Failed("its first message is a Choose")
        join = message.join
        talk.labels = join.labels
        with judge.step("protocol-number"):
            if join.protocol != wire.PROTOCOL:
                raise Failed(f"it speaks protocol {join.protocol}; the referee speaks {wire.PROTOCOL}")
        with judge.step("token"):
            if join.token != talk.token:
                raise Failed("it showed no token" if not join.token else "it showed another token than DOGANA_TOKEN")
        with judge.step("silent-before-welcome"):
            await talk.quiet()
        with judge.step("labels") as remark:
            remark.tell("it asks for them" if join.labels else "it does not ask for them")
        await talk.say(table.welcome())
        await _first_answers(judge, talk, table)
        with judge.step("one-stream", goes_on=True):
            if talk.streams > 1:
                raise Failed(f"it opened {talk.streams} streams")
        with judge.step("exits", goes_on=True) as remark:
            ended = await talk.over(table)
            if ended != "exited with status 0":
                raise Failed(f"it {ended}" if ended else f"it still ran {course.patience.exit:g} s after GameOver")


async def _running(talk: Conversation, first: asyncio.Task[pb.AgentMessage]) -> None:
    """Wait for the first message, or for what shows that the program cannot run.

    Raises:
        Failed: if it cannot.
    """
    await asyncio.wait([first])
    if first.exception() is None:
        return
    last = talk.process.log.last_line()
    if last.startswith(NO_PROGRAM) or any(
        f"exited with status {status}" in str(first.exception()) for status in _NO_PROGRAM
    ):
        raise Failed(f"{first.exception()}; the last it wrote: {last}")


async def _first_answers(judge: Judge, talk: Conversation, table: Table) -> None:
    control = table.plan.control
    await talk.ask(table)
    with judge.step("answers"):
        choose = await talk.choose(control, "answering its first decision")
    with judge.step("its-number"):
        if choose.decision != table.number:
            raise Failed(f"it answered decision {choose.decision}; number {table.number} was asked")
    with judge.step("legal"):
        table.play(legal(table, choose))
    with judge.step("once"):
        await talk.quiet()
    with judge.step("goes-on") as remark:
        while table.number < _DECISIONS and table.go_on():
            await talk.ask(table)
            await talk.played(table)
        remark.said = f"{table.number} decisions"


async def _slow_start(judge: Judge) -> None:
    bot = judge.course.bot
    with judge.step("slow-start") as remark:
        if bot.sandbox is None or "cpu" not in bot.sandbox.groups.found:
            remark.skip("this machine cannot limit processors (see dogana doctor)")
            return
        sandbox = replace(bot.sandbox, limits=replace(bot.sandbox.limits, cpus=_SLOW))
        async with judge.conversation(replace(bot, sandbox=sandbox)) as talk:
            try:
                await talk.join()
                remark.tell(f"it joins after {talk.joined_after:.1f} s")
            except Failed as failed:
                remark.tell(str(failed))
