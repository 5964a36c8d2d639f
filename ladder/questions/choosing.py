"""Which bots and conditions a question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dogana.v1 import ladder_pb2 as pb
from ladder.facts.store import Store
from ladder.model.condition import Condition, agree
from ladder.model.match import Version
from ladder.operation.errors import LadderError
from referee.commands.options import DEFAULT_CLOCK, read_clock
from referee.game import OptionValue
from referee.registry import find, games


def is_called(version: Version, text: str) -> bool:
    """Tell whether a text is in the name of a bot or of its author, in large or small letters."""
    return any(text.casefold() in name.casefold() for name in (version.bot, version.author))


def check_hosted(versions: Sequence[Version]) -> str:
    """Return the name of a bot that runs on the ladder's machine, where people can play against it.

    Raises:
        LadderError: if it runs on its author's, or is a house bot, against which everybody may play.
    """
    if versions[-1].is_house:
        raise LadderError(f"{versions[-1].bot} is a house bot: everybody may play against it")
    if versions[-1].is_at_home:
        raise LadderError(f"{versions[-1].bot} runs at home; people play against bots that were submitted")
    return versions[-1].bot


def conditions_asked_for(chronicle: Store, request: pb.TopRequest | pb.CrosstableRequest) -> list[Condition]:
    """Return the conditions that were asked for.

    Raises:
        LadderError: if there was a run of the game, but none under such a condition.
        DoganaError: if there is no such game, or it has no such options.
    """
    if request.by_options and not request.game:
        raise LadderError("options are those of one game; name it: dogana ladder top GAME --option NAME=VALUE")
    names = [find(request.game).name] if request.game else list(games())
    options = agree(find(names[0]), request.options, None).options if request.by_options else None
    clock = str(read_clock(request.clock)) if request.clock else None
    return [condition for name in names for condition in _conditions(chronicle, name, clock, options)]


def _conditions(
    chronicle: Store, game: str, clock: str | None, options: Mapping[str, OptionValue] | None
) -> list[Condition]:
    """Return the conditions of a game that were asked for; the one that a run has by default if there was no run.

    Raises:
        LadderError: if there was a run, but none under such a condition.
    """
    known = chronicle.roster.conditions_of(game)
    if not known:
        return [Condition(0, game, options or {}, clock or DEFAULT_CLOCK)]
    found = [one for one in known if clock in (None, one.clock) and options in (None, one.options)]
    if not found:
        raise LadderError(
            f"{game} was not run under that condition, but under: {'; '.join(one.terms for one in known)}"
        )
    return found
