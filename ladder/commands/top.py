"""`dogana ladder top`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from ladder.commands.options import AsJson, HomeOption
from ladder.commands.tables import table
from ladder.condition import Condition, agree
from ladder.errors import LadderError
from ladder.home import Home
from ladder.standings import Standing, standings
from ladder.store import Store
from referee.commands.options import DEFAULT_CLOCK, GameOptions, read_clock, read_options
from referee.commands.output import out, print_json
from referee.game import OptionValue
from referee.registry import find, games


def top(
    home: HomeOption,
    game: Annotated[str | None, typer.Argument(help="One game; all of them if left out.")] = None,
    clock: Annotated[str | None, typer.Option(help="Only standings under this clock.")] = None,
    option: GameOptions = None,
    as_json: AsJson = False,
) -> None:
    """Show the standings, best first by mu - 3 sigma: the skill that a bot has almost certainly.

    A standing is of one condition: a game, its options and a clock. There is a table for each under which the game was
    run; --clock and --option choose among them.

    "different" is the number of matches behind mu and sigma: a match that was played exactly like an earlier one between
    the same versions in the same seats is no new evidence, and is not rated again.

    Examples:

      dogana ladder top

      dogana ladder top cargo_noir --json

      dogana ladder top cargo_noir --clock 600+5/60 --option last_turn=6
    """
    if option and game is None:
        raise LadderError("options are those of one game; name it: dogana ladder top GAME --option K=V")
    names = list(games()) if game is None else [find(game).name]
    options = None if option is None else agree(find(names[0]), read_options(option), None).options
    control = None if clock is None else str(read_clock(clock))
    with Store(Home(home).database, create=False) as store:
        listed = {
            condition: [_entry(condition, *one) for one in enumerate(standings(store, condition), 1)]
            for name in names
            for condition in _conditions(store, name, control, options)
        }
    if as_json:
        print_json([entry for entries in listed.values() for entry in entries])
        return
    for condition, entries in listed.items():
        if entries or game is not None:
            _print(f"{find(condition.game).title} ({condition.terms})", entries)


def _conditions(
    store: Store, game: str, clock: str | None, options: Mapping[str, OptionValue] | None
) -> list[Condition]:
    """Return the conditions of a game that were asked for; the one that a run has by default if there was no run.

    Raises:
        LadderError: if there was a run, but none under such a condition.
    """
    known = store.conditions_of(game)
    if not known:
        return [Condition(0, game, options or {}, clock or DEFAULT_CLOCK)]
    found = [one for one in known if clock in (None, one.clock) and options in (None, one.options)]
    if not found:
        raise LadderError(
            f"{game} was not run under that condition, but under: {'; '.join(one.terms for one in known)}"
        )
    return found


def _entry(condition: Condition, place: int, standing: Standing) -> dict[str, object]:
    rating, version = standing.rating, standing.version
    return {
        "game": condition.game,
        "options": dict(condition.options),
        "clock": condition.clock,
        "place": None if rating is None else place,
        "bot": version.bot,
        "version": version.number,
        "author": version.author,
        "mu": None if rating is None else rating.mu,
        "sigma": None if rating is None else rating.sigma,
        "low": None if rating is None else rating.low,
        "matches": standing.tally.matches,
        "different": standing.tally.different,
        "wins": standing.tally.wins,
        "out": standing.tally.faults,
        "status": standing.status.value + (f": {standing.reason}" if standing.reason else ""),
    }


def _print(title: str, entries: list[dict[str, object]]) -> None:
    numbers = ("mu", "sigma", "mu - 3 sigma", "matches", "different", "wins", "out")
    rated = [entry for entry in entries if entry["place"] is not None]
    listed = table("", "bot", "author", *numbers, numbers={"", *numbers}, widths={"mu - 3 sigma": 6}, title=title)
    for entry in rated:
        listed.add_row(
            str(entry["place"]),
            f"{entry['bot']} v{entry['version']}",
            str(entry["author"]),
            *(f"{entry[key]:.2f}" for key in ("mu", "sigma", "low")),
            *(str(entry[key]) for key in ("matches", "different", "wins", "out")),
        )
    out.print(listed if rated else title)
    notes: dict[str, list[str]] = {}
    for entry in entries:
        if entry["status"]:
            notes.setdefault(str(entry["status"]), []).append(f"{entry['bot']} v{entry['version']}")
    for status, bots in notes.items():
        out.print(f"{', '.join(bots)}: {status}", soft_wrap=True)
    out.print()
