"""A person's request for a table, read from a form; its content comes from a stranger."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ladder.operation.errors import LadderError
from referee.game import Game, Seat, SetupError
from referee.options import OPENINGS, Option, OptionValue
from referee.registry import house_bots, shipped_board

PERSON = "person"
"""The name of the person's seat in the record."""
RANDOM_SEAT = "random"
DEFAULT = ""
"""The form's value for an option that keeps its default."""
MAX_CHOICES = 24
"""The maximum number of values in a list; an option with more values gets a text field."""


class PersonClock(NamedTuple):
    """A clock that people can choose."""

    name: str
    words: str
    control: str
    """`bank+increment/cap`, in seconds."""


CLOCKS = (
    PersonClock("slow", "No hurry: eight hours in all, half an hour for a decision", "28800+0/1800"),
    PersonClock("medium", "10 minutes, and 10 seconds more for each decision", "600+10/600"),
    PersonClock("fast", "2 minutes, and 5 seconds more for each decision", "120+5/60"),
)
"""The clocks that people can choose. Each of them runs out, and none lets a table wait more than half an hour at a time."""


class BadTableRequest(LadderError):
    """An invalid request for a table; `problems` contains a line for each mistake."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class TableRequest:
    """A valid request for a table."""

    game: str
    bots: tuple[str, ...]
    """The player in each seat: `PERSON` once, house bots by name, and versions of authors' bots by label."""
    options: dict[str, OptionValue]
    """The options that differ from their defaults."""
    clock: str
    """The clock, as `TimeControl` writes it."""

    @property
    def seat(self) -> Seat:
        """The seat of the person."""
        return self.bots.index(PERSON)


def opponents(game: Game) -> list[str]:
    """Return the names of the house bots that can play a game, `greedy` before `random`."""
    return [name for name, bot in house_bots().items() if bot.plays(game)]


def values_of(option: Option) -> list[str]:
    """Return the values of an option as texts, for a list in the form; an empty list if there are too many."""
    found: list[str] = []
    for choice in option.values:
        if isinstance(choice, range):
            found += map(str, choice[: MAX_CHOICES + 1])  # a range may be huge
        elif isinstance(choice, str | bool):
            found.append(str(choice).lower())
        else:
            return []
    return found if len(found) <= MAX_CHOICES else []


def offered_options(game: Game) -> list[Option]:
    """Return the options that a person can choose: all of the game's, except for random decisions at the start."""
    return [option for option in game.options if option.name != OPENINGS]


def read_table_request(game: Game, fields: Mapping[str, str], willing: Collection[str] = ()) -> TableRequest:
    """Read a form with `seats`, `seat`, `bot1` and so on for the other seats in order, `clock`, and `option.NAME`.

    Besides house bots, the bots of consenting authors may be chosen: those with the labels `willing`.

    Raises:
        BadTableRequest: if such a table is not possible.
    """
    problems: list[str] = []
    low, high = game.seat_counts.start, game.seat_counts.stop - 1
    seats = _number(fields.get("seats", str(low)))
    if seats not in game.seat_counts:
        raise BadTableRequest([f"{game.title} is for {low} to {high} seats"])
    known = opponents(game)
    others = [fields.get(f"bot{place}", known[0]) for place in range(1, seats)]
    problems += [
        f"opponent {place} must be one of: {', '.join([*known, *willing])}"
        for place, bot in enumerate(others, 1)
        if bot not in known and bot not in willing
    ]
    where = fields.get("seat", RANDOM_SEAT)
    seat = secrets.randbelow(seats) if where == RANDOM_SEAT else _number(where)
    if not 0 <= seat < seats:
        problems.append(f"your seat must be random, or a number from 0 to {seats - 1}")
    clocks = {clock.name: clock.control for clock in CLOCKS}
    clock = fields.get("clock", CLOCKS[0].name)
    if clock not in clocks:
        problems.append(f"the clock must be one of: {', '.join(clocks)}")
    requested = {
        key.removeprefix("option."): value.strip() for key, value in fields.items() if key.startswith("option.")
    }
    options: dict[str, OptionValue] = {}
    try:
        chosen = {name: value for name, value in requested.items() if value != DEFAULT}
        # A person's matches need no random decisions at the start for variety.
        fixed = {option.name: 0 for option in game.options if option.name == OPENINGS}
        setup = game.setup(seats, {**fixed, **chosen}, shipped_board(game))
        defaults = {option.name: option.default for option in game.options}
        options = {name: value for name, value in setup.options.items() if value != defaults[name]}
    except SetupError as error:
        problems += error.problems
    if problems:
        raise BadTableRequest(problems)
    return TableRequest(game.name, (*others[:seat], PERSON, *others[seat:]), options, clocks[clock])


def _number(text: str) -> int:
    """Read a number of up to three digits; return -1 for any other text."""
    return int(text) if re.fullmatch(r"\d{1,3}", text, re.ASCII) else -1
