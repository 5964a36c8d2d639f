"""The standings."""

from __future__ import annotations

from msgspec import field

from ladder.questions.choosing import chosen_conditions
from ladder.questions.question import Count, Ladder, Request, Row, Text, question
from ladder.questions.rows import ConditionTerms, StandingRow, condition_terms, standing_table


class StandingsTable(Row):
    """The standings under one condition."""

    condition: ConditionTerms
    """The condition of the standings."""
    versions: list[StandingRow]
    """Every version that plays the game: the rated ones, best first, then the others."""
    blocks: Count
    """The number of blocks scheduled under the condition."""


class TopAnswer(Row):
    """The standings, in a table for each condition."""

    tables: list[StandingsTable]
    """A table for each requested condition."""


class TopRequest(Request[TopAnswer]):
    """Asks for standings."""

    game: Text = ""
    """List only standings of this game; the standings of all games if empty."""
    clock: Text = ""
    """List only standings under this clock; any clock if empty."""
    options: dict[Text, Text] = field(default_factory=dict)
    """List only standings under these options: all options that are not the game's defaults, written as on the command
    line. They apply only if `by_options` is true."""
    by_options: bool = False
    """True if `options` applies."""


@question("/standings")
def top(ladder: Ladder, request: TopRequest) -> TopAnswer:
    """List the standings, best first.

    Raises:
        LadderError: if there was a run of the game, but none under such a condition.
        DoganaError: if there is no such game, or it has no such options.
    """
    chosen = chosen_conditions(ladder.facts, request.game, request.clock, request.options, request.by_options)
    return TopAnswer(
        tables=[
            StandingsTable(
                condition=condition_terms(condition),
                versions=standing_table(ladder.facts, condition),
                blocks=sum(ladder.facts.schedule.blocks_by_seats(condition).values()),
            )
            for condition in chosen
        ]
    )
