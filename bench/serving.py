"""`python -m bench.serving`: what the calls of a served ladder cost at 1,000 and at 100,000 matches of history, with 300 bots.

Real servers and real clients, asked in turn. The record files of matches that were not played are empty.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter
from unittest.mock import patch

from house_bots.random_bot import RandomBot
from rich.console import Console
from rich.table import Table

from bench.ladder import AIM, CLOCK, SIZES, make, name_of
from bench.report import Report
from ladder.archive.key import ladder_key
from ladder.facts.store import Store
from ladder.intake.authors import Authors
from ladder.intake.submission import Inspector
from ladder.model.condition import agree
from ladder.model.match import Match
from ladder.operation.home import Home
from ladder.operation.meter import Allowance
from ladder.play.blocks import Blocks
from ladder.play.playing import announced
from ladder.play.pool import Pool
from ladder.play.running import RunPlan, count, run
from ladder.questions.bots import BotsRequest, ShowRequest
from ladder.questions.changes import RequalifyRequest, RetireRequest
from ladder.questions.info import InfoRequest
from ladder.questions.match import LogRequest, MatchRequest, RecordRequest
from ladder.questions.matches import MatchesRequest, PlayingRequest
from ladder.questions.proof import AuditLogRequest, KeyRequest
from ladder.questions.queue import QueueRequest
from ladder.questions.standings import TopRequest
from ladder.service import server
from ladder.service.beside import serving
from ladder.service.client import RemoteDesk
from ladder.service.login import Login
from referee.live.matches.play import House, play_match
from referee.live.matches.server import Listen
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.registry import find, shipped_board

BOTS = 300
ROUNDS = 15
NEVER_OUT = "bot0"
PLENTY = 1_000_000_000
START = "from the start of a run to its first block"
"""It lists the names of all records once, to remove what is left of those that were being written; so it may grow."""


class Served:
    """A ladder that was made, and a client of its server.

    Attributes:
        entries: how many entries its audit log has.
    """

    def __init__(self, home: Home, desk: RemoteDesk, matches: int, played: Match) -> None:
        self._home = home
        self._desk = desk
        self._old = name_of(matches // 2 + 1)
        self._played = played
        self._bot = played.seats[0].bot
        self._sent = 0
        with Store(home.database, create=False) as store:
            self.entries = sum(1 for _ in store.log_lines())

    def calls(self) -> dict[str, Callable[[], object]]:
        """Return what is measured."""
        desk, bot, match, matches = self._desk, self._bot, self._played.match_id, MatchesRequest
        asked = {
            "Matches": matches(),
            "Matches, 100 of them": matches(limit=100),
            "Matches of a game": matches(game=self._played.condition.game),
            "Matches of a bot": matches(bot=bot),
            "Matches that a bot lost": matches(bot=bot, lost=True),
            "Matches in which a bot was out": matches(bot=bot, out=True),
            "Matches in which it never was": matches(bot=NEVER_OUT, out=True),
            "Matches in which anybody was out": matches(out=True),
            "Matches, further back": matches(before=self._old),
        }
        return {
            "Info": lambda: desk.ask(InfoRequest()),
            "Top": lambda: desk.ask(TopRequest()),
            "Bots": lambda: desk.ask(BotsRequest()),
            "Show": lambda: desk.ask(ShowRequest(bot=bot)),
            "Queue": lambda: desk.ask(QueueRequest()),
            "Key": lambda: desk.ask(KeyRequest()),
            **{what: lambda request=request: desk.ask(request) for what, request in asked.items()},  # type: ignore[misc]
            "Playing": lambda: desk.ask(PlayingRequest()),
            "Match": lambda: desk.ask(MatchRequest(match=match)),
            "Log of a match": lambda: desk.ask(LogRequest(what=match)),
            "Log of a bot": lambda: desk.ask(LogRequest(what=bot)),
            "Record": lambda: b"".join(desk.ask(RecordRequest(match=match)).pieces),
            "Submit": self._submit,
            "Retire and Requalify": lambda: (
                desk.ask(RetireRequest(bot=bot)),
                desk.ask(RequalifyRequest(bot=bot)),
            ),
        }

    def audit_log(self) -> object:
        """Have the audit log."""
        return b"".join(self._desk.ask(AuditLogRequest()).pieces)

    def _submit(self) -> object:
        self._sent += 1
        file = self._home.folder / "bot.py"
        file.write_text(f"print({self._sent})\n")
        return self._desk.submit(file, "sent", "")


def make_home(folder: Path, matches: int) -> tuple[Home, Match]:
    """Make a ladder with so many matches, the last of them played in truth; return that one, too."""
    with make(folder, matches, BOTS) as store:
        home = Home(folder / str(matches))
        ladder_key(home, store)
        for number in range(1, matches + 1):
            record = home.sealed_record(name_of(number))
            record.parent.mkdir(parents=True, exist_ok=True)
            record.touch()
        condition = store.conditions()[1]
        played = Blocks(store, condition, list(find(condition.game).seat_counts)).add(1)
        for number, match in enumerate(played):
            _play(home, store, replace(match, seed=number))  # the same on both ladders
        return home, played[-1]


def _play(home: Home, store: Store, match: Match) -> None:
    game = find(match.condition.game)
    setup = game.setup(len(match.seats), {}, shipped_board(game))
    plan = MatchPlan(
        game, setup, match.match_id, match.seed, match.labels, TimeControl.parse(CLOCK), reveals_seed=False
    )
    record = home.record(match.match_id)
    record.parent.mkdir(parents=True, exist_ok=True)
    report = asyncio.run(play_match(plan, [House(RandomBot)] * len(match.seats), record=record))
    for seat in range(len(match.seats)):
        log = home.log(match.match_id, seat)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("a line\n" * 100)
    count(store, match, report.result, report.record_hash)


@contextmanager
def unlimited() -> Iterator[None]:
    """Let everybody ask as often as they like."""
    with ExitStack() as stack:
        for name in ("REQUESTS", "SUBMISSIONS"):
            stack.enter_context(patch.object(server, name, Allowance("requests", PLENTY, 1)))
        yield


@contextmanager
def served(home: Home, matches: int, played: Match) -> Iterator[Served]:
    """Serve a ladder; yield its client, who is the author of a bot in the match that was played."""
    author = played.seats[0].author
    with Authors(home.database, create=False) as authors:
        token = authors.add(author)
    with (
        unlimited(),
        serving(home, Listen("127.0.0.1:0")) as port,
        RemoteDesk(f"127.0.0.1:{port}", Login(author, token)) as desk,
        announced(home, played, "unix:nowhere"),
    ):
        yield Served(home, desk, matches, played)


class _FirstBlock(Exception):
    """A run has scheduled its first block."""


def first_block(home: Home) -> None:
    """Begin to run a ladder, up to its first match."""

    def play(_: Pool, matches: Iterator[Match]) -> Iterator[None]:
        for match in matches:
            if match.block is not None:
                raise _FirstBlock
        yield from ()

    plan = RunPlan([agree(find("cargo_noir"), {}, None)], None, 1, TimeControl.parse(CLOCK))
    with patch.object(Inspector, "check"), patch.object(Pool, "play", play):
        try:
            with Store(home.database, create=False) as store:
                for _ in run(home, store, plan):
                    pass
        except _FirstBlock:
            return


def compare(sizes: tuple[int, int] = SIZES, rounds: int = ROUNDS) -> Iterator[tuple[str, float, float, float]]:
    """Yield for each call its seconds with the short and the long history, and their ratio: medians."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        made = [make_home(Path(folder), size) for size in sizes]
        short, long = (
            stack.enter_context(served(home, size, one)) for size, (home, one) in zip(sizes, made, strict=True)
        )
        for what in short.calls():
            yield what, *_pairs(short.calls()[what], long.calls()[what], rounds)
        one, other, _ = _pairs(short.audit_log, long.audit_log, max(1, rounds // 5))
        one, other = one / short.entries, other / long.entries
        yield "AuditLog, an entry", one, other, other / one
        yield START, *_pairs(lambda: first_block(made[0][0]), lambda: first_block(made[1][0]), rounds)


def _pairs(one: Callable[[], object], other: Callable[[], object], rounds: int) -> tuple[float, float, float]:
    pairs = [(_timed(one), _timed(other)) for _ in range(rounds)]
    return median(a for a, _ in pairs), median(b for _, b in pairs), median(b / a for a, b in pairs)


def _timed(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def add_rows(report: Report) -> None:
    """Measure what the calls of a served ladder cost with a long history beside a short one."""
    report.section(f"Calls of a served ladder, {BOTS} bots")
    for what, short, long, ratio in compare():
        ours, other = f"{long * 1e3:.3g} ms at {SIZES[1]:,} matches", f"at {SIZES[0]:,} {short * 1e3:.3g} ms"
        report.ratio(what, ours, other, ratio, most=None if what == START else AIM)


def main() -> None:
    """Print the table."""
    table = Table("what", *(f"at {size:,} matches" for size in SIZES), "ratio", "aim", "")
    for what, short, long, ratio in compare():
        judged = ("", "") if what == START else (f"<= {AIM}", "OK" if ratio <= AIM else "SHORT")
        table.add_row(what, f"{short * 1e3:.3g} ms", f"{long * 1e3:.3g} ms", f"{ratio:.2f}", *judged)
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
