"""Run exercises: the first alone, then as many side by side as there are processors; those that measure time alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Mapping

from ladder.conformance import answering, compatibility, ending, matches, starting
from ladder.conformance.judging import Course, Exercise, held
from ladder.conformance.steps import Step, Verdict, steps_for
from ladder.conformance.table import places
from referee.game import Game


async def run(course: Course, report: Callable[[Verdict], None], wanted: Collection[str] | None = None) -> None:
    """Hold all exercises of a bot that was taken in.

    Args:
        course: what they share.
        report: takes each verdict as it comes, in any order.
        wanted: the names of steps; only exercises that judge one of them are held. None for all.

    Raises:
        DoganaError: if the referee, or the sandbox, cannot do its part.
    """
    steps = {step.name: step for step in steps_for(course.games)}
    chosen = [
        one for one in exercises_for(list(course.games)) if wanted is None or any(name in wanted for name in one.judges)
    ]
    for game in course.games:
        places(game, course.control)  # searched now, while nothing is timed
    if wanted is None:
        first = chosen.pop(0)
        if not await held(first, course, steps, report):
            for exercise in chosen:
                await held(exercise, course, steps, report, "the bot has to join and answer first")
            return
    usual = [exercise for exercise in chosen if not (exercise.is_alone or exercise.mostly_waits or exercise.is_last)]
    try:
        async with asyncio.TaskGroup() as waiting:
            for exercise in chosen:
                if exercise.mostly_waits:
                    waiting.create_task(held(exercise, course, steps, report))
            await _side_by_side(usual, course, steps, report)
            for exercise in chosen:
                if exercise.is_alone:
                    await held(exercise, course, steps, report)
    except BaseExceptionGroup as group:
        raise _first(group) from group
    for exercise in chosen:
        if exercise.is_last:
            await held(exercise, course, steps, report)


def exercises_for(games: list[Game]) -> list[Exercise]:
    """Return all exercises of a bot that plays these games, in the order in which they begin."""
    return [
        *starting.exercises(),
        *answering.exercises(games),
        *compatibility.exercises(),
        *ending.exercises(),
        *matches.exercises(games),
    ]


async def _side_by_side(
    exercises: list[Exercise], course: Course, steps: Mapping[str, Step], report: Callable[[Verdict], None]
) -> None:
    slots = asyncio.Semaphore(os.cpu_count() or 1)

    async def hold(exercise: Exercise) -> None:
        async with slots:
            await held(exercise, course, steps, report)

    async with asyncio.TaskGroup() as group:
        for exercise in exercises:
            group.create_task(hold(exercise))


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first of the exceptions in a group, and in the groups in it."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
