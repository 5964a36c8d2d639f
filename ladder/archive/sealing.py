"""Reveal the seeds of finished blocks, and seal and sign their records."""

from __future__ import annotations

from collections.abc import Iterator

from ladder.archive.archive import Archive
from ladder.archive.key import read_private_key
from ladder.facts.store import Store
from ladder.operation.errors import SealBroken
from ladder.operation.home import Home
from referee.records.record import RecordError, read_lines, sealed


def seal_blocks(home: Home, store: Store) -> Iterator[str]:
    """Seal the records of all finished blocks that are not sealed yet; yield any problems.

    A block with a record other than the counted one stays unsealed; the next run checks it again.
    """
    for block in store.evidence.blocks_to_seal():
        yield from seal_block(home, store, block)


def seal_block(home: Home, store: Store, block: int) -> list[str]:
    """Seal the records of a finished block; return any problems."""
    problems, records = [], {}
    with Archive(home.archive, create=True) as archive:
        for match_id, seed, record_hash in store.evidence.records_of(block):
            try:
                records[match_id] = _sealed(home, archive, match_id, seed, record_hash)
            except SealBroken as error:
                problems.append(str(error))
        # Before the event, so that the next run finds these records sealed if this one is killed in between.
        archive.put_records(records)
    if not problems:
        store.evidence.note_sealed(block)
    return problems


def seal_match(home: Home, match_id: str, seed: int, record_hash: str) -> None:
    """Seal the record of a match, unless it is already sealed.

    Raises:
        SealBroken: if the stored record is not the counted one.
        LadderError: if the key of the ladder is missing.
    """
    with Archive(home.archive, create=True) as archive:
        archive.put_records({match_id: _sealed(home, archive, match_id, seed, record_hash)})


def _sealed(home: Home, archive: Archive, match_id: str, seed: int, record_hash: str) -> bytes:
    try:
        record = archive.record(match_id)
        # In a sealed record, the seed follows the line with the result; in most records, a signature follows the seed.
        if record_hash in [line.hash for line in read_lines(record.path, record.data)[-3:-1]]:
            return record.data  # it was sealed before
        return sealed(record.path, record.data, seed, record_hash, read_private_key(home).sign_record)
    except RecordError as error:
        raise SealBroken(f"cannot reveal the seed of match {match_id}: {error}") from error
