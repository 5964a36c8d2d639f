"""A bot that plays every game. Change `choose`, and what it looks at below."""

import random
from typing import Any

from dogana.sdk import Decision, play


def choose(decision: Decision) -> int:
    """Choose the action with the most points; return its index. Chance decides between equals, and in games without points."""
    points = POINTS.get(decision.match.game)
    if points is None or decision.rejection is not None:  # an unknown game, or an answer that was refused
        return random.randrange(decision.action_count)
    found = [points(decision, action, action.WhichOneof("kind")) + random.random() for action in decision.actions]
    return found.index(max(found))


# Points for an action, higher is better: what it is, and what the observation says about it. RULES.md of each game has the rules;
# proto/dogana/games/ has everything that an action or an observation can say.


def cargo_noir(decision: Decision, action: Any, kind: str) -> float:
    """Collect goods, hand in large sets of one kind, buy the dearest cards, send ships where many goods are."""
    seen = decision.observation
    me, last = seen.seats[decision.seat], seen.turn == seen.last_turn
    match kind:
        case "collect":
            return 100
        case "casino":
            return 90
        case "bm_swap":  # give of what there is least, take of what there is most
            return 10 * (me.goods[action.bm_swap.take - 1] - me.goods[action.bm_swap.give - 1])
        case "bm_draw":
            return 15
        case "raise":
            return 50 if me.safe >= 4 and not last else 20
        case "withdraw":
            return 30
        case "stake":
            return -abs(action.stake.coins - seen.pending_stake.min - 1)
        case "sell_same":
            size = action.sell_same.n + action.sell_same.wilds
            return 100 + size if size >= 4 or last else 0
        case "diff_start" | "diff_add" | "diff_close":
            return 60 if last else -10
        case "buy":
            return 80 + action.buy.card
        case "end_smuggling":
            return 10
        case "discard":
            return -me.goods[action.discard.kind - 1]
        case "send":
            port = next((port for port in seen.ports if port.port == action.send.dest - 2), None)
            if port is not None:
                return 3 * sum(port.goods) - 2 * sum(port.stacks) + (5 if me.safe > 2 else -20)
            return 15 if action.send.dest == 1 and me.safe < 5 else 2
    return 0


def valparaiso(decision: Decision, action: Any, kind: str) -> float:
    """Buy what brings points."""
    return {"acquire": 100, "build": 90, "build_for_good": 90, "give": 80, "give_two": 80, "pay": 70}.get(kind, 0)


def venezia(decision: Decision, action: Any, kind: str) -> float:
    """Play at random."""
    return 0


def yunnan(decision: Decision, action: Any, kind: str) -> float:
    """Move Merchants far out, where they earn most; bid low for progress; make points of nearly all income."""
    match kind:
        case "convert":
            return action.convert.points
        case "move":
            return 10 * (action.move.end - action.move.start)
        case "bid":
            return 10 - action.bid.value / 3
        case "take":
            return 10
        case "build_post":
            return 50 + action.build_post.province
        case "build_teahouse" | "build_bridge":
            return 60
        case "displace":
            return 5
        case "market":
            return 4
        case "pass":
            return 1
        case "done":
            return 5
    return 0


POINTS = {"cargo_noir": cargo_noir, "valparaiso": valparaiso, "venezia": venezia, "yunnan": yunnan}

if __name__ == "__main__":
    play(choose)
