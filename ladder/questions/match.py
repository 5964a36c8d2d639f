"""One match: its course, its record, and the logs of its bots."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from statistics import fmean

from msgspec import field

from ladder.archive import traces
from ladder.archive.archive import NoRecord, find_record
from ladder.archive.faults import Account, Blame, Lead, LongestDecision, LostDecision
from ladder.archive.retention import PRUNED_REMARK, by_retention
from ladder.facts.history import MatchHistory, PlayedMatch, PlayedSeat, TelemetryRow
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.store import Store
from ladder.model.condition import Condition, not_defaults
from ladder.model.rating import expected_share
from ladder.operation.errors import LadderError, NotFound
from ladder.questions.access import check_over, check_owner, find_match, may_read, without_path
from ladder.questions.question import Count, File, Ladder, Name, Request, Row, file_of, question
from ladder.questions.rows import (
    ConditionTerms,
    MatchRow,
    condition_terms,
    match_rows,
)
from referee.match.result import SeatResult, milliseconds, share_beaten
from referee.records.record import zipped
from referee.sandbox.cgroup import Usage


class PointsRow(Row):
    """The points that a seat got from one source."""

    source: str
    """The source, in words."""
    points: int
    """The number of points; below 0 where the rules take points away."""


class SeatAccount(Row):
    """The result of one seat, and its bot's resource usage."""

    seat: Count
    """The number of the seat, from 0."""
    bot: str
    """The name of the seat's bot."""
    rank: Count
    """The seat's place, from 1."""
    score: int
    """The seat's score under the rules of the game."""
    outcome: str
    """The outcome for the seat, in a word."""
    detail: str = ""
    """The reason why the seat was out, in words."""
    decisions: Count = 0
    """The number of the seat's decisions."""
    think_ms: float = 0.0
    """The time charged for all the seat's decisions, in milliseconds."""
    longest: LongestDecision | None = None
    """The decision for which the seat was charged the most time; null if unknown."""
    usage: Usage | None = None
    """The resource usage of the bot's processes; null if they were not confined, or if it is no longer known."""
    telemetry: list[TelemetryRow] = field(default_factory=list)
    """The bot's telemetry, by key; only for the bot's author and the organiser."""
    breakdown: list[PointsRow] = field(default_factory=list)
    """The sources of the seat's points; empty without a valid record."""


class LogPlace(Row):
    """A log that the caller may read."""

    seat: Count
    """The number of the seat, from 0."""


class RatingReason(Row):
    """The reason for the rating change of a seat's bot in a block: it beat more or fewer rivals than expected."""

    seat: Count
    """The number of the seat, from 0."""
    matches: Count
    """The number of rated matches in the block so far."""
    beaten: float
    """The share of rivals that the bot beat in these matches, from 0 to 1; ties count half."""
    expected: float
    """The share of rivals that, by the ratings before the block, the bot was expected to beat."""


class MatchAnswer(Row):
    """All the available data on a match."""

    match: str
    """The id of the match."""
    condition: ConditionTerms | None
    """The game and its terms; null if they are no longer known."""
    status: str
    """The status of the match in words, such as `counts as number 7`."""
    bots: list[str]
    """The name of the bot in each seat."""
    seats: list[SeatAccount]
    """The result of each seat; empty without a result."""
    blames: list[Blame]
    """Strikes and faults, in order."""
    lost_decisions: list[LostDecision]
    """The decisions at which seats were put out."""
    voids: list[str]
    """The reason for each void attempt."""
    is_recorded: bool
    """True if there is a record, which `/matches/{match}/record` sends."""
    moment: str
    """The address of the most interesting moment: the file of the match's page, and a fragment. Empty without a record."""
    logs: list[LogPlace]
    """The seats whose bots have written output that the caller may read."""
    problem: str
    """The reason why the record cannot be replayed; empty if it can, or if there is none."""
    pruned_at: str
    """The time at which the organiser's retention removed the record, in ISO 8601, UTC; empty if it was not removed."""
    lead: Lead | None
    """The action after which the winner led for good; null if several seats won, or there is no valid record."""
    block: list[MatchRow]
    """The counted matches of its block, by rotation, including this match; empty if it does not count."""
    reasons: list[RatingReason]
    """The reason for each rating change; empty unless the bots in all seats had a rating before the block."""
    digest: str
    """A hash of the play in the match; empty if the match does not count."""


def first_rated(found: MatchAnswer) -> list[int]:
    """Return the seats of a rated match whose bots had no rating before its block, which is why it has no `reasons`."""
    own = next((one for one in found.block if one.match == found.match), None)
    if own is None or own.event or not own.rated:
        return []
    return [seat.seat for seat in own.seats if seat.block_change is None]


class MatchRequest(Request[MatchAnswer]):
    """Asks for one match."""

    match: Name
    """The id of the match, or the beginning of the id."""


@question("/matches/{match}")
def match(ladder: Ladder, request: MatchRequest) -> MatchAnswer:
    """Show the course of one match, and the reason for each seat that was put out.

    To do so, it replays the record of the match.

    Raises:
        LadderError: if there is no such match, or more than one; or if its block is not over and the caller is not the
            organiser.
    """
    match_id = find_match(ladder, request.match)
    check_over(ladder, match_id)
    facts = ladder.facts
    played, voids = facts.history.played(match_id), facts.history.voids(match_id)
    is_recorded, account, problem = traces.account_of(ladder.home, match_id)
    condition, bots = _terms(ladder, match_id, account)
    pruned_at = "" if is_recorded else facts.evidence.record_pruned_at(match_id)
    logs = [log for log in traces.logs_that_hold(ladder.home, match_id, bots) if may_read(ladder, log)]
    block = [] if played is None else facts.history.played_with(played)
    # Nobody expects a record, because the match was never finished or its record was pruned.
    if pruned_at or (played is None and not is_recorded):
        problem = ""
    elif problem and not ladder.caller.is_organiser:
        problem = "its record does not hold"  # the whole text names files
    return MatchAnswer(
        match=match_id,
        condition=None if condition is None else condition_terms(condition),
        status=_status(facts, match_id, played, len(voids)),
        bots=bots,
        seats=_seats(ladder, match_id, played, account, logs),
        blames=[] if account is None else list(account.blames),
        lost_decisions=[] if account is None else list(account.lost),
        voids=voids,
        is_recorded=is_recorded,
        moment="" if account is None else f"{match_id}.html{account.moment}",
        logs=[LogPlace(seat=log.seat) for log in logs],
        problem=problem,
        pruned_at=pruned_at,
        lead=None if account is None else account.lead,
        block=match_rows(facts, block),
        reasons=[] if played is None else _reasons(facts.history, played, [one for one in block if one.rated]),
        digest="" if played is None else played.digest,
    )


def _terms(ladder: Ladder, match_id: str, account: Account | None) -> tuple[Condition | None, list[str]]:
    """Return the condition of a match (None if unknown) and the name of the bot in each seat."""
    if (scheduled := ladder.facts.schedule.match(match_id)) is not None:
        return scheduled.condition, scheduled.labels
    # The terms of a match without a block are only in its record.
    if account is None:
        return None, []
    plan = account.plan
    options = not_defaults(plan.game, plan.setup.options)
    return Condition(0, plan.game.name, options, str(plan.control)), list(plan.bots)


def _status(facts: Store, match_id: str, played: PlayedMatch | None, voids: int) -> str:
    """Describe the status of a match with this number of void attempts, such as `counts as number 7`."""
    event, is_scheduled = facts.tournaments.of_match(match_id), facts.schedule.match(match_id) is not None
    if event and is_scheduled and voids >= MAX_VOIDS:
        return f"is given up, and a draw in event {event}: it was void too often"
    if played is not None and event:
        return f"counts as number {played.number}, in event {event}, and is not rated"
    if played is not None:
        again = "" if played.rated else ", but is not rated: the same match was played before"
        return f"counts as number {played.number}{again}"
    if is_scheduled:
        return "is given up: it was void too often" if voids >= MAX_VOIDS else "does not count yet"
    return "does not count" if traces.qualified_in(match_id) is None else "does not count: it was to qualify a version"


def _reasons(history: MatchHistory, match: PlayedMatch, rated: Sequence[PlayedMatch]) -> list[RatingReason]:
    """Compare the results of the rated matches of a block with the ratings before it."""
    ratings = history.block_changes([match])
    before = [ratings.get((seat.version.id, match.block)) for seat in match.seats]
    known = [one[0] for one in before if one is not None]
    # The expectation needs the ratings of all rivals.
    if not rated or len(known) < len(match.seats):
        return []
    return [
        RatingReason(
            seat=seat.seat,
            matches=len(rated),
            # The version has a different seat in each match of the block.
            beaten=fmean(_share_beaten(one, seat.version.id) for one in rated),
            expected=expected_share(known[at], [*known[:at], *known[at + 1 :]]),
        )
        for at, seat in enumerate(match.seats)
    ]


def _share_beaten(match: PlayedMatch, version: int) -> float:
    ranks = [seat.rank for seat in match.seats]
    return share_beaten(ranks, next(at for at, seat in enumerate(match.seats) if seat.version.id == version))


def _seats(
    ladder: Ladder, match_id: str, played: PlayedMatch | None, account: Account | None, logs: list[traces.BotOutput]
) -> list[SeatAccount]:
    """Return the result of each seat; a bot's telemetry is only for callers who may read its log."""
    if played is not None:
        seats = [_seat(one, one.version.label, one.think_ms) for one in played.seats]
    elif account is not None:
        seats = [_seat(one, one.bot, milliseconds(one.think_seconds)) for one in account.result.seats]
    else:
        seats = []
    usages, said = traces.usages_of(ladder.home, match_id), ladder.facts.history.telemetry_of(match_id)
    # Telemetry is read from the output, so it goes to those who may read the log.
    telemetry = {log.seat: said.get(log.seat, []) for log in logs}
    for seat in seats:
        seat.usage = usages.get(seat.seat)
        seat.telemetry = telemetry.get(seat.seat, [])
        if account is not None:
            seat.longest = account.longest.get(seat.seat)
            seat.breakdown = [
                PointsRow(source=source, points=points) for source, points in account.breakdown[seat.seat]
            ]
    return seats


def _seat(one: PlayedSeat | SeatResult, bot: str, think_ms: float) -> SeatAccount:
    return SeatAccount(
        seat=one.seat,
        bot=bot,
        rank=one.rank,
        score=one.score,
        outcome=one.outcome.value,
        detail=one.detail,
        decisions=one.decisions,
        think_ms=think_ms,
    )


class RecordRequest(Request[File]):
    """Asks for the record of a match."""

    match: Name
    """The id of the match, or the beginning of the id."""


@question("/matches/{match}/record", is_of_one_moment=False)
def record(ladder: Ladder, request: RecordRequest) -> File:
    """Send the record of a match.

    Raises:
        LadderError: if there is no such match, or it has no record; or if its block is not over and the caller is not the
        organiser.
        RecordError: if the record or the archive cannot be read; only the organiser learns the path.
    """
    match_id = find_match(ladder, request.match)
    check_over(ladder, match_id)
    try:
        with without_path(f"the record of match {match_id} is", ladder.caller):
            found = find_record(ladder.home, match_id)
    except NoRecord:
        if pruned_at := ladder.facts.evidence.record_pruned_at(match_id):
            raise LadderError(
                f"{by_retention(f'the record of match {match_id} was', pruned_at)}; {PRUNED_REMARK}"
            ) from None
        raise LadderError(f"match {match_id} has no record") from None
    # The compressed bytes of the archive are unreadable without its dictionary.
    return file_of(BytesIO(zipped(found.data)), f"{match_id}.jsonl.zst")


class BotLog(Row):
    """A bot's standard output and standard error in a match."""

    match: str
    """The id of the match."""
    seat: Count
    """The number of the seat, from 0."""
    bot: str
    """The name of the bot in the seat; empty if unknown."""
    lines: list[str]
    """The requested lines."""
    lines_left_out: Count
    """The number of lines before `lines`, which are left out."""


class LogAnswer(Row):
    """Logs, by seat."""

    logs: list[BotLog]
    """The output of each bot."""


class LogRequest(Request[LogAnswer]):
    """Asks for logs."""

    what: Name
    """A match, or the beginning of its id; or a bot, or one version of a bot, for its last match with a log."""
    seat: Count | None = None
    """Show only the log of this seat; the logs of all seats if null."""
    tail: Count = 0
    """The maximum number of lines from the end of each log; 0 for all of them."""


@question("/logs/{what}", is_of_one_moment=False)
def log(ladder: Ladder, request: LogRequest) -> LogAnswer:
    """Show the output of bots in a match, to their authors only.

    Raises:
        LadderError: if there is no such bot or match, or it has no log.
        Forbidden: if there is a log, but the bot belongs to another author.
        RecordError: if the log is damaged; only the organiser learns the path.
    """
    # Only a match has seats, so if a seat is given, `what` names a match.
    versions = ladder.facts.roster.versions_called(request.what) if request.seat is None else []
    if versions:
        check_owner(ladder.caller, versions)
        with without_path("the logs of this bot are", ladder.caller):
            logs = [traces.last_log(ladder.home, ladder.facts, versions)]
    else:
        logs = _logs_of_match(ladder, _match_of_log(ladder, request.what), request.seat)
    return LogAnswer(logs=[_bot_log(ladder, one, request.tail) for one in logs])


def _match_of_log(ladder: Ladder, what: str) -> str:
    """Return the id of a match; if there is none, the error also says whether `what` names a bot."""
    try:
        return find_match(ladder, what)
    except NotFound as error:
        if ladder.facts.roster.versions_called(what):
            raise NotFound(
                f"{what} is a bot, and only matches have seats; leave out the seat, or name a match"
            ) from error
        raise NotFound(f"there is no bot {what!r}, and {error}", error.command) from error


def _logs_of_match(ladder: Ladder, match_id: str, seat: int | None) -> list[traces.BotOutput]:
    """Return the logs of a match that the caller may read, or only the log of one seat.

    Raises:
        LadderError: if there is no such log.
    """
    bots = traces.bots_in(ladder.home, ladder.facts, match_id)
    with without_path(f"the logs of match {match_id} are", ladder.caller):
        found = traces.logs_of_match(ladder.home, match_id, bots)
    logs = [log for log in found if seat in (None, log.seat) and may_read(ladder, log)]
    if logs:
        return logs
    if pruned_at := ladder.facts.evidence.logs_pruned_at(match_id):
        raise LadderError(by_retention(f"the logs of match {match_id} were", pruned_at))
    where = "" if seat is None else f" in seat {seat}"
    whose = "" if ladder.caller.is_organiser else " that you may read"
    raise LadderError(
        f"match {match_id} has no log{where}{whose}: house bots write none, bots at home keep theirs, and logs may be removed"
    )


def _bot_log(ladder: Ladder, log: traces.BotOutput, tail: int) -> BotLog:
    lines = log.lines()
    last = lines[-tail:] if tail else lines
    return BotLog(
        match=log.match_id,
        seat=log.seat,
        bot=log.bot,
        lines=last,
        lines_left_out=len(lines) - len(last),
    )
