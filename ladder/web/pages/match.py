"""A match: who won and why, what everybody's points, times and faults were, and how to look further."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from dogana.v1 import ladder_pb2 as pb
from ladder.errors import Forbidden, NotFound
from ladder.retention import KEPT, by_retention
from ladder.web.asked import Asked, Page
from ladder.web.told import clock_in_words
from referee.match.result import Outcome
from referee.terminal import visible

MAX_LEGAL = 30
"""How many legal actions of a lost decision are listed."""

RECENT = 50
"""Among how many of the last matches one is looked for whose steps cannot be seen yet."""
OTHERS = 3
"""To how many running matches its page leads."""


def match(asked: Asked) -> Page:
    """Return the page of a match; one that says when it can be seen, if it cannot be seen yet.

    Raises:
        LadderError: if there is no such match, or several.
    """
    name = asked.names["match"]
    try:
        found = asked.desk.match(pb.MatchRequest(match=name))
    except Forbidden as error:
        playing = asked.desk.playing(pb.PlayingRequest()).matches
        now = next((one for one in playing if one.match.startswith(name)), None)
        last = asked.desk.matches(pb.MatchesRequest(limit=RECENT)).matches
        values = {
            "reason": str(error),
            "playing": now,
            "played": next((one for one in last if one.match.startswith(name)), None),
            "others": playing[:OTHERS],
        }
        return Page("match_later.html", values, status=403)
    except NotFound:
        raise NotFound(f"there is no match {visible(name, 64)}; the page of each game lists its matches") from None
    seats = sorted(found.seats, key=lambda one: (one.rank, one.seat))
    own = next((one for one in found.block if one.match == found.match), None)
    return Page(
        "match.html",
        {
            "found": found,
            "own": own,
            "seats": seats,
            "changes": {} if own is None else {one.seat: one for one in own.seats},
            "named": [named(bot) for bot in found.bots],
            "sentence": sentence(found),
            "sources": sources(seats),
            "clock": clock_in_words(found.condition.clock) if found.HasField("condition") else "",
            "others": [one for one in found.block if one.match != found.match],
            "fragment": found.moment.partition("#")[2],
            "pruned": f"{by_retention('the record of this match was', found.pruned_at)}; {KEPT}"
            if found.pruned_at
            else "",
            "max_legal": MAX_LEGAL,
            "has_preview": found.is_recorded and not found.problem and find_spec("resvg_py") is not None,
        },
    )


def named(label: str) -> tuple[str, str | None]:
    """Return the name and the version of a bot that is called like this in a record; None if it says no version."""
    bot, _, version = label.rpartition(" v")
    return (bot, version) if bot and version.isdigit() else (label, None)


def sentence(found: pb.MatchAnswer) -> str:
    """Say how a match was won: by how much, and since when the winner led; empty if it has no result."""
    if not found.seats:
        return ""
    winners = [one for one in found.seats if one.rank == 1]
    rest = sorted((one for one in found.seats if one.rank > 1), key=lambda one: (one.rank, one.seat))
    if len(winners) > 1:
        return f"{_listed([_name(one) for one in winners])} share the first place with {_points(winners[0].score)}."
    [winner] = winners
    said = f"{_name(winner)} won with {_points(winner.score)}"
    if rest:
        said += f", {_margin(winner, rest[0])}"
    return f"{said}{_since(found)}.{_mainly(winner)}"


def _margin(winner: pb.SeatTraces, second: pb.SeatTraces) -> str:
    ahead = winner.score - second.score
    if second.outcome != Outcome.PLAYED.value:
        return f"before {_name(second)}, which was put out with {_points(second.score)}"
    if ahead == 0:
        return f"level with {_name(second)}, where the tie-break of the rules decided"
    return f"{ahead} ahead of {_name(second)}" if ahead > 0 else f"before {_name(second)} with {_points(second.score)}"


def _since(found: pb.MatchAnswer) -> str:
    if not found.HasField("lead"):
        return ""
    if found.lead.at == 0:
        return "; it led from the beginning"
    of = f" of {found.lead.of}" if found.lead.of else ""  # an older server does not say it
    where = "with the last step" if found.lead.at == found.lead.of else f"at step {found.lead.at}{of}"
    return f"; it took the lead for good {where}" + (f", in {found.lead.round}" if found.lead.round else "")


def _mainly(winner: pb.SeatTraces) -> str:
    """Say what the winner has most of its points for."""
    most = max(winner.breakdown, key=lambda one: one.points, default=None)
    if most is None or not 0 < most.points < winner.score:
        return ""
    return f" {most.points} of its points are for {visible(most.source)}."


def _name(one: pb.SeatTraces) -> str:
    return visible(one.bot)


def _points(score: int) -> str:
    return f"{score} point" if abs(score) == 1 else f"{score} points"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def sources(seats: Sequence[pb.SeatTraces]) -> list[tuple[str, list[int]]]:
    """Return what points were for, with the points of each seat; without what nobody has got points for."""
    rows: dict[str, list[int]] = {}
    for at, one in enumerate(seats):
        for points in one.breakdown:
            rows.setdefault(points.source, [0] * len(seats))[at] += points.points
    return [(source, points) for source, points in rows.items() if any(points)]
