"""`dogana play --isolate` and `dogana doctor`, in real boxes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands.conftest import Dogana
from tests.sandbox.conftest import needs_bubblewrap

pytestmark = needs_bubblewrap
RANDOM = "import random\nfrom dogana.sdk import play\nplay(lambda decision: random.randrange(decision.action_count))\n"
QUICK = ("--option", "last_turn=2", "--option", "first_player=0")


def agent(folder: Path, text: str = RANDOM) -> None:
    """Write an agent into a folder that others can read, as folders of people mostly are."""
    folder.chmod(0o755)
    (folder / "bot.py").write_text(text)


def test_started_agents_play_in_a_sandbox(dogana: Dogana, tmp_path: Path) -> None:
    agent(tmp_path)
    (tmp_path / "secret").write_text("x")
    ended = dogana("play", "cargo_noir", "cmd:python bot.py", "cmd:python bot.py", "--isolate", "--json", *QUICK)
    assert [seat["outcome"] for seat in json.loads(ended.stdout)["seats"]] == ["played", "played"]


def test_a_series_is_isolated_in_all_its_workers(dogana: Dogana, tmp_path: Path) -> None:
    agent(tmp_path, f"import os\nassert os.getcwd() == '/bot' and not os.path.exists('/bot/../home')\n{RANDOM}")
    ended = dogana(
        "play", "cargo_noir", "cmd:python bot.py", "random", "--isolate", "--games", 2, "--workers", 2, "--json", *QUICK
    )  # fmt: skip
    assert [json.loads(line)["seats"][0]["outcome"] for line in ended.stdout.splitlines()] == ["played"] * 2


def test_a_limit_that_is_reached_is_named(dogana: Dogana, tmp_path: Path) -> None:
    agent(tmp_path, RANDOM.replace("play(", "kept = b'x' * (600 << 20)\nplay("))
    ended = dogana("play", "cargo_noir", "cmd:python bot.py", "random", "--isolate", "--memory", 128, *QUICK, status=1)
    assert "out of memory at 128 MiB before it joined" in ended.stderr or "MemoryError" in ended.stderr


def test_a_program_outside_of_the_box_is_not_found(dogana: Dogana, tmp_path: Path) -> None:
    agent(tmp_path)
    ended = dogana("play", "cargo_noir", "cmd:./nothing", "random", "--isolate", *QUICK, status=1)
    assert "./nothing" in ended.stderr
    assert "No such file or directory" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_limits_need_a_sandbox(here: Dogana) -> None:
    ended = here("play", "cargo_noir", "random", "random", "--memory", 128, status=1)
    assert ended.stderr == "dogana: --memory, --tasks, --cpus, --no-pondering and --runtime are for --isolate\n"


def test_a_runtime_is_a_folder_with_programs(here: Dogana) -> None:
    for name, problem in (("nowhere", "is not a folder"), (".", "has no folder bin"), ("/", "more than a runtime")):
        ended = here("play", "cargo_noir", "random", "random", "--isolate", "--runtime", name, status=1)
        assert problem in ended.stderr
        assert len(ended.stderr.splitlines()) == 1


def test_a_runtime_elsewhere_can_be_offered(dogana: Dogana, tmp_path: Path) -> None:
    agent(tmp_path)
    (tmp_path / "opt" / "bin").mkdir(parents=True)
    runner = tmp_path / "opt" / "bin" / "runner"
    runner.write_text("#!/bin/sh\nexec python bot.py\n")
    runner.chmod(0o755)
    ended = dogana(
        "play", "cargo_noir", "cmd:runner", "random", "--isolate", "--runtime", tmp_path / "opt", "--json", *QUICK
    )
    assert json.loads(ended.stdout)["seats"][0]["outcome"] == "played"


def test_doctor_prints_which_measures_hold(dogana: Dogana) -> None:
    printed = dogana("doctor").stdout
    assert "system calls" in printed
    assert printed.startswith("This machine can run strangers' bots")
    report = json.loads(dogana("doctor", "--json").stdout)
    assert report["enough"]
    assert {"name", "stands", "says", "fix", "is_needed", "means", "commands"} == report["measures"][0].keys()
