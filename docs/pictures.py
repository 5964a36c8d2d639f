"""Make the pictures of the README from a real match: `make pictures` (needs Chromium)."""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).with_name("images")
MATCH = ["yunnan", "greedy", "greedy", "greedy", "random", "--seed", "7"]
PICTURED, FIRST, LAST = 86, 70, 86
"""The step of the still picture, and the steps that the recording goes through."""
SIZE = {"width": 1120, "height": 800}
FRAME_MS = 900


def dogana(*arguments: object) -> None:
    """Run a command, and fail with it."""
    subprocess.run([sys.executable, "-m", "ladder", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def record_page(page: Path) -> None:
    """Step through the page of a match, and keep what is seen as an animated picture."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no browser: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        tab = browser.new_page(viewport=SIZE)
        tab.goto(f"{page.as_uri()}#s={FIRST}")
        tab.wait_for_selector("main.ready")
        frames = []
        for _ in range(FIRST, LAST):
            frames.append(Image.open(io.BytesIO(tab.screenshot())).convert("RGB"))
            tab.keyboard.press("ArrowRight")
        browser.close()
    frames[0].save(
        IMAGES / "replay.webp", save_all=True, append_images=frames[1:], duration=FRAME_MS, loop=0, quality=40
    )


def main() -> None:
    """Play the match, and make both pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record = folder / "match.jsonl"
        dogana("play", *MATCH, "--record", record)
        dogana("replay", record, "--at", PICTURED, "--svg", folder)
        (folder / f"{PICTURED:05}.svg").replace(IMAGES / "yunnan.svg")
        dogana("replay", record, "--html", folder / "match.html")
        record_page(folder / "match.html")


if __name__ == "__main__":
    main()
