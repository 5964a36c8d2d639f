"""A record through the eyes of one seat or of a spectator: the only place that says which steps they are told of."""

from __future__ import annotations

from referee.game import Observation, Scene, Seat
from referee.records.verify import Replay, Step


class Shown:
    """What a viewer knows of a match that is being played again.

    Attributes:
        seen: what the viewer observes now.
        scene: what surrounds it. It stays as it is while the viewer learns nothing, as while others plan in secret.
    """

    seen: Observation
    scene: Scene

    def __init__(self, record: Replay, viewer: Seat | None) -> None:
        """Begin where the record stands.

        Args:
            record: the match; whoever iterates over it calls `follow` after every step.
            viewer: the seat that looks on, or None for a spectator.
        """
        self._record = record
        self._viewer = viewer
        self._before = record.state.clone()
        self._picture = ""
        self.seen = record.state.observation(viewer)
        self.scene = Scene(
            bots=tuple(record.plan.bots), steps=record.actions_in_all, clocks=tuple(record.seconds_left())
        )

    def follow(self, step: Step) -> bool:
        """Take in a step that was just played; return whether the viewer knows its action at once."""
        known = step.seat == self._viewer or self._before.is_public(step.seat, step.action)
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
        """Return the picture of what the viewer knows; it is drawn again only if the viewer has learnt something."""
        if not self._picture:
            self._picture = self._record.plan.game.draw(self._record.plan.setup, self.seen, self.scene)
        return self._picture

    def tell(self) -> list[str]:
        """Return what has just happened, in words: what the seat did, and who has scored by it and why."""
        plan = self._record.plan
        return plan.game.tell(plan.setup, self.seen, self.scene)
