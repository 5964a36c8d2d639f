"""A person at the table in a browser: whole matches with the keyboard, what is said and shown, double clicks, two windows.

They need a browser, so they are none of `make test`: `make pages` runs them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ladder.tables.open_tables import Table
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


DESK, HAND = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
"""A small desktop, and a telephone."""
MAX_REQUESTS = 5
"""How many requests a decision may cost, one with another."""
PATIENCE = 180_000
"""How long anything may take, in milliseconds: tables wait when others need the processor."""
TRIES = 20
"""How often one may choose the same: a list that has just moved, as others have played, takes no click and no key."""
CLOSING_KEY = "0"
"""The key of an action before which it is asked."""


class Window:
    """A person's browser, and what went wrong in it."""

    def __init__(self, browser: Any, url: str, **context: Any) -> None:
        self.url = url
        self.context = browser.new_context(**{"viewport": WALL, "reduced_motion": "reduce", **context})
        self.context.set_default_timeout(PATIENCE)
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
        self.until_ready(self.page)

    def until_ready(self, page: Any) -> None:
        """Wait until the list takes a choice: the script has numbered it, and it is no longer fresh."""
        entry = "kbd" if self.has_script else ":is([name=choice], summary)"
        page.wait_for_selector(f".choices:not([data-fresh]) {entry}", state="attached")

    @property
    def decision(self) -> str:
        return str(self.page.locator("[name=decision]").get_attribute("value"))

    def until_next(self, decision: str) -> None:
        """Wait until another decision is asked, or the match is over."""
        self.page.wait_for_function(
            "before => document.querySelector('.result')"
            " || ![before, undefined].includes(document.querySelector('.choices:not([data-fresh]) [name=decision]')?.value)",
            arg=decision,
        )

    def is_answered(self, decision: str) -> bool:
        """Tell whether a decision is on its way or over."""
        return bool(
            self.page.evaluate(
                """before => !document.querySelector('.choices:not([data-sent])')
                    || document.querySelector('[name=decision]').value !== before""",
                decision,
            )
        )

    def until_answered(self, decision: str, choose: Callable[[], None]) -> None:
        """Choose, once more if the list took nothing."""
        for _ in range(TRIES):
            choose()
            if not self.has_script or self.is_answered(decision):
                return
            self.page.wait_for_function("() => !document.querySelector('.choices[data-fresh]')")
        raise AssertionError(f"decision {decision} takes no answer")

    def until_open(self, entry: Any) -> None:
        """Open an entry, once more if the list took nothing."""
        for _ in range(TRIES):
            entry.locator("summary").click()
            if entry.get_attribute("open") is not None:
                return
            self.page.wait_for_selector(".choices:not([data-fresh])")
        raise AssertionError("the entry does not open")

    def press(self, number: int) -> None:
        """Choose one of those that have keys, whichever that is."""
        self.until_answered(self.decision, lambda: self._press(number))

    def _press(self, number: int) -> None:
        keys = self.page.locator(".choices kbd").all_text_contents()
        key = str(keys[number % len(keys)])
        self.page.keyboard.press(key)
        if key == CLOSING_KEY:
            self.page.keyboard.press("Enter")

    def choose(self) -> None:
        """Click on the first that is left in the list."""
        self.until_answered(self.decision, self._choose)

    def _choose(self) -> None:
        left = self.page.locator(".choices :is([name=choice], summary):visible").first
        left.click()
        if (sure := self.page.locator(".choices .sure[open] button")).count():
            sure.click()

    def leave(self) -> None:
        """Leave the table, as one does."""
        self.page.get_by_text("Leave the table").click()
        self.page.get_by_role("button", name="Yes: leave").click()
        self.page.wait_for_url("**/play")

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
        window.press(answers * 5)
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
        window.leave()
    window.close()


def test_a_filter_leaves_what_it_names_and_keys_choose_among_that(window: Window) -> None:
    window.sit_down("yunnan", 3)
    window.page.keyboard.press("/")
    last = window.page.locator(".choices fieldset button").last
    label, words = last.locator("code").text_content(), last.locator("span").text_content()
    window.page.keyboard.type(label.upper())
    assert window.page.locator(".choices :is([name=choice], summary):visible").count() == 1
    decision = window.decision
    window.page.keyboard.press("Enter")
    assert window.decision == decision, "Enter in the filter sends nothing"
    window.press(0)
    window.until_next(decision)
    log = window.page.locator(".log li").all_text_contents()
    assert [line for line in log if line.startswith("you") and words in line], log


# --- a choice is final --------------------------------------------------------------------------------


SECOND_CLICK = """() => {
    window.clicked = 0;
    const first = document.querySelector('[name=decision]').value;
    const box = document.querySelector('.choices fieldset button').getBoundingClientRect();
    new MutationObserver(() => {
        const now = document.querySelector('.choices');
        if (!now || now.querySelector('[name=decision]').value === first) return;
        for (const one of [document.elementFromPoint(box.left + 20, box.top + 20), ...document.querySelectorAll('.choices button, .spot.open .line')]) {
            one?.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
            window.clicked++;
        }
    }).observe(document.getElementById('main'), {childList: true});
}"""
"""Clicks where the first choice was, on everything that can be chosen, and on the board, when the next list is there."""


def test_a_list_that_was_just_drawn_takes_no_click(window: Window) -> None:
    window.sit_down("cargo_noir", 2)
    window.page.evaluate(SECOND_CLICK)
    decision = window.decision
    window.until_answered(decision, window.page.locator(".choices fieldset button").first.click)
    window.until_next(decision)
    second = window.decision
    assert window.page.evaluate("window.clicked") > 1
    assert window.page.locator("[data-sent]").count() == 0
    window.page.reload()
    assert window.decision == second
    log = window.page.locator(".log li").all_text_contents()
    assert sum(line.startswith("you") for line in log) == 1, log


def test_a_list_takes_clicks_again_after_a_moment(window: Window) -> None:
    window.sit_down("cargo_noir", 2)
    window.page.evaluate(
        """() => {
            let began = 0;
            window.lasted = new Promise((done) => new MutationObserver(() => {
                const isFresh = document.querySelector('.choices[data-fresh]');
                if (isFresh && !began) began = performance.now();
                if (!isFresh && began) done(performance.now() - began);
            }).observe(document.getElementById('main'), {childList: true, subtree: true, attributes: true}));
        }"""
    )
    decision = window.decision
    window.choose()
    window.until_next(decision)
    assert window.page.evaluate("window.lasted") >= 299
    decision = window.decision
    window.choose()
    window.until_next(decision)


def until_closing(window: Window) -> Any:
    """Play until there is something that ends what one may do; return where it is asked for."""
    while not window.page.locator(".choices .sure").count():
        decision = window.decision
        window.choose()
        if window.has_script:
            window.until_next(decision)
    return window.page.locator(".choices .sure").first


@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
@pytest.mark.parametrize("game", games())
def test_what_ends_a_phase_is_asked_before_it_is_played(browser: Any, url: str, game: str, script: bool) -> None:
    window = Window(browser, url, viewport=DESK, java_script_enabled=script)
    window.sit_down(game, find(game).seat_counts.start)
    sure = until_closing(window)
    decision = window.decision
    yes = sure.locator("button")
    assert not yes.is_visible()
    window.until_open(sure)
    assert yes.is_visible()
    sure.locator("summary").click()
    assert not yes.is_visible()
    assert window.decision == decision
    if script:
        window.page.locator("#turn").focus()
        window.page.keyboard.press(CLOSING_KEY)
        assert yes.is_visible()
        assert window.decision == decision
    else:
        sure.locator("summary").click()
    yes.click()
    if script:
        window.until_next(decision)
    else:
        assert window.is_over or not window.page.locator(".choices").count() or window.decision != decision
    window.close()


@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
def test_leaving_is_asked_before_it_ends_the_match(browser: Any, url: str, script: bool) -> None:
    window = Window(browser, url, java_script_enabled=script)
    window.sit_down("yunnan", 2)
    table = window.page.url
    window.page.get_by_text("Leave the table").click()
    assert window.page.url == table
    assert "The match ends at once, without a result." in window.page.locator(".leave").inner_text()
    window.page.reload()
    assert window.decision == "1"
    window.leave()
    assert window.page.goto(table).status == 404
    window.wrong.clear()  # that status
    window.close()


def test_single_keys_choose_with_the_focus_in_the_list_alone(window: Window) -> None:
    window.sit_down("yunnan", 2)
    requests: list[str] = []
    window.page.on("request", lambda request: requests.append(request.method))
    assert window.page.evaluate("document.activeElement.closest('.choices') !== null"), "it is there from the beginning"
    for place in (".board", ".log", "main"):
        if window.page.locator(place).count():
            window.page.locator(place).first.focus()
            window.page.keyboard.press("1")
            assert not window.page.locator(".choices kbd").first.is_visible()
    decision = window.decision
    assert "POST" not in requests

    def press() -> None:
        window.page.locator(".choices fieldset button").last.focus()
        window.page.keyboard.press("1")

    window.until_answered(decision, press)
    window.until_next(decision)
    assert requests.count("POST") == 1
    assert window.page.evaluate("document.activeElement.closest('.choices, .result') !== null")


# --- what others have done, and where it stands -------------------------------------------------------


def is_in_sight(window: Window, selector: str) -> bool:
    """Whether the first of these is whole in the window, and nothing lies upon it."""
    return bool(
        window.page.evaluate(
            """selector => {
                const one = document.querySelector(selector);
                const box = one.getBoundingClientRect();
                const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
                return box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth && one.contains(top);
            }""",
            selector,
        )
    )


def values(window: Window, selector: str) -> list[int]:
    return [
        int(value) for value in window.page.locator(selector).evaluate_all("lines => lines.map(line => line.value)")
    ]


@pytest.mark.parametrize("game", games())
def test_what_has_happened_since_ones_last_move_is_in_sight_and_a_decision_costs_few_requests(
    browser: Any, url: str, game: str
) -> None:
    window = Window(browser, url, viewport=DESK)
    requests: list[str] = []
    window.page.on("request", lambda request: requests.append(request.url))
    window.sit_down(game, find(game).seat_counts[-1])
    requests.clear()
    decisions = seen = 0
    while not window.is_over:
        new = values(window, ".since li")
        assert new == sorted(new, reverse=True)
        assert [value for value in values(window, ".log li") if value > seen] == [
            value for value in new if value > seen
        ]
        seen = max([seen, *new])
        if new:
            assert is_in_sight(window, ".since h2")
            assert is_in_sight(window, ".since li")
            heading = window.page.locator(".since h2").text_content()
            others = window.page.locator(".since li:not(.own)").count()
            said = re.search(r": (\d+) steps?(?:, (\d+) in secret)?$", heading)
            assert (said is None) == (others == 0), heading
            assert said is None or int(said[1]) - int(said[2] or 0) == others, heading
        assert is_in_sight(window, "#turn")
        decision = window.decision
        window.press(decisions * 3)
        window.until_next(decision)
        decisions += 1
    polls = [address for address in requests if "/play/table/" in address]
    assert decisions > 3
    assert len(polls) <= MAX_REQUESTS * decisions, f"{len(polls)} requests for {decisions} decisions"
    window.close()


def test_no_browser_asks_without_a_pause_while_an_answer_is_on_its_way(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = Table.settled

    async def slowly(table: Table, seconds: float) -> None:
        await settled(table, seconds)
        await asyncio.sleep(2)

    window.sit_down("yunnan", 2)
    monkeypatch.setattr(Table, "settled", slowly)
    requests: list[str] = []
    window.page.on("request", lambda request: requests.append(request.url))
    window.choose()
    window.until_next("1")
    assert len(requests) <= MAX_REQUESTS, requests


@pytest.mark.parametrize("game", games())
def test_the_first_screen_of_a_telephone_has_the_question_and_answers(browser: Any, url: str, game: str) -> None:
    for seats in (find(game).seat_counts[0], find(game).seat_counts[-1]):
        window = Window(browser, url, viewport=HAND, has_touch=True)
        window.sit_down(game, seats)
        assert window.page.evaluate("scrollY") == 0
        assert is_in_sight(window, "#turn")
        assert is_in_sight(window, "[data-left]")
        assert is_in_sight(window, ".choices fieldset button")
        if window.page.locator(".sure summary").count() > 1:  # beside that of leaving
            assert is_in_sight(window, ".choices .sure summary")
        window.check()
        window.close()


def test_to_pass_is_in_sight_however_long_the_list_is(browser: Any, url: str) -> None:
    window = Window(browser, url, viewport=DESK)
    window.sit_down("yunnan", 5)
    assert window.page.locator(".choices [name=choice]").count() > 15
    assert is_in_sight(window, ".choices .sure summary")
    window.close()


def test_the_rules_of_the_game_are_beside_the_table(window: Window) -> None:
    window.sit_down("yunnan", 2)
    with window.context.expect_page() as opened:
        window.page.get_by_role("link", name="The rules of Yunnan").click()
    assert opened.value.locator("h1").inner_text().endswith("Yunnan")
    assert window.decision == "1"


def test_an_answer_that_the_server_does_not_take_can_be_sent_again(window: Window) -> None:
    def refuse(route: Any) -> None:
        if route.request.method == "POST":
            route.fulfill(status=503, body="<main id=main>busy</main>")
        else:
            route.continue_()

    window.sit_down("yunnan", 2)
    window.page.route("**/play/table/*", refuse)
    window.page.locator(".choices button").first.click()
    window.page.wait_for_function(
        "() => document.querySelector('body > [role=status]').textContent.includes('try again')"
    )
    window.page.unroute("**/play/table/*")
    window.wrong.clear()  # that status
    window.choose()
    window.until_next("1")


# --- two clicks, two windows --------------------------------------------------------------------------


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
    window.until_ready(second)
    window.press(0)
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
