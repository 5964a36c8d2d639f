"""What is played at the same time: never two matches of one block, which share their luck; and newcomers do not hold up everybody else."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from ladder.archive.recompute import compare
from ladder.facts.roster import Roster
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.store import Store
from ladder.intake.submission import Inspector, submit
from ladder.model.condition import agree
from ladder.model.match import AT_HOME_PREFIX, Match, Version
from ladder.operation.home import Home
from ladder.play import qualifying, running
from ladder.play.pool import End, Finished, Pool, Void
from ladder.play.qualifying import enter_house_bots
from ladder.play.running import MAX_NEWCOMERS, RunPlan
from referee.match.clock import TimeControl
from tests.cases import mostly_long
from tests.ladder.made import CONDITION, GAME, result_of
from tests.ladder.runs import keep_time_by, run
from tests.ladder.test_pool import PLAIN

CONTROL = TimeControl.parse(CONDITION.clock)


class Watch:
    """What is being played at each moment.

    Attributes:
        ended: the matches that are over, with their ends.
        overlaps: the blocks of which two matches were played at the same time.
        most: how many matches of blocks were played at the same time, at most.
    """

    def __init__(self) -> None:
        self.ended: list[tuple[Match, End]] = []
        self.overlaps: list[int] = []
        self.most = 0
        self._playing: dict[str, Match] = {}

    def begin(self, match: Match) -> None:
        blocks = [one.block for one in self._playing.values() if one.block is not None]
        if match.block in blocks:
            self.overlaps.append(match.block)
        self._playing[match.match_id] = match
        self.most = max(self.most, len(blocks) + (match.block is not None))

    def end(self, match: Match, end: End) -> None:
        del self._playing[match.match_id]
        self.ended.append((match, end))

    def interrupt(self) -> None:
        """Nothing is played any more."""
        self._playing.clear()

    def until(self, most: int) -> Callable[[], bool]:
        """Tell whether so many matches are over."""
        return lambda: len(self.ended) >= most

    @property
    def counted(self) -> int:
        """How many matches of blocks were played to their ends."""
        return sum(match.block is not None and isinstance(end, Finished) for match, end in self.ended)

    def voids(self) -> Iterator[bool]:
        """For each match that is over, whether its worker died."""
        return (isinstance(end, Void) and end.worker_died for _, end in self.ended)

    @property
    def tried(self) -> int:
        """How many matches decided whether a version qualifies."""
        return sum(match.block is None for match, _ in self.ended)


# --- real workers -----------------------------------------------------------------------------------------


@pytest.mark.ladders
@pytest.mark.parametrize("workers", [2, 4, 8])
def test_no_two_matches_of_a_block_are_played_at_a_time_and_all_workers_have_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    watch, begun, killed = Watch(), count(1), set[str]()

    class Watched(Pool):
        """Workers, one of which is killed now and then, so that its match is void."""

        @override
        def play(self, matches: Iterable[Match | None]) -> Iterator[tuple[Match, End]]:
            for match, end in super().play(map(self._seen, matches)):
                watch.end(match, end)
                yield match, end

        def _seen(self, match: Match | None) -> Match | None:
            if match is not None:
                if next(begun) % 9 == 0:
                    self._kill_one()
                watch.begin(match)
            return match

        def _kill_one(self) -> None:
            for worker in self.workers:
                one = worker.match
                if one is not None and one.block is not None and one.match_id not in killed and worker.process.pid:
                    killed.add(one.match_id)
                    os.kill(worker.process.pid, signal.SIGKILL)
                    return

    monkeypatch.setattr(running, "Pool", Watched)
    home = Home(tmp_path / "home")
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f"# {name}\n{PLAIN}")
        submit(home, tmp_path / f"{name}.py", name, name)
    with Store(home.database, create=False) as store:

        def play(matches: int, stop: Callable[[], bool]) -> None:
            plan = RunPlan([agree(GAME, {}, None)], matches, workers, CONTROL)
            with closing(run(home, store, plan)) as steps:
                for _ in steps:
                    if stop():
                        break
            watch.interrupt()

        play(1000, lambda: watch.counted >= 3 * workers and any(watch.voids()))  # a worker may end before it dies
        [left] = store.schedule.open_matches().values()
        assert left > 0
        play(3 * workers, lambda: False)  # first what is left
        assert store.schedule.open_matches() == {}
        assert compare(home, store).problems == []
    assert watch.overlaps == []
    assert watch.most == workers
    assert any(watch.voids())


# --- without processes: time goes when nothing more can begin ---------------------------------------------


class SimulatedPool:
    """Stands where the pool is: it has so many places, and each match takes as long as chance says.

    Attributes:
        idle: how many places were empty each time that a match ended, as long as more could be scheduled.
    """

    def __init__(self, watch: Watch, places: int, end_of: Callable[[Match], End], seed: int = 0) -> None:
        self.now = 1000.0
        self.idle: list[int] = []
        self._watch = watch
        self._places = places
        self._end_of = end_of
        self._chance = random.Random(seed)
        self._numbers = count()

    def __call__(self, *_: object) -> SimulatedPool:
        return self

    def __enter__(self) -> SimulatedPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.interrupt()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def play(self, matches: Iterable[Match | None]) -> Iterator[tuple[Match, End]]:
        source = iter(matches)
        playing: list[tuple[float, int, Match]] = []
        while True:
            while len(playing) < self._places and (match := next(source, None)) is not None:
                self._watch.begin(match)
                heappush(playing, (self.now + 1 + self._chance.random(), next(self._numbers), match))
            if not playing:
                return
            self.idle.append(self._places - len(playing))
            self.now, _, match = heappop(playing)
            end = self._end_of(match)
            self._watch.end(match, end)
            yield match, end

    def play_alone(self, match: Match) -> End:
        [(_, end)] = self.play([match])
        return end


def finished(match: Match) -> End:
    return Finished(result_of(match, range(1, 1 + len(match.seats))), f"hash of {match.match_id}")


def enter(store: Store, name: str, *, qualified: bool, at_home: bool = False) -> Version:
    content, command = (f"{AT_HOME_PREFIX}{name}", []) if at_home else (f"hash of {name}", ["./bot"])
    version, _ = store.roster.add_version(name, f"author of {name}", content, command, [GAME.name])
    if qualified:
        store.admission.qualify(version.id, CONDITION, passed=True, reason="")
    return version


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(Inspector, "check", lambda *_: None)
    for module in (running, qualifying):
        monkeypatch.setattr(module, "archive_match", lambda *_: None)
    monkeypatch.setattr(running, "seal_block", lambda *_: ())
    monkeypatch.setattr(running, "seal_blocks", lambda *_: ())
    monkeypatch.setattr(qualifying, "seal_match", lambda *_: None)
    with Store(tmp_path / "ladder.db", create=True) as made:
        made.roster.condition(CONDITION.game, CONDITION.options, CONDITION.clock)
        enter_house_bots(made, CONDITION)
        yield made


def play(
    home: Path,
    store: Store,
    pool: SimulatedPool,
    monkeypatch: pytest.MonkeyPatch,
    matches: int | None,
    stop: Callable[[], bool] = lambda: False,
    connected: Sequence[tuple[Version, int]] = (),
    seats: int | None = None,
    **settings: Any,
) -> None:
    """Run a ladder in a hall, until it is stopped; bots at home are connected, with so many places each."""
    disconnect = Roster.disconnect

    def connect_again(self: Roster) -> None:
        disconnect(self)
        for version, places in connected:
            self.connect(version.id, places)

    monkeypatch.setattr(Roster, "disconnect", connect_again)
    monkeypatch.setattr(running, "Pool", pool)
    keep_time_by(pool, monkeypatch)
    invite = (lambda _: None) if matches is None else None
    plan = RunPlan([agree(GAME, {}, seats)], matches, 1, CONTROL, invite=invite, **settings)
    with closing(run(Home(home), store, plan)) as steps:
        for _ in steps:
            if stop():
                break
    monkeypatch.setattr(Roster, "disconnect", disconnect)


@pytest.mark.parametrize("places", mostly_long([2, 4, 8]))
def test_blocks_stay_apart_whatever_is_void_given_up_or_taken_up_again(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, places: int
) -> None:
    watch, chance = Watch(), random.Random(places)
    for number in range(4):
        enter(store, f"bot{number}", qualified=number < 2)
    at_home = [(enter(store, f"home{most}", qualified=True, at_home=True), most) for most in (1, 3)]

    def end_of(match: Match) -> End:
        if match.block is not None and chance.random() < 0.3:
            return Void("the referee's own fault")
        return finished(match)

    for _ in range(4):  # a served ladder, stopped in the middle of things
        before = len(watch.ended)
        pool = SimulatedPool(watch, places, end_of, chance.randrange(1000))
        most = before + chance.randrange(15, 40)
        play(tmp_path, store, pool, monkeypatch, None, watch.until(most), at_home, max_given_up=1000)
        assert store.schedule.open_matches() != {}
    assert watch.overlaps == []
    assert watch.most == places
    assert max(match.voids for match, _ in watch.ended) == MAX_VOIDS - 1  # and then they were given up


@pytest.mark.parametrize(("places", "bots"), mostly_long([(2, 12), (4, 1), (8, 12)], 2))
def test_no_place_is_empty_as_long_as_more_is_to_be_played(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, places: int, bots: int
) -> None:
    watch = Watch()
    for number in range(bots):
        enter(store, f"bot{number}", qualified=True)
    pool = SimulatedPool(watch, places, finished)
    play(tmp_path, store, pool, monkeypatch, 80)
    assert watch.overlaps == []
    last = max(GAME.seat_counts)
    assert 80 <= watch.counted < 80 + last  # as many blocks as it takes, and no more
    assert set(pool.idle[: 80 - places * last]) == {0}


def test_a_bot_at_home_plays_as_many_matches_at_a_time_as_it_offers(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = enter(store, "home", qualified=True, at_home=True)
    watch, together, now = Watch(), 0, 0
    begin, end = watch.begin, watch.end

    def begin_counted(match: Match) -> None:
        nonlocal together, now
        now += version in match.seats
        together = max(together, now)
        begin(match)

    def end_counted(match: Match, how: End) -> None:
        nonlocal now
        now -= version in match.seats
        end(match, how)

    monkeypatch.setattr(watch, "begin", begin_counted)
    monkeypatch.setattr(watch, "end", end_counted)
    play(
        tmp_path,
        store,
        SimulatedPool(watch, 8, finished),
        monkeypatch,
        None,
        lambda: watch.counted >= 40,
        [(version, 3)],
        seats=3,
    )
    assert together == 3
    assert watch.overlaps == []


# --- newcomers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matches", [1000, None])
def test_a_run_that_is_stopped_again_and_again_while_bots_come_plays_and_lets_them_qualify(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, matches: int | None
) -> None:
    watch, names = Watch(), count()
    for _ in range(20):
        for _ in range(3):
            enter(store, f"bot{next(names)}", qualified=False)
        most = len(watch.ended) + 2
        pool = SimulatedPool(watch, 1, finished)
        play(tmp_path, store, pool, monkeypatch, matches, watch.until(most))
    assert watch.counted >= 10  # a block has two to five matches, and follows at most `MAX_NEWCOMERS` newcomers
    assert watch.tried >= 10


@pytest.mark.parametrize("places", mostly_long([4, 1]))
@pytest.mark.parametrize("matches", [1000, None])
def test_newcomers_who_come_one_after_the_other_do_not_hold_up_the_matches(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, matches: int | None, places: int
) -> None:
    watch, names = Watch(), count()
    for _ in range(30):  # those that are there when a run begins
        enter(store, f"bot{next(names)}", qualified=False)

    def end_of(match: Match) -> End:
        enter(store, f"bot{next(names)}", qualified=False)
        return finished(match)

    pool = SimulatedPool(watch, places, end_of)
    play(tmp_path, store, pool, monkeypatch, matches, lambda: len(watch.ended) >= 30)
    blocks = {match.block for match, _ in watch.ended} - {None}
    assert watch.counted > 0
    assert watch.tried <= MAX_NEWCOMERS * (len(blocks) + 2)


def test_all_newcomers_of_a_run_have_tried_when_it_ends_and_those_that_came_later_have_not(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, names = Watch(), count()
    there = [enter(store, f"bot{next(names)}", qualified=False) for _ in range(3 * MAX_NEWCOMERS)]

    def end_of(match: Match) -> End:
        enter(store, f"bot{next(names)}", qualified=False)
        return finished(match)

    play(tmp_path, store, SimulatedPool(watch, 2, end_of), monkeypatch, 1)
    assert {match.seats[0] for match, _ in watch.ended if match.block is None} == set(there)
    assert watch.counted >= 1


def test_a_bot_plays_in_the_run_that_lets_it_qualify(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch()
    version = enter(store, "bot", qualified=False)
    play(tmp_path, store, SimulatedPool(watch, 4, finished), monkeypatch, 1)
    assert [match.block is None for match, _ in watch.ended] == [True, False, False]
    assert all(version in match.seats for match, _ in watch.ended)


def test_whoever_qualifies_while_blocks_are_played_is_in_the_next_ones(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch()
    enter(store, "old", qualified=True)
    new: list[Version] = []

    def end_of(match: Match) -> End:
        if watch.counted >= 4 and len(new) < 3:
            new.append(enter(store, f"new{len(new)}", qualified=False))
        return finished(match)

    play(tmp_path, store, SimulatedPool(watch, 2, end_of), monkeypatch, None, lambda: watch.counted >= 40)
    assert watch.tried == len(new) == 3
    played = {version for match, _ in watch.ended if match.block is not None for version in match.seats}
    assert set(new) <= played
