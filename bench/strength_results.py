"""The matches that `bench/strength.py` has played, in docs/strength.jsonl, and their blocks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.matches import ROOT

RESULTS = ROOT / "docs" / "strength.jsonl"
Blocks = dict[int, list["Played"]]
"""The matches of each seed."""


class Cell(NamedTuple):
    """One row of the table."""

    game: str
    seats: int
    seconds: float
    change: str = ""
    """A part of the recipe that is changed (`strength_changes.py`); empty for the recipe as it is."""


@dataclass(frozen=True, slots=True)
class Played:
    """A match of `search` in one seat."""

    game: str
    seats: int
    seconds: float
    seed: int
    seat: int
    first: float
    """1 for the first place, divided by the number of bots that share it; 0 for any other place."""
    difference: float
    """The score minus the mean score of the rivals."""
    decisions: int
    """The number of decisions of `search` among several legal actions."""
    rollouts: int
    departed: dict[str, list[int]]
    """The rows of `search` that differ from those of `greedy`, by the number of the turn: each action's index among the legal ones."""
    cpu: float
    """Processor seconds of the whole match."""
    change: str = ""

    @property
    def cell(self) -> Cell:
        """The row of the table that the match belongs to."""
        return Cell(self.game, self.seats, self.seconds, self.change)


def read_matches(results: Path = RESULTS) -> list[Played]:
    """Read all matches played so far."""
    if not results.exists():
        return []
    return [Played(**json.loads(line)) for line in results.read_text().splitlines()]


def blocks_of(matches: Iterable[Played]) -> dict[Cell, Blocks]:
    """Return the complete blocks of each cell in the order of their seeds, whatever the order of the matches."""
    found: dict[Cell, dict[int, dict[int, Played]]] = defaultdict(lambda: defaultdict(dict))
    for match in matches:
        found[match.cell][match.seed][match.seat] = match
    return {
        cell: {seed: [*block.values()] for seed, block in sorted(blocks.items()) if len(block) == cell.seats}
        for cell, blocks in sorted(found.items())
    }
