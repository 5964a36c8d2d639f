"""What the numbers mean."""

from __future__ import annotations

from ladder.chronicle import LAST_MATCHES
from ladder.rating import APART, MU, SIGMA
from ladder.schedule import NEW_BLOCKS
from ladder.standings import SUSPENDED_AFTER
from ladder.web.asked import Asked, Page


def ratings(_: Asked) -> Page:
    """Return the page that says what ratings and standings mean."""
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
