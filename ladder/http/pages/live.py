"""The running matches."""

from __future__ import annotations

from ladder.http.requests.visit import Page, Visit
from ladder.questions.matches import PlayingRequest


def live(visit: Visit) -> Page:
    """Return the list of running matches."""
    return Page("live.html", {"matches": visit.desk.ask(PlayingRequest()).matches})
