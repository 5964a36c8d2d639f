"""The plan of a comparison, kept in its folder of records: the versions, the matches and the terms of the test."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.bots.files import hash_of
from referee.commands.bot_terms import BotTerms
from referee.commands.options import read_clock
from referee.commands.plan_file import (
    COMPARISON,
    ResumeError,
    alone_in,
    damaged,
    is_here,
    keeping,
    read_plan_file,
    remarking_interrupts,
    resuming,
    sweep,
    write_plan,
)
from referee.commands.seats import COMMAND
from referee.errors import DoganaError
from referee.live.matches.play import Player
from referee.live.matches.series import Series, Setting
from referee.match.seatings import Seating
from referee.registry import find, is_house_bot
from referee.verdict.block import seatings_at_one_table, seatings_in_a_field
from referee.verdict.likelihood import Margin
from referee.verdict.sequential import MIN_BLOCKS, Conclusion, Terms


class ComparisonError(DoganaError):
    """Two versions cannot be compared; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class ComparisonPlan(BotTerms):
    """A comparison as JSON values."""

    new: str
    old: str
    others: list[str]
    """The players in the other seats."""
    files: dict[str, str]
    """The hash of the files of each player that has files."""
    games: list[str]
    options: dict[str, str]
    """Options of the games; each is passed to the games that have it."""
    boards: dict[str, Any]
    """The board of each game."""
    is_field: bool
    """True if each version sits alone among the other players."""
    clock: str
    seed: int
    margin: float
    in_deviations: bool
    alpha: float
    beta: float
    max_blocks: int
    directory: str
    """The folder in which the comparison began, and in which its commands run."""
    conclusion: str
    """The verdict; empty until there is one."""

    @property
    def words(self) -> list[str]:
        """The words of all players, by index."""
        return [self.new, self.old, *self.others]

    @property
    def seats(self) -> int:
        """The number of seats of each match."""
        return len(self.others) + (1 if self.is_field else 2)

    @property
    def terms(self) -> Terms:
        """The terms of the comparison's test."""
        return Terms(Margin(self.margin, self.in_deviations), self.alpha, self.beta, self.max_blocks)

    @property
    def seatings(self) -> list[Seating]:
        """The seatings of a block in each game."""
        return seatings_in_a_field(self.seats) if self.is_field else seatings_at_one_table(self.seats)

    def series(self, players: Sequence[Player], records: Path | None, *, resumes: bool) -> Series:
        """Return the matches of the comparison, up to the maximum number of blocks.

        Raises:
            DoganaError: if the rules do not allow these matches.
        """
        settings = [self._setting(name) for name in self.games]
        return Series(
            settings=settings,
            bots=self.words,
            players=players,
            control=read_clock(self.clock),
            first_seed=self.seed,
            count=self.max_blocks * sum(len(setting.seatings) for setting in settings),
            records=records,
            resumes=resumes,
        )

    def _setting(self, name: str) -> Setting:
        game = find(name)
        known = {option.name for option in game.options}
        elsewhere = {option.name for other in self.games for option in find(other).options}
        # An option that no game has stays, so that `setup` refuses it.
        chosen = {key: value for key, value in self.options.items() if key in known or key not in elsewhere}
        setup = game.setup(self.seats, chosen, self.boards[name])
        return Setting(name, dict(setup.options), setup.board_data, None, self.seatings)


def fingerprint(word: str) -> str:
    """Return the SHA-256 of a bot's files, in hexadecimal; empty for a house bot, a command or anything else."""
    path = Path(word)
    # House bots come first, as in a word for a seat; a file of the same name is another bot.
    if is_house_bot(word) or word.startswith(COMMAND):
        return ""
    if path.is_dir():
        return hash_of(path)
    if not path.is_file():  # reading a device or a pipe might never end
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprints(words: Sequence[str]) -> dict[str, str]:
    """Return the fingerprints of all bots that have files."""
    return {word: found for word in words if (found := fingerprint(word))}


def check_different(new: str, old: str) -> None:
    """Check that two words do not name the same bot.

    Raises:
        ComparisonError: if they do.
    """
    if new == old:
        raise ComparisonError(f"NEW and OLD are the same bot, {new}; name two versions")
    found = fingerprint(new)
    if found and found == fingerprint(old):
        same_path = Path(new).resolve() == Path(old).resolve()
        how = "the same path" if same_path else "two copies of the same files"
        raise ComparisonError(f"NEW and OLD, {new} and {old}, are {how}; name two versions")


def read_comparison(folder: Path) -> ComparisonPlan:
    """Return the plan of the comparison in a folder.

    Raises:
        ResumeError: if the folder has no plan, or a plan that cannot be resumed here.
    """
    if not folder.is_dir():
        raise ResumeError(f"cannot resume: there is no folder {folder}")
    plan = read_plan_file(folder / COMPARISON, ComparisonPlan)
    if plan is None:
        raise ResumeError(f"cannot resume: {folder} has no comparison; give NEW, OLD and --game to begin one")
    # People can edit the file.
    sound = (
        0 <= plan.seed <= 2**62
        and plan.games
        and set(plan.games) == plan.boards.keys()
        and 0 < plan.margin < 1
        and 0 < plan.alpha < 0.5
        and 0 < plan.beta < 0.5
        and plan.max_blocks >= MIN_BLOCKS
        and plan.seats >= 2
    )
    if not sound:
        raise ResumeError(damaged(folder / COMPARISON, "has values that no comparison has"))
    _check_is_as_before(plan, folder)
    return plan


def _check_is_as_before(plan: ComparisonPlan, folder: Path) -> None:
    """Check that the bots are those with which a comparison began.

    Raises:
        ResumeError: if they are not, or relative paths and commands would now be found in another folder.
    """
    relative = [word for word in plan.words if not is_house_bot(word) and not Path(word).is_absolute()]
    if relative and not is_here(plan.directory):
        raise ResumeError(
            f"cannot resume: the comparison in {folder} was begun in {plan.directory}, where {relative[0]} runs; go there"
        )
    for word in plan.words:
        if plan.files.get(word, "") != fingerprint(word):
            raise ResumeError(
                f"cannot resume: {word} has changed since the comparison in {folder} began; use another folder"
            )


def check_unused(folder: Path) -> None:
    """Refuse a folder that is in use, for a comparison or for anything else.

    Raises:
        ResumeError: if the folder is in use.
    """
    plan = read_plan_file(folder / COMPARISON, ComparisonPlan)
    if plan is not None:
        found = f"a comparison of {plan.new} and {plan.old}" + (f" ({plan.conclusion})" if plan.conclusion else "")
        raise ResumeError(f"{folder} has {found}: go on with `{resuming('compare', folder)}`, or use another folder")


@contextmanager
def in_folder(folder: Path | None, plan: ComparisonPlan, *, resumes: bool, options: Sequence[object]) -> Iterator[None]:
    """Lock a comparison's folder, and keep the plan there; after an interruption, print the command that resumes it.

    Args:
        folder: the folder of the comparison's records; None to keep no records.
        plan: the comparison.
        resumes: True to continue the comparison in the folder.
        options: options of this command that the plan does not contain.

    Raises:
        ResumeError: if another process is playing into the folder, or the folder has another comparison or a series.
    """
    if folder is None:
        with remarking_interrupts("with --record FOLDER, a comparison can go on after an interruption"):
            yield
        return
    with alone_in(folder):
        if resumes:
            sweep(folder, plan.games)
        else:
            check_unused(folder)
        # The verdict is left out, because it may not hold if the comparison goes on.
        with keeping(folder / COMPARISON, replace(plan, conclusion=""), resuming("compare", folder, *options)):
            yield


def write_conclusion(folder: Path, plan: ComparisonPlan, conclusion: Conclusion | None) -> None:
    """Write the plan of a comparison into its folder again, with the verdict if there is one."""
    write_plan(folder / COMPARISON, replace(plan, conclusion=conclusion.value if conclusion else ""))
