"""Find the command that starts a bot, in its `bot.toml` or by default, and give advice if it cannot work.

Nothing is run here. An error message contains the line to write instead.
"""

from __future__ import annotations

import itertools
import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from referee.bots.errors import BadManifest, NoProgram
from referee.files import read_file
from referee.kit.document import Document, parse_toml
from referee.registry import games
from referee.sandbox.runtimes import USUAL_FOLDERS, search_path
from referee.sandbox.system import IS_LINUX

MANIFEST = "bot.toml"
MAX_MANIFEST_BYTES = 64 * 1024
MAX_LANGUAGE_CHARACTERS = 20
_LANGUAGES = {"python": "Python", "node": "JavaScript"}
"""The language of a bot, by the program that runs it. `java` is missing, because it runs several languages."""
RUNNERS = {
    ".py": ["python"],
    ".pyz": ["python"],
    ".js": ["node"],
    ".mjs": ["node"],
    ".cjs": ["node"],
    ".jar": ["java", "-jar"],
}
"""The interpreters, by extension, of files that are not programs themselves."""
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
"""Source files that must be compiled, each with its language and a command that compiles it."""
PROJECTS = {
    "Cargo.toml": "cargo rustc --release -- -C target-feature=+crt-static && cp ${CARGO_TARGET_DIR:-target}/release/bot .",
    "go.mod": "go generate && CGO_ENABLED=0 go build",
    "pom.xml": "mvn -q package",
    "CMakeLists.txt": "cmake -B build && cmake --build build -j 4",
    "package.json": "npm install && npm run build",
}
"""Files that show how a folder is built, each with the build command, which is the same as in the kits."""
_MACOS = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_COMPILED = (b"\x7fELF",) if IS_LINUX else (b"\x7fELF", *_MACOS)
"""The first bytes of compiled programs that run here, or on a ladder."""
_ELSEWHERE = {b"MZ": "Windows"} | dict.fromkeys(_MACOS, "macOS")
"""The first bytes of compiled programs for other systems."""
_MAX_FIRST_LINE_BYTES = 256
"""The number of bytes that Linux reads from the first line of a script, which names its interpreter."""
_ENV_WITH_VALUE = ("-u", "--unset")
"""The options of `env` whose value may be the next word."""
_ENV_UNCLEAR = ("-C", "--chdir", "-S", "--split-string")
"""The options of `env` after which the program is not a separate word, or is not in the bot's folder."""


def own_environment() -> dict[str, str]:
    """Return the environment variables of this user's own unconfined bot: the user's variables, and a search path.

    `python` is the interpreter that runs Dogana, as for a submitted bot. Other programs are looked up in the
    user's PATH first.
    """
    path = [str(Path(sys.executable).parent), *os.environ.get("PATH", os.defpath).split(":"), *USUAL_FOLDERS]
    return {**os.environ, "PATH": ":".join(dict.fromkeys(filter(None, path)))}


def environment(runtimes: Sequence[Path]) -> dict[str, str]:
    """Return the environment variables of a submitted unconfined bot: a search path, and none of the organiser's own variables."""
    return {
        "PATH": ":".join(search_path(runtimes)),
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@dataclass(frozen=True, slots=True)
class Manifest:
    """The command that starts a bot, and the games that it plays."""

    run: tuple[str, ...]
    """The command that starts the bot in its folder."""
    games: tuple[str, ...]
    """The games that the bot plays."""
    language: str
    """The bot's programming language, from the manifest or the command; empty if unknown."""


def read_manifest(path: Path, folder: Path, programs: str, program: str = "") -> Manifest:
    """Return the manifest of a bot, or the defaults if it has none.

    Args:
        path: the submitted path, for messages.
        folder: the bot's files.
        programs: the search path for programs, as in PATH.
        program: the name of the file, if the bot is a single file; other files in the folder are then ignored.

    Raises:
        BadManifest: if the manifest is invalid.
        NoProgram: if the command, given or default, cannot start the bot.
    """
    manifest = folder / MANIFEST
    data: object = {}
    if manifest.is_file() and not program:
        try:
            data = parse_toml(read_file(manifest, MAX_MANIFEST_BYTES).decode("utf-8"))
        except ValueError as error:
            raise BadManifest(f"{path}: {MANIFEST} is not TOML: {error}") from error
    document = Document(data, MANIFEST)
    document.text("name", "")  # nothing uses it, but it is read so that `finish` does not refuse it as unknown
    run = document.texts("run", [])
    names = document.choices("games", {name: name for name in games()}, list(games()))
    language = document.text("language", "")
    document.finish()
    if not document.has("run") and not document.problems:
        run = _default_run(path, folder, program)
    if document.raw("games", None) == []:
        document.note("games", f"must name a game; the games are: {', '.join(games())}")
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
    return Manifest(tuple(run), tuple(names), language or _language_of([*run[env_words(run) :], ""][0]))


def _language_of(program: str) -> str:
    """Return the language that a program runs; empty if that is not clear."""
    path = PurePosixPath(program)
    [name, *_] = RUNNERS.get(path.suffix, [path.name.rstrip("0123456789.")])
    return _LANGUAGES.get(name, "")


def _default_run(path: Path, folder: Path, program: str) -> list[str]:
    """Return a bot's default command: it runs `program`, or else `bot`, `bot.py` or the like, or else the only file.

    Raises:
        NoProgram: if none of these exists.
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
    # An interpreter would take a name that begins with a dash for an option.
    return [*RUNNERS[file.suffix], f"./{name}" if name.startswith("-") else name]


def _only_file(folder: Path) -> Path | None:
    """Return the only file in a folder, or None. The search stops at the second file."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != MANIFEST)
    first = next(files, None)
    return first if next(files, None) is None else None


def _entry_wanted(folder: Path) -> str:
    """Return advice about a folder without a recognisable program."""
    if built := _build(folder):
        return f"build it first ({built}), and let {MANIFEST} say run"
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_file())
    found = next((name for name in names if PurePosixPath(name).suffix in RUNNERS and name.isprintable()), None)
    run = ["./program"] if found is None else [*RUNNERS[PurePosixPath(found).suffix], found]
    return f"call the program bot, or add {MANIFEST} with run = {json.dumps(run, ensure_ascii=False)}"


def _build(folder: Path) -> str:
    return next((command for name, command in PROJECTS.items() if (folder / name).is_file()), "")


def _compile(path: Path, folder: Path, inside: str) -> str:
    """Return advice about a source file; empty for other files."""
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
    """Return the path by which the author knows a file of the bot; for a file in an archive, its name there."""
    if path.is_dir():
        return path / inside
    return path if path.name == inside else Path(inside)


def _program_problem(path: Path, folder: Path, run: Sequence[str], programs: str) -> str:
    """Return the reason why a command cannot be started, and the line to write instead; empty if it can."""
    count = env_words(run)
    if any(word.startswith(_ENV_UNCLEAR) for word in run[:count]):
        return ""
    if count == len(run):
        return _write_instead("env is given no program to start", [*run, "./program"])
    env, name, arguments = run[:count], run[count], run[count + 1 :]
    if "/" not in name:
        if shutil.which(name, path=programs):
            script = _script([name, *arguments])
            return _missing(folder, script) if script else ""
        if (folder / name).is_file():
            problem = f"{name} is not a usual program, but a file of the bot"
            return _write_instead(problem, [*env, f"./{name}", *arguments])
        problem = f"there is no program {name} in {programs}, where bots look; install it"
        return _write_instead(problem, [*env, "PROGRAM", *arguments])
    if problem := _missing(folder, name):
        return problem
    file = folder / name
    inside = PurePosixPath(name).as_posix()
    instead = [*env, *RUNNERS.get(file.suffix, ["PROGRAM"]), inside, *arguments]
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
        problem = f"{inside} has no #! line, and is not a program for Linux; begin it with a line such as #!/usr/bin/env python3"
        return _write_instead(problem, instead)
    # Linux would look for an interpreter whose name ends with the carriage return.
    if line.endswith("\r"):
        return f"{inside} has the line ends of Windows, with which its #! line names no program; convert them"
    words = line.split()
    if not words:
        return ""  # a compiled program
    wanted = words[0]
    # `env` looks up the program in PATH; its own options and assignments come first.
    if PurePosixPath(wanted).name == "env":
        wanted = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    if (wanted in words[1:] or str(PurePosixPath(wanted).parent) in programs.split(":")) and shutil.which(
        wanted, path=programs
    ):
        return ""
    beside = file.parent / PurePosixPath(wanted).name  # as in a virtual environment that was moved
    if beside.exists():
        instead = [*env, f"./{beside.relative_to(folder).as_posix()}", inside, *arguments]
    return _write_instead(f"{inside} wants {wanted}, which is not among the usual programs here", instead)


def env_words(run: Sequence[str]) -> int:
    """Return the number of words before the program in a command: `env` with its options and variables, or none."""
    if run[0] != "env":  # a bot's own program may have that name, too: ./env
        return 0
    count = 1
    while count < len(run) and (run[count].startswith("-") or "=" in run[count]):
        count += 2 if run[count] in _ENV_WITH_VALUE else 1
    return min(count, len(run))


def _script(command: Sequence[str]) -> str:
    """Return the script in an interpreter's command: the first word after the options; empty if it is not a script."""
    options = [*itertools.takewhile(lambda word: word.startswith("-"), command[1:])]
    script = [*command[1 + len(options) :], ""][0]
    name, *needed = RUNNERS.get(PurePosixPath(script).suffix, [""])
    return script if name == command[0] and options[len(options) - len(needed) :] == needed else ""


def _missing(folder: Path, name: str) -> str:
    """Return advice about a missing file that a command runs; empty if the file exists."""
    if (folder / name).is_file():
        return ""
    built = _build(folder)
    what = (
        f"build it first ({built}), and put the program there" if built else f'{MANIFEST} may say run = ["./program"]'
    )
    return f"there is no file {name} to run; {what}"


def _begins(file: Path, head: bytes) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(head)) == head


def _first_line(file: Path) -> str | None:
    """Return the text after `#!` in a script, an empty text for a compiled program, or None for anything else."""
    with file.open("rb") as opened:
        head = opened.read(_MAX_FIRST_LINE_BYTES)
    if head.startswith(b"#!"):
        return head[2:].partition(b"\n")[0].decode(errors="replace")
    return "" if head.startswith(_COMPILED) else None


def _write_instead(problem: str, run: Sequence[str]) -> str:
    return (
        f"{problem}; or give its folder, with a {MANIFEST} that says run = {json.dumps(list(run), ensure_ascii=False)}"
    )
