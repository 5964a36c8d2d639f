"""Workers that die, stop or hang; records and versions that somebody else has touched. Real processes throughout."""

from __future__ import annotations

import os
import secrets
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ladder.facts.schema import MAX_VOIDS
from ladder.intake.submission import submit
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, Match, Version
from ladder.operation.home import Home
from ladder.play.playing import announced, playing
from ladder.play.pool import End, Finished, Pool, Void, WorkerTimeouts, max_seconds
from ladder.play.qualifying import archive_match
from referee.files import unfinished
from referee.match.result import Outcome
from referee.records.position import read_position
from referee.records.record import read_lines
from referee.records.verify import verify
from referee.registry import find
from referee.sandbox.box import Sandbox
from referee.sandbox.system import children
from tests.cases import mostly_long
from tests.patience import wait_until
from tests.processes import running_in
from tests.referee.test_processes import STARVED, neighbours
from tests.sandbox.conftest import needs_bubblewrap, sandbox

__all__ = ["neighbours", "sandbox"]

WORKER = "int(open(f'/proc/{os.getppid()}/stat').read().rsplit(')', 1)[1].split()[1])"
"""In a bot: the process above its supervisor."""
ONCE = (
    "import os, signal\nfrom dogana.sdk import play\n"
    "def choose(decision):\n"
    "    if not os.path.exists({marker!r}):\n"
    "        open({marker!r}, 'w').close()\n"
    "        {action}\n"
    "    return 0\n"
    "play(choose)\n"
)
PLAIN = "from dogana.sdk import play\nplay(lambda decision: 0)\n"
HOUSE_BOT = Version(99, "random", HOUSE, 1, "house:random:1", (), ("cargo_noir",), None)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def entered(home: Home, program: str) -> Version:
    path = home.folder.parent / "mybot.py"
    path.write_text(program)
    return submit(home, path, "mybot", "me")[0]


def match(*seats: Version, block: int | None = 1, clock: str = "60+0.5/10") -> Match:
    condition = Condition(1, "cargo_noir", {"last_turn": 2}, clock)
    return Match(secrets.token_hex(8), block, condition, seats, secrets.randbits(62))


def attempts(pool: Pool, one: Match) -> Iterator[End]:
    """The ends of a match that is played again until it is finished."""
    while True:
        [(_, end)] = pool.play([one])
        yield end
        if isinstance(end, Finished):
            return


@pytest.mark.parametrize(
    ("action", "reason"),
    mostly_long(
        [
            (f"os.kill({WORKER}, signal.SIGKILL); signal.pause()", "the worker was killed by SIGKILL"),
            (f"os.kill({WORKER}, signal.SIGSTOP); signal.pause()", "the worker showed no sign of life for 5 s"),
        ]
    ),
    ids=["killed", "stopped"],
)
def test_a_worker_that_is_stopped_or_killed_is_replaced_and_nothing_of_its_match_is_left(
    home: Home, tmp_path: Path, action: str, reason: str
) -> None:
    bot = entered(home, ONCE.format(marker=str(tmp_path / "marker"), action=action))
    home.records.mkdir()
    with Pool(home, 1, WorkerTimeouts(tick_seconds=0.1, silent_ticks=50, start_ticks=6000)) as pool:
        one = match(bot, HOUSE_BOT)
        first, *others = attempts(pool, one)
        assert isinstance(first, Void)
        assert (first.worker_died, first.reason.partition(";")[0]) == (True, reason)
        assert isinstance(others[-1], Finished)
        wait_until(lambda: not running_in(home.versions))
    assert verify(home.record(one.match_id), find, one.seed).last_hash == others[-1].record_hash


def test_a_worker_that_dies_while_the_machine_runs_out_of_memory_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_text = Path.read_text
    kills = count()

    def read(path: Path, *arguments: Any, **options: Any) -> str:
        return f"oom_kill {next(kills)}\n" if path == Path("/proc/vmstat") else read_text(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", read)
    bot = entered(home, f"import os, signal\nos.kill({WORKER}, signal.SIGKILL)\nsignal.pause()\n")
    home.records.mkdir()
    with Pool(home, 1) as pool:
        [(_, end)] = pool.play([match(bot, HOUSE_BOT)])
    assert isinstance(end, Void)
    assert end.reason == "the worker was killed by SIGKILL; the machine ran out of memory meanwhile"


@pytest.mark.long
def test_a_match_that_takes_longer_than_its_clock_allows_ends_with_its_worker(home: Home) -> None:
    bot = entered(home, "import time\ntime.sleep(600)\n")
    home.records.mkdir()
    timeouts = WorkerTimeouts(0.05, 6000, 6000, extra_seconds=-20.0)  # long before the agent, which never joins, is out
    with Pool(home, 1, timeouts) as pool:
        [(_, end)] = pool.play([match(bot, HOUSE_BOT, clock="0.1+0/0.1")])
    assert isinstance(end, Void)
    assert end.worker_died
    assert end.reason.endswith("more than its clock allows")
    wait_until(lambda: not running_in(home.versions))


def test_no_clock_lets_a_match_take_longer_than_its_bound() -> None:
    seats = (HOUSE_BOT,) * 4
    assert max_seconds(match(*seats, clock="60+0/10")) > 4 * 60
    assert max_seconds(match(*seats, clock="10+1/10")) > 4 * (10 + 500 * 1)


TELLING = (
    "from pathlib import Path\nfrom dogana.sdk import play\n"
    "def written(match, over):\n    Path({marker!r}).open('a').write(f'{over}\\n')\n"
    "play(lambda decision: 0, on_end=written)\n"
)


def test_no_match_tells_a_bot_its_seed_so_that_those_of_a_trial_end_as_those_of_a_block_do(
    home: Home, tmp_path: Path
) -> None:
    bot = entered(home, TELLING.replace("{marker!r}", repr(str(tmp_path / "marker"))))
    home.records.mkdir()
    in_block, on_trial = match(bot, HOUSE_BOT), match(bot, HOUSE_BOT, block=None)
    with Pool(home, 1) as pool:
        ends = [end for _, end in pool.play([in_block, on_trial])]
    assert [type(end) for end in ends] == [Finished, Finished]
    written = (tmp_path / "marker").read_text()
    assert written
    for one in (in_block, on_trial):
        assert str(one.seed) not in written
        assert str(one.seed) not in home.record(one.match_id).read_text()
        assert read_lines(home.record(one.match_id))[-1].data["type"] == "result"


ESCAPING = (
    "import os, signal, time\n"
    f"supervisor, worker = os.getppid(), {WORKER}\n"
    "if os.fork() == 0:\n"
    "    os.kill(worker, signal.SIGSTOP)\n"  # or it might notice
    "    os.kill(supervisor, signal.SIGKILL)\n"
    "    os.kill(worker, signal.SIGKILL)\n"
    "    time.sleep(600)\n"
    "signal.pause()\n"
)


def test_what_an_agent_leaves_behind_when_it_kills_its_supervisor_and_its_worker_does_not_see_the_next_match(
    home: Home,
) -> None:
    bot = entered(home, ESCAPING)
    home.records.mkdir()
    with Pool(home, 2) as pool:
        [(_, end)] = pool.play([match(bot, HOUSE_BOT)])
        assert isinstance(end, Void)
        assert end.worker_died
        assert running_in(home.versions) == []


def test_a_match_that_is_played_alone_has_a_worker_of_its_own(home: Home) -> None:
    home.folder.mkdir()
    home.records.mkdir()
    with Pool(home, 2) as pool:
        before = set(children())
        assert all(isinstance(end, Finished) for _, end in pool.play([match(HOUSE_BOT, HOUSE_BOT) for _ in range(2)]))
        workers = set(children()) - before
        assert len(workers) == 2
        assert isinstance(pool.play_alone(match(HOUSE_BOT, HOUSE_BOT)), Finished)
        [alone] = set(children()) - before
        assert alone not in workers


def test_the_position_in_which_a_house_bot_failed_is_kept_once_with_the_logs_of_its_match(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    (package / "failing-1.dist-info").mkdir(parents=True)
    (package / "failing-1.dist-info" / "entry_points.txt").write_text("[dogana.house_bots]\nfailing = failing:Bot\n")
    (package / "failing.py").write_text(
        "from house_bots.random_bot import RandomBot\n"
        "class Bot(RandomBot):\n    def pick(self, count):\n        raise ValueError('I have a bug')\n"
    )
    monkeypatch.syspath_prepend(package)  # the workers look there, too
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    home.folder.mkdir()
    home.records.mkdir()
    one = match(HOUSE_BOT, replace(HOUSE_BOT, bot="failing", content_hash="house:failing:1"))
    with Pool(home, 1) as pool:
        ends = [end for _ in range(2) for _, end in pool.play([one])]
    position = home.position(one.match_id)
    for end in ends:
        assert isinstance(end, Void)
        assert not end.worker_died
        assert end.reason.endswith(f"ValueError: I have a bug; to see the position: dogana position {position}")
    assert 1 in read_position(position, find).state.seats_to_act()
    assert position.stat().st_mode & 0o077 == position.parent.stat().st_mode & 0o077 == 0
    assert list(home.positions.iterdir()) == [position]
    assert list((tmp_path / "tmp").iterdir()) == []


READER = (
    "import mmap, resource\nfrom dogana.sdk import play\n"
    "with open({large!r}, 'rb') as file:\n"
    "    pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
    "pages.madvise(mmap.MADV_RANDOM)\n"
    "before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt\n"
    "for page in range(8):\n"
    "    pages[page << 20]\n"
    "print('from the disk:', resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before)\n"
    "play(lambda decision: 0)\n"
)


@needs_bubblewrap
@pytest.mark.parametrize(("block", "read_again"), mostly_long([(1, 8), (None, 0)]), ids=["of a block", "of none"])
def test_a_match_of_a_block_does_not_find_in_memory_what_the_one_before_has_read(
    home: Home, sandbox: Sandbox, block: int | None, read_again: int
) -> None:
    """Else its bot could leave a note for itself. Other matches warm the runtimes."""
    if "memory" not in sandbox.groups.found:
        pytest.skip("no control group for memory can be made here: run as root, or see dogana doctor")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:  # which is no folder in memory
        shared = Path(name)
        shared.chmod(0o755)
        with (shared / "large").open("wb") as large:
            large.truncate(16 << 20)
        seen = replace(sandbox.runtimes, folders=(*sandbox.runtimes.folders, name))
        reader = entered(home, READER.format(large=str(shared / "large")))
        home.records.mkdir()
        with Pool(home, 1, sandbox=replace(sandbox, runtimes=seen)) as pool:
            for one, expected in (match(reader, HOUSE_BOT, block=block), 8), (match(reader, HOUSE_BOT), read_again):
                [(_, end)] = pool.play([one])
                assert isinstance(end, Finished)
                assert f"from the disk: {expected}" in end.logs["seat0.log"].decode()


def test_a_run_has_a_worker_for_each_processor_that_it_may_use() -> None:
    script = """
import os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from ladder.commands.options import DEFAULT_WORKERS
print(DEFAULT_WORKERS)
"""
    assert subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True).stdout == b"1\n"


def test_a_record_replaces_what_was_there_and_is_with_its_archive_for_its_owner_only_whatever_the_umask(
    home: Home,
) -> None:
    umask = os.umask(0)
    try:
        one = match(entered(home, PLAIN), HOUSE_BOT)
        home.records.mkdir(mode=0o700)
        home.record(one.match_id).write_text("planted")
        with Pool(home, 1) as pool:
            [(_, end)] = pool.play([one])
    finally:
        os.umask(umask)
    assert isinstance(end, Finished)
    assert read_lines(home.record(one.match_id))[-1].hash == end.record_hash
    archive_match(home, one, end)
    assert not home.record(one.match_id).exists()
    found = {home.folder, *home.folder.rglob("*")} - set(home.versions.rglob("*"))  # which is private
    assert home.versions in found
    assert [path for path in found if stat.S_IMODE(path.lstat().st_mode) & 0o077] == []


@pytest.mark.long
@pytest.mark.usefixtures("neighbours")
def test_a_bot_that_was_kept_from_starting_is_out_only_if_its_match_may_not_be_void_again(home: Home) -> None:
    bot = entered(home, STARVED)
    home.records.mkdir()
    one = match(bot, HOUSE_BOT)
    with Pool(home, 1, join_seconds=3) as pool:
        ends = [end for voids in range(MAX_VOIDS) for _, end in pool.play([replace(one, voids=voids)])]
    *void, last = ends
    for end in void:
        assert isinstance(end, Void)
        assert not end.worker_died
        assert end.reason.startswith("seat 0 did not join within 3 s; others used the processors")
    assert isinstance(last, Finished)
    assert last.result.seats[0].outcome is Outcome.START


def test_a_match_whose_worker_was_killed_while_it_was_announced_is_not_listed(home: Home) -> None:
    home.make()
    one = match(HOUSE_BOT, HOUSE_BOT)
    with announced(home, one, "unix:nowhere"):
        file = home.playing / one.match_id
        unfinished(file).write_bytes(file.read_bytes())  # as one leaves it who is killed before the file has its name
        assert [found.match_id for found in playing(home)] == [one.match_id]


WAITING = (
    "import os, time\nfrom dogana.sdk import play\n"
    "def choose(decision):\n"
    "    while not os.path.exists({marker!r}):\n"
    "        time.sleep(0.01)\n"
    "    return 0\n"
    "play(choose)\n"
)


@pytest.mark.long
def test_a_worker_that_was_suspended_together_with_the_ladder_is_not_killed(home: Home, tmp_path: Path) -> None:
    bot = entered(home, WAITING.format(marker=str(tmp_path / "marker")))
    home.records.mkdir()
    limit = 5.0
    with Pool(home, 2, WorkerTimeouts(tick_seconds=0.1, silent_ticks=50, start_ticks=6000)) as pool:
        waits, quick = match(bot, HOUSE_BOT, clock="600+0/600"), match(HOUSE_BOT, HOUSE_BOT)
        ends = pool.play([waits, quick])
        assert next(ends)[0] == quick
        [pid] = [worker.process.pid for worker in pool.workers if worker.match == waits]
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        time.sleep(limit + 1)  # the pool does not look meanwhile, as if it were suspended, too
        os.kill(pid, signal.SIGCONT)
        (tmp_path / "marker").touch()
        [(last, end)] = ends
    assert last == waits
    assert isinstance(end, Finished)
