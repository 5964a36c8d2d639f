"""The form for submitting a bot."""

from __future__ import annotations

from ladder.http.requests.visit import Page, Visit
from referee.bots.files import ARCHIVES, MAX_BYTES
from referee.bots.manifest import RUNNERS


def submit(visit: Visit, left: int, *, bot: str = "", reason: str = "", status: int = 200) -> Page:
    """Return the page with the form.

    Args:
        visit: the request.
        left: the number of bots that the author may submit now.
        bot: the name that was entered before.
        reason: the reason for refusing the previous submission; empty if none was refused.
        status: the HTTP status.
    """
    return Page(
        "submit.html",
        {
            "left": max(left, 0),
            "bot": bot or visit.query.get("bot", ""),
            "reason": reason,
            "endings": [*RUNNERS, *ARCHIVES],
            "most": MAX_BYTES // 1024**2,
        },
        status,
    )
