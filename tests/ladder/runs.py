"""A whole run in the process of a test."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from ladder.facts.store import Store
from ladder.operation.home import Home
from ladder.operation.progress import Progress
from ladder.play import home_places, qualifying, running
from ladder.play.running import RunPlan, only_run, run_locked


def run(home: Home, store: Store, plan: RunPlan) -> Generator[Progress]:
    """Play as `dogana ladder run` does, with the lock of the ladder's runs."""
    with only_run(home, store):
        yield from run_locked(home, store, plan)


def keep_time_by(clock: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run keep time by a clock of the test, which has `monotonic` and `sleep`."""
    for module in (running, qualifying, home_places):
        monkeypatch.setattr(module, "time", clock)
