"""How a bot is started: what its `bot.toml` says, what is assumed without one, and what is wrong with it.

Nothing is run here. What cannot work is refused with the line that should be written instead.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from referee.bots.errors import BadManifest, NoProgram
from referee.files import read_file
from referee.kit.document import Document
from referee.registry import games
from referee.sandbox.runtimes import USUAL_FOLDERS, search_path
from referee.sandbox.system import IS_LINUX

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
SOURCES = {
    ".c": ("C", "cc -O2 -o {program} {source}"),
    ".cc": ("C++", "g++ -O2 -o {program} {source}"),
    ".cpp": ("C++", "g++ -O2 -o {program} {source}"),
    ".cxx": ("C++", "g++ -O2 -o {program} {source}"),
    ".go": ("Go", "go build -o {program} {source}"),
    ".java": (
        "Java",
        "javac -d classes {source} && jar --create --file {program}.jar --main-class {name} -C classes .",
    ),
    ".kt": ("Kotlin", "kotlinc {source} -include-runtime -d {program}.jar"),
    ".rs": ("Rust", "rustc -O -o {program} {source}"),
    ".ts": ("TypeScript", "npx tsc {source}"),
}
"""Files that have to be compiled: their language, and a command that compiles one."""
PROJECTS = {
    "Cargo.toml": "cargo build --release",
    "go.mod": "go build",
    "pom.xml": "mvn -q package",
    "CMakeLists.txt": "cmake -B build && cmake --build build",
    "package.json": "npm install && npm run build",
}
"""Files that say how a folder is built, and the usual command for it."""
_MACOS = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_COMPILED = (b"\x7fELF",) if IS_LINUX else (b"\x7fELF", *_MACOS)
"""How compiled programs begin that run here, or on a ladder."""
_ELSEWHERE = {b"MZ": "Windows"} | dict.fromkeys(_MACOS, "macOS")
"""How compiled programs for other systems begin."""
_MAX_FIRST_LINE_BYTES = 256
"""Linux reads no more of a first line that names an interpreter."""


def own_environment() -> dict[str, str]:
    """Return the environment variables of a bot that runs with the rights of this process: its own, with a path to programs.

    Python is the one that runs Dogana, as it is for a submitted bot; the other programs are those of this user first.
    """
    path = [str(Path(sys.executable).parent), *os.environ.get("PATH", os.defpath).split(":"), *USUAL_FOLDERS]
    return {**os.environ, "PATH": ":".join(dict.fromkeys(filter(None, path)))}


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


def read_manifest(path: Path, folder: Path, programs: str, program: str = "") -> Manifest:
    """Return what the manifest of a bot says, or what is assumed without one.

    Args:
        path: what was submitted, for messages.
        folder: its files.
        programs: where programs are looked for, as in PATH.
        program: the name of its file, if the bot is a file alone; nothing else in the folder is looked at then.

    Raises:
        BadManifest: if the manifest is wrong.
        NoProgram: if the bot cannot be started as it says, or as is assumed.
    """
    manifest = folder / MANIFEST
    data: object = {}
    if manifest.is_file() and not program:
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
        run = _default_run(path, folder, program)
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
    if problem := _program_problem(path, folder, run, programs):
        raise NoProgram(problem if problem.startswith(f"{path} ") else f"{path}: {problem}")
    return Manifest(tuple(run), tuple(names), language or _language_of(run[0]))


def _language_of(program: str) -> str:
    """Return what a bot is written in, by what runs it; empty if that does not show it."""
    path = PurePosixPath(program)
    [name, *_] = RUNNERS.get(path.suffix, [path.name.rstrip("0123456789.")])
    return _LANGUAGES.get(name, "")


def _default_run(path: Path, folder: Path, program: str) -> list[str]:
    """Return how a bot is started that does not say it: by its file, the file bot, or bot.py and the like, or its only file.

    Raises:
        NoProgram: if that is not clear.
    """
    usual = [folder / program] if program else [folder / f"bot{suffix}" for suffix in ("", *RUNNERS)]
    file = next((file for file in usual if file.is_file()), None) or _only_file(folder)
    if file is None and not any(folder.iterdir()):
        raise NoProgram(f"{path} is an empty folder; put the files of the bot there, or name another")
    if file is None:
        raise NoProgram(f"{path} does not say how to start it: {_entry_wanted(folder)}")
    name = file.relative_to(folder).as_posix()
    runs_by_itself = os.access(file, os.X_OK) and _first_line(file) is not None
    if runs_by_itself or file.suffix not in RUNNERS:
        return [f"./{name}"]
    return [*RUNNERS[file.suffix], f"./{name}" if name.startswith("-") else name]


def _only_file(folder: Path) -> Path | None:
    """Return the file in a folder, if there is one alone; a large folder is not looked through."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != MANIFEST)
    first = next(files, None)
    return first if next(files, None) is None else None


def _entry_wanted(folder: Path) -> str:
    """Return what to do about a folder that has no program of a usual name."""
    if built := _build(folder):
        return f"build it first ({built}), and let {MANIFEST} say run"
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_file())
    found = next((name for name in names if PurePosixPath(name).suffix in RUNNERS and name.isprintable()), None)
    run = ["./program"] if found is None else [*RUNNERS[PurePosixPath(found).suffix], found]
    return f"call the program bot, or add {MANIFEST} with run = {json.dumps(run, ensure_ascii=False)}"


def _build(folder: Path) -> str:
    """Return the usual command that builds the files in a folder; empty if nothing tells."""
    return next((command for name, command in PROJECTS.items() if (folder / name).is_file()), "")


def _compile(path: Path, folder: Path, inside: str) -> str:
    """Return what to do with a source file; empty if it is none."""
    name = PurePosixPath(inside)
    if name.suffix not in SOURCES:
        return ""
    language, command = SOURCES[name.suffix]
    near = (folder, *path.absolute().parents[:3]) if path.is_file() else (folder,)
    if built := next(filter(None, map(_build, near)), ""):
        return f"{inside} is {language} source; build it ({built}), and give the program"
    source = _named(path, inside)
    words = {"source": source, "program": source.with_suffix(""), "name": name.stem}
    line = command.format(**{key: shlex.quote(str(word)) for key, word in words.items()})
    return f"{inside} is {language} source; compile it, and give the program: {line}"


def _named(path: Path, inside: str) -> Path:
    """Return how the author can name a file of a bot: it is what was given, or in that folder; of an archive, its own name."""
    if path.is_dir():
        return path / inside
    return path if path.name == inside else Path(inside)


def _program_problem(path: Path, folder: Path, run: Sequence[str], programs: str) -> str:
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
        built = _build(folder)
        what = (
            f"build it first ({built}), and put the program there"
            if built
            else f'{MANIFEST} may say run = ["./program"]'
        )
        return f"there is no file {name} to run; {what}"
    inside = PurePosixPath(name).as_posix()
    instead = [*RUNNERS.get(file.suffix, ["PROGRAM"]), inside, *run[1:]]
    line = _first_line(file)
    if line is None and (to_compile := _compile(path, folder, inside)):
        return to_compile
    if line is None and (system := next((name for head, name in _ELSEWHERE.items() if _begins(file, head)), "")):
        return f"{inside} is a program for {system}; compile it for Linux"
    if not os.access(file, os.X_OK):
        begin = "" if line is not None else ", and begin it with a line such as #!/usr/bin/env python3"
        problem = f"{inside} is not executable; use chmod +x {shlex.quote(str(_named(path, inside)))}{begin}"
        return _write_instead(problem, instead)
    if line is None:
        problem = (
            f"{inside} has no #! line, and is no program for Linux; begin it with a line such as #!/usr/bin/env python3"
        )
        return _write_instead(problem, instead)
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


def _begins(file: Path, head: bytes) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(head)) == head


def _first_line(file: Path) -> str | None:
    """Return what a script says after `#!`; an empty text for a compiled program, None for what cannot be started."""
    with file.open("rb") as opened:
        head = opened.read(_MAX_FIRST_LINE_BYTES)
    if head.startswith(b"#!"):
        return head[2:].partition(b"\n")[0].decode(errors="replace")
    return "" if head.startswith(_COMPILED) else None


def _write_instead(problem: str, run: Sequence[str]) -> str:
    return (
        f"{problem}; or give its folder, with a {MANIFEST} that says run = {json.dumps(list(run), ensure_ascii=False)}"
    )
