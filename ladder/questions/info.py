"""Which ladder this is."""

from __future__ import annotations

from ladder.questions.question import Count, Ladder, Request, Row, question
from referee.registry import games
from referee.version import installed_version


class InfoAnswer(Row):
    """Which ladder this is."""

    dogana: str
    """The version of Dogana that runs it."""
    games: list[str]
    """The games that it plays, as in `dogana games`."""
    author: str
    """The author whose token was shown; empty without one."""
    matches: Count
    """How many matches count."""
    address: str = ""
    """Where bots at home connect and matches are watched (gRPC), as `HOST:PORT`; empty if nowhere."""


class InfoRequest(Request[InfoAnswer]):
    """Asks which ladder this is."""


@question("/info")
def info(ladder: Ladder, request: InfoRequest) -> InfoAnswer:
    """Tell which ladder this is."""
    return InfoAnswer(
        dogana=installed_version(),
        games=list(games()),
        author=ladder.caller.author,
        matches=ladder.facts.results.count_of_matches(),
        address=ladder.address,
    )
