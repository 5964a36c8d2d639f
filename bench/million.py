"""The costs of a ladder of a million matches and 1,000 versions, compared with one of 1,000 matches.

The ladders are made once, which takes a few minutes and 2 GB, and are kept. All steps are measured in turn, in processor time.
After 1,000 matches, most of the 1,000 versions have played only three or four. Therefore, the lists of their last matches are
not full yet, and the questions that return such lists miss their aim.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time

from bench.ladder import make, measure, name_of
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

SHORT, MIDDLE, LONG = 1_000, 100_000, 1_000_000
QUICK = (SHORT, 2_000, 3_000)
VERSIONS = 1_000
ROUNDS, BLOCKS = 9, 40
AIM = 1.5
MEMORY_AIM = 1.2
RECOMPUTE_AIM = 1.1
Ask = Callable[[Desk], object]


def questions(matches: int) -> dict[str, Ask]:
    """Return the questions to a ladder with this number of matches, by name."""
    some, ask = name_of(matches // 2 + 1), MatchesRequest
    return {
        "info": lambda desk: desk.ask(InfoRequest()),
        "top": lambda desk: desk.ask(TopRequest()),
        "bots": lambda desk: desk.ask(BotsRequest()),
        "show": lambda desk: desk.ask(ShowRequest(bot="bot7")),
        "compare": lambda desk: desk.ask(CompareRequest(one="bot7", other="bot8")),
        "crosstable": lambda desk: desk.ask(CrosstableRequest(game="cargo_noir")),
        "queue": lambda desk: desk.ask(QueueRequest()),
        "news": lambda desk: desk.ask(NewsRequest()),
        "matches": lambda desk: desk.ask(ask()),
        "matches of a bot": lambda desk: desk.ask(ask(bot="bot7")),
        "matches in which a bot was out": lambda desk: desk.ask(ask(bot="bot7", out=True)),
        "matches, older ones": lambda desk: desk.ask(ask(before=some)),
        "match": lambda desk: desk.ask(MatchRequest(match=some)),
        "log of a match": lambda desk: desk.ask(LogRequest(what=some)),
        "log of a bot": lambda desk: desk.ask(LogRequest(what="bot7")),
        "record": lambda desk: b"".join(desk.ask(RecordRequest(match=some)).pieces),
    }


def ladders(folder: Path, sizes: Sequence[int]) -> list[Home]:
    """Make the ladders that a folder lacks; return all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for size in sizes:
        if not (folder / str(size)).exists():
            make(folder, size, VERSIONS).close()
    return [Home(folder / str(size)) for size in sizes]


def add_rows(report: Report, folder: Path) -> None:
    """Compare the longest ladder with the shortest; make those that the folder lacks."""
    sizes = QUICK if report.quick else (SHORT, MIDDLE, LONG)
    report.section(f"A ladder of {sizes[-1]:,} matches, {VERSIONS:,} versions")
    short, middle, long = zip(ladders(folder, sizes), sizes, strict=True)
    for what, times in compare([short, long], report.rounds(ROUNDS), report.rounds(BLOCKS)):
        add_row(report, what, [time * 1e3 for time in times], "ms", AIM)
    memory_of_questions = [alone("--ask-all", *one)[0] for one in (short, long)]
    add_row(report, "memory of a process that asked all of this", memory_of_questions, "MiB", MEMORY_AIM)
    # This uses the ladder of MIDDLE length, because one of LONG length takes 15 minutes.
    seconds, memory = zip(*(alone("--recompute", *one) for one in (short, middle)), strict=True)
    of = f"of {sizes[1]:,} matches"
    add_row(report, f"recompute, a match, {of}", [each * 1e6 for each in seconds], "µs", RECOMPUTE_AIM)
    add_row(report, f"recompute, memory, {of}", memory, "MiB", MEMORY_AIM)


def add_row(report: Report, what: str, figures: Sequence[float], unit: str, aim: float) -> None:
    """Add a row that compares the figure of the longest ladder with that of the shortest."""
    beside = f"at {SHORT:,} {figures[0]:.3g} {unit}"
    report.ratio(what, f"{figures[-1]:.3g} {unit}", beside, figures[-1] / figures[0], most=aim)


def compare(homes: Sequence[tuple[Home, int]], rounds: int, blocks: int) -> Iterator[tuple[str, list[float]]]:
    """Yield the median seconds of each question, and of each step of a run, on each ladder."""
    for what in questions(0):  # for their names only
        asks = [partial(questions(size)[what], Desk(home)) for home, size in homes]
        took = [[_timed(ask) for ask in asks] for _ in range(rounds)]
        yield what, [median(times) for times in zip(*took, strict=True)]
    stores = [Store(home.database, create=False) for home, _ in homes]
    # `zip` draws a round from each ladder in turn, so all are measured under the same load.
    steps = list(zip(*(measure(store, blocks) for store in stores), strict=True))
    for step in steps[0][0]:
        yield step, [median(one[step] for one in times) for times in zip(*steps, strict=True)]
    for store in stores:
        store.close()


def _timed(ask: Callable[[], object]) -> float:
    start = process_time()
    with suppress(LadderError):  # there are no records and no logs, so the search for them fails
        ask()
    return process_time() - start


def alone(what: str, home: Home, size: int) -> list[float]:
    """Measure one ladder in a separate process; return the figures that this process prints."""
    command = [sys.executable, "-m", "bench.million", what, str(home.folder), str(size)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(figure) for figure in ended.stdout.split()]


def _ask_all(home: Home, size: int) -> list[float]:
    """Ask all questions and play a block; return the memory of this process, in MiB."""
    for ask in questions(size).values():
        _timed(partial(ask, Desk(home)))
    with Store(home.database, create=False) as store:
        next(measure(store, 1))
    return [_mebibytes()]


def _recompute(home: Home, _: int) -> list[float]:
    """Recompute a ladder whose ratings all differ, the worst case. Return the seconds per match, and the memory in MiB."""
    with Store(home.database, create=False) as store:
        start = process_time()
        found = compare_all(home, store, Sample(1, records=1))
        return [(process_time() - start) / found.matches, _mebibytes()]


def _mebibytes() -> float:
    """Return the peak memory of this process in MiB; `getrusage` may report its parent's peak."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)[0]) / 1024


if __name__ == "__main__":
    step, path, count = sys.argv[1:]
    print(*{"--ask-all": _ask_all, "--recompute": _recompute}[step](Home(Path(path)), int(count)))
