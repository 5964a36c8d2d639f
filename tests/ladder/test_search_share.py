"""The house bot that thinks on a ladder: it comes in unless the organiser says none, plays its share, and thinks in its own process."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from ladder.facts.standings import SCHEDULED, standings, statuses
from ladder.facts.store import Store
from ladder.model.match import HOUSE, Match, Version
from ladder.operation.home import Home
from ladder.play.pool import End, Finished, Pool, Void
from referee.match.result import Outcome
from referee.records.verify import verify
from referee.registry import find
from referee.sandbox.system import descendants
from tests.commands.conftest import Dogana, dogana
from tests.ladder.made import CONDITION, result_of
from tests.ladder.test_blocks_apart import SimulatedPool, Watch, enter, finished, play, store
from tests.ladder.test_pool import HOUSE_BOT, PLAIN, match
from tests.sandbox.conftest import needs_bubblewrap

__all__ = ["dogana", "store"]

SEARCH = "search"


def played(
    folder: Path,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    share: int,
    matches: int,
    end_of: Callable[[Match], End] = finished,
) -> list[Match]:
    """Run a ladder at tables of two, without processes; return the matches that are over."""
    watch = Watch()
    pool = SimulatedPool(watch, 2, end_of)
    play(folder, store, pool, monkeypatch, matches, seats=2, search_share=share)
    return [match for match, _ in watch.ended]


def has_search(match: Match) -> bool:
    return any(version.bot == SEARCH for version in match.seats)


@pytest.mark.parametrize("share", [10, 25, 100])
def test_search_comes_in_and_plays_its_share(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, share: int
) -> None:
    for number in range(3):
        enter(store, f"bot{number}", qualified=True)
    matches = played(tmp_path, store, monkeypatch, share, 80)
    assert len(matches) == 80
    assert sum(map(has_search, matches)) == 80 * share // 100
    [found] = [one for one in statuses(store, CONDITION) if one.version.bot == SEARCH]
    assert found.version.author == HOUSE
    assert found.status in SCHEDULED
    assert found.tally.matches == 80 * share // 100


def test_with_a_share_of_none_search_does_not_come_in_or_plays_no_more(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(store, "bot", qualified=True)
    assert not any(map(has_search, played(tmp_path, store, monkeypatch, 0, 40)))
    assert not any(one.version.bot == SEARCH for one in statuses(store, CONDITION))
    assert any(map(has_search, played(tmp_path, store, monkeypatch, 50, 40)))
    assert not any(map(has_search, played(tmp_path, store, monkeypatch, 0, 40)))
    assert any(one.version.bot == SEARCH for one in statuses(store, CONDITION))  # it keeps its results


def test_no_version_is_tried_against_a_house_bot_that_thinks(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even if it is the best house bot."""

    def won_by_search(match: Match) -> End:
        ranks = [1 if version.bot == SEARCH else 2 for version in match.seats]
        return Finished(result_of(match, ranks), f"hash of {match.match_id}")

    enter(store, "bot", qualified=True)
    played(tmp_path, store, monkeypatch, 100, 20, won_by_search)
    assert standings(store, CONDITION)[0][0].version.bot == SEARCH
    killer = enter(store, "killer", qualified=True)

    def killed_by(match: Match) -> End:
        return Void("it died", worker_died=True) if killer in match.seats else finished(match)

    tried = [match for match in played(tmp_path, store, monkeypatch, 100, 10, killed_by) if match.block is None]
    assert any(killer in match.seats for match in tried)
    assert not any(map(has_search, tried))
    assert killer.id in store.admission.guilty()


# --- real matches -----------------------------------------------------------------------------------------


def processes_of_search() -> list[int]:
    """The processes below this one that play as `search`."""
    found = []
    for process in descendants(os.getpid()):
        with suppress(OSError):
            if Path(f"/proc/{process}/cmdline").read_bytes().endswith(b"-m\0house_bots\0search\0"):
                found.append(process)
    return found


@pytest.mark.ladders
def test_search_thinks_in_a_process_of_its_own_which_ends_with_the_match(tmp_path: Path) -> None:
    """Killed, it loses its match like any other bot, and the worker goes on."""
    home, over, seen = Home(tmp_path / "home"), Event(), set[int]()
    search = Version(98, SEARCH, HOUSE, 1, "house:search:1", (), ("cargo_noir",), None)

    def watch(*, kills: bool) -> None:
        while not over.wait(0.01):
            for process in processes_of_search():
                seen.add(process)
                if kills:
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)

    home.records.mkdir(parents=True)
    with Pool(home, 1, join_seconds=120) as pool:
        for kills, outcome in ((False, Outcome.PLAYED), (True, Outcome.CRASH)):
            over.clear()
            seen.clear()
            watching = Thread(target=watch, kwargs={"kills": kills})
            watching.start()
            # A fixed seed: where no rollout can differ from the last, search rightly stops thinking at once.
            one = replace(match(search, HOUSE_BOT), match_id="5ea2c4", seed=1)
            [(_, end)] = pool.play([one])
            over.set()
            watching.join()
            assert isinstance(end, Finished)
            assert seen
            assert processes_of_search() == []
            assert end.result.seats[1].outcome is Outcome.PLAYED
            assert end.result.seats[0].outcome in ({outcome, Outcome.START} if kills else {outcome})
            assert verify(home.record(one.match_id), find, one.seed).last_hash == end.record_hash
            assert kills or end.result.seats[0].think_seconds > 0.05


def ran(dogana: Dogana, *words: object) -> list[dict[str, Any]]:
    """Run four matches of two seats; return the standings."""
    dogana(
        *("ladder", "run", "--home", "home", "--game", "yunnan", "--matches", 4, "--seats", 2, "--workers", 1),
        *("--clock", "120+10/60", "--wait", 300, *words),
    )
    return list(json.loads(dogana("ladder", "top", "yunnan", "--home", "home", "--json").stdout))


@pytest.mark.ladders
@pytest.mark.parametrize("words", [("--unconfined",), pytest.param((), marks=needs_bubblewrap)], ids=["open", "boxed"])
def test_search_is_rated_on_a_ladder_whose_results_follow_from_its_log(
    dogana: Dogana, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "mybot.py").write_text(PLAIN)
    dogana("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "home")
    assert SEARCH not in {entry["bot"] for entry in ran(dogana, "--search-share", 0, *words)}
    entries = {entry["bot"]: entry for entry in ran(dogana, "--search-share", 50, *words)}
    assert (entries[SEARCH]["matches"], entries[SEARCH]["out"]) == (2, 0)
    assert entries[SEARCH]["author"] == HOUSE
    assert "agree to the last digit" in dogana("ladder", "recompute", "--home", "home").stdout


@pytest.mark.long
def test_a_new_ladder_gives_search_a_tenth(dogana: Dogana, tmp_path: Path) -> None:
    """Nothing else is said: it comes in, and has no match among the first ones."""
    (tmp_path / "mybot.py").write_text(PLAIN)
    dogana("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "home")
    entries = {entry["bot"]: entry for entry in ran(dogana, "--unconfined")}
    assert entries[SEARCH]["matches"] == 0
    assert entries[SEARCH]["status"] == "waits for its first match"
    for wrong in ("101", "-1", "0.1"):
        said = dogana("ladder", "run", "--game", "yunnan", "--matches", 1, "--search-share", wrong, status=2).stderr
        assert "--search-share" in said
