"""Tables on a narrow terminal: names stay whole, other columns give way."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from referee.commands.output import out
from referee.registry import games
from tests.commands.conftest import Dogana
from tests.ladder.in_process import dogana
from tests.ladder.made import CONDITION, ladder, next_matches, play

__all__ = ["dogana"]

LONG = "a-bot-with-a-name-that-is-long"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A ladder whose bots have played."""
    (tmp_path / "home").mkdir()
    with ladder(tmp_path / "home", bots=2) as store:
        version, _ = store.roster.add_version(LONG, "somebody-else", "hash", ["./bot"], [CONDITION.game])
        store.admission.qualify(version.id, CONDITION, passed=True, reason="")
        for match in next_matches(store):
            play(store, match, random.Random(1))
    return tmp_path / "home"


@pytest.mark.parametrize("width", [60, 80, 100])
def test_games_and_their_options_have_whole_names(dogana: Dogana, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out, "width", width)
    listed = dogana("games").stdout
    for game in games().values():
        assert f"│ {game.name} " in listed
        printed = dogana("games", game.name).stdout
        for option in game.options:
            assert option.name in printed
            assert option.name in listed or width < 80
        assert "…" not in printed + listed
    assert ("dogana games GAME" in listed) == (width < 80)


@pytest.mark.parametrize(("width", "left_out"), [(60, True), (120, False)])
def test_standings_have_whole_names_and_say_what_they_leave_out(
    dogana: Dogana, home: Path, width: int, left_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(out, "width", width)
    printed = dogana("ladder", "top", "cargo_noir", "--home", home).stdout
    assert f"{LONG} v1 " in printed
    assert ("a wider terminal has more columns: sigma" in printed) == left_out
    assert ("somebody-else" in printed) == (not left_out)
