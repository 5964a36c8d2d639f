"""The events of a ladder: tournaments between the bots that are best placed at a previously announced time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ladder.facts.entering import EntryList, entry_list
from ladder.facts.entries import now
from ladder.model.match import Match, Version
from ladder.model.tournament import LadderTournament, Phase
from ladder.play.playing import playing
from ladder.questions.question import Count, Ladder, Name, Request, Row, Text, question
from ladder.questions.rows import ConditionTerms, condition_terms
from referee.match.result import Result
from referee.registry import find
from referee.tournament.bracket import BracketSeat, bracket
from referee.tournament.course import TournamentCourse
from referee.tournament.crosstable import crosstable
from referee.tournament.fixtures import Fixture, PlayedFixture, Results
from referee.tournament.plan import Format, TournamentPlan
from referee.tournament.scoring import counted, means
from referee.tournament.standings import FinalTable, TableRow, final_table, verdict_sentence

LAST_EVENTS = 20
"""The number of most recent events in which a bot's part is looked up."""
OVER, PLAYING, SCHEDULED, NEXT, GIVEN_UP = "over", "being played", "scheduled", "next", "given up"
"""The states of a match of an event."""


class EventRow(Row):
    """An event."""

    event: str
    """The name of the event."""
    conditions: list[ConditionTerms]
    """The games of the event with their terms. The standings under these conditions decide which bots are entered; with
    several games, the ranking over all of them decides."""
    phase: str
    """The state of the event: open, closed (but its entrants are not frozen yet), being played, over or cancelled."""
    closes: str
    """The time at which entrants and versions are frozen, in ISO 8601, UTC."""
    ended_at: str
    """The time at which the event ended, in ISO 8601, UTC; empty before the end."""
    format: str
    """The format of the pairings: round-robin, swiss or knockout."""
    seats: Count
    """The number of seats at a table."""
    blocks: Count
    """The number of blocks for each table and game; a block plays one seed in every rotation of the seats."""
    rounds: Count
    """The number of rounds of a Swiss tournament."""
    advance: Count
    """The number of entrants that go on from each table of a knockout."""
    scoring: str
    """The scoring of a match: wins or places."""
    top: Count
    """The maximum number of entrants."""
    same_author: bool
    """True if several bots of one author may be entered."""
    share: Count
    """While the event is being played, its percentage of the matches that begin."""
    seed_commitment: str
    """The SHA-256, in hexadecimal, of the event's name, a colon, and its seed in decimal digits."""
    seed: int | None
    """The seed of the event; null until the event is over."""
    entrants: Count
    """The number of bots that are entered, or would be if the event closed now."""


class EventsAnswer(Row):
    """The events of a ladder."""

    events: list[EventRow]
    """The events, newest first."""


class EventsRequest(Request[EventsAnswer]):
    """Asks for all events."""

    game: Text = ""
    """List only events of this game; all events if empty."""


class EventEntrant(Row):
    """A version that is entered, or would be if the event closed now."""

    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version."""
    author: str
    """The author of the bot."""
    place: Count | None
    """The version's place at the close (or now, before the close) in the standings or in the ranking over several
    games; null if it has none."""
    reason: str
    """The reason why the version is entered, in words."""


class LeftOutVersion(Row):
    """A version that is not entered, or would not be if the event closed now."""

    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version."""
    author: str
    """The author of the bot."""
    reason: str
    """The reason why the version is not entered, in words."""


class EventTableRow(Row):
    """An entrant in the table of an event."""

    place: Count
    """The entrant's place, from 1; entrants that no tie-break separates share a place."""
    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version."""
    matches: Count
    """The number of the entrant's matches."""
    points: float
    """The entrant's points per match."""
    by_game: list[float | None]
    """The entrant's points per match in each game, in the order of the conditions; null before its first match in a
    game."""
    interval: list[float] | None
    """The 95 % interval of the points per match; null in a knockout, and if only one block has been played."""
    best: float | None
    """The chance that the entrant is the best (in a knockout, the best in the final); null if only one block has been
    played."""
    out: Count
    """The number of matches in which the entrant was out."""
    byes: Count
    """The number of rounds in which the entrant did not play, but went on."""
    tie_breaks: dict[str, float]
    """The entrant's values for the tie-breaks that were needed, in the order of the tie-breaks."""


class EventSeat(Row):
    """A seat in a match of an event."""

    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version."""
    rank: Count | None
    """The seat's place, from 1; null until the match is over."""
    score: int | None
    """The seat's score under the rules of the game; null until the match is over."""
    outcome: str
    """The outcome for the seat, in a word; empty until the match is over."""


class EventMatch(Row):
    """A match of an event."""

    round: Count
    """The round of the match, from 1."""
    table: Count
    """The number of the table in the round, from 1."""
    block: Count
    """The number of the block for this table and game, from 1."""
    game: str
    """The name of the game."""
    rotation: Count
    """The number of the match within the block, from 0."""
    state: str
    """The state of the match: over, being played, scheduled, next, or given up. A match that is given up is a draw."""
    match: str
    """The id of the match; empty before the match is scheduled."""
    seats: list[EventSeat]
    """The seats, in their order."""


class EventTableSeat(Row):
    """A version at a table of a knockout."""

    bot: str
    """The label of the version."""
    points: float | None
    """The version's points per match at this table; null before its first match there, and for a bye."""
    tie_breaks: dict[str, float]
    """The version's values for the tie-breaks that were needed at this table, in the order of the tie-breaks."""
    goes_on: bool
    """True if the version goes on to the next round, or has won the final."""


class EventTable(Row):
    """A table of a round of a knockout, or a bye."""

    seats: list[EventTableSeat]
    """The versions at the table, in the order of their seeding."""
    is_played: bool
    """True for a table that is played; false for a bye."""


class EventRound(Row):
    """A round of a knockout."""

    tables: list[EventTable]
    """The tables of the round, followed by its byes."""


class EventMeeting(Row):
    """The results of an entrant against another entrant."""

    matches: Count
    """The number of counted matches with both entrants; 0 against itself."""
    share: float | None
    """The share of these matches in which the first entrant was ahead, from 0 to 1; a shared place counts half. Null
    without matches."""


class EventMeetings(Row):
    """The results of an entrant against all entrants."""

    met: list[EventMeeting]
    """The entrant's results against each entrant, in the order of the table."""


class EventAnswer(Row):
    """The terms, entrants, results and matches of an event."""

    event: EventRow
    """The terms and the state of the event."""
    verdict: str
    """The result so far, in a sentence."""
    played: Count
    """The number of matches that are over."""
    total: Count
    """The number of matches in all rounds, including those still to come."""
    entrants: list[EventEntrant]
    """The versions that are entered, or would be if the event closed now, in the order of their seeding."""
    left_out: list[LeftOutVersion]
    """The versions that are neither entered nor replaced, with the reasons."""
    standings: list[EventTableRow]
    """The table; empty before the close."""
    crosstable: list[EventMeetings]
    """The results of each entrant against every entrant, in the order of the table; empty before the close."""
    bracket: list[EventRound]
    """The known rounds of a knockout; empty in other formats, and before the close."""
    matches: list[EventMatch]
    """The matches of all known rounds, in order; empty before the close."""


class EventRequest(Request[EventAnswer]):
    """Asks for an event."""

    event: Name
    """The name of the event."""


class BotEvent(Row):
    """A bot's part in an event."""

    event: str
    """The name of the event."""
    phase: str
    """The state of the event: open, closed (but its entrants are not frozen yet), being played, over or cancelled."""
    closes: str
    """The time at which entrants and versions are frozen, in ISO 8601, UTC."""
    version: Count | None
    """The version that is entered, or would be if the event closed now; null if there is none."""
    reason: str
    """The reason why the bot is entered or not, in words."""


@dataclass(frozen=True, slots=True)
class EventView:
    """The plan and the results of an event after its close, as they follow from the facts."""

    plan: TournamentPlan
    course: TournamentCourse
    results: Results
    table: FinalTable
    valid: Sequence[PlayedFixture]
    """The matches that count."""


@question("/events")
def events(ladder: Ladder, request: EventsRequest) -> EventsAnswer:
    """List all events.

    Raises:
        DoganaError: if there is no such game.
    """
    game = find(request.game).name if request.game else None
    found = [one for one in ladder.facts.tournaments.all() if _has(one, game)]
    return EventsAnswer([_event_row(one, len(entries(ladder, one).entrants)) for one in reversed(found)])


@question("/events/{event}")
def event(ladder: Ladder, request: EventRequest) -> EventAnswer:
    """Show an event: its entrants with the reasons, its table, and its matches.

    Raises:
        NotFound: if there is no such event.
    """
    one = ladder.facts.tournaments.find(request.event)
    found = entries(ladder, one)
    versions = {each.version.label: each.version for each in found.entrants}
    view = view_of(ladder, one)
    return EventAnswer(
        event=_event_row(one, len(found.entrants)),
        verdict=_verdict(one, view, len(found.entrants)),
        played=0 if view is None else view.table.played,
        total=0 if view is None else view.table.total,
        entrants=[
            EventEntrant(
                each.version.bot,
                each.version.number,
                each.version.author,
                each.place or None,  # 0 stands for none
                entered_because(one, each.place),
            )
            for each in found.entrants
        ],
        left_out=[LeftOutVersion(each.bot, each.number, each.author, reason) for each, reason in found.left_out],
        standings=[] if view is None else _standings(view, versions),
        crosstable=[] if view is None else _crosstable(view),
        bracket=[] if view is None or one.terms.format is not Format.KNOCKOUT else _bracket(view),
        matches=[] if view is None else list(_matches(ladder, one, view, versions)),
    )


def _has(one: LadderTournament, game: str | None) -> bool:
    return game is None or any(each.game == game for each in one.terms.conditions)


def events_of(ladder: Ladder, bot: str) -> list[BotEvent]:
    """Return a bot's part in each of the last events, newest first; events without the bot are left out."""
    found = []
    # The entrants of an open event are chosen from the standings again each time.
    for one in list(reversed(ladder.facts.tournaments.all()))[:LAST_EVENTS]:
        listed = entries(ladder, one)
        reasons = [
            (each.version, entered_because(one, each.place)) for each in listed.entrants if each.version.bot == bot
        ]
        version = reasons[0][0].number if reasons else None
        reasons += [(each, reason) for each, reason in listed.left_out if each.bot == bot]
        if reasons:
            text = "; ".join(f"v{each.number}: {reason}" for each, reason in reasons)
            found.append(BotEvent(one.terms.name, one.phase_at(now()).value, one.terms.closes, version, text))
    return found


def entered_because(one: LadderTournament, place: int) -> str:
    """Return the reason why a version with this place is entered; 0 stands for no place."""
    if len(one.terms.conditions) > 1:
        return f"place {place} over these games" if place else "qualified, not rated in all games"
    return f"place {place} of the standings" if place else "qualified, not rated"


def entries(ladder: Ladder, one: LadderTournament) -> EntryList:
    """Return the entrants of an event, or those that it would have if it closed now; none if it is cancelled."""
    if one.phase is Phase.OPEN:
        return entry_list(ladder.facts, one.terms)
    return EntryList(ladder.facts.tournaments.entrants(one), ladder.facts.tournaments.left_out(one))


def view_of(ladder: Ladder, one: LadderTournament) -> EventView | None:
    """Return the plan and the results of an event; None before its close, or if too few versions are entered."""
    facts = ladder.facts.tournaments
    if not one.closed_at or len(facts.entrants(one)) < one.terms.seats:
        return None
    plan, course, results = facts.plan(one), facts.course(one), facts.results(one)
    valid = counted(plan, course.played(results))
    return EventView(plan, course, results, _table(one, plan, course, results), valid)


_last_tables: dict[str, tuple[TournamentPlan, Results, FinalTable]] = {}
"""The latest table of each event, by seed commitment. It is kept because many people look at it, and the bootstrap for
a final of 12 takes 0.4 s."""


def _table(one: LadderTournament, plan: TournamentPlan, course: TournamentCourse, results: Results) -> FinalTable:
    """Return the table of an event, which is computed again only after a new result."""
    known = _last_tables.get(one.seed_commitment)
    # Compared by value, because each request reads both from the facts again.
    if known is None or known[:2] != (plan, results):
        known = _last_tables[one.seed_commitment] = plan, results, final_table(plan, course, results)
    return known[2]


def _event_row(one: LadderTournament, entrants: int) -> EventRow:
    terms = one.terms
    return EventRow(
        event=terms.name,
        conditions=[condition_terms(each) for each in terms.conditions],
        phase=one.phase_at(now()).value,
        closes=terms.closes,
        ended_at=one.ended_at,
        format=terms.format.value,
        seats=terms.seats,
        blocks=terms.blocks,
        rounds=terms.rounds,
        advance=terms.advance,
        scoring=terms.scoring.value,
        top=terms.top,
        same_author=terms.same_author,
        share=terms.share,
        seed_commitment=one.seed_commitment,
        seed=one.seed,
        entrants=entrants,
    )


def _verdict(one: LadderTournament, view: EventView | None, entrants: int) -> str:
    if view is not None:
        return verdict_sentence(view.plan, view.table)
    if one.closed_at:
        return f"only {entrants} entered, too few for a table of {one.terms.seats}"
    match one.phase_at(now()):
        case Phase.CANCELLED:
            return "it was cancelled"
        case Phase.CLOSED:
            return "its entrants are frozen when a run or a server next looks"
        case _:
            return "it is not closed yet"


def _standings(view: EventView, versions: Mapping[str, Version]) -> list[EventTableRow]:
    """Return the table, with the points in each game."""
    plan = view.plan
    by_game = [
        means(plan.scoring, [each for each in view.valid if each.fixture.game == game])
        for game in range(len(plan.games))
    ]
    return [_table_row(row, versions[plan.names[row.entrant]], by_game) for row in view.table.rows]


def _table_row(row: TableRow, version: Version, by_game: Sequence[Mapping[int, Fraction]]) -> EventTableRow:
    return EventTableRow(
        place=row.place,
        bot=version.bot,
        version=version.number,
        matches=row.matches,
        points=float(row.points),  # a fraction until here, so that ties are exact
        by_game=[float(points[row.entrant]) if row.entrant in points else None for points in by_game],
        interval=None if row.interval is None else list(row.interval),
        best=row.best,
        out=row.outs,
        byes=row.byes,
        tie_breaks={kind.value: float(number) for kind, number in row.numbers.items()},
    )


def _crosstable(view: EventView) -> list[EventMeetings]:
    """Return the share of matches in which each entrant was ahead of each other entrant, in the order of the table."""
    order = [row.entrant for row in view.table.rows]
    shares = crosstable(view.valid, order).shares
    met = {pair: EventMeeting(matches, float(ahead / matches)) for pair, (ahead, matches) in shares.items()}
    never = EventMeeting(0, None)
    return [EventMeetings([met.get((row, column), never) for column in order]) for row in order]


def _bracket(view: EventView) -> list[EventRound]:
    return [
        EventRound([EventTable([_table_seat(seat) for seat in one.seats], one.is_played) for one in tables])
        for tables in bracket(view.plan, view.course, view.results)
    ]


def _table_seat(seat: BracketSeat) -> EventTableSeat:
    return EventTableSeat(seat.name, seat.points, dict(seat.tie_breaks), seat.goes_on)


def _matches(
    ladder: Ladder, one: LadderTournament, view: EventView, versions: Mapping[str, Version]
) -> Iterator[EventMatch]:
    scheduled = ladder.facts.tournaments.scheduled(one)
    running = {each.match_id for each in playing(ladder.home)}
    for fixture in view.course.fixtures:
        known = scheduled.get(fixture.name)
        seated = [versions[view.plan.names[entrant]] for entrant in fixture.seats]
        yield EventMatch(
            round=fixture.company.round,
            table=fixture.company.number,
            block=fixture.block,
            game=view.plan.games[fixture.game].name,
            rotation=fixture.rotation,
            state=_state(known, view.results.get(fixture.name), running),
            match="" if known is None else known.match_id,
            seats=_seats(fixture, seated, view.results),
        )


def _state(known: Match | None, result: Result | None, running: set[str]) -> str:
    if known is None:
        return NEXT  # a run schedules it when a worker is free
    if result is not None:
        # A match that is given up has a result, the draw, and no digest.
        return OVER if result.digest else GIVEN_UP
    return PLAYING if known.match_id in running else SCHEDULED


def _seats(fixture: Fixture, seated: Sequence[Version], results: Results) -> list[EventSeat]:
    result = results.get(fixture.name)
    if result is None:
        return [EventSeat(one.bot, one.number, None, None, "") for one in seated]
    return [
        EventSeat(one.bot, one.number, seat.rank, seat.score, seat.outcome.value)
        for one, seat in zip(seated, result.seats, strict=True)
    ]
