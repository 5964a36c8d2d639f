"""Judge steps: what an exercise says of them, and what follows if it ends early."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ladder.conformance.conversation import CLOCK, Bot, Conversation, Failed, Patience, TooShort, conversation
from ladder.conformance.steps import Outcome, Step, Verdict
from ladder.conformance.table import Table, plan_for
from referee.game import Game
from referee.match.clock import TimeControl
from referee.records.verify import Trouble
from referee.sandbox.cgroup import Usage


@dataclass(slots=True)
class Noted:
    """What matches have shown that is judged when all are over."""

    usages: list[Usage] = field(default_factory=list)
    troubles: list[tuple[str, Trouble]] = field(default_factory=list)
    """Strikes of the bot, each with the match in which it got it."""
    matches: int = 0


@dataclass(frozen=True, slots=True)
class Course:
    """What the exercises of one bot share.

    Attributes:
        games: those that are tried, at least one; exercises that need no particular game take the first.
        patience: how long scripted referees wait.
        records: a folder for records.
    """

    bot: Bot
    games: Sequence[Game]
    patience: Patience
    records: Path
    noted: Noted = field(default_factory=Noted)
    control: TimeControl = CLOCK


class Abandoned(Exception):
    """A step has failed, and the exercise cannot go on without it."""


class Remark:
    """What is said of a step that has not failed.

    Attributes:
        said: what happened, in one line.
        outcome: what came of the step.
    """

    def __init__(self) -> None:
        self.said = ""
        self.outcome = Outcome.PASSED

    def tell(self, said: str) -> None:
        """Only tell what was seen."""
        self.said = said
        self.outcome = Outcome.TOLD

    def skip(self, why: str) -> None:
        """Say why the step cannot be tried."""
        self.said = why
        self.outcome = Outcome.SKIPPED


class Judge:
    """Takes the verdicts of one exercise and hands each on as it comes.

    Attributes:
        course: what the exercise is held under.
    """

    def __init__(
        self, course: Course, names: Sequence[str], steps: Mapping[str, Step], report: Callable[[Verdict], None]
    ) -> None:
        """Judge the steps of these names, of all that there are."""
        self.course = course
        self._left = [steps[name] for name in names]
        self._report = report
        self._talk: Conversation | None = None

    def table(self, control: TimeControl | None = None) -> Table:
        """Return the start of a match of the first game, at its smallest table; the clock is the usual if none is given."""
        game = self.course.games[0]
        return Table(plan_for(game, game.seat_counts[0], control or self.course.control))

    @contextlib.asynccontextmanager
    async def conversation(self, bot: Bot | None = None) -> AsyncIterator[Conversation]:
        """Start the bot, or the same in another sandbox, for a conversation; failures show its last messages."""
        async with conversation(bot or self.course.bot, self.course.patience) as talk:
            self._talk = talk
            yield talk

    @contextlib.contextmanager
    def step(self, name: str, *, goes_on: bool = False) -> Iterator[Remark]:
        """Judge a step by what happens inside: it fails with `Failed`, and else has passed.

        Args:
            name: the step.
            goes_on: whether the exercise goes on if it fails.
        """
        remark = Remark()
        try:
            yield remark
        except Failed as failed:
            self._fail(name, str(failed))
            if not goes_on:
                raise Abandoned from failed
            return
        self._give(name, remark.outcome, remark.said)

    def _fail(self, name: str, said: str) -> None:
        talk = self._talk
        shown = ((), ()) if talk is None else (talk.transcript(), talk.wrote())
        self._give(name, Outcome.FAILED, said, *shown)

    def _give(
        self, name: str, outcome: Outcome, said: str, transcript: tuple[str, ...] = (), wrote: tuple[str, ...] = ()
    ) -> None:
        step = next(step for step in self._left if step.name == name)
        self._left.remove(step)
        self._report(Verdict(step, outcome, said, transcript, wrote))

    def stop(self, said: str) -> None:
        """Say that the bot failed between two steps: the next one has failed."""
        if self._left:
            self._fail(self._left[0].name, said)

    def skip(self, why: str) -> None:
        """Say that all steps that are left cannot be tried."""
        for step in list(self._left):
            self._give(step.name, Outcome.SKIPPED, why)


@dataclass(frozen=True, slots=True)
class Exercise:
    """Something that is tried with a start of the bot, or some.

    Attributes:
        judges: the names of the steps that it judges, in their order.
        hold: tries it.
        is_alone: whether it measures time, so that nothing else goes on meanwhile.
        mostly_waits: whether it needs no processor to speak of.
        is_last: whether it looks at what the others have noted.
    """

    judges: tuple[str, ...]
    hold: Callable[[Judge], Awaitable[None]]
    is_alone: bool = False
    mostly_waits: bool = False
    is_last: bool = False


async def held(
    exercise: Exercise, course: Course, steps: Mapping[str, Step], report: Callable[[Verdict], None], why_not: str = ""
) -> bool:
    """Hold an exercise; return whether it came to its end.

    Args:
        exercise: what to hold.
        course: for whom.
        steps: all steps, by name.
        report: takes each verdict.
        why_not: why it cannot be held; its steps are skipped then.
    """
    judge = Judge(course, exercise.judges, steps, report)
    if why_not:
        judge.skip(why_not)
        return False
    try:
        await exercise.hold(judge)
    except Abandoned:
        judge.skip("the bot did not come so far")
        return False
    except TooShort:
        judge.skip("the match was over before this could be tried")
    except Failed as failed:
        judge.stop(str(failed))
        judge.skip("the bot did not come so far")
        return False
    return True
