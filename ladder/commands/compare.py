"""`dogana ladder compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.tables import moment, table
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.comparing import CompareRequest, VersionComparison
from ladder.questions.in_words import open_places, strength
from ladder.questions.question import document
from referee.commands.output import out, print_json


def compare(
    one: Annotated[
        str,
        typer.Argument(
            help="A bot, for its newest version with matches; or one version, such as 'mybot v2'.", metavar="BOT"
        ),
    ],
    other: Annotated[str, typer.Argument(help="Another bot, or another version.", metavar="OTHER")],
    game: Annotated[str | None, typer.Option(help="Compare them only at this game.", metavar="GAME")] = None,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Show two bots side by side.

    It shows their strengths, and their results against each other.

    The chance that one is the stronger one follows from all matches under the condition; beyond 97.5 % they are told apart. It is
    not the chance of winning a match. "share" is the share of their common matches in which the first was ahead, with ties
    counted as halves; "95 %" is its confidence interval.

    Examples:

      dogana ladder compare mybot greedy

      dogana ladder compare mybot 'mybot v1' --game cargo_noir --json
    """
    found = Where.chosen(home, server).ask(CompareRequest(one=one, other=other, game=game or ""))
    if as_json:
        print_json(document(found))
        return
    first, second = (f"{name.bot} v{name.version}" for name in (found.one, found.other))
    if not found.comparisons:
        out.print(f"{first} and {second} have no matches under the same condition yet", soft_wrap=True)
    for comparison in found.comparisons:
        _print(first, second, comparison)


def _print(first: str, second: str, comparison: VersionComparison) -> None:
    one, other = comparison.one, comparison.other
    out.print(f"{one.game} ({one.terms})", style="bold", soft_wrap=True)
    numbers = ("place", "strength", "mu", "sigma", "matches")
    listed = table("", *numbers, numbers=numbers)
    for label, standing in ((first, one), (second, other)):
        live = ["-" if number is None else f"{number:.2f}" for number in (standing.mu, standing.sigma)]
        listed.add_row(label, open_places(standing), strength(standing), *live, str(standing.matches))
    out.print(listed)
    if comparison.better is not None:
        out.print(f"the chance that {first} is the stronger one: {comparison.better:.1%}", soft_wrap=True)
    if not comparison.met.matches:
        out.print(f"{first} and {second} have not met", soft_wrap=True)
        return
    heads = ("matches", "ahead", "tied", "behind", "share", "95 %")
    listed = table(f"{first} from", *heads, numbers=heads)
    for name, met in [
        ("any seat", comparison.met),
        *((f"seat {s.seat} of {s.seats}", s.met) for s in comparison.seats),
    ]:
        counts = (str(number) for number in (met.matches, met.ahead, met.tied, met.behind))
        listed.add_row(name, *counts, f"{met.share:.1%}", f"{met.low:.1%}-{met.high:.1%}")
    out.print(listed)
    places = ("its place", "the other's")
    listed = table("match", "finished (UTC)", *places, numbers=places, whole={"match"})
    for match in comparison.matches:
        ranks = {(seat.bot, seat.version): str(seat.rank) for seat in match.seats}
        listed.add_row(match.match, moment(match.finished_at), *(ranks[s.bot, s.version] for s in (one, other)))
    out.print(listed)
