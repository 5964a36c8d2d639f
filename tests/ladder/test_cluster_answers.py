"""What other machines say of a match is believed when its record proves it. The machines here are made up; the records are real."""

from __future__ import annotations

import errno
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ladder.archive.archive import find_logs
from ladder.facts.store import Store
from ladder.model.condition import agree
from ladder.model.match import Match
from ladder.operation.errors import NoRoom
from ladder.operation.home import Home
from ladder.play.cluster_pool import ClusterPool
from ladder.play.cluster_slot import LadderSlot, Order, Reply, pack
from ladder.play.pool import End, Finished, Pool, Void
from ladder.play.qualifying import archive_match
from ladder.play.running import RunPlan
from referee.bots import files
from referee.live.matches import cluster
from referee.live.matches.cluster import Crew, Done, Job, Machine, Unfit
from referee.match.clock import TimeControl
from referee.registry import find
from tests.ladder.runs import run
from tests.ladder.test_pool import HOUSE_BOT, PLAIN, entered, match

ONE = match(HOUSE_BOT, HOUSE_BOT)
OTHERS = {
    "match": replace(ONE, match_id="0" * 16),
    "bots": replace(ONE, seats=(HOUSE_BOT, replace(HOUSE_BOT, number=2))),
    "clock": replace(ONE, condition=replace(ONE.condition, clock="61+0.5/10")),
    "options": replace(ONE, condition=replace(ONE.condition, options={"last_turn": 3})),
    "seed": replace(ONE, seed=ONE.seed ^ 1),
}


class OneMachine:
    """Gives the same answer to everything."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.machine = Machine("node", "name", 1)
        self.lagged: list[bool] = []

    def play(self, jobs: Iterable[Job[Match] | None]) -> Iterator[Done[Match]]:
        for job in jobs:
            assert job is not None
            yield Done(job.what, self.answer, self.machine)

    def refuse(self, machine: Machine, reason: str) -> None:
        machine.refused = reason

    def note_lag(self, machine: Machine, *, lagged: bool) -> None:
        self.lagged.append(lagged)


@pytest.fixture(scope="module")
def reply(tmp_path_factory: pytest.TempPathFactory) -> Reply:
    """A true answer about `ONE`."""
    home = Home(tmp_path_factory.mktemp("elsewhere"))
    home.records.mkdir()
    with Pool(home, 1) as pool:
        [(_, end)] = pool.play([ONE])
    assert isinstance(end, Finished)
    return Reply(replace(end, logs={"seat0.log": b"hello"}), home.record(ONE.match_id).read_bytes())


def heard(home: Path, one: Match, answer: object) -> tuple[End, OneMachine, Home]:
    place = Home(home)
    place.records.mkdir(exist_ok=True)
    crew = OneMachine(answer)
    [(_, end)] = ClusterPool(place, cast("Crew[Match]", crew)).play([one])
    return end, crew, place


def test_a_record_that_verifies_is_kept_and_counts(reply: Reply, tmp_path: Path) -> None:
    end, crew, home = heard(tmp_path, ONE, reply)
    assert isinstance(end, Finished)
    assert isinstance(reply.end, Finished)
    assert end.record_hash == reply.end.record_hash
    assert home.record(ONE.match_id).read_bytes() == reply.record
    assert end.logs == {"seat0.log": b"hello"}
    assert (crew.machine.refused, crew.lagged) == ("", [end.result.lagged])


@pytest.mark.parametrize("what", OTHERS)
def test_the_record_of_another_match_is_void_and_its_machine_plays_no_more(
    reply: Reply, tmp_path: Path, what: str
) -> None:
    end, crew, home = heard(tmp_path, OTHERS[what], reply)
    assert isinstance(end, Void)
    assert not end.worker_died
    assert crew.machine.refused
    assert not list(home.records.rglob("*.jsonl"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda reply: None,
        lambda reply: "rubbish",
        lambda reply: Reply(cast("Any", "rubbish")),
        lambda reply: replace(reply, record=b""),
        lambda reply: replace(reply, record=reply.record[:-40]),
        lambda reply: replace(reply, record=b"\x00\xff" * 1000),
        lambda reply: replace(reply, record=b"{}\n" * 1000),
        lambda reply: replace(reply, end=replace(reply.end, record_hash="0" * 64)),
    ],
    ids=["lost", "text", "no end", "empty", "cut", "bytes", "lines", "another hash"],
)
def test_rubbish_is_void_and_blames_no_bot(reply: Reply, tmp_path: Path, spoil: Any) -> None:
    end, _, home = heard(tmp_path, ONE, spoil(reply))
    assert isinstance(end, Void)
    assert not end.worker_died
    assert not list(home.records.rglob("*.jsonl"))


def test_what_a_machine_says_of_the_result_does_not_count(reply: Reply, tmp_path: Path) -> None:
    assert isinstance(reply.end, Finished)
    [first, *others] = reply.end.result.seats
    forged = replace(reply.end, result=replace(reply.end.result, seats=(replace(first, score=999), *others)))
    end, _, _ = heard(tmp_path, ONE, replace(reply, end=forged))
    assert isinstance(end, Finished)
    assert end.result.seats[0].score == first.score


@pytest.mark.parametrize("name", ["../seat0.log", "seat0.log\n", "/etc/passwd", "record.jsonl", "seat٣.log"])
def test_logs_have_the_names_of_logs(reply: Reply, tmp_path: Path, name: str) -> None:
    (tmp_path / "home").mkdir()
    assert isinstance(reply.end, Finished)
    end, _, home = heard(tmp_path / "home", ONE, replace(reply, end=replace(reply.end, logs={name: b"x"})))
    archive_match(home, ONE, end)
    assert find_logs(home, ONE.match_id) == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]


# a machine whose disk is full


@pytest.fixture
def slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LadderSlot:
    """A slot as it is when it has begun; what it is given are no references, but the files themselves."""
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(get=lambda packed: packed))
    slot = LadderSlot(Order("1", None, (), 30.0))
    slot._home = Home(tmp_path / "slot")
    slot._home.make()
    return slot


class FullPool:
    """A pool that finds its disk full in the middle of a match."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def play(self, matches: Sequence[Match]) -> Iterator[tuple[Match, End]]:
        [one] = matches
        self.home.record(one.match_id).parent.mkdir(parents=True)
        self.home.record(one.match_id).write_text("the beginning")
        yield from ()
        raise NoRoom("No space left on device")


def test_a_machine_whose_disk_becomes_full_in_a_match_is_unfit_and_keeps_nothing_of_it(slot: LadderSlot) -> None:
    slot._pool = cast("Pool", FullPool(slot._home))
    assert slot.play(ONE, {}) == Unfit("its disk is full: No space left on device")
    assert not slot._home.record(ONE.match_id).exists()


@pytest.mark.parametrize("where", [(files._Copier, "copy"), (tempfile, "NamedTemporaryFile")])
def test_a_machine_that_has_no_room_for_a_bot_is_unfit(
    slot: LadderSlot, home_of_bots: Home, monkeypatch: pytest.MonkeyPatch, where: tuple[object, str]
) -> None:
    bot = entered(home_of_bots, PLAIN)
    files = {bot.content_hash: pack(home_of_bots.versions / bot.content_hash)}

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*where, full)
    answer = slot.play(match(bot, HOUSE_BOT), files)
    monkeypatch.undo()
    assert isinstance(answer, Unfit)
    assert answer.reason.startswith("its disk is full: ")


@pytest.fixture
def home_of_bots(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.make()
    Store(home.database, create=True).close()
    return home


# what is left when a run is broken off


class NoCluster:
    """As much of Ray as a crew needs that has no machines."""

    class exceptions:  # noqa: N801 as Ray calls it
        class RayError(Exception):
            pass

    gcs_address = ""

    def __init__(self) -> None:
        self.killed: list[object] = []

    def get_runtime_context(self) -> NoCluster:
        return self

    def remote(self, **_: object) -> Any:
        return lambda slot: slot

    def kill(self, handle: object) -> None:
        self.killed.append(handle)


def test_a_pool_that_is_left_ends_what_its_crew_still_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray, machine = NoCluster(), Machine("node", "name", 3)
    monkeypatch.setattr(cluster, "_ray", lambda: ray)
    crew = Crew[Match](object, (), None, print)  # type: ignore[arg-type]
    job = Job(ONE, (), None)
    idle = cluster._Actor[Match](machine, "idle", None, begun=True)
    starting = cluster._Actor[Match](machine, "starting", object())
    crew._actors = [cluster._Actor(machine, "playing", object(), job, begun=True), idle, starting]
    crew._again.append(Job(ONE, (), None, lost=1))
    with ClusterPool(Home(tmp_path), crew):
        pass
    assert ray.killed == ["playing"]
    assert crew._actors == [idle, starting]
    assert not crew._again


def test_a_run_that_is_broken_off_leaves_nothing_in_its_crew(tmp_path: Path) -> None:
    class FullDisk:
        """A crew that cannot go on in the middle of its matches."""

        playing = 0

        def play(self, jobs: Iterator[Job[Match] | None]) -> Iterator[Done[Match]]:
            self.playing += sum(next(jobs) is not None for _ in range(2))
            assert self.playing
            yield from ()
            raise NoRoom("full")

        def forget(self) -> None:
            self.playing = 0

    home, crew = Home(tmp_path / "home"), FullDisk()
    home.make()
    plan = RunPlan(
        [agree(find("cargo_noir"), {}, 2)], 8, 2, TimeControl.parse("60+0.5/10"), crew=cast("Crew[Match]", crew)
    )
    with Store(home.database, create=True) as store, pytest.raises(NoRoom):
        list(run(home, store, plan))
    assert crew.playing == 0
