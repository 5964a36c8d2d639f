"""`dogana ladder queue`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated

import typer

from ladder.commands.options import AsJson, HomeOption
from ladder.commands.tables import table
from ladder.condition import Condition
from ladder.home import Home
from ladder.match import HOUSE, Version
from ladder.schedule import NEW_BLOCKS, Candidate, Queue
from ladder.standings import queue as read_queue
from ladder.store import Store
from referee.commands.output import out, print_json
from referee.registry import find

LISTED = 10
"""How many versions are listed."""


def queue(
    home: HomeOption,
    game: Annotated[str | None, typer.Argument(help="One game; all of them if left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show who plays next and why, for each condition under which something was run.

    A block begins with the version that is due first; the others in it are drawn from the nearest in skill. So the order is
    what is known now: whoever is drawn is due later, and results change who is least certain.

    "due" counts rounds, in each of which every author is due for two matches. "waits" counts the blocks since a version
    was last in one, and "at most" those until it is in the next, if nobody joins.

    Examples:

      dogana ladder queue

      dogana ladder queue cargo_noir --json
    """
    name = None if game is None else find(game).name
    with Store(Home(home).database, create=False) as store, store.reading():
        listed = {
            condition: _entries(store, condition)
            for condition in store.conditions().values()
            if name in (None, condition.game)
        }
    if as_json:
        print_json([entry for entries in listed.values() for entry in entries])
        return
    numbers = ("sigma", "waits", "at most")
    for condition, entries in listed.items():
        title = f"{find(condition.game).title} ({condition.terms})"
        shown = table("", "bot", "due", *numbers, "why", numbers={"", *numbers}, widths={"at most": 6}, title=title)
        for place, entry in enumerate(entries, 1):
            shown.add_row(
                str(place),
                f"{entry['bot']} v{entry['version']}",
                "now" if entry["due"] == 0 else f"in {entry['due']}",
                f"{entry['sigma']:.2f}",
                str(entry["waits"]),
                str(entry["at_most"]),
                str(entry["why"]),
            )
        out.print(shown if entries else f"{title}: nobody can be scheduled")
    if not listed:
        out.print("nothing was run yet: dogana ladder run")


def _entries(store: Store, condition: Condition) -> list[dict[str, object]]:
    """Return the next versions under a condition, with what decides their order."""
    waiting, versions, playing = read_queue(store, condition), store.versions(), store.playing(condition)
    seat_counts, blocks = find(condition.game).seat_counts, store.blocks_of(condition)
    waits = {one.version: len(blocks) - bisect_right(blocks, one.last_block) for one in waiting}
    longest = max(waits.values(), default=0)
    first = next((one.version for one in waiting if one.version not in playing), None)
    return [
        {
            "game": condition.game,
            "options": dict(condition.options),
            "clock": condition.clock,
            "bot": versions[one.version].bot,
            "version": versions[one.version].number,
            "author": one.author,
            "due": waiting.rounds_until(one.version),
            "sigma": one.rating.sigma,
            "waits": waits[one.version],
            "at_most": waiting.most_blocks_now(one.version, seat_counts),
            "playing": one.version in playing,
            "why": "; ".join(
                [
                    *(["is playing"] if one.version in playing else []),
                    *([f"least certain of those due: sigma {one.rating.sigma:.1f}"] if one.version == first else []),
                    *(["waits longest"] if waits[one.version] == longest > 0 else []),
                    *_standing_reasons(one, waiting, versions),
                ]
            ),
        }
        for one in islice(waiting, LISTED)
    ]


def _standing_reasons(one: Candidate, waiting: Queue, versions: Mapping[int, Version]) -> Iterator[str]:
    """Yield why a version is due more or less often than others."""
    if one.sits_out:
        yield f"out in its last {one.faults_in_a_row} matches: sits out {one.sits_out} rounds"
    if one.author == HOUSE:
        yield "house bot: a quarter of a share"
        return
    if one.is_new:
        yield f"new: {one.blocks} of {NEW_BLOCKS} first blocks"
    if one.is_accompanied and one.predecessor is not None:
        yield f"accompanied by {versions[one.predecessor].label}"
    if waiting.bots_of(one.author) > 1:
        yield f"one of {waiting.bots_of(one.author)} bots that share the part of {one.author}"
