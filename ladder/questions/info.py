"""A description of the ladder."""

from __future__ import annotations

from ladder.questions.question import Count, Ladder, Request, Row, question
from referee.registry import games
from referee.version import installed_version


class InfoAnswer(Row):
    """A description of the ladder."""

    dogana: str
    """The version of Dogana that runs the ladder."""
    games: list[str]
    """The games that the ladder plays, as in `dogana games`."""
    author: str
    """The author to whom the caller's token belongs; empty without a token."""
    matches: Count
    """The number of counted matches."""
    address: str = ""
    """The gRPC address for bots at home and spectators, as `HOST:PORT`; empty if there is none."""


class InfoRequest(Request[InfoAnswer]):
    """Asks for a description of the ladder."""


@question("/info")
def info(ladder: Ladder, request: InfoRequest) -> InfoAnswer:
    """Describe this ladder."""
    return InfoAnswer(
        dogana=installed_version(),
        games=list(games()),
        author=ladder.caller.author,
        matches=ladder.facts.results.count_of_matches(),
        address=ladder.address,
    )
