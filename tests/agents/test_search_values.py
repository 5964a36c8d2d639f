"""The files of fitted values: what is wrong with one is said in one line, with the remedy."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from house_bots.search.values import BadValues, read_values

from referee.registry import find

FEATURES, ROWS = ("coins", "ships"), ("now", "later")
GOOD = """
game = "cargo_noir"
features = ["coins", "ships"]
[seats2]
now = [1, 2.5]
later = [0.0, -1.0]
"""


def read(folder: Path, text: str) -> list[list[float]]:
    (folder / "cargo_noir.toml").write_text(text)
    return read_values("cargo_noir", 2, FEATURES, ROWS, folder)


def test_weights_are_read_by_row(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD) == [[1.0, 2.5], [0.0, -1.0]]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"cargo_noir"', '"venezia"', "it is for the game 'venezia', not 'cargo_noir'"),
        ('game = "cargo_noir"', "", "it is for the game None, not 'cargo_noir'"),
        ('["coins", "ships"]', '["coins"]', "its features are not those of this version, coins, ships"),
        ('["coins", "ships"]', '["ships", "coins"]', "its features are not those of this version, coins, ships"),
        ("[seats2]", "[seats3]", "seats2.now must be 2 numbers"),
        ("[seats2]", "seats2 = 5\n[seats3]", "seats2.now must be 2 numbers"),
        ("[1, 2.5]", "[1, 2.5, 3]", "seats2.now must be 2 numbers"),
        ("[0.0, -1.0]", '["0.0", -1.0]', "seats2.later must be 2 numbers"),
        ("[0.0, -1.0]", "[0.0, inf]", "seats2.later must be 2 numbers"),
        ("[0.0, -1.0]", f"[0.0, 1{400 * '0'}]", "int too large to convert to float"),
        ("[seats2]", "[seats2", "Expected ']' at the end of a table declaration (at line 4, column 8)"),
    ],
)
def test_a_file_of_another_game_or_other_features_is_refused_in_one_line(
    old: str, new: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(BadValues) as caught:
        read(tmp_path, GOOD.replace(old, new))
    assert str(caught.value) == (
        f"search cannot use its values in {tmp_path / 'cargo_noir.toml'}: {why};"
        " install Dogana again, or fit them in a checkout: make values"
    )


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        BadValues, match=r"values in .*/cargo_noir\.toml: No such file or directory; install Dogana again"
    ):
        read_values("cargo_noir", 2, FEATURES, ROWS, tmp_path)


@pytest.mark.parametrize("game", ["cargo_noir", "venezia"])
def test_the_shipped_files_are_for_every_number_of_seats(game: str) -> None:
    module = import_module(f"house_bots.search.{game}_value")
    for seats in find(game).seat_counts:
        assert len(read_values(game, seats, module.FEATURES, module.ROWS)) == len(module.ROWS)
