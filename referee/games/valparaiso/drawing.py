"""Draws an observation (temporary)."""

from __future__ import annotations

from referee.games.valparaiso.board import Side, ValparaisoBoard
from referee.games.valparaiso.observation import ValparaisoObservation


def draw(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> str:
    """The picture."""
    return '<svg xmlns="http://www.w3.org/2000/svg"/>'
