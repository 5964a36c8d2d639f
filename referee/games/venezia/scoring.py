"""Majorities, points and places (RULES.md, Z0.3, Z10, Z12 and section 6)."""

from __future__ import annotations

from collections.abc import Sequence

from referee.game import Seat
from referee.games.venezia.names import DISTRICTS, Phase
from referee.games.venezia.table import NONE, Table


def majority(pigeons: Sequence[int]) -> Seat:
    """Return the seat with strictly more pigeons than every other seat, or NONE (Z0.3)."""
    most = max(pigeons)
    return pigeons.index(most) if most and pigeons.count(most) == 1 else NONE


def majority_in(table: Table, place: int) -> Seat:
    """Return the seat with the majority in a place, given the current greys and bird of prey (Z10.1, Z8.5)."""
    if place == table.raptor:
        return NONE
    pigeons = table.loc[place]
    if table.grey_owner != NONE and table.grey[place]:
        pigeons = pigeons[:]  # the greys stay grey, because they count only in the scoring (R22)
        pigeons[table.grey_owner] += table.grey[place]
    return majority(pigeons)


def score_districts(table: Table) -> None:
    """Score the majorities in the districts, and record them (Z10.1, Z10.2)."""
    for district in DISTRICTS:
        seat = table.majority[district] = majority_in(table, district)
        if seat != NONE:
            enemy = district in table.home and table.home[seat] != district
            points = table.board.enemy_home_points if enemy else table.board.majority_points
            table.score[seat] += points
            earned = list(table.earned[seat])
            earned[district] += points
            table.earned[seat] = tuple(earned)


def dominator(table: Table) -> Seat:
    """Return the seat that wins by majorities, whatever the points, or NONE (Z12.2)."""
    for seat in range(table.setup.seats):
        if table.majority.count(seat) >= table.board.win_districts:
            return seat
    return NONE


def is_won(table: Table) -> bool:
    """Return whether the last scoring ended the match by points or majorities, before the last round (Z12.1)."""
    if table.setup.options["end_rule"] == "fixed4":
        return False
    return dominator(table) != NONE or max(table.score) >= table.board.win_points


def ends_after_scoring(table: Table) -> bool:
    """Return whether the match ends with this scoring (Z12.1)."""
    return table.round >= table.last_round or is_won(table)


def ranks(table: Table) -> list[int]:
    """Return the place of each seat: a winner by majorities first, then by points; ties share a place (section 6)."""
    # Majorities of earlier rounds win nothing by themselves: with `fixed4` the match may have gone on.
    first = dominator(table) if table.phase is Phase.OVER else NONE
    results = [(seat == first, points) for seat, points in enumerate(table.score)]
    return [1 + sum([other > own for other in results]) for own in results]
