"""A running match as one of its seats sees it. Its record is replayed while it is being written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from referee.game import Game, Seat
from referee.match.plan import MatchPlan
from referee.records.record import RecordError, read_lines
from referee.records.verify import Replay
from referee.records.viewpoint import Viewpoint


@dataclass(frozen=True, slots=True)
class SeenAction:
    """An action or event that the seat has seen."""

    step: int
    """The number of the step in the match, from 1."""
    seat: Seat
    words: str


class Following:
    """Follows a match for one seat.

    Attributes:
        replay: the match as far as it has been read.
        viewpoint: the seat's view of the match.
        played: the seat that played each step.
        log: the events that the seat may know.
    """

    def __init__(self, record: Path, plan: MatchPlan, find_game: Callable[[str], Game], seat: Seat) -> None:
        """Begin to follow a match.

        Args:
            record: the record; it may be incomplete (`<name>.<random>.part`).
            plan: the plan of the match.
            find_game: a function that looks up a game by name.
            seat: the seat whose view to follow.

        Raises:
            RecordError: if nothing has been written yet.
        """
        self._record = record
        self.replay = Replay(self._file(), find_game, plan.seed)
        self.viewpoint = Viewpoint(self.replay, seat)
        self.viewpoint.scene = replace(self.viewpoint.scene, steps=None)  # the number of steps is not known yet
        self.played: list[Seat] = []
        self.log: list[SeenAction] = []
        self.read_on()

    def _file(self) -> Path:
        parts = [] if self._record.exists() else list(self._record.parent.glob(f"{self._record.name}.*.part"))
        return parts[0] if parts else self._record

    def read_on(self) -> None:
        """Replay the lines that have been written since the last call.

        Raises:
            RecordError: if a line is not valid.
        """
        if self.replay.result is not None:
            return
        self.replay.lines = read_lines(self._file())
        try:
            for step in self.replay:
                self.viewpoint.follow(step)
                self.played.append(step.seat)
                if self.viewpoint.scene.step == step.n:  # otherwise the seat has not learnt of it
                    self.log.append(SeenAction(step.n, step.seat, "; ".join(self.viewpoint.tell())))
        except RecordError as error:
            if error.line <= len(self.replay.lines):
                raise  # otherwise the next line has not been written completely
