"""A run and its bots at home, as far as the run decides: how long matches wait, and what decides a qualification. Without processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from ladder.facts.roster import Roster
from ladder.facts.standings import Status, statuses
from ladder.facts.store import Store
from ladder.intake.submission import Inspector
from ladder.model.condition import agree
from ladder.model.match import Match
from ladder.operation.home import Home
from ladder.play import qualifying, running
from ladder.play.pool import End, Void
from ladder.play.qualifying import enter_house_bots
from ladder.play.running import AWAY_SECONDS, RunPlan
from referee.match.clock import TimeControl
from tests.ladder.made import CONDITION, GAME
from tests.ladder.runs import keep_time_by, run
from tests.ladder.test_blocks_apart import enter, finished


class Hours:
    """A clock that only goes when a run has nothing to play: a second each time."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Table:
    """Stands where the pool of workers is: each match ends as the test says, at once."""

    def __init__(self, clock: Hours, end_of: Callable[[Match], End]) -> None:
        self._clock = clock
        self._end_of = end_of
        self.began: list[float] = []

    def __call__(self, *_: object) -> Table:
        return self

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None: ...

    def play(self, matches: Iterable[Match | None]) -> Iterator[tuple[Match, End]]:
        for match in matches:
            if match is None:
                self._clock.sleep(1.0)
            else:
                self.began.append(self._clock.now)
                yield match, self._end_of(match)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "ladder.db", create=True) as made:
        made.roster.condition(CONDITION.game, CONDITION.options, CONDITION.clock)
        enter_house_bots(made, CONDITION)
        yield made


def served(
    store: Store, home: Path, table: Table, monkeypatch: pytest.MonkeyPatch, clock: Hours, away: float = AWAY_SECONDS
) -> None:
    """Run the ladder, as while it is served, with this table, for three hours or until five matches were played."""
    monkeypatch.setattr(running, "Pool", table)
    keep_time_by(clock, monkeypatch)
    for module in (running, qualifying):
        monkeypatch.setattr(module, "archive_match", lambda *_: None)
    control = TimeControl.parse(CONDITION.clock)
    games = [agree(GAME, {}, None)]
    plan = RunPlan(games, None, workers=1, clock=control, invite=lambda _: None, away_seconds=away)
    for _ in run(Home(home), store, plan):
        if clock.now > 10_000 or len(table.began) >= 5:
            return


@pytest.mark.long
def test_a_match_waits_ten_minutes_however_many_of_its_bots_are_away(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = [enter(store, name, qualified=False, at_home=True) for name in ("one", "two", "three")]
    for version in versions:
        store.admission.qualify(version.id, CONDITION, passed=True, reason="")
        store.roster.connect(version.id, 1)
    seats = [version.id for version in versions]
    store.schedule.add_block(CONDITION, 1, {"m": seats}, 1, 0, dict.fromkeys(seats, 4))
    clock = Hours()
    table = Table(clock, finished)
    served(store, tmp_path, table, monkeypatch, clock)
    assert table.began[0] == 1000 + AWAY_SECONDS


def test_a_bot_at_home_does_not_fail_to_qualify_because_a_worker_died(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = enter(store, "one", qualified=False, at_home=True)
    clock = Hours()

    def end_of(match: Match) -> End:
        clock.sleep(1.0)
        if match.block is None and len(table.began) < 3:
            return Void("the worker was killed by SIGKILL", worker_died=True)
        return finished(match)

    table = Table(clock, end_of)
    original = Roster.disconnect

    def connected_again(self: Roster, *args: Any) -> None:
        original(self, *args)
        self.connect(version.id, 1)  # as soon as the run serves

    monkeypatch.setattr(Roster, "disconnect", connected_again)
    served(store, tmp_path, table, monkeypatch, clock)
    [status] = [one.status for one in statuses(store, CONDITION) if one.version == version]
    assert status is Status.ACTIVE


def test_a_version_plays_one_match_at_a_time_to_qualify_however_long_that_takes(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    version, _ = store.roster.add_version("slow", "ann", "hash", ["./slow"], [GAME.name])
    monkeypatch.setattr(Inspector, "check", lambda *_: None)
    clock = Hours()

    class Slowly(Table):
        """Each match to qualify takes three hours; others could be played meanwhile."""

        @override
        def play(self, matches: Iterable[Match | None]) -> Iterator[tuple[Match, End]]:
            trying: list[Match] = []
            for match in matches:
                if match is not None and match.block is None:
                    trying.append(match)
                elif match is not None:
                    clock.sleep(1800.0)
                    yield match, finished(match)
                if clock.now > 9_000:
                    break
            tried.extend(trying)
            yield from ((match, finished(match)) for match in trying)

    tried: list[Match] = []
    other, _ = store.roster.add_version("fast", "eve", "other hash", ["./fast"], [GAME.name])
    store.admission.qualify(other.id, CONDITION, passed=True, reason="")
    served(store, tmp_path, Slowly(clock, finished), monkeypatch, clock)
    assert [match.seats[0] for match in tried] == [version]


def test_how_many_matches_wait_changes_nothing_in_how_often_it_is_looked_who_is_connected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    connected = Roster.connected

    def counted(self: Roster) -> Any:
        looked[-1] += 1
        return connected(self)

    monkeypatch.setattr(Roster, "connected", counted)
    for blocks in (1, 4):
        looked.append(0)
        folder = tmp_path / str(blocks)
        folder.mkdir()
        with Store(folder / "ladder.db", create=True) as store:
            store.roster.condition(CONDITION.game, CONDITION.options, CONDITION.clock)
            enter_house_bots(store, CONDITION)
            seats = [enter(store, name, qualified=False, at_home=True).id for name in ("one", "two")]
            for block in range(blocks):
                store.schedule.add_block(CONDITION, 1, {f"{block}.{turn}": seats for turn in range(2)}, 1, 0, {})
            clock = Hours()

            def stop(_: Match) -> End:
                raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                served(store, folder, Table(clock, stop), monkeypatch, clock, away=10.0)
    assert looked[0] == looked[1]
