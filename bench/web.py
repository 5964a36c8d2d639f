"""`python -m bench.web`: what the pages of a ladder cost at 1,000, 20,000 and 100,000 matches of history, with 300 bots.

Pages are made anew each time, without HTTP, and nothing is kept. Judged is the longest history beside the shortest. With that, lists
are not full yet; what a page costs more since they are is told beside it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import process_time

from rich.console import Console
from rich.table import Table

from bench.ladder import AIM, make, name_of
from bench.serving import BOTS, ROUNDS
from ladder.facts.store import Store
from ladder.http.app import PAGES
from ladder.http.rendering.render import rendered
from ladder.http.requests.asked import Asked, Site
from ladder.operation.home import Home
from ladder.questions.asker import ANYBODY
from ladder.questions.desk import Desk

SIZES = (1_000, 20_000, 100_000)
GAME = "cargo_noir"
ASKED: dict[str, tuple[str, Mapping[str, str], Mapping[str, str]]] = {
    "start": ("/", {}, {}),
    "standings": ("/games/{game}", {"game": GAME}, {}),
    "standings, sorted": ("/games/{game}", {"game": GAME}, {"sort": "first"}),
    "standings, a few": ("/games/{game}", {"game": GAME}, {"q": "bot29"}),
    "crosstable": ("/games/{game}/crosstable", {"game": GAME}, {}),
    "matches": ("/games/{game}/matches", {"game": GAME}, {}),
    "matches, further back": ("/games/{game}/matches", {"game": GAME}, {"before": name_of(501)}),
    "matches in which anybody was out": ("/games/{game}/matches", {"game": GAME}, {"out": "1"}),
    "bots": ("/bots", {}, {}),
    "bots, a few": ("/bots", {}, {"q": "bot29"}),
    "a bot": ("/bots/{bot}", {"bot": "bot7"}, {}),
    "two bots side by side": ("/compare", {}, {"one": "bot7", "other": "bot8"}),
}
"""What is measured: the address, what its path names, and its query."""


def page(home: Home, address: str, names: Mapping[str, str], query: Mapping[str, str]) -> str:
    """Return the HTML of a page."""
    with Store(home.database, create=False) as chronicle, chronicle.reading():  # as `ladder.http.app` does it
        desk = Desk(home, ANYBODY, chronicle)
        asked = Asked(desk, ANYBODY, Site(), address.format(**names).removeprefix("/"), names, query)
        return rendered(PAGES[address](asked), asked)


def compare(sizes: Sequence[int] = SIZES, rounds: int = ROUNDS) -> Iterator[tuple[str, list[float], float, float, int]]:
    """Yield for each page its seconds with each history, the longest beside the shortest and the one before it, and its bytes: medians."""
    with tempfile.TemporaryDirectory() as folder:
        homes = []
        for size in sizes:
            make(Path(folder), size, BOTS).close()
            homes.append(Home(Path(folder) / str(size)))
        for what, asked in ASKED.items():
            took = [[_timed(home, asked) for home in homes] for _ in range(rounds)]
            yield (
                what,
                [median(times) for times in zip(*took, strict=True)],
                median(times[-1] / times[0] for times in took),
                median(times[-1] / times[-2] for times in took),
                len(page(homes[-1], *asked).encode()),
            )


def _timed(home: Home, asked: tuple[str, Mapping[str, str], Mapping[str, str]]) -> float:
    start = process_time()
    page(home, *asked)
    return process_time() - start


def main() -> None:
    """Print the table."""
    table = Table("page", *(f"at {size:,}" for size in SIZES), "ratio", "since full", "aim", "", "bytes")
    for what, times, ratio, since_full, size in compare():
        judged = "OK" if ratio <= AIM else "SHORT"
        shown = (f"{time * 1e3:.3g} ms" for time in times)
        table.add_row(what, *shown, f"{ratio:.2f}", f"{since_full:.2f}", f"<= {AIM}", judged, f"{size:,}")
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
