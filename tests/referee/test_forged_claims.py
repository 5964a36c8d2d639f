"""Records whose chain is right, and which claim what the referee never writes: times, strikes, kinds of value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.match.result import Outcome
from referee.records.record import RecordError, header
from referee.records.verify import verify
from referee.registry import find
from tests.referee.test_records import chained
from tests.tables import Table, plan_of

Lines = list[dict[str, Any]]


def played(timeouts: int) -> Lines:
    """A match in which seat 0 lets its time run out so many times."""
    plan = plan_of(options={"last_turn": 3, "first_player": 0}, clock="60+0/10")
    table = Table(plan)
    while timeouts:
        if 0 in table.open:
            table.wait(10.5)
            timeouts -= 1
        else:
            table.answer(min(table.open), 0)
    table.play_out()
    return [header(plan), *table.lines]


def written(lines: Lines, folder: Path) -> Path:
    path = folder / "forged.jsonl"
    path.write_bytes(chained(lines))
    return path


def actions(lines: Lines, by: str) -> Lines:
    return [line for line in lines if line.get("by") == by]


@pytest.mark.parametrize("timeouts", range(4))
def test_what_the_referee_writes_of_strikes_and_times_holds(timeouts: int, tmp_path: Path) -> None:
    result = verify(written(played(timeouts), tmp_path), find).result
    assert result.seats[0].outcome is (Outcome.TIMEOUT if timeouts == 3 else Outcome.PLAYED)


def untimed(lines: Lines) -> None:
    for key in ("ms", "wall_ms", "lag_ms"):
        actions(lines, "agent")[0].pop(key)


OUT = {"type": "out", "seat": 1, "reason": "crash", "detail": "", "ms": 0.0, "wall_ms": 0.0, "lag_ms": 0.0}
WITHDRAWN = {"type": "withdrawn", "seat": 1, "ms": 20.0, "wall_ms": 20.0, "lag_ms": 0.0}
FORGERIES: list[tuple[str, Callable[[Lines], Any], str]] = [
    ("no strike", lambda lines: [line for line in lines if line["type"] != "strike"], "had not run out"),
    ("the agent after a timeout", lambda lines: actions(lines, "clock")[0].update(by="agent"), "ran out, but agent"),
    (
        "longer than the cap",
        lambda lines: actions(lines, "agent")[0].update(ms=1e9, wall_ms=1e9),
        "more than the clock allows",
    ),
    ("time for a forced action", lambda lines: actions(lines, "forced")[0].update(ms=5e5), "decided without asking"),
    ("no time at all", lambda lines: lines[-2]["seats"][0].update(think_ms=0), "differs in seats"),
    ("no wall time", lambda lines: actions(lines, "agent")[0].pop("wall_ms"), "needs the milliseconds"),
    ("more charged than it took", lambda lines: actions(lines, "agent")[0].update(ms=5.0), "times that do not fit"),
    (
        "less charged without lag",
        lambda lines: actions(lines, "clock")[0].update(wall_ms=11e3),
        "times that do not fit",
    ),
    ("more lag than it took", lambda lines: actions(lines, "agent")[0].update(lag_ms=5.0), "times that do not fit"),
    (
        "a time-out before its time",
        lambda lines: actions(lines, "clock")[0].update(ms=9e3, lag_ms=1e3),
        "10000 were left",
    ),
    ("an answer that took no time to think", untimed, "needs the milliseconds"),
    ("times for a seat that crashed", lambda lines: [*lines[:3], OUT, *lines[3:]], "ends no decision"),
    (
        "a withdrawal without times",
        lambda lines: lines.insert(3, {"type": "withdrawn", "seat": 1}),
        "needs the milliseconds",
    ),
    ("a withdrawal that nobody knows of", lambda lines: lines.insert(3, WITHDRAWN), "differs in seats"),
    ("a true rank", lambda lines: lines[-2]["seats"][0].update(rank=True), "differs in seats"),
    (
        "a score with a point",
        lambda lines: lines[-2]["seats"][0].update(score=float(lines[-2]["seats"][0]["score"])),
        "differs in seats",
    ),
    ("a true format", lambda lines: lines[0].update(format=True), "in format True"),
    ("an n with a point", lambda lines: actions(lines, "agent")[0].update(n=1.0), "is action 1.0"),
    ("a comment", lambda lines: actions(lines, "agent")[0].update(comment="hi"), "has entries .*: comment"),
    ("a comment in the header", lambda lines: lines[0].update(comment="hi"), "has entries .*: comment"),
    (
        "three strikes and still in",
        lambda lines: (
            [
                *lines[:3],
                *([{"type": "strike", "seat": 1, "reason": "illegal", "detail": "", "rule": ""}] * 3),
                *lines[3:],
            ]
        ),
        "plays on, but had its 3rd strike",
    ),
]


@pytest.mark.parametrize(
    ("change", "reason"), [entry[1:] for entry in FORGERIES], ids=[entry[0] for entry in FORGERIES]
)
def test_a_forged_claim_is_found_out(change: Callable[[Lines], Any], reason: str, tmp_path: Path) -> None:
    lines = played(1)
    forged = change(lines)
    with pytest.raises(RecordError, match=reason):
        verify(written(forged if isinstance(forged, list) else lines, tmp_path), find)


def test_more_than_the_bank_holds_is_found_out(tmp_path: Path) -> None:
    lines = played(0)
    for line in actions(lines, "agent"):
        if line["seat"] == 0 and "ms" in line:
            line.update(ms=9e3, wall_ms=9e3)
    assert len([line for line in actions(lines, "agent") if line["seat"] == 0 and "ms" in line]) * 9 > 60
    with pytest.raises(RecordError, match="more than the clock allows"):
        verify(written(lines, tmp_path), find)
