"""Offers of bots at home, which run on their authors' machines, and the versions that these bots become."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import AT_HOME_PREFIX, Version
from ladder.operation.home import Home
from referee.bots.errors import BadBot
from referee.registry import find

MAX_MATCHES_AT_HOME = 8
"""The maximum number of concurrent matches of a bot at home."""
_CONTENT = re.compile(r"[A-Za-z0-9._+-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class OfferedBot:
    """A bot at home, as its author offers it."""

    bot: str
    """The name of the bot."""
    content: str
    """The text that distinguishes this version from other versions of the bot."""
    games: tuple[str, ...]
    """The games that the bot plays."""
    matches: int
    """The maximum number of the bot's concurrent matches."""


def _check(offer: OfferedBot) -> None:
    """Check an author's offer.

    Raises:
        BadBot: if the offer is not valid.
        DoganaError: if it names an unknown game.
    """
    if not _CONTENT.fullmatch(offer.content):
        raise BadBot("the name of a version must be 1 to 64 letters, digits, dots, dashes, underscores and plus signs")
    if not 1 <= offer.matches <= MAX_MATCHES_AT_HOME:
        raise BadBot(f"a bot at home plays 1 to {MAX_MATCHES_AT_HOME} matches at a time, not {offer.matches}")
    if not offer.games or len(offer.games) > len(set(offer.games)):
        raise BadBot("a bot must play a game, and name each once")
    for game in offer.games:
        find(game)


def offered(store: Store, author: str, offer: OfferedBot) -> tuple[Version, bool]:
    """Accept an offer; return the version, and True if it is new.

    Raises:
        BadBot: if the offer is not valid, or a newer version has replaced this one.
        DoganaError: if it names an unknown game.
        LadderError: if the bot belongs to another author, or its name could be confused with another bot's.
    """
    _check(offer)
    with store.writing():
        content = f"{AT_HOME_PREFIX}{offer.content}"
        version, is_new = store.roster.add_version(
            offer.bot, author, content, [], [find(name).name for name in offer.games]
        )
        newest = max(one.number for one in store.roster.versions([version.id]).values())
        if newest != version.number:
            raise BadBot(f"{version.label} was replaced by v{newest}; offer other files, or another --tag")
        if is_new:
            store.log.note_act(author, "connect", version.label)
        return version, is_new


def is_known(store: Store, offer: OfferedBot) -> bool:
    """Return True if this version has been offered before."""
    content = f"{AT_HOME_PREFIX}{offer.content}"
    return any((one.bot, one.content_hash) == (offer.bot, content) for one in store.roster.versions().values())


def connect(home: Home, version: Version, matches: int, since: str) -> None:
    """Store the connection of a bot, with the time when it began and the maximum number of concurrent matches."""
    with Store(home.database, create=False) as store:
        store.roster.connect(version.id, matches, since)


def leave_ladder(home: Home, version: Version) -> None:
    """Mark a bot as leaving: it only finishes its open blocks."""
    with Store(home.database, create=False) as store:
        store.roster.leave(version.id)


def is_in_match(home: Home, version: Version, plays: Callable[[Condition], bool]) -> bool:
    """Return True if a bot has an open match under a condition that is being played now."""
    with Store(home.database, create=False) as store:
        return any(
            version.id in store.schedule.playing(one) for one in store.roster.conditions().values() if plays(one)
        )


def disconnect(home: Home, version: Version, since: str) -> None:
    """Remove the connection of a bot that began at this time; a newer connection stays."""
    with Store(home.database, create=False) as store:
        store.roster.disconnect(version.id, since)
