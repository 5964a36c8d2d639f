"""Options shared by several commands: a clock, the options of a game, and the limits of bots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from referee.errors import DoganaError
from referee.match.clock import TimeControl
from referee.options import MAX_OPENINGS, OPENINGS
from referee.sandbox.limits import MIB, ResourceLimits

DEFAULT_CLOCK = "60+0.5/10"
ClockOption = Annotated[str, typer.Option(help="The clock of each seat, in seconds.", metavar="BANK+INCREMENT/CAP")]
GameOptions = Annotated[
    list[str] | None, typer.Option("--option", "-o", help="Set an option of the game.", metavar="NAME=VALUE")
]
OpeningsOption = Annotated[
    int | None,
    typer.Option(
        help="Begin each match with this many random decisions, which follow from its seed.",
        min=0,
        max=MAX_OPENINGS,
        show_default="4 in a game without chance after the start, 0 in others",
        metavar="NUMBER",
    ),
]
MAX_MIB, MAX_TASKS, MAX_CPUS = 4 * 1024 * 1024, 4 * 1024 * 1024, 1024
"""The largest limits for a bot; no machine has more. Linux allows at most 4,194,304 processes, as proc(5) says."""
MemoryOption = Annotated[
    int | None,
    typer.Option(
        help="The maximum memory of each bot, in MiB.", show_default="512", min=32, max=MAX_MIB, metavar="MIB"
    ),
]
TasksOption = Annotated[
    int | None,
    typer.Option(
        help="The maximum number of processes and threads of each bot.",
        show_default="64",
        min=8,
        max=MAX_TASKS,
        metavar="NUMBER",
    ),
]
CpusOption = Annotated[
    float | None,
    typer.Option(
        help="The maximum number of processors for each bot.", show_default="1", min=0.1, max=MAX_CPUS, metavar="NUMBER"
    ),
]
NoPonderingOption = Annotated[bool, typer.Option("--no-pondering", help="Stop each bot while it has no open decision.")]
RuntimeOption = Annotated[
    list[Path] | None,
    typer.Option(help="Let bots use the runtime in this folder, such as /opt/jdk-25.", metavar="FOLDER"),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        help="The seed, which makes chance repeatable; several matches count up from it.",
        min=0,
        max=2**62,
        metavar="NUMBER",
    ),
]
MatchClockOption = Annotated[
    str | None,
    typer.Option(help="The clock of each seat, in seconds.", metavar="BANK+INCREMENT/CAP", show_default=DEFAULT_CLOCK),
]
MatchWorkersOption = Annotated[
    int | None,
    typer.Option(
        help="The maximum number of matches at a time.",
        show_default="one for each processor",
        min=1,
        max=1024,
        metavar="NUMBER",
    ),
]
JoinOption = Annotated[
    float | None,
    typer.Option(
        help="The maximum time for agents to join.",
        show_default="10; 600 if a seat is remote",
        min=0.1,
        max=86_400,
        metavar="SECONDS",
    ),
]
IsolateOption = Annotated[
    bool,
    typer.Option("--isolate", help="Run started agents in the sandbox of a ladder; this folder is /bot there."),
]
ResumeOption = Annotated[
    bool,
    typer.Option("--resume", help="Continue in a folder of records: `--resume FOLDER` needs nothing else."),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Play on the machines of a Ray cluster: the one that this machine has joined (auto, or HOST:PORT of its head), or"
        " one that is started for this command (local).",
        metavar="ADDRESS",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
KeyOption = Annotated[
    str,
    typer.Option(
        "--key",
        help="The public key of the ladder, as `dogana ladder key` prints it, or a file with it.",
        metavar="KEY|FILE",
    ),
]
TlsCertificateOption = Annotated[
    Path | None, typer.Option(help="Encrypt remote connections with this certificate chain (PEM).", metavar="FILE")
]
TlsKeyOption = Annotated[Path | None, typer.Option(help="The private key of the certificate (PEM).", metavar="FILE")]


class BadOption(DoganaError):
    """An option of a command cannot be read; the text says why."""


def read_clock(text: str) -> TimeControl:
    """Read a clock.

    Raises:
        BadOption: if the text is not a clock.
    """
    try:
        return TimeControl.parse(text)
    except ValueError as error:
        raise BadOption(str(error)) from error


def read_limits(
    memory: int | None, tasks: int | None, cpus: float | None, *, no_pondering: bool = False
) -> ResourceLimits:
    """Return the limits of each bot; None stands for the default."""
    usual = ResourceLimits()
    return ResourceLimits(
        memory_bytes=usual.memory_bytes if memory is None else memory * MIB,
        tasks=tasks or usual.tasks,
        cpus=cpus or usual.cpus,
        ponders=not no_pondering,
    )


def read_tls(certificate: Path | None, key: Path | None) -> tuple[bytes | None, bytes | None]:
    """Read the certificate and the key; return None for both if neither is given.

    Raises:
        BadOption: if only one is given, or one cannot be read.
    """
    if certificate is None and key is None:
        return None, None
    if certificate is None or key is None:
        raise BadOption("an encrypted connection needs both --tls-cert and --tls-key")
    try:
        return certificate.read_bytes(), key.read_bytes()
    except OSError as error:
        raise BadOption(f"cannot read {error.filename}: {error.strerror}") from error


def with_openings(entries: Sequence[str], openings: int | None) -> list[str]:
    """Return options of a game, each in the form NAME=VALUE, including the number of openings if one was chosen."""
    return [*entries, *([] if openings is None else [f"{OPENINGS}={openings}"])]


def read_options(entries: Sequence[str]) -> dict[str, str]:
    """Read options of a game, each in the form NAME=VALUE; the game checks them.

    Raises:
        BadOption: if an option has a different form, or is given twice.
    """
    chosen: dict[str, str] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals:
            raise BadOption(f"option {entry!r} must be written as NAME=VALUE")
        if name in chosen:
            raise BadOption(f"option {name} is given twice")
        chosen[name] = value
    return chosen
