"""One ranking over all games: each weighs the same, and ranges are as honest as those of the games."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist

import pytest

from ladder.facts import fitted as fitted_module
from ladder.facts.fitted import fitted
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.fit import CountedMatch, fit
from ladder.model.overall import overall
from ladder.model.rating import SIGMA
from ladder.operation.home import Home
from ladder.play.blocks import Blocks
from ladder.play.running import count
from ladder.questions.all_games import AllGamesAnswer, AllGamesRequest
from ladder.questions.desk import Desk
from ladder.questions.in_words import open_places, share
from referee.registry import find
from tests.commands.conftest import Dogana
from tests.ladder.in_process import dogana
from tests.ladder.made import result_of
from tests.web.hostile_ladder import check_markup, page, rows, table_of, text_of

__all__ = ["dogana"]

GAMES = ("cargo_noir", "yunnan")
BETA = SIGMA / 2


def performed(
    strengths: Mapping[int, float], chance: random.Random, blocks: int, spread: float = BETA
) -> list[CountedMatch]:
    """Matches of three, in which versions perform at their strength and a noise."""
    matches = []
    for block in range(blocks):
        table = chance.sample(sorted(strengths), 3)
        for turn in range(3):
            seats = tuple(table[turn:] + table[:turn])
            performance = {version: chance.gauss(strengths[version], spread) for version in seats}
            order = sorted(seats, key=lambda version: -performance[version])
            matches.append(CountedMatch(block, seats, tuple(1 + order.index(version) for version in seats)))
    return matches


def true_shares(strengths: Mapping[int, float]) -> dict[int, float]:
    """The share of the others that each version is ahead of at tables of two."""
    ahead = NormalDist(0, BETA * math.sqrt(2)).cdf
    return {
        one: sum(ahead(own - theirs) for other, theirs in strengths.items() if other != one) / (len(strengths) - 1)
        for one, own in strengths.items()
    }


# --- the model --------------------------------------------------------------------------------------------------


def test_with_one_game_the_order_is_by_its_strengths_and_shares_are_one_half_on_average() -> None:
    strengths = {version: 3.0 * version for version in range(8)}
    fitted_once = fit(performed(strengths, random.Random(1), 200))
    found = overall([fitted_once])
    by_strength = sorted(found, key=lambda version: -fitted_once[version].strength)
    assert sorted(found, key=lambda version: -found[version].share) == by_strength
    assert sum(one.share for one in found.values()) / len(found) == pytest.approx(0.5, abs=1e-4)
    assert all(0 <= one.low <= one.share <= one.high <= 1 for one in found.values())
    assert all(one.by_game == (one.share,) for one in found.values())


def test_a_game_without_luck_weighs_no_more_than_a_game_of_luck() -> None:
    """By strengths, the first would decide alone; by shares, whoever is first here and last there is in the middle."""
    chance = random.Random(2)
    wide = fit(performed({version: 12.0 * version for version in range(5)}, chance, 150))
    narrow = fit(performed({version: -1.5 * version for version in range(5)}, chance, 600))
    found = overall([wide, narrow])
    assert sum(each[4].strength for each in (wide, narrow)) > sum(each[0].strength for each in (wide, narrow)) + 20
    for version, one in found.items():
        shares = [overall([game])[version].share for game in (wide, narrow)]
        assert one.by_game == pytest.approx(shares, abs=1e-4)
        assert one.share == pytest.approx(sum(shares) / 2, abs=1e-4)


def test_of_equals_the_older_one_comes_first_whatever_the_last_bits_of_its_share_are() -> None:
    """All have the same results, in places of the tables that differ, so their figures differ by what floats lose."""
    strengths = [fit(all_alike(versions)) for versions in (range(7), (3, 1, 6, 0, 5, 2, 4))]
    assert list(overall(strengths)) == list(range(7))


def all_alike(versions: Sequence[int]) -> list[CountedMatch]:
    """Matches of two in which everybody beats the next three, round the table."""
    return [
        CountedMatch(number, (one, versions[(place + step) % 7]), (1, 2))
        for number, (place, one, step) in enumerate(
            (place, one, step) for place, one in enumerate(versions) for step in (1, 2, 3)
        )
    ]


def test_only_versions_with_a_strength_in_each_game_are_in_it() -> None:
    chance = random.Random(3)
    some = fit(performed(dict.fromkeys(range(5), 25.0), chance, 30))
    others = fit(performed(dict.fromkeys(range(2, 9), 25.0), chance, 60))
    assert overall([some, others]).keys() == {2, 3, 4}
    assert overall([some, fit([CountedMatch(1, (4, 9), (1, 2))])]) == {}
    assert overall([]) == {}


def test_ranges_contain_the_truth_and_places_are_open_where_they_are_not_told_apart() -> None:
    chance, inside, all_of_them, sure = random.Random(4), 0, 0, 0
    for _ in range(12):
        worlds = [{version: chance.gauss(25, 5) for version in range(12)} for _ in range(2)]
        found = overall([fit(performed(world, chance, 80)) for world in worlds])
        true = [true_shares(world) for world in worlds]
        for number, (version, one) in enumerate(found.items(), 1):
            inside += one.low <= sum(shares[version] for shares in true) / 2 <= one.high
            all_of_them += 1
            sure += one.best == one.worst
            assert one.best <= number <= one.worst
        assert [one.low for one in found.values()] == sorted((one.low for one in found.values()), reverse=True)
    assert 0.9 <= inside / all_of_them <= 0.99
    assert 0 < sure < all_of_them


# --- a ladder ---------------------------------------------------------------------------------------------------


PLAYED: Mapping[str, Sequence[str]] = {**dict.fromkeys(("one", "two", "three", "four"), GAMES), "only": GAMES[:1]}


def many_games(folder: Path, played: Mapping[str, Sequence[str]] = PLAYED) -> Home:
    """A ladder whose bots play these games; the bot `one` is always ahead."""
    home = Home(folder)
    home.make()
    with Store(home.database, create=True) as store:
        for bot, games in played.items():
            version, _ = store.roster.add_version(bot, f"of {bot}", f"hash of {bot}", ["./bot"], list(games))
            for game in games:
                condition = store.roster.condition(game, {}, "60+0.5/10")
                store.admission.qualify(version.id, condition, passed=True, reason="")
        for condition in list(store.roster.conditions().values()):
            add(store, condition, 12)
    return home


def add(store: Store, condition: Condition, blocks: int) -> None:
    chance = random.Random(condition.id)
    for number in range(blocks):
        for match in Blocks(store, condition, list(find(condition.game).seat_counts)).add(number):
            order = sorted(match.seats, key=lambda one: (one.bot != "one", chance.random()))
            count(store, match, result_of(match, [1 + order.index(one) for one in match.seats]), match.match_id)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder that no test changes."""
    return many_games(tmp_path_factory.mktemp("games") / "home")


def answer_of(home: Home) -> AllGamesAnswer:
    return Desk(home).ask(AllGamesRequest())


def test_page_json_and_command_have_one_ranking_over_all_games(
    home: Home, dogana: Dogana, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = answer_of(home)
    assert [one.game for one in answer.conditions] == list(GAMES)
    assert answer.versions[0].bot == "one"
    assert "only" not in {one.bot for one in answer.versions}
    assert (answer.versions[0].best, answer.versions[0].worst) == (1, 1)
    document = page(home, "/all-games")
    check_markup(document)
    lead = document.select_one(".lead")
    assert lead is not None
    assert text_of(lead) == "one v1 leads, and that is certain: its matches leave it no other place."
    listed = rows(table_of(document, "One ranking over 2 games: 4 versions"))
    assert [(row["Bot"], row["Place"], row["Share"]) for row in listed] == [
        (f"{one.bot} v1", open_places(one), share(one)) for one in answer.versions
    ]
    asked_for = json.loads(dogana("ladder", "top", "--all-games", "--home", home.folder, "--json").stdout)
    assert [one["bot"] for one in asked_for["versions"]] == [one.bot for one in answer.versions]
    printed = dogana("ladder", "top", "--all-games", "--home", home.folder).stdout
    assert all(share(one) in printed for one in answer.versions)
    assert "each game weighs the same" in " ".join(printed.split())


def test_a_game_goes_by_its_condition_with_the_most_blocks(tmp_path: Path) -> None:
    home = many_games(tmp_path / "home")
    with Store(home.database, create=False) as store:
        other = store.roster.condition("yunnan", {}, "600+5/60")
        for bot in ("one", "two", "three"):
            store.admission.qualify(store.roster.find_versions(bot)[0].id, other, passed=True, reason="")
        add(store, other, 11)
        assert [one.clock for one in answer_of(home).conditions] == ["60+0.5/10", "60+0.5/10"]
        add(store, other, 2)
    answer = answer_of(home)
    assert [one.clock for one in answer.conditions] == ["60+0.5/10", "600+5/60"]
    assert {one.bot for one in answer.versions} == {"one", "two", "three"}


def test_it_is_computed_once_for_the_same_fits(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(home.database, create=False) as store:
        conditions = list(store.roster.conditions().values())
        first = fitted_module.fitted_overall(store, conditions)
        assert fitted_module.fitted_overall(store, conditions) is first
        assert first == overall([fitted(store, condition) for condition in conditions])


def test_without_versions_in_all_games_it_says_so(tmp_path: Path, dogana: Dogana) -> None:
    first, second = ([game] for game in GAMES)
    home = many_games(tmp_path / "home", {"one": first, "two": first, "three": second, "four": second})
    assert answer_of(home).versions == []
    assert "No two versions have a strength in each game" in page(home, "/all-games").text
    printed = dogana("ladder", "top", "--all-games", "--home", home.folder).stdout
    assert printed.startswith("no two versions have a strength in each of these yet: ")


def test_all_games_and_one_of_them_are_not_asked_for_at_once(home: Home, dogana: Dogana) -> None:
    ended = dogana("ladder", "top", "yunnan", "--all-games", "--home", home.folder, status=1)
    assert "--all-games is over all games: leave out the game" in ended.stderr
