"""The table of `make bench`: each row with an aim says whether it is met."""

from __future__ import annotations

import pytest

from bench.__main__ import Report


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
    assert report.ratios == {"what": ratio}
    assert report.table.row_count == 1
