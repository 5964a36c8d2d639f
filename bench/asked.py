"""Whether matches are timed as well while a served ladder is asked as fast as clients can: the same bots, quiet and asked in turn.

`python -m bench.asked` prints the figures, `python -m bench.asked pages` those while browsers look at its pages instead.
The bots answer shortly before their limit, and say how long they took.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import quantiles

from bench import agent
from bench.clocks import MARGINS_MS, Decided, compare
from bench.report import Report
from ladder.facts.chronicle import Chronicle
from ladder.facts.standings import requalify
from ladder.intake.submission import submit
from ladder.operation.errors import Forbidden, LadderError, NotFound
from ladder.operation.home import Home
from ladder.questions.match import MatchRequest
from ladder.questions.matches import MatchesRequest
from ladder.questions.queue import QueueRequest
from ladder.questions.standings import TopRequest
from ladder.service.client import RemoteDesk
from ladder.service.login import Login
from referee.records.record import read_lines

CLIENTS = 8
MATCHES = 4
"""How many matches are played at least in each phase."""
ROUNDS = 2
WORKERS = 2
CLOCK = "0+0.3/0.3"
MAX_SECONDS = 300.0
"""When a phase ends whatever happens."""
PAGES = ("/", "/games/cargo_noir", "/games/cargo_noir/matches", "/bots", "/bots/greedy", "/api/v1/standings")
"""What browsers look at, in turn."""
_SERVER = """
import sys
from ladder.commands import cli
from ladder.service import server
from ladder.operation.meter import Allowance
server.REQUESTS = Allowance("requests", 1_000_000_000, 1)
cli.main()
"""


@dataclass
class Phase:
    """What was seen while the ladder was quiet, or asked.

    Attributes:
        decided: the decisions that stayed in time by the bots' own clocks.
        wall_seconds: how long all seats were waited for.
        lag_seconds: for how much of it the referee was late.
        answer_ms: how long each answer to a client took, in milliseconds.
        seconds: how long it all took.
    """

    decided: list[Decided]
    wall_seconds: float = 0.0
    lag_seconds: float = 0.0
    answer_ms: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def share(self) -> float:
        """How much of the time that was truly used was charged."""
        return sum(one.charged_seconds for one in self.decided) / sum(one.own_seconds for one in self.decided)

    @property
    def late(self) -> int:
        """How many of them the referee called late."""
        return sum(one.is_late for one in self.decided)


@contextmanager
def _served(home: Home) -> Iterator[tuple[str, str]]:
    """Serve a ladder in a process of its own, without limits; yield its address, and that of its pages."""
    words = ["ladder", "serve", "--home", str(home.folder), "--listen", "127.0.0.1:0", "--game", "cargo_noir"]
    words += ["--web", "127.0.0.1:0"]
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, *words, "--clock", CLOCK, "--workers", str(WORKERS), "--unconfined"],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            address = ""
            for line in process.stderr:
                if found := re.search(r"listening.*?([a-z0-9.]+:[1-9]\d*)", line):
                    address = found[1]
                if found := re.search(r"pages.*?([a-z0-9.]+:[1-9]\d*)/", line):
                    threading.Thread(target=process.stderr.read).start()  # so that it never waits for us
                    yield address, found[1]
                    return
            raise LadderError("the ladder was not served")
        finally:
            process.terminate()


def ask(address: str) -> None:
    """Ask one question after the other, until the server or this process is ended; print how long each answer took."""
    with suppress(LadderError), RemoteDesk(address, Login()) as desk:
        last = ""
        questions: list[Callable[[], object]] = [
            lambda: desk.ask(TopRequest(game="cargo_noir")),
            lambda: desk.ask(QueueRequest()),
            lambda: desk.ask(MatchRequest(match=last)) if last else None,
        ]
        while True:
            for question in questions:
                began = time.perf_counter()
                try:
                    question()
                except (NotFound, Forbidden):  # its block is not over
                    continue
                _print_ms(began)
            began = time.perf_counter()
            found = desk.ask(MatchesRequest(limit=20)).matches
            _print_ms(began)
            last = found[-1].match if found else ""


def browse(address: str) -> None:
    """Look at one page after the other in the same way."""
    # An address of our own, since what programs may ask for is limited by address.
    connection = HTTPConnection(address, source_address=(f"127.0.{os.getpid() % 250 + 1}.2", 0))
    with suppress(OSError, HTTPException):
        while True:
            for page in PAGES:
                began = time.perf_counter()
                connection.request("GET", page, headers={"Accept-Encoding": "gzip"})
                answer = connection.getresponse()
                answer.read()
                if answer.status != HTTPStatus.OK:
                    raise SystemExit(f"{page}: {answer.status}")
                _print_ms(began)


def _print_ms(began: float) -> None:
    print(f"{(time.perf_counter() - began) * 1000:.2f}")


def _play(home: Home, what: str, *, clients: int) -> Phase:
    """Let matches be played, with so many clients asking meanwhile, or looking at pages if that is what they do."""
    began = time.monotonic()
    known = _played(home)
    with Chronicle(home.database, create=False) as chronicle:
        for version in chronicle.versions().values():
            if version.author != "house":
                try:
                    requalify(chronicle, [version])
                except LadderError:  # it needs no second chance
                    continue
    with _served(home) as (desk, pages), ExitStack() as files:
        words = [sys.executable, "-m", "bench.asked", what, pages if what == "pages" else desk]
        outputs = [files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(clients)]
        asking = [subprocess.Popen(words, stdout=output) for output in outputs]
        while len(_played(home) - known) < MATCHES and time.monotonic() < began + MAX_SECONDS:
            time.sleep(0.5)
        phase = Phase([], seconds=time.monotonic() - began)
        for client, output in zip(asking, outputs, strict=True):
            client.send_signal(signal.SIGINT)
            client.wait()
            output.seek(0)
            phase.answer_ms += map(float, output.read().split())
    for match in _played(home) - known:
        lines = [line.data for line in read_lines(home.find_record(match))]
        result = next(line for line in lines if line["type"] == "result")
        phase.wall_seconds += sum(seat["wall_ms"] for seat in result["seats"]) / 1000
        phase.lag_seconds += sum(seat["lag_ms"] for seat in result["seats"]) / 1000
        logs = {int(path.stem.removeprefix("seat")): path.read_text() for path in home.logs(match).glob("seat*.log")}
        phase.decided += compare(logs, lines)
    return phase


def _played(home: Home) -> set[str]:
    with Chronicle(home.database, create=False) as chronicle:
        return {match.match_id for match in chronicle.all_played()}


def measure(what: str, rounds: int = ROUNDS) -> tuple[Phase, Phase]:
    """Return what was seen while the ladder was quiet, and while it was asked, or its pages were looked at."""
    source = "import random\nimport time\nfrom dogana.sdk import Decision, play\n"
    source += inspect.getsource(agent.play_on_the_brink)
    quiet, asked = Phase([]), Phase([])
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        for margin in MARGINS_MS:
            file = Path(folder) / "bot.py"
            file.write_text(f"{source}\nplay_on_the_brink({margin / 1000})\n")
            submit(home, file, f"brink{margin}", f"author{margin}", "bench")
        for _ in range(rounds):
            for whole, clients in ((quiet, 0), (asked, CLIENTS)):
                phase = _play(home, what, clients=clients)
                whole.decided += phase.decided
                whole.wall_seconds += phase.wall_seconds
                whole.lag_seconds += phase.lag_seconds
                whole.answer_ms += phase.answer_ms
                whole.seconds += phase.seconds
    return quiet, asked


def add_rows(report: Report) -> None:
    """Measure whether bots are timed as well while a served ladder is asked as fast as clients can."""
    report.section(f"A served ladder that {CLIENTS} clients ask")
    quiet, busy = measure("questions", rounds=1)
    ours = f"{busy.share:.4f} at {len(busy.answer_ms) / busy.seconds:.0f} answers/s"
    what = "share of the bots' time that is charged"
    report.ratio(what, ours, f"quiet {quiet.share:.4f}", busy.share / quiet.share, 0.97, most=1.03)
    of = f"of {len(busy.decided)}"
    report.ratio("called late though in time, while asked", f"{busy.late}", of, busy.late / len(busy.decided), most=0)


def main() -> None:
    """Measure, and print the figures."""
    what, *address = sys.argv[1:] or ["questions"]
    if address:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may ignore it
        with suppress(KeyboardInterrupt):
            (browse if what == "pages" else ask)(address[0])
        return
    quiet, asked = measure(what)
    print(f"load of the machine: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")
    for who, phase in (("nobody asks", quiet), (f"{CLIENTS} clients ask for {what}", asked)):
        print(
            f"{who}: {len(phase.answer_ms) / phase.seconds:.0f} answers/s; {len(phase.decided)} decisions in time,"
            f" {phase.late} of them called late; charged {phase.share:.4f} of what was used;"
            f" the referee was late for {phase.lag_seconds / phase.wall_seconds:.2%}"
        )
    median, *_, last = (quantiles(asked.answer_ms, n=100)[at] for at in (49, 98))
    print(f"an answer took {median:.1f} ms; 99 of 100 no more than {last:.1f} ms")
    print(f"charged while asked, beside while quiet: {asked.share / quiet.share:.4f} (aim 0.97 to 1.03)")


if __name__ == "__main__":
    main()
