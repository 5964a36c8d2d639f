"""Step 3: walk to the tourists."""

import random

from dogana.games.venezia.v1 import venezia_pb2 as vz
from dogana.sdk import Decision, play


def choose(decision: Decision) -> int:
    chance = random.Random(f"{decision.match.match_id} {decision.number}")
    values = [value(decision, action) + chance.random() for action in decision.actions]
    return values.index(max(values))


def value(decision: Decision, action) -> float:
    kind = action.WhichOneof("kind")
    if kind == "count":
        return value_of_count(decision, action.count.pigeons)
    if kind in ("done", "stop"):
        return 0 if decision.observation.phase in (vz.PHASE_MOVE, vz.PHASE_CHAIN) else -99
    if kind in ("walk", "jump"):
        move = action.walk if kind == "walk" else action.jump
        return value_of_move(decision, move.start, move.end)
    return 0


def value_of_count(decision: Decision, pigeons: int) -> float:
    """Distribute the pigeons evenly among the cards that have none yet."""
    plan = decision.observation.plan
    cards_left = 1 + len(plan.chosen) - len(plan.counts)
    most = decision.actions[-1].count.pigeons
    return -abs(pigeons - most / cards_left)


def value_of_move(decision: Decision, start: int, end: int) -> float:
    """Count the additional births; a move without gain is worth less than no move."""
    return 2 * (born(decision, end) - born(decision, start)) - 1


def born(decision: Decision, square: int) -> int:
    """Return the births to a pigeon on this square: 5 on a tourist, 2 beside one."""
    distances = [distance(square, tourist) for tourist in decision.observation.tourists]
    return 5 if 0 in distances else 2 if 1 in distances else 0


def distance(one: int, other: int) -> int:
    """Return the number of steps between two squares, which are numbered row by row from 1, ten in a row."""
    row, column = divmod(one - 1, 10)
    other_row, other_column = divmod(other - 1, 10)
    return max(abs(row - other_row), abs(column - other_column))


play(choose)
