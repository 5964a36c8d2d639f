"""The seat of a person, which plays in the referee's process and waits for the person's choices."""

from __future__ import annotations

from collections.abc import Callable

from referee.game import Seat
from referee.live.matches.driver import MatchDriver
from referee.match.effects import Decision, Reject, Withdraw, Withdrawal
from referee.match.result import Fault, Result

REMARKS = {
    Withdrawal.TIMEOUT: "Your time was up: what the rules do without you was played.",
    Withdrawal.WINDOW: "The shared time was up: what the rules do without you was played.",
    Withdrawal.OVERTAKEN: "What others did has changed what you can do.",
}
"""The remarks for the person on a withdrawn decision, by the reason for the withdrawal."""


class Person:
    """A player for `play_match` (`InProcess`) that gets its answers through `choose`.

    Attributes:
        question: the open decision; None while other seats have their turn.
        remark: what became of the last decision, if it was not answered in time.
        is_out: True if the seat is out, so that it has no more decisions.
    """

    may_come_back = False

    def __init__(self, changed: Callable[[], None]) -> None:
        """Prepare the seat. `changed` is called after each change; it must not block, because the driver is waiting."""
        self._changed = changed
        self._driver: MatchDriver | None = None
        self._seat: Seat = 0
        self._unsent: Decision | None = None
        self.question: Decision | None = None
        self.remark = ""
        self.is_out = False

    def begin(self, driver: MatchDriver, seat: Seat) -> None:
        """Take a seat."""
        self._driver, self._seat = driver, seat

    def choose(self, number: int, index: int) -> None:
        """Answer a decision; do nothing if it is no longer open, or has no such action."""
        question = self.question
        if self._driver is None or question is None:
            return
        if question.number == number and 0 <= index < len(question.actions):
            # Set before the answer, because within `answer` the driver may reject it, or put the next decision.
            self.question, self.remark = None, ""
            self._driver.answer(self._seat, number, index)

    # the driver's side (`referee.live.matches.driver.AgentConnection`)

    def ask(self, decision: Decision) -> None:
        """Accept a decision; `flush` puts it to the person after the house bots have moved. Its time begins then."""
        self._unsent = decision

    def flush(self) -> None:
        """Put the decision to the person."""
        decision, self._unsent = self._unsent, None
        if decision is not None and self._driver is not None:
            self._driver.sent(self._seat, decision.number)
            self._put(decision)

    def new_deadline(self, decision: Decision) -> None:
        """Accept the new deadline of an open decision."""
        if self.question is not None:
            self._put(decision)

    def _put(self, decision: Decision) -> None:
        self.question = decision
        self._changed()

    def withdraw(self, withdraw: Withdraw) -> None:
        """Withdraw a decision."""
        self._unsent, self.question, self.remark = None, None, REMARKS[withdraw.reason]
        self._changed()

    def reject(self, reject: Reject) -> None:
        """Do nothing: only an answer after the deadline is refused, and the withdrawal of its decision has come before."""

    def dismiss(self, fault: Fault) -> None:
        """Put the seat out."""
        self._unsent, self.question, self.is_out = None, None, True
        self._changed()

    def finish(self, result: Result) -> None:
        """End the match."""
        self.question = None

    def void(self, reason: str) -> None:
        """End the match without a result; `play_match` raises the reason."""
        self.question = None
