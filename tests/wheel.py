"""The wheels, with compiled rules and with pure ones, installed as an author of bots would: beside `openai-agents`.

What only the referee needs is not installed there. This needs the package index, a compiler and minutes, so it is not one of
`make test`: `make wheel-test` runs it.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from house_bots.random_bot import RandomBot

from referee.live.matches.play import Command, House, Player, play_match
from referee.live.matches.server import RefereeServer
from referee.match.result import Outcome
from tests.tables import plan_of
from tests.test_packaging import ROOT, build, copy_sources

# What pip prints when it cannot reach the index. Then nothing has been tested, and nothing is wrong here.
UNREACHABLE = re.compile(r"Retrying \(Retry\(|NewConnectionError|NameResolutionError|ConnectTimeoutError|ProxyError")

BOT = """
import importlib.util
import sys

import agents
from agents import Agent, function_tool

from dogana.sdk import Decision, play
from dogana.v1.referee_pb2_grpc import RefereeStub

assert "dogana" not in (agents.__file__ or ""), agents.__file__
for name in ("trueskill", "sqlite_utils", "platformdirs", "grpc_health", "grpc_reflection"):
    assert importlib.util.find_spec(name) is None, f"{name} is installed, so this proves nothing"


@function_tool
def best(count: int) -> int:
    return count - 1


author = Agent(name="author", tools=[best])


def choose(decision: Decision) -> int:
    assert decision.observation.IsInitialized()
    return len(decision.actions) - 1


play(choose, on_end=lambda match, over: print(f"{author.name} saw the end, with {author.tools[0].name}"))
assert not {"referee", "ladder", "house_bots"} & sys.modules.keys()
"""


@pytest.fixture(scope="module", params=["compiled", "pure"])
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel with compiled rules, and one with pure rules."""
    folder = tmp_path_factory.mktemp("wheel")
    copy_sources(folder / "source")
    wheel = build(
        folder / "source", folder / "built", "wheel", {"DOGANA_PURE": "1" if request.param == "pure" else "0"}
    )
    assert wheel.name.endswith("-py3-none-any.whl") == (request.param == "pure")
    return wheel


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a clean environment with a wheel, gRPC, protobuf and `openai-agents`."""
    python = clean_environment(tmp_path_factory.mktemp("environment"))
    install(python, "--no-deps", str(wheel))
    install(python, "grpcio", "protobuf", "openai-agents")
    return python


def clean_environment(folder: Path) -> Path:
    """Make an environment; return its Python."""
    venv.create(folder / "venv", with_pip=True)
    return folder / "venv" / "bin" / "python"


def install(python: Path, *what: str) -> None:
    """Install packages from the index, or skip the test if it cannot be reached."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=python.parent, check=False)
    if ended.returncode != 0 and UNREACHABLE.search(ended.stderr + ended.stdout):
        pytest.skip(f"the package index cannot be reached; to try it: {' '.join(command)}")
    assert ended.returncode == 0, ended.stderr


def test_the_sdk_plays_beside_openai_agents_without_the_referees_dependencies(python: Path, tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(BOT)

    async def match() -> None:
        async with RefereeServer() as server:
            players: list[Player] = [
                Command([str(python), str(bot)], {}, folder=tmp_path, join_seconds=120),
                House(RandomBot),
            ]
            report = await play_match(plan_of(options={"last_turn": 3}), players, server=server)
            assert report.result.seats[0].outcome is Outcome.PLAYED, report.logs[0]
            assert "author saw the end, with best" in report.logs[0]

    asyncio.run(match())


def test_the_commands_of_an_installed_wheel_play_and_verify(wheel: Path, tmp_path: Path) -> None:
    """With the dependencies that pip chooses, and no constraints; `openai-agents` comes later."""
    python = clean_environment(tmp_path)
    install(python, str(wheel))
    install(python, "openai-agents")
    rules = "pure Python" if wheel.name.endswith("-py3-none-any.whl") else "compiled"
    for command, arguments, said in (
        ("dogana", ["--version"], f"(rules: {rules})"),
        (
            "dogana-arena",
            ["play", "cargo_noir", "random", "greedy", "--seed", "7", "--record", "match.jsonl"],
            "played",
        ),
        ("dogana", ["verify", "match.jsonl"], "match.jsonl"),
    ):
        ended = subprocess.run(
            [python.with_name(command), *arguments], capture_output=True, text=True, cwd=tmp_path, env={}, check=False
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        assert said in ended.stdout


def test_the_messages_can_be_compiled_from_the_installed_files(python: Path, tmp_path: Path) -> None:
    """With the commands of docs/writing_a_bot.md."""
    page = (ROOT / "docs" / "writing_a_bot.md").read_text()
    [program] = re.findall(r"\$ root=\$\(python -c '(.*)'\)", page)
    found = subprocess.run([python, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    root = Path(found.stdout.strip())
    assert python.parents[1] in root.parents
    files = sorted(str(path.relative_to(root)) for path in root.rglob("*.proto"))
    assert files == sorted(str(path.relative_to(ROOT / "proto")) for path in (ROOT / "proto").rglob("*.proto"))
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"-I{root}",
        f"--descriptor_set_out={tmp_path / 'all'}",
        *files,
    ]
    subprocess.run(command, check=True)


PLAYS = """
from referee.kit.chance import FastChance
from referee.playout import random_playout
from referee.registry import games, rules_are_compiled, shipped_board

for game in games().values():
    random_playout(game.start(game.setup(2, {}, shipped_board(game)), FastChance(1)), FastChance(1))
print("compiled" if rules_are_compiled() else "pure", random_playout.__module__, games()["yunnan"].__class__.__module__)
"""


def test_the_rules_of_a_wheel_play_compiled_or_not_as_its_name_says(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "wheel")
    ended = subprocess.run(
        [sys.executable, "-c", PLAYS], cwd=tmp_path / "wheel", env={}, capture_output=True, text=True, check=True
    )
    rules = "pure" if wheel.name.endswith("-py3-none-any.whl") else "compiled"
    assert ended.stdout == f"{rules} referee.playout referee.games.yunnan\n"


def test_without_a_compiler_the_rules_stay_pure_and_one_line_says_why(tmp_path: Path) -> None:
    copy_sources(tmp_path / "source")
    ended = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "built")],
        cwd=tmp_path / "source",
        env={**os.environ, "CC": "no-such-compiler"},
        capture_output=True,
        text=True,
        check=True,
    )
    [wheel] = (tmp_path / "built").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    said = [line for line in (ended.stdout + ended.stderr).splitlines() if "pure Python" in line]
    assert len(said) == 1
    assert "no-such-compiler" in said[0]
