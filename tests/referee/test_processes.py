"""Agents that the referee starts: real processes that crash, hang, shout, and leave others behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from house_bots.random_bot import RandomBot

from referee.live.matches import play as play_module
from referee.live.matches.driver import MatchVoid
from referee.live.matches.play import Command, House, MatchReport, Player, StartFailed, play_match
from referee.live.seats.command import LOG_HEAD_BYTES, LOG_TAIL_BYTES, AgentLog, AgentProcess, killed_by
from referee.live.seats.starvation import Watched
from referee.match.result import Outcome
from referee.records.past_decisions import DecisionEnd, past_decisions
from referee.records.verify import verify
from referee.registry import find
from referee.sandbox.box import CannotIsolate
from tests import matches
from tests.cases import mostly_long
from tests.patience import patient, wait_until
from tests.processes import is_running, wait_for_the_end, wait_for_work
from tests.tables import plan_of

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}


def command(*arguments: str, join_seconds: float = patient(20)) -> Command:
    return Command([sys.executable, *arguments], ENVIRONMENT, join_seconds=join_seconds)


def hostile(sin: str, join_seconds: float = patient(20)) -> Command:
    return command(str(ROOT / "agents" / "hostile.py"), sin, join_seconds=join_seconds)


def play(*players: Player, clock: str = "60+0.5/10", **arguments: Any) -> MatchReport:
    plan = plan_of(seats=len(players), options={"last_turn": 4, "first_player": 0}, clock=clock)
    return matches.play(plan, players, **arguments)


@pytest.mark.parametrize(
    ("sin", "outcome", "detail", "log"),
    [
        ("crash", Outcome.CRASH, "exited with status 1", "RuntimeError: I have a bug"),
        ("leave", Outcome.CRASH, "exited with status 0", ""),
        ("be-killed", Outcome.CRASH, "was killed by SIGSEGV", ""),
        ("be-killed-in-real-time", Outcome.CRASH, "was killed by signal 35", ""),
        ("illegal", Outcome.ILLEGAL, "is not in the list", "refused as illegal: index"),
    ],
)
def test_a_bot_that_fails_is_out_for_the_right_reason_which_its_log_has_too_and_the_others_play_on(
    sin: str, outcome: Outcome, detail: str, log: str
) -> None:
    report = play(hostile(sin), House(RandomBot), command("-m", "house_bots", "random"))
    assert [seat.outcome for seat in report.result.seats] == [outcome, Outcome.PLAYED, Outcome.PLAYED]
    assert detail in report.result.seats[0].detail
    assert report.result.seats[0].rank == 3
    assert log in report.logs[0]
    assert "bug" not in report.result.seats[0].detail  # which everybody may read


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, 32, 33])
def test_an_agent_ends_as_by_its_signal_even_by_one_that_the_c_library_keeps_for_itself(number: int) -> None:
    async def ended() -> tuple[str, str]:
        process = await AgentProcess.start(["/bin/sh", "-c", f"kill -{number:d} $$"], dict(os.environ), None)
        how = await process.ended()
        await process.stop()
        return how, process.log.text()

    # `make` starts programs with posix_spawn, in which glibc ignores signal 32, and they pass that on.
    [ignored] = re.findall(r"^SigIgn:\s*(\w+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    how = "exited with status 0" if int(ignored, 16) >> (number - 1) & 1 else killed_by(number)
    assert asyncio.run(asyncio.wait_for(ended(), patient(20))) == (how, "")


def on_one_processor() -> int:
    return min(os.sched_getaffinity(0))


STARVED = f"""
import os
os.sched_setaffinity(0, {{{on_one_processor()}}})
while True:
    pass
"""
"""Wants a processor all the time, and gets what busy neighbours leave of it."""
NEIGHBOURS = 7
"""So many leave an eighth; Linux may share processors out to sessions, so each has its own."""


@pytest.fixture
def neighbours() -> Iterator[None]:
    """Other programs that use the processor of `STARVED`."""
    with contextlib.ExitStack() as stack:
        for _ in range(NEIGHBOURS):
            process = stack.enter_context(
                subprocess.Popen([sys.executable, "-I", "-S", "-c", STARVED], start_new_session=True)
            )
            stack.callback(process.kill)
        yield


@pytest.mark.long
@pytest.mark.usefixtures("neighbours")
def test_a_start_that_others_have_kept_from_a_processor_is_void_if_the_match_may_be() -> None:
    starved = command("-c", STARVED, join_seconds=3)
    with pytest.raises(
        MatchVoid, match=r"seat 0 did not join within 3 s; others used the processors: it had one for 0\."
    ):
        play(starved, House(RandomBot), starved_is_void=True)
    assert play(starved, House(RandomBot)).result.seats[0].outcome is Outcome.START


@pytest.mark.parametrize(
    ("ends", "detail"),
    [
        (hostile("no-start"), "exited with status 1 before it joined"),
        (command("-c", ""), "exited with status 0 before it joined: it never joined; a bot connects to DOGANA_ADDRESS"),
    ],
    ids=["says why", "silent"],
)
def test_a_bot_that_ends_by_itself_at_its_start_is_at_fault_however_busy_the_machine_is(
    ends: Command, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own output is in no result."""
    monkeypatch.setattr(Watched, "starved", property(lambda _: True))
    report = play(ends, House(RandomBot), starved_is_void=True)
    assert report.result.seats[0].outcome is Outcome.START
    assert report.result.seats[0].detail.partition(" and sends Join")[0] == detail


@pytest.mark.parametrize("fails", ["at once", "when the other has started"])
def test_after_a_start_that_is_void_nothing_of_the_other_agents_runs_on(
    fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of a ladder begins its next match at once, and its clocks would run beside them."""
    start = play_module.start_process

    async def start_or_fail(player: Command, socket: Path, token: str) -> AgentProcess:
        if player is no_box:
            while fails != "at once" and not list(tmp_path.iterdir()):
                await asyncio.sleep(0.01)
            raise CannotIsolate("cannot make a control group")
        return await start(player, socket, token)

    async def start_a_match() -> set[asyncio.Task[Any]]:
        with pytest.raises(MatchVoid, match=r"^cannot make a control group$"):
            await play_match(plan_of(seats=2), (no_box, sleeps))
        return asyncio.all_tasks() - {cast("asyncio.Task[Any]", asyncio.current_task())}

    monkeypatch.setattr(play_module, "start_process", start_or_fail)
    no_box, sleeps = command(), Command(["sh", "-c", f"echo $$ > {tmp_path}/$$; exec sleep 600"], ENVIRONMENT)
    opened = len(list(Path("/proc/self/fd").iterdir()))
    assert not asyncio.run(start_a_match())
    assert len(list(Path("/proc/self/fd").iterdir())) == opened
    assert not any(is_running(int(started.name)) for started in tmp_path.iterdir())


@pytest.mark.long
def test_a_bot_that_sleeps_is_not_starved() -> None:
    late = Command(["sh", "-c", "sleep 600"], ENVIRONMENT, join_seconds=4)
    report = play(late, House(RandomBot), starved_is_void=True)
    assert report.result.seats[0].outcome is Outcome.START


HANGS = """
from dogana.sdk import Decision, play

def choose(decision: Decision) -> int:
    print("thinking of decision", decision.number)
    while True:
        pass

play(choose)
"""


def test_what_a_bot_has_printed_before_it_hangs_is_in_its_log() -> None:
    report = play(command("-c", HANGS), House(RandomBot), clock="5+0/0.5")
    assert report.result.seats[0].outcome is Outcome.TIMEOUT
    assert report.logs[0].startswith("thinking of decision 1")


def test_a_bot_that_shouts_is_drained_and_its_log_is_capped() -> None:
    report = play(hostile("shout"), House(RandomBot))
    assert report.result.seats[0].outcome is Outcome.PLAYED
    assert len(report.logs[0]) < LOG_HEAD_BYTES + LOG_TAIL_BYTES + 100
    assert "bytes dropped" in report.logs[0]


def test_nothing_that_a_bot_has_detached_survives_the_match() -> None:
    report = play(hostile("detach"), House(RandomBot))
    left = re.search(r"left behind (\d+)", report.logs[0])
    assert left is not None
    assert report.result.seats[0].outcome is Outcome.PLAYED
    assert not is_running(int(left[1]))


def test_a_bot_that_ends_before_it_joins_says_why() -> None:
    with pytest.raises(StartFailed, match="exited with status 1 before it joined; the last it wrote: I do not feel"):
        play(hostile("no-start"), House(RandomBot), all_must_start=True)


def test_a_bot_that_starts_too_slowly_is_out_from_the_start() -> None:
    report = play(hostile("late-start", join_seconds=0.5), House(RandomBot))
    assert report.result.seats[0].outcome is Outcome.START
    assert "did not join within 0.5 s" in report.result.seats[0].detail


FLOOD = """
import os, sys
from pathlib import Path
from dogana.started import CallEnded, SocketCall
from dogana.v1 import referee_pb2 as pb

call = SocketCall(os.environ["DOGANA_ADDRESS"].removeprefix("unix:"), "/dogana.v1.Referee/Play")
call.send(pb.AgentMessage(join=pb.Join(token=os.environ["DOGANA_TOKEN"], protocol=1)).SerializeToString())
for _ in range(300):
    call.send(pb.AgentMessage(choose=pb.Choose(decision=77)).SerializeToString())
try:
    call.receive()
except CallEnded as end:
    print(end)
Path(sys.argv[1]).touch()
"""
SLOW = """
import sys, time
from pathlib import Path
from dogana.sdk import play

while not Path(sys.argv[1]).exists():
    time.sleep(0.02)
play(lambda decision: 0)
"""


def test_a_bot_that_breaks_the_protocol_before_the_others_have_joined_is_out_for_that(tmp_path: Path) -> None:
    ended, record = str(tmp_path / "ended"), tmp_path / "match.jsonl"
    plan = plan_of(options={"last_turn": 4, "first_player": 0, "openings": 2})
    players = [command("-c", FLOOD, ended), command("-c", SLOW, ended, join_seconds=patient(60))]
    report = matches.play(plan, players, record=record)
    out, other = report.result.seats
    assert (out.outcome, out.detail) == (Outcome.PROTOCOL, "it sends more messages than it is asked for")
    assert other.outcome is Outcome.PLAYED
    assert f"ABORTED: the seat is out (protocol): {out.detail}" in report.logs[0]
    held = verify(record, find).result
    assert held.digest == report.result.digest
    assert [(seat.outcome, seat.detail) for seat in held.seats] == [(out.outcome, out.detail), (Outcome.PLAYED, "")]
    decisions = [past_decisions(record, find, seat)[1] for seat in (0, 1)]
    assert [one.ending for one in decisions[0]] == [DecisionEnd.OUT]
    assert {one.ending for one in decisions[1]} == {DecisionEnd.ANSWERED}


def test_a_program_that_is_not_there_is_out_from_the_start() -> None:
    report = play(Command(["no-such-program"], ENVIRONMENT), House(RandomBot))
    assert (report.result.seats[0].outcome, report.result.seats[0].detail) == (
        Outcome.START,
        "there is no program 'no-such-program' that can be run",
    )


def test_a_file_that_cannot_be_executed_is_out_from_the_start(tmp_path: Path) -> None:
    program = tmp_path / "bot"
    program.write_text("no program at all")
    program.chmod(0o755)
    report = play(Command(["./bot"], ENVIRONMENT, folder=tmp_path), House(RandomBot))
    assert report.result.seats[0].outcome is Outcome.START
    assert "Exec format error" in report.result.seats[0].detail


def test_a_command_runs_in_its_folder_with_its_environment_alone(tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text(
        "import os\nprint(os.getcwd(), sorted(os.environ), flush=True)\n"
        "from dogana.sdk import play\nplay(lambda decision: 0)\n"
    )
    report = play(Command([sys.executable, "bot.py"], {"PYTHONPATH": str(ROOT)}, folder=tmp_path), House(RandomBot))
    first = report.logs[0].splitlines()[0]
    assert first.startswith(f"{tmp_path} ['DOGANA_ADDRESS', 'DOGANA_TOKEN'")
    assert "HOME" not in first


def test_a_token_can_be_used_only_once(tmp_path: Path) -> None:
    program = tmp_path / "twice.py"
    program.write_text(
        "import os, subprocess, sys\n"
        "from dogana.sdk import play\n"
        "def start(match):\n"
        "    if 'AGAIN' not in os.environ:\n"
        "        subprocess.run([sys.executable, __file__], env={**os.environ, 'AGAIN': '1'})\n"
        "play(lambda decision: 0, on_start=start)\n"
    )
    report = play(command(str(program)), House(RandomBot))
    assert report.result.seats[0].outcome is Outcome.PLAYED
    assert "the token is unknown or was used up" in report.logs[0]


def test_no_agent_survives_the_referee_however_it_dies(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import os, subprocess, sys, time\n"
        "from dogana.sdk import play\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'], start_new_session=True)\n"
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n{{child.pid}}\\n')\n"
        "play(lambda decision: time.sleep(3600) or 0)\n"
    )
    seat = f"cmd:{sys.executable} {bot}"
    referee = subprocess.Popen(
        [sys.executable, "-m", "ladder", "play", "cargo_noir", seat, seat], env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    wait_for_work(referee, lambda: pids.exists() and len(pids.read_text().split()) == 4)
    started = list(map(int, pids.read_text().split()))
    time.sleep(0.3)
    assert all(map(is_running, started))
    referee.send_signal(signal.SIGKILL)
    referee.wait()
    wait_for_the_end(started)


def test_a_log_keeps_its_beginning_and_its_end() -> None:
    log = AgentLog()
    for number in range(100_000):
        log.add(b"%09d\n" % number)
    text = log.text()
    assert text.startswith("000000000\n")
    assert text.endswith("000099999\n")
    assert f"... {1_000_000 - LOG_HEAD_BYTES - LOG_TAIL_BYTES} bytes dropped ..." in text
    assert log.last_line() == "000099999"


def play_in_a_process(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Let `bot.py` play a match for which a process of `dogana` is the referee."""
    match = ["cargo_noir", f"cmd:{sys.executable} {folder / 'bot.py'}", "random", *options]
    return subprocess.run(
        [sys.executable, "-m", "ladder", "play", *match],
        env=ENVIRONMENT,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )


@pytest.mark.parametrize("number", mostly_long([signal.SIGKILL, signal.SIGSTOP]))
def test_an_agent_that_attacks_its_supervisor_neither_hangs_the_match_nor_leaves_anybody_behind(
    number: signal.Signals, tmp_path: Path
) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import os, time\nfrom dogana.sdk import play\ndecisions = 0\n"
        "def choose(decision):\n"
        "    global decisions\n    decisions += 1\n"
        "    if decisions == 3:\n"
        "        supervisor = os.getppid()\n"
        "        if os.fork() == 0:\n"
        "            os.setsid()\n"
        f"            open({str(tmp_path / 'left')!r}, 'w').write(str(os.getpid()))\n"
        "            os.execvp('sleep', ['sleep', '600'])\n"
        "        time.sleep(0.2)\n"
        f"        os.kill(supervisor, {int(number)})\n"
        f"        time.sleep({600 if number is signal.SIGKILL else 0})\n"
        "    return 0\n"
        "play(choose)\n"
    )
    ended = play_in_a_process(tmp_path, "-o", "last_turn=3")
    assert ended.returncode == (3 if number is signal.SIGKILL else 0), ended.stderr  # killed, it takes the agent along
    assert "Traceback" not in ended.stderr
    wait_until(lambda: not is_running(int((tmp_path / "left").read_text())))


@pytest.mark.parametrize(
    "answer_after", mostly_long([2.8, 3.4]), ids=["answers while it is stopped", "answers afterwards"]
)
def test_an_agent_that_stops_the_referee_gains_no_time(answer_after: float, tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import os, signal, time\nfrom pathlib import Path\nfrom dogana.sdk import play\n"
        "supervisor = os.getppid()\n"
        "referee = int(Path(f'/proc/{supervisor}/stat').read_text().rsplit(')', 1)[1].split()[1])\n"
        "def choose(decision):\n"
        "    if decision.number == 1:\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(3)\n"
        "            os.kill(referee, signal.SIGCONT)\n"
        "            os._exit(0)\n"
        "        os.kill(referee, signal.SIGSTOP)\n"
        f"        time.sleep({answer_after})\n"
        "    return 0\n"
        "play(choose)\n"
    )
    record = tmp_path / "match.jsonl"
    options = ("-o", "last_turn=3", "-o", "first_player=0", "--clock", "60+0/1")
    ended = play_in_a_process(tmp_path, *options, "--record", str(record))
    assert ended.returncode == 0, ended.stderr
    lines = [json.loads(line) for line in record.read_bytes().splitlines()]
    first = next(line for line in lines if line.get("seat") == 0 and "ms" in line)
    assert (first["by"], first["ms"]) == ("clock", 1000)
    assert first["lag_ms"] > 100  # that the referee did not run is on record; the agent had most of a second to stop it
