"""Verify every record, derive everything that follows from the facts again, and compare it with what the ladder keeps.

The audit log is compared with the facts, too, but never repaired: others may have copies of it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import chain, islice

from ladder.condition import not_defaults
from ladder.errors import LadderError
from ladder.home import Home
from ladder.match import Match
from ladder.rating import History, Rating
from ladder.store import Store
from referee.records.record import RecordError
from referee.records.verify import verify
from referee.registry import find

_CHUNK = 32
"""How many records a process is given at a time: enough to keep it busy, few enough for all of them to end together."""


@dataclass(slots=True)
class Comparison:
    """What came out of a comparison."""

    history: History
    """The ratings that follow from the matches."""
    matches: int = 0
    """How many matches count."""
    broken: dict[str, str] = field(default_factory=dict)
    """Records that are missing or do not hold: what is wrong with each, by match id."""
    lost: list[str] = field(default_factory=list)
    """The same for those that were noted as lost for good, a line each; they are no problem any more."""
    contradicting: list[str] = field(default_factory=list)
    """Records that hold, but are not what was counted, a line each."""
    differences: list[str] = field(default_factory=list)
    """Ratings and tallies that do not follow from the matches, a line each."""
    log: str = ""
    """The first entry of the audit log that does not agree with the facts; empty if all do. It cannot be put right."""
    unrated: list[int] = field(default_factory=list)
    """The numbers of the results that are not rated, because the same was played before."""
    repaired: bool = False
    """Whether what differed has been put right."""

    @property
    def problems(self) -> list[str]:
        """All that does not agree, a line each."""
        return self.contradicting + list(self.broken.values()) + self.differences + ([self.log] if self.log else [])


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with the record of a match."""

    match_id: str
    text: str
    holds: bool
    """Whether there is a record that holds, but is not what was counted."""


def compare(home: Home, store: Store) -> Comparison:
    """Compare everything as of one moment, on all cores; change nothing. A run may go on meanwhile.

    Raises:
        LadderError: if the ladder cannot be read, or a process that verifies records was killed.
    """
    history = History({version.id: version.parent for version in store.versions().values()})
    found = Comparison(history)

    def derived() -> Iterator[Match]:
        for match in store.counted():
            assert match.count is not None  # noqa: S101 it counts
            assert match.block is not None  # noqa: S101
            found.matches += 1
            is_new = history.add(match.condition.id, match.block, match.count.digest, match.versions, match.count.ranks)
            if not is_new:
                found.unrated.append(match.count.number)
            if match.count.rated != is_new:
                found.differences.append(f"match {match.match_id}: {_NOT_RATED if is_new else _RATED_TWICE}")
            yield match

    with store.reading():
        noted = store.lost()
        for problem in _problems(home, derived()):
            if problem.holds:
                found.contradicting.append(problem.text)
            elif problem.match_id in noted:
                found.lost.append(f"{problem.text} (noted on {noted[problem.match_id][:10]})")
            else:
                found.broken[problem.match_id] = problem.text
        for condition in store.conditions().values():
            known, ratings = store.ratings(condition), history.ratings.get(condition.id, {})
            found.differences += [
                f"{condition.game} ({condition.terms}): version {version} has {_text(known.get(version))},"
                f" its matches give {_text(ratings.get(version))}"
                for version in sorted(ratings.keys() | known.keys())
                if known.get(version) != ratings.get(version)
            ]
        after_blocks = store.block_ratings()
        found.differences += [
            f"block {block}: after it version {version} has {_text(after_blocks.get((version, block)))},"
            f" its matches give {_text(history.after_blocks.get((version, block)))}"
            for version, block in sorted(after_blocks.keys() | history.after_blocks.keys())
            if after_blocks.get((version, block)) != history.after_blocks.get((version, block))
        ]
        found.differences += store.differences()
        found.log = store.log_disagreement()
    return found


def repair(home: Home, store: Store, *, count_lost: bool = False) -> Comparison:
    """Compare, and put what follows from the matches in the place of what does not, if all records hold.

    Args:
        home: the folder of the ladder.
        store: what it knows.
        count_lost: whether records that are missing or do not hold are noted as lost for good. Their matches count on as
            the ladder has them: if a match did not count without its record, whoever removes a record would undo a loss.

    Raises:
        LadderError: if a run is going on, or as `compare` does.
    """
    with home.only_run():
        found = compare(home, store)
        lost = found.broken if count_lost else {}
        if (found.differences or lost) and not found.contradicting and found.broken == lost:
            with store.writing():
                store.note_lost(found.broken)
                store.repair(found.history, found.unrated)
            found.repaired = True
        return found


def _problems(home: Home, matches: Iterable[Match]) -> Iterator[Problem]:
    """Yield what is wrong with the records of matches, in their order; on all cores if there is work for them."""
    chunks = _chunks(matches)
    first, second = next(chunks, []), next(chunks, None)
    if second is None:
        yield from check(home, first)
        return
    cores = os.cpu_count() or 1
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[list[Problem]]] = deque()
    with ProcessPoolExecutor(cores, mp_context=context, initializer=_ignore_interrupts) as pool:
        try:
            for chunk in chain([first, second], chunks):
                waiting.append(pool.submit(check, home, chunk))
                if len(waiting) > 4 * cores:  # the matches that wait are all that is in memory
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool as error:
            raise LadderError("a process that verified records was killed; is there enough memory?") from error
        finally:
            pool.shutdown(cancel_futures=True)


def _chunks(matches: Iterable[Match]) -> Iterator[list[Match]]:
    source = iter(matches)
    while chunk := list(islice(source, _CHUNK)):
        yield chunk


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def check(home: Home, matches: Iterable[Match]) -> list[Problem]:
    """Return what is wrong with the records of matches."""
    return [problem for match in matches if (problem := _problem(home, match)) is not None]


def _problem(home: Home, match: Match) -> Problem | None:
    """Return what is wrong with a match's record: it must hold, be the one that was counted, and say what was counted."""
    count = match.count
    assert count is not None  # noqa: S101 it counts
    path = home.find_record(match.match_id)
    try:
        record = verify(path, find, match.seed)
    except RecordError as error:
        if home.find_record(match.match_id) != path:  # a run has sealed it at this moment
            return _problem(home, match)
        return Problem(match.match_id, str(error), holds=False)
    plan, result = record.plan, record.result
    condition = match.condition
    if (plan.match_id, plan.game.name, plan.bots) != (match.match_id, condition.game, match.labels):
        return _contradiction(match, "is of another match")
    options = not_defaults(plan.game, plan.setup.options)
    if (options, str(plan.control)) != (condition.options, condition.clock):
        return _contradiction(match, "was not played under the condition for which it counts")
    if count.record_hash not in (record.result_hash, record.last_hash):  # older versions kept the last one
        return _contradiction(match, "is not the one that was counted")
    seats = tuple((seat.rank, seat.outcome) for seat in result.seats)
    if seats != tuple(zip(count.ranks, count.outcomes, strict=True)) or result.digest != count.digest:
        return _contradiction(match, "has another result than the one that was counted")
    return None


def _contradiction(match: Match, text: str) -> Problem:
    return Problem(match.match_id, f"match {match.match_id}: the record {text}", holds=True)


_NOT_RATED = "it is not rated, though nothing like it was played before"
_RATED_TWICE = "it is rated, though the same was played before"


def _text(rating: Rating | None) -> str:
    return "no rating" if rating is None else f"mu {rating.mu!r} sigma {rating.sigma!r}"
