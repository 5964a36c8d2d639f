"""A person who points at the board: whole matches by clicks on what is framed, and what one click, a finger and Escape do.

They need a browser, so they are none of `make test`: `make pages` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from referee.registry import find, games
from tests.web.browser import PHONE, browser
from tests.web.browser_play import Window, url

__all__ = ["browser", "url"]  # the fixtures
MAX_CLICKS = 4
"""No action is about more spots, the list aside."""


@pytest.fixture
def window(browser: Any, url: str) -> Iterator[Window]:
    opened = Window(browser, url)
    yield opened
    opened.close()


def middles(window: Window, kind: str = "open") -> list[tuple[float, float]]:
    """Points of the window at which a click would hit a framed spot; none that lies behind others."""
    found: list[tuple[float, float]] = window.page.evaluate(
        """kind => {
            document.querySelector('.board').scrollIntoView();
            const points = [];
            for (const spot of document.querySelectorAll(`.spot.${kind}`)) {
                const box = spot.getBoundingClientRect();
                for (const share of [0.5, 0.1, 0.9]) {
                    const [x, y] = [box.left + box.width * share, box.top + box.height * share];
                    if (document.elementFromPoint(x, y)?.closest('.spot') === spot) { points.push([x, y]); break; }
                }
            }
            return points;
        }""",
        kind,
    )
    return [(x, y) for x, y in found]


def point(window: Window, turn: int) -> None:
    """Answer a decision by clicks on the board; on the list only what is left when nothing is framed any more."""
    decision, clicks = window.decision, count()

    def click() -> None:
        for _ in range(MAX_CLICKS):
            if found := middles(window):
                window.page.mouse.click(*found[(turn * 7 + next(clicks)) % len(found)])
            else:
                window.choose()
            if window.is_answered(decision):
                break

    window.until_answered(decision, click)
    window.until_next(decision)


@pytest.mark.parametrize("game", games())
def test_a_match_is_played_by_clicks_on_the_board(game: str, window: Window) -> None:
    window.sit_down(game, find(game).seat_counts.start)
    pointed = turn = 0
    while not window.is_over:
        turn += 1
        if window.page.locator(".spot.open").count():
            point(window, turn)
            pointed += 1
        else:
            decision = window.decision
            window.press(0)
            window.until_next(decision)
    assert pointed > turn / 3


# --- one decision ---------------------------------------------------------------------------------------


def plan(window: Window) -> None:
    """Play until the seat plans: each card can then be put into a slot, or into the mayor's."""
    window.sit_down("valparaiso", 2)
    while not framed(window, "slot:mayor").count():
        decision = window.decision
        window.press(0)
        window.until_next(decision)


def framed(window: Window, spot: str) -> Any:
    return window.page.locator(f'.spot.open[data-at="{spot}"] .line')


def listed(window: Window) -> list[str]:
    return [
        str(label)
        for label in window.page.locator(".choices :is([name=choice], summary):visible code").all_text_contents()
    ]


def test_what_several_actions_are_about_narrows_the_list_and_escape_shows_all_again(window: Window) -> None:
    plan(window)
    decision, everything = window.decision, listed(window)
    mayors = [label for label in everything if label.startswith("mayor(")]
    ways: list[Callable[[], object]] = [
        lambda: window.page.keyboard.press("Escape"),
        lambda: window.page.get_by_role("button", name="Show all").click(),
        lambda: window.page.locator(".spot.pointed .line").click(),
    ]
    for go_back in ways:
        framed(window, "slot:mayor").click()
        assert listed(window) == mayors
        line = f"{len(mayors)} of {len(everything)} actions left: go on with what is framed."
        assert window.page.locator(".pointing span").text_content() == line
        window.check()
        go_back()
        assert listed(window) == everything
    assert window.decision == decision


def test_the_last_spot_of_an_action_plays_it(window: Window) -> None:
    plan(window)
    decision = window.decision
    framed(window, "slot:mayor").click()
    framed(window, "card:k3").click()
    window.until_next(decision)
    assert "mayor(k3)" not in listed(window)
    assert not framed(window, "slot:mayor").count()
    assert framed(window, "card:k4").count()


def test_the_board_and_the_list_show_what_belongs_together(window: Window) -> None:
    plan(window)
    framed(window, "card:k4").hover()
    assert [str(one) for one in window.page.locator(".choices .about code").all_text_contents()] == ["place(k4)"]
    window.page.locator("code", has_text="mayor(k5)").hover()
    assert window.page.locator(".hovered > g").count() == 2
    window.page.locator(".choices [name=choice]").first.focus()
    assert window.page.locator(".hovered > g").count() == 1


def test_a_filter_and_what_was_pointed_at_hold_together(window: Window) -> None:
    plan(window)
    window.page.keyboard.press("/")
    window.page.keyboard.type("k6")
    assert window.page.locator(".spot.open").count() == 2, "its own card, and the mayor's slot"
    framed(window, "slot:mayor").click()
    assert listed(window) == ["mayor(k6)"]


def test_a_finger_on_what_is_small_chooses_nothing_yet(browser: Any, url: str) -> None:
    window = Window(browser, url, viewport=PHONE, has_touch=True)
    plan(window)
    decision = window.decision
    framed(window, "card:k2").tap()
    assert listed(window) == ["place(k2)"]
    window.check()
    assert window.decision == decision
    window.page.locator(".choices [name=choice]:visible").tap()
    window.until_next(decision)
    window.close()
