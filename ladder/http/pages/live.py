"""The matches that are being played."""

from __future__ import annotations

from ladder.http.requests.asked import Asked, Page
from ladder.questions.matches import PlayingRequest


def live(asked: Asked) -> Page:
    """Return the list of what is being played."""
    return Page("live.html", {"matches": asked.desk.ask(PlayingRequest()).matches})
