"""Starting the bots of a series or a comparison, here or on a cluster."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from referee.commands.isolation import build_sandbox
from referee.commands.on_cluster import party, tell
from referee.commands.options import BadOption, read_limits
from referee.live.matches.cluster_series import play_on_cluster
from referee.live.matches.series import FinishedMatch, Series, play_series
from referee.sandbox.box import Sandbox
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.system import processors


@dataclass(frozen=True, slots=True)
class BotTerms:
    """The options for starting bots, as JSON values; None for the default. The plans of series and comparisons contain them."""

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
        """Return the sandbox for bots on this machine; None if they need none here, or play on a cluster.

        Raises:
            BadOption: if there are limits, but no sandbox.
            CannotIsolate: if this machine cannot build it.
        """
        limits = (self.memory, self.tasks, self.cpus, self.no_pondering, self.runtime)
        if not self.isolate and limits != (None, None, None, False, None):
            raise BadOption("--memory, --tasks, --cpus, --no-pondering and --runtime are for --isolate")
        if not self.isolate or ray is not None:
            return None
        return build_sandbox(self.limits, self.runtimes, "leave out --isolate if you trust the bots")


def play_matches(
    series: Series, terms: BotTerms, workers: int | None, ray: str | None
) -> Generator[FinishedMatch, None, None]:
    """Play a series in processes of this machine or, given the address of a cluster, on the machines of the cluster.

    Raises:
        BadBundle: if the files of its commands cannot be sent to the cluster.
    """
    if ray is None:
        return play_series(series, min(series.count, workers or processors()))
    # Records inside a bot's folder are not sent to the cluster.
    without = [] if series.records is None else [series.records]
    return play_on_cluster(series, ray, workers, tell, party(series, terms.limits, terms.runtimes, without))
