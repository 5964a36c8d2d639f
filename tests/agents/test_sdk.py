"""The Python SDK: a bot in ten lines, without the referee, with errors that tell the author what to do."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from house_bots.random_bot import RandomBot

from dogana.remote import channel
from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub
from referee.live.matches.play import Command, House, MatchReport, Remote, play_match
from referee.live.matches.server import Listen, RefereeServer
from referee.match.result import Outcome
from tests import matches
from tests.cases import mostly_long
from tests.patience import patient
from tests.proxy import breaking
from tests.tables import plan_of
from tests.toy.games.sealed import GAME as SEALED

ROOT = Path(__file__).resolve().parents[2]


def play(program: str, folder: Path, python_path: Path = ROOT, **plan: object) -> MatchReport:
    """A match of a bot with this program against `random`; the bot sits in seat 0 and begins."""
    (folder / "bot.py").write_text(program)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(python_path)}
    chosen = plan_of(options={"last_turn": 3, "first_player": 0}, **plan)  # type: ignore[arg-type]
    return matches.play(chosen, [Command([sys.executable, "bot.py"], environment, folder), House(RandomBot)])


def play_elsewhere(program: str, folder: Path) -> MatchReport:
    """The same, but the bot joins over TCP."""
    (folder / "bot.py").write_text(program)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}

    async def bot(port: int, token: str) -> None:
        joined = {**environment, "DOGANA_ADDRESS": f"127.0.0.1:{port}", "DOGANA_TOKEN": token}
        process = await asyncio.create_subprocess_exec(sys.executable, "bot.py", cwd=folder, env=joined)
        assert await process.wait() == 0

    async def match() -> MatchReport:
        started: list[asyncio.Task[None]] = []
        async with RefereeServer(Listen("127.0.0.1:0")) as server, asyncio.TaskGroup() as bots:
            return await play_match(
                plan_of(options={"last_turn": 3, "first_player": 0}),
                [Remote(60.0), House(RandomBot)],
                server=server,
                announce=lambda _, token: started.append(bots.create_task(bot(server.remote_port, token))),
            )

    return asyncio.run(asyncio.wait_for(match(), patient(60)))


def played(report: MatchReport) -> bool:
    return report.result.seats[0].outcome is Outcome.PLAYED


def test_a_complete_bot_in_ten_lines_from_the_readme(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    program = readme.split("```python\n")[1].split("```")[0]
    assert len([line for line in program.splitlines() if line.strip()]) <= 10
    assert played(play(program, tmp_path))


def test_a_bot_needs_only_the_messages_and_the_sdk(tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    shutil.copytree(ROOT / "dogana", alone / "dogana")
    program = (
        "import sys\nsys.modules['referee'] = None\nsys.modules['ladder'] = None\n"
        f"sys.path.remove({str(ROOT)!r}) if {str(ROOT)!r} in sys.path else None\n"
        "from dogana.sdk import play\nimport dogana\n"
        "print(dogana.__file__, flush=True)\n"
        "play(lambda decision: decision.actions[-1])\n"
    )
    report = play(program, tmp_path, alone)
    assert played(report)
    assert str(alone) in report.logs[0]


def test_a_bot_answers_with_an_index_an_action_or_several(tmp_path: Path) -> None:
    program = (
        "from dogana.sdk import play\n"
        "from dogana.games.cargo_noir.v1 import cargo_noir_pb2 as cn\n"
        "casino = cn.Action(send=cn.Send(dest=cn.DESTINATION_CASINO))\n"
        "decisions = 0\n"
        "def choose(decision):\n"
        "    global decisions\n"
        "    decisions += 1\n"
        "    if decision.observation.phase == cn.PHASE_P3:\n"
        "        return [casino] * decision.observation.seats[decision.seat].ships_home\n"
        "    return decision.actions[0] if decisions % 2 else 0\n"
        "play(choose, on_end=lambda match, over: print('decisions', decisions, flush=True))\n"
    )
    report = play(program, tmp_path)
    assert played(report)
    assert int(report.logs[0].split("decisions ")[1]) < report.result.seats[0].decisions


@pytest.mark.parametrize("choice", ["None", "1.5", "'0'", "1099511627776", "-1"])
def test_what_choose_cannot_return_is_said_in_one_line(tmp_path: Path, choice: str) -> None:
    report = play(f"from dogana.sdk import play\nplay(lambda decision: {choice})\n", tmp_path)
    [line] = report.logs[0].splitlines()
    assert line.startswith(f"dogana bot: choose returned {choice}; ")
    assert "an index" in line


def test_an_index_of_numpys_kind_is_an_index(tmp_path: Path) -> None:
    program = (
        "from dogana.sdk import play\n"
        "class Integer:\n"
        "    def __index__(self):\n"
        "        return 0\n"
        "play(lambda decision: Integer())\n"
    )
    assert played(play(program, tmp_path))


def test_a_decision_tells_everything_there_is(tmp_path: Path) -> None:
    program = (
        "from dogana.sdk import play\n"
        "def choose(decision):\n"
        "    assert decision.match.game == 'cargo_noir' and decision.match.seats == 2 and decision.seat == 0\n"
        "    assert decision.match.board['cards']['yacht']['cost'] == 10\n"
        "    assert decision.match.board['goods']['kinds'][0] == 'alcohol'\n"
        "    assert decision.match.options['last_turn'] == '3'\n"
        "    assert len(decision.labels) == len(decision.actions) == decision.action_count\n"
        "    assert 9 < decision.seconds <= 10 and decision.bank_seconds > 50\n"
        "    assert all(seat in (0, 1) for seat, action in decision.played)\n"
        "    assert decision.rejection is None and decision.dropped == ''\n"
        "    return 0\n"
        "play(choose, labels=True)\n"
    )
    report = play(program, tmp_path)
    assert played(report), report.logs[0]


def test_a_refused_answer_can_be_corrected(tmp_path: Path) -> None:
    program = (
        "from dogana.sdk import play\n"
        "done = False\n"
        "def choose(decision):\n"
        "    global done\n"
        "    if not done and decision.rejection is None:\n"
        "        return 999\n"
        "    done = True\n"
        "    return 0\n"
        "play(choose)\n"
    )
    report = play(program, tmp_path)
    assert played(report)
    assert "refused as illegal: index 999" in report.logs[0]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("-1", "choose returned -1; an index counts from 0"),
        ("[decision]", "it returned Decision"),
        ("decision.observation", "it returned Observation"),
    ],
)
def test_a_wrong_answer_is_explained_to_the_author(tmp_path: Path, answer: str, message: str) -> None:
    report = play(f"from dogana.sdk import play\nplay(lambda decision: {answer})\n", tmp_path)
    assert report.result.seats[0].outcome is Outcome.CRASH
    assert message in report.logs[0]
    assert "Traceback" not in report.logs[0]


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "this bot must be started by the referee"),
        (
            {"DOGANA_ADDRESS": "unix:/nonexistent/socket", "DOGANA_TOKEN": "t"},
            "no referee answers at unix:/nonexistent",
        ),
        (
            {"DOGANA_ADDRESS": "localhost:1", "DOGANA_TOKEN": "t", "DOGANA_CA": "/nonexistent"},
            "cannot read the certificate",
        ),
    ],
)
def test_a_bot_that_cannot_join_says_why_in_a_line(environment: dict[str, str], message: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "from dogana.sdk import play\nplay(lambda decision: 0)"],
        env={"PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=patient(60),
    )
    assert ended.returncode == 1
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("seconds", ["0", "0.05"], ids=["answers at once", "looks while it thinks"])
def test_a_remote_bot_comes_back_and_is_asked_again_what_it_has_not_answered(tmp_path: Path, seconds: str) -> None:
    program = (
        "from dogana.sdk import play\n"
        "starts, numbers = [], []\n"
        "def choose(decision):\n"
        "    numbers.append(decision.number)\n"
        f"    while decision.seconds_left() > decision.seconds - {seconds} and not decision.withdrawn:\n"
        "        pass\n"
        "    return 0\n"
        "play(choose, on_start=starts.append, on_end=lambda match, over: print('starts', len(starts), sorted(set(numbers)) == list(range(1, max(numbers) + 1))))\n"
    )
    (tmp_path / "bot.py").write_text(program)

    async def match() -> None:
        tokens: asyncio.Queue[str] = asyncio.Queue()
        async with (
            RefereeServer(Listen("127.0.0.1:0")) as server,
            breaking(server.remote_port, [12_000]) as proxy,  # more than a Welcome, less than a match
        ):
            playing = asyncio.create_task(
                play_match(
                    plan_of(options={"last_turn": 5}, clock="600+5/60"),
                    [Remote(60.0), House(RandomBot)],
                    server=server,
                    announce=lambda _, token: tokens.put_nowait(token),
                )
            )
            environment = {"DOGANA_ADDRESS": f"127.0.0.1:{proxy.port}", "DOGANA_TOKEN": await tokens.get()}
            bot = await asyncio.create_subprocess_exec(
                sys.executable,
                str(tmp_path / "bot.py"),
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            report = await playing
            output, remarks = await bot.communicate()
            assert report.result.seats[0].outcome is Outcome.PLAYED, remarks
            assert proxy.connections == 2
            assert output == b"starts 1 True\n"
            assert remarks.count(b"trying again in") == 1
            assert bot.returncode == 0

    asyncio.run(asyncio.wait_for(match(), patient(60)))


def test_a_bot_that_thinks_notices_a_new_deadline_and_its_answer_still_counts(tmp_path: Path) -> None:
    """Rule T4 of the toy game: the first seat that commits starts a sand timer for the others."""
    (tmp_path / "thinks.py").write_text(
        "import time\nfrom dogana.sdk import play\n"
        "def choose(decision):\n"
        "    if decision.number == 1:\n"
        "        while decision.seconds_left() > 100:\n"
        "            time.sleep(0.01)\n"
        "        print('noticed', decision.seconds > 500, decision.withdrawn, flush=True)\n"
        "    return decision.action_count - 1\n"
        "play(choose)\n"
    )
    (tmp_path / "commits.py").write_text(
        "from dogana.sdk import play\nplay(lambda decision: decision.action_count - 1)\n"
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    bots = [Command([sys.executable, name], environment, tmp_path) for name in ("thinks.py", "commits.py")]
    report = matches.play(plan_of(SEALED, 2, options={"timer": 60}, clock="600+0/600"), bots)
    assert report.logs[0] == "noticed True False\n"
    assert played(report)


def test_a_bot_that_thinks_notices_that_its_time_is_up_and_sends_no_stale_answer(tmp_path: Path) -> None:
    program = (
        "import time\nfrom dogana.sdk import play\n"
        "def choose(decision):\n"
        "    while decision.number == 1 and not decision.withdrawn:\n"
        "        time.sleep(0.01)\n"
        "    if decision.number == 1:\n"
        "        print('withdrawn', decision.seconds_left() <= 0, flush=True)\n"
        "    return 0\n"
        "play(choose)\n"
    )
    report = play(program, tmp_path, clock="600+0/2")
    assert report.logs[0].splitlines()[0] == "withdrawn True"
    assert "decision 1 refused" not in report.logs[0]


LOOKS_FROM_A_LOOP = (
    "import asyncio\nfrom dogana.sdk import play\n"
    "async def search(decision):\n"
    "    return 0 if decision.seconds_left() > 0 and not decision.withdrawn else None\n"
    "play(lambda decision: asyncio.run(search(decision)))\n"
)
LEAVES_THREADS_THAT_LOOK = (
    "import threading, time\nfrom dogana.sdk import play\n"
    "failed = []\n"
    "threading.excepthook = failed.append\n"
    "def look(decision):\n"
    "    end = time.monotonic() + 0.2\n"
    "    while time.monotonic() < end:\n"
    "        decision.withdrawn\n"
    "threads = []\n"
    "def choose(decision):\n"
    "    threads.extend(threading.Thread(target=look, args=(decision,)) for _ in range(2))\n"
    "    for thread in threads[-2:]:\n"
    "        thread.start()\n"
    "    return 0\n"
    "def end(match, over):\n"
    "    for thread in threads:\n"
    "        thread.join()\n"
    "    assert not failed, failed\n"
    "    print('no look failed', flush=True)\n"
    "play(choose, on_end=end)\n"
)


@pytest.mark.parametrize("where", [play, play_elsewhere], ids=["started", "elsewhere"])
@pytest.mark.parametrize(
    "program", mostly_long([LOOKS_FROM_A_LOOP, LEAVES_THREADS_THAT_LOOK]), ids=["event loop", "threads"]
)
def test_a_bot_may_look_from_an_event_loop_of_its_own_and_from_threads(
    tmp_path: Path, program: str, where: Callable[[str, Path], MatchReport], capfd: pytest.CaptureFixture[str]
) -> None:
    report = where(program, tmp_path)
    assert played(report), report.result.seats[0]
    if program is LEAVES_THREADS_THAT_LOOK:
        assert "no look failed" in report.logs.get(0, "") + capfd.readouterr().out


def test_an_exception_in_choose_ends_the_bot_with_its_traceback(tmp_path: Path) -> None:
    report = play("from dogana.sdk import play\nplay(lambda decision: 1 // 0)\n", tmp_path)
    assert report.result.seats[0].outcome is Outcome.CRASH
    assert "exited with status 1" in report.result.seats[0].detail
    assert report.logs[0].startswith("Traceback")
    assert "ZeroDivisionError" in report.logs[0]


@pytest.mark.long
def test_the_sdk_is_typed(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "from dogana.sdk import Decision, play\n"
        "def choose(decision: Decision) -> int:\n    return decision.action_count - 1\n"
        "play(choose)\n"
    )
    subprocess.run([sys.executable, "-m", "mypy", "--strict", "bot.py"], cwd=tmp_path, check=True, capture_output=True)


def test_a_bot_elsewhere_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, int] = {}
    monkeypatch.setattr(grpc.aio, "insecure_channel", lambda _, options: given.update(options))
    channel("127.0.0.1:7777", None)
    assert given["grpc.keepalive_time_ms"] == 30_000


@pytest.mark.soak
def test_a_client_may_ping_often_while_others_think() -> None:
    """Every 11 s, as docs/writing_a_bot.md allows; by default gRPC closes the connection after five such pings, within a minute."""
    options = [("grpc.keepalive_time_ms", 11_000), ("grpc.http2.max_pings_without_data", 0)]

    async def waits() -> None:
        tokens: asyncio.Queue[str] = asyncio.Queue()
        async with RefereeServer() as server:
            playing = asyncio.create_task(
                play_match(
                    plan_of(clock="600+0/600", options={"first_player": 0}),
                    [Remote(), Remote()],
                    server=server,
                    announce=lambda _, token: tokens.put_nowait(token),
                )
            )
            calls: list[Any] = []
            for _ in range(2):
                channel = grpc.aio.insecure_channel(server.local_address, options)
                calls.append(RefereeStub(channel).Play())
                await calls[-1].write(pb.AgentMessage(join=pb.Join(token=await tokens.get(), protocol=1)))
            for call in calls:
                assert (await call.read()).WhichOneof("message") == "welcome"
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(calls[1].read(), patient(80))
            playing.cancel()

    asyncio.run(waits())
