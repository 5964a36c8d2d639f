"""A bot: its versions, and the history of one of them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from ladder.http.pictures.charts import curve, curve_in_words
from ladder.http.rendering.wording import status_of
from ladder.http.requests.visit import Page, Visit
from ladder.questions.bots import Performance, ShowRequest, VersionRow
from ladder.questions.matches import MatchesRequest
from ladder.questions.rows import MatchRow, SeatRow

LAST = 15
"""The number of the bot's most recent matches that the page lists."""
LAST_OUT = 10
"""The number of the bot's most recent matches with a fault of its own that the page lists."""
MOST_VERSIONS = 20
"""The maximum number of versions of the bot on the page."""
MOST_CONDITIONS = 6
"""The maximum number of conditions on the page."""
MOST_MET = 30
"""The maximum number of opponents under each condition."""
MOST_BLOCKS = 20
"""The maximum number of blocks below a curve."""


def bot(visit: Visit) -> Page:
    """Return the page of a bot, for the version in the query or, without one, for the newest version that has played.

    Raises:
        LadderError: if there is no such bot or version.
    """
    name = visit.names["bot"]
    every = visit.desk.ask(ShowRequest(bot=name))
    number = visit.number("version", 0, 1_000_000) or _last_played(every.versions)
    is_newest = number == every.versions[-1].version
    found = every if is_newest else visit.desk.ask(ShowRequest(bot=f"{every.bot} v{number}"))
    label = f"{every.bot} v{number}"
    matches = visit.desk.ask(MatchesRequest(bot=label, limit=LAST)).matches
    return Page(
        "bot.html",
        {
            "bot": every.bot,
            "author_of_bot": every.author,
            "version": number,
            "versions": [
                (one, [(standing, status_of(standing)) for standing in one.standings])
                for one in reversed(every.versions[-MOST_VERSIONS:])
            ],
            "older": max(0, len(every.versions) - MOST_VERSIONS),
            "newest": every.versions[-1].version,
            "fared": [_fared(one) for one in found.fared[:MOST_CONDITIONS]],
            "left_out": max(0, len(found.fared) - MOST_CONDITIONS),
            "matches": [(match, *_seats(match, every.bot, number)) for match in matches],
            "outs": [
                (match, _seats(match, every.bot, number)[0])
                for match in visit.desk.ask(MatchesRequest(bot=label, out=True, limit=LAST_OUT)).matches
            ],
            "events": every.events,
            "is_own": every.is_own,
            # Bots at home keep their own logs.
            "has_logs": bool(matches) and not any(one.standing.at_home for one in found.fared),
            "commands": _reproducing(visit, label, every.bot, number) if every.is_own else (),
        },
    )


def _last_played(versions: Sequence[VersionRow]) -> int:
    """Return the number of the newest version with matches, or of the newest version if none has any."""
    played = [one.version for one in versions if any(standing.matches for standing in one.standings)]
    return (played or [versions[-1].version])[-1]


def _fared(fared: Performance) -> dict[str, Any]:
    """Return the template's values for a version under a condition."""
    history = fared.history
    return {
        "standing": fared.standing,
        "faults": sorted(fared.faults.items(), key=lambda entry: (-entry[1], entry[0])),
        "curve": curve(history),
        "in_words": curve_in_words(history) if history else "",
        "blocks": list(reversed(history))[:MOST_BLOCKS],
        "seats": fared.seats,
        "met": fared.met[:MOST_MET],
        "met_left_out": max(0, len(fared.met) - MOST_MET),
        "thinking": fared.thinking,
        "used": fared.used,
        "telemetry": fared.telemetry,
    }


def _seats(match: MatchRow, bot: str, version: int) -> tuple[SeatRow, list[SeatRow]]:
    """Return the seat of a version in a match, and the other seats sorted by place."""
    own = next(seat for seat in match.seats if (seat.bot, seat.version) == (bot, version))
    return own, sorted((seat for seat in match.seats if seat is not own), key=lambda seat: (seat.rank, seat.seat))


def _reproducing(visit: Visit, label: str, bot: str, version: int) -> Sequence[str]:
    """Return the commands that ask a bot the questions of its last lost match again; none if it has lost no match."""
    lost = visit.desk.ask(MatchesRequest(bot=label, lost=True, limit=1)).matches
    if not lost:
        return ()
    own, _ = _seats(lost[0], bot, version)
    match, server = lost[0].match, ["--server", visit.site.url] if visit.site.url else []
    return [
        shlex.join(["dogana", "ladder", "record", match, "--to", f"{match}.jsonl", *server]),
        shlex.join(["dogana", "replay", f"{match}.jsonl", "--as", str(own.seat), "--bot", "PATH"]),
        shlex.join(["dogana", "ladder", "log", match, str(own.seat), *server]),
    ]
