"""A picture of an observation (being made)."""

from __future__ import annotations

from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.observation import YunnanObservation


def draw(board: YunnanBoard, seen: YunnanObservation) -> str:
    """An SVG picture."""
    return '<svg xmlns="http://www.w3.org/2000/svg"/>'
