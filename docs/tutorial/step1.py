"""Step 1: any action."""

import random

from dogana.sdk import Decision, play


def choose(decision: Decision) -> int:
    chance = random.Random(f"{decision.match.match_id} {decision.number}")
    return chance.randrange(decision.action_count)


play(choose)
