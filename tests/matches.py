"""Matches for tests, each in an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from referee.live.matches.play import MatchReport, Player, play_match
from referee.match.plan import MatchPlan
from tests.patience import patient


def play(plan: MatchPlan, players: Sequence[Player], *, seconds: float = 120, **arguments: Any) -> MatchReport:
    """Play a match that takes less than `seconds` on a quiet machine; the other arguments are those of `play_match`."""
    return asyncio.run(asyncio.wait_for(play_match(plan, players, **arguments), patient(seconds)))
