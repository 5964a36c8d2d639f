"""What matches have left in the folder of a ladder: records, and the logs of bots. A match may have them and not count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ladder.chronicle import MAX_NAMED, Chronicle, PlayedMatch
from ladder.condition import Condition, not_defaults
from ladder.errors import LadderError, NotFound
from ladder.faults import Account, LongestDecision, read_account
from ladder.home import Home
from ladder.match import Version
from ladder.schema import MAX_VOIDS
from ladder.standings import Status, standings
from referee.files import read_file
from referee.game import Seat
from referee.match.result import Outcome, milliseconds
from referee.records.record import RecordError, read_lines
from referee.sandbox.cgroup import Usage

MAX_LOG_BYTES = 1024 * 1024
"""The size of the longest log that is read; the ladder writes about 128 kB at most."""
_MATCHES_AT_A_TIME = 50


@dataclass(frozen=True, slots=True)
class Log:
    """What the bot in a seat wrote in a match."""

    match_id: str
    seat: Seat
    bot: str
    """What the seat is called in the record; empty if there is no record any more."""
    path: Path

    def lines(self) -> list[str]:
        """Read it.

        Raises:
            OSError: if it cannot be read, with its name.
        """
        text = read_file(self.path, MAX_LOG_BYTES).decode(errors="replace")
        return text.removesuffix("\n").split("\n") if text else []


@dataclass(frozen=True, slots=True)
class SeatTraces:
    """How a match went for one seat."""

    bot: str
    """What the seat is called in the record."""
    rank: int
    score: int
    outcome: Outcome
    detail: str
    """The fault's detail; empty for a seat that played to the end."""
    decisions: int
    think_ms: float
    """What all its decisions were charged, in milliseconds."""
    longest: LongestDecision | None
    """None if it was never asked, or the record says nothing."""
    usage: Usage | None
    """What it used; None if it was not confined, or nobody knows any more."""


@dataclass(frozen=True, slots=True)
class MatchTraces:
    """All that is left of a match."""

    match_id: str
    condition: Condition | None
    """None if nobody knows any more."""
    status: str
    """Whether it counts, in words."""
    bots: tuple[str, ...]
    """What each seat is called."""
    seats: tuple[SeatTraces, ...]
    """How it went for each seat; none if the match has no result."""
    voids: tuple[str, ...]
    """The reason of each attempt that came to no result."""
    logs: tuple[Log, ...]
    record: Path | None
    """None if there is no record."""
    account: Account | None
    """What the record says; None if there is none, or it does not hold."""
    problem: str
    """Why there is no account; empty if there is one, or the match has not been played."""


def find_match(home: Home, chronicle: Chronicle, beginning: str) -> str:
    """Return the id of a match that was scheduled, or has left a record: it qualified a version, or was part of a trial.

    Raises:
        LadderError: if there is no match whose id begins like this, or more than one.
    """
    found = sorted({*chronicle.matches_beginning(beginning, MAX_NAMED + 1), *home.recorded(beginning)})
    if not found:
        raise NotFound(f"there is no match or bot {beginning!r}; see dogana ladder matches, dogana ladder bots")
    if len(found) > 1 and found[0] != beginning:
        more = ", ..." if len(found) > MAX_NAMED else ""
        raise LadderError(
            f"several matches begin with {beginning!r}: {', '.join(found[:MAX_NAMED])}{more}; give more of the id"
        )
    return found[0]


def traces_of(home: Home, chronicle: Chronicle, match_id: str) -> MatchTraces:
    """Gather what is left of a match, and play its record again."""
    match, played, voids = chronicle.match(match_id), chronicle.played(match_id), chronicle.voids(match_id)
    path, account, problem = _account(home, match_id)
    record = path if path.exists() else None
    if match is not None:
        condition, bots = match.condition, match.labels
    elif account is not None:
        plan = account.plan
        options = not_defaults(plan.game, plan.setup.options)
        condition, bots = Condition(0, plan.game.name, options, str(plan.control)), list(plan.bots)
    else:
        condition, bots = None, []
    return MatchTraces(
        match_id=match_id,
        condition=condition,
        status=_status(match_id, played, len(voids), is_scheduled=match is not None),
        bots=tuple(bots),
        seats=tuple(_seats(played, account, usages_of(home, match_id))),
        voids=tuple(voids),
        logs=tuple(logs_of_match(home, match_id, bots)),
        record=record,
        account=account,
        problem=problem if played is not None or record is not None else "",
    )


def _account(home: Home, match_id: str) -> tuple[Path, Account | None, str]:
    """Return where the record is, what it says, and why it says nothing."""
    path = home.find_record(match_id)
    try:
        return path, read_account(path), ""
    except RecordError as error:
        if home.find_record(match_id) != path:  # a run has sealed it at this moment
            return _account(home, match_id)
        return path, None, str(error)


def _status(match_id: str, played: PlayedMatch | None, voids: int, *, is_scheduled: bool) -> str:
    if played is not None:
        again = "" if played.rated else ", but is not rated: the same was played before"
        return f"counts as number {played.number}{again}"
    if is_scheduled:
        return "is given up: it was void too often" if voids >= MAX_VOIDS else "does not count yet"
    return "does not count: it was to qualify a version" if match_id.startswith("qualify-") else "does not count"


def _seats(played: PlayedMatch | None, account: Account | None, usages: Mapping[Seat, Usage]) -> Iterator[SeatTraces]:
    longest = {} if account is None else account.longest
    if played is not None:
        for one in played.seats:
            yield SeatTraces(
                one.version.label,
                one.rank,
                one.score,
                one.outcome,
                one.detail,
                one.decisions,
                one.think_ms,
                longest.get(one.seat),
                usages.get(one.seat),
            )
    elif account is not None:
        for seat in account.result.seats:
            yield SeatTraces(
                seat.bot,
                seat.rank,
                seat.score,
                seat.outcome,
                seat.detail,
                seat.decisions,
                milliseconds(seat.think_seconds),
                longest.get(seat.seat),
                usages.get(seat.seat),
            )


def usages_of(home: Home, match_id: str) -> dict[Seat, Usage]:
    """Return what the confined bots of a match used, as far as it is known."""
    try:
        text = read_file(home.usage(match_id), MAX_LOG_BYTES)
        return {int(seat): Usage(**used) for seat, used in json.loads(text).items()}
    except (OSError, ValueError, TypeError, AttributeError):  # there is no such file, or somebody has changed it
        return {}


def logs_of_match(home: Home, match_id: str, bots: Sequence[str]) -> list[Log]:
    """Return the logs of a match, by seat; house bots write none. `bots` is what the seats are called, if it is known."""
    found = []
    for path in home.logs(match_id).glob("seat*.log"):
        number = path.stem.removeprefix("seat")
        if number.isdecimal():
            seat = int(number)
            found.append(Log(match_id, seat, bots[seat] if seat < len(bots) else "", path))
    return sorted(found, key=lambda log: log.seat)


def bots_in(home: Home, chronicle: Chronicle, match_id: str) -> list[str]:
    """Return what each seat of a match is called; empty if nobody knows any more."""
    match = chronicle.match(match_id)
    if match is not None:
        return match.labels
    try:
        bots = read_lines(home.find_record(match_id))[0].data.get("bots")
    except RecordError:
        return []
    return [str(bot) for bot in bots] if isinstance(bots, list) else []


def last_log(home: Home, chronicle: Chronicle, versions: Sequence[Version]) -> Log:
    """Return the log of a bot in its last match that has one: one that counts, or one that was to qualify it.

    The match in which it failed to qualify comes first, if the newest version has not qualified.

    Args:
        home: the folder of the ladder.
        chronicle: what it knows.
        versions: the versions of the bot, by number.

    Raises:
        LadderError: if there is none.
    """
    newest = versions[-1]
    failed = any(
        one.status is Status.FAILED
        for condition in chronicle.conditions().values()
        for one in standings(chronicle, condition)
        if one.version == newest
    )
    qualifying = (
        (match_id, 0, version) for version in reversed(versions) for match_id in home.qualifications(version.id)[::-1]
    )
    played = _played(chronicle, versions)
    for match_id, seat, version in chain(qualifying, played) if failed else chain(played, qualifying):
        path = home.log(match_id, seat)
        if path.exists():
            return Log(match_id, seat, version.label, path)
    raise LadderError(f"{newest.bot} has no log: it has played no match yet, or the logs were removed")


def _played(chronicle: Chronicle, versions: Sequence[Version]) -> Iterator[tuple[str, Seat, Version]]:
    """Yield the matches of some versions that count, newest first, with their seats."""
    before = ""
    while found := chronicle.matches(_MATCHES_AT_A_TIME, versions=versions, before=before):
        for match in found:
            before = match.match_id
            yield from ((before, seat.seat, seat.version) for seat in match.seats if seat.version in versions)
