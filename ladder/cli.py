"""The command `dogana`: the referee's commands, and `dogana ladder`."""

from __future__ import annotations

import errno
import logging
import os
import signal
import sys
from importlib import metadata
from types import FrameType
from typing import Annotated

import typer

from ladder.commands.audit import audit
from ladder.commands.audit_log import audit_log
from ladder.commands.author import author
from ladder.commands.backup import backup
from ladder.commands.bots import bots
from ladder.commands.check import check
from ladder.commands.export import export
from ladder.commands.key import key
from ladder.commands.log import log
from ladder.commands.login import login, logout
from ladder.commands.match import match
from ladder.commands.matches import matches
from ladder.commands.playing import playing
from ladder.commands.queue import queue
from ladder.commands.recompute import recompute
from ladder.commands.record import record
from ladder.commands.replay import replay
from ladder.commands.requalify import requalify
from ladder.commands.retire import retire
from ladder.commands.run import run
from ladder.commands.serve import serve
from ladder.commands.show import show
from ladder.commands.submit import submit
from ladder.commands.top import top
from referee.commands.doctor import doctor
from referee.commands.games import games
from referee.commands.new import new
from referee.commands.output import out
from referee.commands.play import play
from referee.commands.position import position
from referee.commands.verify import verify
from referee.commands.verify_log import verify_log
from referee.commands.watch import watch
from referee.errors import DoganaError
from referee.terminal import Remarks


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"dogana {metadata.version('dogana')}")
        raise typer.Exit


app = typer.Typer(
    help="An AI tournament harness for modern board games: referee matches, keep records, run a ladder.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Accept what can be given before any command."""


for command in (games, new, check, play, watch, verify, verify_log, replay, position, doctor, login, logout):
    app.command()(command)
ladder = typer.Typer(help="Submit bots, run matches among them, look at the standings.", no_args_is_help=True)
for ladder_command in (
    submit,
    run,
    serve,
    top,
    queue,
    bots,
    show,
    matches,
    playing,
    match,
    log,
    record,
    retire,
    requalify,
    recompute,
    backup,
    export,
    audit,
    key,
    audit_log,
):
    ladder.command()(ladder_command)
ladder.add_typer(author, name="author")
app.add_typer(ladder, name="ladder")


def main() -> None:
    """Run the command line. What the user can mend is told in one line, with exit status 1."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # it is a file
    sys.stderr = Remarks()  # for usage errors, logs and tracebacks too
    logging.getLogger("referee.live.driver").addFilter(_is_ours)
    stopped = _stop_cleanly()
    try:
        app()
    except SystemExit as end:
        if stopped and end.code == _INTERRUPTED:
            sys.exit(128 + stopped[0])
        raise
    except DoganaError as error:
        _fail(str(error))
    except BrokenPipeError:  # somebody closed our output, as `head` does
        _drop_output()
        sys.exit(1)
    except OSError as error:
        if error.filename is None and error.errno in _CANNOT_WRITE:  # all files have names
            _drop_output()
            error.filename = "standard output"
        _fail(f"{error.filename or 'cannot go on'}: {error.strerror or error}")


_CANNOT_WRITE = (errno.EBADF, errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)
_INTERRUPTED = 128 + signal.SIGINT


def _drop_output() -> None:
    """Let the rest of standard output go nowhere, or Python tries to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop_cleanly() -> list[int]:
    """Make SIGTERM and SIGHUP do what Ctrl-C does; return a list that will hold the first that comes.

    Later ones are ignored: systemd and shells send several, and none may interrupt the cleaning up.
    """
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        if not came:
            came.append(number)
            interrupt = signal.getsignal(signal.SIGINT)
            (interrupt if callable(interrupt) else signal.default_int_handler)(number, frame)

    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script
        # asyncio stops its loop in order only if this is the handler; blocked, Ctrl-C is still for others.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, stop)
    return came


def _is_ours(entry: logging.LogRecord) -> bool:
    """Return whether a match was made void by a fault of ours that is worth a traceback; a full disk is not."""
    return entry.exc_info is None or not isinstance(entry.exc_info[1], (OSError, DoganaError))


def _fail(reason: str) -> None:
    sys.stderr.write("dogana: " + " ".join(reason.split()) + "\n")
    sys.exit(1)
