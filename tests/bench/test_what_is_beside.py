"""What the bench puts beside our figures: always the same, and measured in the same seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import million, wire
from bench.report import Report
from bench.wire import Asking, Sizes
from referee.game import Game
from referee.registry import games


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [([10.0, 21.0], "SHORT"), ([10.0, 14.0], "OK"), ([10.0, 12.0], "OK"), ([10.0, 90.0], "SHORT")],
)
def test_a_row_of_a_million_is_beside_the_shortest_ladder_whatever_comes_out(
    figures: list[float], verdict: str
) -> None:
    report = Report()
    million.add_row(report, "show", figures, "ms", 1.5)
    [[row]] = report.sections.values()
    assert (row.what, row.beside, row.verdict) == ("show", "at 1,000 10 ms", verdict)
    assert row.ratio == f"{figures[-1] / 10:.2f}"


def test_bare_streams_are_before_and_after_each_match_and_tables_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def play(game: Game, seats: int, seed: int, folder: Path) -> tuple[Asking, Sizes]:
        done.append(f"{game.name} {seats}")
        return Asking(100.0, 0.001), Sizes(500, 40)

    def half(sizes: Sizes) -> tuple[float, float]:
        done.append("bare")
        slow = done.count("bare") % 2  # every other half comes in a slow moment
        return (3.0 if slow else 1.0) * sizes.questions / 2 / 100, 0.001 * sizes.questions

    monkeypatch.setattr(wire, "play", play)
    monkeypatch.setattr(wire, "half", half)
    [first, second, *_] = games().values()
    found = wire.compare([first, second], rounds=2)
    tables = [
        f"{game.name} {seats}" for game in (first, second) for seats in (game.seat_counts[0], game.seat_counts[-1])
    ]
    of_a_round = [step for table in tables for step in ("bare", table, "bare")]
    assert done == tables + 2 * of_a_round
    assert [one.bare.rate for one in found] == [pytest.approx(50.0)] * 4
    assert [one.ratio for one in found] == [pytest.approx(2.0)] * 4
