"""How fast matches are refereed, verified and played in parallel, beside a bare gRPC echo."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import grpc
from house_bots.random_bot import RandomBot

from referee.game import Game
from referee.kit.chance import LiveChance
from referee.live import wire
from referee.live.codec import codec
from referee.live.play import Command, House, play_match
from referee.live.server import RefereeServer
from referee.match.clock import TimeControl
from referee.match.effects import Ask, Decision, Played, Withdraw
from referee.match.machine import Match
from referee.match.plan import MatchPlan
from referee.records.verify import Replay, verify
from referee.registry import find, games, shipped_board
from referee.sandbox.box import Sandbox

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
}


def plan_for(game: Game, seats: int, seed: int) -> MatchPlan:
    """Plan a match at a table with this number of seats."""
    setup = game.setup(seats, {}, shipped_board(game))
    return MatchPlan(game, setup, f"bench{seed}", seed, ["bench"] * seats, TimeControl(600, 1, 60))


@dataclass(frozen=True)
class Refereed:
    """A match over the wire."""

    asked: int
    """Decisions that agents were asked for."""
    seconds: float
    """From the first question to the end."""
    cpu_seconds: float
    """CPU of the referee's process meanwhile, starting agents included."""
    record: Path


async def referee_match(game: Game, seats: int, seed: int, folder: Path) -> Refereed:
    """Play a match of random agents in processes of their own."""
    async with RefereeServer() as server:
        return await _referee_match(server, game, seats, seed, folder)


async def _referee_match(server: RefereeServer, game: Game, seats: int, seed: int, folder: Path) -> Refereed:
    record = folder / f"match{seed}.jsonl"
    agent = Command([sys.executable, "-m", "bench.agent", "random"], ENVIRONMENT, join_seconds=60)
    cpu = time.process_time()
    report = await play_match(plan_for(game, seats, seed), [agent] * seats, server=server, record=record)
    cpu = time.process_time() - cpu
    lines = [line.split() for text in report.logs.values() for line in text.splitlines() if line.startswith("moments")]
    begin = min(float(line[1]) for line in lines)
    end = max(float(line[2]) for line in lines)
    return Refereed(sum(int(line[3]) for line in lines), end - begin, cpu, record)


async def greedy_match(game: Game, style: str, seed: int) -> tuple[float, int]:
    """Return the seconds of a match of greedy agents with the smallest table, from its start on, and how often they were asked.

    Args:
        game: the game.
        style: `greedy`, which answers whole turns where it can, or `singly`.
        seed: of chance.
    """
    agent = Command([sys.executable, "-m", "bench.agent", style], ENVIRONMENT, join_seconds=60)
    async with RefereeServer() as server:
        report = await play_match(
            plan_for(game, game.seat_counts[0], seed), [agent] * game.seat_counts[0], server=server
        )
    asked = [
        int(line.split()[1]) for text in report.logs.values() for line in text.splitlines() if line.startswith("asked")
    ]
    return sum(seat.think_seconds for seat in report.result.seats), sum(asked)


def message_sizes(record: Path) -> tuple[int, int]:
    """Return the mean sizes of a question and of an answer in a match, in bytes."""
    replay = Replay(record, find)
    sizes = []
    before = replay.state.clone()
    played: list[Played] = []
    from referee.match.clock import SeatClock

    clock = SeatClock(TimeControl(600, 1, 60))
    for step in replay:
        legal = before.legal_actions(step.seat)
        if len(legal) > 1:
            decision = Decision(1000, step.seat, before, legal, clock, 0.0, played=played[-6:])
            sizes.append(len(wire.decide(codec(replay.plan.game), decision, labels=False, now=0.0)))
        played.append(Played(step.seat, step.action))
        before = replay.state.clone()
    return sum(sizes) // len(sizes), 9


async def echo_rate(question: int, answer: int, rounds: int) -> float:
    """Round trips per second of a bare bidirectional gRPC stream over a Unix domain socket, both ends asyncio in Python."""
    finished: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    async def handle(_: object, context: Any) -> None:
        data = b"x" * question
        await context.read()
        start = time.perf_counter()
        for _round in range(rounds):
            await context.write(data)
            await context.read()
        finished.set_result(rounds / (time.perf_counter() - start))

    server = grpc.aio.server()
    handler: Any = grpc.stream_stream_rpc_method_handler(handle)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", {"Play": handler}),))
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/echo.sock"
        server.add_insecure_port(address)
        await server.start()
        client = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.agent", "echo", str(answer), env={**ENVIRONMENT, "DOGANA_ADDRESS": address}
        )
        rate = await finished
        await server.stop(0)
        await client.wait()
    return rate


def in_process_match(game: Game, folder: Path) -> Path:
    """Play a match of random house bots in this process; return its record."""
    record = folder / f"{game.name}.jsonl"
    seats = game.seat_counts[-1]
    asyncio.run(play_match(plan_for(game, seats, 1), [House(RandomBot)] * seats, record=record))
    return record


def verify_rate(record: Path, seconds: float = 1.0) -> float:
    """Return the verifications of a record per second."""
    return _rate(lambda: verify(record, find), seconds)


def replay_rate(record: Path, seconds: float = 1.0) -> float:
    """Measure how often per second the match of `in_process_match` is played in this process, without a record."""
    plan = Replay(record, find).plan
    players = [House(RandomBot)] * plan.setup.seats
    return _rate(lambda: asyncio.run(play_match(plan, players)), seconds)


def _rate(work: Callable[[], object], seconds: float) -> float:
    done = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        work()
        done += 1
    return done / (time.perf_counter() - start)


LADDER_BOT = """
import random
from dogana.sdk import play
play(lambda decision: random.randrange(decision.action_count))
"""


def ladder_rate(workers: int, matches: int = 24) -> float:
    """Return the matches per second of `dogana ladder run` over all games, with submitted bots, each in a process of its own."""
    chosen = [word for game in games() for word in ("--game", game)]
    with tempfile.TemporaryDirectory() as folder:
        home = str(Path(folder) / "ladder")
        for number in range(4):
            bot = Path(folder) / f"bot{number}.py"
            bot.write_text(f"# {number}{LADDER_BOT}")
            _ladder("submit", str(bot), "--name", bot.stem, "--author", bot.stem, "--home", home)
        run = ("run", *chosen, "--home", home, "--workers", str(workers), "--unconfined", "--matches")
        _ladder(*run, "1")  # all bots qualify
        before = _counted(home)
        start = time.perf_counter()
        _ladder(*run, str(matches))
        seconds = time.perf_counter() - start
        return (_counted(home) - before) / seconds


def _ladder(*arguments: str) -> str:
    command = [sys.executable, "-m", "ladder", "ladder", *arguments]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout


def _counted(home: str) -> int:
    with contextlib.closing(sqlite3.connect(Path(home) / "ladder.db")) as db:
        return int(db.execute("select count(*) from results").fetchone()[0])


def memory_of_a_match(game: Game, held: int = 40) -> tuple[float, float]:
    """By how many kilobytes each of several matches makes a new process grow: at its start, and when it has been played."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_memory_of_a_match, game.name, held).result()


def _memory_of_a_match(game_name: str, held: int) -> tuple[float, float]:
    game = find(game_name)
    _play_out(_begun(game, held))  # what is loaded at the first match is not the matches'
    gc.collect()
    before = _resident()
    started = [_begun(game, seed) for seed in range(held)]
    at_start = _resident()
    for match in started:
        _play_out(match)
    gc.collect()
    return (at_start - before) / held / 1024, (_resident() - before) / held / 1024


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _begun(game: Game, seed: int) -> tuple[Match, list[Decision]]:
    plan = plan_for(game, game.seat_counts[-1], seed)
    chance = LiveChance(seed)
    match = Match(plan, game.start(plan.setup, chance), chance)
    return match, [effect.decision for effect in match.start(0.0, {}) if isinstance(effect, Ask)]


def _play_out(begun: tuple[Match, list[Decision]]) -> None:
    match, asked = begun
    draw = random.Random(1)
    while match.result is None:
        decision = asked.pop()
        effects = match.choose(decision.seat, decision.number, draw.randrange(len(decision.actions)), 0.0)
        withdrawn = {(effect.seat, effect.number) for effect in effects if isinstance(effect, Withdraw)}
        asked[:] = [one for one in asked if (one.seat, one.number) not in withdrawn]
        asked += [effect.decision for effect in effects if isinstance(effect, Ask)]


async def agent_in(sandbox: Sandbox | None, game: Game, folder: Path) -> tuple[float, float]:
    """Play a match of a Python agent in this folder and a house bot.

    Args:
        sandbox: what confines the agent; None to let it run with our rights.
        game: the game.
        folder: the agent's folder, with a copy of `bench/agent.py`; others must be able to read it.

    Returns:
        The seconds from starting the agent to its first question being in its hands, and those for each question after that.
    """
    agent = Command(["python", "agent.py", "random"], ENVIRONMENT, folder, 60, sandbox)
    async with RefereeServer() as server:
        begin = time.monotonic()
        report = await play_match(plan_for(game, 2, 1), [agent, House(RandomBot)], server=server)
    line = next(line for line in report.logs[0].splitlines() if line.startswith("moments"))
    first, end, asked = map(float, line.split()[1:])
    return first - begin, (end - first) / asked
