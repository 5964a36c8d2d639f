"""`dogana replay --bot`: why a bot lost, asked at home."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from referee.records.record import read_lines, sealed, zipped
from tests.cases import mostly_long
from tests.commands.conftest import Dogana, in_a_process, start
from tests.patience import patient
from tests.sandbox.conftest import needs_bubblewrap

FIRST = "from dogana.sdk import play\nplay(lambda decision: 0)\n"
LAST = "from dogana.sdk import play\nplay(lambda decision: decision.action_count - 1)\n"
AT_THIRD = """
import os, sys, time
from dogana.sdk import play

def choose(decision):
    print("asked", decision.number, "\\x1b[2J", flush=True)
    if decision.number == 3:
        SIN
    return 0

play(choose)
"""
QUICK = ("--option", "last_turn=2", "--option", "first_player=0")


def write_bot(folder: Path, program: str = FIRST) -> str:
    """Write a bot into the folder; return how it is started."""
    (folder / "bot.py").write_text(program)
    return f"cmd:{sys.executable} bot.py"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a match in which seat 0 always played the first legal action."""
    folder = tmp_path_factory.mktemp("played")
    seats = [write_bot(folder), "random"]
    in_a_process(folder)("play", "cargo_noir", *seats, "--seed", 7, "--record", "match.jsonl", *QUICK)
    return folder / "match.jsonl"


def documents(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_same_bot_answers_the_same(dogana: Dogana, record: Path, tmp_path: Path) -> None:
    ended = dogana("replay", record, "--as", 0, "--bot", write_bot(tmp_path), "--unconfined")
    *lines, last = ended.stdout.splitlines()
    count = len(lines) - 1
    assert last == f"{count} of {count} decisions the same"
    assert "seat 0, cmd:" in lines[0]
    assert all(
        re.match(r" +\d+  step \d+ +same  .*  \(then \d+\.\d{3} s, now \d+\.\d{3} s\)$", line) for line in lines[1:]
    )
    assert ended.stderr == "the bot runs unconfined: with your rights on this machine\n"


def test_another_answer_is_named_with_the_position_that_it_was_given_in(
    dogana: Dogana, record: Path, tmp_path: Path
) -> None:
    ended = dogana("replay", record, "--as", 0, "--bot", write_bot(tmp_path, LAST), "--unconfined", status=1)
    first = next(line for line in ended.stdout.splitlines() if " OTHER " in line)
    found = re.search(r"; first other answer at step (\d+): dogana (replay .*)$", ended.stdout)
    assert found
    assert f"  step {found[1]} " in first
    printed = dogana(*found[2].split()).stdout
    legal = printed.rpartition("seat 0 is to act: ")[2].strip()
    then, now = re.findall(r"OTHER (\S+).*; now (\S+)", first)[0]
    assert legal.startswith(then)
    assert legal.endswith(now)


def test_json_has_an_object_for_each_decision(dogana: Dogana, record: Path, tmp_path: Path) -> None:
    bot = write_bot(tmp_path, AT_THIRD.replace("SIN", "return 1"))
    all_decisions = documents(
        dogana("replay", record, "--as", 0, "--bot", bot, "--unconfined", "--json", status=1).stdout
    )
    assert [one["decision"] for one in all_decisions] == [*range(1, len(all_decisions) + 1)]
    assert [one["same"] for one in all_decisions] == [one["decision"] != 3 for one in all_decisions]
    third = all_decisions[2]
    assert third["then"]["ending"] == "answered"
    assert third["now"]["answer"] != third["then"]["played"][:1]
    assert third["now"]["log"] == "asked 3 \x1b[2J\n"
    steps = {one["n"]: one for one in documents(dogana("replay", record, "--json", "--as", 0).stdout)}
    for one in all_decisions:
        step = steps[one["step"]]
        assert (step["seat"], step["action"], step["ms"]) == (0, one["then"]["played"][0], one["then"]["ms"])


def test_from_begins_with_a_later_decision(dogana: Dogana, record: Path, tmp_path: Path) -> None:
    ask = ("replay", record, "--as", 0, "--bot", write_bot(tmp_path), "--unconfined", "--json", "--decision", 4)
    later = documents(dogana(*ask).stdout)
    assert [one["decision"] for one in later] == [*range(4, 4 + len(later))]
    assert all(one["same"] for one in later)


def test_what_a_bot_writes_stands_below_its_decision_and_is_made_visible(
    dogana: Dogana, record: Path, tmp_path: Path
) -> None:
    bot = write_bot(tmp_path, AT_THIRD.replace("SIN", "pass"))
    lines = dogana("replay", record, "--as", 0, "--bot", bot, "--unconfined").stdout.splitlines()[1:-1]
    for number, (line, written) in enumerate(zip(lines[::2], lines[1::2], strict=True), 1):
        assert line.startswith(f"{number:4}  step ")
        assert written == f"      | asked {number} \\x1b[2J"


@pytest.mark.parametrize(
    ("sin", "words"),
    [
        ("sys.exit(4)", "; now it fails, crash: exited with status 4"),
        ("os.kill(os.getpid(), 9)", "; now it fails, crash: was killed by SIGKILL"),
    ],
)
def test_the_failure_of_a_bot_is_reported_at_its_decision_and_ends_the_questions(
    dogana: Dogana, record: Path, tmp_path: Path, sin: str, words: str
) -> None:
    bot = write_bot(tmp_path, AT_THIRD.replace("SIN", sin))
    lines = dogana("replay", record, "--as", 0, "--bot", bot, "--unconfined", status=1).stdout.splitlines()
    decisions = [line for line in lines if "  step " in line]
    assert len(decisions) == 3
    assert words in decisions[2]
    assert re.match(r"2 of \d+ decisions the same; first other answer at step ", lines[-1])


def test_an_illegal_answer_is_reported_and_does_not_end_it(dogana: Dogana, record: Path, tmp_path: Path) -> None:
    bot = write_bot(tmp_path, AT_THIRD.replace("SIN", "return 999"))
    all_decisions = documents(
        dogana("replay", record, "--as", 0, "--bot", bot, "--unconfined", "--json", status=1).stdout
    )
    assert len(all_decisions) > 3
    refused = all_decisions[2]["now"]["refused"]
    assert len(refused) == 3  # a bot is out then
    assert refused[0].startswith("index 999 is not in the list")
    assert [one["same"] for one in all_decisions] == [one["decision"] != 3 for one in all_decisions]


def test_a_bot_that_floods_is_ended_at_its_decision(dogana: Dogana, record: Path, tmp_path: Path) -> None:
    flood = """
import contextlib, os
import grpc
from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub

def messages():
    yield pb.AgentMessage(join=pb.Join(token=os.environ["DOGANA_TOKEN"], protocol=1))
    while True:
        yield pb.AgentMessage(choose=pb.Choose(decision=77))

print("x" * 600_000, flush=True)  # more would be read so slowly that it is late
with grpc.insecure_channel(os.environ["DOGANA_ADDRESS"]) as channel, contextlib.suppress(grpc.RpcError):
    for message in RefereeStub(channel).Play(messages()):
        pass
"""
    bot = write_bot(tmp_path, flood)
    ended = dogana("replay", record, "--as", 0, "--bot", bot, "--unconfined", status=1)
    assert "; now it fails, protocol: it sends more messages than it is asked for" in ended.stdout
    assert len(ended.stdout) < 200_000
    assert "bytes dropped ..." in ended.stdout


@pytest.mark.long
def test_a_fault_of_the_match_is_reported_and_the_question_put(dogana: Dogana, tmp_path: Path) -> None:
    crashing = write_bot(tmp_path, AT_THIRD.replace("SIN", "os._exit(3)"))
    dogana("play", "cargo_noir", crashing, "random", "--seed", 7, "--record", "crash.jsonl", *QUICK, status=3)
    line = dogana("replay", "crash.jsonl", "--as", 0, "--bot", write_bot(tmp_path), "--unconfined", status=1).stdout
    assert re.search(r"   3  step \d+ +OTHER out, crash: exited with status 3; now \w+", line)
    assert "2 of 3 decisions the same" in line


@pytest.mark.long
def test_a_late_answer_would_have_lost_on_time(dogana: Dogana, tmp_path: Path) -> None:
    dogana("play", "cargo_noir", "greedy", "random", "--record", "match.jsonl", "--clock", "600+0/0.5", *QUICK)
    bot = write_bot(tmp_path, AT_THIRD.replace("SIN", "time.sleep(0.7)"))
    ask = ("replay", "match.jsonl", "--as", 0, "--bot", bot, "--unconfined", "--json", "--decision", 3)
    late = documents(dogana(*ask, "--time", "same", status=1).stdout)[0]["now"]
    assert late["late"]
    assert late["ms"] >= 700
    assert len(late["answer"]) == 1


def test_a_sealed_record_is_asked_from_like_any_other(dogana: Dogana, record: Path, tmp_path: Path) -> None:
    shutil.copy(record, tmp_path / "match.jsonl")
    last = read_lines(record)[-1]
    data = sealed(record, (tmp_path / "match.jsonl").read_bytes(), last.data["seed"], last.hash)
    (tmp_path / "sealed.jsonl.zst").write_bytes(zipped(data))
    ended = dogana("replay", "sealed.jsonl.zst", "--as", 0, "--bot", write_bot(tmp_path), "--unconfined")
    assert "decisions the same" in ended.stdout


def test_a_record_that_does_not_hold_is_refused_before_the_bot_is_started(
    dogana: Dogana, record: Path, tmp_path: Path
) -> None:
    bot = write_bot(tmp_path, "open('started', 'w')\n")
    (tmp_path / "cut.jsonl").write_text("".join(record.read_text().splitlines(keepends=True)[:9]))
    ended = dogana("replay", "cut.jsonl", "--as", 0, "--bot", bot, "--unconfined", status=1)
    assert ended.stdout == ""
    assert "line 10: is missing: the record is cut off" in ended.stderr
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--bot", "bot.py"], "--bot needs --as SEAT"),
        (["--as", 7, "--bot", "bot.py"], "there is no seat 7; the seats are 0 to 1"),
        (["--as", 0, "--bot", "bot.py", "--decision", 9999, "--unconfined"], "there is no decision 9999"),
        (["--as", 0, "--bot", "nowhere", "--unconfined"], "there is no file or folder nowhere"),
        (["--as", 0, "--bot", "cmd:", "--unconfined"], "needs a command"),
        (["--as", 0, "--bot", "bot.py", "--at", 3], "leave them out, or --bot"),
        (["--as", 0, "--bot", "bot.py", "--unconfined", "--cpus", 2], "leave out --unconfined"),
        (["--as", 0, "--decision", 2], "go with --bot"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(
    here: Dogana, record: Path, arguments: list[object], problem: str
) -> None:
    said = here("replay", record, *arguments, status=1).stderr.splitlines()
    assert problem in said[-1]
    assert len(said) == 1 + ("unconfined:" in said[0])


def test_a_program_that_is_not_there_is_said_in_one_line(dogana: Dogana, record: Path) -> None:
    words = ("--as", 0, "--bot", "cmd:./nothing", "--unconfined")
    unconfined, problem = dogana("replay", record, *words, status=1).stderr.splitlines()
    assert "unconfined:" in unconfined
    assert "./nothing" in problem


@needs_bubblewrap
@pytest.mark.parametrize("form", mostly_long(["folder", "archive", "program"]))
def test_a_bot_is_taken_as_a_ladder_takes_it_and_runs_in_a_sandbox(
    dogana: Dogana, record: Path, tmp_path: Path, form: str
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "mine.py").write_text(
        f"import os\nassert os.getcwd() == '/bot' and not os.path.exists({str(folder)!r})\n{FIRST}"
    )
    given = folder
    if form == "program":
        given = folder / "mine.py"
    else:
        (folder / "bot.toml").write_text('run = ["python", "mine.py"]\n')
    if form == "archive":
        given = Path(shutil.make_archive(str(tmp_path / "mine"), "zip", folder))
    assert "decisions the same" in dogana("replay", record, "--as", 0, "--bot", given).stdout


@pytest.mark.parametrize("sandbox", [[], pytest.param(["box"], marks=needs_bubblewrap)])
def test_a_debugger_has_the_id_of_the_bots_process_before_the_first_question(
    record: Path, tmp_path: Path, sandbox: list[str]
) -> None:
    bot = write_bot(tmp_path, FIRST.replace("play(", "print('joining', flush=True)\nplay("))
    bot = str(tmp_path / "bot.py") if sandbox else bot
    words = ("replay", record, "--as", 0, "--bot", bot, "--attach", *([] if sandbox else ["--unconfined"]))
    with start(tmp_path, *words, stdin=subprocess.PIPE) as command:
        assert command.stdin is not None
        assert command.stderr is not None
        lines = iter(command.stderr.readline, "")
        said = next(line for line in lines if "attach" in line)
        found = re.fullmatch(r"the bot is process (\d+); attach a debugger, then press Enter\n", said)
        assert found
        assert "bot.py" in Path(f"/proc/{found[1]}/cmdline").read_text()
        out, _ = command.communicate("\n", timeout=patient(60))
        assert re.search(r"(\d+) of \1 decisions the same", out)


def test_attaching_needs_an_input_that_can_be_waited_for(record: Path, tmp_path: Path) -> None:
    bot = write_bot(tmp_path)
    words = ("replay", record, "--as", 0, "--bot", bot, "--attach", "--unconfined")
    with (tmp_path / "bot.py").open() as file, start(tmp_path, *words, stdin=file) as command:
        _, err = command.communicate(timeout=patient(60))
    assert command.returncode == 1
    assert "standard input is a file" in err.splitlines()[-1]
    with start(tmp_path, *words, preexec_fn=lambda: os.close(0)) as closed:
        _, err = closed.communicate(timeout=patient(60))
    assert closed.returncode == 1
    assert "standard input is closed" in err.splitlines()[-1]


def test_ctrl_c_ends_a_bot_that_never_answers(record: Path, tmp_path: Path) -> None:
    hang = "print('mine', os.getpid(), flush=True); open('hangs', 'w').write(str(os.getpid())); time.sleep(3600)"
    bot = write_bot(tmp_path, AT_THIRD.replace("SIN", hang))
    with start(tmp_path, "replay", record, "--as", 0, "--bot", bot, "--unconfined") as command:
        while not ((tmp_path / "hangs").exists() and (tmp_path / "hangs").read_text()):
            assert command.poll() is None
            time.sleep(0.02)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=patient(60))
        assert command.returncode == 128 + signal.SIGINT
        assert "Traceback" not in out + err
    with contextlib.suppress(ProcessLookupError):
        os.kill(int((tmp_path / "hangs").read_text()), 0)
        pytest.fail("the bot is left")


@needs_bubblewrap
def test_nothing_of_a_bot_that_was_taken_in_is_left(
    dogana: Dogana, record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    write_bot(tmp_path)
    dogana("replay", record, "--as", 0, "--bot", "bot.py")
    assert list(scratch.iterdir()) == []
