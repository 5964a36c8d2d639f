"""Takes in what people submit: a program, a folder or an archive becomes an immutable folder, named by its content.

Every byte is hostile: nothing is run here, no link is followed or unpacked, no name leads out of the folder, and sizes are
counted while bytes are written, not believed.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import lzma
import os
import re
import shutil
import stat
import sys
import tarfile
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ladder.errors import BadBot, LadderError
from ladder.home import Home
from ladder.match import HOUSE, Version
from ladder.store import Store
from referee.kit.document import Document
from referee.registry import games, house_bots

MAX_FILES = 2_000
"""A bot has at most so many files,"""
MAX_BYTES = 200 * 1024 * 1024
"""and at most so many bytes, unpacked."""
MANIFEST = "bot.toml"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Artefact:
    """A bot that was taken in."""

    content_hash: str
    """SHA-256 of its files, in hexadecimal; the name of its folder."""
    run: tuple[str, ...]
    """The command that starts it in its folder."""
    games: tuple[str, ...]
    """The games it plays."""


def submit(home: Home, path: Path, name: str, author: str) -> tuple[Version, bool]:
    """Take in a bot, and make the ladder if there is none yet; return its version, and whether it is new.

    Raises:
        BadBot: if it cannot be taken in; a ladder that was made for it is removed again.
        LadderError: if a name is not allowed or belongs to another author, or the folder cannot be a ladder.
    """
    check_name(name, "a bot's name")
    check_name(author, "an author's name")
    if author == HOUSE or name in house_bots():
        raise LadderError(f"the author {HOUSE!r} and the names of house bots ({', '.join(house_bots())}) are reserved")
    if not path.exists():
        raise BadBot(f"there is no file or folder {path}")
    existed = home.folder.exists()
    if existed and not home.database.exists() and {*home.folder.iterdir()} - {home.folder / home.versions.name}:
        raise LadderError(f"{home.folder} is neither a ladder nor an empty folder")
    try:
        artefact = take_in(path, home.versions)
    except BadBot:
        if not existed:  # leave no empty ladder; what somebody else has submitted meanwhile stays
            with contextlib.suppress(OSError):
                home.versions.rmdir()
                home.folder.rmdir()
        raise
    with Store(home.database, create=True) as store:
        return store.add_version(name, author, artefact.content_hash, artefact.run, artefact.games)


def check_name(name: str, what: str) -> None:
    """Check the name of a bot or an author; `what` it is goes into the error.

    Raises:
        LadderError: if it is not one.
    """
    if not _NAME.fullmatch(name):
        raise LadderError(f"{what} must be 1 to 40 letters, digits, dots, dashes and underscores, not {name!r}")


def take_in(path: Path, versions: Path) -> Artefact:
    """Copies or unpacks what was submitted into `versions / <content hash>`.

    Args:
        path: an executable, a Python file, a folder, or a .zip, .tar, .tar.gz or .tgz archive.
        versions: the folder of all versions.

    Raises:
        BadBot: if it is none of these, breaks a limit, or its manifest is wrong; nothing is left of it then.
    """
    versions.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=versions, prefix=".taking-in-"))
    try:
        folder = scratch / "bot"
        folder.mkdir()
        _Copier(folder).copy(path)
        run, playable = _read_manifest(path, folder)
        content_hash = hash_of(folder)
        target = versions / content_hash
        if not target.exists():
            _make_read_only(folder)
            with contextlib.suppress(FileExistsError):
                folder.rename(target)
        return Artefact(content_hash, run, playable)
    except OSError as error:
        raise BadBot(f"{path} cannot be taken in: {error.strerror}") from error
    finally:
        _make_writable(scratch)
        shutil.rmtree(scratch, ignore_errors=True)


def hash_of(folder: Path) -> str:
    """SHA-256 over the names, executable bits and contents of all files of a folder."""
    whole = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        mark = "x" if file.stat().st_mode & stat.S_IXUSR else "-"
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{file.relative_to(folder).as_posix()}\0{mark}\0{content}\n".encode())
    return whole.hexdigest()


_DAMAGED = (zlib.error, lzma.LZMAError, gzip.BadGzipFile, EOFError, ValueError)


class _Copier:
    """Brings files into a folder, and counts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = 0
        self._bytes = 0

    def copy(self, path: Path) -> None:
        """Copies or unpacks whatever was submitted."""
        if path.is_dir():
            self._copy_folder(path)
        elif not path.is_file():
            raise BadBot(f"there is no file or folder {path}")
        elif zipfile.is_zipfile(path):
            self._unpack_zip(path)
        elif tarfile.is_tarfile(path):
            self._unpack_tar(path)
        else:
            self._copy_program(path)

    def _copy_program(self, path: Path) -> None:
        runs = os.access(path, os.X_OK)
        if not runs and path.suffix != ".py":
            raise BadBot(f"{path} is not executable (chmod +x), nor a .py file, nor a .zip or .tar archive")
        with path.open("rb") as source:
            self._write(path.name, source, executable=runs)

    def _copy_folder(self, path: Path) -> None:
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path).as_posix()
            if file.is_symlink():
                raise BadBot(f"{path} has a link, {name}; links are not taken in")
            if file.is_file() and "__pycache__" not in file.parts:
                with file.open("rb") as source:
                    self._write(name, source, executable=os.access(file, os.X_OK))

    def _unpack_zip(self, path: Path) -> None:
        try:
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    mode = entry.external_attr >> 16
                    if stat.S_ISLNK(mode):
                        raise BadBot(f"{path} has a link, {entry.filename}; links are not taken in")
                    if not entry.is_dir():
                        with archive.open(entry) as source:
                            self._write(entry.filename, source, executable=bool(mode & stat.S_IXUSR))
        except (*_DAMAGED, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise BadBot(f"{path} is a damaged or encrypted archive: {error}") from error

    def _unpack_tar(self, path: Path) -> None:
        try:
            with tarfile.open(path) as archive:
                for entry in archive:
                    if not (entry.isfile() or entry.isdir()):
                        raise BadBot(f"{path} has a link or device, {entry.name}; these are not taken in")
                    source = archive.extractfile(entry)
                    if source is not None:
                        self._write(entry.name, source, executable=bool(entry.mode & stat.S_IXUSR))
                self._read_to_the_end(archive.fileobj)
        except (*_DAMAGED, tarfile.TarError, OverflowError) as error:
            raise BadBot(f"{path} is a damaged archive: {error}") from error

    def _read_to_the_end(self, stream: Any) -> None:
        """What is compressed has its checksum at the end."""
        while stream is not None and (data := stream.read(1 << 20)):
            self._bytes += len(data)
            if self._bytes > MAX_BYTES:
                raise BadBot(f"more than {MAX_BYTES} bytes, unpacked")

    def _write(self, name: str, source: IO[bytes], *, executable: bool) -> None:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
            raise BadBot(f"a file's name, {name!r}, leads out of the bot's folder")
        if not name.isprintable():
            raise BadBot(f"a file's name, {name!r}, has characters that cannot be printed")
        self._files += 1
        if self._files > MAX_FILES:
            raise BadBot(f"more than {MAX_FILES} files")
        target = self._folder.joinpath(*parts)
        if target.exists():
            raise BadBot(f"two files are called {name!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while data := source.read(1 << 20):
                self._bytes += len(data)
                if self._bytes > MAX_BYTES:
                    raise BadBot(f"more than {MAX_BYTES} bytes, unpacked")
                file.write(data)
        target.chmod(0o755 if executable else 0o644)


def _read_manifest(path: Path, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How a bot is started, and what it plays."""
    manifest = folder / MANIFEST
    data: object = {}
    if manifest.is_file():
        try:
            data = tomllib.loads(manifest.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadBot(f"{path}: {MANIFEST} is not TOML: {error}") from error
    document = Document(data, MANIFEST)
    document.text("name", "")
    run = document.texts("run") if document.has("run") else list(_default_run(path, folder))
    names = document.texts("games") if document.has("games") else list(games())
    unknown = [name for name in names if name not in games()]
    if unknown:
        document.note("games", f"names {unknown[0]!r}; the games are: {', '.join(games())}")
    if document.has("run") and not run:
        document.note("run", "must have at least the program")
    if not all(word.isprintable() for word in run):
        document.note("run", "has characters that cannot be printed")
    document.finish()
    if document.problems:
        raise BadBot(f"{path}: {'; '.join(document.problems)}")
    if "/" in run[0] and not (folder / run[0]).is_file():
        raise BadBot(f'{path}: there is no file {run[0]} to run; {MANIFEST} may say run = ["./program"]')
    return tuple(run), tuple(names)


def _default_run(path: Path, folder: Path) -> Sequence[str]:
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != MANIFEST]
    for file in [folder / "bot", folder / "bot.py", *(files if len(files) == 1 else [])]:
        if file.is_file():
            name = file.relative_to(folder).as_posix()
            if os.access(file, os.X_OK):
                return [f"./{name}"]
            if file.suffix == ".py":
                return ["python", name]
    raise BadBot(
        f'{path} does not say how to start it: call the program bot, or add {MANIFEST} with run = ["./program"]'
    )


def environment() -> dict[str, str]:
    """The environment variables of a submitted bot: nothing of the organiser's but a path to the usual programs."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _make_read_only(folder: Path) -> None:
    for path in _walk(folder):
        path.chmod(path.stat().st_mode & ~0o222)


def _make_writable(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for path in _walk(folder):
            path.chmod(path.stat().st_mode | 0o700)


def _walk(folder: Path) -> Iterator[Path]:
    yield from folder.rglob("*")
    yield folder
