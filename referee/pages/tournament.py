"""The page of a tournament: one HTML file with the table, the crosstable, the bracket and all matches. It needs no JavaScript."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from importlib import resources
from string import Template

from referee.match.result import Outcome
from referee.pages.bracket import bracket_picture
from referee.pages.match import hash_source
from referee.registry import find
from referee.tournament.bracket import bracket
from referee.tournament.course import TournamentCourse
from referee.tournament.crosstable import crosstable
from referee.tournament.fixtures import Fixture, Results
from referee.tournament.plan import Format, GameTerms, TournamentPlan
from referee.tournament.scoring import counted
from referee.tournament.standings import FinalTable, table_texts, verdict_sentence
from referee.version import installed_version


def tournament_page(
    plan: TournamentPlan, course: TournamentCourse, results: Results, table: FinalTable, linked: Collection[str]
) -> str:
    """Return the page of a tournament. Equal arguments give equal pages.

    Args:
        plan: the tournament.
        course: its rounds.
        results: the results so far.
        table: the table after these results.
        linked: the names of the matches that have a page, `matches/NAME.html`.
    """
    style = _part("tournament.css")
    games = " and ".join(_game_text(terms) for terms in plan.games)
    terms = f"{plan.format.value} of {len(plan.entrants)}, {games}, {plan.seats} at a table, {plan.blocks} blocks, clock {plan.clock}"
    return Template(_part("tournament.html")).substitute(
        title=escape(plan.title or "Tournament"),
        verdict=escape(verdict_sentence(plan, table)),
        terms=escape(terms),
        table_title="Final table" if table.is_final else f"After {table.played} of {table.total} matches",
        table=_final(plan, table),
        bracket=_bracket(plan, course, results) if plan.format is Format.KNOCKOUT else "",
        cross=_cross(plan, course, results, table),
        times=_times(plan, course, results, table),
        matches=_matches(plan, course, results, linked),
        version=escape(installed_version()),
        style=style,
        style_hash=hash_source(style),
    )


def _final(plan: TournamentPlan, table: FinalTable) -> str:
    heads, rows = table_texts(plan, table)
    return _table([*heads[:-1], "Chance of being the best"], rows, named=1)


def _cross(plan: TournamentPlan, course: TournamentCourse, results: Results, table: FinalTable) -> str:
    # This is in the order of the table, so that better entrants are further left and higher up.
    cross = crosstable(counted(plan, course.played(results)), [row.entrant for row in table.rows])
    heads = ["", "Entrant", *(str(place) for place in range(1, len(cross.order) + 1))]
    rows = [
        [str(place), plan.names[row], *(cross.text(row, column) for column in cross.order)]
        for place, row in enumerate(cross.order, start=1)
    ]
    return _table(heads, rows, named=1)


def _times(plan: TournamentPlan, course: TournamentCourse, results: Results, table: FinalTable) -> str:
    """Return the faults of each entrant, including hosts, and its time per match and per decision."""
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
        f'<td class="words">{escape(_game_text(plan.games[fixture.game]))}</td>'
        f'<td class="words">{_outcome(plan, fixture, results)}</td><td class="words">{_link(fixture.name, linked)}</td></tr>'
        for fixture in course.fixtures
    ]
    heads = _heads(["Round", "Table", "Block", "Game", "Result", "Page"], {3, 4, 5})
    return f"<table><thead>{heads}</thead><tbody>{''.join(lines)}</tbody></table>"


def _game_text(terms: GameTerms) -> str:
    """Return the title of a game with its options, because a tournament may contain the game twice."""
    options = ", ".join(f"{name}={value}" for name, value in terms.options.items())
    return find(terms.name).title + (f" ({options})" if options else "")


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


def _bracket(plan: TournamentPlan, course: TournamentCourse, results: Results) -> str:
    rounds = bracket(plan, course, results)
    if not rounds:  # the preliminary is being played
        return ""
    picture = bracket_picture(rounds)
    return f'<section aria-labelledby="bracket"><h2 id="bracket">Bracket</h2><div class="wide" tabindex="0" role="region" aria-labelledby="bracket">{picture}</div></section>'


# --- HTML ---------------------------------------------------------------------------------------------


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], named: int) -> str:
    """Return a table; the column `named` contains the names of entrants."""
    lines = [
        "<tr>"
        + "".join(
            f'<th scope="row"><bdi>{escape(cell)}</bdi></th>' if column == named else f"<td>{escape(cell)}</td>"
            for column, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    ]
    return f"<table><thead>{_heads(heads, {named})}</thead><tbody>{''.join(lines)}</tbody></table>"


def _heads(heads: Sequence[str], words: Collection[int]) -> str:
    """Return the headings of columns. The columns in `words` contain words, and all others contain numbers."""
    kinds = [' class="words"' if column in words else "" for column in range(len(heads))]
    cells = [
        f'<th scope="col"{kind}>{escape(head[:1].upper() + head[1:])}</th>'
        for kind, head in zip(kinds, heads, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
