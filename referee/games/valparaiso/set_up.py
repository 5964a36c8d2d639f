"""The set-up of a match (RULES.md, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from referee.game import Chance
from referee.games.valparaiso.board import LEVELS
from referee.games.valparaiso.names import Card, Colour, Location, Slot, Tile
from referee.games.valparaiso.table import Table

_TILES_OF_A_LETTER = 5
FIRST_GOODS = 3
"""The number of goods that each seat takes (S6)."""
MERCHANTS_ON_BOARD = 2
"""The number of each seat's merchants that begin on the board: one in Valparaíso, one in a village (S2, S8)."""


def set_up(table: Table, chance: Chance) -> None:
    """Lay out the pieces on an empty table."""
    seats, board, options = table.setup.seats, table.board, table.setup.options
    table.sea_money = list(board.sector_money)  # S1
    table.colours = _colours(table, chance)  # S2
    for seat in range(seats):
        table.merchants[seat][Location.V] = 1
        # One stands in Valparaíso, and one waits in front of its owner until S8.
        table.merchants_reserve[seat] = board.merchants_of(seats) - MERCHANTS_ON_BOARD
        table.houses_left[seat] = board.houses
        table.money[seat] = board.start_money  # S7
    _deal_tiles(table, chance)
    pile: list[Card] = []
    for level in LEVELS:  # S4
        in_play = board.achievements(seats, level)
        pile += [in_play[place] for place in chance.stream(f"achievements_{level.lower()}").permutation(len(in_play))]
    table.slots = [int(card) for card in pile[: len(Slot)]]
    table.deck = tuple(pile[len(Slot) :])
    start = options["start_player"]
    table.start_seat = chance.stream("start_player").below(seats) if start == "random" else cast("int", start)  # S5
    table.seat = (table.start_seat - 1) % seats  # the last seat of the round begins (S6)


def _colours(table: Table, chance: Chance) -> tuple[Colour, ...]:
    wanted = str(table.setup.options["colours"])
    if wanted != "random":
        return tuple(Colour[word.upper()] for word in wanted.split("+"))
    # All five are shuffled for fewer seats, too, because any colour can be missing (S2).
    order = chance.stream("colours").permutation(len(Colour))
    return tuple(Colour(number) for number in order[: table.setup.seats])


def _deal_tiles(table: Table, chance: Chance) -> None:
    """Deal each letter's tiles to its spaces in the markets, then to those in the reserve, from the bottom (S3)."""
    side = table.side
    dealt: dict[str, Iterator[Tile]] = {}
    for letter in "abcde":
        order = chance.stream(f"tiles_{letter}").permutation(_TILES_OF_A_LETTER)
        dealt[letter] = iter([Tile[f"T{letter.upper()}{number + 1}"] for number in order])
    # Each letter is dealt to one market after another; the reserve takes the rest from the same iterators.
    columns = [[next(dealt[letter]) for _ in side.markets] for letter in side.column]
    table.markets = [tuple(column[market] for column in columns) for market in range(len(side.markets))]
    table.reserve = tuple(next(dealt[letter]) for letter in side.reserve)
