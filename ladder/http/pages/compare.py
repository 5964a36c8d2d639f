"""Two bots side by side."""

from __future__ import annotations

from ladder.http.pictures.charts import axis_of, bar, scale
from ladder.http.requests.visit import Page, Visit
from ladder.questions.bots import BotsRequest
from ladder.questions.comparing import CompareRequest, VersionComparison
from ladder.questions.rows import MatchRow

_MAX_NAME = 80
_MAX_OFFERED = 500
"""The maximum number of names in the form."""


def compare(visit: Visit) -> Page:
    """Return the page with two bots side by side, or a form to choose them.

    Raises:
        LadderError: if there is no such bot, or both are the same version.
    """
    one, other = (visit.query.get(name, "").strip()[:_MAX_NAME] for name in ("one", "other"))
    names = [bot.bot for bot in visit.desk.ask(BotsRequest()).bots[:_MAX_OFFERED]]
    found = visit.desk.ask(CompareRequest(one=one, other=other)) if one and other else None
    compared = []
    for comparison in found.comparisons if found is not None else ():
        axis = axis_of([comparison.one, comparison.other])
        rows = [(standing, bar(standing, axis)) for standing in (comparison.one, comparison.other)]
        ranks = [_ranks(match, comparison) for match in comparison.matches]
        compared.append((comparison, rows, scale(axis), list(zip(comparison.matches, ranks, strict=True))))
    return Page("compare.html", {"one": one, "other": other, "names": names, "found": found, "compared": compared})


def _ranks(match: MatchRow, comparison: VersionComparison) -> tuple[int, int]:
    ranks = {(seat.bot, seat.version): seat.rank for seat in match.seats}
    one, other = comparison.one, comparison.other
    return ranks[one.bot, one.version], ranks[other.bot, other.version]
