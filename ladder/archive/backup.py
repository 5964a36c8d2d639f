"""A copy of everything that a ladder needs, in one archive, taken while a run may go on."""

from __future__ import annotations

import contextlib
import os
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from referee.files import unfinished

_LOOKS = 3
"""How often it is looked which files there are: a record is written, then compressed, then packed, so it can be missed twice.

With more looks, a run that adds files faster than they are looked through would keep a backup from ever ending.
"""


def backup(home: Home, store: Store, file: Path, *, replaces: bool = False) -> int:
    """Write the database, the key, the versions, the records and the logs into a .tar archive; return its size in bytes.

    The database is copied first: files are added before the database names them, and are not changed afterwards, so
    whatever it names is in the archive.

    Raises:
        LadderError: if there is such a file already, or the database cannot be copied.
        OSError: if the archive cannot be written, with its name.
    """
    if os.path.lexists(file) and not replaces:
        raise _taken(file)
    part = unfinished(Path(os.path.realpath(file)))
    try:
        with (
            home.files_stay(),
            tempfile.TemporaryDirectory(dir=part.parent, prefix=".backup-") as scratch,
            os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target,
        ):
            database = Path(scratch) / home.database.name
            store.copy_to(database)
            with tarfile.open(fileobj=target, mode="w") as archive:
                archive.add(database, home.database.name)
                for key in home.folder.glob("key.*"):
                    archive.add(key, key.name)
                for folder in (home.versions, home.records, home.all_logs):
                    _add_all(archive, folder, home.folder.absolute())
            target.flush()
            os.fsync(target.fileno())
        if not replaces:
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # the name is ours, or somebody else's
        part.rename(file)
    except FileExistsError:
        raise _taken(file) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    return file.stat().st_size


def _taken(file: Path) -> LadderError:
    return LadderError(f"{file} is there already; --force replaces it")


def _add_all(archive: tarfile.TarFile, folder: Path, home: Path) -> None:
    """Add all files of a folder, as far as the database names them; whatever a run adds meanwhile need not be among them.

    A record that is compressed or packed meanwhile vanishes, and is to be found under its new name by looking again.
    """
    added: set[Path] = set()
    for _ in range(_LOOKS):
        new = {path for path in _below(folder) if path.is_symlink() or path.is_file()} - added
        for path in sorted(new):
            added.add(path)
            if path.suffix == ".part" or path.relative_to(folder).parts[0].startswith("."):
                continue  # it is being written
            name = str(path.relative_to(home))
            with contextlib.suppress(FileNotFoundError):  # it was pruned, or has another name by now
                if path.is_symlink():
                    archive.add(path, name)
                    continue
                with path.open("rb") as file:
                    archive.addfile(archive.gettarinfo(arcname=name, fileobj=file), file)


def _below(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder, whatever is removed meanwhile; links are not followed."""
    for inside, folders, files in os.walk(folder):
        yield from (Path(inside) / name for name in (*folders, *files))
