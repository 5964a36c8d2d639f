"""Make the pictures of the README, from a real match and a real ladder: `make pictures` (needs Chromium).

`python docs/pictures.py FOLDER` makes pictures of every page of that ladder instead, wide and narrow, light and dark, to look at.
"""

import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).with_name("images")
MATCH = ["yunnan", "greedy", "greedy", "greedy", "random", "--seed", "7"]
PICTURED, FIRST, LAST = 86, 70, 86
"""The step of the still picture, and the steps that the recording goes through."""
SIZE = {"width": 1120, "height": 800}
FRAME_MS = 900
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 400, "height": 800}
BOT = """
import random

from dogana.sdk import Decision, play


def choose(decision: Decision) -> int:
    return CHOICE


play(choose)
"""
GAMES = ("cargo_noir", "valparaiso", "venezia", "yunnan")
BOTS = {
    "hasty": ("ann", ["0"]),
    "dice": ("ben", ["random.randrange(decision.action_count)", "random.randrange((decision.action_count + 1) // 2)"]),
    "last": ("cleo", ["decision.action_count - 1"]),
}
"""The authors of some bots, and how each version of them chooses."""


def dogana(*arguments: object) -> None:
    """Run a command, and fail with it."""
    subprocess.run([sys.executable, "-m", "ladder", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def record_page(browser: Browser, page: Path) -> None:
    """Step through the page of a match, and keep what is seen as an animated picture."""
    tab = browser.new_page(viewport=SIZE)
    tab.goto(f"{page.as_uri()}#s={FIRST}")
    tab.wait_for_selector("main.ready")
    frames = []
    for _ in range(FIRST, LAST):
        frames.append(_picture(tab))
        tab.keyboard.press("ArrowRight")
    tab.close()
    frames[0].save(
        IMAGES / "replay.webp", save_all=True, append_images=frames[1:], duration=FRAME_MS, loop=0, quality=40
    )


def make_ladder(home: Path) -> None:
    """Let some bots play all games; one of them in two versions."""
    for version in range(2):
        for name, (author, choices) in BOTS.items():
            if version < len(choices):
                file = home.with_name(f"{name}.py")
                file.write_text(BOT.replace("CHOICE", choices[version]))
                dogana("ladder", "submit", file, "--name", name, "--author", author, "--home", home)
        # The bots are ours, so they need no sandbox.
        games = [word for game in GAMES for word in ("--game", game)]
        dogana("ladder", "run", "--matches", 120, *games, "--home", home, "--unconfined")


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Serve a ladder with all that can be done there; yield the address of its pages."""
    words = ["ladder", "serve", "--home", str(home), "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0", "--unconfined"]
    with subprocess.Popen(
        [sys.executable, "-m", "ladder", *words, "--workers", "1"], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            for line in process.stderr or ():
                if found := re.search(r"pages address=(http://\S+)/", line):
                    yield found[1]
                    break
        finally:
            process.terminate()
            process.communicate()


def _picture(tab: Any, **how: Any) -> Image.Image:
    return Image.open(io.BytesIO(tab.screenshot(**how))).convert("RGB")


def picture_pages(browser: Browser, address: str) -> None:
    """Make the pictures of the standings, and of a table at which a person plays."""
    tab = browser.new_page(viewport=WIDE, color_scheme="light")
    tab.goto(f"{address}/games/yunnan")
    _picture(tab).save(IMAGES / "standings.webp", quality=60)
    tab.goto(f"{address}/play/yunnan")
    tab.locator("main form button[type=submit]").last.click()
    tab.wait_for_selector("main fieldset")
    _picture(tab).save(IMAGES / "table.webp", quality=60)
    tab.close()


def picture_all(browser: Browser, address: str, folder: Path) -> None:
    """Make a picture of one page of each kind that links lead to, in each size and scheme."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting, seen = [f"{address}/"], set[str]()
    while waiting:
        page = waiting.pop(0)
        kind = re.sub(r"[0-9a-f]{16,20}", "ID", page.removeprefix(address)).partition("#")[0]
        kind = re.sub(r"(bots|games|play)/[a-z0-9_.-]+", r"\1/NAME", kind.partition("?")[0]).strip("/") or "start"
        if kind in seen or not page.startswith(address) or page.endswith((".xml", ".jsonl", ".json", ".png")):
            continue
        seen.add(kind)
        for size in (WIDE, NARROW):
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport=size, color_scheme=scheme)
                tab = context.new_page()
                tab.goto(page)
                tab.wait_for_timeout(1000)  # for frames inside
                name = f"{kind.replace('/', '-')}-{size['width']}-{scheme}.png"
                tab.screenshot(path=folder / name, full_page=True, timeout=120_000)  # rules are long
                waiting += tab.eval_on_selector_all("a[href]", "links => links.map(link => link.href)")
                context.close()


def main() -> None:
    """Make the pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no browser: apt-get install chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=chromium)
        make_ladder(folder / "ladder")
        if sys.argv[1:]:
            with served(folder / "ladder") as address:
                picture_all(browser, address, Path(sys.argv[1]))
            return
        record = folder / "match.jsonl"
        dogana("play", *MATCH, "--record", record)
        dogana("replay", record, "--at", PICTURED, "--svg", folder)
        (folder / f"{PICTURED:05}.svg").replace(IMAGES / "yunnan.svg")
        dogana("replay", record, "--html", folder / "match.html")
        record_page(browser, folder / "match.html")
        with served(folder / "ladder") as address:
            picture_pages(browser, address)


if __name__ == "__main__":
    main()
