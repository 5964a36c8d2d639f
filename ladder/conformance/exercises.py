"""Run the first exercise alone, and then one exercise per processor at a time; exercises that measure time also run alone."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ladder.conformance.rehearsal import CLOCK, Course, Flaw, Judged, Rehearsal, Step, StepOutcome, Verdict, When
from ladder.conformance.rehearsal_match import places
from ladder.conformance.scripts import STEPS, TOGETHER, variants
from referee.game import Game
from referee.sandbox.system import processors


@dataclass(frozen=True, slots=True)
class Exercise:
    """Steps in sequence, each beginning in the state left by the previous ones."""

    steps: Sequence[Step]
    game: Game
    seats: int

    @property
    def when(self) -> When:
        """The time at which the exercise runs, relative to the other exercises."""
        return self.steps[0].when


NOT_JOINED = "the bot has to join and answer first"
NOT_REACHED = "the bot did not get that far"
"""The reasons to skip the steps after one that failed."""


async def run(course: Course, report: Callable[[Verdict], None], wanted: Collection[str] | None = None) -> None:
    """Run all exercises of an accepted bot.

    Args:
        course: the bot and the settings that all exercises share.
        report: a function that is called with each verdict, in any order.
        wanted: the names of steps; only exercises that judge one of them are run. None runs all exercises.

    Raises:
        DoganaError: if the referee or the sandbox fails.
    """
    exercises = exercises_for(course.games)
    for game in course.games:
        places(game, CLOCK)  # the search happens now, while nothing is timed
    if wanted is not None:
        exercises = [one for one in exercises if any(step.name in wanted for step in one.steps)]
    # A bot that does not join and answer would fail every step for the same reason.
    elif not await _hold(exercises.pop(0), course, report):
        for exercise in exercises:
            for step in exercise.steps:
                report(Verdict(step, StepOutcome.SKIPPED, NOT_JOINED))
        return
    groups = {when: [one for one in exercises if one.when is when] for when in When}
    try:
        await _hold_beside_each_other(groups, course, report)
    except BaseExceptionGroup as errors:
        # Callers expect a plain DoganaError, but a group of tasks wraps it.
        raise errors.exceptions[0] from errors
    for exercise in groups[When.LAST]:
        await _hold(exercise, course, report)


async def _hold_beside_each_other(
    groups: Mapping[When, Sequence[Exercise]], course: Course, report: Callable[[Verdict], None]
) -> None:
    """Run exercises side by side, and then those that must run alone. Exercises that mostly wait run alongside both."""
    slots = asyncio.Semaphore(processors())

    async def hold_in_a_slot(exercise: Exercise) -> None:
        async with slots:
            await _hold(exercise, course, report)

    async with asyncio.TaskGroup() as group:
        for exercise in groups[When.WAITING]:
            group.create_task(_hold(exercise, course, report))
        tasks = [group.create_task(hold_in_a_slot(exercise)) for exercise in groups[When.SIDE_BY_SIDE]]
        if tasks:
            await asyncio.wait(tasks)
        for exercise in groups[When.ALONE]:
            await _hold(exercise, course, report)


def exercises_for(games: Sequence[Game]) -> list[Exercise]:
    """Return all exercises for a bot that plays these games, in the order of their first steps."""
    steps = {step.name: step for step in STEPS if step.script}
    # These are removed from the steps, because they do not begin exercises of their own.
    later = {first: [steps.pop(name) for name in names] for first, *names in TOGETHER}
    exercises = []
    for first in steps.values():
        for step, game, seats in variants(first, games):
            others = [
                one for other in later.get(first.name, []) for one, its, _ in variants(other, games) if its is game
            ]
            exercises.append(Exercise([step, *others], game, seats))
    return exercises


async def _hold(exercise: Exercise, course: Course, report: Callable[[Verdict], None]) -> bool:
    """Run an exercise; return True if it reached its end."""
    is_over = False
    async with contextlib.AsyncExitStack() as stack:
        rehearsal = Rehearsal(course, exercise.game, exercise.seats, stack)
        for step in exercise.steps:
            if is_over:
                report(Verdict(step, StepOutcome.SKIPPED, NOT_REACHED))
                continue
            said = ""
            outcome = StepOutcome.PASSED if step.fix else StepOutcome.REPORTED
            try:
                rehearsal.step = step.name
                for instruction in step.script:
                    said = await instruction(rehearsal) or said
            except Judged as judged:
                said, outcome = str(judged), judged.outcome
                is_over = outcome is StepOutcome.FAILED and not isinstance(judged, Flaw)
            report(rehearsal.verdict(step, outcome, said))
    return not is_over
