"""A series on the machines of a cluster: the files and limits that it needs there, and remarks about the machines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from referee.commands.output import err
from referee.errors import DoganaError
from referee.live.matches import bundle
from referee.live.matches.cluster_series import Party
from referee.live.matches.play import Command, Player
from referee.live.matches.series import MatchSource
from referee.sandbox.limits import ResourceLimits


class NotThere(DoganaError):
    """Other machines cannot play the matches; the text says why."""


def tell(text: str) -> None:
    """Print a remark about a machine."""
    err.print(text, markup=False, soft_wrap=True)


def party(
    series: MatchSource, limits: ResourceLimits, runtimes: Sequence[Path], without: Sequence[Path]
) -> Party | None:
    """Return the files and limits that commands in a series need on other machines; None without commands.

    Args:
        series: the series.
        limits: the limits of each command.
        runtimes: folders with runtimes.
        without: files and folders that are not sent.

    Raises:
        BadBundle: if the current folder, in which the commands run, cannot be sent.
    """
    if not any(isinstance(player, Command) for player in series.players):
        return None
    return Party(bundle.pack(Path.cwd(), without), limits, runtimes)


def check_travels(players: Sequence[Player], *, isolate: bool, remedy: str = "add --isolate") -> None:
    """Check that other machines can play the matches; `remedy` tells the user how to get a sandbox.

    Raises:
        NotThere: if they cannot.
    """
    if any(isinstance(player, Command) for player in players) and not isolate:
        raise NotThere(
            "other machines start commands in a sandbox, with the files of this folder, which is /bot there:"
            f" {remedy}, or leave out --ray"
        )
