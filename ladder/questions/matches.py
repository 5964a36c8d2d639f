"""The counted matches, and the matches in progress."""

from __future__ import annotations

from functools import partial

from ladder.operation.errors import LadderError
from ladder.play.playing import playing as running_matches
from ladder.questions.access import find_match
from ladder.questions.choosing import conditions_of
from ladder.questions.question import Count, Ladder, Request, Row, Text, question
from ladder.questions.rows import MatchRow, match_rows

MAX_MATCHES = 1000
"""The maximum number of matches in one list."""
DEFAULT_MATCHES = 10


class MatchesAnswer(Row):
    """Counted matches."""

    matches: list[MatchRow]
    """The matches, newest first."""
    before: str | None
    """The value of `before` with which to ask for older matches; null if there are none."""
    after: str | None
    """The value of `after` with which to ask for newer matches; null if there are none."""


class MatchesRequest(Request[MatchesAnswer]):
    """Asks for matches."""

    bot: Text = ""
    """List only matches of this bot, or of this version of a bot; all matches if empty."""
    game: Text = ""
    """List only matches of this game; all matches if empty."""
    lost: bool = False
    """List only matches in which the bot was not first."""
    out: bool = False
    """List only matches in which the bot was out, or in which any seat was out if no bot is named."""
    limit: Count = 0
    """The maximum number of matches, at most 1000; 0 stands for 10."""
    before: Text = ""
    """List only matches counted before this one; the beginning of its id is enough."""
    after: Text = ""
    """List only the first matches counted after this one, also newest first. It cannot be combined with `before`."""


@question("/matches")
def matches(ladder: Ladder, request: MatchesRequest) -> MatchesAnswer:
    """List the counted matches, newest first.

    Raises:
        LadderError: if there is no such bot or match, or if both `before` and `after` are given.
        DoganaError: if there is no such game.
    """
    if request.before and request.after:
        raise LadderError("matches are listed before a match, or after one; leave out one of them")
    facts, limit = ladder.facts, min(request.limit or DEFAULT_MATCHES, MAX_MATCHES)
    before, after = (find_match(ladder, one) if one else "" for one in (request.before, request.after))
    wanted = partial(
        facts.history.numbers,
        versions=facts.roster.find_versions(request.bot) if request.bot else (),
        conditions=conditions_of(facts, request.game),
        lost=request.lost,
        out=request.out,
    )
    found = facts.history.numbered(wanted(limit, before=before, after=after))
    # A single match beyond either end shows that there is another page.
    is_older = bool(found and wanted(1, before=found[-1].match_id))
    is_newer = bool(found and wanted(1, after=found[0].match_id))
    return MatchesAnswer(
        matches=match_rows(facts, found),
        before=found[-1].match_id if is_older else None,
        after=found[0].match_id if is_newer else None,
    )


class RunningMatch(Row):
    """A match in progress."""

    match: str
    """The id of the match."""
    game: str
    """The name of the game."""
    terms: str
    """Clock and options, as tables print them."""
    bots: list[str]
    """The name of the bot in each seat."""
    started_at: str
    """The time at which the agents of the match were started, in ISO 8601, UTC."""
    address: str
    """The address for `dogana watch`; empty if the ladder has no such address."""


class PlayingAnswer(Row):
    """The matches in progress."""

    matches: list[RunningMatch]
    """The matches, in the order in which they began."""


class PlayingRequest(Request[PlayingAnswer]):
    """Asks for the matches in progress."""


@question("/playing", is_of_one_moment=False)
def playing(ladder: Ladder, request: PlayingRequest) -> PlayingAnswer:
    """List the matches in progress."""
    running = [(one, ladder.facts.schedule.match(one.match_id)) for one in running_matches(ladder.home)]
    return PlayingAnswer(
        matches=[
            RunningMatch(
                match=match.match_id,
                game=match.condition.game,
                terms=match.condition.terms,
                bots=list(match.labels),
                started_at=one.started_at,
                # The address of a worker is a socket, which only this machine reaches.
                address=one.address if ladder.caller.is_organiser else ladder.address,
            )
            for one, match in running
            if match is not None
        ]
    )
