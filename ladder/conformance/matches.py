"""Scripts that play real matches against `random`: with each number of seats, with other options, and so on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ladder.conformance.rehearsal import CLOCK, Failed, Rehearsal, Skipped
from ladder.conformance.rehearsal_match import places, plan_for
from referee.game import Game
from referee.live.matches.play import Player, house_player, play_match
from referee.live.matches.server import RefereeServer
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.match.result import Outcome, SeatResult
from referee.options import Distinct, OptionValue
from referee.records.verify import Replay, Trouble
from referee.registry import find
from referee.sandbox.limits import in_words
from referee.terminal import counted

USUAL = TimeControl(60.0, 0.5, 10.0)
"""The default clock of ladders."""
TIGHT = TimeControl(5.0, 0.1, 1.0)
_SIDE_BY_SIDE = 3
_OPPONENT = "random"


async def _match(rehearsal: Rehearsal, plan: MatchPlan, name: str = "") -> tuple[SeatResult, str, list[Trouble]]:
    """Play a match with the bot in the last seat.

    Args:
        rehearsal: the rehearsal of the bot.
        plan: the plan of the match.
        name: the name of the record; by default the name of the step.

    Returns:
        The result of the bot, the digest of the match, and the strikes of the bot.

    Raises:
        Failed: if the bot is put out, or the record is not valid.
    """
    course = rehearsal.course
    others: list[Player] = [house_player(_OPPONENT)] * (plan.setup.seats - 1)
    path = course.records / f"{name or rehearsal.step}.jsonl"
    async with RefereeServer() as server:  # one server per match, because concurrent matches have the same id
        report = await play_match(plan, [*others, course.bot], server=server, record=path)
    seat = report.result.seats[-1]
    if seat.outcome is not Outcome.PLAYED:
        wrote = report.logs.get(seat.seat, "").strip().splitlines()[-1:]
        last = f"; the last it wrote: {wrote[0][-200:]}" if wrote else ""
        raise Failed(f"it was put out ({seat.outcome.value}): {seat.detail}{last}")
    replay = Replay(path, find)
    # Strikes are collected while the match is played again.
    for _ in replay:
        pass
    course.findings.matches += 1
    course.findings.usages += report.usages.values()
    return seat, report.result.digest, [trouble for trouble in replay.troubles if trouble.seat == seat.seat]


async def _counted(rehearsal: Rehearsal, plan: MatchPlan, name: str = "") -> tuple[SeatResult, str]:
    """Play a match whose strikes count for `no-strikes`."""
    seat, digest, troubles = await _match(rehearsal, plan, name)
    rehearsal.course.findings.troubles += [(name or rehearsal.step, trouble) for trouble in troubles]
    return seat, digest


async def plays(rehearsal: Rehearsal) -> str:
    """Play a match."""
    seat, _ = await _counted(rehearsal, plan_for(rehearsal.game, rehearsal.seats, USUAL))
    return f"rank {seat.rank}, {counted(seat.score, 'point')}, {counted(seat.decisions, 'action')}, {seat.think_seconds:.1f} s of thought"


async def plays_with_other_options(rehearsal: Rehearsal) -> str:
    """Play a match in which as many options as the game allows differ from their defaults."""
    options = other_options(rehearsal.game, rehearsal.seats)
    if not options:
        raise Skipped("the game has no options")
    await _counted(rehearsal, plan_for(rehearsal.game, rehearsal.seats, USUAL, options=options))
    return ", ".join(f"{name}={str(value).lower()}" for name, value in options.items())


def other_options(game: Game, seats: int) -> Mapping[str, OptionValue]:
    """Return a combination of options that differs from every default, as far as the game allows."""
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


async def plays_long(rehearsal: Rehearsal) -> str:
    """Play a match with the seed and number of seats of the longest random match."""
    seed, seats = places(rehearsal.game, CLOCK).longest
    seat, _ = await _counted(rehearsal, plan_for(rehearsal.game, seats, USUAL, seed=seed))
    return f"{seats} seats, {counted(seat.decisions, 'action')} of its own"


async def plays_side_by_side(rehearsal: Rehearsal) -> None:
    """Play several concurrent matches."""
    # They share a plan, and therefore a seed, so that equal play gives equal digests.
    plan = plan_for(rehearsal.game, rehearsal.seats, USUAL)
    matches = [_counted(rehearsal, plan, f"side-by-side-{number}") for number in range(_SIDE_BY_SIDE)]
    for played in await asyncio.gather(*matches, return_exceptions=True):
        if isinstance(played, BaseException):  # all have ended before the first one is judged
            raise played
        rehearsal.digests.add(played[1])


async def same_digest(rehearsal: Rehearsal) -> str:
    """Compare the digests of concurrent matches."""
    return "the same each time" if len(rehearsal.digests) == 1 else "not the same: it has chance of its own"


async def plays_in_time(rehearsal: Rehearsal) -> str:
    """Play a match on a tight clock; its strikes do not count for `no-strikes`."""
    seat, _, troubles = await _match(rehearsal, plan_for(rehearsal.game, rehearsal.seats, TIGHT))
    late = [trouble for trouble in troubles if trouble.reason == Outcome.TIMEOUT.value]
    if late:
        raise Failed(f"it was late {len(late)} times; the first: {late[0].detail}")
    had = TIGHT.bank + TIGHT.increment * seat.decisions
    return f"it used {100 * seat.think_seconds / had:.0f} % of its time"


# --- the findings of all matches -------------------------------------------------------------------------------


async def got_no_strikes(rehearsal: Rehearsal) -> str:
    """Expect no strikes in the counted matches."""
    findings = rehearsal.course.findings
    if not findings.matches:
        raise Skipped("no match was played to its end")
    if findings.troubles:
        name, first = findings.troubles[0]
        raise Failed(f"{len(findings.troubles)} strikes; the first in {name}: {first.reason}, {first.detail}")
    return counted(findings.matches, "match", "matches")


async def used_memory(rehearsal: Rehearsal) -> str:
    """Report the bot's peak memory."""
    sandbox = rehearsal.course.bot.sandbox
    peaks = [one.memory_peak for one in rehearsal.course.findings.usages if one.memory_peak is not None]
    if not peaks or sandbox is None:
        raise _unknown_usage(rehearsal)
    limit = sandbox.limits.memory_bytes
    much = ", more than half of it" if max(peaks) > limit / 2 else ""
    return f"{in_words(max(peaks))} of {in_words(limit)}{much}"


async def used_processor(rehearsal: Rehearsal) -> str:
    """Report the bot's maximum processor time in a match."""
    seconds = [one.cpu_seconds for one in rehearsal.course.findings.usages if one.cpu_seconds is not None]
    if not seconds:
        raise _unknown_usage(rehearsal)
    return f"{max(seconds):.1f} s in the match that took most"


def _unknown_usage(rehearsal: Rehearsal) -> Skipped:
    has_played = rehearsal.course.findings.matches
    return Skipped(
        "this machine does not report it (see dogana doctor)" if has_played else "no match was played to its end"
    )
