"""The fit of a condition: the strengths of its versions by the results that count.

It is computed when somebody reads it, from the first results, and anew when about a 64th more have come. A process keeps the last
one of each condition. docs/ratings.md says what it costs.
"""

from __future__ import annotations

from collections.abc import Sequence
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
"""A fit is computed anew when the evidence has grown by a part between 2 ** -_STEPS and half of that."""


@dataclass(slots=True)
class _CachedFit:
    """The last fit of a condition, and the data from which it was computed."""

    lock: Lock = field(default_factory=Lock)
    fit: Fit | None = None
    seats: int = 0
    """As `first_seats` says."""
    repairs: int = 0
    """The number of times that the ladder's views had been rebuilt."""
    last: _Result | None = None
    """The last result: another history, as of a backup that was restored, has another match there."""


@dataclass(slots=True)
class _CachedOverall:
    """The standing of versions over several conditions, and the fits from which that follows."""

    lock: Lock = field(default_factory=Lock)
    fits: Sequence[Fit] = ()
    found: dict[int, Overall] = field(default_factory=dict)


class _Result(NamedTuple):
    number: int
    match: str


_cached: dict[tuple[Path, int], _CachedFit] = {}
"""By the file of a ladder and the id of a condition."""
_cached_overall: dict[tuple[Path, tuple[int, ...]], _CachedOverall] = {}
"""By the file of a ladder and the ids of conditions."""


def fitted(store: Store, condition: Condition) -> Fit:
    """Return the strengths of the versions under a condition, fitted to the first counted results with `first_seats` seats.

    Concurrent callers wait for the same fit.
    """
    cached = _cached.setdefault((store.file.path.resolve(), condition.id), _CachedFit())
    # The lock first: a caller that waits for a fit then reads what has been counted meanwhile.
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
    """Return the overall standing of the versions over several conditions, by the fit of each."""
    key = store.file.path.resolve(), tuple(condition.id for condition in conditions)
    cached = _cached_overall.setdefault(key, _CachedOverall())
    with cached.lock:
        fits = [fitted(store, condition) for condition in conditions]
        # By identity: `Fit` is a mapping, which == would compare version by version.
        if list(map(id, fits)) != list(map(id, cached.fits)):
            from ladder.model.overall import overall  # needs numpy

            cached.fits, cached.found = fits, overall(fits)
        return cached.found


def first_seats(rated: int) -> int:
    """Return the number of rated seats to fit: all of them up to 127; beyond that, all but at most a 64th.

    So a fit is computed after each match on a small ladder, and rarely on a large one, where it takes long.
    """
    step = 1 << max(0, rated.bit_length() - 1 - _STEPS)
    return rated - rated % step


def _rated_seats(store: Store, condition: Condition) -> int:
    """Return the number of seats in all rated matches. It costs the same however many there are."""
    return sum(tally.different for tally in store.results.tallies(condition).values())


def _is_there(store: Store, last: _Result | None) -> bool:
    return last is None or bool(store.file.rows("select 1 from results where number = ? and match = ?", last))


def _fit(store: Store, condition: Condition, seats: int) -> tuple[Fit, _Result | None]:
    """Return the fit of the first results, and the last of them."""
    from ladder.model.fit import CountedMatch, fit  # needs numpy, for which most commands need not wait

    contents = {version.id: version.content_hash for version in store.roster.versions().values()}
    matches, last = [], None
    for row in store.file.each(_RATED, [Outcome.START.value, condition.id]):
        versions, ranks, absent = (_numbers(row[column]) for column in ("versions", "ranks", "absent"))
        seats -= len(versions)
        # The rounded number can end within a match; that one waits for the next fit.
        if seats < 0:
            break
        rated_ones = rated_versions(
            {version: contents[version] for version in versions}, absent, guests=bool(row["guests"])
        )
        # None spares the fit a look at each seat of most matches.
        rated = None if len(rated_ones) == len(versions) else frozenset(rated_ones)
        matches.append(CountedMatch(row["block"], versions, ranks, rated))
        last = _Result(row["number"], row["match"])
    return fit(matches), last


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


# The seats of a match come in any order, in all three columns in the same.
# `cross` keeps SQLite to the index of `appearances`, which is in the order of the numbers: nothing is sorted.
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
