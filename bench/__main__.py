"""`make bench`: one table of ratios, and a line in bench/history.jsonl."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from house_bots.greedy import GreedyBot
from rich.console import Console
from rich.table import Table

from bench import clocks, matches, rules
from referee.game import Game
from referee.registry import games

HISTORY = Path(__file__).with_name("history.jsonl")
ROUNDS = 5


class Report:
    """Rows of the table: what was measured, the figures, the ratio, and what is aimed at."""

    def __init__(self) -> None:
        self.table = Table("what", "ours", "beside it", "ratio", "aim")
        self.figures: dict[str, float] = {}

    def row(self, what: str, ours: str, other: str = "", ratio: float | None = None, aim: str = "") -> None:
        """Adds a row; ratios go into the history."""
        self.table.add_row(what, ours, other, "" if ratio is None else f"{ratio:.2f}", aim)
        if ratio is not None:
            self.figures[what] = round(ratio, 3)


def paired(ours: Callable[[], float], other: Callable[[], float]) -> tuple[float, float, float]:
    """Measures the two in turn; returns the medians and the median of the ratios pair by pair."""
    pairs = [(ours(), other()) for _ in range(ROUNDS)]
    return median(a for a, _ in pairs), median(b for _, b in pairs), median(a / b for a, b in pairs)


def measure_rules(report: Report) -> None:
    """Playouts and clones of every game beside OpenSpiel's gin rummy."""
    try:
        import pyspiel
    except ImportError:
        report.row("rules beside OpenSpiel", "not measured: pip install 'dogana[bench]'")
        return
    rummy = pyspiel.load_game("gin_rummy")
    for game in games().values():
        ours, other, ratio = paired(lambda: rules.playouts(game), lambda: rules.spiel_playouts(rummy))  # noqa: B023
        report.row(
            f"{game.name}: random playouts", f"{ours:,.0f} decisions/s", f"gin rummy {other:,.0f}", ratio, ">= 1.5"
        )
        report.row(f"{game.name}: legal lists", f"{median(rules.legal_lists(game) for _ in range(ROUNDS)):,.0f} /s")
        ours, other, ratio = paired(lambda: rules.clones(game), lambda: rules.spiel_clones(rummy))  # noqa: B023
        report.row(f"{game.name}: clones", f"{ours:,.0f} /s", f"gin rummy {other:,.0f}", ratio)


def measure_round_trips(report: Report, folder: Path) -> None:
    """The referee's round trip beside a bare echo with as many bytes, and verification beside play."""
    for game in games().values():
        for seats in (game.seat_counts[0], game.seat_counts[-1]):
            _measure_round_trips(report, folder, game, seats)


def _measure_round_trips(report: Report, folder: Path, game: Game, seats: int) -> None:
    rates, cpu, verified = [], [], []
    for seed in range(2 * ROUNDS):
        played = asyncio.run(matches.referee_match(game, seats, seed, folder))
        question, answer = matches.message_sizes(played.record)
        bare = asyncio.run(matches.echo_rate(question, answer, played.asked))
        rates.append((played.asked / played.seconds, bare))
        cpu.append(played.cpu_seconds / played.asked)
        verified.append(matches.verify_rate(played.record, 0.2) * played.seconds)
    ours, bare = median(rate for rate, _ in rates), median(other for _, other in rates)
    ratio = median(rate / other for rate, other in rates)
    name = f"{game.name}, {seats} seats"
    report.row(
        f"{name}: round trip, {question} bytes", f"{ours:,.0f} decisions/s", f"bare echo {bare:,.0f}", ratio, ">= 0.6"
    )
    report.row(f"{name}: CPU of the referee", f"{median(cpu) * 1e6:,.0f} µs a decision")
    report.row(f"{name}: verifying a record", "", "playing it over the wire", median(verified), ">= 10")


def measure_whole_turns(report: Report) -> None:
    """What it saves to answer several decisions at once: the time that greedy agents are charged, and how often they are asked."""
    for game in games().values():
        if not GreedyBot.plays(game):
            continue
        pairs = [
            (
                asyncio.run(matches.greedy_match(game, "greedy", seed)),
                asyncio.run(matches.greedy_match(game, "singly", seed)),
            )
            for seed in range(ROUNDS)
        ]
        seconds = median(whole[0] / single[0] for whole, single in pairs)
        asked, singly = sum(whole[1] for whole, _ in pairs), sum(single[1] for _, single in pairs)
        report.row(
            f"{game.name}: whole turns at once, time charged",
            f"asked {asked / ROUNDS:.0f} times",
            f"one by one {singly / ROUNDS:.0f}",
            seconds,
        )


def measure_matches(report: Report) -> None:
    """Matches on all cores beside one, memory, and the start of an agent."""
    game = next(iter(games().values()))
    cores = os.cpu_count() or 1
    ours, other, ratio = paired(
        lambda: matches.matches_per_second(game, cores), lambda: matches.matches_per_second(game, 1)
    )
    report.row(f"matches on {cores} cores", f"{ours:.1f} /s", f"on one {other:.1f} /s", ratio, ">= 1.6 on 2")
    report.row("memory of a match", f"{matches.memory_of_a_match(game):.0f} kB")
    start = median(asyncio.run(matches.start_of_an_agent(game)) for _ in range(ROUNDS))
    report.row("start of a Python agent to its first question", f"{start * 1000:.0f} ms")


def measure_clocks(report: Report) -> None:
    """Whether bots that answer just before their limit are timed rightly on a loaded machine."""
    found = clocks.measure()
    report.row(
        "clock, cores twice oversubscribed: time charged",
        f"{found.charged_seconds:.1f} s",
        f"used {found.own_seconds:.1f} s",
        found.share,
        "0.97 to 1.03",
    )
    report.row("the same: called late though in time", f"{found.false_losses} of {found.decisions}", aim="0")


def main() -> None:
    """Measures everything, prints the table, and keeps the ratios."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        measure_round_trips(report, Path(folder))
    measure_whole_turns(report)
    measure_rules(report)
    measure_matches(report)
    measure_clocks(report)
    Console(width=None if sys.stdout.isatty() else 130).print(report.table)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)  # noqa: S607
    entry = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "ratios": report.figures,
    }
    with HISTORY.open("a") as history:
        history.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    main()
