"""The limits on callers, and each caller's remaining allowances on one server.

Limits that concern only one kind of server are defined beside it: concurrent connections and pages in
`ladder/http/requests/`, and the calls of a connection in `ladder/service/server.py`. All times are in seconds.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field

from ladder.operation.meter import Allowance, AtATime, Meter
from ladder.operation.threads import WAIT_SECONDS

REQUESTS = Allowance("requests", 600, 60)
"""The allowance for the requests of an author, or of an address without a token."""
FILE_REQUESTS = 5
"""The number of requests that a request for a file costs."""
GUESSES = Allowance("wrong tokens", 60, 60)
"""The allowance for the wrong tokens of an address."""
SUBMISSIONS = Allowance("submissions", 50, 86_400)
"""The allowance for an author's submissions, new versions of bots at home and second chances; all cost matches."""
UPLOADED = Allowance("bytes of submissions", 2 * 1024**3, 86_400)
"""The allowance for the bytes that an author submits."""
CONNECTIONS = Allowance("connections", 60, 600)
"""The allowance for the connections of an author's bots at home.

Each connection is stored, and makes a run read its queue again."""
MAX_OPEN = 256
"""The maximum number of unanswered requests from one address; it suffices for a lecture hall behind that address."""
MAX_UPLOADS = 8
"""The maximum number of bots that all authors together may send at a time; each author may send one."""
MAX_READERS = 32
"""The maximum number of records, audit logs and archives of bots that are sent at a time.

It is limited because most of them need temporary files."""
MAX_READERS_OF_ONE = 4
"""The maximum number of records, audit logs and archives of bots that are sent to one caller at a time."""
MAX_STREAMS = 256
"""The maximum number of browsers that follow matches at a time."""
MAX_STREAMS_OF_ONE = 128
"""The maximum number of browsers at one address that follow matches at a time."""


@dataclass(frozen=True, slots=True)
class TableLimits:
    """The limits on people who play at tables.

    Attributes:
        laid: an address's allowance for new tables; each takes processor time, even if the person leaves at once.
        hosted: the maximum number of authors' bots at all tables; each may use as much memory as on the ladder.
        gone_seconds: the time without a request from its page after which a table is cleared, as the page must have been closed.
            Browsers let a hidden page send a request once a minute.
        retention_seconds: the time for which a finished match is stored.
        sweep_seconds: the interval between searches for tables to clear.
        news_seconds: the maximum duration of a request for news, which is less than a stopping server waits for open requests.
        waiting: the maximum number of waiting requests for news; others are answered at once.
    """

    laid: Meter = field(default_factory=lambda: Meter(Allowance("tables", 120, 600)))
    hosted: int = 4
    gone_seconds: float = 180.0
    retention_seconds: float = 7 * 86_400.0
    sweep_seconds: float = 30.0
    news_seconds: float = 0.8
    waiting: int = 32


@dataclass(frozen=True, slots=True)
class LiveLimits:
    """The limits on following matches.

    Attributes:
        picture_seconds: the minimum interval between two pictures of a match.
        beat_seconds: the maximum time without any data, because proxies close silent connections.
        linger_seconds: the time for which a match is followed after its last viewer has left.
        last_seconds: the time for which the last picture of a match stays available to browsers that have received its event.
        first_seconds: the time limit for the first picture of a match.
    """

    picture_seconds: float = 0.5
    beat_seconds: float = 15.0
    linger_seconds: float = 30.0
    last_seconds: float = 10.0
    first_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The limits on the gRPC calls of bots at home and of spectators.

    Attributes:
        beat_seconds: the interval between beats to a client that offers a bot.
        silent_seconds: the time without a message after which a client is treated as gone.
        leaving_seconds: the interval between checks of whether a bot that wants to leave is still in a match.
        seats: the maximum number of remembered seats; the oldest are forgotten first. The seats of a match that is over are
            forgotten only when its worker gets the next match, so this must be more than the number of seats open at a
            time.
        handshake_seconds: the time allowed for the TLS handshake of a connection.
        request_seconds: the time allowed for the request of a call to arrive.
        slow_seconds: the time allowed for a client to read a message of a stream.
        open_of_one: the maximum number of open calls of an author, or of an address without a token, on all their connections.
        lookups: the maximum number of lookups of callers and matches at a time; further ones wait for a moment, and are
            then refused.
        watchers: the maximum number of spectators at a time.
    """

    beat_seconds: float = 15.0
    silent_seconds: float = 45.0
    leaving_seconds: float = 1.0
    seats: int = 2000
    handshake_seconds: float = 120.0
    request_seconds: float = 10.0
    slow_seconds: float = 10.0
    open_of_one: int = 64
    lookups: int = 16
    watchers: int = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """The remaining allowances of all callers of one server.

    The pages and the streams are two servers, which count separately.
    """

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
            "one of your bots is already being sent; wait until it has arrived",
            "too many bots are being sent at the moment; come back in a minute",
        )
    )
    files: AtATime = field(
        default_factory=lambda: AtATime(
            MAX_READERS_OF_ONE,
            MAX_READERS,
            f"{MAX_READERS_OF_ONE} files are already being sent to you; read them first",
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
    thread_seconds: float = WAIT_SECONDS
    """The maximum time, in seconds, that a call waits for a thread."""
    form_seconds: float = 10.0
    """The time allowed for a form without a file to arrive."""
    piece_seconds: float = 30.0
    """The time allowed for the next chunk of a file to arrive."""
    upload_seconds: float = 600.0
    """The time allowed for a whole file to arrive; clients wait no longer."""
    tables: TableLimits = field(default_factory=TableLimits)
    live: LiveLimits = field(default_factory=LiveLimits)
    calls: CallLimits = field(default_factory=CallLimits)

    def submissions_left(self, author: str) -> int:
        """Return the number of bots that an author may submit now."""
        return math.floor(self.submissions.change(author, 0))
