"""`dogana ladder run`."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.progress import Progress

from ladder.commands.options import HomeOption
from ladder.condition import DEFAULT_CLOCK
from ladder.errors import LadderError
from ladder.home import Home
from ladder.running import RunPlan
from ladder.running import run as play
from ladder.store import Store
from referee.commands.output import err, out
from referee.match.clock import TimeControl
from referee.registry import find


def run(
    home: HomeOption,
    game: Annotated[list[str], typer.Option(help="The game; several, taken in turn, if it is given several times.")],
    matches: Annotated[
        int, typer.Option(help="Play at least this many matches, in whole blocks.", min=1, max=1_000_000)
    ],
    workers: Annotated[int, typer.Option(help="How many matches to play at a time.", min=1, max=256)] = os.cpu_count()
    or 1,
    clock: Annotated[str, typer.Option(help="bank+increment/cap in seconds, for each seat.")] = DEFAULT_CLOCK,
    same_author: Annotated[bool, typer.Option("--same-author", help="Let bots of one author meet.")] = False,
    unconfined: Annotated[
        bool, typer.Option("--unconfined", help="Run submitted bots with your rights on this machine.")
    ] = False,
) -> None:
    """Play matches among the submitted bots and the house bots, and rate them.

    A block is one seed, played in every rotation of the seats. The next run takes up what an interrupted one has left.

    Examples:

      dogana ladder run --game cargo_noir --matches 100 --unconfined

      dogana ladder run --game cargo_noir --game yunnan --matches 200 --workers 4 --unconfined
    """
    chosen = [find(name) for name in dict.fromkeys(game)]
    try:
        control = TimeControl.parse(clock)
    except ValueError as error:
        raise LadderError(str(error)) from error
    if not unconfined:
        raise LadderError(
            "submitted bots would run unconfined, with your rights on this machine; say --unconfined if you trust them all"
        )
    with Store(Home(home).database, create=False) as store, Progress(console=err, transient=True) as progress:
        progress.console.print("bots run unconfined: with your rights on this machine", style="yellow")
        bar = progress.add_task(f"{' and '.join(one.title for one in chosen)} matches", total=matches)
        plan = RunPlan(chosen, matches, workers, control, same_author=same_author)
        for step in play(Home(home), store, plan):
            if step.text:
                progress.console.print(step.text, markup=False, soft_wrap=True)
            if step.planned:
                progress.update(bar, completed=step.played, total=step.planned)
            played = step.played
    names = chosen[0].name if len(chosen) == 1 else ""
    out.print(f"{played} matches played; look at the standings: dogana ladder top {names}".rstrip(), markup=False)
