"""The table of `make bench`: each row with an aim says whether it is met, and its page on which machine it was measured."""

from __future__ import annotations

import pytest
from rich.console import Console

from bench.__main__ import measure
from bench.report import Circumstances, Report, page


@pytest.mark.parametrize(
    ("ratio", "least", "most", "is_short"),
    [
        (0.59, 0.6, None, True),
        (0.6, 0.6, None, False),
        (1.01, None, 1.0, True),
        (1.0, None, 1.0, False),
        (1.04, 0.97, 1.03, True),
        (0.96, 0.97, 1.03, True),
        (1.0, 0.97, 1.03, False),
        (0.1, None, None, False),
    ],
)
def test_a_row_is_ok_or_short_by_its_aim(ratio: float, least: float | None, most: float | None, is_short: bool) -> None:
    report = Report()
    report.ratio("what", "ours", "other", ratio, least, most=most)
    assert report.short == (["what"] if is_short else [])


def test_a_row_that_cannot_be_measured_says_why_and_is_neither_ok_nor_short() -> None:
    report = Report()
    report.absent("with an aim", "install it", 1.0)
    report.absent("without", "install it")
    [rows] = report.sections.values()
    assert [(row.ours, row.verdict) for row in rows] == [("not measured: install it", "")] * 2
    assert report.missing == ["with an aim"]
    assert "not measured: 1" in report.summary()


def test_a_step_that_fails_costs_only_its_own_rows() -> None:
    def fails(_: Report) -> None:
        raise ValueError("no disk")

    report = Report()
    steps = {"bad": fails, "good": lambda report: report.figure("what", "1")}
    measure(report, steps, Console(quiet=True))
    [rows] = report.sections.values()
    assert report.missing == ["bad"]
    assert [(row.what, row.ours) for row in rows] == [
        ("the step `bad`", "not measured: ValueError: no disk"),
        ("what", "1"),
    ]


@pytest.mark.parametrize(("load", "warns"), [(0.4, False), (1.0, False), (1.1, True)])
def test_the_page_warns_of_figures_from_a_busy_machine(load: float, warns: bool) -> None:
    written = page(Report(), Circumstances("2026-11-22", "abc", "a machine", True, load, 2.0, 12.0))
    assert ("The machine was busy" in written) == warns
    assert f"load {load:.1f} at the start and 2.0 at the end" in written


@pytest.mark.parametrize("quick", [True, False])
def test_a_page_of_a_quick_run_says_that_it_proves_nothing(quick: bool) -> None:
    report = Report(quick=quick)
    written = page(report, Circumstances("2026-11-22", "abc", "a machine", True, 0.0, 0.0, 1.0))
    assert ("measured once only" in written) == quick
    assert report.rounds(9) == (1 if quick else 9)


def test_the_page_has_every_row_as_a_row_whatever_is_in_it() -> None:
    report = Report()
    report.section("Speed")
    report.absent("a|b", "broken\nin two", 1.0)
    written = page(report, Circumstances("2026-11-22", "abc", "a machine", False, 0.0, 0.0, 1.0))
    assert "| **Speed** |  |  |  |  |  |\n| a\\|b | not measured: broken in two |  |  | >= 1 |  |\n" in written
