"""A sentence about how a match was won."""

from __future__ import annotations

from collections.abc import Sequence

from ladder.archive.faults import Lead
from ladder.questions.match import SeatAccount
from referee.match.result import Outcome
from referee.terminal import listed, visible


def sentence(seats: Sequence[SeatAccount], lead: Lead | None = None) -> str:
    """Describe the margin of a win and the start of the winner's lead; return an empty text for a match without a result."""
    if not seats:
        return ""
    winners = [one for one in seats if one.rank == 1]
    rest = sorted((one for one in seats if one.rank > 1), key=lambda one: (one.rank, one.seat))
    if len(winners) > 1:
        return f"{listed([_name(one) for one in winners])} share the first place with {_points(winners[0].score)}."
    [winner] = winners
    said = f"{_name(winner)} won with {_points(winner.score)}"
    if rest:
        said += f", {_margin(winner, rest[0])}"
    return f"{said}{_since(lead)}.{_mainly(winner)}"


def _margin(winner: SeatAccount, second: SeatAccount) -> str:
    ahead = winner.score - second.score
    if second.outcome != Outcome.PLAYED.value:
        return f"before {_name(second)}, which was put out with {_points(second.score)}"
    if ahead == 0:
        return f"level with {_name(second)}, where the tie-break of the rules decided"
    return f"{ahead} ahead of {_name(second)}" if ahead > 0 else f"before {_name(second)} with {_points(second.score)}"


def _since(lead: Lead | None) -> str:
    if lead is None:
        return ""
    if lead.at == 0:
        return "; it led from the beginning"
    where = "with the last step" if lead.at == lead.of else f"at step {lead.at} of {lead.of}"
    return f"; it took the lead for good {where}" + (f", in {lead.round}" if lead.round else "")


def _mainly(winner: SeatAccount) -> str:
    """Name the main source of the winner's points."""
    most = max(winner.breakdown, key=lambda one: one.points, default=None)
    if most is None or not 0 < most.points < winner.score:
        return ""
    return f" {most.points} of its points are for {visible(most.source)}."


def _name(one: SeatAccount) -> str:
    return visible(one.bot)


def _points(score: int) -> str:
    return f"{score} point" if abs(score) == 1 else f"{score} points"
