"""Stop an agent while it is not asked, where the organiser says so (`--no-pondering`)."""

from __future__ import annotations

import asyncio

from referee.sandbox.box import Box

REST_SECONDS = 0.02
"""How long an agent runs on when it is not asked any more.

If the next question comes sooner, as in quick play, stopping and waking it is saved. What it has sent and must still hear of,
such as the acknowledgement of a ping, mostly comes within this time too.
"""


class NoPondering:
    """Stops all processes of one agent while it has no open decision, and wakes them before it is asked."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def asked(self) -> None:
        """Let the agent run: a message for it is about to be sent, and its time runs."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._stopped:
            self._stopped = False
            self._box.freeze(frozen=False)

    def idle(self) -> None:
        """Stop the agent in a moment, unless it is asked before."""
        if self._timer is None and not self._stopped:
            self._timer = asyncio.get_running_loop().call_later(REST_SECONDS, self._stop)

    def over(self) -> None:
        """Let the agent run, and never stop it again."""
        self.asked()
        self._box.release()

    def _stop(self) -> None:
        self._timer = None
        self._stopped = True
        self._box.freeze(frozen=True)
