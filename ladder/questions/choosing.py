"""The choice of bots and conditions for a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ladder.facts.store import Store
from ladder.model.condition import Condition, agree
from ladder.model.match import Version
from ladder.operation.errors import LadderError
from referee.commands.options import DEFAULT_CLOCK, read_clock
from referee.options import OptionValue
from referee.registry import find, games


def is_called(version: Version, text: str) -> bool:
    """Return True if the name of a bot or of its author contains a text, ignoring case."""
    return any(text.casefold() in name.casefold() for name in (version.bot, version.author))


def conditions_of(facts: Store, game: str) -> list[Condition]:
    """Return the conditions under which a game was played, oldest first; the conditions of all games if `game` is empty.

    Raises:
        DoganaError: if there is no such game.
    """
    return facts.roster.conditions_of(find(game).name) if game else list(facts.roster.conditions().values())


def check_hosted(versions: Sequence[Version]) -> str:
    """Check that a bot runs on the ladder's machine, where people can play against it, and return its name.

    Raises:
        LadderError: if it runs on its author's machine, or is a house bot, against which everybody may play.
    """
    if versions[-1].is_house:
        raise LadderError(f"{versions[-1].bot} is a house bot: everybody may play against it")
    if versions[-1].is_at_home:
        raise LadderError(f"{versions[-1].bot} runs at home; people play against bots that were submitted")
    return versions[-1].bot


def chosen_conditions(
    facts: Store, game: str, clock: str, options: Mapping[str, str], by_options: bool
) -> list[Condition]:
    """Return the conditions of a game, or of all games, that a request chooses.

    Args:
        facts: the ladder.
        game: the name of a game; all games if empty.
        clock: a clock, written as on the command line; any clock if empty.
        options: all options that are not the game's defaults.
        by_options: True to choose by `options`.

    Raises:
        LadderError: if there was a run of the game, but none under such a condition.
        DoganaError: if there is no such game, or it has no such options.
    """
    if by_options and not game:
        raise LadderError("options belong to one game; name it, too")
    names = [find(game).name] if game else list(games())
    # The clock and options are converted to their form in conditions, without defaults, so that they can be compared.
    agreed = agree(find(names[0]), options, None).options if by_options else None
    read = str(read_clock(clock)) if clock else None
    return [condition for name in names for condition in _conditions(facts, name, read, agreed)]


def _conditions(
    facts: Store, game: str, clock: str | None, options: Mapping[str, OptionValue] | None
) -> list[Condition]:
    """Return the requested conditions of a game; before the first run, the default condition of a run.

    Raises:
        LadderError: if there was a run, but none under such a condition.
    """
    known = facts.roster.conditions_of(game)
    if not known:
        return [Condition(0, game, options or {}, clock or DEFAULT_CLOCK)]
    found = [one for one in known if clock in (None, one.clock) and options in (None, one.options)]
    if not found:
        raise LadderError(
            f"{game} was not run under that condition, but under: {'; '.join(one.terms for one in known)}"
        )
    return found
