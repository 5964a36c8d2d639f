"""`make bench`: one table of ratios, each with its aim, and a line in bench/history.jsonl."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
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
from referee.sandbox.box import CannotIsolate
from referee.sandbox.limits import Limits
from referee.sandbox.walls import build

HISTORY = Path(__file__).with_name("history.jsonl")
ROUNDS = 5


class Report:
    """The rows of the table: what was measured, the figures, their ratio, the aim, and whether it is met."""

    def __init__(self) -> None:
        self.table = Table("what", "ours", "beside it", "ratio", "aim", "")
        self.ratios: dict[str, float] = {}
        self.short: list[str] = []

    def figure(self, what: str, ours: str) -> None:
        """Add a row that is compared with nothing."""
        self.table.add_row(what, ours, "", "", "", "")

    def ratio(
        self, what: str, ours: str, other: str, ratio: float, least: float | None = None, *, most: float | None = None
    ) -> None:
        """Add a row with a ratio; it is OK or SHORT by its aim, if it has one."""
        aim = verdict = ""
        if least is not None or most is not None:
            bounds = ((">=", least), ("<=", most))
            aim = " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)
            is_met = (least is None or ratio >= least) and (most is None or ratio <= most)
            verdict = "OK" if is_met else "SHORT"
            if not is_met:
                self.short.append(what)
        self.table.add_row(what, ours, other, f"{ratio:.2f}", aim, verdict)
        self.ratios[what] = round(ratio, 3)


def paired(ours: Callable[[], float], other: Callable[[], float]) -> tuple[float, float, float]:
    """Measure two things in turn; return the medians and the median of the ratios pair by pair."""
    pairs = [(ours(), other()) for _ in range(ROUNDS)]
    return median(a for a, _ in pairs), median(b for _, b in pairs), median(a / b for a, b in pairs)


def measure_rules(report: Report) -> None:
    """Measure playouts and clones of every game beside each peer; the aim is at the median peer."""
    try:
        import pyspiel
    except ImportError:
        report.figure("rules beside OpenSpiel", "not measured: pip install 'dogana[bench]'")
        return
    peers = {name: pyspiel.load_game(name) for name in rules.PEERS}
    for game in games().values():
        for what, ours, theirs, least in (
            ("random playouts, decisions/s", rules.playouts, rules.spiel_playouts, 1.0),
            ("clones/s", rules.clones, rules.spiel_clones, 0.5),
        ):
            rounds = [(ours(game), {name: theirs(peer) for name, peer in peers.items()}) for _ in range(ROUNDS)]
            mine = median(rate for rate, _ in rounds)
            for name in peers:
                other, ratio = median(them[name] for _, them in rounds), median(us / them[name] for us, them in rounds)
                report.ratio(f"{game.name}: {what}, {name}", f"{mine:,.0f}", f"{other:,.0f}", ratio)
            ratio = median(us / median(them.values()) for us, them in rounds)
            report.ratio(f"{game.name}: {what}, the median of these", f"{mine:,.0f}", "", ratio, least)
        report.figure(f"{game.name}: legal lists/s", f"{median(rules.legal_lists(game) for _ in range(ROUNDS)):,.0f}")


def measure_round_trips(report: Report, folder: Path) -> None:
    """Measure the referee's round trip beside a bare echo with as many bytes."""
    for game in games().values():
        for seats in (game.seat_counts[0], game.seat_counts[-1]):
            _measure_round_trips(report, folder, game, seats)


def _measure_round_trips(report: Report, folder: Path, game: Game, seats: int) -> None:
    rates, cpu = [], []
    for seed in range(2 * ROUNDS):
        played = asyncio.run(matches.referee_match(game, seats, seed, folder))
        question, answer = matches.message_sizes(played.record)
        bare = asyncio.run(matches.echo_rate(question, answer, played.asked))
        rates.append((played.asked / played.seconds, bare))
        cpu.append(played.cpu_seconds / played.asked)
    ours, bare = median(rate for rate, _ in rates), median(other for _, other in rates)
    ratio = median(rate / other for rate, other in rates)
    name = f"{game.name}, {seats} seats"
    report.ratio(f"{name}: round trips/s, {question} bytes", f"{ours:,.0f}", f"bare echo {bare:,.0f}", ratio, 0.6)
    report.figure(f"{name}: CPU of the referee", f"{median(cpu) * 1e6:,.0f} µs a decision")


def measure_verifying(report: Report, folder: Path) -> None:
    """Measure verifying a record beside playing the same match in process, without a wire, a record or a thought."""
    for game in games().values():
        record = matches.in_process_match(game, folder)
        ours, other, ratio = paired(
            lambda: matches.verify_rate(record, 0.5),  # noqa: B023
            lambda: matches.replay_rate(record, 0.5),  # noqa: B023
        )
        report.ratio(
            f"{game.name}: verifying a record", f"{ours:.1f} /s", f"playing it in process {other:.1f}", ratio, 0.5
        )


def measure_whole_turns(report: Report) -> None:
    """Measure what it saves to answer several decisions at once: time charged, and how often greedy agents are asked."""
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
        report.ratio(
            f"{game.name}: whole turns at once, time charged",
            f"asked {asked / ROUNDS:.0f} times",
            f"one by one {singly / ROUNDS:.0f}",
            seconds,
            most=1,
        )


def measure_ladder(report: Report) -> None:
    """Measure a ladder as it is run: submitted bots in processes of their own, all games, with one worker and with one a core."""
    cores = os.cpu_count() or 1
    ours, other, ratio = paired(lambda: matches.ladder_rate(cores), lambda: matches.ladder_rate(1))
    report.ratio(f"ladder run, {cores} workers", f"{ours:.2f} matches/s", f"1 worker {other:.2f}", ratio, 0.8 * cores)


def measure_matches(report: Report) -> None:
    """Measure the memory of matches, at their start and played, and the start of an agent."""
    for game in games().values():
        start, played = matches.memory_of_a_match(game)
        report.figure(f"{game.name}: memory of a match", f"{start:.0f} kB at its start, {played:.0f} kB when played")


def measure_walls(report: Report, folder: Path) -> None:
    """Measure what the walls of a ladder cost a Python agent: its start, and each question."""
    agent = folder / "agent"
    agent.mkdir(mode=0o755)
    shutil.copy(Path(__file__).with_name("agent.py"), agent)
    try:
        sandbox = build(Limits())
    except CannotIsolate as error:
        report.figure("behind walls", f"not measured: {error}")
        return
    game = next(iter(games().values()))
    rounds = [
        (asyncio.run(matches.agent_in(sandbox, game, agent)), asyncio.run(matches.agent_in(None, game, agent)))
        for _ in range(4 * ROUNDS)
    ]
    for number, what, unit, most in ((0, "start to first question", 1e3, 1.5), (1, "a question", 1e6, 1.02)):
        walls, free = (median(pair[side][number] for pair in rounds) for side in (0, 1))
        ratio = median(walled[number] / unwalled[number] for walled, unwalled in rounds)
        name = "ms" if unit == 1e3 else "µs"
        report.ratio(
            f"a Python agent behind walls: {what}",
            f"{walls * unit:.0f} {name}",
            f"unconfined {free * unit:.0f}",
            ratio,
            most=most,
        )


def measure_clocks(report: Report) -> None:
    """Measure whether bots that answer just before their limit are timed rightly on a loaded machine."""
    found = clocks.measure()
    report.ratio(
        "cores twice oversubscribed: time charged",
        f"{found.charged_seconds:.1f} s",
        f"used {found.own_seconds:.1f} s",
        found.share,
        0.97,
        most=1.03,
    )
    report.ratio(
        "the same: called late though in time",
        f"{found.false_losses}",
        f"of {found.decisions}",
        found.false_losses / found.decisions,
        most=0,
    )
    report.ratio(
        "the same: a sand timer",
        f"{found.timer_seconds:.2f} s",
        f"of {clocks.TIMER_SECONDS:g} s",
        found.timer_seconds / clocks.TIMER_SECONDS,
        0.985,
        most=1.015,
    )


def main() -> None:
    """Measure everything, print the table, and keep the ratios."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        measure_round_trips(report, Path(folder))
        measure_verifying(report, Path(folder))
        measure_walls(report, Path(folder))
    measure_whole_turns(report)
    measure_rules(report)
    measure_matches(report)
    measure_ladder(report)
    measure_clocks(report)
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(report.table)
    console.print(f"{len(report.short)} rows are short of their aim" if report.short else "all rows meet their aims")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)  # noqa: S607
    entry = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "ratios": report.ratios,
        "short": report.short,
    }
    with HISTORY.open("a") as history:
        history.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    main()
