"""What a page asks of the database does not grow with the history of the ladder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from bench.ladder import make, name_of
from ladder.operation.home import Home
from tests.cases import mostly_long
from tests.ladder.made import counted_steps
from tests.web.hostile_ladder import page

GAME = "cargo_noir"
VERSIONS = 8


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Home]:
    """A ladder whose history fills the lists of all pages, and one with a longer history."""
    folder = tmp_path_factory.mktemp("ladders")
    for matches in (1200, 4000):
        make(folder, matches, VERSIONS).close()
    return Home(folder / "1200"), Home(folder / "4000")


@pytest.mark.parametrize(
    ("address", "names", "query"),
    mostly_long(
        [
            ("/", {}, {}),
            ("/games/{game}", {"game": GAME}, {"sort": "matches"}),
            ("/games/{game}/crosstable", {"game": GAME}, {}),
            ("/games/{game}/matches", {"game": GAME}, {}),
            ("/games/{game}/matches", {"game": GAME}, {"before": name_of(150)}),
            ("/games/{game}/matches", {"game": GAME}, {"after": name_of(150)}),
            ("/games/{game}/matches", {"game": GAME}, {"bot": "bot1", "lost": "1"}),
            ("/bots", {}, {"q": "bot1"}),
            ("/bots/{bot}", {"bot": "bot0"}, {}),
            ("/compare", {}, {"one": "bot1", "other": "bot2"}),
        ],
        0,  # tests/ladder/test_cost.py has the same questions
    ),
    ids=lambda value: value if isinstance(value, str) else ",".join(value.values()),
)
def test_a_page_costs_the_same_however_long_the_history_is(
    homes: tuple[Home, Home],
    address: str,
    names: Mapping[str, Any],
    query: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = counted_steps(monkeypatch)
    for home in homes:
        page(home, address, query, **names)  # so that the strengths have been computed
    short, long = (steps(partial(page, home, address, query, **names)) for home in homes)
    assert 0 < long < 1.2 * short
