"""The value of a position in Cargo Noir between two turns: a linear function of greedy's estimates for each seat."""

from __future__ import annotations

from house_bots.greedy.cargo_noir_sets import hand_of, hand_with
from house_bots.greedy.cargo_noir_ships import PortPlan
from house_bots.greedy.cargo_noir_worth import Worths, coins_worth
from house_bots.search.values import read_values
from referee.game import Seat
from referee.games.cargo_noir.names import Card, Phase
from referee.games.cargo_noir.scoring import score
from referee.games.cargo_noir.table import Table

FEATURES = ("score", "goods", "stakes", "coins", "ships", "warehouses", "syndicates")
"""The features of a seat.

They are its points, the worth of its goods, the goods that its stakes promise, the worth of its coins, and its cards.
"""

ROWS = ("at_the_end", "for_ten_turns")
"""The rows of weights: the weights at the end of the match, and the amounts added to them for every ten remaining turns."""


def features(worths: Worths, table: Table, seat: Seat) -> list[float]:
    """Return a seat's features at the beginning of a turn, then each feature times a tenth of the remaining turns."""
    turns = table.last_turn - table.turn
    worth = worths.goods(table, seat, turns)
    goods, cards = table.goods[seat], table.cards[seat]
    now = worth.of(hand_of(goods))
    coins = table.safe[seat] + table.casino[seat] * worths.board.casino_income
    expected = 0.0
    for port in table.open_ports:
        stack = table.stacks[port][seat]
        if stack and stack == max(table.stacks[port]):
            gain = worth.of(hand_with(goods, table.port_goods[port])) - now
            chance = 1.0
            # The seat on turn collects before anybody can outbid it.
            if seat != table.seat and turns:
                chance = PortPlan(worths, table, seat, port).chance_to_stay(stack)
            expected += chance * gain
            coins += int((1 - chance) * stack)
            goods = [have + more for have, more in zip(goods, table.port_goods[port], strict=True)]
            now = worth.of(hand_of(goods))
        else:
            coins += stack
    found = [
        float(score(table, seat)),
        worth.of(hand_of(table.goods[seat])),
        expected,
        coins_worth(coins, turns + 1),
        float(cards[Card.CARGO_SHIP]),
        float(cards[Card.WAREHOUSE]),
        float(cards[Card.SYNDICATE]),
    ]
    return found + [feature * turns / 10 for feature in found]


class Value:
    """The value of positions in one match."""

    def __init__(self, worths: Worths, seats: int) -> None:
        self._worths = worths
        at_the_end, for_ten_turns = read_values("cargo_noir", seats, FEATURES, ROWS)
        self._weights: list[float] = at_the_end + for_ten_turns

    def of(self, table: Table) -> list[float]:
        """Return each seat's final points, or estimates of them at the beginning of a turn."""
        found: list[float] = []
        for seat in range(table.setup.seats):
            if table.phase is Phase.OVER:
                found.append(float(score(table, seat)))
            else:
                points = 0.0
                row = features(self._worths, table, seat)
                for place in range(len(row)):
                    points += self._weights[place] * row[place]
                found.append(points)
        return found
