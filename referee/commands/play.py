"""`dogana play`: play matches on this machine."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Generator
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from referee.commands.bot_terms import BotTerms, check_travels, play_matches
from referee.commands.options import (
    CpusOption,
    ForceOption,
    GameOptions,
    IsolateOption,
    JoinOption,
    MatchClockOption,
    MatchWorkersOption,
    MemoryOption,
    NoPonderingOption,
    OpeningsOption,
    RayOption,
    ResumeOption,
    RuntimeOption,
    SeedOption,
    TasksOption,
    TlsCertificateOption,
    TlsKeyOption,
    read_clock,
    read_tls,
    with_openings,
)
from referee.commands.output import SEAT_OUT, err, out, print_json, target
from referee.commands.plan_file import remarking_interrupts
from referee.commands.seats import SEAT_HELP, read_player
from referee.commands.series_plan import PlayError, SeriesOptions, SeriesPlan, begin, go_on, read_plan, unfinished
from referee.commands.tally import SeriesStatistics
from referee.commands.watch import screen_beside
from referee.files import check_free, check_regular, make_folder, unused, write_file
from referee.game import Seat
from referee.live.matches.play import Remote, play_match
from referee.live.matches.series import FinishedMatch, Series, keep, unsaved
from referee.live.matches.server import Listen, RefereeServer
from referee.live.seats.orphans import adopt_orphans
from referee.match.result import Outcome
from referee.registry import find
from referee.terminal import counted


def play(
    context: typer.Context,
    game: Annotated[
        str | None,
        typer.Argument(
            help="The game; `dogana games` lists them. With --resume alone: the folder.",
            metavar="GAME",
            show_default=False,
        ),
    ] = None,
    seat: Annotated[
        list[str] | None,
        typer.Argument(help=f"The player in each seat: {SEAT_HELP}.", metavar="SEAT", show_default=False),
    ] = None,
    seed: SeedOption = None,
    option: GameOptions = None,
    openings: OpeningsOption = None,
    clock: MatchClockOption = None,
    games: Annotated[
        int | None,
        typer.Option(
            help="The number of matches; with --rotate, the number of seeds.",
            min=1,
            max=1_000_000,
            metavar="NUMBER",
            show_default="1",
        ),
    ] = None,
    rotate: Annotated[
        bool,
        typer.Option(
            "--rotate",
            help="Play each seed once in every rotation of the seats (a block): with 2 seats, --games 20 is 40 matches.",
        ),
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(help="Write the record to this file, or into this folder.", metavar="PATH", parser=target),
    ] = None,
    force: ForceOption = False,
    board: Annotated[Path | None, typer.Option(help="Play with a corrected board.toml.", metavar="FILE")] = None,
    start: Annotated[Path | None, typer.Option("--from", help="Start from a position.", metavar="FILE")] = None,
    logs: Annotated[
        Path | None,
        typer.Option(
            help="Keep the output of started agents, in a file for each seat.", metavar="FOLDER", parser=target
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show the match while it runs.")] = False,
    listen: Annotated[
        str | None,
        typer.Option(
            help="The address for remote agents and spectators.",
            show_default="127.0.0.1:0 if a seat is remote",
            metavar="HOST:PORT",
        ),
    ] = None,
    tls_cert: TlsCertificateOption = None,
    tls_key: TlsKeyOption = None,
    workers: MatchWorkersOption = None,
    resume: ResumeOption = False,
    wait: JoinOption = None,
    isolate: IsolateOption = False,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    no_pondering: NoPonderingOption = False,
    runtime: RuntimeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each match.")] = False,
    ray: RayOption = None,
) -> None:
    """Play matches between bots on this machine.

    A path leads to a bot, as in `dogana ladder submit`: a program, a .py, .js or .jar file, a folder, or an archive.
    The bot runs in its own folder; an archive, and any bot with --isolate, runs in a copy. The name of a house bot
    takes precedence over a file of the same name, which you can give as ./greedy.

    If a bot does not start, nothing is played. If it does not start in a later match of a series, it loses that match.

    The exit status is 0 if all seats played to the end, 3 if one was put out, 2 if the command line cannot be read, and
    1 if matches could not be played, for example because the game has no such option or number of seats.

    Examples:

      dogana play cargo_noir greedy random

      dogana play cargo_noir mybot.py greedy greedy --seed 7 --record match.jsonl

      dogana play cargo_noir ./mybot random --games 100 --rotate --json

      dogana play cargo_noir cmd:'./mybot --depth 3' greedy --watch

      dogana play venezia ./mybot greedy --games 500 --record matches

      dogana play --resume matches

      dogana play cargo_noir mybot greedy --isolate --memory 256

      dogana play venezia mybot.py greedy --games 10000 --isolate --ray auto

      dogana play cargo_noir greedy remote --listen 0.0.0.0:7777 --tls-cert cert.pem --tls-key key.pem
    """
    typed = SeriesOptions(
        game=game,
        seats=seat or [],
        options=with_openings(option or [], openings),
        board=board,
        start=start,
        clock=None if clock is None else str(read_clock(clock)),
        seed=seed,
        games=games,
        rotate=rotate,
        terms=BotTerms(wait, isolate, memory, tasks, cpus, no_pondering, [*map(str, runtime)] if runtime else None),
        logs=logs,
    )
    # With --resume alone, the first argument is the folder.
    if resume and record is None and game is not None and not typed.seats:
        record, typed = target(game), replace(typed, game=None)
    plan = _continued(typed, record) if resume else begin(typed)
    chosen, sandbox = find(plan.game), plan.sandbox(ray)
    players = [
        read_player(word, chosen, plan.wait, sandbox, plan.runtimes, ray, context.with_resource) for word in plan.seats
    ]
    series = plan.series(players, record if plan.count > 1 else None, resumes=resume)
    is_remote = any(isinstance(player, Remote) for player in players)
    if plan.count > 1 and is_remote:
        raise PlayError("a remote agent joins one match; leave out --games and --rotate")
    if plan.count > 1 and (watch or listen is not None):
        raise PlayError("--watch and --listen are for a single match; leave out --games and --rotate")
    if not is_remote and listen is None and (tls_cert, tls_key) != (None, None):
        raise PlayError("--tls-cert and --tls-key are for remote agents and watchers; add --listen, or leave them out")
    if watch and as_json:
        raise PlayError("--watch and --json both print the match; leave out one of them")
    if ray is not None:
        if plan.count == 1:
            raise PlayError("--ray is for a series of matches; add --games, or leave out --ray")
        check_travels(players, isolate=plan.isolate)
    if force and (record is None or plan.count > 1):
        raise PlayError("--force is for the file of --record; records in a folder get names of their own")
    # This comes before the match, so that its record has a place to go at the end.
    _prepare_records(record, several=plan.count > 1, force=force)
    if plan.logs is not None:
        make_folder(Path(plan.logs))
    if plan.count > 1:
        _play_series(plan, series, workers, ray, as_json=as_json)
        return
    reached = None
    if is_remote or listen is not None:
        reached = Listen("127.0.0.1:0" if listen is None else listen, *read_tls(tls_cert, tls_key))
    # This comes before the first bot starts, so that processes that bots detach become ours.
    adopt_orphans()
    with remarking_interrupts(f"the match was interrupted: it has no result{' and no record' if record else ''}"):
        match = asyncio.run(_play_one(series, reached, record, watched=watch, invites=listen is not None))
    _keep_logs(plan.logs, match)
    if as_json:
        print_json(_as_json(match))
    else:
        _print_match(match)
    if any(seat.outcome is not Outcome.PLAYED for seat in match.result.seats):
        raise typer.Exit(SEAT_OUT)


def _continued(typed: SeriesOptions, record: Path | None) -> SeriesPlan:
    """Return the plan of the series in a folder; if there is none, return the plan that the command line describes.

    Raises:
        DoganaError: if the series cannot be resumed.
    """
    if record is None:
        if typed.game is not None and Path(typed.game).is_dir():
            raise PlayError(
                f"give the folder of a series with --record if you name seats, too: --record {typed.game} --resume"
            )
        raise PlayError("--resume needs the folder of a series: `dogana play --resume FOLDER`")
    plan = read_plan(record)
    if plan is not None:
        return go_on(plan, record, typed)
    if not record.is_dir() and not typed.seats:
        raise PlayError(f"cannot resume: there is no folder {record}")
    if not typed.seats or typed.seed is None or (typed.games or 1) * (len(typed.seats) if typed.rotate else 1) == 1:
        raise PlayError(
            f"cannot resume: nothing in {record} says which series it has; give the whole command,"
            " with --games or --rotate and the --seed of the records"
        )
    return begin(typed)


def _play_series(plan: SeriesPlan, series: Series, workers: int | None, ray: str | None, *, as_json: bool) -> None:
    """Play several matches, and keep their plan in the folder of their records."""
    if plan.rotate:
        err.print(
            f"{counted(plan.games, 'seed')} in {len(plan.seats)} rotations of the seats: {counted(plan.count, 'match', 'matches')}",
            soft_wrap=True,
        )
    matches = play_matches(series, plan, workers, ray)
    if series.records is None:
        keeping = remarking_interrupts("with --record FOLDER, a series can go on after an interruption")
    else:
        again = [*([] if ray is None else ["--ray", ray]), *([] if workers is None else ["--workers", workers])]
        again += ["--json"] if as_json else []
        keeping = unfinished(series.records, plan, resumes=series.resumes, options=again)
    with keeping:
        _print_series(series, matches, plan.logs, as_json=as_json)


async def _play_one(
    series: Series, listen: Listen | None, target: Path | None, *, watched: bool, invites: bool
) -> FinishedMatch:
    """Play a single match in this process.

    Args:
        series: the series, with one match.
        listen: the address for remote agents and spectators; None to accept neither.
        target: the file or folder for the record.
        watched: True to show the match.
        invites: True to print the address for spectators.
    """
    plan = series.plan(0)
    name = series.name(0, plan)
    # The file has the name of an unsaved record until the match is over, because two commands may play into one folder.
    path = target / unsaved(name, os.getpid()) if target is not None and target.is_dir() else target
    async with RefereeServer(listen) as server, screen_beside(server, plan) if watched else nullcontext():
        address = "" if listen is None else _address(listen, server.remote_port)

        def announce(seat: Seat, token: str) -> None:
            where = f"DOGANA_ADDRESS={address} DOGANA_TOKEN={token}"
            err.print(f"seat {seat} waits for a remote agent: {where}", soft_wrap=True)

        if listen is not None and invites:
            encrypted = "" if listen.key is None else " --ca FILE"
            err.print(f"spectators: dogana watch {address}{encrypted}", soft_wrap=True)
        report = await play_match(
            plan, series.seated(0), server=server, record=path, announce=announce, all_must_start=True
        )
    if path is not None and path != target:
        path = keep(path, name)
    return FinishedMatch(0, plan, name if path is None else path.stem, report.result, path, report.logs)


def _address(listen: Listen, port: int) -> str:
    """Return the address for agents and spectators; if the referee listens on all addresses, return one of them."""
    host = listen.address.rpartition(":")[0]
    if host.strip("[]") not in ("0.0.0.0", "::"):  # noqa: S104 looked for, not listened on
        return f"{host}:{port}"
    found = _own_host()
    err.print(
        f"{host} is every address of this machine; others may have to use another address than {found}", soft_wrap=True
    )
    return f"{found}:{port}"


def _own_host() -> str:
    """Return the address from which this machine reaches other machines, or the machine's name if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # chooses a route (to an unassigned address), and sends nothing
        return str(probe.getsockname()[0])
    return socket.gethostname()


def _print_series(
    series: Series, played: Generator[FinishedMatch, None, None], logs: str | None, *, as_json: bool
) -> None:
    """Play a series, and print the table of its matches even if it ends early."""
    tally = SeriesStatistics(series.bots, series.block_size)
    earlier = 0
    try:
        with closing(played) as matches, Progress(console=err, transient=True) as progress:
            bar = progress.add_task("matches", total=series.count)
            for match in matches:
                _keep_logs(logs, match)
                tally.add(match.result, series.fixture(match.number).turn)
                earlier += match.is_earlier
                if as_json:
                    print_json(_as_json(match))
                progress.advance(bar)
    finally:
        # This is printed even after Ctrl-C or an error, because the matches so far are worth a table.
        if 0 < tally.count < series.count:
            err.print(
                f"{tally.count} of {series.count} matches were played, from seed {series.first_seed}", soft_wrap=True
            )
        if earlier == series.count:
            err.print(f"all {earlier} matches had been played already, and none was played now", soft_wrap=True)
        if tally.count and not as_json:
            out.print(tally.table())
        if tally.with_outs and not as_json:
            out.print(f"a seat was put out in {tally.with_outs} of {tally.count} matches", soft_wrap=True)
    if tally.with_outs:
        raise typer.Exit(SEAT_OUT)


def _prepare_records(target: Path | None, *, several: bool, force: bool) -> None:
    """Check that records can be written to `target`; create the folder if there are several records."""
    if target is None:
        return
    if several and target.exists() and not target.is_dir():
        raise PlayError(f"{target} is a file; several records need a folder")
    if several:
        make_folder(target)
    elif not target.is_dir():
        # `check_free` would allow a pipe or a device, but a record takes its name by a rename.
        check_regular(target)
        check_free(target, force=force)


def _keep_logs(folder: str | None, match: FinishedMatch) -> None:
    for seat, text in match.logs.items():
        if folder is not None:
            write_file(unused(Path(folder) / f"{match.name}-seat{seat}.log"), text)
        elif match.result.seats[seat].outcome is not Outcome.PLAYED and text:
            err.print(f"seat {seat} wrote at the end:", style="bold")
            for line in text[-2000:].splitlines():
                err.print(f"  | {line}", soft_wrap=True)


def _as_json(match: FinishedMatch) -> dict[str, Any]:
    plan, result = match.plan, match.result
    return {
        "game": plan.game.name,
        "seed": plan.seed,
        "options": dict(plan.setup.options),
        "match": plan.match_id,
        "record": None if match.record is None else str(match.record),
        "digest": result.digest,
        "decisions": result.decisions,
        "lag_share": round(result.lag_share, 3),
        "seats": [
            {
                "seat": seat.seat,
                "bot": seat.bot,
                "rank": seat.rank,
                "score": seat.score,
                "outcome": seat.outcome.value,
                "decisions": seat.decisions,
                "think_ms": round(seat.think_seconds * 1000, 3),
            }
            for seat in result.seats
        ],
    }


def _print_match(match: FinishedMatch) -> None:
    plan, result, path = match.plan, match.result, match.record
    table = Table(
        "rank",
        "seat",
        "bot",
        "score",
        "outcome",
        "decisions",
        "thought",
        title=f"{plan.game.title}, seed {plan.seed}",
    )
    for seat in sorted(result.seats, key=lambda seat: (seat.rank, seat.seat)):
        table.add_row(
            str(seat.rank),
            str(seat.seat),
            seat.bot,
            str(seat.score),
            seat.outcome.value,
            str(seat.decisions),
            f"{seat.think_seconds:.3f} s",
        )
    out.print(table)
    if result.lagged:
        out.print(
            f"The referee was late for {result.lag_share:.0%} of the time: the machine is overloaded, or was stopped."
        )
    for seat in result.seats:
        if seat.detail:
            out.print(f"seat {seat.seat} was out ({seat.outcome.value}): {seat.detail}", soft_wrap=True)
    if path is not None:
        out.print(f"record: {path}   (look at it: dogana replay {path})", soft_wrap=True)
