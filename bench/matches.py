"""How fast matches are refereed, verified and played in parallel, beside a bare gRPC echo."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import grpc
from house_bots.random_bot import RandomBot

from referee.game import Game
from referee.live import wire
from referee.live.codec import codec
from referee.live.play import Command, House, play_match
from referee.live.server import RefereeServer
from referee.match.clock import TimeControl
from referee.match.effects import Decision, Played
from referee.match.plan import MatchPlan
from referee.records.verify import Replay, verify
from referee.registry import find, shipped_board

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def plan_for(game: Game, seats: int, seed: int) -> MatchPlan:
    """A match at a table of so many seats."""
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
    """Plays a match of random agents in processes of their own."""
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
    """Seconds of a match of greedy agents with the smallest table, from its start on, and how often they were asked.

    Args:
        game: the game.
        style: `greedy`, which answers whole turns where it can, or `singly`.
        seed: the luck.
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
    """The mean sizes of a question and of an answer in a match, in bytes."""
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


def verify_rate(record: Path, seconds: float = 1.0) -> float:
    """Verifications of a record per second."""
    done = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        verify(record, find)
        done += 1
    return done / (time.perf_counter() - start)


def play_for(game_name: str, seconds: float) -> int:
    """Plays refereed matches for so long, in this process; returns how many."""

    async def matches() -> int:
        game = find(game_name)
        played = 0
        agent = Command([sys.executable, "-m", "bench.agent", "random"], ENVIRONMENT, join_seconds=60)
        async with RefereeServer() as server:
            start = time.perf_counter()
            while time.perf_counter() - start < seconds:
                await play_match(plan_for(game, 2, played), [agent, House(RandomBot)], server=server)
                played += 1
        return played

    return asyncio.run(matches())


def matches_per_second(game: Game, workers: int, seconds: float = 4.0) -> float:
    """Refereed matches per second, agents' processes included, with so many referees at work."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return sum(pool.map(play_for, [game.name] * workers, [seconds] * workers)) / seconds


def memory_of_a_match(game: Game) -> float:
    """By how many kilobytes each of 200 matches that are held at once makes this process grow."""
    from referee.kit.chance import LiveChance
    from referee.match.machine import Match

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    held = []
    before = resident()
    for seed in range(200):
        plan = plan_for(game, game.seat_counts.stop - 1, seed)
        chance = LiveChance(seed)
        match = Match(plan, game.start(plan.setup, chance), chance)
        match.start(0.0, {})
        held.append(match)
    return (resident() - before) / len(held) / 1024


async def start_of_an_agent(game: Game) -> float:
    """Seconds from starting a Python agent to its first question being in its hands."""
    async with RefereeServer() as server:
        begin = time.monotonic()
        agent = Command([sys.executable, "-m", "bench.agent", "random"], ENVIRONMENT, join_seconds=60)
        report = await play_match(plan_for(game, 2, 1), [agent, House(RandomBot)], server=server)
    line = next(line for line in report.logs[0].splitlines() if line.startswith("moments"))
    return float(line.split()[1]) - begin
