"""The options for the format of a tournament, shared by `dogana tournament new` and `dogana ladder event new`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.tournament.plan import MAX_BLOCKS, MAX_SEATS, MIN_SEATS, Format, Scoring

GamesOption = Annotated[
    list[str],
    typer.Option(
        "--game", help="The game; may be given several times, and each table plays all of them.", metavar="GAME"
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="The rule for the pairings.")]
SeatsOption = Annotated[
    int, typer.Option(help="The number of seats at a table.", min=MIN_SEATS, max=MAX_SEATS, metavar="NUMBER")
]
BlocksOption = Annotated[
    int,
    typer.Option(
        help="The number of seeds for each table, each played in every rotation of the seats.",
        min=1,
        max=MAX_BLOCKS,
        metavar="NUMBER",
    ),
]
AdvanceOption = Annotated[
    int | None,
    typer.Option(
        help="In a knockout: the number of entrants that advance from each table.",
        show_default="1",
        min=1,
        max=2,
        metavar="NUMBER",
    ),
]
ScoringOption = Annotated[Scoring, typer.Option(help="The points for a match.")]
