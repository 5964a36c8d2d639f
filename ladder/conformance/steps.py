"""The steps of conformance as data: what each expects, and what to do about a bot that fails it.

`docs/check.md` lists them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from referee.game import Game

_PROTOCOL = "docs/protocol.md"
_WRITING = "docs/writing_a_bot.md"
_RUNNING = "docs/running_a_ladder.md"


class Outcome(Enum):
    """What came of a step; the values are the words of tables and of `--json`."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """It could not be tried, or the bot has nothing that it is about."""
    TOLD = "told"
    """Information; neither right nor wrong."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is tried.

    Attributes:
        name: names it for good, in kebab-case; `{game}` and `{seats}` in it stand for one step each.
        heading: what it is listed under.
        expects: what the bot should do, in one line.
        mend: what to do if it does not, in one line; empty for a step that only tells.
        see: where to read on: a page and its section.
    """

    name: str
    heading: str
    expects: str
    mend: str = ""
    see: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one step.

    Attributes:
        said: what happened, in one line. It may have words of the bot in it.
        transcript: the last messages of a bot that failed, shortened.
        wrote: the last lines that it wrote.
    """

    step: Step
    outcome: Outcome
    said: str
    transcript: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()


def _under(heading: str, *steps: Step) -> tuple[Step, ...]:
    return tuple(replace(step, heading=heading) for step in steps)


def _step(name: str, expects: str, mend: str = "", page: str = "", section: str = "") -> Step:
    return Step(name, "", expects, mend, (page, section))


STEPS = (
    *_under(
        "package",
        _step("files", "its files are taken in: no strange names, links or sizes",
              "mend what is named; a ladder refuses the bot with the same words", _RUNNING, "Bots and versions"),
        _step("bot-toml", "bot.toml can be read, and names games that there are",
              "write run = [...] and games = [...] as texts", _RUNNING, "Bots and versions"),
        _step("program", "the program is there and can be started",
              "name it in bot.toml, and make it executable", _RUNNING, "Bots and versions"),
        _step("architecture", "a compiled program is for this kind of processor",
              "build it for Linux on the ladder's processor", _RUNNING, "Bots and versions"),
        _step("size", "how many files it has, and how large they are"),
        _step("games", "which games it says it plays"),
    ),
    *_under(
        "start",
        _step("runs", "the program runs in the sandbox: its interpreter is found there",
              "bring what it needs in its folder, or name a usual program", _RUNNING, "Bots and versions"),
        _step("joins", "it joins within 10 s",
              "connect to DOGANA_ADDRESS, call Play and send Join at once; load and warm up less before", _WRITING, "Other languages"),
        _step("join-first", "its first message is Join",
              "send Join before anything else", _PROTOCOL, "message `Join`"),
        _step("protocol-number", "it speaks protocol 1",
              "set Join.protocol to 1", _PROTOCOL, "message `Join`"),
        _step("token", "it shows the token that it was given",
              "set Join.token to the environment variable DOGANA_TOKEN, unchanged", _PROTOCOL, "message `Join`"),
        _step("silent-before-welcome", "it sends nothing more before Welcome",
              "after Join, read until Welcome comes", _PROTOCOL, "service `Referee`"),
        _step("one-stream", "it opens one stream",
              "call Play once, and keep the stream for the whole match", _PROTOCOL, "service `Referee`"),
        _step("labels", "whether it asks for labels"),
        _step("slow-start", "how long it takes to join with half a processor"),
    ),
    *_under(
        "answers",
        _step("answers", "it answers its first decision",
              "send a Choose for each Decide", _PROTOCOL, "message `Choose`"),
        _step("its-number", "the answer has the number of the decision",
              "copy Decide.decision into Choose.decision", _PROTOCOL, "message `Choose`"),
        _step("legal", "the answer is a legal action: an index in the list, or actions of the game",
              "choose from Decide.actions; an index counts from 0", _PROTOCOL, "message `Choose`"),
        _step("once", "it sends one Choose for each Decide",
              "answer when Decide or Rejected comes, and at no other message", _PROTOCOL, "message `Choose`"),
        _step("goes-on", "it answers the decisions that follow",
              "read on after each answer, until GameOver", _WRITING, "Other languages"),
        _step("single-action-{game}", "it answers where only one action is legal",
              "expect a list of any length; 0 is the only index then", _PROTOCOL, "message `Decide`"),
        _step("largest-list-{game}", "it answers where the most actions are legal",
              "set no limit to the list, and decide in time", _PROTOCOL, "message `Decide`"),
        _step("largest-observation-{game}", "it reads the largest observation",
              "set grpc.max_receive_message_length to -1, and no limits of your own", _PROTOCOL, "message `Decide`"),
        _step("again-after-illegal-{game}", "it answers every kind of decision again that was refused as illegal",
              "at Rejected with REASON_ILLEGAL the decision stays open: send another Choose with its number", _PROTOCOL, "message `Rejected`"),
        _step("otherwise-after-illegal", "it answers after each refusal, best with another action",
              "after a refusal choose another action, at random if need be: the third strike puts the seat out", _WRITING, "Faults"),
        _step("again-after-malformed", "it answers again after REASON_MALFORMED",
              "the decision stays open: send another Choose with its number", _PROTOCOL, "message `Rejected`"),
        _step("stale", "it leaves a decision alone that was refused as stale, and goes on",
              "at REASON_STALE send nothing, and wait for the next Decide", _PROTOCOL, "enum `Rejected.Reason`"),
        _step("withdrawn-timeout", "it answers nothing to a Withdrawn for want of time, and goes on",
              "at Withdrawn drop the decision, and wait for the next Decide", _PROTOCOL, "message `Withdrawn`"),
        _step("withdrawn-overtaken", "it answers nothing to a Withdrawn because of others, and goes on",
              "at Withdrawn drop the decision, and wait for the next Decide", _PROTOCOL, "enum `Withdrawn.Reason`"),
        _step("two-decisions", "asked twice in a row, it answers the later decision",
              "read all that has come in; answer each Decide with its own number", _PROTOCOL, "message `Withdrawn`"),
        _step("new-deadline", "it answers once, whatever NewDeadline says meanwhile",
              "NewDeadline changes the time of the open decision, and is no question", _PROTOCOL, "message `NewDeadline`"),
        _step("dropped", "it goes on after the rest of a whole turn was dropped",
              "play on from the new Decide; do not count on the rest of your list", _PROTOCOL, "message `Decide`"),
    ),
    *_under(
        "time",
        _step("small-budget", "it answers within 50 ms where the cap says so",
              "look at Decide.clock.budget_ms before thinking, and leave some of it", _WRITING, "Time"),
        _step("low-bank", "it answers within 0.1 s where its bank has no more",
              "look at Decide.clock.budget_ms, not at the cap of the match", _WRITING, "Time"),
        _step("tight-clock", "it plays a match on a clock of 5+0.1/1 without running out of time",
              "think less where the bank is low", _WRITING, "Time"),
    ),
    *_under(
        "compatibility",
        _step("unknown-message", "it ignores a message that it does not know",
              "skip a RefereeMessage with none of the known fields", _WRITING, "Other languages"),
        _step("unknown-in-welcome", "it ignores unknown fields of Welcome",
              "skip fields by their wire type, as generated code does", _PROTOCOL, "message `Welcome`"),
        _step("unknown-in-decide", "it ignores unknown fields of Decide",
              "skip fields by their wire type, as generated code does", _PROTOCOL, "message `Decide`"),
        _step("unknown-in-observation", "it ignores unknown fields of the observation",
              "skip fields by their wire type, as generated code does", _PROTOCOL, "message `Decide`"),
        _step("unknown-value", "it bears an enum value that it does not know",
              "treat an unknown reason as an unspecified one", _PROTOCOL, "enum `Withdrawn.Reason`"),
        _step("newer-protocol", "what it does if the referee speaks protocol 2"),
    ),
    *_under(
        "end",
        _step("exits", "it exits with status 0 within 2 s of GameOver",
              "end the process when GameOver has come", _WRITING, "Other languages"),
        _step("no-seed", "it bears a GameOver that does not reveal the seed",
              "GameOver.seed may be empty: do not read it as a number then", _PROTOCOL, "message `GameOver`"),
        _step("stream-ends", "it exits if the stream ends without GameOver",
              "end the process when the stream has ended, whatever its status", _PROTOCOL, "service `Referee`"),
        _step("void", "it exits if the match is void (ABORTED)",
              "end the process when the stream has ended, whatever its status", _PROTOCOL, "service `Referee`"),
        _step("unavailable", "it exits if the referee is not available (UNAVAILABLE)",
              "do not try again at a unix: address: a started bot ends with its referee", _PROTOCOL, "service `Referee`"),
        _step("socket-vanishes", "it exits if its connection breaks",
              "do not wait for more when the connection is lost: a started bot ends with its referee", _WRITING, "Faults"),
        _step("refused", "it exits if its token is refused (UNAUTHENTICATED)",
              "do not try again with a token that was refused", _PROTOCOL, "service `Referee`"),
        _step("sigterm", "what it does at SIGTERM"),
    ),
    *_under(
        "matches",
        _step("plays-{game}-{seats}", "it plays a match for {seats} to its end, and the record holds",
              "read the fault and what the bot wrote", _WRITING, "Faults"),
        _step("options-{game}", "it plays a match with other options",
              "read Welcome.options and Welcome.board instead of assuming them", _PROTOCOL, "message `Welcome`"),
        _step("long-match-{game}", "it plays the longest kind of match",
              "free what belongs to past decisions; look for what grows", _WRITING, "Faults"),
        _step("side-by-side", "three of its matches go on at the same time, from one folder",
              "share nothing between processes: no fixed names in /tmp, no ports", _RUNNING, "Walls"),
        _step("same-digest", "whether it plays the same if all chance is the same"),
        _step("no-strikes", "it gets no strike in any of these matches",
              "answer legally and in time: at the third strike the seat is out", _WRITING, "Faults"),
    ),
    *_under(
        "manners",
        _step("token-stays", "its token is not in its output",
              "do not print DOGANA_TOKEN, nor the environment", _RUNNING, "Walls"),
        _step("no-leftovers", "it leaves no processes to themselves",
              "wait for the processes that the bot starts, and start none in the background", _RUNNING, "Walls"),
        _step("idle", "it waits for 35 s, and then answers",
              "set no deadline on the call; ping every 10 s at most", _WRITING, "Joining from elsewhere"),
        _step("messages", "how many messages it sends in a match"),
        _step("output", "how much it writes, and whether the log has all of it"),
        _step("memory", "the most memory that it used"),
        _step("processor", "the processor time that it used in a match"),
    ),
)  # fmt: skip
"""Every step, in the order in which they are listed; those with `{game}` in their name are tried for each game."""


def steps_for(games: Iterable[Game]) -> list[Step]:
    """Return the steps for a bot that plays these games, in their order."""
    found: list[Step] = []
    chosen = list(games)
    for step in STEPS:
        if "{seats}" in step.name:
            found += [_filled(step, game, seats) for game in chosen for seats in game.seat_counts]
        elif "{game}" in step.name:
            found += [_filled(step, game, 0) for game in chosen]
        else:
            found.append(step)
    return found


def _filled(step: Step, game: Game, seats: int) -> Step:
    return replace(
        step,
        name=step.name.format(game=game.name, seats=seats),
        expects=step.expects.format(game=game.name, seats=seats),
    )


def page() -> list[str]:
    """Return the table of the steps as `docs/check.md` shows it."""
    lines: list[str] = []
    for heading in dict.fromkeys(step.heading for step in STEPS):
        lines += [f"### {heading}", "", "| step | expected | mend |", "|---|---|---|"]
        for step in STEPS:
            if step.heading == heading:
                name, expects = (
                    text.replace("{game}", "GAME").replace("{seats}", "SEATS") for text in (step.name, step.expects)
                )
                lines.append(f"| `{name}` | {expects} | {_mending(step)} |")
        lines.append("")
    return lines


def _mending(step: Step) -> str:
    if not step.mend:
        return "*told*"
    page, section = step.see
    file = page.removeprefix("docs/")
    anchor = section.lower().replace("`", "").replace(".", "").replace(" ", "-")
    return f"{step.mend} ([{section.replace('`', '')}]({file}#{anchor}))"
