"""A person's view of a table: the whole content of its page. The process of the table sends it to the pages as JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import msgspec

from ladder.tables.choices import Group
from ladder.tables.following import SeenAction
from referee.terminal import visible


class Stage(StrEnum):
    """The stage of a table."""

    LAID = "laid"
    """There has been no decision yet."""
    DECIDES = "decides"
    """The person has a decision."""
    WAITS = "waits"
    """Other seats have decisions."""
    OVER = "over"
    VOID = "void"
    """The match has no result."""


@dataclass(frozen=True, slots=True)
class TableSeat:
    """The standing of a seat."""

    seat: int
    name: str
    score: int
    rank: int
    acts: bool
    """True if the seat has an open decision."""
    is_out: bool
    outcome: str = ""
    """The outcome for the seat; empty before the end of the match."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The open decision of the person."""

    number: int
    digest: str
    """A hash of the legal list, which the answer repeats."""
    groups: list[Group]
    deadline: float
    """The deadline of the decision, by `time.monotonic`."""
    bank_seconds: float
    is_shared: bool
    """True if the time for the decision is a sand timer that several seats share."""

    @property
    def count(self) -> int:
        """The number of legal actions."""
        return sum(len(group.choices) for group in self.groups)


@dataclass(frozen=True, slots=True)
class View:
    """A table as its person sees it."""

    stage: Stage
    game: str
    seat: int
    clock: str
    picture: str = ""
    """The picture of the seat's observation, as SVG."""
    seats: list[TableSeat] = field(default_factory=list)
    log: list[SeenAction] = field(default_factory=list)
    """The past actions, oldest first."""
    new_from: int = 1
    """The number of the step with the person's last choice; 1 before the first choice."""
    new_steps: int = 0
    """The number of steps by others, since the person's last choice, that the seat has learnt of."""
    asking: Asking | None = None
    remark: str = ""
    """The outcome of the last decision, if it was not answered in time."""
    is_out: bool = False
    """True if the person's seat is out."""
    strikes: int = 0
    """The number of decisions for which the person has run out of time."""
    why_void: str = ""
    """The reason why there is no result. It may name files, so only the organiser may see it."""
    absent: list[str] = field(default_factory=list)
    """The bots that did not start, which is why there is no result."""
    has_replay: bool = False
    """True if the page of the match has been made."""

    def to_json(self) -> bytes:
        """Return the view as a line of JSON."""
        # File names may not be valid UTF-8.
        return msgspec.json.encode(replace(self, why_void=visible(self.why_void)))

    @staticmethod
    def from_json(text: bytes) -> View:
        """Parse the output of `to_json`.

        Raises:
            ValueError: if the text is not a view.
        """
        return msgspec.json.decode(text, type=View)


def digest_of(labels: Sequence[str]) -> str:
    """Return the hash of a legal list."""
    return hashlib.sha256("\n".join(labels).encode()).hexdigest()[:16]
