"""`dogana position`: read a position file, and print its faults or the legal actions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.commands.options import ForceOption
from referee.commands.output import out, print_json, target
from referee.files import check_free, write_file
from referee.game import label
from referee.records.changes import describe
from referee.records.position import PositionError, read_position, write_position
from referee.registry import find


def position(
    file: Annotated[
        Path, typer.Argument(help="A position; the game's RULES.md describes its entries.", metavar="FILE")
    ],
    svg: Annotated[
        Path | None, typer.Option(help="Draw the position into this file.", metavar="PATH", parser=target)
    ] = None,
    force: ForceOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a position and its legal actions.

    It lists the legal actions of every seat that is to act, or all problems of the position. The exit status is 0
    only if the position can be played.

    Examples:

      dogana position position.json

      dogana position position.json --svg position.svg
    """
    if svg is not None:
        # This comes before anything is read or printed, as in all commands that write.
        check_free(svg, force=force)
    try:
        found = read_position(file, find)
    except PositionError as error:
        if as_json:
            print_json({"problems": error.problems})
        else:
            for problem in error.problems:
                out.print(f"wrong: {file}: {problem}", soft_wrap=True)
        raise typer.Exit(1) from error
    game, setup, state = found.game, found.setup, found.state
    if svg is not None:
        write_file(svg, game.draw(setup, state.observation(None)))
    to_act = {seat: list(map(label, state.legal_actions(seat))) for seat in state.seats_to_act()}
    if as_json:
        print_json({"problems": [], "to_act": to_act, "position": write_position(game, setup, state)})
        return
    out.print(f"{game.title}, {setup.seats} seats")
    for line in describe(state.observation(None)):
        out.print(f"  {line}", soft_wrap=True)
    for seat, legal in to_act.items():
        out.print(f"seat {seat} is to act: {', '.join(legal)}", soft_wrap=True)
    if not to_act:
        ranks = ", ".join(f"seat {seat}: {rank}" for seat, rank in enumerate(state.ranks()))
        out.print(f"the match is over; places: {ranks}")
