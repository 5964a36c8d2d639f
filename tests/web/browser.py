"""Every page in a browser: on a phone and on a wall, by day and by night, for those who do not see it, and without a script.

They need a browser, so they are none of `make test`: `make pages` runs them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from ladder.operation.home import Home
from tests.web.conftest import browsing
from tests.web.test_every_page import SERVED, crawled, kind_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("no browser: apt-get install chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'dogana-arena[pages]'")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe: pip install 'dogana-arena[pages]'")

PHONE, WALL = {"width": 400, "height": 800}, {"width": 2000, "height": 1100}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's browser."""
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM)
        yield started
        started.close()


@pytest.fixture(scope="module")
def client(played: Home) -> Iterator[httpx.Client]:
    with browsing(played, SERVED) as asking:
        yield asking


@pytest.fixture(scope="module")
def addresses(client: httpx.Client) -> Mapping[str, str]:
    """One page of each kind."""
    found: dict[str, str] = {}
    for address, answer in crawled(client).items():
        if answer.headers["content-type"].startswith("text/html") and "replay.html" not in address:
            found.setdefault(kind_of(address), str(client.base_url.join(address)))
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, WALL], ids=["phone", "wall"])
def test_every_page_fits_and_can_be_read_by_all(
    browser: Any, addresses: Mapping[str, str], viewport: Mapping[str, int], scheme: str
) -> None:
    context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(f"{page.url}: {message.text}") if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
    for address in addresses.values():
        page.goto(address)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong.append(f"{address} is wider than the window")
        found = axe.Axe().run(page)
        wrong += [
            f"{address}: {one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}"
            for one in found.response["violations"]
        ]
    context.close()
    assert not wrong, "\n".join(wrong)


def test_every_page_says_the_same_without_a_script(browser: Any, addresses: Mapping[str, str]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for address in addresses.values():
        page.goto(address)
        assert page.locator("main h1").count() == 1, address
        assert len(page.locator("main").inner_text()) > 60, address
    context.close()
