"""Measure pages of matches: `python -m bench.pages RECORD...` prints where their bytes go, and how long a step takes.

The steps are shown in Chromium, from the slider's event to the end of layout, so on a busy machine they take longer.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from referee.commands.output import err, out
from referee.pages.match import make_page
from referee.registry import find

_PARTS = {
    "payload": r'id="payload"[^>]*>(.*?)</script>',
    "picture": r'<div id="board">(.*?)</div>',
    "script": r"<script>(.*?)</script>",
    "style": r"<style>(.*?)</style>",
}
_STEPS = """() => {
  const slider = document.getElementById("slider"), last = Number(slider.max);
  const show = (step) => {
    slider.value = step;
    const began = performance.now();
    slider.dispatchEvent(new Event("input"));
    document.querySelector("#board svg").getBoundingClientRect();
    return performance.now() - began;
  };
  const found = {};
  const middle = last >> 1, count = Math.min(100, middle);
  const ways = { forward: (n) => middle + n, back: (n) => middle - n, random: (n) => (n * 7919) % last };
  for (const [way, step] of Object.entries(ways)) {
    show(step(0));
    const took = Array.from({ length: count }, (_, n) => show(step(n + 1))).sort((a, b) => a - b);
    found[way] = [took[count >> 1], took[Math.floor(count * 0.95)]];
  }
  return found;
}"""
"""Steps on and back from the middle, and jumps; for each the median and the 95th percentile in milliseconds."""


def main() -> None:
    """Print a row for each record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", nargs="+", type=Path)
    parser.add_argument("--views", choices=("all", "public"), default="public")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for record in chosen.record:
            page = make_page(record, find, lambda drawn, pictures: None, seats_too=chosen.views == "all")
            html = Path(folder) / "page.html"
            html.write_text(page.html, encoding="utf-8")
            parts = ", ".join(f"{name} {_size(page.html, part)}" for name, part in _PARTS.items())
            all_of_it = f"{html.stat().st_size / 1000:.0f} KB: {parts}"
            out.print(f"{record.name}: {page.steps} steps, {1 + page.seats} views, {all_of_it}", soft_wrap=True)
            times = ", ".join(f"{way} {half:.1f} ({most:.1f})" for way, (half, most) in _times(html).items())
            out.print(f"  ms a step, median (95 %): {times or 'not measured'}", soft_wrap=True)


def _size(html: str, part: str) -> str:
    [found] = re.findall(part, html, re.DOTALL)
    return f"{len(found.encode()) / 1000:.0f}"


def _times(html: Path) -> dict[str, Any]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        err.print("steps are not measured: apt-get install chromium, pip install 'dogana-arena[pages]'", soft_wrap=True)
        return {}
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium).new_page()
        page.goto(html.as_uri())
        page.wait_for_selector("#player:not([hidden])")
        found: dict[str, Any] = page.evaluate(_STEPS)
        return found


if __name__ == "__main__":
    main()
