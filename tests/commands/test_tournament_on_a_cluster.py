"""`dogana tournament run --ray`: on the machines of a cluster a tournament comes out as it does on this one, killed or not."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.records.verify import verify
from referee.registry import find
from tests.clusters import Machines, machines
from tests.commands.conftest import Dogana, dogana, start
from tests.commands.test_tournament import played
from tests.patience import patient
from tests.processes import wait_for_work
from tests.sandbox.conftest import needs_bubblewrap

__all__ = ["dogana"]

pytestmark = pytest.mark.ray

GAME = ("--game", "cargo_noir", "-o", "last_turn=3", "--seed", "5")
BOT = """
from dogana.sdk import play
from helper import chosen

play(chosen)
"""
HELPER = "def chosen(decision): return decision.number * {} % decision.action_count\n"
SPY = """
from pathlib import Path
from dogana.sdk import play

if seen := [*Path("/bot").rglob("*.toml"), *Path("/bot").rglob("*.jsonl")]:
    raise SystemExit(f"it sees {seen}")
play(lambda decision: 0)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Machines]:
    """Two machines with a processor each."""
    with machines(2) as found:
        yield found


def digests(cup: Path) -> dict[str, str]:
    """The digest of each verified record: what was played, without how long it took."""
    return {path.stem: verify(path, find).result.digest for path in (cup / "records").glob("*.jsonl")}


def table(cup: Path) -> object:
    return json.loads((cup / "result.json").read_text())["table"]


def test_rounds_come_out_as_they_do_here_also_after_a_kill(cluster: Machines, dogana: Dogana, tmp_path: Path) -> None:
    cup = tmp_path / "cup"
    words = ("greedy", "random", "search:rollouts=1", "--format", "swiss", "--rounds", 2, "--blocks", 3)
    dogana("tournament", "new", "cup", *words, *GAME)
    shutil.copytree(cup, tmp_path / "here")
    played(dogana, "here")
    runs = start(tmp_path, "tournament", "run", "cup", "--ray", cluster.address)
    wait_for_work(runs, lambda: len(list((cup / "records").glob("*.jsonl"))) >= 2, 300)
    runs.send_signal(signal.SIGKILL)
    runs.communicate(timeout=patient(60))
    before = {path: path.stat().st_mtime_ns for path in (cup / "records").glob("*.jsonl")}
    dogana("tournament", "run", "cup", "--ray", cluster.address)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert digests(cup) == digests(tmp_path / "here")
    assert {path.suffix for path in (cup / "records").iterdir()} == {".jsonl"}
    assert table(cup) == table(tmp_path / "here")
    dogana("tournament", "verify", "cup")


@needs_bubblewrap
def test_bots_play_there_with_the_files_of_their_folders(cluster: Machines, dogana: Dogana, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)  # in a sandbox, a bot is another user
    for name, factor in (("ann", 7), ("bob", 3)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(BOT)
        (tmp_path / name / "helper.py").write_text(HELPER.format(factor))
        (tmp_path / name / "bot.toml").write_text('run = ["python3", "bot.py"]\ngames = ["cargo_noir"]\n')
    dogana("tournament", "new", "cup", "ann", "bob", "--blocks", 2, "--isolate", *GAME)
    shutil.copytree(tmp_path / "cup", tmp_path / "here")
    dogana("tournament", "run", "cup", "--ray", cluster.address)
    shutil.move(tmp_path / "cup", tmp_path / "there")
    dogana("tournament", "run", "here")
    assert digests(tmp_path / "there") == digests(tmp_path / "here")
    assert table(tmp_path / "there") == table(tmp_path / "here")


@needs_bubblewrap
def test_nothing_of_the_tournament_goes_to_other_machines(cluster: Machines, dogana: Dogana, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "spy.py").write_text(SPY)
    dogana("tournament", "new", "cup", "greedy", "cmd:python3 spy.py", "--blocks", 1, "--isolate", *GAME)
    dogana("tournament", "run", "cup", "--ray", cluster.address)
    assert len(digests(tmp_path / "cup")) == 2


def test_what_other_machines_cannot_play_is_refused_in_one_line(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    dogana("tournament", "new", "cup", "greedy", "bot.py", "--blocks", 1, *GAME)
    said = dogana("tournament", "run", "cup", "--ray", "local", status=1).stderr
    assert "other machines start commands in a sandbox, " in said
    assert "write isolate = true into cup/tournament.toml, or leave out --ray" in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "cup" / "records").exists()  # it may be changed
