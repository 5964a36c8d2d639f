"""Tables and long pages on a phone, and the contrast of what is shaded. `make pages` runs these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ladder.facts.store import Store
from ladder.operation.home import Home
from tests.ladder.announced import closed, play_out, set_clock
from tests.ladder.made import GAME
from tests.ladder.real_ladder import LONG
from tests.ladder.test_all_games import GAMES, many_games
from tests.web.browser import axe, browser, sync_api
from tests.web.conftest import browsing
from tests.web.hostile_ladder import hostile_ladder

__all__ = ["browser"]

PHONE = {"width": 390, "height": 844}
MIN_CONTRAST = 4.5
"""Of text against what is behind it, by WCAG 2.2, 1.4.3."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder that no test changes, with the longest name that a bot may have."""
    return hostile_ladder(tmp_path_factory.mktemp("phone") / "home")


@pytest.fixture(scope="module")
def url(home: Home) -> Iterator[str]:
    with browsing(home) as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture
def phone(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport=PHONE, has_touch=True)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def event_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of an event of two games, with a name as long as can be."""
    home = many_games(tmp_path_factory.mktemp("event") / "home", dict.fromkeys((*"abcdefgh", LONG), GAMES))
    with Store(home.database, create=False) as store, pytest.MonkeyPatch.context() as patch:
        both = tuple(store.roster.conditions().values())
        closed(store, set_clock(patch), conditions=both, top=9, seats=4, blocks=1)
        play_out(store, conditions=both)
    with browsing(home) as client:
        yield str(client.base_url.join("/events/final"))


def boxes(page: Any, selector: str) -> list[dict[str, float]]:
    """Where elements are."""
    found: list[dict[str, float]] = page.locator(selector).evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().toJSON())"
    )
    return found


def test_a_crosstable_shows_cells_and_keeps_the_names_in_sight(phone: Any, url: str) -> None:
    phone.goto(f"{url}/games/{GAME.name}/crosstable")
    row = ".crosstable >> nth=0 >> tbody tr:nth-child(1)"
    seen = [box for box in boxes(phone, f"{row} >> td") if box["right"] <= PHONE["width"]]
    assert len(seen) >= 3
    phone.locator(".wide").first.evaluate("(wide) => wide.scrollLeft = wide.scrollWidth")
    [name] = boxes(phone, f"{row} >> th")
    assert 0 <= name["left"] < 30
    last = boxes(phone, f"{row} >> td")[-1]
    assert name["right"] <= last["left"] < last["right"] <= PHONE["width"]
    cut = phone.locator(".crosstable tbody th", has_text=LONG).first
    assert cut.get_attribute("title") == f"{LONG} v1", "who points at it reads all of it"
    assert cut.locator("a").inner_text() == LONG, "and who hears it, hears all of it"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "media"), [(360, "screen"), (1200, "screen"), (1047, "print")])
def test_the_page_of_an_event_of_several_games_fits(
    browser: Any, event_url: str, width: int, media: str, scheme: str
) -> None:
    """1047 pixels are a sheet of A4 on its side, less the margins."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.emulate_media(media=media)
    page.goto(event_url)
    assert page.locator(".crosstable tbody tr").count() == 9
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert media == "print" or axe.Axe().run(page).response["violations"] == []
    context.close()


PAGES = {
    "start": "/",
    "standings": f"/games/{GAME.name}",
    "crosstable": f"/games/{GAME.name}/crosstable",
    "all games": "/all-games",
    "bots": "/bots",
    "bot": "/bots/best",
    "compare": "/compare?one=best&other=better",
}


@pytest.mark.parametrize("address", PAGES.values(), ids=PAGES)
def test_no_name_in_a_table_is_broken_within_a_word(phone: Any, url: str, address: str) -> None:
    phone.goto(url + address)
    phone.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    broken = phone.evaluate(
        """() => [...document.querySelectorAll('table bdi')].filter((name) => {
             const words = document.createRange();
             words.selectNodeContents(name);
             const lines = new Set([...words.getClientRects()].map((line) => Math.round(line.top)));
             return lines.size > name.textContent.split(/(?<=[^A-Za-z0-9])/).length;
           }).map((name) => name.textContent)"""
    )
    assert broken == []
    assert phone.locator("table bdi").count() > 3


def test_the_names_of_the_standings_stay_while_the_rest_is_scrolled(phone: Any, url: str) -> None:
    phone.goto(f"{url}/games/{GAME.name}")
    place, skill = (boxes(phone, f"#standings tbody tr:first-child > :nth-child({n})")[0] for n in (1, 3))
    assert place["left"] >= 0
    assert skill["right"] <= PHONE["width"]
    caption = boxes(phone, "#standings caption")[0]
    assert caption["right"] <= PHONE["width"], "it is not wider than the screen although the table is"
    assert max(box["height"] for box in boxes(phone, "#standings tbody tr")) < 130
    phone.locator(".wide").first.evaluate("(wide) => wide.scrollLeft = wide.scrollWidth")
    for name in boxes(phone, "#standings tbody th"):
        assert 0 <= name["left"] < name["right"] < PHONE["width"] / 2


def test_the_page_of_a_bot_is_three_screens_and_the_rest_unfolds(phone: Any, url: str) -> None:
    phone.goto(f"{url}/bots/best")
    assert phone.evaluate("document.documentElement.scrollHeight") < 3 * PHONE["height"]
    matches = phone.locator("table", has=phone.locator("caption", has_text="The last matches of version"))
    sync_api.expect(matches).to_be_hidden()
    phone.locator("summary", has_text="The last 15 matches").click()
    sync_api.expect(matches).to_be_visible()
    summary = boxes(phone, "summary")
    assert min(box["height"] for box in summary if box["height"]) >= 44


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_cell_of_a_crosstable_can_be_read(browser: Any, url: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{url}/games/{GAME.name}/crosstable")
    contrasts = page.evaluate(
        """() => {
             const ink = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
             const light = (colour) => {
               ink.fillStyle = colour;
               ink.fillRect(0, 0, 1, 1);
               const [r, g, b] = [...ink.getImageData(0, 0, 1, 1).data].map((part) => part / 255)
                 .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
               return 0.2126 * r + 0.7152 * g + 0.0722 * b;
             };
             const ground = getComputedStyle(document.body).backgroundColor;
             return [...document.querySelectorAll('.crosstable td, .crosstable td small')].map((one) => {
               const cell = one.closest('td');
               const behind = cell.className ? getComputedStyle(cell).backgroundColor : ground;
               const [low, high] = [light(getComputedStyle(one).color), light(behind)].sort((a, b) => a - b);
               return [cell.className, (high + 0.05) / (low + 0.05)];
             });
           }"""
    )
    context.close()
    assert {kind for kind, _ in contrasts} == {"", "well", "poorly"}
    assert min(contrast for _, contrast in contrasts) >= MIN_CONTRAST


def test_on_the_smallest_phone_the_bars_of_the_standings_are_in_sight(browser: Any, url: str) -> None:
    """A bar that is cut off at the right says something else: of the strong bots, nothing is seen."""
    context = browser.new_context(viewport={"width": 360, "height": 760})
    page = context.new_page()
    page.goto(f"{url}/games/{GAME.name}")
    narrow = [box for box in boxes(page, "#standings tbody .bar") if box["right"] > 360]
    context.close()
    assert narrow == []


def test_on_a_laptop_the_last_column_of_the_standings_is_in_sight(browser: Any, url: str) -> None:
    """The status says why a version is not rated."""
    context = browser.new_context(viewport={"width": 1280, "height": 760})
    page = context.new_page()
    page.goto(f"{url}/games/{GAME.name}")
    hidden = page.locator(".wide").first.evaluate("(wide) => wide.scrollWidth - wide.clientWidth")
    context.close()
    assert hidden == 0
