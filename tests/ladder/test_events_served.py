"""An event of two games on a served ladder that is killed again and again, while authors go on submitting."""

from __future__ import annotations

import signal
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ladder.archive.audit_log import write
from ladder.archive.recompute import compare
from ladder.facts.announcing import announce
from ladder.facts.store import Store
from ladder.intake.submission import submit
from ladder.model.tournament import Phase
from ladder.operation.home import Home
from referee.records.audit_log import check
from tests.commands.conftest import Dogana, dogana
from tests.ladder.announced import terms
from tests.ladder.test_serving import RANDOM, SECONDS, served
from tests.patience import wait_until

pytestmark = pytest.mark.ladders

__all__ = ["dogana"]

BOTS = {"mine": "ann", "yours": "bob", "theirs": "cem"}
GAMES = ("--game", "yunnan", "--workers", "2")
"""Besides the one that is served in any case."""
MATCHES = 3 * 2 * 2
"""Three pairs, two games, two rotations."""


def enter(home: Home, folder: Path, bot: str, note: str) -> None:
    (folder / f"{bot}.py").write_text(f"# {note}\n{RANDOM}")
    submit(home, folder / f"{bot}.py", bot, BOTS[bot])


def qualified(store: Store) -> set[str]:
    """The labels of the submitted versions that have qualified in both games."""
    versions = store.roster.versions()
    games = Counter(
        version
        for condition in store.roster.conditions().values()
        for version, (passed, _) in store.admission.qualifications(condition).items()
        if passed and versions[version].bot in BOTS
    )
    return {versions[version].label for version, count in games.items() if count == 2}


def results(store: Store) -> int:
    return len(store.tournaments.results(store.tournaments.find("final")))


def test_a_served_event_survives_kills_and_later_versions_go_on_in_the_ladder_alone(
    tmp_path: Path, dogana: Dogana
) -> None:
    home = Home(tmp_path / "home")
    home.make()
    for bot in BOTS:
        enter(home, tmp_path, bot, "first")
    with Store(home.database, create=True) as store:
        with served(home.folder, *GAMES) as (process, _):
            wait_until(lambda: len(qualified(store)) == len(BOTS))
            both = tuple(store.roster.conditions().values())
            closes = (datetime.now(UTC) + timedelta(seconds=10)).isoformat(timespec="milliseconds")
            announce(store, terms(top=3, blocks=1, conditions=both, closes=closes))
            said = dogana("ladder", "run", "--home", home.folder, "--game", "cargo_noir", "--matches", 1, status=1)
            assert "another run is going on" in said.stderr
            wait_until(lambda: store.tournaments.find("final").phase is Phase.PLAYED)
            enter(home, tmp_path, "mine", "later")
            wait_until(lambda: results(store) >= 1)
            process.send_signal(signal.SIGKILL)
            process.wait(SECONDS)
        for played in (4, 7):
            with served(home.folder, *GAMES) as (process, _):
                wait_until(lambda least=played: results(store) >= least)  # type: ignore[misc]  # it is bound at once
                process.send_signal(signal.SIGKILL)
                process.wait(SECONDS)
        with served(home.folder, *GAMES):
            wait_until(lambda: store.tournaments.find("final").phase is Phase.OVER)
            wait_until(lambda: "mine v2" in qualified(store))
        one = store.tournaments.find("final")
        entered = {each.version.label for each in store.tournaments.entrants(one)}
        assert entered == {"mine v1", "yours v1", "theirs v1"}
        scheduled = store.tournaments.scheduled(one)
        assert set(scheduled) == {fixture.name for fixture in store.tournaments.course(one).fixtures}
        assert (len(scheduled), results(store)) == (MATCHES, MATCHES)
        assert Counter(match.condition.game for match in scheduled.values()) == {"cargo_noir": 6, "yunnan": 6}
        assert any(not match.event for match in store.history.all_played())
        assert compare(home, store).problems == []
        write(home, store, tmp_path / "log.jsonl")
    assert check(tmp_path / "log.jsonl", None).results >= MATCHES
    printed = dogana("ladder", "event", "show", "final", "--home", home.folder).stdout
    assert f"{MATCHES} of {MATCHES} matches" in printed
    assert "of 100 matches that begin" in printed, "its share is no progress"
    assert "place" in printed
