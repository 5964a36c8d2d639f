"""The page of a tournament: well-formed, without scripts, with the table that follows from the results."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from referee.match.result import Result
from referee.pages.tournament import tournament_page
from referee.tournament.course import course
from referee.tournament.plan import GameTerms, TieBreak, TournamentPlan
from referee.tournament.standings import chance_text, final_table
from tests.tournament.played import plan_for, play_out, result_of


class Rows(HTMLParser):
    """Collects the cells of all tables, and checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta",):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.rows and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def page_of(
    plan: TournamentPlan, results: dict[str, Result], linked: set[str] | None = None
) -> tuple[str, list[list[str]]]:
    known = course(plan, results)
    text = tournament_page(plan, known, results, final_table(plan, known, results), linked or set())
    parser = Rows()
    parser.feed(text)
    assert parser.open == []
    return text, parser.rows


def test_the_page_has_table_crosstable_times_and_matches() -> None:
    plan = plan_for(3, blocks=2)
    results = play_out(plan)
    name = course(plan, {}).fixtures[0].name
    text, rows = page_of(plan, results, {name})
    assert "e0 wins; the chance that e0 is the best of these is 0.9" in text
    assert [row[1] for row in rows[1:4]] == ["e0", "e1", "e2"]
    assert ["1", "e0", "", "100%", "100%"] in rows
    assert ["e2", "-", "0.000 s", "0.0 ms"] in rows
    assert re.findall(r'href="([^"]*)"', text) == [f"matches/{name}.html"]
    assert sum(row[:1] == ["1"] and len(row) == 6 for row in rows) >= 12
    assert "<script" not in text


def test_games_have_their_titles_and_options() -> None:
    games = (GameTerms("cargo_noir", "cargo_noir", {"last_turn": 3}), GameTerms("yunnan", "yunnan", {}))
    plan = plan_for(2, blocks=1, games=games)
    text, rows = page_of(plan, {})
    assert "round-robin of 2, Cargo Noir (last_turn=3) and Yunnan, 2 at a table" in text
    assert {row[3] for row in rows if row[:2] == ["1", "1"]} >= {"Cargo Noir (last_turn=3)", "Yunnan"}


def test_the_table_has_for_each_entrant_the_chance_that_it_is_the_best() -> None:
    plan = plan_for(3, blocks=2)
    results = play_out(plan)
    known = course(plan, results)
    best = {plan.names[row.entrant]: row.best for row in final_table(plan, known, results).rows}
    _, rows = page_of(plan, results)
    assert rows[0][:4] == ["Place", "Entrant", "Matches", "Wins per match"]
    assert rows[0][-1] == "Chance of being the best"
    assert {row[1]: row[-1] for row in rows[1:4]} == {name: chance_text(chance) for name, chance in best.items()}


def test_the_style_is_the_one_that_the_policy_allows() -> None:
    plan = plan_for(3)
    text, _ = page_of(plan, play_out(plan))
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in text


@pytest.mark.parametrize(("entrants", "seats"), [(8, 2), (5, 2), (9, 3)])
def test_a_knockout_has_a_bracket_in_which_the_winner_is_marked_in_every_round(entrants: int, seats: int) -> None:
    plan = plan_for(entrants, seats=seats, form="knockout")
    results = play_out(plan)
    text, _ = page_of(plan, results)
    assert ">Bracket</h2>" in text
    marked = re.findall(r'<text[^>]*fill="#d3a953"[^>]*>(e\d+)<', text)
    assert marked.count("e0") == len(course(plan, results).rounds)
    assert f"e{entrants - 1}" not in marked


def test_a_page_in_the_middle_says_so_and_names_of_strangers_are_text() -> None:
    plan = plan_for(4, blocks=2)
    hostile = [replace(one, name=f"<b>{one.name}</b>") for one in plan.entrants]
    plan = replace(plan, entrants=tuple(hostile), title="<script>")
    fixture = course(plan, {}).fixtures[0]
    text, rows = page_of(plan, {fixture.name: result_of([1, 0], [1])})
    assert "After 1 of 24 matches" in text
    assert "<b>" not in text
    assert "<script" not in text
    assert any(row[1:2] == ["1 crash"] for row in rows)


def lines_of(text: str) -> list[tuple[float, float, float]]:
    """The lines of a bracket: where each begins, from the left and from above, and at what height it ends."""
    found = re.findall(r'<path d="M([\d.]+) ([\d.]+)c35 0 35 (-?[\d.]+) 70', text)
    return [(float(left), float(top), float(top) + float(down)) for left, top, down in found]


@pytest.mark.parametrize(
    ("entrants", "seats", "advance", "expected"), [(8, 2, 1, 6), (13, 2, 1, 14), (9, 3, 1, 3), (16, 4, 2, 12)]
)
def test_a_line_leads_each_who_goes_on_from_table_to_table(
    entrants: int, seats: int, advance: int, expected: int
) -> None:
    plan = plan_for(entrants, seats=seats, form="knockout", advance=advance, blocks=1)
    text, _ = page_of(plan, play_out(plan))
    assert len(lines_of(text)) == expected


@pytest.mark.parametrize("entrants", [5, 8, 13, 16])
def test_at_tables_of_two_no_lines_of_a_bracket_cross(entrants: int) -> None:
    plan = plan_for(entrants, form="knockout", blocks=1)
    lines = sorted(lines_of(page_of(plan, play_out(plan))[0]))
    for one, other in pairwise(lines):
        assert one[0] < other[0] or one[2] < other[2]


def test_a_table_that_a_tie_break_decided_has_the_number_of_each() -> None:
    plan = plan_for(8, form="knockout", tie_breaks=(TieBreak.HEAD_TO_HEAD, TieBreak.LOTS))
    text, _ = page_of(plan, play_out(plan, lambda one: [0] * len(one.seats)))
    numbers = re.findall(r">(head-to-head|lots)</text>\s*<text[^>]*>([\d.]+)<", text)
    assert [kind for kind, _ in numbers] == ["head-to-head", "lots"] * 14
    assert {number for kind, number in numbers if kind == "head-to-head"} == {"0.5"}
    assert {number for kind, number in numbers if kind == "lots"} == {str(lot) for lot in range(1, 9)}


def test_a_bracket_in_the_middle_of_a_round_has_the_points_so_far() -> None:
    plan = plan_for(4, form="knockout", blocks=2)
    fixture = course(plan, {}).fixtures[0]
    text, _ = page_of(plan, {fixture.name: result_of([1, 0])})
    assert re.findall(r'text-anchor="end"[^>]*>([\d.]+)<', text) in (["1", "0"], ["0", "1"])
    assert lines_of(text) == []
    assert 'fill="#d3a953"' not in text
