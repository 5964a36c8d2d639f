"""Step 2: rate each action, and take the one with the highest rating."""

import random

from dogana.sdk import Decision, play


def choose(decision: Decision) -> int:
    chance = random.Random(f"{decision.match.match_id} {decision.number}")
    values = [value(decision, action) + chance.random() for action in decision.actions]
    return values.index(max(values))


def value(decision: Decision, action) -> float:
    kind = action.WhichOneof("kind")
    if kind == "done":
        return -99  # rather do something
    if kind == "count":
        return value_of_count(decision, action.count.pigeons)
    return 0


def value_of_count(decision: Decision, pigeons: int) -> float:
    """Distribute the pigeons evenly among the cards that have none yet."""
    plan = decision.observation.plan
    cards_left = 1 + len(plan.chosen) - len(plan.counts)
    most = decision.actions[-1].count.pigeons
    return -abs(pigeons - most / cards_left)


play(choose)
