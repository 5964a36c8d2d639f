"""Changes by authors and the organiser: submit, retire and requalify bots."""

from __future__ import annotations

from ladder.facts import standings
from ladder.intake.submission import allow_at_tables
from ladder.questions.access import own_versions
from ladder.questions.choosing import check_hosted
from ladder.questions.question import Count, Ladder, Name, Request, Row, question
from ladder.questions.rows import ConditionTerms, StandingRow, condition_terms


class RetireAnswer(Row):
    """The retired versions."""

    versions: list[str]
    """The names of the versions, as tables print them."""


class RetireRequest(Request[RetireAnswer]):
    """Takes a bot out of the ladder."""

    bot: Name
    """A bot, or one version of it."""


@question("/retire", is_change=True)
def retire(ladder: Ladder, request: RetireRequest) -> RetireAnswer:
    """Take a bot, or one version of it, out of the ladder.

    Raises:
        LadderError: if there is no such bot, or it is a house bot.
        Forbidden: if the bot belongs to another author.
    """
    versions = own_versions(ladder, request.bot)
    with ladder.facts.writing():
        standings.retire(ladder.facts, versions)
        ladder.facts.log.note_act(ladder.caller.name, "retire", request.bot)
    return RetireAnswer(versions=[version.label for version in versions])


class RequalifiedVersion(Row):
    """A version that must qualify again."""

    version: str
    """The name of the version, as tables print it."""
    condition: ConditionTerms
    """The condition under which the version must qualify again."""


class RequalifyAnswer(Row):
    """The consequences of another chance to qualify."""

    back: list[str]
    """The names of the versions that were retired and play again, as tables print them."""
    again: list[RequalifiedVersion]
    """The versions that must qualify again, each with the condition under which it must do so."""


class RequalifyRequest(Request[RequalifyAnswer]):
    """Lets a bot qualify again."""

    bot: Name
    """A bot, or one version of it."""


@question("/requalify", is_change=True)
def requalify(ladder: Ladder, request: RequalifyRequest) -> RequalifyAnswer:
    """Let a bot qualify once more.

    Raises:
        LadderError: if there is no such bot, or it needs no other chance.
        Forbidden: if the bot belongs to another author.
    """
    versions = own_versions(ladder, request.bot)
    with ladder.facts.writing():
        back, again = standings.requalify(ladder.facts, versions)
        ladder.facts.log.note_act(ladder.caller.name, "requalify", request.bot)
    return RequalifyAnswer(
        back=[version.label for version in back],
        again=[RequalifiedVersion(version=version.label, condition=condition_terms(one)) for version, one in again],
    )


class AtTablesAnswer(Row):
    """A bot, with the current consent to matches against people at tables."""

    bot: str
    """The name of the bot."""
    at_tables: bool
    """True if people may play against the bot."""


class AtTablesRequest(Request[AtTablesAnswer]):
    """Sets whether people may play against a bot at tables, where its newest scheduled version plays."""

    bot: Name
    """The name of the bot."""
    at_tables: bool = False
    """True if people may play against the bot."""


@question("/at-tables", is_change=True)
def at_tables(ladder: Ladder, request: AtTablesRequest) -> AtTablesAnswer:
    """Set whether people may play against a bot at tables.

    Raises:
        LadderError: if there is no such bot, or it does not run here.
        Forbidden: if the bot belongs to another author.
    """
    # Consent is given for the bot (decision 31), even if the request names a version.
    bot = check_hosted(own_versions(ladder, request.bot))
    allow_at_tables(ladder.facts, bot, ladder.caller.name, allowed=request.at_tables)
    return AtTablesAnswer(bot=bot, at_tables=request.at_tables)


class SubmitAnswer(Row):
    """An accepted bot."""

    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version, from 1."""
    content_hash: str
    """The SHA-256 of the version's files, in hexadecimal."""
    run: list[str]
    """The command that starts the bot."""
    is_new: bool
    """False if a version with the same files already existed."""
    newest: Count
    """The number of the bot's newest version."""
    stopped: list[StandingRow]
    """The standings in which the version is not scheduled; empty for a new version."""
    author: str
    """The author of the bot."""
    at_tables: bool
    """True if people may play against the bot at tables."""


class SubmitRequest(Request[SubmitAnswer]):
    """Submits a bot, or a new version of it. The same files under the same name are the same version, however often they are sent."""

    bot: Name
    """The name of the bot."""
    file: Name
    """The name of the file: a program, a .py, .js or .jar file, or a .zip, .tar, .tar.gz or .tgz archive. Its extension matters."""
    sha256: Name
    """SHA-256 of the bytes of the file, in hexadecimal."""
    executable: bool = False
    """True if the file is an executable program."""
    at_tables: bool = False
    """True if people may play against the bot at tables from now on; otherwise the setting stays unchanged."""
