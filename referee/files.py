"""Files that people name: read only if they are files and of a sensible size, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path


def check_regular(path: Path) -> None:
    """Refuses what is there but is no file: folders, devices and pipes, which might never end.

    Raises:
        OSError: with the name and the reason.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is not a regular file", str(path))


def read_file(path: Path, most: int) -> bytes:
    """Reads a file of at most so many bytes.

    Raises:
        OSError: if it cannot be read, is no regular file, or is longer; with the name and the reason.
    """
    check_regular(path)
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"has more than {most} bytes", str(path))
    return data


def unfinished(path: Path) -> Path:
    """A name beside `path` that nobody else has, for what is to become that file; links must have been followed."""
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")


def write_file(path: Path, text: str) -> None:
    """Writes a file, which takes its name when it is whole. Links are followed; devices and pipes are written into.

    Raises:
        OSError: if that is not possible, with the name; a file that was there before is as it was.
    """
    final = Path(os.path.realpath(path))
    part = unfinished(final)
    try:
        if final.exists() and not final.is_file():
            final.write_text(text, encoding="utf-8")
        else:
            part.write_text(text, encoding="utf-8")
            part.replace(final)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
