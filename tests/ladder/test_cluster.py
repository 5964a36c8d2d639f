"""A ladder that plays on the machines of a Ray cluster. The machines are nodes on this one, and they are killed."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ladder.facts.store import Store
from ladder.model.match import Match
from ladder.operation.home import Home
from ladder.play import cluster_pool
from ladder.play.cluster_pool import ClusterPool, ladder_crew
from ladder.play.pool import End, Finished, Pool, Void
from referee.live.matches.cluster import LAG_WINDOW, MAX_LAGGED, MAX_LOST, ClusterError, Crew, Job, joined
from referee.records.verify import verify
from referee.registry import find
from referee.sandbox.limits import ResourceLimits
from tests.clusters import Machines, machines
from tests.commands.conftest import ROOT, Dogana, dogana
from tests.ladder.soak import wait_for_results
from tests.ladder.test_pool import HOUSE_BOT, PLAIN, WORKER, entered, match
from tests.patience import patient, wait_until
from tests.sandbox.conftest import needs_bubblewrap

__all__ = ["dogana"]

pytestmark = pytest.mark.ray

WITHOUT_BUBBLEWRAP = (
    "import shutil\nfound = shutil.which\n"
    "shutil.which = lambda name, *more, **options: None if name == 'bwrap' else found(name, *more, **options)\n"
)
FAILING = "from dogana.sdk import play\nplay(lambda decision: 1 // 0)\n"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Machines]:
    """Two machines with a processor each."""
    with machines(2) as found:
        yield found


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "")  # nobody's own cluster


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.make()
    Store(home.database, create=True).close()
    home.records.mkdir()
    return home


@contextmanager
def pool_on(
    cluster: Machines, home: Home, tell: Callable[[str], None] = print, limits: ResourceLimits | None = None
) -> Iterator[tuple[ClusterPool, Crew[Match]]]:
    with ladder_crew(cluster.address, home, None, limits, 30.0, tell) as crew, ClusterPool(home, crew) as pool:
        yield pool, crew


def played_alike(end: End) -> object:
    """What does not depend on how long things took."""
    assert isinstance(end, Finished), end
    return end.result.digest, [(seat.bot, seat.rank, seat.score, seat.outcome) for seat in end.result.seats]


def test_a_match_on_other_machines_is_played_as_it_is_here(cluster: Machines, home: Home) -> None:
    bot = entered(home, PLAIN)
    matches = [match(bot, HOUSE_BOT), match(HOUSE_BOT, bot), match(HOUSE_BOT, HOUSE_BOT, bot)]
    with Pool(home, 1) as pool:
        expected = {one.match_id: played_alike(end) for one, end in pool.play(matches)}
    for one in matches:
        home.record(one.match_id).unlink()
    with pool_on(cluster, home) as (distant, _):
        ends = {one.match_id: (one, end) for one, end in distant.play(matches)}
    assert {match_id: played_alike(end) for match_id, (_, end) in ends.items()} == expected
    for one, end in ends.values():
        assert isinstance(end, Finished)
        assert verify(home.record(one.match_id), find, one.seed).last_hash == end.record_hash


def test_what_a_bot_wrote_comes_home(cluster: Machines, home: Home) -> None:
    one = match(entered(home, FAILING), HOUSE_BOT)
    with pool_on(cluster, home) as (distant, _):
        [(_, end)] = distant.play([one])
    assert isinstance(end, Finished)
    assert end.result.seats[0].outcome.value == "crash"
    assert "ZeroDivisionError" in end.logs["seat0.log"].decode()


def test_a_bot_that_kills_its_worker_is_blamed_and_harms_nobody_else(cluster: Machines, home: Home) -> None:
    killer = (
        f"import os, signal\nfrom dogana.sdk import play\nplay(lambda decision: os.kill({WORKER}, signal.SIGKILL))\n"
    )
    guilty, harmless = match(entered(home, killer), HOUSE_BOT), [match(HOUSE_BOT, HOUSE_BOT) for _ in range(6)]
    with pool_on(cluster, home) as (distant, _):
        ends = {one.match_id: end for one, end in distant.play([guilty, *harmless])}
        alone = distant.play_alone(guilty)
    end = ends.pop(guilty.match_id)
    assert isinstance(end, Void)
    assert end.worker_died
    assert isinstance(alone, Void)
    assert alone.worker_died
    assert all(isinstance(other, Finished) for other in ends.values())
    assert len(ends) == len(harmless)


def test_matches_are_counted_once_whatever_machines_are_killed(home: Home) -> None:
    chance = random.Random(7)
    matches = [match(HOUSE_BOT, HOUSE_BOT) for _ in range(40)]
    with machines(3) as cluster, pool_on(cluster, home) as (distant, _):
        ends: list[tuple[Match, End]] = []
        for settled in distant.play(iter(matches)):
            ends.append(settled)
            if len(ends) % 8 == 0 and len(ends) < len(matches):
                cluster.kill(chance)
                cluster.add()
    assert sorted(one.match_id for one, _ in ends) == sorted(one.match_id for one in matches)
    assert not [end for _, end in ends if isinstance(end, Void) and end.worker_died]
    for one, end in ends:
        assert isinstance(end, Finished)
        assert verify(home.record(one.match_id), find, one.seed).last_hash == end.record_hash


@needs_bubblewrap
def test_a_machine_that_joins_later_plays_and_one_without_a_sandbox_does_not(home: Home, tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_BUBBLEWRAP)
    with machines(0) as cluster:
        cluster.add(PYTHONPATH=str(tmp_path))
        with (
            pytest.raises(ClusterError, match=r"no machine of the cluster can play matches \(.*install bubblewrap"),
            pool_on(cluster, home, said.append, ResourceLimits()),
        ):
            pass
        cluster.add()
        with pool_on(cluster, home, said.append, ResourceLimits()) as (distant, _):
            ends = [end for _, end in distant.play([match(HOUSE_BOT, HOUSE_BOT) for _ in range(4)])]
    assert all(isinstance(end, Finished) for end in ends)
    [refusal] = {text for text in said if "plays no matches" in text}
    assert said.count(refusal) == 2, "once in each run"


def test_a_machine_that_cannot_keep_files_is_refused_in_words(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with machines(0) as cluster:
        cluster.add(XDG_CACHE_HOME=str(tmp_path / "file"))
        with (
            pytest.raises(ClusterError, match=r"\(.*: cannot write .*/file/dogana/cluster: Not a directory\)$"),
            pool_on(cluster, home),
        ):
            pass


def test_a_machine_with_another_version_is_refused(
    cluster: Machines, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(cluster_pool, "installed_version", lambda: "9.9")
    with pytest.raises(ClusterError, match="no machine of the cluster can play"), pool_on(cluster, home, said.append):
        pass
    assert len(said) == 2  # each machine once
    assert all("and the ladder 9.9; install the same there" in text for text in said)


class Odd:
    """A slot that does as it is told."""

    def begin(self) -> list[str]:
        return ["has a wall less"]

    def play(self, what: str) -> object:
        if what == "die":
            os._exit(1)
        if what.startswith("wait "):
            _, begun, go = what.split(" ")
            Path(begun).touch()
            while not Path(go).exists():
                time.sleep(0.01)
        if what == "raise":
            raise ValueError("\x1b[31mred")
        return what

    def rest(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture
def odd(cluster: Machines) -> Iterator[tuple[Crew[str], list[str]]]:
    import ray

    ray.cloudpickle.register_pickle_by_value(sys.modules[Odd.__module__])  # machines have no tests
    said: list[str] = []
    try:
        with joined(cluster.address), Crew[str](Odd, (), None, said.append) as crew:
            yield crew, said
    finally:
        ray.cloudpickle.unregister_pickle_by_value(sys.modules[Odd.__module__])


def test_a_match_that_takes_its_slot_with_it_comes_back_without_an_end_and_others_are_played(
    odd: tuple[Crew[str], list[str]],
) -> None:
    crew, said = odd
    words = ["a", "die", "b", "raise", "c", "d"]
    came = {done.what: done.answer for done in crew.play(Job(word, (word,), None) for word in words)}
    assert came == {"a": "a", "b": "b", "c": "c", "d": "d", "die": None, "raise": None}
    lost = [text for text in said if "a match was lost" in text]
    assert sum("has died or cannot be reached" in text for text in lost) == MAX_LOST
    assert sum(text.endswith(": \\x1b[31mred") for text in lost) == MAX_LOST
    assert sum("has a wall less" in text for text in said) == 2, "once for each machine"


def test_a_crew_that_was_left_in_the_middle_plays_only_what_comes_next(
    odd: tuple[Crew[str], list[str]], tmp_path: Path
) -> None:
    crew, _ = odd
    begun, go = tmp_path / "begun", tmp_path / "go"
    playing = crew.play(Job(word, (word,), None) for word in (f"wait {begun} {go}", "a"))
    assert next(playing).what == "a"
    wait_until(begun.exists)
    assert isinstance(playing, Generator)
    playing.close()
    crew.forget()
    go.touch()
    assert sorted(done.what for done in crew.play(Job(word, (word,), None) for word in ("b", "c"))) == ["b", "c"]


def test_playing_ends_when_there_is_nothing_to_play_for_the_moment(odd: tuple[Crew[str], list[str]]) -> None:
    crew, _ = odd
    assert list(crew.play([None, Job("a", ("a",), None)])) == []


def test_a_machine_that_is_late_again_and_again_plays_less_but_never_nothing(
    odd: tuple[Crew[str], list[str]],
) -> None:
    crew, said = odd
    [one, *_] = [done.machine for done in crew.play([Job("a", ("a",), None)])]
    one.most = 2
    for _ in range(LAG_WINDOW - MAX_LAGGED + 1):
        crew.note_lag(one, lagged=False)
    for _ in range(MAX_LAGGED - 1):
        crew.note_lag(one, lagged=True)
    assert one.most == 2
    crew.note_lag(one, lagged=True)
    assert one.most == 1
    assert f"machine {one.name} was late in {MAX_LAGGED} of {LAG_WINDOW} matches" in said[-1]
    for _ in range(MAX_LAGGED):
        crew.note_lag(one, lagged=True)
    assert one.most == 1
    assert said[-1].endswith("already plays one at a time")
    assert [done.what for done in crew.play([Job("b", ("b",), None)])] == ["b"]


def test_a_cluster_with_another_version_of_ray_is_refused_in_one_line(
    cluster: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    monkeypatch.setattr(ray, "__version__", "2.0.0")
    with pytest.raises(ClusterError, match=r"cannot join the cluster .*Ray") as refused, joined(cluster.address):
        pass
    assert "\n" not in str(refused.value)


def test_a_ladder_is_run_and_recomputed(cluster: Machines, dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(PLAIN)
    dogana("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "home")
    ran = dogana(
        "ladder", "run", "--home", "home", "--game", "cargo_noir", "--option", "last_turn=2", "--matches", 12,
        "--unconfined", "--ray", cluster.address,
    )  # fmt: skip
    assert (
        ran.stdout
        == "12 matches played, in whole blocks; look at the standings: dogana ladder top cargo_noir --home home\n"
    )
    said = [line for line in ran.stderr.strip().splitlines() if "the referee was late" not in line]  # on a busy machine
    assert said == ["bots run unconfined: with your rights on this machine", "mybot v1 qualifies for cargo_noir"]
    assert (
        "12 matches verified; all ratings agree to the last digit"
        in dogana("ladder", "recompute", "--home", "home").stdout
    )


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "no cluster answers at 127.0.0.1:1"),
        ("ray://127.0.0.1:1", "is not a cluster: say auto, local or HOST:PORT"),
        ("\x1b[31m", "is not a cluster"),
    ],
)
def test_an_address_at_which_there_is_no_cluster_is_refused_in_one_line(
    dogana: Dogana, address: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "mybot.py").write_text(PLAIN)
    dogana("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "home")
    ended = dogana(
        "ladder", "run", "--home", "home", "--game", "cargo_noir", "--matches", 1, "--ray", address, status=1
    )
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert "\x1b" not in ended.stderr


def test_bots_at_home_and_other_machines_are_not_offered_together(dogana: Dogana) -> None:
    ended = dogana("ladder", "serve", "--home", "home", "--ray", "auto", status=1)
    assert ended.stderr == (
        "dogana: bots at home cannot join matches on other machines; add --at-home none, or leave out --ray\n"
    )


def ladder_on(cluster: Machines, folder: Path, *words: str) -> subprocess.Popen[str]:
    """Begin a command of a ladder in a process of its own, with bots that are not confined."""
    return subprocess.Popen(
        [sys.executable, "-m", "ladder", "ladder", *words, "--home", "home", "--unconfined", "--ray", cluster.address],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_run_ends_in_one_line_when_the_head_dies_and_what_was_counted_counts(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(PLAIN)
    dogana("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "home")
    with machines(1) as cluster:
        words = ("run", "--game", "cargo_noir", "--matches", "9999")
        with ladder_on(cluster, tmp_path, *words) as process:
            wait_for_results(tmp_path, 3)
            cluster.cluster.head_node.kill_gcs_server()
            _, said = process.communicate(timeout=patient(120))
    assert process.returncode == 1
    assert re.fullmatch(
        r"dogana: the head of the cluster, at .*, went away; start it again, and then this", said.splitlines()[-1]
    )
    assert "Traceback" not in said
    assert "agree to the last digit" in dogana("ladder", "recompute", "--home", "home").stdout


def test_a_service_that_waits_for_bots_ends_and_says_so_when_the_head_dies(tmp_path: Path) -> None:
    with machines(1) as cluster:
        words = ("serve", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0", "--at-home", "none")
        with ladder_on(cluster, tmp_path, *words) as process:
            assert process.stderr is not None
            while " pages address=" not in (line := process.stderr.readline()):
                assert line, "it has ended"
            cluster.cluster.head_node.kill_gcs_server()
            _, said = process.communicate(timeout=patient(120))
    assert process.returncode == 1
    [line] = said.splitlines()
    assert " stop " in line
    assert "the head of the cluster, at " in line
