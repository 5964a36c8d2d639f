"""The meaning of the numbers."""

from __future__ import annotations

from ladder.facts.history import LAST_MATCHES
from ladder.facts.standings import SUSPENDED_AFTER
from ladder.http.requests.visit import Page, Visit
from ladder.model.rating import APART, MU, SIGMA
from ladder.model.schedule import NEW_BLOCKS


def ratings(_: Visit) -> Page:
    """Return the page that explains ratings and standings."""
    return Page(
        "about_ratings.html",
        {
            "mu": MU,
            "sigma": SIGMA,
            "apart": APART,
            "new_blocks": NEW_BLOCKS,
            "suspended_after": SUSPENDED_AFTER,
            "last_matches": LAST_MATCHES,
        },
    )
