"""How long an answer may have waited to be read: only what the referee's own threads ran or waited for a processor."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from referee.live.matches.server import RefereeServer
from referee.live.seats import lateness
from referee.live.seats.lateness import Lateness, NoStatistics

everywhere = pytest.mark.parametrize("counts_waits", [True, False], ids=["Linux", "elsewhere"])
"""Lets a test hold with what Linux counts, and with what takes its place on other systems."""


def ignore(late: float, now: float) -> None:
    pass


@everywhere
async def test_a_message_that_comes_while_the_referee_works_may_have_waited_all_that_time(counts_waits: bool) -> None:
    watch = Lateness(ignore, polls=True, counts_waits=counts_waits)
    before = watch.sample()
    begin = time.thread_time()
    while time.thread_time() < begin + 0.1:
        pass
    assert watch.waited(watch.sample(), before) > 0.08  # the kernel counts in ticks of up to 10 ms
    watch.close()


async def test_a_message_that_comes_while_the_referee_does_nothing_has_not_waited() -> None:
    watch = Lateness(ignore, polls=True)
    before = watch.sample()
    time.sleep(0.5)  # as if it were stopped: it neither runs nor waits for a processor
    now = watch.sample()
    assert watch.waited(now, before) < now.at - before.at - 0.4
    watch.close()


async def test_where_nobody_counts_waits_the_lateness_of_the_loop_bounds_them() -> None:
    watch = Lateness(ignore, polls=True, counts_waits=False)
    before = watch.sample()
    time.sleep(0.5)  # as if it waited for a processor
    assert watch.waited(watch.sample(), before) > 0.5 - 2 * lateness.BEAT_SECONDS
    watch.notice(watch.sample().at)
    assert watch.waited(watch.sample(), before) > 0.5 - 2 * lateness.BEAT_SECONDS  # once it was told, too
    watch.close()


@everywhere
async def test_nothing_counts_from_before_the_loop_was_last_idle(counts_waits: bool) -> None:
    watch = Lateness(ignore, polls=True, counts_waits=counts_waits)
    before = watch.sample()
    begin = time.thread_time()
    while time.thread_time() < begin + 0.5:
        pass
    now = watch.sample()
    assert min(watch.waited(now, before), now.used - before.used) > 0.4
    while watch.waited(now, before) > 0.4:
        await asyncio.sleep(0.001)
        now = watch.sample()
    assert now.used - before.used > 0.4
    watch.close()


@everywhere
def test_the_delay_of_a_loop_that_comes_late_is_reported(counts_waits: bool) -> None:
    async def scene() -> list[float]:
        delays: list[float] = []
        watch = Lateness(lambda late, now: delays.append(late), polls=True, counts_waits=counts_waits)
        time.sleep(0.5)
        while not delays:
            await asyncio.sleep(0.001)
        watch.close()
        return delays

    assert max(asyncio.run(scene())) > 0.5 - 2 * lateness.BEAT_SECONDS


def test_a_message_that_is_read_before_the_late_beat_finds_the_lateness_reported_and_it_is_reported_once() -> None:
    async def scene() -> tuple[list[float], float]:
        delays: list[float] = []
        began = time.monotonic()
        watch = Lateness(lambda late, now: delays.append(late), polls=False)
        time.sleep(0.5)
        watch.notice(watch.sample().at)
        assert delays
        for _ in range(20):
            await asyncio.sleep(0.001)
        watch.close()
        return delays, time.monotonic() - began

    delays, seconds = asyncio.run(scene())
    assert delays[0] > 0.5 - 2 * lateness.BEAT_SECONDS
    assert sum(delays) < seconds  # a delay reported twice would exceed it


@pytest.mark.parametrize(("polls", "threads"), [(True, 2), (False, 1)])
async def test_the_threads_that_read_answers_are_watched(polls: bool, threads: int) -> None:
    async with RefereeServer():
        watch = Lateness(ignore, polls=polls)
        links = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        assert sum(link.endswith("schedstat") for link in links) == threads  # the event loop's own is one
        watch.close()


async def test_a_kernel_without_statistics_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, flags: int) -> int:
        raise FileNotFoundError(2, "No such file or directory", path)

    monkeypatch.setattr("referee.live.seats.lateness.os.open", refuse)
    with pytest.raises(NoStatistics, match=r"schedstat: No such file.*CONFIG_SCHED_INFO") as caught:
        Lateness(ignore, polls=True)
    assert "\n" not in str(caught.value)


async def test_nothing_stays_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        Lateness(ignore, polls=True).close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
