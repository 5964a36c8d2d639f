"""The file of a pack, as those of records and those of logs have in common: it is read whole, and written whole."""

from __future__ import annotations

from pathlib import Path

from referee.files import private_folder, read_file, sync_folder, write_private
from referee.records.record import RecordError


def read_pack(pack: Path, max_bytes: int) -> bytes | None:
    """Read the file of a pack; None if there is none.

    Raises:
        RecordError: if it cannot be read, or is larger than `max_bytes`.
    """
    try:
        return read_file(pack, max_bytes)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(pack, 0, f"cannot be read: {error.strerror}") from error


def write_pack(pack: Path, data: bytes) -> None:
    """Write the file of a pack, and its folder if it is the first there; both are on the disk then.

    Raises:
        OSError: if it cannot be written, with its name.
    """
    if not pack.parent.exists():
        private_folder(pack.parent)
        sync_folder(pack.parent.parent)
    write_private(pack, data)
