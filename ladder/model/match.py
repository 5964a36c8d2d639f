"""Versions of bots, and scheduled matches between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ladder.model.condition import Condition
from referee.kit.chance import rotation_seed

JOIN_SECONDS = 30.0
"""The time, in seconds, allowed for agents to join.

A runtime that starts in 1 s on its own may need 10 s when every processor runs a worker."""

HOUSE = "house"
"""The author of all house bots."""
HOUSE_PREFIX = "house:"
"""The prefix of a house bot's content hash.

The bot has no folder; it plays in the worker's process or, if it thinks, in a process of its own."""
AT_HOME_PREFIX = "at-home:"
"""The prefix of the content hash of a bot at home.

The bot runs on its author's machine, and only the author knows its files."""


def seed_of(block_seed: int, rotation: int, content_hashes: Iterable[str]) -> int:
    """Return the seed of a match: the seed of its block, or a seed of its own if a bot at home plays.

    A bot at home could remember earlier rotations, so its matches share no seed.

    Args:
        block_seed: the seed of the block.
        rotation: the index of the match in its block.
        content_hashes: the content hashes of the versions in the seats.
    """
    is_open = any(content_hash.startswith(AT_HOME_PREFIX) for content_hash in content_hashes)
    return rotation_seed(block_seed, rotation) if is_open else block_seed


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a bot: immutable, and identified by its content."""

    id: int
    bot: str
    author: str
    number: int
    """The number of the version among those of the bot, from 1."""
    content_hash: str
    run: tuple[str, ...]
    """The command that starts the version in its folder; empty for a house bot."""
    games: tuple[str, ...]
    parent: int | None
    """The id of the bot's previous version; None if it is the first."""
    language: str = ""
    """The programming language of the version; empty if unknown."""

    @property
    def label(self) -> str:
        """The name of the version in tables and records."""
        return f"{self.bot} v{self.number}"

    @property
    def is_house(self) -> bool:
        """True for a house bot."""
        return self.content_hash.startswith(HOUSE_PREFIX)

    @property
    def is_at_home(self) -> bool:
        """True for a bot that runs on its author's machine."""
        return self.content_hash.startswith(AT_HOME_PREFIX)


@dataclass(frozen=True, slots=True)
class Match:
    """A scheduled match."""

    match_id: str
    block: int | None
    """The id of the match's block; None for a match that qualifies a version, or is part of a trial."""
    condition: Condition
    seats: tuple[Version, ...]
    seed: int
    guests: bool = False
    """True if bots at home are guests in the match; it then does not rate submitted bots."""
    tournament: int | None = None
    """The id of the event to which the match belongs; None for a match of the ladder itself."""
    voids: int = 0
    """The number of void attempts at the match."""

    @property
    def versions(self) -> tuple[int, ...]:
        """The id of the version in each seat."""
        return tuple(version.id for version in self.seats)

    @property
    def labels(self) -> list[str]:
        """The label of the version in each seat, as in the record."""
        return [version.label for version in self.seats]

    @property
    def at_home(self) -> list[Version]:
        """The versions in the match that run on their authors' machines."""
        return [version for version in self.seats if version.is_at_home]
