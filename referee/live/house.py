"""What is said of a house bot that fails: one line, and a file with the position in which it failed."""

from __future__ import annotations

import json
import os
import tempfile

from referee.errors import DoganaError
from referee.game import Seat, State
from referee.match.plan import MatchPlan
from referee.records.position import write_position


class HouseBotFailed(DoganaError):
    """A house bot raised an exception or gave an illegal answer, so the match is void."""

    def __init__(self, plan: MatchPlan, state: State, seat: Seat, number: int, reason: str) -> None:
        """Write the position to a private temporary file, and name it in the message.

        Args:
            plan: the match.
            state: the state that the bot was asked in.
            seat: where the bot sits.
            number: the number of its decision.
            reason: what went wrong.
        """
        super().__init__(
            f"house bot {plan.bots[seat]} in seat {seat} of match {plan.match_id} failed at its decision {number}: "
            f"{' '.join(reason.split())}; {_keep_position(plan, state)}"
        )


def _keep_position(plan: MatchPlan, state: State) -> str:
    try:
        handle, path = tempfile.mkstemp(prefix="dogana-position-", suffix=".json")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(write_position(plan.game, plan.setup, state), file)
    except OSError as error:
        return f"the position cannot be written: {error.strerror}"
    return f"to see the position: dogana position {path}"
