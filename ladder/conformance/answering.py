"""Exercises of answers: at places that are hard on a bot, after refusals and withdrawals, and when time is short."""

from __future__ import annotations

import time
from functools import partial

from dogana.v1 import referee_pb2 as pb
from ladder.conformance.conversation import Conversation, Failed, legal, refusal, withdrawal
from ladder.conformance.judging import Exercise, Judge
from ladder.conformance.table import Place, Table, places, plan_for
from referee.game import Game, kind
from referee.live.seats.command import LOG_HEAD_BYTES, LOG_TAIL_BYTES
from referee.match.clock import TRANSIT_SECONDS, TimeControl
from referee.sandbox.system import parent

_SHORT = TimeControl(60.0, 0.5, 0.05)
_POOR = TimeControl(0.0, 0.1, 10.0)
_TRIES = 5
"""How many decisions with little time there are; the best counts, because the machine may be busy."""
_MOST_DECISIONS = 30
"""So many answers are looked at for one with several actions."""
_FIRST = 1
"""The process that gets orphans where no other adopts them."""
_SAME_ANSWERS = 3
"""As many strikes as a seat has."""


def exercises(games: list[Game]) -> list[Exercise]:
    """Return the exercises of this module."""
    found = [
        Exercise(("otherwise-after-illegal",), _illegal),
        Exercise(("again-after-malformed", "stale"), _refused),
        Exercise(("withdrawn-timeout", "withdrawn-overtaken", "two-decisions", "new-deadline"), _withdrawn),
        Exercise(("small-budget",), partial(_little_time, "small-budget", _SHORT), is_alone=True),
        Exercise(("low-bank",), partial(_little_time, "low-bank", _POOR), is_alone=True),
        Exercise(("dropped",), _dropped),
        Exercise(("idle",), _idle, mostly_waits=True),
    ]
    for game in games:
        found.append(_whole_match(game, is_first=game is games[0]))
        for name, unit in (
            ("single_action", "legal action"),
            ("largest_list", "legal actions"),
            ("largest_observation", "bytes"),
        ):
            step = f"{name.replace('_', '-')}-{game.name}"
            found.append(Exercise((step,), partial(_at_a_place, game, name, step, unit)))
    return found


async def _at_a_place(game: Game, name: str, step: str, unit: str, judge: Judge) -> None:
    place: Place = getattr(places(game, judge.course.control), name)
    table = Table(place.plan, place)
    with judge.step(step) as remark:
        async with judge.conversation() as talk:
            await talk.begin(table)
            await talk.ask(table, asks_forced=True)
            await talk.played(table)
            await talk.over(table)
        remark.said = f"{place.count} {unit}, {place.plan.setup.seats} seats"


# --- a whole match ---------------------------------------------------------------------------------------------


def _whole_match(game: Game, *, is_first: bool) -> Exercise:
    manners = ("no-leftovers", "messages", "token-stays", "output") if is_first else ()
    return Exercise((f"again-after-illegal-{game.name}", *manners), partial(_through, game, is_first))


async def _through(game: Game, is_first: bool, judge: Judge) -> None:
    """Play a whole match in which the first answer to every kind of decision is refused."""
    table = Table(plan_for(game, game.seat_counts[0], judge.course.control))
    seen: set[frozenset[str]] = set()
    async with judge.conversation() as talk:
        with judge.step(f"again-after-illegal-{game.name}") as remark:
            await talk.begin(table)
            while table.go_on():
                await talk.ask(table)
                actions = legal(table, await talk.answer(table))
                kinds = frozenset(kind(type(action)) for action in table.actions)
                if kinds not in seen:
                    seen.add(kinds)
                    await talk.say(refusal(table.number, pb.Rejected.REASON_ILLEGAL, "refused to see what follows", 1))
                    try:
                        actions = legal(table, await talk.answer(table))
                    except Failed as failed:
                        raise Failed(f"at {' or '.join(sorted(kinds))}: {failed}") from failed
                table.play(actions)
            remark.said = f"{len(seen)} kinds of decisions, {table.number} decisions"
        if is_first:
            await _manners(judge, talk, table, len(seen))


async def _manners(judge: Judge, talk: Conversation, table: Table, refusals: int) -> None:
    """Judge how the bot has behaved in a match that is over but for GameOver."""
    with judge.step("no-leftovers", goes_on=True):
        processes = talk.processes
        adopters = {_FIRST, parent(processes[0])} - {None}
        orphans = [pid for pid in processes[1:] if parent(pid) in adopters]
        if orphans:
            raise Failed(f"{len(orphans)} of its processes have lost the process that started them")
    await talk.over(table)
    with judge.step("messages") as remark:
        remark.tell(f"{talk.received} for {table.number} decisions and {refusals} refusals")
    with judge.step("token-stays", goes_on=True):
        if talk.token in talk.process.log.text():
            raise Failed("DOGANA_TOKEN is in what it wrote")
    with judge.step("output") as remark:
        written = talk.process.log.written
        lost = written - LOG_HEAD_BYTES - LOG_TAIL_BYTES
        remark.tell(
            f"{written} bytes, {written / max(table.number, 1):.0f} for each decision"
            + (f"; the log drops {lost} of them" if lost > 0 else "")
        )


async def _dropped(judge: Judge) -> None:
    """Wait for an answer of several actions, play the first only, and say so."""
    table = judge.table()
    async with judge.conversation() as talk:
        with judge.step("dropped") as remark:
            await talk.begin(table)
            while table.number < _MOST_DECISIONS and table.go_on():
                await talk.ask(table)
                actions = legal(table, await talk.answer(table))
                table.play(actions[:1])
                if len(actions) > 1 and table.go_on():
                    await talk.ask(table, dropped="the rest was dropped to see what follows")
                    await talk.played(table)
                    return
            remark.skip(f"none of {table.number} answers has several actions")


# --- refusals and withdrawals ----------------------------------------------------------------------------------


async def _illegal(judge: Judge) -> None:
    """Refuse the answer to one decision as often as it costs a seat the match, but for once."""
    place = places(judge.course.games[0], judge.course.control).largest_list
    table = Table(place.plan, place)
    async with judge.conversation() as talk:
        with judge.step("otherwise-after-illegal") as remark:
            await talk.begin(table)
            await talk.ask(table)
            actions = legal(table, await talk.answer(table))
            given = [actions[0]]
            while len(given) < _SAME_ANSWERS:
                refused = refusal(table.number, pb.Rejected.REASON_ILLEGAL, "refused to see what follows", len(given))
                await talk.say(refused)
                actions = legal(table, await talk.answer(table))
                given.append(actions[0])
            if len(set(given)) == 1:
                # No fault: a bot that chooses legal actions only is never refused so.
                remark.tell(f"it chose the same {_SAME_ANSWERS} times, among {len(table.actions)} legal actions")
        await talk.over(table)


async def _refused(judge: Judge) -> None:
    table = judge.table()
    async with judge.conversation() as talk:
        with judge.step("again-after-malformed"):
            await talk.begin(table)
            await talk.ask(table)
            await talk.answer(table)
            await talk.say(refusal(table.number, pb.Rejected.REASON_MALFORMED, "refused to see what follows", 1))
            await talk.played(table)
        with judge.step("stale"):
            await talk.ask(table)
            await talk.answer(table)
            late = refusal(table.number, pb.Rejected.REASON_STALE, f"decision {table.number} is not open (any more)")
            await talk.say(withdrawal(table.number, pb.Withdrawn.REASON_TIMEOUT), late)
            table.play_default()
            await talk.quiet()
            await talk.next(table)
        await talk.over(table)


async def _withdrawn(judge: Judge) -> None:
    table = judge.table()
    async with judge.conversation() as talk:
        await talk.begin(table)
        for name, reason in (
            ("withdrawn-timeout", pb.Withdrawn.REASON_TIMEOUT),
            ("withdrawn-overtaken", pb.Withdrawn.REASON_OVERTAKEN),
        ):
            with judge.step(name):
                await talk.ask(table)
                number = table.number
                await talk.say(withdrawal(number, reason))
                came = await _on_its_way(talk, number)
                if reason == pb.Withdrawn.REASON_TIMEOUT:
                    table.play_default()
                await talk.next(table, past=() if came else (number,))
        with judge.step("two-decisions"):
            await talk.ask(table)
            number = table.number
            await talk.say(withdrawal(number, pb.Withdrawn.REASON_OVERTAKEN))
            await talk.ask(table)
            await talk.played(table, past=(number,))
        with judge.step("new-deadline"):
            await talk.ask(table)
            clock = pb.Clock(bank_ms=60_000, budget_ms=5_000, window_ms=5_000)
            await talk.say(pb.RefereeMessage(new_deadline=pb.NewDeadline(decision=table.number, clock=clock)))
            await talk.played(table)
            await talk.quiet()
            await talk.next(table)
        await talk.over(table)


async def _on_its_way(talk: Conversation, number: int) -> bool:
    """Take an answer to a decision that was withdrawn at once, if it was sent before; return whether it was.

    Raises:
        Failed: if more comes than that.
    """
    data = await talk.glance()
    if data is None:
        return False
    if data.choose.decision != number:
        raise Failed(f"it answered decision {data.choose.decision}; number {number} had been withdrawn")
    await talk.say(refusal(number, pb.Rejected.REASON_STALE, f"decision {number} is not open (any more)"))
    await talk.quiet()
    return True


# --- time ------------------------------------------------------------------------------------------------------


async def _little_time(name: str, control: TimeControl, judge: Judge) -> None:
    table = judge.table(control)
    budget = min(control.bank + control.increment, control.cap)
    taken: list[float] = []
    async with judge.conversation() as talk:
        with judge.step(name) as remark:
            await talk.begin(table)
            while len(taken) < _TRIES and table.go_on():
                await talk.ask(table)
                asked = time.monotonic()
                await talk.played(table)
                taken.append(time.monotonic() - asked)
            if min(taken) > budget + TRANSIT_SECONDS:
                raise Failed(f"the fastest of {len(taken)} answers took {min(taken):.2f} s, with {budget:g} s to think")
            remark.said = (
                f"the fastest of {len(taken)} took {min(taken) * 1000:.0f} ms, the slowest {max(taken) * 1000:.0f} ms"
            )
        await talk.over(table)


async def _idle(judge: Judge) -> None:
    table = judge.table()
    async with judge.conversation() as talk:
        with judge.step("idle"):
            await talk.begin(table)
            await talk.next(table)
            await talk.quiet(judge.course.patience.idle)
            await talk.next(table)
        await talk.over(table)
