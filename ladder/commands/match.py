"""`dogana ladder match`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ladder.chronicle import Chronicle
from ladder.commands.options import AsJson, HomeOption, ladder_command
from ladder.commands.tables import table
from ladder.faults import LostDecision
from ladder.home import Home
from ladder.traces import MatchTraces, find_match, traces_of
from referee.commands.output import err, out, print_json
from referee.match.result import Outcome

MAX_LEGAL = 30
"""How many legal actions of a lost decision are listed; `--json` lists all."""


def match(
    beginning: Annotated[str, typer.Argument(help="A match; the beginning of its id is enough.", metavar="MATCH")],
    home: HomeOption,
    as_json: AsJson = False,
) -> None:
    """Show how a match went for each seat, who was put out and why, and the decision at which it happened.

    Of that decision it shows what the seat knew, what it could do, and why its answers were refused. The record is played
    again for this; the exit status is 1 if there is none, or it does not hold.

    Examples:

      dogana ladder match 3f09

      dogana ladder match 3f09 --json
    """
    place = Home(home)
    with Chronicle(place.database, create=False) as chronicle, chronicle.reading():
        found = traces_of(place, chronicle, find_match(place, chronicle, beginning))
    if as_json:
        print_json(_document(found))
    else:
        _print(home, found)
    if found.problem:
        err.print(f"dogana: the record cannot be played again: {found.problem}", soft_wrap=True)
        raise typer.Exit(1)


def _document(found: MatchTraces) -> dict[str, Any]:
    blames, lost = ((), ()) if found.account is None else (found.account.blames, found.account.lost)
    return {
        "match": found.match_id,
        "game": None if found.condition is None else found.condition.game,
        "options": None if found.condition is None else dict(found.condition.options),
        "clock": None if found.condition is None else found.condition.clock,
        "status": found.status,
        "bots": list(found.bots),
        "seats": [
            {
                "seat": seat,
                "bot": one.bot,
                "rank": one.rank,
                "score": one.score,
                "outcome": one.outcome.value,
                "detail": one.detail,
                "decisions": one.decisions,
                "think_ms": one.think_ms,
                "longest": None if one.longest is None else asdict(one.longest),
                "usage": None if one.usage is None else asdict(one.usage),
            }
            for seat, one in enumerate(found.seats)
        ],
        "blames": [asdict(blame) for blame in blames],
        "lost_decisions": [asdict(decision) for decision in lost],
        "voids": list(found.voids),
        "record": None if found.record is None else str(found.record),
        "moment": None if found.account is None else f"{found.match_id}.html{found.account.moment}",
        "logs": {log.seat: str(log.path) for log in found.logs},
        "problem": found.problem,
    }


def _print(home: Path, found: MatchTraces) -> None:
    what = "" if found.condition is None else f": {found.condition.game} ({found.condition.terms})"
    out.print(f"match {found.match_id}{what}; it {found.status}", soft_wrap=True)
    for reason in found.voids:
        out.print(f"void: {reason}", soft_wrap=True)
    if found.seats:
        _print_seats(found)
    else:
        for seat, bot in enumerate(found.bots):
            out.print(f"seat {seat}: {bot}", soft_wrap=True)
    if found.account is not None:
        for blame in found.account.blames:
            what = "out" if blame.is_out else "strike"
            rule = f" ({blame.rule})" if blame.rule else ""
            who = f"seat {blame.seat}, {found.bots[blame.seat]}"
            out.print(f"after {blame.at} actions: {who}: {what}, {blame.reason}: {blame.detail}{rule}", soft_wrap=True)
        for lost in found.account.lost:
            _print_lost(found, lost)
    _print_where(home, found)


def _print_seats(found: MatchTraces) -> None:
    heads = ("place", "seat", "bot", "score", "seconds", "longest", "after", "")
    listed = table(*heads, numbers={*heads} - {"bot", ""}, whole={""})
    for seat, one in sorted(enumerate(found.seats), key=lambda entry: (entry[1].rank, entry[0])):
        listed.add_row(
            str(one.rank),
            str(seat),
            one.bot,
            str(one.score),
            f"{one.think_ms / 1000:.3f}",
            *(("-", "-") if one.longest is None else (f"{one.longest.seconds:.3f}", str(one.longest.at))),
            "" if one.outcome is Outcome.PLAYED else f"out: {one.outcome.value}",
        )
    out.print(listed)
    out.print("seconds: charged in all; longest: for one decision, and after how many actions it came", style="dim")
    for seat, one in enumerate(found.seats):
        if one.usage is not None:
            out.print(f"seat {seat}, {one.bot}, used {one.usage}", soft_wrap=True)


def _print_lost(found: MatchTraces, lost: LostDecision) -> None:
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


def _print_where(home: Path, found: MatchTraces) -> None:
    out.print()
    if found.record is not None:
        out.print(f"record: {found.record}", soft_wrap=True)
    for log in found.logs:
        out.print(f"log of seat {log.seat}: {log.path}", soft_wrap=True)
    out.print("look further:")
    if found.record is not None:
        page = shlex.join(["dogana", "replay", str(found.record), "--html", f"{found.match_id}.html"])
        out.print(f"  {page}", soft_wrap=True)
        lost = {decision.seat: decision.at for decision in found.account.lost} if found.account is not None else {}
        for seat, one in enumerate(found.seats):
            if one.rank > 1 or seat in lost:
                at = ["--at", str(lost[seat])] if seat in lost else []
                out.print(
                    "  " + shlex.join(["dogana", "replay", str(found.record), *at, "--as", str(seat)]), soft_wrap=True
                )
    for log in found.logs:
        out.print("  " + ladder_command(home, "log", found.match_id, log.seat), soft_wrap=True)
    if found.record is not None and found.logs:
        out.print("ask your bot again:")
        for log in found.logs:
            ask = shlex.join(["dogana", "replay", str(found.record), "--as", str(log.seat), "--bot", "PATH"])
            out.print(f"  {ask}", soft_wrap=True)
    if found.account is not None:
        out.print(f"and look at {found.match_id}.html{found.account.moment}", soft_wrap=True)
