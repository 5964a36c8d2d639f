"""`dogana ladder run`."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.progress import Progress

from ladder.commands.options import HomeOption
from ladder.condition import agree
from ladder.errors import LadderError
from ladder.home import Home
from ladder.pool import JOIN_SECONDS
from ladder.running import RunPlan
from ladder.running import run as play
from ladder.store import Store
from referee.commands.options import (
    DEFAULT_CLOCK,
    ClockOption,
    CpusOption,
    GameOptions,
    MemoryOption,
    NoPonderingOption,
    TasksOption,
    read_clock,
    read_limits,
    read_options,
)
from referee.commands.output import err, out
from referee.registry import find
from referee.sandbox.box import CannotIsolate, Sandbox
from referee.sandbox.limits import Limits
from referee.sandbox.walls import build


def run(
    home: HomeOption,
    game: Annotated[list[str], typer.Option(help="The game; several, taken in turn, if it is given several times.")],
    matches: Annotated[
        int, typer.Option(help="Play at least this many matches, in whole blocks.", min=1, max=1_000_000)
    ],
    workers: Annotated[int, typer.Option(help="How many matches to play at a time.", min=1, max=256)] = os.cpu_count()
    or 1,
    clock: ClockOption = DEFAULT_CLOCK,
    option: GameOptions = None,
    seats: Annotated[
        int | None, typer.Option(help="Play with this number of seats only.", show_default="all the game has", min=1)
    ] = None,
    wait: Annotated[
        float, typer.Option(help="How long bots may take to join, in seconds.", min=1, max=3600)
    ] = JOIN_SECONDS,
    same_author: Annotated[bool, typer.Option("--same-author", help="Let bots of one author meet.")] = False,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    no_pondering: NoPonderingOption = False,
    unconfined: Annotated[
        bool, typer.Option("--unconfined", help="Run submitted bots with your rights on this machine.")
    ] = False,
) -> None:
    """Play matches among the submitted bots and the house bots, and rate them.

    A block is one seed, played in every rotation of the seats. Game, options and clock are the condition of a standing:
    results under another condition change nothing in it, and a bot qualifies for each. The next run under the same
    condition takes up what an interrupted one has left.

    Each bot runs behind walls: it sees its own files and the usual programs, has no network, and leaves nothing behind;
    `dogana doctor` tells what this machine can enforce. Runtimes that are not among the usual programs are offered by a link
    in the folder `runtimes` of the ladder.

    Examples:

      dogana ladder run --game cargo_noir --matches 100

      dogana ladder run --game cargo_noir --game yunnan --matches 200 --workers 4 --memory 1024

      dogana ladder run --game cargo_noir --matches 50 --seats 3 --clock 600+5/60 --option last_turn=6
    """
    control, options = read_clock(clock), read_options(option or [])
    if options and len(set(game)) > 1:
        raise LadderError("options are those of one game; run each game by itself, or leave out --option")
    chosen = [agree(find(name), options, seats) for name in dict.fromkeys(game)]
    limits = read_limits(memory, tasks, cpus, no_pondering=no_pondering)
    place = Home(home)
    with Store(place.database, create=False) as store, Progress(console=err, transient=True) as progress:
        sandbox = confine(limits, place, unconfined=unconfined)
        bar = progress.add_task(f"{' and '.join(one.game.title for one in chosen)} matches", total=matches)
        plan = RunPlan(chosen, matches, workers, control, wait, same_author=same_author, sandbox=sandbox)
        for step in play(place, store, plan):
            if step.text:
                progress.console.print(step.text, markup=False, soft_wrap=True)
            if step.planned:
                progress.update(bar, completed=step.played, total=step.planned)
            played = step.played
    names = chosen[0].game.name if len(chosen) == 1 else ""
    out.print(f"{played} matches played; look at the standings: dogana ladder top {names}".rstrip(), markup=False)


def confine(limits: Limits, home: Home, *, unconfined: bool) -> Sandbox | None:
    """Return what confines bots, and say what they may do; None if they are to run with the rights of this process.

    Raises:
        LadderError: if limits were chosen that nothing would enforce, or this machine cannot confine bots.
    """
    if unconfined:
        if limits != Limits():
            raise LadderError(
                "--memory, --tasks, --cpus and --no-pondering are enforced by walls; leave out --unconfined"
            )
        err.print("bots run unconfined: with your rights on this machine", style="yellow")
        return None
    try:
        sandbox = build(limits, home.runtimes())
    except CannotIsolate as error:
        raise LadderError(f"{error}; or say --unconfined if you trust all bots") from error
    err.print(f"each bot has {sandbox.limits}", soft_wrap=True)
    for loss in sandbox.losses():
        err.print(loss, style="yellow", soft_wrap=True)
    return sandbox
