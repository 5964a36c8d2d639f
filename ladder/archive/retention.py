"""Records and logs that an organiser keeps no longer are removed; results, ratings and the audit log stay.

What a pruning covers follows from the time that is kept of it: the record of a match is pruned if the match was over before that,
and its seed revealed. So nothing is noted match by match, and a pruning that is broken off leaves only files for the next one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, tee
from pathlib import Path

from ladder.archive.logs import packed_logs, take_out_logs
from ladder.archive.packs import in_pack, take_out
from ladder.archive.quotas import bytes_of
from ladder.facts.evidence import NONE_KEPT, KeptRecords
from ladder.facts.standings import at_rest
from ladder.facts.store import Store
from ladder.model.names import ORGANISER_NAME
from ladder.operation.home import Home
from referee.bots.files import TAKING_IN, make_writable
from referee.records.record import RecordError

KEPT = "whoever has kept it can prove it: dogana verify RECORD --key KEY --audit-log LOG"
"""What is said of a record that was pruned."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed, or would be."""

    records: int = 0
    record_bytes: int = 0
    logs: int = 0
    """Of how many matches."""
    log_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Packed:
    """What is to be removed from a pack."""

    block: int
    match_ids: tuple[str, ...]
    is_whole: bool
    """Whether these are all: then it does not matter whether the pack is damaged."""
    size: int
    """In bytes; estimated if others stay in the pack."""

    @property
    def to_take_out(self) -> tuple[str, ...] | None:
        """The matches; None for all."""
        return None if self.is_whole else self.match_ids


def prune(
    home: Home,
    store: Store,
    records_before: str | None,
    logs_before: str | None,
    kept: KeptRecords = NONE_KEPT,
    *,
    dry_run: bool = False,
) -> Pruned:
    """Remove the records and the logs of matches that were over before a time. A run may go on meanwhile; a backup is waited for.

    Args:
        home: the ladder.
        store: what it knows.
        records_before: the time for records, as the ladder writes times (ISO 8601, UTC); None to keep all.
        logs_before: the time for logs.
        kept: which records stay, however old they are.
        dry_run: whether to remove nothing, only to count.

    Raises:
        BadHome: if the pruning cannot be noted; no record was removed then.
        OSError: if a file cannot be removed, with its name.
    """
    with home.files_stay(but_mine=True):
        return _prune(home, store, records_before, logs_before, kept, dry_run=dry_run)


def _prune(
    home: Home, store: Store, records_before: str | None, logs_before: str | None, kept: KeptRecords, *, dry_run: bool
) -> Pruned:
    records, logs, packs, log_packs = [], [], [], []
    with store.reading():
        if records_before is not None:
            packs = list(_old_in_packs(home, store, records_before, kept))
            found = (path for path in home.records.rglob("*.jsonl*") if path.suffix in (".jsonl", ".zst"))
            records = [path for path, stays in _old(store, found, records_before, kept) if not stays]
        if logs_before is not None:
            log_packs = list(_old_logs_in_packs(home, store, logs_before))
            folders = chain((home.all_logs / match_id for match_id in home.logged()), home.qualifying.glob("*"))
            logs = [path for path, _ in _old(store, folders, logs_before, NONE_KEPT)]
    pruned = Pruned(
        len(records) + sum(len(pack.match_ids) for pack in packs),
        _bytes(records) + sum(pack.size for pack in packs),
        len(logs) + sum(len(pack.match_ids) for pack in log_packs),
        _bytes(logs) + sum(pack.size for pack in log_packs),
    )
    if dry_run or not (logs or records or packs or log_packs):
        return pruned
    for folder in logs:  # before the pruning is noted: on a full disk this makes the room for it
        _remove(folder)
    for pack in log_packs:
        take_out_logs(home, pack.block, pack.to_take_out)
    with store.writing():
        store.note_pruning(records_before, logs_before, kept)
        store.note_act(ORGANISER_NAME, "prune", _about(pruned, records_before, logs_before, kept))
    for path in records:
        _remove(path)
    for pack in packs:
        take_out(home, pack.block, pack.to_take_out)
    return pruned


def prune_versions(home: Home, store: Store, before: str, *, dry_run: bool = False) -> tuple[int, int]:
    """Remove the files of versions that play no more, and have not since before a time; return of how many, and how many bytes.

    The same files can belong to several versions, and stay as long as one of them may play. Who submits the same again restores them.
    No record needs them: to verify or to look at a match, no bot is started.

    Args:
        home: the ladder.
        store: what it knows.
        before: the time, as the ladder writes times.
        dry_run: whether to remove nothing, only to count.

    Raises:
        BadHome: if the pruning cannot be noted; nothing was removed then.
    """
    if not home.versions.is_dir():
        return 0, 0
    with home.files_stay(but_mine=True), home.versions_alone():
        with store.reading():
            resting, since, versions = at_rest(store), store.idle_since(), store.versions().values()
        spared = {one.content_hash for one in versions if one.id not in resting or since[one.id] >= before}
        gone = {one.content_hash for one in versions if not (one.is_house or one.is_at_home)} - spared
        gone = {content for content in gone if (home.versions / content).is_dir()}
        count = sum(one.content_hash in gone for one in versions)
        size = sum(bytes_of(home.versions / content) for content in gone)
        if gone and not dry_run:
            store.note_act(
                ORGANISER_NAME, "prune", f"files of {count} versions that played no more before {before[:10]}"
            )
            for content in sorted(gone):
                remove_version(home, content)
        return count, size


def by_retention(what: str, at: str) -> str:
    """Return in words that something is gone: `what` with its verb, and when it was pruned, in ISO 8601."""
    return f"{what} pruned on {at[:10]} by the organiser's retention"


def _old(store: Store, paths: Iterable[Path], before: str, kept: KeptRecords) -> Iterator[tuple[Path, bool]]:
    """Yield what belongs to matches that were over before a time, and whether it is a record that stays.

    Of a match that does not count, the file's own time counts.
    """
    asked, named = tee(paths)
    matches = store.ended((path.name.partition(".")[0] for path in asked), kept)
    for path, (_, finished_at, stays) in zip(named, matches, strict=True):
        with contextlib.suppress(FileNotFoundError):  # another pruning was faster
            if (finished_at or _changed_at(path)) < before:
                yield path, stays


def _old_in_packs(home: Home, store: Store, before: str, kept: KeptRecords) -> Iterator[_Packed]:
    """Yield what packs have of the records of matches that were over before a time, unless they are kept."""
    for block, gone, matches in store.over_before(before, home.packed_blocks(".zst"), kept):
        with contextlib.suppress(FileNotFoundError, RecordError):  # pruned at this moment; or damaged
            size, is_whole = home.pack(block).stat().st_size, len(gone) == matches
            if gone and not is_whole:
                inside = in_pack(home, block)
                gone = [match_id for match_id in gone if match_id in inside]
            if gone:
                yield _Packed(block, tuple(gone), is_whole, size * len(gone) // matches)


def _old_logs_in_packs(home: Home, store: Store, before: str) -> Iterator[_Packed]:
    """Yield what packs have of the logs of matches that were over before a time."""
    for block, old, matches in store.over_before(before, home.packed_blocks(".logs.zst")):
        with contextlib.suppress(FileNotFoundError, RecordError):
            size, is_whole = home.log_pack(block).stat().st_size, len(old) == matches
            if is_whole:
                yield _Packed(block, tuple(old), is_whole, size)
                continue
            inside = packed_logs(home, block)
            gone = tuple(match_id for match_id in old if match_id in inside)
            if gone:
                share = sum(inside[match_id] for match_id in gone) / (sum(inside.values()) or 1)
                yield _Packed(block, gone, is_whole, round(size * share))


def _changed_at(path: Path) -> str:
    return datetime.fromtimestamp(path.lstat().st_mtime, UTC).isoformat(timespec="milliseconds")


def _bytes(paths: list[Path]) -> int:
    """Return how many bytes files and folders have."""
    files = (Path(folder) / name for path in paths for folder, _, names in os.walk(path) for name in names)
    total = 0
    for path in (*paths, *files):
        with contextlib.suppress(OSError):
            total += path.lstat().st_size if not path.is_dir() else 0
    return total


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _about(pruned: Pruned, records_before: str | None, logs_before: str | None, kept: KeptRecords) -> str:
    parts = [f"{pruned.records} records before {records_before[:10]}"] if records_before else []
    parts += [f"but those of {', '.join(kept.bots)}"] if records_before and kept.bots else []
    parts += [f"but one block of {kept.one_block_of}"] if records_before and kept.one_block_of else []
    parts += [f"logs of {pruned.logs} matches before {logs_before[:10]}"] if logs_before else []
    return ", ".join(parts)


def remove_version(home: Home, content_hash: str) -> None:
    """Remove the files of a version: all at once, for whoever looks."""
    gone = Path(tempfile.mkdtemp(dir=home.versions, prefix=f"{TAKING_IN}{os.getpid()}-"))
    try:
        folder = home.versions / content_hash
        folder.chmod(0o700)  # to move a folder elsewhere is to write into it
        folder.rename(gone / content_hash)
    finally:
        make_writable(gone)
        shutil.rmtree(gone, ignore_errors=True)
