"""The box in which an agent runs: what a program sees in it, what it may use, and what is left of it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from house_bots.random_bot import RandomBot

from referee.live.matches.play import Command, House
from referee.live.seats.command import AgentProcess
from referee.match.result import Outcome
from referee.sandbox import look_around
from referee.sandbox.box import NO_PROGRAM, SUPERVISOR, CannotIsolate, Sandbox, users_for_agents
from referee.sandbox.cgroup import Groups
from referee.sandbox.limits import MIB
from referee.sandbox.measures import inspect, run
from referee.sandbox.system import descendants
from tests import matches
from tests.patience import patient
from tests.sandbox.conftest import LIMITS, Boxed, needs_bubblewrap
from tests.tables import plan_of

pytestmark = needs_bubblewrap
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else: run it as root")


def grouped(controller: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        controller not in Groups.look().found,
        reason=f"no control group for {controller} can be made here: run as root, or see dogana doctor",
    )


def test_every_measure_that_a_ladder_needs_holds_here() -> None:
    sandbox, measures = inspect(LIMITS)
    assert sandbox is not None
    assert [wall for wall in measures if wall.is_needed and not wall.stands] == []
    assert {"user", "privileges", "files", "room", "processes", "network", "system calls"} <= {w.name for w in measures}


def test_a_program_sees_itself_and_no_more(sandbox: Sandbox) -> None:
    ran = run(sandbox, [sys.executable, "-I", "-S", look_around.__file__], Path(look_around.__file__).parent)
    seen = json.loads(ran.output)
    assert ran.status == 0
    assert ran.was_built
    assert seen["user"] != 0
    assert seen["capabilities"] == 0
    assert seen["no_new_privileges"]
    assert seen["has_filter"]
    assert not seen["can_change_kernel"]
    assert len(seen["processes"]) == 2  # bubblewrap's first process, and this one
    assert seen["environment_of_first"] == 0
    assert seen["networks"] == ["lo"]
    assert seen["writable"] == []
    assert seen["tmp_bytes"] == LIMITS.tmp_bytes
    assert seen["shm_bytes"] == 1 << 20
    assert seen["descriptors"] == [0, 1, 2]


def test_the_environment_is_that_of_the_box(boxed: Boxed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_ORGANISER", "x")
    seen = json.loads(boxed("import json, os; print(json.dumps(dict(os.environ)))").output)
    assert "SECRET_OF_THE_ORGANISER" not in seen
    assert seen["DOGANA_ADDRESS"] == "unix:/run/dogana.sock"
    assert seen["HOME"] == seen["TMPDIR"] == "/tmp"  # noqa: S108 its own
    assert seen["GOMEMLIMIT"] == str(96 * 1024 * 1024)


@as_root
def test_two_agents_are_two_users_and_neither_is_root(boxed: Boxed) -> None:
    text = "print(next(word for line in open('/proc/self/mountinfo') for word in line.split(',') if word.startswith('uid=')))"
    users = {boxed(text).output.strip() for _ in range(2)}
    assert len(users) == 2
    assert all(int(user.removeprefix("uid=")) >= 1_900_000_000 for user in users)


def test_root_of_a_container_makes_do_with_the_users_that_it_has() -> None:
    assert users_for_agents("         0          0 4294967295\n") == (1_900_000_000, 1 << 22)
    assert users_for_agents("0 1000 1\n1 100000 65536\n") == (32769, 32768)
    with pytest.raises(CannotIsolate, match="too few other users"):
        users_for_agents("0 1000 1\n")


@as_root
def test_files_in_a_folder_that_is_closed_to_others_can_be_read(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "closed" / "agent"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text("print(open('note').read(), __import__('os').listdir('/bot'))")
    (folder / "note").write_text("read")
    (tmp_path / "closed").chmod(0o700)
    assert run(sandbox, [sys.executable, "-I", "agent.py"], folder).output.startswith("read ['")


@as_root
def test_a_folder_that_only_root_can_read_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(CannotIsolate, match="can be read by root only, and agents are other users; chmod -R a\\+rX "):
        sandbox.box(["/usr/bin/true"], tmp_path, tmp_path / "s", "x")


def test_nobody_can_read_the_token_outside(sandbox: Sandbox, tmp_path: Path) -> None:
    """Neither in an argument nor in the environment of a process that others can look at."""
    token = "a-token-of-a-seat"  # noqa: S105 it opens nothing
    (tmp_path / "s").touch()
    (tmp_path / "agent").mkdir()
    box = sandbox.box(["/usr/bin/sleep", "600"], tmp_path / "agent", tmp_path / "s", token)
    with subprocess.Popen(
        [*SUPERVISOR, "--box"],
        stdin=subprocess.PIPE,
        env={},
        pass_fds=(box.reports,),
    ) as process:
        assert process.stdin is not None
        process.stdin.write(box.order())
        process.stdin.flush()
        command_lines: dict[str, bytes] = {}
        deadline = time.monotonic() + patient(60)
        while (
            not any(words.startswith(b"/usr/bin/sleep") for words in command_lines.values())
            and time.monotonic() < deadline
        ):
            command_lines = dict(arguments_below(process.pid))
        assert any(words.startswith(b"/usr/bin/sleep") for words in command_lines.values())
        environments = {pid: Path(f"/proc/{pid}/environ").read_bytes() for pid in command_lines}
        process.stdin.close()
        process.wait()
    box.end()
    assert [words for words in command_lines.values() if token.encode() in words] == []
    assert [pid for pid, words in command_lines.items() if words.startswith(b"bwrap") and environments[pid]] == []
    assert sum(token.encode() in environment for environment in environments.values()) == 1  # the agent's own


def arguments_below(pid: int) -> list[tuple[str, bytes]]:
    found = []
    for below in descendants(pid):
        try:
            found.append((str(below), Path(f"/proc/{below}/cmdline").read_bytes()))
        except OSError:
            continue
    return found


def test_a_program_that_is_not_there_is_told_from_a_box_that_cannot_be_built(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    ran = run(sandbox, ["/bot/nothing"], tmp_path / "agent")
    if ran.was_built:  # prlimit, which comes first where no group counts tasks, has run
        assert "nothing" in ran.output
    else:
        assert ran.output.strip().startswith(NO_PROGRAM)


def test_the_status_of_the_program_is_passed_on(boxed: Boxed) -> None:
    assert boxed("raise SystemExit(7)").status == 7


@grouped("memory")
def test_what_a_program_has_printed_before_it_is_killed_can_be_read(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    folder.mkdir()
    (folder / "agent.py").write_text("import os\nprint('thinking')\nos.kill(os.getpid(), 9)")
    assert run(sandbox, [sys.executable, "agent.py"], folder).output == "thinking\n"


def test_memory_is_counted_for_all_processes_together(boxed: Boxed) -> None:
    ran = boxed(
        "import os, time\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        data = b'x' * (48 << 20)\n"
        "        time.sleep(600)\n"
        "while True:\n"
        "    try:\n"
        "        _, status = os.wait()\n"
        "    except ChildProcessError:\n"
        "        break\n"
        "    print('child', os.WTERMSIG(status), flush=True)\n"
        "    os.kill(-1, 9)\n"
    )
    assert ran.output.startswith("child 9") or ran.status != 0
    assert ran.usage.memory_kills
    assert ran.usage.memory_peak is not None
    assert ran.usage.memory_peak <= LIMITS.memory_bytes


@grouped("memory")
def test_a_box_that_was_killed_for_want_of_memory_is_a_fault_of_its_agent(sandbox: Sandbox, tmp_path: Path) -> None:
    """Else an agent that gets bubblewrap killed before it joins could make a match void."""
    tmp_path.chmod(0o755)
    narrow = replace(sandbox, limits=replace(sandbox.limits, memory_bytes=MIB))  # not enough for bubblewrap itself
    command = Command([sys.executable, "-c", "pass"], {}, tmp_path, 60.0, narrow)
    result = matches.play(plan_of(options={"last_turn": 2}), [command, House(RandomBot)]).result
    assert result.seats[0].outcome is Outcome.START
    assert "out of memory at 1 MiB" in result.seats[0].detail


@grouped("memory")
def test_what_is_in_tmp_is_memory_too(boxed: Boxed) -> None:
    ran = boxed(
        "import os\nheld = []\n"
        "for number in range(200000):\n"
        "    try:\n        open(f'/tmp/{number}', 'wb').close()\n"
        "    except OSError as error:\n        print('stopped', number, error.strerror); break\n"
        "else:\n    print('all')\n"
    )
    assert ran.usage.memory_peak is not None
    assert ran.usage.memory_peak <= LIMITS.memory_bytes


def test_tmp_has_an_end(boxed: Boxed) -> None:
    ran = boxed(
        "import os\nsize = 0\n"
        "try:\n"
        "    for number in range(64):\n"
        "        with open(f'/tmp/{number}', 'wb') as file:\n            size += file.write(b'x' * (1 << 20))\n"
        "except OSError as error:\n    print(size >> 20, error.strerror)\n"
    )
    assert re.fullmatch(r"[34] No space left on device", ran.output.strip())


def test_processes_and_threads_have_an_end(boxed: Boxed) -> None:
    ran = boxed(
        "import os, time\nchildren = 0\n"
        "try:\n"
        "    for _ in range(200):\n"
        "        if os.fork() == 0:\n            time.sleep(600)\n"
        "        children += 1\n"
        "except OSError as error:\n    print(children, error.strerror)\n"
    )
    children, reason = ran.output.strip().split(" ", 1)
    assert reason == "Resource temporarily unavailable"
    assert LIMITS.tasks - 4 <= int(children) < LIMITS.tasks


@grouped("cpu")
def test_threads_and_children_share_one_processor(boxed: Boxed) -> None:
    ran = boxed(
        "import os, time\n"
        "began = time.monotonic()\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        while time.monotonic() < began + 2: pass\n"
        "        os._exit(0)\n"
        "for _ in range(3): os.wait()\n"
        "print(time.monotonic() - began)\n"
    )
    assert ran.usage.cpu_seconds is not None
    assert ran.usage.cpu_seconds <= float(ran.output) * LIMITS.cpus + 0.5


def test_nothing_is_left_of_a_program_that_hides(boxed: Boxed, sandbox: Sandbox) -> None:
    ran = boxed(
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(598.125)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print('gone')\n"
    )
    assert ran.output == "gone\n"
    assert [pid for pid in Path("/proc").glob("[0-9]*") if b"598.125" in arguments(pid)] == []
    for one in sandbox.groups.found.values():
        assert list(one.folder.glob(f"dogana-{os.getpid()}-*")) == []


def arguments(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def test_one_match_leaves_nothing_for_the_next(boxed: Boxed) -> None:
    text = (
        "import os\n"
        "found = [path for path in ('/tmp/memory', '/dev/shm/memory', '/bot/memory', '/var/tmp/memory') if os.path.exists(path)]\n"
        "for path in ('/tmp/memory', '/dev/shm/memory', '/bot/memory', '/var/tmp/memory'):\n"
        "    try:\n        open(path, 'w').write('x')\n"
        "    except OSError:\n        pass\n"
        "print(found, os.path.exists('/tmp/memory'))\n"
    )
    assert [boxed(text).output.strip() for _ in range(2)] == ["[] True"] * 2


def test_an_agent_is_found_in_its_box_whatever_it_calls_itself(sandbox: Sandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    text = "import ctypes, time; ctypes.CDLL(None).prctl(15, b'\\xff', 0, 0, 0); print('named', flush=True); time.sleep(600)"
    (tmp_path / "s").touch()

    async def find() -> int | None:
        process = await AgentProcess.start_in(
            sandbox.box([sys.executable, "-I", "-S", "-c", text], tmp_path, tmp_path / "s", "none")
        )
        try:
            while not process.log.written:
                await asyncio.sleep(0.01)
            return process.agent
        finally:
            await process.stop()

    assert asyncio.run(asyncio.wait_for(find(), patient(120))) is not None
