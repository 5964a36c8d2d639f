"""Stop an agent between its decisions, if the organiser asks for that (`--no-pondering`)."""

from __future__ import annotations

import asyncio

from referee.sandbox.box import Box

REST_SECONDS = 0.02
"""The time for which an agent keeps running after a decision.

If the next question comes sooner, as in quick play, the agent need not be stopped and woken. During this time, the
agent usually also gets the replies that it still expects, such as the acknowledgement of a ping.
"""


class NoPondering:
    """Stops all processes of one agent while it has no open decision, and wakes them before the next."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def wake(self) -> None:
        """Wake the agent; call this before a decision is sent, while its time is not running yet."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._stopped:
            self._stopped = False
            self._box.freeze(frozen=False)

    def idle(self) -> None:
        """Stop the agent after `REST_SECONDS`, unless the next decision comes sooner."""
        if self._timer is None and not self._stopped:
            self._timer = asyncio.get_running_loop().call_later(REST_SECONDS, self._stop)

    def over(self) -> None:
        """Let the agent run, and never stop it again."""
        self.wake()
        self._box.release()

    def _stop(self) -> None:
        self._timer = None
        self._stopped = True
        self._box.freeze(frozen=True)
