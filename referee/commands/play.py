"""`dogana play`: play matches on this machine."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import socket
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from referee.commands.options import (
    DEFAULT_CLOCK,
    ClockOption,
    CpusOption,
    GameOptions,
    MemoryOption,
    NoPonderingOption,
    RayOption,
    RuntimeOption,
    TasksOption,
    TlsCertificateOption,
    TlsKeyOption,
    read_clock,
    read_limits,
    read_options,
    read_tls,
)
from referee.commands.output import err, out, print_json, target
from referee.commands.tally import Tally
from referee.commands.watch import screen_beside
from referee.errors import DoganaError
from referee.files import write_file
from referee.game import Game, Seat, Setup
from referee.live import luggage
from referee.live.cluster_series import Party, play_on_cluster
from referee.live.orphans import adopt_orphans
from referee.live.play import Command, House, Player, Remote, play_match
from referee.live.series import Played, Series, keep, play_series, unkept
from referee.live.server import Listen, RefereeServer
from referee.match.result import Outcome
from referee.records.position import read_position
from referee.records.record import may_replace
from referee.registry import find, house_bots, read_board_file, shipped_board
from referee.sandbox.box import CannotIsolate, Sandbox
from referee.sandbox.limits import Limits
from referee.sandbox.walls import build

COMMAND = "cmd:"
"""How a seat begins that is a command."""


class PlayError(DoganaError):
    """What was asked for cannot be played."""


def play(
    game: Annotated[str, typer.Argument(help="The game; `dogana games` lists them.")],
    seat: Annotated[
        list[str],
        typer.Argument(help="Who sits there: a house bot's name, cmd:'COMMAND' or remote.", metavar="SEAT..."),
    ],
    seed: Annotated[
        int | None,
        typer.Option(
            help="Make chance repeatable; with --games the seeds count up from it.", min=0, max=2**62, metavar="N"
        ),
    ] = None,
    option: GameOptions = None,
    clock: ClockOption = DEFAULT_CLOCK,
    games: Annotated[int, typer.Option(help="How many matches to play.", min=1, max=1_000_000, metavar="N")] = 1,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Play every seed once in each rotation of the seats (a block).")
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(help="Write the record to this file, or into this folder.", metavar="FILE_OR_DIR", parser=target),
    ] = None,
    board: Annotated[Path | None, typer.Option(help="Play with a corrected board.toml.", metavar="FILE")] = None,
    start: Annotated[Path | None, typer.Option("--from", help="Start from a position.", metavar="FILE")] = None,
    logs: Annotated[
        Path | None,
        typer.Option(help="Keep what started agents write, a file for each seat.", metavar="DIR", parser=target),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show the match while it is played.")] = False,
    listen: Annotated[
        str | None,
        typer.Option(
            help="Where remote agents and spectators can reach the referee [127.0.0.1:0 if a seat is remote].",
            metavar="HOST:PORT",
        ),
    ] = None,
    tls_cert: TlsCertificateOption = None,
    tls_key: TlsKeyOption = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="How many matches are played at a time [as many as there are cores].", min=1, max=1024, metavar="N"
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Do not play again what the folder of --record has a record of.")
    ] = False,
    wait: Annotated[
        float | None,
        typer.Option(
            help="How long agents may take to join, in seconds [10; remote: 600].", min=0.1, metavar="SECONDS"
        ),
    ] = None,
    isolate: Annotated[
        bool,
        typer.Option("--isolate", help="Run started agents behind the walls of a ladder; this folder is /bot there."),
    ] = False,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    no_pondering: NoPonderingOption = False,
    runtime: RuntimeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each match.")] = False,
    ray: RayOption = None,
) -> None:
    """Play matches between bots on this machine.

    Nothing is played if a bot does not start. In a series that goes for the first match; in a later one, the bot is out.

    Examples:

      dogana play cargo_noir greedy random

      dogana play cargo_noir cmd:'python mybot.py' greedy greedy --seed 7 --record match.jsonl

      dogana play cargo_noir cmd:./mybot random --games 100 --rotate --json

      dogana play venezia cmd:./mybot greedy --games 500 --seed 1 --record matches --resume

      dogana play cargo_noir cmd:./mybot greedy --watch

      dogana play cargo_noir cmd:./mybot greedy --isolate --memory 256

      dogana play venezia cmd:./mybot greedy --games 10000 --isolate --ray auto

      dogana play cargo_noir greedy remote --listen 0.0.0.0:7777 --tls-cert cert.pem --tls-key key.pem
    """
    chosen = find(game)
    control = read_clock(clock)
    setup, position = _agree(chosen, len(seat), option or [], board, start)
    if not isolate and (memory, tasks, cpus, no_pondering, runtime) != (None, None, None, False, None):
        raise PlayError("--memory, --tasks, --cpus, --no-pondering and --runtime are for --isolate")
    limits = read_limits(memory, tasks, cpus, no_pondering=no_pondering)
    sandbox = _walls(limits, runtime or []) if isolate and ray is None else None
    parsed = [_parse_seat(chosen, text, wait, sandbox) for text in seat]
    remote = any(isinstance(player, Remote) for player in parsed)
    if remote and (games > 1 or rotate):
        raise PlayError("a remote agent joins one match; leave out --games and --rotate")
    if (watch or listen is not None) and (games > 1 or rotate):
        raise PlayError("--watch and --listen are for a single match; leave out --games and --rotate")
    if watch and as_json:
        raise PlayError("--watch and --json both print the match; leave out one of them")
    if ray is not None:
        _check_travels(parsed, several=games > 1 or rotate, isolate=isolate)
    first_seed = secrets.randbits(62) if seed is None else seed
    rotations = len(seat) if rotate else 1
    count = games * rotations
    if resume and (record is None or count == 1):
        raise PlayError("--resume needs several matches, and --record with the folder of those that were played")
    _prepare_records(record, several=count > 1)
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
    series = Series(
        game=chosen.name,
        options=dict(setup.options),
        board=setup.board_data,
        position=position,
        bots=seat,
        players=parsed,
        control=control,
        first_seed=first_seed,
        rotations=rotations,
        count=count,
        records=record if count > 1 else None,
        resumes=resume,
    )
    if count > 1:
        matches = (
            play_series(series, min(count, workers or os.cpu_count() or 1))
            if ray is None
            else play_on_cluster(series, ray, workers, _tell, _party(series, limits, runtime or []))
        )
        _play_several(series, matches, logs, as_json=as_json)
        return
    reached = None
    if remote or listen is not None:
        reached = Listen("127.0.0.1:0" if listen is None else listen, *read_tls(tls_cert, tls_key))
    adopt_orphans()
    match = asyncio.run(_play_one(series, reached, record, watched=watch, invites=listen is not None))
    _keep_logs(logs, match)
    if as_json:
        print_json(_as_json(match))
    else:
        _print_match(match)


async def _play_one(
    series: Series, listen: Listen | None, target: Path | None, *, watched: bool, invites: bool
) -> Played:
    """Play a single match in this process.

    Args:
        series: what to play.
        listen: where remote agents and spectators reach the referee, if they can.
        target: the file or folder for the record.
        watched: whether to show the match.
        invites: whether to say where spectators can watch.
    """
    plan = series.plan(0)
    name = series.name(0, plan)
    path = target / unkept(name, os.getpid()) if target is not None and target.is_dir() else target
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
    return Played(0, plan, name if path is None else path.stem, report.result, path, report.logs)


def _walls(limits: Limits, runtimes: Sequence[Path]) -> Sandbox:
    try:
        return build(limits, runtimes)
    except CannotIsolate as error:
        raise CannotIsolate(f"{error}; or leave out --isolate if you trust the bots") from error


def _address(listen: Listen, port: int) -> str:
    """Return what agents and spectators dial; a referee that listens on all addresses of its machine is reached at one."""
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
        probe.connect(("192.0.2.1", 9))  # chooses the way there (to an address that is nobody's) and sends nothing
        return str(probe.getsockname()[0])
    return socket.gethostname()


def _tell(text: str) -> None:
    err.print(text, markup=False, soft_wrap=True)


def _party(series: Series, limits: Limits, runtimes: Sequence[Path]) -> Party | None:
    """Return what commands in a series need on other machines; None if there are none.

    Raises:
        BadLuggage: if this folder, in which they run, cannot travel.
    """
    if not any(isinstance(player, Command) for player in series.players):
        return None
    return Party(luggage.pack(Path.cwd(), without=series.records), limits, runtimes)


def _check_travels(players: Sequence[Player], *, several: bool, isolate: bool) -> None:
    """Check that matches can be played on other machines.

    Raises:
        PlayError: if not.
    """
    if not several:
        raise PlayError("--ray is for a series of matches; add --games, or leave out --ray")
    if any(isinstance(player, Command) for player in players) and not isolate:
        raise PlayError(
            "other machines start commands behind walls, with the files of this folder, which is /bot there:"
            " add --isolate, or leave out --ray"
        )


def _play_several(series: Series, played: Generator[Played, None, None], logs: Path | None, *, as_json: bool) -> None:
    """Play a series; whatever ends it early, say what was played."""
    tally = Tally(series.bots, series.rotations)
    try:
        with closing(played) as matches, Progress(console=err, transient=True) as progress:
            bar = progress.add_task("matches", total=series.count)
            for match in matches:
                _keep_logs(logs, match)
                tally.add(match.result, series.turn(match.number))
                if as_json:
                    print_json(_as_json(match))
                progress.advance(bar)
    finally:
        if 0 < tally.count < series.count:
            err.print(f"{tally.count} of {series.count} matches were played", soft_wrap=True)
        if tally.count and not as_json:
            out.print(tally.table())


def _prepare_records(target: Path | None, *, several: bool) -> None:
    """Check that records can be written there; create the folder if several are."""
    if target is None:
        return
    if several and target.exists() and not target.is_dir():
        raise PlayError(f"{target} is a file; several records need a folder")
    if several:
        target.mkdir(parents=True, exist_ok=True)
    elif not target.parent.is_dir():
        raise PlayError(f"cannot write {target}: there is no folder {target.parent}")
    elif target.exists() and not target.is_dir() and not may_replace(target):
        raise PlayError(f"{target} is there already and is no record; remove it, or give the record another name")


def _agree(
    game: Game, seats: int, options: Sequence[str], board: Path | None, start: Path | None
) -> tuple[Setup, Mapping[str, Any] | None]:
    """Settle what is played: number of seats, options and board, and the position if there is one."""
    if start is not None:
        if options or board is not None:
            raise PlayError("a position brings its own options and board; leave out --option and --board")
        position = read_position(start, find)
        if position.game is not game:
            raise PlayError(f"position {start} is of {position.game.name}, not of {game.name}")
        if position.setup.seats != seats:
            raise PlayError(f"position {start} is for {position.setup.seats} seats, but {seats} were given")
        return position.setup, position.state.to_json()
    data = shipped_board(game) if board is None else read_board_file(board)
    return game.setup(seats, read_options(options), data), None


def read_command(text: str, join_seconds: float, sandbox: Sandbox | None) -> Command:
    """Read an agent that is given as `cmd:'COMMAND'`; it runs in this folder, which is /bot behind walls.

    Raises:
        PlayError: if it cannot be read.
    """
    try:
        argv = shlex.split(text.removeprefix(COMMAND))
    except ValueError as error:
        raise PlayError(f"seat {text!r} cannot be read as a command: {error}") from error
    if not argv:
        raise PlayError("seat 'cmd:' needs a command, such as cmd:'python mybot.py'")
    return Command(argv, dict(os.environ), None, join_seconds, sandbox)


def _parse_seat(game: Game, text: str, wait: float | None, sandbox: Sandbox | None) -> Player:
    if text == "remote":
        return Remote(wait or 600.0)
    if text.startswith(COMMAND):
        return read_command(text, wait or 10.0, sandbox)
    bots = house_bots()
    if text not in bots:
        raise PlayError(
            f"there is no house bot {text!r}; a seat is one of {', '.join(bots)}, or cmd:'COMMAND', or remote"
        )
    if not bots[text].plays(game):
        raise PlayError(f"house bot {text} does not play {game.name}")
    return House(bots[text])


def _keep_logs(folder: Path | None, match: Played) -> None:
    for seat, text in match.logs.items():
        if folder is not None:
            write_file(folder / f"{match.name}-seat{seat}.log", text)
        elif match.result.seats[seat].outcome is not Outcome.PLAYED and text:
            err.print(f"seat {seat} wrote at the end:", style="bold")
            for line in text[-2000:].splitlines():
                err.print(f"  | {line}", soft_wrap=True)


def _as_json(match: Played) -> dict[str, Any]:
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


def _print_match(match: Played) -> None:
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
