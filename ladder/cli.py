"""The command `dogana`: the referee's commands, and `dogana ladder`."""

from __future__ import annotations

import sys

import typer

from ladder.commands import app as ladder
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
app.add_typer(ladder, name="ladder")


def main() -> None:
    """Runs the command line. What the user can mend is told in one line, with exit status 1."""
    try:
        app()
    except DoganaError as error:
        _fail(str(error))
    except BrokenPipeError:  # somebody closed our output, as `head` does
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.filename is None:
            raise
        _fail(f"{error.filename}: {error.strerror}")


def _fail(reason: str) -> None:
    sys.stderr.write("dogana: " + " ".join(reason.split()) + "\n")
    sys.exit(1)
