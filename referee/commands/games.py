"""`dogana games`: list the games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer
from rich.table import Table

from referee.commands.output import out, print_json
from referee.game import Game
from referee.registry import find, house_bots
from referee.registry import games as all_games

_WIDE, _NARROW = 100, 80
"""The minimum terminal widths, in characters, for tables with titles and for tables with options."""


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
        _print_all(chosen)
    else:
        _print_one(chosen[0])


def _print_all(chosen: Sequence[Game]) -> None:
    columns: dict[str, Callable[[Game], str]] = {
        "game": lambda game: game.name,
        "title": lambda game: game.title,
        "seats": _seats,
        "house bots": lambda game: ", ".join(_bots(game)),
        "options": lambda game: ", ".join(option.name for option in game.options),
    }
    if out.width < _WIDE:
        del columns["title"]
    if is_narrow := out.width < _NARROW:
        del columns["options"]
    table = Table()
    for head in columns:
        table.add_column(head, no_wrap=head != "options")
    for game in chosen:
        table.add_row(*(text(game) for text in columns.values()))
    out.print(table)
    if is_narrow:
        out.print("the options of a game: dogana games GAME")


def _print_one(game: Game) -> None:
    out.print(f"{game.title} ({game.name}): {_seats(game)} seats; house bots: {', '.join(_bots(game))}")
    if out.width < _NARROW:
        for option in game.options:
            rule = f" (rule {option.rule})" if option.rule else ""
            out.print(f"{option.name}: {option.help}{rule}")
            out.print(f"  {option.describe_values()}; default: {str(option.default).lower()}")
        return
    table = Table()
    for head in ("option", "values", "default", "what it does", "rule"):
        table.add_column(head, no_wrap=head == "option", overflow="fold")
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
