"""The command `dogana`: the referee's commands, and `dogana ladder`."""

from __future__ import annotations

import errno
import logging
import os
import re
import signal
import sys
from functools import partial
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from ladder.commands.lazy import lazy
from referee.commands.output import out
from referee.errors import DoganaError
from referee.files import in_words
from referee.terminal import Remarks
from referee.version import installed_version


def _print_version(wanted: bool) -> None:
    if wanted:
        from referee.registry import rules_are_compiled  # imported here, so that no command has to wait for it

        rules = "compiled" if rules_are_compiled() else "pure Python"
        out.print(f"dogana {installed_version()} (rules: {rules})")
        raise typer.Exit


_SETTINGS: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None, "pretty_exceptions_enable": False}
_WIDEST = 10_000
"""The maximum width of help pages, so high that in practice the width of the terminal applies."""


def _of_the_ladder(*names: str) -> dict[str, str | typer.Typer]:
    """Return commands of the ladder by name, each with its module; a function or group has the same name as its module."""
    return {name: f"ladder.commands.{name.replace('-', '_')}" for name in names}


LADDER = {
    "Look": _of_the_ladder(
        "top",
        "crosstable",
        "compare",
        "bots",
        "show",
        "matches",
        "match",
        "log",
        "record",
        "files",
        "playing",
        "queue",
        "key",
        "audit-log",
    )
    | {"replay": "ladder.commands.ladder_replay"},  # the module `replay` belongs to `dogana replay`
    "Author": _of_the_ladder(
        "submit",
        "retire",
        "requalify",
        "at-tables",
    ),
    "Organise": _of_the_ladder(
        "run",
        "serve",
        "web",
        "site",
        "event",
        "author",
        "audit",
        "recompute",
        "backup",
        "export",
        "finalists",
        "prune",
    ),
}
"""The commands of `dogana ladder`, in the sections of its help page."""
ladder = typer.Typer(help="Submit bots, run matches among them, look at standings.", cls=lazy(LADDER), **_SETTINGS)
TOURNAMENT: dict[str, dict[str, str | typer.Typer]] = {
    "Commands": {
        name: f"referee.commands.tournament.{name}" for name in ("new", "run", "add", "show", "verify", "page")
    }
}
"""The commands of `dogana tournament`."""
tournament = typer.Typer(help="Find the best of several bots in a tournament.", cls=lazy(TOURNAMENT), **_SETTINGS)
COMMANDS: dict[str, dict[str, str | typer.Typer]] = {
    "Look": {
        "games": "referee.commands.games",
        "rules": "referee.commands.rules",
        "replay": "ladder.commands.replay",
        "watch": "referee.commands.watch",
        "position": "referee.commands.position",
        "verify": "referee.commands.verify",
        "verify-log": "referee.commands.verify_log",
    },
    "Author": {
        "new": "referee.commands.new",
        "play": "referee.commands.play",
        "compare": "referee.commands.compare",
        "check": "ladder.commands.check",
        "login": "ladder.commands.login",
        "logout": "ladder.commands.logout",
        "connect": "ladder.commands.connect",
    },
    "Organise": {
        "ladder": ladder,
        "tournament": tournament,
        "doctor": "referee.commands.doctor",
    },
}
"""The commands of `dogana`, in the sections of its help page."""
app = typer.Typer(
    help="An AI tournament harness for modern board games: referee matches, keep records, run a ladder.",
    cls=lazy(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST},
    **_SETTINGS,
)


@app.callback()
def _options(
    version: Annotated[
        # Eager, so that the option also works without a command.
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Handle the options that come before a command."""


def main() -> None:
    """Run the command line. Errors that the user can correct are printed on one line, with exit status 1."""
    # A terminal with another encoding must not end a command with a traceback.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # it is a file
    sys.stderr = Remarks()  # for usage errors, logs and tracebacks too
    logging.getLogger("referee.live.matches.driver").addFilter(_is_ours)
    stopped: list[int] = []
    try:
        app(prog_name="dogana", obj=partial(stop_cleanly, stopped))
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # Rich or typer, whichever wrote, has turned it into status 1
            _end_for_want_of_a_reader()
        # For any interruption, typer exits with the status of Ctrl-C; this is the status of the signal that came.
        if stopped and end.code == _INTERRUPTED:
            sys.exit(128 + stopped[0])
        raise
    except DoganaError as error:
        _fail(str(error))
    except BrokenPipeError:
        _end_for_want_of_a_reader()
    except OSError as error:
        if error.filename is None and error.errno in _CANNOT_WRITE:  # an error about a file names the file
            _drop_output()
            error.filename = "standard output"
        _fail(in_words(error) if error.filename else f"cannot go on: {error.strerror or error}")
    except UnicodeEncodeError:
        # Paths may contain any bytes, but names are stored and sent as UTF-8.
        found = next(filter(_NOT_UTF8.search, sys.argv), None)
        if found is None:
            raise
        _fail(f"{found!r} on the command line is not UTF-8; write it in UTF-8")


_CANNOT_WRITE = (errno.EBADF, errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""Matches the characters by which Python represents bytes on the command line that are not UTF-8."""
_INTERRUPTED = 128 + signal.SIGINT
_READER_GONE = 128 + signal.SIGPIPE
"""The exit status if the reader has closed our output, as `head` does: the status of programs killed by SIGPIPE."""


def _drop_output() -> None:
    """Discard the rest of standard output; otherwise, Python would try to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end_for_want_of_a_reader() -> NoReturn:
    """End quietly after the reader has closed our output, as `head` does."""
    _drop_output()
    sys.exit(_READER_GONE)


def stop_cleanly(came: list[int]) -> None:
    """Make SIGTERM and SIGHUP act like Ctrl-C from now on, and add the first of them to arrive to a list.

    Later ones are ignored: systemd and shells send several, and none may interrupt the clean-up. `PagedCommand` calls this when
    the function of a command begins. Until then there is nothing to clean up, and a signal kills the process: Python drops an
    exception in the callbacks of imports, and libraries drop one while they parse the command line.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        if not came:
            came.append(number)
            interrupt = signal.getsignal(signal.SIGINT)
            if callable(interrupt) and interrupt is not signal.default_int_handler:
                interrupt(number, frame)
            else:
                raise KeyboardInterrupt(signal.Signals(number).name)

    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script
        # asyncio stops its loop in order only if this is the handler; the signal is blocked, so Ctrl-C still reaches only others.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, stop)


def _is_ours(entry: logging.LogRecord) -> bool:
    """Return True if a log entry deserves a traceback, because it reports a fault of ours and not, for example, a full disk."""
    return entry.exc_info is None or not isinstance(entry.exc_info[1], (OSError, DoganaError))


def _fail(reason: str) -> None:
    sys.stderr.write("dogana: " + " ".join(reason.split()) + "\n")  # always one line
    sys.exit(1)
