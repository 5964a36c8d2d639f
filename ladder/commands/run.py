"""`dogana ladder run`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.progress import Progress

from ladder.commands.options import (
    DEFAULT_WORKERS,
    MAX_WORKERS,
    SEARCH_SHARE,
    HomeOption,
    JoinOption,
    SameAuthorOption,
    SearchShareOption,
    UnconfinedOption,
    WorkersOption,
)
from ladder.commands.where import Where
from ladder.facts.store import Store
from ladder.model.condition import agree
from ladder.model.match import JOIN_SECONDS, Match
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.play.cluster_pool import ladder_crew
from ladder.play.running import RunPlan, only_run, run_locked
from referee.commands.options import (
    DEFAULT_CLOCK,
    ClockOption,
    CpusOption,
    GameOptions,
    MemoryOption,
    NoPonderingOption,
    OpeningsOption,
    RayOption,
    TasksOption,
    read_clock,
    read_limits,
    read_options,
    with_openings,
)
from referee.commands.output import err, out
from referee.live.matches.cluster import Crew
from referee.registry import find
from referee.sandbox.box import Sandbox
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build_sandbox
from referee.terminal import counted


def run(
    home: HomeOption,
    game: Annotated[
        list[str], typer.Option(help="The game; may be given several times, and the games alternate.", metavar="GAME")
    ],
    matches: Annotated[
        int,
        typer.Option(help="Play at least this many matches, in whole blocks.", min=1, max=1_000_000, metavar="NUMBER"),
    ],
    workers: WorkersOption = None,
    clock: ClockOption = DEFAULT_CLOCK,
    option: GameOptions = None,
    openings: OpeningsOption = None,
    seats: Annotated[
        int | None,
        typer.Option(
            help="Play with this number of seats only.", show_default="all the game has", min=1, metavar="NUMBER"
        ),
    ] = None,
    wait: JoinOption = JOIN_SECONDS,
    same_author: SameAuthorOption = False,
    search_share: SearchShareOption = SEARCH_SHARE,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    no_pondering: NoPonderingOption = False,
    unconfined: UnconfinedOption = False,
    ray: RayOption = None,
) -> None:
    """Play matches among the bots of the ladder, and rate them.

    Submitted bots and house bots take part.

    A block plays one seed in every rotation of the seats. Game, options and clock are the condition of a standing:
    results under another condition change nothing in it, and a bot qualifies for each. The next run under the same
    condition finishes the matches of an interrupted one.

    Each bot runs in a sandbox: it sees its own files and the usual programs, has no network, and leaves nothing behind;
    `dogana doctor` reports what this machine can enforce. To offer other runtimes, link them in the ladder's `runtimes`
    folder.

    Examples:

      dogana ladder run --game cargo_noir --matches 100

      dogana ladder run --game cargo_noir --game yunnan --matches 200 --workers 4 --memory 1024

      dogana ladder run --game cargo_noir --matches 50 --seats 3 --clock 600+5/60 --option last_turn=6

      dogana ladder run --game cargo_noir --matches 5000 --ray auto
    """
    control = read_clock(clock)
    if option and len(set(game)) > 1:
        raise LadderError("options belong to one game; run each game by itself, or leave out --option")
    options = read_options(with_openings(option or [], openings))
    # A game that is named twice counts once.
    chosen = [agree(find(name), options, seats) for name in dict.fromkeys(game)]
    place, where = Home(home), Where(home, None)
    limits = chosen_limits(memory, tasks, cpus, no_pondering=no_pondering, unconfined=unconfined)

    def say(text: str, *, is_warning: bool = True) -> None:
        err.print(text, style="yellow" if is_warning else None, markup=False, soft_wrap=True)

    with (
        Store(place.database, create=False) as store,
        # Before the sandbox or the cluster, which take seconds to prepare.
        only_run(place, store),
        working(ray, place, workers, limits, wait, say) as (crew, sandbox),
        # Standard output is reserved for the result.
        Progress(console=err, transient=True) as progress,
    ):
        for text, is_warning in isolation_report(limits, sandbox):
            say(text, is_warning=is_warning)
        bar = progress.add_task(f"{' and '.join(one.game.title for one in chosen)} matches", total=matches)
        plan = RunPlan(
            chosen,
            matches,
            workers or DEFAULT_WORKERS,
            control,
            wait,
            same_author=same_author,
            search_share=search_share,
            sandbox=sandbox,
            crew=crew,
        )
        played = 0
        try:
            for step in run_locked(place, store, plan):
                if text := step.remark.text:
                    log = f" (its log: {where.command('log', step.remark.log)})" if step.remark.log else ""
                    progress.console.print(f"{text}{log}", markup=False, soft_wrap=True)
                if step.planned:
                    progress.update(bar, completed=step.played, total=step.planned)
                played = step.played
        except KeyboardInterrupt:
            say(
                f"{counted(played, 'match', 'matches')} played, which count; the same command goes on", is_warning=False
            )
            raise
    names = [chosen[0].game.name] if len(chosen) == 1 else []
    standings = where.command("top", *names)
    out.print(
        f"{counted(played, 'match', 'matches')} played, in whole blocks; look at the standings: {standings}",
        markup=False,
        soft_wrap=True,
    )


@contextmanager
def working(
    ray: str | None,
    home: Home,
    workers: int | None,
    limits: ResourceLimits | None,
    wait: float,
    tell: Callable[[str], None],
) -> Iterator[tuple[Crew[Match] | None, Sandbox | None]]:
    """Provide the slots of a cluster or, without one, the sandbox of this machine, for the matches of a run.

    Raises:
        ClusterError: if the requested cluster cannot play.
        CannotIsolate: if this machine cannot confine bots.
        LadderError: if there are too many workers.
    """
    if ray is not None:
        with ladder_crew(ray, home, workers, limits, wait, tell) as crew:
            yield crew, None
        return
    if (workers or 0) > MAX_WORKERS:
        raise LadderError(f"this machine plays at most {MAX_WORKERS} matches at a time; lower --workers, or see --ray")
    yield None, confine(home, limits)


def chosen_limits(
    memory: int | None, tasks: int | None, cpus: float | None, *, no_pondering: bool, unconfined: bool
) -> ResourceLimits | None:
    """Return the limits of each bot; None if bots run with the rights of this process.

    Raises:
        LadderError: if limits were chosen that could not be enforced.
    """
    if not unconfined:
        return read_limits(memory, tasks, cpus, no_pondering=no_pondering)
    if (memory, tasks, cpus, no_pondering) != (None, None, None, False):
        raise LadderError(
            "--memory, --tasks, --cpus and --no-pondering are enforced by the sandbox; leave out --unconfined"
        )
    return None


def confine(home: Home, limits: ResourceLimits | None) -> Sandbox | None:
    """Return a sandbox with these limits; None if there are no limits.

    Raises:
        CannotIsolate: if this machine cannot confine bots.
    """
    if limits is None:
        return None
    return build_sandbox(limits, home.runtimes(), "say --unconfined if you trust all bots")


def isolation_report(limits: ResourceLimits | None, sandbox: Sandbox | None) -> Iterator[tuple[str, bool]]:
    """Yield descriptions of the bots' isolation, each with True if it is a warning."""
    if limits is None:
        yield "bots run unconfined: with your rights on this machine", True
        return
    yield f"each bot has {limits}", False
    for loss in () if sandbox is None else sandbox.losses():
        yield loss, True
