"""What the kernel says of an agent that starts: how much of a processor it got, and how long it waited for one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from referee.live.seats.starvation import Watched, is_starved
from tests.patience import patient

BURN = "import time\nwhile time.process_time() < 0.5:\n    pass\n"
PARENT = f"""
import subprocess, sys, time
from pathlib import Path
children = [subprocess.Popen([sys.executable, "-I", "-S", "-c", {BURN!r}]) for _ in range(4)]
for child in children:
    child.wait()
Path("done").touch()
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("ran", "waited", "starved"),
    [
        pytest.param(0.4, 25.0, True, id="others use the processors"),
        pytest.param(0.4, 0.1, False, id="it sleeps"),
        pytest.param(1.0, 9.0, False, id="it had to wait, but not for most of its start"),
        pytest.param(28.0, 29.0, False, id="it keeps the machine busy itself, and waits for its own threads"),
        pytest.param(9.0, 20.0, False, id="it shared the processors, and needs long"),
    ],
)
def test_who_was_starved(ran: float, waited: float, *, starved: bool) -> None:
    assert is_starved(30.0, ran, waited) is starved


@pytest.mark.long
def test_what_processes_of_an_agent_have_used_is_known_also_when_they_have_ended(tmp_path: Path) -> None:
    """A bot cannot hide in its children that it burns processor time, whether they are seen or not."""

    async def watch_until_done(seconds: float) -> float:
        watched = Watched(os.getpid())
        deadline = time.monotonic() + patient(120)
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        while not (tmp_path / "done").exists() and time.monotonic() < deadline:
            await asyncio.wait([never], timeout=seconds)
        await watched.until_one_is_done([never], 0.1)
        return watched.ran

    with subprocess.Popen([sys.executable, "-c", PARENT], cwd=tmp_path) as parent:
        try:
            assert asyncio.run(watch_until_done(0.05)) >= 4 * 0.5
        finally:
            parent.kill()


def test_waiting_for_the_referee_ends_as_soon_as_something_is_done() -> None:
    async def watch() -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.05, done.set_result, None)
        await asyncio.wait_for(Watched(os.getpid()).until_one_is_done([done], 600), patient(60))

    asyncio.run(watch())


def test_time_in_which_the_referee_did_not_look_is_not_taken_from_the_agent() -> None:
    """As if the referee was stopped for longer than the agent may take to join."""

    async def watch() -> bool:
        loop = asyncio.get_running_loop()
        joined: asyncio.Future[None] = loop.create_future()
        loop.call_later(0.01, time.sleep, 2)
        loop.call_later(2.05, joined.set_result, None)
        await Watched(os.getpid()).until_one_is_done([joined], 1.5)
        return joined.done()

    assert asyncio.run(watch())


def test_a_process_may_call_itself_by_bytes_that_are_no_text() -> None:
    """What the kernel says of a process has its name in it, which the process chooses."""
    text = (
        "import ctypes, time; ctypes.CDLL(None).prctl(15, b'\\xff) R 1', 0, 0, 0); print(flush=True); time.sleep(600)"
    )

    async def look() -> float:
        watched = Watched(os.getpid())
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await watched.until_one_is_done([never], 0.01)
        return watched.ran

    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as named:
        try:
            assert named.stdout is not None
            named.stdout.readline()
            assert asyncio.run(look()) > 0
        finally:
            named.kill()
