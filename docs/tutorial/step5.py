"""Step 5: go for the points."""

import random

from dogana.games.venezia.v1 import venezia_pb2 as vz
from dogana.sdk import Decision, play


def choose(decision: Decision) -> int:
    chance = random.Random(f"{decision.match.match_id} {decision.number}")
    values = [value(decision, action) + chance.random() for action in decision.actions]
    return values.index(max(values))


def value(decision: Decision, action) -> float:
    kind = action.WhichOneof("kind")
    if kind == "first":
        is_piazza = action.first.card == vz.FIRST_CARD_PIAZZA
        return 9 if is_piazza == (decision.observation.round == 1) else 0
    if kind == "district":
        return value_of_district(decision, action.district.place)
    if kind == "count":
        return value_of_count(decision, action.count.pigeons)
    if kind == "place_pigeon":
        return value_of_square(decision, action.place_pigeon.square)
    if kind in ("done", "stop"):
        return 0 if decision.observation.phase in (vz.PHASE_MOVE, vz.PHASE_CHAIN) else -99
    if kind in ("walk", "jump"):
        move = action.walk if kind == "walk" else action.jump
        return value_of_move(decision, move.start, move.end)
    if kind == "reinforce":
        return action.reinforce.pigeons
    return 0


def value_of_district(decision: Decision, place: int) -> float:
    """Weigh the points of the majority against the pigeons that it needs."""
    mine, theirs = pigeons_in(decision, place)
    value = points(decision, place) / (1 + 0.6 * max(0, theirs - mine + 1))
    if mine > theirs + 1:
        value -= 2  # it is ours already
    if place == decision.observation.seats[decision.seat].home:
        value -= 1.5  # reinforcements come here later
    return value


def points(decision: Decision, place: int) -> int:
    """Return the worth of the majority: 6 in the home of a rival, 0 on San Giorgio Maggiore, 3 elsewhere."""
    if place == vz.PLACE_SGM:
        return -9
    homes = [has.home for seat, has in enumerate(decision.observation.seats) if seat != decision.seat]
    return 6 if place in homes else 3


def pigeons_in(decision: Decision, place: int) -> tuple[int, int]:
    """Return the number of our pigeons in a place, and that of our strongest rival."""
    counts = list(decision.observation.places[place - 1].pigeons)
    mine = counts.pop(decision.seat)
    return mine, max(counts)


def value_of_count(decision: Decision, pigeons: int) -> float:
    """Lay as many as possible on the Piazza and none on the Feint; distribute the others evenly among the districts."""
    plan = decision.observation.plan
    if not plan.counts:
        return pigeons if plan.first == vz.FIRST_CARD_PIAZZA else -pigeons
    cards_left = 1 + len(plan.chosen) - len(plan.counts)
    most = decision.actions[-1].count.pigeons
    return -abs(pigeons - most / cards_left)


def value_of_square(decision: Decision, square: int) -> float:
    """Stand apart from own pigeons, so that one is near any tourist, and away from the edge and from rivals."""
    mine, theirs = [], []
    for pigeon in decision.observation.piazza:
        (mine if pigeon.seat == decision.seat else theirs).append(distance(square, pigeon.square))
    row, column = divmod(square - 1, 10)
    inside = min(row, 7 - row, 2) + min(column, 9 - column, 2)
    return 2 * min([3, *mine]) + inside - 2 * theirs.count(1)


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
