"""The points of matches, the rule for faults, the tie-breaks, and the order that follows, in exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from referee.kit.chance import LiveChance
from referee.match.result import Outcome, Result, SeatResult
from referee.tournament.fixtures import PlayedFixture
from referee.tournament.plan import FaultRule, Scoring, TieBreak, TournamentPlan

Numbers = Mapping[int, Fraction]
"""A number for each entrant."""


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """Entrants who share a place."""

    entrants: Sequence[int]
    numbers: dict[TieBreak, Fraction] = field(default_factory=dict)
    """The tie-breaks that were needed, and the value that these entrants have for each."""


def is_out(seat: SeatResult) -> bool:
    """Return whether a seat was put out."""
    return seat.outcome is not Outcome.PLAYED


def struck_out(plan: TournamentPlan, played: Sequence[PlayedFixture]) -> set[int]:
    """Return the entrants whose matches count for nobody, under the rule for faults; hosts are never struck out."""
    if plan.faults is not FaultRule.STRIKE_OUT:
        return set()
    out = {one.fixture.seats[seat.seat] for one in played for seat in one.result.seats if is_out(seat)}
    # Hosts are left out, because a host that fails would take the matches of all challengers with it.
    return out & set(plan.competitors)


def counted(plan: TournamentPlan, played: Sequence[PlayedFixture]) -> list[PlayedFixture]:
    """Return the matches that count: those without an entrant that was struck out."""
    struck = struck_out(plan, played)
    return [one for one in played if struck.isdisjoint(one.fixture.seats)]


def match_points(scoring: Scoring, result: Result) -> list[Fraction]:
    """Return the points of each seat. A seat that was out gets 0, or with `SCORE` the lowest score at the table.

    `WINS`: one point, divided among those who share the first place. `PLACES`: from 1 for the first to 0 for the last
    in equal steps; those who share places share their points. `SCORE`: the score under the rules of the game.
    """
    seats = result.seats
    if scoring is Scoring.SCORE:
        lowest = min(seat.score for seat in seats)
        return [Fraction(lowest if is_out(seat) else seat.score) for seat in seats]
    if scoring is Scoring.WINS:
        winners = sum(seat.rank == 1 for seat in seats)
        points = [Fraction(seat.rank == 1, winners) for seat in seats]
    else:
        # A half is subtracted, because a seat ties with itself.
        points = [sum((_beaten(seat, other) for other in seats), Fraction(-1, 2)) / (len(seats) - 1) for seat in seats]
    return [Fraction(0) if is_out(seat) else each for seat, each in zip(seats, points, strict=True)]


def _beaten(seat: SeatResult, other: SeatResult) -> Fraction:
    """Return 1 if a seat's rank is better than the other seat's, 1/2 if it is the same, and 0 if it is worse."""
    return Fraction(1 + (seat.rank < other.rank) - (seat.rank > other.rank), 2)


def table_points(scoring: Scoring, seats: int) -> Fraction:
    """Return a seat's mean points at a table without faults, for `WINS` and `PLACES`."""
    return Fraction(1, seats) if scoring is Scoring.WINS else Fraction(1, 2)


def means(scoring: Scoring, played: Sequence[PlayedFixture]) -> dict[int, Fraction]:
    """Return the points per match of every entrant who has played."""
    totals: dict[int, Fraction] = {}
    counts: dict[int, int] = {}
    for one in played:
        for entrant, points in zip(one.fixture.seats, match_points(scoring, one.result), strict=True):
            totals[entrant] = totals.get(entrant, Fraction(0)) + points
            counts[entrant] = counts.get(entrant, 0) + 1
    return {entrant: total / counts[entrant] for entrant, total in totals.items()}


# --- tie-breaks -------------------------------------------------------------------------------------


def break_tie(
    kind: TieBreak, plan: TournamentPlan, played: Sequence[PlayedFixture], points: Numbers, tied: Sequence[int]
) -> dict[int, Fraction]:
    """Return each tied entrant's value for a tie-break: the higher, the better.

    Args:
        kind: the tie-break.
        plan: the tournament.
        played: the matches that count.
        points: the points of all entrants.
        tied: the entrants with the same points and the same values for all earlier tie-breaks.
    """
    if kind is TieBreak.LOTS:
        # One lot is drawn for the whole tournament, so that two entrants who tie at several tables keep the same order.
        lots = LiveChance(plan.seed).stream("lots").permutation(len(plan.entrants))
        return {entrant: Fraction(lots[entrant] + 1) for entrant in tied}
    noted = {entrant: list[Fraction]() for entrant in tied}
    for one in played:
        for seat in one.result.seats:
            entrant = one.fixture.seats[seat.seat]
            if entrant in noted:
                noted[entrant].extend(_VALUES[kind](one, seat, points, tied))
    # The value is 0 if there is none, as for entrants who have never met.
    return {entrant: sum(each, Fraction(0)) / max(1, len(each)) for entrant, each in noted.items()}


def _head_to_head(one: PlayedFixture, seat: SeatResult, points: Numbers, tied: Sequence[int]) -> Iterator[Fraction]:
    """Yield the result of the seat against each other tied entrant at the table.

    It is 1 for a better rank, 1/2 for the same rank, and 0 for a worse rank.
    """
    for other in one.result.seats:
        if other.seat != seat.seat and one.fixture.seats[other.seat] in tied:
            yield _beaten(seat, other)


def _opponents(one: PlayedFixture, seat: SeatResult, points: Numbers, tied: Sequence[int]) -> Iterator[Fraction]:
    """Yield the points of each opponent at the table: the Buchholz score, for tables of any size."""
    for other in one.result.seats:
        if other.seat != seat.seat:
            yield points.get(one.fixture.seats[other.seat], Fraction(0))


def _score_difference(one: PlayedFixture, seat: SeatResult, points: Numbers, tied: Sequence[int]) -> Iterator[Fraction]:
    """Yield the seat's score minus the mean score of the other seats at the table."""
    others = [other.score for other in one.result.seats if other.seat != seat.seat]
    yield seat.score - Fraction(sum(others), len(others))


def _last_seat_wins(one: PlayedFixture, seat: SeatResult, points: Numbers, tied: Sequence[int]) -> Iterator[Fraction]:
    """Yield the last seat's share of the win, and nothing for any other seat."""
    if seat.seat == len(one.result.seats) - 1:
        yield match_points(Scoring.WINS, one.result)[seat.seat]


_VALUES: dict[TieBreak, Callable[[PlayedFixture, SeatResult, Numbers, Sequence[int]], Iterator[Fraction]]] = {
    TieBreak.HEAD_TO_HEAD: _head_to_head,
    TieBreak.OPPONENTS: _opponents,
    TieBreak.SCORE_DIFFERENCE: _score_difference,
    TieBreak.LAST_SEAT_WINS: _last_seat_wins,
}
"""For each tie-break, the function that yields its values for a seat in a match; an entrant's value is their mean."""


# --- the order --------------------------------------------------------------------------------------


def in_order(
    plan: TournamentPlan, played: Sequence[PlayedFixture], points: Numbers, entrants: Sequence[int]
) -> list[SharedPlace]:
    """Order entrants by points, then by the tie-breaks; return groups with the same place, best first."""

    def split(group: list[int], breaks: Sequence[TieBreak], known: dict[TieBreak, Fraction]) -> None:
        if len(group) == 1 or not breaks:
            found.append(SharedPlace(group, known))
            return
        numbers = break_tie(breaks[0], plan, played, points, group)
        for number in sorted(set(numbers.values()), reverse=True):
            tied = [entrant for entrant in group if numbers[entrant] == number]
            split(tied, breaks[1:], {**known, breaks[0]: number})

    found: list[SharedPlace] = []
    lowest = min(points.values(), default=Fraction(0))
    # An entrant that has not played comes last.
    totals = {entrant: points.get(entrant, lowest - 1) for entrant in entrants}
    for total in sorted(set(totals.values()), reverse=True):
        split([entrant for entrant in entrants if totals[entrant] == total], plan.tie_breaks, {})
    return found
