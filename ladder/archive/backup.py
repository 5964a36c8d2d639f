"""A backup of everything that a ladder needs, in one archive; a run may go on meanwhile."""

from __future__ import annotations

import contextlib
import os
import tarfile
import tempfile
from pathlib import Path

from ladder.archive.archive import Archive
from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from referee.files import replacing, write_private


def backup(home: Home, store: Store, file: Path, *, replaces: bool = False) -> int:
    """Write the database, the archive, the key and the versions into a .tar archive; return its size in bytes.

    The database is copied first. Records and versions are added before the database names them, so everything that it
    names is in the copy. The disk must have room for the file, and for another copy of the database and the archive.

    Raises:
        LadderError: if the file exists, or the database cannot be copied.
        OSError: if the archive cannot be written; the error names it.
    """
    if os.path.lexists(file) and not replaces:
        raise _taken(file)
    try:
        with (
            replacing(file) as part,
            home.files_stay(),
            tempfile.TemporaryDirectory(dir=part.parent, prefix=".backup-") as scratch,
            # Only this user may read it, because it contains the private key.
            os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target,
        ):
            copies = [Path(scratch) / home.database.name]
            keys = _copy_with_keys(home, store, copies[0])
            if home.archive.exists():
                copies.append(Path(scratch) / home.archive.name)
                with Archive(home.archive, create=False) as archive:
                    archive.copy_to(copies[1])
            with tarfile.open(fileobj=target, mode="w") as tar:
                for copy in copies:
                    tar.add(copy, copy.name)
                for name, data in keys.items():
                    key = Path(scratch) / name
                    write_private(key, data)
                    tar.add(key, name)
                _add_versions(tar, home)
            target.flush()
            os.fsync(target.fileno())
            if not replaces:
                # Reserves the name, or fails if somebody else has taken it.
                os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise _taken(file) from None
    return file.stat().st_size


def _taken(file: Path) -> LadderError:
    return LadderError(f"{file} is there already; --force replaces it")


def _copy_with_keys(home: Home, store: Store, file: Path) -> dict[str, bytes]:
    """Copy the database; return the contents, by file name, of the key files that belong to it.

    Start again if another command has replaced the key meanwhile.
    """
    while True:
        keys = _keys(home)
        store.file.copy_to(file)
        if _keys(home) == keys:
            return keys


def _keys(home: Home) -> dict[str, bytes]:
    """Return the contents of the key files, by name, including a new key that is not in its place yet."""
    found = {}
    for path in home.folder.glob("key.*"):
        if path.suffix != ".part":  # see `unfinished`
            with contextlib.suppress(FileNotFoundError):  # it has just been put in its place
                found[path.name] = path.read_bytes()
    return found


def _add_versions(tar: tarfile.TarFile, home: Home) -> None:
    """Add the files of all versions except those being added or removed; do not follow links."""
    for inside, folders, files in os.walk(home.versions):
        if Path(inside) == home.versions:
            folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(inside) / name for name in (*folders, *files)):
            if path.is_symlink() or path.is_file():
                with contextlib.suppress(FileNotFoundError):  # its submission has just failed
                    tar.add(path, str(path.relative_to(home.folder.absolute())), recursive=False)
