"""Access files safely: read only regular files of a bounded size, write a file completely or not at all, lock folders."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from referee.errors import DoganaError


def check_regular(path: Path) -> None:
    """Raise an error if a path exists but is not a regular file, because reading a device or a pipe might never end.

    Raises:
        OSError: if it is not a regular file; the error gives the name and the reason.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is not a regular file", str(path))


class AlreadyThere(DoganaError):
    """The output of a command already exists; the text says how to replace it."""


def check_free(path: Path, *, force: bool, is_folder: bool = False) -> None:
    """Check that a command may write to a path given by the user, before the command does anything else.

    Empty files and folders may be replaced; devices and pipes may be written to.

    Args:
        path: the path of a file, or of a folder for several files.
        force: whether the user allows an existing file or folder to be replaced.
        is_folder: whether the path is that of a folder.

    Raises:
        AlreadyThere: if the path exists and may not be replaced.
        OSError: if the path cannot be examined, is a folder instead of a file or vice versa, or is that of a file in a
            folder that does not exist; the error gives the name.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        if not (is_folder or path.parent.is_dir()):
            raise OSError(errno.ENOENT, f"there is no folder {path.parent}", str(path)) from None
        return
    # A link that leads nowhere counts as something that exists.
    if stat.S_ISLNK(found.st_mode) and path.exists():
        found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        if not is_folder:
            raise OSError(errno.EISDIR, "is a folder; name a file", str(path))
        has_something = any(path.iterdir())
    elif is_folder:
        raise OSError(errno.ENOTDIR, "is a file; name a folder", str(path))
    else:
        has_something = found.st_size > 0 or stat.S_ISLNK(found.st_mode)
    if has_something and not force:
        raise AlreadyThere(f"{path} is there already; --force replaces it")


def unused(path: Path) -> Path:
    """Return an unused path, which is `path` itself or `path` with a number before its extension."""
    number, free = 1, path
    while os.path.lexists(free):  # `exists` is false for a link that leads nowhere
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free


def make_folder(path: Path) -> None:
    """Make a folder that a user has named, unless it exists.

    Raises:
        OSError: if that fails; the error gives the name and the reason.
    """
    if path.exists() and not path.is_dir():
        raise OSError(errno.ENOTDIR, "is a file; name a folder", str(path))
    path.mkdir(parents=True, exist_ok=True)


_SENTENCES = {
    errno.ENOENT: "there is no such file or folder, nor can it be made",
    errno.ENOTDIR: "a part of this path is a file where a folder should be",
    errno.EEXIST: "something of this name is there already",
    errno.EISDIR: "is a folder; name a file",
    errno.EACCES: "this user may not do that there",
    errno.EPERM: "this user may not do that there",
    errno.ELOOP: "is a link where a file should be, or leads in a circle",
    errno.EROFS: "nothing can be written there: the file system is read-only",
}
"""Texts for errors that the system describes too briefly for users."""


def in_words(error: Exception) -> str:
    """Return the text of an error without the system's error number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    if error.filename is None:
        return error.strerror
    said = error.strerror
    # Errors raised here have a text of their own, which stays.
    if error.errno is not None and said == os.strerror(error.errno):
        said = _SENTENCES.get(error.errno, said)
    return f"{error.filename}: {said}"


def read_file(path: Path, max_bytes: int) -> bytes:
    """Read a regular file of at most `max_bytes` bytes.

    Raises:
        OSError: if the file cannot be read, is not a regular file, or is longer; the error gives the name and the reason.
    """
    check_regular(path)
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)  # one more, so that a longer or growing file is noticed, but not read whole
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", str(path)) from None
    if len(data) > max_bytes:
        raise OSError(errno.EFBIG, f"has more than {max_bytes} bytes", str(path))
    return data


def unfinished(path: Path) -> Path:
    """Return an unused name beside `path` for a file that is still being written; `path` must not be a link."""
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield an unused path for a file that is renamed to `path` once it is complete. Links are followed.

    Raises:
        OSError: if anything fails; the error gives the name, and an earlier file with that name stays as it was.
    """
    # `replace` would replace a link itself, not the file that the link leads to.
    final = Path(os.path.realpath(path))
    part = unfinished(final)
    try:
        check_regular(final)
        yield part
        part.replace(final)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def write_file(path: Path, text: str) -> None:
    """Write a text file that takes its name once it is complete. Links are followed; devices and pipes are written to.

    Use this for drawings and logs: it does not wait until the file is on the disk. Use `write_private` for files that
    must survive a power failure.

    Raises:
        OSError: if that fails; the error gives the name, and an earlier file with that name stays as it was.
    """
    if not path.exists() or path.is_file():
        with replacing(path) as part:
            part.write_text(text, encoding="utf-8")
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_new(path: Path, text: str) -> None:
    """Write a text file that nobody else may write at the same time.

    Raises:
        FileExistsError: if the name is taken, even by a link.
        OSError: if the file cannot be written; the error gives the name, and no part of the file remains.
    """
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError as error:
            path.unlink()
            raise OSError(error.errno, error.strerror, str(path)) from error


def open_private(path: Path) -> BinaryIO:
    """Create a file that only this user can read and write, whatever the umask, and open it for writing.

    Raises:
        FileExistsError: if the name is taken, even by a link.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "wb", buffering=0)


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only this user can read, complete and on the disk before it takes its name.

    Raises:
        OSError: if that fails; the error gives the name. An earlier file with that name stays as it was, and so does a
            device or a pipe.
    """
    check_regular(path)  # or root would replace /dev/null with a file
    part = unfinished(path)
    try:
        with open_private(part) as file:
            write_all(file, data)
            # The content is flushed before the rename: after a power failure, the name never stands for half a file.
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def write_all(file: BinaryIO, data: bytes) -> None:
    """Write all of `data` to an unbuffered file. A single write may be partial if the disk is almost full."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def private_folder(folder: Path) -> None:
    """Create a folder that only this user can enter, whatever the umask; do nothing if it exists."""
    folder.mkdir(mode=0o700, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, so that a rename survives a power failure."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked_folder(folder: Path, busy: DoganaError) -> Iterator[None]:
    """Lock a folder against other processes in this context.

    The kernel releases the lock when the process ends, even after a kill, so nothing is left to clear. A file system
    without locks, such as some network file systems, keeps nobody out.

    Args:
        folder: the folder, which must exist.
        busy: the error to raise if another process holds the lock.

    Raises:
        DoganaError: `busy`.
        OSError: if the folder cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise busy from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(descriptor)
