"""`make docs`: every page is in the site, and it needs no network. That it is built without a warning, Sphinx sees to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"


def test_every_page_of_the_project_is_in_it() -> None:
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("referee/games/*/RULES.md"), ROOT / "README.md"]
    assert [page for page in pages if not (SITE / page.relative_to(ROOT)).with_suffix(".html").is_file()] == []


def test_nothing_is_fetched_from_elsewhere_when_a_page_is_looked_at() -> None:
    fetched = re.compile(r"""<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(?:https?:)?//""")
    assert [page.name for page in SITE.rglob("*.html") if fetched.search(page.read_text())] == []


@pytest.mark.parametrize(
    "name", ["dogana.sdk.play", "referee.game.State.clone", "referee.live.matches.in_process.play_in_process"]
)
def test_the_reference_has_what_the_pages_speak_of(name: str) -> None:
    assert f'id="{name}"' in (SITE / "docs" / "api.html").read_text()
