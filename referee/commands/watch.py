"""`dogana watch`: show a running match, as any spectator may see it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated

import grpc
import typer
from google.protobuf import json_format
from rich.table import Table

from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub
from referee.commands.output import err, out
from referee.commands.screen import Screen
from referee.errors import DoganaError
from referee.game import Game, Setup, SetupError
from referee.live.matches.server import RefereeServer
from referee.live.messages import wire
from referee.live.messages.codec import CodecError, codec
from referee.live.seats import orphans
from referee.match.clock import TimeControl
from referee.match.effects import Happened
from referee.match.plan import MatchPlan
from referee.registry import games
from referee.terminal import visible

_ADDRESS = re.compile(r"unix(-abstract)?:.+|[^\s/]+:[0-9]{1,5}")
_TICK_SECONDS = 0.25
"""The time between two redraws of the seats' times."""
_PATIENCE_SECONDS = 1.0
"""The time to wait for the match to begin before a remark is printed."""
_MAX_CHARACTERS = 1000
"""The maximum length of a referee's text."""
_BESIDE_SECONDS = 3.0
"""The time allowed for a screen to end after its match has failed."""


class WatchError(DoganaError):
    """A match cannot be watched to its end."""


class BrokenOff(WatchError):
    """The referee has ended the match without a result."""


def watch(
    address: Annotated[
        str,
        typer.Argument(
            help="The address of the referee: host:port, or unix:path.", metavar="ADDRESS", show_default=False
        ),
    ],
    match: Annotated[
        str,
        typer.Argument(help="The match; not needed where only one is played.", metavar="MATCH", show_default=False),
    ] = "",
    ca: Annotated[
        Path | None,
        typer.Option(
            help="The certificate of the referee's authority (PEM), if the referee encrypts.",
            metavar="FILE",
            envvar="DOGANA_CA",
        ),
    ] = None,
    tls: Annotated[
        bool, typer.Option("--tls", help="The referee encrypts with a certificate from a public authority.")
    ] = False,
) -> None:
    """Show a match that is being played, until it is over.

    It may be started before the match begins. Everybody who can reach the referee may watch; nobody is shown anything
    secret.

    Examples:

      dogana watch localhost:7777

      dogana watch referee.example:7777 --ca ca.pem
    """
    if not _ADDRESS.fullmatch(address):
        raise WatchError(
            f"{address!r} is not the address of a referee: host:port or unix:path; for a match of a ladder,"
            " `dogana ladder playing` prints the whole command"
        )
    over = asyncio.run(_follow(address, match, _credentials(ca) if tls or ca else None, ()))
    out.print(_result(over))


async def _follow(
    address: str, match: str, credentials: grpc.ChannelCredentials | None, names: Sequence[str]
) -> pb.GameOver:
    """Show a match to its end; return its result.

    Raises:
        WatchError: if the match cannot be shown to its end.
    """
    async with _channel(address, credentials) as channel:
        call = RefereeStub(channel).Watch(pb.WatchRequest(match_id=match))
        try:
            # The referee sends the metadata as soon as it has the match, so the first read waits only for the match to begin.
            await call.initial_metadata()
            first = asyncio.ensure_future(call.read())
            # `wait`, unlike `wait_for`, does not cancel the read.
            if not (await asyncio.wait([first], timeout=_PATIENCE_SECONDS))[0] and not names:
                err.print(f"waiting for the match at {address} to begin", soft_wrap=True)
            message = _message(await first, address)
            game = _game(message)
            setup = _setup(game, message, address)
            with Screen(_title(game, message), game, setup, names) as screen:
                while True:
                    try:
                        screen.show(_happened(game, message))
                    except OSError:  # from our own output
                        raise
                    except Exception as error:  # describing an impossible observation can fail in any way
                        raise WatchError(f"cannot read what {address} says about the match: {error}") from error
                    if message.HasField("game_over"):
                        return message.game_over
                    reading = asyncio.ensure_future(call.read())
                    while not (await asyncio.wait([reading], timeout=_TICK_SECONDS))[0]:
                        screen.tick()
                    message = _message(reading.result(), address)
        except grpc.aio.AioRpcError as error:
            raise _explain(address, error, is_encrypted=credentials is not None) from error


def _credentials(ca: Path | None) -> grpc.ChannelCredentials:
    """Return the credentials for an encrypted connection.

    `ca` is the certificate of the referee's authority; None stands for the public authorities.
    """
    try:
        return grpc.ssl_channel_credentials(None if ca is None else ca.read_bytes())
    except OSError as error:
        raise WatchError(f"cannot read the certificate {ca}: {error.strerror}") from error


def _channel(address: str, credentials: grpc.ChannelCredentials | None) -> grpc.aio.Channel:
    if credentials is None:
        return grpc.aio.insecure_channel(address)
    return grpc.aio.secure_channel(address, credentials)


def _explain(address: str, error: grpc.aio.AioRpcError, *, is_encrypted: bool) -> WatchError:
    details = visible(error.details() or "", _MAX_CHARACTERS)
    match error.code():
        case grpc.StatusCode.UNAVAILABLE:
            hint = (
                ""
                if is_encrypted or address.startswith("unix:")
                else " If it encrypts, name its certificate: --ca FILE"
            )
            return BrokenOff(
                f"no referee answers at {address} ({details}); is it running, and the address right?{hint}"
            )
        case grpc.StatusCode.ABORTED:
            return BrokenOff(details)
        case code:
            return WatchError(f"the referee at {address} refused ({code.name}): {details}")


# --- messages of a referee, which is a stranger, too -------------------------------------------------------


def _message(message: object, address: str) -> pb.Happened:
    if not isinstance(message, pb.Happened):  # grpc.aio.EOF
        raise WatchError(f"{address} ended the stream before the match was over")
    return message


def _game(message: pb.Happened) -> Game:
    known = games()
    if message.game not in known:
        raise WatchError(f"the match is one of {visible(message.game, 64)!r}; here are: {', '.join(known)}")
    return known[message.game]


def _setup(game: Game, message: pb.Happened, address: str) -> Setup:
    try:
        _happened(game, message)
        board = json.loads(json_format.MessageToJson(message.board), parse_float=_number)
        return game.setup(message.seats, dict(message.options), board)
    except (LookupError, ValueError, SetupError) as error:
        reason = visible(str(error), _MAX_CHARACTERS)
        raise WatchError(f"cannot read what {address} says about the match: {reason}") from error


def _number(text: str) -> float:
    """Return a board's number as an integer if it is whole, because all numbers in a message are floats."""
    number = float(text)
    return int(number) if number.is_integer() else number


def _happened(game: Game, message: pb.Happened) -> Happened:
    over = message.game_over.seats
    if message.game != game.name or message.seats not in game.seat_counts or len(over) not in (0, message.seats):
        raise CodecError(f"{message.seats} seats, {len(over)} results, game {visible(message.game, 64)!r}")
    return wire.read_happened(codec(game), message)


def _title(game: Game, message: pb.Happened) -> str:
    clock = message.clock
    control = TimeControl(clock.bank_ms / 1000, clock.increment_ms / 1000, clock.cap_ms / 1000)
    return f"{game.title}, {message.seats} seats, match {visible(message.match_id, 64)}, clock {control}"


def _result(over: pb.GameOver) -> Table:
    seed = f"seed {visible(over.seed, 64)}, " if over.seed else ""
    table = Table(
        "rank", "seat", "score", "outcome", title=f"the match is over; {seed}digest {visible(over.digest, 64)}"
    )
    for seat in sorted(over.seats, key=lambda seat: (seat.rank, seat.seat)):
        # A newer referee may have other outcomes.
        known = pb.SeatResult.Outcome.DESCRIPTOR.values_by_number.get(seat.outcome)
        outcome = "unknown" if known is None else known.name.removeprefix("OUTCOME_").lower()
        table.add_row(str(seat.rank), str(seat.seat), str(seat.score), outcome)
    return table


# --- a screen for a match of this machine ------------------------------------------------------------


@contextlib.asynccontextmanager
async def screen_beside(server: RefereeServer, plan: MatchPlan) -> AsyncIterator[None]:
    """Show a match of this process while the context lasts.

    The screen is a process of its own, so that drawing takes no time from the referee. The context begins when the
    screen is ready, and ends when the screen has shown the end of the match.
    """
    # -P keeps a module in the current folder from taking the place of ours.
    program = [sys.executable, "-P", "-m", __name__, server.local_address, plan.match_id, *plan.bots]
    # Ctrl-C is for this process, which then ends the stream, and with it the screen; the screen inherits the mask.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = await asyncio.create_subprocess_exec(*program, stdout=sys.stdout.fileno())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    # Otherwise, `kill_adopted` would take it for a process that an agent has left behind.
    orphans.own_started(process.pid)
    ended = asyncio.ensure_future(process.wait())
    ready = asyncio.ensure_future(server.showing(plan).watched.wait())
    try:
        await asyncio.wait([ended, ready], return_when=asyncio.FIRST_COMPLETED)
        yield
        with contextlib.suppress(asyncio.CancelledError):  # Ctrl-C: the match is over, only its screen is not
            await asyncio.wait([ended])  # which does not cancel `ended`
    finally:
        # A screen that has shown nothing has nothing to end.
        await asyncio.wait([ended], timeout=_BESIDE_SECONDS if ready.done() else 0)
        ready.cancel()
        if not ended.done():
            process.kill()
            await ended
            out.show_cursor()
        orphans.own_ended(process.pid)


def _show_beside(address: str, match: str, *names: str) -> None:
    """Show a match for the process that plays it; if there is no result, that process itself reports the reason."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # it is a file
    try:
        asyncio.run(_follow(address, match, None, names))
    except BrokenOff:
        sys.exit(1)
    except DoganaError as error:
        sys.exit(f"dogana: {error}")
    except OSError:  # nobody reads our output: the other process will find out
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)


if __name__ == "__main__":
    _show_beside(*sys.argv[1:])
