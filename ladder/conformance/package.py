"""The steps that check the files of a bot before it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ladder.conformance.rehearsal import StepOutcome, Verdict
from ladder.conformance.scripts import STEPS
from referee.bots.errors import BadBot, BadManifest, NoProgram
from referee.bots.files import MAX_BYTES, MAX_FILES, Artefact, take_in
from referee.bots.manifest import env_words
from referee.sandbox.limits import in_words
from referee.terminal import counted

_STEPS = {step.name: step for step in STEPS if step.heading == "package"}
_ELF = b"\x7fELF"
_KIND = slice(4, 6)
"""The position of the word size and byte order in a program's header; see elf(5)."""
_MACHINE = slice(18, 20)
"""The position of the kind of processor in the header."""


def take(
    path: Path, versions: Path, runtimes: Sequence[Path], report: Callable[[Verdict], None]
) -> tuple[Artefact, Path] | None:
    """Accept a bot as a ladder does; return it and the folder of its files, or None if it is refused.

    Args:
        path: the file or folder to submit.
        versions: the folder in which to store its files.
        runtimes: folders with runtimes that bots can use in addition to the usual programs.
        report: a function that is called with the verdict of each step.
    """

    def give(name: str, outcome: StepOutcome, said: str = "") -> None:
        report(Verdict(_STEPS[name], outcome, said))

    try:
        artefact = take_in(path, versions, runtimes)
    except BadBot as error:
        failed = (
            "program" if isinstance(error, NoProgram) else "bot-toml" if isinstance(error, BadManifest) else "files"
        )
        names = list(_STEPS)
        # The steps are in the order in which `take_in` checks them.
        for name in names[: names.index(failed)]:
            give(name, StepOutcome.PASSED)
        give(failed, StepOutcome.FAILED, str(error))
        for name in names[names.index(failed) + 1 :]:
            give(name, StepOutcome.SKIPPED, "the bot cannot be taken in")
        return None
    folder = versions / artefact.content_hash
    files = [file for file in folder.rglob("*") if not file.is_dir()]
    size = sum(file.lstat().st_size for file in files)
    give("files", StepOutcome.PASSED)
    give("bot-toml", StepOutcome.PASSED)
    give("program", StepOutcome.PASSED, " ".join(artefact.run))
    program = [*artefact.run[env_words(artefact.run) :], artefact.run[0]][0]  # the program may come after `env`
    foreign = _foreign(folder, program)
    if foreign is None:
        give("architecture", StepOutcome.SKIPPED, f"{program} is not a compiled program of its own")
    elif foreign:
        give(
            "architecture",
            StepOutcome.FAILED,
            f"{program} is for another kind of processor than this machine's",
        )
    else:
        give("architecture", StepOutcome.PASSED)
    give(
        "size",
        StepOutcome.REPORTED,
        f"{len(files)} of {MAX_FILES} files, {counted(size, 'byte')} of {in_words(MAX_BYTES)}",
    )
    give("games", StepOutcome.REPORTED, ", ".join(artefact.games))
    return None if foreign else (artefact, folder)


def _foreign(folder: Path, program: str) -> bool | None:
    """Return True if a compiled program is for a different kind of processor from ours; None if it is not compiled."""
    # A program in the search path, such as python3, belongs to the machine.
    if "/" not in program:
        return None
    # Our interpreter runs here, so its header is right for this machine.
    head, own = _head(folder / program), _head(Path(sys.executable))
    if not head.startswith(_ELF):
        return None
    return head[_KIND] != own[_KIND] or head[_MACHINE] != own[_MACHINE]


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(_MACHINE.stop)
