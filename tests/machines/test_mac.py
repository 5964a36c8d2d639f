"""On macOS, as far as it can be simulated: everything works but the sandbox, and a command that needs it says what to do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.sandbox.system import parent
from tests.machines.conftest import BOT, ROOT, Mac, environment
from tests.patience import wait_until
from tests.processes import is_running

PYTHON = sys.executable
LEAVES_PROCESSES = f"""
import os, subprocess, sys

ORPHAN = "import os, time; open('orphan', 'w').write(str(os.getpid())); time.sleep(600)"
AWAY = "import os, time; os.setsid(); open('away', 'w').write(str(os.getpid())); time.sleep(600)"
subprocess.run(["sh", "-c", 'exec 1>&-; "$@" &', "sh", sys.executable, "-c", ORPHAN])
subprocess.Popen([sys.executable, "-c", AWAY])
open("agent", "w").write(str(os.getpid()))
while not all(os.path.exists(name) and os.path.getsize(name) for name in ("orphan", "away")):
    pass
{BOT}
"""
"""Its first process has lost its parent; the second one is in a session of its own."""
NAMES = ("agent", "orphan", "away")


def have_begun(folder: Path) -> bool:
    return all((folder / name).exists() and (folder / name).stat().st_size for name in NAMES)


def pids(folder: Path) -> list[int]:
    return [int((folder / name).read_text()) for name in NAMES]


def test_the_simulation_takes_away_what_macos_lacks(tmp_path: Path) -> None:
    script = """
import ctypes, os, select, socket, sys
from pathlib import Path
print(sys.platform, hasattr(os, "pidfd_open"), hasattr(select, "epoll"), hasattr(socket, "SO_PEERCRED"))
print(hasattr(ctypes.CDLL(None), "prctl"), Path("/proc").exists(), Path("/proc/self/stat").exists(), Path("/dev/null").exists(), flush=True)
import subprocess
subprocess.run([sys.executable, "-I", "-S", "-c", "import sys; print(sys.platform)"])
"""
    ended = subprocess.run(
        [PYTHON, "-c", script], env=environment("mac", tmp_path), capture_output=True, text=True, check=True
    )
    assert ended.stdout.split("\n")[:2] == ["darwin False False False", "False False False True"]
    assert "darwin" in ended.stdout.split("\n")[2], "supervisors of agents start like this"


def test_matches_are_played_verified_and_looked_at(mac: Mac, tmp_path: Path) -> None:
    assert "yunnan" in mac("games").stdout
    mac("play", "cargo_noir", "mybot.py", "greedy", "--seed", 7, "-o", "last_turn=3", "--record", "match.jsonl")
    assert "holds  match.jsonl" in mac("verify", "match.jsonl").stdout
    assert mac("replay", "match.jsonl").stdout
    mac("replay", "match.jsonl", "--html", "match.html")
    position = mac("replay", "match.jsonl", "--at", 5, "--json").stdout
    (tmp_path / "position.json").write_text(position)
    mac("position", "position.json")
    again = mac("replay", "match.jsonl", "--as", 0, "--bot", f"cmd:{PYTHON} mybot.py", status=1)  # it plays by chance
    assert again.stderr == "the bot runs unconfined: with your rights on this machine\n"


def test_a_series_is_played_by_workers(mac: Mac) -> None:
    words = ("cargo_noir", "greedy", f"cmd:{PYTHON} mybot.py", "--games", 2, "--workers", 2, "--seed", 1, "--json")
    assert [json.loads(line) for line in mac("play", *words).stdout.splitlines()]


def test_nothing_that_an_agent_has_started_is_left(mac: Mac, tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text(LEAVES_PROCESSES)
    mac("play", "cargo_noir", f"cmd:{PYTHON} leaves.py", "greedy", "--seed", 7)
    left = {name for name, pid in zip(NAMES, pids(tmp_path), strict=True) if is_running(pid)}
    os.kill(pids(tmp_path)[-1], signal.SIGKILL)
    assert left == {"away"}, "what has left its session and lost its parent is nobody's"


def test_nothing_is_left_of_an_agent_whose_referee_is_killed(tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text(LEAVES_PROCESSES.replace(BOT, "import time\ntime.sleep(600)\n"))
    words = ["play", "cargo_noir", f"cmd:{PYTHON} leaves.py", "greedy"]
    with subprocess.Popen(
        [PYTHON, "-m", "ladder", *words], cwd=tmp_path, env=environment("mac", tmp_path), stderr=subprocess.DEVNULL
    ) as play:
        wait_until(lambda: have_begun(tmp_path))
        play.kill()
    wait_until(lambda: not any(map(is_running, pids(tmp_path))))


@pytest.mark.long
def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text(LEAVES_PROCESSES.replace(BOT, "import time\ntime.sleep(600)\n"))
    seats = [f"cmd:{PYTHON} leaves.py", "greedy"]
    words = ["play", "cargo_noir", *seats, "--games", "2", "--workers", "1", "--wait", "600"]
    with subprocess.Popen(
        [PYTHON, "-m", "ladder", *words], cwd=tmp_path, env=environment("mac", tmp_path), stderr=subprocess.DEVNULL
    ) as play:
        wait_until(lambda: have_begun(tmp_path))
        supervisor = parent(pids(tmp_path)[0])
        worker = parent(supervisor or 0)
        assert worker
        play.kill()
    wait_until(lambda: not is_running(worker) and not any(map(is_running, pids(tmp_path))))


@pytest.mark.long
def test_walls_are_refused_in_one_line_that_says_what_has_them(mac: Mac) -> None:
    needs = (
        "dogana: bots cannot be isolated here (Linux: the sandbox needs it, and this is macOS);"
        " use WSL2, a container or a server (docs/installing.md)"
    )
    isolated = mac("play", "cargo_noir", f"cmd:{PYTHON} mybot.py", "greedy", "--isolate", status=1)
    assert isolated.stderr == f"{needs}; or leave out --isolate if you trust the bots\n"
    mac("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "ladder")
    refused = mac("ladder", "run", "--game", "cargo_noir", "--matches", 1, "--home", "ladder", status=1)
    assert refused.stderr == f"{needs}; or say --unconfined if you trust all bots\n"
    served = mac("ladder", "serve", "--listen", "127.0.0.1:0", "--home", "ladder", status=1)
    assert f'{needs.removeprefix("dogana: ")}; or say --unconfined if you trust all bots"' in served.stderr
    assert served.stderr.count("\n") == 1
    [line] = mac("doctor", status=1).stdout.splitlines()
    assert line.startswith(
        "This machine cannot run strangers' bots, because the sandbox around them needs Linux, and this is macOS"
    )
    assert "use WSL2, a container or a server" in line
    assert json.loads(mac("doctor", "--json", status=1).stdout) == {"enough": False, "verdict": line, "measures": []}


def test_limits_that_nothing_would_enforce_are_refused(mac: Mac) -> None:
    refused = mac("check", "mybot.py", "--memory", 256, status=1)
    assert (
        refused.stderr
        == "dogana: --memory, --tasks and --cpus are for the sandbox; leave them out: macOS has no sandbox\n"
    )


@pytest.mark.long
def test_a_ladder_of_ones_own_bots_runs(mac: Mac) -> None:
    mac("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "ladder")
    mac("ladder", "run", "--game", "cargo_noir", "--matches", 1, "--workers", 2, "--home", "ladder", "--unconfined")
    assert "mybot" in mac("ladder", "top", "cargo_noir", "--home", "ladder").stdout


def test_a_program_for_macos_is_a_seat(mac: Mac, tmp_path: Path) -> None:
    program = tmp_path / "mybot"
    program.write_bytes(b"\xcf\xfa\xed\xfe" + bytes(100))
    program.chmod(0o755)
    printed = mac("play", "cargo_noir", "./mybot", "greedy", status=1).stderr
    assert "Exec format error" in printed, "this machine is no Mac"


@pytest.mark.long
def test_a_bot_is_begun_in_each_language(mac: Mac, tmp_path: Path) -> None:
    for language in ("python", "go", "rust", "java", "typescript", "cpp"):
        mac("new", f"bot-{language}", "--language", language)
        assert (tmp_path / f"bot-{language}" / "README.md").exists()


def test_the_forward_model_searches(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "forward_model.md").read_text()
    first = page.partition("```python\n")[2].partition("```")[0]
    subprocess.run([PYTHON, "-c", first], env=environment("mac", tmp_path), check=True, stdout=subprocess.DEVNULL)


@pytest.mark.ladders
def test_a_check_says_what_it_has_not_tried(mac: Mac) -> None:
    checked = mac("check", "mybot.py", "--game", "cargo_noir")
    assert checked.stderr.startswith("the bot runs unconfined, with your rights on this machine; not tried: ")
    assert checked.stderr.count("\n") == 1
    lines = {line.split()[1]: line.split()[0] for line in checked.stdout.splitlines() if line.startswith("  ")}
    assert lines["runs"] == "reported", "whether it runs in the sandbox is what the step is about"
    assert [name for name, came in lines.items() if came == "skipped"] == [
        "architecture", "slow-start", "dropped", "memory", "processor",
    ]  # fmt: skip
    assert lines["no-leftovers"] == "passed"
