"""`--no-pondering`: an agent that is not asked stands still, with everything it has started, and dies like any other."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub
from referee.live.matches.play import Command, MatchReport, Remote, play_match
from referee.live.matches.server import RefereeServer
from referee.live.seats.pondering import REST_SECONDS, NoPondering
from referee.match.result import Outcome
from referee.sandbox.box import CannotIsolate, Sandbox
from referee.sandbox.cgroup import Groups
from referee.sandbox.measures import build
from tests.cases import mostly_long
from tests.patience import patient, wait_until
from tests.sandbox.conftest import LIMITS, needs_bubblewrap
from tests.tables import plan_of

pytestmark = [
    needs_bubblewrap,
    pytest.mark.skipif(
        "freezer" not in Groups.look().found,
        reason="needs the freezer of control groups: run as root, or see dogana doctor",
    ),
]
AGENT = """
import subprocess, sys
from dogana.sdk import play
subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
play(lambda decision: print(decision.match.welcome.no_pondering, flush=True) or 0)
"""
SECONDS = patient(60)


@pytest.fixture
def strict() -> Sandbox:
    """Boxes whose agents stand still while they are not asked."""
    return build(replace(LIMITS, ponders=False))


def states_below(owner: int) -> list[str]:
    """The state of each process of the agents of a process, as in /proc/PID/stat."""
    found = []
    for folder in Groups.look().found["freezer"].folder.glob(f"dogana-{owner}-*"):
        with contextlib.suppress(OSError):
            for pid in (folder / "cgroup.procs").read_text().split():
                with contextlib.suppress(OSError):
                    found.append(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
    return found


def all_stand_still(owner: int) -> bool:
    states = states_below(owner)
    return len(states) >= 3 and set(states) <= {"D", "T"}  # bubblewrap, the agent, and what it has started


def play_beside(folder: Path, sandbox: Sandbox, true: Callable[[], bool]) -> MatchReport:
    """Play an agent of that sandbox against a remote one that waits until that is true whenever it is asked."""
    folder.chmod(0o755)
    (folder / "agent.py").write_text(AGENT)
    tokens = asyncio.Queue[str]()

    async def other(address: str) -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            call, decisions = RefereeStub(channel).Play(), 0
            await call.write(pb.AgentMessage(join=pb.Join(token=await tokens.get(), protocol=1)))
            async for message in call:
                if message.HasField("welcome"):
                    assert not message.welcome.no_pondering  # nobody can stop what runs elsewhere
                if message.HasField("decide"):
                    await asyncio.to_thread(wait_until, true)
                    decisions += 1
                    await call.write(pb.AgentMessage(choose=pb.Choose(decision=message.decide.decision, index=0)))
        assert decisions > 2

    async def scene() -> MatchReport:
        command = Command([sys.executable, "agent.py"], {}, folder, 60.0, sandbox)
        plan = plan_of(options={"last_turn": 3}, clock="600+1/600")
        async with RefereeServer() as server:
            opponent = asyncio.create_task(other(server.local_address))
            report = await play_match(
                plan, [command, Remote(60.0)], server=server, announce=lambda _, token: tokens.put_nowait(token)
            )
            await opponent
            return report

    return asyncio.run(asyncio.wait_for(scene(), patient(240)))


def test_an_agent_stands_still_while_others_are_asked_and_plays_on(tmp_path: Path, strict: Sandbox) -> None:
    report = play_beside(tmp_path, strict, lambda: all_stand_still(os.getpid()))
    assert [seat.outcome for seat in report.result.seats] == [Outcome.PLAYED] * 2
    assert set(report.logs[0].split()) == {"True"}


async def test_what_an_agent_says_twice_does_not_stop_it_while_it_is_asked() -> None:
    stopped: list[bool] = []
    box: Any = SimpleNamespace(freeze=lambda *, frozen: stopped.append(frozen))
    agent = NoPondering(box)
    agent.idle()
    agent.idle()
    agent.wake()
    await asyncio.sleep(3 * REST_SECONDS)
    assert stopped == []
    agent.idle()
    async with asyncio.timeout(patient(10)):
        while not stopped:
            await asyncio.sleep(REST_SECONDS)
    agent.wake()
    assert stopped == [True, False]


def test_an_agent_may_think_on_the_time_of_others_unless_that_is_said(tmp_path: Path, sandbox: Sandbox) -> None:
    report = play_beside(tmp_path, sandbox, lambda: "R" in states_below(os.getpid()))
    assert set(report.logs[0].split()) == {"False"}


@pytest.fixture
def standing_still(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A referee of its own, whose agent stands still while the other thinks for ever."""
    tmp_path.chmod(0o755)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "other.py").write_text(
        "import time\nfrom dogana.sdk import play\nplay(lambda _: time.sleep(600) or 0)\n"
    )
    words = ["play", "cargo_noir", "cmd:python agent.py", "cmd:python other.py", "--isolate", "--no-pondering"]
    with subprocess.Popen(
        [sys.executable, "-m", "ladder", *words, "--clock", "600+1/600"],
        cwd=tmp_path,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    ) as referee:
        try:
            wait_until(lambda: states_below(referee.pid).count("D") + states_below(referee.pid).count("T") >= 3)
            yield referee
        finally:
            referee.kill()


@pytest.mark.parametrize("sign", mostly_long([signal.SIGINT, signal.SIGKILL]), ids=lambda sign: sign.name)
def test_an_agent_that_stands_still_ends_with_its_referee(
    standing_still: subprocess.Popen[bytes], sign: signal.Signals
) -> None:
    standing_still.send_signal(sign)
    standing_still.wait(SECONDS)
    wait_until(lambda: not states_below(standing_still.pid))
    Groups.look().sweep()
    assert not list(Groups.look().found["freezer"].folder.glob(f"dogana-{standing_still.pid}-*"))


@pytest.mark.long
def test_what_stands_still_is_swept_if_its_supervisor_was_killed_too(standing_still: subprocess.Popen[bytes]) -> None:
    children = Path(f"/proc/{standing_still.pid}/task/{standing_still.pid}/children").read_text().split()
    for pid in [standing_still.pid, *map(int, children)]:
        os.kill(pid, signal.SIGKILL)
    standing_still.wait(SECONDS)
    Groups.look().sweep()
    assert not states_below(standing_still.pid)


def test_it_is_refused_where_it_cannot_be_enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = Groups.look()
    without = Groups({name: one for name, one in groups.found.items() if name != "freezer"})
    monkeypatch.setattr(Groups, "look", staticmethod(lambda: without))
    assert shutil.which("bwrap")
    build(LIMITS)
    with pytest.raises(CannotIsolate, match="--no-pondering cannot be enforced"):
        build(replace(LIMITS, ponders=False))
