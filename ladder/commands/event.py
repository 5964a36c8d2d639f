"""`dogana ladder event`: tournaments that the ladder announces and plays."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.help import PagedCommand, PagedGroup
from ladder.commands.options import AsJson, HomeOption, SameAuthorOption
from ladder.commands.tables import moment, table, title_of
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.facts import announcing
from ladder.facts.store import Store
from ladder.intake.submission import check_name
from ladder.model.condition import Condition, agree
from ladder.model.tournament import FORMATS, SCORINGS, Phase, TournamentTerms
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.events import NEXT, PLAYING, EventAnswer, EventMatch, EventRequest, EventRow, EventsRequest
from ladder.questions.question import document
from referee.commands.options import DEFAULT_CLOCK, GameOptions, read_clock, read_options
from referee.commands.output import out, print_json
from referee.commands.tournament.options import (
    AdvanceOption,
    BlocksOption,
    FormatOption,
    GamesOption,
    ScoringOption,
    SeatsOption,
)
from referee.commands.tournament.tables import MAX_COLUMNS
from referee.registry import find
from referee.tournament.plan import MAX_ROUNDS, Format, Scoring
from referee.tournament.standings import chance_text

MAX_TOP = 100
LISTED = 10
"""The maximum number of printed matches of each kind, and of printed versions that are left out."""
DEFAULT_ROUNDS = 5

event = typer.Typer(
    help="Announce tournaments between the best bots, and look at them.",
    cls=PagedGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
)
NameArgument = Annotated[str, typer.Argument(help="The event.", metavar="NAME")]


@event.command(cls=PagedCommand)
def new(
    name: NameArgument,
    home: HomeOption,
    game: GamesOption,
    closes: Annotated[
        str,
        typer.Option(
            help="The time at which entrants and versions are frozen, such as 2026-12-18T18:00Z.", metavar="TIME"
        ),
    ],
    top: Annotated[int, typer.Option(help="The maximum number of entrants.", min=2, max=MAX_TOP, metavar="NUMBER")],
    form: FormatOption = Format.ROUND_ROBIN,
    seats: SeatsOption = 2,
    blocks: BlocksOption = 10,
    rounds: Annotated[
        int | None,
        typer.Option(
            help="In a Swiss tournament: the number of rounds.",
            show_default=str(DEFAULT_ROUNDS),
            min=1,
            max=MAX_ROUNDS,
            metavar="NUMBER",
        ),
    ] = None,
    advance: AdvanceOption = None,
    scoring: ScoringOption = Scoring.WINS,
    share: Annotated[
        int,
        typer.Option(
            help="The event's share of all matches while it is played, in percent.", min=1, max=100, metavar="NUMBER"
        ),
    ] = 50,
    same_author: SameAuthorOption = False,
    clock: Annotated[
        str | None,
        typer.Option(
            help="The clock of the deciding standings, and of the matches.",
            metavar="BANK+INCREMENT/CAP",
            show_default="that of the ladder",
        ),
    ] = None,
    option: GameOptions = None,
    as_json: AsJson = False,
) -> None:
    """Announce an event.

    At the closing time, the best bots of the standings are entered, each in the newest version that has qualified; later versions
    go on in the ladder, not in the event. The best bot of each author is entered; with --same-author, all may be.

    With several games, the best of the ranking over these games are entered, if they have qualified in each. Each game has its
    default options, and weighs the same in the table.

    The seed is drawn now: the audit log contains a commitment to it, and reveals it at the end.

    A run or a served ladder plays the matches, as a share of all its matches. They change no rating.

    Examples:

      dogana ladder event new final --game cargo_noir --closes 2126-12-18T18:00Z --top 12 --seats 4

      dogana ladder event new cup --game yunnan --closes 2126-12-18T18:00Z --top 16 --format knockout --share 80

      dogana ladder event new finale --game cargo_noir --game yunnan --closes 2126-12-18T18:00Z --top 8
    """
    _check_format(form, rounds, advance)
    if scoring not in SCORINGS:
        raise LadderError(
            "--scoring score is not for events: a match that is given up has no score; use wins or places"
        )
    closing = announcing.read_closing(closes)
    check_name(name, "an event's name")
    # A game that is named twice counts once.
    games = list(dict.fromkeys(find(one).name for one in game))
    if option and len(games) > 1:
        raise LadderError("options belong to one game; an event of several has their defaults: leave out --option")
    # With several games, only conditions with default options fit.
    options, by_options = read_options(option or []), option is not None or len(games) > 1
    # One transaction, so that a new condition is stored only together with the event.
    with Store(Home(home).database, create=False) as store, store.writing():
        terms = TournamentTerms(
            name=name,
            conditions=tuple(_condition(store, one, clock, options, by_options=by_options) for one in games),
            format=form,
            seats=seats,
            blocks=blocks,
            rounds=rounds or DEFAULT_ROUNDS,  # has no meaning in other formats, like `advance`
            advance=advance or 1,
            scoring=scoring,
            top=top,
            same_author=same_author,
            share=share,
            closes=closing,
        )
        announcing.announce(store, terms)
    if as_json:
        print_json(terms.fields)
        return
    out.print(f"event {name} closes at {_to_the_second(closing)} UTC", soft_wrap=True)
    out.print(f"who would be entered now: {Where(home, None).command('event', 'show', name)}", soft_wrap=True)


def _check_format(form: Format, rounds: int | None, advance: int | None) -> None:
    if form not in FORMATS:
        raise LadderError(f"--format {form.value} is not for events; use {', '.join(one.value for one in FORMATS)}")
    if rounds is not None and form is not Format.SWISS:
        raise LadderError(f"--rounds is for format swiss, not {form.value}; leave it out")
    if advance is not None and form is not Format.KNOCKOUT:
        raise LadderError(f"--advance is for format knockout, not {form.value}; leave it out")


def _condition(store: Store, game: str, clock: str | None, options: dict[str, str], *, by_options: bool) -> Condition:
    """Return the condition for one game of an event: the only one that fits, or a new one if the game has never been played.

    Raises:
        LadderError: if none fits, or several do.
    """
    known = store.roster.conditions_of(game)
    control = None if clock is None else str(read_clock(clock))
    agreed = agree(find(game), options, None).options
    if not known:
        return store.roster.condition(game, agreed, control or DEFAULT_CLOCK)
    fitting = [one for one in known if control in (None, one.clock) and (not by_options or one.options == agreed)]
    if len(fitting) == 1:
        return fitting[0]
    named = "; ".join(one.arguments for one in fitting or known)
    raise LadderError(f"{'several' if fitting else 'no'} standings of {game} are under these terms; there are: {named}")


@event.command(cls=PagedCommand)
def cancel(name: NameArgument, home: HomeOption, as_json: AsJson = False) -> None:
    """Cancel an event before its closing time.

    The audit log keeps it, and its name stays taken.

    Example:

      dogana ladder event cancel final
    """
    with Store(Home(home).database, create=False) as store:
        announcing.cancel(store, name)
    if as_json:
        print_json({"cancelled": name})
    else:
        out.print(f"event {name} is cancelled", soft_wrap=True)


@event.command("list", cls=PagedCommand)
def listing(
    game: Annotated[str | None, typer.Option(help="List only events of this game.", metavar="GAME")] = None,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """List all events, the newest first.

    Example:

      dogana ladder event list --game cargo_noir
    """
    found = Where.chosen(home, server).ask(EventsRequest(game=game or ""))
    if as_json:
        print_json(document(found))
        return
    if not found.events:
        out.print("there is no event")
        return
    listed = table("event", "closes (UTC)", "game", "format", "entered", "state", numbers={"entered"}, whole={"event"})
    for one in found.events:
        entered = f"{one.entrants} of {one.top}"
        listed.add_row(one.event, moment(one.closes), _titles(one), one.format, entered, one.phase)
    out.print(listed)


@event.command(cls=PagedCommand)
def show(name: NameArgument, home: FolderOption = None, server: ServerOption = None, as_json: AsJson = False) -> None:
    """Show the entrants, table, crosstable and matches of an event.

    Before the close, it shows the bots that would be entered if it closed now.

    Examples:

      dogana ladder event show final

      dogana ladder event show final --server https://ladder.example:8780 --json
    """
    found = Where.chosen(home, server).ask(EventRequest(event=name))
    if as_json:
        print_json(document(found))
        return
    _print_terms(found.event)
    if found.standings:
        _print_table(found)
        _print_crosstable(found)
    _print_entrants(found)
    for state, title in ((PLAYING, "being played"), (NEXT, "next")):
        _print_matches(title, [one for one in found.matches if one.state == state])
    out.print(found.verdict, soft_wrap=True)


def _to_the_second(iso: str) -> str:
    """Return a time of the ladder in UTC, with seconds unless they are 0."""
    return iso[:19].replace("T", " ").removesuffix(":00")


def _titles(one: EventRow) -> str:
    return ", ".join(map(title_of, one.conditions))


def _print_terms(one: EventRow) -> None:
    out.print(f"{one.event}: {_titles(one)}", style="bold", soft_wrap=True)
    each = "" if len(one.conditions) == 1 else " of each game"
    of_format = {"swiss": f", {one.rounds} rounds", "knockout": f", {one.advance} of each table advance"}
    blocks = f"{one.blocks} {'block' if one.blocks == 1 else 'blocks'}{each}"
    plays = f"{one.format}, {one.seats} at a table, {blocks}{of_format.get(one.format, '')}"
    out.print(f"{plays}; while it is played, it has {one.share} of 100 matches that begin", soft_wrap=True)
    state = {Phase.OPEN.value: "open; closes", Phase.CLOSED.value: "closed"}.get(one.phase, f"{one.phase}; closed")
    out.print(f"{state} at {_to_the_second(one.closes)} UTC for the best {one.top}", soft_wrap=True)
    seed = f"commits to seed {one.seed_commitment}" if one.seed is None else f"seed {one.seed}"
    out.print(seed, soft_wrap=True)


def _print_table(found: EventAnswer) -> None:
    games = [one.game for one in found.event.conditions] if len(found.event.conditions) > 1 else []
    heads = ["place", "bot", "matches", "points", *games, "best", "out"]
    listed = table(*heads, numbers={*heads} - {"bot"}, title=f"{found.played} of {found.total} matches")
    for row in found.standings:
        interval = "" if row.interval is None else f" ({row.interval[0]:.3f} to {row.interval[1]:.3f})"
        best = chance_text(row.best)
        points = f"{row.points:.3f}{interval}" if row.matches else "-"
        by_game = ["-" if one is None else f"{one:.3f}" for one in row.by_game] if games else []
        bot, out_of = f"{row.bot} v{row.version}", str(row.out or "-")
        listed.add_row(str(row.place), bot, str(row.matches), points, *by_game, best, out_of)
    out.print(listed)


def _print_crosstable(found: EventAnswer) -> None:
    if not found.played or len(found.standings) > MAX_COLUMNS:
        return
    listed = table("", *(str(row.place) for row in found.standings), title="row ahead of column")
    for row, own in zip(found.standings, found.crosstable, strict=True):
        cells = ("-" if met.share is None else f"{met.share:.0%}" for met in own.met)
        listed.add_row(f"{row.place}  {row.bot} v{row.version}", *cells)
    out.print(listed)


def _print_entrants(found: EventAnswer) -> None:
    would = "would be " if found.event.phase in (Phase.OPEN.value, Phase.CLOSED.value) else ""
    listed = table("bot", "author", "why", title=f"{would}entered: {len(found.entrants)}")
    for one in found.entrants:
        listed.add_row(f"{one.bot} v{one.version}", one.author, one.reason)
    out.print(listed)
    for other in found.left_out[:LISTED]:
        out.print(
            f"{other.bot} v{other.version} {'would not be' if would else 'is not'} entered: {other.reason}",
            soft_wrap=True,
        )
    if (more := len(found.left_out) - LISTED) > 0:
        out.print(f"and {more} more; --json has all", soft_wrap=True)


def _print_matches(title: str, matches: list[EventMatch]) -> None:
    for one in matches[:LISTED]:
        bots = ", ".join(f"{seat.bot} v{seat.version}" for seat in one.seats)
        place = f"round {one.round}, table {one.table}, {one.game}, block {one.block}"
        out.print(f"{title}: {place}: {bots} {one.match}".rstrip(), soft_wrap=True)
