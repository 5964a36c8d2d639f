"""How fast matches are refereed and verified, what they take of memory, and what walls and whole turns change; and a bare gRPC echo."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import grpc
from house_bots.greedy import GreedyBot
from house_bots.random_bot import RandomBot

from bench.report import Report
from referee.game import Game
from referee.kit.chance import LiveChance
from referee.live.matches.play import Command, House, play_match
from referee.live.matches.server import RefereeServer
from referee.live.messages import wire
from referee.live.messages.codec import codec
from referee.match.clock import TimeControl
from referee.match.effects import Ask, Decision, Played, Withdraw
from referee.match.machine import Match
from referee.match.plan import MatchPlan
from referee.records.verify import Replay, verify
from referee.registry import find, games, shipped_board
from referee.sandbox.box import CannotIsolate, Sandbox
from referee.sandbox.limits import Limits
from referee.sandbox.walls import build

ROUNDS = 5
ROOT = Path(__file__).resolve().parent.parent
"""The sources that are measured."""
CHECKOUT = ROOT.parent.parent if ROOT.parts[-2:] == ("build", "compiled") else ROOT
"""Where they come from, if they are a copy with compiled rules."""
IMPORTS = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
"""How a Python program in a box imports these sources; what is installed may be another copy."""
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
    begin: float
    """When the first question was read, by the monotonic clock."""
    end: float
    """When the last agent heard the result."""
    record: Path


async def referee_match(server: RefereeServer, game: Game, seats: int, seed: int, folder: Path) -> Refereed:
    """Play a match of random agents in processes of their own."""
    record = folder / f"match{seed}.jsonl"
    agent = Command([sys.executable, "-m", "bench.agent", "random"], ENVIRONMENT, join_seconds=60)
    report = await play_match(plan_for(game, seats, seed), [agent] * seats, server=server, record=record)
    lines = [line.split() for text in report.logs.values() for line in text.splitlines() if line.startswith("moments")]
    begin = min(float(line[1]) for line in lines)
    end = max(float(line[2]) for line in lines)
    return Refereed(sum(int(line[3]) for line in lines), begin, end, record)


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


async def echo(question: int, answer: int, rounds: int, client: str = "echo") -> tuple[float, float]:
    """Ask a bare bidirectional gRPC stream over a Unix domain socket, served by asyncio in Python.

    Args:
        question: how many bytes each question has.
        answer: the same of each answer.
        rounds: how often is asked.
        client: who answers, as `bench/agent.py` says.

    Returns:
        The seconds that all took, and the processor time of this process meanwhile.
    """
    finished: asyncio.Future[tuple[float, float]] = asyncio.get_running_loop().create_future()

    async def handle(_: object, context: Any) -> None:
        data = b"x" * question
        await context.read()
        start, cpu = time.perf_counter(), time.process_time()
        for _round in range(rounds):
            await context.write(data)
            await context.read()
        finished.set_result((time.perf_counter() - start, time.process_time() - cpu))

    server = grpc.aio.server()
    handler: Any = grpc.stream_stream_rpc_method_handler(handle)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", {"Play": handler}),))
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/echo.sock"
        server.add_insecure_port(address)
        await server.start()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.agent", client, str(answer), env={**ENVIRONMENT, "DOGANA_ADDRESS": address}
        )
        took = await finished
        await server.stop(0)
        await process.wait()
    return took


def in_process_match(game: Game, folder: Path) -> Path:
    """Play a match of random house bots in this process; return its record."""
    record = folder / f"{game.name}.jsonl"
    seats = game.seat_counts[-1]
    asyncio.run(play_match(plan_for(game, seats, 1), [House(RandomBot)] * seats, record=record))
    return record


def verify_rate(record: Path, seconds: float = 1.0) -> float:
    """Return the verifications of a record per second of processor time."""
    return _rate(lambda: verify(record, find), seconds)


def replay_rate(record: Path, seconds: float = 1.0) -> float:
    """Measure how often per second of processor time the match of `in_process_match` is played in this process, without a record."""
    plan = Replay(record, find).plan
    players = [House(RandomBot)] * plan.setup.seats
    return _rate(lambda: asyncio.run(play_match(plan, players)), seconds)


def _rate(work: Callable[[], object], seconds: float) -> float:
    """Return how often something is done in a second of this process's time."""
    done = 0
    start = time.process_time()
    while time.process_time() - start < seconds:
        work()
        done += 1
    return done / (time.process_time() - start)


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
    program = f"{IMPORTS}import runpy; runpy.run_path('agent.py', run_name='__main__')"
    agent = Command(["python", "-c", program, "random"], ENVIRONMENT, folder, 60, sandbox)
    async with RefereeServer() as server:
        begin = time.monotonic()
        report = await play_match(plan_for(game, 2, 1), [agent, House(RandomBot)], server=server)
    line = next(line for line in report.logs[0].splitlines() if line.startswith("moments"))
    first, end, asked = map(float, line.split()[1:])
    return first - begin, (end - first) / asked


def paired(ours: Callable[[], float], other: Callable[[], float]) -> tuple[float, float, float]:
    """Measure two things in turn; return the medians and the median of the ratios pair by pair."""
    pairs = [(ours(), other()) for _ in range(ROUNDS)]
    return median(a for a, _ in pairs), median(b for _, b in pairs), median(a / b for a, b in pairs)


def add_rows(report: Report) -> None:
    """Measure records, memory, walls and whole turns."""
    report.section("Matches")
    with tempfile.TemporaryDirectory() as folder:
        _add_verifying(report, Path(folder))
        _add_walls(report, Path(folder))
    _add_whole_turns(report)
    for game in games().values():
        start, played = memory_of_a_match(game)
        report.figure(f"{game.name}: memory of a match", f"{start:.0f} kB at its start, {played:.0f} kB when played")


def _add_verifying(report: Report, folder: Path) -> None:
    """Measure verifying a record beside playing the same match in process, without a wire, a record or a thought."""
    for game in games().values():
        record = in_process_match(game, folder)
        ours, other, ratio = paired(
            lambda: verify_rate(record, 0.5),  # noqa: B023
            lambda: replay_rate(record, 0.5),  # noqa: B023
        )
        report.ratio(
            f"{game.name}: verifying a record",
            f"{ours:.1f} /s of CPU",
            f"playing it in process {other:.1f}",
            ratio,
            0.5,
        )


def _add_whole_turns(report: Report) -> None:
    """Measure what it saves to answer several decisions at once: time charged, and how often greedy agents are asked."""
    for game in games().values():
        if not GreedyBot.plays(game):
            continue
        pairs = [
            (asyncio.run(greedy_match(game, "greedy", seed)), asyncio.run(greedy_match(game, "singly", seed)))
            for seed in range(ROUNDS)
        ]
        seconds = median(whole[0] / single[0] for whole, single in pairs)
        asked, singly = sum(whole[1] for whole, _ in pairs), sum(single[1] for _, single in pairs)
        report.ratio(
            f"{game.name}: whole turns at once, time charged",
            f"asked {asked / ROUNDS:.0f} times",
            f"one by one {singly / ROUNDS:.0f}",
            seconds,
            most=1,
        )


def _add_walls(report: Report, folder: Path) -> None:
    """Measure what the walls of a ladder cost a Python agent: its start, and each question."""
    agent = folder / "agent"
    agent.mkdir(mode=0o755)
    shutil.copy(Path(__file__).with_name("agent.py"), agent)
    kinds = ((0, "start to first question", "ms", 1e3, 1.5), (1, "a question", "µs", 1e6, 1.02))
    try:
        sandbox = build(Limits())
    except CannotIsolate as error:
        for _, what, _, _, most in kinds:
            report.absent(f"a Python agent behind walls: {what}", str(error), most=most)
        return
    game = next(iter(games().values()))
    rounds = [
        (asyncio.run(agent_in(sandbox, game, agent)), asyncio.run(agent_in(None, game, agent)))
        for _ in range(4 * ROUNDS)
    ]
    for number, what, name, unit, most in kinds:
        walls, free = (median(pair[side][number] for pair in rounds) for side in (0, 1))
        ratio = median(walled[number] / unwalled[number] for walled, unwalled in rounds)
        report.ratio(
            f"a Python agent behind walls: {what}",
            f"{walls * unit:.0f} {name}",
            f"unconfined {free * unit:.0f}",
            ratio,
            most=most,
        )
