"""Time controls as they are written, and a seat's clock."""

from __future__ import annotations

import pytest

from referee.match.clock import SeatClock, TimeControl


@pytest.mark.parametrize("text", ["60+0.5/10", "0+1/1", "600+0/600", "0.25+0/0.1", "9999999+0.000001/1234567.5"])
def test_a_clock_is_written_as_it_is_read(text: str) -> None:
    assert str(TimeControl.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "60",
        "60+1",
        "60/10",
        "60+1/0",
        "0+0/5",
        "-1+1/1",
        "1e3+1/1",
        "60+1/10 ",
        "٦+1/1",
        "99999999+0/1",
        "a+b/c",
    ],
)
def test_another_form_or_no_time_at_all_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="clock"):
        TimeControl.parse(text)


def test_a_bank_that_is_as_large_as_the_increment_is_time_to_answer() -> None:
    assert TimeControl.parse("10+10/5") == TimeControl(10, 10, 5)


def test_a_seat_saves_what_it_does_not_use() -> None:
    clock = SeatClock(TimeControl(10, 2, 5))
    assert clock.ask() == 5
    clock.charge(1)
    assert clock.bank == 11
    assert clock.ask() == 5
    assert clock.bank == 13


def test_what_is_used_beyond_the_bank_is_owed_and_never_more_time() -> None:
    clock = SeatClock(TimeControl(1, 0.5, 5))
    assert clock.ask() == 1.5
    clock.charge(2.25)
    assert clock.bank == -0.75
    assert clock.ask() == 0
    assert clock.ask() == 0.25
