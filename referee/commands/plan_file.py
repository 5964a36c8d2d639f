"""The file of a plan in a folder of records: reading, writing, and a lock that keeps two commands apart.

The file is written before the first match, and always replaced as a whole, so it is complete even after a kill.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar, get_type_hints

import msgspec

from referee.commands.bot_terms import BotTerms
from referee.commands.output import err
from referee.errors import DoganaError
from referee.files import locked_folder, read_file, write_private
from referee.kit.document import parse_json
from referee.sandbox.system import is_alive
from referee.terminal import visible

SERIES = ".series.json"
"""The file with the plan of a series. Its name begins with a dot, so that `FOLDER/*` matches records only."""
COMPARISON = ".comparison.json"
"""The file with the plan of a comparison."""
TOURNAMENT = "tournament.toml"
"""The file of a tournament, which people edit."""
LADDER = "ladder.db"
"""The database of a ladder."""
_USES = {
    SERIES: ("a series", "play", "--resume"),
    COMPARISON: ("a comparison", "compare", "--resume"),
    TOURNAMENT: ("a tournament", "tournament", "run"),
    LADDER: ("a ladder", "ladder", "run", "--home"),
}
"""The uses of a folder, by the file that indicates each use: what the folder has, and the command that continues it."""
MAX_BYTES = 1024 * 1024
ONE_LINE = 200
"""The maximum length of the text that says why a plan is damaged."""
_Plan = TypeVar("_Plan")


class ResumeError(DoganaError):
    """A series or comparison cannot begin or continue in a folder; the text says why and what to do."""


def read_plan_file(path: Path, kind: type[_Plan]) -> _Plan | None:
    """Return the plan in a file; None if there is no file.

    Args:
        path: the file.
        kind: a dataclass with a field for each JSON value.

    Raises:
        ResumeError: if the file cannot be read, or is not a plan, or the folder has another use.
    """
    for name, (content, *command) in _USES.items():
        # Records of two kinds in one folder would be confused.
        if name != path.name and (path.parent / name).exists():
            going_on = shlex.join(["dogana", *command, _as_argument(path.parent)])
            raise ResumeError(f"{path.parent} has {content}: go on with `{going_on}`, or use another folder")
    try:
        data = parse_json(read_file(path, MAX_BYTES))
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise ResumeError(f"cannot resume: {path.parent} is a file, and a series has a folder of records") from error
    except OSError as error:
        raise ResumeError(f"{error.filename or path}: {error.strerror}") from error
    except ValueError as error:
        raise ResumeError(damaged(path, f"is not JSON: {error}")) from error
    if not isinstance(data, dict):
        raise ResumeError(damaged(path, "is not a JSON object"))
    # `convert` would ignore unknown entries.
    if unknown := data.keys() ^ get_type_hints(kind).keys():
        raise ResumeError(damaged(path, f"has other entries than a plan: {', '.join(sorted(unknown))}"))
    try:
        return msgspec.convert(data, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the latter for half of a surrogate pair
        raise ResumeError(damaged(path, f"has an entry of another type than a plan: {error}")) from error


def damaged(path: Path, reason: str) -> str:
    """Return the error text for a file that is not a plan."""
    return (
        f"cannot resume: {path} {visible(reason, ONE_LINE)};"
        " remove it, and give the whole command with the --seed of its records"
    )


def write_plan(path: Path, plan: BotTerms) -> None:
    """Write a plan into its file."""
    write_private(path, json.dumps(asdict(plan)).encode())


@contextmanager
def keeping(path: Path, plan: BotTerms, going_on: str, *, is_guess: bool = False) -> Iterator[None]:
    """Write a plan before its first match; after an interruption, print the command `going_on`.

    If an error occurs before the first match is over, the file is removed. With `is_guess`, any error removes it,
    because the records in the folder may belong to another series.
    """
    write_plan(path, plan)
    try:
        with remarking_interrupts(f"to go on: {going_on}"):
            yield
    except DoganaError:
        # Otherwise a mistake, such as a bot that does not start, would leave a plan that blocks the folder.
        if is_guess or not any(path.parent.glob("*.jsonl")):
            path.unlink(missing_ok=True)
        raise


@contextmanager
def remarking_interrupts(remark: str) -> Iterator[None]:
    """Print a remark if the user interrupts the command in this context."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(remark, soft_wrap=True)
        raise


def is_here(directory: str) -> bool:
    """Return True if a path leads to the current folder."""
    with suppress(OSError, ValueError):
        return Path(directory).samefile(Path.cwd())
    return False


def resuming(command: str, folder: Path, *options: object) -> str:
    """Return the shell command that continues the plan in a folder."""
    return shlex.join(["dogana", command, "--resume", _as_argument(folder), *map(str, options)])


def running(folder: Path, *options: object) -> str:
    """Return the shell command that plays the tournament in a folder, or continues it."""
    return shlex.join(["dogana", "tournament", "run", _as_argument(folder), *map(str, options)])


def _as_argument(folder: Path) -> str:
    return f"./{folder}" if str(folder).startswith("-") else str(folder)


def alone_in(folder: Path) -> AbstractContextManager[None]:
    """Lock a folder against other series while the context lasts.

    Raises:
        ResumeError: if another process is playing a series into the folder.
    """
    busy = f"another series is being played into {folder}; wait for its end, or use another folder"
    return locked_folder(folder, ResumeError(busy))


def sweep(folder: Path, games: Sequence[str]) -> None:
    """Remove the unfinished records of killed processes."""
    # Only names that a series gives are removed, because a user may keep other files in the folder.
    of_games = "|".join(map(re.escape, games))
    name = re.compile(rf"(?:{of_games})-[0-9a-f]{{16}}(-seating\d+)?\.(\d+)(\.[0-9a-f]{{8}}\.part)?", re.ASCII)
    for path in folder.iterdir():
        found = name.fullmatch(path.name)
        if found is not None and not is_alive(int(found[2])):
            path.unlink(missing_ok=True)
