"""`dogana replay`: show a record, or put its questions to a bot again. It takes bots as `dogana ladder submit` does."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.commands.again import AskError, ask_bot, read_decisions
from referee.commands.options import (
    CpusOption,
    ForceOption,
    MemoryOption,
    RuntimeOption,
    TasksOption,
    read_limits,
)
from referee.commands.output import err, target
from referee.commands.replay import Views, show
from referee.commands.seats import Hold, read_bot
from referee.sandbox.measures import build_sandbox
from referee.sandbox.system import IS_LINUX, LEAVE_OUT


class Clock(Enum):
    """The time limit for a bot's answers to repeated questions."""

    NONE = "none"
    SAME = "same"


def replay(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A record.", metavar="FILE")],
    **options: Any,
) -> None:
    """Show a record step by step, or ask a bot about it.

    Every step is replayed under the rules. An incomplete or invalid record is shown up to the fault; the
    exit status is then 1.

    With --bot, a bot gets the questions of a seat in the match again, and its answers are compared. Whatever it answers, the
    actions of the record are played. On macOS it runs unconfined. The exit status is 0 if all answers are the same, and 1 if one
    is not or the bot fails.

    Examples:

      dogana replay match.jsonl

      dogana replay match.jsonl --html match.html

      dogana replay match.jsonl --as 1 --svg pictures

      dogana replay match.jsonl --at 40 --json > position.json

      dogana replay match.jsonl --as 1 --bot mybot.py

      dogana replay match.jsonl --as 1 --bot cmd:'python mybot.py' --unconfined --decision 12
    """
    look_at(["dogana", "replay", str(file)], file, hold=context.with_resource, **options)


def look_at(
    command: Sequence[str],
    file: Path,
    *,
    hold: Hold,
    viewer: Annotated[
        int | None,
        typer.Option("--as", help="Show what this seat knew; with --bot: ask as this seat.", metavar="SEAT", min=0),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw every step into this folder.", metavar="PATH", parser=target)
    ] = None,
    at: Annotated[
        int | None, typer.Option(help="Show only the position after this many actions.", metavar="NUMBER", min=0)
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="With --at: print the position as JSON. Otherwise: a JSON object for each step, or with --bot for each decision.",
        ),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page to look at in a browser, without a network.", metavar="FILE", parser=target),
    ] = None,
    views: Annotated[
        Views | None,
        typer.Option(
            help="With --html: show the views of spectators and all seats, or only those of spectators.",
            show_default="all; public if the record does not reveal its seed",
        ),
    ] = None,
    force: ForceOption = False,
    bot: Annotated[
        str | None,
        typer.Option(
            help="Ask this bot the questions of the seat named by --as: the path of a bot, or cmd:'COMMAND'.",
            metavar="PATH",
        ),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(
            "--decision",
            help="With --bot: begin with this decision of the seat.",
            metavar="NUMBER",
            min=1,
            show_default="1",
        ),
    ] = None,
    clock: Annotated[
        Clock | None,
        typer.Option("--time", help="With --bot: no time limit, or the original one of the seat.", show_default="none"),
    ] = None,
    attach: Annotated[
        bool, typer.Option("--attach", help="With --bot: delay the first question until you press Enter.")
    ] = False,
    unconfined: Annotated[
        bool,
        typer.Option("--unconfined", help="With --bot: run it with your rights, not in the sandbox of a ladder."),
    ] = False,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    runtime: RuntimeOption = None,
) -> None:
    """Carry out `replay` with the given options.

    `command` is the command line for this record, without options; `hold` owns the bot's resources until the command ends.
    """
    limits = (memory, tasks, cpus, runtime)
    if bot is None:
        if (first, clock, attach, unconfined, *limits) != (None, None, False, False, None, None, None, None):
            raise AskError(
                "--decision, --time, --attach, --unconfined, --memory, --tasks, --cpus and --runtime go with --bot"
            )
        show(file, viewer=viewer, svg=svg, at=at, html=html, views=views, force=force, as_json=as_json)
        return
    if viewer is None:
        raise AskError("--bot needs --as SEAT: the seat whose questions are put to it")
    if (svg, at, html, views, force) != (None, None, None, None, False):
        raise AskError("--svg, --at, --html, --views and --force show a record; leave them out, or --bot")
    unconfined = unconfined or not IS_LINUX
    if unconfined and limits != (None, None, None, None):
        raise AskError(f"--memory, --tasks, --cpus and --runtime are for the sandbox; {LEAVE_OUT}")
    record, decisions = read_decisions(file, viewer, first or 1)
    sandbox = None
    if not unconfined:
        limited = read_limits(memory, tasks, cpus)
        sandbox = build_sandbox(limited, runtime or [], "give --unconfined, if you trust the bot")
    if sandbox is None:
        err.print("the bot runs unconfined: with your rights on this machine", style="yellow")
    player = read_bot(bot, record.plan.game, None, sandbox, runtime or [], hold)
    all_same = ask_bot(
        command, record, decisions, player, with_clock=clock is Clock.SAME, attach=attach, as_json=as_json
    )
    raise typer.Exit(0 if all_same else 1)


OPTIONS = [
    one.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
    # Annotations are strings here (`from __future__`), but typer needs their values.
    for one in inspect.signature(look_at, eval_str=True).parameters.values()
    if one.default is not one.empty
]
"""The options of `replay`, as parameters of a command."""
_context, _file, _ = inspect.signature(replay, eval_str=True).parameters.values()
replay.__signature__ = inspect.Signature([_context, _file, *OPTIONS])  # type: ignore[attr-defined]  # typer reads it
