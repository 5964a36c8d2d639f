"""Events: who is entered, what their matches change and what not, and that they go on after a kill."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ladder.archive.retention import prune_versions
from ladder.facts import entering
from ladder.facts.announcing import announce, cancel, read_closing
from ladder.facts.entering import close_due, entry_list
from ladder.facts.standings import retire, standings
from ladder.facts.store import Store
from ladder.model.match import AT_HOME_PREFIX, HOUSE, HOUSE_PREFIX, Match
from ladder.model.tournament import LadderTournament, Phase
from ladder.operation.errors import LadderError, NotFound
from ladder.operation.home import Home
from ladder.play.tournament_matches import TournamentMatches
from referee.kit.chance import commitment
from referee.match.result import Outcome
from referee.tournament.plan import Format
from referee.tournament.standings import final_table
from tests.cases import mostly_long
from tests.ladder.announced import CLOSES, Clock, clock, closed, matches_of, play_out, terms
from tests.ladder.made import CONDITION, GAME, OTHER, differences, ladder, next_matches, play

__all__ = ["clock"]


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a ladder of six bots of six authors, rated after some blocks."""
    with ladder(tmp_path_factory.mktemp("rated"), 6) as made:
        for number in range(6):
            for match in next_matches(made, number):
                play(made, match, random.Random(number))
    return made.file.path


@pytest.fixture
def store(rated: Path, tmp_path: Path) -> Iterator[Store]:
    """A copy of that ladder."""
    with Store(Path(shutil.copy(rated, tmp_path)), create=False) as made:
        yield made


def submitted(store: Store, bot: str, author: str, content: str, *, passed: bool | None = True) -> int:
    version, _ = store.roster.add_version(bot, author, content, ["./bot"], [GAME.name])
    if passed is not None:
        store.admission.qualify(version.id, CONDITION, passed=passed, reason="" if passed else "crash: it fell")
    return version.id


def entered(store: Store, one: LadderTournament) -> list[str]:
    return [each.version.label for each in store.tournaments.entrants(one)]


def table_of(store: Store) -> list[tuple[int, str, object]]:
    """The places of the event, with the points."""
    facts = store.tournaments
    [one] = facts.all()
    plan, course, results = facts.plan(one), facts.course(one), facts.results(one)
    rows = final_table(plan, course, results).rows
    return [(row.place, plan.names[row.entrant], row.points) for row in rows]


# --- who is entered -----------------------------------------------------------------------------------


def test_the_best_are_entered_in_the_order_of_the_standings_and_the_others_learn_why_not(
    store: Store, clock: Clock
) -> None:
    best = [one.version.label for one, _ in standings(store, CONDITION)]
    one = closed(store, clock, top=4)
    assert entered(store, one) == best[:4]
    assert [each.place for each in store.tournaments.entrants(one)] == [1, 2, 3, 4]
    left_out = {version.label: reason for version, reason in store.tournaments.left_out(one)}
    assert left_out == dict.fromkeys(best[4:], "4 are before it")
    assert one.phase is Phase.PLAYED


def test_a_bot_is_entered_in_its_newest_version_that_has_qualified_at_the_close(store: Store, clock: Clock) -> None:
    submitted(store, "bot0", "author0", "qualified")
    submitted(store, "bot1", "author1", "untried", passed=None)
    submitted(store, "bot2", "author2", "failed", passed=False)
    announce(store, terms(top=6))
    clock.pass_the_close()
    submitted(store, "bot3", "author3", "too late", passed=None)
    [one] = close_due(store)
    assert {"bot0 v2", "bot1 v1", "bot2 v1", "bot3 v1"} < set(entered(store, one))
    left_out = {version.label: reason for version, reason in store.tournaments.left_out(one)}
    assert left_out == {
        "bot1 v2": "waits to qualify",
        "bot2 v2": "not qualified: crash: it fell",
        "bot3 v2": "waits to qualify",
    }
    frozen = entered(store, one)
    submitted(store, "bot1", "author1", "later")
    assert entered(store, one) == frozen


def test_bots_at_home_house_bots_and_all_that_are_stopped_stay_out(store: Store, clock: Clock) -> None:
    for author, content in (("gus", f"{AT_HOME_PREFIX}1"), (HOUSE, f"{HOUSE_PREFIX}greedy:1")):
        submitted(store, author if author != HOUSE else "greedy", author, content)
    retire(store, store.roster.find_versions("bot0"))
    [match, *_] = store.history.all_played()
    store.admission.note_trial(match.match_id, store.roster.find_versions("bot1")[0].id, guilty=True)
    one = closed(store, clock, top=10)
    assert sorted(entered(store, one)) == ["bot2 v1", "bot3 v1", "bot4 v1", "bot5 v1"]
    left_out = {version.label: reason for version, reason in store.tournaments.left_out(one)}
    assert left_out == {
        "bot0 v1": "retired",
        "bot1 v1": "suspended: workers died in its matches against house bots",
        "gus v1": "it runs at home, so its files cannot be frozen",
    }


def test_of_an_author_the_best_bot_is_entered_or_all_of_them(store: Store, clock: Clock) -> None:
    twin = submitted(store, "twin", "author0", "another")
    found = entry_list(store, terms(top=10))
    assert (store.roster.versions([twin])[twin], "bot0 v1 of the same author is before it") in found.left_out
    all_of_them = entry_list(store, terms(top=10, same_author=True)).entrants
    assert len(all_of_them) == 7
    assert all_of_them[-1].place == 0  # it has no rating


def test_equal_ratings_at_the_cut_stand_in_the_order_in_which_the_versions_came_in(
    tmp_path: Path, clock: Clock
) -> None:
    with ladder(tmp_path, 5) as store:  # nobody has played: all are equal
        assert entered(store, closed(store, clock, top=3)) == ["bot0 v1", "bot1 v1", "bot2 v1"]


# --- the seed -----------------------------------------------------------------------------------------


def test_the_seed_is_committed_to_before_the_entrants_are_known_and_revealed_at_the_end(
    store: Store, clock: Clock
) -> None:
    announce(store, terms())
    [announced] = store.tournaments.all()
    secret = store.tournaments.seed(announced)
    assert str(secret) not in "".join(store.log.lines())
    assert announced.seed_commitment == commitment("final", secret)
    assert not announced.closed_at
    clock.pass_the_close()
    close_due(store)
    play_out(store)
    over = store.tournaments.find("final")
    assert (over.phase, over.seed) == (Phase.OVER, secret)
    assert store.file.rows("select * from tournament_seeds") == []


def test_the_seeds_of_matches_follow_from_that_of_the_event_and_from_its_entrants(store: Store, clock: Clock) -> None:
    one = closed(store, clock)
    seeds = {fixture.name: fixture.seed for fixture in store.tournaments.course(one).fixtures}
    assert len(set(seeds.values())) == 6 * 2
    play_out(store)
    scheduled = store.tournaments.scheduled(one)
    assert {name: match.seed for name, match in scheduled.items()} == seeds
    assert store.tournaments.contradictions() == []


# --- playing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "changes", "matches"),
    mostly_long(
        [
            (Format.ROUND_ROBIN, {}, 6 * 2 * 2),
            (Format.KNOCKOUT, {"top": 5}, 4 * 2 * 2),
            (Format.SWISS, {"top": 5, "rounds": 3}, 3 * 2 * 2 * 2),
            (Format.KNOCKOUT, {"top": 6, "seats": 4, "advance": 2, "blocks": 1}, 3 + 3 + 4),
        ],
        2,
    ),
)
@pytest.mark.parametrize("seed", mostly_long(range(3)))
def test_an_event_that_is_killed_again_and_again_is_played_as_one_that_is_not(
    store: Store, clock: Clock, tmp_path: Path, form: Format, changes: dict[str, int], matches: int, seed: int
) -> None:
    closed(store, clock, form=form, **changes)
    store.file.db.conn.execute("vacuum into ?", [str(tmp_path / "copy.db")])
    assert play_out(store) == matches
    chance = random.Random(seed)
    with Store(tmp_path / "copy.db", create=False) as killed:
        assert play_out(killed, lambda: chance.random() < 0.5) == matches
        assert table_of(killed) == table_of(store)
        assert killed.tournaments.find("final").phase is Phase.OVER
        assert differences(killed) == []
    assert differences(store) == []
    assert store.tournaments.contradictions() == []


def test_its_matches_change_no_rating_no_tally_and_not_who_plays_next(store: Store, clock: Clock) -> None:
    views = ("ratings", "block_ratings", "tallies", "meetings", "scores", "table_sizes", "dues", "appearances")
    before = [store.file.rows(f"select * from {view}") for view in (*views, "days")]  # noqa: S608
    results = store.results.count_of_matches()
    closed(store, clock)
    assert play_out(store) == 24
    assert [store.file.rows(f"select * from {view}") for view in (*views, "days")] == before  # noqa: S608
    assert store.results.count_of_matches() == results + 24
    match = next_matches(store, 99)[0]  # a match of the ladder that was played like one of the event rates all the same
    assert play(store, match, random.Random(1))
    assert store.file.rows("select rated from results order by number desc limit 1")[0]["rated"] == 1


def test_a_match_that_is_given_up_is_a_draw_unless_somebody_was_found_guilty(store: Store, clock: Clock) -> None:
    one = closed(store, clock, top=2, blocks=2)
    [first, *_] = matches = list(matches_until(store, 2))
    store.results.give_up(first, "the worker was killed")
    [(_, result)] = store.tournaments.results(one).items()
    assert [(seat.rank, seat.outcome) for seat in result.seats] == [(1, Outcome.PLAYED)] * 2
    guilty = matches[1].seats[0]
    store.admission.note_trial(first.match_id, guilty.id, guilty=True)
    store.results.give_up(matches[1], f"{guilty.label} is suspended")
    drawn, lost = store.tournaments.results(one).values()
    assert [seat.rank for seat in drawn.seats] == [1, 1]  # what was settled stays
    assert [(seat.rank, seat.outcome) for seat in lost.seats] == [(2, Outcome.CRASH), (1, Outcome.PLAYED)]


def matches_until(store: Store, count: int) -> Iterator[Match]:
    run = TournamentMatches(store, [CONDITION])
    for _ in range(count):
        match = run.take(())
        assert match is not None
        yield match


def test_an_event_with_too_few_entrants_is_over_at_once(store: Store, clock: Clock) -> None:
    for number in range(5):
        retire(store, store.roster.find_versions(f"bot{number}"))
    closed(store, clock)
    assert play_out(store) == 0
    assert store.tournaments.find("final").phase is Phase.OVER
    assert differences(store) == []


def test_the_files_of_versions_that_are_entered_stay_until_the_event_is_over(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    home = Home(tmp_path)
    home.make()
    one = closed(store, clock)
    contents = [each.version.content_hash for each in store.tournaments.entrants(one)]
    for each in store.tournaments.entrants(one):
        for later in ("second", "third", "fourth"):  # the last two of a bot are spared in any case
            found = submitted(store, each.version.bot, each.version.author, f"{later} of {each.version.bot}")
            store.admission.qualify(found, OTHER, passed=True, reason="")
        (home.versions / each.version.content_hash).mkdir(parents=True)
    prune_versions(home, store, "2999")
    assert all((home.versions / content).is_dir() for content in contents)
    play_out(store)
    prune_versions(home, store, "2999")
    assert not any((home.versions / content).exists() for content in contents)


# --- forging ------------------------------------------------------------------------------------------


def test_other_seats_another_seed_or_a_missing_match_contradict_the_plan(store: Store, clock: Clock) -> None:
    one = closed(store, clock)
    matches = matches_of(store)
    first, second = next(matches), next(matches)
    assert store.tournaments.contradictions() == []
    with store.writing():
        store.file.write("update seats set version = 7 - version where match = ?", [first.match_id])
    [contradiction] = store.tournaments.contradictions()
    assert contradiction.startswith(f"event final: match {first.match_id}, as round1-table")
    assert contradiction.endswith("has other seats than follow from its entrants, its seed and the results")
    with store.writing():
        store.file.write("update seats set version = 7 - version where match = ?", [first.match_id])
        store.file.write("update seeds set seed = seed + 1 where block = ?", [second.block])
    assert all(
        "has another seed than follows from that of the event" in line for line in store.tournaments.contradictions()
    )
    with store.writing():
        store.file.write("update seeds set seed = seed - 1 where block = ?", [second.block])
        store.file.write("update blocks set fixture = 'round9-table1-cargo_noir-block1' where id = ?", [second.block])
    assert "is of no round that follows from the results" in store.tournaments.contradictions()[0]
    with store.writing():
        store.file.write("update tournaments set ended_at = '2127' where id = ?", [one.id])
    assert ": never scheduled: " in store.tournaments.contradictions()[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("update tournaments set top = 99", "tournaments: has "),
        ("update tournament_seeds set seed = seed + 1", "tournament_seeds: event final has another seed"),
        ("delete from tournament_seeds", "tournament_seeds: event final lacks its seed"),
    ],
)
def test_a_changed_view_of_an_event_is_reported(store: Store, clock: Clock, change: str, message: str) -> None:
    closed(store, clock)
    list(matches_until(store, 1))
    with store.writing():
        store.file.write(change)
    assert any(line.startswith(message) for line in differences(store))


# --- what cannot be announced -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"top": 2, "seats": 3}, "--top 2 is fewer than sit at a table of 3"),
        ({"form": Format.KNOCKOUT, "seats": 3, "advance": 2}, "--advance 2: at most half of a table of 3 can go on"),
        ({"seats": 9, "top": 9}, "--seats 9 can lead to a table of 9: "),
        ({"name": "taken"}, "there is an event taken already, open; choose another name"),
        ({"name": "Taken"}, "Taken could be taken for taken, another event; choose another name"),
    ],
)
def test_terms_that_cannot_be_played_are_refused(
    store: Store, clock: Clock, changes: dict[str, object], reason: str
) -> None:
    announce(store, terms("taken"))
    with pytest.raises(LadderError, match=reason):
        announce(store, terms(**{"name": "final", **changes}))  # type: ignore[arg-type]
    assert len(store.tournaments.all()) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tomorrow", "'tomorrow' is not a time; write it as in 2026-12-18T18:00Z"),
        ("2126-12-24T18:00", "has no time zone; write 2126-12-24T18:00Z for UTC"),
        ("2126-12-24", "'2126-12-24' has no time zone; write 2126-12-24T00:00:00Z for UTC"),
        ("2126-12-18T11:00Z", "is in the past; an event must close in the future"),
        ("9999-12-31T23:59-14:00", "'9999-12-31T23:59-14:00' is not a time; write it as in 2026-12-18T18:00Z"),
        ("0001-01-01T00:00+14:00", r"'0001-01-01T00:00\+14:00' is not a time; write it as in 2026-12-18T18:00Z"),
    ],
)
def test_a_closing_time_needs_a_zone_and_lies_ahead(clock: Clock, text: str, reason: str) -> None:
    with pytest.raises(LadderError, match=reason):
        read_closing(text)
    assert read_closing("2126-12-18T19:00+01:00") == CLOSES


def test_an_event_whose_close_passes_while_its_announcement_waits_is_refused(store: Store, clock: Clock) -> None:
    clock.pass_the_close()
    with pytest.raises(LadderError, match="has passed meanwhile; an event must close in the future"):
        announce(store, terms())
    assert store.tournaments.all() == []


@pytest.mark.parametrize("neighbour", ["cancels it", "sets the clock back"])
def test_what_happens_while_the_entrants_are_computed_is_heeded_at_the_close(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, neighbour: str
) -> None:
    announce(store, terms())
    noon = clock.at
    clock.pass_the_close()
    seeding = entering.places_by_version

    def meanwhile(*arguments: Any) -> dict[int, int]:
        monkeypatch.setattr(entering, "places_by_version", seeding)
        clock.at = noon
        if neighbour == "cancels it":
            cancel(store, "final")
            clock.pass_the_close()
        return seeding(*arguments)

    monkeypatch.setattr(entering, "places_by_version", meanwhile)
    assert close_due(store) == []
    assert store.tournaments.find("final").phase is (Phase.CANCELLED if neighbour == "cancels it" else Phase.OPEN)
    assert differences(store) == []  # the log is as it must be


def test_an_event_can_be_cancelled_only_before_it_closes(store: Store, clock: Clock) -> None:
    announce(store, terms("first"))
    cancel(store, "first")
    assert store.tournaments.find("first").phase is Phase.CANCELLED
    announce(store, terms("second"))
    clock.pass_the_close()
    with pytest.raises(LadderError, match="event second is closed; it can be cancelled only before it closes"):
        cancel(store, "second")
    close_due(store)
    with pytest.raises(LadderError, match="event second is being played; it can be cancelled only before it closes"):
        cancel(store, "second")
    with pytest.raises(NotFound, match="there is no event 'secnd'; did you mean 'second'"):
        cancel(store, "secnd")
    assert differences(store) == []
