"""`python -m bench.million [--recompute] [FOLDER]`: what a ladder of a million matches and 1,000 versions costs, beside smaller ones.

Ladders are made with SQL in FOLDER, which takes some minutes and 2 GB, and stay there; those that are there are used. All steps
are measured in turn, in seconds of CPU. With 1,000 matches most of the 1,000 versions have played three or four, so what lists
their last ones is not full yet, and such a question is short of its aim; with 100,000 it is, as the column "since full" shows.

With --recompute it is measured instead what a comparison takes for each match, to the end: a quarter of an hour with a million.
There are no records, so only one is looked for. All ratings differ from those that follow, which is the worst case.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time

from rich.console import Console
from rich.table import Table

from bench.ladder import AIM, make, measure, name_of
from bench.report import Report
from ladder.archive.recompute import Sample
from ladder.archive.recompute import compare as compare_all
from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.bots import BotsRequest, ShowRequest
from ladder.questions.comparing import CompareRequest, CrosstableRequest
from ladder.questions.desk import Desk
from ladder.questions.info import InfoRequest
from ladder.questions.match import LogRequest, MatchRequest, RecordRequest
from ladder.questions.matches import MatchesRequest
from ladder.questions.news import NewsRequest
from ladder.questions.queue import QueueRequest
from ladder.questions.standings import TopRequest

SIZES = (1_000, 100_000, 1_000_000)
VERSIONS = 1_000
ROUNDS = 9
MEMORY_AIM = 1.2
RECOMPUTE_AIM = 1.1
RECOMPUTED = (("recompute, a match", "µs", 1e6, RECOMPUTE_AIM), ("recompute, memory", "MiB", 1, MEMORY_AIM))
Ask = Callable[[Desk], object]


def questions(matches: int) -> dict[str, Ask]:
    """Return what is asked of a ladder with so many matches."""
    some, ask = name_of(matches // 2 + 1), MatchesRequest
    lists = {
        "matches": ask(),
        "matches, 100 of them": ask(limit=100),
        "matches of a game": ask(game="cargo_noir"),
        "matches of a bot": ask(bot="bot7"),
        "matches that a bot lost": ask(bot="bot7", lost=True),
        "matches in which a bot was out": ask(bot="bot7", out=True),
        "the last one in which a bot was out": ask(bot="bot7", out=True, limit=1),
        "matches in which it never was": ask(bot="bot0", out=True),
        "matches in which anybody was out": ask(out=True),
        "matches, older ones": ask(before=some),
        "matches, newer ones": ask(after=some),
    }
    return {
        "info": lambda desk: desk.ask(InfoRequest()),
        "top": lambda desk: desk.ask(TopRequest()),
        "bots": lambda desk: desk.ask(BotsRequest()),
        "show": lambda desk: desk.ask(ShowRequest(bot="bot7")),
        "compare": lambda desk: desk.ask(CompareRequest(one="bot7", other="bot8")),
        "crosstable": lambda desk: desk.ask(CrosstableRequest(game="cargo_noir")),
        "queue": lambda desk: desk.ask(QueueRequest()),
        "news": lambda desk: desk.ask(NewsRequest()),
        "news of a bot": lambda desk: desk.ask(NewsRequest(bot="bot7")),
        **{what: partial(_listed, request) for what, request in lists.items()},
        "match": lambda desk: desk.ask(MatchRequest(match=some)),
        "match, by the beginning of its id": lambda desk: desk.ask(MatchRequest(match=some[:12])),
        "log of a match": lambda desk: desk.ask(LogRequest(what=some)),
        "log of a bot": lambda desk: desk.ask(LogRequest(what="bot7")),
        "record": lambda desk: b"".join(desk.ask(RecordRequest(match=some)).pieces),
    }


def _listed(request: MatchesRequest, desk: Desk) -> object:
    return desk.ask(request)


def ladders(folder: Path) -> list[Home]:
    """Make the ladders that are not in a folder yet."""
    for size in SIZES:
        if not (folder / str(size)).exists():
            make(folder, size, VERSIONS).close()
    return [Home(folder / str(size)) for size in SIZES]


def add_rows(report: Report, folder: Path) -> None:
    """Measure it for `make bench`, with the ladders that are in a folder, or are made there: the longest beside the shortest."""
    report.section(f"A ladder of {SIZES[-1]:,} matches, {VERSIONS:,} versions")
    folder.mkdir(parents=True, exist_ok=True)
    homes = ladders(folder)
    for what, times in compare(homes):
        _add_row(report, what, [time * 1e3 for time in times], "ms", AIM)
    [kept] = zip(*(alone("--ask-all", *one) for one in zip(homes, SIZES, strict=True)), strict=True)
    _add_row(report, "memory of a process that asked all of this", kept, "MiB", MEMORY_AIM)
    compared = [
        alone("--recompute-all", *one) for one in zip(homes[:2], SIZES[:2], strict=True)
    ]  # a million: 15 minutes
    for (what, unit, scale, aim), (short, long) in zip(RECOMPUTED, zip(*compared, strict=True), strict=True):
        ours, beside = f"{long * scale:.3g} {unit}", f"at {SIZES[0]:,} {short * scale:.3g} {unit}"
        report.ratio(f"{what}, of {SIZES[1]:,} matches", ours, beside, long / short, most=aim)


def _add_row(report: Report, what: str, figures: Sequence[float], unit: str, aim: float) -> None:
    beside = f"at {SIZES[0]:,} {figures[0]:.3g} {unit}"
    report.ratio(what, f"{figures[-1]:.3g} {unit}", beside, figures[-1] / figures[0], most=aim)


def compare(homes: list[Home]) -> Iterator[tuple[str, list[float]]]:
    """Yield for each question its seconds on each ladder: medians."""
    for what in questions(0):
        asks = [questions(size)[what] for size in SIZES]
        took = [
            [_timed(partial(ask, Desk(home))) for ask, home in zip(asks, homes, strict=True)] for _ in range(ROUNDS)
        ]
        yield what, [median(times) for times in zip(*took, strict=True)]
    stores = [Store(home.database, create=False) for home in homes]
    steps = list(zip(*map(measure, stores), strict=True))
    for step in steps[0][0]:
        yield step, [median(one[step] for one in times) for times in zip(*steps, strict=True)]
    for store in stores:
        store.close()


def _timed(ask: Callable[[], object]) -> float:
    start = process_time()
    with suppress(LadderError):  # there are no records and no logs: they are looked for in vain
        ask()
    return process_time() - start


def alone(what: str, home: Home, size: int) -> list[float]:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "bench.million", what, str(home.folder), str(size)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(figure) for figure in ended.stdout.split()]


def _ask_all(home: Home, size: int) -> Iterator[float]:
    for ask in questions(size).values():
        _timed(partial(ask, Desk(home)))
    with Store(home.database, create=False) as store:
        next(measure(store))
    yield _mebibytes()


def _recompute(home: Home, _: int) -> Iterator[float]:
    with Store(home.database, create=False) as store:
        start = process_time()
        found = compare_all(home, store, Sample(1, records=1))
        yield (process_time() - start) / found.matches
    yield _mebibytes()


def _mebibytes() -> float:
    """Return how many MiB this process has had at most; what `getrusage` says may be its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)[0]) / 1024


ALONE = {"--ask-all": _ask_all, "--recompute-all": _recompute}


def _add(table: Table, what: str, unit: str, figures: Sequence[float], aim: float, digits: int = 0) -> None:
    """Add a row, judged by what the longest history takes beside the shortest; beside the one before it is only told."""
    ratio, since_full = figures[-1] / figures[0], figures[-1] / figures[-2]
    judged = "OK" if ratio <= aim else "SHORT"
    shown = (f"{figure:.{digits}f} {unit}" for figure in figures)
    table.add_row(what, *shown, f"{ratio:.2f}", f"{since_full:.2f}", f"<= {aim}", judged)


def main() -> None:
    """Print the table."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ALONE:
        print(*ALONE[arguments[0]](Home(Path(arguments[1])), int(arguments[2])))
        return
    of_recompute = arguments[:1] == ["--recompute"]
    folder = arguments[of_recompute:]
    with tempfile.TemporaryDirectory() as scratch:
        homes = ladders(Path(folder[0] if folder else scratch))
        table = Table("what", *(f"{size:,}" for size in SIZES), "ratio", "since full", "aim", "")
        if of_recompute:
            measured = [alone("--recompute-all", home, size) for home, size in zip(homes, SIZES, strict=True)]
            of_a_match, memory = zip(*measured, strict=True)
            _add(table, "recompute, a match", "us", [took * 1e6 for took in of_a_match], RECOMPUTE_AIM)
        else:
            for what, times in compare(homes):
                _add(table, what, "ms", [time * 1e3 for time in times], AIM, digits=2)
            [memory] = zip(*(alone("--ask-all", *one) for one in zip(homes, SIZES, strict=True)), strict=True)
        _add(table, "memory", "MiB", memory, MEMORY_AIM)
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
