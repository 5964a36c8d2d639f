"""Places and strengths in words, for commands and pages alike."""

from __future__ import annotations

from ladder.questions.all_games import OverallRow
from ladder.questions.rows import StandingRow

RANGES = (
    "± is the 95 % range of a strength: 95 of 100 such ranges contain the true strength, and more matches make them narrower."
    " The order is by the lower end of the range, so a bot with few matches can stand behind a weaker one that is better known."
    " Places such as 3 to 7 are all those that the matches so far leave open. The average strength is 25."
)
"""The explanation below a table of standings."""
ALL_GAMES = (
    "The share says how many of the others listed here a bot would be ahead of at tables of two, on average over the games: each game"
    " weighs the same. In brackets is the 95 % range of the share: 95 of 100 such ranges contain the true one."
    " The order is by the lower end of the range. Places such as 3 to 7 are all those that the matches so far leave open."
    " Only versions with a strength in each of the games are listed."
)
"""The explanation below the ranking over all games."""
NOT_YET = "not yet"
"""The text for a version that has no strength yet, because its matches are newer than the last fit."""
_WITHIN = 1.96
"""The number of standard deviations within which 95 % of a normal distribution lies."""


def open_places(one: StandingRow | OverallRow) -> str:
    """Return the places that the matches of a version leave open, such as `3 to 7`; `-` if they are not known."""
    if one.best is None:
        return "-"
    return str(one.best) if one.best == one.worst else f"{one.best} to {one.worst}"


def strength(one: StandingRow) -> str:
    """Return the strength of a version with its range, such as `26.4 ± 2.3`.

    It is `not yet` if the version's matches are newer than the last fit, and `-` if the version is not rated.
    """
    found = one.strength_range
    if found is not None:
        return f"{found.strength:.1f} ± {found.half:.1f}"
    return NOT_YET if one.place is not None else "-"


def live_rating(one: StandingRow) -> str:
    """Return the live rating of a version as mu ± 2 sigma, such as `26.4 ± 1.8`; `-` if it is not rated."""
    return "-" if one.rating is None else f"{one.rating.mu:.1f} ± {2 * one.rating.sigma:.1f}"


def share(one: OverallRow) -> str:
    """Return a share over all games with its range, such as `61.3 % (55.0 to 67.2)`."""
    return f"{100 * one.share:.1f} % ({100 * one.low:.1f} to {100 * one.high:.1f})"


def disagreement(one: StandingRow) -> str:
    """Describe a difference between live rating and strength beyond both ranges; return an empty text if there is none.

    The median difference is subtracted from live ratings, because their average drifts.
    """
    live, found = one.rating, one.strength_range
    if live is None or found is None or one.lift is None:
        return ""
    if abs(live.mu - one.lift - found.strength) <= _WITHIN * live.sigma + found.half:
        return ""
    difference = f", and live ratings are {abs(one.lift):.1f} {'higher' if one.lift > 0 else 'lower'} here"
    return (
        f"Its strength is {strength(one)}, and its live rating {live.mu:.1f} ± {_WITHIN * live.sigma:.1f}"
        # 0.05 is the smallest number that is not printed as 0.0.
        f"{difference if abs(one.lift) >= 0.05 else ''}. They differ by more than both ranges allow:"
        " the live rating takes each match as it comes, the strength weighs all matches at once. Places go by the strength."
    )
