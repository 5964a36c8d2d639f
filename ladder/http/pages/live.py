"""The running matches."""

from __future__ import annotations

from ladder.http.requests.asked import Asked, Page
from ladder.questions.matches import PlayingRequest


def live(asked: Asked) -> Page:
    """Return the list of running matches."""
    return Page("live.html", {"matches": asked.desk.ask(PlayingRequest()).matches})
