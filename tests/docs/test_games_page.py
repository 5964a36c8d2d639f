"""docs/games.md: written by a command, and never stale without being noticed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from referee.game import Game
from referee.registry import games

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page from the command, with too few matches to say much."""
    path = tmp_path_factory.mktemp("page") / "games.md"
    subprocess.run([sys.executable, "-m", "bench.games", "--matches", "1", "--page", path], cwd=ROOT, check=True)
    return path.read_text()


def tables_of(page: str, game: Game) -> list[int]:
    """The numbers of seats that a page has figures for."""
    return [int(seats) for seats in re.findall(rf"^\| {game.title} \| (\d+) \|", page, re.MULTILINE)]


@pytest.mark.long
@pytest.mark.parametrize("game", games().values(), ids=lambda game: game.name)
def test_the_command_measures_every_game_at_every_table(measured: str, game: Game) -> None:
    assert tables_of(measured, game) == list(game.seat_counts)
    assert len(re.findall(rf"^\| {game.title} \| [\d,]+ \|$", measured, re.MULTILINE)) == 1


@pytest.mark.parametrize("game", games().values(), ids=lambda game: game.name)
def test_the_page_has_every_table_and_every_option(game: Game) -> None:
    page = (ROOT / "docs" / "games.md").read_text()
    assert tables_of(page, game) == list(game.seat_counts), "run `make games`"
    _, _, section = page.partition(f"## Options of {game.title} (`{game.name}`)")
    section = section.partition("\n## ")[0]
    rows = [
        f"| `{option.name}` | {option.describe_values()} | {str(option.default).lower()} |" for option in game.options
    ]
    assert [row for row in rows if row not in section] == [], "run `make games`"
