"""What a person is shown of a table: everything that its page says, as JSON from the table's process to the one with the pages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from ladder.tables.choices import Choice, Group
from ladder.tables.following import SeenAction


class Stage(StrEnum):
    """How far a table is."""

    LAID = "laid"
    """Nobody has been asked yet."""
    ASKED = "asked"
    """The person is to choose."""
    WAITS = "waits"
    """Others are to act."""
    OVER = "over"
    VOID = "void"
    """The match has no result."""


@dataclass(frozen=True, slots=True)
class TableSeat:
    """How a seat stands."""

    seat: int
    name: str
    score: int
    rank: int
    acts: bool
    """Whether it is to decide."""
    is_out: bool
    outcome: str = ""
    """How it came through the match; empty before its end."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The open decision of the person."""

    number: int
    digest: str
    """Stands for the legal list: an answer repeats it."""
    groups: list[Group]
    deadline: float
    """When it must have been answered, by `time.monotonic`."""
    bank_seconds: float
    is_shared: bool
    """Whether the time is a sand timer that several seats share."""

    @property
    def count(self) -> int:
        """How many actions there are."""
        return sum(len(group.choices) for group in self.groups)


@dataclass(frozen=True, slots=True)
class View:
    """A table as its person sees it."""

    stage: Stage
    game: str
    seat: int
    clock: str
    picture: str = ""
    """What the seat sees, as SVG."""
    seats: list[TableSeat] = field(default_factory=list)
    log: list[SeenAction] = field(default_factory=list)
    """What has happened, the oldest first."""
    new_from: int = 1
    """The number of the first step since the person's last choice, which is that choice."""
    new_steps: int = 0
    """How many steps others have played since, as far as the seat has learnt."""
    asking: Asking | None = None
    remark: str = ""
    """What has become of the last decision, if it was not answered in time."""
    is_out: bool = False
    """Whether the person's seat is out."""
    strikes: int = 0
    """How often the person has run out of time."""
    why_void: str = ""
    """Why there is no result; it may name files, so it is for the organiser."""
    absent: list[str] = field(default_factory=list)
    """The bots for which there is no result: they did not start."""
    has_replay: bool = False
    """Whether the page of the match is made."""

    def to_json(self) -> str:
        """Write it in one line."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str | bytes) -> View:
        """Read what `to_json` wrote."""
        data = json.loads(text)
        asking = data["asking"]
        if asking is not None:
            groups = [Group(one["name"], [Choice(**choice) for choice in one["choices"]]) for one in asking["groups"]]
            data["asking"] = Asking(**{**asking, "groups": groups})
        data["stage"] = Stage(data["stage"])
        data["seats"] = [TableSeat(**seat) for seat in data["seats"]]
        data["log"] = [SeenAction(**line) for line in data["log"]]
        return View(**data)


def digest_of(labels: Sequence[str]) -> str:
    """Return what stands for a legal list."""
    return hashlib.sha256("\n".join(labels).encode()).hexdigest()[:16]
