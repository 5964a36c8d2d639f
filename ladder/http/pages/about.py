"""The page on the meaning of the numbers."""

from __future__ import annotations

from ladder.facts.history import LAST_MATCHES
from ladder.facts.standings import SUSPENDED_AFTER
from ladder.http.requests.visit import Page, Visit
from ladder.model.rating import MU, SIGMA
from ladder.model.schedule import NEW_BLOCKS
from ladder.questions.in_words import NOT_YET


def ratings(_: Visit) -> Page:
    """Return the page that explains ratings and standings."""
    return Page(
        "about_ratings.html",
        {
            "mu": MU,
            "sigma": SIGMA,
            "not_yet": NOT_YET,
            "new_blocks": NEW_BLOCKS,
            "suspended_after": SUSPENDED_AFTER,
            "last_matches": LAST_MATCHES,
        },
    )
