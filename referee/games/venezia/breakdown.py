"""The sources of points and the criteria that decide the places, as observed (RULES.md, Z10, Z12 and section 6)."""

from __future__ import annotations

from referee.game import Criterion, Points
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.names import Phase
from referee.games.venezia.observation import VeneziaObservation


def breakdown(board: VeneziaBoard, seen: VeneziaObservation) -> tuple[tuple[Points, ...], ...]:
    """Return each seat's points, broken down by district (Z10.2)."""
    return tuple(
        (
            Points("before this position", has.score - sum(has.earned)),
            *(Points(name, points) for name, points in zip(board.place_names, has.earned, strict=False)),
        )
        for has in seen.seats
    )


def criteria(board: VeneziaBoard, seen: VeneziaObservation) -> tuple[Criterion, ...]:
    """Return the criteria that decide the places: victory by majorities once the match is over (Z12.2), then points."""
    held = [sum(majority.seat == seat for majority in seen.majorities) for seat in range(len(seen.seats))]
    wins = [seen.phase is Phase.OVER and count >= board.win_districts for count in held]
    first = [int(won and not any(wins[:seat])) for seat, won in enumerate(wins)]
    return (
        Criterion("victory by majorities", tuple(first)),
        Criterion("points", tuple([has.score for has in seen.seats])),
    )
