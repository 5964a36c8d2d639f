"""Who plays on a ladder, and one match between them, from its scheduling to its count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ladder.model.condition import Condition
from referee.kit.chance import rotation_seed
from referee.match.result import Outcome

JOIN_SECONDS = 30.0
"""How long agents may take to join: with a worker for each processor, a virtual machine that needs 1 s alone may need 10."""

HOUSE = "house"
"""The author of all house bots."""
HOUSE_PREFIX = "house:"
"""Marks the content hash of a house bot, which has no folder but plays in the worker's process."""
AT_HOME_PREFIX = "at-home:"
"""Marks the content hash of a bot at home: it runs on its author's machine, and what its files are is what the author says."""


def seed_of(block_seed: int, rotation: int, content_hashes: Iterable[str]) -> int:
    """Return the seed of a match: that of its block, or one of its own if a bot at home plays, which remembers earlier rotations.

    Args:
        block_seed: the seed of the block.
        rotation: counts the matches of the block, from 0.
        content_hashes: those of the versions in the seats.
    """
    is_open = any(content_hash.startswith(AT_HOME_PREFIX) for content_hash in content_hashes)
    return rotation_seed(block_seed, rotation) if is_open else block_seed


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
    language: str = ""
    """What it is written in, as far as it is known; else empty."""

    @property
    def label(self) -> str:
        """How tables and records call it."""
        return f"{self.bot} v{self.number}"

    @property
    def is_house(self) -> bool:
        """Whether it is a house bot."""
        return self.content_hash.startswith(HOUSE_PREFIX)

    @property
    def is_at_home(self) -> bool:
        """Whether it runs on its author's machine."""
        return self.content_hash.startswith(AT_HOME_PREFIX)


@dataclass(frozen=True, slots=True)
class Match:
    """A match that was scheduled, and, once it counts, what came out."""

    match_id: str
    block: int | None
    """The id of its block; None for a match that qualifies a version, or tries it."""
    condition: Condition
    seats: tuple[Version, ...]
    seed: int
    guests: bool = False
    """Whether bots at home are guests in it: see `rated`."""
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

    @property
    def at_home(self) -> list[Version]:
        """The versions in it that run on their authors' machines."""
        return [version for version in self.seats if version.is_at_home]

    def rated(self, outcomes: Sequence[Outcome]) -> set[int]:
        """Return the ids of the versions whose ratings the match changes, given how it ended for each seat.

        If a bot at home did not come, these are the absent alone: the others had no share in that. Where bots at home are
        guests, nothing changes for the bots that somebody has submitted.
        """
        seats = zip(self.seats, outcomes, strict=True)
        absent = {version.id for version, outcome in seats if version.is_at_home and outcome is Outcome.START}
        if absent:
            return absent
        if self.guests and self.at_home:
            return {version.id for version in self.seats if version.is_at_home or version.is_house}
        return {version.id for version in self.seats}


@dataclass(frozen=True, slots=True)
class Count:
    """What a match counts for."""

    number: int
    """The place of the match in the order in which matches count, from 1."""
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    details: tuple[str, ...]
    """Why each seat is out; empty for one that played to the end."""
    decisions: tuple[int, ...]
    think_ms: tuple[float, ...]
    """What the decisions of each seat were charged, in milliseconds."""
    decisions_in_all: int
    digest: str
    record_hash: str
    rated: bool
    """False if the same was played before between the same versions in the same seats: it is no new evidence."""
