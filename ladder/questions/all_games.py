"""One ranking over all games."""

from __future__ import annotations

from collections.abc import Mapping

from ladder.facts.fitted import fitted, fitted_overall
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.questions.question import Count, Ladder, Request, Row, question
from ladder.questions.rows import ConditionTerms, condition_terms


class GameShare(Row):
    """The share of rivals that a version would be ahead of in one game."""

    game: str
    """The name of the game."""
    share: float
    """The share of the other versions in this ranking that the version would be ahead of at tables of two,
    from 0 to 1."""


class OverallRow(Row):
    """The standing of a version over all games."""

    place: Count
    """The version's place, from 1, in the order of the table, which is the order of `low`."""
    best: Count
    """The best of the places that the version's matches leave open."""
    worst: Count
    """The worst of the places that the version's matches leave open; equal to `best` if the place is certain."""
    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version, from 1."""
    author: str
    """The author of the bot."""
    share: float
    """The share of the other versions in this ranking that the version would be ahead of, averaged over the games with
    equal weights."""
    low: float
    """The lower end of the 95 % range of `share`."""
    high: float
    """The upper end of the 95 % range of `share`."""
    games: list[GameShare]
    """The version's share in each game, in the order of `conditions`."""


class AllGamesAnswer(Row):
    """One ranking over all games."""

    conditions: list[ConditionTerms]
    """The condition that stands for each game: the one with the most blocks, or the oldest if several have the most.
    Games without matches are left out."""
    versions: list[OverallRow]
    """The versions with a strength in each of these games, best first; empty if fewer than two versions have one."""


class AllGamesRequest(Request[AllGamesAnswer]):
    """Asks for the ranking over all games."""


@question("/all-games")
def all_games(ladder: Ladder, request: AllGamesRequest) -> AllGamesAnswer:
    """List the versions that play all games, best first; each game has the same weight."""
    facts = ladder.facts
    # A game in which no version has a strength would leave nobody in the ranking.
    versions, conditions = facts.roster.versions(), [one for one in _main(facts).values() if fitted(facts, one)]
    return AllGamesAnswer(
        conditions=[condition_terms(one) for one in conditions],
        versions=[
            OverallRow(
                place=place,
                best=one.best,
                worst=one.worst,
                bot=versions[version].bot,
                version=versions[version].number,
                author=versions[version].author,
                share=one.share,
                low=one.low,
                high=one.high,
                games=[
                    GameShare(game=condition.game, share=share)
                    for condition, share in zip(conditions, one.by_game, strict=True)
                ],
            )
            for place, (version, one) in enumerate(fitted_overall(facts, conditions).items(), 1)
        ],
    )


def _main(facts: Store) -> Mapping[str, Condition]:
    """Return, for each game, the condition with the most blocks, or the oldest if several have the most."""
    found: dict[str, tuple[int, Condition]] = {}
    for condition in facts.roster.conditions().values():
        blocks = sum(facts.schedule.blocks_by_seats(condition).values())
        # The oldest comes first, so a later one needs more blocks.
        if condition.game not in found or blocks > found[condition.game][0]:
            found[condition.game] = blocks, condition
    return {game: condition for game, (_, condition) in found.items()}
