"""Steps, verdicts, and the state of an exercise: the conversation with the bot, and its table."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from pathlib import Path

from google.protobuf.message import DecodeError
from google.protobuf.text_format import MessageToString

from dogana.v1 import referee_pb2 as pb
from ladder.conformance.rehearsal_match import Place, RehearsalMatch, places, plan_for
from referee.game import Action, Game
from referee.live.matches.conversation import Conversation, conversation
from referee.live.matches.play import EXIT_SECONDS, Command
from referee.live.messages import wire
from referee.live.seats.last_words import known_reason
from referee.match.clock import TimeControl
from referee.records.verify import Trouble
from referee.sandbox.cgroup import Usage
from referee.terminal import visible

CLOCK = TimeControl(60.0, 0.5, 1.0)
"""The clock of scripted referees. Its cap is low, so that a bot that uses all its time does not take an hour."""
JOIN_SECONDS = 30.0
"""The time allowed for a bot to join, as on a ladder."""
OWN_ERROR = "correct the error that ended it"
"""The advice for a bot that has ended with an error of its own; it replaces the advice of the step."""
_MAX_LINE = 200
_PRINTED_LINES = 5


class StepOutcome(Enum):
    """The outcome of a step; the values appear in tables and in `--json`."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """The step could not be tried, or does not apply to the bot."""
    REPORTED = "reported"
    """The behaviour is neither right nor wrong, and is only reported."""


class Judged(Exception):
    """The step ended before the end of its script; the text gives the reason, in one line."""

    outcome: StepOutcome


class Failed(Judged):
    """The bot did not do what the step expects."""

    outcome = StepOutcome.FAILED


class Flaw(Failed):
    """The bot did not do what the step expects, but the exercise can continue."""


class Skipped(Judged):
    """The step cannot be tried."""

    outcome = StepOutcome.SKIPPED


class Info(Judged):
    """The bot's behaviour is neither right nor wrong."""

    outcome = StepOutcome.REPORTED


class When(Enum):
    """The time at which an exercise runs, relative to the other exercises."""

    SIDE_BY_SIDE = auto()
    ALONE = auto()
    """The exercise measures time, so it runs alone."""
    WAITING = auto()
    """The exercise mostly waits, and needs hardly any processor time."""
    LAST = auto()
    """The exercise judges the findings of all other exercises, so it runs after them."""


Instruction = Callable[["Rehearsal"], Awaitable[str | None]]
"""One instruction of a script. It returns a text for the verdict, or None.

Raises:
    Judged: if it ends the step.
    DoganaError: if the referee or the sandbox fails.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One requirement, with the script that tries it."""

    name: str
    """The step's permanent name, in kebab-case. If it contains `{game}` or `{seats}`, there is a step for each game or
    number of seats."""
    heading: str
    """The heading under which lists show the step."""
    expects: str
    """The right behaviour of the bot, in one line."""
    script: Sequence[Instruction]
    """The instructions that try the requirement; empty for steps that check files."""
    fix: str = ""
    """Advice for a bot that fails, in one line; empty for a step that only informs."""
    see: tuple[str, str] = ("", "")
    """Further reading: a page and its section."""
    when: When = When.SIDE_BY_SIDE
    """The time at which the step's exercise runs; only the value of the first step in an exercise is used."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one step."""

    step: Step
    outcome: StepOutcome
    said: str
    """A description of the bot's behaviour, in one line that may quote the bot."""
    transcript: tuple[str, ...] = ()
    """The last messages of a bot that failed, shortened."""
    wrote: tuple[str, ...] = ()
    """The last lines of the bot's output."""


@dataclass(frozen=True, slots=True)
class WaitingTimes:
    """The waiting times of a scripted referee, in seconds."""

    join: float = JOIN_SECONDS
    join_well: float = 10.0
    """The time within which a bot should join; `dogana play` waits no longer."""
    answer: float = 5.0
    """The time allowed for an answer in addition to the time on the clock, because the machine may be busy."""
    quiet: float = 0.3
    """The time without a message after which the referee expects no more."""
    exit: float = 2.0
    """The time allowed for a bot to exit after GameOver."""
    end: float = 10.0
    """The time allowed for a bot to exit after any other end of its connection, which gRPC may take time to notice."""
    idle: float = 35.0
    """The time for which an idle bot gets no messages; it is longer than the interval at which most clients ping."""


@dataclass(slots=True)
class Findings:
    """The findings of the matches, which are judged when all matches are over."""

    usages: list[Usage] = field(default_factory=list)
    troubles: list[tuple[str, Trouble]] = field(default_factory=list)
    """The strikes of the bot, each with the name of the match."""
    matches: int = 0


@dataclass(frozen=True, slots=True)
class Course:
    """The bot and the settings that its exercises share."""

    bot: Command
    """The command that starts the bot in its folder; nobody changes the folder."""
    games: Sequence[Game]
    """The games to try, at least one; exercises that need no particular game take the first."""
    patience: WaitingTimes
    records: Path
    """A folder for records."""
    findings: Findings = field(default_factory=Findings)


class Rehearsal:
    """The state of one exercise: the bot, if it has been started, and the data that its steps share.

    Attributes:
        course: the course of the exercise.
        game: the game.
        seats: the number of seats in a match.
        step: the name of the current step.
        table: the table of the bot.
        talk: the conversation with the bot; None before the bot is started.
        first: the bot's first message, if a step has read it.
        has_own_error: True if the bot has ended with an error of its own, which the verdict quotes.
        has_not_joined: the failure if no first message came; otherwise None.
        join: the bot's Join.
        received: the number of messages received from the bot.
        choose: the bot's last Choose.
        given: the bot's answers to the open decision, including refused ones.
        withdrawn: the numbers of withdrawn decisions that the bot may still answer once, because an answer may be on its way.
        refusals: the number of the bot's refused answers.
        digests: the digests of concurrent matches.
    """

    def __init__(self, course: Course, game: Game, seats: int, stack: contextlib.AsyncExitStack) -> None:
        """Begin an exercise; `stack` closes all its resources."""
        self.course = course
        self.game = game
        self.seats = seats
        self.step = ""
        self.table = self.table_for(CLOCK)
        self.talk: Conversation | None = None
        self.first = pb.AgentMessage()
        self.has_own_error = False
        self.has_not_joined: Failed | None = None
        self.join = pb.Join()
        self.received = 0
        self.choose = pb.Choose()
        self.given: list[list[Action]] = []
        self.withdrawn: list[int] = []
        self.refusals = 0
        self.digests: set[str] = set()
        self._stack = stack

    def table_for(self, control: TimeControl) -> RehearsalMatch:
        """Return the start of a match with the game's smallest number of seats."""
        return RehearsalMatch(plan_for(self.game, self.game.seat_counts[0], control))

    def place(self, name: str) -> Place:
        """Return a hard place for a bot, by its name in `Places`.

        Raises:
            Skipped: if the random matches of the game have no such place.
        """
        found: Place | None = getattr(places(self.game, CLOCK), name)
        if found is None:
            raise Skipped("no random match of the game comes to such a place")
        return found

    async def start(self, bot: Command | None = None) -> Conversation:
        """Start the bot or the given variant, such as the same bot in another sandbox.

        Raises:
            CannotIsolate, CannotStart: if it cannot be started.
        """
        self.talk = await self._stack.enter_async_context(conversation(bot or self.course.bot))
        return self.talk

    @property
    def bot(self) -> Conversation:
        """The conversation with the bot, which has been started."""
        assert self.talk is not None  # noqa: S101 scripts start the bot first
        return self.talk

    async def say(self, *messages: pb.RefereeMessage | bytes) -> None:
        """Send messages, or raw bytes that are not a message of this protocol."""
        await self.bot.say(*messages)

    async def hear(self, seconds: float, wanted: str) -> pb.AgentMessage:
        """Wait for a message.

        Raises:
            Failed: if none arrives in this time, or the bytes are not a message; `wanted` names the expected one.
        """
        message = await self.glance(seconds)
        if message is None:
            left = await self.left()
            raise Failed(f"{left or f'nothing came within {seconds:.3g} s'} instead of {wanted}")
        return message

    async def glance(self, seconds: float) -> pb.AgentMessage | None:
        """Return the next message; None if none comes in this time.

        Raises:
            Failed: if the bytes are not a message.
        """
        data = await self.bot.hear(seconds)
        if data is None:
            return None
        self.received += 1
        try:
            return wire.read_agent_message(data)
        except wire.MalformedMessage as error:
            raise Failed(f"it sent {error}") from error

    async def left(self) -> str:
        """Describe the exit of the bot, or the end of its stream; return an empty text if neither has ended."""
        bot = self.bot
        ended = await bot.exit(EXIT_SECONDS if bot.has_closed else 0)  # it may have closed it while exiting
        if not ended:
            return "it closed its stream" if bot.has_closed else ""
        await bot.process.stop()  # its last output may still be on its way
        reason = known_reason(ended, bot.process.log.text(), bot.player.argv, joined=self.received > 0)
        self.has_own_error = bool(reason)
        return f"it {ended}" + (f" ({reason})" if reason else "")

    def verdict(self, step: Step, outcome: StepOutcome, said: str) -> Verdict:
        """Return the verdict on a step; for a failure, it contains the last messages, and the last lines that the bot wrote."""
        if outcome is not StepOutcome.FAILED or self.talk is None:
            return Verdict(step, outcome, said)
        if self.has_own_error:
            step = replace(step, fix=OWN_ERROR)
        lines = [line for line in self.talk.process.log.text().splitlines() if line.strip()]
        wrote = tuple(visible(line, _MAX_LINE) for line in lines[-_PRINTED_LINES:])
        transcript = tuple(f"{who}: {_described(who, message)}" for who, message in self.talk.transcript)
        return Verdict(step, outcome, said, transcript, wrote)


def _described(who: str, data: bytes | str) -> str:
    """Describe a message in one line, without its long fields; or describe bytes that are not a message."""
    if isinstance(data, str):
        return data
    message = pb.AgentMessage() if who == "bot" else pb.RefereeMessage()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return f"{len(data)} bytes that are not a message, {data[:16].hex(' ')} ..."
    which = message.WhichOneof("message")
    if which is None:
        return f"{len(data)} bytes with no known message, {data[:16].hex(' ')} ..."
    inner = getattr(message, which)
    # The token is a secret, and the other fields are long. In Join, `labels` is a flag.
    for name in ("observation", "actions", "played", "board", "labels", "options", "token"):
        if name in inner.DESCRIPTOR.fields_by_name and not (which == "join" and name == "labels"):
            inner.ClearField(name)
    text = MessageToString(inner, as_one_line=True)
    if which == "choose" and not inner.HasField("index"):
        text += f" (and {len(data)} bytes of actions)"
    return visible(f"{which.title().replace('_', '')} {text}", _MAX_LINE)
