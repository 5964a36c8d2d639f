"""The versions that play next, with the reasons in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ladder.facts.budgets import NEXT_DAY
from ladder.facts.standings import candidates
from ladder.facts.standings import queue as queue_of
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, Version
from ladder.model.schedule import NEW_BLOCKS, Candidate, Queue
from ladder.questions.choosing import conditions_of
from ladder.questions.question import Count, Ladder, Request, Row, Text, question
from ladder.questions.rows import ConditionTerms, condition_terms
from referee.options import OptionValue
from referee.registry import find
from referee.terminal import counted

LISTED = 10
"""The maximum number of versions in the list."""


class QueueRow(Row, kw_only=True):
    """A version that waits for its next block."""

    game: str
    """The name of the game."""
    options: dict[str, OptionValue]
    """The options that are not the game's defaults."""
    clock: str
    """The clock of the condition."""
    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version, from 1."""
    author: str
    """The author of the bot."""
    due: Count = 0
    """The number of rounds until the version is due; 0 if it is due now. In each round, every author is due for two
    matches."""
    sigma: float
    """The uncertainty of the version's rating."""
    waits: Count
    """The number of blocks since the version's last block."""
    at_most: Count = 0
    """The maximum number of blocks until the version's next block, if nobody joins."""
    playing: bool
    """True if the version is in a match at this moment."""
    why: str
    """The reason for the version's position, in words."""
    again: str = ""
    """The time at which the version may play again, such as "00:00 UTC", if its author's budget for today is used up;
    otherwise empty. Until that time it is in no queue: `due` and `at_most` are 0."""


class ConditionQueue(Row):
    """The next players under a condition."""

    condition: ConditionTerms
    """The condition of the queue."""
    versions: list[QueueRow]
    """The next players, in order."""


class QueueAnswer(Row):
    """The next players, for each condition of the ladder under which matches have been played."""

    queues: list[ConditionQueue]
    """A queue for each condition."""


class QueueRequest(Request[QueueAnswer]):
    """Asks for the next players."""

    game: Text = ""
    """List only queues of this game; the queues of all games if empty."""


@question("/queue")
def queue(ladder: Ladder, request: QueueRequest) -> QueueAnswer:
    """List the versions that play next, with the reasons.

    Raises:
        DoganaError: if there is no such game.
    """
    return QueueAnswer(
        queues=[
            ConditionQueue(condition=condition_terms(condition), versions=_waiting(ladder.facts, condition))
            for condition in conditions_of(ladder.facts, request.game)
        ]
    )


def _waiting(facts: Store, condition: Condition) -> list[QueueRow]:
    """Return the next versions under a condition, with what decides their order, then those without budget today."""
    queued = queue_of(facts, condition)
    versions, playing, budgets = facts.roster.versions(), facts.schedule.playing(condition), facts.budgets.of_today()
    # A run may allow fewer numbers of seats, which is not known here.
    seat_counts = find(condition.game).seat_counts
    listed = list(islice(queued, LISTED))
    # Each lookup takes a query, so only the listed ones are looked up.
    waits = {one.version: facts.schedule.blocks_since(condition, one.last_block) for one in listed}
    longest_ago = min((one.last_block for one in queued), default=0)
    # By rule 8, versions in a match are passed over.
    first = next((one.version for one in queued if one.version not in playing), None)

    def entry(one: Candidate, **more: Any) -> QueueRow:
        return QueueRow(
            game=condition.game,
            options=dict(condition.options),
            clock=condition.clock,
            bot=versions[one.version].bot,
            version=versions[one.version].number,
            author=one.author,
            sigma=one.rating.sigma,
            playing=one.version in playing,
            **more,
        )

    return [
        entry(
            one,
            due=queued.rounds_until(one.version),
            waits=waits[one.version],
            at_most=queued.most_blocks_now(one.version, seat_counts),
            why="; ".join(
                [
                    *(["is playing"] if one.version in playing else []),
                    *_order_reasons(
                        one,
                        is_first=one.version == first,
                        # On a new ladder, no version has waited.
                        waits_longest=one.last_block == longest_ago and waits[one.version] > 0,
                    ),
                    *_share_reasons(one, queued, versions, facts, condition),
                ]
            ),
        )
        for one in listed
    ] + [
        entry(
            one,
            waits=facts.schedule.blocks_since(condition, one.last_block),
            why=f"{one.author} has had {budgets[one.author].today} of {budgets[one.author].matches} matches today",
            again=NEXT_DAY,
        )
        # `queue` leaves these versions out.
        for one in candidates(facts, condition)
        if one.author in budgets and budgets[one.author].is_used_up
    ]


def _order_reasons(one: Candidate, *, is_first: bool, waits_longest: bool) -> Iterator[str]:
    """Yield the reasons why a version comes before others that are due (rule 2)."""
    if is_first:
        yield f"least certain of those due: sigma {one.rating.sigma:.1f}"
    if waits_longest:
        yield "waits longest"


def _share_reasons(
    one: Candidate, queued: Queue, versions: Mapping[int, Version], facts: Store, condition: Condition
) -> Iterator[str]:
    """Yield the reasons why a version is due more or less often than others."""
    if one.sits_out:
        yield f"out in its last {one.faults_in_a_row} matches: sits out {counted(one.sits_out, 'round')}"
    if one.author == HOUSE:
        yield "house bot: a quarter of a share"
        return
    if versions[one.version].is_at_home:
        yield "at home"
    if one.is_new:
        yield f"new: {one.blocks} of {NEW_BLOCKS} first blocks"
        if one.predecessor is not None and not facts.schedule.meetings(condition, [one.version], [one.predecessor]):
            yield f"to be accompanied by {versions[one.predecessor].label}"
    if queued.bots_of(one.author) > 1:
        yield f"one of {queued.bots_of(one.author)} bots that share the part of {one.author}"
