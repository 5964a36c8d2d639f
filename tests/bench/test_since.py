"""An older commit is compared figure by figure, round by round."""

from __future__ import annotations

import pytest

from bench.report import Circumstances, Report, page
from bench.since import CannotCompare, compare, ratios, read


def test_the_figures_of_a_page_are_read_by_section_and_title() -> None:
    report = Report()
    report.section("Asking")
    report.ratio("yunnan", "1,401 round trips/s, 461 µs of CPU each", "bare gRPC 3,613", 0.39, 0.6)
    report.section("Rules")
    report.figure("yunnan", "152,131")
    written = page(report, Circumstances("2026-11-22", "abc", "a machine", True, 0.0, 0.0, 1.0))
    assert read(written) == {"Asking: yunnan": "1,401 round trips/s, 461 µs of CPU each", "Rules: yunnan": "152,131"}


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        (["1,000 /s, 2.0 ms"], ["2,000 /s, 1.0 ms"], [2.0, 0.5]),
        (["10 ms", "10 ms", "100 ms"], ["11 ms", "12 ms", "100 ms"], [1.1]),  # the median, whatever one round was like
        (["1.06e+03 µs"], ["530 µs"], [0.5]),
        ([""], ["10 ms"], []),  # a row that is new
        (["0 ms"], ["10 ms"], []),
        (["not measured: install it"], ["not measured: install it"], []),
    ],
)
def test_each_number_of_a_figure_has_its_ratio(before: list[str], now: list[str], found: list[float]) -> None:
    assert ratios(before, now) == pytest.approx(found)


def test_a_commit_that_is_not_there_is_said() -> None:
    with pytest.raises(CannotCompare, match="git -C"):
        compare("no-such-commit", ["clocks"])
