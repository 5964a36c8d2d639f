"""The bots of consenting authors, and how they start at a table. They run as on the ladder, but their output is not stored."""

from __future__ import annotations

import base64
import logging
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ladder.facts.standings import SCHEDULED, statuses
from ladder.facts.store import Store
from ladder.intake.submission import Inspector
from ladder.model.match import JOIN_SECONDS, Version
from ladder.operation.errors import CannotPlay, LadderError
from ladder.operation.home import Home
from ladder.operation.journal import note
from referee.bots.manifest import environment
from referee.live.matches.play import Command
from referee.sandbox.box import Sandbox


@dataclass(frozen=True, slots=True)
class Isolation:
    """The isolation of authors' bots at tables."""

    sandbox: Sandbox | None
    """The sandbox of the bots; None to run them with the rights of this process."""


class Hosts:
    """Seats authors' bots at the tables of one ladder."""

    def __init__(self, home: Home, isolation: Isolation) -> None:
        self._home = home
        self._isolation = isolation
        self._inspector = Inspector(home.versions)

    def willing(self, game: str) -> dict[str, Version]:
        """Return the versions that people may play against, by label, such as `mybot v2`: one scheduled version of each bot."""
        with Store(self._home.database, create=False) as store, store.reading():
            names = store.roster.at_tables()
            found = [
                one.version
                for condition in (store.roster.conditions_of(game) if names else ())
                for one in statuses(store, condition)
                if one.version.bot in names and one.status in SCHEDULED and not one.version.is_at_home
            ]
        newest = {version.bot: version for version in sorted(found, key=lambda version: version.number)}
        return {newest[bot].label: newest[bot] for bot in sorted(newest)}

    def orders(self, versions: Mapping[str, Version]) -> dict[str, Any]:
        """Return the commands that start versions, for the process of a table, which parses them with `commands_of`.

        Raises:
            LadderError: if the files of a version have changed.
        """
        for version in versions.values():
            try:
                self._inspector.check(version)
            except CannotPlay as error:
                note("table", logging.WARNING, text=f"somebody wanted to play against {version.label}: {error}")
                # A stranger may read this error, so it names no files.
                raise LadderError(
                    f"the files of {version.label} are damaged; its author must submit them again"
                ) from None
        sandbox = self._isolation.sandbox
        if sandbox is not None and "freezer" in sandbox.groups.found:  # people think for a long time
            sandbox = replace(sandbox, limits=replace(sandbox.limits, ponders=False))
        return {
            "bots": {
                label: [list(version.run), str(self._home.versions / version.content_hash)]
                for label, version in versions.items()
            },
            "environment": environment(self._home.runtimes()),
            "sandbox": base64.b64encode(pickle.dumps(sandbox)).decode(),
        }

    def sweep(self) -> None:
        """Kill the bots left behind by table processes that were killed."""
        if self._isolation.sandbox is not None:
            self._isolation.sandbox.groups.sweep()


def commands_of(orders: Mapping[str, Any]) -> dict[str, Command]:
    """Return the command of each bot in `Hosts.orders`."""
    if not orders:
        return {}
    sandbox: Sandbox | None = pickle.loads(base64.b64decode(orders["sandbox"]))  # noqa: S301 from the process that has started this one
    return {
        label: Command(run, orders["environment"], Path(folder), JOIN_SECONDS, sandbox)
        for label, (run, folder) in orders["bots"].items()
    }
