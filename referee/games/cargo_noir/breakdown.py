"""The sources of points and the criteria that decide the places, as far as an observation shows them (RULES.md, C8)."""

from __future__ import annotations

from referee.game import Criterion, Points
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import Card, Destination, Port
from referee.games.cargo_noir.observation import CargoNoirObservation


def breakdown(board: CargoNoirBoard, seen: CargoNoirObservation) -> tuple[tuple[Points, ...], ...]:
    """Return each seat's victory points, broken down by card (C8.2)."""
    return tuple(
        tuple([Points(titled(card), board.vp[card] * count) for card, count in zip(Card, has.cards, strict=True)])
        for has in seen.seats
    )


def criteria(board: CargoNoirBoard, seen: CargoNoirObservation) -> tuple[Criterion, ...]:
    """Return the criteria that decide the places: the score, then the best single card (C8.3)."""
    best = [max(vp if count else 0 for count, vp in zip(has.cards, board.vp, strict=True)) for has in seen.seats]
    return Criterion("points", tuple([has.score for has in seen.seats])), Criterion("best single card", tuple(best))


def titled(name: Port | Card | Destination) -> str:
    """Return a name as people write it, such as `New York`."""
    return name.name.replace("_", " ").title()
