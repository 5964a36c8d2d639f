"""What other machines say of a match is believed when its record proves it. The machines here are made up; the records are real."""

from __future__ import annotations

import errno
import socket
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
from ladder.play import cluster_slot
from ladder.play.cluster_pool import ClusterPool
from ladder.play.cluster_slot import LadderSlot, Order, Reply, pack
from ladder.play.pool import End, Finished, Pool, Void
from ladder.play.qualifying import archive_match
from ladder.play.running import RunPlan
from referee.bots import files
from referee.live.matches.cluster import Crew, Done, Job, Machine, Unfit
from referee.match.clock import TimeControl
from referee.registry import find
from referee.version import installed_version
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


class FullPool:
    """A pool that finds its disk full in the middle of a match."""

    def __init__(self, home: Home, *_: object) -> None:
        self.home = home

    def __enter__(self) -> FullPool:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def play(self, matches: Sequence[Match]) -> Iterator[tuple[Match, End]]:
        [one] = matches
        self.home.record(one.match_id).parent.mkdir(parents=True, exist_ok=True)
        self.home.record(one.match_id).write_text("the beginning")
        yield from ()
        raise NoRoom("No space left on device")


@pytest.fixture
def slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LadderSlot]:
    """A slot that has begun; its arguments are no references, but the files themselves."""
    here = SimpleNamespace(get_node_id=lambda: "node", get_job_id=lambda: "job")
    ray = SimpleNamespace(get=lambda packed: packed, get_runtime_context=lambda: here)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace())  # whose file a slot forgets
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cluster_slot, "Pool", FullPool)
    slot = LadderSlot(Order(installed_version(), None, (), 30.0))
    assert slot.begin() == []
    yield slot
    slot.close()


def test_a_machine_whose_disk_becomes_full_in_a_match_is_unfit_and_keeps_nothing_of_it(
    slot: LadderSlot, tmp_path: Path
) -> None:
    assert slot.play(ONE, {}) == Unfit("its disk is full: No space left on device")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("where", [(files, "make_read_only"), (tempfile, "NamedTemporaryFile")])
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


class SmallCluster:
    """As much of Ray as a crew needs: one machine with three processors, whose slots begin at once and never end a match."""

    class exceptions:  # noqa: N801 as Ray calls it
        class RayError(Exception):
            pass

    class RemoteSlot:
        """A slot; each call returns a promise: its name and what was asked of it."""

        def __init__(self, name: str) -> None:
            self.name = name

        def __getattr__(self, method: str) -> Any:
            return SimpleNamespace(remote=lambda *_: (self.name, method))

    def __init__(self, address: str) -> None:
        self.gcs_address = address
        self.made: list[SmallCluster.RemoteSlot] = []
        self.killed: list[str] = []

    def get_runtime_context(self) -> SmallCluster:
        return self

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": "node", "Alive": True, "Resources": {"CPU": 3}, "NodeManagerHostname": "name"}]

    def remote(self, *_: object, **__: object) -> Any:
        return lambda slot: SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self.slot))

    def slot(self) -> RemoteSlot:
        self.made.append(self.RemoteSlot(f"slot {len(self.made) + 1}"))
        return self.made[-1]

    def wait(self, promises: list[tuple[str, str]], **_: object) -> tuple[list[tuple[str, str]], list[object]]:
        return [promise for promise in promises if promise[1] != "play"][:1], []

    def get(self, promise: tuple[str, str]) -> list[str]:
        return []

    def kill(self, handle: RemoteSlot) -> None:
        self.killed.append(handle.name)


def test_a_pool_that_is_left_ends_what_its_crew_still_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    placed = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda **_: None)
    with socket.create_server(("127.0.0.1", 0)) as head:
        ray = SmallCluster(f"127.0.0.1:{head.getsockname()[1]}")
        monkeypatch.setitem(sys.modules, "ray", ray)
        monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", placed)
        with Crew[Match](object, (), None, print) as crew:  # type: ignore[arg-type]
            with ClusterPool(Home(tmp_path), crew):
                jobs = iter([Job(ONE, (), None)])

                def stop() -> Iterator[Job[Match] | None]:
                    yield next(jobs)
                    raise NoRoom("full")  # the run is broken off while the first match is played

                with pytest.raises(NoRoom):
                    next(crew.play(stop()))
                assert ray.killed == []
            assert ray.killed == ["slot 1"]
            assert list(crew.play([])) == []  # it has forgotten the match


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
