"""A person at the table in a browser: whole matches with the keyboard, what is said and shown, double clicks, two windows.

They need a browser, so they are none of `make test`: `make pages` runs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from referee.registry import find, games
from tests.pages.conftest import SHORT
from tests.web.browser import PHONE, WALL, axe, browser
from tests.web.conftest import browsing, new_ladder
from tests.web.test_play import TABLES

__all__ = ["browser"]  # the fixture


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browsing(new_ladder(tmp_path_factory.mktemp("ladder")), TABLES) as client:
        yield str(client.base_url).rstrip("/")


class Window:
    """A person's browser, and what went wrong in it."""

    def __init__(self, browser: Any, url: str, **context: Any) -> None:
        self.url = url
        self.context = browser.new_context(**{"viewport": WALL, "reduced_motion": "reduce", **context})
        self.has_script = context.get("java_script_enabled", True)
        self.wrong: list[str] = []
        self.page = self.open()

    def open(self) -> Any:
        page = self.context.new_page()
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        return page

    def sit_down(self, game: str, seats: int) -> None:
        """Begin a short match against bots that play at random."""
        short = "".join(f"&option.{name}={value}" for name, value in SHORT.get(game, {}).items())
        bots = "".join(f"&bot{place}=random" for place in range(1, seats))
        self.page.goto(f"{self.url}/play/{game}?seats={seats}{bots}{short}")
        self.page.get_by_role("button", name="Begin").press("Enter")
        self.page.wait_for_selector(".choices kbd" if self.has_script else ".choices")

    @property
    def decision(self) -> str:
        return str(self.page.locator("[name=decision]").get_attribute("value"))

    def until_next(self, decision: str) -> None:
        """Wait until another decision is asked, or the match is over."""
        self.page.wait_for_function(
            "before => document.querySelector('.result')"
            " || ![before, undefined].includes(document.querySelector('[name=decision]')?.value)",
            arg=decision,
        )

    @property
    def is_over(self) -> bool:
        return bool(self.page.locator(".result").count())

    def check(self) -> None:
        """Nothing is too wide, and nobody is shut out."""
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found = axe.Axe().run(self.page)
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found.response["violations"]] == []

    def close(self) -> None:
        """Leave the table for the next test."""
        wrong = list(self.wrong)
        self.context.request.post(f"{self.page.url}/leave")
        self.context.close()
        assert wrong == []


@pytest.fixture
def window(browser: Any, url: str) -> Iterator[Window]:
    opened = Window(browser, url)
    yield opened
    opened.close()


@pytest.mark.parametrize("game", games())
def test_a_match_with_the_most_seats_is_played_with_the_keyboard_alone(game: str, window: Window) -> None:
    window.sit_down(game, find(game).seat_counts[-1])
    answers = 0
    while not window.is_over:
        decision = window.decision
        assert window.page.title().startswith("★ Your turn")
        keys = window.page.locator(".choices kbd").count()
        window.page.keyboard.press(str(1 + answers * 5 % keys))
        window.until_next(decision)
        answers += 1
        assert window.page.evaluate("document.activeElement.id") == "turn"
        assert window.page.locator("body > [role=status]").text_content()
    assert answers > 3
    window.page.wait_for_selector(
        "text=Watch it step by step", timeout=120_000
    )  # it is drawn when nobody else needs the processor
    window.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, WALL], ids=["phone", "wall"])
def test_the_table_fits_and_can_be_read_by_all(browser: Any, url: str, viewport: dict[str, int], scheme: str) -> None:
    window = Window(browser, url, viewport=viewport, color_scheme=scheme)
    window.page.goto(f"{url}/play/valparaiso?seats=3&option.max_rounds=4")
    window.check()
    for game in games():
        window.sit_down(game, find(game).seat_counts[-1])
        window.check()
        window.page.get_by_role("button", name="Leave the table").click()
        window.page.wait_for_url("**/play")
    window.close()


def test_a_filter_leaves_what_it_names_and_keys_choose_among_that(window: Window) -> None:
    window.sit_down("yunnan", 3)
    window.page.keyboard.press("/")
    last = window.page.locator(".choices button").last.locator("code").text_content()
    window.page.keyboard.type(last.upper())
    assert window.page.locator(".choices button:visible").count() == 1
    decision = window.decision
    window.page.keyboard.press("Enter")
    assert window.decision == decision, "Enter in the filter sends nothing"
    window.page.keyboard.press("1")
    window.until_next(decision)
    log = window.page.locator(".log li").all_text_contents()
    assert [line for line in log if line.startswith("you") and line.endswith("passes")], log


def test_a_double_click_chooses_once(window: Window) -> None:
    window.sit_down("yunnan", 2)
    window.page.locator(".choices button").first.dblclick()
    window.until_next("1")
    assert window.decision == "2"
    window.page.reload()
    assert window.decision == "2"


def test_another_window_of_the_same_person_follows_by_itself(window: Window) -> None:
    window.sit_down("yunnan", 2)
    second = window.open()
    second.goto(window.page.url)
    window.page.keyboard.press("1")
    second.wait_for_function("() => document.querySelector('[name=decision]')?.value === '2'")
    assert second.locator(".choices kbd").count()


def test_the_clock_runs(window: Window) -> None:
    window.sit_down("yunnan", 2)
    before = window.page.locator("[data-left]").text_content()
    window.page.wait_for_function("before => document.querySelector('[data-left]').textContent !== before", arg=before)


def test_without_a_script_a_click_is_enough(browser: Any, url: str) -> None:
    window = Window(browser, url, java_script_enabled=False)
    window.sit_down("yunnan", 2)
    for decision in "123":
        assert window.decision == decision
        window.page.locator(".choices button").first.click()
    assert window.page.locator(".filter").is_hidden()
    window.close()
