"""Exercises in real matches against `random`: each game and number of seats, other options, long, side by side, on a tight clock."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial

from ladder.conformance.conversation import Failed
from ladder.conformance.judging import Exercise, Judge
from ladder.conformance.table import places, plan_for
from referee.game import Distinct, Game, OptionValue
from referee.live.matches.play import Command, House, Player, play_match
from referee.live.matches.server import RefereeServer
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.match.result import Outcome, SeatResult
from referee.records.verify import Replay
from referee.registry import find, house_bots
from referee.sandbox.limits import in_words

USUAL = TimeControl(60.0, 0.5, 10.0)
"""What ladders play with if nothing else is said."""
TIGHT = TimeControl(5.0, 0.1, 1.0)
_SIDE_BY_SIDE = 3
_JOIN_SECONDS = 30.0
"""As on a ladder."""
_OPPONENT = "random"


def exercises(games: list[Game]) -> list[Exercise]:
    """Return the exercises of this module."""
    found = []
    for game in games:
        found += [
            Exercise((f"plays-{game.name}-{seats}",), partial(_plays, f"plays-{game.name}-{seats}", game, seats))
            for seats in game.seat_counts
        ]
        found.append(Exercise((f"options-{game.name}",), partial(_other_options, game)))
        found.append(Exercise((f"long-match-{game.name}",), partial(_long, game)))
    return [
        *found,
        Exercise(("side-by-side", "same-digest"), _side_by_side),
        Exercise(("tight-clock",), _tight, is_alone=True),
        Exercise(("no-strikes",), _no_strikes, is_last=True),
        Exercise(("memory", "processor"), _used, is_last=True),
    ]


async def _match(judge: Judge, name: str, plan: MatchPlan, *, counts: bool = True) -> tuple[SeatResult, str]:
    """Play a match with the bot in the last seat; return how it went for it, and the digest.

    Args:
        judge: whose bot plays.
        name: what the record is called.
        plan: what is played.
        counts: whether its strikes count for `no-strikes`.

    Raises:
        Failed: if the bot is put out, or the record does not hold.
    """
    course = judge.course
    bot = Command(course.bot.run, course.bot.environment, course.bot.folder, _JOIN_SECONDS, course.bot.sandbox)
    others: list[Player] = [House(house_bots()[_OPPONENT])] * (plan.setup.seats - 1)
    path = course.records / f"{name}.jsonl"
    async with RefereeServer() as server:  # one each: matches side by side have the same id
        report = await play_match(plan, [*others, bot], server=server, record=path)
    seat = report.result.seats[-1]
    if seat.outcome is not Outcome.PLAYED:
        wrote = report.logs.get(seat.seat, "").strip().splitlines()[-1:]
        last = f"; the last it wrote: {wrote[0][-200:]}" if wrote else ""
        raise Failed(f"it was put out ({seat.outcome.value}): {seat.detail}{last}")
    replay = Replay(path, find)
    for _ in replay:
        pass
    course.noted.matches += 1
    course.noted.usages += report.usages.values()
    if counts:
        course.noted.troubles += [(name, trouble) for trouble in replay.troubles if trouble.seat == seat.seat]
    return seat, report.result.digest


def _went(seat: SeatResult) -> str:
    return f"rank {seat.rank}, {seat.score} points, {seat.decisions} actions, {seat.think_seconds:.1f} s of thought"


async def _plays(step: str, game: Game, seats: int, judge: Judge) -> None:
    with judge.step(step) as remark:
        seat, _ = await _match(judge, step, plan_for(game, seats, USUAL))
        remark.said = _went(seat)


async def _other_options(game: Game, judge: Judge) -> None:
    step = f"options-{game.name}"
    seats = game.seat_counts[0]
    with judge.step(step) as remark:
        options = other_options(game, seats)
        if not options:
            remark.skip("the game has no options")
            return
        await _match(judge, step, plan_for(game, seats, USUAL, options=options))
        remark.said = ", ".join(f"{name}={str(value).lower()}" for name, value in options.items())


def other_options(game: Game, seats: int) -> Mapping[str, OptionValue]:
    """Return options none of which is at its default, as far as they go together."""
    chosen: dict[str, OptionValue] = {}
    for option in game.options:
        for value in option.values:
            other: OptionValue
            if isinstance(value, range):
                other = value[len(value) // 2]
            elif isinstance(value, Distinct):
                other = "+".join(reversed(value.words[:seats]))
            else:
                other = value
            all_of_them = {one.name: one.default for one in game.options} | chosen | {option.name: other}
            if other != option.default and not game.check_options(seats, all_of_them):
                chosen[option.name] = other
                break
    return chosen


async def _long(game: Game, judge: Judge) -> None:
    step = f"long-match-{game.name}"
    with judge.step(step) as remark:
        seed, seats = places(game, judge.course.control).longest
        seat, _ = await _match(judge, step, plan_for(game, seats, USUAL, seed=seed))
        remark.said = f"{seats} seats, {seat.decisions} actions of its own"


async def _side_by_side(judge: Judge) -> None:
    game = judge.course.games[0]
    plan = plan_for(game, game.seat_counts[0], USUAL)
    with judge.step("side-by-side"):
        played = await asyncio.gather(
            *(_match(judge, f"side-by-side-{number}", plan) for number in range(_SIDE_BY_SIDE)), return_exceptions=True
        )
        for one in played:  # all have ended before the first is judged
            if isinstance(one, BaseException):
                raise one
    with judge.step("same-digest") as remark:
        digests = {one[1] for one in played if not isinstance(one, BaseException)}
        remark.tell("the same each time" if len(digests) == 1 else "not the same: it has chance of its own")


async def _tight(judge: Judge) -> None:
    game = judge.course.games[0]
    with judge.step("tight-clock") as remark:
        plan = plan_for(game, game.seat_counts[0], TIGHT)
        seat, _ = await _match(judge, "tight-clock", plan, counts=False)
        replay = Replay(judge.course.records / "tight-clock.jsonl", find)
        for _ in replay:
            pass
        late = [one for one in replay.troubles if one.seat == seat.seat and one.reason == Outcome.TIMEOUT.value]
        if late:
            raise Failed(f"it was late {len(late)} times; the first: {late[0].detail}")
        had = TIGHT.bank + TIGHT.increment * seat.decisions
        remark.said = f"it used {100 * seat.think_seconds / had:.0f} % of its time"


async def _no_strikes(judge: Judge) -> None:
    noted = judge.course.noted
    with judge.step("no-strikes") as remark:
        if not noted.matches:
            remark.skip("no match was played to its end")
            return
        if noted.troubles:
            name, first = noted.troubles[0]
            raise Failed(f"{len(noted.troubles)} strikes; the first in {name}: {first.reason}, {first.detail}")
        remark.said = f"{noted.matches} matches"


async def _used(judge: Judge) -> None:
    noted, sandbox = judge.course.noted, judge.course.bot.sandbox
    peaks = [one.memory_peak for one in noted.usages if one.memory_peak is not None]
    seconds = [one.cpu_seconds for one in noted.usages if one.cpu_seconds is not None]
    why_not = "this machine does not tell (see dogana doctor)" if noted.matches else "no match was played to its end"
    with judge.step("memory") as remark:
        if peaks and sandbox is not None:
            limits = sandbox.limits
            much = ", more than half of it" if max(peaks) > limits.memory_bytes / 2 else ""
            remark.tell(f"{in_words(max(peaks))} of {in_words(limits.memory_bytes)}{much}")
        else:
            remark.skip(why_not)
    with judge.step("processor") as remark:
        if seconds:
            remark.tell(f"{max(seconds):.1f} s in the match that took most")
        else:
            remark.skip(why_not)
