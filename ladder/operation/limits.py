"""The limits on callers, and the allowances that they have left at one server.

Limits that concern one door alone are there: connections and pages at a time in `ladder/http/requests/`, calls at a time in
`ladder/service/server.py`.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field

from ladder.operation.meter import Allowance, AtATime, Meter

REQUESTS = Allowance("requests", 600, 60)
"""The requests of an author, or of an address without a token."""
FILE_REQUESTS = 5
"""The number of requests that one for a file counts as."""
GUESSES = Allowance("wrong tokens", 60, 60)
"""The wrong tokens of an address."""
SUBMISSIONS = Allowance("submissions", 50, 86_400)
"""The submissions of an author, including new versions of bots at home and second chances: each costs a match in every game."""
UPLOADED = Allowance("bytes of submissions", 2 * 1024**3, 86_400)
"""The submitted bytes of an author."""
CONNECTIONS = Allowance("connections", 60, 600)
"""The connections of an author's bots at home: each is written down, and lets a run look at its queue again."""
MAX_OPEN = 256
"""The number of unanswered requests of one address: enough for a lecture hall behind one."""
MAX_UPLOADS = 8
"""The number of bots that may be on their way at a time; an author sends one at a time."""
MAX_READERS = 32
"""The number of records and audit logs that are sent at a time: an audit log is a temporary file meanwhile."""
MAX_READERS_OF_ONE = 4
"""The number of them for one caller."""
MAX_STREAMS = 256
"""The number of browsers that follow matches at a time."""
MAX_STREAMS_OF_ONE = 128
"""The number of them at one address."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The remaining allowances of all callers of one server. The pages and the streams are two: each process counts its own."""

    open: AtATime = field(
        default_factory=lambda: AtATime(
            MAX_OPEN, sys.maxsize, "too many requests come from your address at a time; come back in a minute", ""
        )
    )
    requests: Meter = field(default_factory=lambda: Meter(REQUESTS))
    guesses: Meter = field(default_factory=lambda: Meter(GUESSES))
    submissions: Meter = field(default_factory=lambda: Meter(SUBMISSIONS))
    uploaded: Meter = field(default_factory=lambda: Meter(UPLOADED))
    connections: Meter = field(default_factory=lambda: Meter(CONNECTIONS))
    uploads: AtATime = field(
        default_factory=lambda: AtATime(
            1,
            MAX_UPLOADS,
            "one of your bots is being sent already; wait until it has arrived",
            "too many bots are being sent at the moment; come back in a minute",
        )
    )
    files: AtATime = field(
        default_factory=lambda: AtATime(
            MAX_READERS_OF_ONE,
            MAX_READERS,
            f"{MAX_READERS_OF_ONE} files are being sent to you already; read them first",
            "too many files are being sent at the moment; come back in a minute",
        )
    )
    streams: AtATime = field(
        default_factory=lambda: AtATime(
            MAX_STREAMS_OF_ONE,
            MAX_STREAMS,
            f"more than {MAX_STREAMS_OF_ONE} matches are followed from your address; close one",
            "too many people follow matches; come back in a minute",
        )
    )

    def submissions_left(self, author: str) -> int:
        """Return how many bots an author may send now."""
        return math.floor(self.submissions.change(author, 0))
