"""The command `dogana`: the referee's commands, and `dogana ladder`."""

from __future__ import annotations

import errno
import logging
import os
import signal
import sys
from types import FrameType

import typer

from ladder.commands.backup import backup
from ladder.commands.recompute import recompute
from ladder.commands.run import run
from ladder.commands.submit import submit
from ladder.commands.top import top
from referee.commands.games import games
from referee.commands.play import play
from referee.commands.position import position
from referee.commands.replay import replay
from referee.commands.verify import verify
from referee.errors import DoganaError

app = typer.Typer(
    help="An AI tournament harness for modern board games: referee matches, keep records, run a ladder.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (games, play, verify, replay, position):
    app.command()(command)
ladder = typer.Typer(help="Submit bots, run matches among them, look at the standings.", no_args_is_help=True)
for ladder_command in (submit, run, top, recompute, backup):
    ladder.command()(ladder_command)
app.add_typer(ladder, name="ladder")


def main() -> None:
    """Runs the command line. What the user can mend is told in one line, with exit status 1."""
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
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.filename is None and error.errno in _CANNOT_WRITE:  # all files have names
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python tries again at exit
            error.filename = "standard output"
        _fail(f"{error.filename or 'cannot go on'}: {error.strerror or error}")


_CANNOT_WRITE = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)
_INTERRUPTED = 128 + signal.SIGINT


def _stop_cleanly() -> list[int]:
    """Makes SIGTERM and SIGHUP do what Ctrl-C does; returns a list that will have the one that came first.

    Later ones are ignored: systemd and shells send several, and none must interrupt the cleaning up.
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
    """Whether what made a match void is a fault of ours and worth a traceback; a full disk is not."""
    return entry.exc_info is None or not isinstance(entry.exc_info[1], (OSError, DoganaError))


def _fail(reason: str) -> None:
    sys.stderr.write("dogana: " + " ".join(reason.split()) + "\n")
    sys.exit(1)
