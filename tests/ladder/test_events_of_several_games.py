"""Events of several games: who is best over all of them, what is played under which condition, and what a table says of each."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder.facts.announcing import announce
from ladder.facts.entering import entry_list
from ladder.facts.fitted import fitted_overall
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.tournament import Phase
from ladder.operation.home import Home
from ladder.play.tournament_matches import TournamentMatches
from ladder.questions.desk import Desk
from ladder.questions.events import EventAnswer, EventRequest, EventsRequest
from referee.tournament.plan import Format, TieBreak
from tests.cases import mostly_long
from tests.commands.conftest import Dogana
from tests.ladder.announced import Clock, clock, closed, matches_of, play_out, terms
from tests.ladder.in_process import dogana
from tests.ladder.made import differences
from tests.ladder.test_all_games import GAMES, many_games
from tests.web.hostile_ladder import check_markup, page, rows, table_of

__all__ = ["clock", "dogana"]

PLAYED = {**dict.fromkeys(("one", "two", "three", "four", "five"), GAMES), "only": GAMES[:1]}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many_games(tmp_path_factory.mktemp("played") / "home", PLAYED).folder


@pytest.fixture
def home(played: Path, tmp_path: Path) -> Home:
    shutil.copytree(played, tmp_path / "home")
    return Home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """A ladder of two games, on which five bots play both and one plays the first."""
    with Store(home.database, create=False) as made:
        yield made


@pytest.fixture
def both(store: Store) -> tuple[Condition, ...]:
    return tuple(store.roster.conditions().values())


def submitted(store: Store, bot: str, *passed: Condition, failed: Condition | None = None) -> None:
    version, _ = store.roster.add_version(bot, f"of {bot}", f"later {bot}", ["./bot"], list(GAMES))
    for condition in passed:
        store.admission.qualify(version.id, condition, passed=True, reason="")
    if failed is not None:
        store.admission.qualify(version.id, failed, passed=False, reason="crash: it fell")


def entered(store: Store) -> list[str]:
    return [each.version.label for each in store.tournaments.entrants(store.tournaments.find("final"))]


def answer(home: Home) -> EventAnswer:
    return Desk(home).ask(EventRequest(event="final"))


# --- who is entered -----------------------------------------------------------------------------------


def test_the_best_over_all_games_are_entered_in_the_order_of_that_ranking(
    store: Store, both: tuple[Condition, ...], clock: Clock
) -> None:
    versions = store.roster.versions()
    best = [versions[version].label for version in fitted_overall(store, both)]
    assert len(best) == 5
    one = closed(store, clock, conditions=both, top=4)
    assert entered(store) == best[:4]
    assert [each.place for each in store.tournaments.entrants(one)] == [1, 2, 3, 4]
    assert {version.label: reason for version, reason in store.tournaments.left_out(one)} == {
        best[4]: "4 are before it",
        "only v1": "yunnan: it does not play that",
    }


def test_a_version_is_entered_only_if_it_has_qualified_in_all_games(store: Store, both: tuple[Condition, ...]) -> None:
    first, second = both
    submitted(store, "one", first, failed=second)
    submitted(store, "two", first)
    submitted(store, "three", *both)
    submitted(store, "four", second)
    store.admission.retire(store.roster.find_versions("four")[0].id, retired=True)
    found = entry_list(store, terms(conditions=both, top=9))
    assert sorted(each.version.label for each in found.entrants) == ["five v1", "one v1", "three v2", "two v1"]
    assert {version.label: reason for version, reason in found.left_out} == {
        "one v2": "yunnan: not qualified: crash: it fell",
        "two v2": "yunnan: waits to qualify",
        "four v1": "cargo_noir: retired",
        "four v2": "cargo_noir: waits to qualify",
        "only v1": "yunnan: it does not play that",
    }
    unrated = next(each for each in found.entrants if each.version.label == "three v2")
    assert (unrated, unrated.place) == (found.entrants[-1], 0)


# --- playing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", mostly_long([Format.KNOCKOUT, Format.ROUND_ROBIN, Format.SWISS]))
def test_every_table_plays_all_games_however_often_it_is_killed(
    store: Store, both: tuple[Condition, ...], clock: Clock, tmp_path: Path, form: Format
) -> None:
    closed(store, clock, conditions=both, top=5, form=form)
    store.file.db.conn.execute("vacuum into ?", [str(tmp_path / "copy.db")])
    matches = play_out(store, conditions=both)
    chance = random.Random(1)
    with Store(tmp_path / "copy.db", create=False) as killed:
        assert play_out(killed, lambda: chance.random() < 0.5, both) == matches
        assert [tables(each) for each in (killed, store)] == [tables(store)] * 2
    assert len(set(tables(store).values())) == 1, "each table has as many matches of one game as of the other"
    one = store.tournaments.find("final")
    assert one.phase is Phase.OVER
    assert TieBreak.SCORE_DIFFERENCE not in store.tournaments.plan(one).tie_breaks
    assert store.tournaments.contradictions() == []
    assert differences(store) == []


def tables(store: Store) -> dict[tuple[int, int, str], int]:
    """The number of matches by round, table and game."""
    one = store.tournaments.find("final")
    scheduled = store.tournaments.scheduled(one)
    return Counter(
        (fixture.company.round, fixture.company.number, scheduled[fixture.name].condition.game)
        for fixture in store.tournaments.course(one).fixtures
    )


def test_a_run_of_one_game_plays_that_and_leaves_the_other_to_another_run(
    store: Store, both: tuple[Condition, ...], clock: Clock
) -> None:
    announce(store, terms(conditions=both, top=3))
    clock.pass_the_close()
    run = TournamentMatches(store, both[:1])
    remarks = [remark.text for remark in run.advance()]
    assert remarks == [
        "event final is closed with 3 bots",
        "event final waits for another run; it needs --game yunnan --clock 60+0.5/10",
    ]
    for own in both:
        assert store.tournaments.find("final").phase is Phase.PLAYED
        assert [match.condition for match in matches_of(store, conditions=[own])] == [own] * 3 * 2 * 2
    assert store.tournaments.find("final").phase is Phase.OVER
    assert differences(store) == []


def test_a_block_under_the_condition_of_another_game_contradicts_the_plan(
    store: Store, both: tuple[Condition, ...], clock: Clock
) -> None:
    closed(store, clock, conditions=both, top=2)
    next(matches_of(store, conditions=both))
    with store.writing():
        store.file.write("update blocks set condition = 3 - condition where tournament is not null")
    contradictions = store.tournaments.contradictions()
    assert len(contradictions) == 2
    assert all(line.endswith("was not scheduled under the condition of its game") for line in contradictions)


# --- what is shown ------------------------------------------------------------------------------------


def test_the_table_has_the_points_of_each_game_and_weighs_them_the_same(
    home: Home, store: Store, both: tuple[Condition, ...], clock: Clock
) -> None:
    closed(store, clock, conditions=both, top=4)
    play_out(store, conditions=both)
    found = answer(home)
    assert [one.game for one in found.event.conditions] == list(GAMES)
    assert len(found.standings) == 4
    for row in found.standings:
        assert row.points == pytest.approx(sum(points for points in row.by_game if points is not None) / 2)
    games = Counter((one.game, one.table) for one in found.matches)
    assert set(games.values()) == {4}
    by_game = {game: Desk(home).ask(EventsRequest(game=game)).events for game in (*GAMES, "venezia")}
    assert [len(each) for each in by_game.values()] == [1, 1, 0]


def test_the_crosstable_has_each_meeting_from_both_sides(
    home: Home, store: Store, both: tuple[Condition, ...], clock: Clock, dogana: Dogana
) -> None:
    closed(store, clock, conditions=both, top=4)
    play_out(store, conditions=both)
    met = [row.met for row in answer(home).crosstable]
    for one in range(4):
        assert (met[one][one].matches, met[one][one].share) == (0, None)
        for other in range(one):
            shares = met[one][other].share, met[other][one].share
            assert None not in shares
            assert sum(shares) == pytest.approx(1)  # type: ignore[arg-type]  # none of them is None
            assert met[one][other].matches == met[other][one].matches == 2 * 2 * 2
    printed = dogana("ladder", "event", "show", "final", "--home", home.folder).stdout
    _, _, crossed = printed.partition("row ahead of column")
    assert [line.count("%") for line in crossed.splitlines() if re.match(r"\s*\d  [a-z]", line)] == [3] * 4
    document = page(home, "/events/{event}", event="final")
    check_markup(document)
    table = table_of(document, "Final table")
    assert [head.text for head in table.select("thead th")][5:7] == ["Cargo Noir", "Yunnan"]
    assert [row["Game"] for row in rows(table_of(document, "The newest first"))][:2] == ["Yunnan"] * 2
    cross = rows(table_of(document, "4 bots in the order of the table"))
    assert [len([cell for cell in row.values() if "%" in cell]) for row in cross] == [3] * 4


def test_an_event_of_several_games_is_announced_and_shown(dogana: Dogana, home: Home) -> None:
    new = ["--closes", "2126-12-18T18:00Z", "--top", 4, "--home", home.folder]
    games = ["--game", GAMES[0], "--game", GAMES[1], "--game", GAMES[0]]
    said = dogana("ladder", "event", "new", "final", *games, *new, "--json").stdout
    assert [one["game"] for one in json.loads(said)["conditions"]] == list(GAMES)
    printed = dogana("ladder", "event", "show", "final", "--home", home.folder).stdout
    assert "Cargo Noir (60+0.5/10), Yunnan (60+0.5/10)" in printed
    assert "place 1 over these games" in printed
    assert "only v1 would not be entered: yunnan: it does not play that" in printed
    said = dogana("ladder", "event", "new", "cup", *games, *new, "--option", "last_turn=2", status=1).stderr
    assert said.startswith("dogana: options belong to one game; an event of several has their defaults")
    said = dogana("ladder", "event", "new", "cup", *games, *new, "--clock", "1+1/1", status=1).stderr
    assert "no standings of cargo_noir are under these terms" in said


def test_several_games_are_played_with_their_default_options(dogana: Dogana, home: Home, store: Store) -> None:
    store.roster.condition(GAMES[0], {"last_turn": 2}, "60+0.5/10")
    games = ["--game", GAMES[0], "--game", GAMES[1]]
    dogana(
        "ladder", "event", "new", "final", *games, "--closes", "2126-12-18T18:00Z", "--top", 4, "--home", home.folder
    )
    assert [dict(one.options) for one in store.tournaments.find("final").terms.conditions] == [{}, {}]
