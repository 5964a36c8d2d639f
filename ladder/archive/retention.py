"""Pruning: the removal of old records and logs; results, ratings and the audit log stay.

The ladder stores only the time of a pruning, its age limits, and which records stay. Whether the record of a match is
pruned follows from these, so nothing is stored for each match, and an interrupted pruning only leaves records for the
next one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import tee
from pathlib import Path

from ladder.archive.archive import LOGS, RECORDS, Archive
from ladder.archive.quotas import bytes_of
from ladder.facts.evidence import NONE_RETAINED, RetainedRecords
from ladder.facts.standings import at_rest
from ladder.facts.store import Store
from ladder.model.names import ORGANISER_NAME
from ladder.operation.home import Home
from referee.bots.files import TAKING_IN, make_writable
from referee.terminal import counted

PRUNED_REMARK = "whoever has kept it can prove it: dogana verify RECORD --key KEY --audit-log LOG"
"""The remark on a pruned record."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """The numbers and sizes of the removed records and logs, or of those that would be removed."""

    records: int = 0
    record_bytes: int = 0
    logs: int = 0
    """The number of matches whose logs were removed."""
    log_bytes: int = 0


def prune(
    home: Home,
    store: Store,
    records_before: str | None,
    logs_before: str | None,
    retained: RetainedRecords = NONE_RETAINED,
    *,
    dry_run: bool = False,
) -> Pruned:
    """Remove the records and the logs of matches that ended before given times.

    A run may go on meanwhile, but a pruning waits for backups.

    Args:
        home: the ladder.
        store: the facts of the ladder.
        records_before: the time for records, in the ladder's format (ISO 8601, UTC); None to keep all.
        logs_before: the time for logs, in the same format; None to keep all.
        retained: the records that stay, whatever their age.
        dry_run: True to count without removing anything.

    Raises:
        BadHome: if the pruning cannot be stored; then no record was removed.
        OSError: if a file cannot be removed; the error names it.
    """
    with home.files_stay(but_mine=True), Archive(home.archive, create=False) as archive:
        with store.reading():
            records = dict(_old(store, archive.sizes(RECORDS), records_before, retained))
            logs = dict(_old(store, archive.sizes(LOGS), logs_before, None))
        positions = [path for path in home.positions.glob("*.json") if _changed_at(path) < (logs_before or "")]
        pruned = Pruned(len(records), sum(records.values()), len(logs), sum(logs.values()))
        if dry_run or not (logs or records or positions):
            return pruned
        archive.remove(LOGS, logs)  # before the pruning is noted, because on a full disk this makes room for the note
        for path in positions:
            path.unlink(missing_ok=True)
        with store.writing():
            # Before the records are removed, because a missing record counts as lost unless a pruning explains it.
            store.evidence.note_pruning(records_before, logs_before, retained)
            store.log.note_act(ORGANISER_NAME, "prune", _about(pruned, records_before, logs_before, retained))
        archive.remove(RECORDS, records)
    return pruned


def prune_versions(home: Home, store: Store, before: str, *, dry_run: bool = False) -> tuple[int, int]:
    """Remove the files of versions that no longer play, and have not played since a time.

    The same files can belong to several versions, and stay as long as one of them may play. Submitting the same files
    again restores them. No record needs them, because verifying or viewing a match starts no bot.

    Args:
        home: the ladder.
        store: the facts of the ladder.
        before: the time, in the ladder's format.
        dry_run: True to count without removing anything.

    Returns:
        The number of versions whose files are removed, and the size of these files in bytes.

    Raises:
        BadHome: if the pruning cannot be stored; then nothing was removed.
    """
    if not home.versions.is_dir():
        return 0, 0
    with home.files_stay(but_mine=True), home.versions_alone():
        with store.reading():
            resting = at_rest(store) - store.tournaments.needed_versions()
            since, versions = store.roster.idle_since(), store.roster.versions().values()
        spared = {one.content_hash for one in versions if one.id not in resting or since[one.id] >= before}
        gone = {one.content_hash for one in versions if not (one.is_house or one.is_at_home)} - spared
        gone = {content for content in gone if (home.versions / content).is_dir()}
        count = sum(one.content_hash in gone for one in versions)
        size = sum(bytes_of(home.versions / content) for content in gone)
        if gone and not dry_run:
            store.log.note_act(
                ORGANISER_NAME,
                "prune",
                f"files of {counted(count, 'version')} that played no more before {before[:10]}",
            )
            for content in sorted(gone):
                remove_version(home, content)
        return count, size


def by_retention(what: str, at: str) -> str:
    """Return a text that says when something was pruned; `what` includes the verb, and `at` is the time in ISO 8601."""
    return f"{what} pruned on {at[:10]} by the organiser's retention"


def _old(
    store: Store, sizes: Iterable[tuple[str, str, int]], before: str | None, retained: RetainedRecords | None
) -> Iterator[tuple[str, int]]:
    """Yield the match ids and sizes of the data to remove, for matches that ended before a time.

    For an uncounted match, the time when it was added to the archive decides.

    Args:
        store: the facts of the ladder.
        sizes: for each stored record or log, the match id, the time when it was added, and its size.
        before: the time; None to remove nothing.
        retained: the records that stay in addition to those with a hidden seed; None for logs, none of which stay.
    """
    if before is None:
        return
    # `ended` reads the ids in batches, so at most one batch is held in memory here.
    named, sized = tee(sizes)
    matches = store.evidence.ended((match_id for match_id, _, _ in named), retained or NONE_RETAINED)
    for (match_id, at, size), (_, finished_at, stays) in zip(sized, matches, strict=True):
        if (finished_at or at) < before and not (stays and retained is not None):
            yield match_id, size


def _changed_at(path: Path) -> str:
    return datetime.fromtimestamp(path.lstat().st_mtime, UTC).isoformat(timespec="milliseconds")


def _about(pruned: Pruned, records_before: str | None, logs_before: str | None, retained: RetainedRecords) -> str:
    parts = [f"{counted(pruned.records, 'record')} before {records_before[:10]}"] if records_before else []
    parts += [f"but those of {', '.join(retained.bots)}"] if records_before and retained.bots else []
    parts += [f"but one block of {retained.one_block_of}"] if records_before and retained.one_block_of else []
    parts += [f"logs of {counted(pruned.logs, 'match', 'matches')} before {logs_before[:10]}"] if logs_before else []
    return ", ".join(parts)


def remove_version(home: Home, content_hash: str) -> None:
    """Remove the files of a version atomically."""
    # If this process is killed, `sweep_uploads` removes the rest of a folder with this name.
    gone = Path(tempfile.mkdtemp(dir=home.versions, prefix=f"{TAKING_IN}{os.getpid()}-"))
    try:
        folder = home.versions / content_hash
        folder.chmod(0o700)  # moving a folder elsewhere requires write permission for it
        folder.rename(gone / content_hash)
    finally:
        make_writable(gone)
        shutil.rmtree(gone, ignore_errors=True)
