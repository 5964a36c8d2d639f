"""`dogana play`: play matches on this machine."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from referee.commands.isolation import build_sandbox
from referee.commands.on_cluster import check_travels, party, tell
from referee.commands.options import (
    DEFAULT_CLOCK,
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
    read_limits,
    read_options,
    read_tls,
    with_openings,
)
from referee.commands.output import SEAT_OUT, err, out, print_json, target
from referee.commands.plan_file import ResumeError
from referee.commands.resume import SeriesPlan, differences, read_plan, unfinished
from referee.commands.seats import REMOTE, SEAT_HELP, read_player
from referee.commands.tally import SeriesStatistics
from referee.commands.watch import screen_beside
from referee.errors import DoganaError
from referee.files import check_free, check_regular, make_folder, unused, write_file
from referee.game import Game, Seat, Setup
from referee.live.matches.cluster_series import play_on_cluster
from referee.live.matches.play import Remote, play_match
from referee.live.matches.series import FinishedMatch, Series, Setting, keep, play_series, unsaved
from referee.live.matches.server import Listen, RefereeServer
from referee.live.seats.orphans import adopt_orphans
from referee.match.result import Outcome
from referee.match.seatings import rotations
from referee.records.position import read_position
from referee.registry import find, is_house_bot, read_board_file, shipped_board


class PlayError(DoganaError):
    """The requested matches cannot be played."""


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
        typer.Option(help="Keep the output of started agents, a file for each seat.", metavar="FOLDER", parser=target),
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

    A path is a bot as for `dogana ladder submit`: a program, a .py, .js or .jar file, a folder, or an archive. It runs in its
    own folder; an archive, and any bot with --isolate, runs in a copy. The name of a house bot takes precedence over a file,
    which you can name as ./greedy.

    If a bot does not start, nothing is played. If it does not start in a later match of a series, it loses that match.

    The exit status is 0 if all seats played to the end, 3 if one was put out, 2 for a wrong option, and 1 if matches could not be played.

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
    seats, option = seat or [], with_openings(option or [], openings)
    if resume and record is None and game is not None and not seats:
        record, game = target(game), None
    control = None if clock is None else read_clock(clock)
    plan = read_plan(record) if resume and record is not None else None
    if plan is not None and record is not None:
        typed = None if control is None else str(control)
        if found := differences(plan, game, seats, seed, option, typed, games, rotate=rotate, board=board, start=start):
            raise ResumeError(
                f"cannot resume: {record} has {'; '.join(found)}; leave out what differs, or use another folder"
            )
        _check_directory(plan, record, named=bool(seats))
        game, seats, seed, rotate, control = plan.game, plan.seats, plan.seed, plan.rotate, read_clock(plan.clock)
        games = plan.games if games is None else games
        wait, isolate = wait or plan.wait, isolate or plan.isolate
        memory, tasks, cpus = memory or plan.memory, tasks or plan.tasks, cpus or plan.cpus
        no_pondering = no_pondering or plan.no_pondering
        runtime = runtime or (None if plan.runtime is None else list(map(Path, plan.runtime)))
        logs = logs or (None if plan.logs is None else Path(plan.logs))
    if resume and plan is None:
        if record is None and game is not None and Path(game).is_dir():
            raise PlayError(
                f"give the folder of a series with --record if you name seats, too: --record {game} --resume"
            )
        _check_can_resume(record, seats, seed, games, rotate=rotate)
    if game is None or not seats:
        raise typer.BadParameter(
            "name a game, and for each seat who sits there, such as: dogana play GAME mybot.py greedy;"
            " or --resume and a folder",
            param_hint="GAME SEAT...",
        )
    games, control = games or 1, control or read_clock(DEFAULT_CLOCK)
    chosen = find(game)
    setup, position = _agree(chosen, len(seats), option, board, start) if plan is None else plan.settle()
    if not isolate and (memory, tasks, cpus, no_pondering, runtime) != (None, None, None, False, None):
        raise PlayError("--memory, --tasks, --cpus, --no-pondering and --runtime are for --isolate")
    limits = read_limits(memory, tasks, cpus, no_pondering=no_pondering)
    sandbox = None
    if isolate and ray is None:
        sandbox = build_sandbox(limits, runtime or [], "leave out --isolate if you trust the bots")
    parsed = [read_player(word, chosen, wait, sandbox, runtime or [], ray, context.with_resource) for word in seats]
    remote = any(isinstance(player, Remote) for player in parsed)
    if remote and (games > 1 or rotate):
        raise PlayError("a remote agent joins one match; leave out --games and --rotate")
    if (watch or listen is not None) and (games > 1 or rotate):
        raise PlayError("--watch and --listen are for a single match; leave out --games and --rotate")
    if not remote and listen is None and (tls_cert, tls_key) != (None, None):
        raise PlayError("--tls-cert and --tls-key are for remote agents and watchers; add --listen, or leave them out")
    if watch and as_json:
        raise PlayError("--watch and --json both print the match; leave out one of them")
    if ray is not None:
        if games == 1 and not rotate:
            raise PlayError("--ray is for a series of matches; add --games, or leave out --ray")
        check_travels(parsed, isolate=isolate)
    first_seed = secrets.randbits(62) if seed is None else seed
    places = tuple(range(len(seats)))
    seatings = rotations(places) if rotate else [places]
    count = games * len(seatings)
    if force and (record is None or count > 1):
        raise PlayError("--force is for the file of --record; records in a folder get names of their own")
    _prepare_records(record, several=count > 1, force=force)
    if logs is not None:
        make_folder(logs)
    series = Series(
        settings=[Setting(chosen.name, dict(setup.options), setup.board_data, position, seatings)],
        bots=seats,
        players=parsed,
        control=control,
        first_seed=first_seed,
        count=count,
        records=record if count > 1 else None,
        resumes=resume,
    )
    if count > 1:
        if rotate:
            seeds = "1 seed" if games == 1 else f"{games} seeds"
            err.print(f"{seeds} in {len(seatings)} rotations of the seats: {count} matches", soft_wrap=True)
        matches = (
            play_series(series, min(count, workers or os.cpu_count() or 1))
            if ray is None
            else play_on_cluster(
                series, ray, workers, tell, party(series, limits, runtime or [], [] if record is None else [record])
            )
        )
        if record is None:
            with _remarking_interrupts("with --record FOLDER, a series can go on after an interruption"):
                _play_several(series, matches, logs, as_json=as_json)
            return
        plan = SeriesPlan(
            game=chosen.name,
            seats=seats,
            options=dict(setup.options),
            board=dict(setup.board_data),
            position=None if position is None else dict(position),
            clock=str(control),
            seed=first_seed,
            games=games,
            rotate=rotate,
            wait=wait,
            isolate=isolate,
            memory=memory,
            tasks=tasks,
            cpus=cpus,
            no_pondering=no_pondering,
            runtime=None if runtime is None else list(map(str, runtime)),
            logs=None if logs is None else str(logs),
            directory=str(Path.cwd()),
            complete=False,
        )
        where = [*([] if ray is None else ["--ray", ray]), *([] if workers is None else ["--workers", workers])]
        with unfinished(record, plan, resumes=resume, options=[*where, *(["--json"] if as_json else [])]):
            _play_several(series, matches, logs, as_json=as_json)
        return
    reached = None
    if remote or listen is not None:
        reached = Listen("127.0.0.1:0" if listen is None else listen, *read_tls(tls_cert, tls_key))
    adopt_orphans()
    with _remarking_interrupts(f"the match was interrupted: it has no result{' and no record' if record else ''}"):
        match = asyncio.run(_play_one(series, reached, record, watched=watch, invites=listen is not None))
    _keep_logs(logs, match)
    if as_json:
        print_json(_as_json(match))
    else:
        _print_match(match)
    if any(seat.outcome is not Outcome.PLAYED for seat in match.result.seats):
        raise typer.Exit(SEAT_OUT)


@contextmanager
def _remarking_interrupts(remark: str) -> Iterator[None]:
    """Print a remark if the user interrupts the command in this context."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(remark, soft_wrap=True)
        raise


async def _play_one(
    series: Series, listen: Listen | None, target: Path | None, *, watched: bool, invites: bool
) -> FinishedMatch:
    """Play a single match in this process.

    Args:
        series: the series, with one match.
        listen: the address for remote agents and spectators, if any.
        target: the file or folder for the record.
        watched: True to show the match.
        invites: True to print the address for spectators.
    """
    plan = series.plan(0)
    name = series.name(0, plan)
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
    """Return the address for agents and spectators. For a referee that listens on all addresses, it is one of them."""
    host = listen.address.rpartition(":")[0]
    if host.strip("[]") not in ("0.0.0.0", "::"):  # noqa: S104 looked for, not listened on
        return f"{host}:{port}"
    found = _own_host()
    err.print(
        f"{host} is every address of this machine; others may have to reach it at another than {found}", soft_wrap=True
    )
    return f"{found}:{port}"


def _own_host() -> str:
    """Return the address from which this machine reaches others, or its name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # chooses a route (to an unassigned address), and sends nothing
        return str(probe.getsockname()[0])
    return socket.gethostname()


def _check_can_resume(
    record: Path | None, seats: Sequence[str], seed: int | None, games: int | None, *, rotate: bool
) -> None:
    """Check that the command line has the whole series, because the folder has no plan of it.

    Raises:
        PlayError: if not.
    """
    if record is None:
        raise PlayError("--resume needs the folder of a series: `dogana play --resume FOLDER`")
    if not record.is_dir() and not seats:
        raise PlayError(f"cannot resume: there is no folder {record}")
    if not seats or seed is None or (games or 1) * (len(seats) if rotate else 1) == 1:
        raise PlayError(
            f"cannot resume: nothing in {record} says which series it has; give the whole command,"
            " with --games or --rotate and the --seed of the records"
        )


def _check_directory(plan: SeriesPlan, record: Path, *, named: bool) -> None:
    """Check that commands run in the same folder as before.

    Raises:
        ResumeError: if not, unless their seats were named again.
    """
    bots = [seat for seat in plan.seats if seat != REMOTE and not is_house_bot(seat)]
    commands = [bot for bot in bots if not Path(bot).is_absolute()]
    if commands and not named and not _is_here(plan.directory):
        raise ResumeError(
            f"cannot resume: the series in {record} was begun in {plan.directory}, where {commands[0]} runs;"
            " go there, or give game and seats, too"
        )


def _is_here(directory: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(directory).samefile(Path.cwd())
    return False


def _play_several(
    series: Series, played: Generator[FinishedMatch, None, None], logs: Path | None, *, as_json: bool
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
    """Check that records can be written to `target`; create the folder for several."""
    if target is None:
        return
    if several and target.exists() and not target.is_dir():
        raise PlayError(f"{target} is a file; several records need a folder")
    if several:
        make_folder(target)
    elif not target.is_dir():
        check_regular(target)
        check_free(target, force=force)


def _agree(
    game: Game, seats: int, options: Sequence[str], board: Path | None, start: Path | None
) -> tuple[Setup, Mapping[str, Any] | None]:
    """Return the setup of the matches (number of seats, options and board), and the position if there is one."""
    if start is not None:
        if options or board is not None:
            raise PlayError("a position brings its own options and board; leave out --option, --openings and --board")
        position = read_position(start, find)
        if position.game is not game:
            raise PlayError(f"position {start} is of {position.game.name}, not of {game.name}")
        if position.setup.seats != seats:
            raise PlayError(f"position {start} is for {position.setup.seats} seats, but {seats} were given")
        return position.setup, position.state.to_json()
    data = shipped_board(game) if board is None else read_board_file(board)
    return game.setup(seats, read_options(options), data), None


def _keep_logs(folder: Path | None, match: FinishedMatch) -> None:
    for seat, text in match.logs.items():
        if folder is not None:
            write_file(unused(folder / f"{match.name}-seat{seat}.log"), text)
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
