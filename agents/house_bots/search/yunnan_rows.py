"""The rows that the search compares in Yunnan: greedy's own, and single actions after which the policy goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.game import Action
from referee.games.yunnan import actions as act
from referee.games.yunnan.names import Phase
from referee.games.yunnan.table import Table

CONVERSIONS: Final = 10
"""The number of steps from converting nothing to converting everything; finer steps differ too little to tell apart."""


def rows_of(table: Table, greedy: Sequence[Action], legal: list[Action]) -> list[Sequence[Action]]:
    """Return greedy's row, then each other action that is worth a comparison."""
    if table.phase is Phase.CONVERT:
        legal = _conversions(table.income[table.acting_colour])
    rows: list[Sequence[Action]] = [greedy]
    for action in legal:
        if len(greedy) > 1 or action != greedy[0]:
            rows.append([action])
    return rows


def _conversions(income: int) -> list[Action]:
    """Return conversions from nothing to everything, evenly spread."""
    every = act.converts(income)
    return [every[points] for points in sorted({income * step // CONVERSIONS for step in range(CONVERSIONS + 1)})]
