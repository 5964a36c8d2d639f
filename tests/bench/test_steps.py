"""The steps of `make bench`: each can be measured, and some figures mean what they say."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from bench import million
from bench.__main__ import STEPS
from bench.report import Report
from bench.running import steady_rate
from bench.scheduling import RULES, play
from bench.wire import Sizes, half

NEED_MORE = {
    "starting": "the modules of the kit for Go",
    "rules": "a compiler, and OpenSpiel",
}
"""The steps that need more than a checkout."""


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in STEPS if name not in NEED_MORE])
def test_a_step_can_be_measured_wherever_there_is_a_checkout(name: str, tmp_path: Path) -> None:
    report = Report(quick=True)
    if name == "million":
        million.add_rows(report, tmp_path / "ladders")
    else:
        STEPS[name](report)
    rows = [row for rows in report.sections.values() for row in rows]
    assert rows
    assert not report.missing
    assert all(any(digit.isdigit() for digit in row.ours) for row in rows)


def test_an_echo_agent_that_does_not_start_is_reported_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(RuntimeError, match="ended before the last question, with status 1"):
        half(Sizes(100, 10))


def test_the_rate_of_a_run_leaves_out_its_start_and_its_end() -> None:
    start = [(0.0, 0), (60.0, 1), (60.1, 2)]  # two workers have played a match each
    steady = [(60.1 + 0.5 * number, 2 + number) for number in range(1, 9)]
    end = [(90.0, 12)]
    assert steady_rate([*start, *steady, *end], 2) == pytest.approx(2.0)


@pytest.mark.parametrize("rule", RULES)
def test_a_simulated_season_is_the_same_from_the_same_seed(rule: str) -> None:
    first, second, other = (play(rule, seed, bots=12, matches_each=20) for seed in (7, 7, 8))
    assert first == second
    assert other != first
