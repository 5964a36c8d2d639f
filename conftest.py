"""The setup of all tests, in tests/ and beside the games: one Hypothesis profile, and a line for each failure at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# An example can be a whole match, and the machine can be loaded: no test may depend on the duration of an example.
# The examples are the same in every run, so that a failure in one place is a failure everywhere.
settings.register_profile(
    "dogana",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("dogana")


class FailuresAtOnce:
    """Prints a line for each failure when it happens; pytest itself names them at the end of the run.

    Args:
        terminal: pytest's reporter.
    """

    def __init__(self, terminal: Any) -> None:
        self._terminal = terminal

    @pytest.hookimpl(trylast=True)  # after the letter that pytest prints
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print the name of a failed test, and the first line of the reason."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            why = str(crash.message if crash else report.longrepr).strip().partition("\n")[0]
            part = "" if report.when == "call" else f" ({report.when})"
            self._terminal.write_line(f"\nFAILED {report.nodeid}{part} - {why}", red=True)


@pytest.hookimpl(trylast=True)  # pytest makes its reporter at the same time
def pytest_configure(config: pytest.Config) -> None:
    """Register `FailuresAtOnce`, in the process that prints."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(terminal), "failures-at-once")
