"""Records of short matches of all games."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from house_bots.random_bot import RandomBot

from referee.game import Game
from referee.live.matches.play import House, play_match
from referee.registry import find
from tests.tables import plan_of

SHORT = {"cargo_noir": {"last_turn": 3}, "valparaiso": {"max_rounds": 2}, "yunnan": {"turn_limit": 2, "openings": 0}}
"""Options that make matches short, by game."""
Recorded = Callable[[str, int], Path]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Gives the record of a short match of a game with a number of seats; each is played once."""

    @cache
    def play(game: str, seats: int) -> Path:
        path = tmp_path_factory.mktemp("records") / "match.jsonl"
        plan = plan_of(game, seats, options=SHORT.get(game))
        with ThreadPoolExecutor(1) as other:  # the browser's driver has an event loop in this thread
            other.submit(asyncio.run, play_match(plan, [House(RandomBot)] * seats, record=path)).result()
        return path

    return play


@cache
def find_sparing(name: str) -> Game:
    """Finds a game that draws no picture twice: drawing is what takes the time here."""
    game = copy.copy(find(name))
    drawn: dict[object, str] = {}
    draw = game.draw

    def draw_once(setup: object, *seen: object) -> str:
        if seen not in drawn:
            drawn[seen] = draw(setup, *seen)  # type: ignore[arg-type]
        return drawn[seen]

    game.draw = draw_once  # type: ignore[method-assign, assignment]
    return game
