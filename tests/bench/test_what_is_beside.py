"""What the bench puts beside our figures: always the same, measured in the same seconds, and on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import million, web, wire
from bench.report import Report
from bench.wire import Asking, Compared, Sizes
from referee.game import Game
from referee.registry import games


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ([10.0, 20.0, 21.0], "SHORT"),
        ([10.0, 10.0, 14.0], "OK"),
        ([10.0, 30.0, 12.0], "OK"),
        ([10.0, 90.0, 90.0], "SHORT"),
    ],
)
def test_a_row_of_a_million_is_beside_the_shortest_ladder_whatever_comes_out(
    figures: list[float], verdict: str
) -> None:
    report = Report()
    million._add_row(report, "show", figures, "ms", 1.5)
    [[row]] = report.sections.values()
    assert (row.what, row.beside, row.verdict) == ("show", "at 1,000 10 ms", verdict)
    assert report.ratios == {"show": pytest.approx(figures[-1] / 10, abs=0.001)}


def test_pages_are_beside_a_short_history_like_all_else() -> None:
    assert web.SIZES[0] == million.SIZES[0]


def test_bare_streams_are_before_and_after_each_match_and_tables_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def play(game: Game, seats: int, seed: int, folder: Path) -> tuple[Asking, Sizes]:
        done.append(f"{game.name} {seats}")
        return Asking(100.0, 0.001), Sizes(500, 20, 40)

    def halves(sizes: Sizes) -> list[tuple[float, float]]:
        done.append("bare")
        slow = done.count("bare") % 2  # every other half comes in a slow moment
        return [((3.0 if slow else 1.0) * sizes.asked / 2 / 100, 0.001 * sizes.asked)] * 2

    monkeypatch.setattr(wire, "play", play)
    monkeypatch.setattr(wire, "halves", halves)
    [first, second, *_] = games().values()
    found = wire.compare([first, second], rounds=2)
    tables = [
        f"{game.name} {seats}" for game in (first, second) for seats in (game.seat_counts[0], game.seat_counts[-1])
    ]
    of_a_round = [step for table in tables for step in ("bare", table, "bare")]
    assert done == tables + 2 * of_a_round
    assert [one.bare_rate for one in found] == [pytest.approx(50.0)] * 4
    assert [one.ratio for one in found] == [pytest.approx(2.0)] * 4


def test_what_the_referee_takes_for_a_turn_is_beside_no_figure_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    async def played(game: Game, seed: int) -> float:
        return 0.0002

    def compare(chosen: Sequence[Game]) -> list[Compared]:
        return [Compared("a table", 50, 100, 0.5, 0.5, 0.001, 0.0005)]

    monkeypatch.setattr(wire, "played", played)
    monkeypatch.setattr(wire, "compare", compare)
    report = Report()
    wire.add_rows(report)
    [rows] = report.sections.values()
    turns = [row for row in rows if "whole turns" in row.what]
    assert len(turns) == len(games())
    assert {row[1:] for row in turns} == {("200 µs", "", "", "", "")}
    assert all("bare gRPC" in row.beside for row in rows if row not in turns)
