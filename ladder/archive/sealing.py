"""Reveals the seeds of blocks that are over: their records are sealed, signed and compressed."""

from __future__ import annotations

from collections.abc import Iterator

from ladder.archive.key import read_private_key
from ladder.facts.store import Store
from ladder.operation.errors import SealBroken
from ladder.operation.home import Home
from referee.files import private_folder
from referee.records.record import RecordError, read_lines, seal


def seal_blocks(home: Home, store: Store) -> Iterator[str]:
    """Seal the records of all blocks that are over and not sealed yet; yield what is wrong with them.

    A block with a record that is not the one that was counted stays as it is: the next run looks at it again.
    """
    for block in store.blocks_to_seal():
        yield from seal_block(home, store, block)


def seal_block(home: Home, store: Store, block: int) -> list[str]:
    """Seal the records of a block that is over; return what is wrong with them."""
    problems = []
    for record in store.records_of(block):
        try:
            seal_match(home, *record)
        except SealBroken as error:
            problems.append(str(error))
    if not problems:
        store.note_sealed(block)
    return problems


def seal_match(home: Home, match_id: str, seed: int, record_hash: str) -> None:
    """Seal the record of a match, unless that was done before.

    Raises:
        SealBroken: if it is not the record that was counted.
        LadderError: if the key of the ladder is missing.
    """
    sealed, path = home.sealed_record(match_id), home.record(match_id)
    if not path.exists():
        path = home.find_record(match_id)
    try:
        if path != sealed:
            private_folder(sealed.parent)
            seal(path, sealed, seed, record_hash, read_private_key(home).sign_record)
        elif record_hash not in [line.hash for line in read_lines(sealed)[-3:]]:
            raise RecordError(sealed, 0, "is not the record that was counted")
    except RecordError as error:
        raise SealBroken(f"cannot reveal the seed of match {match_id}: {error}") from error
