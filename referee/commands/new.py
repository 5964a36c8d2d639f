"""`dogana new`: write a kit, the template for a bot in one language."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

import dogana
from referee.bots.manifest import PROJECTS
from referee.commands.output import out, target
from referee.errors import DoganaError
from referee.registry import games
from referee.terminal import counted

BUILDS = {
    "python": "",
    "typescript": PROJECTS["package.json"],
    "go": PROJECTS["go.mod"],
    "rust": PROJECTS["Cargo.toml"],
    "java": PROJECTS["pom.xml"],
    "cpp": PROJECTS["CMakeLists.txt"],
}
"""The build command for each language with a kit; empty if a bot in that language needs no build."""


class NewError(DoganaError):
    """The kit cannot be written; the text gives the reason and the remedy."""


def new(
    folder: Annotated[Path, typer.Argument(help="The new folder for the bot.", metavar="FOLDER", parser=target)],
    language: Annotated[str, typer.Option(help=f"One of {', '.join(BUILDS)}.", metavar="LANGUAGE")] = "",
    search: Annotated[bool, typer.Option("--search", help="Write a bot that searches, in Python.")] = False,
) -> None:
    """Write a template for a bot in a language of your choice.

    It is a folder with a bot that plays every game, and a page with the next steps.

    Examples:

      dogana new mybot --language python

      dogana new otherbot --language typescript

      dogana new thinker --search
    """
    language = language.lower() or ("python" if search else "")
    if not language:
        raise NewError(f"name a language: --language is one of {', '.join(BUILDS)}; or write --search")
    if language not in BUILDS:
        raise NewError(f"there is no kit for {language!r}; --language is one of {', '.join(BUILDS)}")
    if search and language != "python":
        raise NewError("the bot that searches is in Python: leave --language out")
    if not str(folder).isprintable():
        raise NewError(f"the name {str(folder)!r} has characters that cannot be printed; choose another")
    count = write_kit("search" if search else language, folder)
    *_, program = tomllib.loads((folder / "bot.toml").read_text())["run"]
    steps = [f"cd {shlex.quote(str(folder))}", *filter(None, [BUILDS[language]])]
    out.print(
        f"{folder} now has a bot in {language} ({counted(count, 'file')}); its README.md describes the next steps",
        soft_wrap=True,
    )
    out.print(f"{'build it' if BUILDS[language] else 'go there'}:      {' && '.join(steps)}", soft_wrap=True)
    out.print(f"play a match:  dogana play {next(iter(games()))} {program} random", soft_wrap=True)


def write_kit(kit: str, folder: Path) -> int:
    """Write a kit and the definitions of all messages into an empty or new folder; return the number of files.

    Raises:
        NewError: if the folder is not empty.
        OSError: if a file cannot be written; the files written before it are removed.
    """
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise NewError(f"{folder} is not empty; name a folder that is not there yet")
        for source, name in _files(kit):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            # Mode x is used because another command may be writing at this moment.
            with source.open("rb") as reading, file.open("xb") as writing:
                written.append(file)
                shutil.copyfileobj(reading, writing)
            # The file is executable if its source is; the umask decides the rest.
            file.chmod(file.stat().st_mode | source.stat().st_mode & 0o111)
    # Ctrl-C is handled, too, because half a kit would prevent another attempt.
    except BaseException as error:
        for file in written:
            file.unlink(missing_ok=True)
        for path in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True) if written else ():
            with contextlib.suppress(OSError):
                path.rmdir()
        if isinstance(error, FileExistsError):
            raise NewError(f"{error.filename} is there already; name a folder that is not there yet") from error
        raise
    return len(written)


def _files(kit: str) -> Iterator[tuple[Path, str]]:
    """Yield the path of each file of a kit and of the message definitions, with its name in the bot's folder."""
    # An installed package has both folders beside the Python messages; the sources have them elsewhere.
    package = Path(dogana.__path__[0])
    is_installed = (package / "kits").is_dir()
    own = (package if is_installed else package.parent / "agents") / "kits" / kit
    messages = (package if is_installed else package.parent) / "proto" / "dogana"
    for root, below in ((own, Path()), (messages, Path("proto/dogana"))):
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path, str(below / path.relative_to(root))
