"""Output of agents: however much they write, the referee reads little of it a second, and whoever plays beside them pays nothing."""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.live.matches.play import Command
from referee.live.seats import output
from referee.live.seats.command import AgentLog
from referee.live.seats.output import MOST, RATE, READ_BYTES, Output
from referee.live.seats.telemetry import KeyValues
from referee.match.result import Outcome
from tests import matches
from tests.patience import patient
from tests.tables import plan_of

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}


class Clockwork:
    """An event loop with a pipe and a clock of its own: whoever writes fills the pipe at once, and reading takes 0.1 ms."""

    def __init__(self, flood: bytes) -> None:
        self.now = 0.0
        self.reads = 0
        self._flood = flood
        self._reader: Callable[[], None] | None = None
        self._timer: tuple[float, Callable[[], None]] | None = None
        self.pipe, self._end = os.pipe()
        os.set_blocking(self._end, False)

    def time(self) -> float:
        return self.now

    def add_reader(self, _: int, reader: Callable[[], None]) -> None:
        self._reader = reader

    def remove_reader(self, _: int) -> None:
        self._reader = None

    def call_later(self, seconds: float, timer: Callable[[], None]) -> Clockwork:
        self._timer = self.now + seconds, timer
        return self

    def cancel(self) -> None:
        self._timer = None

    def run(self, seconds: float) -> None:
        until = self.now + seconds
        while True:
            if self._reader is not None and self.now < until:
                self._fill()
                self.reads += 1
                self._reader()
                self.now += 1e-4
            elif self._timer is not None and self._timer[0] <= until:
                (self.now, timer), self._timer = self._timer, None
                timer()
            else:
                break
        self.now = until

    def _fill(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.write(self._end, self._flood) > 1:
                pass


class Sink:
    """Counts what is taken."""

    def __init__(self) -> None:
        self.log = AgentLog()
        self.looked_at = 0

    def take(self, data: bytes) -> int:
        looked_at = self.log.add(data)
        self.looked_at += looked_at
        return looked_at


@pytest.mark.parametrize(
    "flood",
    [
        pytest.param(b"\n" * READ_BYTES, id="newlines"),
        pytest.param(b"A" * READ_BYTES, id="a line without end"),
        pytest.param(b"\ndogana:" * 8192, id="almost telemetry"),
        pytest.param(b"dogana: a=1\n" * 5461, id="telemetry"),
        pytest.param(b"dogana: " + b"a=1 " * 245 + b"\n", id="telemetry in long lines"),
    ],
)
def test_of_a_flood_little_is_read_a_second(monkeypatch: pytest.MonkeyPatch, flood: bytes) -> None:
    loop = Clockwork(flood)
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    sink = Sink()
    Output(loop.pipe, sink.take)
    loop.run(1.0)
    first = sink.log.written
    assert first <= MOST + RATE + READ_BYTES
    sink.looked_at = loop.reads = 0
    loop.run(100.0)
    assert sink.log.written - first <= 100 * 128 * 1024 + READ_BYTES
    assert loop.reads <= 100 * 6 + 1
    assert sink.looked_at <= 100 * 3 * 1024 + 4096
    assert sink.log.written > first, "nothing is read any more"


def test_of_bytes_one_by_one_few_are_read_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each read costs, however little it gives: there are few of them."""
    loop = Clockwork(b"x")
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    sink = Sink()
    Output(loop.pipe, sink.take)
    loop.run(0.1)
    assert sink.log.written == loop.reads == MOST // output.READ_COST + 1
    loop.run(100.0)
    assert loop.reads <= MOST // output.READ_COST + 101 * RATE // output.READ_COST


def test_telemetry_of_an_honest_bot_is_found_whenever_it_comes() -> None:
    """Also what it writes faster than it is read, and last."""
    program = (
        "import time\nfor number in range(1500):\n    print(f'dogana: nodes={number} depth=7', flush=number % 50 == 0)\n"
        "    print('some line of its own')\n"
    )

    async def series() -> dict[str, KeyValues]:
        ours, theirs = os.pipe()
        sink = Sink()
        reading = Output(ours, sink.take)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=theirs)
        os.close(theirs)
        await process.wait()
        await reading.finish()
        return dict(sink.log.telemetry.series())

    found = asyncio.run(asyncio.wait_for(series(), patient(120)))
    assert found == {"nodes": KeyValues(1500, sum(range(1500))), "depth": KeyValues(1500, 7.0 * 1500)}


def test_the_end_of_a_flood_is_read_but_not_for_ever() -> None:
    """What is in the pipe is kept to its last byte; who still writes then is not read on."""

    async def finish(is_written_on: bool) -> AgentLog:
        ours, theirs = os.pipe()
        os.set_blocking(theirs, False)
        log = AgentLog()

        def take(data: bytes) -> int:
            if is_written_on:
                os.write(theirs, data)
            return log.add(data)

        reading = Output(ours, take)
        os.write(theirs, b"x" * (READ_BYTES - 10) + b"\nlast word")
        await reading.finish()
        os.close(theirs)
        return log

    async def finish_both() -> tuple[AgentLog, AgentLog]:
        return await finish(False), await finish(True)

    collected, cut = asyncio.run(asyncio.wait_for(finish_both(), patient(120)))
    assert collected.last_line() == "last word"
    assert cut.written < 2 * output.LAST_COST


FLOOD = """
import os, sys, threading, time
from dogana.sdk import play
mess = sys.argv[1].encode().decode("unicode_escape").encode() * 32768
def flood():
    while mess:
        os.write(1, mess)
threading.Thread(target=flood, daemon=True).start()
def choose(decision):
    time.sleep(0.05)
    return 0
play(choose)
"""
PLAIN = "from dogana.sdk import play\nplay(lambda decision: 0)\n"


def play_beside(mess: str) -> tuple[float, float]:
    """Play a match; return what it cost the referee in processor time, and what the rival was charged, in seconds."""

    flooding = Command([sys.executable, "-c", FLOOD, mess], ENVIRONMENT, join_seconds=patient(60))
    rival = Command([sys.executable, "-c", PLAIN], ENVIRONMENT, join_seconds=patient(60))
    plan = plan_of(seats=2, options={"last_turn": 2, "first_player": 0}, clock="60+0.5/10")
    began = time.process_time()
    report = matches.play(plan, [flooding, rival], seconds=300)
    cost = time.process_time() - began
    assert [seat.outcome for seat in report.result.seats] == [Outcome.PLAYED] * 2
    return cost, report.result.seats[1].think_seconds


@pytest.mark.long
def test_a_rival_of_a_flood_is_charged_as_without() -> None:
    """The match is compared with quiet ones in between, because its cost depends on the machine.

    If all cost the same, the flooded ones would be the dearest by chance in one run of 700,000.
    """
    quiet, flooded = [], []
    play_beside("")  # imports what is imported once
    for mess in (r"\n", "A") * 4:
        quiet.append(play_beside(""))
        flooded.append(play_beside(mess))
        quiet.append(play_beside(""))
    assert statistics.median(cost for cost, _ in flooded) < 2 * max(cost for cost, _ in quiet)
    assert min(charge for _, charge in flooded) <= max(charge for _, charge in quiet)
