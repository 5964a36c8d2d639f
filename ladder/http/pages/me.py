"""The pages of an author's own bots: their standings, their recent faults, their logs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ladder.facts.standings import STOPPED, Status
from ladder.http.requests.visit import BadQuestion, Page, Visit
from ladder.operation.errors import Forbidden, LadderError
from ladder.questions.bots import BotsRequest, ShowRequest
from ladder.questions.match import BotLog, LogRequest
from ladder.questions.matches import MatchesRequest
from ladder.questions.rows import MatchRow, SeatRow
from referee.bots.files import ARCHIVES, MAX_BYTES
from referee.bots.manifest import RUNNERS
from referee.match.result import Outcome

MAX_BOTS = 20
"""The maximum number of an author's bots whose recent faults are looked up."""
MAX_FAULTS = 5
"""The maximum number of faults of each bot on the page."""
TAIL_LINES = 60
"""The maximum number of lines of a log on a page with other content."""
MAX_LOG_LINES = 2000
"""The maximum number of lines on the page of a log."""
_WORDS = {Status.ACTIVE: "plays", Status.UNTRIED: "qualifies now, or as soon as the ladder plays"}


def me(visit: Visit, left: int) -> Page:
    """Return the author's own page; `left` is the number of bots that they may submit now."""
    bots = [one for one in visit.desk.ask(BotsRequest()).bots if one.author == visit.caller.author]
    faults = [fault for one in bots[:MAX_BOTS] for fault in _faults(visit, f"{one.bot} v{one.version}")]
    faults.sort(key=lambda fault: fault[0].finished_at, reverse=True)
    return Page("me.html", {"bots": bots, "faults": faults, "left": max(left, 0), "words": _WORDS})


def _faults(visit: Visit, label: str) -> Iterator[tuple[MatchRow, SeatRow]]:
    for match in visit.desk.ask(MatchesRequest(bot=label, out=True, limit=MAX_FAULTS)).matches:
        for seat in match.seats:
            if f"{seat.bot} v{seat.version}" == label and seat.outcome != Outcome.PLAYED.value:
                yield match, seat


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


def my_bot(visit: Visit) -> Page:
    """Return the page of one of the author's bots, with its qualification.

    Raises:
        NotFound: if there is no such bot.
        Forbidden: if it belongs to another author.
    """
    found = visit.desk.ask(ShowRequest(bot=visit.names["bot"]))
    if found.author != visit.caller.author:
        raise Forbidden(f"{found.bot} is another author's bot")
    newest = found.versions[-1]
    statuses = [standing.status for standing in newest.standings]
    waits = not statuses or Status.UNTRIED in statuses
    log: Sequence[BotLog] = ()
    why_not = ""
    if any(status in (Status.FAILED, Status.SUSPENDED) for status in statuses):
        try:
            log = visit.desk.ask(LogRequest(what=f"{found.bot} v{newest.version}", tail=TAIL_LINES)).logs
        except LadderError as error:
            why_not = str(error)
    return Page(
        "my_bot.html",
        {
            "bot": found,
            "newest": newest,
            "sent": _sent(visit.query.get("sent", "")),
            "waits": waits,
            "can_requalify": any(status in STOPPED for status in statuses),
            "can_retire": any(status != Status.RETIRED for status in statuses) or not statuses,
            "log": log,
            "has_failed": Status.FAILED in statuses,
            "why_not": why_not,
            "words": _WORDS,
        },
    )


def _sent(text: str) -> str:
    """Return the submitted version that the link names: `new`, or an earlier one such as `v2`; ignore any other text."""
    return text if re.fullmatch(r"new|v[0-9]{1,9}", text, re.ASCII) else ""


def my_log(visit: Visit) -> Page:
    """Return the page with the logs of the author's bots in a match (`what`, and perhaps `seat`), or of a bot in its last match.

    Raises:
        BadQuestion: if neither is named.
        LadderError: if there is no such log, or the author may not read it.
    """
    what, seat = visit.query.get("what", ""), visit.query.get("seat", "")
    if not what:
        raise BadQuestion("name a match, or a bot: log?what=...")
    request = LogRequest(what=what, tail=MAX_LOG_LINES)
    if seat:
        if not (seat.isascii() and seat.isdecimal() and len(seat) <= 3):
            raise BadQuestion("seat is a number from 0")
        request.seat = int(seat)
    return Page("my_log.html", {"what": what, "logs": visit.desk.ask(request).logs})
