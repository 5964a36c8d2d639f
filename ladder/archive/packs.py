"""The records of older blocks are packed: those of a block in one file, which takes a quarter of the room.

The newest records stay as they are sealed, a file each, so that they can be looked at with any tool. A pack is on the disk before the
files of its records are removed; if there are both, the file counts. Whoever is killed in between has two copies, and the next run
removes one of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ladder.archive.logs import pack_logs
from ladder.archive.pack_files import read_pack, write_pack
from ladder.facts.store import Store
from ladder.operation.home import Home
from referee.records.pack import MAX_RECORDS, packed, unpacked_record, unpacked_records
from referee.records.record import MAX_BYTES, RecordError, read_bytes, unpacked, zipped

UNPACKED_BLOCKS = 500
"""How many blocks that are over keep a file for each record."""
_MAX_BYTES = MAX_RECORDS * MAX_BYTES
"""How large the file of a pack may be."""
_AT_A_TIME = 2
"""How many blocks are packed whenever one is over, as long as more are waiting: a ladder of an older version is packed so."""


@dataclass(frozen=True, slots=True)
class Record:
    """The record of a match, as it was read."""

    path: Path
    """Its file; what errors call it, if it is in a pack."""
    data: bytes
    """Its bytes, compressed or not."""
    is_packed: bool = False

    @property
    def sealed(self) -> bytes:
        """Its bytes as they are sent: those of its file, or what its file had before it was packed."""
        return zipped(self.data) if self.is_packed else self.data


class NoRecord(RecordError):
    """A match has no record."""


def find_record(home: Home, match_id: str, block: int | None) -> Record:
    """Read the record of a match, be it packed or not.

    Args:
        home: the folder of the ladder.
        match_id: the match.
        block: its block; None if it has none.

    Raises:
        NoRecord: if there is none.
        RecordError: if it cannot be read, or its pack is damaged.
    """
    path = home.find_record(match_id)
    try:
        return Record(path, read_bytes(path))
    except RecordError as error:
        if home.find_record(match_id) != path:  # a run has sealed it at this moment
            return find_record(home, match_id, block)
        if path.exists():
            raise
        found = None if block is None else _in_pack(home, match_id, block)
        if found is None:
            raise NoRecord(path, 0, error.reason) from error
        return found


def _in_pack(home: Home, match_id: str, block: int) -> Record | None:
    pack = home.pack(block)
    data = read_pack(pack, _MAX_BYTES)
    record = None if data is None else unpacked_record(pack, data, match_id)
    return None if record is None else Record(pack / f"{match_id}.jsonl", record, is_packed=True)


def in_pack(home: Home, block: int) -> set[str]:
    """Return the matches of a block whose records are in its pack.

    Raises:
        RecordError: if that is damaged.
    """
    data = read_pack(home.pack(block), _MAX_BYTES)
    return set() if data is None else set(unpacked_records(home.pack(block), data))


class Packer:
    """Packs the records and the logs of blocks that are over while a run goes on, the oldest first."""

    def __init__(self, home: Home, store: Store) -> None:
        """Look which sealed blocks have files that are not packed; remove what those who were killed have left of packs."""
        if home.packs.exists():
            with home.packs_alone():  # a pruning may be writing one
                for left in home.packs.glob("*/*.part"):
                    left.unlink(missing_ok=True)
        self._home = home
        self._store = store
        self._waiting = deque(store.sealed_blocks_of(chain(home.sealed_records(), home.logged())))

    def add(self, block: int) -> None:
        """Note that a block is sealed; pack one that is old enough.

        Raises:
            OSError: if a pack cannot be written, with its name.
        """
        self._waiting.append(block)
        for _ in range(_AT_A_TIME):
            if len(self._waiting) > UNPACKED_BLOCKS:
                oldest = self._waiting.popleft()
                pack_block(self._home, oldest, self._store)
                pack_logs(self._home, oldest, self._store.matches_of(oldest))


def take_out(home: Home, block: int, match_ids: Collection[str] | None) -> None:
    """Remove the records of some matches from the pack of their block; do nothing if there is none.

    Args:
        home: the folder of the ladder.
        block: the block.
        match_ids: the matches; None for all: then the pack is removed, even if it is damaged.

    Raises:
        RecordError: if others are to stay in it, and it is damaged.
        OSError: if it cannot be written, with its name.
    """
    pack = home.pack(block)
    with home.packs_alone():
        left = {}
        if match_ids is not None and (data := read_pack(pack, _MAX_BYTES)) is not None:
            records = unpacked_records(pack, data)
            left = {match_id: record for match_id, record in records.items() if match_id not in match_ids}
        if left:
            _write(pack, left)
        else:
            pack.unlink(missing_ok=True)


def pack_block(home: Home, block: int, store: Store) -> bool:
    """Pack the records of a block that is sealed; return False if one is damaged: then all stay as they are.

    Raises:
        OSError: if the pack cannot be written, with its name.
    """
    pack = home.pack(block)
    files = [path for match_id in store.matches_of(block) if (path := home.sealed_record(match_id)).exists()]
    if not files:
        return True
    with home.packs_alone():
        try:
            before = read_pack(pack, _MAX_BYTES)
            known = {} if before is None else unpacked_records(pack, before)
            records = known | {path.name.partition(".")[0]: unpacked(path, read_bytes(path)) for path in files}
            if records != known:
                _write(pack, records)
        except RecordError:  # `recompute` tells
            return False
        for path in files:
            path.unlink(missing_ok=True)
    return True


def _write(pack: Path, records: dict[str, bytes]) -> None:
    """Write a pack, and make sure that it gives back what is in it.

    Raises:
        RecordError: if a record is damaged, or is not that of the match.
        OSError: if it cannot be written, with its name.
    """
    data = packed(pack, records.values())
    if unpacked_records(pack, data) != records:
        raise RecordError(pack, 0, "would have another record than it should")
    write_pack(pack, data)
