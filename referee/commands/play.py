"""`dogana play`: play matches on this machine."""

from __future__ import annotations

import asyncio
import os
import resource
import secrets
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from referee.commands.output import err, out, print_json, target
from referee.commands.tally import Tally
from referee.errors import DoganaError
from referee.files import write_file
from referee.game import Game, Seat, Setup
from referee.live.orphans import adopt_orphans
from referee.live.play import Command, House, MatchReport, Player, Remote, play_match
from referee.live.server import Listen, RefereeServer
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan, match_id_for
from referee.match.result import Outcome
from referee.records.position import read_position
from referee.records.record import may_replace
from referee.registry import find, house_bots, read_board_file, shipped_board


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
        typer.Option(help="Make chance repeatable; with --games the seeds count up from it.", min=0, max=2**62),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="Set an option of the game.", metavar="K=V")
    ] = None,
    clock: Annotated[str, typer.Option(help="bank+increment/cap in seconds, for each seat.")] = "60+0.5/10",
    games: Annotated[int, typer.Option(help="How many matches to play.", min=1, max=1_000_000)] = 1,
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
    listen: Annotated[
        str,
        typer.Option(help="Where remote agents and spectators can reach the referee.", metavar="HOST:PORT"),
    ] = "127.0.0.1:0",
    tls_cert: Annotated[Path | None, typer.Option(help="Encrypt remote connections: certificate chain (PEM).")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its private key (PEM).")] = None,
    wait: Annotated[
        float | None,
        typer.Option(help="How long agents may take to join, in seconds [10; remote: 600].", min=0.1),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each match.")] = False,
) -> None:
    """Play matches between bots on this machine.

    Nothing is played if a bot does not start. In a series that goes for the first match; in a later one, the bot is out.

    Examples:

      dogana play cargo_noir greedy random

      dogana play cargo_noir cmd:'python mybot.py' greedy greedy --seed 7 --record match.jsonl

      dogana play cargo_noir cmd:./mybot random --games 100 --rotate --json

      dogana play cargo_noir greedy remote --listen 0.0.0.0:7777 --tls-cert cert.pem --tls-key key.pem
    """
    chosen = find(game)
    control = _clock(clock)
    setup, position = _agree(chosen, len(seat), option or [], board, start)
    parsed = [_parse_seat(chosen, text, wait) for text in seat]
    remote = any(isinstance(player, Remote) for player in parsed)
    if remote and games > 1:
        raise PlayError("a remote agent joins one match; leave out --games")
    first_seed = secrets.randbits(62) if seed is None else seed
    rotations = len(seat) if rotate else 1
    count = games * rotations
    records = _Records(record, folder=count > 1)
    records.prepare()
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
    plans = (
        _Planned(plan, [parsed[(place + turn) % len(seat)] for place in range(len(seat))], turn)
        for index in range(games)
        for turn in range(rotations)
        for plan in [
            MatchPlan(
                game=chosen,
                setup=setup,
                match_id=match_id_for(chosen, setup, first_seed + index, position),
                seed=first_seed + index,
                bots=[seat[(place + turn) % len(seat)] for place in range(len(seat))],
                control=control,
                position=position,
            )
        ]
    )
    tally = Tally(seat, rotations)
    listening = Listen(listen, *_tls(tls_cert, tls_key)) if remote else None
    if remote:  # strangers' connections must not use up the files that records and agents need
        _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    adopt_orphans()
    asyncio.run(_play_all(plans, count, listening, records, logs, tally, as_json=as_json))
    if count > 1 and not as_json:
        out.print(tally.table())


@dataclass(frozen=True, slots=True)
class _Planned:
    """A match to be played."""

    plan: MatchPlan
    players: Sequence[Player]
    turn: int
    """By how many places the seats are rotated."""

    @property
    def name(self) -> str:
        """What its files are called; rotations differ in it."""
        rotation = f"-rotation{self.turn}" if self.turn else ""
        return f"{self.plan.game.name}-{self.plan.match_id}{rotation}"


def _clock(text: str) -> TimeControl:
    try:
        return TimeControl.parse(text)
    except ValueError as error:
        raise PlayError(str(error)) from error


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
    chosen = {}
    for entry in options:
        name, equals, value = entry.partition("=")
        if not equals:
            raise PlayError(f"option {entry!r} must be written as NAME=VALUE")
        if name in chosen:
            raise PlayError(f"option {name} is given twice")
        chosen[name] = value
    data = shipped_board(game) if board is None else read_board_file(board)
    return game.setup(seats, chosen, data), None


def _parse_seat(game: Game, text: str, wait: float | None) -> Player:
    if text == "remote":
        return Remote(wait or 600.0)
    if text.startswith("cmd:"):
        try:
            argv = shlex.split(text.removeprefix("cmd:"))
        except ValueError as error:
            raise PlayError(f"seat {text!r} cannot be read as a command: {error}") from error
        if not argv:
            raise PlayError("seat 'cmd:' needs a command, such as cmd:'python mybot.py'")
        return Command(argv, dict(os.environ), None, wait or 10.0)
    bots = house_bots()
    if text not in bots:
        raise PlayError(
            f"there is no house bot {text!r}; a seat is one of {', '.join(bots)}, or cmd:'COMMAND', or remote"
        )
    if not bots[text].plays(game):
        raise PlayError(f"house bot {text} does not play {game.name}")
    return House(bots[text])


def _tls(certificate: Path | None, key: Path | None) -> tuple[bytes | None, bytes | None]:
    if certificate is None and key is None:
        return None, None
    if certificate is None or key is None:
        raise PlayError("an encrypted connection needs both --tls-cert and --tls-key")
    try:
        return certificate.read_bytes(), key.read_bytes()
    except OSError as error:
        raise PlayError(f"cannot read {error.filename}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class _Records:
    """Where records go."""

    target: Path | None
    folder: bool
    """Whether there is more than one, so that the target must be a folder."""

    def prepare(self) -> None:
        """Create the folder if one is needed."""
        target = self.target
        if target is None:
            return
        if self.folder and target.exists() and not target.is_dir():
            raise PlayError(f"{target} is a file; several records need a folder")
        if self.folder:
            target.mkdir(parents=True, exist_ok=True)
        elif not target.parent.is_dir():
            raise PlayError(f"cannot write {target}: there is no folder {target.parent}")
        elif target.exists() and not target.is_dir() and not may_replace(target):
            raise PlayError(f"{target} is there already and is no record; remove it, or give the record another name")

    def path(self, match: _Planned) -> Path | None:
        """Return where to write while a match runs."""
        if self.target is None or not self.target.is_dir():
            return self.target
        return self.target / f"{match.name}.{os.getpid()}"

    def keep(self, match: _Planned, written: Path | None) -> Path | None:
        """Give a record in a folder the first unused name, whatever else writes there."""
        if self.target is None or written is None or written == self.target:
            return written
        number = 1
        while True:
            path = self.target / f"{match.name}{'' if number == 1 else f'-{number}'}.jsonl"
            try:
                path.touch(exist_ok=False)
            except FileExistsError:
                number += 1
            else:
                return written.replace(path)


async def _play_all(
    planned: Iterable[_Planned],
    count: int,
    listen: Listen | None,
    records: _Records,
    logs: Path | None,
    tally: Tally,
    *,
    as_json: bool,
) -> None:
    several = count > 1
    async with RefereeServer(listen) as server:

        def announce(seat: Seat, token: str) -> None:
            host = "" if listen is None else listen.address.rpartition(":")[0]
            where = f"DOGANA_ADDRESS={host}:{server.remote_port} DOGANA_TOKEN={token}"
            err.print(f"seat {seat} waits for a remote agent: {where}", soft_wrap=True)

        with Progress(console=err, transient=True, disable=not several) as progress:
            bar = progress.add_task("matches", total=count)
            for index, match in enumerate(planned):
                path = records.path(match)
                report = await play_match(
                    match.plan,
                    match.players,
                    server=server,
                    record=path,
                    announce=announce,
                    all_must_start=index == 0,
                )
                path = records.keep(match, path)
                _keep_logs(logs, match.name if path is None else path.stem, report)
                tally.add(report.result, match.turn)
                if as_json:
                    print_json(_as_json(match.plan, report, path))
                elif not several:
                    _print_match(match.plan, report, path)
                progress.advance(bar)


def _keep_logs(folder: Path | None, name: str, report: MatchReport) -> None:
    for seat, text in report.logs.items():
        if folder is not None:
            write_file(folder / f"{name}-seat{seat}.log", text)
        elif report.result.seats[seat].outcome is not Outcome.PLAYED and text:
            err.print(f"seat {seat} wrote at the end:", style="bold")
            for line in text[-2000:].splitlines():
                err.print(f"  | {line}", soft_wrap=True)


def _as_json(plan: MatchPlan, report: MatchReport, path: Path | None) -> dict[str, Any]:
    result = report.result
    return {
        "game": plan.game.name,
        "seed": plan.seed,
        "options": dict(plan.setup.options),
        "match": plan.match_id,
        "record": None if path is None else str(path),
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


def _print_match(plan: MatchPlan, report: MatchReport, path: Path | None) -> None:
    result = report.result
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
