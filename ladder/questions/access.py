"""The access rules for matches, records, logs and bots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ladder.archive import traces
from ladder.archive.archive import NoRecord
from ladder.model.match import Version
from ladder.operation.errors import Forbidden, NotFound
from ladder.questions.caller import Caller
from ladder.questions.question import Ladder
from referee.records.record import RecordError


def check_is_author(caller: Caller) -> None:
    """Check that the caller is an author.

    Raises:
        Forbidden: if the caller is not an author.
    """
    if not caller.author:
        raise Forbidden("whoever submits or offers a bot over the network must show the token of an author")


def owns(caller: Caller, versions: Sequence[Version]) -> bool:
    """Return True if a bot belongs to the caller; all bots belong to the organiser."""
    # All versions of a bot have one author.
    return caller.is_organiser or versions[0].author == caller.author


def check_owner(caller: Caller, versions: Sequence[Version]) -> None:
    """Check that a bot belongs to the caller.

    Raises:
        Forbidden: if the bot belongs to another author.
    """
    if not owns(caller, versions):
        raise Forbidden(f"{versions[0].bot} is another author's bot")


def own_versions(ladder: Ladder, bot: str) -> list[Version]:
    """Return the versions of one of the caller's own bots.

    Raises:
        NotFound: if there is no such bot.
        Forbidden: if it belongs to another author.
    """
    versions = ladder.facts.roster.find_versions(bot)
    check_owner(ladder.caller, versions)
    return versions


def find_match(ladder: Ladder, beginning: str) -> str:
    """Return the id of a match, as `ladder.archive.traces.find_match` does.

    Only the author of the version and the organiser may see a qualifying match, and only the organiser may see a trial;
    nobody else learns that such a match exists.
    """
    if ladder.caller.is_organiser:
        return traces.find_match(ladder.home, ladder.facts, beginning)

    def may_know(match_id: str) -> bool:
        version = traces.qualified_in(match_id)
        # A match of a trial is in no block and qualifies nobody, so only the organiser finds it.
        known = None if version is None else ladder.facts.roster.versions([version]).get(version)
        return known is not None and known.author == ladder.caller.author

    return traces.find_match(ladder.home, ladder.facts, beginning, may_know)


def check_over(ladder: Ladder, match_id: str) -> None:
    """Check that a match may be shown to the caller: until its block is over, only the organiser may see it.

    The record of a match reveals the random draws of all matches in its block.

    Raises:
        Forbidden: if the match may not be shown yet.
    """
    match = ladder.facts.schedule.match(match_id)
    # A match without a block shares its seed with no other match.
    if ladder.caller.is_organiser or match is None or match.block is None:
        return
    if not ladder.facts.schedule.is_over(match.block):
        raise Forbidden(f"match {match_id} can be seen when the other matches from its seed are over")


def may_read(ladder: Ladder, log: traces.BotOutput) -> bool:
    """Return True if the caller may read a log; only the organiser may read the log of an unknown bot."""
    if ladder.caller.is_organiser:
        return True
    return any(version.author == ladder.caller.author for version in ladder.facts.roster.versions_called(log.bot))


@contextmanager
def without_path(what: str, caller: Caller) -> Iterator[None]:
    """Report a damaged file without its path, except to the organiser.

    `what` is the beginning of the message, such as `the record is`.
    """
    try:
        yield
    # A missing record is not damage, although its error is a `RecordError`, too.
    except NoRecord:
        raise
    except RecordError as error:
        if caller.is_organiser:
            raise
        raise NotFound(f"{what} damaged; tell the organiser") from error
