"""An agent in Go, generated from proto/ by that language's plugins, plays whole matches: the wire is not Python's."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from house_bots.random_bot import RandomBot

from ladder.conformance.exercises import run
from ladder.conformance.rehearsal import JOIN_SECONDS, Course, Patience, Verdict
from ladder.conformance.rehearsal import Outcome as Judged
from ladder.conformance.scripts import steps_for
from referee.game import Game
from referee.live.matches.play import Command, House, Player, play_match
from referee.live.matches.server import RefereeServer
from referee.match.result import Outcome, Result
from referee.registry import find, games
from referee.sandbox.limits import Limits
from referee.sandbox.walls import build
from tests.patience import patient
from tests.sandbox.conftest import needs_bubblewrap
from tests.tables import plan_of

GO = Path(__file__).resolve().parents[2] / "agents" / "go"

pytestmark = [
    pytest.mark.kits,
    pytest.mark.skipif(
        shutil.which("go") is None, reason="Go is not installed; Debian: apt-get install golang-go (1.22 or newer)"
    ),
]


@pytest.fixture(scope="module")
def agent(pytestconfig: pytest.Config) -> Path:
    """The agent's program, built if a source is newer: by one of pytest-xdist's workers, while the others wait."""
    program = GO / "bin" / "agent"
    sources = [*GO.glob("*.go"), *GO.glob("go.*"), GO / "build.sh", *(GO.parents[1] / "proto").rglob("*.proto")]
    program.parent.mkdir(exist_ok=True)
    with (program.parent / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists() or program.stat().st_mtime < max(path.stat().st_mtime for path in sources):
            capture: Any = pytestconfig.pluginmanager.getplugin("capturemanager")
            with capture.global_and_fixture_disabled():
                print("\nbuilding agents/go; the first time this takes minutes", file=sys.stderr, flush=True)
            subprocess.run(["sh", "build.sh"], cwd=GO, check=True, env={**os.environ, "PYTHON": sys.executable})  # noqa: S607
    return program


def play(game: Game, *players: Player) -> tuple[Result, str]:
    async def match() -> tuple[Result, str]:
        async with RefereeServer() as server:
            report = await play_match(plan_of(game, len(players)), players, server=server)
            return report.result, report.logs[0]

    return asyncio.run(asyncio.wait_for(match(), patient(120)))


@pytest.mark.parametrize("game", games().values(), ids=lambda game: game.name)
def test_it_plays_every_game_at_the_largest_table(agent: Path, game: Game) -> None:
    seats = game.seat_counts.stop - 1
    result, log = play(game, *[Command([str(agent)], {})] * (seats - 1), House(RandomBot))
    assert {seat.outcome for seat in result.seats} == {Outcome.PLAYED}
    assert f"over: {result.digest}" in log


def test_it_understands_the_typed_actions_of_a_game(agent: Path) -> None:
    """It buys whatever it can, so it beats `random` over a few matches."""
    game = find("cargo_noir")
    scores = [0, 0]
    for _ in range(4):
        result, _ = play(game, Command([str(agent)], {}), House(RandomBot))
        for seat in result.seats:
            scores[seat.seat] += seat.score
    assert scores[0] > scores[1]


@needs_bubblewrap
def test_it_conforms_but_for_what_only_whole_matches_show(agent: Path, tmp_path: Path) -> None:
    shutil.copy(agent, tmp_path / "bot")
    tmp_path.chmod(0o755)
    game = find("cargo_noir")
    course = Course(Command(["./bot"], {}, tmp_path, JOIN_SECONDS, build(Limits())), [game], Patience(), tmp_path)
    wanted = [step.name for step in steps_for([game]) if step.heading in ("start", "answers", "compatibility", "end")]
    failed: list[Verdict] = []
    asyncio.run(
        run(course, lambda verdict: failed.append(verdict) if verdict.outcome is Judged.FAILED else None, wanted)
    )
    assert not failed
