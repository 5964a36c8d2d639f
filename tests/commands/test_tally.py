"""The table after a series: what counts as evidence, and how much of it there is."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from referee.commands.tally import SeriesStatistics, mean, share
from referee.match.result import Outcome, Result, SeatResult
from referee.verdict.student import wilson


def won_by(seat: int, digest: str) -> Result:
    """A match of two seats that one of them has won."""
    seats = [
        SeatResult(at, "", 1 if at == seat else 2, 10 * (at == seat), Outcome.PLAYED, 5, 1.0, 1.0, 0.0, "")
        for at in (0, 1)
    ]
    return Result(tuple(seats), 10, digest, None)


def printed(tally: SeriesStatistics) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(tally.table())
    return " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]


def table_of(block: int, *matches: tuple[int, str]) -> str:
    """The table of matches, each with the place of its winner on the command line and its digest."""
    tally = SeriesStatistics(["strong", "weak"], block)
    for number, (winner, digest) in enumerate(matches):
        turn = number % block
        tally.add(won_by((winner - turn) % 2, digest), turn)
    return printed(tally)


def test_matches_that_were_played_alike_are_evidence_once() -> None:
    table = table_of(1, (0, "a"), (0, "a"), (0, "a"))
    assert "3 matches (1 different), mean and 95 % interval " in table
    assert "100.0% (-)" in table
    assert "± 0.0" not in table


def test_matches_of_one_seed_count_as_one() -> None:
    table = table_of(2, (0, "a"), (0, "b"), (0, "c"), (0, "d"))
    assert "4 matches, mean and 95 % interval over 2 blocks" in table
    assert "100.0% (34.2% to 100.0%)" in table
    assert "± 0.0" not in table
    table = table_of(2, (0, "a"), (0, "b"))
    assert "2 matches, mean and 95 % interval over 1 block " in table
    assert "100.0% (-)" in table


def test_blocks_that_were_played_alike_are_evidence_once() -> None:
    assert "8 matches (4 different), mean and 95 % interval over 2 blocks" in table_of(
        2, *[(0, "a"), (1, "b"), (0, "c"), (1, "d")] * 2
    )


def test_without_rotation_each_match_is_evidence() -> None:
    table = table_of(1, (0, "a"), (1, "b"))
    assert "2 matches, mean and 95 % interval " in table
    assert "block" not in table
    assert "50.0% (9.5% to 90.5%)" in table


def test_what_put_a_player_out_is_counted_for_it_in_whatever_seat_it_was() -> None:
    tally = SeriesStatistics(["strong", "weak"], 2)
    for turn, seat, outcome in (
        (0, 1, Outcome.CRASH),
        (1, 0, Outcome.TIMEOUT),
        (0, 1, Outcome.CRASH),
        (1, 0, Outcome.PLAYED),
    ):
        result = won_by(1 - seat, f"{turn}{outcome}")
        seats = [replace(one, outcome=outcome) if one.seat == seat else one for one in result.seats]
        tally.add(replace(result, seats=tuple(seats)), turn)
    assert tally.with_outs == 3
    rows = [line for line in printed(tally).split("│") if "crash" in line or "timeout" in line]
    assert rows == [" 2 crash, 1 timeout "]


def test_intervals_are_those_of_the_textbook() -> None:
    assert mean([1, 2, 3]) == "2.0 ± 2.5"  # 4.303 / sqrt(3)
    assert mean([10 * (number % 2) for number in range(31)]) == "4.8 ± 1.9"  # t(30) = 2.042
    assert mean([4]) == "4.0 ± -"
    assert mean([4, 4, 4]) == "4.0 ± -"
    assert share([1] * 8 + [0] * 2) == "80.0% (49.0% to 94.3%)"
    assert share([0.5, 0.5]) == "50.0% (9.5% to 90.5%)"


@pytest.mark.parametrize(
    ("mean_share", "count", "low", "high"),
    [(0.5, 10, 0.2366, 0.7634), (0.0, 10, 0.0, 0.2775), (0.8, 10, 0.4902, 0.9433), (0.9, 10, 0.5958, 0.9821)],
)
def test_between_which_limits_a_share_is_in_the_long_run(
    mean_share: float, count: int, low: float, high: float
) -> None:
    """Newcombe, "Two-sided confidence intervals for the single proportion" (1998), gives the same by method 3."""
    assert wilson(mean_share, count) == pytest.approx((low, high), abs=1e-4)
