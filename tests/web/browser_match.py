"""A match in a browser: the viewer in its frame, and a match as it happens. `make pages` runs these."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from ladder.facts.store import Store
from ladder.http.pictures.drawings import Drawing, Drawings
from ladder.operation.home import Home
from ladder.play.blocks import Blocks
from ladder.play.playing import announced
from ladder.questions.desk import Desk
from ladder.questions.matches import MatchesRequest
from ladder.questions.rows import MatchRow
from tests.web.browser import axe, browser, sync_api
from tests.web.test_live import Scene, playing

__all__ = ["browser"]

WAIT = 60_000
"""How long a browser may take, in milliseconds: this machine may be busy."""


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A tab in which nothing may go wrong."""
    wrong: list[str] = []
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    context.set_default_timeout(WAIT)
    opened = context.new_page()
    opened.on("console", lambda message: wrong.append(message.text) if is_wrong(message) else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    yield opened
    context.close()
    assert wrong == []


def is_wrong(message: Any) -> bool:
    """A match that is just over cannot be seen yet: the page that says so has status 403."""
    return bool(message.type == "error" and "403" not in message.text)


def test_a_page_that_waits_for_a_drawing_can_be_read_by_all(
    page: Any, seen: httpx.Client, played: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Drawings, "ask", lambda self, record, who: Drawing(done=64, of=300))
    page.goto(str(seen.base_url.join(f"/matches/{match_of(played).match}/replay.html")))
    assert axe.Axe().run(page).response["violations"] == []


def match_of(home: Home) -> MatchRow:
    return Desk(home).ask(MatchesRequest(limit=1)).matches[0]


def test_the_viewer_is_drawn_while_the_page_waits_and_is_as_high_as_it_needs(
    page: Any, seen: httpx.Client, played: Home
) -> None:
    page.goto(str(seen.base_url.join(f"/matches/{match_of(played).match}#s=3&as=1")))
    frame = page.frame_locator("#viewer")
    sync_api.expect(frame.locator("#now")).to_contain_text("step 3 of", timeout=WAIT)
    sync_api.expect(frame.locator("#view")).to_have_value("1")
    page.wait_for_function("document.getElementById('viewer').height !== '700'")
    inside = page.frames[-1].evaluate("document.body.scrollHeight")
    assert abs(int(page.locator("#viewer").get_attribute("height")) - inside) < 30


def test_a_moment_named_while_the_viewer_is_loaded_again_is_the_one_on_view(
    page: Any, seen: httpx.Client, played: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = Drawings.ask
    monkeypatch.setattr(Drawings, "ask", lambda self, record, who: Drawing(done=64, of=300))
    requests: list[Any] = []
    page.route("**/replay.html", lambda route: requests.append(route) if requests else route.continue_())
    page.goto(str(seen.base_url.join(f"/matches/{match_of(played).match}#s=2")))
    sync_api.expect(page.frame_locator("#viewer").locator("[role=status]")).to_contain_text("64 of 300", timeout=WAIT)
    requests.append(None)  # from now on, a request waits
    with page.expect_request("**/replay.html"):
        pass
    monkeypatch.setattr(Drawings, "ask", drawn)
    page.evaluate("location.hash = '#s=3&as=1'")
    requests.pop().continue_()
    page.unroute("**/replay.html")
    sync_api.expect(page.frame_locator("#viewer").locator("#now")).to_contain_text("step 3 of", timeout=WAIT)


def test_a_viewer_that_the_browser_has_already_is_shown_again(page: Any, seen: httpx.Client, played: Home) -> None:
    for _ in range(3):
        page.goto("about:blank")
        page.goto(str(seen.base_url.join(f"/matches/{match_of(played).match}#s=3")))
        now = page.frame_locator("#viewer").locator("#now")
        sync_api.expect(now).to_contain_text("step 3 of", timeout=WAIT)


def test_the_viewer_is_as_high_as_the_window_and_printed_with_its_board(
    browser: Any, seen: httpx.Client, played: Home
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(WAIT)
    page = context.new_page()
    page.goto(str(seen.base_url.join(f"/matches/{match_of(played).match}#s=3")))
    frame = page.frame_locator("#viewer")
    sync_api.expect(frame.locator("#now")).to_contain_text("step 3 of", timeout=WAIT)
    page.wait_for_function("() => viewer.contentDocument.querySelector('main').style.getPropertyValue('--screen')")
    page.wait_for_function("() => Math.abs(viewer.getBoundingClientRect().top) < 1")
    for part in ("#board > svg", "#slider", "#last", "#zoom", "#lines"):
        box = frame.locator(part).bounding_box()
        assert box["y"] >= -1, part
        assert box["y"] + box["height"] <= 721, part
    assert frame.locator("#lines").bounding_box()["height"] > 150
    frame.locator(".lane").last.scroll_into_view_if_needed()
    page.emulate_media(media="print")
    assert page.locator("#viewer").is_visible()
    sync_api.expect(frame.locator("#player")).to_be_hidden()
    board, around = frame.locator("#board > svg").bounding_box(), page.locator("#viewer").bounding_box()
    assert board["height"] > 300
    assert board["y"] + board["height"] <= around["y"] + around["height"] + 1
    sync_api.expect(frame.locator("#board > svg")).to_contain_text("Step 3")
    context.close()


def test_a_step_that_the_page_names_is_shown_in_its_viewer(page: Any, seen: httpx.Client, played: Home) -> None:
    page.goto(str(seen.base_url.join(f"/matches/{match_of(played).match}")))
    frame = page.frame_locator("#viewer")
    frame.locator("#now").wait_for()
    link = page.locator("a.moment").first
    step = re.search(r"s=(\d+)", link.get_attribute("href"))
    assert step is not None
    link.click()
    sync_api.expect(frame.locator("#now")).to_contain_text(f"step {step[1]} of")
    assert f"s={step[1]}" in page.url
    page.evaluate("location.hash = 's=2'")
    sync_api.expect(frame.locator("#now")).to_contain_text("step 2 of")
    page.evaluate("location.hash = 's=2;javascript:alert(1)'")
    sync_api.expect(frame.locator("#now")).to_contain_text("step 2 of")


class Match:
    """A match that is played in a thread, a decision at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready: Future[tuple[asyncio.AbstractEventLoop, Scene, Any]] = Future()
        self._over: Future[None] = Future()
        self._thread = Thread(target=lambda: asyncio.run(self._play()))

    async def _play(self) -> None:
        async with playing(self._folder) as scene:
            agent = await scene.room.agent()
            await agent.join()
            self._ready.set_result((asyncio.get_running_loop(), scene, agent))
            await asyncio.wrap_future(self._over)

    def start(self) -> str:
        self._thread.start()
        _, scene, _ = self._ready.result()
        return str(scene.client.base_url.join(f"{scene.path}/live"))

    def decide(self) -> None:
        loop, _, agent = self._ready.result()

        async def choose() -> None:
            await agent.choose((await agent.decide()).decision, 0)

        asyncio.run_coroutine_threadsafe(choose(), loop).result()

    def play_out(self) -> None:
        loop, _, agent = self._ready.result()
        asyncio.run_coroutine_threadsafe(agent.play_out(), loop).result()

    @property
    def id(self) -> str:
        return self._ready.result()[1].match.match_id

    @contextmanager
    def another_is_played(self) -> Iterator[str]:
        """Announce a match beside this one; yield its id."""
        _, scene, _ = self._ready.result()
        with Store(scene.home.database, create=False) as store:
            other = next(one for one in Blocks(store, scene.match.condition, [2]).add(8) if one != scene.match)
        with announced(scene.home, other, "unix:nowhere"):
            yield other.match_id

    def end(self) -> None:
        self._over.set_result(None)
        self._thread.join()


@contextmanager
def being_played(folder: Path) -> Iterator[tuple[Match, str]]:
    match = Match(folder)
    try:
        yield match, match.start()
    finally:
        match.end()


def test_a_match_is_seen_as_it_happens_until_it_is_over(page: Any, tmp_path: Path) -> None:
    with being_played(tmp_path / "home") as (match, address):
        page.goto(address)
        strip = page.locator("#board > svg")
        sync_api.expect(strip).to_contain_text("Step 0")
        match.decide()
        sync_api.expect(page.locator("#lines li")).not_to_have_count(0)
        number = page.locator("#lines li").first.get_attribute("value")
        sync_api.expect(strip).to_contain_text(f"Step {number}")
        sync_api.expect(page.locator("#state")).to_contain_text(f"{number}: seat")
        sync_api.expect(page.locator("#seats")).to_contain_text("decides")
        assert axe.Axe().run(page).response["violations"] == []
        match.play_out()
        sync_api.expect(page.locator("#heading")).to_have_text("The match is over.")
        sync_api.expect(page.locator("#state")).to_contain_text(re.compile("won with|share the first place"))
        sync_api.expect(page.locator("#seats")).not_to_contain_text("decides")
        own = page.locator("#after a").first
        assert own.get_attribute("href").endswith(f"/matches/{match.id}")
        sync_api.expect(page.locator("#next")).to_be_hidden()
        with match.another_is_played() as other:
            sync_api.expect(page.locator("#next")).to_be_visible(timeout=WAIT)
            assert page.locator("#next").get_attribute("href") == f"../{other}/live"
        assert axe.Axe().run(page).response["violations"] == []
        assert page.url == address, "who looks on is not sent away"
        own.click()
        page.wait_for_url(re.compile(r"/matches/[0-9a-f]+$"))


def test_without_a_script_the_page_is_loaded_anew_and_shows_what_has_happened(browser: Any, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    with being_played(tmp_path / "home") as (match, address):
        page.goto(address)
        match.decide()
        sync_api.expect(page.locator("#lines li")).not_to_have_count(0, timeout=WAIT)
    context.close()
