"""Who plays on a ladder, and one match between them, from its scheduling to its count."""

from __future__ import annotations

from dataclasses import dataclass

from ladder.condition import Condition
from referee.match.result import Outcome

HOUSE = "house"
"""The author of all house bots."""
HOUSE_PREFIX = "house:"
"""Marks the content hash of a house bot, which has no folder but plays in the worker's process."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a bot: immutable, and known by its content."""

    id: int
    bot: str
    author: str
    number: int
    """Counts the versions of the bot, from 1."""
    content_hash: str
    run: tuple[str, ...]
    """The command that starts it in its folder; empty for a house bot."""
    games: tuple[str, ...]
    parent: int | None
    """The id of the version before it, of the same bot."""

    @property
    def label(self) -> str:
        """How tables and records call it."""
        return f"{self.bot} v{self.number}"


@dataclass(frozen=True, slots=True)
class Match:
    """A match that was scheduled, and, once it counts, what came out."""

    match_id: str
    block: int | None
    """The id of its block; None for a match that qualifies a version, or tries it."""
    condition: Condition
    seats: tuple[Version, ...]
    seed: int
    voids: int = 0
    """How many attempts at it were void."""
    count: Count | None = None
    """None as long as it does not count."""

    @property
    def versions(self) -> tuple[int, ...]:
        """The id of the version in each seat."""
        return tuple(version.id for version in self.seats)

    @property
    def labels(self) -> list[str]:
        """What each seat is called in the record."""
        return [version.label for version in self.seats]


@dataclass(frozen=True, slots=True)
class Count:
    """What a match counts for."""

    number: int
    """The place of the match in the order in which matches count, from 1."""
    ranks: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    digest: str
    record_hash: str
    rated: bool
    """False if the same was played before between the same versions in the same seats: it is no new evidence."""
