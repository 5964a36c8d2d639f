"""What asking costs the referee, beside bare gRPC streams with as many bytes: `python -m bench.wire [GAME ...]`.

Beside each match of random agents are two bare streams: one with gRPC's library at both ends, and one that is answered by the
SDK's call, as in matches, so that all that differs is the referee. Half of each stream comes before the match and half after it,
so both have the same seconds, and the rounds go through all tables in turn, so that no table has a slow minute for itself. Processor time is that of this process, with all its threads, from
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
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

from house_bots.greedy import GreedyBot
from rich.console import Console
from rich.table import Table

from bench import matches
from bench.report import Report
from referee.game import Game
from referee.live.matches.play import Command, play_match
from referee.live.matches.server import RefereeServer
from referee.registry import games

ROUNDS = 5
AIM, FURTHER_AIM = 0.6, 0.75
ECHOES = ("echo", "sdk-echo")
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


class Trio(NamedTuple):
    """A match, and bare streams in the same seconds."""

    ours: Asking
    bare: Asking
    by_sdk: Asking


class Sizes(NamedTuple):
    """What a match says how long a bare stream beside it is, and how large its messages are."""

    question: int
    answer: int
    """Mean sizes, in bytes."""
    asked: int
    """How often was asked."""


def play(game: Game, seats: int, seed: int, folder: Path) -> tuple[Asking, Sizes]:
    """Let random agents play; return what was measured, and the sizes of the match."""
    ours, record, count = asyncio.run(asked(game, seats, seed, folder))
    return ours, Sizes(*matches.message_sizes(record), count)


def halves(sizes: Sizes) -> list[tuple[float, float]]:
    """Ask half as often as in a match over each bare stream; return the seconds that took, and the processor time."""
    return [asyncio.run(matches.echo(sizes.question, sizes.answer, _half(sizes), who)) for who in ECHOES]


def beside(game: Game, seats: int, seed: int, folder: Path, last: Sizes) -> tuple[Trio, Sizes]:
    """Play a match between the halves of bare streams that are as large as the match before; return its own sizes, too."""
    before = halves(last)
    ours, sizes = play(game, seats, seed, folder)
    count = 2 * _half(last)
    bare, by_sdk = (
        Asking(count / (one[0] + other[0]), (one[1] + other[1]) / count)
        for one, other in zip(before, halves(last), strict=True)
    )
    return Trio(ours, bare, by_sdk), sizes


def _half(sizes: Sizes) -> int:
    return max(1, sizes.asked // 2)


def compare(chosen: Sequence[Game], rounds: int = ROUNDS) -> list[Compared]:
    """Compare the smallest and the largest table of some games, a round of all of them after the other."""
    tables = [(game, seats) for game in chosen for seats in (game.seat_counts[0], game.seat_counts[-1])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        last = [play(game, seats, 0, folder)[1] for game, seats in tables]
        trios: list[list[Trio]] = [[] for _ in tables]
        for seed in range(1, rounds + 1):
            for at, (game, seats) in enumerate(tables):
                trio, last[at] = beside(game, seats, seed, folder, last[at])
                trios[at].append(trio)
    return [
        _compared(f"{game.name}, {seats} seats, {sizes.question} bytes", found)
        for (game, seats), sizes, found in zip(tables, last, trios, strict=True)
    ]


def _compared(what: str, trios: Sequence[Trio]) -> Compared:
    return Compared(
        what,
        median(one.ours.rate for one in trios),
        median(one.bare.rate for one in trios),
        median(one.ours.rate / one.bare.rate for one in trios),
        median(one.ours.rate / one.by_sdk.rate for one in trios),
        median(one.ours.cpu for one in trios),
        median(one.bare.cpu for one in trios),
    )


def add_rows(report: Report) -> None:
    """Measure round trips beside a bare stream, and the referee's own time for a decision where agents answer whole turns."""
    report.section("Asking")
    gc.freeze()  # as workers do (`referee.live.matches.worker`)
    found = compare(list(games().values()))
    for one in found:
        ours = f"{one.rate:,.0f} round trips/s, {one.cpu * 1e6:.0f} µs of CPU each"
        bare = f"bare gRPC {one.bare_rate:,.0f}, {one.bare_cpu * 1e6:.0f} µs"
        report.ratio(one.what, ours, bare, one.ratio, AIM)
    least = min(found, key=lambda one: one.ratio)
    report.ratio("round trips, the further aim: the least of these", least.what, "bare gRPC", least.ratio, FURTHER_AIM)
    for game in games().values():
        if GreedyBot.plays(game):
            each = median(asyncio.run(played(game, seed)) for seed in range(ROUNDS)) * 1e6
            report.figure(f"{game.name}, whole turns: CPU of the referee for a decision", f"{each:.0f} µs")


def main() -> None:
    """Print the table."""
    table = Table(
        "asked", "ours", "bare gRPC", "ratio", "SDK answers", "CPU", "bare", title=f"load {os.getloadavg()[0]:.1f}"
    )
    gc.freeze()  # as workers do (`referee.live.matches.worker`)
    chosen = [game for game in games().values() if not sys.argv[1:] or game.name in sys.argv]
    for one in compare(chosen):
        rates = (f"{one.rate:,.0f} /s", f"{one.bare_rate:,.0f} /s", f"{one.ratio:.2f}", f"{one.sdk_ratio:.2f}")
        table.add_row(one.what, *rates, f"{one.cpu * 1e6:.0f} µs", f"{one.bare_cpu * 1e6:.0f} µs")
    for game in chosen:
        if GreedyBot.plays(game):
            each = median(asyncio.run(played(game, seed)) for seed in range(ROUNDS)) * 1e6
            table.add_row(f"{game.name}, whole turns: each played", "", "", "", "", f"{each:.0f} µs", "")
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
