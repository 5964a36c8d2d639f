"""The page of a tournament: one HTML file with the table, the crosstable, the bracket and all matches. It needs no JavaScript."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template

from referee.kit.svg import BRASS, DIM, INK, LAND, LINE, box, document, name_text, path
from referee.match.result import Outcome
from referee.pages.match import hash_source
from referee.tournament.course import TournamentCourse
from referee.tournament.crosstable import crosstable
from referee.tournament.fixtures import Fixture, Results
from referee.tournament.plan import Format, TournamentPlan
from referee.tournament.scoring import counted
from referee.tournament.standings import FinalTable, chance_text, verdict_sentence
from referee.tournament.wording import points_text, tie_break_text, used_tie_breaks
from referee.version import installed_version

_WIDTH, _HEIGHT, _GAP, _ROW = 220, 28, 60, 24
"""The size of a table in the bracket: width, height of its edge, gap between rounds, height of an entrant."""


def tournament_page(
    plan: TournamentPlan, course: TournamentCourse, results: Results, table: FinalTable, linked: Collection[str]
) -> str:
    """Return the page of a tournament. Equal arguments give equal pages.

    Args:
        plan: the tournament.
        course: its rounds.
        results: the results so far.
        table: the table after them.
        linked: the names of the matches that have a page, `matches/NAME.html`.
    """
    style = _part("tournament.css")
    games = ", ".join(dict.fromkeys(terms.name for terms in plan.games))
    terms = f"{plan.format.value} of {len(plan.entrants)}, {games}, {plan.seats} at a table, {plan.blocks} blocks, clock {plan.clock}"
    return Template(_part("tournament.html")).substitute(
        title=escape(plan.title or "Tournament"),
        verdict=escape(verdict_sentence(plan, table)),
        terms=escape(terms),
        table_title="Final table" if table.is_final else f"After {table.played} of {table.total} matches",
        table=_final(plan, table),
        bracket=_bracket(plan, course) if plan.format is Format.KNOCKOUT else "",
        cross=_cross(plan, course, results, table),
        times=_times(plan, course, results, table),
        matches=_matches(plan, course, results, linked),
        version=escape(installed_version()),
        style=style,
        style_hash=hash_source(style),
    )


def _final(plan: TournamentPlan, table: FinalTable) -> str:
    used = used_tie_breaks(plan, list(table.rows))
    heads = [
        "Place",
        "Entrant",
        "Matches",
        f"{plan.scoring.value} per match",
        *(one.value for one in used),
        "Chance to be the best",
    ]
    rows = [
        [
            "struck out" if row.is_struck else str(row.place),
            plan.names[row.entrant],
            str(row.matches),
            points_text(plan, row),
            *(tie_break_text(row, one) for one in used),
            chance_text(row.best),
        ]
        for row in table.rows
    ]
    return _table(heads, rows, named=1)


def _cross(plan: TournamentPlan, course: TournamentCourse, results: Results, table: FinalTable) -> str:
    cross = crosstable(counted(plan, course.played(results)), [row.entrant for row in table.rows])
    heads = ["", "Entrant", *(str(place) for place in range(1, len(cross.order) + 1))]
    rows = [
        [str(place), plan.names[row], *(cross.text(row, column) for column in cross.order)]
        for place, row in enumerate(cross.order, start=1)
    ]
    return _table(heads, rows, named=1)


def _times(plan: TournamentPlan, course: TournamentCourse, results: Results, table: FinalTable) -> str:
    """Return the faults of each entrant, its time per match and per decision, hosts included."""
    seats: dict[int, list[tuple[str, float, int]]] = {entrant: [] for entrant in range(len(plan.entrants))}
    for one in course.played(results):
        for seat in one.result.seats:
            entrant = one.fixture.seats[seat.seat]
            seats[entrant].append((seat.outcome.value, seat.think_seconds, seat.decisions))
    rows = []
    for entrant, found in seats.items():
        faults = [outcome for outcome, _, _ in found if outcome != Outcome.PLAYED.value]
        seconds, decisions = sum(each for _, each, _ in found), sum(each for _, _, each in found)
        counts = ", ".join(f"{faults.count(kind)} {kind}" for kind in dict.fromkeys(faults)) or "-"
        rows.append(
            [
                plan.names[entrant],
                counts,
                f"{seconds / max(1, len(found)):.3f} s",
                f"{1000 * seconds / max(1, decisions):.1f} ms",
            ]
        )
    return _table(["Entrant", "Faults", "Time per match", "Time per decision"], rows, named=0)


def _matches(plan: TournamentPlan, course: TournamentCourse, results: Results, linked: Collection[str]) -> str:
    """Return all known matches with their results, and links to their pages."""
    lines = [
        f"<tr><td>{fixture.company.round}</td><td>{fixture.company.number}</td><td>{fixture.block}</td>"
        f'<td class="words">{escape(plan.games[fixture.game].label)}</td>'
        f'<td class="words">{_outcome(plan, fixture, results)}</td><td>{_link(fixture.name, linked)}</td></tr>'
        for fixture in course.fixtures
    ]
    heads = _heads(["Round", "Table", "Block", "Game", "Result", "Page"])
    return f"<table><thead>{heads}</thead><tbody>{''.join(lines)}</tbody></table>"


def _outcome(plan: TournamentPlan, fixture: Fixture, results: Results) -> str:
    result = results.get(fixture.name)
    if result is None:
        return f'<span class="faint">{escape(", ".join(plan.names[one] for one in fixture.seats))}</span>'
    seats = sorted(result.seats, key=lambda seat: (seat.rank, seat.seat))
    return ", ".join(
        f"{seat.rank} <bdi>{escape(plan.names[fixture.seats[seat.seat]])}</bdi> ({seat.score})"
        + ("" if seat.outcome is Outcome.PLAYED else f" out: {escape(seat.outcome.value)} {escape(seat.detail)}")
        for seat in seats
    )


def _link(name: str, linked: Collection[str]) -> str:
    return f'<a href="matches/{escape(name)}.html">look</a>' if name in linked else ""


# --- the bracket --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BracketTable:
    """A table of a knockout, or a bye."""

    entrants: Sequence[str]
    """The names of its entrants."""
    going: Collection[str]
    """Those of them who go on, or have won the final."""
    is_played: bool
    """False for a bye."""


def bracket_tables(plan: TournamentPlan, course: TournamentCourse) -> list[list[BracketTable]]:
    """Return the tables of a knockout, round by round."""
    fallen = {entrant for groups in course.fallen for group in groups for entrant in group.entrants}
    columns = [
        [*((one.entrants, True) for one in each.companies), *(((bye,), False) for bye in each.byes)]
        for each in course.rounds
        if not each.is_preliminary
    ]
    rounds = []
    for number, column in enumerate(columns):
        later = {entrant for each in columns[number + 1 :] for entrants, _ in each for entrant in entrants}
        is_last = number + 1 == len(columns)
        going = later | {one for entrants, _ in column for one in entrants if is_last and _won(course, one, fallen)}
        rounds.append(
            [
                BracketTable(
                    [plan.names[one] for one in entrants], {plan.names[one] for one in going & {*entrants}}, is_played
                )
                for entrants, is_played in column
            ]
        )
    return rounds


def bracket_picture(rounds: Sequence[Sequence[BracketTable]]) -> str:
    """Draw the tables of a knockout, round by round, with those who go on marked."""
    heights = [sum(_HEIGHT + _ROW * len(one.entrants) for one in column) for column in rounds]
    parts: list[str] = []
    for number, column in enumerate(rounds):
        left, top = number * (_WIDTH + _GAP) + 20, 20.0
        for one in column:
            parts.extend(_drawn(one, left, top, goes_on=number + 1 < len(rounds)))
            top += _HEIGHT + _ROW * len(one.entrants)
    width = len(rounds) * (_WIDTH + _GAP)
    described = "The tables of each round; who goes on is marked."
    return document(width, 0, max(heights) + 40, "Bracket", described, parts)


def _bracket(plan: TournamentPlan, course: TournamentCourse) -> str:
    rounds = bracket_tables(plan, course)
    if not rounds:  # the preliminary is being played
        return ""
    picture = bracket_picture(rounds)
    return f'<section aria-labelledby="bracket"><h2 id="bracket">Bracket</h2><div class="wide" tabindex="0" role="region" aria-labelledby="bracket">{picture}</div></section>'


def _won(course: TournamentCourse, entrant: int, fallen: Collection[int]) -> bool:
    """Return whether an entrant is first in the final that is over."""
    return entrant in fallen and course.fallen[-1][0].entrants == [entrant]


def _drawn(table: BracketTable, left: float, top: float, *, goes_on: bool) -> Iterator[str]:
    yield box(left, top, _WIDTH, _ROW * len(table.entrants) + 8, LAND if table.is_played else "none", LINE)
    for row, name in enumerate(table.entrants):
        baseline = top + 20 + row * _ROW
        yield name_text(left + 12, baseline, name, 14, _WIDTH - 24, BRASS if name in table.going else INK)
        if name in table.going and goes_on:
            yield path(f"M{left + _WIDTH} {baseline - 5}h{_GAP / 2:g}", "none", DIM)


# --- HTML ---------------------------------------------------------------------------------------------


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], named: int) -> str:
    """Return a table; the column `named` has the names of entrants."""
    lines = [
        "<tr>"
        + "".join(
            f'<th scope="row"><bdi>{escape(cell)}</bdi></th>' if column == named else f"<td>{escape(cell)}</td>"
            for column, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    ]
    return f"<table><thead>{_heads(heads)}</thead><tbody>{''.join(lines)}</tbody></table>"


def _heads(heads: Sequence[str]) -> str:
    return "<tr>" + "".join(f'<th scope="col">{escape(head)}</th>' for head in heads) + "</tr>"


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
