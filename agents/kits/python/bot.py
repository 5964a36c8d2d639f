"""A bot that plays every game. Change the points that it gives to actions, or what `choose` does with them."""

import random
from collections.abc import Callable
from typing import Any

from dogana.games.cargo_noir.v1 import cargo_noir_pb2 as cn
from dogana.games.valparaiso.v1 import valparaiso_pb2 as vp
from dogana.games.venezia.v1 import venezia_pb2 as vz
from dogana.games.yunnan.v1 import yunnan_pb2 as yn
from dogana.sdk import Decision, play


def choose(decision: Decision) -> int:
    """Return the index of the action with the most points.

    Chance decides between equals, and in games without points.
    """
    points = POINTS.get(decision.match.game)
    if points is None or decision.rejection is not None:  # an unknown game, or an answer that was refused
        return random.randrange(decision.action_count)
    found = [points(decision, action) + random.random() for action in decision.actions]
    return found.index(max(found))


# The points of an action in each game: a few simple rules to begin with. The game's RULES.md explains the actions;
# its file in proto/dogana/games/ describes each field of an action or an observation.


def cargo_noir(decision: Decision, action: cn.Action) -> float:
    """Collect goods, hand in large sets of one kind, buy the dearest card, and send ships where many goods lie."""
    seen: cn.Observation = decision.observation
    me, is_last = seen.seats[decision.seat], seen.turn == seen.last_turn
    match action.WhichOneof("kind"):
        case "collect":
            return 100
        case "casino":
            return 90
        case "bm_draw":
            return 15
        case "bm_swap":  # take the kind that you have most of, give the kind that you have least of
            return 10 * (int(me.goods[action.bm_swap.take - 1]) - int(me.goods[action.bm_swap.give - 1]))
        case "raise":
            return 50 if me.safe >= 4 and not is_last else 20
        case "withdraw":
            return 30
        case "stake":  # one coin more than needed
            return -abs(action.stake.coins - seen.pending_stake.min - 1)
        case "sell_same":
            size = action.sell_same.n + action.sell_same.wilds
            return 100 + size if size >= 4 or is_last else 0
        case "diff_start" | "diff_add" | "diff_close":
            return 60 if is_last else -10
        case "buy":
            return 80 + action.buy.card
        case "end_smuggling":
            return 10
        case "discard":
            return -int(me.goods[action.discard.kind - 1])
        case "send":
            for port in seen.ports:
                if (
                    port.port == action.send.dest - 2
                ):  # destinations are the Casino, the Black Market and then the ports
                    return 3 * sum(port.goods) - 2 * sum(port.stacks) + (5 if me.safe > 2 else -20)
            return 15 if action.send.dest == cn.DESTINATION_CASINO and me.safe < 5 else 2
    return 0


def valparaiso(decision: Decision, action: vp.Action) -> float:
    """Load three goods of a kind, sail, and trade them overseas for an achievement; build when there is money."""
    seen: vp.Observation = decision.observation
    me = seen.seats[decision.seat]
    goods = [int(stored) + int(loaded) for stored, loaded in zip(me.warehouse, me.hold, strict=True)]
    is_loaded, is_home = max(me.hold) >= 3, me.ship == vp.SECTOR_H
    useful = {  # cards whose main action helps now; the others are used for a good or for money
        vp.CARD_K8: 100,
        vp.CARD_K5: 90,
        vp.CARD_K1: 80 if max(goods) >= 3 and not is_loaded else 0,
        vp.CARD_K7: 70 if is_loaded or not is_home else 0,
    }
    match action.WhichOneof("kind"):
        case "goods":
            return 10 * ((action.goods.first == action.goods.second) + (action.goods.second == action.goods.third))
        case "place":
            return 50 + useful.get(action.place.card, 20) / 10
        case "commit":
            return 20
        case "use":
            card = me.plan[action.use.slot - 1]
            points = useful.get(card, 60 if card > vp.CARD_K8 else 0)
            return (points if action.use.mode == vp.MODE_MAIN else 30) - action.use.slot
        case "transfer":
            load = (action.transfer.silver, action.transfer.copper, action.transfer.wheat)
            return sum(load) + 10 * sum(count >= 3 for count in load)
        case "sail":
            if action.sail.sector == vp.SECTOR_H:
                return 5
            return 10 if me.hold[action.sail.sector - vp.SECTOR_OW] >= 3 else 0  # OW wants silver, ON copper, OE wheat
        case "build" | "build_for_good":
            return 40
        case "give" | "give_two" | "pay" | "scrap" | "trade" | "take" | "buy" | "hire":
            return 30
        case "sell":
            return -10
    return 0


def venezia(decision: Decision, action: vz.Action) -> float:
    """Lay pigeons in three districts, the rivals' homes first; a few breed beside the tourists on the Piazza."""
    seen: vz.Observation = decision.observation
    mine = decision.seat
    homes = {seat.home for index, seat in enumerate(seen.seats) if index != mine}

    def lead(place: int) -> int:
        """Return this seat's lead in a place, in pigeons; negative if a rival leads."""
        pigeons = list(map(int, seen.places[place - 1].pigeons))
        return pigeons[mine] - max(pigeons[:mine] + pigeons[mine + 1 :])

    def bears(square: int) -> float:
        """Return the value of a square for breeding: 5 on a tourist, 2 beside one, and less at a greater distance."""
        row, column = divmod(square - 1, 10)
        steps = [max(abs(row - (one - 1) // 10), abs(column - (one - 1) % 10)) for one in seen.tourists]
        return max((5 if step == 0 else 2 if step == 1 else 1 / step for step in steps), default=0)

    match kind := action.WhichOneof("kind"):
        case "first":
            return 10 if action.first.card == vz.FIRST_CARD_PIAZZA else 0
        case "card":
            return 0 if action.card.card == vz.ACTION_CARD_NONE else 5
        case "district":
            return 20 - abs(lead(action.district.place)) + (5 if action.district.place in homes else 0)
        case "count":  # an equal share for each card that is still to come
            cards = 1 + len(seen.plan.chosen) - len(seen.plan.counts)
            return -abs(action.count.pigeons - seen.seats[mine].reserve / max(cards, 1))
        case "feint" | "reinforce" | "michele" | "from_reserve":
            return float(getattr(action, kind).pigeons)
        case "place_pigeon":
            return 10
        case "walk" | "jump":
            move = action.walk if kind == "walk" else action.jump
            return 10 * (bears(move.end) - bears(move.start))
        case "done" | "stop":
            return 1
        case "fehde" | "recover":
            return 5
        case "takeover":
            return -lead(action.takeover.district)
        case "purge":
            return -10 if action.purge.seat == mine else -lead(action.purge.district)
        case "poison":
            owner = next(pigeon.seat for pigeon in seen.piazza if pigeon.square == action.poison.square)
            return -5 if owner == mine else 5
        case "raptor":
            return -lead(action.raptor.place)
    return 0


def yunnan(decision: Decision, action: yn.Action) -> float:
    """Bid low for progress, move Merchants far out, where they earn most, and turn all income into points."""
    match action.WhichOneof("kind"):
        case "bid":
            return 10 - action.bid.value / 3
        case "take":
            return 10
        case "build_post":
            return 50 + action.build_post.province
        case "build_teahouse" | "build_bridge":
            return 60
        case "move":
            return 10 * (action.move.end - action.move.start)
        case "displace" | "done":
            return 5
        case "market":
            return 4
        case "pass":
            return 1
        case "convert":
            return action.convert.points
    return 0


POINTS: dict[str, Callable[[Decision, Any], float]] = {
    "cargo_noir": cargo_noir,
    "valparaiso": valparaiso,
    "venezia": venezia,
    "yunnan": yunnan,
}

if __name__ == "__main__":
    play(choose)
