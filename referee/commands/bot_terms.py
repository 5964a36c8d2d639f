"""Start the bots of a series or a comparison, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.commands.options import BadOption, read_limits
from referee.commands.output import err
from referee.errors import DoganaError
from referee.live.matches import bundle
from referee.live.matches.cluster_series import Party, play_on_cluster
from referee.live.matches.play import Command, Player
from referee.live.matches.series import FinishedMatch, MatchSource, play_series
from referee.sandbox.box import Sandbox
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build_sandbox
from referee.sandbox.system import processors


class NotThere(DoganaError):
    """Other machines cannot play the matches; the text says why."""


@dataclass(frozen=True, slots=True)
class BotTerms:
    """The options for starting bots, as JSON values; None stands for the default.

    The plans of series and comparisons contain these options.
    """

    wait: float | None
    isolate: bool
    memory: int | None
    tasks: int | None
    cpus: float | None
    no_pondering: bool
    runtime: list[str] | None

    @property
    def limits(self) -> ResourceLimits:
        """The limits of each bot in a sandbox."""
        return read_limits(self.memory, self.tasks, self.cpus, no_pondering=self.no_pondering)

    @property
    def runtimes(self) -> list[Path]:
        """The folders with runtimes."""
        return list(map(Path, self.runtime or []))

    def sandbox(self, ray: str | None) -> Sandbox | None:
        """Return the sandbox for bots on this machine; None if they need none, or play on a cluster.

        Raises:
            BadOption: if limits are set, but no sandbox is asked for.
            CannotIsolate: if this machine cannot build the sandbox.
        """
        limits = (self.memory, self.tasks, self.cpus, self.no_pondering, self.runtime)
        if not self.isolate and limits != (None, None, None, False, None):
            raise BadOption("--memory, --tasks, --cpus, --no-pondering and --runtime are for --isolate")
        if not self.isolate or ray is not None:
            return None
        return build_sandbox(self.limits, self.runtimes, "leave out --isolate if you trust the bots")


def play_matches(
    series: MatchSource,
    terms: BotTerms,
    workers: int | None,
    ray: str | None,
    without: Sequence[Path] | None = None,
) -> Generator[FinishedMatch, None, None]:
    """Play a series in processes of this machine or, given the address of a cluster, on the machines of the cluster.

    Args:
        series: the series.
        terms: the limits and runtimes of its bots.
        workers: the maximum number of concurrent matches; None for one per processor.
        ray: the address of the cluster; None to play here.
        without: files and folders that are not sent to the cluster; None for the records, which may be in a bot's
            folder.

    Raises:
        BadBundle: if the files for the series' commands cannot be sent to the cluster.
    """
    if ray is None:
        return play_series(series, min(series.count, workers or processors()))
    if without is None:
        without = [] if series.records is None else [series.records]
    return play_on_cluster(series, ray, workers, _tell, _party(series, terms.limits, terms.runtimes, without))


def _tell(text: str) -> None:
    """Print a remark about a machine."""
    err.print(text, markup=False, soft_wrap=True)


def _party(
    series: MatchSource, limits: ResourceLimits, runtimes: Sequence[Path], without: Sequence[Path]
) -> Party | None:
    """Return the files and limits that commands in a series need on other machines; None if there are no commands.

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
        NotThere: if the other machines cannot play the matches.
    """
    if any(isinstance(player, Command) for player in players) and not isolate:
        raise NotThere(
            "other machines start commands in a sandbox, with the files of this folder, which is /bot there:"
            f" {remedy}, or leave out --ray"
        )
