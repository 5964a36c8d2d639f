"""`make docs`: every page is built without a warning, and the site needs no network."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("sphinx", "furo", "myst_parser")),
    reason="the site needs Sphinx: pip install -e '.[docs]'",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "-b", "html", "-d"]
    ended = subprocess.run(
        [*command, str(folder / "doctrees"), ".", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return folder / "html"


def test_every_page_of_the_project_is_in_it(site: Path) -> None:
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("referee/games/*/RULES.md"), ROOT / "README.md"]
    assert [page for page in pages if not (site / page.relative_to(ROOT)).with_suffix(".html").is_file()] == []


def test_nothing_is_fetched_from_elsewhere_when_a_page_is_looked_at(site: Path) -> None:
    fetched = re.compile(r"""<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(?:https?:)?//""")
    assert [page.name for page in site.rglob("*.html") if fetched.search(page.read_text())] == []


@pytest.mark.parametrize(
    "name", ["dogana.sdk.play", "referee.game.State.clone", "referee.live.in_process.play_in_process"]
)
def test_the_reference_has_what_the_pages_speak_of(site: Path, name: str) -> None:
    assert f'id="{name}"' in (site / "docs" / "api.html").read_text()
