"""Exercises of what a later referee may send: messages, fields and values that a bot of today does not know."""

from __future__ import annotations

from functools import partial

from dogana.v1 import referee_pb2 as pb
from ladder.conformance.conversation import Failed, TooShort, withdrawal
from ladder.conformance.judging import Exercise, Judge

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


async def _welcome(judge: Judge) -> None:
    table = judge.table()
    async with judge.conversation() as talk:
        with judge.step("unknown-in-welcome"):
            await talk.join()
            welcome = table.welcome().welcome
            welcome.MergeFromString(_UNKNOWN)
            await talk.say(pb.RefereeMessage(welcome=welcome))
            await talk.next(table)
        await talk.over(table)


async def _second_decision(name: str, judge: Judge) -> None:
    """Ask once as ever, and then again with or after what is unknown."""
    table = judge.table()
    async with judge.conversation() as talk:
        with judge.step(name):
            await talk.begin(table)
            await talk.next(table)
            if name == "unknown-message":
                await talk.say(_UNKNOWN)
            elif name == "unknown-value":
                await talk.say(withdrawal(table.number, _UNKNOWN_VALUE))  # type: ignore[arg-type]  # no value of today
            if not table.go_on():
                raise TooShort
            message = table.question(labels=talk.labels)
            if name == "unknown-in-decide":
                message.decide.MergeFromString(_UNKNOWN)
            elif name == "unknown-in-observation":
                message.decide.observation.value += _UNKNOWN
            await talk.say(message)
            await talk.played(table)
            await talk.next(table)
        await talk.over(table)


async def _newer(judge: Judge) -> None:
    table = judge.table()
    async with judge.conversation() as talk:
        with judge.step("newer-protocol") as remark:
            await talk.join()
            welcome = table.welcome()
            welcome.welcome.protocol += 1
            await talk.say(welcome)
            try:
                await talk.next(table)
                remark.tell("it plays on")
            except Failed as failed:
                remark.tell(str(failed))
        await talk.over(table)
