"""A picture of an observation (being made)."""

from __future__ import annotations

from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.observation import VeneziaObservation


def draw(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """An SVG picture."""
    return '<svg xmlns="http://www.w3.org/2000/svg"/>'
