"""The instructions of scripts, which send the messages of a referee and judge the bot's answers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Concatenate, ParamSpec

import grpc

from dogana.v1 import referee_pb2 as pb
from ladder.conformance.rehearsal import Failed, Flaw, Info, Instruction, Rehearsal, Skipped
from ladder.conformance.rehearsal_match import RehearsalMatch
from referee.game import kind
from referee.live.seats.command import LOG_HEAD_BYTES, LOG_TAIL_BYTES
from referee.match.clock import TRANSIT_SECONDS, TimeControl
from referee.match.judging import Refused
from referee.sandbox.box import NO_PROGRAM
from referee.sandbox.system import descendants, parent
from referee.terminal import counted

_SLOW = 0.5
"""The number of processors on a slow machine."""
_NO_PROGRAM = (126, 127)
"""The exit statuses with which shells, loaders and env(1) report a missing program, interpreter or library."""
_WALL_PROCESSES = 2
"""The number of bubblewrap processes, outside and inside the box; the bot is their descendant."""
_FIRST_PROCESS = 1
"""The id of the process that adopts orphans if no other process does."""
_MOST_DECISIONS = 30
"""The number of decisions after which the search for an answer with several actions ends."""
_TRIES = 5
"""The number of decisions with little time; only the fastest answer counts, because the machine may be busy."""
_LEFT_WELL = "exited with status 0"
_PRETEXT = "refused to see what follows"


P = ParamSpec("P")
Change = Callable[[pb.RefereeMessage], None]


def instruction(
    function: Callable[Concatenate[Rehearsal, P], Awaitable[str | None]],
) -> Callable[P, Instruction]:
    """Turn a function into an instruction, which scripts call with all arguments except the rehearsal."""

    def prepare(*arguments: P.args, **options: P.kwargs) -> Instruction:
        return lambda rehearsal: function(rehearsal, *arguments, **options)

    return prepare


@instruction
async def expect(rehearsal: Rehearsal, holds: Callable[[Rehearsal], object], wrong: str, flaw: bool = False) -> None:
    """Check whether the bot meets an expectation.

    Args:
        rehearsal: the exercise so far.
        holds: a function that returns a true value if the bot meets the expectation.
        wrong: the text of the failure, with attributes of the rehearsal `r` in braces.
        flaw: True if the exercise can continue after a failure.
    """
    if not holds(rehearsal):
        raise (Flaw if flaw else Failed)(wrong.format(r=rehearsal))


@instruction
async def inform(rehearsal: Rehearsal, what: Callable[[Rehearsal], str]) -> str:
    """Report the bot's behaviour."""
    return what(rehearsal)


# --- joining ---------------------------------------------------------------------------------------------------


async def runs(rehearsal: Rehearsal) -> None:
    """Start the bot, and wait for its first message, or for evidence that the program cannot run."""
    bot = await rehearsal.start()
    try:
        rehearsal.first = await rehearsal.hear(rehearsal.course.patience.join, "joining")
    except Failed as failed:
        last = bot.process.log.last_line()
        if last.startswith(NO_PROGRAM) or any(f"exited with status {status}" in str(failed) for status in _NO_PROGRAM):
            raise Failed(f"{failed}; the last it wrote: {last}") from failed
        rehearsal.has_not_joined = failed
    rehearsal.join = rehearsal.first.join
    if bot.player.sandbox is None:
        raise Info("it runs here; whether it does in the sandbox cannot be tried without one")


async def joins_in_time(rehearsal: Rehearsal) -> str:
    """Expect the first message to have arrived in time."""
    if rehearsal.has_not_joined is not None:
        raise rehearsal.has_not_joined
    seconds = rehearsal.bot.first_seconds
    if seconds > rehearsal.course.patience.join_well:
        raise Flaw(f"only after {seconds:.2f} s")
    return f"after {seconds:.2f} s"


async def join(rehearsal: Rehearsal) -> None:
    """Start the bot unless it is running, and wait for its Join, whatever that contains."""
    if rehearsal.talk is None:
        await rehearsal.start()
    message = await rehearsal.hear(rehearsal.course.patience.join, "joining")
    if message.WhichOneof("message") != "join":
        raise Failed("its first message is not Join")
    rehearsal.join = message.join


async def start_slowly(rehearsal: Rehearsal) -> None:
    """Start the bot on a slow machine."""
    bot = rehearsal.course.bot
    if bot.sandbox is None or "cpu" not in bot.sandbox.groups.found:
        raise Skipped("this machine cannot limit processors (see dogana doctor)")
    limits = replace(bot.sandbox.limits, cpus=_SLOW)
    await rehearsal.start(replace(bot, sandbox=replace(bot.sandbox, limits=limits)))


# --- the table -------------------------------------------------------------------------------------------------


@instruction
async def at_place(rehearsal: Rehearsal, name: str, unit: str = "") -> str:
    """Begin at the hard place with this name in `Places`; if a unit is given, the verdict includes the size of the place."""
    place = rehearsal.place(name)
    rehearsal.table = RehearsalMatch(place.plan, place)
    return f"{place.count} {unit}, {place.plan.setup.seats} seats" if unit else ""


@instruction
async def on_clock(rehearsal: Rehearsal, control: TimeControl) -> None:
    """Play with another clock."""
    rehearsal.table = rehearsal.table_for(control)


# --- messages of the referee -----------------------------------------------------------------------------------


@instruction
async def say(rehearsal: Rehearsal, *messages: pb.RefereeMessage | bytes) -> None:
    """Send messages that are the same at every table."""
    await rehearsal.say(*messages)


@instruction
async def welcome_with(rehearsal: Rehearsal, change: Change = lambda message: None) -> None:
    """Welcome the bot with a changed message."""
    message = rehearsal.table.welcome()
    change(message)
    await rehearsal.say(message)


@instruction
async def ask_with(
    rehearsal: Rehearsal, change: Change = lambda message: None, *, dropped: str = "", asks_forced: bool = False
) -> None:
    """Ask the next question with a changed message; see `RehearsalMatch.question` and `RehearsalMatch.go_on`."""
    if not rehearsal.table.go_on(asks_forced=asks_forced):
        raise Skipped("the match was over before this could be tried")
    message = rehearsal.table.question(labels=rehearsal.join.labels, dropped=dropped)
    change(message)
    rehearsal.given = []
    await rehearsal.say(message)


welcome = welcome_with()
ask = ask_with()


@instruction
async def refuse(rehearsal: Rehearsal, reason: pb.Rejected.Reason) -> None:
    """Refuse the last answer, which is a strike; the decision stays open."""
    rehearsal.refusals += 1
    await _reject(rehearsal, rehearsal.table.number, reason, _PRETEXT)


async def refuse_as_stale(rehearsal: Rehearsal) -> None:
    """Refuse the last answer because its decision is no longer open."""
    await _refuse_late(rehearsal, rehearsal.table.number)


async def _refuse_late(rehearsal: Rehearsal, number: int) -> None:
    await _reject(rehearsal, number, pb.Rejected.REASON_STALE, f"decision {number} is not open (any more)")


async def _reject(rehearsal: Rehearsal, number: int, reason: pb.Rejected.Reason, message: str) -> None:
    # A stale answer is not a strike, and its decision has no time left to report.
    is_stale = reason == pb.Rejected.REASON_STALE
    strikes, left_ms = (0, 0.0) if is_stale else (len(rehearsal.given), rehearsal.table.budget * 1000)
    rejected = pb.Rejected(decision=number, reason=reason, message=message, strikes=strikes, left_ms=left_ms)
    await rehearsal.say(pb.RefereeMessage(rejected=rejected))


@instruction
async def withdraw(rehearsal: Rehearsal, reason: pb.Withdrawn.Reason) -> None:
    """Withdraw the last decision; if it was not answered, an answer may still be on its way."""
    number = rehearsal.table.number
    if not rehearsal.given:
        rehearsal.withdrawn.append(number)
    await rehearsal.say(pb.RefereeMessage(withdrawn=pb.Withdrawn(decision=number, reason=reason)))


async def play_default(rehearsal: Rehearsal) -> None:
    """Play the default action of the rules for a bot that is out of time."""
    rehearsal.table.play_default()


async def announce_deadline(rehearsal: Rehearsal) -> None:
    """Change the deadline of the open decision."""
    clock = pb.Clock(bank_ms=60_000, budget_ms=5_000, window_ms=5_000)
    deadline = pb.NewDeadline(decision=rehearsal.table.number, clock=clock)
    await rehearsal.say(pb.RefereeMessage(new_deadline=deadline))


# --- answers of the bot ----------------------------------------------------------------------------------------


async def hear_choose(rehearsal: Rehearsal, wanted: str = "answering its first decision") -> None:
    """Wait for a Choose with any number, for slightly longer than the time on the clock."""
    message = await rehearsal.hear(rehearsal.table.budget + rehearsal.course.patience.answer, wanted)
    if message.WhichOneof("message") != "choose":
        raise Failed("it sent a second Join")
    rehearsal.choose = message.choose


async def is_legal(rehearsal: Rehearsal) -> None:
    """Expect the last Choose to be legal."""
    judged = rehearsal.table.judge(rehearsal.choose)
    if isinstance(judged, Refused):
        raise Failed(f"decision {rehearsal.table.number}: {judged.message}")
    rehearsal.given.append(judged)


async def play_answer(rehearsal: Rehearsal) -> None:
    """Play the last answer."""
    rehearsal.table.play(rehearsal.given[-1])


async def answer(rehearsal: Rehearsal) -> None:
    """Expect a legal answer to the latest decision; answers to withdrawn decisions may come before it."""
    number = rehearsal.table.number
    await hear_choose(rehearsal, f"answering decision {number}")
    while (late := rehearsal.choose.decision) != number:
        if late not in rehearsal.withdrawn:
            raise Failed(f"it answered decision {late} while decision {number} was open")
        rehearsal.withdrawn.remove(late)
        await _refuse_late(rehearsal, late)
        await hear_choose(rehearsal, f"answering decision {number}")
    rehearsal.withdrawn.clear()
    await is_legal(rehearsal)


async def play(rehearsal: Rehearsal) -> None:
    """Expect an answer, and play it."""
    await answer(rehearsal)
    await play_answer(rehearsal)


async def turn(rehearsal: Rehearsal) -> None:
    """Ask the next question, and play the answer."""
    await ask(rehearsal)
    await play(rehearsal)


@instruction
async def play_on(rehearsal: Rehearsal, decisions: int) -> str:
    """Continue for a number of decisions, or to the end of the match."""
    while rehearsal.table.number < decisions and rehearsal.table.go_on():
        await turn(rehearsal)
    return counted(rehearsal.table.number, "decision")


async def begin(rehearsal: Rehearsal) -> None:
    """Let the bot join a match."""
    await join(rehearsal)
    await welcome(rehearsal)


async def late_answer(rehearsal: Rehearsal) -> None:
    """Expect no message, or the answer to the withdrawn decision, which may have been on its way."""
    message = await rehearsal.glance(rehearsal.course.patience.quiet)
    if message is None:
        return
    number = message.choose.decision
    if number not in rehearsal.withdrawn:
        raise Failed(f"it answered decision {number}; number {rehearsal.table.number} had been withdrawn")
    rehearsal.withdrawn.remove(number)
    await _refuse_late(rehearsal, number)
    await quiet(rehearsal)


async def quiet(rehearsal: Rehearsal) -> None:
    """Expect the bot to send no message for a moment, and to stay connected."""
    await _nothing(rehearsal, rehearsal.course.patience.quiet)


async def leave_alone(rehearsal: Rehearsal) -> None:
    """Expect the bot to send no message for a long while, and to stay connected."""
    await _nothing(rehearsal, rehearsal.course.patience.idle)


async def _nothing(rehearsal: Rehearsal, seconds: float) -> None:
    message = await rehearsal.glance(seconds)
    if message is not None:
        raise Failed(f"it sent a {(message.WhichOneof('message') or '').capitalize()} that nobody asked for")
    if left := await rehearsal.left():
        raise Failed(left)


@instruction
async def without_fault(rehearsal: Rehearsal, *instructions: Instruction, otherwise: str = "") -> str:
    """Follow instructions; report a failure without failing the step."""
    said = otherwise
    try:
        for instruction in instructions:
            said = await instruction(rehearsal) or said
    except Failed as failed:
        return str(failed)
    return said


# --- longer scripts ---------------------------------------------------------------------------------------------


async def has_chosen_otherwise(rehearsal: Rehearsal) -> None:
    """Report a bot that repeats a refused answer. This is not a fault, because a match never refuses a legal action."""
    first = [actions[0] for actions in rehearsal.given]
    if len(set(first)) == 1:
        raise Info(f"it chose the same {len(first)} times, among {len(rehearsal.table.actions)} legal actions")


async def refuse_each_kind(rehearsal: Rehearsal) -> str:
    """Play a whole match in which the first answer to every kind of decision is refused."""
    table = rehearsal.table
    seen: set[frozenset[str]] = set()
    while table.go_on():
        await ask(rehearsal)
        await answer(rehearsal)
        kinds = frozenset(kind(type(action)) for action in table.actions)
        if kinds not in seen:
            seen.add(kinds)
            await refuse(pb.Rejected.REASON_ILLEGAL)(rehearsal)
            try:
                await answer(rehearsal)
            except Failed as failed:
                raise Failed(f"at {' or '.join(sorted(kinds))}: {failed}") from failed
        await play_answer(rehearsal)
    return f"{counted(len(seen), 'kind')} of decisions, {counted(table.number, 'decision')}"


async def drop_the_rest(rehearsal: Rehearsal) -> None:
    """Wait for an answer with several actions, and play only the first."""
    table = rehearsal.table
    while table.number < _MOST_DECISIONS and table.go_on():
        await ask(rehearsal)
        await answer(rehearsal)
        actions = rehearsal.given[-1]
        table.play(actions[:1])
        # A next question is needed, which tells the bot that the rest was dropped.
        if len(actions) > 1 and table.go_on():
            return
    raise Skipped(f"none of {table.number} answers has several actions")


async def answers_in_time(rehearsal: Rehearsal) -> str:
    """Expect the fastest of a few answers to arrive within the allowed time."""
    table = rehearsal.table
    taken: list[float] = []
    while len(taken) < _TRIES and table.go_on():
        await ask(rehearsal)
        began = time.monotonic()
        await play(rehearsal)
        taken.append(time.monotonic() - began)
    if not taken:
        raise Skipped("the match was over before the bot had a decision")
    # In a match, an answer still counts if it arrives within `TRANSIT_SECONDS` after its deadline (decision 13).
    if min(taken) > table.budget + TRANSIT_SECONDS:
        raise Failed(f"the fastest of {len(taken)} answers took {min(taken):.2f} s, with {table.budget:g} s to think")
    return f"the fastest of {len(taken)} took {min(taken) * 1000:.0f} ms, the slowest {max(taken) * 1000:.0f} ms"


# --- the end ---------------------------------------------------------------------------------------------------


@instruction
async def over(rehearsal: Rehearsal, *, reveals_seed: bool = True) -> None:
    """Send GameOver, end the stream, and wait for the bot to exit."""
    await rehearsal.say(rehearsal.table.game_over(reveals_seed=reveals_seed))
    rehearsal.bot.end()
    await rehearsal.bot.exit(rehearsal.course.patience.exit)


@instruction
async def end_stream(rehearsal: Rehearsal, code: grpc.StatusCode, text: str) -> None:
    """End the stream without GameOver."""
    rehearsal.bot.end(code, text)


async def cut_off(rehearsal: Rehearsal) -> None:
    """Break the connection."""
    await rehearsal.bot.cut()


@instruction
async def has_left_well(rehearsal: Rehearsal, since: str) -> None:
    """Expect the bot to have exited with status 0; `since` names the event after which it should exit."""
    ended = await rehearsal.bot.exit(0)
    if not ended:
        raise Flaw(f"it still ran {rehearsal.course.patience.exit:g} s {since}")
    if ended != _LEFT_WELL:
        raise Flaw(f"it {ended}")


async def exits(rehearsal: Rehearsal) -> str:
    """Expect the bot to exit, with any status."""
    seconds = rehearsal.course.patience.end
    ended = await rehearsal.bot.exit(seconds)
    if not ended:
        raise Failed(f"it still ran {seconds:g} s later")
    return f"it {ended}"


async def terminate(rehearsal: Rehearsal) -> str:
    """Send the program SIGTERM, and report its reaction."""
    with suppress(ProcessLookupError):  # it may have ended in the meantime
        os.kill(processes_of(rehearsal)[0], signal.SIGTERM)
    sent = time.monotonic()
    ended = await rehearsal.bot.exit(rehearsal.course.patience.exit)
    return f"it {ended} after {time.monotonic() - sent:.1f} s" if ended else "it runs on"


# --- its processes and output ----------------------------------------------------------------------------------


def processes_of(rehearsal: Rehearsal) -> list[int]:
    """Return the processes of the bot, the program first.

    Raises:
        Failed: if it has ended.
    """
    process = rehearsal.bot.process
    found = descendants(process.supervisor)[0 if process.box is None else _WALL_PROCESSES :]
    if not found:
        raise Failed("it had already ended")
    return found


async def has_no_orphans(rehearsal: Rehearsal) -> None:
    """Expect the parent of each of the bot's processes, except that of the program itself, to be another of them."""
    processes = processes_of(rehearsal)
    # In a box or under a supervisor, the program's parent adopts an orphan; otherwise, the first process of the machine does.
    adopters = {_FIRST_PROCESS, parent(processes[0])} - {None}
    orphans = [pid for pid in processes[1:] if parent(pid) in adopters]
    if orphans:
        raise Flaw(f"{len(orphans)} of its processes have lost the process that started them")


async def count_output(rehearsal: Rehearsal) -> str:
    """Report the amount of the bot's output."""
    written = rehearsal.bot.process.log.written
    lost = written - LOG_HEAD_BYTES - LOG_TAIL_BYTES
    each = f"{written} bytes, {written / max(rehearsal.table.number, 1):.0f} for each decision"
    return each + (f"; the log drops {lost} of them" if lost > 0 else "")
