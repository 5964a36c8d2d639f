"""What asking costs the referee, beside bare gRPC streams with as many bytes: `python -m bench.wire [GAME ...]`.

Matches of random agents and two bare streams are measured in turn: one with gRPC's library at both ends, and one that is answered
by the SDK's call, as in matches, so that all that differs is the referee. Processor time is that of this process, with all its threads, from
the first question to the end; starting agents is left out.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

from house_bots.greedy import GreedyBot
from rich.console import Console
from rich.table import Table

from bench import matches
from bench.report import Report
from referee.game import Game
from referee.live.play import Command, play_match
from referee.live.server import RefereeServer
from referee.registry import games

ROUNDS = 5
AIM, FURTHER_AIM = 0.6, 0.75
ECHOES = ("echo", "sdk-echo")
PLAYED_AIM_MICROSECONDS = 156
"""What fastchess, a C++ program that plays chess engines over pipes, takes for each move; measured on this machine."""
_SAMPLE_SECONDS = 0.05
Measured = TypeVar("Measured")


class Asking(NamedTuple):
    """What was measured of one match or one bare stream."""

    rate: float
    """Questions per second."""
    cpu: float
    """Processor time of this process for each, in seconds."""


async def sampled(work: Awaitable[Measured]) -> tuple[Measured, Callable[[float], float]]:
    """Wait for something; return it, and the processor time of this process as a function of the time."""
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


async def asked(game: Game, seats: int, seed: int, folder: Path) -> tuple[Asking, Path, int]:
    """Let random agents play; return what asking them cost, the record, and how often they were asked."""
    async with RefereeServer() as server:
        played, cpu_at = await sampled(matches.referee_match(server, game, seats, seed, folder))
    cpu = cpu_at(played.end) - cpu_at(played.begin)
    return Asking(played.asked / (played.end - played.begin), cpu / played.asked), played.record, played.asked


async def played(game: Game, seed: int) -> float:
    """Let greedy agents play, who answer whole turns; return the referee's processor time for each decision, in seconds."""
    seats = game.seat_counts[0]
    agent = Command([sys.executable, "-m", "bench.agent", "greedy"], matches.ENVIRONMENT, join_seconds=60)
    async with RefereeServer() as server:
        playing = play_match(matches.plan_for(game, seats, seed), [agent] * seats, server=server)
        report, cpu_at = await sampled(playing)
    spans = [line.split() for log in report.logs.values() for line in log.splitlines() if line.startswith("asked")]
    cpu = cpu_at(max(float(line[3]) for line in spans)) - cpu_at(min(float(line[2]) for line in spans))
    return cpu / report.result.decisions


class Compared(NamedTuple):
    """Matches at one table, and bare streams: medians."""

    what: str
    """The table, and the mean size of a question."""
    rate: float
    bare_rate: float
    """Questions per second."""
    ratio: float
    sdk_ratio: float
    """The same beside a bare stream that is answered by the SDK's call."""
    cpu: float
    bare_cpu: float
    """Processor time for each, in seconds."""


def compare(game: Game, rounds: int = ROUNDS) -> Iterator[Compared]:
    """Compare the smallest and the largest table of a game."""
    with tempfile.TemporaryDirectory() as folder:
        for seats in (game.seat_counts[0], game.seat_counts[-1]):
            trios: list[tuple[Asking, Asking, Asking]] = []
            for seed in range(rounds):
                ours, record, count = asyncio.run(asked(game, seats, seed, Path(folder)))
                question, answer = matches.message_sizes(record)
                bare, by_sdk = (
                    Asking(count / took, cpu / count)
                    for took, cpu in (asyncio.run(matches.echo(question, answer, count, who)) for who in ECHOES)
                )
                trios.append((ours, bare, by_sdk))
            yield Compared(
                f"{game.name}, {seats} seats, {question} bytes",
                median(one.rate for one, _, _ in trios),
                median(bare.rate for _, bare, _ in trios),
                median(one.rate / bare.rate for one, bare, _ in trios),
                median(one.rate / by_sdk.rate for one, _, by_sdk in trios),
                median(one.cpu for one, _, _ in trios),
                median(bare.cpu for _, bare, _ in trios),
            )


def add_rows(report: Report) -> None:
    """Measure round trips beside a bare stream, and the referee's time for a decision where agents answer whole turns."""
    report.section("Asking")
    gc.freeze()  # as workers do (`referee.live.worker`)
    found = [one for game in games().values() for one in compare(game)]
    for one in found:
        ours = f"{one.rate:,.0f} round trips/s, {one.cpu * 1e6:.0f} µs of CPU each"
        bare = f"bare gRPC {one.bare_rate:,.0f}, {one.bare_cpu * 1e6:.0f} µs"
        report.ratio(one.what, ours, bare, one.ratio, AIM)
    least = min(found, key=lambda one: one.ratio)
    report.ratio("round trips, the further aim: the least of these", least.what, "bare gRPC", least.ratio, FURTHER_AIM)
    for game in games().values():
        if GreedyBot.plays(game):
            each = median(asyncio.run(played(game, seed)) for seed in range(ROUNDS)) * 1e6
            other = f"fastchess {PLAYED_AIM_MICROSECONDS} µs"
            what = f"{game.name}, whole turns: CPU of the referee for a decision"
            report.ratio(what, f"{each:.0f} µs", other, each / PLAYED_AIM_MICROSECONDS, most=1)


def main() -> None:
    """Print the table."""
    table = Table(
        "asked", "ours", "bare gRPC", "ratio", "SDK answers", "CPU", "bare", title=f"load {os.getloadavg()[0]:.1f}"
    )
    gc.freeze()  # as workers do (`referee.live.worker`)
    for game in games().values():
        if sys.argv[1:] and game.name not in sys.argv:
            continue
        for one in compare(game):
            rates = (f"{one.rate:,.0f} /s", f"{one.bare_rate:,.0f} /s", f"{one.ratio:.2f}", f"{one.sdk_ratio:.2f}")
            table.add_row(one.what, *rates, f"{one.cpu * 1e6:.0f} µs", f"{one.bare_cpu * 1e6:.0f} µs")
        if GreedyBot.plays(game):
            each = median(asyncio.run(played(game, seed)) for seed in range(ROUNDS)) * 1e6
            aim = f"aim {PLAYED_AIM_MICROSECONDS} µs"
            table.add_row(f"{game.name}, whole turns: each played", "", "", "", "", f"{each:.0f} µs", aim)
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
