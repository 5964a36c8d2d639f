"""The score of a block: who is seated where, what a place is worth, and when two versions have played identically."""

from __future__ import annotations

import pytest

from referee.match.result import Outcome, Result, SeatResult
from referee.verdict.block import (
    NEW,
    OLD,
    BlockScore,
    beaten,
    mean_score,
    score,
    seatings_at_one_table,
    seatings_in_a_field,
)


def result(*ranks: int, digest: str = "", lost: tuple[int, ...] = ()) -> Result:
    """A result with these places; the seats in `lost` have crashed."""
    outcomes = [Outcome.CRASH if seat in lost else Outcome.PLAYED for seat in range(len(ranks))]
    seats = [SeatResult(seat, "bot", rank, 0, outcomes[seat], 1, 0.0, 0.0, 0.0, "") for seat, rank in enumerate(ranks)]
    return Result(tuple(seats), 1, digest, 1)


def test_two_versions_of_two_seats_change_places() -> None:
    assert seatings_at_one_table(2) == [(NEW, OLD), (OLD, NEW)]


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_at_a_table_each_version_sits_in_every_seat_once_with_the_other_on_either_side(seats: int) -> None:
    seatings = seatings_at_one_table(seats)
    assert len(set(seatings)) == len(seatings) == 2 * seats
    for seat in range(seats):
        assert [seating[seat] for seating in seatings].count(NEW) == 2
        assert [seating[seat] for seating in seatings].count(OLD) == 2
    steps = [(seating.index(OLD) - seating.index(NEW)) % seats for seating in seatings]
    assert steps.count(1) == steps.count(seats - 1) or seats == 2
    exchange = {NEW: OLD, OLD: NEW}
    for one, other in zip(seatings[:seats], seatings[seats:], strict=True):
        assert tuple(exchange.get(place, place) for place in one) == other


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_in_a_field_each_version_sits_in_every_seat_among_the_same_others(seats: int) -> None:
    seatings = seatings_in_a_field(seats)
    assert len(seatings) == 2 * seats
    for seating in seatings:
        assert (NEW in seating) != (OLD in seating)
        assert {place for place in seating if place > OLD} == set(range(2, seats + 1))
    assert [seating.index(NEW) for seating in seatings[:seats]] == [seating.index(OLD) for seating in seatings[seats:]]


@pytest.mark.parametrize(
    ("ranks", "shares"),
    [
        ((1, 2), (1, 0)),
        ((1, 1), (0.5, 0.5)),
        ((2, 1, 3), (0.5, 1, 0)),
        ((1, 1, 3), (0.75, 0.75, 0)),
        ((1, 2, 2, 4), (1, 0.5, 0.5, 0)),
    ],
)
def test_a_place_is_worth_the_share_of_rivals_beaten_and_a_tie_half_a_rival(
    ranks: tuple[int, ...], shares: tuple[float, ...]
) -> None:
    assert [beaten(result(*ranks), seat) for seat in range(len(ranks))] == pytest.approx(shares)


def test_a_lost_seat_has_beaten_nobody_even_if_another_was_lost_before() -> None:
    match = result(1, 2, 3, lost=(1, 2))
    assert [beaten(match, seat) for seat in range(3)] == [1, 0, 0]


def test_a_score_is_that_of_each_version_in_the_matches_in_which_it_sits() -> None:
    at_table = score([result(1, 2, digest="a"), result(2, 1, digest="b")], seatings_at_one_table(2))
    assert (at_table.new, at_table.old, at_table.difference) == (1, 0, 1)
    in_field = score([result(1, 2), result(2, 1), result(2, 1), result(1, 2)], seatings_in_a_field(2))
    assert (in_field.new, in_field.old) == (1, 0)
    assert score([result(1, 2), result(1, 2)], seatings_at_one_table(2)).difference == 0


def test_versions_have_played_identically_if_the_exchange_changes_no_digest() -> None:
    seatings = seatings_at_one_table(3)
    alike = [result(1, 2, 3, digest=digest) for digest in ("a", "b", "c") * 2]
    assert score(alike, seatings).is_alike
    assert not score([*alike[:-1], result(1, 2, 3, digest="d")], seatings).is_alike


def test_a_block_of_several_games_weighs_each_the_same() -> None:
    block = mean_score([BlockScore(1, 0, ("a",), True), BlockScore(0.5, 0.5, ("b", "c"), False)])
    assert block == BlockScore(0.75, 0.25, ("a", "b", "c"), False)
