"""Exercises of what a later referee may send: messages, fields and values that a bot of today does not know."""

from __future__ import annotations

from functools import partial

from dogana.v1 import referee_pb2 as pb
from ladder.conformance.conversation import Conversation, Failed, withdrawal
from ladder.conformance.judging import Exercise, Judge
from ladder.conformance.table import NotAnAnswer, Table, plan_for

_UNKNOWN = bytes([0xA2, 0x7D, 7]) + b"unknown" + bytes([0xA8, 0x7D, 42])
"""Two fields that no message has: number 2004, a text, and number 2005, an integer."""
_UNKNOWN_VALUE = 99


def exercises() -> list[Exercise]:
    """Return the exercises of this module."""
    return [
        Exercise(("unknown-in-welcome",), _welcome),
        *(
            Exercise((name,), partial(_second_decision, name))
            for name in ("unknown-message", "unknown-in-decide", "unknown-in-observation", "unknown-value")
        ),
        Exercise(("newer-protocol",), _newer),
    ]


def _table(judge: Judge) -> Table:
    game = judge.course.games[0]
    return Table(plan_for(game, game.seat_counts[0], judge.course.control))


async def _decide(talk: Conversation, table: Table, message: bytes | None = None) -> None:
    """Ask a decision, or send this message that does, and play the answer.

    Raises:
        Failed: if no legal answer comes.
    """
    if message is None:
        table.go_on()
        await talk.ask(table)
    else:
        await talk.say(message)
    try:
        table.play(table.read(await talk.answer(table)))
    except NotAnAnswer as error:
        raise Failed(f"decision {table.number}: {error}") from error


async def _welcome(judge: Judge) -> None:
    table = _table(judge)
    async with judge.conversation() as talk:
        with judge.step("unknown-in-welcome"):
            await talk.join()
            welcome = table.welcome().welcome
            welcome.MergeFromString(_UNKNOWN)
            await talk.say(pb.RefereeMessage(welcome=welcome))
            await _decide(talk, table)
        await talk.over(table)


async def _second_decision(name: str, judge: Judge) -> None:
    """Ask once as ever, and then again with or after what is unknown."""
    table = _table(judge)
    async with judge.conversation() as talk:
        with judge.step(name):
            await talk.begin(table)
            await _decide(talk, table)
            if name == "unknown-message":
                await talk.say(_UNKNOWN)
            elif name == "unknown-value":
                await talk.say(withdrawal(table.number, _UNKNOWN_VALUE))  # type: ignore[arg-type]  # no value of today
            table.go_on()
            message = table.question(labels=talk.labels)
            if name == "unknown-in-decide":
                message.decide.MergeFromString(_UNKNOWN)
            elif name == "unknown-in-observation":
                message.decide.observation.value += _UNKNOWN
            await _decide(talk, table, message.SerializeToString())
            await _decide(talk, table)
        await talk.over(table)


async def _newer(judge: Judge) -> None:
    table = _table(judge)
    async with judge.conversation() as talk:
        with judge.step("newer-protocol") as remark:
            await talk.join()
            welcome = table.welcome()
            welcome.welcome.protocol += 1
            await talk.say(welcome)
            try:
                await _decide(talk, table)
                remark.tell("it plays on")
            except Failed as failed:
                remark.tell(str(failed))
        await talk.over(table)
