"""`dogana ladder show`."""

from __future__ import annotations

from collections.abc import Sequence

from ladder.commands.options import AsJson, BotArgument
from ladder.commands.tables import moment, status_of, table
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.facts.standings import STOPPED, Status
from ladder.questions.bots import Performance, ShowAnswer, ShowRequest
from ladder.questions.in_words import disagreement, open_places, strength
from ladder.questions.question import document
from ladder.questions.rows import BlockRating
from referee.commands.output import out, print_json
from referee.terminal import counted

LAST_BLOCKS = 10
"""The maximum number of blocks in the printed history of a rating; `--json` prints more."""


def show(bot: BotArgument, home: FolderOption = None, server: ServerOption = None, as_json: AsJson = False) -> None:
    """Show a bot: its versions, and the results of the newest.

    For each version it shows the status with the reason.

    For each condition under which the newest version has played, it shows the live rating after each block, the faults by kind,
    and the opponents. Name an older version ('mybot v1') to see its results.

    Examples:

      dogana ladder show mybot

      dogana ladder show 'mybot v1' --json
    """
    where = Where.chosen(home, server)
    found = where.ask(ShowRequest(bot=bot))
    if as_json:
        print_json(document(found))
        return
    out.print(f"{found.bot} by {found.author}", soft_wrap=True)
    if found.at_tables:
        out.print("people may play against it at tables", soft_wrap=True)
    _print_versions(found)
    for event in found.events:
        entered = "not entered" if event.version is None else f"v{event.version} entered"
        out.print(f"event {event.event}, {event.phase}: {entered} ({event.reason})", soft_wrap=True)
    for fared in found.fared:
        _print_fared(fared)
    every = [standing for version in found.versions for standing in version.standings]
    has_played = any(standing.matches for standing in every)
    if has_played:
        out.print(f"its matches:  {where.command('matches', bot)}", soft_wrap=True)
    has_failed = any(standing.status == Status.FAILED for standing in every)
    # Bots at home keep their own logs.
    is_at_home = any(standing.at_home for version in found.versions[-1:] for standing in version.standings)
    if (has_played or has_failed) and not is_at_home:
        out.print(f"its log:      {where.command('log', bot)}", soft_wrap=True)
    if any(standing.status in STOPPED for standing in every):
        out.print(f"to try again: {where.command('requalify', bot)}", soft_wrap=True)


def _print_versions(found: ShowAnswer) -> None:
    heads = ("version", "submitted (UTC)", "game", "under", "place", "strength", "status")
    listed = table(*heads, numbers={"place", "strength"}, whole={"version", "submitted (UTC)", "game"})
    for version in reversed(found.versions):
        first = [f"v{version.version}", moment(version.submitted_at)]
        for one in version.standings:
            listed.add_row(*first, one.game, one.terms, open_places(one), strength(one), status_of(one))
            first = ["", ""]
        if not version.standings:
            listed.add_row(*first, "", "", "-", "-", Status.UNTRIED)
    out.print(listed)
    for version in found.versions:
        for one in version.standings:
            if one.reason and one.reason != "house bot":
                label = f"{found.bot} v{version.version}"
                out.print(f"{label}, {one.game} ({one.terms}): {one.status}: {one.reason}", soft_wrap=True)


def _print_fared(fared: Performance) -> None:
    one = fared.standing
    faults = ", ".join(f"{kind} {count}" for kind, count in sorted(fared.faults.items(), key=_most_first))
    out.print()
    out.print(f"{one.bot} v{one.version}, {one.game} ({one.terms})", style="bold", soft_wrap=True)
    out.print(
        f"{counted(one.matches, 'match', 'matches')}, {one.different} of them different, {one.wins} won,"
        f" out in {one.out}{f' ({faults})' if faults else ''}",
        soft_wrap=True,
    )
    if differs := disagreement(one):
        out.print(differs, soft_wrap=True)
    _print_blocks(fared.blocks)
    listed = table("met", "matches", "ahead", "tied", "behind", numbers={"matches", "ahead", "tied", "behind"})
    for met in fared.met:
        numbers = (str(number) for number in (met.matches, met.ahead, met.tied, met.behind))
        listed.add_row(f"{met.bot} v{met.version}", *numbers)
    out.print(listed)
    if fared.telemetry:
        listed = table("it said", "on average", "values", "matches", numbers={"on average", "values", "matches"})
        for said in fared.telemetry:
            listed.add_row(said.key, f"{said.mean:,.6g}", str(said.values), str(said.matches))
        out.print(listed)


def _most_first(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]


def _print_blocks(blocks: Sequence[BlockRating]) -> None:
    heads = ("after block", "mu", "sigma")
    listed = table(*heads, numbers=heads)
    for block in blocks[-LAST_BLOCKS:]:
        listed.add_row(str(block.block), *(f"{number:.2f}" for number in (block.mu, block.sigma)))
    out.print(listed)
