"""Take in what people submit: a program, a folder or an archive becomes an immutable folder, named by its content.

Every byte is hostile: nothing is run here, no link is followed or unpacked, no name leads out of the folder. A submission that
declares too large a size is refused at once; whatever it declares, sizes are counted while bytes are written.
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
from ladder.match import HOUSE, HOUSE_PREFIX, Version
from ladder.store import Store
from referee.files import private_folder, read_file, sync_folder
from referee.kit.document import Document
from referee.registry import games, house_bots

MAX_FILES = 2_000
"""The largest number of files in a bot."""
MAX_BYTES = 200 * 1024 * 1024
"""The largest size of a bot, unpacked."""
MAX_MANIFEST_BYTES = 64 * 1024
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
    """Take in a bot, and make the ladder if it is not there yet; return its version, and whether it is new.

    Raises:
        BadBot: if it cannot be taken in; a ladder that was made for it is removed again.
        LadderError: if a name is not allowed or belongs to another author, or the folder cannot be a ladder.
    """
    check_names(name, author)
    check_path(path)
    existed = home.folder.exists()
    home.make()
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


def check_names(bot: str, author: str) -> None:
    """Check the names of a submitted bot and of its author.

    Raises:
        LadderError: if one has characters that are not allowed, or could be mistaken for a house bot or their author.
    """
    for name, what in ((bot, "a bot's name"), (author, "an author's name")):
        if not _NAME.fullmatch(name):
            raise LadderError(f"{what} must be 1 to 40 letters, digits, dots, dashes and underscores, not {name!r}")
    taken = {HOUSE, *house_bots()}
    for name in (bot, author):
        if name.lower() in taken:
            raise LadderError(f"the names of house bots and of their author ({', '.join(sorted(taken))}) are reserved")


def check_path(path: Path) -> None:
    """Check that a submitted path leads to a file or a folder, and not by way of a link.

    Raises:
        BadBot: if it does not.
    """
    if path.is_symlink():
        raise BadBot(f"{path} is a link; submit the file or folder that it leads to")
    if not path.exists():
        raise BadBot(f"there is no file or folder {path}")
    if not (path.is_file() or path.is_dir()):
        raise BadBot(f"{path} is neither a file nor a folder")


def take_in(path: Path, versions: Path) -> Artefact:
    """Copy or unpack what was submitted into `versions / <content hash>`, readable by this user only.

    Args:
        path: an executable, a Python file, a folder, or a .zip, .tar, .tar.gz or .tgz archive.
        versions: the folder of all versions.

    Raises:
        BadBot: if it is something else, breaks a limit, or its manifest is wrong; nothing is left of it then.
    """
    check_path(path)
    private_folder(versions)
    scratch = Path(tempfile.mkdtemp(dir=versions, prefix=".taking-in-"))
    try:
        folder = scratch / "bot"
        folder.mkdir(mode=0o700)
        _Copier(folder).copy(path)
        run, playable = _read_manifest(path, folder)
        content_hash = hash_of(folder)
        target = versions / content_hash
        if target.exists() and hash_of(target) != content_hash:  # somebody has changed it
            _make_writable(target)
            target.rename(scratch / "changed")
        if not target.exists():
            _make_read_only(folder)
            folder.chmod(0o700)  # to move a folder elsewhere is to write into it
            with contextlib.suppress(OSError):  # somebody else has submitted the same at this moment
                folder.rename(target)
            target.chmod(0o500)
            sync_folder(versions)
        return Artefact(content_hash, run, playable)
    except OSError as error:
        raise BadBot(f"{path} cannot be taken in: {error.strerror}") from error
    finally:
        _make_writable(scratch)
        shutil.rmtree(scratch, ignore_errors=True)


def hash_of(folder: Path) -> str:
    """Return the SHA-256 over the names, executable bits and contents of all files of a folder, in hexadecimal.

    What is neither a file nor a folder is never taken in; the hash of a folder with such a thing is that of no version.
    """
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        name = path.relative_to(folder).as_posix()
        if stat.S_ISREG(mode):
            mark = "x" if mode & stat.S_IXUSR else "-"
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            whole.update(f"{name}\0{mark}\0{content}\n".encode(errors="surrogateescape"))
        elif not stat.S_ISDIR(mode):
            whole.update(f"{name}\0neither file nor folder\n".encode(errors="surrogateescape"))
    return whole.hexdigest()


class Inspector:
    """Checks that the files of versions are still those that were submitted.

    A folder is read only if something about its files has changed since it was last read: names, modes, sizes, or the
    times that the file system keeps, of which the last (`ctime`) cannot be set by a program.
    """

    def __init__(self, versions: Path) -> None:
        """`versions` is the folder of all versions."""
        self._versions = versions
        self._known: dict[str, _Fingerprint] = {}

    def problem(self, version: Version) -> str:
        """Return why a version cannot be played; empty if it can."""
        if version.content_hash.startswith(HOUSE_PREFIX):
            return ""
        folder = self._versions / version.content_hash
        try:
            seen = _fingerprint(folder)
            if self._known.get(version.content_hash) == seen:
                return ""
            if hash_of(folder) == version.content_hash:
                self._known[version.content_hash] = seen
                return ""
            what = f"are not those that were submitted (in {folder})"
        except FileNotFoundError:
            what = f"are gone from {folder}"
        except OSError as error:
            what = f"cannot be read (in {folder}): {error.strerror}"
        return f"the files of {version.label} {what}; submit the same again to restore them"


_Fingerprint = list[tuple[str, int, int, int, int, int]]


def _fingerprint(folder: Path) -> _Fingerprint:
    """Return name, inode, mode, size and times of a folder and of everything in it; links are not followed."""
    found = []
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        times = (status.st_mtime_ns, status.st_ctime_ns)
        found.append((str(path), status.st_ino, status.st_mode, status.st_size, *times))
    return found


_DAMAGED = (zlib.error, lzma.LZMAError, gzip.BadGzipFile, EOFError, ValueError)


class _Copier:
    """Brings files into a folder, and counts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = 0
        self._bytes = 0

    def copy(self, path: Path) -> None:
        """Copy or unpack whatever was submitted."""
        if path.is_dir():
            self._copy_folder(path)
            return
        _check_size(path.stat().st_size)
        if zipfile.is_zipfile(path):
            self._unpack_zip(path)
        elif tarfile.is_tarfile(path):
            self._unpack_tar(path)
        else:
            self._copy_program(path)

    def _copy_program(self, path: Path) -> None:
        runs = os.access(path, os.X_OK)
        if not runs and path.suffix != ".py":
            raise BadBot(f"{path} is not executable (chmod +x), nor a .py file, nor a .zip or .tar archive")
        with _open_regular(path) as source:
            self._write(path.name, source, executable=runs)

    def _copy_folder(self, path: Path) -> None:
        files = [file for file in sorted(path.rglob("*")) if "__pycache__" not in file.relative_to(path).parts]
        sizes = []
        for file in files:
            status = file.lstat()
            name = file.relative_to(path).as_posix()
            if stat.S_ISLNK(status.st_mode):
                raise BadBot(f"{path} has a link, {name}; links are not taken in")
            if stat.S_ISREG(status.st_mode):
                sizes.append(status.st_size)
            elif not stat.S_ISDIR(status.st_mode):
                raise BadBot(f"{path} has a device, pipe or socket, {name}; these are not taken in")
        _check_files(len(sizes))
        _check_size(sum(sizes))
        for file in files:
            if not file.is_dir():
                with _open_regular(file) as source:
                    self._write(file.relative_to(path).as_posix(), source, executable=os.access(file, os.X_OK))

    def _unpack_zip(self, path: Path) -> None:
        try:
            with zipfile.ZipFile(path) as archive:
                entries = [entry for entry in archive.infolist() if not entry.is_dir()]
                _check_files(len(entries))
                _check_size(sum(entry.file_size for entry in entries))
                for entry in entries:
                    if "\0" in entry.orig_filename:  # zipfile would cut it there
                        raise BadBot(f"a file's name, {entry.orig_filename!r}, has characters that cannot be printed")
                    mode = entry.external_attr >> 16
                    if stat.S_ISLNK(mode):
                        raise BadBot(f"{path} has a link, {entry.filename}; links are not taken in")
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
                    _check_size(self._bytes + entry.size)
                    source = archive.extractfile(entry)
                    if source is not None:
                        self._write(entry.name, source, executable=bool(entry.mode & stat.S_IXUSR))
                self._read_to_the_end(archive.fileobj)
        except (*_DAMAGED, tarfile.TarError, OverflowError) as error:
            raise BadBot(f"{path} is a damaged archive: {error}") from error

    def _read_to_the_end(self, stream: Any) -> None:
        """Read what is left of a compressed stream, whose checksum is at its end."""
        while stream is not None and (data := stream.read(1 << 20)):
            self._bytes += len(data)
            _check_size(self._bytes)

    def _write(self, name: str, source: IO[bytes], *, executable: bool) -> None:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
            raise BadBot(f"a file's name, {name!r}, leads out of the bot's folder")
        if not name.isprintable():
            raise BadBot(f"a file's name, {name!r}, has characters that cannot be printed")
        self._files += 1
        _check_files(self._files)
        target = self._folder.joinpath(*parts)
        if target.exists():
            raise BadBot(f"two files are called {name!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while data := source.read(1 << 20):
                self._bytes += len(data)
                _check_size(self._bytes)
                file.write(data)
        target.chmod(0o700 if executable else 0o600)


def _check_files(count: int) -> None:
    if count > MAX_FILES:
        raise BadBot(f"more than {MAX_FILES} files")


def _check_size(size: int) -> None:
    """Check a size that was declared, or counted so far, in bytes."""
    if size > MAX_BYTES:
        raise BadBot(f"more than {MAX_BYTES} bytes, unpacked")


def _open_regular(path: Path) -> IO[bytes]:
    """Open a file, but no link and nothing that could block, whatever has taken its place since it was looked at."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadBot(f"{path} is not a regular file any more")
    return os.fdopen(descriptor, "rb")


def _read_manifest(path: Path, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return how a bot is started, and what it plays."""
    manifest = folder / MANIFEST
    data: object = {}
    if manifest.is_file():
        try:
            data = tomllib.loads(read_file(manifest, MAX_MANIFEST_BYTES).decode("utf-8"))
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
    if run and (run[0].startswith("/") or any(".." in PurePosixPath(word).parts for word in run)):
        document.note(
            "run", 'leads out of the bot\'s folder; name a file in it ("./program") or a usual program ("java")'
        )
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
    """Return the environment variables of a submitted bot: nothing of the organiser's but a path to the usual programs."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _make_read_only(folder: Path) -> None:
    for path in _walk(folder):
        path.chmod(path.stat().st_mode & 0o500)


def _make_writable(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for path in _walk(folder):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o700)


def _walk(folder: Path) -> Iterator[Path]:
    yield from folder.rglob("*")
    yield folder
