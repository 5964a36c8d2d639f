"""What bots wrote and used: files in a folder for each match, and for older blocks one pack, beside that of their records.

A file takes a block of the disk, however short it is, and most are short. So the logs of a block are packed when its records are
(`packs.py`), by the same rules: the pack is on the disk before the first file is removed, and where there are both, the file counts.
A pack is Zstandard: a line of JSON for each file, which says how many bytes follow. What is in it is text of bots, and hostile.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ladder.archive.pack_files import read_pack, write_pack
from ladder.operation.home import Home
from referee.files import read_file
from referee.records.record import RecordError, unzipped, zipped

MAX_LOG_BYTES = 1024 * 1024
"""The size of the longest log that is read; the ladder writes about 128 kB at most."""
MAX_PACK_BYTES = 32 * MAX_LOG_BYTES
"""How many bytes a pack has at most, unpacked; the logs of a block that have more stay files."""
MAX_FILES = 1000
"""How many files a pack has at most."""
_NAME = re.compile(r"seat[0-9]{1,2}\.log|usage\.json", re.ASCII)
_MAX_HEADER_BYTES = 400
_LEVEL = 9
"""As that of the packs of records."""
_Packed = Mapping[tuple[str, str], bytes]
"""Files by match and name."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """What a bot wrote, or what the bots of a match used."""

    path: Path
    """Its file; what errors call it, if it is in a pack."""
    packed: bytes | None = None
    """What is in it; None if it is a file."""
    pack: Path | None = None
    """Where it will be packed; None if it never is."""

    def read(self) -> bytes:
        """Return what is in it.

        Raises:
            OSError: if it cannot be read, with its name.
            RecordError: if it was packed at this moment, and the pack is damaged.
        """
        if self.packed is not None:
            return self.packed
        try:
            return read_file(self.path, MAX_LOG_BYTES)
        except FileNotFoundError:
            found = {} if self.pack is None else _read_pack(self.pack)
            if (key := (self.path.parent.name, self.path.name)) in found:
                return found[key]
            raise


def log_files(home: Home, match_id: str, block: int | None) -> dict[str, LogFile]:
    """Return what there is for a match, packed or not, by the names `seat0.log`, `usage.json` and so on.

    Args:
        home: the folder of the ladder.
        match_id: the match.
        block: its block; None if it has none.

    Raises:
        RecordError: if it would be in a pack, and that is damaged.
    """
    pack = None if block is None else home.log_pack(block)
    files = {path.name: LogFile(path, pack=pack) for path in _files(home, match_id)}
    if pack is None:
        return files
    try:
        found = _read_pack(pack)  # after the files were listed: what vanishes from there is here
    except RecordError:
        if files:
            return files
        raise
    return {name: LogFile(pack, data) for (match, name), data in found.items() if match == match_id} | files


def packed_logs(home: Home, block: int) -> dict[str, int]:
    """Return how many bytes the pack of a block has for each of its matches, before they are compressed.

    Raises:
        RecordError: if it is damaged.
    """
    sizes: dict[str, int] = {}
    for (match_id, _), data in _read_pack(home.log_pack(block)).items():
        sizes[match_id] = sizes.get(match_id, 0) + len(data)
    return sizes


def pack_logs(home: Home, block: int, match_ids: Collection[str]) -> None:
    """Pack the logs of the matches of a block; what cannot be packed stays as it is.

    Raises:
        OSError: if the pack cannot be written, with its name.
    """
    pack = home.log_pack(block)
    with home.packs_alone():
        files = {}
        for match_id in match_ids:
            for path in _files(home, match_id):
                with contextlib.suppress(OSError):  # a pruning was faster, or it is no log of ours
                    files[match_id, path.name] = path, read_file(path, MAX_LOG_BYTES)
        if not files:
            return
        try:
            known = _read_pack(pack)
            logs = {**known, **{key: data for key, (_, data) in files.items()}}
            if logs != known:
                _write(pack, logs)
        except RecordError:  # damaged, or too much: `dogana ladder log` tells
            return
        for path, _ in files.values():
            path.unlink(missing_ok=True)
        for folder in {path.parent for path, _ in files.values()}:
            with contextlib.suppress(OSError):  # there is something else in it, such as a position
                folder.rmdir()


def take_out_logs(home: Home, block: int, match_ids: Collection[str] | None) -> None:
    """Remove the logs of some matches from the pack of their block; do nothing if there is none.

    Args:
        home: the folder of the ladder.
        block: the block.
        match_ids: the matches; None for all: then the pack is removed, even if it is damaged.

    Raises:
        RecordError: if others are to stay in it, and it is damaged.
        OSError: if it cannot be written, with its name.
    """
    pack = home.log_pack(block)
    with home.packs_alone():
        left = {}
        if match_ids is not None:
            left = {key: data for key, data in _read_pack(pack).items() if key[0] not in match_ids}
        if left:
            _write(pack, left)
        else:
            pack.unlink(missing_ok=True)


def _files(home: Home, match_id: str) -> Iterator[Path]:
    """Yield the files of a match that are not in a pack."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        yield from (path for path in home.logs(match_id).iterdir() if _NAME.fullmatch(path.name))


def _read_pack(pack: Path) -> dict[tuple[str, str], bytes]:
    """Read a pack; there is nothing in it if there is none.

    Raises:
        RecordError: if it is damaged.
    """
    data = read_pack(pack, MAX_PACK_BYTES)
    return {} if data is None else _unpacked(pack, data)


def _write(pack: Path, logs: _Packed) -> None:
    """Write a pack, and make sure that it gives back what is in it.

    Raises:
        RecordError: if it would not.
        OSError: if it cannot be written, with its name.
    """
    parts = []
    for (match_id, name), data in sorted(logs.items()):
        header = {"match": match_id, "file": name, "bytes": len(data)}
        parts += [json.dumps(header).encode(), b"\n", data, b"\n"]
    packed = zipped(b"".join(parts), _LEVEL)
    if _unpacked(pack, packed) != logs:
        raise RecordError(pack, 0, "would have another log than it should")
    write_pack(pack, packed)


def _unpacked(pack: Path, data: bytes) -> dict[tuple[str, str], bytes]:
    """Take a pack apart, which may be anything.

    Raises:
        RecordError: if it is damaged, or has more than a pack may have.
    """
    whole = unzipped(pack, data, MAX_PACK_BYTES)
    found: dict[tuple[str, str], bytes] = {}
    at = 0
    while at < len(whole):
        end = whole.find(b"\n", at, at + _MAX_HEADER_BYTES)
        match_id, name, size = _header(pack, whole[at : max(end, at)])
        at = end + 1 + size + 1
        if whole[at - 1 : at] != b"\n" or len(found) == MAX_FILES:
            raise RecordError(pack, 0, "is damaged: a log in it is cut off, or it has too many")
        found[match_id, name] = whole[end + 1 : at - 1]
    return found


def _header(pack: Path, line: bytes) -> tuple[str, str, int]:
    try:
        header = json.loads(line)
        match_id, name, size = header["match"], header["file"], header["bytes"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecordError(pack, 0, "is damaged, or is no pack of logs") from error
    if not isinstance(match_id, str) or not isinstance(name, str) or type(size) is not int:
        raise RecordError(pack, 0, "is damaged: it does not say what a log in it is")
    if not _NAME.fullmatch(name) or not 0 <= size <= MAX_LOG_BYTES:
        raise RecordError(pack, 0, "is damaged: a log in it has no name of ours, or is too long")
    return match_id, name, size
