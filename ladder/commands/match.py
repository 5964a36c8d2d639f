"""`dogana ladder match`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.archive.faults import LostDecision
from ladder.archive.retention import PRUNED_REMARK, by_retention
from ladder.commands.options import AsJson
from ladder.commands.tables import table
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.match import MatchAnswer, MatchRequest, first_rated
from ladder.questions.question import document
from referee.commands.output import err, out, print_json
from referee.match.result import Outcome

MAX_LEGAL = 30
"""The maximum number of legal actions in the list for a lost decision; `--json` prints all."""


def match(
    beginning: Annotated[str, typer.Argument(help="A match; the beginning of its id is enough.", metavar="MATCH")],
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the course of a match for each seat.

    If a seat was put out, it shows the reason, and the decision at which it happened.

    For that decision it shows the seat's observation, its legal actions, and the reasons for refusing its answers. For
    this, it replays the record; the exit status is 1 if the record is missing or does not hold, unless it was pruned.

    Examples:

      dogana ladder match 3f09

      dogana ladder match 3f09 --json
    """
    where = Where.chosen(home, server)
    found = where.ask(MatchRequest(match=beginning))
    if as_json:
        print_json(document(found))
    else:
        _print(where, found)
    if found.problem:
        err.print(f"dogana: the record cannot be played again: {found.problem}", soft_wrap=True)
        raise typer.Exit(1)


def _print(where: Where, found: MatchAnswer) -> None:
    what = f": {found.condition.game} ({found.condition.terms})" if found.condition is not None else ""
    out.print(f"match {found.match}{what}; it {found.status}", soft_wrap=True)
    for reason in found.voids:
        out.print(f"void: {reason}", soft_wrap=True)
    if found.seats:
        _print_seats(found)
    else:
        for seat, bot in enumerate(found.bots):
            out.print(f"seat {seat}: {bot}", soft_wrap=True)
    for blame in found.blames:
        what = "out" if blame.is_out else "strike"
        rule = f" ({blame.rule})" if blame.rule else ""
        who = f"seat {blame.seat}, {found.bots[blame.seat]}"
        out.print(f"after {blame.at} actions: {who}: {what}, {blame.reason}: {blame.detail}{rule}", soft_wrap=True)
    for lost in found.lost_decisions:
        _print_lost(found, lost)
    _print_where(where, found)


def _print_seats(found: MatchAnswer) -> None:
    heads = ("place", "seat", "bot", "score", "seconds", "longest", "after", "")
    listed = table(*heads, numbers={*heads} - {"bot", ""}, whole={""})
    for one in sorted(found.seats, key=lambda one: (one.rank, one.seat)):
        longest = (f"{one.longest.seconds:.3f}", str(one.longest.at)) if one.longest is not None else ("-", "-")
        listed.add_row(
            str(one.rank),
            str(one.seat),
            one.bot,
            str(one.score),
            f"{one.think_ms / 1000:.3f}",
            *longest,
            "" if one.outcome == Outcome.PLAYED.value else f"out: {one.outcome}",
        )
    out.print(listed)
    out.print("seconds: charged in all; longest: for one decision, and after how many actions it came", style="dim")
    _print_reasons(found)
    for one in found.seats:
        if one.usage is not None:
            out.print(f"seat {one.seat}, {one.bot}, used {one.usage}", soft_wrap=True)
        if one.telemetry:
            said = ", ".join(f"{said.key} {said.mean:,.6g}" for said in one.telemetry)
            out.print(f"seat {one.seat}, {one.bot}, said on average: {said}", soft_wrap=True)


def _print_reasons(found: MatchAnswer) -> None:
    """Print the reason for each rating change, which depends on all matches in the block, not just on this one."""
    own = next((one for one in found.block if one.match == found.match), None)
    for reason in found.reasons:
        change = None if own is None else own.seats[reason.seat].block_change
        where = "in this match" if reason.matches == 1 else f"in the {reason.matches} matches of this seed"
        out.print(
            f"seat {reason.seat}, {found.bots[reason.seat]}, beat {reason.beaten:.0%} of its rivals {where};"
            f" the ratings before predicted {reason.expected:.0%}" + ("" if change is None else f": mu {change:+.2f}"),
            soft_wrap=True,
        )
    if newcomers := [f"{found.bots[seat]} (seat {seat})" for seat in first_rated(found)]:
        out.print(
            f"it is the first rated block of {', '.join(newcomers)}, so no ratings before it predicted a result",
            soft_wrap=True,
        )


def _print_lost(found: MatchAnswer, lost: LostDecision) -> None:
    out.print()
    out.print(f"seat {lost.seat}, {found.bots[lost.seat]}, was put out after {lost.at} actions. It knew:", style="bold")
    for line in lost.observation:
        out.print(f"  {line}", soft_wrap=True)
    if lost.legal:
        more = f", and {len(lost.legal) - MAX_LEGAL} more" if len(lost.legal) > MAX_LEGAL else ""
        out.print(f"it could: {', '.join(lost.legal[:MAX_LEGAL])}{more}", soft_wrap=True)
    else:
        out.print("it was not its turn")
    for reason in lost.refused:
        out.print(f"its answer was refused: {reason}", soft_wrap=True)
    if not lost.refused:
        out.print(f"it gave no answer: {lost.fault}", soft_wrap=True)


def _print_where(where: Where, found: MatchAnswer) -> None:
    if found.pruned_at:
        out.print(f"{by_retention('its record was', found.pruned_at)}; {PRUNED_REMARK}", soft_wrap=True)
    if not (found.is_recorded or found.logs):
        return
    out.print()
    if found.is_recorded:
        to = f"{found.match}.jsonl.zst"
        out.print(f"get its record: {where.command('record', found.match, '--to', to)}", soft_wrap=True)
    out.print("look further:")
    if found.is_recorded:
        out.print("  " + where.command("replay", found.match, "--html", f"{found.match}.html"), soft_wrap=True)
        lost = {decision.seat: decision.at for decision in found.lost_decisions}
        for one in found.seats:
            # The winner's view does not explain a defeat.
            if one.rank > 1 or one.seat in lost:
                at = ["--at", lost[one.seat]] if one.seat in lost else []
                out.print("  " + where.command("replay", found.match, *at, "--as", one.seat), soft_wrap=True)
    for log in found.logs:
        out.print("  " + where.command("log", found.match, log.seat), soft_wrap=True)
    if found.is_recorded and found.logs:
        out.print("ask your bot again:")
        for log in found.logs:
            again = where.command("replay", found.match, "--as", log.seat, "--bot", "PATH")
            out.print(f"  {again}", soft_wrap=True)
    if found.moment:
        out.print(f"and look at {found.moment}", soft_wrap=True)
