"""A record as one seat or a spectator sees it. Only this module decides which steps the viewer learns about."""

from __future__ import annotations

from referee.game import Observation, Scene, Seat
from referee.records.verify import Replay, ReplayStep


class Viewpoint:
    """A viewer's knowledge of a replayed match.

    Attributes:
        seen: the viewer's current observation.
        scene: the context of the observation. It does not change while the viewer learns nothing, for example while
            others plan in secret.
    """

    seen: Observation
    scene: Scene

    def __init__(self, record: Replay, viewer: Seat | None) -> None:
        """Begin at the current step of the record.

        Args:
            record: the match; the caller iterates over it, and calls `follow` after every step.
            viewer: the viewing seat, or None for a spectator.
        """
        self._record = record
        self._viewer = viewer
        self._before = record.state.clone()
        self._picture = ""
        self.seen = record.state.observation(viewer)
        self.scene = Scene(
            bots=tuple(record.plan.bots), steps=record.actions_in_all, clocks=tuple(record.seconds_left())
        )

    def follow(self, step: ReplayStep) -> bool:
        """Follow the last step; return True if the viewer learns its action at once."""
        known = step.seat == self._viewer or self._before.is_public(step.seat, step.action)
        # This is a copy, because the replay changes its state, and the next action is judged by the state before it.
        self._before = self._record.state.clone()
        seen = self._record.state.observation(self._viewer)
        if known or seen != self.seen:
            self.scene = Scene(
                bots=self.scene.bots,
                step=step.n,
                steps=self.scene.steps,
                before=self.seen,
                seat=step.seat,
                action=step.action if known else None,
                clocks=tuple(self._record.seconds_left()),
            )
            self.seen, self._picture = seen, ""
        return known

    def draw(self) -> str:
        """Return the viewer's picture; it is drawn again only if the viewer has learnt something."""
        if not self._picture:
            self._picture = self._record.plan.game.draw(self._record.plan.setup, self.seen, self.scene)
        return self._picture

    def tell(self) -> list[str]:
        """Describe the last step in words: the seat's action, and each score with its reason."""
        plan = self._record.plan
        return plan.game.tell(plan.setup, self.seen, self.scene)
