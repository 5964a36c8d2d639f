"""The output of `dogana replay --bot`: a bot's answers to the questions in a record."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from referee.commands.output import err, out, print_json, styled
from referee.errors import DoganaError
from referee.game import Action, Seat, label
from referee.live.matches.again import Reaction, ask_again
from referee.live.matches.play import Command
from referee.live.seats.command import AgentProcess
from referee.live.seats.orphans import adopt_orphans
from referee.records.past_decisions import DecisionEnd, PastDecision, past_decisions
from referee.records.verify import Replay
from referee.registry import find

_CLOSED = {
    DecisionEnd.TIMEOUT: "no answer in time",
    DecisionEnd.WINDOW: "no answer before the timer was over",
    DecisionEnd.OVERTAKEN: "no answer before others had overtaken it",
}


class AskError(DoganaError):
    """The options name a seat or decision that the record does not contain, or need a terminal where there is none."""


def read_decisions(file: Path, seat: Seat, first: int) -> tuple[Replay, Sequence[PastDecision]]:
    """Verify a record; return it with the decisions of a seat, from decision `first` on.

    Raises:
        RecordError: if the record is not valid.
        AskError: if there is no such seat, or no such decision.
    """
    record, decisions = past_decisions(file, find, seat)
    if seat >= record.plan.setup.seats:
        raise AskError(f"there is no seat {seat}; the seats are 0 to {record.plan.setup.seats - 1}")
    if not decisions:
        raise AskError(f"{file}: seat {seat} was not asked anything")
    if first > len(decisions):
        raise AskError(f"{file}: seat {seat} was asked for {len(decisions)} decisions; there is no decision {first}")
    return record, decisions[first - 1 :]


def ask_bot(
    command: Sequence[str],
    record: Replay,
    decisions: Sequence[PastDecision],
    player: Command,
    *,
    with_clock: bool,
    attach: bool,
    as_json: bool,
) -> bool:
    """Ask a bot for the decisions of one seat, and print a line for each; return True if all answers match the record.

    `command` is the command that shows the record, without options.

    Raises:
        StartFailed: if the bot does not start or join.
        MatchVoid: if the bot's box cannot be built.
    """
    assert record.result is not None  # noqa: S101 it was played to its end
    seat = decisions[0].question.seat
    same = shorter = 0
    other: PastDecision | None = None

    def tell(decision: PastDecision, answer: Reaction) -> None:
        nonlocal same, shorter, other
        same += answer.is_same
        shorter += answer.is_shorter
        if not answer.is_same:
            other = other or decision
        if as_json:
            print_json(_document(decision, answer))
        else:
            _print(decision, answer)

    async def ready(process: AgentProcess) -> None:
        if attach:
            await _wait_for_enter(process)

    if not as_json:
        plan = record.plan
        out.print(
            f"{plan.game.title}, match {plan.match_id}: seat {seat}, {plan.bots[seat]}, is asked again", soft_wrap=True
        )
    # This comes before the bot starts, so that processes that it detaches become ours and end with it.
    adopt_orphans()
    last_words = asyncio.run(
        ask_again(record.plan, record.result, decisions, player, with_clock=with_clock, ready=ready, tell=tell)
    )
    if last_words.strip() and not as_json:
        out.print("at the end it wrote:")
        _print_log(last_words)
    if not as_json:
        part = f", {shorter} of them in part" if shorter else ""
        out.print(f"{same} of {len(decisions)} decisions the same{part}{_where(command, other)}", soft_wrap=True)
    return same == len(decisions)


async def _wait_for_enter(process: AgentProcess) -> None:
    """Print the bot's process id, and wait until the user presses Enter or standard input ends.

    Raises:
        AskError: if standard input is closed, or is a file.
    """
    agent = process.agent
    if agent is None:
        return  # it has ended; the first decision reports that
    if sys.stdin is None:
        raise AskError("--attach waits for Enter, but standard input is closed; leave it to the terminal")
    loop = asyncio.get_running_loop()
    pressed: asyncio.Future[None] = loop.create_future()
    try:
        # `input` would stop the loop, which has to go on reading the bot's output. epoll refuses files.
        loop.add_reader(sys.stdin.fileno(), lambda: _press(pressed))
    except OSError as error:
        raise AskError("--attach waits for Enter, but standard input is a file; leave it to the terminal") from error
    try:
        err.print(f"the bot is process {agent}; attach a debugger, then press Enter", soft_wrap=True)
        await pressed
        sys.stdin.readline()
    finally:
        loop.remove_reader(sys.stdin.fileno())


def _press(pressed: asyncio.Future[None]) -> None:
    if not pressed.done():
        pressed.set_result(None)


def _where(command: Sequence[str], other: PastDecision | None) -> str:
    """Name the first decision with a different answer, and the command that shows its position."""
    if other is None:
        return ""
    look = shlex.join([*command, "--at", str(other.at), "--as", str(other.question.seat)])
    return f"; first other answer at step {other.step}: {look}"


def _print(decision: PastDecision, answer: Reaction) -> None:
    number = f"{decision.question.number:4}  step {decision.step:<4} "
    if answer.is_same:
        verdict: str | tuple[str, str] = ("same  ", "green")
        now = f"; now only {_labels(answer.actions)}" if answer.is_shorter else ""
    else:
        verdict = ("OTHER ", "yellow")
        now = f"; now {_now(answer)}"
    out.print(styled(number, verdict, _then(decision), now, f"  ({_times(decision, answer)})"), soft_wrap=True)
    _print_log(answer.log)


def _then(decision: PastDecision) -> str:
    """Describe the outcome of a decision in the match."""
    refused = "".join(f"refused ({reason}), then " for reason in decision.refused)
    played = _labels([step.action for step in decision.played])
    if decision.fault is not None:
        return f"{refused}out, {decision.fault.outcome.value}: {decision.fault.detail}"
    closed = _CLOSED.get(decision.ending or DecisionEnd.ANSWERED)
    if closed is None:
        return refused + played
    return f"{refused}{closed}" + (f", default {played}" if played else "")


def _now(answer: Reaction) -> str:
    """Describe the agent's answer in this run."""
    refused = "".join(f"refused ({reason}), then " for reason in answer.refused)
    if answer.actions:
        return refused + _labels(answer.actions) + (", which would have lost on time" if answer.is_late else "")
    if answer.fault is not None:
        return f"{refused}it fails, {answer.fault.outcome.value}: {answer.fault.detail}"
    if answer.is_late:
        return f"{refused}no answer: it would have lost on time"
    return f"{refused}it would have been out"


def _times(decision: PastDecision, answer: Reaction) -> str:
    then = "-" if decision.seconds is None else f"{decision.seconds:.3f} s"
    now = "-" if answer.seconds is None else f"{answer.seconds:.3f} s"
    return f"then {then}, now {now}"


def _labels(actions: Sequence[Action]) -> str:
    return " ".join(map(label, actions))


def _print_log(log: str) -> None:
    for line in log.splitlines():
        out.print(f"      | {line}", style="dim", soft_wrap=True)


def _document(decision: PastDecision, answer: Reaction) -> dict[str, Any]:
    return {
        "decision": decision.question.number,
        "step": decision.step,
        "at": decision.at,
        "same": answer.is_same,
        "shorter": answer.is_shorter,
        "then": {
            "ending": (decision.ending or DecisionEnd.ANSWERED).value,
            "played": [label(step.action) for step in decision.played],
            "refused": decision.refused,
            "fault": None if decision.fault is None else decision.fault.outcome.value,
            "detail": "" if decision.fault is None else decision.fault.detail,
            "ms": None if decision.seconds is None else round(decision.seconds * 1000, 3),
        },
        "now": {
            "answer": [label(action) for action in answer.actions],
            "refused": list(answer.refused),
            "late": answer.is_late,
            "fault": None if answer.fault is None else answer.fault.outcome.value,
            "detail": "" if answer.fault is None else answer.fault.detail,
            "ms": None if answer.seconds is None else round(answer.seconds * 1000, 3),
            "log": answer.log,
        },
    }
