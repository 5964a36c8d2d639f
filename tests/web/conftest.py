"""A ladder that was played, and a server that shows its pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from bs4 import BeautifulSoup

from ladder.facts.store import Store
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.model.condition import agree
from ladder.operation.home import Home
from ladder.play.running import RunPlan
from referee.match.clock import TimeControl
from referee.registry import find
from tests.ladder.real_ladder import played_ladder
from tests.ladder.runs import run
from tests.patience import patient
from tests.web.hostile_ladder import hostile_ladder
from tests.web.served import serving_pages

GAMES = ("yunnan", "cargo_noir")
"""What is played on the ladder; the other games have no matches there."""
BOT = b"print('not run')\n"
"""The program of a bot that is only submitted."""
Browse = Callable[..., httpx.Client]


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder on which house bots have played two games; do not change it."""
    home = Home(tmp_path_factory.mktemp("played"))
    plan = RunPlan([agree(find(game), {}, 2) for game in GAMES], 8, 2, TimeControl.parse("60+0.5/10"))
    with Store(home.database, create=True) as store:
        for _ in run(home, store, plan):
            pass
    return home


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder that no test changes; a module may have another."""
    return played_ladder(tmp_path_factory.mktemp("shared") / "home", 6)


@pytest.fixture
def home(shared_home: Home, tmp_path: Path) -> Home:
    """A copy that a test may change."""
    return Home(shutil.copytree(shared_home.folder, tmp_path / "home"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder with hostile names; do not change it."""
    return hostile_ladder(tmp_path_factory.mktemp("hostile") / "home")


@pytest.fixture
def hostile_copy(hostile: Home, tmp_path: Path) -> Home:
    """A copy that a test may change."""
    return Home(shutil.copytree(hostile.folder, tmp_path / "home"))


@pytest.fixture
def tokens(home: Home) -> dict[str, str]:
    """The tokens of two authors who have bots on the ladder, and of one who has none."""
    with Authors(home.database, create=False) as authors:
        return {name: authors.add(name) for name in ("ann", "eve", "new")}


@contextmanager
def browsing(home: Home, site: Site | None = None, **limits: Any) -> Iterator[httpx.Client]:
    """Serve the pages of a ladder meanwhile, with limits as in `serving_pages`; yield a client of theirs."""
    with (
        serving_pages(home, site or Site(), **limits) as url,
        httpx.Client(base_url=url, timeout=patient(60)) as client,
    ):
        yield client


@pytest.fixture
def browse() -> Iterator[Browse]:
    """Serves the pages of a ladder until the end of the test, and returns what asks for them."""
    with ExitStack() as stack:
        yield lambda *what, **limits: stack.enter_context(browsing(*what, **limits))


@pytest.fixture(scope="session")
def seen(played: Home) -> Iterator[httpx.Client]:
    """Asks for the pages of the ladder that was played."""
    with browsing(played) as client:
        yield client


def soup(answer: httpx.Response) -> BeautifulSoup:
    """The page of an answer."""
    return BeautifulSoup(answer.text, "html.parser")


def new_ladder(folder: Path) -> Home:
    """An empty ladder."""
    home = Home(folder)
    home.make()
    with Store(home.database, create=True):
        return home
