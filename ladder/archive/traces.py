"""The traces of matches in the archive of a ladder: their records, and the logs of bots.

Matches that do not count may have them, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

import msgspec

from ladder.archive.archive import LOGS, RECORDS, USAGE, Archive, NoRecord, find_logs, find_record
from ladder.archive.faults import Account, read_account
from ladder.facts.history import LAST_MATCHES
from ladder.facts.roster import MAX_NAMED
from ladder.facts.standings import Status, statuses
from ladder.facts.store import Store
from ladder.model.condition import Condition, not_defaults
from ladder.model.match import Version
from ladder.operation.errors import LadderError, NotFound
from ladder.operation.home import QUALIFY, Home
from referee.errors import DoganaError
from referee.game import Seat
from referee.live.seats.last_words import last_words
from referee.match.result import Outcome
from referee.options import OptionValue
from referee.records.record import RecordError, read_lines
from referee.registry import find
from referee.sandbox.cgroup import Usage

_QUALIFYING = re.compile(r"qualify-([0-9]{1,18})-", re.ASCII)
_MATCHES_AT_A_TIME = 50
_LEAST_OF_AN_ID = 2
"""The minimum number of leading characters of its id by which an unscheduled match can be found.

With fewer, all records would have to be searched."""


@dataclass(frozen=True, slots=True)
class BotOutput:
    """The output of the bot in one seat of a match."""

    match_id: str
    seat: Seat
    bot: str
    """The name of the bot in the record; empty if the record is gone."""
    data: bytes

    def lines(self) -> list[str]:
        """Return the lines of the output."""
        text = self.data.decode(errors="replace")
        return text.removesuffix("\n").split("\n") if text else []


def find_match(
    home: Home, store: Store, beginning: str, may_know: Callable[[str], bool] = lambda match_id: True
) -> str:
    """Find a match by the beginning of its id, and return the whole id.

    The match was scheduled, or has a record, as qualifying matches and matches of trials do.

    Args:
        home: the folder of the ladder.
        store: the facts of the ladder.
        beginning: the beginning of the id.
        may_know: returns True if the caller may know of the unscheduled match with the given id.

    Raises:
        LadderError: if no match, or more than one, has such an id.
    """
    scheduled = store.schedule.matches_beginning(beginning, MAX_NAMED + 1)
    if beginning in scheduled:
        return beginning
    with Archive(home.archive, create=False) as archive:
        recorded = archive.matches_with(RECORDS, beginning) if len(beginning) >= _LEAST_OF_AN_ID else []
    others = [one for one in recorded if store.schedule.match(one) is None and may_know(one)]
    found = sorted({*scheduled, *others})
    if not found:
        raise NotFound(f"no match has an id that begins with {beginning!r}", "matches")
    if len(found) > 1 and found[0] != beginning:
        more = ", ..." if len(found) > MAX_NAMED else ""
        raise LadderError(
            f"several matches begin with {beginning!r}: {', '.join(found[:MAX_NAMED])}{more}; give more of the id"
        )
    return found[0]


def qualified_in(match_id: str) -> int | None:
    """Return the id of the version that a match was to qualify; None if it is not a qualifying match."""
    found = _QUALIFYING.match(match_id)
    return None if found is None else int(found[1])


def account_of(home: Home, match_id: str) -> tuple[bool, Account | None, str]:
    """Replay the record of a match.

    Returns:
        True if there is a record; its account, or None if it is not valid; and the reason if there is no account.
    """
    try:
        record = find_record(home, match_id)
        account = read_account(record.path, record.data)
        if account.plan.match_id != match_id:
            raise RecordError(record.path, 1, "the record is of another match")
        return True, account, ""
    except RecordError as error:
        return not isinstance(error, NoRecord), None, str(error)


def usages_of(home: Home, match_id: str) -> dict[Seat, Usage]:
    """Return the known resource usage of a match's confined bots, by seat."""
    try:
        usages = msgspec.json.decode(find_logs(home, match_id)[USAGE], type=dict[Seat, Usage])
        for usage in usages.values():
            str(usage)  # raises an error if a number is too large to be put into words
    except (ValueError, LookupError, OverflowError, RecursionError, RecordError):  # there is none, or it was changed
        return {}
    return usages


def logs_of_match(home: Home, match_id: str, bots: Sequence[str]) -> list[BotOutput]:
    """Return the logs of a match by seat; house bots write none.

    Args:
        home: the folder of the ladder.
        match_id: the id of the match.
        bots: the name of the bot in each seat, if known.

    Raises:
        RecordError: if the logs are damaged.
    """
    found = []
    for name, data in find_logs(home, match_id).items():
        if name != USAGE:
            seat = int(name.removeprefix("seat").removesuffix(".log"))
            found.append(BotOutput(match_id, seat, bots[seat] if seat < len(bots) else "", data))
    return sorted(found, key=lambda log: log.seat)


def logs_that_hold(home: Home, match_id: str, bots: Sequence[str]) -> list[BotOutput]:
    """Return the logs of a match as `logs_of_match` does, but none if they are damaged.

    The rest of an answer is useful even without them.
    """
    try:
        return logs_of_match(home, match_id, bots)
    except RecordError:
        return []


def bots_in(home: Home, store: Store, match_id: str) -> list[str]:
    """Return the name of the bot in each seat of a match; empty if they are unknown."""
    match = store.schedule.match(match_id)
    if match is not None:
        return match.labels
    try:
        record = find_record(home, match_id)
        bots = read_lines(record.path, record.data)[0].data.get("bots")
    except RecordError:
        return []
    return [str(bot) for bot in bots] if isinstance(bots, list) else []


def last_log(home: Home, store: Store, versions: Sequence[Version]) -> BotOutput:
    """Return the log of the last match of a bot that has a log: a counted match, or a qualifying match.

    If the newest version has failed to qualify under a condition, its qualifying matches there come first, and those
    under other conditions are left out.

    Args:
        home: the folder of the ladder.
        store: the facts of the ladder.
        versions: the versions of the bot, by number.

    Raises:
        LadderError: if there is no log.
        RecordError: if the log is damaged.
    """
    newest = versions[-1]
    failed = [
        (condition.game, dict(condition.options), condition.clock)
        for condition in store.roster.conditions().values()
        for one in statuses(store, condition, [newest.id])
        if one.version == newest and one.status is Status.FAILED
    ]
    qualifying = (
        (match_id, 0, version)
        for version in reversed(versions)
        for match_id in _qualifications(home, version.id)
        if not failed or version != newest or _played_under(home, match_id) in (None, *failed)
    )
    played = islice(_played(store, versions), LAST_MATCHES)
    for match_id, seat, version in chain(qualifying, played) if failed else chain(played, qualifying):
        data = find_logs(home, match_id).get(f"seat{seat}.log")
        if data is not None:
            return BotOutput(match_id, seat, version.label, data)
    before = store.evidence.logs_pruned_before()
    pruned = f"; those from before {before[:10]} were pruned by the organiser's retention" if before else ""
    raise LadderError(f"{newest.bot} has no log: it has played no match yet, or the logs were removed{pruned}")


def _qualifications(home: Home, version: int) -> list[str]:
    """Return the ids of a version's qualifying matches with logs, newest first."""
    with Archive(home.archive, create=False) as archive:
        return archive.matches_with(LOGS, f"{QUALIFY}{version}-")[::-1]


def _played_under(home: Home, match_id: str) -> tuple[str, dict[str, OptionValue], str] | None:
    """Return the game, options and clock of a match without a block; None if it has no readable record.

    A match has no record if its worker died, for example.
    """
    try:
        record = find_record(home, match_id)
        header = read_lines(record.path, record.data)[0].data
        game = find(str(header["game"]))
        return game.name, not_defaults(game, header["options"]), str(header["clock"])
    except (DoganaError, KeyError, TypeError):
        return None


def with_last_said(home: Home, version: Version, condition: Condition, reason: str) -> str:
    """Return the reason why a version failed to qualify, with its last output if its program has ended."""
    # The output explains why a program ended; for other faults, the referee gives the reason.
    has_ended = reason.startswith((Outcome.CRASH.value, Outcome.START.value))
    said = _last_said(home, version, condition) if has_ended else ""
    # The reason for a failed start may already quote the output.
    return f"{reason}; {said}" if said and said not in reason else reason


def _last_said(home: Home, version: Version, condition: Condition) -> str:
    """Return the last output of a version in its failed qualifying match; empty if there is none.

    File names in it are relative to the bot's own folder.
    """
    under = (condition.game, dict(condition.options), condition.clock)
    for match_id in _qualifications(home, version.id):
        if _played_under(home, match_id) in (None, under):
            with suppress(RecordError):
                text = find_logs(home, match_id).get("seat0.log", b"").decode(errors="replace")
                return last_words(text.replace(f"{home.versions / version.content_hash}/", ""))
    return ""


def _played(store: Store, versions: Sequence[Version]) -> Iterator[tuple[str, Seat, Version]]:
    """Yield the match id, seat and version of each appearance of these versions in a counted match, newest first."""
    before = ""
    while found := store.history.matches(_MATCHES_AT_A_TIME, versions=versions, before=before):
        for match in found:
            before = match.match_id
            yield from ((before, seat.seat, seat.version) for seat in match.seats if seat.version in versions)
