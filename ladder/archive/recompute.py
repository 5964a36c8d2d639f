"""Check the log, rebuild the views from its events, compare them with the ladder's own, and verify every record.

The log is never repaired, because other people may have copies of it.

Verifying a record takes a few hundredths of a second, so a million of them take a few hours. A comparison notes the
records that it has verified (`checked.py`), and can verify a sample instead of all of them.
"""

from __future__ import annotations

import multiprocessing
import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain, count
from math import ceil
from pathlib import Path

from ladder.archive.archive import Archive, NoRecord
from ladder.archive.checked import Notes, fingerprint, noted, noting
from ladder.facts.history import PlayedMatch
from ladder.facts.rebuilt import Rebuilt
from ladder.facts.store import Store
from ladder.model.condition import not_defaults
from ladder.model.names import ORGANISER_NAME
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.operation.sqlite_file import batches
from referee.live.matches.worker import become_worker
from referee.match.result import milliseconds
from referee.records.audit_log import AuditError
from referee.records.record import OtherFormat, RecordError
from referee.records.verify import Verified, verify
from referee.registry import find, shipped_board
from referee.sandbox.system import processors
from referee.version import installed_version

MAX_REPORTED = 100
"""The maximum number of lines about each kind of problem; further lines are only counted."""
_CHUNK = 32
"""The number of records that a process gets at a time.

This is enough to keep the process busy, but few enough for all processes to finish together."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A random sample of the matches; only the records of these matches are verified."""

    seed: int
    """The seed of the selection; the same seed gives the same matches until further matches are counted."""
    records: int | None = None
    """The number of matches; None if there is a `share`."""
    share: float = 0.0
    """The share of all matches, from 0 to 1; the resulting number is rounded up."""

    def numbers(self, matches: int) -> Iterator[int]:
        """Yield the numbers of the chosen matches, in ascending order; all matches are numbered from 1 to `matches`."""
        wanted = ceil(matches * self.share) if self.records is None else self.records
        chance = random.Random(self.seed)  # noqa: S311
        for number in range(1, matches + 1):
            if chance.random() * (matches + 1 - number) < wanted:  # each of the rest is equally likely
                wanted -= 1
                yield number


@dataclass(slots=True)
class Lines:
    """Lines about problems of one kind. There may be a million, so only the first ones are kept, but all are counted."""

    reported: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, line: str) -> None:
        """Count a line, and keep it if it is one of the first."""
        self.count += 1
        if len(self.reported) < MAX_REPORTED:
            self.reported.append(line)


@dataclass(slots=True)
class Comparison:
    """The result of a comparison."""

    matches: int = 0
    """The number of counted matches."""
    left_out: int = 0
    """The number of counted matches whose records were not verified, because they are not in the sample."""
    verified_before: int = 0
    """The number of records that an interrupted comparison verified and that have not changed since."""
    broken: Lines = field(default_factory=Lines)
    """Lines about records that are missing or not valid; their matches are noted (`Evidence.broken`)."""
    other_format: int = 0
    """The number of records in a format that this version cannot read: from before the first release, or newer."""
    lost: Lines = field(default_factory=Lines)
    """Lines about missing, invalid or unread records that were noted as lost for good; they are no longer a problem."""
    pruned: int = 0
    """The number of counted matches whose record was pruned (`retention.py`), which is not a problem."""
    contradicting: Lines = field(default_factory=Lines)
    """Lines about valid records that are not the counted ones, and events with wrong entrants or unplanned matches."""
    differences: Lines = field(default_factory=Lines)
    """Lines about contents of views and private tables that do not follow from the events."""
    log: str = ""
    """A line about the first event that does not follow from those before it; empty if all do.

    Such an event cannot be repaired."""
    repaired: bool = False
    """True if the differences have been repaired."""

    @property
    def problems(self) -> list[str]:
        """The lines about all problems, at most `MAX_REPORTED` of each kind."""
        unread = [f"{self.other_format} records {_UNREAD}"] if self.other_format else []
        log = [self.log] if self.log else []
        return self.contradicting.reported + self.broken.reported + unread + self.differences.reported + log

    @property
    def without_record(self) -> int:
        """The number of counted matches whose records are missing, not valid, or not readable by this version."""
        return self.broken.count + self.other_format

    @property
    def unreported(self) -> int:
        """The number of problems without a line in `problems`."""
        return sum(lines.count - len(lines.reported) for lines in (self.contradicting, self.broken, self.differences))


@dataclass(slots=True)
class Checked:
    """The result of verifying the records of several matches."""

    problems: list[Problem] = field(default_factory=list)
    """The problems, in the order of the matches."""
    fingerprints: dict[int, bytes] = field(default_factory=dict)
    """The fingerprints of the valid records, by the numbers of their matches."""
    before: int = 0
    """The number of records that were verified before, by an interrupted comparison."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with the record of a match."""

    match_id: str
    text: str
    holds: bool
    """True if the record is valid, but is not the counted one."""
    is_missing: bool = False
    """True if there is no record."""
    is_unread: bool = False
    """True if this version cannot read the format of the record."""


def compare(home: Home, store: Store, sample: Sample | None = None) -> Comparison:
    """Compare the views and the records with the log, as of one moment and on all cores, without changing anything.

    A run may go on meanwhile, but a pruning waits. All views are always rebuilt. A comparison of all records continues
    where the last one was interrupted.
    If the log is broken, nothing follows from it, and nothing else is compared.

    Args:
        home: the folder of the ladder.
        store: its facts.
        sample: the matches whose records are verified; None for all.

    Raises:
        LadderError: if the ladder cannot be read, there is no room for temporary files, or a process that verifies records
            was killed.
    """
    with Rebuilt(store.file) as rebuilt:
        return _compare(home, store, rebuilt, sample)


def _compare(home: Home, store: Store, rebuilt: Rebuilt, sample: Sample | None) -> Comparison:
    found = Comparison()
    try:
        with home.files_stay(), store.reading():
            rebuilt.take_events()
            store.evidence.forget_broken()
            with noting(home.checked) if sample is None else nullcontext() as notes:
                chosen = _chosen(rebuilt.views, found, sample)
                for problem in _problems(home, chosen, found, notes):
                    _settle(problem, store, rebuilt, found)
            for line in rebuilt.unplanned():
                found.contradicting.add(line)
            for line in rebuilt.differences():
                found.differences.add(line)
    except AuditError as error:
        found.log = str(error)
    rebuilt.detach()
    return found


def _chosen(views: Store, found: Comparison, sample: Sample | None) -> Iterator[PlayedMatch]:
    """Yield the matches whose records are to be verified; count all matches."""
    numbers = count(1) if sample is None else sample.numbers(views.results.count_of_matches())
    waiting = next(numbers, None)
    for match in views.history.all_played():
        found.matches += 1
        # Both sequences are in ascending order.
        while waiting is not None and waiting < match.number:
            waiting = next(numbers, None)
        if waiting == match.number:
            yield match
        else:
            found.left_out += 1


def _settle(problem: Problem, store: Store, rebuilt: Rebuilt, found: Comparison) -> None:
    """Add a problem with the record of a match to the comparison."""
    if problem.holds:
        found.contradicting.add(problem.text)
    elif problem.is_missing and rebuilt.views.evidence.record_pruned_at(problem.match_id):
        found.pruned += 1
    elif lost_at := rebuilt.views.evidence.lost_at(problem.match_id):
        found.lost.add(f"{problem.text} (noted on {lost_at[:10]})")
    else:
        if problem.is_unread:
            found.other_format += 1
        else:
            found.broken.add(problem.text)
        store.evidence.note_broken(problem.match_id)


def repair(home: Home, store: Store, *, count_lost: bool = False) -> Comparison:
    """Compare everything; if all records are valid, replace the ladder's views with those that follow from the events.

    Args:
        home: the folder of the ladder.
        store: its facts.
        count_lost: True to note records that are missing or not valid as lost for good. Their matches still count,
            because otherwise, removing a record would undo a defeat.

    Raises:
        LadderError: if a run is going on, or for the same reasons as in `compare`.
    """
    with home.only_run(), Rebuilt(store.file) as rebuilt:
        found = _compare(home, store, rebuilt, None)
        differs = not found.log and (found.differences.count or found.without_record)
        if differs and not found.contradicting.count and (count_lost or not found.without_record):
            with store.writing():
                # This adds events, which must also be folded into the rebuilt views.
                store.evidence.note_lost(store.evidence.broken())
                rebuilt.take_events()
                rebuilt.replace_views()
                store.log.note_repair(ORGANISER_NAME)
            found.repaired = True
        return found


def _problems(home: Home, matches: Iterable[PlayedMatch], found: Comparison, notes: Notes | None) -> Iterator[Problem]:
    """Yield the problems with the records of matches, in order, using all cores if there is enough to do.

    Args:
        home: the folder of the ladder.
        matches: the counted matches to check, in the order of their numbers.
        found: the comparison, to which the number of records that were verified before is added.
        notes: the list to which valid records are added, and in which earlier ones are looked up; None to verify all.
    """

    def settled(checked: Checked) -> list[Problem]:
        found.verified_before += checked.before
        if notes is not None:
            notes.add(checked.fingerprints)
        return checked.problems

    known = home.checked if notes is not None else None
    chunks = batches(matches, _CHUNK)
    first, second = next(chunks, []), next(chunks, None)
    if second is None:
        yield from settled(check(home, first, known))
        return
    cores = processors()
    # A fork must not carry SQLite's open files into another process.
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[Checked]] = deque()
    with ProcessPoolExecutor(cores, mp_context=context, initializer=become_worker) as pool:
        try:
            for chunk in chain([first, second], chunks):
                waiting.append(pool.submit(check, home, chunk, known))
                if len(waiting) > 4 * cores:  # only the waiting matches are in memory
                    yield from settled(waiting.popleft().result())
            while waiting:
                yield from settled(waiting.popleft().result())
        except BrokenProcessPool as error:
            raise LadderError("a process that verified records was killed; is there enough memory?") from error
        finally:
            pool.shutdown(cancel_futures=True)


def check(home: Home, matches: Sequence[PlayedMatch], known: Path | None = None) -> Checked:
    """Verify the records of counted matches in the order of their numbers, except those listed in the file `known`."""
    found = Checked()
    before = noted(known, matches[0].number, matches[-1].number) if known is not None and matches else {}
    with Archive(home.archive, create=False) as archive:
        for match in matches:
            try:
                record = archive.record(match.match_id)
                mark = fingerprint(match, record.data)
                if before.get(match.number) == mark:
                    found.before += 1
                    continue
                problem = _problem(match, verify(record.path, find, match.seed, record.data))
            except RecordError as error:
                is_missing, is_unread = isinstance(error, NoRecord), isinstance(error, OtherFormat)
                problem = Problem(match.match_id, str(error), False, is_missing, is_unread)
            if problem is None:
                found.fingerprints[match.number] = mark
            else:
                found.problems.append(problem)
    return found


def _problem(match: PlayedMatch, record: Verified) -> Problem | None:
    """Return the problem with a valid record that is not the counted one, or has another result; None if it agrees."""
    plan, result = record.plan, record.result
    condition = match.condition
    if (plan.match_id, plan.game.name, plan.bots) != (match.match_id, condition.game, match.labels):
        return _contradiction(match, "is of another match")
    options = not_defaults(plan.game, plan.setup.options)
    if (options, str(plan.control)) != (condition.options, condition.clock):
        return _contradiction(match, "was not played under the condition for which it counts")
    is_of_this_version = record.dogana == installed_version()  # another version may have shipped another board
    if plan.position is not None or (is_of_this_version and plan.setup.board_data != shipped_board(plan.game)):
        return _contradiction(
            match, "does not begin as the matches of a ladder do: it has another board, or a position"
        )
    if match.record_hash != record.result_hash:
        return _contradiction(match, "is not the one that was counted")
    seats = [
        (seat.rank, seat.score, seat.outcome, seat.detail, seat.decisions, milliseconds(seat.think_seconds))
        for seat in result.seats
    ]
    counted = [
        (seat.rank, seat.score, seat.outcome, seat.detail, seat.decisions, seat.think_ms) for seat in match.seats
    ]
    if (seats, result.digest, result.decisions) != (counted, match.digest, match.decisions):
        return _contradiction(match, "has another result than the one that was counted")
    return None


def _contradiction(match: PlayedMatch, text: str) -> Problem:
    return Problem(match.match_id, f"match {match.match_id}: the record {text}", holds=True)


_UNREAD = (
    "are in a format that this version does not read, such as that from before the first release: their matches cannot be verified;"
    " to let them count on as the ladder has them, say --repair --count-lost"
)
