"""The start page, lists of bots and of matches, and versions against each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder.facts.store import Store
from ladder.http.requests.visit import BadQuestion, NoPage, Site
from ladder.operation.errors import LadderError, NotFound
from ladder.operation.home import Home
from ladder.play.playing import announced
from ladder.questions.bots import BotsRequest
from ladder.questions.caller import ANYBODY
from ladder.questions.comparing import CompareRequest, CrosstableRequest
from ladder.questions.desk import Desk
from ladder.questions.in_words import open_places, strength
from ladder.questions.matches import MatchesRequest
from ladder.questions.standings import TopRequest
from tests.ladder.made import CONDITION, GAME, OTHER, next_matches
from tests.ladder.real_ladder import FAULTY
from tests.web.conftest import Browse, new_ladder
from tests.web.hostile_ladder import MARKUP, check_markup, page, rows, table_of, text_of

MATCHES = "/games/{game}/matches"


@pytest.fixture(scope="module")
def home(hostile: Home) -> Home:
    return hostile


# --- start --------------------------------------------------------------------------------------------------


def test_the_start_page_has_the_best_of_each_game_and_the_last_results(home: Home) -> None:
    document = page(home, "/")
    check_markup(document)
    tables = Desk(home, ANYBODY).ask(TopRequest()).tables
    assert len(document.select("section.card")) == len({table.condition.game for table in tables})
    [played] = [table for table in tables if table.condition == tables[0].condition]
    best = rows(table_of(document, f"The first 5 of {sum(one.mu is not None for one in played.versions)}"))
    assert [row["Bot"] for row in best] == [f"{one.bot} v{one.version}" for one in played.versions[:5]]
    assert [row["Strength"] for row in best] == [strength(one) for one in played.versions[:5]]
    assert [row["Place"] for row in best] == [open_places(one) for one in played.versions[:5]]
    last = Desk(home, ANYBODY).ask(MatchesRequest(limit=8)).matches
    assert [row["Match"] for row in rows(table_of(document, "The last matches"))] == [one.match[:8] for one in last]


def test_the_start_page_has_what_is_being_played(hostile_copy: Home) -> None:
    home = hostile_copy
    with Store(home.database, create=False) as store:
        match = next_matches(store)[0]
    with announced(home, match, "unix:nowhere"):
        document = page(home, "/")
        check_markup(document)
        assert [str(link["href"]) for link in document.select("a[href$=live]")] == [
            "live",
            f"matches/{match.match_id}/live",
        ]
    assert "Being played" not in page(home, "/").text


def test_the_start_page_of_nobody_says_what_to_do(tmp_path: Path) -> None:
    document = page(new_ladder(tmp_path / "home"), "/")
    check_markup(document)
    assert document.text.count("Nobody is rated yet") > 1
    assert document.select_one("main a[href=enter]") is not None


# --- bots ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bots"),
    [
        ("EVE", ["best"]),
        ("goo", ["good"]),
        ("' or 1=1 --", []),
        ("%", []),
        ("_", []),
        ("<svg", [MARKUP]),
        ("x" * 1000, []),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else None,
)
def test_bots_are_found_by_plain_text(home: Home, text: str, bots: list[str]) -> None:
    document = page(home, "/bots", {"q": text})
    check_markup(document)
    if bots:
        assert [row["Bot"].partition(" v")[0] for row in rows(table_of(document, "1 bot with"))] == bots
    else:
        assert "No bot has" in document.text


def test_bots_are_listed_by_name_and_page_by_page(home: Home) -> None:
    every = [one.bot for one in Desk(home, ANYBODY).ask(BotsRequest()).bots]
    found = []
    for number in range(1, -(-len(every) // 3) + 1):
        document = page(home, "/bots", {"page": str(number)}, site=Site(rows=3))
        found += [row["Bot"].partition(" v")[0] for row in rows(table_of(document, f"{len(every)} bots"))]
    assert found == every
    with pytest.raises(NoPage):
        page(home, "/bots", {"page": "99"}, site=Site(rows=3))
    assert len(rows(table_of(page(home, "/bots", site=Site(is_static=True, rows=3)), ""))) == len(every)


@pytest.mark.parametrize("number", ["0", "-1", "x", "²", "٣", "1000001", "1" * 5000])
def test_a_page_that_has_no_number_is_refused(home: Home, number: str) -> None:
    with pytest.raises(BadQuestion, match="page is a number from 1 to 1000000"):
        page(home, "/bots", {"page": number})


# --- matches ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [{}, {"bot": "best"}, {"bot": "best", "lost": "1"}, {"out": "1"}], ids=str)
def test_matches_are_paged_to_the_oldest_and_back(home: Home, query: dict[str, str]) -> None:
    request = MatchesRequest(
        game=GAME.name, bot=query.get("bot", ""), lost="lost" in query, out="out" in query, limit=1000
    )
    expected = [match.match[:8] for match in Desk(home, ANYBODY).ask(request).matches]
    assert len(expected) > 4

    def turned(place: dict[str, str]) -> tuple[list[str], str, str]:
        document = page(home, MATCHES, {**query, **place}, site=Site(listed=4), game=GAME.name)
        check_markup(document)
        links = {
            str(link["rel"][0]): str(link["href"]) for link in document.select("nav a[rel~=prev], nav a[rel~=next]")
        }
        assert all(f"{name}={value}" in link for link in links.values() for name, value in query.items())
        listed = [row["Match"] for row in rows(table_of(document, "Matches that count"))]
        return listed, links.get("next", ""), links.get("prev", "")

    found, older, newer = turned({})
    assert not newer
    while older:
        listed, older, newer = turned({"before": older.partition("before=")[2].partition("&")[0]})
        found += listed
    assert found == expected
    back: list[str] = []
    while newer:
        listed, _, newer = turned({"after": newer.partition("after=")[2].partition("&")[0]})
        back = listed + back
    assert back == expected[: len(back)]
    assert len(back) >= len(expected) - 4


def test_a_match_in_a_list_has_all_its_places_and_who_was_out(home: Home) -> None:
    document = page(home, MATCHES, {"bot": FAULTY}, game=GAME.name)
    for row in rows(table_of(document, "Matches that count")):
        assert f"{FAULTY} v1 (" in row["Places (points)"]
        assert "out: crash" in row["Places (points)"]


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"lost": "1"}, BadQuestion),
        ({"lost": "2"}, BadQuestion),
        ({"bot": "bset"}, NotFound),
        ({"before": "zz"}, NotFound),
        ({"bot": "' or 1=1 --"}, NotFound),
    ],
    ids=str,
)
def test_matches_that_cannot_be_listed_are_refused(home: Home, query: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        page(home, MATCHES, query, game=GAME.name)


def test_no_matches_are_said_to_be_none(home: Home) -> None:
    assert "There are no such matches" in page(home, MATCHES, {"bot": "best", "out": "1"}, game=GAME.name).text


# --- against each other -------------------------------------------------------------------------------------


def test_two_bots_are_compared_as_the_desk_compares_them(home: Home) -> None:
    document = page(home, "/compare", {"one": "best", "other": MARKUP})
    check_markup(document)
    [found] = Desk(home, ANYBODY).ask(CompareRequest(one="best", other=MARKUP)).comparisons
    assert [row["Bot"] for row in rows(table_of(document, "How they stand"))] == ["best v1", f"{MARKUP} v1"]
    met = found.met
    assert f"was ahead in {met.ahead}, level in {met.tied} and behind in {met.behind}" in text_of(document)
    by_seat = rows(table_of(document, "By the seat"))
    assert [row["Seat"] for row in by_seat] == [f"{one.seat} of {one.seats}" for one in found.seats]
    common = rows(table_of(document, "Their last common matches"))
    assert [row["Match"] for row in common] == [match.match[:8] for match in found.matches]
    [field, other] = document.select("form input")
    assert (field["value"], other["value"]) == ("best", MARKUP)


def test_a_form_chooses_two_and_says_which_there_are(home: Home) -> None:
    document = page(home, "/compare", {"one": "best"})
    check_markup(document)
    assert not document.select("table")
    assert {str(option["value"]) for option in document.select("option")} >= {"best", "good"}


@pytest.mark.parametrize("query", [{"one": "best", "other": "best"}, {"one": "best", "other": "bset"}], ids=str)
def test_what_cannot_be_compared_is_reported(home: Home, query: dict[str, str], browse: Browse) -> None:
    with pytest.raises(LadderError, match="best"):
        page(home, "/compare", query)
    assert browse(home).get("/compare", params=query).status_code in (400, 404)


def test_a_crosstable_says_who_was_ahead_of_whom(home: Home) -> None:
    document = page(home, "/games/{game}/crosstable", game=GAME.name)
    check_markup(document)
    tables = Desk(home, ANYBODY).ask(CrosstableRequest(game=GAME.name)).tables
    assert [one.condition.terms for one in tables] == [CONDITION.terms, OTHER.terms]
    for crosstable in tables:
        table = table_of(document, f"Under {crosstable.condition.terms}")
        assert len(table.select("thead th")) == len(crosstable.versions) + 1
        for row, versions, line in zip(table.select("tbody tr"), crosstable.versions, crosstable.rows, strict=True):
            head = row.select_one("th[scope=row]")
            assert head is not None
            assert text_of(head) == f"{versions.place}. {versions.bot} v{versions.version}"
            for cell, met in zip(row.select("td"), line.met, strict=True):
                assert (f"{met.matches}" in cell.text) == bool(met.matches)
                shaded = "".join(cell.get("class") or [])
                assert shaded == (
                    "" if met.share is None or 0.4 < met.share < 0.6 else ("poorly", "well")[met.share > 0.5]
                )
