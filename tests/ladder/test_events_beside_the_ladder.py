"""A run plays events in their share beside the ladder, and whoever forges them in the log is told so."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from ladder.archive.key import LadderKey
from ladder.archive.recompute import compare, repair
from ladder.facts.announcing import announce
from ladder.facts.rebuilt import Rebuilt
from ladder.facts.store import Store
from ladder.model.match import Match
from ladder.model.tournament import Phase
from ladder.operation.home import Home
from ladder.play import running
from ladder.play.pool import End
from referee.records.audit_log import AuditError, check
from tests.cases import mostly_long
from tests.ladder.announced import Clock, clock, closed, play_out, set_clock, terms
from tests.ladder.archived import rewrite_log
from tests.ladder.logged import Entries, entries_of, first, forge, key_of, written
from tests.ladder.made import differences, ladder, next_matches
from tests.ladder.made import play as play_match
from tests.ladder.test_blocks_apart import SimulatedPool, Watch, enter, finished, play, store

__all__ = ["clock", "store"]


def seal(home: Home, store: Store, block: int) -> list[str]:
    store.evidence.note_sealed(block)
    return []


def is_over(store: Store) -> bool:
    return store.tournaments.find("final").phase is Phase.OVER


@pytest.mark.parametrize("places", mostly_long([2, 1, 5]))
@pytest.mark.parametrize("share", mostly_long([50, 100, 20], 2))
def test_an_event_gets_its_share_of_the_matches_and_the_ladder_the_others(
    tmp_path: Path, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, places: int, share: int
) -> None:
    monkeypatch.setattr(running, "seal_block", seal)
    for number in range(4):
        enter(store, f"bot{number}", qualified=True)
    closed(store, clock, top=4, blocks=8, share=share)
    watch = Watch()
    play(tmp_path, store, SimulatedPool(watch, places, finished), monkeypatch, None, lambda: is_over(store))
    of_event = [match.tournament is not None for match, _ in watch.ended]
    last = len(of_event) - of_event[::-1].index(True)
    assert sum(of_event) == 6 * 8 * 2
    assert sum(of_event) / last == pytest.approx(share / 100, abs=0.05)
    assert watch.overlaps == []
    assert differences(store) == []


@pytest.mark.parametrize("matches", [1, 40])
def test_a_run_with_a_number_of_matches_plays_that_many_and_the_whole_event(
    tmp_path: Path, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, matches: int
) -> None:
    monkeypatch.setattr(running, "seal_block", seal)
    for number in range(4):
        enter(store, f"bot{number}", qualified=True)
    closed(store, clock)
    watch = Watch()
    play(tmp_path, store, SimulatedPool(watch, 2, finished), monkeypatch, matches)
    assert sum(match.tournament is not None for match, _ in watch.ended) == 24
    assert sum(match.tournament is None for match, _ in watch.ended) in range(matches, matches + 6)
    assert is_over(store)


def test_an_event_closes_while_a_match_goes_on_and_whoever_qualifies_with_it_is_too_late(
    tmp_path: Path, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "seal_block", seal)
    for number in range(3):
        enter(store, f"bot{number}", qualified=True)
    announce(store, terms(top=4))
    enter(store, "late", qualified=False)

    def passing(match: Match) -> End:
        if match.block is None:
            clock.pass_the_close()
        return finished(match)

    play(tmp_path, store, SimulatedPool(Watch(), 1, passing), monkeypatch, None, lambda: is_over(store))
    [one] = store.tournaments.all()
    assert sorted(each.version.bot for each in store.tournaments.entrants(one)) == ["bot0", "bot1", "bot2"]
    assert [(version.bot, reason) for version, reason in store.tournaments.left_out(one)] == [
        ("late", "waits to qualify")
    ]
    assert store.roster.find_versions("late")[0].id in store.admission.qualifications(one.terms.conditions[0])


def rewrite(store: Store, change: Callable[[Entries], Any]) -> None:
    """Change the log, chain all of it anew, and let the views follow from it."""
    rewrite_log(store.file.path, change)
    with Rebuilt(store.file) as rebuilt, store.writing():
        rebuilt.take_events()
        rebuilt.replace_views()


def test_a_recomputation_names_pairings_that_the_organiser_has_chosen_and_repairs_nothing(
    tmp_path: Path, clock: Clock
) -> None:
    def change(lines: Entries) -> None:
        matches = first(lines, "tournament_block")["matches"]
        strangers = [f"bot{number} v1" for number in range(4) if f"bot{number} v1" not in matches[0]["seats"]]
        for match in matches:
            match["seats"] = strangers

    home = Home(tmp_path)
    with ladder(tmp_path, 5) as made:
        key_of(home)
        closed(made, clock, top=4, blocks=1)
        play_out(made)
        assert compare(home, made).contradicting.count == 0
        rewrite(made, change)
        found = compare(home, made)
        assert found.log == ""
        assert found.differences.reported == []
        assert any("has other seats than follow from its entrants" in line for line in found.contradicting.reported)
        assert not repair(home, made, count_lost=True).repaired


def swap(entrants: Entries, left_out: Entries) -> None:
    entrants[1:3] = [
        {**entrants[2], "place": entrants[1]["place"]},
        {**entrants[1], "place": entrants[2]["place"]},
    ]


def prefer(entrants: Entries, left_out: Entries) -> None:
    entrants[2]["version"] = left_out[0]["version"]


def forget(entrants: Entries, left_out: Entries) -> None:
    entrants.pop()


def promote(entrants: Entries, left_out: Entries) -> None:
    entrants[0]["place"] = 2


@pytest.mark.parametrize(("change", "number"), [(swap, 2), (prefer, 3), (forget, 3), (promote, 1)])
def test_a_recomputation_names_entrants_that_the_organiser_has_chosen(
    tmp_path: Path, clock: Clock, change: Callable[[Entries, Entries], None], number: int
) -> None:
    """The places are those at the close, whatever is played and whoever comes later."""

    def forged(lines: Entries) -> None:
        entry = first(lines, "tournament_closed")
        change(entry["entrants"], entry["left_out"])

    home = Home(tmp_path)
    with ladder(tmp_path, 4) as made:
        key_of(home)
        for seed in range(3):
            for match in next_matches(made, seed):
                play_match(made, match, random.Random(f"{seed}"))
        closed(made, clock, top=3)
        for seed in range(3, 9):
            for match in next_matches(made, seed):
                play_match(made, match, random.Random(f"{seed}"))
        assert compare(home, made).contradicting.count == 0
        rewrite(made, forged)
        [line] = compare(home, made).contradicting.reported
        assert line.startswith(f"event final: entrant {number} is ")
        assert "; by the entries before its close it is " in line


# --- the log ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def over(tmp_path_factory: pytest.TempPathFactory) -> tuple[Entries, LadderKey]:
    """The log of a ladder whose event is over, and its key."""
    home = Home(tmp_path_factory.mktemp("over"))
    home.make()
    with pytest.MonkeyPatch.context() as patch, ladder(home.folder) as store:
        clock = set_clock(patch)
        key = key_of(home)
        closed(store, clock, top=3, blocks=1)
        play_out(store)
    log = written(home, home.folder / "log.jsonl")
    assert check(log, None).seeds == 3
    return entries_of(log), key


def later(entries: Entries) -> None:
    first(entries, "tournament")["closes"] = "2126-12-19T00:00:00.000+00:00"


def twice(entries: Entries) -> None:
    one = first(entries, "tournament_closed")
    entries.insert(entries.index(one), one)


def stranger(entries: Entries) -> None:
    seats = first(entries, "tournament_block")["matches"][0]["seats"]
    seats[0] = next(f"bot{number} v1" for number in range(5) if f"bot{number} v1" not in seats and number > 2)


def early(entries: Entries) -> None:
    entries.remove(first(entries, "tournament_closed"))


def many(entries: Entries) -> None:
    first(entries, "tournament")["top"] = 2


def other_seed(entries: Entries) -> None:
    first(entries, "tournament_over")["seed"] += 1


def afterwards(entries: Entries) -> None:
    entries.append(first(entries, "tournament_closed"))


def too_soon(entries: Entries) -> None:
    entries.remove(first(entries, "seed"))


def nobody(entries: Entries) -> None:
    first(entries, "tournament_closed")["left_out"].append({"version": "nobody v1", "reason": ""})


def endless(entries: Entries) -> None:
    first(entries, "tournament")["rounds"] = 10**9


def without_game(entries: Entries) -> None:
    first(entries, "tournament")["conditions"] = []


def one_game_twice(entries: Entries) -> None:
    first(entries, "tournament")["conditions"] *= 2


def unknown_game(entries: Entries) -> None:
    first(entries, "tournament")["conditions"][0]["clock"] = "1+1/1"


def shapeless_game(entries: Entries) -> None:
    first(entries, "tournament")["conditions"] = ["cargo_noir"]


def elsewhere(entries: Entries) -> None:
    first(entries, "tournament_block")["options"] = {"last_turn": 2}


def shapeless(entries: Entries) -> None:
    first(entries, "tournament_closed")["entrants"][0] = "bot0 v1"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (later, "event final closes a second time, or before the announced time"),
        (twice, "event final closes a second time"),
        (stranger, "event final has a block with a version that is not entered"),
        (early, "event final has a block before its close"),
        (many, "event final has a version twice, or more than 2"),
        (other_seed, r"is not the seed that entry \d+ committed to for event final"),
        (afterwards, "event final was not announced before, or is over"),
        (too_soon, "event final ends while block 1 is not over"),
        (nobody, "it has 'nobody v1', which was never taken in"),
        (endless, "event final has a number of something that is not from 1 to"),
        (without_game, "event final has no game, or one twice"),
        (one_game_twice, "event final has no game, or one twice"),
        (unknown_game, "the condition .* was never added"),
        (shapeless_game, "does not have what belongs to a condition"),
        (elsewhere, "event final has a block under another condition"),
        (shapeless, "does not have what belongs to an entrant"),
    ],
)
def test_a_log_with_an_event_that_cannot_have_been_is_refused(
    over: tuple[Entries, LadderKey], tmp_path: Path, change: Callable[[Entries], Any], reason: str
) -> None:
    entries, key = over
    changed = deepcopy(entries)
    change(changed)
    with pytest.raises(AuditError, match=reason):
        check(forge(tmp_path / "log.jsonl", changed, key), None)
