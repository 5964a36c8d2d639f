"""Pack a folder of bots for other machines into an archive that is identified by its hash.

The archive contains only files, folders and links that stay within the folder. It keeps execute permissions, but no
owners or times.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from referee.errors import DoganaError

MAX_BYTES = 64 * 1024 * 1024
MAX_ENTRIES = 10_000
"""The maximum size of a folder, and the maximum number of its files, folders and links. Each slot gets a copy."""


class BadBundle(DoganaError):
    """A folder cannot be sent to other machines; the text says why and what to do."""


def pack(folder: Path, without: Sequence[Path] = (), max_entries: int = MAX_ENTRIES) -> bytes:
    """Return the files of a folder as an archive; equal files give equal archives.

    Args:
        folder: the folder.
        without: files and folders to leave out, together with links to them.
        max_entries: the maximum number of files, folders and links.

    Raises:
        BadBundle: if the folder is too large, a link leads out of it, or a file cannot be read.
    """
    packed = io.BytesIO()
    count = size = 0
    try:
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path in _walk(folder, [os.path.realpath(one) for one in without], max_entries):
                info = archive.gettarinfo(path, path.relative_to(folder).as_posix())
                if info is None or not (path.is_symlink() or path.is_file() or path.is_dir()):
                    continue  # a socket, a pipe
                count, size = count + 1, size + path.lstat().st_size
                if count > max_entries or size > MAX_BYTES:
                    raise BadBundle(
                        f"{folder} has more than {max_entries} files or {MAX_BYTES >> 20} MiB, which is too much to send to other"
                        " machines; give the command in a folder that has the bots alone"
                    )
                if info.issym() and not _stays_inside(path, folder):
                    raise BadBundle(f"{path} is a link that leads out of {folder}; its target would not be sent")
                if info.islnk():  # the second name of a file
                    info.type, info.linkname, info.size = tarfile.REGTYPE, "", path.stat().st_size
                # Without owners and times, equal files have the same hash, by which other machines know the archive.
                info.mode = 0o755 if info.isdir() or info.mode & stat.S_IXUSR else 0o644
                info.uid = info.gid = info.mtime = 0
                info.uname = info.gname = ""
                if info.isreg():
                    with path.open("rb") as file:
                        archive.addfile(info, file)
                else:
                    archive.addfile(info)
    except OSError as error:
        raise BadBundle(f"{error.filename or folder} cannot be sent to other machines: {error.strerror}") from error
    return packed.getvalue()


def _walk(folder: Path, without: Sequence[str], max_entries: int) -> list[Path]:
    """List the content of a folder recursively, each folder before its own content; `without` contains real paths."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:], included = (
            [each for each in names if os.path.realpath(here / each) not in without] for names in (folders, files)
        )
        folders.sort()
        found += [here / name for name in sorted([*folders, *included])]
        if len(found) > max_entries:
            break
    return found


def _stays_inside(link: Path, folder: Path) -> bool:
    reached = Path(os.path.realpath(link))  # like `Path.resolve`, which fails on circular links
    return not link.readlink().is_absolute() and reached.is_relative_to(folder.resolve())


def unpack(packed: bytes, place: Path) -> Path:
    """Unpack an archive into a shared folder, unless another process already has; return the archive's folder there.

    Raises:
        BadBundle: if the archive cannot be unpacked.
    """
    folder = place / hashlib.sha256(packed).hexdigest()
    try:
        if not folder.is_dir():
            scratch = Path(tempfile.mkdtemp(dir=place))
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                # Python 3.11.0 to 3.11.3 have no filters; the sender may start programs here anyway
                archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
                archive.extractall(scratch)  # noqa: S202 filtered
            scratch.chmod(0o755)  # `place` keeps other users out
            with suppress(OSError):  # another process was faster
                scratch.rename(folder)
            shutil.rmtree(scratch, ignore_errors=True)
    except (OSError, tarfile.TarError) as error:
        raise BadBundle(f"the folder with the bots cannot be unpacked there: {error}") from error
    return folder
