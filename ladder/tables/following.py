"""A match that is being played, as one of its seats may see it: its record is played again while it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from referee.game import Game, Seat
from referee.match.plan import MatchPlan
from referee.match.result import Result
from referee.records.record import RecordError, read_lines
from referee.records.verify import Replay
from referee.records.viewpoint import Viewpoint


@dataclass(frozen=True, slots=True)
class SeenAction:
    """Something that has happened."""

    step: int
    """Counts the actions of the match, from 1."""
    seat: Seat
    words: str


class Following:
    """The eyes of one seat.

    Attributes:
        replay: the match as far as it has been read.
        shown: what the seat sees of it.
        played: who has played each step.
        log: what has happened, as far as the seat may know.
    """

    def __init__(self, record: Path, plan: MatchPlan, find_game: Callable[[str], Game], seat: Seat) -> None:
        """Begin.

        Args:
            record: the record; it may be one that is still being written (`<name>.<random>.part`).
            plan: what is fixed.
            find_game: looks up a game by name.
            seat: whose eyes.

        Raises:
            RecordError: if nothing has been written yet.
        """
        self._record = record
        self.replay = Replay(self._file(), find_game, plan.seed)
        self.shown = Viewpoint(self.replay, seat)
        self.shown.scene = replace(self.shown.scene, steps=None)  # nobody knows yet how many there will be
        self.played: list[Seat] = []
        self.log: list[SeenAction] = []
        self.read_on()

    def _file(self) -> Path:
        parts = [] if self._record.exists() else list(self._record.parent.glob(f"{self._record.name}.*.part"))
        return parts[0] if parts else self._record

    def read_on(self) -> None:
        """Play what has been written since.

        Raises:
            RecordError: if a line does not hold.
        """
        if self.result is not None:
            return
        self.replay.lines = read_lines(self._file())
        try:
            for step in self.replay:
                self.shown.follow(step)
                self.played.append(step.seat)
                if self.shown.scene.step == step.n:
                    self.log.append(SeenAction(step.n, step.seat, "; ".join(self.shown.tell())))
        except RecordError as error:
            if error.line <= len(self.replay.lines):
                raise  # else the next line is not written yet

    @property
    def result(self) -> Result | None:
        """How the match went; None until it is over."""
        return self.replay.result
