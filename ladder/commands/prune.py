"""`dogana ladder prune`."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from ladder.archive.retention import prune as remove
from ladder.archive.retention import prune_versions
from ladder.commands.options import AsJson, HomeOption
from ladder.facts.evidence import NONE_RETAINED, RetainedRecords
from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from referee.commands.output import out, print_json
from referee.terminal import counted

MAX_DAYS = 36_500


def prune(
    home: HomeOption,
    records_older_than: Annotated[
        str | None,
        typer.Option(
            help="Remove the records of matches that ended longer ago than this, such as 90d.", metavar="DAYS"
        ),
    ] = None,
    logs_older_than: Annotated[
        str | None, typer.Option(help="Remove the logs of matches that ended longer ago than this.", metavar="DAYS")
    ] = None,
    versions_older_than: Annotated[
        str | None,
        typer.Option(
            help="Remove files of versions that have not played for this long: retired, not qualified, or replaced.",
            metavar="DAYS",
        ),
    ] = None,
    keep_bot: Annotated[
        list[str] | None,
        typer.Option(
            help="Keep the records of all matches of a bot, at any age; may be given several times.", metavar="BOT"
        ),
    ] = None,
    keep_one_block_of: Annotated[
        int,
        typer.Option(
            help="Keep the records of one block in this many, at any age; 0 for none.",
            min=0,
            max=1_000_000,
            metavar="NUMBER",
        ),
    ] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Remove nothing; print what would be removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove old records, logs and bots.

    Results, ratings and the audit log stay. A run or a server may go on meanwhile.

    A record is removed only when the seed of its block is revealed. Later requests for it get the date of the pruning; a copy of
    it can still be verified, with `dogana verify RECORD --key KEY --audit-log LOG`. A timer can run this every day.

    Only the files of versions that would not play again by themselves are removed, and two playable versions of each bot stay.
    To let a version play again, its author submits the same files once more.

    Examples:

      dogana ladder prune --records-older-than 90d --logs-older-than 30d --dry-run

      dogana ladder prune --logs-older-than 30d --versions-older-than 30d --home ./ladder

      dogana ladder prune --records-older-than 90d --keep-bot mybot --keep-one-block-of 100
    """
    if records_older_than is None and logs_older_than is None and versions_older_than is None:
        raise LadderError(
            "say what is too old: --records-older-than 90d, --logs-older-than 30d, --versions-older-than 30d, or several of them"
        )
    # The log lists the bots in the same order, whatever the order of the options.
    retained = RetainedRecords(tuple(sorted(set(keep_bot or ()))), keep_one_block_of)
    if records_older_than is None and retained != NONE_RETAINED:
        raise LadderError("--keep-bot and --keep-one-block-of say which records stay: say --records-older-than, too")
    records_before, logs_before = _before(records_older_than), _before(logs_older_than)
    versions_before, versions, version_bytes = _before(versions_older_than), 0, 0
    with Store(Home(home).database, create=False) as store:
        for bot in retained.bots:
            # `find_versions` also accepts a label such as `mybot v2`, which names no bot.
            if all(version.bot != bot for version in store.roster.find_versions(bot)):
                raise LadderError(f"--keep-bot {bot}: records are kept of all versions of a bot; name it without one")
        if versions_before is not None:
            versions, version_bytes = prune_versions(Home(home), store, versions_before, dry_run=dry_run)
        pruned = remove(Home(home), store, records_before, logs_before, retained, dry_run=dry_run)
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "records_before": records_before,
                "logs_before": logs_before,
                "retained": asdict(retained),
                **asdict(pruned),
                "versions_before": versions_before,
                "versions": versions,
                "version_bytes": version_bytes,
            }
        )
        return
    done = "would be removed" if dry_run else "were removed"
    if records_before is not None:
        size = f"{pruned.record_bytes:,} bytes"
        out.print(
            f"{counted(pruned.records, 'record')} from before {records_before[:10]} {done}: {size}", soft_wrap=True
        )
    if logs_before is not None:
        size = f"{pruned.log_bytes:,} bytes"
        out.print(
            f"the logs of {counted(pruned.logs, 'match', 'matches')} before {logs_before[:10]} {done}: {size}",
            soft_wrap=True,
        )
    if versions_before is not None:
        size = f"{version_bytes:,} bytes"
        out.print(
            f"the files of {counted(versions, 'version')} that played no more before {versions_before[:10]} {done}: {size}",
            soft_wrap=True,
        )


def _before(age: str | None) -> str | None:
    """Return the time that was this long ago, in the ladder's format; None if no age is given.

    Raises:
        LadderError: if the age cannot be read.
    """
    if age is None:
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,4})d", age)
    if found is None or int(found[1]) > MAX_DAYS:
        raise LadderError(f"{age!r} is not an age: write a number of days, such as 90d")
    # In the ladder's format, because times are compared as texts.
    return (now() - timedelta(days=int(found[1]))).isoformat(timespec="milliseconds")


def now() -> datetime:
    """Return the current time, from which ages are counted back."""
    return datetime.now(UTC)
