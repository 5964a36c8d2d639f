"""This machine's files that an agent may read: the usual programs, their libraries, and Python with Dogana's SDK."""

from __future__ import annotations

import compileall
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.errors import DoganaError
from referee.sandbox.system import FOLDERS_OF_PROGRAMS

USUAL_FOLDERS = FOLDERS_OF_PROGRAMS
"""The folders of the usual programs."""
_SYSTEM = ("/usr",)
_LINKED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Paths that are links into /usr on most systems, and folders on others."""
_SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone", "mime.types")
"""Files in /etc that programs need to start or to know the time; none of them names a user, a host or a secret."""
_SETTINGS_OF_RUNTIMES = ("java*", "python3*", "node*", "ssl/openssl.cnf")
_PACKAGES = ("dogana", "referee", "house_bots")
"""Dogana's packages that a Python bot may import, if they lie outside Python's own folders."""


class NoRuntime(DoganaError):
    """The organiser's runtime folder is not a runtime; the text says why."""


@dataclass(frozen=True, slots=True)
class Runtimes:
    """The files of this machine that an agent sees in addition to its own.

    Attributes:
        folders: files and folders that it sees under their own names.
        links: links that lead to them, as (name, target) pairs.
        path: the search path for its programs.
    """

    folders: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    path: tuple[str, ...]

    @staticmethod
    def find(extra: Sequence[Path] = ()) -> Runtimes:
        """Find the runtimes on this machine.

        Args:
            extra: folders with runtimes in other places, such as /opt/jdk-25; their `bin` is searched first.

        Raises:
            NoRuntime: if one of them is not a runtime's folder, or would expose more than a runtime.
        """
        for folder in extra:
            _check(folder)
        folders = list(_SYSTEM)
        links = []
        for name in _LINKED:
            if Path(name).is_symlink():
                links.append((name, str(Path(name).readlink())))
            elif Path(name).is_dir():
                folders.append(name)
        settings = [Path("/etc") / name for name in _SETTINGS]
        for pattern in _SETTINGS_OF_RUNTIMES:
            settings += sorted(Path("/etc").glob(pattern))
        folders += [str(setting) for setting in settings if setting.exists()]
        # A virtual environment runs the Python of its base, and that may itself be a link to another place.
        own = [Path(sys.prefix), Path(sys.base_prefix), Path(os.path.realpath(sys.executable)).parent.parent]
        own += [package for name in _PACKAGES if (package := _package(name)) is not None]
        wanted = [*(folder.absolute() for folder in extra), *own]
        folders += _outermost(wanted, folders)
        return Runtimes(tuple(folders), tuple(links), search_path(extra))


def compile_sdk() -> None:
    """Compile Dogana's modules for Python bots, if permitted, as a bot cannot save compiled code for the next one."""
    folder = _package("dogana")
    if folder is not None:
        compileall.compile_dir(folder, quiet=2)


def search_path(extra: Sequence[Path]) -> tuple[str, ...]:
    """Return the search path for programs: these runtimes, Dogana's Python, and the usual folders."""
    runtimes = (str(folder.absolute() / "bin") for folder in extra)
    return tuple(dict.fromkeys((*runtimes, str(Path(sys.executable).parent), *USUAL_FOLDERS)))


def _check(folder: Path) -> None:
    if not folder.is_dir():
        raise NoRuntime(f"{folder} is not a folder; a runtime is a folder with a folder bin, such as /opt/jdk-25")
    if not (folder / "bin").is_dir():
        raise NoRuntime(f"{folder} has no folder bin; a runtime is a folder such as /opt/jdk-25")
    if folder.resolve() in (Path("/"), Path.home().resolve(), Path("/etc"), Path("/home"), Path("/root"), Path("/var")):
        raise NoRuntime(f"{folder} would show bots more than a runtime; name the folder of the runtime itself")


def _package(name: str) -> Path | None:
    """Return the folder of one of Dogana's packages, wherever it was installed."""
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found is not None and found.origin is not None else None


def _outermost(wanted: Iterable[Path], seen: Sequence[str]) -> list[str]:
    """Return the wanted folders that are below neither another wanted folder nor a folder that is already seen."""
    outermost: list[Path] = [Path(name) for name in seen]
    new = []
    # The shortest first, so that a folder comes after those that contain it.
    for folder in sorted(dict.fromkeys(wanted), key=lambda folder: len(folder.parts)):
        if not any(folder.is_relative_to(other) for other in outermost):
            outermost.append(folder)
            new.append(str(folder))
    return new
