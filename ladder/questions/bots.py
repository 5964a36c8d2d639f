"""Every bot, and one bot with its versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from statistics import fmean

from ladder.archive.traces import usages_of, with_last_said
from ladder.facts.history import LAST_BLOCKS, LAST_VERSIONS, SeatTally, TelemetryRow, Thinking
from ladder.facts.standings import Placing, Standing, Status, places, statuses
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.questions.access import owns
from ladder.questions.choosing import conditions_of, is_called
from ladder.questions.events import BotEvent, events_of
from ladder.questions.question import Count, Ladder, Name, Request, Row, Text, question
from ladder.questions.rows import (
    BlockRating,
    StandingRow,
    block_ratings,
    standing_row,
)
from referee.registry import find

LAST_USED = 20
"""The number of a version's most recent matches over which its usage is averaged."""


class BotRow(Row):
    """A bot, with its newest version."""

    bot: str
    """The name of the bot."""
    version: Count
    """The number of the bot's newest version, from 1."""
    author: str
    """The author of the bot."""
    standings: list[StandingRow]
    """The newest version's standing under each condition."""


class BotsAnswer(Row):
    """All bots, in the order of their names."""

    bots: list[BotRow]
    """The newest version of each bot."""


class BotsRequest(Request[BotsAnswer]):
    """Asks for all bots."""

    game: Text = ""
    """List only bots that play this game; all bots if empty."""
    called: Text = ""
    """List only bots with this text in their name or their author's name, ignoring case; all bots if empty."""


@question("/bots")
def bots(ladder: Ladder, request: BotsRequest) -> BotsAnswer:
    """List every bot with its newest version.

    Raises:
        DoganaError: if there is no such game.
    """
    facts, game = ladder.facts, find(request.game).name if request.game else None
    # In the order of submission, so the last version of each bot is kept.
    newest = {version.bot: version for version in facts.roster.versions().values()}
    listed: dict[Version, list[StandingRow]] = {
        newest[bot]: []
        for bot in sorted(newest)
        if (game is None or game in newest[bot].games) and is_called(newest[bot], request.called)
    }
    for condition in conditions_of(facts, request.game):
        placed = places(facts, condition)
        for one in statuses(facts, condition):
            if one.version in listed:
                listed[one.version].append(standing_row(condition, one, placed.get(one.version.id)))
    return BotsAnswer(
        bots=[
            BotRow(bot=version.bot, version=version.number, author=version.author, standings=found)
            for version, found in listed.items()
        ]
    )


class VersionRow(Row):
    """A submitted version of a bot."""

    version: Count
    """The number of the version, from 1."""
    content_hash: str
    """The SHA-256 of the version's files, in hexadecimal."""
    submitted_at: str
    """The time of submission, in ISO 8601, UTC."""
    games: list[str]
    """The games that the version plays."""
    standings: list[StandingRow]
    """The version's standing under each condition."""
    language: str
    """The programming language of the version, from `language` in its bot.toml or from its command; empty if
    unknown."""


class OpponentRow(Row):
    """The results of a version against another version."""

    bot: str
    """The name of the other bot."""
    version: Count
    """The number of the other bot's version."""
    matches: Count
    """The number of matches in which both versions played."""
    ahead: Count
    """The number of common matches in which the version was placed ahead of the other version."""
    tied: Count
    """The number of common matches in which both versions had the same place."""
    behind: Count
    """The number of common matches in which the version was placed behind the other version."""


class MeanUsage(Row):
    """The resource usage of a version's processes."""

    matches: Count
    """The number of matches with known usage."""
    memory_peak: int | None
    """The version's peak memory in these matches, in bytes; null if the machine does not report it."""
    memory_in: str
    """The match in which `memory_peak` was reached."""
    cpu_seconds: float | None
    """The version's mean processor time per match, in seconds; null if the machine does not report it."""


class Performance(Row):
    """The results of a version under a condition."""

    standing: StandingRow
    """The version's standing under the condition."""
    faults: dict[str, Count]
    """The number of matches in which the version was out, by kind of fault."""
    blocks: list[BlockRating]
    """The version's live rating after each of the last 100 blocks in which it had a rated match."""
    met: list[OpponentRow]
    """The version's results against each opponent in its last 200 matches, the most frequent opponent first."""
    telemetry: list[TelemetryRow]
    """The version's telemetry in its last 200 matches, by key; only for its author and the organiser."""
    history: list[BlockRating]
    """The live ratings of all versions of the bot after the last 100 blocks in which any of them had a rated match."""
    seats: list[SeatTally]
    """The version's results in each seat in its last 200 matches, smaller tables first."""
    thinking: Thinking | None
    """The thinking time charged to the version in its last 200 matches; null if it made no decision."""
    used: MeanUsage | None
    """The version's resource usage in its last 20 matches; null if unknown."""


class ShowAnswer(Row):
    """A bot, with its versions and their results."""

    bot: str
    """The name of the bot."""
    author: str
    """The author of the bot."""
    versions: list[VersionRow]
    """The bot's versions in the order of their numbers, or only the requested version."""
    fared: list[Performance]
    """The results of the newest of `versions`, for each condition under which it has matches."""
    is_own: bool
    """True if the bot belongs to the caller."""
    at_tables: bool
    """True if people may play against the bot at tables."""
    events: list[BotEvent]
    """The bot's part in the last 20 events, newest first; events without the bot are left out."""


class ShowRequest(Request[ShowAnswer]):
    """Asks for one bot."""

    bot: Name
    """A bot, such as `mybot`, or one version of it, such as `mybot v2`."""


@question("/bots/{bot}")
def show(ladder: Ladder, request: ShowRequest) -> ShowAnswer:
    """Show one bot: its versions, their status, and the results of the newest.

    Raises:
        LadderError: if there is no such bot.
    """
    facts = ladder.facts
    versions = facts.roster.find_versions(request.bot)
    submitted = facts.roster.submitted_at([version.id for version in versions])
    # The last words of a bot come from its log, which only its author may read.
    sees_last_words = owns(ladder.caller, versions)
    found = [
        (
            condition,
            _with_last_words(ladder, condition, one) if sees_last_words else one,
            placed.get(one.version.id),
        )
        for condition in facts.roster.conditions().values()
        # A loop over one value: the places are looked up only once for each condition.
        for placed in (places(facts, condition),)
        for one in statuses(facts, condition, [version.id for version in versions])
        # `statuses` returns all versions of the bot.
        if one.version in versions
    ]
    newest = versions[-1]
    return ShowAnswer(
        bot=newest.bot,
        author=newest.author,
        versions=[
            VersionRow(
                version=version.number,
                content_hash=version.content_hash,
                submitted_at=submitted[version.id],
                games=list(version.games),
                language=version.language,
                standings=[standing_row(*row) for row in found if row[1].version == version],
            )
            for version in versions
        ],
        fared=[
            _performance(ladder, condition, one, place)
            for condition, one, place in found
            if one.version == newest and one.tally.matches
        ],
        is_own=bool(ladder.caller.author) and newest.author == ladder.caller.author,
        at_tables=newest.bot in facts.roster.at_tables(),
        events=events_of(ladder, newest.bot),
    )


def _with_last_words(ladder: Ladder, condition: Condition, one: Standing) -> Standing:
    """Return a standing; if the version failed to qualify, its last output is added to the reason."""
    if one.status is not Status.FAILED:
        return one
    return replace(one, reason=with_last_said(ladder.home, one.version, condition, one.reason))


def _performance(ladder: Ladder, condition: Condition, one: Standing, place: Placing | None) -> Performance:
    facts, version = ladder.facts, one.version
    versions = facts.roster.versions_called(version.bot)[-LAST_VERSIONS:]
    return Performance(
        standing=standing_row(condition, one, place),
        faults={outcome.value: count for outcome, count in facts.history.faults(version, condition).items()},
        blocks=_histories(ladder, condition, [version]),
        # `_histories` applies the limit to each version separately.
        history=_histories(ladder, condition, versions)[-LAST_BLOCKS:],
        met=[
            OpponentRow(bot=other.bot, version=other.number, **asdict(score))
            for other, score in facts.history.met(version, condition).items()
        ],
        telemetry=facts.history.telemetry(version, condition) if owns(ladder.caller, [version]) else [],
        seats=list(facts.history.seat_tallies(version, condition)),
        thinking=facts.history.thinking(version, condition),
        used=_mean_usage(ladder, version, condition),
    )


def _histories(ladder: Ladder, condition: Condition, versions: Sequence[Version]) -> list[BlockRating]:
    """Return the ratings of the given versions after their last blocks, in block order."""
    by_id = {version.id: version for version in versions}
    found = ladder.facts.history.rating_history(by_id, condition, LAST_BLOCKS)
    return sorted(
        block_ratings({by_id[version]: blocks for version, blocks in found.items()}),
        key=lambda rating: (rating.block, rating.version),
    )


def _mean_usage(ladder: Ladder, version: Version, condition: Condition) -> MeanUsage | None:
    """Return the mean resource usage of a version in its most recent matches; None if it is unknown."""
    seats = ladder.facts.history.last_seats(version, condition, LAST_USED)
    known = {
        match_id: usage for match_id, seat in seats if (usage := usages_of(ladder.home, match_id).get(seat)) is not None
    }
    if not known:
        return None
    peaks = {match_id: usage.memory_peak for match_id, usage in known.items() if usage.memory_peak is not None}
    memory_in = max(peaks, key=lambda match_id: peaks[match_id], default="")
    seconds = [usage.cpu_seconds for usage in known.values() if usage.cpu_seconds is not None]
    return MeanUsage(
        matches=len(known),
        memory_peak=peaks.get(memory_in),
        memory_in=memory_in,
        cpu_seconds=fmean(seconds) if seconds else None,
    )
