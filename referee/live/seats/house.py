"""The report on a failed house bot: one line, and a file with the position in which it failed."""

from __future__ import annotations

import json
import secrets
import shlex
import tempfile
from pathlib import Path

from referee.errors import DoganaError
from referee.files import write_private
from referee.game import Seat, State
from referee.match.plan import MatchPlan
from referee.records.position import write_position


class HouseBotFailed(DoganaError):
    """A house bot raised an exception or gave an illegal answer, so the match is void.

    Attributes:
        hint: the command that shows the position, or the reason why the position was not written. It is only for people
            who can read the referee's files.
    """

    def __init__(
        self, plan: MatchPlan, state: State, seat: Seat, number: int, reason: str, position_file: Path | None
    ) -> None:
        """Write the position to a private file.

        Args:
            plan: the plan of the match.
            state: the state at the bot's decision.
            seat: the seat of the bot.
            number: the number of the bot's decision.
            reason: the reason for the failure.
            position_file: the file to write or replace; None for a new file in the temporary folder.
        """
        super().__init__(
            f"house bot {plan.bots[seat]} in seat {seat} of match {plan.match_id} failed at its decision {number}: "
            f"{' '.join(reason.split())}"
        )
        self.hint = _keep_position(plan, state, position_file)


def _keep_position(plan: MatchPlan, state: State, file: Path | None) -> str:
    try:
        if file is None:
            file = Path(tempfile.gettempdir(), f"dogana-position-{secrets.token_hex(4)}.json")
        else:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(file, json.dumps(write_position(plan.game, plan.setup, state)).encode())
    except OSError as error:
        return f"the position cannot be written: {error.strerror}"
    return f"to see the position: dogana position {shlex.quote(str(file))}"
