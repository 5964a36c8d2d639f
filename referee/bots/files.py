"""Accept submissions: a program, a folder or an archive becomes an immutable folder, named by its content hash.

Every byte is hostile: nothing is run here, no link is followed, and no name may lead out of the folder. A submission
that declares an excessive size is refused at once; whatever it declares, sizes are also counted while bytes are
written.

Links that stay in the folder are kept as links. They are safe because `..` occurs only at their beginning, where it
leads through real folders and never above the bot's own; nothing is ever written through a link. A link may also lead
to one of the usual programs, such as /usr/bin/python3 in a virtual environment, because `run` may name the same
programs. The text of a link is kept unchanged.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from referee.bots.archives import MAX_TAR_HEADERS, PIECE, entries_of_tar, gunzip, is_gzip, is_tar, open_zip
from referee.bots.errors import BadBot, DiskFull
from referee.bots.manifest import RUNNERS, Manifest, own_environment, read_manifest
from referee.files import private_folder, sync_folder
from referee.sandbox.runtimes import USUAL_FOLDERS, search_path

MAX_FILES = 20_000
"""The maximum number of files and links in a bot: enough for a `node_modules` folder or a small virtual environment."""
MAX_BYTES = 200 * 1024 * 1024
"""The maximum unpacked size of a bot, in bytes."""
MAX_ENTRIES = 2 * MAX_FILES
"""The maximum number of files, links and folders in an archive or a folder."""
MAX_DEPTH = 40
"""The maximum number of names in a path, counting the nested folders and the file in the last of them."""
MAX_LINK_BYTES = 1024
"""The maximum length of a link's text."""

TAKING_IN = ".taking-in-"
"""The prefix of temporary folders for incoming bots; the process id follows."""
TAKEN_IN_MODE = 0o555
"""The mode of a version's folder: bots that run as another user read it, and nobody writes to it."""


@dataclass(frozen=True, slots=True)
class BotLimits:
    """The limits on the files of a bot."""

    files: int = MAX_FILES
    size: int = MAX_BYTES
    entries: int = MAX_ENTRIES
    headers: int = MAX_TAR_HEADERS

    def check_files(self, count: int) -> None:
        """Check the number of files and links."""
        if count > self.files:
            raise BadBot(f"more than {self.files} files")

    def check_entries(self, count: int) -> None:
        """Check the number of files, links and folders."""
        if count > self.entries:
            raise BadBot(f"more than {self.entries} files, links and folders")

    def check_size(self, size: int) -> None:
        """Check a declared or counted size in bytes."""
        if size > self.size:
            raise BadBot(f"more than {self.size} bytes, unpacked")


LIMITS = BotLimits()


@dataclass(frozen=True, slots=True)
class Artefact:
    """An accepted bot."""

    content_hash: str
    """The SHA-256 of the bot's files, in hexadecimal; also the name of the bot's folder."""
    run: tuple[str, ...]
    """The command that starts the bot in its folder."""
    games: tuple[str, ...]
    """The games that the bot plays."""
    language: str
    """The bot's programming language, if known; otherwise empty."""
    was_there: bool = False
    """True if the same files had been accepted before."""


def check_path(path: Path) -> None:
    """Check that a submitted path names a file or a folder, and not a link.

    Raises:
        BadBot: if the path names a link, nothing, or anything else.
    """
    if path.is_symlink():
        raise BadBot(f"{path} is a link; name the file or folder that it leads to")
    if not path.exists():
        raise BadBot(f"there is no file or folder {path}")
    if not (path.is_file() or path.is_dir()):
        raise BadBot(f"{path} is neither a file nor a folder")


def take_in(
    path: Path, versions: Path, runtimes: Sequence[Path] = (), programs: str = "", limits: BotLimits = LIMITS
) -> Artefact:
    """Copy or unpack a submission into `versions / <content hash>`, in a folder that only this user can enter.

    Args:
        path: a program, a file with an extension in `RUNNERS`, a folder, or a .zip, .tar, .tar.gz or .tgz archive.
        versions: the folder of all versions.
        runtimes: folders with runtimes in addition to the usual programs.
        programs: the search path for programs, as in PATH; empty for the usual folders and the runtimes.
        limits: the limits on the submission's files.

    Raises:
        BadBot: if the submission is something else, breaks a limit, or has an invalid manifest; none of its
            files remain.
        DiskFull: if there is no room for it; none of its files remain.
    """
    check_path(path)
    private_folder(versions)
    # The folder is below `versions`, because a rename cannot lead to another file system.
    scratch = Path(tempfile.mkdtemp(dir=versions, prefix=f"{TAKING_IN}{os.getpid()}-"))
    try:
        folder = scratch / "bot"
        folder.mkdir(mode=0o700)
        _Copier(folder, scratch, limits).copy(path)
        program = "" if path.is_dir() or is_archive(path) else path.name
        manifest = read_manifest(path, folder, programs or ":".join(search_path(runtimes)), program)
        content_hash = hash_of(folder)
        target = versions / content_hash
        with contextlib.suppress(FileNotFoundError):  # a pruning removes it while it is read
            if target.exists() and hash_of(target) != content_hash:  # somebody has changed it
                make_writable(target)
                target.rename(scratch / "changed")
        was_there = target.exists()
        if not was_there:
            make_read_only(folder)
            folder.chmod(0o700)  # renaming a folder needs write access to it
            with contextlib.suppress(OSError):  # somebody else has just submitted the same files
                folder.rename(target)
            target.chmod(TAKEN_IN_MODE)
            sync_folder(versions)
        return Artefact(content_hash, manifest.run, manifest.games, manifest.language, was_there)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"{path} cannot be taken in: {error.strerror}; make room and send it again") from error
        raise BadBot(f"{path} cannot be taken in: {error.strerror}") from error
    finally:
        make_writable(scratch)  # otherwise the files in folders that are read-only by now could not be removed
        shutil.rmtree(scratch, ignore_errors=True)


@contextlib.contextmanager
def taken_in(path: Path, runtimes: Sequence[Path] = (), programs: str = "") -> Iterator[tuple[Path, Artefact]]:
    """Accept a submission temporarily. Yield its folder and a description of the bot, then remove the folder.

    Raises:
        BadBot: as in `take_in`.
    """
    versions = Path(tempfile.mkdtemp(prefix="dogana-bot-"))
    try:
        artefact = take_in(path, versions, runtimes, programs)
        yield versions / artefact.content_hash, artefact
    finally:
        make_writable(versions)
        shutil.rmtree(versions, ignore_errors=True)


def hash_of(folder: Path) -> str:
    """Return the SHA-256 of the names, executable bits and contents of all files and links in a folder, in hexadecimal.

    No submission contains anything else, so a folder with other kinds of entries never has the hash of a version.
    """
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        name = path.relative_to(folder).as_posix()
        if stat.S_ISREG(mode):
            mark = "x" if mode & stat.S_IXUSR else "-"
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            # No name contains a NUL, and no name in a submission a line break, so no two folders give the same text.
            whole.update(f"{name}\0{mark}\0{content}\n".encode(errors="surrogateescape"))
        elif stat.S_ISLNK(mode):
            whole.update(f"{name}\0l\0{path.readlink()}\n".encode(errors="surrogateescape"))
        elif not stat.S_ISDIR(mode):
            whole.update(f"{name}\0neither file, link nor folder\n".encode(errors="surrogateescape"))
    return whole.hexdigest()


ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
"""The extensions of archives."""
_DAMAGED = (zlib.error, EOFError, ValueError)


def is_archive(path: Path) -> bool:
    """Return whether a file's content or name is that of an archive. A .jar is a .zip, but counts as a program."""
    return path.suffix not in RUNNERS and (
        path.name.endswith(ARCHIVES) or zipfile.is_zipfile(path) or is_gzip(path) or is_tar(path)
    )


def where_it_is(path: Path) -> tuple[Manifest, Path]:
    """Return the manifest and the folder of a bot that runs in place, in `own_environment`. Nothing is copied or run.

    Args:
        path: a program, a file with an extension in `RUNNERS`, or a folder.

    Raises:
        BadBot: if it is something else, such as an archive, or if its manifest is invalid.
    """
    check_path(path)
    programs = own_environment()["PATH"]
    try:
        if path.is_dir():
            return read_manifest(path, path, programs), path.absolute()
        if (size := path.stat().st_size) > MAX_BYTES:
            raise BadBot(f"{path} has {size:,} bytes; a bot may have {MAX_BYTES:,}")
        _parts(path.name)
        if is_archive(path):
            raise BadBot(f"{path} is an archive; a bot runs where it is, so unpack it first")
        return read_manifest(path, path.parent, programs, path.name), path.parent.absolute()
    except OSError as error:
        raise BadBot(f"{path} cannot be read: {error.strerror}") from error


class _Copier:
    """Copies or unpacks files into a folder, and enforces the limits."""

    def __init__(self, folder: Path, scratch: Path, limits: BotLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._scratch = scratch
        self._files = 0
        self._folders: set[tuple[str, ...]] = set()
        self._bytes = 0

    def copy(self, path: Path) -> None:
        """Copy or unpack a submission."""
        if path.is_dir():
            self._copy_folder(path)
            return
        self._limits.check_size(path.stat().st_size)
        if not is_archive(path):
            self._copy_program(path)
        elif zipfile.is_zipfile(path):
            self._unpack_zip(path)
        elif is_gzip(path) or is_tar(path):
            self._unpack_tar(path)
        else:
            raise BadBot(f"{path} is a damaged archive, or none at all")

    def _copy_program(self, path: Path) -> None:
        with _open_regular(path) as source:
            self._write(path.name, source, executable=os.access(path, os.X_OK))

    def _copy_folder(self, path: Path) -> None:
        # All checks come first, so that a folder that is too large is refused before any of it is copied.
        modes = {file: file.lstat() for file in _everything_below(path, self._limits)}
        for file, status in modes.items():
            if stat.S_IFMT(status.st_mode) not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR):
                name = file.relative_to(path).as_posix()
                raise BadBot(f"{path} has a device, pipe or socket, {name}; these are not taken in")
        sizes = [status.st_size for status in modes.values() if not stat.S_ISDIR(status.st_mode)]
        self._limits.check_files(len(sizes))
        if sum(sizes) > self._limits.size:
            raise BadBot(_too_large(path, {file: status.st_size for file, status in modes.items()}))
        for file, status in modes.items():
            name = file.relative_to(path).as_posix()
            if stat.S_ISLNK(status.st_mode):
                self._link(name, str(file.readlink()))
            elif stat.S_ISREG(status.st_mode):
                with _open_regular(file) as source:
                    self._write(name, source, executable=os.access(file, os.X_OK))

    def _unpack_zip(self, path: Path) -> None:
        try:
            with open_zip(path) as (contents, opened):
                entries = [entry for entry in contents if not entry.is_dir()]
                self._limits.check_files(len(entries))
                self._limits.check_entries(len(contents))
                self._limits.check_size(sum(entry.file_size for entry in entries))
                for entry in entries:
                    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                        raise BadBot(f"{path} is compressed in an unusual way; pack it with deflate")
                    if "\0" in entry.orig_filename:  # zipfile would cut the name there
                        raise BadBot(f"a file's name, {entry.orig_filename!r}, has characters that cannot be printed")
                    mode = entry.external_attr >> 16  # the upper half is the Unix mode
                    with opened(entry) as source:
                        if stat.S_ISLNK(mode):
                            self._link(entry.filename, os.fsdecode(source.read(MAX_LINK_BYTES + 1)))
                        else:
                            self._write(entry.filename, source, executable=bool(mode & stat.S_IXUSR))
        # zipfile raises RuntimeError for encryption, and NotImplementedError for unknown compression methods.
        except (*_DAMAGED, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise BadBot(f"{path} is a damaged or encrypted archive: {error}") from error

    def _unpack_tar(self, path: Path) -> None:
        plain = path
        try:
            if is_gzip(path):
                plain = self._scratch / "plain.tar"
                gunzip(path, plain, self._limits.size + self._limits.headers)
            for count, (entry, source) in enumerate(entries_of_tar(plain), 1):
                self._limits.check_entries(count)
                if entry.issym():
                    self._link(entry.name, entry.linkname)
                elif entry.islnk():
                    self._write_again(entry.name, entry.linkname)
                elif not (entry.isfile() or entry.isdir()):
                    raise BadBot(f"{path} has a device or pipe, {entry.name}; these are not taken in")
                elif source is not None:
                    self._limits.check_size(self._bytes + entry.size)  # before a byte is written
                    self._write(entry.name, source, executable=bool(entry.mode & stat.S_IXUSR))
        except (*_DAMAGED, tarfile.TarError, OverflowError, RecursionError) as error:
            raise BadBot(f"{path} is a damaged archive: {error}") from error

    def _write(self, name: str, source: IO[bytes], *, executable: bool) -> None:
        target = self._place(name)
        # "x" neither follows a link nor overwrites a file.
        with target.open("xb") as file:
            while data := source.read(PIECE):
                self._bytes += len(data)
                self._limits.check_size(self._bytes)
                file.write(data)
        target.chmod(0o700 if executable else 0o600)

    def _write_again(self, name: str, earlier: str) -> None:
        known = self._folder.joinpath(*_parts(earlier))
        if not known.is_file() or known.is_symlink() or self._through_a_link(_parts(earlier)):
            raise BadBot(f"{name!r} is to be the same file as {earlier!r}, which is not an earlier file of the archive")
        # This is a copy, not a link, because its bytes count and each file has its own mode.
        with _open_regular(known) as source:
            self._write(name, source, executable=os.access(known, os.X_OK))

    def _link(self, name: str, target: str) -> None:
        """Make a link that stays in the folder, or leads to one of the usual programs."""
        place = self._place(name)
        parts = PurePosixPath(target).parts
        # `name` has n parts, so n steps up would leave the folder; a `..` after other names could go up from another link's target.
        ups = sum(part == ".." for part in parts)
        stays = not target.startswith("/") and ".." not in parts[ups:] and ups < len(_parts(name))
        is_program = len(parts) > 1 and str(PurePosixPath(target).parent) in USUAL_FOLDERS and ups == 0
        if not target.isprintable() or not 0 < len(target) <= MAX_LINK_BYTES or "\\" in target:
            raise BadBot(f"a link, {name!r}, has a text that cannot be kept")
        if not stays and not is_program:
            raise BadBot(f"a link, {name!r}, leads out of the bot's folder, to {target!r}; {_hint(name)}")
        place.symlink_to(PurePosixPath(target))

    def _place(self, name: str) -> Path:
        """Return the path at which to write a file or link, and make the folders above it."""
        parts = _parts(name)
        _check_depth(len(parts))
        self._files += 1
        self._limits.check_files(self._files)
        # An archive need not list the folders above its files.
        self._folders.update(parts[:depth] for depth in range(1, len(parts)))
        self._limits.check_entries(self._files + len(self._folders))
        target = self._folder.joinpath(*parts)
        # A name below a link would be written elsewhere. `lexists` also finds a link to a file that is yet to come.
        if os.path.lexists(target) or self._through_a_link(parts):
            raise BadBot(f"two files are called {name!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def _through_a_link(self, parts: Sequence[str]) -> bool:
        return any(self._folder.joinpath(*parts[:depth]).is_symlink() for depth in range(1, len(parts)))


def _parts(name: str) -> tuple[str, ...]:
    """Split a name into its parts.

    Raises:
        BadBot: if the name could lead out of the folder, or cannot be printed.
    """
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
        raise BadBot(f"a file's name, {name!r}, leads out of the bot's folder")
    if not name.isprintable():
        raise BadBot(f"a file's name, {name!r}, has characters that cannot be printed")
    return parts


def _hint(name: str) -> str:
    """Return advice about a link that leads out of the folder."""
    if PurePosixPath(name).name.startswith("python"):
        return (
            "make the virtual environment with /usr/bin/python3, or leave it out and put the packages beside the bot:"
            " python -m pip install --target . PACKAGE"
        )
    return "put a copy of the file there"


def _check_depth(names: int) -> None:
    if names > MAX_DEPTH:
        raise BadBot(f"more than {MAX_DEPTH} nested folders")


def _everything_below(folder: Path, limits: BotLimits) -> list[Path]:
    """Return all files, links and folders below a folder, sorted and without `__pycache__`; links are not followed.

    Raises:
        BadBot: if there are too many, or they are nested too deeply.
    """
    found: list[Path] = []
    waiting = [folder]
    while waiting:
        for path in waiting.pop().iterdir():
            if path.name == "__pycache__":
                continue
            found.append(path)
            limits.check_entries(len(found))
            _check_depth(len(path.relative_to(folder).parts))
            if stat.S_ISDIR(path.lstat().st_mode):
                waiting.append(path)
    return sorted(found)


def _too_large(folder: Path, sizes: Mapping[Path, int]) -> str:
    """Return advice about a folder that is too large, such as one with a compiler's output."""
    of_parts: dict[str, int] = {}
    for path, size in sizes.items():
        part = path.relative_to(folder).parts[0]
        of_parts[part] = of_parts.get(part, 0) + size
    largest = max(of_parts, key=lambda part: of_parts[part])
    return (
        f"{folder} has more than {MAX_BYTES // 1024**2} MiB, of which {largest} has {of_parts[largest] // 1024**2};"
        f" give its program alone, or an archive without {largest}"
    )


def _open_regular(path: Path) -> IO[bytes]:
    """Open a regular file; refuse a link and anything that could block, even if the file has just been replaced."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadBot(f"{path} is not a regular file any more")
    return os.fdopen(descriptor, "rb")


def make_read_only(folder: Path) -> None:
    """Make the files of a folder readable by everybody and writable by nobody, and programs executable by everybody.

    Other users cannot reach them, because the folder of all versions is private. The bot itself may run as another
    user; its box gives it access to its files in another way.
    """
    for path in _walk(folder):
        if not path.is_symlink():
            path.chmod(0o555 if path.stat().st_mode & 0o100 else 0o444)


def make_writable(folder: Path) -> None:
    """Make the files of a version removable, as far as possible."""
    with contextlib.suppress(OSError):
        for path in _walk(folder):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o700)


def _walk(folder: Path) -> Iterator[Path]:
    yield from folder.rglob("*")
    yield folder
