"""The fit of a condition: the strengths of its versions according to the counted results.

It is computed when somebody reads it, from the earliest results (`first_seats`), and computed again when about 1/64
more have been counted. A process keeps the latest fit of each condition. docs/ratings.md gives its cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.rating import rated_versions
from referee.match.result import Outcome

if TYPE_CHECKING:
    from ladder.model.fit import Fit
    from ladder.model.overall import Overall

_STEPS = 6
"""A fit is computed again when the evidence has grown by a fraction between 2 ** -_STEPS and half of that."""


@dataclass(slots=True)
class _CachedFit:
    """The latest fit of a condition, and the data from which it was computed."""

    lock: Lock = field(default_factory=Lock)
    fit: Fit | None = None
    seats: int = 0
    """The number of seats in the fitted results; see `first_seats`."""
    repairs: int = 0
    """The number of times that the ladder's views were rebuilt before this fit."""
    last: _Result | None = None
    """The last fitted result. In a different history, as after a backup is restored, another match has its number."""


@dataclass(slots=True)
class _CachedOverall:
    """The overall standings of versions over several conditions, and the fits from which they were computed."""

    lock: Lock = field(default_factory=Lock)
    fits: Sequence[Fit] = ()
    found: dict[int, Overall] = field(default_factory=dict)


class _Result(NamedTuple):
    number: int
    match: str


_cached: dict[tuple[Path, int], _CachedFit] = {}
"""The cached fits, by the path of the ladder's file and the id of the condition."""
_cached_overall: dict[tuple[Path, tuple[int, ...]], _CachedOverall] = {}
"""The cached overall standings, by the path of the ladder's file and the ids of the conditions."""


def fitted(store: Store, condition: Condition) -> Fit:
    """Return the strengths of the versions under a condition, fitted to the earliest results (see `first_seats`).

    Concurrent callers wait for the same fit.
    """
    cached = _cached.setdefault((store.file.path.resolve(), condition.id), _CachedFit())
    # Take the lock first, so that a caller that has waited for a fit also reads the results counted in the meantime.
    with cached.lock, store.reading():
        seats, repairs = first_seats(_rated_seats(store, condition)), store.log.repairs()
        if (
            cached.fit is None
            or (seats, repairs) != (cached.seats, cached.repairs)
            or not _is_there(store, cached.last)
        ):
            cached.fit, cached.last = _fit(store, condition, seats)
            cached.seats, cached.repairs = seats, repairs
        return cached.fit


def fitted_overall(store: Store, conditions: Sequence[Condition]) -> dict[int, Overall]:
    """Return the overall standings of versions over several conditions, from the fit of each condition."""
    key = store.file.path.resolve(), tuple(condition.id for condition in conditions)
    cached = _cached_overall.setdefault(key, _CachedOverall())
    with cached.lock:
        fits = [fitted(store, condition) for condition in conditions]
        # Fits are compared by identity, because `Fit` is a mapping and == would compare it version by version.
        if list(map(id, fits)) != list(map(id, cached.fits)):
            from ladder.model.overall import overall  # needs numpy

            cached.fits, cached.found = fits, overall(fits)
        return cached.found


def first_seats(rated: int) -> int:
    """Return the number of rated seats to fit: up to 127, all of them; above that, all but at most 1/64.

    A small ladder is therefore fitted after each match, and a large one rarely, because its fit takes a long time.
    """
    step = 1 << max(0, rated.bit_length() - 1 - _STEPS)
    return rated - rated % step


def _rated_seats(store: Store, condition: Condition) -> int:
    """Return the number of seats in all rated matches. The cost does not grow with the number of matches."""
    return sum(tally.different for tally in store.results.tallies(condition).values())


def _is_there(store: Store, last: _Result | None) -> bool:
    return last is None or bool(store.file.rows("select 1 from results where number = ? and match = ?", last))


def _fit(store: Store, condition: Condition, seats: int) -> tuple[Fit, _Result | None]:
    """Return the fit of the earliest results, which have at most `seats` seats together, and the last of them."""
    from ladder.model.fit import CountedMatch, fit  # needs numpy, for which most commands need not wait

    contents = {version.id: version.content_hash for version in store.roster.versions().values()}
    last: _Result | None = None

    def counted(seats: int) -> Iterator[CountedMatch]:
        nonlocal last
        for row in store.file.each(_RATED, [Outcome.START.value, condition.id]):
            versions, ranks, absent = (_numbers(row[column]) for column in ("versions", "ranks", "absent"))
            seats -= len(versions)
            # The rounded number may fall within a match, which then waits for the next fit.
            if seats < 0:
                return
            rated_ones = rated_versions(
                {version: contents[version] for version in versions}, absent, guests=bool(row["guests"])
            )
            # None saves the fit from checking each seat of most matches.
            rated = None if len(rated_ones) == len(versions) else frozenset(rated_ones)
            last = _Result(row["number"], row["match"])
            yield CountedMatch(row["block"], versions, ranks, rated)

    return fit(counted(seats)), last


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


# The seats of a match come in any order, but all three columns have the same order.
# `cross` makes SQLite use the index of `appearances`, which is in the order of the numbers, so nothing is sorted.
_RATED = """
select under.number, results.match, matches.block, blocks.guests, group_concat(seats.version) as versions,
    group_concat(seat_results.rank) as ranks, group_concat(iif(outcome = ?, seats.version, null)) as absent
from appearances as under
cross join results on results.number = under.number
cross join matches on matches.id = results.match
cross join blocks on blocks.id = matches.block
cross join seats on seats.match = results.match
cross join seat_results on seat_results.match = seats.match and seat_results.seat = seats.seat
where under.seat = 0 and under.condition = ? and results.rated = 1
group by under.number order by under.number
"""
