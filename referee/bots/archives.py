"""Bound the size of archive headers before parsing, because `tarfile` and `zipfile` trust the declared sizes.

A tar archive may declare a header of any size, and a zip archive a table of contents of any size; both are read
whole. A gigabyte of zeros compresses to a megabyte.
"""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from referee.bots.errors import BadBot

PIECE = 128 * 1024
"""The number of bytes of content read at a time, here and in the standard library."""
MAX_TAR_HEADER = 64 * 1024
"""The maximum size of a file's header in a tar archive, including its extensions. A long name needs 2 kB."""
MAX_TAR_HEADERS = 40 * 1024 * 1024
"""The maximum total size of the headers in a tar archive, which allows 2 kB for each of 20,000 files."""
MAX_ZIP_CONTENTS = 4 * 1024 * 1024
"""The maximum size of a zip archive's table of contents, enough for 20,000 files with names of 100 characters."""
_MAX_ZIP_HEADER = 256 * 1024
"""An upper bound on the size of a local header in a zip archive, which has two fields of less than 64 kB."""

_GZIP = b"\x1f\x8b"


class Bounded(io.FileIO):
    """A file that refuses to be read past a limit.

    Attributes:
        left: the number of bytes that may still be read.
    """

    def __init__(self, path: Path, most: int) -> None:
        """Open a file for reading, with an initial limit of `most` bytes."""
        super().__init__(path)
        self.left = most

    def read(self, size: int | None = -1, /) -> bytes:
        """Read `size` bytes, or the rest of the file.

        Raises:
            BadBot: if that exceeds the limit.
        """
        if size is None or size < 0:
            size = os.fstat(self.fileno()).st_size - self.tell()
        if size > self.left:
            raise BadBot("the archive's headers or its table of contents are too long")
        data = super().read(size) or b""
        self.left -= len(data)
        return data


def entries_of_tar(path: Path) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """Read an uncompressed tar archive, and yield each entry, with its content if it is a file.

    Raises:
        BadBot: if a header is too long.
        tarfile.TarError, ValueError, OverflowError, EOFError, RecursionError: if the archive is damaged.
    """
    # The mode must be "r:", because otherwise tarfile would unpack compressed data by itself, without a limit.
    with Bounded(path, MAX_TAR_HEADER) as file, tarfile.open(fileobj=file, mode="r:") as archive:
        allowed, headers = MAX_TAR_HEADER, MAX_TAR_HEADERS
        for entry in archive:
            headers -= allowed - file.left
            # From here the content is read; the size of the header has been subtracted from `headers`.
            file.left = entry.size
            yield entry, archive.extractfile(entry) if entry.isfile() else None
            # tarfile would keep the extensions of headers, and copy the global ones each time.
            entry.pax_headers = {}
            archive.pax_headers = {}
            file.left = allowed = min(MAX_TAR_HEADER, headers)


@contextmanager
def open_zip(path: Path) -> Iterator[tuple[list[zipfile.ZipInfo], Callable[[zipfile.ZipInfo], IO[bytes]]]]:
    """Open a zip archive, and yield its entries and a function that opens an entry.

    Raises:
        BadBot: if its table of contents is too long.
        zipfile.BadZipFile, ValueError, EOFError: if the archive is damaged.
    """
    with Bounded(path, MAX_ZIP_CONTENTS) as file, zipfile.ZipFile(file) as archive:

        def opened(entry: zipfile.ZipInfo) -> IO[bytes]:
            file.left = _MAX_ZIP_HEADER + entry.compress_size
            return archive.open(entry)

        yield archive.infolist(), opened


def is_gzip(path: Path) -> bool:
    """Return whether a file starts with the gzip magic number."""
    with path.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP


def is_tar(path: Path) -> bool:
    """Return whether a file begins with the header of a tar archive."""
    with path.open("rb") as file:
        try:
            tarfile.TarInfo.frombuf(file.read(tarfile.BLOCKSIZE), "utf-8", "surrogateescape")
        except tarfile.TarError:
            return False
    return True


def gunzip(path: Path, target: Path, most: int) -> None:
    """Decompress a file to at most `most` bytes.

    Raises:
        BadBot: if the content is larger, or if data follows the end of the stream.
        zlib.error: if the data is damaged.
        EOFError: if the data ends too early.
    """
    inflate = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)  # 16 stands for gzip
    left = most
    with path.open("rb") as source, target.open("xb") as file:
        while not inflate.eof:
            data = inflate.unconsumed_tail or source.read(PIECE)
            if not data:
                raise EOFError("it ends too early")
            # At most `PIECE` bytes are unpacked at a time, because a few compressed bytes may unpack to very many.
            content = inflate.decompress(data, PIECE)
            left -= len(content)
            if left < 0:
                raise BadBot(f"more than {most} bytes, unpacked")
            file.write(content)
        if inflate.unused_data or source.read(1):
            raise BadBot("something follows after the end of the compressed data")
