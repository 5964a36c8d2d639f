"""The cost of a question for the referee, compared with bare gRPC streams of the same size.

Half of a bare stream is measured before each match of random agents and half after it, so that both meet the same load. Each round
goes through all tables, so that a slow minute affects several tables. Processor time is that of this process with all its threads,
from the first question to the end; it does not include starting the agents.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import grpc
from house_bots.greedy import GreedyBot

from bench.matches import ENVIRONMENT, plan_for
from bench.report import Report
from referee.game import Game
from referee.live.matches.play import Command, MatchReport, play_match
from referee.live.matches.server import RefereeServer
from referee.live.messages import wire
from referee.live.messages.codec import codec
from referee.match.clock import SeatClock, TimeControl
from referee.match.effects import Decision, Played
from referee.records.verify import Replay
from referee.registry import find, games

ROUNDS = 5
AIM = 0.6
ANSWER_BYTES = 9
_SAMPLE_SECONDS = 0.05
Measured = TypeVar("Measured")


class Asking(NamedTuple):
    """The measurements of one match or one bare stream."""

    rate: float
    """Questions per second."""
    cpu: float
    """Processor time of this process per question, in seconds."""


class Sizes(NamedTuple):
    """The size of a match, for the bare stream beside it."""

    question: int
    """The mean size of a question, in bytes."""
    questions: int
    """The number of questions."""


async def sampled(work: Awaitable[Measured]) -> tuple[Measured, Callable[[float], float]]:
    """Await a result; return it, and a function that returns the processor time that this process had used at a given time."""
    times: list[float] = []
    used: list[float] = []

    async def sample() -> None:
        while True:
            times.append(time.monotonic())
            used.append(time.process_time())
            await asyncio.sleep(_SAMPLE_SECONDS)

    sampling = asyncio.create_task(sample())
    done = await work
    sampling.cancel()
    times.append(time.monotonic())
    used.append(time.process_time())

    def at(moment: float) -> float:
        after = min(max(1, bisect_left(times, moment)), len(times) - 1)
        share = (moment - times[after - 1]) / (times[after] - times[after - 1])
        return used[after - 1] + min(1.0, max(0.0, share)) * (used[after] - used[after - 1])

    return done, at


async def _match(
    game: Game, seats: int, seed: int, style: str, record: Path | None = None
) -> tuple[MatchReport, float, float, list[list[str]]]:
    """Play a match of `bench.agent`; return its report, its seconds and processor time, and the times that the agents printed."""
    agent = Command([sys.executable, "-m", "bench.agent", style], ENVIRONMENT, join_seconds=60)
    async with RefereeServer() as server:
        playing = play_match(plan_for(game, seats, seed), [agent] * seats, server=server, record=record)
        report, cpu_at = await sampled(playing)
    lines = [line.split() for log in report.logs.values() for line in log.splitlines() if line.startswith("moments")]
    begin, end = min(float(line[1]) for line in lines), max(float(line[2]) for line in lines)
    return report, end - begin, cpu_at(end) - cpu_at(begin), lines


def play(game: Game, seats: int, seed: int, folder: Path) -> tuple[Asking, Sizes]:
    """Let random agents play; return the measurements, and the size of the match."""
    record = folder / f"{game.name}{seats}.jsonl"
    record.unlink(missing_ok=True)
    _, seconds, cpu, lines = asyncio.run(_match(game, seats, seed, "random", record))
    count = sum(int(line[3]) for line in lines)
    return Asking(count / seconds, cpu / count), Sizes(_mean_question(record), count)


def whole_turns(game: Game, seed: int) -> float:
    """Let greedy agents play whole turns at a time; return the referee's processor seconds for each decision."""
    report, _, cpu, _ = asyncio.run(_match(game, game.seat_counts[0], seed, "greedy"))
    return cpu / report.result.decisions


def _mean_question(record: Path) -> int:
    """Return the mean size of a question in a match, in bytes."""
    replay = Replay(record, find)
    clock = SeatClock(TimeControl(600, 1, 60))
    sizes, before = [], replay.state.clone()
    played: list[Played] = []
    for step in replay:
        legal = before.legal_actions(step.seat)
        if len(legal) > 1:  # a single legal action is played without a question
            decision = Decision(1000, step.seat, before, legal, clock, 0.0, played=played[-6:])
            sizes.append(len(wire.decide(codec(replay.plan.game), decision, labels=False, now=0.0)))
        played.append(Played(step.seat, step.action))
        before = replay.state.clone()
    return sum(sizes) // len(sizes)


def half(sizes: Sizes) -> tuple[float, float]:
    """Ask half of a match's questions over a bare stream; return the seconds, and the processor time."""
    return asyncio.run(_echo(sizes.question, _half_of(sizes)))


def _half_of(sizes: Sizes) -> int:
    return max(1, sizes.questions // 2)


async def _echo(question: int, rounds: int) -> tuple[float, float]:
    """Send questions of this size over a gRPC stream from an asyncio server on a Unix domain socket.

    Return the times as `half` does.
    """
    finished: asyncio.Future[tuple[float, float]] = asyncio.get_running_loop().create_future()

    async def handle(_: object, context: Any) -> None:
        data = b"x" * question
        await context.read()  # the agent has started, so its start is left out
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
        words = [sys.executable, "-m", "bench.agent", "echo", str(ANSWER_BYTES)]
        process = await asyncio.create_subprocess_exec(*words, env={**ENVIRONMENT, "DOGANA_ADDRESS": address})
        ended = asyncio.create_task(process.wait())
        await asyncio.wait((finished, ended), return_when=asyncio.FIRST_COMPLETED)
        await server.stop(0)
        if not finished.done():
            raise RuntimeError(f"the echo agent ended before the last question, with status {await ended}")
        await ended
    return finished.result()


class Compared(NamedTuple):
    """The medians for matches at one table and for bare streams, measured at the same time."""

    table: str
    """The table, with the mean size of a question."""
    ours: Asking
    bare: Asking
    ratio: float
    """The median ratio of the rates, pair by pair."""


def compare(chosen: Sequence[Game], rounds: int = ROUNDS) -> list[Compared]:
    """Compare the smallest and the largest table of the chosen games, in rounds over all of them."""
    tables = [(game, seats) for game in chosen for seats in (game.seat_counts[0], game.seat_counts[-1])]
    pairs: list[list[tuple[Asking, Asking]]] = [[] for _ in tables]
    with tempfile.TemporaryDirectory() as name:
        # Bare streams have the sizes of the previous round's match; these matches serve as the round before the first.
        last = [play(*table, 0, Path(name))[1] for table in tables]
        for seed in range(1, rounds + 1):
            for at, table in enumerate(tables):
                before = half(last[at])
                ours, sizes = play(*table, seed, Path(name))
                after, count = half(last[at]), 2 * _half_of(last[at])
                pairs[at].append((ours, Asking(count / (before[0] + after[0]), (before[1] + after[1]) / count)))
                last[at] = sizes
    return [
        Compared(f"{game.name}, {seats} seats, {sizes.question} bytes", *_medians(found))
        for (game, seats), sizes, found in zip(tables, last, pairs, strict=True)
    ]


def _medians(pairs: Sequence[tuple[Asking, Asking]]) -> tuple[Asking, Asking, float]:
    ours, bare = (
        Asking(median(one.rate for one in side), median(one.cpu for one in side)) for side in zip(*pairs, strict=True)
    )
    return ours, bare, median(one.rate / other.rate for one, other in pairs)


def add_rows(report: Report) -> None:
    """Compare round trips with a bare stream, and measure the referee's time for a decision of agents that answer whole turns."""
    report.section("Asking")
    gc.freeze()  # as workers do (`referee.live.matches.worker`)
    for table, ours, bare, ratio in compare(list(games().values()), report.rounds(ROUNDS)):
        figure = f"{ours.rate:,.0f} round trips/s, {ours.cpu * 1e6:.0f} µs of CPU each"
        report.ratio(table, figure, f"bare gRPC {bare.rate:,.0f}, {bare.cpu * 1e6:.0f} µs", ratio, AIM)
    for game in games().values():
        if GreedyBot.plays(game):
            each = median(whole_turns(game, seed) for seed in range(report.rounds(ROUNDS))) * 1e6
            report.figure(f"{game.name}, whole turns: CPU of the referee for a decision", f"{each:.0f} µs")
