"""Standard streams that are closed, and standard error that nobody reads."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.terminal import Remarks
from tests.cases import mostly_long
from tests.commands.conftest import ROOT
from tests.patience import patient

DOGANA = [sys.executable, "-m", "ladder"]
WATCHED = ["play", "cargo_noir", "random", "random", "-o", "last_turn=3", "--watch"]
F_SETPIPE_SZ = 1031
"""Of Linux; `fcntl` has no name for it in every Python."""


def shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `dogana ... REDIRECTION`."""
    return subprocess.run(
        ["/bin/sh", "-c", f'"$@" {redirection}', "sh", *DOGANA, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=patient(120),
    )


@pytest.mark.parametrize("arguments", mostly_long([(["games"],), (WATCHED,), (["games", "--json"],), (["--help"],)], 2))
def test_closed_standard_output_is_said_in_one_line(arguments: list[str]) -> None:
    ended = shell(">&-", *arguments)
    assert (ended.returncode, ended.stderr) == (1, "dogana: standard output: Bad file descriptor\n")


def test_closed_standard_streams_are_not_taken_by_the_next_file(tmp_path: Path) -> None:
    """A record that got number 1 or 2 would have the command's output in it."""
    record = tmp_path / "match.jsonl"
    play = ("play", "cargo_noir", "random", "random", "-o", "last_turn=3", "--record", str(record))
    assert shell("<&- >&- 2>&-", *play).returncode == 1
    lines = record.read_bytes().splitlines()
    assert [json.loads(line)["type"] for line in (lines[0], lines[-1])] == ["header", "seed"]


@pytest.mark.parametrize(
    "arguments",
    mostly_long(
        [
            (words,)
            for words in (
                ["games"],
                WATCHED,
                [*WATCHED[:-1], "--json"],
                ["games", "--json"],
                ["--help"],
                ["rules", "yunnan"],
            )
        ],
        3,
    ),
    ids=" ".join,
)
def test_a_reader_that_has_enough_ends_the_command_quietly(arguments: list[str]) -> None:
    with subprocess.Popen([*DOGANA, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        assert command.stderr.read() == b""
    assert command.returncode == 128 + signal.SIGPIPE


def test_a_referee_whose_standard_error_nobody_reads_plays_on(tmp_path: Path) -> None:
    """Each match brings a bot's last words, more than the pipe takes."""
    (tmp_path / "bot.py").write_text(
        "from dogana.sdk import play\nplay(lambda decision: 1 / 0 if print('x' * 5000) else 1 / 0)\n"
    )
    seat = f"cmd:{sys.executable} {tmp_path / 'bot.py'}"
    play = [*DOGANA, "play", "cargo_noir", seat, "random", "-o", "last_turn=3", "--games", "4", "--json"]
    with subprocess.Popen(play, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as match:
        assert match.stderr is not None
        fcntl.fcntl(match.stderr, F_SETPIPE_SZ, 4096)
        assert match.stdout is not None
        assert len(match.stdout.read().splitlines()) == 4  # its end comes although standard error is full
        assert len(match.stderr.read()) <= 4096


def test_remarks_that_are_dropped_are_counted() -> None:
    reading, writing = os.pipe()
    fcntl.fcntl(writing, F_SETPIPE_SZ, 16384)
    remarks = Remarks(writing)
    for _ in range(40):
        remarks.write("x" * 1000)
    read = os.read(reading, 65536)
    assert 8192 < len(read) <= 16384
    remarks.write("here I am\n")
    assert (
        os.read(reading, 65536).decode()
        == f"... {40_000 - len(read)} bytes were not shown: nobody read them ...\nhere I am\n"
    )
    os.close(reading)
    remarks.write("to nobody\n")  # raises nothing
    os.close(writing)


def test_importing_the_referee_or_the_sdk_changes_no_environment_and_loads_no_grpc() -> None:
    program = (
        "import os, sys\n"
        "before = dict(os.environ)\n"
        "import referee, dogana.sdk\n"
        "assert dict(os.environ) == before\n"
        "assert 'grpc' not in sys.modules\n"
        "import referee.live.matches.server\n"
        "assert not {'GRPC_EXPERIMENTS', 'GRPC_VERBOSITY'} & (os.environ.keys() - before.keys())\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={}, check=True)


def test_the_command_sets_what_grpc_reads_before_it_is_imported() -> None:
    program = (
        "import os, sys, ladder.__main__\n"
        "assert 'grpc' not in sys.modules\n"
        "ladder.__main__._prepare()\n"
        "assert 'grpc' not in sys.modules\n"
        "print(os.environ['GRPC_EXPERIMENTS'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env={}, check=True, capture_output=True, text=True
    )
    assert ended.stdout == "-event_engine_client,-event_engine_listener\n"


def test_an_interrupt_while_the_command_is_imported_ends_it_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("print('importing', flush=True)\ninput()\n")
    with subprocess.Popen(
        [*DOGANA, "games"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as importing:
        assert importing.stdout is not None
        assert importing.stderr is not None
        assert importing.stdout.readline() == "importing\n"
        importing.send_signal(signal.SIGINT)
        assert importing.stderr.read() == ""
    assert importing.returncode == -signal.SIGINT  # a shell calls it 130


def test_the_command_leaves_what_it_imported_to_the_system_at_its_end() -> None:
    """Python would look for cycles in it, which keeps people waiting after Ctrl-C on a busy machine."""
    program = (
        "import atexit, gc, ladder.__main__\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 0))\n"
        "ladder.__main__._prepare()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True)
    assert ended.stdout == "True\n"
