"""How a submitted bot is started: what its `bot.toml` says, what is assumed without one, and what is wrong with it.

Nothing is run here. What cannot work is refused with the line that should be written instead.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ladder.errors import BadManifest, NoProgram
from referee.files import read_file
from referee.kit.document import Document
from referee.registry import games
from referee.sandbox.runtimes import search_path

MANIFEST = "bot.toml"
MAX_MANIFEST_BYTES = 64 * 1024
MAX_LANGUAGE_CHARACTERS = 20
_LANGUAGES = {"python": "Python", "node": "JavaScript"}
"""What a bot is written in that one of these runs. What `java` runs may have been written in several languages."""
RUNNERS = {
    ".py": ["python"],
    ".pyz": ["python"],
    ".js": ["node"],
    ".mjs": ["node"],
    ".cjs": ["node"],
    ".jar": ["java", "-jar"],
}
"""What runs a file that is no program by itself."""
_MAX_FIRST_LINE_BYTES = 256
"""Linux reads no more of a first line that names an interpreter."""


def environment(runtimes: Sequence[Path]) -> dict[str, str]:
    """Return the environment variables of an unconfined bot: nothing of the organiser's but a path to programs."""
    return {
        "PATH": ":".join(search_path(runtimes)),
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@dataclass(frozen=True, slots=True)
class Manifest:
    """How a bot is started, and what it plays."""

    run: tuple[str, ...]
    """The command that starts it in its folder."""
    games: tuple[str, ...]
    """The games it plays."""
    language: str
    """What it is written in, as it says itself, or as its command shows; else empty."""


def read_manifest(path: Path, folder: Path, programs: str) -> Manifest:
    """Return what the manifest of a bot says, or what is assumed without one.

    Args:
        path: what was submitted, for messages.
        folder: its files.
        programs: where programs are looked for, as in PATH.

    Raises:
        BadManifest: if the manifest is wrong.
        NoProgram: if the bot cannot be started as it says, or as is assumed.
    """
    manifest = folder / MANIFEST
    data: object = {}
    if manifest.is_file():
        try:
            data = tomllib.loads(read_file(manifest, MAX_MANIFEST_BYTES).decode("utf-8"))
        except (ValueError, RecursionError) as error:  # a number of thousands of digits is no TOMLDecodeError
            raise BadManifest(f"{path}: {MANIFEST} is not TOML: {error}") from error
    document = Document(data, MANIFEST)
    document.text("name", "")
    run = document.texts("run", [])
    names = document.texts("games", list(games()))
    language = document.text("language", "")
    document.finish()
    if not document.has("run") and not document.problems:
        run = _default_run(path, folder)
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
    if len(language) > MAX_LANGUAGE_CHARACTERS or not language.isprintable():
        document.note("language", f"must have at most {MAX_LANGUAGE_CHARACTERS} characters, which can be printed")
    if document.problems:
        raise BadManifest(f"{path}: {'; '.join(document.problems)}")
    if problem := _program_problem(folder, run, programs):
        raise NoProgram(f"{path}: {problem}")
    return Manifest(tuple(run), tuple(names), language or _language_of(run[0]))


def _language_of(program: str) -> str:
    """Return what a bot is written in, by what runs it; empty if that does not show it."""
    path = PurePosixPath(program)
    [name, *_] = RUNNERS.get(path.suffix, [path.name.rstrip("0123456789.")])
    return _LANGUAGES.get(name, "")


def _default_run(path: Path, folder: Path) -> list[str]:
    """Return how a bot is started that does not say it: by the file bot, or bot.py and the like, or its only file.

    Raises:
        NoProgram: if that is not clear.
    """
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != MANIFEST]
    usual = [folder / f"bot{suffix}" for suffix in ("", *RUNNERS)]
    program = next((file for file in [*usual, *(files if len(files) == 1 else [])] if file.is_file()), None)
    if program is None:
        raise NoProgram(
            f'{path} does not say how to start it: call the program bot, or add {MANIFEST} with run = ["./program"]'
        )
    name = program.relative_to(folder).as_posix()
    runs_by_itself = os.access(program, os.X_OK) and _first_line(program) is not None
    return [f"./{name}"] if runs_by_itself or program.suffix not in RUNNERS else [*RUNNERS[program.suffix], name]


def _program_problem(folder: Path, run: Sequence[str], programs: str) -> str:
    """Return why a command cannot be started, and what to write instead; empty if it can."""
    name = run[0]
    if "/" not in name:
        if shutil.which(name, path=programs):
            return ""
        if (folder / name).is_file():
            return _write_instead(f"{name} is no usual program, but a file of the bot", [f"./{name}", *run[1:]])
        problem = f"there is no program {name} in {programs}, where bots look; install it"
        return _write_instead(problem, ["PROGRAM", *run[1:]])
    file = folder / name
    if not file.is_file():
        return f'there is no file {name} to run; {MANIFEST} may say run = ["./program"]'
    inside = PurePosixPath(name).as_posix()
    instead = [*RUNNERS.get(file.suffix, ["PROGRAM"]), inside, *run[1:]]
    if not os.access(file, os.X_OK):
        return _write_instead(f"{inside} is not executable; use chmod +x", instead)
    line = _first_line(file)
    if line is None:
        return _write_instead(f"{inside} has no #! line, and is no program for Linux", instead)
    if line.endswith("\r"):
        return f"{inside} has the line ends of Windows, with which its #! line names no program; convert them"
    words = line.split()
    if not words:
        return ""  # it is compiled
    wanted = words[0]
    if PurePosixPath(wanted).name == "env":
        wanted = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    if (wanted in words[1:] or str(PurePosixPath(wanted).parent) in programs.split(":")) and shutil.which(
        wanted, path=programs
    ):
        return ""
    beside = file.parent / PurePosixPath(wanted).name  # as in a virtual environment, whose programs name its old place
    if beside.exists():
        instead = [f"./{beside.relative_to(folder).as_posix()}", inside, *run[1:]]
    return _write_instead(f"{inside} wants {wanted}, which is not among the usual programs here", instead)


def _first_line(file: Path) -> str | None:
    """Return what a script says after `#!`; an empty text for a compiled program, None for what Linux cannot start."""
    with file.open("rb") as opened:
        head = opened.read(_MAX_FIRST_LINE_BYTES)
    if head.startswith(b"#!"):
        return head[2:].partition(b"\n")[0].decode(errors="replace")
    return "" if head.startswith(b"\x7fELF") else None


def _write_instead(problem: str, run: Sequence[str]) -> str:
    return f"{problem}; or say in a {MANIFEST} beside it: run = {json.dumps(list(run), ensure_ascii=False)}"
