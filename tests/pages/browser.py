"""Pages of matches in a browser: keys, focus, links, what a screen reader is told, phones, strangers' text.

They need a browser, so they are none of `make test`: `make pages` runs them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from referee.pages import match
from referee.pages.match import make_page
from referee.registry import find, games
from tests.pages.conftest import Recorded, find_sparing
from tests.pages.payloads import pictures_of
from tests.pages.test_page import MARKUP, hostile, lines_of, payload, silent, written

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("no browser: apt-get install chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'dogana-arena[pages]'")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe: pip install 'dogana-arena[pages]'")

WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 400, "height": 800}
LAPTOP = {"width": 1280, "height": 720}
FRAMING = Path(match.__file__).parents[2] / "ladder" / "http" / "static" / "match.js"
"""What the page of a match on a ladder does with the viewer in its frame."""
MIN_PIXELS = 44
"""How wide and high a button must be to be hit with a finger."""


class Site:
    """Pages by name, with the payload of each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data: dict[str, dict[str, Any]] = {}

    def add(self, name: str, record: Path, *, seats_too: bool = True) -> None:
        page = make_page(record, find_sparing, silent, seats_too=seats_too)
        (self.folder / f"{name}.html").write_text(page.html)
        self.data[name] = payload(page)

    def link(self, name: str, place: str = "") -> str:
        return (self.folder / f"{name}.html").as_uri() + place


TABLES = [(game, seats) for game in games() for seats in find(game).seat_counts]
NAMES = [f"{game}-{which}" for game in games() for which in ("fewest", "most")]


@pytest.fixture(scope="session")
def site(recorded: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Pages of all games; those with the most seats break off, because drawing takes long."""
    folder = tmp_path_factory.mktemp("site")
    made = Site(folder)
    for game in games():
        counts = find(game).seat_counts
        made.add(f"{game}-fewest", recorded(game, counts.start))
        cut = lines_of(recorded(game, counts.stop - 1))[:50]
        made.add(f"{game}-most", written(folder / "cut.jsonl", cut))
    made.add("hostile", hostile(folder / "hostile.jsonl"))
    made.add("public", recorded("yunnan", 2), seats_too=False)
    return made


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's browser."""
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM)
        yield started
        started.close()


class Opened:
    """A page that was opened, and what went wrong in it."""

    def __init__(self, browser: Any, link: str, *, clock: bool = False, **context: Any) -> None:
        self._context = browser.new_context(**{"viewport": WIDE, **context})
        self.page = self._context.new_page()
        self.errors: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append("dialog: " + dialog.message))
        if clock:
            self.page.clock.install(time=0)
        self.page.goto(link)
        if context.get("java_script_enabled", True):
            self.page.wait_for_selector("#player:not([hidden])")
        if clock:
            self.page.clock.pause_at(3600)  # else it runs on while the test does something

    def close(self) -> None:
        self._context.close()
        assert self.errors == []

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def step(self) -> int:
        return int(self.page.locator("#slider").input_value())

    @property
    def place(self) -> str:
        return str(self.page.evaluate("location.hash"))

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).text_content())

    def shows(self, picture: str) -> bool:
        """Whether the board is this picture, element by element."""
        return bool(
            self.page.evaluate(
                "(picture) => new DOMParser().parseFromString(picture, 'image/svg+xml')"
                ".documentElement.isEqualNode(document.querySelector('#board > svg'))",
                picture,
            )
        )


@pytest.fixture
def opened(browser: Any, site: Site) -> Iterator[Any]:
    """Opens pages; none may have met an error when the test ends."""
    all_opened: list[Opened] = []

    def open_page(name: str, place: str = "", **arguments: Any) -> Opened:
        all_opened.append(Opened(browser, site.link(name, place), **arguments))
        return all_opened[-1]

    yield open_page
    for page in all_opened:
        page.close()


@pytest.mark.parametrize("name", NAMES)
def test_stepping_on_and_back_shows_the_referees_pictures(opened: Any, site: Site, name: str) -> None:
    page = opened(name)
    pictures = list(pictures_of(site.data[name], None))
    last = len(pictures) - 1
    assert page.shows(pictures[0])
    for step in range(1, 13):
        page.press("ArrowRight")
        assert page.shows(pictures[step])
    page.press("End")
    assert page.step == last
    assert page.shows(pictures[-1])
    page.press("ArrowRight")
    assert page.step == last
    for step in range(last - 1, last - 13, -1):
        page.press("ArrowLeft")
        assert page.shows(pictures[step])
    page.press("1", "Home", "ArrowRight")
    assert page.shows(list(pictures_of(site.data[name], 1))[1])
    assert not page.shows(pictures[-1])


@pytest.mark.parametrize("name", NAMES)
def test_on_a_phone_nothing_is_cut_off_and_buttons_can_be_hit(opened: Any, name: str) -> None:
    page = opened(name, "#s=30", viewport=PHONE, has_touch=True).page
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    sizes = page.evaluate(
        "[...document.querySelectorAll('button, select, summary, input[type=range]')].filter((e) => e.offsetParent)"
        ".map((e) => [e.id, e.getBoundingClientRect().width, e.getBoundingClientRect().height])"
    )
    assert len(sizes) > 15
    assert not [size for size in sizes if min(size[1:]) < MIN_PIXELS]
    page.locator("#zoom").click()
    assert page.evaluate("board.scrollWidth > board.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_every_key_does_what_the_list_says(opened: Any, site: Site) -> None:
    page = opened("cargo_noir-fewest")
    data = site.data["cargo_noir-fewest"]
    rounds = [step for step, _ in data["rounds"]]
    page.press("Shift+ArrowRight")
    assert page.step == rounds[1]
    page.press("]")
    assert page.step == rounds[2]
    page.press("[", "Shift+ArrowLeft")
    assert page.step == rounds[0]
    page.press(".")
    run = next(n for n, seat in enumerate(data["seat"]) if seat != data["seat"][0])
    assert page.step == run
    page.press(",")
    assert page.step == 0
    scores = [step for step, _ in data["scores"][1:]]
    page.press("n", "n")
    assert page.step == scores[1]
    page.press("p")
    assert page.step == scores[0]
    page.press("p")
    assert page.text("#now") == "no earlier score"
    page.press("f")
    assert page.page.locator("#view").input_value() == "0"
    page.press("f", "f")
    assert page.page.locator("#view").input_value() == ""
    page.press("9")
    assert page.text("#now") == "there is no seat 9"
    page.press("?")
    assert page.page.locator("#keys dl").is_visible()
    page.press("Control+End", "Alt+ArrowRight")
    assert page.step == scores[0]


def test_keys_work_while_a_button_or_the_slider_has_the_focus(opened: Any) -> None:
    page = opened("yunnan-fewest")
    page.page.locator("#on").focus()
    page.press("ArrowRight", "End", "ArrowLeft")
    last = page.step
    page.press("Enter", "Enter")
    assert page.step == last + 1
    page.page.locator("#slider").focus()
    page.press("Home", "ArrowRight", "ArrowRight", "ArrowLeft")
    assert page.step == 1
    page.press("f")
    assert page.place == "#s=1&as=0"
    page.page.locator("#kind").focus()
    page.press("r")  # a select takes letters: `round`
    assert page.page.locator("#kind").input_value() == "round"
    assert page.step == 1


def test_everything_is_reached_with_the_tab_key(opened: Any) -> None:
    page = opened("yunnan-fewest")
    reached = []
    for _ in range(30):
        page.press("Tab")
        reached.append(page.page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    wanted = page.page.evaluate(
        "[...document.querySelectorAll('#player button, #player select, #player input')].map((e) => e.id)"
    )
    assert [name for name in wanted if name not in reached] == []
    assert reached.count("SUMMARY") >= 2
    assert page.page.evaluate("document.querySelectorAll('#lines button:not([tabindex=\"-1\"])').length") == 1


def test_a_link_leads_to_a_step_and_a_seats_view(opened: Any) -> None:
    page = opened("venezia-fewest", "#s=21&as=1")
    assert (page.step, page.page.locator("#view").input_value()) == (21, "1")
    page.press("ArrowRight")
    assert page.place == "#s=22&as=1"
    page.page.evaluate("location.hash = '#s=5'")
    sync_api.expect(page.page.locator("#slider")).to_have_value("5")
    assert page.page.locator("#view").input_value() == ""


@pytest.mark.parametrize(
    "place", ["#s=999999", "#s=-1&as=7", "#s=1e9", "#<img src=x onerror=alert(1)>", "#s=%00&as=__proto__"]
)
def test_a_link_that_leads_nowhere_is_no_error(opened: Any, site: Site, place: str) -> None:
    page = opened("yunnan-fewest", place)
    assert page.step in (0, len(site.data["yunnan-fewest"]["seat"]))
    assert page.page.locator("#view").input_value() == ""


def test_the_live_region_tells_each_step(opened: Any, site: Site) -> None:
    page = opened("cargo_noir-fewest")
    data = site.data["cargo_noir-fewest"]
    count = len(data["seat"])
    assert page.text("#live") == f"step 0 of {count}: start of the match"
    for step in range(1, 6):
        page.press("ArrowRight")
        _, what, *changed = data["log"][step - 1]
        text = page.text("#live")
        assert text.startswith(f"step {step} of {count}: seat {data['seat'][step - 1]} (bot{data['seat'][step - 1]}) ")
        assert data["texts"][what] in text
        assert f"; {len(changed)} change" in text
    page.press("ArrowLeft")
    assert page.text("#live").startswith("back to step 4")
    page.press("End")
    assert "The match is over; first: seat" in page.text("#live")
    assert re.fullmatch(r"turn \d+ of \d+", page.text("#moment"))
    value = page.page.locator("#slider").get_attribute("aria-valuetext")
    assert re.fullmatch(rf"step {count} of {count}, turn \d+, seat \d", value)


def test_a_seats_view_tells_in_the_log_what_the_seat_knew(opened: Any, site: Site) -> None:
    data = site.data["venezia-fewest"]
    step = next(n for n, entry in enumerate(data["log"], start=1) if entry[0] == -1)
    seat = data["seat"][step - 1]
    page = opened("venezia-fewest", f"#s={step}")
    line = page.page.locator("#lines [aria-current]")
    assert "decides in secret" in line.text_content()
    page.press(str(seat))
    assert "decides in secret" not in line.text_content()
    page.press(str(1 - seat))
    assert "decides in secret" in line.text_content()


@pytest.mark.parametrize("place", ["#s=1", "#s=30", "#s=999"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", ["venezia-fewest", "hostile"])
def test_the_line_of_the_step_is_in_sight(opened: Any, name: str, viewport: dict[str, int], place: str) -> None:
    page = opened(name, place, viewport=viewport).page
    box, line = (page.locator(part).bounding_box() for part in ("#lines", "#lines [aria-current]"))
    assert line["y"] >= box["y"] - 1
    assert line["y"] + line["height"] <= box["y"] + box["height"] + 1 or line["y"] < box["y"] + 3


def test_a_line_of_the_log_and_a_place_in_a_chart_lead_to_their_step(opened: Any, site: Site) -> None:
    page = opened("yunnan-fewest")
    page.page.locator("#lines button").nth(3).click()
    assert page.step == 3
    assert page.page.locator("#lines [aria-current]").text_content().startswith("3 · seat")
    lane = page.page.locator(".lane").first
    lane.click(position={"x": lane.bounding_box()["width"] - 1, "y": 5})
    assert page.step == len(site.data["yunnan-fewest"]["seat"])


def test_playing_shows_every_choice_and_stops_at_the_end(opened: Any, site: Site) -> None:
    page = opened("yunnan-fewest", clock=True)
    by = site.data["yunnan-fewest"]["by"]
    last = len(by)
    choices = [n for n, decider in enumerate(by, start=1) if decider != "f" or n == last]
    seen = []
    page.press("Space")
    for _ in range(4):
        page.page.clock.run_for(300)
        seen.append(page.step)
    assert seen == choices[:4]
    assert page.page.locator("#play").get_attribute("aria-label") == "Pause"
    page.press("Space")
    page.page.clock.run_for(5000)
    assert page.step == seen[-1]
    page.press("End", "ArrowLeft", "Space")
    page.page.clock.run_for(2000)
    assert page.step == last
    assert page.page.locator("#play").get_attribute("aria-label") == "Play"


def test_stepping_while_playing_pauses(opened: Any) -> None:
    page = opened("yunnan-fewest", clock=True)
    page.press("Space", "End", "Home", "ArrowRight")
    page.page.clock.run_for(5000)
    assert page.step == 1


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize(
    ("name", "viewport"), [("cargo_noir-fewest", WIDE), ("hostile", PHONE), ("valparaiso-most", PHONE)]
)
def test_axe_finds_nothing_serious(opened: Any, name: str, viewport: dict[str, int], scheme: str) -> None:
    page = opened(name, "#s=10", viewport=viewport, color_scheme=scheme).page
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    sync_api.expect(page.locator("#said li").nth(1)).to_be_visible()
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (rule["id"], rule["nodes"][0]["html"][:200]) for rule in found if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_text_of_strangers_is_shown_as_text(opened: Any) -> None:
    page = opened("hostile")
    assert page.page.evaluate("document.querySelectorAll('img, iframe, [onload], [onerror]').length") == 0
    body = page.text("body")
    assert "<img src=x onerror=alert(1)>" in body
    assert body.count(MARKUP[:30]) > 5
    page.press("n")
    assert "is out (crash): </script>" in page.text("#now")
    assert "default: the seat is out" in page.text("#lines")


def test_jumps_lead_to_faults_first_if_there_are_any(opened: Any, site: Site) -> None:
    page = opened("hostile", "#s=2")
    assert page.page.locator("#kind").input_value() == "fault"
    page.press("p")
    assert page.step == site.data["hostile"]["troubles"][1][0]
    assert "fault" in page.page.locator("#now").get_attribute("class")


def test_a_record_that_breaks_off_is_reported_at_the_top(opened: Any) -> None:
    page = opened("yunnan-most")
    notice = page.page.get_by_role("alert")
    assert "This record does not hold: line 51" in notice.text_content()
    assert notice.is_visible()


def test_a_page_without_seats_views_says_so(opened: Any) -> None:
    page = opened("public", "#as=1")
    assert page.page.locator("#view").is_disabled()
    page.press("1")
    assert page.text("#now") == "this page does not show what seats knew"


def test_without_scripts_the_result_and_the_last_picture_stand_there(opened: Any, site: Site) -> None:
    page = opened("cargo_noir-fewest", java_script_enabled=False).page
    assert page.locator("#board > svg").is_visible()
    assert page.locator("#result tbody tr").count() == 2
    for hidden in ("#player", "#log", "#charts", "#words"):
        assert not page.locator(hidden).is_visible()


def test_an_embedded_page_leaves_out_what_the_page_around_it_says_and_its_keys_work(opened: Any) -> None:
    page = opened("yunnan-fewest", "#s=3&embed")
    for hidden in ("header", "#result", "footer"):
        assert not page.page.locator(hidden).is_visible()
    for selector in ("#board > svg", "#log", "#charts"):
        assert page.page.locator(selector).is_visible()
    page.press("ArrowRight")
    assert page.place == "#s=4&embed"


@pytest.mark.parametrize("way", ["double tap", "key"])
def test_the_board_is_made_larger_where_it_is_tapped_and_small_again(opened: Any, way: str) -> None:
    page = opened("cargo_noir-fewest", "#s=9", viewport=PHONE, has_touch=True, is_mobile=True)
    board = page.page.locator("#board")
    box = board.bounding_box()
    small = page.page.evaluate("board.scrollWidth")

    def toggle(part: float) -> None:
        if way == "key":
            page.press("z")
        else:
            for _ in range(2):
                page.page.touchscreen.tap(box["x"] + box["width"] * part, box["y"] + box["height"] * 0.5)

    toggle(0.9)
    page.page.wait_for_function("(small) => board.scrollWidth > 2 * small", arg=small)
    middle = page.page.evaluate("(board.scrollLeft + board.clientWidth / 2) / board.scrollWidth")
    assert middle > 0.8 if way == "double tap" else 0.4 < middle < 0.6
    assert page.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    toggle(0.1)  # elsewhere, since four taps on one place are no two double taps
    page.page.wait_for_function("(small) => board.scrollWidth === small", arg=small)
    page.press("z", "Escape")
    assert page.page.evaluate("board.scrollWidth") == small
    assert page.page.locator("#zoom").get_attribute("aria-pressed") == "false"
    assert page.step == 9


@pytest.fixture
def served(site: Site) -> Iterator[str]:
    """The address of the pages on a server, for frames: a file does not tell a frame where it is from."""
    handler = partial(QuietHandler, directory=site.folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def seated(recorded: Recorded, site: Site) -> Callable[[str, int], str]:
    """Gives the name of a page of a game with a number of seats: its first steps, and a notice above the board."""

    @cache
    def made(game: str, seats: int) -> str:
        name = f"{game}-{seats}"
        cut = lines_of(recorded(game, seats))[:14]
        site.add(name, written(site.folder / f"{name}.jsonl", cut), seats_too=False)
        return name

    return made


PARTS = ("#board > svg", "#now", "#slider", "#first", "#mark-on", "#view", "#zoom", "#lines", "#lines [aria-current]")
"""What a spectator has in view while stepping through a match."""


def parts_out_of_sight(frame: Any, window: dict[str, int]) -> list[str]:
    """The parts that are not wholly in the part of a page that can be seen, whose upper end is shown."""
    found = []
    for part in PARTS:
        box = frame.evaluate("(part) => document.querySelector(part).getBoundingClientRect().toJSON()", part)
        if (
            box["top"] < -1
            or box["bottom"] > window["height"] + 1
            or not -1 <= box["left"] < box["right"] <= window["width"] + 1
        ):
            found.append(f"{part}: {box}")
    return found


@pytest.mark.parametrize("place", ["#s=3", "#s=99999"])
@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_board_buttons_and_actions_are_seen_together(
    opened: Any, seated: Callable[[str, int], str], game: str, seats: int, place: str
) -> None:
    page = opened(seated(game, seats), place, viewport=LAPTOP).page
    assert parts_out_of_sight(page, LAPTOP) == []
    assert page.locator("#lines").bounding_box()["height"] > 150
    page.locator("#charts").scroll_into_view_if_needed()
    assert page.locator(".lane").first.is_visible()


@pytest.mark.parametrize("game", games())
def test_the_last_picture_is_in_sight_although_it_is_the_highest(opened: Any, game: str) -> None:
    page = opened(f"{game}-fewest", "#s=99999", viewport=LAPTOP).page
    assert parts_out_of_sight(page, LAPTOP) == []


@pytest.mark.parametrize("viewport", [LAPTOP, {"width": 1920, "height": 1080}], ids=["laptop", "wall"])
@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_in_a_frame_they_are_seen_together_too_and_charts_are_below(
    browser: Any,
    site: Site,
    served: str,
    seated: Callable[[str, int], str],
    game: str,
    seats: int,
    viewport: dict[str, int],
) -> None:
    name = seated(game, seats)
    (site.folder / "match.js").write_text(FRAMING.read_text())
    (site.folder / "framed.html").write_text(
        "<!DOCTYPE html><style>iframe { width: 100% }</style><h1 style='height: 400px'>A match</h1>"
        f"<iframe id=viewer height=700 src='{name}.html#embed&s=3'></iframe><p style='height: 2000px'>"
        "More</p><script src=match.js></script>"
    )
    page = browser.new_page(viewport=viewport)
    page.goto(f"{served}/framed.html#s=3")
    frame = page.frame_locator("#viewer")
    frame.locator("main.ready").wait_for()
    inside = page.frames[1]
    inside.wait_for_function("() => document.querySelector('main').style.getPropertyValue('--screen')")
    page.wait_for_function(
        "() => Math.abs(viewer.height - viewer.contentDocument.documentElement.scrollHeight) < 3"
        " && viewer.getBoundingClientRect().top < 1"
    )
    assert parts_out_of_sight(inside, viewport) == []
    assert frame.locator("#lines").bounding_box()["height"] > 150
    chart = frame.locator("#charts").bounding_box()
    assert chart["y"] > frame.locator("#board").bounding_box()["y"]
    assert frame.locator(".lane").first.is_visible()
    page.close()


def test_a_frame_takes_the_height_of_the_screen_from_the_page_around_it_alone(
    browser: Any, site: Site, served: str, seated: Callable[[str, int], str]
) -> None:
    (site.folder / "other.html").write_text(
        f"<!DOCTYPE html><iframe id=viewer width=1200 height=700 src='{seated('yunnan', 2)}.html#embed'></iframe>"
    )
    page = browser.new_page(viewport=LAPTOP)
    page.goto(f"{served}/other.html")
    inside = page.frames[1]
    inside.wait_for_selector("main.ready")
    script = "() => document.querySelector('main').style.getPropertyValue('--screen')"
    inside.evaluate("postMessage({ event: 'SCREEN', data: { height: 555 } }, '*')")
    for height in ("'1px;color:red'", "1e9", "-5", "NaN", "333"):
        page.evaluate(f"viewer.contentWindow.postMessage({{ event: 'SCREEN', data: {{ height: {height} }} }}, '*')")
    inside.wait_for_function(f"() => ({script})() !== ''")
    assert inside.evaluate(script) == "333px"
    page.close()


def test_a_spectator_of_a_match_that_is_over_reads_what_was_decided_in_secret(opened: Any, site: Site) -> None:
    data = site.data["venezia-fewest"]
    secret = [step for step, entry in enumerate(data["log"], start=1) if entry[1] == -1]
    assert secret
    page = opened("venezia-fewest", f"#s={secret[0]}")
    lines = page.page.evaluate(
        "[...document.querySelectorAll('#lines button b')].map((line) => line.textContent)"
    )  # the start of the match has no such part
    for step in secret:
        own = data["logs"][data["seat"][step - 1]][step - 1][1]
        assert lines[step - 1] == f"decides in secret: {data['texts'][own]}"
    assert page.text("#now").endswith(lines[secret[0] - 1])
    other = 1 - data["seat"][secret[0] - 1]
    page.press(str(other))
    assert page.text("#lines [aria-current] b") == "decides in secret"


def test_codes_and_changes_are_shown_to_those_who_ask_for_them(opened: Any) -> None:
    page = opened("yunnan-fewest", "#s=5").page
    assert page.locator("#lines code").first.text_content()
    assert page.locator("#lines :is(code, small)").evaluate_all("(all) => all.filter((e) => e.checkVisibility())") == []
    page.locator("#codes").check()
    assert page.locator("#lines [aria-current] code").is_visible()
    assert page.locator("#lines [aria-current] small").is_visible()
    page.locator("#codes").uncheck()
    assert not page.locator("#lines [aria-current] code").is_visible()


@pytest.mark.parametrize("place", ["#s=4", "#s=4&embed"])
def test_a_page_that_is_printed_shows_the_board_at_its_step(opened: Any, site: Site, place: str) -> None:
    page = opened("yunnan-fewest", place)
    page.page.emulate_media(media="print")
    assert page.shows(list(pictures_of(site.data["yunnan-fewest"], None))[4])
    box = page.page.locator("#board > svg").bounding_box()
    assert box["width"] > 300
    assert box["y"] + box["height"] <= WIDE["height"]
    for hidden in ("#player", "#log", "#charts"):
        assert not page.page.locator(hidden).is_visible()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, *_: Any) -> None:
        pass


def test_an_embedded_page_tells_its_height_to_the_page_around_it(browser: Any, site: Site, served: str) -> None:
    (site.folder / "around.html").write_text(
        "<!DOCTYPE html><script>addEventListener('message', (event) => {"
        "  if (event.data.event === 'RESIZE') frame.height = event.data.data.height; });</script>"
        "<iframe id=frame width=600 height=10 src='yunnan-fewest.html#s=3&embed'></iframe>"
    )
    page = browser.new_page()
    page.goto(f"{served}/around.html")
    fits = "() => frame.height > 300 && frame.contentDocument.documentElement.scrollHeight <= frame.height"
    page.wait_for_function(fits)
    high = page.evaluate("+frame.height")
    page.evaluate("frame.width = 900")
    page.wait_for_function(f"(high) => frame.height > high && ({fits})()", arg=high)
    page.close()


def test_the_log_groups_what_a_seat_does_in_one_turn(opened: Any, site: Site) -> None:
    page = opened("cargo_noir-fewest").page
    data = site.data["cargo_noir-fewest"]
    heads = page.evaluate("[...document.querySelectorAll('#lines .turn')].map((head) => head.textContent)")
    begins = {step for step, _ in data["rounds"]}
    runs = [
        seat
        for number, seat in enumerate(data["seat"])
        if not number or seat != data["seat"][number - 1] or number in begins or number + 1 in begins
    ]
    assert heads == [f"seat {seat} · bot{seat}" for seat in runs]
    assert len(runs) < len(data["seat"])
