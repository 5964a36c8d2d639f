"""`dogana games`: list what can be played."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from referee.commands.output import out, print_json
from referee.game import Game
from referee.registry import find, house_bots
from referee.registry import games as all_games


def games(
    name: Annotated[str | None, typer.Argument(help="Show one game with its options.", metavar="GAME")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List games, their options, and the house bots that play them.

    Examples:

      dogana games

      dogana games cargo_noir
    """
    chosen = list(all_games().values()) if name is None else [find(name)]
    if as_json:
        print_json([_described(game) for game in chosen])
    elif name is None:
        table = Table("game", "title", "seats", "options", "house bots")
        for game in chosen:
            options = ", ".join(option.name for option in game.options)
            table.add_row(game.name, game.title, _seats(game), options, ", ".join(_bots(game)))
        out.print(table)
    else:
        _print_one(chosen[0])


def _print_one(game: Game) -> None:
    out.print(f"{game.title} ({game.name}): {_seats(game)} seats; house bots: {', '.join(_bots(game))}")
    table = Table("option", "values", "default", "what it does", "rule")
    for option in game.options:
        default = str(option.default).lower()
        table.add_row(option.name, option.describe_values(), default, option.help, option.rule)
    out.print(table)


def _described(game: Game) -> dict[str, object]:
    return {
        "game": game.name,
        "title": game.title,
        "seats": list(game.seat_counts),
        "house_bots": _bots(game),
        "options": [
            {
                "name": option.name,
                "values": option.describe_values(),
                "default": option.default,
                "help": option.help,
                "rule": option.rule,
            }
            for option in game.options
        ],
    }


def _seats(game: Game) -> str:
    return f"{game.seat_counts.start}-{game.seat_counts.stop - 1}"


def _bots(game: Game) -> list[str]:
    return [name for name, bot in house_bots().items() if bot.plays(game)]
