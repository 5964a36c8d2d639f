"""`dogana ladder finalists`: the best bots of a ladder become the entrants of a tournament."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ladder.facts.store import Store
from ladder.intake.submission import submit
from ladder.operation.home import Home
from ladder.play.running import count
from referee.bots.files import hash_of
from tests.commands.conftest import Dogana, dogana
from tests.ladder.made import CONDITION, GAME, next_matches, result_of
from tests.ladder.rated_ladder import BOT, rated_ladder

__all__ = ["dogana"]


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rated_ladder(tmp_path_factory.mktemp("rated") / "home").folder


@pytest.fixture
def home(rated: Path, tmp_path: Path) -> Home:
    shutil.copytree(rated, tmp_path / "home")
    return Home(tmp_path / "home")


def test_the_best_bots_of_a_ladder_become_entrants_in_the_order_of_their_ratings(
    dogana: Dogana, home: Home, tmp_path: Path
) -> None:
    said = dogana("ladder", "finalists", "bots", "--game", GAME.name, "--top", 2, "--home", home.folder).stdout
    assert said.splitlines() == ["cem-v2=bots/cem-v2", "ann-v1=bots/ann-v1"]
    assert "# 3" in (tmp_path / "bots" / "cem-v2" / "cem.py").read_text()
    ended = dogana("ladder", "finalists", "more", "--game", GAME.name, "--top", 9, "--home", home.folder)
    assert [line.partition("=")[0] for line in ended.stdout.splitlines()] == ["cem-v2", "ann-v1", "bob-v1"]
    assert "the ladder has only 3 such bots" in ended.stderr


@pytest.mark.long
def test_they_are_the_entrants_of_a_tournament_in_the_same_order(dogana: Dogana, home: Home, tmp_path: Path) -> None:
    words = dogana("ladder", "finalists", "bots", "--game", GAME.name, "--home", home.folder).stdout.split()
    dogana("tournament", "new", "final", *words, "--game", GAME.name, "-o", "last_turn=3", "--format", "knockout")
    text = (tmp_path / "final" / "tournament.toml").read_text()
    assert text.index('name = "cem-v2"') < text.index('name = "ann-v1"')


def test_copies_can_be_changed_and_replaced_and_are_the_same_bots(dogana: Dogana, home: Home, tmp_path: Path) -> None:
    for more in ((), ("--force",)):
        dogana("ladder", "finalists", "bots", "--game", GAME.name, "--top", 1, "--home", home.folder, *more)
    copy = tmp_path / "bots" / "cem-v2"
    assert all(path.stat().st_mode & 0o200 for path in (copy, *copy.rglob("*")))
    assert (home.versions / hash_of(copy)).is_dir()


def test_a_copy_is_replaced_as_a_whole_with_its_links(dogana: Dogana, home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "cem"
    folder.mkdir()
    (folder / "bot.py").write_text(BOT)
    (folder / "bot.toml").write_text('run = ["python3", "bot.py"]\n')
    (folder / "link.py").symlink_to("bot.py")
    version, _ = submit(home, folder, "cem", "author-of-cem")
    with Store(home.database, create=False) as store:
        store.admission.qualify(version.id, CONDITION, passed=True, reason="")
        for seed in range(4):
            for match in next_matches(store, seed):
                ranks = [1 if one == version else 2 for one in match.seats]
                count(store, match, result_of(match, ranks), match.match_id)
    words = ("ladder", "finalists", "bots", "--game", GAME.name, "--home", home.folder)
    dogana(*words)
    copy = tmp_path / "bots" / "cem-v3"
    (copy / "left.py").touch()
    dogana(*words, "--force")
    assert (copy / "link.py").is_symlink()
    assert hash_of(copy) == version.content_hash


def test_a_ladder_without_ratings_and_changed_files_are_refused(dogana: Dogana, home: Home) -> None:
    words = ("ladder", "finalists", "bots", "--home", home.folder, "--game")
    assert "no submitted bot has a rating in yunnan yet" in dogana(*words, "yunnan", status=1).stderr
    for file in home.versions.glob("*/cem.py"):
        file.chmod(0o644)
        file.write_text("other")
    assert "the files of cem v2 are not those that were submitted" in dogana(*words, GAME.name, status=1).stderr
