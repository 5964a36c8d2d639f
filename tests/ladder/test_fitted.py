"""The fit in the standings: it orders them, is computed when they are read and seldom, and holds up nothing else."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

import pytest

from ladder.facts import fitted as module
from ladder.facts import standings as standings_module
from ladder.facts.fitted import first_seats, fitted
from ladder.facts.standings import at_rest, places, queue, requalify, scheduled, standings, statuses, to_qualify
from ladder.facts.store import Store
from ladder.model import fit as fit_module
from ladder.model.fit import CountedMatch, Fit
from ladder.model.match import AT_HOME_PREFIX
from ladder.model.rating import rated_versions
from ladder.operation.home import Home
from ladder.play.blocks import Blocks
from ladder.play.qualifying import enter_house_bots
from ladder.play.running import count
from ladder.questions.desk import Desk
from ladder.questions.in_words import disagreement, open_places, strength
from ladder.questions.rows import StandingRow
from ladder.questions.standings import TopRequest
from referee.match.result import Outcome
from tests.cases import mostly_long
from tests.commands.conftest import ROOT, Dogana
from tests.ladder.filled import filled
from tests.ladder.in_process import dogana
from tests.ladder.made import CONDITION, GAME, OTHER, ladder, next_matches, play, result_of
from tests.ladder.test_at_home import at_home, blocks_with
from tests.patience import patient
from tests.web.hostile_ladder import page, rows, table_of

__all__ = ["dogana"]


def won_by(store: Store, winner: str, blocks: int) -> None:
    """Play blocks at tables of two, all of them won by one bot."""
    for number in range(blocks):
        for match in Blocks(store, CONDITION, [2]).add(number):
            count(store, match, result_of(match, [1 + (one.bot != winner) for one in match.seats]), match.match_id)


def played(store: Store, blocks: int, seed: int = 0) -> None:
    chance = random.Random(seed)
    for number in range(blocks):
        for match in next_matches(store, number):
            play(store, match, chance)


def lately_better(store: Store) -> None:
    """Let bot0 win more matches, and bot1 the later ones."""
    won_by(store, "bot0", 9)
    won_by(store, "bot1", 8)


# --- the order --------------------------------------------------------------------------------------------------


def test_the_order_follows_the_fit_where_the_live_rating_says_otherwise(tmp_path: Path) -> None:
    with ladder(tmp_path, 2) as store:
        lately_better(store)
        found = {one.version.bot: (place, one.rating) for one, place in standings(store, CONDITION)}
        (first, first_rating), (second, second_rating) = found["bot0"], found["bot1"]
        assert first is not None
        assert second is not None
        assert first_rating is not None
        assert second_rating is not None
        assert (first.number, second.number) == (1, 2)
        assert second_rating.mu > first_rating.mu
        assert second_rating.low > first_rating.low
        assert [place.number for place in places(store, CONDITION).values()] == [1, 2]


def test_page_json_and_command_say_the_same(tmp_path: Path, dogana: Dogana) -> None:
    home = Home(tmp_path / "home")
    home.make()
    with ladder(home.folder) as store:
        played(store, 8)
    tables = Desk(home).ask(TopRequest(game=GAME.name)).tables
    answer = tables[0].versions
    on_page = rows(table_of(page(home, "/games/{game}", game=GAME.name), "Standings"))
    documents = json.loads(dogana("ladder", "top", GAME.name, "--home", home.folder, "--json").stdout)
    printed = dogana("ladder", "top", GAME.name, "--home", home.folder).stdout
    assert len(documents) == sum(len(one.versions) for one in tables)
    for one, row, document in zip(answer, on_page, documents[: len(answer)], strict=True):
        assert row["Bot"].startswith(f"{one.bot} v1")
        assert (row["Place"], row["Strength"]) == (open_places(one), strength(one))
        assert (document["bot"], document["place"]) == (one.bot, one.place)
        assert [document[name] for name in ("best", "worst", "strength", "low", "high")] == [
            one.best,
            one.worst,
            one.strength,
            one.low,
            one.high,
        ]
        [line] = [line for line in printed.splitlines() if f" {one.bot} v1 " in line]
        assert line.split(one.bot)[0].strip() == open_places(one)
        assert strength(one) in line
    assert "95 of 100 such ranges" in " ".join(printed.split())


@pytest.mark.parametrize(("best", "worst", "words"), [(3, 7, "3 to 7"), (2, 2, "2"), (None, None, "-")])
def test_open_places_are_said_in_words(best: int | None, worst: int | None, words: str) -> None:
    assert open_places(filled(StandingRow, place=5, best=best, worst=worst)) == words


# --- which results ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rated", "fitted_of"), [(0, 0), (1, 1), (127, 127), (129, 128), (255, 254), (1023, 1016), (10**6, 999_424)]
)
def test_the_fit_is_of_all_results_of_a_small_ladder_and_of_nearly_all_of_a_large_one(
    rated: int, fitted_of: int
) -> None:
    assert first_seats(rated) == fitted_of
    assert rated - fitted_of <= rated / 64


def test_the_fit_is_that_of_the_rated_matches(tmp_path: Path) -> None:
    with ladder(tmp_path, 2) as store:
        played(store, 6)
        for match in [match for number in range(3) for match in next_matches(store, number)]:
            count(store, match, result_of(match, range(1, 1 + len(match.seats)), digest="same"), match.match_id)
        assert not all(one.rated for one in store.history.all_played())
        played(store, 3, seed=1)
        for match in next_matches(store, 1, OTHER):
            play(store, match, random.Random(1))
        expected = [
            CountedMatch(
                one.block, tuple(seat.version.id for seat in one.seats), tuple(seat.rank for seat in one.seats)
            )
            for one in store.history.all_played()
            if one.rated and one.condition == CONDITION
        ]
        assert fitted(store, CONDITION) == fit_module.fit(expected)


def test_a_version_that_is_newer_than_the_fit_stands_after_the_others_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ladder(tmp_path) as store:
        won_by(store, "bot0", 1)
        seats = 4
        monkeypatch.setattr(module, "first_seats", lambda _: seats)
        played(store, 6)
        fit = fitted(store, CONDITION)
        rated = store.results.ratings(CONDITION)
        assert 0 < len(fit) < len(rated)
        placed = places(store, CONDITION)
        assert list(placed) == [*fit, *sorted(rated.keys() - fit.keys())]
        assert [place.estimate is None for place in placed.values()] == [version not in fit for version in placed]
    home = Home(tmp_path)
    answer = Desk(home).ask(TopRequest(game=GAME.name)).tables[0].versions
    on_page = rows(table_of(page(home, "/games/{game}", game=GAME.name), "Standings"))
    newer = [row for row, one in zip(on_page, answer, strict=True) if one.place is not None and one.strength is None]
    assert len(newer) == len(rated) - len(fit)
    assert all((row["Place"], row["Strength"]) == ("-", "not yet") for row in newer)


# --- whom a match tells of --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guests", "is_absent"), mostly_long([(True, True), (True, False), (False, True), (False, False)])
)
def test_the_fit_and_the_live_rating_are_of_the_same_versions(tmp_path: Path, guests: bool, is_absent: bool) -> None:
    with ladder(tmp_path, 3) as store:
        enter_house_bots(store, CONDITION)
        version = at_home(store)
        store.roster.connect(version.id, 8)
        for match in chain.from_iterable(islice(blocks_with(store, version, guests=guests), 3)):
            result = result_of(match, range(1, 1 + len(match.seats)))
            seats = [
                replace(one, outcome=Outcome.START) if is_absent and match.seats[one.seat] == version else one
                for one in result.seats
            ]
            count(store, match, replace(result, seats=tuple(seats)), match.match_id)
        submitted = {one.id for one in store.roster.versions().values() if not (one.is_house or one.is_at_home)}
        rated = store.results.ratings(CONDITION).keys()
        assert fitted(store, CONDITION).keys() == rated
        assert version.id in rated
        assert bool(rated & submitted) == (not guests and not is_absent)
        [place] = [place for one, place in standings(store, CONDITION) if one.version == version]
        assert place is not None
        assert place.estimate is not None
        assert place.estimate.worst <= len(rated)  # those that nothing tells of take no place


@pytest.mark.parametrize(
    ("absent", "guests", "rated"),
    [(set(), False, {1, 2, 3}), (set(), True, {2, 3}), ({1}, False, {1, 2, 3}), ({2}, False, {2}), ({1, 2}, True, {2})],
)
def test_whom_a_match_tells_of(absent: set[int], guests: bool, rated: set[int]) -> None:
    contents = {1: "some files", 2: AT_HOME_PREFIX + "x", 3: "house:greedy"}
    assert rated_versions(contents, absent, guests=guests) == rated


def test_a_version_of_which_no_match_tells_has_no_estimate_and_takes_no_place() -> None:
    own = [CountedMatch(block, (1, 2), (1, 2)) for block in range(20)]
    guests = [CountedMatch(100 + block, (1, 3), (2, 1), frozenset({1})) for block in range(3)]
    found = fit_module.fit([*own, *guests])
    assert found.keys() == {1, 2}
    assert {one.worst for one in found.values()} <= {1, 2}


# --- when it is computed ----------------------------------------------------------------------------------------


def test_it_is_kept_until_there_are_more_results(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        played(store, 2)
        first = fitted(store, CONDITION)
        assert fitted(store, CONDITION) is first
        with Store(store.file.path, create=False) as again:
            assert fitted(again, CONDITION) is first
        assert fitted(store, OTHER) is not first
        played(store, 1)
        assert fitted(store, CONDITION) is not first


@pytest.mark.long
def test_it_is_kept_while_a_larger_ladder_grows_by_little(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        played(store, 45)
        assert sum(tally.different for tally in store.results.tallies(CONDITION).values()) >= 512
        matches = next_matches(store) + next_matches(store)
        found = []
        for match in matches:
            play(store, match, random.Random(1))
            found.append(fitted(store, CONDITION))
        assert 1 <= len(set(map(id, found))) < len(matches)


def test_it_is_computed_anew_when_the_ladder_was_repaired(tmp_path: Path) -> None:
    with ladder(tmp_path, 2) as store:
        won_by(store, "bot0", 6)
        before = fitted(store, CONDITION)
        with store.writing():
            store.file.write("update seat_results set rank = 3 - rank")
            store.log.note_repair("organiser")
        after = fitted(store, CONDITION)
        assert list(after) == list(before)[::-1]


def test_it_is_computed_anew_when_another_history_is_in_its_place(tmp_path: Path) -> None:
    for winner in ("bot0", "bot1"):
        with ladder(tmp_path, 2) as store:
            won_by(store, winner, 6)
            best = next(iter(places(store, CONDITION)))
            assert store.roster.versions()[best].bot == winner
        for path in tmp_path.glob("ladder.db*"):
            path.unlink()


def test_many_readers_at_a_time_compute_it_once_and_nobody_else_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on, same_moment, fits = threading.Event(), threading.Event(), threading.Barrier(4), []
    compute = fit_module.fit

    def slow(matches: Sequence[CountedMatch]) -> Fit:
        fits.append(matches)
        began.set()
        assert go_on.wait(patient(60))
        return compute(matches)

    def read() -> Fit:
        with Store(tmp_path / "ladder.db", create=False) as reader, reader.reading():
            assert reader.results.ratings(CONDITION)
            same_moment.wait(patient(60))
            return fitted(reader, CONDITION)

    monkeypatch.setattr(fit_module, "fit", slow)
    with ladder(tmp_path) as store, ThreadPoolExecutor(4) as readers:
        played(store, 3)
        try:
            found = [readers.submit(read) for _ in range(4)]
            assert began.wait(patient(60))
            store.file.db.execute("pragma busy_timeout = 0").close()
            played(store, 1)  # another program schedules and counts
            assert statuses(store, CONDITION)
        finally:
            go_on.set()
        assert len({id(one.result(patient(60))) for one in found}) == 1
        assert len(fits) == 1


def test_to_count_and_to_schedule_computes_no_strength(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Fit:
        raise AssertionError("it was computed")

    monkeypatch.setattr(standings_module, "fitted", never)
    with ladder(tmp_path) as store:
        played(store, 3)
        assert scheduled(store, CONDITION)
        assert to_qualify(store, CONDITION) == []
        assert at_rest(store) == set()
        assert queue(store, CONDITION)
        version = store.roster.find_versions("bot1")[0]
        store.admission.retire(version.id, retired=True)
        assert requalify(store, [version])[0] == [version]
        with pytest.raises(AssertionError, match="it was computed"):
            standings(store, CONDITION)


def test_numpy_is_not_imported_before_a_strength_is_computed() -> None:
    commands = ("top", "submit", "run", "serve", "match", "queue", "web", "site", "compare")
    program = (
        f"import sys\nfor name in {commands}: __import__(f'ladder.commands.{{name}}')\n"
        "import ladder.http.app\nprint({'numpy', 'ladder.model.fit'} & sys.modules.keys())"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "set()"


# --- where the live rating says something else ------------------------------------------------------------------


def test_live_rating_and_strength_differ_if_they_are_further_apart_than_both_ranges() -> None:
    def row(mu: float, sigma: float, lift: float = 0.0) -> StandingRow:
        return filled(StandingRow, place=1, strength=25.0, low=23.0, high=27.0, mu=mu, sigma=sigma, lift=lift)

    assert disagreement(row(28.9, 1.0)) == ""
    said = disagreement(row(29.1, 1.0))
    assert said.startswith("Its strength is 25.0 ± 2.0, and its live rating 29.1 ± 2.0. They differ")
    assert disagreement(row(20.9, 1.0)) != ""
    assert disagreement(filled(StandingRow, mu=50.0, sigma=1.0)) == ""
    assert disagreement(row(31.9, 1.0, lift=3.0)) == "", "all live ratings are higher by 3"
    assert "29.1 ± 2.0, and live ratings are 1.5 lower here." in disagreement(row(29.1, 1.0, lift=-1.5))
    assert disagreement(row(25.0, 1.0, lift=4.5)) != "", "it is 4.5 behind the others"


def test_a_bot_whose_live_rating_differs_says_so_on_its_page_and_in_show(tmp_path: Path, dogana: Dogana) -> None:
    home = Home(tmp_path / "home")
    home.make()
    with ladder(home.folder, 3) as store:
        won_by(store, "bot0", 10)
        with store.writing():
            store.file.write("update ratings set mu = 60 where version = 1")
    for words in (
        page(home, "/bots/{bot}", bot="bot0").text,
        dogana("ladder", "show", "bot0", "--home", home.folder).stdout,
    ):
        assert "its live rating 60.0 ±" in words
        assert "Places go by the strength." in words
    assert "its live rating" not in page(home, "/bots/{bot}", bot="bot1").text


def test_live_ratings_that_are_all_higher_are_no_disagreement(tmp_path: Path, dogana: Dogana) -> None:
    home = Home(tmp_path / "home")
    home.make()
    with ladder(home.folder, 3) as store:
        won_by(store, "bot0", 10)
        with store.writing():
            store.file.write("update ratings set mu = mu + 20")
    for bot in ("bot0", "bot1"):
        assert "They differ by more" not in dogana("ladder", "show", bot, "--home", home.folder).stdout
