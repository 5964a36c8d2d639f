"""The steps for entering a bot: ten lines of code, a test at home, and two ways to submit it."""

from __future__ import annotations

from functools import cache
from importlib import resources

from ladder.http.requests.visit import Page, Visit
from referee.registry import games


@cache
def ten_lines() -> str:
    """Return the bot of the README."""
    return resources.files("ladder.http").joinpath("mybot.txt").read_text()


def enter(visit: Visit) -> Page:
    """Return the page that explains how to enter a bot."""
    return Page(
        "enter.html",
        {"ten_lines": ten_lines(), "game": next(iter(games())), "url": visit.site.url or "URL"},
    )
